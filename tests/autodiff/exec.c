/* SPDX-License-Identifier: BSD-2-Clause */
/* The tiled executor against the plain interpreter: every kind of value, tile edges, precisions, threads,
 * instruction sets; then the messages. */
#include "interpret.h"

#include <stdatomic.h>

enum { SIZES = 9 };
static const int64_t sizes[SIZES] = {0, 1, 7, 8, 9, 63, 64, 65, 1000};
static const char *const instruction_sets[] = {"portable", "avx2", "avx512"};

static uint64_t state = 1;
static double draw(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 11) * 0x1p-53;
}

/* --------------------------------------------------------------------- running */

/** Data for a program, and what the interpreter makes of it. */
typedef struct {
  pcsim_program *p;
  interpreter it;
  double **data;     /**< [names] */
  int64_t points[4]; /**< [spaces] */
  int32_t *index[4]; /**< [maps] index maps; columns of sparse ones */
  int64_t *start[4];
  double *weight[4];
} setting;

static void fill_maps(setting *s) {
  for (int m = 0; m < s->p->num_maps; m++) {
    const graph_map *map = &s->p->maps[m];
    const int64_t to = s->points[map->to], from = s->points[map->from];
    s->start[m] = calloc((size_t)to + 1, sizeof(int64_t));
    for (int64_t i = 0; i < to; i++)
      s->start[m][i + 1] = s->start[m][i] + (from == 0 ? 0 : map->width ? 1 + (int)(draw() * 5) : 1);
    const int64_t entries = s->start[m][to];
    s->index[m] = calloc((size_t)entries + 1, sizeof(int32_t));
    s->weight[m] = calloc((size_t)(entries * (map->width + 1)) + 1, sizeof(double));
    for (int64_t e = 0; e < entries; e++) s->index[m][e] = (int32_t)(draw() * (double)from);
    for (int64_t e = 0; e < entries * map->width; e++) s->weight[m][e] = draw() - 0.5;
    interpret_bind_map(
        &s->it, map->name,
        (interpret_map){
            .index = s->index[m], .start = s->start[m], .column = s->index[m], .weight = s->weight[m]});
  }
}

/** `points` for each space of the program; inputs between 0.1 and 1. */
static void begin(setting *s, pcsim_program *p, const int64_t *points) {
  *s = (setting){.p = p};
  assert_ok(pcsim_program_status(p));
  interpret_begin(&s->it, p);
  s->data = calloc((size_t)p->num_names + 1, sizeof *s->data);
  for (int i = 0; i < p->num_spaces; i++) {
    s->points[i] = points[i];
    interpret_points(&s->it, p->spaces[i], points[i]);
  }
  for (int v = 0; v < p->num_nodes; v++) {
    const node *n = &p->nodes[v];
    if (n->kind != NODE_INPUT && n->kind != NODE_PARAMETER) continue;
    const size_t count = (size_t)interpret_count(&s->it, v) * (size_t)n->rows * (size_t)n->columns;
    double *data = calloc(count + 1, sizeof *data);
    for (size_t i = 0; i < count; i++) data[i] = 0.1 + 0.9 * draw();
    s->data[n->index] = data;
    interpret_bind(&s->it, p->names[n->index], data);
  }
  fill_maps(s);
  interpret_run(&s->it);
}

static void end(setting *s) {
  for (int i = 0; i < s->p->num_names; i++) free(s->data[i]);
  for (int i = 0; i < s->p->num_maps; i++) {
    free(s->index[i]);
    free(s->start[i]);
    free(s->weight[i]);
  }
  free(s->data);
  interpret_end(&s->it);
}

static size_t output_count(const setting *s, int i) {
  const node *n = &s->p->nodes[s->p->outputs[i].value];
  return (size_t)interpret_count(&s->it, s->p->outputs[i].value) * (size_t)n->rows * (size_t)n->columns;
}

