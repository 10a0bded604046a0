/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs put together at random from every kind of value: simplification keeps their values, tangents and
 * cotangents agree (those of gradient programs too), jets of order 1 are tangents, and the executor gives on
 * all of them what the plain interpreter gives, with one thread and with two. */
#include "interpret.h"

enum { CELLS = 9, FACES = 13, NAMES_MAX = 64, NUMBERS_MAX = 256, PROGRAMS = 300 };

static uint64_t state_;
static int pick(int n) {
  state_ = state_ * 6364136223846793005u + 1442695040888963407u;
  return (int)((state_ >> 33) % (uint64_t)n);
}
static double number(void) { return pick(2001) / 1000.0 - 1; }

/* --------------------------------------------------------------------- mesh */

static int32_t index_[FACES], column_[CELLS * 4];
static int64_t start_[CELLS + 1];
static double weight_[CELLS * 4 * 2];

static void make_mesh(void) {
  for (int f = 0; f < FACES; f++) index_[f] = pick(CELLS);
  for (int c = 0; c < CELLS; c++) {
    start_[c + 1] = start_[c] + 1 + pick(4);
    for (int64_t e = start_[c]; e < start_[c + 1]; e++) {
      column_[e] = pick(CELLS);
      for (int w = 0; w < 2; w++) weight_[2 * e + w] = number();
    }
  }
}

/* ------------------------------------------------------------------ programs */

typedef struct {
  pcsim_program *p;
  pcsim_space cells, faces;
  pcsim_map owner, gradient;
  pcsim_value values[64];
  int count;
} builder;

static void keep(builder *b, pcsim_value v) {
  assert_ok(pcsim_program_status(b->p));
  if (b->count < 64) b->values[b->count++] = v;
}

static pcsim_value any(const builder *b) { return b->values[pick(b->count)]; }
static const node *of(const builder *b, pcsim_value v) { return &b->p->nodes[v]; }
static pcsim_value unary(builder *b, pcsim_op op, pcsim_value a) { return pcsim_build_unary(b->p, op, a); }
static pcsim_value binary(builder *b, pcsim_op op, pcsim_value a, pcsim_value c) {
  return pcsim_build_binary(b->p, op, a, c);
}

/** Another value that may meet `a` point by point, `a` itself at worst. */
static pcsim_value partner(const builder *b, pcsim_value a) {
  for (int attempt = 0; attempt < 20; attempt++) {
    const pcsim_value c = any(b);
    const node *n = of(b, a), *m = of(b, c);
    const bool sizes = (m->rows == n->rows && m->columns == n->columns) ||
                       (m->rows == 1 && m->columns == 1) || (n->rows == 1 && n->columns == 1);
    const bool spaces =
        m->space == n->space || ((m->space < 0 || n->space < 0) && m->columns == 1 && n->columns == 1);
    if (sizes && spaces) return c;
  }
  return a;
}

static void add_pointwise(builder *b) {
  static const pcsim_op unaries[] = {PCSIM_OP_NEG,  PCSIM_OP_SIN,   PCSIM_OP_COS,     PCSIM_OP_TANH,
                                     PCSIM_OP_ATAN, PCSIM_OP_ERF,   PCSIM_OP_SIGMOID, PCSIM_OP_SOFTPLUS,
                                     PCSIM_OP_GELU, PCSIM_OP_SWISH, PCSIM_OP_ABS,     PCSIM_OP_SIGN};
  static const pcsim_op binaries[] = {PCSIM_OP_ADD, PCSIM_OP_SUB, PCSIM_OP_MUL,   PCSIM_OP_MUL,
                                      PCSIM_OP_MIN, PCSIM_OP_MAX, PCSIM_OP_HYPOT, PCSIM_OP_LT};
  const pcsim_value a = any(b), c = partner(b, a);
  const pcsim_value two = pcsim_build_constant(b->p, 2), tame = unary(b, PCSIM_OP_SIN, c);
  switch (pick(5)) {
  case 0:
    keep(b, unary(b, unaries[pick(12)], a));
    return;
  case 1:
    keep(b, binary(b, binaries[pick(8)], a, c));
    return;
  case 2:
    keep(b, binary(b, PCSIM_OP_DIV, a, binary(b, PCSIM_OP_ADD, two, tame)));
    return;
  case 3:
    keep(b, binary(b, PCSIM_OP_POW, unary(b, PCSIM_OP_TANH, a), pcsim_build_constant(b->p, pick(4))));
    return;
  default: {
    const pcsim_value smaller = binary(b, PCSIM_OP_LT, a, c);
    keep(b, pcsim_build_op(b->p, PCSIM_OP_WHERE, (pcsim_value[]){smaller, c, unary(b, PCSIM_OP_TANH, a)}, 3));
  }
  }
}

