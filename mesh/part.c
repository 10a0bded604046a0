/* SPDX-License-Identifier: BSD-2-Clause */
/* What each rank gets of the raw mesh: its cells, the ghosts around them, and what lies across each face. */
#include "fv.h"

#include <string.h>

enum { TAG_COUNTS = 1, TAG_ARRAYS };
enum { AHEAD = 12 }; /* cells */

/* ---------------------------------------------------------------- ghosts */

enum { NODE_UNUSED = -1, NODE_SHARED = -2 };

/* Ranks around each node that cells of several ranks use. */
typedef struct {
  int32_t *owner; /* [num_nodes] the one rank, NODE_UNUSED, or NODE_SHARED - place in `start` */
  int64_t num_shared;
  int64_t *start; /* [num_shared + 1] */
  int32_t *rank;
} shared_nodes;

static void shared_free(shared_nodes *shared) {
  pcsim_free(&shared->owner);
  pcsim_free(&shared->start);
  pcsim_free(&shared->rank);
}

static void shared_mark(const pcsim_raw_mesh *raw, const pcsim_mesh_order *order, int ranks,
                        shared_nodes *shared) {
  for (int64_t i = 0; i < raw->num_nodes; i++) shared->owner[i] = NODE_UNUSED;
  for (int r = 0; r < ranks; r++)
    for (int64_t g = order->rank_start[r]; g < order->rank_start[r + 1]; g++) {
      int64_t c = order->raw_of_global[g];
      for (int64_t i = raw->cell_start[c]; i < raw->cell_start[c + 1]; i++) {
        int32_t *owner = shared->owner + raw->cell_nodes[i];
        if (*owner == NODE_UNUSED) *owner = r;
        else if (*owner >= 0 && *owner != r) *owner = (int32_t)(NODE_SHARED - shared->num_shared++);
      }
    }
}

/* One pass counts, one fills; cells come by rank, so a rank is new to a node if it is not its last one. */
static void shared_pass(const pcsim_raw_mesh *raw, const pcsim_mesh_order *order, int ranks,
                        shared_nodes *shared, int32_t *last, bool fill) {
  for (int64_t s = 0; s < shared->num_shared; s++) last[s] = -1;
  for (int r = 0; r < ranks; r++)
    for (int64_t g = order->rank_start[r]; g < order->rank_start[r + 1]; g++) {
      int64_t c = order->raw_of_global[g];
      for (int64_t i = raw->cell_start[c]; i < raw->cell_start[c + 1]; i++) {
        int64_t s = NODE_SHARED - (int64_t)shared->owner[raw->cell_nodes[i]];
        if (s < 0 || last[s] == r) continue;
        last[s] = r;
        if (fill) shared->rank[shared->start[s]++] = r;
        else shared->start[s + 1]++;
      }
    }
}

static pcsim_status shared_find(const pcsim_raw_mesh *raw, const pcsim_mesh_order *order, int ranks,
                                shared_nodes *shared) {
  int32_t *last = NULL;
  pcsim_status status = PCSIM_OK;
  PCSIM_TRY(pcsim_alloc((size_t)raw->num_nodes, sizeof *shared->owner, &shared->owner));
  shared_mark(raw, order, ranks, shared);
  size_t n = (size_t)shared->num_shared;
  PCSIM_TRY(pcsim_alloc(n + 1, sizeof *shared->start, &shared->start));
  PCSIM_TRY(pcsim_alloc(n, sizeof *last, &last));
  shared_pass(raw, order, ranks, shared, last, false);
  for (size_t s = 0; s < n; s++) shared->start[s + 1] += shared->start[s];
  PCSIM_GOTO(pcsim_alloc((size_t)shared->start[n], sizeof *shared->rank, &shared->rank), status, done);
  shared_pass(raw, order, ranks, shared, last, true);
  memmove(shared->start + 1, shared->start, n * sizeof *shared->start);
  shared->start[0] = 0;
done:
  pcsim_free(&last);
  return status;
}

