/* SPDX-License-Identifier: BSD-2-Clause */
/* A Gmsh file to a raw mesh: dimension, names, renames, orientation, notes. */
#include "read_msh.h"

#include <gmshc.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  msh_elements cells, facets;
  msh_nodes nodes;
  int32_t *index; /* [nodes] number in the raw mesh, -1: unused */
  int64_t num_used;
  char notes[2048];
} reading;

PCSIM_PRINTF(2, 3) static void note(reading *r, const char *fmt, ...) {
  size_t used = strlen(r->notes);
  va_list args;
  va_start(args, fmt);
  vsnprintf(r->notes + used, sizeof r->notes - used, fmt, args);
  va_end(args);
  used = strlen(r->notes);
  if (used + 1 < sizeof r->notes) strcpy(r->notes + used, "\n");
}

/* What Gmsh itself complained about while reading: it goes on after many errors, we do not. */
static pcsim_status check_log(reading *r) {
  char **line = NULL;
  size_t n = 0;
  int e, warnings = 0;
  char error[300] = "";
  gmshLoggerGet(&line, &n, &e);
  if (e) return PCSIM_OK;
  for (size_t i = 0; i < n; i++) {
    const char *text = strchr(line[i], ':');
    text = text ? text + 1 + strspn(text + 1, " ") : line[i];
    if (!strncmp(line[i], "Error", 5) && !error[0]) snprintf(error, sizeof error, "%s", text);
    if (!strncmp(line[i], "Warning", 7) && warnings++ < 5) note(r, "Gmsh: %.200s", text);
    gmshFree(line[i]);
  }
  gmshFree(line);
  PCSIM_CHECK(strncmp(error, "Error loading", 13) != 0, PCSIM_ERR_MESH,
              "the file is damaged: Gmsh cannot read it and gives no reason");
  PCSIM_CHECK(!error[0], PCSIM_ERR_MESH, "Gmsh cannot read it: %s", error);
  return PCSIM_OK;
}

static pcsim_status open_file(reading *r, const char *path) {
  int e;
  gmshInitialize(0, NULL, 0, &e);
  PCSIM_TRY(mesher_gmsh_check(e, "start"));
  gmshOptionSetNumber("General.Terminal", 0, &e);
  gmshOptionSetNumber("General.NumThreads", 1, &e);
  gmshLoggerStart(&e);
  gmshOpen(path, &e);
  int opened = e;
  PCSIM_TRY(check_log(r));
  PCSIM_CHECK(!opened, PCSIM_ERR_MESH, "the file is damaged: Gmsh cannot read it and gives no reason");
  return PCSIM_OK;
}

static pcsim_status take_elements(reading *r) {
  PCSIM_TRY(msh_elements_take(3, true, &r->cells));
  int dim = 3;
  if (r->cells.num == 0) {
    msh_elements_free(&r->cells);
    PCSIM_TRY(msh_elements_take(2, true, &r->cells));
    dim = 2;
  }
  PCSIM_TRY(msh_elements_take(dim - 1, false, &r->facets));
  PCSIM_CHECK(r->cells.num > 0, PCSIM_ERR_MESH,
              "the mesh has no cells in two or three dimensions (%" PRId64 " line elements)", r->facets.num);
  PCSIM_CHECK(
      r->facets.num > 0, PCSIM_ERR_MESH,
      "the mesh has no boundary elements, so its boundaries have no names; in Gmsh: Physical %s(\"inlet\") = "
      "{1}; and Physical %s(\"fluid\") = {1};",
      dim == 2 ? "Curve" : "Surface", dim == 2 ? "Surface" : "Volume");
  PCSIM_CHECK(r->cells.num <= INT32_MAX, PCSIM_ERR_MESH, "the mesh has %" PRId64 " cells; the limit is %d",
              r->cells.num, INT32_MAX);
  return PCSIM_OK;
}

/* Mark the nodes of these elements as used; every tag must exist. */
static pcsim_status use_nodes(reading *r, const msh_elements *el, const char *what) {
  int64_t at = 0;
  for (int64_t i = 0; i < el->num; i++)
    for (int k = 0; k < pcsim_cell_num_nodes(el->type[i]); k++, at++) {
      int32_t place = msh_nodes_find(&r->nodes, el->tag[at]);
      PCSIM_CHECK(place >= 0, PCSIM_ERR_MESH,
                  "%s %" PRId64 " (%s) uses node %" PRIu64 ", which the mesh does not have", what, i,
                  pcsim_cell_name(el->type[i]), el->tag[at]);
      r->index[place] = 0;
    }
  return PCSIM_OK;
}

static pcsim_status number_nodes(reading *r) {
  PCSIM_TRY(msh_nodes_take(&r->nodes));
  PCSIM_TRY(pcsim_alloc((size_t)r->nodes.num, sizeof *r->index, &r->index));
  for (int64_t i = 0; i < r->nodes.num; i++) r->index[i] = -1;
  PCSIM_TRY(use_nodes(r, &r->cells, "cell"));
  PCSIM_TRY(use_nodes(r, &r->facets, "boundary element"));
  /* in order of their tags, so that every version of the same file gives the same numbers */
  for (int64_t i = 0; i < r->nodes.num; i++) {
    int32_t *index = &r->index[r->nodes.place[i]];
    if (*index == 0) *index = (int32_t)r->num_used++;
  }
  if (r->num_used < r->nodes.num)
    note(r, "%" PRId64 " nodes that no first-order cell uses were left out", r->nodes.num - r->num_used);
  return PCSIM_OK;
}