static void add_joining(builder *b) {
  const pcsim_value a = any(b);
  const node n = *of(b, a);
  switch (pick(6)) {
  case 0:
    if (n.columns == 1) {
      pcsim_value c = partner(b, a);
      if (of(b, c)->columns == 1 && n.rows + of(b, c)->rows < 8)
        keep(b, pcsim_build_concat(b->p, (pcsim_value[]){a, c}, 2));
    }
    return;
  case 1: {
    const int first = pick(n.rows);
    keep(b, pcsim_build_slice(b->p, a, first, 1 + pick(n.rows - first)));
    return;
  }
  case 2:
    keep(b, pcsim_build_row_sum(b->p, a));
    return;
  case 3:
    keep(b, pcsim_build_frozen(b->p, a));
    return;
  case 4:
    if (n.space >= 0) keep(b, pick(2) ? pcsim_build_sum(b->p, a) : pcsim_build_mean(b->p, a));
    return;
  default: {
    const pcsim_value c = any(b);
    const node m = *of(b, c);
    if (n.columns == 1 && m.columns == 1 && (n.space < 0 || m.space < 0 || n.space == m.space))
      keep(b, pcsim_build_outer(b->p, a, c));
  }
  }
}

static void add_product(builder *b) {
  for (int attempt = 0; attempt < 30; attempt++) {
    const pcsim_value w = any(b), x = any(b);
    if (of(b, w)->space >= 0 || of(b, x)->columns > 1) continue;
    if (of(b, w)->columns == of(b, x)->rows) {
      pcsim_value bias = any(b);
      if (of(b, bias)->space >= 0 || of(b, bias)->columns > 1 || of(b, bias)->rows != of(b, w)->rows)
        bias = PCSIM_NO_VALUE;
      keep(b, pcsim_build_dense(b->p, w, x, bias));
      return;
    }
    if (of(b, w)->rows == of(b, x)->rows) {
      keep(b, pcsim_build_dense_transposed(b->p, w, x));
      return;
    }
  }
}

static void add_map(builder *b) {
  const pcsim_value a = any(b);
  const node n = *of(b, a);
  if (n.space == b->faces) keep(b, pcsim_build_scatter_add(b->p, b->owner, a));
  if (n.space != b->cells) return;
  switch (pick(5)) {
  case 0:
    keep(b, pcsim_build_gather(b->p, b->owner, a));
    return;
  case 1:
    if (n.rows < 4) keep(b, pcsim_build_sparse(b->p, b->gradient, a));
    return;
  case 2:
    if (n.rows % 2 == 0) keep(b, pcsim_build_sparse_transposed(b->p, b->gradient, a));
    return;
  case 3:
    keep(b, pcsim_build_segment_min(b->p, b->gradient, a));
    return;
  default:
    keep(b, pcsim_build_segment_max(b->p, b->gradient, a));
    return;
  }
}

static pcsim_program *build_random(void) {
  builder b = {0};
  assert_ok(pcsim_program_create(&b.p));
  b.cells = pcsim_build_space(b.p, "cells");
  b.faces = pcsim_build_space(b.p, "faces");
  b.owner = pcsim_build_index_map(b.p, "owner", b.faces, b.cells);
  b.gradient = pcsim_build_sparse_map(b.p, "gradient", b.cells, b.cells, 2);
  keep(&b, pcsim_build_input(b.p, "x", b.cells, 2));
  keep(&b, pcsim_build_input(b.p, "z", b.faces, 3));
  keep(&b, pcsim_build_input(b.p, "u", b.cells, 1));
  keep(&b, pcsim_build_parameter(b.p, "W", 3, 2));
  keep(&b, pcsim_build_parameter(b.p, "V", 2, 3));
  keep(&b, pcsim_build_parameter(b.p, "c", 3, 1));
  keep(&b, pcsim_build_parameter(b.p, "s", 1, 1));
  keep(&b, pcsim_build_constant(b.p, 0.5));
  for (int i = 0; i < 25; i++) switch (pick(6)) {
    case 0:
    case 1:
      add_pointwise(&b);
      break;
    case 2:
      add_joining(&b);
      break;
    case 3:
      add_product(&b);
      break;
    default:
      add_map(&b);
      break;
    }
  /* Outputs are tamed: sums over many points of products of products would leave no digits to compare. */
  for (int i = 0; i < 3; i++) {
    char name[8];
    snprintf(name, sizeof name, "y%d", i);
    pcsim_build_output(b.p, name, unary(&b, PCSIM_OP_TANH, i ? any(&b) : b.values[b.count - 1]));
  }
  assert_ok(pcsim_program_status(b.p));
  return b.p;
}

