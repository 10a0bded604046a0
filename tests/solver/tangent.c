/* SPDX-License-Identifier: BSD-2-Clause */
/* Derivatives of the discrete flow: the tangent against differences of the residual, the compact Jacobian
 * against the tangent without gradients; what the residual must leave at rest; the same on every rank
 * count. */
#include "solver/state.h"

static void residual_at(setup *t, double step, double *r) {
  for (int64_t i = 0; i < t->size; i++) t->f->q[i] = t->q0[i] + step * t->v[i];
  assert_ok(flow_residual(t->f, r));
}

/* Both signs of the flux must occur at every outlet for the switches to be tried. */
static void check_backflow(const flow *f) {
  int64_t count[2][2] = {{0}};
  for (int64_t k = 0; k < f->nb; k++)
    if (f->wall_kind[k] == PCSIM_FLOW_PRESSURE || f->wall_kind[k] == PCSIM_FLOW_TOTAL_PRESSURE)
      count[f->wall_kind[k] == PCSIM_FLOW_PRESSURE][f->mass[f->ni + k] < 0]++;
  MPI_Allreduce(MPI_IN_PLACE, count, 4, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 4; i++) assert_true(count[i / 2][i % 2] > 0);
}

/* The residual is quadratic between the switches of upwinding: differences are nearly exact. */
static void check_tangent(const sample *s, double central, double kappa) {
  setup t = set_up(MPI_COMM_WORLD, s, central, kappa, 1);
  check_backflow(t.f);
  const double step = 1e-6;
  residual_at(&t, step, t.plus);
  residual_at(&t, -step, t.minus);
  residual_at(&t, 0, t.y);
  assert_ok(flow_tangent(t.f, t.v, t.y));
  for (int64_t i = 0; i < t.size; i++) t.plus[i] = (t.plus[i] - t.minus[i]) / (2 * step);
  const double size = norm2(t.size, t.plus);
  for (int64_t i = 0; i < t.size; i++) t.minus[i] = t.plus[i] - t.y[i];
  const double error = norm2(t.size, t.minus) / size;
  if (!(error < 1e-8))
    print_error("%s, central %g: tangent off by %g\n", kind_names[s->kind], central, error);
  assert_close(error, 0, 1e-8);
  /* the pseudo-time term stands on momentum alone */
  for (int64_t c = 0; c < t.f->n; c++) t.f->diagonal[c] = 1 + (double)c;
  assert_ok(flow_tangent(t.f, t.v, t.plus));
  const int m = t.f->dim + 1;
  for (int64_t i = 0; i < t.size; i++)
    assert_close(t.plus[i] - t.y[i], i % m < m - 1 ? (1 + (double)(i / m)) * t.v[i] : 0,
                 1e-12 * (double)t.size);
  tear_down(&t);
}

static void tangents(void **state) {
  (void)state;
  for (int kind = 0; kind < NUM_LATTICES; kind++) {
    const sample s = small(kind);
    check_tangent(&s, 1, 1);
    check_tangent(&s, 0.3, 1);
    check_tangent(&s, 0.3, 0);
  }
}

/* ------------------------------------------------------ compact Jacobian */

typedef struct {
  const double *v;
  double *y;
  int m;
  int64_t n, blocks;
} product;

static void add_product(void *context, int32_t row, int32_t column, int64_t slot, const double *block) {
  product *p = context;
  (void)slot;
  assert_true(row >= 0 && column >= 0);
  if (row >= p->n) return; /* of another rank */
  for (int i = 0; i < p->m; i++)
    for (int j = 0; j < p->m; j++)
      p->y[(int64_t)row * p->m + i] += block[i * p->m + j] * p->v[(int64_t)column * p->m + j];
  p->blocks++;
}

/* With upwind convection, linear interpolation and two points at walls the compact Jacobian is the tangent
 * whose gradients are zero. */
static void jacobian(void **state) {
  (void)state;
  for (int kind = 0; kind < NUM_LATTICES; kind++) {
    const sample s = small(kind);
    setup t = set_up(MPI_COMM_WORLD, &s, 0, 0, 0);
    flow *f = t.f;
    const int m = f->dim + 1;
    assert_ok(pcsim_mesh_exchange(t.c.mesh, m, t.v));
    memset(f->v_grad, 0, (size_t)(f->nt * m * f->dim) * sizeof(double));
    assert_ok(f->kernels->tangent(f, t.v, f->v_grad, t.y));
    memset(t.plus, 0, (size_t)t.size * sizeof(double));
    product p = {.v = t.v, .y = t.plus, .m = m, .n = f->n};
    assert_ok(f->kernels->jacobian(f, &p, add_product));
    const double size = norm2(t.size, t.y);
    for (int64_t i = 0; i < t.size; i++) t.minus[i] = t.plus[i] - t.y[i];
    assert_true(p.blocks >= f->ni + f->nb);
    assert_close(norm2(t.size, t.minus) / size, 0, 1e-13);
    tear_down(&t);
  }
}