static void copy_elements(const reading *r, const msh_elements *el, uint8_t *type, int64_t *start,
                          int32_t *nodes, int32_t *group) {
  for (int64_t i = 0; i < el->num; i++) {
    type[i] = el->type[i];
    group[i] = el->group[i];
    start[i + 1] = start[i] + pcsim_cell_num_nodes(el->type[i]);
  }
  for (int64_t i = 0; i < el->num_nodes; i++) nodes[i] = r->index[msh_nodes_find(&r->nodes, el->tag[i])];
}

static pcsim_status make_raw(const reading *r, pcsim_raw_mesh **raw) {
  const pcsim_raw_size size = {.dim = r->cells.dim,
                               .num_nodes = r->num_used,
                               .num_cells = r->cells.num,
                               .num_cell_nodes = r->cells.num_nodes,
                               .num_facets = r->facets.num,
                               .num_facet_nodes = r->facets.num_nodes,
                               .num_patches = r->facets.names.n,
                               .num_regions = r->cells.names.n};
  PCSIM_TRY(pcsim_raw_mesh_new(&size, raw));
  pcsim_raw_mesh *m = *raw;
  for (int64_t i = 0; i < r->nodes.num; i++)
    if (r->index[i] >= 0) memcpy(m->nodes + 3 * (int64_t)r->index[i], r->nodes.x + 3 * i, 3 * sizeof(double));
  copy_elements(r, &r->cells, m->cell_type, m->cell_start, m->cell_nodes, m->cell_region);
  copy_elements(r, &r->facets, m->facet_type, m->facet_start, m->facet_nodes, m->facet_patch);
  for (int i = 0; i < m->num_patches; i++) PCSIM_TRY(pcsim_strdup(r->facets.names.name[i], &m->patches[i]));
  for (int i = 0; i < m->num_regions; i++) PCSIM_TRY(pcsim_strdup(r->cells.names.name[i], &m->regions[i]));
  return PCSIM_OK;
}

/* A plane mesh must lie in z = const; its cells are turned counter-clockwise. */
static pcsim_status flatten(reading *r, pcsim_raw_mesh *m) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  int64_t turned = 0;
  for (int64_t i = 0; i < 3 * m->num_nodes; i++) {
    low[i % 3] = fmin(low[i % 3], m->nodes[i]);
    high[i % 3] = fmax(high[i % 3], m->nodes[i]);
  }
  PCSIM_CHECK(
      high[2] - low[2] <= 1e-9 * fmax(high[0] - low[0], high[1] - low[1]), PCSIM_ERR_MESH,
      "the mesh has surface cells only and they do not lie in a plane z = const (z from %g to %g); expected "
      "a plane mesh, or cells in three dimensions",
      low[2], high[2]);
  if (low[2] != 0 || high[2] != 0) note(r, "the plane z = %g was moved to z = 0", low[2]);
  for (int64_t i = 0; i < m->num_nodes; i++) m->nodes[3 * i + 2] = 0;
  for (int64_t c = 0; c < m->num_cells; c++) {
    int32_t *node = m->cell_nodes + m->cell_start[c];
    int n = (int)(m->cell_start[c + 1] - m->cell_start[c]);
    double area = 0;
    for (int i = 0; i < n; i++) {
      const double *p = m->nodes + 3 * (int64_t)node[i], *q = m->nodes + 3 * (int64_t)node[(i + 1) % n];
      const double *o = m->nodes + 3 * (int64_t)node[0];
      area += (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0]);
    }
    if (!(area < 0)) continue;
    turned++;
    for (int i = 1; i < n - i; i++) {
      int32_t swap = node[i];
      node[i] = node[n - i];
      node[n - i] = swap;
    }
  }
  if (turned) note(r, "%" PRId64 " clockwise cells were turned", turned);
  return PCSIM_OK;
}

/* ------------------------------------------------------------------ renames */

/* One `rename` line of the specification: old name, tab, new name. */
static pcsim_status rename_group(pcsim_raw_mesh *m, const char *from, const char *to, bool *used) {
  for (int pass = 0; pass < 2; pass++) {
    char **names = pass ? m->regions : m->patches;
    for (int i = 0; i < (pass ? m->num_regions : m->num_patches); i++) {
      if (strcmp(names[i], from) != 0) continue;
      pcsim_free(&names[i]);
      PCSIM_TRY(pcsim_strdup(to, &names[i]));
      *used = true;
    }
  }
  return PCSIM_OK;
}

static pcsim_status unknown_name(const pcsim_raw_mesh *m, const char *from) {
  char list[400] = "";
  for (int i = 0; i < m->num_patches + m->num_regions; i++) {
    const char *name = i < m->num_patches ? m->patches[i] : m->regions[i - m->num_patches];
    size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", name);
  }
  PCSIM_FAIL(PCSIM_ERR_CASE, "names: the mesh has no '%s'; it has: %s", from, list);
}

