/* SPDX-License-Identifier: BSD-2-Clause */
/* Integrals, means, extrema and norms of an expression over the domain, regions or boundaries; fluxes. */
#include "monitor.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NUM(a) (sizeof(a) / sizeof *(a))

typedef struct {
  pcsim_expr *of;
  double *argument; /* values, gradients, x, y, z, t */
  bool *patch;      /* [num_patches] or NULL: over cells */
  bool *region;     /* [num_regions] or NULL: all */
  int field;        /* of a flux */
} integral;

/* Sums and extrema over the cells or faces. */
typedef struct {
  double sum, square, measure;
  double low, high;
} totals;

/* Names of an expression: the fields, their derivatives, the place and the time. */
enum { NAME_MAX = 80 };

static int num_names(const pcsim_monitors *monitors, int dim) {
  return monitors->num_fields * (1 + dim) + dim + monitors->through_time;
}

static bool read_of(pcsim_tree *tree, const pcsim_monitors *monitors, const monitor *m, integral *it) {
  static const char *const places[3] = {"x", "y", "z"};
  const int dim = pcsim_mesh_get(monitors->mesh)->dim, num = num_names(monitors, dim);
  char(*text)[NAME_MAX] = NULL;
  const char **names = NULL;
  bool good = pcsim_alloc((size_t)num, sizeof *text, &text) == PCSIM_OK &&
              pcsim_alloc((size_t)num, sizeof *names, &names) == PCSIM_OK;
  int n = 0;
  for (int f = 0; good && f < monitors->num_fields; ++f)
    snprintf(text[n++], NAME_MAX, "%s", monitors->field[f].name);
  for (int f = 0; good && f < monitors->num_fields; ++f)
    for (int j = 0; j < dim; ++j) snprintf(text[n++], NAME_MAX, "%s_%s", monitors->field[f].name, places[j]);
  for (int j = 0; good && j < dim; ++j) snprintf(text[n++], NAME_MAX, "%s", places[j]);
  if (good && n < num) snprintf(text[n++], NAME_MAX, "t");
  for (int i = 0; good && i < num; ++i) names[i] = text[i];
  good = good && pcsim_node_as_expr(tree, pcsim_node_get(m->node, "of"), names, num, &it->of);
  pcsim_free(&names);
  pcsim_free(&text);
  return good;
}

static bool given(const pcsim_node *node) {
  return node && (pcsim_node_size(node) > 0 || pcsim_node_text(node)[0]);
}

static void select_region(pcsim_tree *tree, const pcsim_mesh_view *mesh, const pcsim_node *node,
                          bool *region) {
  const char *text = pcsim_node_text(node);
  for (int r = 0; r < mesh->num_regions; ++r)
    if (!strcmp(mesh->region_name[r], text)) {
      region[r] = true;
      return;
    }
  char known[256] = "";
  for (int r = 0; r < mesh->num_regions; ++r) {
    const size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", r ? ", " : "", mesh->region_name[r]);
  }
  const char *near = pcsim_nearest(text, mesh->region_name, (size_t)mesh->num_regions);
  pcsim_tree_problem(tree, node, "no region `%.64s`; the mesh has: %s%s%s%s", text, known,
                     near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

static pcsim_status read_where(pcsim_tree *tree, const pcsim_monitors *monitors, const monitor *m,
                               integral *it) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(monitors->mesh);
  const pcsim_node *on = pcsim_node_get(m->node, "on"), *region = pcsim_node_get(m->node, "region");
  if (given(on) && given(region))
    pcsim_tree_problem(tree, region, "`%s` has both `on` and `region`; keep one", m->name);
  if (given(on)) {
    PCSIM_TRY(pcsim_alloc((size_t)mesh->num_patches, sizeof(bool), &it->patch));
    (void)monitor_read_on(tree, monitors, m, it->patch);
  }
  if (!given(region)) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc((size_t)mesh->num_regions, sizeof(bool), &it->region));
  if (pcsim_node_get_kind(region) == PCSIM_NODE_SCALAR) select_region(tree, mesh, region, it->region);
  else
    for (int64_t i = 0; i < pcsim_node_size(region); ++i)
      select_region(tree, mesh, pcsim_node_child(region, i), it->region);
  return PCSIM_OK;
}

