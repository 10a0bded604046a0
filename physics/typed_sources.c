/* SPDX-License-Identifier: BSD-2-Clause */
/* Sources in points and along segments: `physics: {sources: [{at: [x, y], u: q}, {from: [..], to: [..], u:
 * q}]}`. A segment is cut at the faces that it crosses; each piece gets two Gauss points. */
#include "typed.h"

#include <math.h>
#include <string.h>

/* -------------------------------------------------------------- reading */

static bool read_point(const typed_names *names, const pcsim_node *node, const char *key, double point[3]) {
  int n = 0, dim = names->dim;
  if (!pcsim_node_get(node, key) || !pcsim_node_numbers(names->tree, node, key, point, 3, &n)) return false;
  if (dim ? n == dim : n == 2 || n == 3) return true;
  pcsim_tree_problem(names->tree, pcsim_node_get(node, key), "`%s` has %d component%s; expected %s", key, n,
                     n == 1 ? "" : "s", dim == 3 ? "three, [x, y, z]" : "two, [x, y]");
  return false;
}

static void read_strengths(const typed_names *names, typed_source *source) {
  int given = 0;
  for (int64_t i = 0; i < pcsim_node_size(source->node); ++i) {
    const char *key = pcsim_node_key(source->node, i);
    if (strcmp(key, "at") == 0 || strcmp(key, "from") == 0 || strcmp(key, "to") == 0) continue;
    typed_name found = typed_resolve(names, key);
    if (found.kind == TYPED_UNKNOWN && !strchr(key, '_')) {
      source->text[found.index] = pcsim_node_child(source->node, i);
      typed_parse(names, source->text[found.index], MAY_TIME, &source->expr[found.index]);
      ++given;
      continue;
    }
    const char *near = pcsim_nearest(key, names->unknown, (size_t)names->num_unknowns);
    pcsim_tree_problem(names->tree, pcsim_node_key_node(source->node, i),
                       "a source of `%.96s`, which is no unknown%s%s%s", key, near ? "; did you mean `" : "",
                       near ? near : "", near ? "`?" : "");
    ++given;
  }
  if (!given)
    pcsim_tree_problem(names->tree, source->node, "a source without a strength; expected e.g. `%s: 1`",
                       names->num_unknowns ? names->unknown[0] : "u");
}

static pcsim_status read_source(const typed_names *names, const pcsim_node *node, typed_source *source) {
  source->node = node;
  PCSIM_TRY(pcsim_alloc((size_t)names->num_unknowns, sizeof *source->expr, &source->expr));
  PCSIM_TRY(pcsim_alloc((size_t)names->num_unknowns, sizeof *source->text, &source->text));
  bool mapping = pcsim_node_get_kind(node) == PCSIM_NODE_MAPPING;
  bool at = mapping && pcsim_node_get(node, "at"), from = mapping && pcsim_node_get(node, "from");
  bool to = mapping && pcsim_node_get(node, "to");
  if (!mapping || at == (from || to) || from != to) {
    pcsim_tree_problem(
        names->tree, node,
        "a source is {at: [x, y], u: 1} or {from: [x, y], to: [x, y], u: 1} (strength per length)");
    return PCSIM_OK;
  }
  source->segment = from;
  read_point(names, node, from ? "from" : "at", source->from);
  if (from && read_point(names, node, "to", source->to) &&
      memcmp(source->from, source->to, sizeof source->from) == 0)
    pcsim_tree_problem(names->tree, pcsim_node_get(node, "to"), "the segment of a source has no length");
  read_strengths(names, source);
  return PCSIM_OK;
}

pcsim_status typed_sources_read(const typed_names *names, int *num, typed_source **sources) {
  const pcsim_node *physics = pcsim_node_get(pcsim_tree_root(names->tree), "physics");
  const pcsim_node *list = pcsim_node_get(physics, "sources");
  *num = 0;
  *sources = NULL;
  if (!list) return PCSIM_OK;
  if (pcsim_node_get_kind(list) != PCSIM_NODE_SEQUENCE) {
    pcsim_tree_problem(names->tree, list, "`sources` must be a sequence, e.g. [{at: [0.5, 0.5], u: 1}]");
    return PCSIM_OK;
  }
  PCSIM_TRY(pcsim_alloc((size_t)pcsim_node_size(list), sizeof **sources, sources));
  for (int64_t i = 0; i < pcsim_node_size(list); ++i)
    PCSIM_TRY(read_source(names, pcsim_node_child(list, i), &(*sources)[(*num)++]));
  return PCSIM_OK;
}

