/* SPDX-License-Identifier: BSD-2-Clause */
/* Values that a later pass computes again instead of reading them: which, and with which result; the
 * cotangent of a finite-volume sequence, in which everything that the planner does with maps meets. */
#include "autodiff/exec.h"
#include "exec_harness.h"

static pcsim_value binary(pcsim_program *p, pcsim_op op, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, op, a, b);
}
/** Is a value of the program that was given kept between passes? */
static bool is_kept(const plan *p, pcsim_value v) {
  for (int i = 0; i < p->num_stores; i++)
    if ((p->origin ? p->origin[p->store_node[i]] : p->store_node[i]) == v) return true;
  return false;
}

/** A program with the slopes of u: two rows. */
typedef struct {
  mesh_program m;
  pcsim_value u, slope;
} slope_program;

static slope_program begin_program(void) {
  slope_program s = {.m = new_mesh_program()};
  s.u = pcsim_build_input(s.m.p, "u", s.m.cells, 1);
  s.slope = pcsim_build_sparse(s.m.p, s.m.near, s.u);
  return s;
}

/** To faces and back: what is multiplied with it is wanted in a later pass over the cells. */
static pcsim_value around(const mesh_program *m, pcsim_value v) {
  return pcsim_build_scatter_add(m->p, m->owner, pcsim_build_gather(m->p, m->owner, v));
}

/** Cheap values of two rows that are kept anyway: none of them is kept. Passes and threads as ever. */
static void test_cheap(void **unused) {
  (void)unused;
  slope_program s = begin_program();
  mesh_program m = s.m;
  pcsim_program *p = m.p;
  pcsim_value v[4], sum = around(&m, s.slope);
  v[0] = mul(p, s.slope, s.slope);
  v[1] = add(p, v[0], s.u);
  v[2] = pcsim_build_concat(p, (pcsim_value[]){pcsim_build_slice(p, v[1], 1, 1), s.u}, 2);
  v[3] =
      pcsim_build_op(p, PCSIM_OP_WHERE, (pcsim_value[]){binary(p, PCSIM_OP_LT, v[2], v[0]), v[1], v[2]}, 3);
  pcsim_build_output(p, "first", mul(p, v[3], v[0]));
  for (int i = 0; i < 4; i++) sum = mul(p, sum, v[i]);
  pcsim_build_output(p, "sum", sum);
  pcsim_build_output(p, "norm", pcsim_build_sum(p, mul(p, sum, v[3])));
  pcsim_executor *x = NULL;
  assert_ok(pcsim_executor_create(p, NULL, &x));
  for (int i = 0; i < 4; i++) assert_false(is_kept(&x->plan, v[i]));
  assert_true(is_kept(&x->plan, s.slope));
  pcsim_executor_destroy(&x);
  check_all(p, (int64_t[]){1, 1});
  check_all(p, (int64_t[]){130, 300});
  check_all(p, (int64_t[]){0, 0});
  pcsim_program_destroy(&p);
}

/** `v` is used in the first pass over the cells and, beside what came around, in a later one. */
static void use_twice(const slope_program *s, const char *name, pcsim_value came, pcsim_value v) {
  char text[32];
  snprintf(text, sizeof text, "%s first", name);
  pcsim_build_output(s->m.p, text, mul(s->m.p, v, s->u));
  snprintf(text, sizeof text, "%s later", name);
  pcsim_build_output(s->m.p, text, mul(s->m.p, v, came));
}

/** A long chain costs more to make again than to read, though it has more rows than what it is made of. */
static void test_long_chain(void **unused) {
  (void)unused;
  static const int lengths[] = {1, 4, 30}; /* quotients count for several operations: four are too many */
  for (int i = 0; i < 3; i++) {
    const int length = lengths[i];
    slope_program s = begin_program();
    mesh_program m = s.m;
    pcsim_value chain = s.slope;
    for (int k = 0; k < length; k++) chain = binary(m.p, PCSIM_OP_DIV, s.slope, add(m.p, chain, s.u));
    use_twice(&s, "chain", around(&m, s.slope), chain);
    pcsim_executor *x = NULL;
    assert_ok(pcsim_executor_create(m.p, NULL, &x));
    assert_true(is_kept(&x->plan, chain) == (length > 1));
    pcsim_executor_destroy(&x);
    pcsim_program_destroy(&m.p);
  }
}

/** Three rows made of two that nobody else keeps: the two are kept. */
static void test_of_fewer(void **unused) {
  (void)unused;
  slope_program s = begin_program();
  mesh_program m = s.m;
  const pcsim_value both = pcsim_build_sparse(m.p, m.near, mul(m.p, s.u, s.u)), came = around(&m, s.slope);
  const pcsim_value a = pcsim_build_slice(m.p, both, 0, 1), b = pcsim_build_slice(m.p, both, 1, 1);
  const pcsim_value made[] = {mul(m.p, a, b), add(m.p, a, b), binary(m.p, PCSIM_OP_SUB, a, b)};
  for (int i = 0; i < 3; i++) use_twice(&s, (const char *[]){"a", "b", "c"}[i], came, made[i]);
  /* A record beside them, for which the program is written anew once more. */
  pcsim_build_output(m.p, "record 0", around(&m, add(m.p, s.u, s.u)));
  pcsim_build_output(m.p, "record 1", around(&m, mul(m.p, s.u, s.u)));
  pcsim_executor *x = NULL;
  assert_ok(pcsim_executor_create(m.p, NULL, &x));
  assert_true(is_kept(&x->plan, both));
  for (int i = 0; i < 3; i++) assert_false(is_kept(&x->plan, made[i]));
  pcsim_executor_destroy(&x);
  check_all(m.p, (int64_t[]){130, 300});
  pcsim_program_destroy(&m.p);
}

