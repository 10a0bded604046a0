/* SPDX-License-Identifier: BSD-2-Clause */
/* The mesh under construction: growing, boundary facets, hand-over. */
#include "mesher.h"

#include "../fv.h"
#include <math.h>
#include <string.h>

void mesher_mesh_free(mesher_mesh *mesh) {
  pcsim_free(&mesh->nodes);
  pcsim_free(&mesh->cell_type);
  pcsim_free(&mesh->cell_nodes);
  pcsim_free(&mesh->facet_type);
  pcsim_free(&mesh->facet_nodes);
  pcsim_free(&mesh->facet_patch);
}

pcsim_status mesher_check_count(double cells) {
  PCSIM_CHECK(cells <= MESHER_CELL_LIMIT, PCSIM_ERR_CASE,
              "mesh: these sizes make more than %.0e cells, the limit; choose larger sizes",
              (double)MESHER_CELL_LIMIT);
  return PCSIM_OK;
}

pcsim_status mesher_check_line(double cells) {
  PCSIM_CHECK(cells <= MESHER_LINE_LIMIT, PCSIM_ERR_CASE,
              "mesh: these sizes make more than %.0e cells along one line, the limit; choose larger sizes",
              (double)MESHER_LINE_LIMIT);
  return PCSIM_OK;
}

pcsim_status mesher_add_node(mesher_mesh *mesh, double x, double y, double z, int32_t *node) {
  if (mesh->num_nodes == mesh->max_nodes) {
    int64_t max = mesh->max_nodes ? 2 * mesh->max_nodes : 1024;
    PCSIM_TRY(pcsim_realloc((size_t)max, 3 * sizeof(double), &mesh->nodes));
    mesh->max_nodes = max;
  }
  double *p = mesh->nodes + 3 * mesh->num_nodes;
  p[0] = x;
  p[1] = y;
  p[2] = z;
  if (node) *node = (int32_t)mesh->num_nodes;
  mesh->num_nodes++;
  return PCSIM_OK;
}

pcsim_status mesher_add_cell(mesher_mesh *mesh, pcsim_cell_type type, const int32_t *nodes) {
  if (mesh->num_cells == mesh->max_cells) {
    int64_t max = mesh->max_cells ? 2 * mesh->max_cells : 1024;
    PCSIM_TRY(pcsim_realloc((size_t)max, 1, &mesh->cell_type));
    PCSIM_TRY(pcsim_realloc((size_t)max, 8 * sizeof(int32_t), &mesh->cell_nodes));
    mesh->max_cells = max;
  }
  mesh->cell_type[mesh->num_cells] = (uint8_t)type;
  memcpy(mesh->cell_nodes + 8 * mesh->num_cells, nodes, (size_t)pcsim_cell_num_nodes(type) * sizeof *nodes);
  mesh->num_cells++;
  return PCSIM_OK;
}

static pcsim_status add_facet(mesher_mesh *mesh, pcsim_cell_type type, const int32_t *nodes, int patch) {
  if (mesh->num_facets == mesh->max_facets) {
    int64_t max = mesh->max_facets ? 2 * mesh->max_facets : 1024;
    PCSIM_TRY(pcsim_realloc((size_t)max, 1, &mesh->facet_type));
    PCSIM_TRY(pcsim_realloc((size_t)max, 4 * sizeof(int32_t), &mesh->facet_nodes));
    PCSIM_TRY(pcsim_realloc((size_t)max, sizeof(int32_t), &mesh->facet_patch));
    mesh->max_facets = max;
  }
  mesh->facet_type[mesh->num_facets] = (uint8_t)type;
  memcpy(mesh->facet_nodes + 4 * mesh->num_facets, nodes, (size_t)pcsim_cell_num_nodes(type) * sizeof *nodes);
  mesh->facet_patch[mesh->num_facets++] = patch;
  return PCSIM_OK;
}

static pcsim_status patch_index(mesher_mesh *mesh, const char *name, int *index) {
  for (*index = 0; *index < mesh->num_patches; ++*index)
    if (!strcmp(mesh->patches[*index], name)) return PCSIM_OK;
  PCSIM_CHECK(mesh->num_patches < MESHER_MAX_PATCHES, PCSIM_ERR_INTERNAL, "a shape has more than %d patches",
              MESHER_MAX_PATCHES);
  mesh->patches[mesh->num_patches++] = name;
  return PCSIM_OK;
}

/* Facets get their patch's place in order of first appearance; sorted by name once all are known, so that
 * the order of patches does not depend on where the first cell lies. */
static void sort_patches(mesher_mesh *mesh) {
  int order[MESHER_MAX_PATCHES], place[MESHER_MAX_PATCHES];
  const char *name[MESHER_MAX_PATCHES];
  for (int i = 0; i < mesh->num_patches; i++) {
    int j = i;
    for (; j > 0 && strcmp(mesh->patches[order[j - 1]], mesh->patches[i]) > 0; j--) order[j] = order[j - 1];
    order[j] = i;
  }
  for (int i = 0; i < mesh->num_patches; i++) {
    name[i] = mesh->patches[order[i]];
    place[order[i]] = i;
  }
  for (int i = 0; i < mesh->num_patches; i++) mesh->patches[i] = name[i];
  for (int64_t i = 0; i < mesh->num_facets; i++) mesh->facet_patch[i] = place[mesh->facet_patch[i]];
}

