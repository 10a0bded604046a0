/* SPDX-License-Identifier: BSD-2-Clause */
/* Adjoints of flows: the transposed system against its tangent, derivatives of forces, flow rates, integrals
 * and values by parameters of the case against central differences of the whole solve. */
#include "solver/flow_adjoint.h"
#include "solver/derivatives.h"
#include "solver/state.h"

/* -------------------------------------------------------------- transposes */

static double *numbers(int64_t n) {
  double *a = NULL;
  assert_ok(pcsim_alloc((size_t)n, sizeof *a, &a));
  return a;
}

/* <a, b> over all ranks, and the sum of the terms' magnitudes. */
static double dot(int64_t n, const double *a, const double *b, double *magnitude) {
  double sum[2] = {0, 0};
  for (int64_t i = 0; i < n; i++) sum[0] += a[i] * b[i], sum[1] += fabs(a[i] * b[i]);
  MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  *magnitude = sum[1];
  return sum[0];
}

/* y = (R', tau - T)' v in the scales of flow_adjoint.h, v and y [n][m + 1], by the tangent of the programs.
 */
static void tangent(flow *f, const double *v, double *y) {
  const int m = f->dim + 1;
  pcsim_program *p = NULL, *t = NULL;
  pcsim_executor *x = NULL;
  double *tau = numbers(f->nt), *all = numbers(f->nt * m), *coefficient = numbers(f->nt);
  assert_ok(flow_write_program(f, &p));
  assert_ok(pcsim_transform_jvp(p, (const char *const[]){"cells.q", "cells.grad", "cells.tau"}, 3, &t));
  assert_ok(pcsim_program_keep(t, (const char *const[]){"d_all", "d_coefficient"}, 2));
  for (int64_t c = 0; c < f->n; c++) {
    memcpy(f->v + c * m, v + c * (m + 1), (size_t)m * sizeof *v);
    tau[c] = f->tau[c] * v[c * (m + 1) + m];
  }
  assert_ok(pcsim_mesh_exchange(f->mesh, m, f->v));
  assert_ok(pcsim_mesh_exchange(f->mesh, 1, tau));
  flow_gradient_of(f, f->v, false, f->v_grad);
  assert_ok(pcsim_mesh_exchange(f->mesh, m * f->dim, f->v_grad));
  assert_ok(flow_programs_executor(f->programs, t, FLOW_EVERYTHING, &x));
  assert_ok(pcsim_executor_bind(x, "d_cells.q", f->v));
  assert_ok(pcsim_executor_bind(x, "d_cells.grad", f->v_grad));
  assert_ok(pcsim_executor_bind(x, "d_cells.tau", tau));
  assert_ok(pcsim_executor_bind_output(x, "d_all", all));
  assert_ok(pcsim_executor_bind_output(x, "d_coefficient", coefficient));
  assert_ok(pcsim_executor_run(x, false));
  for (int64_t c = 0; c < f->n; c++) {
    memcpy(y + c * (m + 1), all + c * m, (size_t)m * sizeof *y);
    y[c * (m + 1) + m] = (tau[c] - coefficient[c]) * f->a_p[c] / f->tau[c];
  }
  pcsim_executor_destroy(&x);
  pcsim_program_destroy(&p), pcsim_program_destroy(&t);
  pcsim_free(&tau), pcsim_free(&all), pcsim_free(&coefficient);
}