static pcsim_status read_integral(pcsim_tree *tree, pcsim_monitors *monitors, monitor *m) {
  const int dim = pcsim_mesh_get(monitors->mesh)->dim;
  PCSIM_TRY(pcsim_alloc(1, sizeof(integral), &m->data));
  integral *it = m->data;
  PCSIM_TRY(pcsim_alloc((size_t)num_names(monitors, dim), sizeof(double), &it->argument));
  (void)read_of(tree, monitors, m, it);
  PCSIM_TRY(read_where(tree, monitors, m, it));
  return monitor_add_quantity(monitors, m, "", "%s", "");
}

/* -------------------------------------------------------------------- evaluation */

static void add(totals *t, double value, double weight) {
  t->sum += weight * value;
  t->square += weight * value * value;
  t->measure += weight;
  t->low = fmin(t->low, value);
  t->high = fmax(t->high, value);
}

/* Arguments at cell `c`, or where `face` >= 0 on that boundary face of the cell, with the cell's gradient.
 * Returns their end. */
static double *take_arguments(const pcsim_monitors *monitors, const pcsim_fields *fields, int64_t c,
                              int64_t face, double *x) {
  const int dim = pcsim_mesh_get(monitors->mesh)->dim;
  for (int f = 0; f < fields->num; ++f) {
    const pcsim_scalar *s = &fields->scalar[f];
    *x++ = face < 0 ? s->value[s->stride * c] : s->face[s->stride * face];
  }
  for (int f = 0; f < fields->num; ++f)
    for (int j = 0; j < dim; ++j) *x++ = fields->scalar[f].gradient[3 * fields->scalar[f].stride * c + j];
  return x;
}

static double value_of(const pcsim_monitors *monitors, integral *it, const pcsim_fields *fields, int64_t c,
                       int64_t face, const double *place) {
  const int dim = pcsim_mesh_get(monitors->mesh)->dim;
  double *x = take_arguments(monitors, fields, c, face, it->argument);
  for (int j = 0; j < dim; ++j) *x++ = place[j];
  if (monitors->through_time) *x = fields->time;
  return pcsim_expr_eval(it->of, it->argument);
}

static void over_cells(const pcsim_monitors *monitors, integral *it, const pcsim_fields *fields, totals *t) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(monitors->mesh);
  for (int64_t c = 0; c < mesh->num_cells; ++c)
    if (!it->region || it->region[mesh->cell_region[c]])
      add(t, value_of(monitors, it, fields, c, -1, mesh->cell_centre + 3 * c), mesh->cell_volume[c]);
}

static void over_faces(const pcsim_monitors *monitors, integral *it, const pcsim_fields *fields, totals *t) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(monitors->mesh);
  for (int p = 0; p < mesh->num_patches; ++p)
    for (int64_t f = mesh->patch_start[p]; it->patch[p] && f < mesh->patch_start[p + 1]; ++f) {
      const double *a = mesh->face_area + 3 * f;
      add(t,
          value_of(monitors, it, fields, mesh->owner[f], f - mesh->num_interior_faces,
                   mesh->face_centre + 3 * f),
          sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]));
    }
}

