/* SPDX-License-Identifier: BSD-2-Clause */
/* Typed laws with cubic reconstruction: cubic solutions exactly on any mesh, the fourth order. */
#define E "sin(pi*x)*cos(pi*y) + x + 1.5"
#define F "2 + cos(x - 2*y)"
#define EACH(a) a ", " a
#define VELOCITY "vector(1, 2)"
#define PARAMETERS ""
#include "solver/named_laws.h"

static const double PI = 3.14159265358979323846;

static void cubic(const double *x, double *value) {
  value[0] = 1 + x[0] - 2 * x[1] + x[0] * x[0] * x[1] - 0.5 * x[1] * x[1] * x[1] + 0.3 * x[0] * x[1] +
             x[0] * x[0] * x[0];
}
#define CUBIC "1 + x - 2*y + x^2*y - y^3/2 + 0.3*x*y + x^3"

/* Values given on three sides, a flux and Robin's condition on the others; a source that is linear. */
static void cubics_are_exact(void **state) {
  (void)state;
  for (int kind = LATTICE_QUAD; kind <= LATTICE_MIXED_2D; kind++) {
    const sample s = {kind, 7, 6, 0, 0.15, &askew_2d};
    law_run r = law_begin(law_two_materials(MPI_COMM_WORLD, &s, -10),
                          "physics: {unknowns: [u], coefficients: {E: \"" CUBIC "\"},\n"
                          "          equations: [\"-lap(u) + 3*u + lap(E) - 3*E\"]}\n"
                          "boundaries: {\"*\": {u: E}, x-max: {flux: {u: \"2*(u - E) - dn(E)\"}}}\n");
    pcsim_solve_result result;
    pcsim_transport_fields f;
    r.options.degree = 3;
    law_solve(&r, &result);
    assert_ok(pcsim_transport_solver_fields(r.solver, &f));
    const pcsim_mesh_view *v = pcsim_mesh_get(r.mesh);
    double worst = 0;
    for (int64_t c = 0; c < v->num_cells; c++)
      for (int64_t k = v->cell_node_start[c]; k < v->cell_node_start[c + 1]; k++) {
        const double *x = v->node + 3 * (int64_t)v->cell_node[k];
        double expected;
        cubic(x, &expected);
        worst = fmax(worst, fabs(pcsim_transport_value_at(&f, 0, c, x) - expected));
      }
    if (!(worst < 1e-7)) print_error("%s: a cubic is missed by %.3g\n", kind_names[kind], worst);
    assert_true(worst < 1e-7);
    law_end(&r);
  }
}

/* -------------------------------------------------------------------- orders */

static void two(const double *x, double *value) {
  value[0] = sin(PI * x[0]) * cos(PI * x[1]) + x[0] + 1.5;
  value[1] = 2 + cos(x[0] - 2 * x[1]);
}

static void orders(void **state) {
  (void)state;
  bool good = true;
  for (int k = 0; k < NUM_NAMED_LAWS; k++)
    for (int kind = LATTICE_QUAD; kind <= LATTICE_MIXED_2D; kind++)
      good &= law_check_orders(&(law_study){named_laws[k].name, named_laws[k].text, two, named_laws[k].steps,
                                            -1, .degree = 3, .whole = false},
                               (sample){kind, 32, 32, 0, 0.1, &unit_box}, 2, 3.8);
  assert_true(good);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(cubics_are_exact), cmocka_unit_test(orders)};
  return cmocka_run_group_tests(tests, solver_start, solver_end);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