static void check_transpose(const sample *s, double central, double kappa) {
  setup t = set_up(MPI_COMM_WORLD, s, central, kappa, 1);
  flow *f = t.f;
  flow_adjoint *adjoint = NULL;
  const int width = f->dim + 2;
  const int64_t size = f->n * width;
  double *v = numbers(size), *w = numbers(size), *y = numbers(size), *back = numbers(size), magnitude[2];
  for (int64_t i = 0; i < size; i++) {
    v[i] = noise(f->view->cell_original[i / width], (int)(i % width));
    w[i] = noise(f->view->cell_original[i / width], 5 + (int)(i % width));
  }
  assert_ok(flow_update_coefficients(f));
  assert_ok(flow_residual(f, t.y));
  assert_ok(flow_adjoint_create(f, false, NULL, 0, &adjoint));
  tangent(f, v, y);
  assert_ok(flow_adjoint_product(adjoint, w, back));
  const double forth = dot(size, w, y, &magnitude[0]), other = dot(size, back, v, &magnitude[1]);
  if (!(fabs(forth - other) <= 1e-13 * magnitude[0]))
    print_error("%s, central %g: %.17g, transposed %.17g\n", kind_names[s->kind], central, forth, other);
  assert_true(fabs(forth) > 1e-4 * magnitude[0] && fabs(forth - other) <= 1e-13 * magnitude[0]);
  pcsim_free(&v), pcsim_free(&w), pcsim_free(&y), pcsim_free(&back);
  flow_adjoint_destroy(&adjoint);
  tear_down(&t);
}

static void transposes(void **state) {
  (void)state;
  for (int kind = 0; kind < NUM_LATTICES; kind++) {
    const sample s = small(kind);
    check_transpose(&s, 1, 1);
    check_transpose(&s, 0.3, 0.5);
  }
}

/* ------------------------------------------------------------- derivatives */

/* Behind a case's own parameters stands the amount of sample_displacement, 0. */
enum { PARAMETERS_MAX = 11, QUANTITIES = 5 };

typedef struct {
  const char *what;
  const char *text; /* without `parameters:` */
  const char *wall, *opening;
  int num;
  const char *name[PARAMETERS_MAX];
  double value[PARAMETERS_MAX];
  const char *more; /* parameters that follow from these */
  sample s;
} flow_case;

