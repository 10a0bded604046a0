/* SPDX-License-Identifier: BSD-2-Clause */
/* Which rank owns a cell, and in which order: recursive coordinate bisection, then reverse Cuthill-McKee
 * (Cuthill & McKee 1969; George & Liu 1979 for the start) over the faces inside each part. */
#include "fv.h"

/* ------------------------------------------------------------ bisection */

typedef struct {
  const double *centre;
  int axis;
} axis_view;

/* Total order: coordinate, then cell number, so that the cut does not depend on the method. */
static inline bool before(axis_view view, int32_t a, int32_t b) {
  double x = view.centre[3 * (int64_t)a + view.axis], y = view.centre[3 * (int64_t)b + view.axis];
  return x < y || (x == y && a < b);
}

static void swap(int32_t *a, int32_t *b) {
  int32_t t = *a;
  *a = *b;
  *b = t;
}

/* Quickselect: the first k of `cell` [n] become the k lowest. */
static void select_lowest(axis_view view, int32_t *cell, int64_t n, int64_t k) {
  int64_t low = 0, high = n - 1;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (before(view, cell[middle], cell[low])) swap(cell + middle, cell + low);
    if (before(view, cell[high], cell[low])) swap(cell + high, cell + low);
    if (before(view, cell[high], cell[middle])) swap(cell + high, cell + middle);
    int32_t pivot = cell[middle];
    int64_t i = low, j = high;
    while (i <= j) {
      while (before(view, cell[i], pivot)) i++;
      while (before(view, pivot, cell[j])) j--;
      if (i <= j) swap(cell + i++, cell + j--);
    }
    if (k <= j) high = j;
    else if (k >= i) low = i;
    else return;
  }
}

static int longest_axis(const double *centre, const int32_t *cell, int64_t n) {
  double low[3], high[3];
  int axis = 0;
  for (int d = 0; d < 3; d++) low[d] = high[d] = n > 0 ? centre[3 * (int64_t)cell[0] + d] : 0;
  for (int64_t i = 1; i < n; i++)
    for (int d = 0; d < 3; d++) {
      double x = centre[3 * (int64_t)cell[i] + d];
      if (x < low[d]) low[d] = x;
      if (x > high[d]) high[d] = x;
    }
  for (int d = 1; d < 3; d++)
    if (high[d] - low[d] > high[axis] - low[axis]) axis = d;
  return axis;
}

/* Ranks first .. first + ranks - 1 share cell[rank_start[first] ..]; the depth is log2(ranks). */
static void bisect(const double *centre, int32_t *cell, int64_t n, int first, int ranks,
                   int64_t *rank_start) {
  if (ranks == 1) {
    rank_start[first + 1] = rank_start[first] + n;
    return;
  }
  int half = ranks / 2;
  int64_t cut = n * half / ranks;
  axis_view view = {centre, longest_axis(centre, cell, n)};
  if (cut > 0 && cut < n) select_lowest(view, cell, n, cut);
  bisect(centre, cell, cut, first, half, rank_start);
  bisect(centre, cell + cut, n - cut, first + half, ranks - half, rank_start);
}

/* ------------------------------------------------- reverse Cuthill-McKee */

typedef struct {
  const pcsim_mesh_links *links;
  const int32_t *part; /* rank of each cell; NULL for one rank */
  int32_t *mark;       /* stamp of the last walk that reached the cell; DONE when numbered */
  uint8_t *degree;     /* faces inside the part */
  int32_t *queue;
  int32_t stamp;
} walker;
enum { DONE = -1 };
enum { AHEAD = 12 }; /* cells whose links are fetched before their turn */

static inline bool inside(const walker *w, int32_t next, int32_t part) {
  return next >= 0 && (!w->part || w->part[next] == part);
}
static void count_degrees(walker *w) {
  const pcsim_mesh_links *links = w->links;
  for (int64_t c = 0; c < links->raw->num_cells; c++) {
    int32_t part = w->part ? w->part[c] : 0;
    for (int f = 0; f < links->stride; f++)
      w->degree[c] += inside(w, links->link[c * links->stride + f], part);
  }
}

/* Breadth first from `start` within its part, into `queue` in the order of Cuthill-McKee (neighbours by
 * degree, then number). Returns the number of cells; `*last` is where the last level begins. */
static int64_t walk(walker *w, int32_t start, int32_t stamp, int32_t *queue, int64_t *last, int *levels) {
  int32_t part = w->part ? w->part[start] : 0;
  int64_t n = 1, level_end = 1;
  *last = 0;
  *levels = 0;
  queue[0] = start;
  w->mark[start] = stamp;
  for (int64_t i = 0; i < n; i++) {
    if (i == level_end) {
      *last = i;
      level_end = n;
      ++*levels;
    }
    int32_t found[6];
    int key[6], count = 0;
    if (i + AHEAD < n) __builtin_prefetch(w->links->link + (int64_t)queue[i + AHEAD] * w->links->stride);
    for (int f = 0; f < w->links->stride; f++) {
      int32_t next = w->links->link[(int64_t)queue[i] * w->links->stride + f];
      if (!inside(w, next, part) || w->mark[next] == stamp || w->mark[next] == DONE) continue;
      w->mark[next] = stamp;
      int k = w->degree[next], j = count++;
      for (; j > 0 && (key[j - 1] > k || (key[j - 1] == k && found[j - 1] > next)); j--) {
        key[j] = key[j - 1];
        found[j] = found[j - 1];
      }
      key[j] = k;
      found[j] = next;
    }
    for (int j = 0; j < count; j++) queue[n++] = found[j];
  }
  return n;
}

