/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds which cells share a face. Every side (a face of a cell, or a facet) goes into the bucket of its
 * lowest node by counting; inside a bucket, of a few dozen, sides are sorted by their next two nodes. */
#include "connect.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  uint32_t *start; /* [num_nodes + 1] */
  uint64_t *key;
  uint32_t *side;
} side_table;

typedef struct {
  uint64_t key;
  uint32_t side;
} side_record;

/* Keys hold the second and third lowest node, a mark of quads at the top, and at the bottom the sense in
 * which the nodes of a smaller face run: two cells see their face in opposite senses. So most faces are
 * joined without another look at the cells. Keys are compared without the sense. */
#define KEY_QUAD (UINT64_C(1) << 63)
static inline uint64_t key_nodes(uint64_t key) { return key >> 1; }

static inline void order_pair(int32_t *a, int32_t *b, uint64_t *sense) {
  if (*a <= *b) return;
  int32_t t = *a;
  *a = *b;
  *b = t;
  *sense ^= 1;
}

/* Lowest node and key of a side. */
static inline int32_t side_key(const int32_t *nodes, int n, uint64_t *key) {
  int32_t a = nodes[0], b = nodes[1];
  uint64_t sense = 0;
  order_pair(&a, &b, &sense);
  if (n == 2) {
    *key = (uint64_t)b << 1 | sense;
    return a;
  }
  int32_t c = nodes[2];
  order_pair(&b, &c, &sense);
  order_pair(&a, &b, &sense);
  if (n == 4) { /* drop the highest of four */
    int32_t d = nodes[3];
    order_pair(&c, &d, &sense);
    order_pair(&b, &c, &sense);
    order_pair(&a, &b, &sense);
    sense = KEY_QUAD;
  }
  *key = (uint64_t)b << 32 | (uint64_t)c << 1 | sense;
  return a;
}

static int32_t lowest(const int32_t *nodes, int n) {
  int32_t a = nodes[0];
  for (int i = 1; i < n; i++)
    if (nodes[i] < a) a = nodes[i];
  return a;
}

static void table_free(side_table *table) {
  pcsim_free(&table->start);
  pcsim_free(&table->key);
  pcsim_free(&table->side);
}

static void table_fill(const pcsim_raw_mesh *raw, side_table *table) {
  int32_t nodes[4];
  uint64_t key;
  for (int64_t c = 0; c < raw->num_cells; c++)
    for (int f = 0; f < pcsim_cell_shapes[raw->cell_type[c]].num_faces; f++) {
      uint32_t side = pcsim_side_of_cell(c, f);
      int n = pcsim_side_nodes(raw, side, nodes);
      uint32_t place = table->start[side_key(nodes, n, &key)]++;
      table->key[place] = key;
      table->side[place] = side;
    }
  for (int64_t i = 0; i < raw->num_facets; i++) {
    uint32_t side = PCSIM_SIDE_FACET | (uint32_t)i;
    int n = pcsim_side_nodes(raw, side, nodes);
    uint32_t place = table->start[side_key(nodes, n, &key)]++;
    table->key[place] = key;
    table->side[place] = side;
  }
}

static pcsim_status table_make(const pcsim_raw_mesh *raw, side_table *table) {
  pcsim_status status = PCSIM_OK;
  size_t num_nodes = (size_t)raw->num_nodes, num_sides = 0;
  int32_t nodes[4];
  PCSIM_TRY(pcsim_alloc(num_nodes + 1, sizeof *table->start, &table->start));
  for (int64_t c = 0; c < raw->num_cells; c++)
    for (int f = 0; f < pcsim_cell_shapes[raw->cell_type[c]].num_faces; f++) {
      int n = pcsim_side_nodes(raw, pcsim_side_of_cell(c, f), nodes);
      table->start[lowest(nodes, n) + 1]++;
      num_sides++;
    }
  for (int64_t i = 0; i < raw->num_facets; i++) {
    int n = pcsim_side_nodes(raw, PCSIM_SIDE_FACET | (uint32_t)i, nodes);
    table->start[lowest(nodes, n) + 1]++;
    num_sides++;
  }
  for (size_t i = 0; i < num_nodes; i++) table->start[i + 1] += table->start[i];
  PCSIM_GOTO(pcsim_alloc(num_sides, sizeof *table->key, &table->key), status, fail);
  PCSIM_GOTO(pcsim_alloc(num_sides, sizeof *table->side, &table->side), status, fail);
  table_fill(raw, table);
  /* Filling has moved each start to the next: move back. */
  memmove(table->start + 1, table->start, num_nodes * sizeof *table->start);
  table->start[0] = 0;
  return PCSIM_OK;
fail:
  table_free(table);
  return status;
}

static int compare_records(const void *pa, const void *pb) {
  const side_record *a = pa, *b = pb;
  uint64_t x = key_nodes(a->key), y = key_nodes(b->key);
  if (x != y) return x < y ? -1 : 1;
  return a->side < b->side ? -1 : a->side > b->side;
}

/* Sort a bucket by key, then by side (it comes sorted by side). A node of very many cells, such as the
 * tip of a cone, would make the insertion quadratic. */
