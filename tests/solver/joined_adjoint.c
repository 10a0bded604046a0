/* SPDX-License-Identifier: BSD-2-Clause */
/* Derivatives of quantities of a flow and of equations that join it, by parameters of both, against central
 * differences of the whole solve. */
#include "solver/derivatives.h"
#include "solver/laws.h"

enum { PARAMETERS_MAX = 12, QUANTITIES = 5 };

typedef struct {
  const char *what, *text; /* without `parameters:` */
  const char *wall, *opening;
  int num;
  const char *name[PARAMETERS_MAX];
  double value[PARAMETERS_MAX];
  sample s;
  bool materials; /* "left" and "right", else one */
} joined_case;

static const joined_case cases[] = {
    {.what = "a heated channel whose viscosity falls with the temperature",
     .text =
         "physics: {model: navier-stokes, density: R, viscosity: \"M*exp(-B*T)*(1 + K*shear) + 0.02*x\",\n"
         "  force: [\"0.2*T*S\", \"G*T - 0.1*u*T\"], unknowns: [T, S],\n"
         "  equations: [\"dt(T) + div(T*vector(u, v) - (C + 0.05*T^2)*grad(T)) - Q*S\",\n"
         "    \"div(S*u - 0.2*S_x, S*v - 0.2*S_y) + S - T\"]}\n"
         "boundaries:\n"
         "  x-min: {velocity: [\"A + y\", \"0.2*x*y\"], T: \"H + y\", S: 0}\n"
         "  x-max: {pressure: \"P*y\", free: true}\n"
         "  y-min: {wall: no-slip, velocity: [W, 0], flux: {T: \"0.3*(T - H)\"}, S: 1}\n"
         "  y-max: {wall: no-slip, T: 1.5, flux: {S: 0.1}}\n",
     .wall = "y-min",
     .opening = "x-max",
     .num = 11,
     .name = {"R", "M", "B", "K", "G", "C", "Q", "A", "H", "P", "W"},
     .value = {1.3, 0.3, 0.4, 0.1, 0.8, 0.15, 0.3, 0.5, 0.7, 0.3, 0.4},
     .s = {LATTICE_MIXED_2D, 8, 7, 0, 0.1, &unit_box}},
    {.what = "a heated cavity, the level of the pressure free, blended upwind",
     .text = "physics: {model: navier-stokes, density: R, viscosity: M, force: [0, \"G*T\"], unknowns: [T],\n"
             "  equations: [\"dt(T) + div(T*vector(u, v) - C*grad(T)) - Q\"]}\n"
             "boundaries:\n"
             "  x-min: {wall: no-slip, T: H}\n"
             "  x-max: {wall: no-slip, T: 0}\n"
             "  y-min: {wall: no-slip, flux: {T: 0}}\n"
             "  y-max: {wall: no-slip, velocity: [W, 0], flux: {T: \"Z*T\"}}\n"
             "solve: {central: 0.7}\n",
     .wall = "x-max",
     .opening = "x-max",
     .num = 8,
     .name = {"R", "M", "G", "C", "Q", "H", "W", "Z"},
     .value = {1.1, 0.2, 5, 0.2, 0.3, 1, 0.3, 0.5},
     .s = {LATTICE_TRIANGLE, 7, 7, 0, 0.1, &unit_box}},
    {.what = "a stream across the border of two materials, its viscosity falls with the temperature",
     .text = "physics: {model: navier-stokes, density: R, viscosity: \"M*exp(-B*T)\", force: [0, \"G*T\"],\n"
             "  unknowns: [T], coefficients: {k: {left: C, right: D}},\n"
             "  equations: [\"dt(T) + div(T*vector(u, v) - k*grad(T)) - Q\"]}\n"
             "boundaries:\n"
             "  x-min: {velocity: [\"A + y\", 0], T: \"H + y\"}\n"
             "  x-max: {pressure: 0, free: true}\n"
             "  y-min: {wall: no-slip, flux: {T: \"0.3*(T - H)\"}}\n"
             "  y-max: {wall: no-slip, T: 1.5}\n",
     .wall = "y-min",
     .opening = "x-max",
     .num = 9,
     .name = {"R", "M", "B", "G", "C", "D", "Q", "A", "H"},
     .value = {1.2, 0.2, 0.5, 0.6, 2, 0.1, 0.4, 0.5, 0.7},
     .s = {LATTICE_MIXED_2D, 8, 7, 0, 0.1, &unit_box},
     .materials = true},
};
enum { NUM_CASES = sizeof cases / sizeof *cases };

