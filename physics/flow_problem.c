/* SPDX-License-Identifier: BSD-2-Clause */
/* A flow problem on a mesh: face values, balance of the inflow, start, scales. */
#include "flow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Above this share of the inflow an imbalance is the user's; below it is quadrature and is corrected. */
static const double imbalance_max = 1e-3;

/* What the boundaries add up to over all ranks. */
typedef struct {
  double volume, area, velocity_area;
  double inflow, outflow;         /* through faces whose velocity is given, m^3/s */
  double transport[3];            /* sum of velocity times inflow */
  double pressure_area, pressure; /* of faces with a static pressure; sum of area times pressure */
} totals;

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static double norm(const double *a) { return sqrt(dot(a, a)); }

static bool is_root(const pcsim_mesh *mesh) {
  int rank = 0;
  MPI_Comm_rank(pcsim_mesh_comm(mesh), &rank);
  return rank == 0;
}

void pcsim_flow_problem_destroy(pcsim_flow_problem **problem) {
  if (!problem || !*problem) return;
  pcsim_free(&(*problem)->kind);
  pcsim_free(&(*problem)->velocity);
  pcsim_free(&(*problem)->pressure);
  pcsim_free(&(*problem)->start);
  pcsim_free(&(*problem)->patch_area);
  pcsim_free(&(*problem)->kinks);
  pcsim_program_destroy(&(*problem)->law);
  flow_value_clear(&(*problem)->push);
  pcsim_free(&(*problem)->cell_force);
  pcsim_free(&(*problem)->velocity_along), pcsim_free(&(*problem)->pressure_along);
  pcsim_free(&(*problem)->force_along);
  flow_boundaries_clear(&(*problem)->boundaries);
  pcsim_free(problem);
}

const pcsim_flow_view *pcsim_flow_problem_get(const pcsim_flow_problem *problem) { return &problem->view; }

/* ------------------------------------------------------------ face values */

/* Total area of each patch over the ranks. */
static void sum_patch_areas(const pcsim_flow_problem *problem) {
  const pcsim_mesh_view *view = pcsim_mesh_get(problem->mesh);
  for (int p = 0; p < view->num_patches; ++p)
    for (int64_t f = view->patch_start[p]; f < view->patch_start[p + 1]; ++f)
      problem->patch_area[p] += norm(view->face_area + 3 * f);
  MPI_Allreduce(MPI_IN_PLACE, problem->patch_area, view->num_patches, MPI_DOUBLE, MPI_SUM,
                pcsim_mesh_comm(problem->mesh));
}

static void fill_face(pcsim_flow_problem *problem, const pcsim_mesh_view *mesh,
                      const flow_condition *condition, double patch_area, int64_t face) {
  int64_t b = face - mesh->num_interior_faces;
  double value[3];
  problem->kind[b] = (uint8_t)condition->kind;
  if (condition->gives == GIVES_NOTHING) return;
  flow_value_face_average(&condition->value, mesh, face, problem->view.time, value);
  if (condition->gives == GIVES_PRESSURE) problem->pressure[b] = value[0];
  const double *area = mesh->face_area + 3 * face;
  if (condition->gives == GIVES_FLOW_RATE)
    for (int i = 0; i < 3; ++i) problem->velocity[3 * b + i] = -value[0] / patch_area * area[i] / norm(area);
  if (condition->gives == GIVES_VELOCITY)
    for (int i = 0; i < 3; ++i) problem->velocity[3 * b + i] = value[i];
}

/* The value that is no number, or too large to be squared and multiplied; 0 if all are good. */
static double find_wrong(const double *value, int n) {
  double wrong = 0.0;
  for (int i = 0; i < n; ++i)
    if (!(fabs(value[i]) <= FLOW_LARGEST) && (wrong == 0.0 || !isfinite(value[i]))) wrong = value[i];
  return wrong;
}

/* The first face of a condition with a value that is no number or too large, over all ranks: one problem for
 * each condition. */
