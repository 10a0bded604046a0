/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_bind.c  Executors: making them, binding data by name, and what every device needs before a run.
 */
#include "exec.h"

#include <stdio.h>
#include <string.h>

/** The devices; a new back end is one line here. */
static const exec_device *const devices[] = {&exec_cpu};
enum { NUM_DEVICES = sizeof devices / sizeof *devices };

static pcsim_status find_device(const char *name, const exec_device **device) {
  const char *names[NUM_DEVICES];
  for (int i = 0; i < NUM_DEVICES; i++) {
    names[i] = devices[i]->name;
    if (strcmp(name ? name : "cpu", names[i])) continue;
    *device = devices[i];
    return PCSIM_OK;
  }
  const char *near = pcsim_nearest(name, names, NUM_DEVICES);
  PCSIM_FAIL(PCSIM_ERR_ARG, "there is no device '%s'; nearest: '%s'", name, near ? near : names[0]);
}

static pcsim_status choose_kernels(pcsim_executor *x, const char *instructions) {
  x->kernels = exec_kernels_get(instructions, x->single);
  x->kernels_double = exec_kernels_get(instructions, false);
  PCSIM_CHECK(x->kernels, PCSIM_ERR_ARG,
              "this processor or build has no instruction set '%s'; known: 'portable', 'avx2', 'avx512'",
              instructions);
  return PCSIM_OK;
}

/* -------------------------------------------------------------- values on no space */

static size_t padded(const node *n) { return ((size_t)n->rows * (size_t)n->columns + 15) / 16 * 16; }

static pcsim_status create_uniforms(pcsim_executor *x) {
  const pcsim_program *g = x->plan.program;
  size_t total = 0;
  for (int v = 0; v < g->num_nodes; v++)
    if (x->plan.live[v] && g->nodes[v].space == PCSIM_NO_SPACE) total += padded(&g->nodes[v]);
  PCSIM_TRY(pcsim_alloc((size_t)g->num_nodes, sizeof *x->uniform, &x->uniform));
  PCSIM_TRY(pcsim_alloc(total, sizeof *x->uniform_block, &x->uniform_block));
  double *at = x->uniform_block;
  for (int v = 0; v < g->num_nodes; v++) {
    const node *n = &g->nodes[v];
    if (!x->plan.live[v] || n->space != PCSIM_NO_SPACE) continue;
    x->uniform[v] = at;
    at += padded(n);
    if (n->numbers) memcpy(x->uniform[v], n->numbers, (size_t)n->rows * (size_t)n->columns * sizeof(double));
  }
  return PCSIM_OK;
}

static pcsim_status create(const pcsim_program *program, const pcsim_executor_options *options,
                           pcsim_executor *x) {
  x->threads = options->threads > 0 ? options->threads : 1;
  x->single = options->single;
  x->interpreted = options->interpreted;
  PCSIM_TRY(find_device(options->device, &x->device));
  PCSIM_TRY(choose_kernels(x, options->instructions));
  PCSIM_TRY(plan_create(program, options->tile, x->kernels, &x->plan));
  const pcsim_program *g = x->plan.program;
  PCSIM_TRY(pcsim_alloc((size_t)g->num_spaces, sizeof *x->points, &x->points));
  for (int i = 0; i < g->num_spaces; i++) x->points[i] = -1;
  PCSIM_TRY(pcsim_alloc((size_t)g->num_names, sizeof *x->inputs, &x->inputs));
  PCSIM_TRY(pcsim_alloc((size_t)g->num_outputs, sizeof *x->outputs, &x->outputs));
  PCSIM_TRY(pcsim_alloc((size_t)g->num_maps, sizeof *x->maps, &x->maps));
  PCSIM_TRY(pcsim_alloc((size_t)x->plan.num_stores, sizeof *x->stores, &x->stores));
  PCSIM_TRY(pcsim_alloc((size_t)x->plan.num_stores, sizeof *x->store_room, &x->store_room));
  PCSIM_TRY(pcsim_alloc((size_t)x->plan.num_stores, sizeof *x->in_place, &x->in_place));
  PCSIM_TRY(create_uniforms(x));
  return x->device->create(x);
}

pcsim_status pcsim_executor_create(const pcsim_program *program, const pcsim_executor_options *options,
                                   pcsim_executor **executor) {
  const pcsim_executor_options none = {0};
  pcsim_executor *x = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *x, &x));
  pcsim_status status = create(program, options ? options : &none, x);
  if (status != PCSIM_OK) {
    pcsim_executor_destroy(&x);
    return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
  }
  *executor = x;
  return PCSIM_OK;
}