/** Outputs by the executor, one block after the other; caller frees. */
static double *execute(const setting *s, const pcsim_executor_options *options) {
  pcsim_executor *x = NULL;
  assert_ok(pcsim_executor_create(s->p, options, &x));
  for (int i = 0; i < s->p->num_spaces; i++)
    assert_ok(pcsim_executor_points(x, s->p->spaces[i], s->points[i]));
  for (int i = 0; i < s->p->num_names; i++)
    if (s->data[i]) assert_ok(pcsim_executor_bind(x, s->p->names[i], s->data[i]));
  for (int m = 0; m < s->p->num_maps; m++) {
    const graph_map *map = &s->p->maps[m];
    if (map->width)
      assert_ok(pcsim_executor_bind_sparse(x, map->name, s->start[m], s->index[m], s->weight[m]));
    else assert_ok(pcsim_executor_bind_index(x, map->name, s->index[m]));
  }
  size_t total = 0;
  for (int i = 0; i < s->p->num_outputs; i++) total += output_count(s, i);
  double *out = calloc(total + 1, sizeof *out), *at = out;
  for (int i = 0; i < s->p->num_outputs; i++) {
    assert_ok(pcsim_executor_bind_output(x, s->p->outputs[i].name, at));
    at += output_count(s, i);
  }
  assert_ok(pcsim_executor_run(x, s->points[0] > 0)); /* the mean of nothing is no number */
  double *again = malloc((total + 1) * sizeof *again);
  memcpy(again, out, total * sizeof *again);
  assert_ok(pcsim_executor_run(x, false));
  assert_memory_equal(again, out, total * sizeof *again);
  free(again);
  pcsim_executor_destroy(&x);
  return out;
}

static void compare(const setting *s, const double *out, double tolerance, const char *what) {
  for (int i = 0; i < s->p->num_outputs; i++) {
    const double *expected = s->it.values[s->p->outputs[i].value];
    for (size_t j = 0; j < output_count(s, i); j++, out++)
      if (isnan(expected[j]) ? !isnan(*out)
                             : !(fabs(*out - expected[j]) <= tolerance * (1 + fabs(expected[j]))))
        fail_msg("%s: output '%s' number %zu is %.17g, expected %.17g", what, s->p->outputs[i].name, j, *out,
                 expected[j]);
  }
}

static bool supported(const char *instructions, const pcsim_program *p) {
  pcsim_executor *x = NULL;
  const bool yes =
      pcsim_executor_create(p, &(pcsim_executor_options){.instructions = instructions}, &x) == PCSIM_OK;
  pcsim_executor_destroy(&x);
  return yes;
}

static size_t total_bytes(const setting *s) {
  size_t total = 0;
  for (int i = 0; i < s->p->num_outputs; i++) total += output_count(s, i);
  return total * sizeof(double);
}

/** All instruction sets, precisions, tiles and thread counts. */
static void check_all(pcsim_program *p, const int64_t *points) {
  setting s;
  const size_t held = pcsim_memory_used();
  begin(&s, p, points);
  for (size_t k = 0; k < sizeof instruction_sets / sizeof *instruction_sets; k++) {
    if (!supported(instruction_sets[k], p)) continue;
    for (int single = 0; single < 2; single++)
      for (int tile = 0; tile <= 24; tile += 8) {
        pcsim_executor_options options = {
            .threads = 1, .single = single, .tile = tile, .instructions = instruction_sets[k]};
        double *one = execute(&s, &options);
        char what[32];
        snprintf(what, sizeof what, "%s %s", instruction_sets[k], single ? "single" : "double");
        compare(&s, one, single ? 2e-4 : 1e-12, what);
        options.threads = 2;
        double *two = execute(&s, &options);
        assert_memory_equal(one, two, total_bytes(&s));
        free(one);
        free(two);
      }
  }
  end(&s);
  assert_int_equal(pcsim_memory_used(), held);
}

static void check_sizes(pcsim_program *p) {
  for (int i = 0; i < SIZES; i++) {
    int64_t points[4];
    for (int j = 0; j < 4; j++) points[j] = sizes[i];
    check_all(p, points);
  }
}

/* -------------------------------------------------------------------- programs */

static void expect_message(pcsim_status status, pcsim_status expected, const char *part) {
  assert_int_equal(status, expected);
  if (!strstr(pcsim_error_message(), part))
    fail_msg("message '%s' does not hold '%s'", pcsim_error_message(), part);
}

static pcsim_program *new_program(pcsim_space *space) {
  pcsim_program *p = NULL;
  assert_ok(pcsim_program_create(&p));
  *space = pcsim_build_space(p, "points");
  return p;
}