static const flow_case cases[] = {
    {.what = "a channel with every kind of boundary in the plane",
     .text = "physics: {model: navier-stokes, density: R, viscosity: M, force: [F, \"-G\"]}\n"
             "boundaries:\n"
             "  x-min: {velocity: [\"A + B*y\", \"C*x*y\"]}\n"
             "  x-max: {pressure: \"P*y\"}\n"
             "  y-min: {wall: no-slip, velocity: [W, \"0.3*W\"]}\n"
             "  y-max: {total-pressure: \"T + 0.1*x\"}\n",
     .wall = "y-min",
     .opening = "x-max",
     .num = 10,
     .name = {"R", "M", "F", "G", "A", "C", "P", "V", "T", "D"},
     .value = {1.3, 0.2, 0.3, 0.2, 1, 0.2, 0.3, 0.4, 0.5, 0.25},
     .more = ", B: \"2*D + 0.5\", W: \"V^2 + 0.1\"",
     .s = {LATTICE_MIXED_2D, 8, 7, 0, 0.12, &unit_box}},
    {.what = "blended upwind, a slip wall, an inflow by its rate",
     .text = "physics: {model: navier-stokes, density: R, viscosity: M}\n"
             "boundaries:\n"
             "  x-min: {flow-rate: Q}\n"
             "  x-max: {pressure: P}\n"
             "  y-min: {wall: no-slip}\n"
             "  y-max: {wall: slip}\n"
             "solve: {central: 0.6}\n",
     .wall = "y-min",
     .opening = "x-max",
     .num = 4,
     .name = {"R", "M", "Q", "P"},
     .value = {1.1, 0.05, 0.8, 0.2},
     .more = "",
     .s = {LATTICE_TRIANGLE, 8, 7, 0, 0.1, &unit_box}},
    {.what = "a driven cavity, the level of the pressure free, given inflows balanced by the last 0.06 %, "
             "a force of place",
     .text = "physics: {model: navier-stokes, density: density, viscosity: nu, force: [\"force*sin(3*y)\", "
             "\"x*y*force^2\"]}\n"
             "boundaries:\n"
             "  y-max: {wall: no-slip, velocity: [W, 0]}\n"
             "  x-min: {velocity: [\"q*(y - 0.4)\", 0]}\n"
             "  \"*\": {wall: no-slip}\n"
             "  x-max: {velocity: [\"q*0.1001\", 0]}\n",
     .wall = "y-max",
     .opening = "x-min",
     .num = 5,
     .name = {"density", "nu", "force", "W", "q"},
     .value = {1.2, 0.1, 0.5, 1, 0.7},
     .more = "",
     .s = {LATTICE_QUAD, 8, 7, 0, 0.1, &unit_box}},
    {.what = "a viscosity that depends on the shear rate and on place, every kind of boundary",
     .text = "physics: {model: navier-stokes, density: R, viscosity: \"K*shear^(N - 1) + M*(1 + x*y)\"}\n"
             "boundaries:\n"
             "  x-min: {velocity: [\"A + 1.5*y\", \"0.2*x*y\"]}\n"
             "  x-max: {pressure: \"P*y\"}\n"
             "  y-min: {wall: no-slip, velocity: [W, 0]}\n"
             "  y-max: {total-pressure: \"T + 0.1*x\"}\n",
     .wall = "y-min",
     .opening = "x-max",
     .num = 8,
     .name = {"R", "K", "N", "M", "A", "P", "W", "T"},
     .value = {1.3, 0.2, 0.6, 0.1, 1, 0.3, 0.3, 0.5},
     .more = "",
     .s = {LATTICE_MIXED_2D, 8, 7, 0, 0.12, &unit_box}},
    {.what = "a force of place, in space",
     .text = "physics: {model: navier-stokes, density: R, viscosity: M, force: [F, \"G*x*z\", \"F*y\"]}\n"
             "boundaries:\n"
             "  x-min: {velocity: [\"A + y\", \"0.2*x\", 0]}\n"
             "  x-max: {pressure: \"0.3*y\"}\n"
             "  \"*\": {wall: no-slip}\n",
     .wall = "y-min",
     .opening = "x-max",
     .num = 5,
     .name = {"R", "M", "F", "D", "A"},
     .value = {1.3, 0.2, 0.6, 0.7, 0.5},
     .more = ", G: \"3*D^2\"",
     .s = {LATTICE_MIXED_3D, 4, 4, 3, 0.08, &unit_box}},
    {.what = "in space",
     .text = "physics: {model: navier-stokes, density: R, viscosity: M, force: [F, 0, G]}\n"
             "boundaries:\n"
             "  x-min: {velocity: [\"A + y\", \"0.2*x\", \"C*z\"]}\n"
             "  x-max: {pressure: \"P*y\"}\n"
             "  y-min: {wall: no-slip, velocity: [W, 0, 0.2]}\n"
             "  y-max: {wall: no-slip}\n"
             "  z-min: {wall: slip}\n"
             "  z-max: {symmetry: true}\n",
     .wall = "y-min",
     .opening = "x-max",
     .num = 8,
     .name = {"R", "M", "F", "G", "A", "C", "P", "W"},
     .value = {1.3, 0.2, 0.3, 0.2, 0.5, 0.2, 0.3, 0.4},
     .more = "",
     .s = {LATTICE_MIXED_3D, 4, 4, 3, 0.08, &unit_box}},
};
enum { NUM_CASES = sizeof cases / sizeof *cases };

typedef struct {
  sample_case c;
  pcsim_flow_solver *solver;
} flow_run;

