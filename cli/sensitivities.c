/* SPDX-License-Identifier: BSD-2-Clause */
/** @file sensitivities.c  What an adjoint says of the quantities that `solve:` names: gradients by the
 *  parameters of the case, estimated errors. */
#include "cli.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static const double ADJOINT_TOLERANCE = 1e-10;
/* Boundaries that move by less than this share of an edge are straight. */
static const double STRAIGHT = 1e-6;
enum { NAME = 96 };

void cli_sensitivities_free(cli_sensitivities *a) {
  for (int i = 0; i < a->num; i++) pcsim_free(&a->indicator[i]);
  *a = (cli_sensitivities){0};
}

/* ---------------------------------------------------------------- the case */

static const pcsim_node *solve_key(const cli_session *s, const char *key) {
  const pcsim_node *node = pcsim_node_get(pcsim_node_get(pcsim_tree_root(s->tree), "solve"), key);
  return node && (pcsim_node_size(node) > 0 || pcsim_node_text(node)[0]) ? node : NULL;
}

/* Place of a quantity, a new one if it is not there yet; -1: too many. */
static int place_of(cli_sensitivities *a, const char *quantity) {
  for (int i = 0; i < a->num; i++)
    if (!strcmp(a->quantity[i], quantity)) return i;
  if (a->num == MAX_SENSITIVITIES) return -1;
  a->quantity[a->num] = quantity;
  return a->num++;
}

static void read_name(cli_session *s, const pcsim_node *node, pcsim_adjoint_use use, bool *wanted) {
  cli_sensitivities *a = &s->sensitivities;
  if (!pcsim_monitors_check_functional(s->tree, s->monitors, node, pcsim_node_text(node), use)) return;
  const int place = place_of(a, pcsim_node_text(node));
  if (place >= 0) wanted[place] = true;
  else pcsim_tree_problem(s->tree, node, "more than %d quantities", MAX_SENSITIVITIES);
}

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool text_uses(const char *text, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = text; (at = strstr(at, name)); at++)
    if ((at == text || !is_name(at[-1])) && !is_name(at[length])) return true;
  return false;
}

static bool node_uses(const pcsim_node *node, const char *name) {
  if (!node) return false;
  if (pcsim_node_get_kind(node) == PCSIM_NODE_SCALAR) return text_uses(pcsim_node_text(node), name);
  for (int64_t i = 0; i < pcsim_node_size(node); i++)
    if (node_uses(pcsim_node_child(node, i), name)) return true;
  return false;
}

static const pcsim_node *move_of(const cli_session *s) {
  return pcsim_node_get(pcsim_node_get(pcsim_tree_root(s->tree), "mesh"), "move");
}

/* Does a parameter move the mesh? */
static bool has_shapes(const cli_session *s) {
  const char *const *parameter;
  const int num = pcsim_tree_parameters(s->tree, &parameter, NULL);
  for (int i = 0; i < num; i++)
    if (node_uses(move_of(s), parameter[i])) return true;
  return false;
}

static void read_key(cli_session *s, const char *key, bool *wanted) {
  const pcsim_node *node = solve_key(s, key);
  const pcsim_adjoint_use use = strcmp(key, "estimate") ? PCSIM_ADJOINT_GRADIENT : PCSIM_ADJOINT_ESTIMATE;
  if (!node) return;
  const bool joins = s->transport && s->problem;
  if (joins && use == PCSIM_ADJOINT_ESTIMATE) {
    pcsim_tree_problem(s->tree, node,
                       "`estimate` is not available for equations that join a flow in this version");
  } else if (joins && has_shapes(s)) {
    pcsim_tree_problem(s->tree, node,
                       "`gradient` by parameters that move the mesh is not available for equations that join "
                       "a flow in this version");
  } else if (s->time.given) {
    pcsim_tree_problem(s->tree, node, "`%s` is of steady solutions; this case goes through time", key);
  } else if (pcsim_node_get_kind(node) == PCSIM_NODE_SEQUENCE) {
    for (int64_t i = 0; i < pcsim_node_size(node); i++) read_name(s, pcsim_node_child(node, i), use, wanted);
  } else {
    read_name(s, node, use, wanted);
  }
}