static pcsim_status evaluate_integral(pcsim_monitors *monitors, monitor *m, const pcsim_fields *fields) {
  integral *it = m->data;
  MPI_Comm comm = pcsim_mesh_comm(monitors->mesh);
  totals t = {.low = DBL_MAX, .high = -DBL_MAX};
  if (it->patch) over_faces(monitors, it, fields, &t);
  else over_cells(monitors, it, fields, &t);
  double extrema[2] = {t.low, -t.high};
  MPI_Allreduce(MPI_IN_PLACE, &t.sum, 3, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(MPI_IN_PLACE, extrema, 2, MPI_DOUBLE, MPI_MIN, comm);
  const double none = isnan(t.sum) ? NAN : 0; /* fmin drops what is no number */
  monitor_set(monitors, m, 0,
              m->kind == &monitor_integral ? t.sum
              : m->kind == &monitor_mean   ? t.sum / t.measure
              : m->kind == &monitor_norm   ? sqrt(t.square)
              : m->kind == &monitor_min    ? extrema[0] + none
                                           : -extrema[1] + none);
  return PCSIM_OK;
}

static pcsim_status functional_of(const pcsim_tree *tree, const pcsim_monitors *monitors, const monitor *m,
                                  int which, pcsim_monitor_functional *f) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(monitors->mesh);
  const integral *it = m->data;
  (void)which;
  PCSIM_CHECK(monitors->typed || (m->kind != &monitor_norm && !it->patch), PCSIM_ERR_ARG,
              "`%s`: of a flow there are functionals over cells only, and no norms", m->name);
  f->of.kind = m->kind == &monitor_integral ? PCSIM_FUNCTIONAL_INTEGRAL
               : m->kind == &monitor_mean   ? PCSIM_FUNCTIONAL_MEAN
                                            : PCSIM_FUNCTIONAL_NORM;
  f->of.on_boundary = it->patch;
  PCSIM_TRY(monitor_lower(tree, monitors, pcsim_node_text(pcsim_node_get(m->node, "of")), &f->program));
  f->of.program = f->program;
  if (it->patch) return monitor_name_places(it->patch, mesh->num_patches, mesh->patch_name, f);
  return it->region ? monitor_name_places(it->region, mesh->num_regions, mesh->region_name, f) : PCSIM_OK;
}

/* --------------------------------------------------------------------- backwards */

/* Cells or faces that count, with the seeds of the expression there. */
typedef struct {
  int64_t num;
  int64_t *cell, *face; /* [num] face -1: none */
  double *seed, *argument, *place, *back;
} back_room;

static void free_room(back_room *r) {
  pcsim_free(&r->cell), pcsim_free(&r->face), pcsim_free(&r->seed), pcsim_free(&r->argument);
  pcsim_free(&r->place), pcsim_free(&r->back);
}

static pcsim_status make_room(int64_t num, int width, back_room *r) {
  const size_t n = (size_t)num;
  PCSIM_TRY(pcsim_alloc(n, sizeof *r->cell, &r->cell));
  PCSIM_TRY(pcsim_alloc(n, sizeof *r->face, &r->face));
  PCSIM_TRY(pcsim_alloc(n, sizeof(double), &r->seed));
  PCSIM_TRY(pcsim_alloc(n, 3 * sizeof(double), &r->place));
  PCSIM_TRY(pcsim_alloc(n * (size_t)width, sizeof(double), &r->argument));
  return pcsim_alloc(n * (size_t)width, sizeof(double), &r->back);
}

/* All of them, their volume or area as seed. */
static void take_all(const pcsim_mesh_view *mesh, const integral *it, back_room *r) {
  for (int64_t c = 0; !it->patch && c < mesh->num_cells; ++c) {
    if (it->region && !it->region[mesh->cell_region[c]]) continue;
    memcpy(r->place + 3 * r->num, mesh->cell_centre + 3 * c, 3 * sizeof(double));
    r->seed[r->num] = mesh->cell_volume[c];
    r->cell[r->num] = c, r->face[r->num++] = -1;
  }
  for (int p = 0; it->patch && p < mesh->num_patches; ++p)
    for (int64_t k = mesh->patch_start[p]; it->patch[p] && k < mesh->patch_start[p + 1]; ++k) {
      const double *a = mesh->face_area + 3 * k;
      memcpy(r->place + 3 * r->num, mesh->face_centre + 3 * k, 3 * sizeof(double));
      r->seed[r->num] = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
      r->cell[r->num] = mesh->owner[k], r->face[r->num++] = k - mesh->num_interior_faces;
    }
}