/* ----------------------------------------------------------------- evaluation */

typedef double store[NAMES_MAX][NUMBERS_MAX];

/** Numbers that depend on the name alone: the same in every program. */
static void fill(const pcsim_program *p, store data) {
  assert_true(p->num_names <= NAMES_MAX);
  for (int i = 0; i < p->num_names; i++) {
    state_ = 12345;
    for (const char *c = p->names[i]; *c; c++) state_ = state_ * 131 + (uint64_t)*c;
    for (int k = 0; k < NUMBERS_MAX; k++) data[i][k] = number();
  }
}

static void run_plainly(interpreter *it, const pcsim_program *p, store data) {
  interpret_begin(it, p);
  interpret_points(it, "cells", CELLS);
  interpret_points(it, "faces", FACES);
  interpret_bind_map(it, "owner", (interpret_map){.index = index_});
  interpret_bind_map(it, "gradient", (interpret_map){.start = start_, .column = column_, .weight = weight_});
  for (int i = 0; i < p->num_names; i++) interpret_bind(it, p->names[i], data[i]);
  interpret_run(it);
}

static int64_t size_of(const interpreter *it, pcsim_value v) {
  const node *n = &it->p->nodes[v];
  return interpret_count(it, v) * n->rows * n->columns;
}

/** Largest difference to the size of the largest number. */
static double distance(const double *a, const double *b, int64_t n) {
  double worst = 0, size = 1e-3;
  for (int64_t i = 0; i < n; i++) {
    size = fmax(size, fabs(b[i]));
    if (!(fabs(a[i] - b[i]) <= worst)) worst = fabs(a[i] - b[i]);
  }
  return worst / size;
}

static const char *instructions_;

/** The executor on the same data: what the interpreter gives, and the same bits with two threads. */
static void check_executor(const interpreter *it, store data) {
  static double out[2][16][NUMBERS_MAX];
  const pcsim_program *p = it->p;
  assert_true(p->num_outputs <= 16);
  for (int threads = 1; threads <= 2; threads++) {
    pcsim_executor *e = NULL;
    pcsim_executor_options options = {.threads = threads, .tile = 8, .instructions = instructions_};
    if (pcsim_executor_create(p, &options, &e) != PCSIM_OK) {
      options.instructions = NULL; /* the processor does not have them */
      assert_ok(pcsim_executor_create(p, &options, &e));
    }
    assert_ok(pcsim_executor_points(e, "cells", CELLS));
    assert_ok(pcsim_executor_points(e, "faces", FACES));
    assert_ok(pcsim_executor_bind_index(e, "owner", index_));
    assert_ok(pcsim_executor_bind_sparse(e, "gradient", start_, column_, weight_));
    for (int i = 0; i < p->num_names; i++) assert_ok(pcsim_executor_bind(e, p->names[i], data[i]));
    for (int i = 0; i < p->num_outputs; i++)
      assert_ok(pcsim_executor_bind_output(e, p->outputs[i].name, out[threads - 1][i]));
    assert_ok(pcsim_executor_run(e, false));
    pcsim_executor_destroy(&e);
  }
  for (int i = 0; i < p->num_outputs; i++) {
    const pcsim_value v = p->outputs[i].value;
    const double error = distance(out[0][i], it->values[v], size_of(it, v));
    if (!(error <= 1e-10))
      fail_msg("output '%s': executor and interpreter differ by %g", p->outputs[i].name, error);
    assert_memory_equal(out[0][i], out[1][i], (size_t)size_of(it, v) * sizeof(double));
  }
}

/** Values of the outputs of `q` that `p` has too. */
static void check_same(const pcsim_program *p, const pcsim_program *q, double tolerance) {
  static store a, b;
  interpreter f, g;
  fill(p, a);
  fill(q, b);
  run_plainly(&f, p, a);
  run_plainly(&g, q, b);
  check_executor(&g, b);
  for (int i = 0; i < p->num_outputs; i++) {
    const double *got = interpret_output(&g, p->outputs[i].name);
    const double error = distance(got, f.values[p->outputs[i].value], size_of(&f, p->outputs[i].value));
    if (!(error <= tolerance)) fail_msg("output '%s' changed by %g", p->outputs[i].name, error);
  }
  interpret_end(&f);
  interpret_end(&g);
}

static const char *const wrt[] = {"x", "W", "s", "z", "c", "u"};
enum { NUM_WRT = sizeof wrt / sizeof wrt[0] };

/** Name with the prefix of the first level that `p` does not use. */
static void prefixed(const pcsim_program *p, char letter, const char *name, char *text) {
  snprintf(text, 128, "%c_x", letter);
  const bool second = graph_find(p, text) >= 0 || graph_find_output(p, text) >= 0;
  snprintf(text, 128, second ? "%c2_%s" : "%c_%s", letter, name);
}