void typed_sources_free(int num_unknowns, int num, typed_source **sources) {
  for (int k = 0; *sources && k < num; ++k) {
    for (int i = 0; (*sources)[k].expr && i < num_unknowns; ++i) pcsim_expr_destroy(&(*sources)[k].expr[i]);
    pcsim_free(&(*sources)[k].expr);
    pcsim_free(&(*sources)[k].text);
  }
  pcsim_free(sources);
}

/* ---------------------------------------------------- a segment in the cells */

typedef struct {
  double from[3], along[3]; /* start, and end minus start */
  double length;
  double *low, *high; /* [num_cells] the piece of the segment in each cell, 0 to 1; empty: low >= high */
} cutting;

/* Keep the part of the segment in cell `c` that lies behind the plane of a face with outward area `sign` a. A
 * segment in the plane of the face belongs to the owner alone. */
static void cut(cutting *s, int64_t c, const double *centre, const double *a, double sign, bool owner) {
  double size = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]), start = 0, slope = 0;
  for (int i = 0; i < 3; ++i) {
    start += sign * a[i] / size * (s->from[i] - centre[i]);
    slope += sign * a[i] / size * s->along[i];
  }
  if (fabs(slope) <= 1e-12 * s->length) {
    bool inside = fabs(start) <= 1e-12 * s->length ? owner : start < 0;
    if (!inside) s->high[c] = -1.0;
    return;
  }
  double at = -start / slope;
  if (slope > 0) s->high[c] = fmin(s->high[c], at);
  else s->low[c] = fmax(s->low[c], at);
}

static void cut_all(const pcsim_mesh_view *view, cutting *s) {
  for (int64_t c = 0; c < view->num_cells; ++c) s->low[c] = 0, s->high[c] = 1;
  for (int64_t f = 0; f < view->num_faces; ++f) {
    const double *centre = view->face_centre + 3 * f, *area = view->face_area + 3 * f;
    if (view->owner[f] < view->num_cells) cut(s, view->owner[f], centre, area, 1, true);
    if (f < view->num_interior_faces && view->neighbour[f] < view->num_cells)
      cut(s, view->neighbour[f], centre, area, -1, false);
  }
}

static pcsim_status reserve(int64_t n, pcsim_transport_source *made) {
  int32_t *cell = NULL;
  double *point = NULL, *weight = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *cell, &cell));
  made->cell = cell;
  PCSIM_TRY(pcsim_alloc(3 * (size_t)n, sizeof *point, &point));
  made->point = point;
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *weight, &weight));
  made->weight = weight;
  return PCSIM_OK;
}

static void add_point(pcsim_transport_source *made, int64_t cell, const double point[3], double weight) {
  int64_t i = made->num_points++;
  ((int32_t *)(uintptr_t)made->cell)[i] = (int32_t)cell;
  memcpy((double *)(uintptr_t)made->point + 3 * i, point, 3 * sizeof *point);
  ((double *)(uintptr_t)made->weight)[i] = weight;
}

static void add_piece(const cutting *s, int64_t c, pcsim_transport_source *made) {
  const double half = 0.5 * (s->high[c] - s->low[c]), middle = 0.5 * (s->high[c] + s->low[c]);
  for (int q = -1; q <= 1; q += 2) {
    double at = middle + q * half / sqrt(3.0), point[3];
    for (int i = 0; i < 3; ++i) point[i] = s->from[i] + at * s->along[i];
    add_point(made, c, point, half * s->length);
  }
}

