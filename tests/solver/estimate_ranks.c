/* SPDX-License-Identifier: BSD-2-Clause */
/* Estimated errors on any number of ranks, in space, of vectors and next to interfaces; carrying to parts of
 * cells; what is refused. */
#include "solver/estimates.h"
#include "solver/prolong.h"

/* ------------------------------------------------------------------- carrying */

typedef struct {
  pcsim_raw_mesh *raw, *fine_raw;
  pcsim_mesh *mesh, *fine;
} pair;

static pair make_pair(lattice_kind kind, int n) {
  const sample s = {kind, n, n, n, 0.1, &unit_box};
  pair p = {0};
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) p.raw = sample_raw(&s);
  if (rank == 0) assert_ok(pcsim_raw_mesh_refine(p.raw, &p.fine_raw));
  assert_ok(pcsim_mesh_create(MPI_COMM_WORLD, p.raw, &p.mesh));
  assert_ok(pcsim_mesh_create(MPI_COMM_WORLD, p.fine_raw, &p.fine));
  return p;
}

static void end_pair(pair *p) {
  pcsim_mesh_destroy(&p->mesh), pcsim_mesh_destroy(&p->fine);
  pcsim_raw_mesh_destroy(&p->raw), pcsim_raw_mesh_destroy(&p->fine_raw);
}

static void quadratic(const double *x, double *value) {
  value[0] = 1 + 2 * x[0] - x[1] + 3 * x[0] * x[0] - x[0] * x[1] + 0.5 * x[1] * x[1] + x[1] * x[2] - x[2];
  value[1] = 4 - x[2] * x[2] + x[0];
}

static void quadratics_are_exact(void **state) {
  (void)state;
  for (int kind = 0; kind < NUM_LATTICES; kind++) {
    pair p = make_pair((lattice_kind)kind, kind < LATTICE_HEXA ? 6 : 4);
    const pcsim_mesh_view *v = pcsim_mesh_get(p.mesh), *f = pcsim_mesh_get(p.fine);
    double *from = NULL, *to = NULL, *back = NULL, expected[2], total[2] = {0, 0};
    prolongation *carry = NULL;
    assert_ok(pcsim_alloc(2 * (size_t)(v->num_cells + v->num_ghosts), sizeof *from, &from));
    assert_ok(pcsim_alloc(2 * (size_t)f->num_cells, sizeof *to, &to));
    assert_ok(pcsim_alloc((size_t)v->num_cells, sizeof *back, &back));
    for (int64_t c = 0; c < v->num_cells; c++) quadratic(v->cell_centre + 3 * c, from + 2 * c);
    assert_ok(prolong_create(p.mesh, p.fine, NULL, &carry));
    assert_ok(prolong_apply(carry, 2, from, to));
    for (int64_t c = 0; c < f->num_cells; c++) {
      quadratic(f->cell_centre + 3 * c, expected);
      for (int i = 0; i < 2; i++) assert_close(to[2 * c + i], expected[i], 1e-10);
    }
    assert_ok(prolong_sum(carry, 1, f->cell_volume, back));
    for (int64_t c = 0; c < v->num_cells; c++) total[0] += back[c], total[1] += v->cell_volume[c];
    assert_close(total[0], total[1], 0.02 * total[1]); /* warped faces: not the same to the last bit */
    prolong_destroy(&carry);
    pcsim_free(&from), pcsim_free(&to), pcsim_free(&back);
    end_pair(&p);
  }
}

/* ---------------------------------------------------------------------- ranks */

#define EXACT_SPACE "1 + sin(2*x+1)*cos(1.5*y) + 0.3*x*z"
static const char space[] = "physics: {unknowns: [u], equations: [\"-lap(u) + lap(" EXACT_SPACE ")\"]}\n"
                            "boundaries: {\"*\": {u: \"" EXACT_SPACE "\"}}\n";
static const char plane[] =
    "physics: {unknowns: [u], equations: [\"-div((1 + u^2)*grad(u)) + u - x*exp(y)\"]}\n"
    "boundaries: {x-min: {u: \"sin(y)\"}, x-max: {flux: {u: \"2*(u - 1)\"}}, \"*\": {symmetry: true}}\n";

static void check_close(const char *what, double a, double b, double scale) {
  if (!(fabs(a - b) <= 1e-8 * scale)) print_error("%s: %.15g, on one rank %.15g\n", what, a, b);
  assert_true(fabs(a - b) <= 1e-8 * scale);
}

static void any_ranks(void **state) {
  (void)state;
  const struct {
    estimate_law law;
    sample s;
  } of[] = {
      {{"plane", plane, "u^2", 0}, {LATTICE_MIXED_2D, 10, 8, 0, 0.1, &unit_box}},
      {{"flux", plane, NULL, 0}, {LATTICE_TRIANGLE, 8, 8, 0, 0.1, &unit_box}},
      {{"space", space, "u^2", 0}, {LATTICE_MIXED_3D, 5, 5, 5, 0.05, &unit_box}},
  };
  for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
    const estimate_result all = estimate_on(MPI_COMM_WORLD, &of[k].law, &of[k].s),
                          one = estimate_on(MPI_COMM_SELF, &of[k].law, &of[k].s);
    check_close(of[k].law.what, all.value, one.value, fabs(one.value));
    check_close(of[k].law.what, all.estimated, one.estimated, fabs(one.value));
    check_close(of[k].law.what, all.indicated, one.indicated, fabs(one.value));
  }
}

/* ------------------------------------------------------------------ indicator */

/* A narrow source on an even mesh: its surroundings have the error. */
static void indicator_finds_it(void **state) {
  (void)state;
  const estimate_law law = {
      "narrow source",
      "physics: {unknowns: [u], equations: [\"-lap(u) - exp(-400*((x-0.7)^2 + (y-0.3)^2))\"]}\n"
      "boundaries: {\"*\": {u: 0}}\n",
      "u", 0};
  const sample s = {LATTICE_TRIANGLE, 16, 16, 0, 0.1, &unit_box};
  const estimate_result r = estimate_on(MPI_COMM_WORLD, &law, &s);
  assert_close(r.middle[0], 0.7, 0.1);
  assert_close(r.middle[1], 0.3, 0.1);
}

/* A refined mesh of another one is refused. */
static void refusals(void **state) {
  (void)state;
  pair p = make_pair(LATTICE_MIXED_2D, 4), other = make_pair(LATTICE_QUAD, 5);
  prolongation *carry = NULL;
  assert_int_equal(prolong_create(p.mesh, other.fine, NULL, &carry), PCSIM_ERR_ARG);
  assert_null(carry);
  pcsim_error_clear();
  end_pair(&p), end_pair(&other);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(quadratics_are_exact), cmocka_unit_test(any_ranks),
                                     cmocka_unit_test(indicator_finds_it), cmocka_unit_test(refusals)};
  return cmocka_run_group_tests(tests, solver_start, solver_end);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
