/* SPDX-License-Identifier: BSD-2-Clause */
/* Raw meshes: cell type tables, allocation, consistency. The file is in raw_file.c. */
#include "raw.h"

#include <math.h>
#include <string.h>

static const struct {
  const char *name;
  int num_nodes, vtk_type, dim;
} type_table[PCSIM_NUM_CELL_TYPES] = {
    [PCSIM_CELL_SEGMENT] = {"segment", 2, 3, 1},  [PCSIM_CELL_TRIANGLE] = {"triangle", 3, 5, 2},
    [PCSIM_CELL_QUAD] = {"quad", 4, 9, 2},        [PCSIM_CELL_TETRA] = {"tetrahedron", 4, 10, 3},
    [PCSIM_CELL_PYRAMID] = {"pyramid", 5, 14, 3}, [PCSIM_CELL_PRISM] = {"prism", 6, 13, 3},
    [PCSIM_CELL_HEXA] = {"hexahedron", 8, 12, 3},
};

static bool type_valid(int type) { return type >= 0 && type < PCSIM_NUM_CELL_TYPES; }

int pcsim_cell_num_nodes(pcsim_cell_type type) { return type_valid(type) ? type_table[type].num_nodes : 0; }
int pcsim_cell_vtk_type(pcsim_cell_type type) { return type_valid(type) ? type_table[type].vtk_type : 0; }
const char *pcsim_cell_name(pcsim_cell_type type) {
  return type_valid(type) ? type_table[type].name : "unknown cell";
}

pcsim_status pcsim_raw_mesh_new(const pcsim_raw_size *size, pcsim_raw_mesh **raw) {
  pcsim_status status = PCSIM_OK;
  *raw = NULL;
  PCSIM_CHECK(size->num_nodes >= 0 && size->num_cells >= 0 && size->num_cell_nodes >= 0 &&
                  size->num_facets >= 0 && size->num_facet_nodes >= 0 && size->num_patches >= 0 &&
                  size->num_regions >= 0 && size->num_periodic >= 0,
              PCSIM_ERR_ARG, "raw mesh with a negative count");
  pcsim_raw_mesh *m = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *m, &m));
  m->dim = size->dim;
  m->num_nodes = size->num_nodes;
  m->num_cells = size->num_cells;
  m->num_facets = size->num_facets;
  m->num_patches = size->num_patches;
  m->num_regions = size->num_regions;
  m->num_periodic = size->num_periodic;
  PCSIM_GOTO(pcsim_alloc((size_t)size->num_nodes, 3 * sizeof *m->nodes, &m->nodes), status, fail);
  PCSIM_GOTO(pcsim_alloc((size_t)size->num_cells, sizeof *m->cell_type, &m->cell_type), status, fail);
  PCSIM_GOTO(pcsim_alloc((size_t)size->num_cells + 1, sizeof *m->cell_start, &m->cell_start), status, fail);
  PCSIM_GOTO(pcsim_alloc((size_t)size->num_cell_nodes, sizeof *m->cell_nodes, &m->cell_nodes), status, fail);
  PCSIM_GOTO(pcsim_alloc((size_t)size->num_cells, sizeof *m->cell_region, &m->cell_region), status, fail);
  PCSIM_GOTO(pcsim_alloc((size_t)size->num_facets, sizeof *m->facet_type, &m->facet_type), status, fail);
  PCSIM_GOTO(pcsim_alloc((size_t)size->num_facets + 1, sizeof *m->facet_start, &m->facet_start), status,
             fail);
  PCSIM_GOTO(pcsim_alloc((size_t)size->num_facet_nodes, sizeof *m->facet_nodes, &m->facet_nodes), status,
             fail);
  PCSIM_GOTO(pcsim_alloc((size_t)size->num_facets, sizeof *m->facet_patch, &m->facet_patch), status, fail);
  PCSIM_GOTO(pcsim_alloc((size_t)size->num_patches, sizeof *m->patches, &m->patches), status, fail);
  PCSIM_GOTO(pcsim_alloc((size_t)size->num_regions, sizeof *m->regions, &m->regions), status, fail);
  PCSIM_GOTO(pcsim_alloc((size_t)size->num_periodic, 2 * sizeof *m->periodic, &m->periodic), status, fail);
  *raw = m;
  return PCSIM_OK;
fail:
  pcsim_raw_mesh_destroy(&m);
  return status;
}

void pcsim_raw_mesh_destroy(pcsim_raw_mesh **raw) {
  if (!raw || !*raw) return;
  pcsim_raw_mesh *m = *raw;
  for (int i = 0; m->patches && i < m->num_patches; i++) pcsim_free(&m->patches[i]);
  for (int i = 0; m->regions && i < m->num_regions; i++) pcsim_free(&m->regions[i]);
  pcsim_free(&m->nodes);
  pcsim_free(&m->cell_type);
  pcsim_free(&m->cell_start);
  pcsim_free(&m->cell_nodes);
  pcsim_free(&m->cell_region);
  pcsim_free(&m->facet_type);
  pcsim_free(&m->facet_start);
  pcsim_free(&m->facet_nodes);
  pcsim_free(&m->facet_patch);
  pcsim_free(&m->patches);
  pcsim_free(&m->regions);
  pcsim_free(&m->periodic);
  pcsim_free(&m->notes);
  pcsim_free(raw);
}

