/* SPDX-License-Identifier: BSD-2-Clause */
/* Images: which cells a rank needs moved by periods, beside the ghosts that touch its cells as they are. */
#include "fv.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  int rank;
  int32_t cell; /* global */
  uint8_t shift;
} image;
typedef struct {
  int64_t num, room;
  image *list;
} images;

/* Cells around each node on a periodic boundary, as global numbers. */
typedef struct {
  int64_t *start;
  int32_t *cell;
} around;

static pcsim_status find_around(const pcsim_raw_mesh *raw, const pcsim_mesh_order *order,
                                const pcsim_mesh_periodic *p, around *a) {
  size_t n = (size_t)p->num_nodes;
  PCSIM_TRY(pcsim_alloc(n + 2, sizeof *a->start, &a->start));
  for (int fill = 0; fill < 2; fill++) {
    for (int64_t g = 0; g < raw->num_cells; g++) {
      const int64_t c = order->raw_of_global[g];
      for (int64_t i = raw->cell_start[c]; i < raw->cell_start[c + 1]; i++) {
        const int32_t at = p->place[raw->cell_nodes[i]];
        if (at < 0) continue;
        if (fill) a->cell[a->start[at + 1]++] = (int32_t)g;
        else a->start[at + 2]++;
      }
    }
    if (fill) break;
    for (size_t i = 0; i < n; i++) a->start[i + 2] += a->start[i + 1];
    PCSIM_TRY(pcsim_alloc((size_t)a->start[n + 1], sizeof *a->cell, &a->cell));
  }
  return PCSIM_OK;
}

static int rank_of(const pcsim_mesh_order *order, int ranks, int32_t cell) {
  int low = 0, high = ranks;
  while (high - low > 1) {
    int middle = (low + high) / 2;
    if (order->rank_start[middle] <= cell) low = middle;
    else high = middle;
  }
  return low;
}

static pcsim_status add(images *all, int rank, int32_t cell, uint8_t shift) {
  if (all->num == all->room) {
    all->room = all->room ? 2 * all->room : 1024;
    PCSIM_TRY(pcsim_realloc((size_t)all->room, sizeof *all->list, &all->list));
  }
  all->list[all->num++] = (image){rank, cell, shift};
  return PCSIM_OK;
}

/* Ranks with cells around a node want every image around it. Cells around come by global number, hence by
 * rank.
 */
static pcsim_status add_around(const pcsim_mesh_order *order, int ranks, const pcsim_mesh_periodic *p,
                               const around *a, int64_t node, images *all) {
  int last = -1;
  for (int64_t k = a->start[node]; k < a->start[node + 1]; k++) {
    const int rank = rank_of(order, ranks, a->cell[k]);
    if (rank == last) continue;
    last = rank;
    for (int64_t i = p->start[node]; i < p->start[node + 1]; i++) {
      const int32_t at = p->place[p->image[i].node];
      for (int64_t j = a->start[at]; j < a->start[at + 1]; j++)
        PCSIM_TRY(add(all, rank, a->cell[j], p->image[i].shift));
    }
  }
  return PCSIM_OK;
}

static int compare_images(const void *x, const void *y) {
  const image *a = x, *b = y;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  if (a->cell != b->cell) return a->cell < b->cell ? -1 : 1;
  return (a->shift > b->shift) - (a->shift < b->shift);
}

/* One ascending list of both for each rank. */
static pcsim_status merge(int ranks, const images *all, pcsim_mesh_ghosts *ghosts) {
  pcsim_mesh_ghosts whole = {0};
  pcsim_status status;
  size_t total = (size_t)(ghosts->start[ranks] + all->num);
  PCSIM_GOTO(pcsim_alloc((size_t)ranks + 1, sizeof *whole.start, &whole.start), status, fail);
  PCSIM_GOTO(pcsim_alloc(total, sizeof *whole.cell, &whole.cell), status, fail);
  PCSIM_GOTO(pcsim_alloc(total, sizeof *whole.shift, &whole.shift), status, fail);
  int64_t n = 0, next = 0;
  for (int r = 0; r < ranks; r++) {
    int64_t plain = ghosts->start[r];
    while (plain < ghosts->start[r + 1] || (next < all->num && all->list[next].rank == r)) {
      const image *i = next < all->num && all->list[next].rank == r ? all->list + next : NULL;
      const bool take_plain = plain < ghosts->start[r + 1] &&
                              (!i || ghosts->cell[plain] < i->cell ||
                               (ghosts->cell[plain] == i->cell && ghosts->shift[plain] < i->shift));
      whole.cell[n] = take_plain ? ghosts->cell[plain] : i->cell;
      whole.shift[n++] = take_plain ? ghosts->shift[plain] : i->shift;
      if (take_plain) plain++;
      else next++;
    }
    whole.start[r + 1] = n;
  }
  pcsim_mesh_ghosts_free(ghosts);
  *ghosts = whole;
  return PCSIM_OK;
fail:
  pcsim_mesh_ghosts_free(&whole);
  return status;
}

static pcsim_status find_images(const pcsim_raw_mesh *raw, const pcsim_mesh_order *order, int ranks,
                                const pcsim_mesh_periodic *p, images *all) {
  around a = {0};
  pcsim_status status;
  PCSIM_GOTO(find_around(raw, order, p, &a), status, done);
  for (int64_t node = 0; node < p->num_nodes; node++)
    PCSIM_GOTO(add_around(order, ranks, p, &a, node, all), status, done);
  if (all->num > 0) qsort(all->list, (size_t)all->num, sizeof *all->list, compare_images);
  int64_t n = 0;
  for (int64_t i = 0; i < all->num; i++)
    if (n == 0 || compare_images(all->list + i, all->list + n - 1) != 0) all->list[n++] = all->list[i];
  all->num = n;
done:
  pcsim_free(&a.start);
  pcsim_free(&a.cell);
  return status;
}

pcsim_status pcsim_mesh_ghosts_add_images(const pcsim_raw_mesh *raw, const pcsim_mesh_order *order, int ranks,
                                          const pcsim_mesh_periodic *periodic, pcsim_mesh_ghosts *ghosts) {
  images all = {0};
  if (periodic->num_nodes == 0) return PCSIM_OK;
  pcsim_status status = find_images(raw, order, ranks, periodic, &all);
  if (status == PCSIM_OK) status = merge(ranks, &all, ghosts);
  pcsim_free(&all.list);
  return status;
}