/* One pass counts the ghosts of each rank, one lists them. */
static void ghosts_pass(const pcsim_raw_mesh *raw, const pcsim_mesh_order *order, int ranks,
                        const shared_nodes *shared, int64_t *last, pcsim_mesh_ghosts *ghosts, bool fill) {
  for (int r = 0; r < ranks; r++) last[r] = -1;
  for (int own = 0; own < ranks; own++)
    for (int64_t g = order->rank_start[own]; g < order->rank_start[own + 1]; g++) {
      int64_t c = order->raw_of_global[g];
      for (int64_t i = raw->cell_start[c]; i < raw->cell_start[c + 1]; i++) {
        int64_t s = NODE_SHARED - (int64_t)shared->owner[raw->cell_nodes[i]];
        if (s < 0) continue;
        for (int64_t k = shared->start[s]; k < shared->start[s + 1]; k++) {
          int r = shared->rank[k];
          if (r == own || last[r] == g) continue;
          last[r] = g;
          if (fill) ghosts->cell[ghosts->start[r]++] = (int32_t)g;
          else ghosts->start[r + 1]++;
        }
      }
    }
}

pcsim_status pcsim_mesh_ghosts_find(const pcsim_raw_mesh *raw, const pcsim_mesh_order *order, int ranks,
                                    pcsim_mesh_ghosts *ghosts) {
  *ghosts = (pcsim_mesh_ghosts){0};
  shared_nodes shared = {0};
  int64_t *last = NULL;
  pcsim_status status = PCSIM_OK;
  PCSIM_TRY(pcsim_alloc((size_t)ranks + 1, sizeof *ghosts->start, &ghosts->start));
  if (ranks == 1) return PCSIM_OK; /* no ghosts: no arrays of them */
  PCSIM_GOTO(shared_find(raw, order, ranks, &shared), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)ranks, sizeof *last, &last), status, done);
  ghosts_pass(raw, order, ranks, &shared, last, ghosts, false);
  for (int r = 0; r < ranks; r++) ghosts->start[r + 1] += ghosts->start[r];
  PCSIM_GOTO(pcsim_alloc((size_t)ghosts->start[ranks], sizeof *ghosts->cell, &ghosts->cell), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)ghosts->start[ranks], sizeof *ghosts->shift, &ghosts->shift), status, done);
  memset(ghosts->shift, PCSIM_SHIFT_NONE, (size_t)ghosts->start[ranks]);
  ghosts_pass(raw, order, ranks, &shared, last, ghosts, true);
  memmove(ghosts->start + 1, ghosts->start, (size_t)ranks * sizeof *ghosts->start);
  ghosts->start[0] = 0;
done:
  shared_free(&shared);
  pcsim_free(&last);
  if (status != PCSIM_OK) pcsim_mesh_ghosts_free(ghosts);
  return status;
}

void pcsim_mesh_ghosts_free(pcsim_mesh_ghosts *ghosts) {
  pcsim_free(&ghosts->start);
  pcsim_free(&ghosts->cell);
  pcsim_free(&ghosts->shift);
}

/* ----------------------------------------------------------------- parts */

void pcsim_mesh_part_free(pcsim_mesh_part *part) {
  pcsim_free(&part->cell_type);
  pcsim_free(&part->cell_region);
  pcsim_free(&part->cell_original);
  pcsim_free(&part->cell_node);
  pcsim_free(&part->link);
  pcsim_free(&part->ghost_global);
  pcsim_free(&part->ghost_shift);
  pcsim_free(&part->node);
  pcsim_free(&part->node_global);
  pcsim_free(&part->node_patch);
}

/* Every array of a part: one table for allocating, sending and receiving. */
enum { NUM_ARRAYS = 10 };
typedef struct {
  void *pointer; /* address of the array's pointer */
  size_t count, size;
} part_array;

