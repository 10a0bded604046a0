/* SPDX-License-Identifier: BSD-2-Clause */
/* Typed equations that join a flow: the tangent of both against differences of their residual, on any number
 * of ranks; heat carried by a channel flow; the heated cavity; runs taken up again. */
#include "solver/joined.h"
#include "../../solver/march.h" /* not that of the tests */
#include "solver/sample.h"

typedef struct {
  pcsim_mesh *mesh;
  pcsim_tree *tree;
  pcsim_flow_problem *flow;
  pcsim_transport_problem *laws;
  pcsim_flow_options options;
  joined *j;
  discrete_system s;
} joined_case;

static joined_case begin(const sample *s, const char *text) {
  joined_case c = {.mesh = sample_mesh(MPI_COMM_WORLD, s)};
  assert_ok(pcsim_tree_parse(text, strlen(text), "case.yaml", &c.tree));
  pcsim_flow_options_read(c.tree, &c.options);
  assert_true(pcsim_joined_given(c.tree));
  assert_ok(pcsim_joined_problem_read(c.tree, c.mesh, &c.flow, &c.laws));
  assert_ok(pcsim_tree_status(c.tree));
  assert_non_null(c.flow), assert_non_null(c.laws);
  assert_ok(joined_create(c.mesh, c.flow, c.laws, &c.options, &c.j));
  joined_system(c.j, &c.s);
  return c;
}

static void end(joined_case *c) {
  joined_destroy(&c->j);
  pcsim_flow_problem_destroy(&c->flow);
  pcsim_transport_problem_destroy(&c->laws);
  pcsim_tree_destroy(&c->tree);
  pcsim_mesh_destroy(&c->mesh);
}

static double *numbers(const joined_case *c) {
  double *a = NULL;
  assert_ok(pcsim_alloc((size_t)(c->s.n * c->s.m), sizeof *a, &a));
  return a;
}

static double norm_of(int64_t n, const double *x) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += x[i] * x[i];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sqrt(sum);
}

/* ------------------------------------------------------------------ tangents */

static const char *const texts[] = {
    "physics: {model: navier-stokes, density: 1.3, viscosity: 0.2, force: [\"0.3*T*S\", \"2*T - u*T\"],\n"
    "  unknowns: [T, S], equations: [\"dt(T) + div(T*vector(u, v) - (0.1 + 0.05*T^2)*grad(T)) + u*S\",\n"
    "    \"div(S*u - 0.2*S_x, S*v - 0.2*S_y) + S - T\"]}\n"
    "boundaries:\n"
    "  x-min: {velocity: [\"1+y\", \"0.2*x\"], T: \"1 + y\", S: 0}\n"
    "  x-max: {pressure: \"0.1*y\", free: true}\n"
    "  y-min: {wall: no-slip, velocity: [0.5, 0], flux: {T: \"0.3*(T - 1)\"}, S: 1}\n"
    "  y-max: {total-pressure: \"1+x\", free: true}\n",
    "physics: {model: navier-stokes, density: 1.3, viscosity: 0.2, force: [0, \"2*T\", \"T^2\"],\n"
    "  unknowns: [T], equations: [\"div(T*vector(u, v, w + 0.3*u) - 0.1*grad(T))\"]}\n"
    "boundaries:\n"
    "  x-min: {velocity: [\"1+y\", \"0.2*x\", \"0.1*z\"], T: \"1 + y\"}\n"
    "  x-max: {pressure: \"0.1*y\", free: true}\n"
    "  y-min: {wall: no-slip, flux: {T: \"0.3*(T - 1)\"}}\n"
    "  y-max: {total-pressure: \"1+x\", free: true}\n"
    "  z-min: {wall: slip, T: \"1 + x\"}\n"
    "  z-max: {symmetry: true}\n"};