static pcsim_status put(cli_session *s, double value, const char *format, const char *quantity,
                        const char *parameter) PCSIM_NODISCARD;
static pcsim_status put(cli_session *s, double value, const char *format, const char *quantity,
                        const char *parameter) {
  char name[NAME], unit[sizeof((pcsim_quantity *)NULL)->unit] = "";
  snprintf(name, sizeof name, "%s.%s%s%s", format, quantity, parameter ? "." : "",
           parameter ? parameter : "");
  /* parameters have no units, so their derivatives have none; the rest is of the quantity itself */
  if (!parameter) snprintf(unit, sizeof unit, "%s", cli_unit(s->monitors, quantity));
  return pcsim_monitors_put(s->monitors, name, unit, value);
}

pcsim_status cli_sensitivities_read(cli_session *s) {
  cli_sensitivities *a = &s->sensitivities;
  const char *const *parameter;
  const int num = pcsim_tree_parameters(s->tree, &parameter, NULL);
  cli_sensitivities_free(a);
  read_key(s, "gradient", a->gradient);
  read_key(s, "estimate", a->estimate);
  if (solve_key(s, "gradient") && num == 0)
    pcsim_tree_problem(s->tree, solve_key(s, "gradient"), "`gradient` without `parameters:`");
  for (int i = 0; i < a->num; i++) {
    for (int k = 0; k < num && a->gradient[i]; k++)
      PCSIM_TRY(put(s, NAN, "gradient", a->quantity[i], parameter[k]));
    if (!a->estimate[i]) continue;
    PCSIM_TRY(put(s, NAN, "estimate", a->quantity[i], NULL));
    PCSIM_TRY(put(s, NAN, "corrected", a->quantity[i], NULL));
    if (pcsim_mesh_get(s->mesh)->dim == 2) PCSIM_TRY(put(s, NAN, "geometry", a->quantity[i], NULL));
  }
  return PCSIM_OK;
}

/* --------------------------------------------- parameters that move something */

/* Does the parameter go into the mesh as it is made, or the place of a source, or does it move the mesh under
 * a source along a line? Programs hold everything else that the equations see. */
static bool moves(const cli_session *s, const char *name) {
  static const char *const places[] = {"at", "from", "to"};
  const pcsim_node *root = pcsim_tree_root(s->tree), *mesh = pcsim_node_get(root, "mesh"),
                   *sources = pcsim_node_get(pcsim_node_get(root, "physics"), "sources");
  for (int64_t i = 0; i < pcsim_node_size(mesh); i++)
    if (pcsim_node_child(mesh, i) != move_of(s) && node_uses(pcsim_node_child(mesh, i), name)) return true;
  for (int64_t i = 0; sources && i < pcsim_node_size(sources); i++) {
    const pcsim_node *source = pcsim_node_child(sources, i);
    for (int k = 0; k < 3; k++)
      if (node_uses(pcsim_node_get(source, places[k]), name)) return true;
    if (pcsim_node_get(source, "from") && node_uses(move_of(s), name)) return true;
  }
  return false;
}

/* Does it go into what a quantity of a flow is made dimensionless with, or into where a monitor looks? */
static bool normalises(const cli_session *s, const char *name) {
  static const char *const keys[] = {"density", "velocity", "area", "drag",   "lift",  "centre",
                                     "axis",    "length",   "on",   "points", "along", "where"};
  const pcsim_node *monitors = pcsim_node_get(pcsim_tree_root(s->tree), "monitors");
  for (int i = 0; i < s->sensitivities.num; i++) {
    char monitor[NAME];
    snprintf(monitor, sizeof monitor, "%.*s", (int)strcspn(s->sensitivities.quantity[i], "."),
             s->sensitivities.quantity[i]);
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
      if (node_uses(pcsim_node_get(pcsim_node_get(monitors, monitor), keys[k]), name)) return true;
  }
  return false;
}