static pcsim_status bucket_sort(uint64_t *key, uint32_t *side, uint32_t n) {
  if (n <= 96) {
    for (uint32_t i = 1; i < n; i++) {
      uint64_t k = key[i];
      uint32_t s = side[i], j = i;
      for (; j > 0 && key_nodes(key[j - 1]) > key_nodes(k); j--) {
        key[j] = key[j - 1];
        side[j] = side[j - 1];
      }
      key[j] = k;
      side[j] = s;
    }
    return PCSIM_OK;
  }
  side_record *records;
  PCSIM_TRY(pcsim_alloc(n, sizeof *records, &records));
  for (uint32_t i = 0; i < n; i++) records[i] = (side_record){key[i], side[i]};
  qsort(records, n, sizeof *records, compare_records);
  for (uint32_t i = 0; i < n; i++) {
    key[i] = records[i].key;
    side[i] = records[i].side;
  }
  pcsim_free(&records);
  return PCSIM_OK;
}

/* The cycle of one quad must be that of the other turned round. */
static bool quads_opposite(const pcsim_raw_mesh *raw, uint32_t a, uint32_t b) {
  int32_t p[4], q[4];
  int first = 0;
  pcsim_side_nodes(raw, a, p);
  pcsim_side_nodes(raw, b, q);
  while (first < 4 && q[first] != p[0]) first++;
  for (int i = 0; i < 4; i++)
    if (q[(first + 4 - i) % 4] != p[i]) return false;
  return true;
}

static int32_t *side_link(pcsim_mesh_links *links, uint32_t side) {
  return links->link + pcsim_side_cell(side) * links->stride + pcsim_side_face(side);
}

/* All sides of one face; those of cells come first. */
static void join_face(pcsim_mesh_links *links, const uint64_t *key, const uint32_t *side, uint32_t n,
                      pcsim_faults *faults) {
  const pcsim_raw_mesh *raw = links->raw;
  uint32_t cells = 0;
  while (cells < n && !pcsim_side_is_facet(side[cells])) cells++;
  if (cells == 0) {
    pcsim_faults_add(faults, PCSIM_FAULT_LOOSE, side[0], side[0], side[0]);
    return;
  }
  if (cells > 2) pcsim_faults_add(faults, PCSIM_FAULT_CROWDED, side[0], side[1], side[2]);
  if (n - cells > 1) pcsim_faults_add(faults, PCSIM_FAULT_TWICE, side[cells], side[cells + 1], side[cells]);
  if (cells == 1) {
    links->num_boundary_faces++;
    if (n == 1) {
      pcsim_faults_add(faults, PCSIM_FAULT_UNNAMED, side[0], side[0], side[0]);
      *side_link(links, side[0]) = -1;
      return;
    }
    int32_t patch = raw->facet_patch[pcsim_side_facet(side[1])];
    *side_link(links, side[0]) = -1 - patch;
    links->patch_size[patch]++;
    return;
  }
  int64_t a = pcsim_side_cell(side[0]), b = pcsim_side_cell(side[1]);
  *side_link(links, side[0]) = (int32_t)b;
  for (uint32_t i = 1; i < cells; i++) *side_link(links, side[i]) = (int32_t)a;
  links->num_interior_faces++;
  bool opposite = key[0] & KEY_QUAD ? quads_opposite(raw, side[0], side[1]) : (key[0] ^ key[1]) & 1;
  if (!opposite) pcsim_faults_add(faults, PCSIM_FAULT_OVERLAP, side[0], side[1], side[0]);
  if (n > cells) {
    if (raw->cell_region[a] == raw->cell_region[b])
      pcsim_faults_add(faults, PCSIM_FAULT_INSIDE, side[cells], side[0], side[1]);
    else faults->num_interfaces++;
  }
}

static int32_t highest_node(const pcsim_raw_mesh *raw, uint32_t side) {
  int32_t nodes[4], top = -1;
  int n = pcsim_side_nodes(raw, side, nodes);
  for (int i = 0; i < n; i++)
    if (nodes[i] > top) top = nodes[i];
  return top;
}

/* Quads with one key: one face, unless they share three nodes only. */
static void join_quads(pcsim_mesh_links *links, const uint64_t *key, uint32_t *side, uint32_t n,
                       pcsim_faults *faults) {
  for (uint32_t i = 1; i < n; i++) {
    uint32_t s = side[i], j = i;
    int32_t top = highest_node(links->raw, s);
    for (; j > 0 && highest_node(links->raw, side[j - 1]) > top; j--) side[j] = side[j - 1];
    side[j] = s;
  }
  for (uint32_t i = 0, end; i < n; i = end) {
    int32_t top = highest_node(links->raw, side[i]);
    end = i + 1;
    while (end < n && highest_node(links->raw, side[end]) == top) end++;
    join_face(links, key + i, side + i, end - i, faults);
  }
}