static flow_run solve(const flow_case *c, const double *value) {
  char text[2048] = "parameters: {";
  pcsim_solve_result result;
  for (int i = 0; i < c->num; i++)
    append(text, sizeof text, "%s%s: %.17g", i ? ", " : "", c->name[i], value[i]);
  append(text, sizeof text, "%s}\n%s", c->more, c->text);
  flow_run r = {.c = case_of(sample_mesh_moved(MPI_COMM_WORLD, &c->s, value[c->num]), text)};
  r.c.options.tolerance = 1e-13;
  assert_ok(pcsim_flow_solver_create(r.c.mesh, r.c.problem, &r.c.options, &r.solver));
  assert_ok(pcsim_flow_solver_run(r.solver, NULL, NULL, &result));
  if (result.outcome != PCSIM_OUTCOME_CONVERGED) print_error("%s: %s\n", c->what, result.reason);
  assert_int_equal(result.outcome, PCSIM_OUTCOME_CONVERGED);
  return r;
}

static void end(flow_run *r) {
  pcsim_flow_solver_destroy(&r->solver);
  case_free(&r->c);
}

static const double looked_at[3] = {0.41, 0.37, 0.29};
static const double along[3] = {0.8, -0.6, 0.3};

typedef struct {
  pcsim_program *program[QUANTITIES];
  pcsim_functional of[QUANTITIES];
} quantities;

static quantities make_quantities(const flow_case *c, const double *value) {
  quantities q = {0};
  static const char *const unknowns[] = {"u", "v", "p"};
  const test_parameters parameters = {c->num, c->name, value, false};
  const int dim = sample_dim(&c->s);
  char energy[80];
  snprintf(energy, sizeof energy, "%s*(u^2 + v^2)/2 + x*p", c->name[0]); /* the density */
  const char *const texts[] = {energy, "u_y*v + exp(-p)", "p + x*u"};
  for (int i = 0; i < 3; i++) q.program[2 + i] = lower_quantity(texts[i], dim, 3, unknowns, &parameters);
  q.of[0] = (pcsim_functional){.kind = PCSIM_FUNCTIONAL_FORCE, .num_where = 1, .where = &c->wall};
  memcpy(q.of[0].direction, along, sizeof along);
  q.of[1] = (pcsim_functional){.kind = PCSIM_FUNCTIONAL_FLOW_RATE, .num_where = 1, .where = &c->opening};
  q.of[2] = (pcsim_functional){.kind = PCSIM_FUNCTIONAL_INTEGRAL, .program = q.program[2]};
  q.of[3] = (pcsim_functional){.kind = PCSIM_FUNCTIONAL_MEAN, .program = q.program[3]};
  q.of[4] = (pcsim_functional){.kind = PCSIM_FUNCTIONAL_POINT, .program = q.program[4]};
  memcpy(q.of[4].point, looked_at, sizeof looked_at);
  if (sample_dim(&c->s) == 2) q.of[4].point[2] = 0;
  return q;
}

static void free_quantities(quantities *q) {
  for (int i = 0; i < QUANTITIES; i++) pcsim_program_destroy(&q->program[i]);
}