/* What holds of a parameter holds of the earlier ones that it is made of. */
static void spread_to_earlier(const cli_session *s, const char *const *parameter, int num, bool *holds) {
  const pcsim_node *all = pcsim_node_get(pcsim_tree_root(s->tree), "parameters");
  for (int i = num - 1; i >= 0; i--)
    for (int k = i + 1; k < num && !holds[i]; k++)
      holds[i] = holds[k] && node_uses(pcsim_node_get(all, parameter[k]), parameter[i]);
}

static void find_moving(const cli_session *s, const char *const *parameter, int num, bool *moving) {
  for (int i = 0; i < num; i++) moving[i] = moves(s, parameter[i]) || normalises(s, parameter[i]);
  spread_to_earlier(s, parameter, num, moving);
  for (int i = num - 1; i >= 0; i--)
    if (moving[i])
      pcsim_log(
          PCSIM_LOG_WARNING,
          "gradient: none by '%s', which is a size of the mesh, moves a source or the mesh under a line of "
          "them, or is part of a reference value or of a monitor's place",
          parameter[i]);
}

/* ------------------------------------------------------------------ the fine mesh */

/* The case on the mesh of halved cells. */
typedef struct {
  bool made;
  pcsim_mesh *mesh;
  pcsim_transport_problem *laws;
  pcsim_flow_problem *flow;
} fine_case;

static void fine_free(fine_case *f) {
  pcsim_transport_problem_destroy(&f->laws);
  pcsim_flow_problem_destroy(&f->flow);
  pcsim_mesh_destroy(&f->mesh);
}

/* Halved cells; `round`: boundaries rounded, and NULL where they are straight. */
static pcsim_status refine_raw(const cli_session *s, const char *folder, bool round, pcsim_raw_mesh **fine) {
  char *path = NULL;
  pcsim_raw_mesh *raw = NULL;
  double most = 0;
  pcsim_status status;
  PCSIM_GOTO(pcsim_path_join(folder, "mesh.raw", &path), status, done);
  PCSIM_GOTO(pcsim_raw_mesh_read(path, &raw), status, done);
  PCSIM_GOTO(pcsim_motion_apply(s->tree, raw), status, done);
  PCSIM_GOTO(pcsim_raw_mesh_refine(raw, fine), status, done);
  if (round) PCSIM_GOTO(pcsim_raw_mesh_round(raw, *fine, &most), status, done);
  if (round && most < STRAIGHT) pcsim_raw_mesh_destroy(fine);
done:
  pcsim_free(&path);
  pcsim_raw_mesh_destroy(&raw);
  return status;
}

/* No mesh: nothing is round. Collective. */
static pcsim_status fine_make(cli_session *s, const char *folder, bool round, fine_case *f) {
  pcsim_raw_mesh *raw = NULL;
  pcsim_status status = s->c->rank == 0 ? refine_raw(s, folder, round, &raw) : PCSIM_OK;
  int any = raw != NULL;
  PCSIM_GOTO(pcsim_status_agree(s->c->comm, status), status, done);
  MPI_Bcast(&any, 1, MPI_INT, 0, s->c->comm);
  f->made = true;
  if (!any) goto done;
  PCSIM_GOTO(pcsim_mesh_create(s->c->comm, raw, &f->mesh), status, done);
  PCSIM_GOTO(s->transport ? pcsim_transport_problem_read(s->tree, f->mesh, &f->laws)
                          : pcsim_flow_problem_read(s->tree, f->mesh, &f->flow),
             status, done);
  status = pcsim_tree_status(s->tree);
done:
  pcsim_raw_mesh_destroy(&raw);
  return status;
}

/* The same with round boundaries; where their nodes leave the cells behind them there is none. */
static pcsim_status round_make(cli_session *s, const char *folder, fine_case *f) {
  const pcsim_status status = fine_make(s, folder, true, f);
  if (status != PCSIM_ERR_MESH) return status;
  pcsim_log(PCSIM_LOG_WARNING, "estimate: no geometry error, the cells at a round boundary are too thin (%s)",
            pcsim_error_message());
  pcsim_error_clear();
  fine_free(f);
  f->made = true;
  return PCSIM_OK;
}

/* ---------------------------------------------------------------- one quantity */

