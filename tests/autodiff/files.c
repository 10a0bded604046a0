/* SPDX-License-Identifier: BSD-2-Clause */
/* Saved programs: every kind of value and every operator there and back; every truncation and every changed
 * byte refused; arrays that do not fit each other refused with the sentence that says so. */
#include "pcsim_test.h"

#include "autodiff/file.h"

#include <unistd.h>

static const file_operators no_operators = {NULL, 0};

static const double pi_and_more[] = {3.14159265358979323846, -0.0, 1e-310};

/** Every kind that a file can hold. */
static pcsim_program *all_kinds(void) {
  pcsim_program *p;
  assert_ok(pcsim_program_create(&p));
  pcsim_space cells = pcsim_build_space(p, "cells"), faces = pcsim_build_space(p, "faces");
  pcsim_map owner = pcsim_build_index_map(p, "owner", faces, cells);
  pcsim_map gradient = pcsim_build_sparse_map(p, "gradient", cells, faces, 3);
  pcsim_value x = pcsim_build_input(p, "x", cells, 3), y = pcsim_build_input(p, "y", faces, 3);
  pcsim_value free = pcsim_build_input(p, "free", PCSIM_NO_SPACE, 4);
  pcsim_value weight = pcsim_build_parameter(p, "weight", 4, 3),
              bias = pcsim_build_parameter(p, "bias", 4, 1);
  for (int i = 0; i < 12; i++) pcsim_program_parameter(p, "weight", NULL, NULL)[i] = 1.0 / (i + 1);
  pcsim_program_parameter(p, "bias", NULL, NULL)[2] = NAN;
  pcsim_value constants = pcsim_build_constants(p, 3, pi_and_more);
  pcsim_value hidden = pcsim_build_dense(p, weight, x, bias);
  pcsim_value linear =
      pcsim_build_dense(p, weight, pcsim_build_binary(p, PCSIM_OP_ADD, x, constants), PCSIM_NO_VALUE);
  pcsim_value back = pcsim_build_dense_transposed(p, weight, hidden);
  pcsim_value both = pcsim_build_concat(p, (pcsim_value[]){hidden, x, linear}, 3);
  pcsim_value part = pcsim_build_slice(p, both, 3, 5);
  pcsim_value outer = pcsim_build_outer(p, hidden, x);
  pcsim_value turned = graph_transpose(p, outer);
  pcsim_value at_faces = pcsim_build_gather(p, owner, back);
  pcsim_value at_cells = pcsim_build_scatter_add(p, owner, y);
  pcsim_value slopes = pcsim_build_sparse(p, gradient, y);
  pcsim_value flux = pcsim_build_sparse_transposed(p, gradient, slopes);
  pcsim_value least = pcsim_build_segment_min(p, gradient, y), most = pcsim_build_segment_max(p, gradient, y);
  pcsim_value pick = graph_segment_pick(p, gradient, at_faces, y, true);
  pcsim_value put = graph_segment_put(p, gradient, least, y, false);
  pcsim_value sum = pcsim_build_sum(p, part), mean = pcsim_build_mean(p, pcsim_build_row_sum(p, x));
  pcsim_value spread = graph_broadcast(p, free, cells, 4);
  pcsim_value table = pcsim_build_table(p, 3, (const double[]){-1, 0, 2}, (const double[]){3, 1, 4}, hidden);
  pcsim_build_output(p, "i", table);
  pcsim_build_output(p, "j", graph_table(p, graph_node(p, table)->inputs[0], x, true));
  pcsim_build_output(p, "a", pcsim_build_frozen(p, at_cells));
  pcsim_build_output(p, "b", flux);
  pcsim_build_output(p, "c", pcsim_build_binary(p, PCSIM_OP_SUB, most, pick));
  pcsim_build_output(p, "d", put);
  pcsim_build_output(p, "e", sum);
  pcsim_build_output(p, "f", mean);
  pcsim_build_output(p, "g", turned);
  pcsim_build_output(p, "h", pcsim_build_binary(p, PCSIM_OP_MUL, spread, hidden));
  assert_ok(pcsim_program_status(p));
  return p;
}

