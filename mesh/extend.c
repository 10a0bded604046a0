/* SPDX-License-Identifier: BSD-2-Clause */
/* How all nodes of a raw mesh follow those of boundaries that move: other boundaries stay, or slide in their
 * planes where they touch one that moves; nodes inside are interpolated. Linear in the displacements that are
 * given, so that the same map carries their derivatives. */
#include "connect.h"
#include "spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INSIDE, SLIDES, STAYS, MOVES };
/* Directions of facets at a node that differ by less are one; lengths and displacements by less are equal. */
static const double ANGLE = 1e-6, TOLERANCE = 1e-7;

/* A node of a boundary. */
typedef struct {
  int32_t node;
  uint8_t role, num_held;
  int32_t patch;     /* of a boundary that it slides on */
  double area;       /* its share of the facets around */
  double held[3][3]; /* [num_held] orthonormal directions that a sliding node may not go */
} border;

typedef struct {
  const pcsim_raw_mesh *raw;
  uint8_t *role;  /* [patches] */
  int32_t *place; /* [nodes] index of its border, -1 inside */
  int64_t num;
  border *border;
  double *displacement;           /* [nodes][3] */
  double most;                    /* largest given displacement */
  double *point, *value, *weight; /* [num] sources of an interpolation */
} extension;

static double length_of(const double *x) { return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }
static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* -------------------------------------------------------------------- roles */

/* Boundaries that stay and have a node in common with one that moves slide, partners across periods alike. */
static void find_sliding(extension *e) {
  const pcsim_raw_mesh *raw = e->raw;
  for (int64_t f = 0; f < raw->num_facets; f++)
    for (int64_t k = raw->facet_start[f]; k < raw->facet_start[f + 1]; k++)
      if (e->role[raw->facet_patch[f]] == MOVES) e->place[raw->facet_nodes[k]] = 1;
  for (int64_t f = 0; f < raw->num_facets; f++)
    for (int64_t k = raw->facet_start[f]; k < raw->facet_start[f + 1]; k++)
      if (e->place[raw->facet_nodes[k]] > 0 && e->role[raw->facet_patch[f]] == STAYS)
        e->role[raw->facet_patch[f]] = SLIDES;
  for (int i = 0; i < 2 * raw->num_periodic; i++)
    if (e->role[raw->periodic[i]] == SLIDES && e->role[raw->periodic[i ^ 1]] == STAYS)
      e->role[raw->periodic[i ^ 1]] = SLIDES;
}

static void hold(border *b, const double *normal) {
  double n[3] = {normal[0], normal[1], normal[2]};
  for (int k = 0; k < b->num_held; k++) {
    const double along = dot(n, b->held[k]);
    for (int d = 0; d < 3; d++) n[d] -= along * b->held[k][d];
  }
  const double size = length_of(n);
  if (size < ANGLE || b->num_held == 3) return;
  for (int d = 0; d < 3; d++) b->held[b->num_held][d] = n[d] / size;
  b->num_held++;
}

static pcsim_status collect_borders(extension *e) {
  const pcsim_raw_mesh *raw = e->raw;
  for (int64_t i = 0; i < raw->num_nodes; i++) e->place[i] = -1;
  PCSIM_TRY(pcsim_alloc((size_t)raw->facet_start[raw->num_facets], sizeof *e->border, &e->border));
  for (int64_t f = 0; f < raw->num_facets; f++) {
    const int n = (int)(raw->facet_start[f + 1] - raw->facet_start[f]);
    const int32_t *node = raw->facet_nodes + raw->facet_start[f];
    const uint8_t role = e->role[raw->facet_patch[f]];
    double area[3], centre[3];
    pcsim_face_geometry(raw->nodes, node, n, area, centre);
    const double size = length_of(area), normal[3] = {area[0] / size, area[1] / size, area[2] / size};
    for (int k = 0; k < n; k++) {
      if (e->place[node[k]] < 0) {
        e->place[node[k]] = (int32_t)e->num;
        e->border[e->num++] = (border){.node = node[k]};
      }
      border *b = &e->border[e->place[node[k]]];
      b->area += size / n;
      if (role > b->role) b->role = role;
      if (role != SLIDES) continue;
      b->patch = raw->facet_patch[f];
      hold(b, normal);
    }
  }
  return PCSIM_OK;
}