static void report_wrong_values(pcsim_tree *tree, const pcsim_mesh *mesh, const pcsim_flow_problem *problem,
                                const flow_boundaries *boundaries) {
  const pcsim_mesh_view *view = pcsim_mesh_get(mesh);
  char when[48] = "";
  if (problem->view.changes) snprintf(when, sizeof when, " at t = %g", problem->view.time);
  for (int p = 0; p < view->num_patches; ++p) {
    if (boundaries->of_patch[p] < 0) continue;
    const flow_condition *condition = &boundaries->condition[boundaries->of_patch[p]];
    if (condition->gives == GIVES_NOTHING) continue;
    double found[4] = {INFINITY, INFINITY, INFINITY, 0.0}; /* where, what */
    struct {
      double x;
      int rank;
    } first = {INFINITY, 0};
    for (int64_t f = view->patch_start[p]; f < view->patch_start[p + 1]; ++f) {
      int64_t b = f - view->num_interior_faces;
      const double *v = problem->velocity + 3 * b, all[4] = {v[0], v[1], v[2], problem->pressure[b]};
      found[3] = find_wrong(all, 4);
      if (found[3] == 0.0) continue;
      memcpy(found, view->face_centre + 3 * f, 3 * sizeof *found);
      first.x = found[0];
      break;
    }
    MPI_Comm comm = pcsim_mesh_comm(mesh);
    MPI_Comm_rank(comm, &first.rank);
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm);
    if (!isfinite(first.x)) continue;
    const pcsim_node *place = condition->value.num ? condition->value.node[0] : condition->node;
    MPI_Bcast(found, 4, MPI_DOUBLE, first.rank, comm);
    if (isfinite(found[3]))
      pcsim_tree_problem(
          tree, place,
          "the value on boundary `%s` is too large: %g around (%g, %g, %g)%s; expected at most %g",
          view->patch_name[p], found[3], found[0], found[1], found[2], when, FLOW_LARGEST);
    else
      pcsim_tree_problem(tree, place,
                         "the value on boundary `%s` is not a finite number around (%g, %g, %g)%s",
                         view->patch_name[p], found[0], found[1], found[2], when);
  }
}

/* A wall moves along itself: the normal part of its velocity is dropped, with a warning where it is no
 * rounding. */
static void trim_walls(const pcsim_mesh *mesh, pcsim_flow_problem *problem, bool say) {
  const pcsim_mesh_view *view = pcsim_mesh_get(mesh);
  for (int p = 0; p < view->num_patches; ++p) {
    double worst[2] = {0.0, 0.0}; /* normal part, speed */
    for (int64_t f = view->patch_start[p]; f < view->patch_start[p + 1]; ++f) {
      int64_t b = f - view->num_interior_faces;
      if (problem->kind[b] != PCSIM_FLOW_WALL) continue;
      double *v = problem->velocity + 3 * b, area = norm(view->face_area + 3 * f);
      double normal = dot(v, view->face_area + 3 * f) / area;
      worst[0] = fmax(worst[0], fabs(normal));
      worst[1] = fmax(worst[1], norm(v));
      for (int i = 0; i < 3; ++i) v[i] -= normal * view->face_area[3 * f + i] / area;
    }
    MPI_Allreduce(MPI_IN_PLACE, worst, 2, MPI_DOUBLE, MPI_MAX, pcsim_mesh_comm(mesh));
    if (say && worst[0] > 1e-6 * worst[1] && is_root(mesh))
      pcsim_log(PCSIM_LOG_WARNING,
                "wall `%s`: its velocity has a part through the wall (up to %g of %g m/s), which is dropped",
                view->patch_name[p], worst[0], worst[1]);
  }
}

/* `all`: also those whose values do not change; and the force. */
static void fill_values(pcsim_flow_problem *problem, bool all) {
  const pcsim_mesh_view *view = pcsim_mesh_get(problem->mesh);
  const flow_boundaries *boundaries = &problem->boundaries;
  for (int p = 0; p < view->num_patches; ++p) {
    if (boundaries->of_patch[p] < 0) continue; /* an empty patch */
    const flow_condition *condition = &boundaries->condition[boundaries->of_patch[p]];
    if (!all && !flow_value_changes(&condition->value)) continue;
    for (int64_t f = view->patch_start[p]; f < view->patch_start[p + 1]; ++f)
      fill_face(problem, view, condition, problem->patch_area[p], f);
  }
  if (all || flow_value_changes(&problem->push)) flow_force_fill(problem);
}

/* ---------------------------------------------------------------- balance */