/** Beside a value that is computed again: a function, and a row that is made of more than it is. */
static void test_kept(void **unused) {
  (void)unused;
  slope_program s = begin_program();
  mesh_program m = s.m;
  pcsim_program *p = m.p;
  const pcsim_value function = pcsim_build_unary(p, PCSIM_OP_TANH, s.slope), cheap = mul(p, s.slope, s.slope);
  pcsim_value of_many = s.u;
  for (int i = 0; i < 6; i++) {
    char name[8];
    snprintf(name, sizeof name, "map%d", i);
    of_many =
        add(p, of_many, pcsim_build_sparse(p, pcsim_build_sparse_map(p, name, m.cells, m.cells, 1), s.u));
  }
  const pcsim_value came = around(&m, s.slope);
  use_twice(&s, "function", came, function);
  use_twice(&s, "cheap", came, cheap);
  use_twice(&s, "of many", came, of_many);
  pcsim_executor *x = NULL;
  assert_ok(pcsim_executor_create(p, NULL, &x));
  assert_true(is_kept(&x->plan, function));
  assert_false(is_kept(&x->plan, cheap));
  assert_true(is_kept(&x->plan, of_many));
  pcsim_executor_destroy(&x);
  pcsim_program_destroy(&p);
}

/** A limiter of two values at the middle of a face, as Venkatakrishnan's. */
static pcsim_value limit(pcsim_program *p, pcsim_value low, pcsim_value high, pcsim_value d) {
  const pcsim_value zero = pcsim_build_constant(p, 0), room = pcsim_build_constant(p, 0.1);
  const pcsim_value to =
      pcsim_build_op(p, PCSIM_OP_WHERE, (pcsim_value[]){binary(p, PCSIM_OP_LT, zero, d), high, low}, 3);
  const pcsim_value above = add(p, mul(p, to, to), room), across = mul(p, d, to);
  return binary(p, PCSIM_OP_DIV, add(p, above, across), add(p, above, add(p, across, mul(p, d, d))));
}

static pcsim_value slices(pcsim_program *p, pcsim_value a, int first, int rows, int step) {
  pcsim_value parts[4];
  for (int i = 0; i < rows; i++) parts[i] = pcsim_build_slice(p, a, first + step * i, 1);
  return pcsim_build_concat(p, parts, rows);
}

/** Gradient, limiter, upwind flux and scatter of two unknowns, then the cotangent. */
static void test_cotangent(void **unused) {
  (void)unused;
  const mesh_program m = new_mesh_program();
  pcsim_program *p = m.p, *reverse = NULL;
  const pcsim_value q = pcsim_build_input(p, "q", m.cells, 2),
                    reach = pcsim_build_input(p, "reach", m.cells, 2),
                    face = pcsim_build_input(p, "face", m.faces, 3);
  const pcsim_value g = pcsim_build_sparse(p, m.near, q);
  const pcsim_value low = binary(p, PCSIM_OP_SUB, pcsim_build_segment_min(p, m.near, q), q),
                    high = binary(p, PCSIM_OP_SUB, pcsim_build_segment_max(p, m.near, q), q);
  const pcsim_value dx = slices(p, g, 0, 2, 2), dy = slices(p, g, 1, 2, 2);
  const pcsim_value d =
      add(p, mul(p, dx, pcsim_build_slice(p, reach, 0, 1)), mul(p, dy, pcsim_build_slice(p, reach, 1, 1)));
  const pcsim_value limiter = binary(p, PCSIM_OP_MIN, limit(p, low, high, d), pcsim_build_constant(p, 1));
  const pcsim_value sx = mul(p, limiter, dx), sy = mul(p, limiter, dy);
  pcsim_value side[2];
  for (int i = 0; i < 2; i++) {
    const pcsim_map map = i ? m.neighbour : m.owner;
    side[i] = add(p, pcsim_build_gather(p, map, q),
                  add(p, mul(p, pcsim_build_gather(p, map, sx), pcsim_build_slice(p, face, 0, 1)),
                      mul(p, pcsim_build_gather(p, map, sy), pcsim_build_slice(p, face, 1, 1))));
  }
  const pcsim_value speed = add(p, pcsim_build_slice(p, side[0], 0, 1), pcsim_build_slice(p, face, 2, 1));
  const pcsim_value up = pcsim_build_op(
      p, PCSIM_OP_WHERE,
      (pcsim_value[]){binary(p, PCSIM_OP_LT, speed, pcsim_build_constant(p, 1)), side[0], side[1]}, 3);
  const pcsim_value flux = mul(p, speed, up);
  pcsim_build_output(p, "r",
                     binary(p, PCSIM_OP_SUB, pcsim_build_scatter_add(p, m.owner, flux),
                            pcsim_build_scatter_add(p, m.neighbour, flux)));
  assert_ok(pcsim_transform_vjp(p, (const char *[]){"q", "face"}, 2, &reverse));
  for (int simplified = 0; simplified < 2; simplified++) {
    check_all(reverse, (int64_t[]){1, 1});
    check_all(reverse, (int64_t[]){130, 300});
    assert_ok(pcsim_program_simplify(reverse));
  }
  pcsim_executor *x = NULL;
  assert_ok(pcsim_executor_create(reverse, NULL, &x));
  assert_non_null(x->plan.at_least); /* the limiter's values are computed again */
  pcsim_executor_destroy(&x);
  pcsim_program_destroy(&reverse);
  pcsim_program_destroy(&p);
}

static int run_all(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cheap), cmocka_unit_test(test_long_chain), cmocka_unit_test(test_of_fewer),
      cmocka_unit_test(test_kept),  cmocka_unit_test(test_cotangent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run_all, &argc, &argv); }
