/* SPDX-License-Identifier: BSD-2-Clause */
/* Periodic boundaries in the solver: gradients that are as good at an end of the box as inside, orders of a
 * typed law without any other boundary, flows that a force drives, any number of ranks. */
#include "solver/gradient.h"
#include "solver/laws.h"

static const double TWO_PI = 6.28318530717958647692;

/* A box without boundaries along its first `axes` edges; its inner nodes are moved, those of the ends not. */
static pcsim_mesh *torus(MPI_Comm comm, const sample *s, int axes) {
  const lattice shape = {s->kind, s->nx, s->ny, s->nz, s->jitter, true};
  const int n[3] = {s->nx, s->ny, s->nz};
  sample still = *s;
  pcsim_raw_mesh *raw = lattice_make(&shape);
  pcsim_mesh *mesh = NULL;
  int rank;
  MPI_Comm_rank(comm, &rank);
  still.jitter = 0;
  sample_patches(raw, n);
  sample_move(raw, &still, n);
  raw->num_periodic = axes;
  assert_ok(pcsim_alloc((size_t)axes, 2 * sizeof *raw->periodic, &raw->periodic));
  for (int i = 0; i < 2 * axes; i++) raw->periodic[i] = i;
  assert_ok(pcsim_mesh_create(comm, rank == 0 ? raw : NULL, &mesh));
  pcsim_raw_mesh_destroy(&raw);
  return mesh;
}

/* -------------------------------------------------------------- gradients */

/* sin of a wave that fits into the turned box: k . x with the rows of the inverse of its edges. */
static void wave(const placement *p, int dim, double k[3]) {
  const double(*f)[3] = p->frame;
  k[0] = k[1] = k[2] = 0;
  if (dim == 2) {
    const double d = f[0][0] * f[1][1] - f[0][1] * f[1][0];
    const double inverse[2][2] = {{f[1][1] / d, -f[0][1] / d}, {-f[1][0] / d, f[0][0] / d}};
    for (int i = 0; i < 2; i++) k[i] = TWO_PI * (inverse[0][i] + inverse[1][i]);
    return;
  }
  double d = 0, inverse[3][3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      inverse[j][i] = f[(i + 1) % 3][(j + 1) % 3] * f[(i + 2) % 3][(j + 2) % 3] -
                      f[(i + 1) % 3][(j + 2) % 3] * f[(i + 2) % 3][(j + 1) % 3];
  for (int i = 0; i < 3; i++) d += f[0][i] * inverse[i][0];
  for (int i = 0; i < 3; i++)
    for (int a = 0; a < 3; a++) k[i] += TWO_PI * inverse[a][i] / d;
}

/* Largest error of gradients of the wave, in cells with an image around and in others, over all ranks. */
static void gradient_errors(const sample *s, double error[2]) {
  pcsim_mesh *mesh = torus(MPI_COMM_WORLD, s, sample_dim(s));
  const pcsim_mesh_view *v = pcsim_mesh_get(mesh);
  const int dim = v->dim, class_of[1] = {0};
  const size_t nt = (size_t)(v->num_cells + v->num_ghosts);
  gradient_maps maps;
  double *q = NULL, *grad = NULL, *node = NULL, k[3];
  wave(s->place, dim, k);
  assert_ok(pcsim_alloc(nt, sizeof *q, &q));
  assert_ok(pcsim_alloc(nt, (size_t)dim * sizeof *grad, &grad));
  assert_ok(pcsim_alloc((size_t)v->num_nodes, sizeof *node, &node));
  assert_ok(gradient_create(&(gradient_request){mesh, 1, NULL, NULL, NULL, NULL, 1}, &maps));
  assert_int_equal(v->num_faces, v->num_interior_faces);
  for (int64_t c = 0; c < v->num_cells; c++) {
    const double *x = v->cell_centre + 3 * c;
    q[c] = sin(k[0] * x[0] + k[1] * x[1] + k[2] * x[2]);
  }
  assert_ok(pcsim_mesh_exchange(mesh, 1, q));
  gradient_apply(&maps, &(gradient_data){1, class_of, NULL, NULL, node}, q, grad);
  error[0] = error[1] = 0;
  for (int64_t c = 0; c < v->num_cells; c++) {
    const double *x = v->cell_centre + 3 * c, slope = cos(k[0] * x[0] + k[1] * x[1] + k[2] * x[2]);
    bool end = false;
    for (int64_t j = v->near_start[c]; j < v->near_start[c + 1]; j++)
      if (v->near[j] >= v->num_cells)
        for (int d = 0; d < 3; d++) end |= v->ghost_shift[3 * (v->near[j] - v->num_cells) + d] != 0;
    for (int d = 0; d < dim; d++)
      error[!end] = fmax(error[!end], fabs(grad[c * dim + d] - slope * k[d]) / TWO_PI);
  }
  MPI_Allreduce(MPI_IN_PLACE, error, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  gradient_destroy(&maps);
  pcsim_free(&q), pcsim_free(&grad), pcsim_free(&node);
  pcsim_mesh_destroy(&mesh);
}

static void gradients_at_the_ends(void **state) {
  (void)state;
  const lattice_kind kind[] = {LATTICE_QUAD, LATTICE_TRIANGLE, LATTICE_HEXA, LATTICE_TETRA, LATTICE_PRISM};
  for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
    const bool plane = kind[i] < LATTICE_HEXA;
    double coarse[2], fine[2];
    const int n = plane ? 20 : 10;
    gradient_errors(&(sample){kind[i], n, n, n, 0, plane ? &askew_2d : &askew_3d}, coarse);
    gradient_errors(&(sample){kind[i], 2 * n, 2 * n, 2 * n, 0, plane ? &askew_2d : &askew_3d}, fine);
    const double order = log2(coarse[0] / fine[0]);
    const bool grid = kind[i] == LATTICE_QUAD || kind[i] == LATTICE_HEXA;
    if (!(fine[0] <= 1.02 * fine[1] && order > (grid ? 1.9 : 0.7)))
      print_error("%s: %.3e at the ends, %.3e inside, order %.2f\n", kind_names[kind[i]], fine[0], fine[1],
                  order);
    assert_true(fine[0] <= 1.02 * fine[1] && order > (grid ? 1.9 : 0.7));
  }
}

/* -------------------------------------------------------------- typed laws */

static void plane_wave(const double *x, double *value) {
  value[0] = sin(TWO_PI * (x[0] + x[1]));
  value[1] = cos(TWO_PI * x[0]);
}

/* Two laws, convection and diffusion, nothing but periods around. */
/* Of both places for text the first is a third component, the second a condition at the ends of z. */
#define LAW                                                                                                  \
  "parameters: {w: 2*pi}\n"                                                                                  \
  "physics:\n  unknowns: [u, v]\n  equations:\n"                                                             \
  "    - u + div(u, 0.5*u%s) - 0.05*lap(u) + v - (1 + 0.1*w^2)*sin(w*(x + y)) - "                            \
  "1.5*w*cos(w*(x + y)) - cos(w*x)\n"                                                                        \
  "    - v - 0.1*lap(v) - (1 + 0.1*w^2)*cos(w*x)\n"                                                          \
  "boundaries: {x-min: {periodic: x-max}, y-min: {periodic: y-max}%s}\n"

static double law_error_on(MPI_Comm comm, const sample *s) {
  char text[800];
  pcsim_solve_result result;
  const bool space = sample_dim(s) == 3;
  snprintf(text, sizeof text, LAW, space ? ", 0" : "", space ? ", \"z*\": {symmetry: true}" : "");
  law_run r = law_begin(torus(comm, s, 2), text);
  r.options.tolerance = 1e-12;
  law_solve(&r, &result);
  const double error = law_error(&r, plane_wave);
  law_end(&r);
  return error;
}

static void orders_of_a_law(void **state) {
  (void)state;
  const lattice_kind kind[] = {LATTICE_QUAD, LATTICE_TRIANGLE, LATTICE_MIXED_2D, LATTICE_PRISM};
  for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
    const int n = kind[i] == LATTICE_PRISM ? 8 : 16;
    const double coarse = law_error_on(MPI_COMM_WORLD, &(sample){kind[i], n, n, 3, 0.1, &unit_box});
    const sample s = {kind[i], 2 * n, 2 * n, 3, 0.1, &unit_box};
    const double fine = law_error_on(MPI_COMM_WORLD, &s), order = log2(coarse / fine);
    if (!(order >= 1.8 && fine < 0.05))
      print_error("%s: %.3e, %.3e, order %.2f\n", kind_names[kind[i]], coarse, fine, order);
    assert_true(order >= 1.8 && fine < 0.05);
    assert_close(fine, law_error_on(MPI_COMM_SELF, &s), 1e-8 * fine);
  }
}