static totals add_up(const pcsim_flow_problem *problem) {
  const pcsim_mesh_view *view = pcsim_mesh_get(problem->mesh);
  totals sum = {0};
  for (int64_t c = 0; c < view->num_cells; ++c) sum.volume += view->cell_volume[c];
  for (int64_t b = 0; b < problem->num_faces; ++b) {
    const double *area = view->face_area + 3 * (view->num_interior_faces + b);
    const double *velocity = problem->velocity + 3 * b;
    double size = norm(area), flow = dot(velocity, area);
    sum.area += size;
    if (problem->kind[b] == PCSIM_FLOW_PRESSURE) {
      sum.pressure_area += size;
      sum.pressure += size * problem->pressure[b];
    }
    if (problem->kind[b] != PCSIM_FLOW_VELOCITY) continue;
    sum.velocity_area += size;
    if (flow > 0.0) sum.outflow += flow;
    if (flow >= 0.0) continue;
    sum.inflow -= flow;
    for (int i = 0; i < 3; ++i) sum.transport[i] -= flow * velocity[i];
  }
  MPI_Allreduce(MPI_IN_PLACE, &sum, (int)(sizeof sum / sizeof(double)), MPI_DOUBLE, MPI_SUM,
                pcsim_mesh_comm(problem->mesh));
  return sum;
}

/* Where nothing but velocities is given, what flows in must flow out: a uniform normal velocity takes up what
 * quadrature leaves. False if more than that is missing. */
static bool take_up(pcsim_flow_problem *problem, const totals *sum) {
  const pcsim_mesh_view *view = pcsim_mesh_get(problem->mesh);
  const double net = sum->outflow - sum->inflow, most = fmax(sum->inflow, sum->outflow);
  if (most <= 0.0 || net == 0.0) return true;
  if (fabs(net) > imbalance_max * most) return false;
  for (int64_t b = 0; b < problem->num_faces; ++b) {
    if (problem->kind[b] != PCSIM_FLOW_VELOCITY) continue;
    const double *area = view->face_area + 3 * (view->num_interior_faces + b);
    for (int i = 0; i < 3; ++i)
      problem->velocity[3 * b + i] -= net / sum->velocity_area * area[i] / norm(area);
  }
  return true;
}

static void describe_imbalance(const totals *sum, char *text, size_t size) {
  const double net = sum->outflow - sum->inflow, most = fmax(sum->inflow, sum->outflow);
  snprintf(text, size,
           "every boundary gives the velocity, but %g m^3/s flow in and %g m^3/s flow out (%.3g %% apart); "
           "expected equal flows, or a boundary with a `pressure`",
           sum->inflow, sum->outflow, 100.0 * fabs(net) / most);
}

static void balance(pcsim_tree *tree, pcsim_flow_problem *problem, const totals *sum) {
  const double net = sum->outflow - sum->inflow, most = fmax(sum->inflow, sum->outflow);
  char text[256];
  if (!take_up(problem, sum)) {
    describe_imbalance(sum, text, sizeof text);
    pcsim_tree_problem(tree, pcsim_node_get(pcsim_tree_root(tree), "boundaries"), "%s", text);
  } else if (fabs(net) > 1e-12 * most && is_root(problem->mesh)) {
    pcsim_log(PCSIM_LOG_INFO,
              "inflow and outflow differ by %.2g of the inflow: a normal velocity of %.2g m/s balances "
              "them",
              fabs(net) / most, -net / sum->velocity_area);
  }
}

/* -------------------------------------------------------------------- time */

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Inner times of all tables within the span, each once. */
static pcsim_status find_kinks(pcsim_flow_problem *problem, const pcsim_time *time) {
  const flow_boundaries *all = &problem->boundaries;
  int64_t n = 0, kept = 0;
  for (int c = 0; c < all->num; ++c) n += all->condition[c].value.table.num_rows;
  if (n == 0) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof(double), &problem->kinks));
  n = 0;
  for (int c = 0; c < all->num; ++c) {
    const flow_table *table = &all->condition[c].value.table;
    for (int64_t i = 0; i < table->num_rows; ++i) {
      const double t = table->row[i * (1 + table->num)];
      if (t > time->start && t < time->end) problem->kinks[n++] = t;
    }
  }
  qsort(problem->kinks, (size_t)n, sizeof(double), compare);
  for (int64_t i = 0; i < n; ++i)
    if (i == 0 || problem->kinks[i] != problem->kinks[kept - 1]) problem->kinks[kept++] = problem->kinks[i];
  problem->view.kinks = problem->kinks;
  problem->view.num_kinks = kept;
  return PCSIM_OK;
}