/** sum over outputs <b, J v> against sum over `wrt` <J^T b, v>. */
static void check_duality(const pcsim_program *p) {
  static store a, b;
  pcsim_program *tangent = NULL, *cotangent = NULL;
  char name[128];
  interpreter f, r;
  double ahead = 0, backward = 0, size = 0;
  assert_ok(pcsim_transform_jvp(p, wrt, NUM_WRT, &tangent));
  assert_ok(pcsim_transform_vjp(p, wrt, NUM_WRT, &cotangent));
  fill(tangent, a);
  fill(cotangent, b);
  run_plainly(&f, tangent, a);
  run_plainly(&r, cotangent, b);
  check_executor(&f, a);
  check_executor(&r, b);
  for (int i = 0; i < p->num_outputs; i++) {
    prefixed(p, 'd', p->outputs[i].name, name);
    const double *d = interpret_output(&f, name);
    prefixed(p, 'b', p->outputs[i].name, name);
    const pcsim_value bar = graph_find(cotangent, name);
    for (int64_t k = 0; k < size_of(&r, bar); k++) {
      ahead += d[k] * r.values[bar][k];
      size += fabs(d[k] * r.values[bar][k]);
    }
  }
  for (int i = 0; i < NUM_WRT; i++) {
    prefixed(p, 'd', wrt[i], name);
    const pcsim_value d = graph_find(tangent, name);
    prefixed(p, 'b', wrt[i], name);
    const double *bar = interpret_output(&r, name);
    for (int64_t k = 0; k < size_of(&f, d); k++) {
      backward += f.values[d][k] * bar[k];
      size += fabs(f.values[d][k] * bar[k]);
    }
  }
  if (!(fabs(ahead - backward) <= 1e-12 * fmax(size, 1e-6)))
    fail_msg("<b, J v> %.17g, <J^T b, v> %.17g, size %g", ahead, backward, size);
  interpret_end(&f);
  interpret_end(&r);
  pcsim_program_destroy(&tangent);
  pcsim_program_destroy(&cotangent);
}

/** A jet of order 1 is a tangent; the collapsed one of order 2 the sum of the second coefficients. */
static void check_jets(const pcsim_program *p) {
  static store a, b;
  pcsim_program *jet = NULL, *sum = NULL;
  char name[128];
  interpreter f, g;
  assert_ok(pcsim_transform_jet(p, "x", 2, 2, &jet));
  assert_ok(pcsim_transform_jet_collapsed(p, "x", 2, 2, NULL, &sum));
  fill(jet, a);
  fill(sum, b);
  run_plainly(&f, jet, a);
  run_plainly(&g, sum, b);
  check_executor(&g, b);
  for (int i = 0; i < p->num_outputs; i++) {
    snprintf(name, sizeof name, "%s_sum", p->outputs[i].name);
    const double *total = interpret_output(&g, name);
    for (int64_t k = 0; k < size_of(&f, graph_find_output(jet, p->outputs[i].name)); k++) {
      double parts = 0, size = 1e-3;
      for (int j = 0; j < 2; j++) {
        snprintf(name, sizeof name, "%s_%d_2", p->outputs[i].name, j);
        parts += interpret_output(&f, name)[k];
        size += fabs(interpret_output(&f, name)[k]);
      }
      assert_close(total[k] / size, parts / size, 1e-10);
    }
  }
  interpret_end(&f);
  interpret_end(&g);
  pcsim_program_destroy(&jet);
  pcsim_program_destroy(&sum);
}

static void test_programs(void **state) {
  (void)state;
  state_ = 1;
  make_mesh();
  for (int i = 0; i < PROGRAMS; i++) {
    instructions_ = (const char *[]){NULL, "portable", "avx2"}[i % 3];
    state_ = 1000003u * (uint64_t)(i + 1);
    pcsim_program *p = build_random(), *q = NULL;
    assert_ok(pcsim_program_copy(p, &q));
    assert_ok(pcsim_program_simplify(q));
    check_same(p, q, 1e-10);
    check_duality(p);
    check_jets(p);
    pcsim_program_destroy(&q);
    /* The gradient program is one more. */
    assert_ok(pcsim_program_keep(p, (const char *[]){"y0"}, 1));
    assert_ok(pcsim_transform_vjp(p, (const char *[]){"x", "W", "s"}, 3, &q));
    check_duality(q);
    pcsim_program_destroy(&q);
    pcsim_program_destroy(&p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs)};
  return interpret_balance(cmocka_run_group_tests_name("random programs", tests, NULL, NULL));
}