typedef struct {
  int32_t key[4]; /* sorted nodes; the unused last one is -1 */
  int32_t cell;
  int8_t face, matched;
} half_face;

static void sort_nodes(int n, const int32_t *nodes, int32_t key[4]) {
  for (int i = 0; i < 4; i++) key[i] = -1;
  for (int i = 0; i < n; i++) {
    int j = i;
    for (; j > 0 && key[j - 1] > nodes[i]; j--) key[j] = key[j - 1];
    key[j] = nodes[i];
  }
}

/* All faces in buckets by their smallest node; pairs within a bucket are matched. */
static pcsim_status match_faces(const mesher_mesh *mesh, half_face **faces, int64_t *num_faces) {
  int64_t *start = NULL, total = 0;
  half_face *all = NULL;
  pcsim_status status = PCSIM_OK;
  for (int64_t c = 0; c < mesh->num_cells; c++) total += pcsim_cell_shapes[mesh->cell_type[c]].num_faces;
  PCSIM_GOTO(pcsim_alloc((size_t)total, sizeof *all, &all), status, fail);
  PCSIM_GOTO(pcsim_alloc((size_t)mesh->num_nodes + 2, sizeof *start, &start), status, fail);
  for (int pass = 0; pass < 2; pass++) { /* count, then place */
    for (int64_t c = 0; c < mesh->num_cells; c++)
      for (int f = 0; f < pcsim_cell_shapes[mesh->cell_type[c]].num_faces; f++) {
        half_face h = {.cell = (int32_t)c, .face = (int8_t)f};
        int32_t nodes[4];
        int n = pcsim_cell_face_nodes(mesh->cell_type[c], mesh->cell_nodes + 8 * c, f, nodes);
        sort_nodes(n, nodes, h.key);
        if (pass == 0) start[h.key[0] + 2]++;
        else all[start[h.key[0] + 1]++] = h;
      }
    if (pass == 0)
      for (int64_t i = 1; i < mesh->num_nodes + 2; i++) start[i] += start[i - 1];
  }
  for (int64_t b = 0; b < mesh->num_nodes; b++)
    for (int64_t i = start[b]; i < start[b + 1]; i++)
      for (int64_t j = i + 1; !all[i].matched && j < start[b + 1]; j++)
        if (!all[j].matched && !memcmp(all[i].key, all[j].key, sizeof all[i].key))
          all[i].matched = all[j].matched = 1;
  pcsim_free(&start);
  *faces = all;
  *num_faces = total;
  return PCSIM_OK;
fail:
  pcsim_free(&start);
  pcsim_free(&all);
  return status;
}

static pcsim_status name_face(mesher_mesh *mesh, const half_face *h, mesher_classify classify,
                              const void *context) {
  static const pcsim_cell_type type_of[] = {0, 0, PCSIM_CELL_SEGMENT, PCSIM_CELL_TRIANGLE, PCSIM_CELL_QUAD};
  int32_t nodes[4];
  double corner[4][3];
  int n = pcsim_cell_face_nodes(mesh->cell_type[h->cell], mesh->cell_nodes + 8 * (int64_t)h->cell, h->face,
                                nodes),
      p;
  for (int i = 0; i < n; i++) memcpy(corner[i], mesh->nodes + 3 * (int64_t)nodes[i], sizeof corner[i]);
  const char *name = classify(context, n, (const double(*)[3])corner);
  PCSIM_CHECK(name, PCSIM_ERR_INTERNAL, "the parts of the mesh do not fit together at (%g, %g, %g)",
              corner[0][0], corner[0][1], corner[0][2]);
  PCSIM_TRY(patch_index(mesh, name, &p));
  return add_facet(mesh, type_of[n], nodes, p);
}

pcsim_status mesher_find_facets(mesher_mesh *mesh, mesher_classify classify, const void *context) {
  half_face *faces = NULL;
  int64_t num_faces = 0;
  pcsim_status status = PCSIM_OK;
  PCSIM_TRY(match_faces(mesh, &faces, &num_faces));
  for (int64_t i = 0; i < num_faces; i++)
    if (!faces[i].matched) PCSIM_GOTO(name_face(mesh, &faces[i], classify, context), status, done);
  sort_patches(mesh);
done:
  pcsim_free(&faces);
  return status;
}

/* ---------------------------------------------------------------- extrusion */

