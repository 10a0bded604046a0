/* SPDX-License-Identifier: BSD-2-Clause */
/* Values that the same maps read, as one record: what is put together, the same bits as by themselves, the
 * messages of checks. */
#include "autodiff/exec.h"
#include "exec_harness.h"

static void put_out(const mesh_program *m, const char *name, int number_of, pcsim_value v) {
  char text[32];
  snprintf(text, sizeof text, "%s %d", name, number_of);
  pcsim_build_output(m->p, text, v);
}

/** Three values that both sides of faces look at and that are used at the cells again, two that are carried
 * by the owner and the sparse map, one that nothing can join; their sums and extrema. */
static mesh_program make_program(void) {
  const mesh_program m = new_mesh_program();
  pcsim_program *p = m.p;
  const pcsim_value u = pcsim_build_input(p, "u", m.cells, 3), w = pcsim_build_input(p, "w", m.cells, 2);
  const pcsim_value w0 = pcsim_build_slice(p, w, 0, 1), w1 = pcsim_build_slice(p, w, 1, 1);
  const pcsim_value looked[3] = {mul(p, u, u), add(p, u, w0), pcsim_build_frozen(p, mul(p, w0, w1))};
  const pcsim_value both[2] = {mul(p, w, w0), mul(p, pcsim_build_constant(p, 3), w1)};
  const pcsim_value alone = mul(p, u, pcsim_build_constant(p, 0.5));
  pcsim_value sums[3];
  for (int i = 0; i < 3; i++) {
    const pcsim_value flux =
        mul(p, pcsim_build_gather(p, m.owner, looked[i]),
            add(p, pcsim_build_gather(p, m.neighbour, looked[i]), pcsim_build_constant(p, 1)));
    put_out(&m, "flux", i, flux);
    sums[i] = pcsim_build_scatter_add(p, m.owner, flux);
    put_out(&m, "sum", i, sums[i]);
  }
  for (int i = 0; i < 2; i++) {
    put_out(&m, "both", i, both[i]);
    put_out(&m, "at owner", i, pcsim_build_gather(p, m.owner, both[i]));
    put_out(&m, "slope", i, pcsim_build_sparse(p, m.near, both[i]));
    put_out(&m, "low", i, pcsim_build_segment_min(p, m.near, both[i]));
  }
  /* Some rows only: carried by itself. */
  put_out(&m, "row", 0, pcsim_build_gather(p, m.owner, pcsim_build_slice(p, alone, 1, 2)));
  /* Parts of a record where they are read in a later pass. */
  put_out(&m, "again", 0, mul(p, sums[0], looked[0]));
  put_out(&m, "again", 1, mul(p, pcsim_build_slice(p, sums[1], 0, 1), pcsim_build_slice(p, looked[1], 2, 1)));
  put_out(&m, "again", 2, mul(p, sums[2], looked[2]));
  put_out(&m, "norm", 0, pcsim_build_sum(p, mul(p, sums[0], looked[0])));
  assert_ok(pcsim_program_status(p));
  return m;
}

static int count_maps(const plan *p, node_kind kind) {
  int n = 0;
  for (int i = 0; i < p->num_instructions; i++)
    n += p->instructions[i].kind == DO_MAP && p->program->nodes[p->instructions[i].node].kind == kind;
  return n;
}

static void test_what_is_joined(void **unused) {
  (void)unused;
  mesh_program m = make_program();
  pcsim_executor *x = NULL;
  assert_ok(pcsim_executor_create(m.p, NULL, &x));
  const plan *p = &x->plan;
  assert_non_null(p->origin);
  /* Owner: both records and the rows alone; neighbour: the first record. */
  assert_int_equal(count_maps(p, NODE_GATHER), 4);
  assert_int_equal(count_maps(p, NODE_SCATTER_ADD), 0); /* added up where they go: exec_add.c */
  assert_int_equal(count_maps(p, NODE_SPARSE), 1);
  /* The record of three values has whole vectors; nothing is kept twice. */
  int records = 0;
  for (int i = 0; i < p->num_stores; i++) {
    if (p->origin[p->store_node[i]] >= 0) continue;
    assert_int_not_equal(p->program->nodes[p->store_node[i]].rows % 4, 3);
    records++;
  }
  assert_int_equal(records, 2);
  pcsim_executor_destroy(&x);
  /* One value alone is no record. */
  assert_ok(pcsim_program_keep(m.p, (const char *[]){"sum 0"}, 1));
  assert_ok(pcsim_executor_create(m.p, NULL, &x));
  assert_null(x->plan.origin);
  pcsim_executor_destroy(&x);
  pcsim_program_destroy(&m.p);
}