static void test_every_operator(void **unused) {
  (void)unused;
  pcsim_space space;
  pcsim_program *p = new_program(&space);
  pcsim_value a = pcsim_build_input(p, "a", space, 3), b = pcsim_build_input(p, "b", space, 3),
              c = pcsim_build_input(p, "c", space, 1), d = pcsim_build_parameter(p, "d", 3, 1);
  for (int op = 0; op < PCSIM_NUM_OPS; op++)
    for (int kind = 0; kind < 4; kind++) {
      /* Full values; a row, a column and one number, which are repeated. */
      pcsim_value one = kind == 3 ? pcsim_build_constant(p, 0.75) : kind == 2 ? d : kind == 1 ? c : b;
      pcsim_value in[3] = {kind & 1 ? one : a, kind & 1 ? a : one, kind ? one : c};
      char name[32];
      snprintf(name, sizeof name, "%s %d", op_name((pcsim_op)op), kind);
      pcsim_build_output(p, name, pcsim_build_op(p, (pcsim_op)op, in, op_num_inputs((pcsim_op)op)));
    }
  check_sizes(p);
  pcsim_program_destroy(&p);
}

static void scale(void *context, int64_t n, const double *const *in, double *out) {
  for (int64_t i = 0; i < n; i++) out[i] = *(double *)context * in[0][i] + in[1][i];
}

static void test_every_kind(void **unused) {
  (void)unused;
  pcsim_space space;
  pcsim_program *p = new_program(&space);
  double factor = 1.5;
  const int user = pcsim_program_add_op(
      p, &(pcsim_user_op){.name = "scale", .num_inputs = 2, .value = scale, .context = &factor});
  pcsim_value x = pcsim_build_input(p, "x", space, 5), y = pcsim_build_input(p, "y", space, 1),
              u = pcsim_build_input(p, "u", PCSIM_NO_SPACE, 5), w = pcsim_build_parameter(p, "w", 7, 5),
              bias = pcsim_build_parameter(p, "bias", 7, 1);
  pcsim_value h = pcsim_build_dense(p, w, x, bias), back = pcsim_build_dense_transposed(p, w, h);
  pcsim_value joined = pcsim_build_concat(p, (pcsim_value[]){h, y, u, back}, 4);
  pcsim_value part = pcsim_build_slice(p, joined, 3, 11), one = pcsim_build_slice(p, part, 2, 1);
  pcsim_value wide = graph_broadcast(p, one, space, 5), even = graph_broadcast(p, u, space, 5);
  pcsim_value sum = pcsim_build_sum(p, part), outer = pcsim_build_outer(p, h, part),
              none = pcsim_build_sum(p, even);
  pcsim_value scaled = pcsim_build_user(p, user, (pcsim_value[]){x, y});
  pcsim_value scaled_none = pcsim_build_user(p, user, (pcsim_value[]){u, pcsim_build_constant(p, 2)});
  struct {
    const char *name;
    pcsim_value value;
  } outputs[] = {
      {"input", x},
      {"table", pcsim_build_table(p, 3, (const double[]){-0.5, 0, 0.25}, (const double[]){2, 1, 4}, x)},
      {"table of one", pcsim_build_table(p, 2, (const double[]){-2, 2}, (const double[]){2, 1}, one)},
      {"table on none", pcsim_build_table(p, 2, (const double[]){-2, 2}, (const double[]){2, 1}, u)},
      {"rows of the input", pcsim_build_slice(p, x, 1, 3)},
      {"none", u},
      {"dense", h},
      {"back", back},
      {"joined", joined},
      {"part", part},
      {"frozen", pcsim_build_frozen(p, part)},
      {"wide", wide},
      {"even", even},
      {"row sum", pcsim_build_row_sum(p, joined)},
      {"sum", sum},
      {"mean", pcsim_build_mean(p, h)},
      {"outer", outer},
      {"outer none", pcsim_build_outer(p, u, sum)},
      {"outer mixed", pcsim_build_outer(p, u, h)},
      {"transpose", graph_transpose(p, outer)},
      {"count", none},
      {"user", scaled},
      {"user none", scaled_none},
      {"dense none", pcsim_build_dense(p, w, u, bias)},
      {"dense even", pcsim_build_dense(p, w, even, bias)},
      {"back none", pcsim_build_dense_transposed(p, w, bias)},
      {"again",
       pcsim_build_binary(p, PCSIM_OP_MUL, part, sum)}, /* a second pass, with what the first stored */
      {"cut", pcsim_build_row_sum(p, outer)},
      {"slice none", pcsim_build_slice(p, outer, 2, 3)},
      {"concat none", pcsim_build_concat(p, (pcsim_value[]){u, sum}, 2)},
      {"folded", pcsim_build_binary(p, PCSIM_OP_SUB, back, pcsim_build_binary(p, PCSIM_OP_MUL, x, wide))},
  };
  for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
    pcsim_build_output(p, outputs[i].name, outputs[i].value);
  check_sizes(p);
  pcsim_program_destroy(&p);
}