typedef struct {
  cli_session *s;
  const char *folder;
  const pcsim_fields *fields;
  int num; /* parameters */
  const char *const *parameter;
  bool *moving;       /* [num] */
  double *derivative; /* [num] */
  double *own;        /* [num] part of it that the quantity itself has, of a flow */
  double *adjoint;    /* [num_cells][m] */
  double value;       /* of the functional */
  int64_t iterations;
  bool converged;
  int num_shapes;            /* parameters that move boundaries of the mesh */
  int *shape_of;             /* [num_shapes] which */
  pcsim_mesh_tangent *shape; /* [num_shapes] */
  double *by_shape;          /* [num_shapes] */
  fine_case fine, round;     /* made when they are needed */
} finding;

/* How the mesh moves with each parameter that `mesh: {move: ..}` names. */
static pcsim_status find_shapes(finding *f) {
  cli_session *s = f->s;
  pcsim_raw_mesh *raw = NULL;
  double *displacement = NULL;
  char *path = NULL;
  pcsim_status status = PCSIM_OK;
  if (!pcsim_motion_given(s->tree)) return PCSIM_OK;
  if (s->c->rank == 0) {
    status = pcsim_path_join(f->folder, "mesh.raw", &path);
    if (status == PCSIM_OK) status = pcsim_raw_mesh_read(path, &raw);
    if (status == PCSIM_OK) status = pcsim_alloc((size_t)raw->num_nodes, 3 * sizeof(double), &displacement);
  }
  PCSIM_GOTO(pcsim_status_agree(s->c->comm, status), status, done);
  for (int k = 0; k < f->num; k++) {
    if (!node_uses(move_of(s), f->parameter[k])) continue;
    if (s->c->rank == 0) status = pcsim_motion_displacement(s->tree, raw, f->parameter[k], displacement);
    PCSIM_GOTO(pcsim_status_agree(s->c->comm, status), status, done);
    f->shape_of[f->num_shapes] = k;
    PCSIM_GOTO(pcsim_mesh_tangent_create(s->mesh, displacement, &f->shape[f->num_shapes]), status, done);
    f->num_shapes++;
  }
done:
  pcsim_free(&path), pcsim_free(&displacement);
  pcsim_raw_mesh_destroy(&raw);
  return status;
}

static void add_shapes(const finding *f, int num_shapes, double *derivative) {
  for (int i = 0; i < num_shapes; i++) derivative[f->shape_of[i]] += f->by_shape[i];
}

/* Value, adjoint and the derivatives by the first `num` parameters as they stand in the case. */
static pcsim_status find_adjoint(finding *f, const pcsim_monitor_functional *from, int num) {
  cli_session *s = f->s;
  const pcsim_functional *of = &from->of;
  const int num_shapes = num && !from->own ? f->num_shapes : 0;
  memset(f->derivative, 0, (size_t)f->num * sizeof *f->derivative);
  memset(f->own, 0, (size_t)f->num * sizeof *f->own);
  if (s->transport && !s->problem) {
    pcsim_transport_sensitivity out = {.derivative = f->derivative,
                                       .adjoint = f->adjoint,
                                       .num_shapes = num_shapes,
                                       .shape = f->shape,
                                       .by_shape = f->by_shape};
    PCSIM_TRY(
        pcsim_transport_solver_adjoint(s->transport_solver, of, f->parameter, num, ADJOINT_TOLERANCE, &out));
    f->value = out.value, f->iterations = out.iterations, f->converged = out.converged;
    add_shapes(f, num_shapes, f->derivative);
    for (int k = 0; from->own && k < num; k++) f->derivative[k] += from->own[k];
    return pcsim_parameters_chain(s->tree, f->derivative);
  }
  pcsim_flow_sensitivity out = {.derivative = f->derivative,
                                .own = f->own,
                                .adjoint = s->joined_solver ? NULL : f->adjoint,
                                .num_shapes = num_shapes,
                                .shape = f->shape,
                                .by_shape = f->by_shape};
  PCSIM_TRY(
      s->joined_solver
          ? pcsim_joined_solver_adjoint(s->joined_solver, of, f->parameter, num, ADJOINT_TOLERANCE, &out)
          : pcsim_flow_solver_adjoint(s->flow_solver, of, f->parameter, num, ADJOINT_TOLERANCE, &out));
  f->value = out.value, f->iterations = out.iterations, f->converged = out.converged;
  /* a flow follows parameters that are made of others; those in programs and those of shapes have not been */
  for (int k = 0; k < num; k++) f->derivative[k] -= f->own[k];
  add_shapes(f, num_shapes, f->own);
  for (int k = 0; from->own && k < num; k++) f->own[k] += from->own[k];
  PCSIM_TRY(pcsim_parameters_chain(s->tree, f->own));
  for (int k = 0; k < num; k++) f->derivative[k] += f->own[k];
  return PCSIM_OK;
}

