/* SPDX-License-Identifier: BSD-2-Clause */
/* Materials by expressions of place. */
#include "mesher.h"

#include "../fv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  char *name;
  pcsim_expr *expr;
  int32_t place; /* among the regions of the mesh */
  int64_t cells;
} region;

typedef struct {
  int num, num_parameters;
  region *region;
  char **parameter;
  double *value;
} regions;

static void regions_free(regions *r) {
  for (int i = 0; i < r->num; i++) {
    pcsim_free(&r->region[i].name);
    pcsim_expr_destroy(&r->region[i].expr);
  }
  for (int i = 0; i < r->num_parameters; i++) pcsim_free(&r->parameter[i]);
  pcsim_free(&r->region);
  pcsim_free(&r->parameter);
  pcsim_free(&r->value);
}

/* "NAME<tab>TEXT" of item i if its key is `key`. */
static pcsim_status split(const mesher_spec *spec, int i, const char *key, char **name, const char **text) {
  const char *found, *value;
  *name = NULL;
  if (!mesher_spec_item(spec, i, &found, &value) || strcmp(found, key) != 0) return PCSIM_OK;
  const char *tab = strchr(value, '\t');
  PCSIM_CHECK(tab && tab > value, PCSIM_ERR_CASE, "mesh: %s is '%s', expected a name, a tab and a value", key,
              value);
  *text = tab + 1;
  PCSIM_TRY(pcsim_strdup(value, name));
  (*name)[tab - value] = 0;
  return PCSIM_OK;
}

static pcsim_status read_parameters(const mesher_spec *spec, int n, regions *r) {
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *r->parameter, &r->parameter));
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *r->value, &r->value));
  for (int i = 0; i < n; i++) {
    char *name;
    const char *text = NULL;
    PCSIM_TRY(split(spec, i, "parameter", &name, &text));
    if (!name) continue;
    r->parameter[r->num_parameters] = name;
    r->value[r->num_parameters++] = strtod(text, NULL);
  }
  return PCSIM_OK;
}

static pcsim_status read_regions(const mesher_spec *spec, int n, regions *r) {
  static const char *const coordinates[] = {"x", "y", "z"};
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *r->region, &r->region));
  for (int i = 0; i < n; i++) {
    char *name;
    const char *text = NULL;
    PCSIM_TRY(split(spec, i, "region", &name, &text));
    if (!name) continue;
    region *one = &r->region[r->num++];
    one->name = name;
    PCSIM_TRY(pcsim_expr_parse(text, &one->expr, NULL));
    PCSIM_TRY(pcsim_expr_bind(one->expr, coordinates, 3, (const char *const *)r->parameter, r->value,
                              r->num_parameters, NULL));
  }
  return PCSIM_OK;
}

/* Place of a region's name in the mesh, added if it is new. */
static pcsim_status place_name(pcsim_raw_mesh *raw, const char *name, int32_t *place) {
  for (*place = 0; *place < raw->num_regions; ++*place)
    if (!strcmp(raw->regions[*place], name)) return PCSIM_OK;
  PCSIM_TRY(pcsim_realloc((size_t)raw->num_regions + 1, sizeof *raw->regions, &raw->regions));
  PCSIM_TRY(pcsim_strdup(name, &raw->regions[raw->num_regions]));
  raw->num_regions++;
  return PCSIM_OK;
}

static pcsim_status assign(pcsim_raw_mesh *raw, regions *r) {
  for (int64_t c = 0; c < raw->num_cells; c++) {
    double volume, x[3];
    pcsim_cell_geometry(raw->nodes, raw->cell_type[c], raw->cell_nodes + raw->cell_start[c], &volume, x);
    for (int i = 0; i < r->num; i++) {
      const double holds = pcsim_expr_eval(r->region[i].expr, x);
      PCSIM_CHECK(!isnan(holds), PCSIM_ERR_CASE, "regions: '%s' of '%s' has no value at (%g, %g, %g)",
                  pcsim_expr_text(r->region[i].expr), r->region[i].name, x[0], x[1], x[2]);
      if (holds == 0) continue;
      raw->cell_region[c] = r->region[i].place;
      r->region[i].cells++;
      break;
    }
  }
  for (int i = 0; i < r->num; i++)
    PCSIM_CHECK(r->region[i].cells > 0, PCSIM_ERR_CASE, "regions: no cell has its centre in '%s' (%s%s)",
                r->region[i].name, pcsim_expr_text(r->region[i].expr),
                i > 0 ? ", less the regions before" : "");
  return PCSIM_OK;
}

/* Names that no cell has any more go. */
static pcsim_status drop_empty(pcsim_raw_mesh *raw) {
  int32_t *place = NULL, n = 0;
  PCSIM_TRY(pcsim_alloc((size_t)raw->num_regions, sizeof *place, &place));
  for (int64_t c = 0; c < raw->num_cells; c++) place[raw->cell_region[c]] = 1;
  for (int i = 0; i < raw->num_regions; i++) {
    char *name = raw->regions[i];
    raw->regions[i] = NULL;
    if (!place[i]) {
      pcsim_free(&name);
      continue;
    }
    raw->regions[n] = name;
    place[i] = n++;
  }
  raw->num_regions = n;
  for (int64_t c = 0; c < raw->num_cells; c++) raw->cell_region[c] = place[raw->cell_region[c]];
  pcsim_free(&place);
  return PCSIM_OK;
}

pcsim_status mesher_regions_set(const mesher_spec *spec, pcsim_raw_mesh *raw) {
  const char *key, *value;
  regions r = {0};
  pcsim_status status = PCSIM_OK;
  int n = 0;
  if (!mesher_spec_text(spec, "region")) return PCSIM_OK;
  while (mesher_spec_item(spec, n, &key, &value)) n++;
  PCSIM_GOTO(read_parameters(spec, n, &r), status, done);
  PCSIM_GOTO(read_regions(spec, n, &r), status, done);
  if (mesher_spec_text(spec, "shape")) {
    pcsim_free(&raw->regions[0]);
    PCSIM_GOTO(pcsim_strdup("rest", &raw->regions[0]), status, done);
  }
  for (int i = 0; i < r.num; i++)
    PCSIM_GOTO(place_name(raw, r.region[i].name, &r.region[i].place), status, done);
  PCSIM_GOTO(assign(raw, &r), status, done);
  PCSIM_GOTO(drop_empty(raw), status, done);
done:
  regions_free(&r);
  return status;
}