/* What the fields say. */
static void expected_values(const flow_case *c, flow_run *r, double *expected) {
  const pcsim_mesh_view *v = pcsim_mesh_get(r->c.mesh);
  const int wall = pcsim_mesh_find_patch(r->c.mesh, c->wall);
  const int opening = pcsim_mesh_find_patch(r->c.mesh, c->opening), d = v->dim;
  double volume = 0, point[3] = {looked_at[0], looked_at[1], d == 3 ? looked_at[2] : 0};
  pcsim_flow_fields f;
  int rank, mine;
  int64_t cell;
  bool inside;
  assert_ok(pcsim_flow_solver_fields(r->solver, &f));
  memset(expected, 0, QUANTITIES * sizeof *expected);
  for (int64_t k = v->patch_start[wall]; k < v->patch_start[wall + 1]; k++)
    for (int i = 0; i < d; i++) {
      const int64_t b = k - v->num_interior_faces;
      expected[0] += along[i] * (f.face_pressure[b] * v->face_area[3 * k + i] + f.face_friction[3 * b + i]);
    }
  for (int64_t k = v->patch_start[opening]; k < v->patch_start[opening + 1]; k++)
    expected[1] += f.face_flow[k - v->num_interior_faces];
  for (int64_t k = 0; k < v->num_cells; k++) {
    const double *u = f.velocity + 3 * k, p = f.pressure[k], V = v->cell_volume[k];
    expected[2] += V * (f.density * (u[0] * u[0] + u[1] * u[1]) / 2 + v->cell_centre[3 * k] * p);
    expected[3] += V * (f.velocity_gradient[9 * k + 1] * u[1] + exp(-p));
    volume += V;
  }
  assert_ok(pcsim_mesh_locate(r->c.mesh, point, &rank, &cell, &inside));
  MPI_Comm_rank(MPI_COMM_WORLD, &mine);
  for (int i = 0; mine == rank && i < 2; i++) {
    double x = i ? f.velocity[3 * cell] : f.pressure[cell];
    const double *g = i ? f.velocity_gradient + 9 * cell : f.pressure_gradient + 3 * cell;
    for (int j = 0; j < d; j++) x += g[j] * (point[j] - v->cell_centre[3 * cell + j]);
    expected[4] += (i ? point[0] : 1) * x;
  }
  MPI_Allreduce(MPI_IN_PLACE, expected, QUANTITIES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &volume, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  expected[3] /= volume;
}

static double scale_of(const flow_case *c, int i) { return i < c->num ? c->value[i] : 1; }

/* [QUANTITIES][PARAMETERS_MAX] (J(p + h) - J(p - h))/2h */
static void differences(const flow_case *c, double (*out)[PARAMETERS_MAX]) {
  for (int i = 0; i < c->num + 1; i++) {
    double value[PARAMETERS_MAX], at[2][QUANTITIES];
    const double h = 1e-4 * scale_of(c, i);
    for (int side = 0; side < 2; side++) {
      memcpy(value, c->value, sizeof value);
      value[i] += side ? h : -h;
      flow_run r = solve(c, value);
      expected_values(c, &r, at[side]);
      end(&r);
    }
    for (int k = 0; k < QUANTITIES; k++) out[k][i] = (at[1][k] - at[0][k]) / (2 * h);
  }
}

static void check_quantity(const flow_case *c, const flow_run *r, const pcsim_mesh_tangent *motion,
                           const pcsim_functional *quantity, int k, double value, const double *expected) {
  double derivative[PARAMETERS_MAX];
  pcsim_flow_sensitivity s = {
      .derivative = derivative, .num_shapes = 1, .shape = motion, .by_shape = &derivative[c->num]};
  assert_ok(pcsim_flow_solver_adjoint(r->solver, quantity, c->name, c->num, 1e-11, &s));
  assert_true(s.converged);
  assert_close(s.value, value, 1e-11 * fmax(1, fabs(value)));
  assert_derivatives(c->what, k, &(test_parameters){c->num, c->name, c->value, true}, derivative, expected,
                     1e-4);
}

static void derivatives(void **state) {
  (void)state;
  for (int n = 0; n < NUM_CASES; n++) {
    const flow_case *c = &cases[n];
    double expected[QUANTITIES][PARAMETERS_MAX], values[QUANTITIES];
    differences(c, expected);
    flow_run r = solve(c, c->value);
    quantities q = make_quantities(c, c->value);
    expected_values(c, &r, values);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pcsim_mesh_tangent motion = sample_motion(r.c.mesh, rank == 0 ? sample_raw(&c->s) : NULL);
    for (int k = 0; k < QUANTITIES; k++) check_quantity(c, &r, &motion, &q.of[k], k, values[k], expected[k]);
    pcsim_mesh_tangent_free(&motion);
    free_quantities(&q);
    end(&r);
  }
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(transposes), cmocka_unit_test(derivatives)};
  return cmocka_run_group_tests(tests, solver_start, solver_end);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