static void part_arrays(pcsim_mesh_part *part, part_array arrays[NUM_ARRAYS]) {
  size_t cells = (size_t)(part->num_cells + part->num_ghosts), nodes = (size_t)part->num_nodes_all;
  arrays[0] = (part_array){&part->cell_type, cells, sizeof *part->cell_type};
  arrays[1] = (part_array){&part->cell_region, cells, sizeof *part->cell_region};
  arrays[2] = (part_array){&part->cell_original, cells, sizeof *part->cell_original};
  arrays[3] = (part_array){&part->cell_node, (size_t)part->num_cell_nodes, sizeof *part->cell_node};
  arrays[4] = (part_array){&part->link, (size_t)part->num_links, sizeof *part->link};
  arrays[5] = (part_array){&part->ghost_global, (size_t)part->num_ghosts, sizeof *part->ghost_global};
  arrays[6] = (part_array){&part->node, nodes, 3 * sizeof *part->node};
  arrays[7] = (part_array){&part->node_global, nodes, sizeof *part->node_global};
  arrays[8] = (part_array){&part->node_patch, nodes, sizeof *part->node_patch};
  arrays[9] = (part_array){&part->ghost_shift, (size_t)part->num_ghosts, sizeof *part->ghost_shift};
}

/* The pointers have different types: copy their bytes. */
static void *array_data(const part_array *array) {
  void *data;
  memcpy(&data, array->pointer, sizeof data);
  return data;
}

static pcsim_status part_allocate(pcsim_mesh_part *part) {
  part_array arrays[NUM_ARRAYS];
  part_arrays(part, arrays);
  for (int i = 0; i < NUM_ARRAYS; i++)
    PCSIM_TRY(pcsim_alloc(arrays[i].count, arrays[i].size, arrays[i].pointer));
  return PCSIM_OK;
}

typedef struct {
  const pcsim_mesh_whole *w;
  int32_t *local;      /* [raw nodes] local number + 1, 0 when not met */
  int32_t *node_patch; /* [raw nodes] */
} cutter;

/* Raw cell of local cell i. Raw order may be anything: fetch the cells that come soon. */
static int64_t part_cell(const cutter *cut, const pcsim_mesh_part *part, int rank, int64_t i) {
  const int32_t *raw_of_global = cut->w->order->raw_of_global;
  const pcsim_mesh_links *links = cut->w->links;
  const pcsim_raw_mesh *raw = links->raw;
  if (i >= part->num_cells)
    return raw_of_global[cut->w->ghosts->cell[cut->w->ghosts->start[rank] + i - part->num_cells]];
  if (i + 2 * AHEAD < part->num_cells) {
    __builtin_prefetch(raw->cell_start + raw_of_global[part->first_cell + i + 2 * AHEAD]);
    int64_t soon = raw_of_global[part->first_cell + i + AHEAD];
    __builtin_prefetch(raw->cell_nodes + raw->cell_start[soon]);
    __builtin_prefetch(links->link + soon * links->stride);
  }
  return raw_of_global[part->first_cell + i];
}

/* Shift of local cell i. */
static uint8_t part_shift(const cutter *cut, const pcsim_mesh_part *part, int rank, int64_t i) {
  const pcsim_mesh_ghosts *ghosts = cut->w->ghosts;
  return i < part->num_cells ? PCSIM_SHIFT_NONE : ghosts->shift[ghosts->start[rank] + i - part->num_cells];
}

/* The raw node that lies where `node` is moved to by a shift, -1 if none does. */
static int32_t node_moved(const pcsim_mesh_periodic *p, int32_t node, uint8_t shift) {
  if (shift == PCSIM_SHIFT_NONE) return node;
  const int32_t at = p->place[node];
  for (int64_t k = at < 0 ? 0 : p->start[at]; at >= 0 && k < p->start[at + 1]; k++)
    if (p->image[k].shift == pcsim_shift_back(shift)) return p->image[k].node;
  return -1;
}