/** Every operator. */
static pcsim_program *all_operators(void) {
  pcsim_program *p;
  assert_ok(pcsim_program_create(&p));
  pcsim_space points = pcsim_build_space(p, "points");
  pcsim_value in[3] = {pcsim_build_input(p, "x", points, 1), pcsim_build_input(p, "y", points, 1),
                       pcsim_build_input(p, "z", points, 1)};
  for (int op = 0; op < PCSIM_NUM_OPS; op++)
    pcsim_build_output(p, op_name((pcsim_op)op),
                       pcsim_build_op(p, (pcsim_op)op, in, op_num_inputs((pcsim_op)op)));
  assert_ok(pcsim_program_status(p));
  return p;
}

static void assert_same_node(const pcsim_program *p, const node *a, const pcsim_program *q, const node *b) {
  assert_int_equal(a->kind, b->kind);
  assert_int_equal(a->op, b->op);
  assert_true(a->space == b->space && a->rows == b->rows && a->columns == b->columns && a->first == b->first);
  assert_int_equal(a->num_inputs, b->num_inputs);
  for (int i = 0; i < a->num_inputs; i++) assert_int_equal(a->inputs[i], b->inputs[i]);
  if (a->kind == NODE_INPUT || a->kind == NODE_PARAMETER)
    assert_string_equal(p->names[a->index], q->names[b->index]);
  else assert_int_equal(a->index, b->index);
  assert_true(!a->numbers == !b->numbers);
  if (a->numbers)
    assert_memory_equal(a->numbers, b->numbers, (size_t)a->rows * (size_t)a->columns * sizeof(double));
}

static void assert_same(const pcsim_program *p, const pcsim_program *q) {
  assert_int_equal(p->num_nodes, q->num_nodes);
  for (int v = 0; v < p->num_nodes; v++) assert_same_node(p, &p->nodes[v], q, &q->nodes[v]);
  assert_int_equal(p->num_spaces, q->num_spaces);
  for (int i = 0; i < p->num_spaces; i++) assert_string_equal(p->spaces[i], q->spaces[i]);
  assert_int_equal(p->num_maps, q->num_maps);
  for (int i = 0; i < p->num_maps; i++) {
    assert_string_equal(p->maps[i].name, q->maps[i].name);
    assert_true(p->maps[i].to == q->maps[i].to && p->maps[i].from == q->maps[i].from &&
                p->maps[i].width == q->maps[i].width);
  }
  assert_int_equal(p->num_outputs, q->num_outputs);
  for (int i = 0; i < p->num_outputs; i++) {
    assert_string_equal(p->outputs[i].name, q->outputs[i].name);
    assert_int_equal(p->outputs[i].value, q->outputs[i].value);
  }
}

static char path[256];

static int make_path(void **state) {
  (void)state;
  snprintf(path, sizeof path, "pcsim-program-%ld.h5", (long)getpid());
  return 0;
}

static int remove_path(void **state) {
  (void)state;
  remove(path);
  return 0;
}

static void expect_refused(const char *data, size_t size, const char *words) {
  pcsim_program *p = NULL;
  assert_status(program_image_read("a.h5", data, size, no_operators, &p), PCSIM_ERR_IO);
  assert_null(p);
  if (!strstr(pcsim_error_message(), words))
    print_error("'%s' is not in: %s\n", words, pcsim_error_message());
  assert_non_null(strstr(pcsim_error_message(), words));
}

static void test_round_trip(void **state) {
  (void)state;
  size_t held = pcsim_memory_used();
  pcsim_program *(*const makers[])(void) = {all_kinds, all_operators};
  for (int i = 0; i < 2; i++) {
    pcsim_program *p = makers[i](), *q;
    bool seen[NUM_NODE_KINDS] = {false};
    for (int v = 0; v < p->num_nodes; v++) seen[p->nodes[v].kind] = true;
    for (int kind = 0; i == 0 && kind < NUM_NODE_KINDS; kind++) assert_true(seen[kind] || kind == NODE_USER);
    assert_ok(pcsim_program_save(p, path));
    assert_ok(pcsim_program_load(path, &q));
    assert_same(p, q);
    /* The same program, the same bytes. */
    char *first, *second;
    size_t n, m;
    assert_ok(program_image_make(p, &first, &n));
    assert_ok(program_image_make(q, &second, &m));
    assert_int_equal(n, m);
    assert_memory_equal(first, second, n);
    pcsim_free(&first);
    pcsim_free(&second);
    pcsim_program_destroy(&p);
    pcsim_program_destroy(&q);
  }
  assert_int_equal(pcsim_memory_used(), held);
}

