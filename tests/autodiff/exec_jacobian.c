/* SPDX-License-Identifier: BSD-2-Clause */
/* Jacobians in blocks and their symmetric product: against gradients of single points, threads, precisions,
 * instruction sets, block sizes; messages. */
#include "exec_harness.h"

#include <stdatomic.h>

/** Reverse of a two-layer residual with second derivatives left out: seed "b_r", gradients of five
 * parameters. */
static pcsim_program *reverse_program(void) {
  pcsim_space space;
  pcsim_program *p = new_program(&space), *reverse = NULL;
  pcsim_value x = pcsim_build_input(p, "x", space, 3);
  pcsim_value w = pcsim_build_parameter(p, "w", 7, 3), b = pcsim_build_parameter(p, "b", 7, 1),
              v = pcsim_build_parameter(p, "v", 1, 7), c = pcsim_build_parameter(p, "c", 1, 1);
  pcsim_value h = pcsim_build_unary(p, PCSIM_OP_TANH, pcsim_build_dense(p, w, x, b));
  pcsim_value twice = pcsim_build_dense(p, v, pcsim_build_binary(p, PCSIM_OP_MUL, h, h), PCSIM_NO_VALUE);
  pcsim_build_output(p, "r", pcsim_build_binary(p, PCSIM_OP_ADD, pcsim_build_dense(p, v, h, c), twice));
  const char *const wrt[] = {"w", "b", "v", "c"};
  assert_ok(pcsim_transform_vjp(p, wrt, 4, &reverse));
  pcsim_program_destroy(&p);
  return reverse;
}

enum { JACOBIAN_POINTS = 150, JACOBIAN_ROWS = 21 + 7 + 7 + 1 };
static const char *const jacobian_outputs[] = {"b_b", "b_w", "b_c", "b_v"};

/** Row by row through the interpreter: the gradient with the seed at one point. */
static void expected_jacobian(setting *s, double *expected) {
  double seed[JACOBIAN_POINTS];
  interpret_bind(&s->it, "b_r", seed);
  for (int i = 0; i < JACOBIAN_POINTS; i++) {
    for (int j = 0; j < JACOBIAN_POINTS; j++) seed[j] = i == j;
    interpret_run(&s->it);
    double *at = expected + i;
    for (int k = 0; k < 4; k++) {
      const node *n = &s->p->nodes[graph_find_output(s->p, jacobian_outputs[k])];
      for (int j = 0; j < n->rows * n->columns; j++, at += JACOBIAN_POINTS)
        *at = interpret_output(&s->it, jacobian_outputs[k])[j];
    }
  }
}

static pcsim_executor *bind_jacobian(const setting *s, const pcsim_executor_options *options,
                                     const double *ones) {
  pcsim_executor *x = NULL;
  assert_ok(pcsim_executor_create(s->p, options, &x));
  assert_ok(pcsim_executor_points(x, "points", JACOBIAN_POINTS));
  for (int i = 0; i < s->p->num_names; i++) assert_ok(pcsim_executor_bind(x, s->p->names[i], s->data[i]));
  assert_ok(pcsim_executor_bind(x, "b_r", ones));
  return x;
}

/** What a visitor gathers: the whole Jacobian, and sums over the points of each part. */
typedef struct {
  int64_t first, end, largest; /**< points that may come; points a block */
  int threads, single, rows;
  double *whole;                                     /**< [rows][JACOBIAN_POINTS] */
  double sums[PCSIM_JACOBIAN_PARTS][JACOBIAN_ROWS];  /**< of one number a row and point */
  int64_t last[PCSIM_JACOBIAN_PARTS][JACOBIAN_ROWS]; /**< end of the latest block of a row of the part */
  int owner[PCSIM_JACOBIAN_PARTS];                   /**< its thread, plus one */
  atomic_int faults, numbers;
} gathered;