/* Rhie and Chow's coefficients from the definition: factor V over the sum of |m|/2 + nu |S|^2/(S.d) of the
 * cell's faces; no viscous part where a pressure is given. */
static void coefficients(void **state) {
  (void)state;
  for (int kind = 0; kind < NUM_LATTICES; kind++) {
    const sample s = small(kind);
    setup t = set_up(MPI_COMM_WORLD, &s, 1, 1, 1);
    flow *f = t.f;
    const pcsim_mesh_view *v = f->view;
    double *sum = NULL;
    assert_ok(pcsim_alloc((size_t)f->nt, sizeof *sum, &sum));
    assert_ok(flow_update_coefficients(f));
    for (int64_t k = 0; k < v->num_faces; k++)
      for (int side = 0; side < (k < f->ni ? 2 : 1); side++) {
        const double *S = v->face_area + 3 * k, *xp = v->cell_centre + 3 * (int64_t)v->owner[k];
        const double *xn = k < f->ni ? v->cell_centre + 3 * (int64_t)v->neighbour[k] : v->face_centre + 3 * k;
        double s2 = 0, sd = 0;
        for (int i = 0; i < 3; i++) s2 += S[i] * S[i], sd += S[i] * (xn[i] - xp[i]);
        const bool given = k >= f->ni && f->wall_kind[k - f->ni] == PCSIM_FLOW_PRESSURE;
        sum[side ? v->neighbour[k] : v->owner[k]] += 0.5 * fabs(f->mass[k]) + (given ? 0 : f->nu * s2 / sd);
      }
    for (int64_t c = 0; c < f->n; c++) {
      assert_close(f->a_p[c], sum[c], 1e-12 * sum[c]);
      sum[c] = t.c.options.rhie_chow * v->cell_volume[c] / sum[c];
    }
    assert_ok(pcsim_mesh_exchange(t.c.mesh, 1, sum));
    for (int64_t c = 0; c < f->nt; c++) assert_close(f->tau[c], sum[c], 1e-12 * sum[c]);
    pcsim_free(&sum);
    tear_down(&t);
  }
}

/* ---------------------------------------------- what leaves no residual */

static double residual_of(sample_case *c, double *reference) {
  flow *f = NULL;
  double *r = NULL, flux = 0;
  assert_ok(flow_create(c->mesh, c->problem, &c->options, &f));
  const int64_t size = f->n * (f->dim + 1);
  assert_ok(pcsim_alloc((size_t)size, sizeof *r, &r));
  assert_ok(flow_residual(f, r));
  assert_ok(flow_update_coefficients(f));
  assert_ok(flow_residual(f, r));
  const double norm = norm2(size, r);
  for (int64_t k = 0; k < f->ni + f->nb; k++) flux = fmax(flux, fabs(f->mass[k]));
  *reference = flux;
  pcsim_free(&r);
  flow_destroy(&f);
  return norm;
}

/* A uniform flow on distorted cells; a hydrostatic pressure under a force. */
static void at_rest(void **state) {
  (void)state;
  for (int kind = 0; kind < NUM_LATTICES; kind++) {
    const sample s = small(kind);
    const bool flat = kind < LATTICE_HEXA;
    double flux = 0;
    sample_case c = case_of(sample_mesh(MPI_COMM_WORLD, &s),
                            flat ? "physics: {model: navier-stokes, density: 2, viscosity: 0.1}\n"
                                   "boundaries: {\"y-*\": {velocity: [2, 1]}, x-min: {velocity: [2, 1]}, "
                                   "x-max: {pressure: 3}}\n"
                                   "initial: {velocity: [2, 1], pressure: 3}\n"
                                 : "physics: {model: navier-stokes, density: 2, viscosity: 0.1}\n"
                                   "boundaries: {\"*\": {velocity: [2, 1, -1]}, x-max: {pressure: 3}}\n"
                                   "initial: {velocity: [2, 1, -1], pressure: 3}\n");
    assert_close(residual_of(&c, &flux), 0, 1e-12);
    assert_true(flux > 0.01);
    case_free(&c);
    sample plane = s; /* one value a face balances a linear pressure only if the face is plane */
    if (!flat && kind != LATTICE_TETRA) plane.jitter = 0;
    c = case_of(sample_mesh(MPI_COMM_WORLD, &plane),
                flat ? "physics: {model: navier-stokes, density: 2, viscosity: 0.1, force: [5, -7]}\n"
                       "boundaries: {\"*\": {wall: no-slip}, x-max: {pressure: \"1+5*x-7*y\"}}\n"
                       "initial: {velocity: [0, 0], pressure: \"1+5*x-7*y\"}\n"
                     : "physics: {model: navier-stokes, density: 2, viscosity: 0.1, force: [5, -7, 2]}\n"
                       "boundaries: {\"*\": {wall: no-slip}, x-max: {pressure: \"1+5*x-7*y+2*z\"}}\n"
                       "initial: {velocity: [0, 0, 0], pressure: \"1+5*x-7*y+2*z\"}\n");
    assert_close(residual_of(&c, &flux), 0, 1e-12);
    assert_true(flux < 1e-12); /* Rhie and Chow's term does not see a linear pressure */
    case_free(&c);
  }
}