/** Products of one weight and sums of outer products, as jets and their reverse make them. */
static void test_channels(void **unused) {
  (void)unused;
  for (int rows = 1; rows <= 21; rows += 5)
    for (int columns = 1; columns <= 13; columns += 4) {
      pcsim_space space;
      pcsim_program *p = new_program(&space);
      pcsim_value w = pcsim_build_parameter(p, "w", rows, columns), outer = -1, sum = -1;
      for (int c = 0; c < 5; c++) {
        char name[16];
        snprintf(name, sizeof name, "x%d", c);
        pcsim_value x = pcsim_build_input(p, name, space, columns), y = pcsim_build_dense(p, w, x, -1);
        if (c == 0) y = pcsim_build_unary(p, PCSIM_OP_TANH, y);
        pcsim_build_output(p, name, y);
        pcsim_value term = pcsim_build_outer(p, y, x), total = pcsim_build_sum(p, y);
        outer = c ? pcsim_build_binary(p, PCSIM_OP_ADD, outer, term) : term;
        sum = c ? pcsim_build_binary(p, PCSIM_OP_ADD, total, sum) : total;
      }
      pcsim_build_output(p, "outer", outer);
      pcsim_build_output(p, "sum", sum);
      check_all(p, (int64_t[]){0});
      check_all(p, (int64_t[]){65});
      check_all(p, (int64_t[]){1000});
      pcsim_program_destroy(&p);
    }
}

/** Random chains of sums, differences and products, which the planner takes together in every way it knows.
 */
static void test_chains(void **unused) {
  (void)unused;
  for (int trial = 0; trial < 30; trial++) {
    pcsim_space space;
    pcsim_program *p = new_program(&space);
    enum { LENGTH = 60 };
    pcsim_value v[LENGTH] = {pcsim_build_input(p, "a", space, 3), pcsim_build_input(p, "b", space, 1),
                             pcsim_build_parameter(p, "c", 3, 1), pcsim_build_constant(p, -0.5)};
    for (int i = 4; i < LENGTH; i++) {
      /* Mostly of the latest values, so that many are used once. */
      const pcsim_op op =
          (const pcsim_op[]){PCSIM_OP_MUL, PCSIM_OP_MUL, PCSIM_OP_ADD, PCSIM_OP_SUB}[(int)(draw() * 4)];
      const int back = i < 6 ? i : 6, x = i - 1 - (int)(draw() * back), y = i - 1 - (int)(draw() * back);
      v[i] = pcsim_build_binary(p, op, v[x], v[y]);
      /* Products of products grow: held between -1 and 1, where single precision can follow. */
      if (i % 4 == 0) v[i] = pcsim_build_unary(p, PCSIM_OP_TANH, v[i]);
    }
    pcsim_build_output(p, "last", v[LENGTH - 1]);
    pcsim_build_output(p, "middle", v[LENGTH / 2]);
    pcsim_build_output(p, "sum",
                       pcsim_build_sum(p, pcsim_build_binary(p, PCSIM_OP_ADD, v[LENGTH - 2], v[0])));
    check_all(p, (int64_t[]){65});
    pcsim_program_destroy(&p);
  }
}