static void gather_block(void *context, const pcsim_jacobian_block *b) {
  gathered *g = context;
  g->numbers += (int)(b->rows * b->n);
  const bool fits = b->rows > 0 && b->columns > 0 && b->rows % b->columns == 0 && b->first_row >= 0 &&
                    pcsim_jacobian_row(b, b->rows - 1) < g->rows && b->n > 0 && b->n <= b->stride &&
                    b->stride % 8 == 0 && b->n <= g->largest && b->first >= g->first &&
                    b->first + b->n <= g->end && b->thread >= 0 && b->thread < g->threads && b->part >= 0 &&
                    b->part < PCSIM_JACOBIAN_PARTS && (b->numbers == NULL) == g->single &&
                    (b->numbers_single != NULL) == g->single;
  if (!fits || (g->owner[b->part] && g->owner[b->part] != b->thread + 1)) {
    g->faults++;
    return;
  }
  g->owner[b->part] = b->thread + 1;
  for (int64_t k = 0; k < b->rows; k++) {
    const int64_t r = pcsim_jacobian_row(b, k);
    if (b->first < g->last[b->part][r]) g->faults++;
    g->last[b->part][r] = b->first + b->n;
    for (int64_t i = 0; i < b->stride; i++) {
      const int64_t at = k * b->stride + i;
      const double value = b->numbers ? b->numbers[at] : (double)b->numbers_single[at];
      if (i < b->n) g->whole[r * JACOBIAN_POINTS + b->first + i] = value;
      else if (value != 0) g->faults++;
      g->sums[b->part][r] += value;
    }
  }
}

/** The Jacobian of some points by blocks, compared with `expected` [parameter][point]; sums in the order of
 * the parts [JACOBIAN_ROWS]. */
static void gather_jacobian(pcsim_executor *x, const pcsim_jacobian *j, const pcsim_executor_options *options,
                            const double *expected, double tolerance, double *sums) {
  const int64_t end = j->end ? j->end : JACOBIAN_POINTS;
  gathered g = {.first = j->first,
                .end = end,
                .largest = j->block ? (j->block + 15) / 16 * 16 : JACOBIAN_POINTS,
                .threads = options->threads,
                .single = options->single,
                .rows = JACOBIAN_ROWS};
  g.whole = malloc(sizeof *g.whole * JACOBIAN_ROWS * JACOBIAN_POINTS);
  for (int i = 0; i < JACOBIAN_ROWS * JACOBIAN_POINTS; i++) g.whole[i] = NAN;
  assert_ok(pcsim_executor_jacobian(x, j, gather_block, &g));
  assert_int_equal(g.faults, 0);
  assert_int_equal(g.numbers, (end - j->first) * JACOBIAN_ROWS);
  for (int r = 0; r < JACOBIAN_ROWS; r++)
    for (int64_t i = 0; i < JACOBIAN_POINTS; i++) {
      const int at = r * JACOBIAN_POINTS + (int)i;
      if (i >= j->first && i < end) assert_close(g.whole[at], expected[at], tolerance);
      else assert_true(isnan(g.whole[at]));
    }
  memset(sums, 0, JACOBIAN_ROWS * sizeof *sums);
  for (int k = 0; k < PCSIM_JACOBIAN_PARTS; k++)
    for (int r = 0; r < JACOBIAN_ROWS; r++) sums[r] += g.sums[k][r];
  free(g.whole);
}

/** c + J^T J of the same points; what is above the diagonal must stay. */
static void check_product(pcsim_executor *x, const pcsim_jacobian *j, const double *expected,
                          double tolerance, double *c) {
  const int64_t end = j->end ? j->end : JACOBIAN_POINTS;
  for (int i = 0; i < JACOBIAN_ROWS * JACOBIAN_ROWS; i++) c[i] = i % 5;
  assert_ok(pcsim_executor_jacobian_product(x, j, c));
  for (int r = 0; r < JACOBIAN_ROWS; r++)
    for (int q = 0; q < JACOBIAN_ROWS; q++) {
      double sum = (r * JACOBIAN_ROWS + q) % 5;
      for (int64_t i = j->first; i < end && q <= r; i++)
        sum += expected[r * JACOBIAN_POINTS + i] * expected[q * JACOBIAN_POINTS + i];
      assert_close(c[r * JACOBIAN_ROWS + q], sum, q <= r ? JACOBIAN_POINTS * tolerance : 0);
    }
}