/** An empty program and one without inputs. */
static void test_small(void **state) {
  (void)state;
  pcsim_program *p, *q;
  assert_ok(pcsim_program_create(&p));
  assert_ok(pcsim_program_save(p, path));
  assert_ok(pcsim_program_load(path, &q));
  assert_same(p, q);
  pcsim_program_destroy(&q);
  pcsim_build_output(p, "one", pcsim_build_constant(p, 1));
  assert_ok(pcsim_program_save(p, path));
  assert_ok(pcsim_program_load(path, &q));
  assert_same(p, q);
  pcsim_program_destroy(&q);
  pcsim_program_destroy(&p);
}

static void test_damage(void **state) {
  (void)state;
  pcsim_program *p = all_kinds();
  char *image;
  size_t size, held;
  assert_ok(program_image_make(p, &image, &size));
  pcsim_program_destroy(&p);
  held = pcsim_memory_used();
  for (size_t n = 0; n < size; n++) {
    const char *words = n < strlen(file_magic) ? "is no saved program" : "is cut short";
    expect_refused(image, n, words);
  }
  char *longer = malloc(size + 1);
  memcpy(longer, image, size);
  longer[size] = 0;
  expect_refused(longer, size + 1, "is damaged");
  free(longer);
  for (size_t i = 0; i < size; i++)
    for (int bit = 0; bit < 8; bit += 3) {
      image[i] = (char)(image[i] ^ (1 << bit));
      p = NULL;
      assert_status(program_image_read("a.h5", image, size, no_operators, &p), PCSIM_ERR_IO);
      assert_null(p);
      image[i] = (char)(image[i] ^ (1 << bit));
    }
  assert_int_equal(pcsim_memory_used(), held);
  memcpy(image + strlen(file_magic), "1\n", 2);
  expect_refused(image, size, "has version 1 of the format of programs; this pcsim reads version 2");
  memset(image + FILE_HEADER_SIZE, 7, size - FILE_HEADER_SIZE);
  file_header(image, image + FILE_HEADER_SIZE, size - FILE_HEADER_SIZE);
  expect_refused(image, size, "holds no HDF5 file");
  expect_refused("title: a case\n", 14, "is no saved program");
  pcsim_free(&image);
  pcsim_error_clear();
}

/** Change one element of a part and see the sentence. */
static void expect_wrong(file_part part, size_t place, double value, const char *words) {
  pcsim_program *p = all_kinds(), *q = NULL;
  program_flat flat;
  size_t held;
  assert_ok(program_flatten(p, &flat));
  pcsim_program_destroy(&p);
  held = pcsim_memory_used();
  assert_true(place < flat.part[part].count);
  if (file_parts[part].type == PART_INT) ((int32_t *)flat.part[part].data)[place] = (int32_t)value;
  else ((char *)flat.part[part].data)[place] = (char)value;
  assert_status(program_unflatten(&flat, no_operators, &q), PCSIM_ERR_IO);
  assert_null(q);
  if (!strstr(pcsim_error_message(), words))
    print_error("'%s' is not in: %s\n", words, pcsim_error_message());
  assert_non_null(strstr(pcsim_error_message(), words));
  assert_int_equal(pcsim_memory_used(), held);
  program_flat_free(&flat);
}

static size_t column(int v, int c) { return (size_t)(v * FILE_NODE_WIDTH + c); }