/* Boundary values and forces at several times: faults that show then, and the largest speed. */
static double look_ahead(pcsim_tree *tree, pcsim_flow_problem *problem, const pcsim_time *time) {
  enum { SAMPLES = 64 };
  const size_t before = pcsim_tree_num_problems(tree);
  double largest = 0;
  for (int64_t i = 1; i <= SAMPLES + problem->view.num_kinks; ++i) {
    problem->view.time = i <= SAMPLES ? time->start + (double)i / SAMPLES * (time->end - time->start)
                                      : problem->kinks[i - SAMPLES - 1];
    fill_values(problem, false);
    report_wrong_values(tree, problem->mesh, problem, &problem->boundaries);
    flow_force_report(tree, problem);
    if (pcsim_tree_num_problems(tree) != before) return 0;
    const totals sum = add_up(problem);
    flow_problem_find_scales(problem, sum.area, sum.volume);
    largest = fmax(largest, problem->view.velocity_scale);
  }
  problem->view.time = time->start;
  fill_values(problem, false);
  return largest;
}

static pcsim_status refuse_face(const pcsim_flow_problem *problem, int64_t wrong) {
  const pcsim_mesh_view *view = pcsim_mesh_get(problem->mesh);
  if (wrong < 0) return PCSIM_OK;
  const double *x = view->face_centre + 3 * (view->num_interior_faces + wrong);
  PCSIM_FAIL(PCSIM_ERR_CASE, "at t = %g a boundary value is not finite, or over %g, around (%g, %g, %g)",
             problem->view.time, FLOW_LARGEST, x[0], x[1], x[2]);
}

pcsim_status pcsim_flow_problem_set_time(pcsim_flow_problem *problem, double t) {
  MPI_Comm comm = pcsim_mesh_comm(problem->mesh);
  int64_t wrong = -1;
  if (!problem->view.changes || problem->view.time == t) return PCSIM_OK;
  problem->view.time = t;
  fill_values(problem, false);
  for (int64_t b = 0; b < problem->num_faces && wrong < 0; ++b) {
    const double *v = problem->velocity + 3 * b, all[4] = {v[0], v[1], v[2], problem->pressure[b]};
    if (find_wrong(all, 4) != 0.0) wrong = b;
  }
  pcsim_status status = refuse_face(problem, wrong);
  if (status == PCSIM_OK) status = flow_force_check(problem);
  PCSIM_TRY(pcsim_status_agree(comm, status));
  trim_walls(problem->mesh, problem, false);
  if (!problem->view.pressure_free) return PCSIM_OK;
  const totals sum = add_up(problem);
  if (take_up(problem, &sum)) return PCSIM_OK;
  char text[256];
  describe_imbalance(&sum, text, sizeof text);
  PCSIM_FAIL(PCSIM_ERR_CASE, "at t = %g %s", t, text);
}

/* ------------------------------------------------------------------ start */

static const pcsim_key initial_keys[] = {
    {"velocity", PCSIM_KEY_SEQUENCE, "", "", "m/s", "velocity to start from, expressions of place", 0, 0},
    {"pressure", PCSIM_KEY_EXPRESSION, "", "", "Pa", "pressure to start from, an expression of place", 0, 0},
};
enum { NUM_INITIAL = sizeof initial_keys / sizeof *initial_keys };

typedef struct {
  bool given;
  flow_value velocity, pressure;
} initial;

static void read_initial(pcsim_tree *tree, int dim, initial *start) {
  memset(start, 0, sizeof *start);
  pcsim_node *node = pcsim_node_get(pcsim_tree_root(tree), "initial");
  if (!node) {
    if (pcsim_time_given(tree))
      pcsim_tree_problem(tree, pcsim_node_get(pcsim_node_get(pcsim_tree_root(tree), "solve"), "time"),
                         "a run through time needs a state to begin with; expected e.g. `initial: {velocity: "
                         "[0, 0]}`");
    return;
  }
  if (pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(tree, node, "`initial` must be a mapping, e.g. {velocity: [1, 0], pressure: 0}");
    return;
  }
  size_t before = pcsim_tree_num_problems(tree), others;
  const pcsim_key *other = pcsim_start_keys(&others);
  pcsim_key own[8];
  joined_keys keys;
  memcpy(own, initial_keys, sizeof initial_keys);
  memcpy(own + NUM_INITIAL, other, others * sizeof *other);
  joined_keys_of(tree, own, NUM_INITIAL + others, NULL, 0, true, &keys);
  pcsim_node_check(tree, node, keys.key, keys.num, "initial");
  if (pcsim_tree_num_problems(tree) != before) return;
  const pcsim_node *velocity = pcsim_node_get(node, "velocity"), *pressure = pcsim_node_get(node, "pressure");
  if (velocity) flow_value_vector(tree, velocity, "velocity", dim, &start->velocity);
  if (pressure) flow_value_scalar(tree, pressure, dim, &start->pressure);
  start->given = velocity || pressure;
}