/* One list of elements: `dim` is the dimension its types must have. */
static pcsim_status check_elements(const char *what, int dim, int64_t n, const uint8_t *type,
                                   const int64_t *start, const int32_t *nodes, int64_t num_nodes,
                                   const int32_t *group, int num_groups) {
  PCSIM_CHECK(n == 0 || (type && start && nodes && group), PCSIM_ERR_MESH, "%s arrays are missing", what);
  for (int64_t i = 0; i < n; i++) {
    PCSIM_CHECK(type_valid(type[i]) && type_table[type[i]].dim == dim, PCSIM_ERR_MESH,
                "%s %lld has type %d, which is not a %d-dimensional cell type", what, (long long)i, type[i],
                dim);
    int k = type_table[type[i]].num_nodes;
    PCSIM_CHECK((i > 0 || start[0] == 0) && start[i + 1] - start[i] == k, PCSIM_ERR_MESH,
                "%s %lld (%s) has %lld nodes, expected %d", what, (long long)i, type_table[type[i]].name,
                (long long)(start[i + 1] - start[i]), k);
    for (int j = 0; j < k; j++)
      PCSIM_CHECK(nodes[start[i] + j] >= 0 && nodes[start[i] + j] < num_nodes, PCSIM_ERR_MESH,
                  "%s %lld uses node %d, the mesh has nodes 0 to %lld", what, (long long)i,
                  nodes[start[i] + j], (long long)num_nodes - 1);
    PCSIM_CHECK(group[i] >= 0 && group[i] < num_groups, PCSIM_ERR_MESH, "%s %lld is in group %d of %d", what,
                (long long)i, group[i], num_groups);
  }
  return PCSIM_OK;
}

static pcsim_status check_names(const char *what, int n, char *const *names) {
  enum { LIMIT = 10000 };
  PCSIM_CHECK(n <= LIMIT, PCSIM_ERR_MESH, "the mesh has %d names of a %s; the limit is %d", n, what, LIMIT);
  for (int i = 0; i < n; i++) {
    PCSIM_CHECK(names && names[i] && names[i][0], PCSIM_ERR_MESH, "%s %d has no name", what, i);
    for (int j = 0; j < i; j++)
      PCSIM_CHECK(strcmp(names[i], names[j]) != 0, PCSIM_ERR_MESH, "two %ss have the name '%s'", what,
                  names[i]);
  }
  return PCSIM_OK;
}

static pcsim_status check_periodic(const pcsim_raw_mesh *raw) {
  for (int i = 0; i < 2 * raw->num_periodic; i++) {
    const int32_t p = raw->periodic[i];
    PCSIM_CHECK(p >= 0 && p < raw->num_patches, PCSIM_ERR_MESH, "periodic pair %d names boundary %d of %d",
                i / 2, p, raw->num_patches);
    for (int j = 0; j < i; j++)
      PCSIM_CHECK(raw->periodic[j] != p, PCSIM_ERR_MESH,
                  "boundary '%s' is periodic twice, with '%s' and with '%s'; expected one partner",
                  raw->patches[p], raw->patches[raw->periodic[j ^ 1]], raw->patches[raw->periodic[i ^ 1]]);
  }
  return PCSIM_OK;
}

pcsim_status pcsim_raw_mesh_check(const pcsim_raw_mesh *raw) {
  PCSIM_CHECK(raw->dim == 2 || raw->dim == 3, PCSIM_ERR_MESH, "the mesh has dimension %d, expected 2 or 3",
              raw->dim);
  PCSIM_CHECK(raw->num_cells > 0, PCSIM_ERR_MESH, "the mesh has no cells");
  PCSIM_CHECK(raw->num_nodes > 0 && raw->nodes, PCSIM_ERR_MESH, "the mesh has no nodes");
  PCSIM_CHECK(raw->num_nodes <= INT32_MAX, PCSIM_ERR_MESH, "the mesh has %lld nodes; the limit is %d",
              (long long)raw->num_nodes, INT32_MAX);
  PCSIM_CHECK(raw->num_regions > 0, PCSIM_ERR_MESH, "the mesh has no region");
  for (int64_t i = 0; i < raw->num_nodes; i++) {
    const double *x = raw->nodes + 3 * i;
    PCSIM_CHECK(isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]), PCSIM_ERR_MESH,
                "node %lld has the coordinates (%g, %g, %g); expected finite numbers", (long long)i + 1, x[0],
                x[1], x[2]);
  }
  PCSIM_TRY(check_elements("cell", raw->dim, raw->num_cells, raw->cell_type, raw->cell_start, raw->cell_nodes,
                           raw->num_nodes, raw->cell_region, raw->num_regions));
  PCSIM_TRY(check_elements("facet", raw->dim - 1, raw->num_facets, raw->facet_type, raw->facet_start,
                           raw->facet_nodes, raw->num_nodes, raw->facet_patch, raw->num_patches));
  PCSIM_TRY(check_names("patch", raw->num_patches, raw->patches));
  PCSIM_TRY(check_names("region", raw->num_regions, raw->regions));
  return check_periodic(raw);
}
