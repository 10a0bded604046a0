/* SPDX-License-Identifier: BSD-2-Clause */
/* Scatter-adds made in the pass of what they add: which, into which memory, with which result and messages.
 */
#include "autodiff/exec.h"
#include "exec_harness.h"

static pcsim_value binary(pcsim_program *p, pcsim_op op, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, op, a, b);
}

static int count(const plan *p, instruction_kind kind) {
  int n = 0;
  for (int i = 0; i < p->num_instructions; i++) n += p->instructions[i].kind == kind;
  return n;
}

static int count_scatters(const plan *p) {
  int n = 0;
  for (int i = 0; i < p->num_instructions; i++)
    n += p->instructions[i].kind == DO_MAP &&
         p->program->nodes[p->instructions[i].node].kind == NODE_SCATTER_ADD;
  return n;
}

/** A flux of `rows` rows on faces, made of what both cells have. */
static pcsim_value make_flux(const mesh_program *m, int rows) {
  const pcsim_value u = pcsim_build_input(m->p, "u", m->cells, rows),
                    face = pcsim_build_input(m->p, "face", m->faces, 1);
  return mul(m->p, face,
             mul(m->p, pcsim_build_gather(m->p, m->owner, u), pcsim_build_gather(m->p, m->neighbour, u)));
}

/** What leaves an owner comes to the neighbour, from two kinds of faces: one sum in one pass of each kind. */
static void test_one_sum(void **unused) {
  (void)unused;
  for (int rows = 1; rows <= 13; rows++) {
    const mesh_program m = new_mesh_program();
    pcsim_program *p = m.p;
    const pcsim_value flux = make_flux(&m, rows);
    const pcsim_space walls = pcsim_build_space(p, "walls");
    const pcsim_map inside = pcsim_build_index_map(p, "inside", walls, m.cells);
    const pcsim_value wall = pcsim_build_input(p, "wall", walls, rows);
    const pcsim_value sum = binary(p, PCSIM_OP_SUB, pcsim_build_scatter_add(p, m.owner, flux),
                                   pcsim_build_scatter_add(p, m.neighbour, flux));
    const pcsim_value at_walls = pcsim_build_scatter_add(p, inside, mul(p, wall, wall));
    /* minus of minus, and one more from the owners */
    const pcsim_value twice = pcsim_build_scatter_add(p, m.owner, mul(p, flux, flux));
    const pcsim_value all = binary(
        p, PCSIM_OP_SUB, sum, pcsim_build_unary(p, PCSIM_OP_NEG, binary(p, PCSIM_OP_SUB, at_walls, twice)));
    pcsim_build_output(p, "all", all);
    pcsim_executor *x = NULL;
    assert_ok(pcsim_executor_create(p, NULL, &x));
    assert_int_equal(x->plan.num_stages, 2);
    assert_int_equal(x->plan.num_stores, 1);
    assert_int_equal(x->plan.store_node[0], all);
    assert_int_equal(count(&x->plan, DO_ADD), 3); /* of three from faces two at a time */
    assert_int_equal(count_scatters(&x->plan), 0);
    pcsim_executor_destroy(&x);
    check_all(p, (int64_t[]){130, 300, 40});
    check_all(p, (int64_t[]){1, 9, 0});
    check_all(p, (int64_t[]){0, 0, 0});
    pcsim_program_destroy(&p);
  }
}