static void clear_initial(initial *start) {
  flow_value_clear(&start->velocity);
  flow_value_clear(&start->pressure);
}

static void fill_start(pcsim_tree *tree, pcsim_flow_problem *problem, const initial *start,
                       const totals *sum) {
  const pcsim_mesh_view *view = pcsim_mesh_get(problem->mesh);
  double guess[4] = {0, 0, 0, 0};
  if (sum->inflow > 0.0)
    for (int i = 0; i < 3; ++i) guess[i] = sum->transport[i] / sum->inflow;
  if (sum->pressure_area > 0.0) guess[3] = sum->pressure / sum->pressure_area;
  int wrong = 0;
  for (int64_t c = 0; c < view->num_cells; ++c) {
    double *value = problem->start + 4 * c, pressure[3];
    memcpy(value, guess, sizeof guess);
    if (start->velocity.num)
      flow_value_at(&start->velocity, view->cell_centre + 3 * c, problem->view.time, value);
    if (start->pressure.num) {
      flow_value_at(&start->pressure, view->cell_centre + 3 * c, problem->view.time, pressure);
      value[3] = pressure[0];
    }
    const double bad = find_wrong(value, 4);
    if (bad != 0.0) wrong = isfinite(bad) && wrong < 2 ? 1 : 2;
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, pcsim_mesh_comm(problem->mesh));
  if (wrong)
    pcsim_tree_problem(tree, pcsim_node_get(pcsim_tree_root(tree), "initial"),
                       wrong == 1 ? "`initial` is too large in some cells of the mesh; expected at most 1e100"
                                  : "`initial` is not a finite number in every cell of the mesh");
  problem->view.has_start = start->given;
}

/* ----------------------------------------------------------------- reading */

void pcsim_flow_problem_check(pcsim_tree *tree) {
  flow_physics physics;
  flow_boundaries boundaries;
  initial start;
  pcsim_program *law = NULL;
  flow_physics_read(tree, 0, &physics);
  if (physics.varies && flow_viscosity_read(tree, 0, &law) != PCSIM_OK)
    pcsim_tree_problem(tree, pcsim_tree_root(tree), "%s", pcsim_error_message());
  pcsim_program_destroy(&law);
  flow_value_clear(&physics.push);
  if (flow_boundaries_read(tree, 0, &boundaries) != PCSIM_OK)
    pcsim_tree_problem(tree, pcsim_tree_root(tree), "%s", pcsim_error_message());
  flow_boundaries_clear(&boundaries);
  read_initial(tree, 0, &start);
  clear_initial(&start);
}

/* Takes over the force of `physics`. */
static pcsim_status make_problem(const pcsim_mesh *mesh, flow_physics *physics, pcsim_flow_problem **made) {
  const pcsim_mesh_view *view = pcsim_mesh_get(mesh);
  pcsim_flow_problem *problem = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *problem, &problem));
  *made = problem;
  size_t faces = (size_t)(view->num_faces - view->num_interior_faces);
  problem->mesh = mesh;
  problem->num_faces = (int64_t)faces;
  PCSIM_TRY(pcsim_alloc(faces, sizeof *problem->kind, &problem->kind));
  PCSIM_TRY(pcsim_alloc(3 * faces, sizeof(double), &problem->velocity));
  PCSIM_TRY(pcsim_alloc(faces, sizeof(double), &problem->pressure));
  PCSIM_TRY(pcsim_alloc(4 * (size_t)view->num_cells, sizeof(double), &problem->start));
  PCSIM_TRY(pcsim_alloc((size_t)view->num_patches, sizeof(double), &problem->patch_area));
  problem->view = (pcsim_flow_view){.dim = view->dim,
                                    .density = physics->density,
                                    .viscosity = physics->viscosity,
                                    .kind = problem->kind,
                                    .velocity = problem->velocity,
                                    .pressure = problem->pressure,
                                    .start = problem->start};
  memcpy(problem->view.force, physics->force, sizeof physics->force);
  if (physics->push.num == 0) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc(3 * (size_t)view->num_cells, sizeof(double), &problem->cell_force));
  problem->view.cell_force = problem->cell_force;
  problem->push = physics->push;
  memset(&physics->push, 0, sizeof physics->push);
  return PCSIM_OK;
}