/* The text with another viscosity. */
static void with_viscosity(const char *from, const char *viscosity, char *text, size_t size) {
  static const char *const old = "viscosity: 0.2";
  const char *at = strstr(from, old);
  assert_non_null(at);
  snprintf(text, size, "%.*sviscosity: \"%s\"%s", (int)(at - from), from, viscosity, at + strlen(old));
}

static void check_tangent(const sample *s, const char *viscosity, const char *solve) {
  char text[2048];
  with_viscosity(texts[sample_dim(s) - 2], viscosity, text, sizeof text);
  append(text, sizeof text, "%s", solve);
  joined_case c = begin(s, text);
  const discrete_system *system = &c.s;
  const int64_t size = system->n * system->m;
  double *q = numbers(&c), *v = numbers(&c), *y = numbers(&c), *r[2] = {numbers(&c), numbers(&c)};
  for (int64_t i = 0; i < size; i++) {
    const int64_t cell = c.j->f->view->cell_original[i / system->m];
    q[i] = 1 + 0.3 * noise(cell, (int)(i % system->m)), v[i] = noise(cell, 8 + (int)(i % system->m));
  }
  memcpy(system->q, q, (size_t)size * sizeof *q);
  assert_ok(system->freeze(system->context, 0, true));
  assert_ok(system->residual(system->context, 0, y));
  system->set_shift(system->context, INFINITY, INFINITY);
  const double step = 1e-6;
  for (int side = 0; side < 2; side++) {
    for (int64_t i = 0; i < size; i++) system->q[i] = q[i] + (side ? step : -step) * v[i];
    assert_ok(system->residual(system->context, 0, r[side]));
  }
  memcpy(system->q, q, (size_t)size * sizeof *q);
  assert_ok(system->residual(system->context, 0, y));
  assert_ok(system->tangent(system->context, v, y));
  for (int64_t i = 0; i < size; i++) r[1][i] = (r[1][i] - r[0][i]) / (2 * step), r[0][i] = r[1][i] - y[i];
  const double error = norm_of(size, r[0]) / norm_of(size, r[1]);
  if (!(error < 1e-8)) print_error("%s: tangent off by %g\n", kind_names[s->kind], error);
  assert_true(error < 1e-8);
  pcsim_free(&q), pcsim_free(&v), pcsim_free(&y), pcsim_free(&r[0]), pcsim_free(&r[1]);
  end(&c);
}

static void tangents(void **state) {
  (void)state;
  for (int kind = 0; kind < NUM_LATTICES; kind++) {
    const bool flat = kind < LATTICE_HEXA;
    const sample s = {(lattice_kind)kind, flat ? 8 : 4, flat ? 7 : 4, flat ? 0 : 3, 0.1, &unit_box};
    check_tangent(&s, "0.2", "");
    check_tangent(&s, "0.2", "solve: {central: 0.5}\n");
    check_tangent(&s, "0.2*exp(0.3*T)*(1 + 0.1*shear) + 0.1*y", "");
  }
}

/* -------------------------------------------------------------- heated cavity */

static void solve(joined_case *c, double tolerance) {
  pcsim_solve_result result;
  march *m = NULL;
  const march_options options = {
      .tolerance = tolerance, .steps_max = 200, .cfl = c->options.cfl, .linear_tolerance = 0.1};
  assert_ok(march_create(&c->s, &options, &m));
  assert_ok(march_run(m, NULL, NULL, &result));
  if (result.outcome != PCSIM_OUTCOME_CONVERGED) print_error("%s\n", result.reason);
  assert_int_equal(result.outcome, PCSIM_OUTCOME_CONVERGED);
  march_destroy(&m);
}