void pcsim_executor_destroy(pcsim_executor **executor) {
  pcsim_executor *x = *executor;
  if (!x) return;
  if (x->device_data) x->device->destroy(x);
  const pcsim_program *g = x->plan.program;
  for (int i = 0; x->maps && i < g->num_maps; i++) exec_map_release(&x->maps[i]);
  for (int i = 0; x->stores && i < x->plan.num_stores; i++) pcsim_free(&x->stores[i]);
  pcsim_free(&x->points);
  pcsim_free(&x->inputs);
  pcsim_free(&x->outputs);
  pcsim_free(&x->maps);
  pcsim_free(&x->block_row);
  pcsim_free(&x->row_fills);
  pcsim_free(&x->stores);
  pcsim_free(&x->store_room);
  pcsim_free(&x->in_place);
  pcsim_free(&x->uniform);
  pcsim_free(&x->uniform_block);
  plan_destroy(&x->plan);
  pcsim_free(executor);
}

/* ------------------------------------------------------------------ binding */

/** Place of a name among n, or -1 with a message that has the nearest. */
static int find_name(const char *what, const char *name, const char *const *names, int n) {
  for (int i = 0; i < n; i++)
    if (!strcmp(name, names[i])) return i;
  const char *near = pcsim_nearest(name, names, (size_t)n);
  if (near)
    pcsim_error_set(PCSIM_ERR_ARG, __FILE__, __LINE__, __func__, "the program has no %s '%s'; nearest: '%s'",
                    what, name, near);
  else pcsim_error_set(PCSIM_ERR_ARG, __FILE__, __LINE__, __func__, "the program has no %s '%s'", what, name);
  return -1;
}

pcsim_status pcsim_executor_points(pcsim_executor *executor, const char *space, int64_t points) {
  const pcsim_program *g = executor->plan.program;
  const int i = find_name("space", space, (const char *const *)g->spaces, g->num_spaces);
  if (i < 0) return PCSIM_ERR_ARG;
  PCSIM_CHECK(points >= 0, PCSIM_ERR_ARG, "space '%s': %lld points", space, (long long)points);
  if (executor->points[i] != points)
    for (int m = 0; m < g->num_maps; m++)
      if (g->maps[m].to == i || g->maps[m].from == i)
        executor->maps[m].checked = executor->maps[m].transposed = false;
  executor->points[i] = points;
  return PCSIM_OK;
}

pcsim_status pcsim_executor_bind(pcsim_executor *executor, const char *name, const double *data) {
  const pcsim_program *g = executor->plan.program;
  const int i = find_name("input or parameter", name, (const char *const *)g->names, g->num_names);
  if (i < 0) return PCSIM_ERR_ARG;
  executor->inputs[i] = data;
  return PCSIM_OK;
}

static int find_map(const pcsim_executor *x, const char *name) {
  const pcsim_program *g = x->plan.program;
  for (int i = 0; i < g->num_maps; i++)
    if (!strcmp(g->maps[i].name, name)) return i;
  const char *near = NULL;
  size_t n = (size_t)g->num_maps;
  const char **names = NULL;
  if (pcsim_alloc(n, sizeof *names, &names) == PCSIM_OK) {
    for (size_t i = 0; i < n; i++) names[i] = g->maps[i].name;
    near = pcsim_nearest(name, names, n);
    pcsim_free(&names);
  }
  pcsim_error_set(PCSIM_ERR_ARG, __FILE__, __LINE__, __func__, "the program has no map '%s'%s%s%s", name,
                  near ? "; nearest: '" : "", near ? near : "", near ? "'" : "");
  return -1;
}

pcsim_status pcsim_executor_bind_index(pcsim_executor *executor, const char *map, const int32_t *index) {
  const int i = find_map(executor, map);
  if (i < 0) return PCSIM_ERR_ARG;
  PCSIM_CHECK(executor->plan.program->maps[i].width == 0, PCSIM_ERR_ARG,
              "map '%s' is sparse: bind it with its rows", map);
  bound_map *m = &executor->maps[i];
  m->index = index;
  m->checked = m->transposed = false;
  return PCSIM_OK;
}

pcsim_status pcsim_executor_bind_sparse(pcsim_executor *executor, const char *map, const int64_t *start,
                                        const int32_t *column, const double *weight) {
  const int i = find_map(executor, map);
  if (i < 0) return PCSIM_ERR_ARG;
  PCSIM_CHECK(executor->plan.program->maps[i].width > 0, PCSIM_ERR_ARG,
              "map '%s' is an index map: bind its index", map);
  bound_map *m = &executor->maps[i];
  m->start = start;
  m->column = column;
  m->weight = weight;
  m->checked = m->transposed = false;
  return PCSIM_OK;
}