/** Sums that are read by maps and by cells, put out twice and in part, added up again. */
static void test_read(void **unused) {
  (void)unused;
  const mesh_program m = new_mesh_program();
  pcsim_program *p = m.p;
  const pcsim_value flux = make_flux(&m, 4);
  const pcsim_value sum = binary(p, PCSIM_OP_ADD, pcsim_build_scatter_add(p, m.owner, flux),
                                 pcsim_build_scatter_add(p, m.neighbour, flux));
  const pcsim_value there = pcsim_build_gather(p, m.owner, sum);
  pcsim_build_output(p, "sum", sum);
  pcsim_build_output(p, "again", sum);
  pcsim_build_output(p, "part", pcsim_build_slice(p, sum, 1, 2));
  pcsim_build_output(p, "frozen", pcsim_build_frozen(p, sum));
  pcsim_build_output(p, "there", there);
  pcsim_build_output(p, "square", mul(p, sum, sum));
  pcsim_build_output(p, "slope", pcsim_build_sparse(p, m.near, sum));
  pcsim_build_output(p, "round", pcsim_build_scatter_add(p, m.neighbour, mul(p, there, flux)));
  pcsim_build_output(p, "norm", pcsim_build_sum(p, mul(p, sum, sum)));
  pcsim_executor *x = NULL;
  assert_ok(pcsim_executor_create(p, NULL, &x));
  /* faces, then all that reads the sum: what is gathered needs no pass over the cells before */
  assert_int_equal(x->plan.num_stages, 3);
  pcsim_executor_destroy(&x);
  check_all(p, (int64_t[]){1, 1});
  check_all(p, (int64_t[]){130, 300});
  check_all(p, (int64_t[]){0, 0});
  pcsim_program_destroy(&p);
}

/** What is wanted by itself too is no part of another sum; inputs and sums go by the transpose of the map. */
static void test_alone(void **unused) {
  (void)unused;
  const mesh_program m = new_mesh_program();
  pcsim_program *p = m.p;
  const pcsim_value flux = make_flux(&m, 3), a = pcsim_build_scatter_add(p, m.owner, flux),
                    b = pcsim_build_scatter_add(p, m.neighbour, flux);
  const pcsim_value given = pcsim_build_input(p, "given", m.faces, 3);
  const pcsim_map back = pcsim_build_index_map(p, "back", m.cells, m.faces);
  pcsim_build_output(p, "a", a);
  pcsim_build_output(p, "sum", add(p, a, b));
  pcsim_build_output(p, "given", pcsim_build_scatter_add(p, m.owner, given));
  pcsim_build_output(p, "back", pcsim_build_scatter_add(p, back, b));
  pcsim_executor *x = NULL;
  assert_ok(pcsim_executor_create(p, NULL, &x));
  assert_int_equal(count(&x->plan, DO_ADD), 2);
  assert_int_equal(count_scatters(&x->plan), 2);
  pcsim_executor_destroy(&x);
  check_all(p, (int64_t[]){130, 300});
  pcsim_program_destroy(&p);
}

/** A sum that overflows is named, with the point and the row where it is added up. */
static void test_message(void **unused) {
  (void)unused;
  enum { CELLS = 5, FACES = 200 };
  const mesh_program m = new_mesh_program();
  pcsim_program *p = m.p;
  const pcsim_value v = pcsim_build_input(p, "v", m.faces, 3);
  const pcsim_value flux = mul(p, v, pcsim_build_constant(p, 2));
  const pcsim_value sum =
      add(p, pcsim_build_scatter_add(p, m.owner, flux), pcsim_build_scatter_add(p, m.neighbour, flux));
  pcsim_build_output(p, "there", pcsim_build_gather(p, m.owner, sum));
  double vs[3 * FACES], there[3 * FACES];
  int32_t owner[FACES], neighbour[FACES];
  for (int i = 0; i < 3 * FACES; i++) vs[i] = 1;
  for (int i = 0; i < FACES; i++) owner[i] = i % CELLS, neighbour[i] = (i + 1) % CELLS;
  vs[3 * 7 + 1] = vs[3 * 12 + 1] = 8e307; /* both leave cell 2: twice each is finite */
  for (int threads = 1; threads <= 2; threads++) {
    pcsim_executor *x = NULL;
    char expected[96];
    assert_ok(pcsim_executor_create(p, &(pcsim_executor_options){.threads = threads, .tile = 8}, &x));
    assert_ok(pcsim_executor_points(x, "points", CELLS));
    assert_ok(pcsim_executor_points(x, "faces", FACES));
    assert_ok(pcsim_executor_bind(x, "v", vs));
    assert_ok(pcsim_executor_bind_index(x, "owner", owner));
    assert_ok(pcsim_executor_bind_index(x, "neighbour", neighbour));
    assert_ok(pcsim_executor_bind_output(x, "there", there));
    snprintf(expected, sizeof expected, "value %d (add) is inf at point 2 of 'points' (row 1)", sum);
    expect_message(pcsim_executor_run(x, true), PCSIM_ERR_CASE, expected);
    /* what is not finite before it is added is found there, and nobody waits for its tile */
    vs[3 * 100] = NAN;
    expect_message(pcsim_executor_run(x, true), PCSIM_ERR_CASE,
                   "input 'v' is nan at point 100 of 'faces' (row 0)");
    vs[3 * 100] = 1;
    pcsim_executor_destroy(&x);
  }
  pcsim_program_destroy(&p);
}

