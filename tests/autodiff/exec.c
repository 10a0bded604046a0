/* SPDX-License-Identifier: BSD-2-Clause */
/* The tiled executor against the plain interpreter: every kind of value, tile edges, precisions, threads,
 * instruction sets; then the messages. */
#include "exec_harness.h"

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
    /* Equal numbers, of which the first counts; another value along the same entries. */
    pcsim_value few = pcsim_build_unary(p, PCSIM_OP_FLOOR, pcsim_build_binary(p, PCSIM_OP_ADD, twice, u));
    pcsim_build_output(p, max ? "put max few" : "put min few", graph_segment_put(p, gradient, u, few, max));
    pcsim_build_output(p, max ? "put max more" : "put min more",
                       graph_segment_put(p, gradient, twice, few, max));
    /* The same once more: values of an instruction are not written twice. */
    pcsim_build_output(p, max ? "grad again" : "grad once more", pcsim_build_sparse(p, gradient, twice));
  }
  check_all(p, (int64_t[]){1, 1});
  check_all(p, (int64_t[]){7, 65});
  check_all(p, (int64_t[]){500, 1000});
  check_all(p, (int64_t[]){0, 0});
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

/** The first number that is not finite is named with its operator and point, on any number of threads. */
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

static int run_all(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_choice_checked), cmocka_unit_test(test_every_operator),
      cmocka_unit_test(test_every_kind),     cmocka_unit_test(test_channels),
      cmocka_unit_test(test_maps),           cmocka_unit_test(test_bindings),
      cmocka_unit_test(test_not_finite),     cmocka_unit_test(test_chains),
      cmocka_unit_test(test_gradient),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run_all, &argc, &argv); }