/* Counts, and local node numbers in the order of first use. */
static void part_count(cutter *cut, int rank, pcsim_mesh_part *part) {
  const pcsim_raw_mesh *raw = cut->w->links->raw;
  part->first_cell = cut->w->order->rank_start[rank];
  part->num_cells = cut->w->order->rank_start[rank + 1] - part->first_cell;
  part->num_ghosts = cut->w->ghosts->start[rank + 1] - cut->w->ghosts->start[rank];
  int32_t met = 0;
  int64_t apart = 0; /* nodes of images that lie on no node */
  for (int64_t i = 0; i < part->num_cells + part->num_ghosts; i++) {
    int64_t c = part_cell(cut, part, rank, i);
    if (i == part->num_cells) part->num_nodes = met;
    part->num_cell_nodes += raw->cell_start[c + 1] - raw->cell_start[c];
    if (i < part->num_cells) part->num_links += pcsim_cell_shapes[raw->cell_type[c]].num_faces;
    const uint8_t shift = part_shift(cut, part, rank, i);
    for (int64_t k = raw->cell_start[c]; k < raw->cell_start[c + 1]; k++) {
      const int32_t node = node_moved(cut->w->periodic, raw->cell_nodes[k], shift);
      if (node < 0) apart++;
      else if (cut->local[node] == 0) cut->local[node] = ++met;
    }
  }
  if (part->num_ghosts == 0) part->num_nodes = met;
  part->num_nodes_all = met + apart;
  part->num_nodes_apart = apart;
}

/* What is across face f of raw cell c. */
static int32_t part_link(const cutter *cut, const pcsim_mesh_part *part, int rank, int64_t c, int f) {
  const pcsim_mesh_whole *w = cut->w;
  const int32_t link = w->links->link[c * w->links->stride + f];
  if (link >= 0) return w->order->global_of_raw[link];
  if (w->patch_map[-1 - link] >= 0) return -1 - w->patch_map[-1 - link];
  const pcsim_periodic_side *beyond = pcsim_mesh_periodic_beyond(w->periodic, c, f);
  const int32_t global = w->order->global_of_raw[beyond->cell];
  const int64_t first = w->ghosts->start[rank];
  int64_t low = 0, high = part->num_ghosts;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    const int32_t cell = w->ghosts->cell[first + middle];
    if (cell < global || (cell == global && w->ghosts->shift[first + middle] < beyond->shift))
      low = middle + 1;
    else high = middle;
  }
  return (int32_t)(-1 - (w->num_patches + low));
}

/* Nodes of local cell i, raw cell c. */
static void part_nodes(const cutter *cut, int64_t c, uint8_t shift, int32_t *to, int32_t *next,
                       pcsim_mesh_part *part) {
  const pcsim_raw_mesh *raw = cut->w->links->raw;
  const pcsim_mesh_periodic *p = cut->w->periodic;
  double move[3];
  pcsim_shift_vector(p->num_periods, p->period, shift, move);
  for (int64_t k = raw->cell_start[c]; k < raw->cell_start[c + 1]; k++) {
    const int32_t own = raw->cell_nodes[k], node = node_moved(p, own, shift);
    const int32_t local = node < 0 ? (*next)++ : cut->local[node] - 1;
    *to++ = local;
    part->node_global[local] = node < 0 ? own : node;
    for (int d = 0; d < 3 && node < 0; d++)
      part->node[3 * (int64_t)local + d] = raw->nodes[3 * (int64_t)own + d] + move[d];
  }
}