int exec_find_output(const pcsim_executor *x, const char *name) {
  const pcsim_program *g = x->plan.program;
  for (int i = 0; i < g->num_outputs; i++)
    if (!strcmp(g->outputs[i].name, name)) return i;
  const char *near = NULL, **names = NULL;
  if (pcsim_alloc((size_t)g->num_outputs, sizeof *names, &names) == PCSIM_OK) {
    for (int i = 0; i < g->num_outputs; i++) names[i] = g->outputs[i].name;
    near = pcsim_nearest(name, names, (size_t)g->num_outputs);
    pcsim_free(&names);
  }
  pcsim_error_set(PCSIM_ERR_ARG, __FILE__, __LINE__, __func__, "the program has no output '%s'%s%s%s", name,
                  near ? "; nearest: '" : "", near ? near : "", near ? "'" : "");
  return -1;
}

pcsim_status pcsim_executor_bind_output(pcsim_executor *executor, const char *name, double *data) {
  const int i = exec_find_output(executor, name);
  if (i < 0) return PCSIM_ERR_ARG;
  executor->outputs[i] = data;
  return PCSIM_OK;
}

/* ---------------------------------------------------------------------- run */

void exec_describe(const plan *p, pcsim_value v, int *row, char *text, size_t size) {
  const pcsim_program *program = p->program;
  const node *n = &program->nodes[v];
  plan_origin(p, &v, row);
  if (n->kind == NODE_INPUT || n->kind == NODE_PARAMETER)
    snprintf(text, size, "%s '%s'", node_kind_name(n->kind), program->names[n->index]);
  else
    snprintf(text, size, "value %d (%s)", v,
             n->kind == NODE_OP     ? op_name(n->op)
             : n->kind == NODE_USER ? program->user_ops[n->index].name
                                    : node_kind_name(n->kind));
}

const char *exec_bad_name(double value) { return value > 0 ? "inf" : value < 0 ? "-inf" : "nan"; }

const double *exec_source(const pcsim_executor *x, pcsim_value root) {
  const node *n = &x->plan.program->nodes[root];
  if (n->kind == NODE_INPUT) return x->inputs[n->index];
  return x->plan.added_to[root] == root ? exec_sum(x, root) : x->stores[x->plan.stored[root]];
}

/** Everything that the run reads is there; parameters and inputs on no space are taken over. */
static pcsim_status check_bound(pcsim_executor *x) {
  const pcsim_program *g = x->plan.program;
  for (int v = 0; v < g->num_nodes; v++) {
    const node *n = &g->nodes[v];
    if (!x->plan.live[v]) continue;
    PCSIM_CHECK(n->space == PCSIM_NO_SPACE || x->points[n->space] >= 0, PCSIM_ERR_ARG,
                "the number of points of space '%s' is not given", g->spaces[n->space]);
    if (n->kind != NODE_INPUT && n->kind != NODE_PARAMETER) continue;
    const double *data = x->inputs[n->index];
    const bool empty = n->space != PCSIM_NO_SPACE && x->points[n->space] == 0;
    PCSIM_CHECK(data || empty || n->kind == NODE_PARAMETER, PCSIM_ERR_ARG, "input '%s' is not bound",
                g->names[n->index]);
    if (n->space == PCSIM_NO_SPACE)
      memcpy(x->uniform[v], data ? data : n->numbers, (size_t)n->rows * (size_t)n->columns * sizeof(double));
  }
  return PCSIM_OK;
}

static pcsim_status grow_stores(pcsim_executor *x) {
  const plan *p = &x->plan;
  for (int i = 0; i < p->num_stores; i++) {
    const node *n = &p->program->nodes[p->store_node[i]];
    const int64_t size = x->points[n->space] * n->rows;
    if (size <= x->store_room[i] || x->in_place[i]) continue;
    pcsim_free(&x->stores[i]);
    x->store_room[i] = 0;
    PCSIM_TRY(pcsim_alloc((size_t)size, sizeof(double), &x->stores[i]));
    x->store_room[i] = size;
  }
  return PCSIM_OK;
}

pcsim_status exec_prepare(pcsim_executor *x, bool run) {
  PCSIM_TRY(check_bound(x));
  PCSIM_TRY(exec_maps_prepare(x));
  exec_sums_choose(x, run);
  return grow_stores(x);
}

pcsim_status pcsim_executor_run(pcsim_executor *executor, bool check) {
  pcsim_executor *x = executor;
  const pcsim_program *g = x->plan.program;
  PCSIM_TRY(exec_prepare(x, true));
  PCSIM_TRY(x->device->run(x, check));
  exec_sums_copy(x);
  for (int i = 0; i < g->num_outputs; i++) {
    const pcsim_value v = g->outputs[i].value;
    const node *n = &g->nodes[v];
    if (x->outputs[i] && n->space == PCSIM_NO_SPACE)
      memcpy(x->outputs[i], x->uniform[v], (size_t)n->rows * (size_t)n->columns * sizeof(double));
  }
  return PCSIM_OK;
}