/* A mean is over their sum; of a norm and an extremum the values decide. */
static void weigh(pcsim_monitors *monitors, const monitor *m, const pcsim_fields *fields, back_room *r) {
  integral *it = m->data;
  MPI_Comm comm = pcsim_mesh_comm(monitors->mesh);
  const bool norm = m->kind == &monitor_norm, mean = m->kind == &monitor_mean;
  const double sign = m->kind == &monitor_min ? -1 : 1;
  struct {
    double value;
    int rank;
  } most = {-DBL_MAX, 0};
  int64_t best = -1;
  double sum = 0;
  int rank;
  if (m->kind == &monitor_integral) return;
  MPI_Comm_rank(comm, &rank);
  most.rank = rank;
  for (int64_t k = 0; k < r->num; ++k) {
    const double value = value_of(monitors, it, fields, r->cell[k], r->face[k], r->place + 3 * k);
    sum += r->seed[k] * (norm ? value * value : 1);
    if (sign * value > most.value) most.value = sign * value, best = k;
    if (norm) r->seed[k] *= value;
  }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
  for (int64_t k = 0; k < r->num; ++k)
    if (norm || mean) r->seed[k] /= norm ? sqrt(sum) : sum; /* a norm of 0 has no derivative: not finite */
    else r->seed[k] = most.rank == rank && k == best;
}

static void add_to_fields(const pcsim_monitors *monitors, const back_room *r, pcsim_monitor_functional *f) {
  const int dim = pcsim_mesh_get(monitors->mesh)->dim, num = monitors->num_fields;
  const int width = monitor_num_arguments(monitors, dim);
  for (int64_t k = 0; k < r->num; ++k)
    for (int i = 0; i < num; ++i) {
      const double *back = r->back + k * width;
      double *cell = f->cell + 4 * (r->cell[k] * num + i);
      if (r->face[k] < 0) cell[0] += back[i];
      else f->face[r->face[k] * num + i] += back[i];
      for (int j = 0; j < dim; ++j) cell[1 + j] += back[num + i * dim + j];
    }
}

static pcsim_status back_integral(const pcsim_tree *tree, pcsim_monitors *monitors, const monitor *m,
                                  int which, const pcsim_fields *fields, pcsim_monitor_functional *f) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(monitors->mesh);
  const integral *it = m->data;
  const int width = monitor_num_arguments(monitors, mesh->dim);
  const int64_t room = it->patch ? mesh->num_faces - mesh->num_interior_faces : mesh->num_cells;
  back_room r = {0};
  pcsim_status status;
  (void)which;
  PCSIM_GOTO(pcsim_status_agree(pcsim_mesh_comm(monitors->mesh), make_room(room, width, &r)), status, done);
  take_all(mesh, it, &r);
  weigh(monitors, m, fields, &r);
  for (int64_t k = 0; k < r.num; ++k)
    (void)take_arguments(monitors, fields, r.cell[k], r.face[k], r.argument + k * width);
  const monitor_points points = {r.num, r.seed, r.argument, r.place};
  status = monitor_expression_back(tree, monitors, pcsim_node_text(pcsim_node_get(m->node, "of")), &points,
                                   r.back, f->own);
  if (status == PCSIM_OK) add_to_fields(monitors, &r, f);
done:
  free_room(&r);
  return status;
}

static void clear_integral(monitor *m) {
  integral *it = m->data;
  pcsim_expr_destroy(&it->of);
  pcsim_free(&it->argument);
  pcsim_free(&it->patch);
  pcsim_free(&it->region);
}

static const pcsim_key integral_keys[] = {
    {"kind", PCSIM_KEY_TEXT, "", "", "", "integral, mean, min, max or norm", 0, 0},
    {"of", PCSIM_KEY_EXPRESSION, NULL, "", "",
     "expression in the unknowns (u, v, w, p), their derivatives u_x, ..., x, y, z, t and the parameters", 0,
     0},
    {"on", PCSIM_KEY_NAMES, "", "", "", "boundaries, names or patterns; else over the domain", 0, 0},
    {"region", PCSIM_KEY_NAMES, "", "", "", "regions of the mesh; all if not given", 0, 0},
};

/* Values at cell centres and centres of faces: second order. */
#define OF_INTEGRALS(name, help, functional)                                                                 \
  const monitor_kind monitor_##name = {{#name, help, integral_keys, NUM(integral_keys), "NAME"},             \
                                       read_integral,                                                        \
                                       NULL,                                                                 \
                                       evaluate_integral,                                                    \
                                       clear_integral,                                                       \
                                       OF_ANY,                                                               \
                                       functional,                                                           \
                                       back_integral}