static void part_fill(cutter *cut, int rank, pcsim_mesh_part *part) {
  const pcsim_raw_mesh *raw = cut->w->links->raw;
  const pcsim_mesh_ghosts *ghosts = cut->w->ghosts;
  const int64_t nodes = part->num_nodes_all - part->num_nodes_apart;
  int64_t place = 0, link_place = 0;
  int32_t next = (int32_t)nodes;
  for (int64_t i = 0; i < part->num_cells + part->num_ghosts; i++) {
    int64_t c = part_cell(cut, part, rank, i);
    part->cell_type[i] = raw->cell_type[c];
    part->cell_region[i] = raw->cell_region[c];
    part->cell_original[i] = c;
    part_nodes(cut, c, part_shift(cut, part, rank, i), part->cell_node + place, &next, part);
    place += raw->cell_start[c + 1] - raw->cell_start[c];
    if (i >= part->num_cells) continue;
    for (int f = 0; f < pcsim_cell_shapes[raw->cell_type[c]].num_faces; f++)
      part->link[link_place++] = part_link(cut, part, rank, c, f);
  }
  for (int64_t i = 0; i < part->num_ghosts; i++) {
    part->ghost_global[i] = ghosts->cell[ghosts->start[rank] + i];
    part->ghost_shift[i] = ghosts->shift[ghosts->start[rank] + i];
  }
  for (int64_t i = 0; i < nodes; i++) {
    memcpy(part->node + 3 * i, raw->nodes + 3 * part->node_global[i], 3 * sizeof *part->node);
    part->node_patch[i] = cut->node_patch[part->node_global[i]];
    cut->local[part->node_global[i]] = 0;
  }
}

static pcsim_status part_cut(cutter *cut, int rank, pcsim_mesh_part *part) {
  *part = (pcsim_mesh_part){0};
  part_count(cut, rank, part);
  pcsim_status status = part_allocate(part);
  if (status != PCSIM_OK) {
    pcsim_mesh_part_free(part);
    return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
  }
  part_fill(cut, rank, part);
  return PCSIM_OK;
}

enum { NUM_COUNTS = 7 };
/* The first message of a part; a negative number of cells says that rank 0 has failed. */
static pcsim_status part_send(MPI_Comm comm, int rank, pcsim_mesh_part *part) {
  int64_t counts[NUM_COUNTS] = {part->num_cells,     part->num_ghosts,     part->first_cell, part->num_nodes,
                                part->num_nodes_all, part->num_cell_nodes, part->num_links};
  part_array arrays[NUM_ARRAYS];
  part_arrays(part, arrays);
  PCSIM_MPI(MPI_Send(counts, NUM_COUNTS, MPI_INT64_T, rank, TAG_COUNTS, comm));
  int ready = 0;
  PCSIM_MPI(MPI_Recv(&ready, 1, MPI_INT, rank, TAG_COUNTS, comm, MPI_STATUS_IGNORE));
  for (int i = 0; i < NUM_ARRAYS && ready; i++)
    PCSIM_TRY(
        pcsim_mesh_send(array_data(arrays + i), arrays[i].count * arrays[i].size, rank, TAG_ARRAYS, comm));
  return PCSIM_OK;
}

static pcsim_status part_receive(MPI_Comm comm, pcsim_mesh_part *part) {
  int64_t counts[NUM_COUNTS];
  *part = (pcsim_mesh_part){0};
  PCSIM_MPI(MPI_Recv(counts, NUM_COUNTS, MPI_INT64_T, 0, TAG_COUNTS, comm, MPI_STATUS_IGNORE));
  if (counts[0] < 0) return PCSIM_OK; /* rank 0 reports it */
  part->num_cells = counts[0];
  part->num_ghosts = counts[1];
  part->first_cell = counts[2];
  part->num_nodes = counts[3];
  part->num_nodes_all = counts[4];
  part->num_cell_nodes = counts[5];
  part->num_links = counts[6];
  pcsim_status status = part_allocate(part);
  int ready = status == PCSIM_OK;
  PCSIM_MPI(MPI_Send(&ready, 1, MPI_INT, 0, TAG_COUNTS, comm));
  PCSIM_TRY(status);
  part_array arrays[NUM_ARRAYS];
  part_arrays(part, arrays);
  for (int i = 0; i < NUM_ARRAYS; i++)
    PCSIM_TRY(
        pcsim_mesh_receive(array_data(arrays + i), arrays[i].count * arrays[i].size, 0, TAG_ARRAYS, comm));
  return PCSIM_OK;
}

