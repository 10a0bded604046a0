/* SPDX-License-Identifier: BSD-2-Clause */
/* Machine code of elementwise steps, loads, gathers and stores against the kernels, one by one: the same
 * bits, whatever the operators, the number of values that live at a time, the rows, and what is not finite.
 */
#include "interpret.h"

enum { ROWS = 12, POINTS = 203, CELLS = 61, PROGRAMS = 120, VALUES = 400, OUTPUTS = 12, INPUTS = 10 };

static uint64_t state_ = 11;
static int pick(int n) {
  state_ = state_ * 6364136223846793005u + 1442695040888963407u;
  return (int)((state_ >> 33) % (uint64_t)n);
}
static double number(void) {
  static const double special[] = {0, -0.0, 1, NAN, INFINITY, -INFINITY};
  return pick(40) ? pick(2001) / 1000.0 - 1 : special[pick(6)];
}

typedef struct {
  pcsim_program *p;
  pcsim_value values[VALUES];
  int count;
} builder;

/** A value, a late one more often, that may meet one of `rows` rows (0: any). */
static pcsim_value any(const builder *b, int rows) {
  for (;;) {
    const int reach = pick(3) ? 12 : b->count, i = b->count - 1 - pick(reach < b->count ? reach : b->count);
    const int have = b->p->nodes[b->values[i]].rows;
    if (!rows || have == rows || have == 1 || rows == 1) return b->values[i];
  }
}

static int larger(const builder *b, pcsim_value a, int rows) {
  const int have = b->p->nodes[a].rows;
  return have > rows ? have : rows;
}

/** An operator on values that exist; functions too, which machine code leaves to the kernels. `plain`: one
 * that neither compares nor is a function, so that machine code takes the widest vectors. */
static pcsim_value operate(const builder *b, bool plain) {
  static const pcsim_op unary[] = {PCSIM_OP_NEG, PCSIM_OP_ABS,  PCSIM_OP_SQRT, PCSIM_OP_FLOOR,
                                   PCSIM_OP_NOT, PCSIM_OP_SIGN, PCSIM_OP_TANH},
                        binary[] = {PCSIM_OP_ADD, PCSIM_OP_SUB, PCSIM_OP_MUL, PCSIM_OP_DIV, PCSIM_OP_MIN,
                                    PCSIM_OP_MAX, PCSIM_OP_LT,  PCSIM_OP_LE,  PCSIM_OP_EQ,  PCSIM_OP_AND,
                                    PCSIM_OP_OR,  PCSIM_OP_MUL, PCSIM_OP_ADD, PCSIM_OP_SUB, PCSIM_OP_MUL};
  const pcsim_value a = any(b, 0), c = any(b, b->p->nodes[a].rows);
  const int kind = pick(10);
  if (kind == 0) return pcsim_build_unary(b->p, unary[pick(plain ? 4 : 7)], a);
  if (kind > 1 || plain) return pcsim_build_binary(b->p, binary[plain ? pick(4) : pick(15)], a, c);
  const pcsim_value d = any(b, larger(b, c, b->p->nodes[a].rows));
  return pcsim_build_op(b->p, PCSIM_OP_WHERE, (pcsim_value[]){a, c, d}, 3);
}

/** Rows put together and taken apart. */
static pcsim_value rearrange(const builder *b) {
  const pcsim_value a = any(b, 0), c = any(b, 0);
  const int rows = b->p->nodes[a].rows;
  if (pick(2)) return pcsim_build_slice(b->p, a, pick(rows), 1);
  if (rows + b->p->nodes[c].rows > ROWS) return a;
  return pcsim_build_concat(b->p, (pcsim_value[]){a, c}, 2);
}

/** Gathers of whole inputs of the cells, of some of their rows, and of values computed there, which several
 * gathers make records. */
static void gather(builder *b, pcsim_map map, const pcsim_value *inputs, int n) {
  for (int i = 0; i < n; i++) {
    const int rows = b->p->nodes[inputs[i]].rows, first = pick(rows);
    const pcsim_value part = pcsim_build_slice(b->p, inputs[i], first, 1 + pick(rows - first));
    const pcsim_value scaled = pcsim_build_binary(b->p, PCSIM_OP_MUL, inputs[i], inputs[0]);
    b->values[b->count++] = pcsim_build_gather(b->p, map, inputs[i]);
    b->values[b->count++] = pcsim_build_gather(b->p, map, part);
    if (pick(3)) b->values[b->count++] = pcsim_build_gather(b->p, map, scaled);
  }
}