/* Flux of the first law out of a boundary. */
static double flux_through(joined_case *c, const char *name) {
  const transport *t = c->j->t;
  const pcsim_mesh_view *v = t->view;
  const int patch = pcsim_mesh_find_patch(c->mesh, name);
  double sum = 0;
  assert_ok(transport_update_boundary(c->j->t));
  for (int k = 0; k < t->problem->num_conditions; k++)
    for (int64_t i = 0; i < t->boundary[k].num; i++) {
      const int64_t face = t->ni + t->boundary[k].c->face[i];
      if (face >= v->patch_start[patch] && face < v->patch_start[patch + 1])
        sum += t->boundary[k].flux[i * t->m];
    }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

/* Nusselt numbers of de Vahl Davis (Int. J. Numer. Meth. Fluids 3, 1983); what goes in comes out. */
static void cavity(void **state) {
  (void)state;
  static const struct {
    double rayleigh, nusselt, tolerance;
  } of[] = {{1e3, 1.118, 0.005}, {1e4, 2.243, 0.01}, {1e5, 4.519, 0.02}};
  for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
    char text[1024];
    const sample s = {LATTICE_QUAD, 32, 32, 0, 0, &unit_box};
    snprintf(text, sizeof text,
             "parameters: {Ra: %g, Pr: 0.71}\n"
             "physics: {model: navier-stokes, density: 1, viscosity: Pr, force: [0, \"Ra*Pr*T\"],\n"
             "  unknowns: [T], equations: [\"dt(T) + div(T*vector(u, v) - grad(T))\"]}\n"
             "boundaries:\n"
             "  x-min: {wall: no-slip, T: 0.5}\n"
             "  x-max: {wall: no-slip, T: -0.5}\n"
             "  \"y*\": {wall: no-slip, flux: {T: 0}}\n",
             of[k].rayleigh);
    joined_case c = begin(&s, text);
    solve(&c, 1e-9);
    const double in = -flux_through(&c, "x-min"), out = flux_through(&c, "x-max");
    assert_close(in, out, 1e-6 * in);
    if (!(fabs(in - of[k].nusselt) <= of[k].tolerance * of[k].nusselt))
      print_error("Ra %g: Nusselt number %.5f, expected %.3f\n", of[k].rayleigh, in, of[k].nusselt);
    assert_close(in, of[k].nusselt, of[k].tolerance * of[k].nusselt);
    end(&c);
  }
}

/* ------------------------------------------------------------- volume fluxes */

/* What comes in with one temperature keeps it: the flow's volume fluxes, which are free of divergence, carry
 * it. */
static void channel(void **state) {
  (void)state;
  static const char text[] = "physics: {model: navier-stokes, density: 1, viscosity: 0.05,\n"
                             "  unknowns: [T], equations: [\"dt(T) + div(T*vector(u, v) - 0.1*grad(T))\"]}\n"
                             "boundaries:\n"
                             "  x-min: {velocity: [\"4*y*(1 - y)\", 0], T: 2}\n"
                             "  x-max: {pressure: 0, free: true}\n"
                             "  \"y*\": {wall: no-slip, flux: {T: 0}}\n"
                             "initial: {T: 1}\n";
  const sample s = {LATTICE_MIXED_2D, 10, 9, 0, 0.12, &unit_box};
  joined_case c = begin(&s, text);
  solve(&c, 1e-10);
  double error = 0;
  for (int64_t i = 0; i < c.s.n; i++) error = fmax(error, fabs(c.s.q[i * c.s.m + c.s.m - 1] - 2));
  if (!(error < 1e-7)) print_error("the temperature leaves that of the inlet by %g\n", error);
  assert_true(error < 1e-7);
  end(&c);
}

/* -------------------------------------------------------- the public solver */

static const char cavity_text[] =
    "physics: {model: navier-stokes, density: 1, viscosity: 0.71, force: [0, \"7100*T\"],\n"
    "  unknowns: [T], equations: [\"dt(T) + div(T*vector(u, v) - grad(T))\"]}\n"
    "boundaries:\n"
    "  x-min: {wall: no-slip, T: 0.5}\n"
    "  x-max: {wall: no-slip, T: -0.5}\n"
    "  \"y*\": {wall: no-slip, flux: {T: 0}}\n";