/* A pressure that nothing fixes: its level drops out, and no rate of mass is made. */
static void free_pressure(void **state) {
  (void)state;
  for (int kind = 0; kind < NUM_LATTICES; kind++) {
    const sample s = small(kind);
    const bool flat = kind < LATTICE_HEXA;
    sample_case c = case_of(sample_mesh(MPI_COMM_WORLD, &s),
                            flat ? "physics: {model: navier-stokes, density: 1, viscosity: 0.1}\n"
                                   "boundaries: {\"*\": {wall: no-slip}, y-max: {wall: slip}}\n"
                                 : "physics: {model: navier-stokes, density: 1, viscosity: 0.1}\n"
                                   "boundaries: {\"*\": {wall: no-slip}, z-max: {wall: slip}}\n");
    assert_true(pcsim_flow_problem_get(c.problem)->pressure_free);
    flow *f = NULL;
    assert_ok(flow_create(c.mesh, c.problem, &c.options, &f));
    const int m = f->dim + 1;
    double *v = NULL, *y = NULL, sum = 0, size = 0;
    assert_ok(pcsim_alloc((size_t)(f->n * m), sizeof *v, &v));
    assert_ok(pcsim_alloc((size_t)(f->n * m), sizeof *y, &y));
    random_vector(f, 0, f->q);
    assert_ok(flow_residual(f, y));
    assert_ok(flow_update_coefficients(f));
    assert_ok(flow_residual(f, y));
    for (int64_t i = 0; i < f->n; i++) sum += y[i * m + m - 1], size += fabs(y[i * m + m - 1]);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    assert_close(sum, 0, 1e-12);
    assert_true(size > 1e-3);
    for (int64_t i = 0; i < f->n; i++) v[i * m + m - 1] = 1;
    assert_ok(flow_tangent(f, v, y));
    assert_close(norm2(f->n * m, y), 0, 1e-12);
    pcsim_free(&v), pcsim_free(&y);
    flow_destroy(&f);
    case_free(&c);
  }
}

/* --------------------------------------------------------- rank counts */

/* Residual and tangent gathered in the order of the raw mesh, against those of one rank. */
static void one_answer(void **state) {
  (void)state;
  for (int kind = 0; kind < NUM_LATTICES; kind++) {
    const sample s = small(kind);
    setup alone = set_up(MPI_COMM_SELF, &s, 0.5, 1, 1), all = set_up(MPI_COMM_WORLD, &s, 0.5, 1, 1);
    const int m = alone.f->dim + 1;
    double *expected = NULL, *found = NULL;
    const size_t size = (size_t)(alone.f->n * m);
    assert_ok(pcsim_alloc(size, sizeof(double), &expected));
    assert_ok(pcsim_alloc(size, sizeof(double), &found));
    for (int tangent = 0; tangent < 2; tangent++) {
      if (tangent) {
        assert_ok(flow_tangent(alone.f, alone.v, alone.y));
        assert_ok(flow_tangent(all.f, all.v, all.y));
      }
      assert_ok(pcsim_mesh_gather(alone.c.mesh, m, alone.y, expected));
      assert_ok(pcsim_mesh_gather(all.c.mesh, m, all.y, found));
      int rank;
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      for (size_t i = 0; i < size && rank == 0; i++) assert_close(found[i], expected[i], 1e-12);
    }
    pcsim_free(&expected), pcsim_free(&found);
    tear_down(&alone);
    tear_down(&all);
  }
}

/* Cells whose neighbours lie on one line are refused by name, on every rank. */
static void degenerate(void **state) {
  (void)state;
  const sample s = {LATTICE_QUAD, 8, 1, 0, 0, &unit_box};
  sample_case c =
      case_of(sample_mesh(MPI_COMM_WORLD, &s),
              "physics: {model: navier-stokes, density: 1, viscosity: 0.1}\n"
              "boundaries: {x-min: {velocity: [1, 0]}, x-max: {pressure: 0}, \"y*\": {wall: slip}}\n");
  const size_t before = pcsim_memory_used();
  flow *f = NULL;
  assert_status(flow_create(c.mesh, c.problem, &c.options, &f), PCSIM_ERR_MESH);
  assert_null(f);
  assert_non_null(strstr(pcsim_error_message(), "cell "));
  assert_non_null(strstr(pcsim_error_message(), "refine the mesh there"));
  assert_int_equal(pcsim_memory_used(), before);
  case_free(&c);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tangents),      cmocka_unit_test(jacobian),
                                     cmocka_unit_test(coefficients),  cmocka_unit_test(at_rest),
                                     cmocka_unit_test(free_pressure), cmocka_unit_test(one_answer),
                                     cmocka_unit_test(degenerate)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