/* --------------------------------------------------------------------- flow */

/* Flow between plates that a force drives: exact on a column of single cells, its own neighbours. */
static void flow_driven_by_a_force(void **state) {
  (void)state;
  sample_case c = case_of(torus(MPI_COMM_WORLD, &(sample){LATTICE_QUAD, 1, 16, 0, 0, &unit_box}, 1),
                          "physics: {model: navier-stokes, density: 1, viscosity: 0.1, force: [1, 0]}\n"
                          "boundaries: {x-min: {periodic: x-max}, \"y*\": {wall: no-slip}}\n");
  const pcsim_mesh_view *v = pcsim_mesh_get(c.mesh);
  pcsim_flow_solver *solver = NULL;
  pcsim_solve_result result;
  pcsim_flow_fields fields;
  assert_ok(pcsim_flow_solver_create(c.mesh, c.problem, &c.options, &solver));
  assert_ok(pcsim_flow_solver_run(solver, NULL, NULL, &result));
  assert_int_equal(result.outcome, PCSIM_OUTCOME_CONVERGED);
  assert_ok(pcsim_flow_solver_fields(solver, &fields));
  for (int64_t i = 0; i < v->num_cells; i++) {
    const double y = v->cell_centre[3 * i + 1];
    assert_close(fields.velocity[3 * i], 5 * y * (1 - y), 1e-8);
    assert_close(fields.velocity[3 * i + 1], 0, 1e-8);
  }
  pcsim_flow_solver_destroy(&solver);
  case_free(&c);
}

static int run(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gradients_at_the_ends),
      cmocka_unit_test(orders_of_a_law),
      cmocka_unit_test(flow_driven_by_a_force),
  };
  return cmocka_run_group_tests_name("periodic", tests, solver_start, solver_end);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