/** Blocks and product on one, two and three threads: right, and the same bits. */
static void check_jacobian(const setting *s, const char *instructions, int single, const pcsim_jacobian *j,
                           const double *expected, const double *ones) {
  double sums[3][JACOBIAN_ROWS], *c[3];
  const double tolerance = single ? 1e-5 : 1e-13;
  for (int threads = 1; threads <= 3; threads++) {
    const pcsim_executor_options options = {
        .threads = threads, .single = single, .tile = 16, .instructions = instructions};
    pcsim_executor *x = bind_jacobian(s, &options, ones);
    gather_jacobian(x, j, &options, expected, tolerance, sums[threads - 1]);
    c[threads - 1] = malloc(sizeof *c[0] * JACOBIAN_ROWS * JACOBIAN_ROWS);
    check_product(x, j, expected, tolerance, c[threads - 1]);
    pcsim_executor_destroy(&x);
    assert_memory_equal(c[0], c[threads - 1], sizeof *c[0] * JACOBIAN_ROWS * JACOBIAN_ROWS);
    assert_memory_equal(sums[0], sums[threads - 1], sizeof sums[0]);
  }
  for (int i = 0; i < 3; i++) free(c[i]);
}

static void test_jacobian(void **unused) {
  (void)unused;
  pcsim_program *p = reverse_program();
  setting s;
  begin(&s, p, (int64_t[]){JACOBIAN_POINTS});
  double *expected = malloc(sizeof *expected * JACOBIAN_ROWS * JACOBIAN_POINTS), ones[JACOBIAN_POINTS];
  for (int i = 0; i < JACOBIAN_POINTS; i++) ones[i] = 1;
  expected_jacobian(&s, expected);
  const pcsim_jacobian wanted[] = {{jacobian_outputs, 4, 0, 0, 0},
                                   {jacobian_outputs, 4, 0, 0, 40},
                                   {jacobian_outputs, 4, 5, 149, 1},
                                   {jacobian_outputs, 4, 149, 150, 0}};
  const size_t held = pcsim_memory_used();
  for (size_t k = 0; k < sizeof instruction_sets / sizeof *instruction_sets; k++)
    for (int single = 0; single < 2 && supported(instruction_sets[k], p); single++)
      for (size_t j = 0; j < sizeof wanted / sizeof *wanted; j++)
        check_jacobian(&s, instruction_sets[k], single, &wanted[j], expected, ones);
  assert_int_equal(pcsim_memory_used(), held);
  free(expected);
  end(&s);
  pcsim_program_destroy(&p);
}

/** More points than columns are held at a time, with a ragged end: the product in several rounds. */
static void test_long_product(void **unused) {
  (void)unused;
  enum { POINTS = 3001, ROWS = 700 };
  pcsim_space space;
  pcsim_program *p = new_program(&space);
  pcsim_value a = pcsim_build_input(p, "a", space, ROWS);
  pcsim_build_output(p, "sum", pcsim_build_sum(p, a));
  double *data = malloc(sizeof *data * POINTS * ROWS), *c[3];
  for (int i = 0; i < POINTS * ROWS; i++) data[i] = draw() - 0.5;
  const char *const outputs[] = {"sum"};
  const pcsim_jacobian j = {.outputs = outputs, .num_outputs = 1};
  for (int single = 0; single < 2; single++) {
    for (int threads = 1; threads <= 3; threads++) {
      const pcsim_executor_options options = {.threads = threads, .single = single};
      pcsim_executor *x = NULL;
      assert_ok(pcsim_executor_create(p, &options, &x));
      assert_ok(pcsim_executor_points(x, "points", POINTS));
      assert_ok(pcsim_executor_bind(x, "a", data));
      c[threads - 1] = calloc((size_t)ROWS * ROWS, sizeof *c[0]);
      assert_ok(pcsim_executor_jacobian_product(x, &j, c[threads - 1]));
      assert_memory_equal(c[0], c[threads - 1], sizeof *c[0] * ROWS * ROWS);
      pcsim_executor_destroy(&x);
    }
    for (int r = 0; r < ROWS; r += 23)
      for (int q = 0; q <= r; q += 7) {
        double sum = 0;
        for (int i = 0; i < POINTS; i++) sum += data[i * ROWS + r] * data[i * ROWS + q];
        assert_close(c[0][r * ROWS + q], sum, single ? 1e-4 : 1e-12);
      }
    for (int i = 0; i < 3; i++) free(c[i]);
  }
  free(data);
  pcsim_program_destroy(&p);
}

/** A visit takes smaller tiles than a run, for which there is other machine code: the terms
 * are a^2 - a, exact in both precisions. */