/** The gradient of a second-order residual of a network: what the transforms make of it. */
static void test_gradient(void **unused) {
  (void)unused;
  pcsim_space space;
  pcsim_program *p = new_program(&space), *jet = NULL, *reverse = NULL;
  pcsim_value h = pcsim_build_input(p, "x", space, 2);
  for (int layer = 0; layer < 4; layer++) {
    const int in = layer ? 9 : 2, out = layer < 3 ? 9 : 1;
    char w[8], b[8];
    snprintf(w, sizeof w, "w%d", layer);
    snprintf(b, sizeof b, "b%d", layer);
    h = pcsim_build_dense(p, pcsim_build_parameter(p, w, out, in), h, pcsim_build_parameter(p, b, out, 1));
    if (layer < 3) h = pcsim_build_unary(p, layer ? PCSIM_OP_TANH : PCSIM_OP_SIN, h);
  }
  pcsim_build_output(p, "u", h);
  assert_ok(pcsim_transform_jet(p, "x", 2, 2, &jet));
  pcsim_value r =
      pcsim_build_binary(jet, PCSIM_OP_ADD, graph_find_output(jet, "u_0_2"), graph_find_output(jet, "u_1_2"));
  r = pcsim_build_binary(jet, PCSIM_OP_MUL, r, graph_find_output(jet, "u"));
  pcsim_build_output(jet, "loss", pcsim_build_mean(jet, pcsim_build_binary(jet, PCSIM_OP_MUL, r, r)));
  const char *const wrt[] = {"w0", "b0", "w1", "b1", "w2", "b2", "w3", "b3"};
  assert_ok(pcsim_transform_vjp(jet, wrt, 8, &reverse));
  for (int simplified = 0; simplified < 2; simplified++) {
    check_all(reverse, (int64_t[]){65});
    check_all(jet, (int64_t[]){65});
    assert_ok(pcsim_program_simplify(reverse));
    assert_ok(pcsim_program_simplify(jet));
  }
  pcsim_program_destroy(&p);
  pcsim_program_destroy(&jet);
  pcsim_program_destroy(&reverse);
}

static void test_maps(void **unused) {
  (void)unused;
  pcsim_space cells;
  pcsim_program *p = new_program(&cells);
  pcsim_space faces = pcsim_build_space(p, "faces");
  pcsim_map owner = pcsim_build_index_map(p, "owner", faces, cells),
            gradient = pcsim_build_sparse_map(p, "gradient", cells, cells, 2);
  pcsim_value u = pcsim_build_input(p, "u", cells, 2);
  pcsim_value twice = pcsim_build_binary(p, PCSIM_OP_MUL, u, pcsim_build_constant(p, 2));
  pcsim_value grad = pcsim_build_sparse(p, gradient, twice);
  pcsim_value low = pcsim_build_segment_min(p, gradient, u),
              high = pcsim_build_segment_max(p, gradient, pcsim_build_slice(p, twice, 1, 1));
  pcsim_value at_face = pcsim_build_gather(p, owner, pcsim_build_slice(p, grad, 1, 2));
  pcsim_value flux = pcsim_build_binary(
      p, PCSIM_OP_MUL, at_face, pcsim_build_unary(p, PCSIM_OP_TANH, pcsim_build_gather(p, owner, low)));
  pcsim_value residual = pcsim_build_scatter_add(p, owner, flux);
  pcsim_build_output(p, "grad", grad);
  pcsim_build_output(p, "low", low);
  pcsim_build_output(p, "high", high);
  pcsim_build_output(p, "flux", flux);
  pcsim_build_output(p, "residual", residual);
  pcsim_build_output(p, "norm", pcsim_build_sum(p, pcsim_build_binary(p, PCSIM_OP_MUL, residual, residual)));
  pcsim_build_output(p, "adjoint", pcsim_build_sparse_transposed(p, gradient, grad));
  for (int max = 0; max < 2; max++) {
    pcsim_build_output(p, max ? "pick max" : "pick min", graph_segment_pick(p, gradient, residual, u, max));
    pcsim_build_output(p, max ? "put max" : "put min", graph_segment_put(p, gradient, low, u, max));
  }
  check_all(p, (int64_t[]){1, 1});
  check_all(p, (int64_t[]){7, 65});
  check_all(p, (int64_t[]){500, 1000});
  check_all(p, (int64_t[]){0, 0});
  pcsim_program_destroy(&p);
}