typedef struct {
  pcsim_mesh *mesh;
  pcsim_tree *tree;
  pcsim_flow_problem *flow;
  pcsim_transport_problem *laws;
  pcsim_joined_solver *solver;
} joined_run;

static joined_run solve(const joined_case *c, const double *value) {
  char text[2048] = "parameters: {";
  pcsim_flow_options options;
  pcsim_solve_result result;
  joined_run r = {.mesh = c->materials ? law_two_materials(MPI_COMM_WORLD, &c->s, 0.6)
                                       : sample_mesh(MPI_COMM_WORLD, &c->s)};
  for (int i = 0; i < c->num; i++)
    append(text, sizeof text, "%s%s: %.17g", i ? ", " : "", c->name[i], value[i]);
  append(text, sizeof text, "}\n%s", c->text);
  assert_ok(pcsim_tree_parse(text, strlen(text), "case.yaml", &r.tree));
  options = pcsim_flow_options_default();
  pcsim_flow_options_read(r.tree, &options);
  options.tolerance = 1e-13;
  assert_ok(pcsim_joined_problem_read(r.tree, r.mesh, &r.flow, &r.laws));
  assert_ok(pcsim_tree_status(r.tree));
  assert_ok(pcsim_joined_solver_create(r.mesh, r.flow, r.laws, &options, &r.solver));
  assert_ok(pcsim_joined_solver_run(r.solver, NULL, NULL, &result));
  if (result.outcome != PCSIM_OUTCOME_CONVERGED) print_error("%s: %s\n", c->what, result.reason);
  assert_int_equal(result.outcome, PCSIM_OUTCOME_CONVERGED);
  return r;
}

static void end(joined_run *r) {
  pcsim_joined_solver_destroy(&r->solver);
  pcsim_flow_problem_destroy(&r->flow);
  pcsim_transport_problem_destroy(&r->laws);
  pcsim_tree_destroy(&r->tree);
  pcsim_mesh_destroy(&r->mesh);
}

static const double along[3] = {0.8, -0.6, 0};