enum { WIDE_ROWS = 400 };
typedef struct {
  const double *data; /**< [points][WIDE_ROWS] a */
  atomic_int faults;
  atomic_llong numbers;
} wide;
static void compare_wide(void *context, const pcsim_jacobian_block *b) {
  wide *w = context;
  w->numbers += b->rows * b->n;
  for (int64_t k = 0; k < b->rows; k++)
    for (int64_t i = 0; i < b->n; i++) {
      const double a = w->data[(b->first + i) * WIDE_ROWS + pcsim_jacobian_row(b, k)], value = a * a - a;
      w->faults += b->numbers ? b->numbers[k * b->stride + i] != value
                              : b->numbers_single[k * b->stride + i] != (float)value;
    }
}

static void test_wide_jacobian(void **unused) {
  (void)unused;
  enum { POINTS = 107, ROWS = WIDE_ROWS };
  pcsim_space space;
  pcsim_program *p = new_program(&space);
  const pcsim_value a = pcsim_build_input(p, "a", space, ROWS),
                    square = pcsim_build_binary(p, PCSIM_OP_MUL, a, a);
  pcsim_build_output(p, "sum", pcsim_build_sum(p, pcsim_build_binary(p, PCSIM_OP_SUB, square, a)));
  double *data = malloc(sizeof *data * POINTS * ROWS);
  for (int i = 0; i < POINTS * ROWS; i++) data[i] = floor(1024 * draw()) / 1024;
  const char *const outputs[] = {"sum"};
  for (int single = 0; single < 2; single++) {
    wide w = {.data = data};
    pcsim_executor *x = NULL;
    assert_ok(pcsim_executor_create(p, &(pcsim_executor_options){.threads = 2, .single = single}, &x));
    assert_ok(pcsim_executor_points(x, "points", POINTS));
    assert_ok(pcsim_executor_bind(x, "a", data));
    assert_ok(pcsim_executor_jacobian(x, &(pcsim_jacobian){outputs, 1, 0, 0, 0}, compare_wide, &w));
    assert_int_equal(w.faults, 0);
    assert_int_equal(w.numbers, POINTS * ROWS);
    pcsim_executor_destroy(&x);
  }
  free(data);
  pcsim_program_destroy(&p);
}

typedef struct {
  double *numbers; /**< [rows][points] */
  int64_t points;
} plain;
static void gather_plain(void *context, const pcsim_jacobian_block *b) {
  const plain *g = context;
  for (int64_t r = 0; r < b->rows; r++)
    for (int64_t i = 0; i < b->n; i++)
      g->numbers[pcsim_jacobian_row(b, r) * g->points + b->first + i] = b->numbers[r * b->stride + i];
}