static void test_inconsistent(void **state) {
  (void)state;
  expect_wrong(PART_NODES, column(0, COLUMN_KIND), 99, "value 0 has the kind 99, which is not known here");
  expect_wrong(PART_NODES, column(0, COLUMN_KIND), -1, "value 0 has the kind -1");
  expect_wrong(PART_NODES, column(0, COLUMN_KIND), NODE_USER,
               "value 0 is the operator 0 of the host, which is not there");
  expect_wrong(PART_NODES, column(7, COLUMN_OP), 999,
               "value 7 has the operator 999, which is not known here");
  expect_wrong(PART_NODES, column(7, COLUMN_OP), PCSIM_OP_WHERE, "has 2 inputs");
  expect_wrong(PART_NODES, column(0, COLUMN_SPACE), 2, "value 0 lives on space 2, which is not there");
  expect_wrong(PART_NODES, column(0, COLUMN_ROWS), 0, "value 0 has 0 x 1 numbers");
  expect_wrong(PART_NODES, column(3, COLUMN_ROWS), 2000000000, "value 3 has 2000000000 x 3 numbers");
  expect_wrong(PART_NODES, column(3, COLUMN_ROWS), 4000, "numbers, ");
  expect_wrong(PART_NODES, column(6, COLUMN_ROWS), 5, "value 6 (dense) is not what its inputs make");
  expect_wrong(PART_NODES, column(0, COLUMN_COLUMNS), 2, "value 0 is a matrix at every point");
  expect_wrong(PART_NODES, column(0, COLUMN_INDEX), 1, "value 0 (input) has no name");
  expect_wrong(PART_INPUTS, 0, 6, "value 6 is made of value 6, which does not come before it");
  expect_wrong(PART_INPUTS, 0, -1, "value 6 is made of value -1");
  expect_wrong(PART_INPUTS, 0, 0, "value 6: dense: the weights differ from point to point of 'cells'");
  expect_wrong(PART_NAMES, 0, 'y', "value 1: the input or parameter 'y' is there already");
  expect_wrong(PART_NAMES, 0, 0, "value 0 (input) has no name");
  expect_wrong(PART_NAMES, 1, 'a', "value");
  expect_wrong(PART_SPACES, 5, 'x', "");
  expect_wrong(PART_MAPS, 0, 7, "map 0: map 'owner': it joins the spaces 7 and 0, there are 2");
  expect_wrong(PART_MAPS, 2, -3, "map 0: map 'owner': -3 weights an entry");
  expect_wrong(PART_MAPS, 5, 2000000000, "rows");
  expect_wrong(PART_MAPS, 5, 0, "'gradient' is an index map");
  expect_wrong(PART_OUTPUTS, 0, 4000, "the output 'i' is value 4000, which is not there");
  expect_wrong(PART_OUTPUT_NAMES, 2, 'i', "output 1: the output 'i' is there already");
  pcsim_error_clear();
}

static void user_value(void *context, int64_t n, const double *const *in, double *out) {
  (void)context;
  for (int64_t i = 0; i < n; i++) out[i] = in[0][i];
}

/** The derivative of the operator that doubles. */
static pcsim_value user_derivative(void *context, pcsim_program *p, int i, const pcsim_value *in,
                                   pcsim_value out) {
  (void)context, (void)i, (void)in, (void)out;
  return pcsim_build_constant(p, 2);
}

static void doubled(void *context, int64_t n, const double *const *in, double *out) {
  (void)context;
  for (int64_t i = 0; i < n; i++) out[i] = 2 * in[0][i];
}

static void expect_not_loaded(const pcsim_user_op *ops, int n, const char *words) {
  pcsim_program *p = NULL;
  assert_status(pcsim_program_load_with(path, ops, n, &p), PCSIM_ERR_IO);
  assert_null(p);
  if (!strstr(pcsim_error_message(), words))
    print_error("'%s' is not in: %s\n", words, pcsim_error_message());
  assert_non_null(strstr(pcsim_error_message(), words));
}

