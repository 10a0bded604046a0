/* SPDX-License-Identifier: BSD-2-Clause */
/* Estimated errors of an integral of Kovasznay's flow (1948), and of one whose viscosity and force vary,
 * against the true ones on four meshes; the same on two ranks. */
#include "solver/sample.h"

enum { MESHES = 4 };
static const double PI = 3.14159265358979323846;

typedef struct {
  const char *what, *text;
  placement place; /* of the box, along the axes */
  int blocks[2];   /* of the coarsest mesh */
  void (*velocity)(double x, double y, double *u);
} estimate_flow;

static void kovasznay(double x, double y, double *u) {
  const double L = 20 - sqrt(400 + 4 * PI * PI), grow = exp(L * x);
  u[0] = 1 - grow * cos(2 * PI * y), u[1] = L / (2 * PI) * grow * sin(2 * PI * y);
}

static void manufactured(double x, double y, double *u) {
  u[0] = sin(2 * x) * cos(2 * y), u[1] = -cos(2 * x) * sin(2 * y);
}

static const estimate_flow flows[2] = {
    {"Kovasznay's flow",
     "parameters: {Re: 40, L: \"Re/2 - sqrt(Re^2/4 + 4*pi^2)\"}\n"
     "physics: {model: navier-stokes, density: 1, viscosity: \"1/Re\"}\n"
     "boundaries: {\"*\": {velocity: [\"1 - exp(L*x)*cos(2*pi*y)\", "
     "\"L/(2*pi)*exp(L*x)*sin(2*pi*y)\"]}}\n"
     "solve: {tolerance: 1e-11}\n",
     {{{1.5, 0, 0}, {0, 2, 0}, {0, 0, 1}}, {-0.5, -0.5, 0}},
     {18, 24},
     kovasznay},
    /* the shear rate is 4 |cos 2x cos 2y|, and the velocity's gradient has a diagonal alone */
    {"a viscosity of place and shear rate, a force of place",
     "parameters: {M: 0.1, K: 0.05}\n"
     "physics:\n  model: navier-stokes\n  density: 1\n  viscosity: \"M*(1 + x + K*shear^2)\"\n"
     "  force: [\"sin(4*x) + exp(y) + 8*M*(1 + x + 16*K*cos(2*x)^2*cos(2*y)^2)*sin(2*x)*cos(2*y)"
     " - 4*M*(1 - 64*K*cos(2*x)*sin(2*x)*cos(2*y)^2)*cos(2*x)*cos(2*y)\",\n"
     "          \"sin(4*y) + x*exp(y) - 8*M*(1 + x + 16*K*cos(2*x)^2*cos(2*y)^2)*cos(2*x)*sin(2*y)"
     " - 256*M*K*cos(2*x)^3*cos(2*y)^2*sin(2*y)\"]\n"
     "boundaries: {\"*\": {velocity: [\"sin(2*x)*cos(2*y)\", \"-cos(2*x)*sin(2*y)\"]}}\n"
     "solve: {tolerance: 1e-11}\n",
     {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}},
     {12, 12},
     manufactured},
};

/* Gauss quadrature of u^2 + x v y over the box. */
static double integral(const estimate_flow *f) {
  enum { N = 200 };
  const placement *p = &f->place;
  double sum = 0;
  for (int i = 0; i < 2 * N; i++)
    for (int j = 0; j < 2 * N; j++) {
      const double a = (i / 2 + 0.5 + (i % 2 ? 0.5 : -0.5) / sqrt(3)) / N,
                   b = (j / 2 + 0.5 + (j % 2 ? 0.5 : -0.5) / sqrt(3)) / N;
      const double x = p->origin[0] + p->frame[0][0] * a, y = p->origin[1] + p->frame[1][1] * b;
      double u[2];
      f->velocity(x, y, u);
      sum += 0.25 * p->frame[0][0] * p->frame[1][1] * (u[0] * u[0] + x * u[1] * y) / (N * N);
    }
  return sum;
}

typedef struct {
  double value, estimated, corrected, indicated;
} result;