/** Terms of a later pass, outputs that are the same sum, outputs that are zero. */
static void test_jacobian_special(void **unused) {
  (void)unused;
  enum { POINTS = 40 };
  pcsim_space space;
  pcsim_program *p = new_program(&space);
  pcsim_value a = pcsim_build_input(p, "a", space, 1), b = pcsim_build_input(p, "b", space, 1);
  pcsim_value total = pcsim_build_sum(p, a);
  pcsim_value share = pcsim_build_sum(p, pcsim_build_binary(p, PCSIM_OP_DIV, b, total));
  pcsim_build_output(p, "share", share);
  pcsim_build_output(p, "none", graph_broadcast(p, pcsim_build_constant(p, 0), PCSIM_NO_SPACE, 2));
  pcsim_build_output(p, "again", share);
  pcsim_build_output(p, "total", total);
  pcsim_build_output(p, "b", b);
  assert_ok(pcsim_program_status(p));
  double as[POINTS], bs[POINTS], sum = 0, numbers[4 * POINTS];
  for (int i = 0; i < POINTS; i++) sum += as[i] = draw(), bs[i] = draw();
  plain g = {numbers, POINTS};
  const char *const outputs[] = {"share", "none", "again"};
  pcsim_executor *x = NULL;
  assert_ok(pcsim_executor_create(p, &(pcsim_executor_options){.threads = 2, .tile = 8}, &x));
  assert_ok(pcsim_executor_points(x, "points", POINTS));
  assert_ok(pcsim_executor_bind(x, "a", as));
  assert_ok(pcsim_executor_bind(x, "b", bs));
  assert_ok(pcsim_executor_jacobian(x, &(pcsim_jacobian){outputs, 3, 0, 0, 8}, gather_plain, &g));
  for (int i = 0; i < POINTS; i++) {
    assert_close(numbers[i], bs[i] / sum, 1e-14);
    assert_true(numbers[POINTS + i] == 0 && numbers[2 * POINTS + i] == 0);
    assert_true(numbers[3 * POINTS + i] == numbers[i]);
  }
  double c[16] = {0};
  assert_ok(pcsim_executor_jacobian_product(x, &(pcsim_jacobian){outputs, 3, 0, 0, 0}, c));
  assert_true(c[0] > 0 && c[12] == c[0] && c[15] == c[0] && c[4] == 0 && c[5] == 0 && c[10] == 0);
  const char *const wrong[] = {"share", "total", "b", "non", "none"};
  const struct {
    pcsim_jacobian j;
    const char *message;
  } faults[] = {{{wrong, 0, 0, 0, 0}, "no output is named"},
                {{wrong, 2, 0, 0, 0}, "output 'total' does not come out of the same pass"},
                {{wrong + 2, 1, 0, 0, 0}, "output 'b' is no sum over points"},
                {{wrong + 3, 1, 0, 0, 0}, "no output 'non'; nearest: 'none'"},
                {{wrong + 4, 1, 0, 0, 0}, "output 'none' is zero"},
                {{wrong, 6, 0, 0, 0}, "6 outputs are named, the program has 5"},
                {{wrong, 1, 0, 41, 0}, "points 0 to 40 of 40"},
                {{wrong, 1, -1, 0, 0}, "points -1 to 39 of 40"},
                {{wrong, 1, 9, 8, 0}, "points 9 to 7 of 40"},
                {{wrong, 1, 0, 0, -8}, "blocks of -8 points"}};
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    expect_message(pcsim_executor_jacobian(x, &faults[i].j, gather_plain, &g), PCSIM_ERR_ARG,
                   faults[i].message);
  pcsim_executor_destroy(&x);
  pcsim_program_destroy(&p);
}

/** A residual without the matrix by which its derivative is wanted: rows of zeros. */
static void test_jacobian_independent(void **unused) {
  (void)unused;
  enum { POINTS = 9 };
  pcsim_space space;
  pcsim_program *p = new_program(&space), *reverse = NULL;
  pcsim_value a = pcsim_build_input(p, "a", space, 1), w = pcsim_build_parameter(p, "w", 1, 1);
  pcsim_build_parameter(p, "m", 2, 3);
  pcsim_build_output(p, "r", pcsim_build_binary(p, PCSIM_OP_MUL, w, a));
  const char *const wrt[] = {"m", "w"}, *const outputs[] = {"b_m", "b_w"};
  assert_ok(pcsim_transform_vjp(p, wrt, 2, &reverse));
  const double as[POINTS] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, seed[POINTS] = {1, 1, 1, 1, 2, 1, 1, 1, 1};
  for (int simplified = 0; simplified < 2; simplified++) {
    double numbers[7 * POINTS];
    plain g = {numbers, POINTS};
    pcsim_executor *x = NULL;
    assert_ok(pcsim_executor_create(reverse, NULL, &x));
    assert_ok(pcsim_executor_points(x, "points", POINTS));
    assert_ok(pcsim_executor_bind(x, "a", as));
    assert_ok(pcsim_executor_bind(x, "b_r", seed));
    assert_ok(pcsim_executor_jacobian(x, &(pcsim_jacobian){outputs, 2, 0, 0, 0}, gather_plain, &g));
    for (int i = 0; i < 7 * POINTS; i++)
      assert_true(numbers[i] == (i < 6 * POINTS ? 0 : as[i - 6 * POINTS] * seed[i - 6 * POINTS]));
    pcsim_executor_destroy(&x);
    assert_ok(pcsim_program_simplify(reverse));
  }
  pcsim_program_destroy(&p);
  pcsim_program_destroy(&reverse);
}

static int run_all(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_jacobian),
      cmocka_unit_test(test_jacobian_special),
      cmocka_unit_test(test_jacobian_independent),
      cmocka_unit_test(test_long_product),
      cmocka_unit_test(test_wide_jacobian),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run_all, &argc, &argv); }