static pcsim_program *random_program(void) {
  static const int rows[INPUTS] = {1, 3, 2, ROWS, 1, /* of cells: */ 1, 2, 3, 5, 8};
  static char names[INPUTS + OUTPUTS][8];
  builder b = {.count = 0};
  double column[3] = {0.5, -2, 3};
  assert_ok(pcsim_program_create(&b.p));
  const pcsim_space space = pcsim_build_space(b.p, "points");
  const pcsim_space cells = pcsim_build_space(b.p, "cells");
  const pcsim_map maps[2] = {pcsim_build_index_map(b.p, "owner", space, cells),
                             pcsim_build_index_map(b.p, "neighbour", space, cells)};
  pcsim_value inputs[INPUTS];
  for (int i = 0; i < INPUTS; i++) {
    snprintf(names[i], sizeof names[i], "in%d", i);
    inputs[i] = pcsim_build_input(b.p, names[i], i < 5 ? space : cells, rows[i]);
    if (i < 5) b.values[b.count++] = inputs[i];
  }
  for (int m = 0; m < pick(3); m++) gather(&b, maps[m], inputs + 5, INPUTS - 5);
  b.values[b.count++] = pcsim_build_constant(b.p, 0.75);
  b.values[b.count++] = pcsim_build_constants(b.p, 3, column);
  const bool plain = pick(3) == 0;
  const int total = b.count + 10 + pick(VALUES - 10 - b.count);
  while (b.count < total) {
    const pcsim_value v = pick(8) ? operate(&b, plain) : rearrange(&b);
    assert_ok(pcsim_program_status(b.p));
    b.values[b.count++] = v;
  }
  for (int i = 0; i < OUTPUTS; i++) {
    snprintf(names[INPUTS + i], sizeof names[INPUTS + i], "out%d", i);
    pcsim_value v = b.values[i < 6 ? b.count - 1 - i : pick(b.count)];
    if (b.p->nodes[v].space == PCSIM_NO_SPACE) v = pcsim_build_binary(b.p, PCSIM_OP_ADD, v, b.values[0]);
    pcsim_build_output(b.p, names[INPUTS + i], v);
  }
  assert_ok(pcsim_program_status(b.p));
  return b.p;
}

static double out_[2][OUTPUTS][ROWS * POINTS];

static int32_t index_[2][POINTS];

static void run(const pcsim_program *p, const pcsim_executor_options *options, const double *data,
                int which) {
  pcsim_executor *x = NULL;
  assert_ok(pcsim_executor_create(p, options, &x));
  assert_ok(pcsim_executor_points(x, "points", POINTS));
  assert_ok(pcsim_executor_points(x, "cells", CELLS));
  assert_ok(pcsim_executor_bind_index(x, "owner", index_[0]));
  assert_ok(pcsim_executor_bind_index(x, "neighbour", index_[1]));
  for (int i = 0; i < p->num_names; i++) assert_ok(pcsim_executor_bind(x, p->names[i], data + 7 * i));
  for (int i = 0; i < OUTPUTS; i++)
    assert_ok(pcsim_executor_bind_output(x, p->outputs[i].name, out_[which][i]));
  assert_ok(pcsim_executor_run(x, false));
  pcsim_executor_destroy(&x);
}

static void compare(const pcsim_program *p, int number_of, const pcsim_executor_options *o) {
  for (int i = 0; i < OUTPUTS; i++)
    for (int j = 0; j < POINTS * p->nodes[p->outputs[i].value].rows; j++) {
      const double a = out_[0][i][j], b = out_[1][i][j];
      if (memcmp(&a, &b, sizeof a) && !(isnan(a) && isnan(b)))
        fail_msg("program %d, tile %d%s, output %d, number %d: %.17g, by kernels %.17g", number_of, o->tile,
                 o->single ? " single" : "", i, j, b, a);
    }
}

static void test_same_bits(void **unused) {
  static double data[ROWS * POINTS + 7 * INPUTS];
  (void)unused;
  for (int i = 0; i < PROGRAMS; i++) {
    pcsim_program *p = random_program();
    for (size_t j = 0; j < sizeof data / sizeof *data; j++) data[j] = number();
    for (int j = 0; j < 2 * POINTS; j++) index_[j / POINTS][j % POINTS] = pick(CELLS);
    for (int k = 0; k < 4; k++) {
      pcsim_executor_options o = {.single = k % 2, .tile = k < 2 ? 0 : 40, .interpreted = true};
      run(p, &o, data, 0);
      o.interpreted = false;
      run(p, &o, data, 1);
      compare(p, i, &o);
    }
    pcsim_program_destroy(&p);
  }
}

static int run_all(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run_all, &argc, &argv); }