/* After renaming, groups with equal names become one. */
static void merge_names(char **names, int *n, int32_t *group, int64_t num) {
  for (int i = 0; i < *n; i++)
    for (int j = i + 1; j < *n;) {
      if (strcmp(names[i], names[j]) != 0) {
        j++;
        continue;
      }
      pcsim_free(&names[j]);
      for (int k = j; k + 1 < *n; k++) names[k] = names[k + 1];
      --*n;
      for (int64_t g = 0; g < num; g++)
        if (group[g] == j) group[g] = i;
        else if (group[g] > j) group[g]--;
    }
}

static pcsim_status apply_renames(const mesher_spec *spec, pcsim_raw_mesh *m) {
  const char *key, *value;
  for (int i = 0; mesher_spec_item(spec, i, &key, &value); i++) {
    char from[256];
    const char *tab = strchr(value, '\t');
    bool used = false;
    if (strcmp(key, "rename") != 0) continue;
    PCSIM_CHECK(tab && tab > value && tab[1] && tab - value < (ptrdiff_t)sizeof from, PCSIM_ERR_CASE,
                "names: '%s' is not an old and a new name", value);
    snprintf(from, sizeof from, "%.*s", (int)(tab - value), value);
    PCSIM_TRY(rename_group(m, from, tab + 1, &used));
    if (!used) return unknown_name(m, from);
  }
  merge_names(m->patches, &m->num_patches, m->facet_patch, m->num_facets);
  merge_names(m->regions, &m->num_regions, m->cell_region, m->num_cells);
  return PCSIM_OK;
}

/* --------------------------------------------------------------------- notes */

static void note_counts(reading *r) {
  char text[300] = "";
  for (int t = 0; t < PCSIM_NUM_CELL_TYPES; t++) {
    size_t used = strlen(text);
    if (r->cells.count[t] == 0) continue;
    snprintf(text + used, sizeof text - used, "%s%s %" PRId64, used ? ", " : "",
             pcsim_cell_name((pcsim_cell_type)t), r->cells.count[t]);
  }
  note(r, "cells read: %s; boundary elements: %" PRId64, text, r->facets.num);
  if (r->cells.order > 1) note(r, "cells of order %d were reduced to first order", r->cells.order);
  if (r->facets.ungrouped > 0)
    note(r, "%" PRId64 " boundary elements in no physical group were left out", r->facets.ungrouped);
}

static pcsim_status scale_nodes(const reading *r, double scale, pcsim_raw_mesh *m) {
  for (int64_t i = 0; i < r->nodes.num; i++) {
    const int32_t place = r->nodes.place[i], index = r->index[place];
    const double *x = r->nodes.x + 3 * (int64_t)place;
    for (int d = 0; d < 3 && index >= 0; d++) {
      double *scaled = m->nodes + 3 * (int64_t)index + d;
      *scaled *= scale;
      PCSIM_CHECK(isfinite(*scaled), PCSIM_ERR_MESH,
                  "node %" PRIu64 " has the coordinates (%g, %g, %g)%s; expected finite numbers",
                  r->nodes.tag[i], x[0], x[1], x[2], isfinite(x[d]) ? ", too large for this scale" : "");
    }
  }
  return PCSIM_OK;
}

static pcsim_status read_all(reading *r, const mesher_spec *spec, const char *path, pcsim_raw_mesh **raw) {
  double scale = 1;
  if (mesher_spec_text(spec, "scale")) PCSIM_TRY(mesher_spec_positive(spec, "scale", &scale));
  PCSIM_TRY(open_file(r, path));
  PCSIM_TRY(take_elements(r));
  PCSIM_TRY(number_nodes(r));
  note_counts(r);
  PCSIM_TRY(make_raw(r, raw));
  PCSIM_TRY(scale_nodes(r, scale, *raw));
  if ((*raw)->dim == 2) PCSIM_TRY(flatten(r, *raw));
  PCSIM_TRY(apply_renames(spec, *raw));
  PCSIM_TRY(pcsim_strdup(r->notes, &(*raw)->notes));
  return pcsim_raw_mesh_check(*raw);
}

pcsim_status mesher_msh_read(const mesher_spec *spec, pcsim_raw_mesh **raw) {
  const char *path = mesher_spec_text(spec, "file");
  reading *r = NULL;
  *raw = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *r, &r));
  pcsim_status status = read_all(r, spec, path, raw);
  if (status != PCSIM_OK) {
    char message[1024];
    snprintf(message, sizeof message, "%s", pcsim_error_message());
    pcsim_raw_mesh_destroy(raw);
    pcsim_error_set(status, __FILE__, __LINE__, __func__, "%s: %s", path, message);
  }
  msh_elements_free(&r->cells);
  msh_elements_free(&r->facets);
  msh_nodes_free(&r->nodes);
  pcsim_free(&r->index);
  pcsim_free(&r);
  mesher_gmsh_stop();
  return status;
}