static void join_patch(int32_t patch, int32_t *at) {
  *at = *at == PCSIM_NODE_INTERIOR || *at == patch ? patch : PCSIM_NODE_SEVERAL;
}

/* The places of a node across periods share what lies at each; the images of a node are all its others. */
static pcsim_status join_images(const pcsim_mesh_periodic *p, int32_t *node_patch) {
  int32_t *whole = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)p->num_nodes, sizeof *whole, &whole));
  for (int64_t i = 0; i < p->num_nodes; i++) {
    whole[i] = node_patch[p->node[i]];
    for (int64_t k = p->start[i]; k < p->start[i + 1]; k++) {
      const int32_t other = node_patch[p->image[k].node];
      if (other != PCSIM_NODE_INTERIOR) join_patch(other, whole + i);
    }
  }
  for (int64_t i = 0; i < p->num_nodes; i++) node_patch[p->node[i]] = whole[i];
  pcsim_free(&whole);
  return PCSIM_OK;
}

static pcsim_status find_node_patches(cutter *cut) {
  const pcsim_mesh_links *links = cut->w->links;
  const pcsim_raw_mesh *raw = links->raw;
  PCSIM_TRY(pcsim_alloc((size_t)raw->num_nodes, sizeof *cut->node_patch, &cut->node_patch));
  for (int64_t i = 0; i < raw->num_nodes; i++) cut->node_patch[i] = PCSIM_NODE_INTERIOR;
  for (int64_t c = 0; c < raw->num_cells; c++)
    for (int f = 0; f < pcsim_cell_shapes[raw->cell_type[c]].num_faces; f++) {
      const int32_t link = links->link[c * links->stride + f];
      if (link >= 0 || cut->w->patch_map[-1 - link] < 0) continue;
      int32_t face[4];
      int n = pcsim_cell_face_nodes(raw->cell_type[c], raw->cell_nodes + raw->cell_start[c], f, face);
      for (int i = 0; i < n; i++) join_patch(cut->w->patch_map[-1 - link], &cut->node_patch[face[i]]);
    }
  return join_images(cut->w->periodic, cut->node_patch);
}

/* Rank 0: cut and send, its own part last, so that no two others are in memory beside it. */
static pcsim_status part_hand_out(MPI_Comm comm, int ranks, cutter *cut, pcsim_mesh_part *own) {
  pcsim_status status = PCSIM_OK;
  PCSIM_GOTO(pcsim_alloc((size_t)cut->w->links->raw->num_nodes, sizeof *cut->local, &cut->local), status,
             done);
  PCSIM_GOTO(find_node_patches(cut), status, done);
done:
  for (int r = 1; r < ranks; r++) {
    pcsim_mesh_part part = {0};
    if (status == PCSIM_OK) status = part_cut(cut, r, &part);
    if (status == PCSIM_OK) {
      status = part_send(comm, r, &part);
    } else {
      int64_t counts[NUM_COUNTS] = {-1};
      PCSIM_MPI(MPI_Send(counts, NUM_COUNTS, MPI_INT64_T, r, TAG_COUNTS, comm));
    }
    pcsim_mesh_part_free(&part);
  }
  if (status == PCSIM_OK) status = part_cut(cut, 0, own);
  pcsim_free(&cut->local);
  pcsim_free(&cut->node_patch);
  return status;
}

pcsim_status pcsim_mesh_part_distribute(MPI_Comm comm, const pcsim_mesh_whole *whole, pcsim_mesh_part *part) {
  int rank, ranks;
  PCSIM_MPI(MPI_Comm_rank(comm, &rank));
  PCSIM_MPI(MPI_Comm_size(comm, &ranks));
  cutter cut = {.w = whole};
  pcsim_status status = rank == 0 ? part_hand_out(comm, ranks, &cut, part) : part_receive(comm, part);
  return pcsim_status_agree(comm, status);
}