/* Nodes of boundaries that move may not leave the planes of those that slide. */
static pcsim_status check_planes(const extension *e) {
  for (int64_t i = 0; i < e->num; i++) {
    const border *b = &e->border[i];
    char point[100];
    if (b->role != MOVES) continue;
    for (int k = 0; k < b->num_held; k++)
      if (fabs(dot(b->held[k], e->displacement + 3 * (int64_t)b->node)) > TOLERANCE * e->most) {
        pcsim_print_point(e->raw, e->raw->nodes + 3 * (int64_t)b->node, point, sizeof point);
        PCSIM_FAIL(PCSIM_ERR_CASE,
                   "at %s the motion leaves the plane of boundary '%s', which meets it there and is not "
                   "moved; expected a motion of '%s' too, or one along it",
                   point, e->raw->patches[b->patch], e->raw->patches[b->patch]);
      }
  }
  return PCSIM_OK;
}

/* ------------------------------------------------------------- interpolation */

/* Is component d of a border's displacement known before anything is interpolated? */
static bool knows(const border *b, int d) {
  double along = 0;
  if (b->role != SLIDES) return true;
  for (int k = 0; k < b->num_held; k++) along += b->held[k][d] * b->held[k][d];
  return along > 1 - ANGLE;
}

/* Sources where component d is known (-1: everywhere). */
static pcsim_status gather_sources(extension *e, int d, spread *s) {
  int64_t num = 0;
  for (int64_t i = 0; i < e->num; i++) {
    const border *b = &e->border[i];
    if (d >= 0 && !knows(b, d)) continue;
    memcpy(e->point + 3 * num, e->raw->nodes + 3 * (int64_t)b->node, 3 * sizeof *e->point);
    memcpy(e->value + 3 * num, e->displacement + 3 * (int64_t)b->node, 3 * sizeof *e->value);
    e->weight[num++] = b->area;
  }
  return spread_make(num, e->point, e->value, e->weight, s);
}

/* Component by component, then back into the planes. */
static pcsim_status slide(extension *e) {
  for (int d = 0; d < e->raw->dim; d++) {
    spread s = {0};
    double value[3];
    const pcsim_status status = gather_sources(e, d, &s);
    for (int64_t i = 0; status == PCSIM_OK && i < e->num; i++) {
      const border *b = &e->border[i];
      if (knows(b, d)) continue;
      spread_at(&s, e->raw->nodes + 3 * (int64_t)b->node, value);
      e->displacement[3 * (int64_t)b->node + d] = value[d];
    }
    spread_free(&s);
    PCSIM_TRY(status);
  }
  for (int64_t i = 0; i < e->num; i++) {
    const border *b = &e->border[i];
    double *u = e->displacement + 3 * (int64_t)b->node;
    for (int k = 0; b->role == SLIDES && k < b->num_held; k++) {
      const double along = dot(u, b->held[k]);
      for (int d = 0; d < 3; d++) u[d] -= along * b->held[k][d];
    }
  }
  return PCSIM_OK;
}

static pcsim_status follow(extension *e) {
  spread s = {0};
  const pcsim_status status = gather_sources(e, -1, &s);
  for (int64_t i = 0; status == PCSIM_OK && i < e->raw->num_nodes; i++)
    if (e->place[i] < 0) spread_at(&s, e->raw->nodes + 3 * i, e->displacement + 3 * i);
  spread_free(&s);
  return status;
}

/* ------------------------------------------------------------------- periods */

typedef struct {
  double key;
  int32_t node;
} keyed;

static int by_key(const void *a, const void *b) {
  const double x = ((const keyed *)a)->key, y = ((const keyed *)b)->key;
  return (x > y) - (x < y);
}

/* Nodes of a patch in the order of their places along a direction that no mesh is laid out by. */
static int64_t order_nodes(const extension *e, int patch, uint8_t *met, keyed *list, double mean[3]) {
  const pcsim_raw_mesh *raw = e->raw;
  int64_t num = 0;
  memset(met, 0, (size_t)raw->num_nodes);
  memset(mean, 0, 3 * sizeof *mean);
  for (int64_t f = 0; f < raw->num_facets; f++)
    for (int64_t k = raw->facet_start[f]; raw->facet_patch[f] == patch && k < raw->facet_start[f + 1]; k++) {
      const int32_t node = raw->facet_nodes[k];
      const double *x = raw->nodes + 3 * (int64_t)node;
      if (met[node]) continue;
      met[node] = 1;
      list[num++] = (keyed){0.7310 * x[0] + 0.5531 * x[1] + 0.3994 * x[2], node};
      for (int d = 0; d < 3; d++) mean[d] += x[d];
    }
  for (int d = 0; d < 3; d++) mean[d] /= (double)(num ? num : 1);
  qsort(list, (size_t)num, sizeof *list, by_key);
  return num;
}