/** Operators of the host are in a file by their names. */
static void test_host_operators(void **state) {
  (void)state;
  const pcsim_user_op known[] = {{"unused", 1, user_value, NULL, NULL},
                                 {"doubled", 1, doubled, user_derivative, NULL},
                                 {"friction", 1, user_value, NULL, NULL}};
  pcsim_program *p, *q, *r;
  assert_ok(pcsim_program_create(&p));
  pcsim_value x = pcsim_build_input(p, "x", pcsim_build_space(p, "points"), 1), y = x;
  for (int i = 0; i < 3; i++) pcsim_program_add_op(p, &known[i]);
  y = pcsim_build_user(p, 1, &y);
  pcsim_build_output(p, "y", y);
  pcsim_build_output(p, "f", pcsim_build_user(p, 2, &y));
  assert_ok(pcsim_program_save(p, path));
  assert_ok(pcsim_program_load_with(path, known, 3, &q));
  /* Only the used ones are there. */
  assert_int_equal(q->num_user_ops, 2);
  assert_ok(pcsim_program_keep(q, (const char *[]){"y"}, 1));
  assert_ok(pcsim_transform_jvp(q, (const char *[]){"x"}, 1, &r));
  const double one = 1.5;
  double out[2];
  pcsim_executor *e;
  assert_ok(pcsim_executor_create(r, NULL, &e));
  assert_ok(pcsim_executor_points(e, "points", 1));
  assert_ok(pcsim_executor_bind(e, "x", &one));
  assert_ok(pcsim_executor_bind(e, "d_x", &one));
  assert_ok(pcsim_executor_bind_output(e, "y", &out[0]));
  assert_ok(pcsim_executor_bind_output(e, "d_y", &out[1]));
  assert_ok(pcsim_executor_run(e, true));
  assert_true(out[0] == 3 && out[1] == 3);
  pcsim_executor_destroy(&e);
  pcsim_program_destroy(&r);
  pcsim_program_destroy(&q);
  pcsim_program *none;
  assert_status(pcsim_program_load(path, &none), PCSIM_ERR_IO);
  expect_not_loaded(known, 2,
                    "it uses the operator 'friction' of the program that saved it; expected it among");
  expect_not_loaded(&(pcsim_user_op){"frictions", 1, user_value, NULL, NULL}, 1, "'doubled'");
  pcsim_user_op wrong[3] = {known[0], known[1], known[2]};
  wrong[2].name = "frction";
  expect_not_loaded(wrong, 3, "did you mean 'frction'?");
  wrong[2] = known[2];
  wrong[2].num_inputs = 2;
  expect_not_loaded(
      wrong, 3, "inputs of its operator 'friction': 1 when it was saved, 2 of the one that is given here");
  /* The same operator twice is one; another one of its name is refused. */
  int again = pcsim_program_add_op(p, &known[2]);
  pcsim_build_output(p, "g", pcsim_build_user(p, again, &x));
  assert_ok(pcsim_program_save(p, path));
  assert_ok(pcsim_program_load_with(path, known, 3, &q));
  assert_int_equal(q->num_user_ops, 2);
  pcsim_program_destroy(&q);
  again = pcsim_program_add_op(p, &(pcsim_user_op){"friction", 1, doubled, NULL, NULL});
  pcsim_build_output(p, "h", pcsim_build_user(p, again, &x));
  assert_status(pcsim_program_save(p, path), PCSIM_ERR_ARG);
  assert_non_null(strstr(pcsim_error_message(), "two different operators 'friction'"));
  pcsim_program_destroy(&p);
  pcsim_error_clear();
}

static void test_not_saved(void **state) {
  (void)state;
  pcsim_program *p;
  assert_ok(pcsim_program_create(&p));
  pcsim_build_slice(p, pcsim_build_constant(p, 1), 0, 2);
  assert_status(pcsim_program_save(p, path), PCSIM_ERR_ARG);
  pcsim_program_destroy(&p);
  assert_ok(pcsim_program_create(&p));
  assert_status(pcsim_program_save(p, "no-such-folder/a.h5"), PCSIM_ERR_IO);
  pcsim_program_destroy(&p);
  assert_status(pcsim_program_load("no-such-file.h5", &p), PCSIM_ERR_IO);
  assert_null(p);
  pcsim_error_clear();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_round_trip, make_path, remove_path),
      cmocka_unit_test_setup_teardown(test_small, make_path, remove_path),
      cmocka_unit_test(test_damage),
      cmocka_unit_test(test_inconsistent),
      cmocka_unit_test_setup_teardown(test_host_operators, make_path, remove_path),
      cmocka_unit_test_setup_teardown(test_not_saved, make_path, remove_path),
  };
  return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