/* Everything that needs sums over ranks; the case has no problem so far. */
static pcsim_status complete(pcsim_tree *tree, pcsim_flow_problem *problem, const pcsim_transport_view *laws,
                             const initial *start) {
  size_t before = pcsim_tree_num_problems(tree);
  const flow_boundaries *boundaries = &problem->boundaries;
  pcsim_time time;
  double largest = 0;
  pcsim_time_read(tree, &time);
  problem->view.time = time.start;
  for (int c = 0; c < boundaries->num; ++c)
    problem->view.changes |= flow_value_changes(&boundaries->condition[c].value);
  problem->view.changes |= flow_value_changes(&problem->push);
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(problem->mesh), find_kinks(problem, &time)));
  if (problem->law)
    PCSIM_TRY(pcsim_program_table_points(problem->law, "coordinates", NAME_T, time.start, time.end,
                                         &problem->view.num_kinks, &problem->kinks));
  problem->view.kinks = problem->kinks;
  sum_patch_areas(problem);
  fill_values(problem, true);
  report_wrong_values(tree, problem->mesh, problem, boundaries);
  flow_force_report(tree, problem);
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  if (problem->view.changes) largest = look_ahead(tree, problem, &time);
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  trim_walls(problem->mesh, problem, true);
  totals sum = add_up(problem);
  fill_start(tree, problem, start, &sum);
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  PCSIM_TRY(flow_problem_scale_viscosity(tree, problem, laws)); /* where nothing moves the fluid it does */
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  flow_problem_find_scales(problem, sum.area, sum.volume);
  problem->view.velocity_scale = fmax(problem->view.velocity_scale, largest);
  PCSIM_TRY(flow_problem_scale_viscosity(tree, problem, laws));
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  flow_problem_check_reynolds(tree, &problem->view);
  if (problem->view.pressure_free) balance(tree, problem, &sum);
  if (problem->view.pressure_free && pcsim_tree_num_problems(tree) == before && is_root(problem->mesh))
    pcsim_log(PCSIM_LOG_INFO, "no boundary gives a pressure: its level is free and is set to mean zero");
  return PCSIM_OK;
}

pcsim_status pcsim_flow_problem_read(pcsim_tree *tree, const pcsim_mesh *mesh, pcsim_flow_problem **problem) {
  return flow_problem_read(tree, mesh, NULL, problem);
}

pcsim_status flow_problem_read(pcsim_tree *tree, const pcsim_mesh *mesh, const pcsim_transport_view *laws,
                               pcsim_flow_problem **problem) {
  *problem = NULL;
  PCSIM_CHECK(tree && mesh, PCSIM_ERR_ARG, "pcsim_flow_problem_read needs a %s, found NULL",
              tree ? "mesh (pcsim_mesh_create makes one)" : "case (pcsim_tree_read makes one)");
  int dim = pcsim_mesh_get(mesh)->dim;
  size_t before = pcsim_tree_num_problems(tree);
  MPI_Comm comm = pcsim_mesh_comm(mesh);
  flow_physics physics;
  flow_boundaries boundaries;
  initial start = {0};
  pcsim_flow_problem *made = NULL;
  pcsim_program *law = NULL;
  flow_physics_read(tree, dim, &physics);
  pcsim_status status = flow_boundaries_read(tree, dim, &boundaries);
  if (status == PCSIM_OK && physics.varies) status = flow_viscosity_read(tree, dim, &law);
  if (status == PCSIM_OK) status = flow_boundaries_match(tree, mesh, &boundaries);
  read_initial(tree, dim, &start);
  bool good = pcsim_tree_num_problems(tree) == before;
  if (status == PCSIM_OK && good) status = make_problem(mesh, &physics, &made);
  PCSIM_GOTO(pcsim_status_agree(comm, status), status, done);
  if (good) {
    made->boundaries = boundaries;
    made->tree = tree;
    made->law = law;
    made->view.viscosity_law = law;
    law = NULL;
    made->view.joined = pcsim_joined_given(tree);
    memset(&boundaries, 0, sizeof boundaries);
    PCSIM_GOTO(complete(tree, made, laws, &start), status, done);
  }
  if (pcsim_tree_num_problems(tree) == before) {
    *problem = made;
    made = NULL;
  }
done:
  pcsim_program_destroy(&law);
  pcsim_flow_problem_destroy(&made);
  flow_boundaries_clear(&boundaries);
  flow_value_clear(&physics.push);
  clear_initial(&start);
  return status;
}