static pcsim_status join_sides(pcsim_mesh_links *links, pcsim_faults *faults) {
  const pcsim_raw_mesh *raw = links->raw;
  side_table table = {0};
  pcsim_status status = PCSIM_OK;
  PCSIM_TRY(table_make(raw, &table));
  for (int64_t node = 0; node < raw->num_nodes; node++) {
    uint32_t start = table.start[node], n = table.start[node + 1] - start;
    uint64_t *key = table.key + start;
    uint32_t *side = table.side + start;
    PCSIM_GOTO(bucket_sort(key, side, n), status, done);
    for (uint32_t i = 0, end; i < n; i = end) {
      end = i + 1;
      while (end < n && key_nodes(key[end]) == key_nodes(key[i])) end++;
      if (key[i] & KEY_QUAD) join_quads(links, key + i, side + i, end - i, faults);
      else join_face(links, key + i, side + i, end - i, faults);
    }
  }
done:
  table_free(&table);
  return status;
}

/* Walks over faces from the first cell; what is left is apart. If the first cell is in a smaller part, that
 * part is named: a stray first cell is the culprit, not the million others. */
static pcsim_status find_apart(const pcsim_mesh_links *links, pcsim_faults *faults) {
  int64_t n = links->raw->num_cells, reached = 1;
  int32_t *queue = NULL;
  uint8_t *seen = NULL;
  pcsim_status status = PCSIM_OK;
  PCSIM_GOTO(pcsim_alloc((size_t)n, sizeof *queue, &queue), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)n, sizeof *seen, &seen), status, done);
  seen[0] = 1;
  for (int64_t i = 0; i < reached; i++)
    for (int f = 0; f < links->stride; f++) {
      int32_t next = links->link[(int64_t)queue[i] * links->stride + f];
      if (next < 0 || seen[next]) continue;
      seen[next] = 1;
      queue[reached++] = next;
    }
  if (reached < n) {
    int64_t cell = 0;
    bool name_rest = reached * 2 >= n;
    while (seen[cell] == (name_rest ? 1 : 0)) cell++;
    uint32_t side = pcsim_side_of_cell(cell, 0);
    pcsim_faults_add(faults, PCSIM_FAULT_APART, side, side, side);
    faults->count[PCSIM_FAULT_APART] = name_rest ? n - reached : reached;
  }
done:
  pcsim_free(&queue);
  pcsim_free(&seen);
  return status;
}

static pcsim_status count_used_nodes(const pcsim_raw_mesh *raw, int64_t *used) {
  uint8_t *seen = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)raw->num_nodes, sizeof *seen, &seen));
  for (int64_t i = 0; i < raw->cell_start[raw->num_cells]; i++) seen[raw->cell_nodes[i]] = 1;
  *used = 0;
  for (int64_t i = 0; i < raw->num_nodes; i++) *used += seen[i];
  pcsim_free(&seen);
  return PCSIM_OK;
}

static pcsim_status connect(const pcsim_raw_mesh *raw, pcsim_mesh_links *links) {
  size_t n = (size_t)raw->num_cells;
  pcsim_faults faults = {0};
  PCSIM_TRY(pcsim_alloc(n, 3 * sizeof *links->centre, &links->centre));
  PCSIM_TRY(pcsim_mesh_check_cells(raw, links->centre));
  for (size_t c = 0; c < n; c++)
    if (pcsim_cell_shapes[raw->cell_type[c]].num_faces > links->stride)
      links->stride = pcsim_cell_shapes[raw->cell_type[c]].num_faces;
  PCSIM_TRY(pcsim_alloc(n * (size_t)links->stride, sizeof *links->link, &links->link));
  memset(links->link, 0xff, n * (size_t)links->stride * sizeof *links->link);
  PCSIM_TRY(pcsim_alloc((size_t)raw->num_patches, sizeof *links->patch_size, &links->patch_size));
  PCSIM_TRY(join_sides(links, &faults));
  PCSIM_TRY(find_apart(links, &faults));
  PCSIM_TRY(pcsim_faults_report(&faults, raw));
  if (faults.num_interfaces > 0)
    pcsim_log(PCSIM_LOG_INFO, "mesh: %lld facets lie between two regions; they are interior faces",
              (long long)faults.num_interfaces);
  return count_used_nodes(raw, &links->num_used_nodes);
}

pcsim_status pcsim_mesh_connect(const pcsim_raw_mesh *raw, pcsim_mesh_links *links) {
  *links = (pcsim_mesh_links){.raw = raw};
  PCSIM_CHECK(raw->num_cells <= PCSIM_MESH_MAX_CELLS && raw->num_facets <= INT32_MAX, PCSIM_ERR_MESH,
              "the mesh has %lld cells and %lld facets; the limits are %lld and %d",
              (long long)raw->num_cells, (long long)raw->num_facets, (long long)PCSIM_MESH_MAX_CELLS,
              INT32_MAX);
  pcsim_status status = connect(raw, links);
  if (status != PCSIM_OK) pcsim_mesh_links_free(links);
  return status;
}

void pcsim_mesh_links_free(pcsim_mesh_links *links) {
  pcsim_free(&links->centre);
  pcsim_free(&links->link);
  pcsim_free(&links->patch_size);
}