/** Readers of two values that could be one record: the same, or in one thing not. */
typedef enum {
  READ_ALIKE,
  READ_BY_OTHER_MAP,
  READ_BY_OTHER_KIND,
  READ_IN_LATER_PASS,
  READ_IN_PART,
  READ_FOR_CHOICE,
  HIDDEN_BUT_FOR_CHOICE,
  READ_TOO_WIDE,
  NUM_READINGS
} reading_case;

static mesh_program make_pair(reading_case which) {
  const mesh_program m = new_mesh_program();
  pcsim_program *p = m.p;
  const int rows = which == READ_TOO_WIDE ? 5 : 4;
  const pcsim_value u = pcsim_build_input(p, "u", m.cells, rows), a = mul(p, u, u),
                    b = mul(p, u, pcsim_build_constant(p, 3));
  const bool near = which == READ_BY_OTHER_KIND;
  put_out(&m, "a", 0, near ? pcsim_build_sparse(p, m.near, a) : pcsim_build_gather(p, m.owner, a));
  if (which == READ_IN_LATER_PASS) { /* both are wanted early, too */
    put_out(&m, "early", 0, pcsim_build_gather(p, m.neighbour, a));
    put_out(&m, "early", 1, pcsim_build_gather(p, m.neighbour, b));
  }
  if (which == READ_FOR_CHOICE) put_out(&m, "given", 0, b); /* what is not finite in it counts for both */
  pcsim_value at = near ? pcsim_build_segment_min(p, m.near, b)
                        : pcsim_build_gather(p, which == READ_BY_OTHER_MAP ? m.neighbour : m.owner, b);
  if (which == READ_IN_LATER_PASS) {
    pcsim_value back = u;
    for (int i = 0; i < 2; i++)
      back = pcsim_build_scatter_add(p, m.owner, pcsim_build_gather(p, m.neighbour, back));
    at = mul(p, at, pcsim_build_gather(p, m.neighbour, back));
  }
  if (which == READ_IN_PART)
    put_out(&m, "part", 0, pcsim_build_gather(p, m.owner, pcsim_build_slice(p, a, 1, 2)));
  if (which == READ_FOR_CHOICE || which == HIDDEN_BUT_FOR_CHOICE) {
    const pcsim_value w = pcsim_build_input(p, "w", m.faces, rows), zero = pcsim_build_constant(p, 0);
    at = pcsim_build_op(p, PCSIM_OP_WHERE, (pcsim_value[]){zero, at, w}, 3);
  }
  put_out(&m, "b", 0, at);
  assert_ok(pcsim_program_status(p));
  return m;
}

static void test_readers_that_differ(void **unused) {
  (void)unused;
  for (reading_case which = 0; which < NUM_READINGS; which++) {
    mesh_program m = make_pair(which);
    pcsim_executor *x = NULL;
    int records = 0;
    assert_ok(pcsim_executor_create(m.p, NULL, &x));
    const plan *p = &x->plan;
    for (int i = 0; p->origin && i < p->num_stores; i++) records += p->origin[p->store_node[i]] < 0;
    if ((records > 0) != (which == READ_ALIKE)) fail_msg("case %d: %d records", (int)which, records);
    pcsim_executor_destroy(&x);
    check_all(m.p, (int64_t[]){130, 300});
    pcsim_program_destroy(&m.p);
  }
}

static void test_values(void **unused) {
  (void)unused;
  mesh_program m = make_program();
  check_all(m.p, (int64_t[]){1, 1});
  check_all(m.p, (int64_t[]){65, 9});
  check_all(m.p, (int64_t[]){130, 300});
  check_all(m.p, (int64_t[]){0, 0});
  pcsim_program_destroy(&m.p);
}