/* Mean of T times v over the cells, which the hot and the cold stream make positive. */
static double carried(pcsim_joined_solver *solver) {
  pcsim_flow_fields flow_fields;
  pcsim_transport_fields laws;
  double sum = 0;
  assert_ok(pcsim_joined_solver_fields(solver, &flow_fields, &laws));
  const pcsim_mesh_view *v = pcsim_mesh_get(laws.mesh);
  for (int64_t c = 0; c < v->num_cells; c++)
    sum += v->cell_volume[c] * laws.value[0][c] * flow_fields.velocity[3 * c + 1];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

/* What the first law's boundary fluxes of a steady state add up to is nothing. */
static void check_fluxes(pcsim_joined_solver *solver) {
  pcsim_flow_fields flow_fields;
  pcsim_transport_fields laws;
  double sum[2] = {0, 0};
  assert_ok(pcsim_joined_solver_fields(solver, &flow_fields, &laws));
  const pcsim_mesh_view *v = pcsim_mesh_get(laws.mesh);
  for (int64_t b = 0; b < v->num_faces - v->num_interior_faces; b++)
    sum[0] += laws.face_flux[0][b], sum[1] += fabs(laws.face_flux[0][b]);
  MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  assert_true(sum[1] > 2 && fabs(sum[0]) < 1e-6 * sum[1]);
}

/* What is put in comes out again. */
static void check_state(pcsim_joined_solver *solver, const joined_case *c, const double *unknowns,
                        const double *scalars) {
  double back[PCSIM_NUM_STATE_SCALARS], *again = numbers(c);
  assert_ok(pcsim_joined_solver_set_state(solver, unknowns, scalars));
  pcsim_joined_solver_get_state(solver, again, back);
  assert_true(scalars[1] != 1 && scalars[2] != 1);
  assert_memory_equal(back, scalars, sizeof back);
  assert_memory_equal(again, unknowns, (size_t)(c->s.n * c->s.m) * sizeof *again);
  pcsim_free(&again);
}

/* A state taken out in mid-run and put into another solver leads to the same flow. */
static void states(void **state) {
  (void)state;
  const sample s = {LATTICE_TRIANGLE, 12, 12, 0, 0.1, &unit_box};
  joined_case c = begin(&s, cavity_text);
  pcsim_joined_solver *solver[2] = {NULL, NULL};
  pcsim_solve_result result;
  double scalars[PCSIM_NUM_STATE_SCALARS], *unknowns = numbers(&c), value[2];
  pcsim_flow_options few = c.options;
  few.steps_max = 3;
  assert_ok(pcsim_joined_solver_create(c.mesh, c.flow, c.laws, &few, &solver[0]));
  assert_ok(pcsim_joined_solver_run(solver[0], NULL, NULL, &result));
  assert_int_equal(result.outcome, PCSIM_OUTCOME_NOT_CONVERGED);
  assert_int_equal(pcsim_joined_solver_state_width(solver[0]), c.s.m);
  assert_int_equal(pcsim_joined_solver_state_step(solver[0]), 3);
  pcsim_joined_solver_get_state(solver[0], unknowns, scalars);
  pcsim_joined_solver_destroy(&solver[0]);
  for (int k = 0; k < 2; k++) {
    assert_ok(pcsim_joined_solver_create(c.mesh, c.flow, c.laws, &c.options, &solver[k]));
    if (k) check_state(solver[k], &c, unknowns, scalars);
    assert_ok(pcsim_joined_solver_run(solver[k], NULL, NULL, &result));
    assert_int_equal(result.outcome, PCSIM_OUTCOME_CONVERGED);
    value[k] = carried(solver[k]);
    check_fluxes(solver[k]);
    pcsim_joined_solver_destroy(&solver[k]);
  }
  assert_true(value[0] > 0.5);
  assert_close(value[1], value[0], 1e-7 * value[0]);
  pcsim_free(&unknowns);
  end(&c);
}

/* Through time in one go and in two: the same bits, of both schemes, with steps chosen by the error. An
 * output is asked for at t = 0.01. */
static void restarts(void **state) {
  (void)state;
  static const char text[] =
      "physics: {model: navier-stokes, density: 1, viscosity: \"0.71*exp(-0.2*T)\", force: [0, \"710*T\"],\n"
      "  unknowns: [T], equations: [\"dt(T) + div(T*vector(u, v) - grad(T))\"]}\n"
      "boundaries:\n"
      "  x-min: {wall: no-slip, T: \"1 - exp(-100*t)\"}\n"
      "  x-max: {wall: no-slip, T: 0}\n"
      "  \"y*\": {wall: no-slip, flux: {T: 0}}\n"
      "initial: {velocity: [0, 0], T: 0}\n"
      "solve: {time: {end: 0.04, tolerance: 1e-4}}\n";
  static const double stops[] = {0.01};
  const sample s = {LATTICE_TRIANGLE, 10, 10, 0, 0.1, &unit_box};
  for (int scheme = 0; scheme < 2; scheme++) {
    joined_case c = begin(&s, text);
    pcsim_joined_solver *solver[2] = {NULL, NULL};
    pcsim_solve_result result[2];
    double scalars[2][PCSIM_NUM_STATE_SCALARS], *unknowns[2];
    pcsim_flow_options whole = c.options;
    whole.time.scheme = scheme ? PCSIM_TIME_BDF2 : PCSIM_TIME_TR_BDF2;
    whole.stops = stops, whole.num_stops = 1;
    assert_ok(pcsim_joined_solver_create(c.mesh, c.flow, c.laws, &whole, &solver[0]));
    const size_t size = (size_t)c.s.n * (size_t)pcsim_joined_solver_state_width(solver[0]);
    for (int k = 0; k < 2; k++) assert_ok(pcsim_alloc(size, sizeof **unknowns, &unknowns[k]));
    assert_ok(pcsim_joined_solver_run(solver[0], NULL, NULL, &result[0]));
    assert_int_equal(result[0].outcome, PCSIM_OUTCOME_CONVERGED);
    assert_close(result[0].time, 0.04, 1e-12);
    assert_true(result[0].steps > 20);
    pcsim_joined_solver_get_state(solver[0], unknowns[0], scalars[0]);
    pcsim_flow_options part = whole;
    part.time.steps = 10;
    assert_ok(pcsim_joined_solver_create(c.mesh, c.flow, c.laws, &part, &solver[1]));
    assert_ok(pcsim_joined_solver_run(solver[1], NULL, NULL, &result[1]));
    assert_int_equal(result[1].outcome, PCSIM_OUTCOME_NOT_CONVERGED);
    assert_int_equal(pcsim_joined_solver_state_step(solver[1]), 10);
    pcsim_joined_solver_get_state(solver[1], unknowns[1], scalars[1]);
    pcsim_joined_solver_destroy(&solver[1]);
    assert_ok(pcsim_joined_solver_create(c.mesh, c.flow, c.laws, &whole, &solver[1]));
    assert_ok(pcsim_joined_solver_set_state(solver[1], unknowns[1], scalars[1]));
    assert_ok(pcsim_joined_solver_run(solver[1], NULL, NULL, &result[1]));
    pcsim_joined_solver_get_state(solver[1], unknowns[1], scalars[1]);
    assert_int_equal(result[1].steps, result[0].steps);
    assert_memory_equal(unknowns[1], unknowns[0], size * sizeof **unknowns);
    assert_memory_equal(scalars[1], scalars[0], sizeof *scalars);
    for (int k = 0; k < 2; k++) pcsim_joined_solver_destroy(&solver[k]), pcsim_free(&unknowns[k]);
    end(&c);
  }
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tangents), cmocka_unit_test(cavity),
                                     cmocka_unit_test(channel), cmocka_unit_test(states),
                                     cmocka_unit_test(restarts)};
  return cmocka_run_group_tests(tests, solver_start, solver_end);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