static void add_block(void *context, const pcsim_jacobian_block *block) {
  double *sum = context;
  for (int64_t r = 0; r < block->rows; r++)
    for (int64_t i = 0; i < block->n; i++)
      sum[pcsim_jacobian_row(block, r)] += block->numbers[r * block->stride + i];
}

/** The terms of a sum over faces whose pass adds to cells as well: what is added up is not added twice. */
static void test_jacobian(void **unused) {
  (void)unused;
  enum { CELLS = 11, FACES = 100 };
  const mesh_program m = new_mesh_program();
  pcsim_program *p = m.p, *reverse = NULL;
  const pcsim_value k = pcsim_build_parameter(p, "k", 1, 1), flux = mul(p, k, make_flux(&m, 2));
  const pcsim_value sum = pcsim_build_scatter_add(p, m.owner, flux);
  const pcsim_value there = pcsim_build_gather(p, m.neighbour, sum);
  pcsim_build_output(p, "loss", pcsim_build_sum(p, pcsim_build_row_sum(p, mul(p, mul(p, there, there), k))));
  assert_ok(pcsim_transform_vjp(p, (const char *[]){"k", "u"}, 2, &reverse));
  assert_ok(pcsim_program_keep(reverse, (const char *[]){"loss", "b_u"}, 2));
  setting s;
  begin(&s, reverse, (int64_t[]){CELLS, FACES});
  double *out = execute(&s, NULL);
  compare(&s, out, 1e-12, "cotangent");
  pcsim_executor *x = NULL;
  assert_ok(pcsim_executor_create(s.p, NULL, &x));
  for (int i = 0; i < s.p->num_spaces; i++) assert_ok(pcsim_executor_points(x, s.p->spaces[i], s.points[i]));
  for (int i = 0; i < s.p->num_names; i++)
    if (s.data[i]) assert_ok(pcsim_executor_bind(x, s.p->names[i], s.data[i]));
  assert_ok(pcsim_executor_bind_index(x, "owner", s.index[0]));
  assert_ok(pcsim_executor_bind_index(x, "neighbour", s.index[1]));
  for (int again = 0; again < 2; again++) {
    double total = 0;
    const char *loss = "loss";
    assert_ok(
        pcsim_executor_jacobian(x, &(pcsim_jacobian){.outputs = &loss, .num_outputs = 1}, add_block, &total));
    assert_close(total / s.it.values[s.p->outputs[exec_find_output(x, "loss")].value][0], 1, 1e-12);
  }
  pcsim_executor_destroy(&x);
  free(out);
  end(&s);
  pcsim_program_destroy(&reverse);
  pcsim_program_destroy(&p);
}

static int run_all(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_sum), cmocka_unit_test(test_read),     cmocka_unit_test(test_alone),
      cmocka_unit_test(test_message), cmocka_unit_test(test_jacobian),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run_all, &argc, &argv); }