static pcsim_status sweep_cell(const mesher_mesh *plane, int64_t c, int64_t below, int64_t above, int low,
                               int high, mesher_mesh *solid) {
  const int32_t *q = plane->cell_nodes + 8 * c;
  int32_t v[8], bottom[4], top[4];
  bool triangle = plane->cell_type[c] == PCSIM_CELL_TRIANGLE;
  int n = triangle ? 3 : 4;
  for (int i = 0; i < n; i++) {
    /* a prism's first triangle is seen counter-clockwise from outside, that is from below; a hexahedron's
     * first quad from inside */
    int k = triangle ? (3 - i) % 3 : i;
    v[i] = (int32_t)(below + q[k]);
    v[n + i] = (int32_t)(above + q[k]);
    bottom[i] = (int32_t)(below + q[(n - i) % n]);
    top[i] = (int32_t)(above + q[i]);
  }
  PCSIM_TRY(mesher_add_cell(solid, triangle ? PCSIM_CELL_PRISM : PCSIM_CELL_HEXA, v));
  if (low >= 0) PCSIM_TRY(add_facet(solid, plane->cell_type[c], bottom, low));
  if (high >= 0) PCSIM_TRY(add_facet(solid, plane->cell_type[c], top, high));
  return PCSIM_OK;
}

pcsim_status mesher_extrude(const mesher_mesh *plane, int n, const double *z, const char *low,
                            const char *high, mesher_mesh *solid) {
  int low_patch, high_patch;
  PCSIM_TRY(mesher_check_count((double)plane->num_cells * n));
  *solid = (mesher_mesh){.dim = 3, .num_patches = plane->num_patches};
  memcpy(solid->patches, plane->patches, sizeof plane->patches);
  PCSIM_TRY(patch_index(solid, low, &low_patch));
  PCSIM_TRY(patch_index(solid, high, &high_patch));
  for (int k = 0; k <= n; k++)
    for (int64_t i = 0; i < plane->num_nodes; i++)
      PCSIM_TRY(mesher_add_node(solid, plane->nodes[3 * i], plane->nodes[3 * i + 1], z[k], NULL));
  for (int k = 0; k < n; k++) {
    int64_t below = k * plane->num_nodes, above = below + plane->num_nodes;
    for (int64_t c = 0; c < plane->num_cells; c++)
      PCSIM_TRY(
          sweep_cell(plane, c, below, above, k == 0 ? low_patch : -1, k == n - 1 ? high_patch : -1, solid));
    for (int64_t f = 0; f < plane->num_facets; f++) {
      const int32_t *e = plane->facet_nodes + 4 * f;
      const int32_t quad[4] = {(int32_t)(below + e[0]), (int32_t)(below + e[1]), (int32_t)(above + e[1]),
                               (int32_t)(above + e[0])};
      PCSIM_TRY(add_facet(solid, PCSIM_CELL_QUAD, quad, plane->facet_patch[f]));
    }
  }
  sort_patches(solid);
  return PCSIM_OK;
}

/* ---------------------------------------------------------------- hand-over */

static int64_t copy_elements(int64_t n, int stride, const uint8_t *type, const int32_t *nodes,
                             uint8_t *type_out, int64_t *start, int32_t *nodes_out) {
  int64_t at = 0;
  for (int64_t i = 0; i < n; i++) {
    int k = pcsim_cell_num_nodes(type[i]);
    if (nodes_out) {
      type_out[i] = type[i];
      memcpy(nodes_out + at, nodes + i * stride, (size_t)k * sizeof *nodes);
      start[i + 1] = at + k;
    }
    at += k;
  }
  return at;
}

pcsim_status mesher_to_raw(const mesher_mesh *mesh, pcsim_raw_mesh **raw) {
  pcsim_status status = PCSIM_OK;
  const pcsim_raw_size size = {
      .dim = mesh->dim,
      .num_nodes = mesh->num_nodes,
      .num_cells = mesh->num_cells,
      .num_cell_nodes = copy_elements(mesh->num_cells, 8, mesh->cell_type, NULL, NULL, NULL, NULL),
      .num_facets = mesh->num_facets,
      .num_facet_nodes = copy_elements(mesh->num_facets, 4, mesh->facet_type, NULL, NULL, NULL, NULL),
      .num_patches = mesh->num_patches,
      .num_regions = 1,
  };
  PCSIM_TRY(pcsim_raw_mesh_new(&size, raw));
  pcsim_raw_mesh *m = *raw;
  memcpy(m->nodes, mesh->nodes, (size_t)mesh->num_nodes * 3 * sizeof(double));
  copy_elements(mesh->num_cells, 8, mesh->cell_type, mesh->cell_nodes, m->cell_type, m->cell_start,
                m->cell_nodes);
  copy_elements(mesh->num_facets, 4, mesh->facet_type, mesh->facet_nodes, m->facet_type, m->facet_start,
                m->facet_nodes);
  memcpy(m->facet_patch, mesh->facet_patch, (size_t)mesh->num_facets * sizeof(int32_t));
  for (int i = 0; i < mesh->num_patches; i++)
    PCSIM_GOTO(pcsim_strdup(mesh->patches[i], &m->patches[i]), status, fail);
  PCSIM_GOTO(pcsim_strdup("fluid", &m->regions[0]), status, fail);
  PCSIM_GOTO(pcsim_strdup("", &m->notes), status, fail);
  return PCSIM_OK;
fail:
  pcsim_raw_mesh_destroy(raw);
  return status;
}