/* Of a number that is no functional itself shapes have no derivative. */
static void leave_out_shapes(const finding *f, const char *quantity, bool *without) {
  for (int i = 0; i < f->num_shapes; i++) without[f->shape_of[i]] = true;
  spread_to_earlier(f->s, f->parameter, f->num, without);
  for (int k = 0; k < f->num; k++)
    if (without[k])
      pcsim_log(PCSIM_LOG_WARNING,
                "gradient: none of %s by '%s', which moves the mesh under what it looks at", quantity,
                f->parameter[k]);
}

static pcsim_status put_gradient(finding *f, const char *quantity, const pcsim_monitor_functional *of) {
  bool *without = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)f->num, sizeof *without, &without));
  if (of->own) leave_out_shapes(f, quantity, without);
  pcsim_status status = PCSIM_OK;
  for (int k = 0; k < f->num && status == PCSIM_OK; k++)
    status = put(f->s, f->moving[k] || without[k] ? NAN : of->factor * f->derivative[k], "gradient", quantity,
                 f->parameter[k]);
  pcsim_free(&without);
  return status;
}

static pcsim_status estimate_on(const finding *f, const fine_case *fine, const pcsim_functional *of,
                                pcsim_estimate *e) {
  cli_session *s = f->s;
  return s->transport
             ? pcsim_transport_solver_estimate(s->transport_solver, of, f->adjoint, fine->mesh, fine->laws, e)
             : pcsim_flow_solver_estimate(s->flow_solver, of, f->adjoint, fine->mesh, fine->flow, e);
}

/* What the estimate gains by round boundaries: the error of the polygon. */
static pcsim_status put_geometry(finding *f, int i, const pcsim_monitor_functional *of,
                                 const pcsim_estimate *flat) {
  cli_session *s = f->s;
  double *indicator = NULL, geometry = 0;
  pcsim_status status;
  if (!f->round.made) PCSIM_TRY(round_make(s, f->folder, &f->round));
  if (f->round.mesh) {
    const size_t cells = (size_t)pcsim_mesh_get(s->mesh)->num_cells;
    status = pcsim_status_agree(s->c->comm, pcsim_alloc(cells, sizeof *indicator, &indicator));
    pcsim_estimate e = {.value = f->value, .indicator = indicator};
    if (status == PCSIM_OK) status = estimate_on(f, &f->round, &of->of, &e);
    pcsim_free(&indicator);
    PCSIM_TRY(status);
    geometry = e.error - flat->error;
  }
  pcsim_log(PCSIM_LOG_INFO, "estimate: %s, error of the geometry %.3g (%.2g %%), apart",
            s->sensitivities.quantity[i], of->factor * geometry, 100 * fabs(geometry / flat->corrected));
  return put(s, of->factor * geometry, "geometry", s->sensitivities.quantity[i], NULL);
}