/* -------------------------------------------------------------------- jacobian */

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
  double *whole;                                    /**< [rows][JACOBIAN_POINTS] */
  double sums[PCSIM_JACOBIAN_PARTS][JACOBIAN_ROWS]; /**< of one number a row and point */
  int64_t last[PCSIM_JACOBIAN_PARTS];               /**< end of the latest block of the part */
  int owner[PCSIM_JACOBIAN_PARTS];                  /**< its thread, plus one */
  atomic_int faults, blocks;
} gathered;

static void gather_block(void *context, const pcsim_jacobian_block *b) {
  gathered *g = context;
  g->blocks++;
  const bool fits = b->rows == g->rows && b->n > 0 && b->n <= b->stride && b->stride % 8 == 0 &&
                    b->n <= g->largest && b->first >= g->first && b->first + b->n <= g->end &&
                    b->thread >= 0 && b->thread < g->threads && b->part >= 0 &&
                    b->part < PCSIM_JACOBIAN_PARTS && (b->numbers == NULL) == g->single &&
                    (b->numbers_single != NULL) == g->single;
  if (!fits || b->first < g->last[b->part] || (g->owner[b->part] && g->owner[b->part] != b->thread + 1)) {
    g->faults++;
    return;
  }
  g->last[b->part] = b->first + b->n;
  g->owner[b->part] = b->thread + 1;
  for (int64_t r = 0; r < b->rows; r++)
    for (int64_t i = 0; i < b->stride; i++) {
      const int64_t at = r * b->stride + i;
      const double value = b->numbers ? b->numbers[at] : (double)b->numbers_single[at];
      if (i < b->n) g->whole[r * JACOBIAN_POINTS + b->first + i] = value;
      else if (value != 0) g->faults++;
      g->sums[b->part][r] += value;
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
  if (j->block) assert_int_equal(g.blocks, (end - j->first + g.largest - 1) / g.largest);
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

/** So many rows that a visit takes smaller tiles than a run. */
typedef struct {
  const double *data; /**< [points][rows] */
  atomic_int faults, points;
} wide;
static void compare_wide(void *context, const pcsim_jacobian_block *b) {
  wide *w = context;
  w->points += (int)b->n;
  for (int64_t r = 0; r < b->rows; r++)
    for (int64_t i = 0; i < b->n; i++) {
      const double value = w->data[(b->first + i) * b->rows + r];
      w->faults += b->numbers ? b->numbers[r * b->stride + i] != value
                              : b->numbers_single[r * b->stride + i] != (float)value;
    }
}

static void test_wide_jacobian(void **unused) {
  (void)unused;
  enum { POINTS = 107, ROWS = 40000 };
  pcsim_space space;
  pcsim_program *p = new_program(&space);
  pcsim_build_output(p, "sum", pcsim_build_sum(p, pcsim_build_input(p, "a", space, ROWS)));
  double *data = malloc(sizeof *data * POINTS * ROWS);
  for (int i = 0; i < POINTS * ROWS; i++) data[i] = draw();
  const char *const outputs[] = {"sum"};
  for (int single = 0; single < 2; single++) {
    wide w = {.data = data};
    pcsim_executor *x = NULL;
    assert_ok(pcsim_executor_create(p, &(pcsim_executor_options){.threads = 2, .single = single}, &x));
    assert_ok(pcsim_executor_points(x, "points", POINTS));
    assert_ok(pcsim_executor_bind(x, "a", data));
    assert_ok(pcsim_executor_jacobian(x, &(pcsim_jacobian){outputs, 1, 0, 0, 0}, compare_wide, &w));
    assert_int_equal(w.faults, 0);
    assert_int_equal(w.points, POINTS);
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
      g->numbers[r * g->points + b->first + i] = b->numbers[r * b->stride + i];
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

/* --------------------------------------------------------------------- messages */

static void test_bindings(void **unused) {
  (void)unused;
  pcsim_space space;
  pcsim_program *p = new_program(&space);
  pcsim_space faces = pcsim_build_space(p, "faces");
  pcsim_map owner = pcsim_build_index_map(p, "owner", faces, space),
            matrix = pcsim_build_sparse_map(p, "matrix", space, space, 1);
  pcsim_value velocity = pcsim_build_input(p, "velocity", space, 1);
  pcsim_build_output(p, "flux", pcsim_build_gather(p, owner, velocity));
  pcsim_build_output(p, "product", pcsim_build_sparse(p, matrix, velocity));
  const size_t held = pcsim_memory_used();
  pcsim_executor *x = NULL;
  expect_message(pcsim_executor_create(p, &(pcsim_executor_options){.device = "cpi"}, &x), PCSIM_ERR_ARG,
                 "nearest: 'cpu'");
  expect_message(pcsim_executor_create(p, &(pcsim_executor_options){.instructions = "mmx"}, &x),
                 PCSIM_ERR_ARG, "'mmx'");
  assert_int_equal(pcsim_memory_used(), held);
  assert_ok(pcsim_executor_create(p, NULL, &x));
  const double data[3] = {1, 2, 3};
  expect_message(pcsim_executor_bind(x, "velocty", data), PCSIM_ERR_ARG,
                 "no input or parameter 'velocty'; nearest: 'velocity'");
  expect_message(pcsim_executor_points(x, "point", 3), PCSIM_ERR_ARG, "no space 'point'; nearest: 'points'");
  expect_message(pcsim_executor_points(x, "points", -3), PCSIM_ERR_ARG, "-3 points");
  expect_message(pcsim_executor_bind_output(x, "fluxx", NULL), PCSIM_ERR_ARG,
                 "no output 'fluxx'; nearest: 'flux'");
  expect_message(pcsim_executor_bind_index(x, "ownr", NULL), PCSIM_ERR_ARG,
                 "no map 'ownr'; nearest: 'owner'");
  expect_message(pcsim_executor_bind_index(x, "matrix", NULL), PCSIM_ERR_ARG, "'matrix' is sparse");
  expect_message(pcsim_executor_bind_sparse(x, "owner", NULL, NULL, NULL), PCSIM_ERR_ARG,
                 "'owner' is an index map");
  expect_message(pcsim_executor_run(x, false), PCSIM_ERR_ARG, "points of space 'points'");
  assert_ok(pcsim_executor_points(x, "points", 3));
  assert_ok(pcsim_executor_points(x, "faces", 2));
  expect_message(pcsim_executor_run(x, false), PCSIM_ERR_ARG, "input 'velocity' is not bound");
  assert_ok(pcsim_executor_bind(x, "velocity", data));
  expect_message(pcsim_executor_run(x, false), PCSIM_ERR_ARG, "map 'owner' is not bound");
  const int32_t wrong[2] = {0, 3}, right[2] = {0, 2}, columns[3] = {0, 1, 2};
  assert_ok(pcsim_executor_bind_index(x, "owner", wrong));
  expect_message(pcsim_executor_run(x, false), PCSIM_ERR_ARG,
                 "map 'owner': entry 1 is 3, 'points' has 3 points");
  assert_ok(pcsim_executor_bind_index(x, "owner", right));
  const int64_t back[4] = {0, 2, 1, 3}, start[4] = {0, 1, 2, 3};
  assert_ok(pcsim_executor_bind_sparse(x, "matrix", back, columns, data));
  expect_message(pcsim_executor_run(x, false), PCSIM_ERR_ARG,
                 "map 'matrix': row 1 ends at 1 before its start 2");
  assert_ok(pcsim_executor_bind_sparse(x, "matrix", start, columns, NULL));
  expect_message(pcsim_executor_run(x, false), PCSIM_ERR_ARG, "map 'matrix' has no weights");
  assert_ok(pcsim_executor_bind_sparse(x, "matrix", start, columns, data));
  double product[3] = {0};
  assert_ok(pcsim_executor_bind_output(x, "product", product));
  assert_ok(pcsim_executor_run(x, true));
  for (int i = 0; i < 3; i++) assert_close(product[i], data[i] * data[i], 0);
  pcsim_executor_destroy(&x);
  assert_int_equal(pcsim_memory_used(), held);
  pcsim_program_destroy(&p);
}

/** The first number that is not finite is named with its operator and point, on any number of threads. */
/** A choice is checked by what it takes, in values, gradients and on no space. */
static void test_choice_checked(void **unused) {
  (void)unused;
  pcsim_space space;
  pcsim_program *p = new_program(&space), *g;
  pcsim_value x = pcsim_build_input(p, "x", space, 1), k = pcsim_build_parameter(p, "k", 1, 1);
  pcsim_value zero = pcsim_build_constant(p, 0);
  pcsim_value log_x = pcsim_build_unary(p, PCSIM_OP_LOG, x), log_k = pcsim_build_unary(p, PCSIM_OP_LOG, k);
  pcsim_value positive = pcsim_build_binary(p, PCSIM_OP_LT, zero, x);
  pcsim_value both = pcsim_build_op(p, PCSIM_OP_WHERE, (pcsim_value[]){k, log_k, zero}, 3);
  pcsim_value y = pcsim_build_op(p, PCSIM_OP_WHERE, (pcsim_value[]){positive, log_x, x}, 3);
  pcsim_build_output(p, "y", pcsim_build_binary(p, PCSIM_OP_ADD, y, both));
  assert_ok(pcsim_transform_vjp(p, (const char *[]){"x", "k"}, 2, &g));
  double data[40], ones[40], out[40];
  for (int i = 0; i < 40; i++) data[i] = i - 20, ones[i] = 1;
  pcsim_executor *e = NULL;
  assert_ok(pcsim_executor_create(g, NULL, &e));
  assert_ok(pcsim_executor_points(e, "points", 40));
  assert_ok(pcsim_executor_bind(e, "x", data));
  assert_ok(pcsim_executor_bind(e, "b_y", ones));
  assert_ok(pcsim_executor_bind_output(e, "b_x", out));
  assert_ok(pcsim_executor_run(e, true));
  for (int i = 0; i < 40; i++) assert_close(out[i], i > 20 ? 1.0 / (i - 20) : 1, 1e-15);
  data[7] = INFINITY; /* log of it is taken */
  expect_message(pcsim_executor_run(e, true), PCSIM_ERR_CASE, "is inf at point 7");
  pcsim_executor_destroy(&e);
  pcsim_program_destroy(&g);
  pcsim_program_destroy(&p);
}

static void test_not_finite(void **unused) {
  (void)unused;
  pcsim_space space;
  pcsim_program *p = new_program(&space);
  pcsim_value x = pcsim_build_input(p, "x", space, 1);
  pcsim_value y = pcsim_build_binary(p, PCSIM_OP_DIV, pcsim_build_constant(p, 1), x);
  pcsim_build_output(p, "y", pcsim_build_unary(p, PCSIM_OP_EXP, pcsim_build_unary(p, PCSIM_OP_NEG, y)));
  pcsim_build_output(p, "sum", pcsim_build_sum(p, x));
  double data[300];
  for (int i = 0; i < 300; i++) data[i] = i == 123 || i == 290 ? 0 : 1 + i;
  for (int threads = 1; threads < 3; threads++) {
    pcsim_executor *e = NULL;
    assert_ok(pcsim_executor_create(p, &(pcsim_executor_options){.threads = threads, .tile = 8}, &e));
    assert_ok(pcsim_executor_points(e, "points", 300));
    assert_ok(pcsim_executor_bind(e, "x", data));
    expect_message(pcsim_executor_run(e, true), PCSIM_ERR_CASE, "(div) is inf at point 123 of 'points'");
    assert_ok(pcsim_executor_run(e, false));
    data[17] = NAN;
    expect_message(pcsim_executor_run(e, true), PCSIM_ERR_CASE, "input 'x' is nan at point 17");
    /* Each term is finite, their sum is not. */
    data[17] = data[18] = data[123] = data[290] = 1e308;
    expect_message(pcsim_executor_run(e, true), PCSIM_ERR_CASE, "(sum) over the points of 'points' is inf");
    data[17] = data[18] = 1;
    data[123] = data[290] = 0;
    pcsim_executor_destroy(&e);
  }
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
      cmocka_unit_test(test_choice_checked),
      cmocka_unit_test(test_every_operator),
      cmocka_unit_test(test_every_kind),
      cmocka_unit_test(test_channels),
      cmocka_unit_test(test_maps),
      cmocka_unit_test(test_bindings),
      cmocka_unit_test(test_not_finite),
      cmocka_unit_test(test_jacobian),
      cmocka_unit_test(test_jacobian_special),
      cmocka_unit_test(test_jacobian_independent),
      cmocka_unit_test(test_chains),
      cmocka_unit_test(test_gradient),
      cmocka_unit_test(test_long_product),
      cmocka_unit_test(test_wide_jacobian),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run_all, &argc, &argv); }