/* A node and its partner: what slides takes the first one's displacement, everything else has the same. */
static pcsim_status join_nodes(extension *e, int pair, int32_t a, int32_t b) {
  double *u = e->displacement + 3 * (int64_t)a, *v = e->displacement + 3 * (int64_t)b;
  char point[100];
  if (e->border[e->place[a]].role == SLIDES && e->border[e->place[b]].role == SLIDES)
    memcpy(v, u, 3 * sizeof *v);
  for (int d = 0; d < 3; d++)
    if (fabs(u[d] - v[d]) > TOLERANCE * e->most) {
      pcsim_print_point(e->raw, e->raw->nodes + 3 * (int64_t)a, point, sizeof point);
      PCSIM_FAIL(PCSIM_ERR_CASE,
                 "boundary '%s' is periodic with '%s': both must move alike, but they part at %s",
                 e->raw->patches[e->raw->periodic[2 * pair + 1]], e->raw->patches[e->raw->periodic[2 * pair]],
                 point);
    }
  return PCSIM_OK;
}

static pcsim_status join_pair(extension *e, int pair, uint8_t *met, keyed *list[2]) {
  double mean[2][3];
  int64_t num[2];
  for (int s = 0; s < 2; s++) num[s] = order_nodes(e, e->raw->periodic[2 * pair + s], met, list[s], mean[s]);
  if (num[0] != num[1]) return PCSIM_OK; /* the mesh says what is wrong with them */
  for (int64_t i = 0; i < num[0]; i++) PCSIM_TRY(join_nodes(e, pair, list[0][i].node, list[1][i].node));
  return PCSIM_OK;
}

static pcsim_status join_periods(extension *e) {
  uint8_t *met = NULL;
  keyed *list[2] = {NULL, NULL};
  pcsim_status status = PCSIM_OK;
  if (e->raw->num_periodic == 0) return PCSIM_OK;
  PCSIM_GOTO(pcsim_alloc((size_t)e->raw->num_nodes, 1, &met), status, done);
  for (int s = 0; s < 2; s++)
    PCSIM_GOTO(pcsim_alloc((size_t)e->num, sizeof *list[s], &list[s]), status, done);
  for (int i = 0; i < e->raw->num_periodic && status == PCSIM_OK; i++) status = join_pair(e, i, met, list);
done:
  pcsim_free(&met), pcsim_free(&list[0]), pcsim_free(&list[1]);
  return status;
}

/* ----------------------------------------------------------------------- all */

static pcsim_status extend(extension *e, const bool *moves) {
  const pcsim_raw_mesh *raw = e->raw;
  PCSIM_TRY(pcsim_alloc((size_t)raw->num_patches, sizeof *e->role, &e->role));
  PCSIM_TRY(pcsim_alloc((size_t)raw->num_nodes, sizeof *e->place, &e->place));
  for (int p = 0; p < raw->num_patches; p++) e->role[p] = moves[p] ? MOVES : STAYS;
  find_sliding(e);
  PCSIM_TRY(collect_borders(e));
  PCSIM_TRY(pcsim_alloc((size_t)e->num, 3 * sizeof *e->point, &e->point));
  PCSIM_TRY(pcsim_alloc((size_t)e->num, 3 * sizeof *e->value, &e->value));
  PCSIM_TRY(pcsim_alloc((size_t)e->num, sizeof *e->weight, &e->weight));
  for (int64_t i = 0; i < raw->num_nodes; i++) {
    double *u = e->displacement + 3 * i;
    if (e->place[i] < 0 || e->border[e->place[i]].role != MOVES) memset(u, 0, 3 * sizeof *u);
    e->most = fmax(e->most, length_of(u));
  }
  PCSIM_TRY(check_planes(e));
  PCSIM_TRY(slide(e));
  PCSIM_TRY(join_periods(e));
  return follow(e);
}

pcsim_status pcsim_raw_mesh_extend(const pcsim_raw_mesh *raw, const bool *moves, double *displacement) {
  extension e = {.raw = raw, .displacement = displacement};
  const pcsim_status status = extend(&e, moves);
  pcsim_free(&e.role), pcsim_free(&e.place), pcsim_free(&e.border);
  pcsim_free(&e.point), pcsim_free(&e.value), pcsim_free(&e.weight);
  return status;
}

pcsim_status pcsim_raw_mesh_move(pcsim_raw_mesh *raw, const double *displacement) {
  for (int64_t i = 0; i < 3 * raw->num_nodes; i++) raw->nodes[i] += displacement[i];
  for (int64_t c = 0; c < raw->num_cells; c++) {
    double volume, centre[3];
    char cell[200];
    pcsim_cell_geometry(raw->nodes, (pcsim_cell_type)raw->cell_type[c], raw->cell_nodes + raw->cell_start[c],
                        &volume, centre);
    if (volume > 0) continue;
    pcsim_print_cell(raw, c, cell, sizeof cell);
    PCSIM_FAIL(PCSIM_ERR_CASE,
               "the motion turns %s inside out; expected a smaller one, or one that leaves more room", cell);
  }
  return PCSIM_OK;
}