/* Force on a wall, flow rate, integral of fields of the flow, integral of T u^2, heat out of a boundary. */
static void expected_values(const joined_case *c, joined_run *r, double *expected) {
  const pcsim_mesh_view *v = pcsim_mesh_get(r->mesh);
  const int wall = pcsim_mesh_find_patch(r->mesh, c->wall),
            opening = pcsim_mesh_find_patch(r->mesh, c->opening);
  pcsim_flow_fields f;
  pcsim_transport_fields laws;
  assert_ok(pcsim_joined_solver_fields(r->solver, &f, &laws));
  memset(expected, 0, QUANTITIES * sizeof *expected);
  for (int64_t k = v->patch_start[wall]; k < v->patch_start[wall + 1]; k++)
    for (int i = 0; i < 2; i++) {
      const int64_t b = k - v->num_interior_faces;
      expected[0] += along[i] * (f.face_pressure[b] * v->face_area[3 * k + i] + f.face_friction[3 * b + i]);
    }
  for (int64_t k = v->patch_start[opening]; k < v->patch_start[opening + 1]; k++) {
    expected[1] += f.face_flow[k - v->num_interior_faces];
    expected[4] += laws.face_flux[0][k - v->num_interior_faces];
  }
  for (int64_t k = 0; k < v->num_cells; k++) {
    const double *u = f.velocity + 3 * k;
    expected[2] += v->cell_volume[k] * (u[0] * u[0] + u[1] * u[1] + v->cell_centre[3 * k] * f.pressure[k]);
    expected[3] += v->cell_volume[k] * laws.value[0][k] * u[0] * u[0];
  }
  MPI_Allreduce(MPI_IN_PLACE, expected, QUANTITIES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void differences(const joined_case *c, double (*out)[PARAMETERS_MAX]) {
  for (int i = 0; i < c->num; i++) {
    double value[PARAMETERS_MAX], at[2][QUANTITIES];
    const double h = 1e-4 * c->value[i];
    for (int side = 0; side < 2; side++) {
      memcpy(value, c->value, sizeof value);
      value[i] += side ? h : -h;
      joined_run r = solve(c, value);
      expected_values(c, &r, at[side]);
      end(&r);
    }
    for (int k = 0; k < QUANTITIES; k++) out[k][i] = (at[1][k] - at[0][k]) / (2 * h);
  }
}

static void check_quantity(const joined_case *c, const joined_run *r, const pcsim_functional *quantity, int k,
                           double value, const double *expected) {
  double derivative[PARAMETERS_MAX];
  pcsim_flow_sensitivity s = {.derivative = derivative};
  assert_ok(pcsim_joined_solver_adjoint(r->solver, quantity, c->name, c->num, 1e-11, &s));
  assert_true(s.converged);
  assert_close(s.value, value, 1e-10 * fmax(1, fabs(value)));
  assert_derivatives(c->what, k, &(test_parameters){.num = c->num, .name = c->name, .value = c->value},
                     derivative, expected, 1e-5);
}

/* Shapes are not offered. */
static void check_refusal(const joined_case *c, const joined_run *r, const pcsim_functional *quantity) {
  const pcsim_mesh_tangent motion = {0};
  double derivative[PARAMETERS_MAX], by_shape;
  pcsim_flow_sensitivity s = {
      .derivative = derivative, .num_shapes = 1, .shape = &motion, .by_shape = &by_shape};
  assert_int_equal(pcsim_joined_solver_adjoint(r->solver, quantity, c->name, c->num, 1e-11, &s),
                   PCSIM_ERR_ARG);
  pcsim_error_clear();
}

static void derivatives(void **state) {
  (void)state;
  for (int n = 0; n < NUM_CASES; n++) {
    const joined_case *c = &cases[n];
    const test_parameters parameters = {.num = c->num, .name = c->name, .value = c->value};
    static const char *const fields[] = {"u", "v", "p"}, *const unknowns[] = {"T", "u", "v"};
    double expected[QUANTITIES][PARAMETERS_MAX], values[QUANTITIES];
    pcsim_program *of_flow = lower_quantity("u^2 + v^2 + x*p", 2, 3, fields, &parameters);
    pcsim_program *of_both = lower_quantity("T*u^2", 2, 3, unknowns, &parameters);
    pcsim_functional quantity[QUANTITIES] = {
        {.kind = PCSIM_FUNCTIONAL_FORCE, .on_boundary = true, .num_where = 1, .where = &c->wall},
        {.kind = PCSIM_FUNCTIONAL_FLOW_RATE, .on_boundary = true, .num_where = 1, .where = &c->opening},
        {.kind = PCSIM_FUNCTIONAL_INTEGRAL, .program = of_flow},
        {.kind = PCSIM_FUNCTIONAL_INTEGRAL, .program = of_both},
        {.kind = PCSIM_FUNCTIONAL_FLUX, .on_boundary = true, .num_where = 1, .where = &c->opening}};
    memcpy(quantity[0].direction, along, sizeof along);
    differences(c, expected);
    joined_run r = solve(c, c->value);
    expected_values(c, &r, values);
    for (int k = 0; k < QUANTITIES; k++)
      if (k != 1 || n == 0) check_quantity(c, &r, &quantity[k], k, values[k], expected[k]);
    check_refusal(c, &r, &quantity[0]);
    pcsim_program_destroy(&of_flow), pcsim_program_destroy(&of_both);
    end(&r);
  }
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(derivatives)};
  return cmocka_run_group_tests(tests, solver_start, solver_end);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