static pcsim_status place_segment(const typed_names *names, const pcsim_mesh *mesh,
                                  const typed_source *source, pcsim_transport_source *made) {
  const pcsim_mesh_view *view = pcsim_mesh_get(mesh);
  cutting s = {0};
  double inside = 0;
  int64_t n = 0;
  for (int i = 0; i < 3; ++i) {
    s.from[i] = source->from[i];
    s.along[i] = source->to[i] - source->from[i];
  }
  s.length = sqrt(s.along[0] * s.along[0] + s.along[1] * s.along[1] + s.along[2] * s.along[2]);
  pcsim_status status = pcsim_alloc((size_t)view->num_cells, sizeof *s.low, &s.low);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)view->num_cells, sizeof *s.high, &s.high);
  if (status == PCSIM_OK) cut_all(view, &s);
  for (int64_t c = 0; status == PCSIM_OK && c < view->num_cells; ++c) n += s.high[c] > s.low[c];
  if (status == PCSIM_OK) status = reserve(2 * n, made);
  for (int64_t c = 0; status == PCSIM_OK && c < view->num_cells; ++c) {
    if (s.high[c] <= s.low[c]) continue;
    add_piece(&s, c, made);
    inside += s.high[c] - s.low[c];
  }
  pcsim_free(&s.low);
  pcsim_free(&s.high);
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(mesh), status));
  MPI_Allreduce(MPI_IN_PLACE, &inside, 1, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(mesh));
  if (inside < 1 - 1e-6)
    pcsim_tree_problem(names->tree, source->node,
                       "only %.4g %% of the segment of this source lie in the mesh", 100 * inside);
  /* Faces that are not plane make pieces overlap a little. */
  for (int64_t i = 0; i < made->num_points && inside > 0; ++i)
    ((double *)(uintptr_t)made->weight)[i] /= inside;
  return PCSIM_OK;
}

static pcsim_status place_point(const typed_names *names, const pcsim_mesh *mesh, const typed_source *source,
                                pcsim_transport_source *made) {
  int rank = 0, owner = 0;
  int64_t cell = 0;
  bool inside = false;
  PCSIM_TRY(pcsim_mesh_locate(mesh, source->from, &owner, &cell, &inside));
  if (!inside)
    pcsim_tree_problem(names->tree, pcsim_node_get(source->node, "at"),
                       "the source at (%g, %g, %g) lies outside of the mesh", source->from[0],
                       source->from[1], source->from[2]);
  MPI_Comm_rank(pcsim_mesh_comm(mesh), &rank);
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(mesh), reserve(1, made)));
  if (inside && rank == owner) add_point(made, cell, source->from, 1);
  return PCSIM_OK;
}

/* ------------------------------------------------------------- the program */

static pcsim_status make_program(const typed_names *names, const typed_source *source,
                                 pcsim_program **program) {
  int m = names->num_unknowns;
  typed_text *text = NULL;
  const typed_text **texts = NULL;
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc((size_t)m, sizeof *text, &text), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)m, sizeof *texts, &texts), status, done);
  for (int i = 0; i < m; ++i) {
    if (source->expr[i]) typed_text_tree(&text[i], names, pcsim_expr_root(source->expr[i]), LEVEL_ANY);
    texts[i] = &text[i];
  }
  status = typed_program_make(names, texts, source->text, (typed_output[]){{"value", m}}, 1, program, NULL);
done:
  for (int i = 0; text && i < m; ++i) typed_text_free(&text[i]);
  pcsim_free(&text);
  pcsim_free(&texts);
  return status;
}

pcsim_status typed_source_make(const typed_names *names, const pcsim_mesh *mesh, const typed_source *source,
                               pcsim_transport_source *made) {
  pcsim_program *program = NULL;
  *made = (pcsim_transport_source){0};
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(mesh), make_program(names, source, &program)));
  made->program = program;
  return source->segment ? place_segment(names, mesh, source, made) : place_point(names, mesh, source, made);
}

void typed_source_clear(pcsim_transport_source *made) {
  pcsim_program *program = (pcsim_program *)(uintptr_t)made->program;
  int32_t *cell = (int32_t *)(uintptr_t)made->cell;
  double *point = (double *)(uintptr_t)made->point, *weight = (double *)(uintptr_t)made->weight;
  pcsim_program_destroy(&program);
  pcsim_free(&cell);
  pcsim_free(&point);
  pcsim_free(&weight);
  *made = (pcsim_transport_source){0};
}
