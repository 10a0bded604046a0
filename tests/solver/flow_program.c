/* SPDX-License-Identifier: BSD-2-Clause */
/* The flow as programs against the hand-written kernels: residual, fluxes, tangent, coefficients, blocks of
 * the compact Jacobian, what stands on boundaries. */
#include "solver/flow_program.h"
#include "bench/flow-programs/by_hand.h"
#include "solver/state.h"

typedef struct {
  setup s;
} pair;

static pair begin(const sample *of, double central, double kappa, double wall_order) {
  pair t = {.s = set_up(MPI_COMM_WORLD, of, central, kappa, wall_order)};
  flow *f = t.s.f;
  for (int64_t c = 0; c < f->n; c++) f->diagonal[c] = 0.1 + 0.01 * noise(c, 1);
  return t;
}

static void end(pair *t) { tear_down(&t->s); }

/* Largest difference, relative to the largest number, over all ranks. */
static double difference(int64_t n, const double *a, const double *b) {
  double largest[2] = {0, 0};
  for (int64_t i = 0; i < n; i++) {
    largest[0] = fmax(largest[0], isfinite(a[i]) ? fabs(a[i] - b[i]) : INFINITY);
    largest[1] = fmax(largest[1], fabs(b[i]));
  }
  MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  assert_true(largest[1] > 0);
  return largest[0] / largest[1];
}

static void same(const char *what, const sample *s, int64_t n, const double *found, const double *expected) {
  const double error = difference(n, found, expected);
  if (!(error <= 1e-13)) print_error("%s: %s off by %g\n", kind_names[s->kind], what, error);
  assert_true(error <= 1e-13);
}

static double *copy_of(int64_t n, const double *a) {
  double *copy = NULL;
  assert_ok(pcsim_alloc((size_t)n, sizeof *copy, &copy));
  memcpy(copy, a, (size_t)n * sizeof *copy);
  return copy;
}

/* Residual, tangent and coefficients of one setting. */
static void check_products(const sample *s, double central, double kappa, double wall_order) {
  pair t = begin(s, central, kappa, wall_order);
  flow *f = t.s.f;
  const flow_kernels *hand = flow_by_hand(f), *programs = &flow_program_kernels;
  const int d = f->dim;
  assert_ok(hand->residual(f, t.s.plus));
  double *mass = copy_of(f->ni + f->nb, f->mass), *velocity = copy_of(f->ni * d, f->face_velocity);
  memset(f->mass, 0, (size_t)(f->ni + f->nb) * sizeof(double));
  memset(f->face_velocity, 0, (size_t)(f->ni * d) * sizeof(double));
  assert_ok(programs->residual(f, t.s.minus));
  same("residual", s, t.s.size, t.s.minus, t.s.plus);
  same("volume fluxes", s, f->ni + f->nb, f->mass, mass);
  same("face velocities", s, f->ni * d, f->face_velocity, velocity);
  assert_ok(flow_tangent(f, t.s.v, t.s.minus)); /* leaves the direction and its gradients, ghosts filled */
  assert_ok(hand->tangent(f, f->v, f->v_grad, t.s.plus));
  assert_ok(programs->tangent(f, f->v, f->v_grad, t.s.minus));
  same("tangent", s, t.s.size, t.s.minus, t.s.plus);
  assert_ok(hand->coefficients(f));
  double *tau = copy_of(f->n, f->tau), *pace = copy_of(f->n, f->a_p);
  memset(f->tau, 0, (size_t)f->nt * sizeof(double));
  assert_ok(programs->coefficients(f));
  same("coefficients", s, f->n, f->tau, tau);
  same("pace", s, f->n, f->a_p, pace);
  pcsim_free(&mass), pcsim_free(&velocity), pcsim_free(&tau), pcsim_free(&pace);
  end(&t);
}

static void products(void **state) {
  (void)state;
  for (int kind = 0; kind < NUM_LATTICES; kind++) {
    const sample s = small(kind);
    check_products(&s, 1, 1, 1);
    check_products(&s, 0.3, 0.7, 0.4);
    check_products(&s, 0, 0, 0);
  }
}

/* ------------------------------------------------------------------- blocks */

typedef struct {
  flow *f;
  double *value; /* [4 ni + nb][m*m] */
  int64_t num;
} blocks;

static void keep_block(void *context, int32_t row, int32_t column, int64_t slot, const double *block) {
  blocks *b = context;
  const int m = b->f->dim + 1;
  (void)row, (void)column;
  b->num++;
  memcpy(b->value + slot * m * m, block, (size_t)(m * m) * sizeof *block);
}

static void check_blocks(const sample *s) {
  pair t = begin(s, 0.6, 1, 1);
  flow *f = t.s.f;
  const int m = f->dim + 1;
  const int64_t size = (4 * f->ni + f->nb) * m * m;
  blocks expected = {.f = f}, found = {.f = f};
  assert_ok(pcsim_alloc((size_t)size, sizeof(double), &expected.value));
  assert_ok(pcsim_alloc((size_t)size, sizeof(double), &found.value));
  assert_ok(flow_by_hand(f)->jacobian(f, &expected, keep_block));
  assert_ok(flow_program_kernels.residual(f, t.s.y)); /* stores the volume fluxes of the groups */
  assert_ok(flow_program_kernels.jacobian(f, &found, keep_block));
  same("blocks", s, size, found.value, expected.value);
  assert_int_equal(found.num, expected.num);
  pcsim_free(&expected.value), pcsim_free(&found.value);
  end(&t);
}

static void compact(void **state) {
  (void)state;
  for (int kind = 0; kind < NUM_LATTICES; kind++) {
    const sample s = small(kind);
    check_blocks(&s);
  }
}

/* --------------------------------------------------------------- boundaries */

static void check_surface(const sample *s) {
  pair t = begin(s, 1, 1, 1);
  flow *f = t.s.f;
  const int d = f->dim, m = d + 1;
  double *value = NULL, *friction = NULL, *flow_rate = NULL, *of[3];
  assert_ok(pcsim_alloc((size_t)(f->nb * m), sizeof(double), &value));
  assert_ok(pcsim_alloc((size_t)(f->nb * d), sizeof(double), &friction));
  assert_ok(pcsim_alloc((size_t)f->nb, sizeof(double), &flow_rate));
  assert_ok(flow_by_hand(f)->boundary(f, value, friction, flow_rate));
  of[0] = copy_of(f->nb * m, value), of[1] = copy_of(f->nb * d, friction), of[2] = copy_of(f->nb, flow_rate);
  for (int i = 0; i < 3; i++)
    memset(of[i], 0, (size_t)(f->nb * (i == 0 ? m : i == 1 ? d : 1)) * sizeof(double));
  assert_ok(flow_program_kernels.boundary(f, of[0], of[1], of[2]));
  same("boundary values", s, f->nb * m, of[0], value);
  same("friction", s, f->nb * d, of[1], friction);
  same("flow through boundaries", s, f->nb, of[2], flow_rate);
  for (int i = 0; i < 3; i++) pcsim_free(&of[i]);
  pcsim_free(&value), pcsim_free(&friction), pcsim_free(&flow_rate);
  end(&t);
}

static void surface(void **state) {
  (void)state;
  for (int kind = 0; kind < NUM_LATTICES; kind++) {
    const sample s = small(kind);
    check_surface(&s);
  }
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(products), cmocka_unit_test(compact),
                                     cmocka_unit_test(surface)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