/* A cell at one end of the piece that holds `start`: from the far end of a walk, of lowest degree there, on
 * and on while walks get longer. */
static int32_t far_cell(walker *w, int32_t start) {
  int best = -1;
  for (int sweep = 0; sweep < 4; sweep++) {
    int64_t last;
    int levels;
    int64_t n = walk(w, start, ++w->stamp, w->queue, &last, &levels);
    if (levels <= best) break;
    best = levels;
    int32_t next = w->queue[last];
    int next_degree = w->degree[next];
    for (int64_t i = last + 1; i < n; i++) {
      int k = w->degree[w->queue[i]];
      if (k < next_degree || (k == next_degree && w->queue[i] < next)) {
        next = w->queue[i];
        next_degree = k;
      }
    }
    start = next;
  }
  return start;
}

/* Number the cells of one part, `cell` [n], in place. */
static void number_part(walker *w, int32_t *cell, int64_t n, int32_t *numbered) {
  if (n == 0) return;
  axis_view view = {w->links->centre, longest_axis(w->links->centre, cell, n)};
  int32_t first = cell[0];
  for (int64_t i = 1; i < n; i++)
    if (before(view, cell[i], first)) first = cell[i];
  int64_t done = 0;
  for (int64_t i = -1; i < n && done < n; i++) {
    int32_t seed = i < 0 ? first : cell[i];
    if (w->mark[seed] == DONE) continue;
    int64_t last;
    int levels;
    done += walk(w, far_cell(w, seed), DONE, numbered + done, &last, &levels);
  }
  for (int64_t i = 0; i < n; i++) cell[i] = numbered[n - 1 - i];
}

static pcsim_status number_parts(const pcsim_mesh_links *links, int ranks, pcsim_mesh_order *order) {
  size_t n = (size_t)links->raw->num_cells;
  walker w = {.links = links};
  int32_t *part = NULL, *numbered = NULL;
  pcsim_status status = PCSIM_OK;
  PCSIM_GOTO(pcsim_alloc(n, sizeof *w.mark, &w.mark), status, done);
  PCSIM_GOTO(pcsim_alloc(n, sizeof *w.queue, &w.queue), status, done);
  PCSIM_GOTO(pcsim_alloc(n, sizeof *w.degree, &w.degree), status, done);
  PCSIM_GOTO(pcsim_alloc(n, sizeof *numbered, &numbered), status, done);
  if (ranks > 1) {
    PCSIM_GOTO(pcsim_alloc(n, sizeof *part, &part), status, done);
    for (int r = 0; r < ranks; r++)
      for (int64_t i = order->rank_start[r]; i < order->rank_start[r + 1]; i++)
        part[order->raw_of_global[i]] = r;
    w.part = part;
  }
  count_degrees(&w);
  for (int r = 0; r < ranks; r++)
    number_part(&w, order->raw_of_global + order->rank_start[r],
                order->rank_start[r + 1] - order->rank_start[r], numbered);
done:
  pcsim_free(&w.mark);
  pcsim_free(&w.queue);
  pcsim_free(&w.degree);
  pcsim_free(&part);
  pcsim_free(&numbered);
  return status;
}

static pcsim_status order_make(const pcsim_mesh_links *links, int ranks, pcsim_mesh_order *order) {
  int64_t n = links->raw->num_cells;
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *order->raw_of_global, &order->raw_of_global));
  PCSIM_TRY(pcsim_alloc((size_t)ranks + 1, sizeof *order->rank_start, &order->rank_start));
  for (int64_t i = 0; i < n; i++) order->raw_of_global[i] = (int32_t)i;
  bisect(links->centre, order->raw_of_global, n, 0, ranks, order->rank_start);
  PCSIM_TRY(number_parts(links, ranks, order));
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *order->global_of_raw, &order->global_of_raw));
  for (int64_t i = 0; i < n; i++) order->global_of_raw[order->raw_of_global[i]] = (int32_t)i;
  return PCSIM_OK;
}

pcsim_status pcsim_mesh_order_make(const pcsim_mesh_links *links, int ranks, pcsim_mesh_order *order) {
  *order = (pcsim_mesh_order){0};
  pcsim_status status = order_make(links, ranks, order);
  if (status != PCSIM_OK) pcsim_mesh_order_free(order);
  return status;
}

void pcsim_mesh_order_free(pcsim_mesh_order *order) {
  pcsim_free(&order->raw_of_global);
  pcsim_free(&order->global_of_raw);
  pcsim_free(&order->rank_start);
}