/** Every output of the whole program against a program of it alone. */
static void test_same_bits(void **unused) {
  (void)unused;
  mesh_program m = make_program();
  setting s;
  begin(&s, m.p, (int64_t[]){130, 300});
  for (size_t k = 0; k < sizeof instruction_sets / sizeof *instruction_sets; k++) {
    if (!supported(instruction_sets[k], m.p)) continue;
    const pcsim_executor_options options = {.tile = 40, .instructions = instruction_sets[k]};
    double *all = execute(&s, &options), *at = all;
    for (int i = 0; i < m.p->num_outputs; i++) {
      setting one = s;
      assert_ok(pcsim_program_copy(m.p, &one.p));
      assert_ok(pcsim_program_keep(one.p, (const char *[]){m.p->outputs[i].name}, 1));
      const size_t bytes = output_count(&s, i) * sizeof *at;
      /* The number of values of an output is asked for by its place in the program. */
      one.it.p = one.p;
      double *alone = execute(&one, &options);
      if (memcmp(alone, at, bytes))
        fail_msg("%s: output '%s' differs from that of a program of it alone", instruction_sets[k],
                 m.p->outputs[i].name);
      at += output_count(&s, i);
      free(alone);
      pcsim_program_destroy(&one.p);
    }
    free(all);
  }
  end(&s);
  pcsim_program_destroy(&m.p);
}

/** Values in a record are named as in the program that was given; a value that only a choice sees counts as
 * little as by itself. */
static void test_messages(void **unused) {
  (void)unused;
  enum { CELLS = 3, FACES = 150 };
  const mesh_program m = new_mesh_program();
  pcsim_program *p = m.p;
  const pcsim_value u = pcsim_build_input(p, "u", m.faces, 2), v = pcsim_build_input(p, "v", m.faces, 3);
  const pcsim_value zero = pcsim_build_constant(p, 0), two = pcsim_build_constant(p, 2);
  const pcsim_map around = pcsim_build_sparse_map(p, "around", m.cells, m.faces, 1);
  const pcsim_value a = pcsim_build_sparse(p, around, mul(p, u, two)),
                    b = pcsim_build_sparse(p, around, mul(p, v, two));
  const pcsim_value hidden = pcsim_build_unary(p, PCSIM_OP_LOG, pcsim_build_slice(p, a, 0, 1)),
                    seen = mul(p, pcsim_build_slice(p, a, 1, 1), two);
  const pcsim_value there = pcsim_build_gather(p, m.neighbour, hidden);
  pcsim_build_output(p, "a", a);
  pcsim_build_output(p, "b", b);
  pcsim_build_output(p, "seen", pcsim_build_gather(p, m.neighbour, seen));
  pcsim_build_output(
      p, "chosen",
      pcsim_build_op(p, PCSIM_OP_WHERE, (pcsim_value[]){zero, there, pcsim_build_slice(p, u, 0, 1)}, 3));
  assert_ok(pcsim_program_status(p));
  double us[2 * FACES], vs[3 * FACES], ones[FACES];
  int32_t face[FACES], neighbour[FACES];
  int64_t start[CELLS + 1];
  for (int i = 0; i < 2 * FACES; i++) us[i] = -1; /* log of it is nan */
  for (int i = 0; i < 3 * FACES; i++) vs[i] = 1;
  for (int i = 0; i <= CELLS; i++) start[i] = i * (FACES / CELLS);
  for (int i = 0; i < FACES; i++) {
    face[i] = i % (FACES / CELLS) * CELLS + i / (FACES / CELLS); /* cell c has the faces c, c + CELLS, ... */
    neighbour[i] = (i + 1) % CELLS;
    ones[i] = 1;
  }
  pcsim_executor *x = NULL;
  assert_ok(pcsim_executor_create(p, NULL, &x));
  assert_non_null(x->plan.origin);
  assert_ok(pcsim_executor_points(x, "points", CELLS));
  assert_ok(pcsim_executor_points(x, "faces", FACES));
  assert_ok(pcsim_executor_bind(x, "u", us));
  assert_ok(pcsim_executor_bind(x, "v", vs));
  assert_ok(pcsim_executor_bind_sparse(x, "around", start, face, ones));
  assert_ok(pcsim_executor_bind_index(x, "neighbour", neighbour));
  assert_ok(pcsim_executor_run(x, true));
  vs[3 * 5 + 2] = vs[3 * 8 + 2] = 8e307; /* both of cell 2: each twice it is finite, the sum is not */
  char expected[96];
  snprintf(expected, sizeof expected, "value %d (sparse) is inf at point 2 of 'points' (row 2)", b);
  expect_message(pcsim_executor_run(x, true), PCSIM_ERR_CASE, expected);
  pcsim_executor_destroy(&x);
  pcsim_program_destroy(&p);
}

static int run_all(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_is_joined), cmocka_unit_test(test_readers_that_differ),
      cmocka_unit_test(test_values),         cmocka_unit_test(test_same_bits),
      cmocka_unit_test(test_messages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run_all, &argc, &argv); }
