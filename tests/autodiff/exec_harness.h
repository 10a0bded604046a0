/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_harness.h  A program by the tiled executor and by the plain interpreter, on random data: all
 * instruction sets, precisions, tiles and thread counts. */
#ifndef PCSIM_TEST_EXEC_HARNESS_H
#define PCSIM_TEST_EXEC_HARNESS_H

#include "interpret.h"

enum { SIZES = 9 };
static const int64_t sizes[SIZES] = {0, 1, 7, 8, 9, 63, 64, 65, 1000};
static const char *const instruction_sets[] = {"portable", "avx2", "avx512"};

static uint64_t state = 1;
static inline double draw(void) {
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

static inline void fill_maps(setting *s) {
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
static inline void begin(setting *s, pcsim_program *p, const int64_t *points) {
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

static inline void end(setting *s) {
  for (int i = 0; i < s->p->num_names; i++) free(s->data[i]);
  for (int i = 0; i < s->p->num_maps; i++) {
    free(s->index[i]);
    free(s->start[i]);
    free(s->weight[i]);
  }
  free(s->data);
  interpret_end(&s->it);
}

static inline size_t output_count(const setting *s, int i) {
  const node *n = &s->p->nodes[s->p->outputs[i].value];
  return (size_t)interpret_count(&s->it, s->p->outputs[i].value) * (size_t)n->rows * (size_t)n->columns;
}

/** Outputs by the executor, one block after the other; caller frees. */
static inline double *execute(const setting *s, const pcsim_executor_options *options) {
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

static inline void compare(const setting *s, const double *out, double tolerance, const char *what) {
  for (int i = 0; i < s->p->num_outputs; i++) {
    const double *expected = s->it.values[s->p->outputs[i].value];
    for (size_t j = 0; j < output_count(s, i); j++, out++)
      if (isnan(expected[j]) ? !isnan(*out)
                             : !(fabs(*out - expected[j]) <= tolerance * (1 + fabs(expected[j]))))
        fail_msg("%s: output '%s' number %zu is %.17g, expected %.17g", what, s->p->outputs[i].name, j, *out,
                 expected[j]);
  }
}

static inline bool supported(const char *instructions, const pcsim_program *p) {
  pcsim_executor *x = NULL;
  const bool yes =
      pcsim_executor_create(p, &(pcsim_executor_options){.instructions = instructions}, &x) == PCSIM_OK;
  pcsim_executor_destroy(&x);
  return yes;
}

static inline size_t total_bytes(const setting *s) {
  size_t total = 0;
  for (int i = 0; i < s->p->num_outputs; i++) total += output_count(s, i);
  return total * sizeof(double);
}

/** All instruction sets, precisions, tiles and thread counts. */
static inline void check_all(pcsim_program *p, const int64_t *points) {
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

static inline void check_sizes(pcsim_program *p) {
  for (int i = 0; i < SIZES; i++) {
    int64_t points[4];
    for (int j = 0; j < 4; j++) points[j] = sizes[i];
    check_all(p, points);
  }
}

/* -------------------------------------------------------------------- programs */

static inline void expect_message(pcsim_status status, pcsim_status expected, const char *part) {
  assert_int_equal(status, expected);
  if (!strstr(pcsim_error_message(), part))
    fail_msg("message '%s' does not hold '%s'", pcsim_error_message(), part);
}

static inline pcsim_program *new_program(pcsim_space *space) {
  pcsim_program *p = NULL;
  assert_ok(pcsim_program_create(&p));
  *space = pcsim_build_space(p, "points");
  return p;
}

/** A program on cells ("points") and faces with an owner and a neighbour, and a sparse map of two weights
 * between cells. */
typedef struct {
  pcsim_program *p;
  pcsim_space cells, faces;
  pcsim_map owner, neighbour, near;
} mesh_program;

static inline mesh_program new_mesh_program(void) {
  mesh_program m = {.p = NULL};
  m.p = new_program(&m.cells);
  m.faces = pcsim_build_space(m.p, "faces");
  m.owner = pcsim_build_index_map(m.p, "owner", m.faces, m.cells);
  m.neighbour = pcsim_build_index_map(m.p, "neighbour", m.faces, m.cells);
  m.near = pcsim_build_sparse_map(m.p, "near", m.cells, m.cells, 2);
  return m;
}

static inline pcsim_value mul(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, PCSIM_OP_MUL, a, b);
}
static inline pcsim_value add(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, PCSIM_OP_ADD, a, b);
}

#endif