OF_INTEGRALS(integral, "integral of an expression over domain, regions or boundaries", functional_of);
OF_INTEGRALS(mean, "the same over the volume or area", functional_of);
OF_INTEGRALS(min, "smallest value of an expression in cells or on boundary faces", NULL);
OF_INTEGRALS(max, "largest value of an expression in cells or on boundary faces", NULL);
OF_INTEGRALS(norm, "L2 norm of an expression: root of the integral of its square", functional_of);

/* ------------------------------------------------------------------------- flux */

static const pcsim_key flux_keys[] = {
    {"kind", PCSIM_KEY_TEXT, "", "", "", "flux", 0, 0},
    {"of", PCSIM_KEY_TEXT, "", "", "", "unknown whose equation it is; needed where there are several", 0, 0},
    {"on", PCSIM_KEY_NAMES, NULL, "", "", "boundaries, names or patterns", 0, 0},
};

static pcsim_status read_flux(pcsim_tree *tree, pcsim_monitors *monitors, monitor *m) {
  const pcsim_node *of = pcsim_node_get(m->node, "of");
  char known[256];
  PCSIM_TRY(pcsim_alloc(1, sizeof(integral), &m->data));
  integral *it = m->data;
  it->field = given(of) ? monitors_find_field(monitors, pcsim_node_text(of)) : 0;
  monitors_field_names(monitors, known, sizeof known);
  if (given(of) && it->field < 0)
    pcsim_tree_problem(tree, of, "no unknown `%.64s`; expected %s", pcsim_node_text(of), known);
  else if (!given(of) && monitors->num_fields > 1)
    pcsim_tree_problem(tree, m->node, "`%s` needs `of`, the unknown whose flux it is: %s", m->name, known);
  else if (monitors->joined && it->field >= 0 && it->field < PCSIM_FLOW_NUM_FIELDS)
    pcsim_tree_problem(tree, of, "`%.64s` is a field of the flow; expected an unknown of the equations",
                       pcsim_node_text(of));
  PCSIM_TRY(pcsim_alloc((size_t)pcsim_mesh_get(monitors->mesh)->num_patches, sizeof(bool), &it->patch));
  (void)monitor_read_on(tree, monitors, m, it->patch);
  return monitor_add_quantity(monitors, m, "", "%s", "");
}

/* The very fluxes of the residual: over all boundaries they add up to what sources and accumulation leave. */
static pcsim_status evaluate_flux(pcsim_monitors *monitors, monitor *m, const pcsim_fields *fields) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(monitors->mesh);
  const integral *it = m->data;
  double sum = 0;
  for (int p = 0; p < mesh->num_patches; ++p)
    for (int64_t f = mesh->patch_start[p]; it->patch[p] && f < mesh->patch_start[p + 1]; ++f)
      sum += fields->scalar[it->field].flux[f - mesh->num_interior_faces];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(monitors->mesh));
  monitor_set(monitors, m, 0, sum);
  return PCSIM_OK;
}

static pcsim_status functional_of_flux(const pcsim_tree *tree, const pcsim_monitors *monitors,
                                       const monitor *m, int which, pcsim_monitor_functional *f) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(monitors->mesh);
  const integral *it = m->data;
  (void)tree, (void)which;
  f->of.kind = PCSIM_FUNCTIONAL_FLUX;
  f->of.on_boundary = true;
  f->of.unknown = it->field - (monitors->joined ? PCSIM_FLOW_NUM_FIELDS : 0);
  return monitor_name_places(it->patch, mesh->num_patches, mesh->patch_name, f);
}

const monitor_kind monitor_flux = {{"flux", "flux of a conservation law out of the domain through boundaries",
                                    flux_keys, NUM(flux_keys), "NAME"},
                                   read_flux,
                                   NULL,
                                   evaluate_flux,
                                   clear_integral,
                                   OF_TYPED,
                                   functional_of_flux,
                                   NULL};