static result estimate_on(MPI_Comm comm, const estimate_flow *of_flow, const sample *s) {
  static const char *const coordinates[] = {"x", "y"}, *const unknowns[] = {"u", "v", "p"};
  static const char *const of = "u^2 + x*v*y";
  const pcsim_lowering names = {
      .num_coordinates = 2, .coordinates = coordinates, .num_unknowns = 3, .unknowns = unknowns};
  int rank;
  double none = 0, *psi = NULL, *indicator = NULL;
  pcsim_raw_mesh *raw = NULL, *fine_raw = NULL;
  pcsim_mesh *mesh = NULL, *fine_mesh = NULL;
  pcsim_flow_solver *solver = NULL;
  pcsim_program *program = NULL;
  pcsim_solve_result outcome;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) raw = sample_raw(s);
  if (rank == 0) assert_ok(pcsim_raw_mesh_refine(raw, &fine_raw));
  assert_ok(pcsim_mesh_create(comm, raw, &mesh));
  assert_ok(pcsim_mesh_create(comm, fine_raw, &fine_mesh));
  sample_case c = case_of(mesh, of_flow->text), fine = case_of(fine_mesh, of_flow->text);
  const size_t cells = (size_t)pcsim_mesh_get(mesh)->num_cells;
  assert_ok(pcsim_alloc(3 * cells, sizeof *psi, &psi));
  assert_ok(pcsim_alloc(cells, sizeof *indicator, &indicator));
  assert_ok(pcsim_flow_solver_create(c.mesh, c.problem, &c.options, &solver));
  assert_ok(pcsim_flow_solver_run(solver, NULL, NULL, &outcome));
  assert_int_equal(outcome.outcome, PCSIM_OUTCOME_CONVERGED);
  assert_ok(pcsim_lower(&of, 1, &names, &program, NULL, NULL));
  const pcsim_functional functional = {.kind = PCSIM_FUNCTIONAL_INTEGRAL, .program = program};
  pcsim_flow_sensitivity adjoint = {.derivative = &none, .adjoint = psi};
  assert_ok(pcsim_flow_solver_adjoint(solver, &functional, NULL, 0, 1e-10, &adjoint));
  assert_true(adjoint.converged);
  pcsim_estimate e = {.value = adjoint.value, .indicator = indicator};
  assert_ok(pcsim_flow_solver_estimate(solver, &functional, psi, fine.mesh, fine.problem, &e));
  result r = {e.value, e.error, e.corrected, 0};
  for (size_t k = 0; k < cells; k++) r.indicated += indicator[k];
  MPI_Allreduce(MPI_IN_PLACE, &r.indicated, 1, MPI_DOUBLE, MPI_SUM, comm);
  pcsim_program_destroy(&program);
  pcsim_flow_solver_destroy(&solver);
  pcsim_free(&psi), pcsim_free(&indicator);
  case_free(&c), case_free(&fine);
  pcsim_raw_mesh_destroy(&raw), pcsim_raw_mesh_destroy(&fine_raw);
  return r;
}

static void check_effectivity(const estimate_flow *f) {
  static const lattice_kind kinds[3] = {LATTICE_QUAD, LATTICE_TRIANGLE, LATTICE_MIXED_2D};
  const double exact = integral(f);
  for (int kind = 0; kind < 3; kind++)
    for (int k = 0, blocks = f->blocks[0]; k < MESHES; k++, blocks += blocks / 2) {
      const sample s = {kinds[kind], blocks,         blocks * f->blocks[1] / f->blocks[0],
                        0,           kind ? 0.1 : 0, &f->place};
      const result r = estimate_on(MPI_COMM_WORLD, f, &s);
      const double ratio = r.estimated / (exact - r.value);
      print_message("%s, %s, %d blocks: error %.2e, estimated %.2e, ratio %.3f\n", f->what,
                    kind_names[kinds[kind]], blocks, exact - r.value, r.estimated, ratio);
      assert_true(ratio >= 0.8 && ratio <= 1.25);
      assert_true(fabs(exact - r.corrected) < fabs(exact - r.value));
      assert_true(r.indicated > 0.2 * fabs(r.estimated));
    }
}

static void effectivity(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) check_effectivity(&flows[i]);
}

static void any_ranks(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    const sample s = {LATTICE_MIXED_2D, 12, 16, 0, 0.1, &flows[i].place};
    const result all = estimate_on(MPI_COMM_WORLD, &flows[i], &s),
                 one = estimate_on(MPI_COMM_SELF, &flows[i], &s);
    assert_close(all.value, one.value, 1e-8);
    assert_close(all.estimated, one.estimated, 1e-8);
    assert_close(all.indicated, one.indicated, 1e-8);
  }
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(any_ranks), cmocka_unit_test(effectivity)};
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return _cmocka_run_group_tests("flow_estimate", tests, ranks > 1 ? 1 : 2, solver_start, solver_end);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