static pcsim_status put_estimate(finding *f, int i, const pcsim_monitor_functional *of) {
  cli_session *s = f->s;
  cli_sensitivities *a = &s->sensitivities;
  const int64_t cells = pcsim_mesh_get(s->mesh)->num_cells;
  if (!f->fine.made) PCSIM_TRY(fine_make(s, f->folder, false, &f->fine));
  PCSIM_TRY(pcsim_status_agree(s->c->comm, pcsim_alloc((size_t)cells, sizeof(double), &a->indicator[i])));
  pcsim_estimate e = {.value = f->value, .indicator = a->indicator[i]};
  PCSIM_TRY(estimate_on(f, &f->fine, &of->of, &e));
  for (int64_t c = 0; c < cells; c++) a->indicator[i][c] *= fabs(of->factor);
  pcsim_log(PCSIM_LOG_INFO, "estimate: %s %.10g, error %.3g (%.2g %%), corrected %.10g", a->quantity[i],
            of->factor * e.value, of->factor * e.error, 100 * fabs(e.error / e.corrected),
            of->factor * e.corrected);
  PCSIM_TRY(put(s, of->factor * e.error, "estimate", a->quantity[i], NULL));
  PCSIM_TRY(put(s, of->factor * e.corrected, "corrected", a->quantity[i], NULL));
  return pcsim_mesh_get(s->mesh)->dim == 2 ? put_geometry(f, i, of, &e) : PCSIM_OK;
}

static pcsim_status find_one(finding *f, int i) {
  cli_session *s = f->s;
  const cli_sensitivities *a = &s->sensitivities;
  pcsim_monitor_functional of;
  PCSIM_TRY(pcsim_monitors_functional(s->tree, s->monitors, a->quantity[i], f->fields, &of));
  pcsim_status status = find_adjoint(f, &of, a->gradient[i] ? f->num : 0);
  if (status == PCSIM_OK && !f->converged)
    pcsim_log(PCSIM_LOG_WARNING, "the adjoint of %s missed its tolerance of %g", a->quantity[i],
              ADJOINT_TOLERANCE);
  else if (status == PCSIM_OK)
    pcsim_log(PCSIM_LOG_INFO, "adjoint of %s: linear %lld", a->quantity[i], (long long)f->iterations);
  if (status == PCSIM_OK && a->gradient[i]) status = put_gradient(f, a->quantity[i], &of);
  if (status == PCSIM_OK && a->estimate[i]) status = put_estimate(f, i, &of);
  pcsim_monitor_functional_free(&of);
  return status;
}

pcsim_status cli_sensitivities_find(cli_session *s, const char *folder, const pcsim_fields *fields) {
  finding f = {.s = s, .folder = folder, .fields = fields};
  pcsim_status status = PCSIM_OK;
  bool any = false;
  if (s->sensitivities.num == 0) return PCSIM_OK;
  f.num = pcsim_tree_parameters(s->tree, &f.parameter, NULL);
  const pcsim_mesh_view *view = pcsim_mesh_get(s->mesh);
  const int m = s->transport ? pcsim_transport_problem_get(s->transport)->num_unknowns : view->dim + 1;
  status = pcsim_alloc((size_t)f.num, sizeof *f.moving, &f.moving);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)f.num, sizeof *f.derivative, &f.derivative);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)f.num, sizeof *f.shape_of, &f.shape_of);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)f.num, sizeof *f.shape, &f.shape);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)f.num, sizeof *f.by_shape, &f.by_shape);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)f.num, sizeof *f.own, &f.own);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)(view->num_cells * m), sizeof *f.adjoint, &f.adjoint);
  PCSIM_GOTO(pcsim_status_agree(s->c->comm, status), status, done);
  for (int i = 0; i < s->sensitivities.num; i++) any = any || s->sensitivities.gradient[i];
  if (any) find_moving(s, f.parameter, f.num, f.moving);
  if (any) PCSIM_GOTO(find_shapes(&f), status, done);
  for (int i = 0; i < s->sensitivities.num && status == PCSIM_OK; i++) status = find_one(&f, i);
done:
  fine_free(&f.fine), fine_free(&f.round);
  for (int i = 0; i < f.num_shapes; i++) pcsim_mesh_tangent_free(&f.shape[i]);
  pcsim_free(&f.shape_of), pcsim_free(&f.shape), pcsim_free(&f.by_shape);
  pcsim_free(&f.moving), pcsim_free(&f.derivative), pcsim_free(&f.own), pcsim_free(&f.adjoint);
  return status;
}
