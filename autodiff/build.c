/* SPDX-License-Identifier: BSD-2-Clause */
/** @file build.c  The graph's storage: program, nodes, names, spaces, faults. */
#include "graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const kind_names[NUM_NODE_KINDS + 1] = {
    [NODE_CONSTANT] = "constant",
    [NODE_INPUT] = "input",
    [NODE_PARAMETER] = "parameter",
    [NODE_OP] = "op",
    [NODE_USER] = "user",
    [NODE_DENSE] = "dense",
    [NODE_DENSE_TRANSPOSED] = "dense_transposed",
    [NODE_OUTER] = "outer",
    [NODE_CONCAT] = "concat",
    [NODE_SLICE] = "slice",
    [NODE_ROW_SUM] = "row_sum",
    [NODE_SUM] = "sum",
    [NODE_BROADCAST] = "broadcast",
    [NODE_FROZEN] = "frozen",
    [NODE_GATHER] = "gather",
    [NODE_SCATTER_ADD] = "scatter_add",
    [NODE_SPARSE] = "sparse",
    [NODE_SPARSE_TRANSPOSED] = "sparse_transposed",
    [NODE_SEGMENT_MIN] = "segment_min",
    [NODE_SEGMENT_MAX] = "segment_max",
    [NODE_SEGMENT_PICK] = "segment_pick",
    [NODE_SEGMENT_PUT] = "segment_put",
    [NODE_TRANSPOSE] = "transpose",
    [NODE_TABLE] = "table",
    [NODE_SEGMENT_PLACE] = "segment_place",
};

const char *node_kind_name(node_kind kind) {
  return (int)kind >= 0 && kind <= NODE_SEGMENT_PLACE ? kind_names[kind] : "unknown";
}

pcsim_status pcsim_program_create(pcsim_program **program) {
  return pcsim_alloc(1, sizeof **program, program);
}

static void node_free(node *n) {
  pcsim_free(&n->inputs);
  pcsim_free(&n->numbers);
}

void pcsim_program_destroy(pcsim_program **program) {
  pcsim_program *p = *program;
  if (!p) return;
  for (int i = 0; i < p->num_nodes; i++) node_free(&p->nodes[i]);
  for (int i = 0; i < p->num_spaces; i++) pcsim_free(&p->spaces[i]);
  for (int i = 0; i < p->num_maps; i++) pcsim_free(&p->maps[i].name);
  for (int i = 0; i < p->num_names; i++) pcsim_free(&p->names[i]);
  for (int i = 0; i < p->num_outputs; i++) pcsim_free(&p->outputs[i].name);
  for (int i = 0; i < p->num_user_ops; i++) {
    char *name = (char *)p->user_ops[i].name;
    pcsim_free(&name);
  }
  pcsim_free(&p->nodes);
  pcsim_free(&p->spaces);
  pcsim_free(&p->maps);
  pcsim_free(&p->names);
  pcsim_free(&p->outputs);
  pcsim_free(&p->user_ops);
  pcsim_free(&p->table);
  pcsim_free(&p->fault);
  pcsim_free(program);
}

pcsim_status pcsim_program_status(const pcsim_program *program) {
  if (program->status == PCSIM_OK) return PCSIM_OK;
  PCSIM_FAIL(program->status, "%s", program->fault ? program->fault : "the program could not be built");
}

pcsim_value graph_fault(pcsim_program *program, pcsim_status status, const char *fmt, ...) {
  if (program->status != PCSIM_OK) return PCSIM_NO_VALUE;
  char text[512];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  program->status = status;
  if (pcsim_strdup(text, &program->fault) != PCSIM_OK) program->fault = NULL;
  return PCSIM_NO_VALUE;
}

/** Room for one more of `count` things of `size` bytes: capacities are the powers of two. */
static pcsim_status grow(int count, size_t size, void *ptr) {
  if (count & (count - 1)) return PCSIM_OK;
  return pcsim_realloc(count ? 2 * (size_t)count : 1, size, ptr);
}

pcsim_value graph_append(pcsim_program *program, const node *n) {
  if (program->num_nodes == program->room) {
    int room = program->room ? 2 * program->room : 64;
    if (pcsim_realloc((size_t)room, sizeof *program->nodes, &program->nodes) != PCSIM_OK)
      return graph_fault(program, PCSIM_ERR_MEMORY, "out of memory for %d values of a program", room);
    program->room = room;
  }
  node copy = *n;
  copy.inputs = NULL;
  copy.numbers = NULL;
  const size_t count = (size_t)n->rows * (size_t)n->columns;
  if (pcsim_alloc((size_t)n->num_inputs, sizeof *copy.inputs, &copy.inputs) != PCSIM_OK ||
      (n->numbers && pcsim_alloc(count, sizeof *copy.numbers, &copy.numbers) != PCSIM_OK)) {
    node_free(&copy);
    return graph_fault(program, PCSIM_ERR_MEMORY, "out of memory for a value with %zu numbers", count);
  }
  for (int i = 0; i < n->num_inputs; i++) copy.inputs[i] = n->inputs[i];
  if (n->numbers) memcpy(copy.numbers, n->numbers, count * sizeof *copy.numbers);
  program->nodes[program->num_nodes] = copy;
  return program->num_nodes++;
}

pcsim_value graph_find(const pcsim_program *program, const char *name) {
  for (int i = 0; i < program->num_nodes; i++) {
    const node *n = &program->nodes[i];
    if ((n->kind == NODE_INPUT || n->kind == NODE_PARAMETER) && !strcmp(program->names[n->index], name))
      return i;
  }
  return PCSIM_NO_VALUE;
}

pcsim_value graph_find_output(const pcsim_program *program, const char *name) {
  for (int i = 0; i < program->num_outputs; i++)
    if (!strcmp(program->outputs[i].name, name)) return program->outputs[i].value;
  return PCSIM_NO_VALUE;
}

const char *graph_space_name(const pcsim_program *program, pcsim_space space) {
  return space >= 0 && space < program->num_spaces ? program->spaces[space] : "no space";
}

/** Keep a name of an input or parameter; its place, or -1 with the fault recorded. */
static int name_add(pcsim_program *program, const char *name) {
  if (!name || !name[0]) return graph_fault(program, PCSIM_ERR_ARG, "an input or parameter without a name");
  for (int i = 0; i < program->num_names; i++)
    if (!strcmp(program->names[i], name))
      return graph_fault(program, PCSIM_ERR_ARG, "the input or parameter '%s' is there already", name);
  char *copy = NULL;
  if (grow(program->num_names, sizeof *program->names, &program->names) != PCSIM_OK ||
      pcsim_strdup(name, &copy) != PCSIM_OK)
    return graph_fault(program, PCSIM_ERR_MEMORY, "out of memory for the name '%s'", name);
  program->names[program->num_names] = copy;
  return program->num_names++;
}

pcsim_space pcsim_build_space(pcsim_program *program, const char *name) {
  for (int i = 0; i < program->num_spaces; i++)
    if (!strcmp(program->spaces[i], name)) {
      graph_fault(program, PCSIM_ERR_ARG, "the space '%s' is there already", name);
      return PCSIM_NO_SPACE;
    }
  char *copy = NULL;
  if (grow(program->num_spaces, sizeof *program->spaces, &program->spaces) != PCSIM_OK ||
      pcsim_strdup(name, &copy) != PCSIM_OK) {
    graph_fault(program, PCSIM_ERR_MEMORY, "out of memory for the space '%s'", name);
    return PCSIM_NO_SPACE;
  }
  program->spaces[program->num_spaces] = copy;
  return program->num_spaces++;
}

static bool shape_good(pcsim_program *program, const char *what, int rows, int columns) {
  if (rows >= 1 && columns >= 1 && (int64_t)rows * columns <= INT32_MAX) return true;
  graph_fault(program, PCSIM_ERR_ARG,
              "%s: %d rows and %d columns; both must be positive, their product below 2^31", what, rows,
              columns);
  return false;
}

pcsim_value graph_input(pcsim_program *program, const char *name, pcsim_space space, int rows, int columns) {
  if (!shape_good(program, name, rows, columns)) return PCSIM_NO_VALUE;
  if (space < PCSIM_NO_SPACE || space >= program->num_spaces)
    return graph_fault(program, PCSIM_ERR_ARG, "input '%s': there is no space %d", name, space);
  const int index = name_add(program, name);
  if (index < 0) return PCSIM_NO_VALUE;
  return graph_add(
      program, &(node){.kind = NODE_INPUT, .index = index, .space = space, .rows = rows, .columns = columns});
}

pcsim_value pcsim_build_input(pcsim_program *program, const char *name, pcsim_space space, int rows) {
  return graph_input(program, name, space, rows, 1);
}

pcsim_value pcsim_build_parameter(pcsim_program *program, const char *name, int rows, int columns) {
  if (!shape_good(program, name, rows, columns)) return PCSIM_NO_VALUE;
  double *zeros = NULL;
  if (pcsim_alloc((size_t)rows * (size_t)columns, sizeof *zeros, &zeros) != PCSIM_OK)
    return graph_fault(program, PCSIM_ERR_MEMORY, "out of memory for the parameter '%s'", name);
  const int index = name_add(program, name);
  pcsim_value value = PCSIM_NO_VALUE;
  if (index >= 0)
    value = graph_add(program, &(node){.kind = NODE_PARAMETER,
                                       .index = index,
                                       .space = PCSIM_NO_SPACE,
                                       .rows = rows,
                                       .columns = columns,
                                       .numbers = zeros});
  pcsim_free(&zeros);
  return value;
}

double *pcsim_program_parameter(pcsim_program *program, const char *name, int *rows, int *columns) {
  const pcsim_value value = graph_find(program, name);
  if (value < 0 || program->nodes[value].kind != NODE_PARAMETER) return NULL;
  if (rows) *rows = program->nodes[value].rows;
  if (columns) *columns = program->nodes[value].columns;
  return program->nodes[value].numbers;
}

pcsim_value pcsim_build_constants(pcsim_program *program, int rows, const double *values) {
  if (!shape_good(program, "constant", rows, 1)) return PCSIM_NO_VALUE;
  return graph_add(program, &(node){.kind = NODE_CONSTANT,
                                    .space = PCSIM_NO_SPACE,
                                    .rows = rows,
                                    .columns = 1,
                                    .numbers = (double *)values});
}

pcsim_value pcsim_build_constant(pcsim_program *program, double value) {
  return pcsim_build_constants(program, 1, &value);
}

void pcsim_build_output(pcsim_program *program, const char *name, pcsim_value value) {
  if (value < 0) return;
  if (graph_find_output(program, name) >= 0) {
    graph_fault(program, PCSIM_ERR_ARG, "the output '%s' is there already", name);
    return;
  }
  char *copy = NULL;
  if (grow(program->num_outputs, sizeof *program->outputs, &program->outputs) != PCSIM_OK ||
      pcsim_strdup(name, &copy) != PCSIM_OK) {
    graph_fault(program, PCSIM_ERR_MEMORY, "out of memory for the output '%s'", name);
    return;
  }
  program->outputs[program->num_outputs++] = (graph_output){.name = copy, .value = value};
}

static pcsim_map map_add(pcsim_program *program, const char *name, pcsim_space to, pcsim_space from,
                         int width) {
  if (to < 0 || to >= program->num_spaces || from < 0 || from >= program->num_spaces)
    return graph_fault(program, PCSIM_ERR_ARG, "map '%s': it joins the spaces %d and %d, there are %d", name,
                       to, from, program->num_spaces);
  for (int i = 0; i < program->num_maps; i++)
    if (!strcmp(program->maps[i].name, name))
      return graph_fault(program, PCSIM_ERR_ARG, "the map '%s' is there already", name);
  char *copy = NULL;
  if (grow(program->num_maps, sizeof *program->maps, &program->maps) != PCSIM_OK ||
      pcsim_strdup(name, &copy) != PCSIM_OK)
    return graph_fault(program, PCSIM_ERR_MEMORY, "out of memory for the map '%s'", name);
  program->maps[program->num_maps] = (graph_map){.name = copy, .to = to, .from = from, .width = width};
  return program->num_maps++;
}

pcsim_map pcsim_build_index_map(pcsim_program *program, const char *name, pcsim_space to, pcsim_space from) {
  return map_add(program, name, to, from, 0);
}

pcsim_map pcsim_build_sparse_map(pcsim_program *program, const char *name, pcsim_space to, pcsim_space from,
                                 int width) {
  if (width < 1)
    return graph_fault(program, PCSIM_ERR_ARG, "map '%s': %d weights an entry, expected 1 or more", name,
                       width);
  return map_add(program, name, to, from, width);
}

int pcsim_program_add_op(pcsim_program *program, const pcsim_user_op *op) {
  if (!op->name || !op->value || op->num_inputs < 1)
    return graph_fault(program, PCSIM_ERR_ARG,
                       "a user operator needs a name, a value function and at least one input");
  char *name = NULL;
  if (grow(program->num_user_ops, sizeof *program->user_ops, &program->user_ops) != PCSIM_OK ||
      pcsim_strdup(op->name, &name) != PCSIM_OK)
    return graph_fault(program, PCSIM_ERR_MEMORY, "out of memory for the operator '%s'", op->name);
  program->user_ops[program->num_user_ops] = *op;
  program->user_ops[program->num_user_ops].name = name;
  return program->num_user_ops++;
}

/** Everything but the nodes and outputs: spaces, maps, names, user operators, fault. */
static pcsim_status copy_frame(const pcsim_program *from, pcsim_program *to) {
  for (int i = 0; i < from->num_spaces; i++) pcsim_build_space(to, from->spaces[i]);
  for (int i = 0; i < from->num_maps; i++) {
    const graph_map *map = &from->maps[i];
    map_add(to, map->name, map->to, map->from, map->width);
  }
  for (int i = 0; i < from->num_names; i++) name_add(to, from->names[i]);
  for (int i = 0; i < from->num_user_ops; i++) pcsim_program_add_op(to, &from->user_ops[i]);
  return pcsim_program_status(to);
}

pcsim_status graph_copy_frame(const pcsim_program *program, pcsim_program **copy) {
  PCSIM_TRY(pcsim_program_create(copy));
  pcsim_status status = copy_frame(program, *copy);
  if (status != PCSIM_OK) {
    pcsim_program_destroy(copy);
    return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
  }
  return PCSIM_OK;
}

pcsim_status pcsim_program_copy(const pcsim_program *program, pcsim_program **copy) {
  pcsim_program *c = NULL;
  PCSIM_TRY(graph_copy_frame(program, &c));
  for (int i = 0; i < program->num_nodes && c->status == PCSIM_OK; i++) graph_append(c, &program->nodes[i]);
  for (int i = 0; i < program->num_outputs; i++)
    pcsim_build_output(c, program->outputs[i].name, program->outputs[i].value);
  pcsim_status status = pcsim_program_status(c);
  if (status != PCSIM_OK) {
    pcsim_program_destroy(&c);
    return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
  }
  if (program->status != PCSIM_OK)
    graph_fault(c, program->status, "%s", program->fault ? program->fault : "");
  *copy = c;
  return PCSIM_OK;
}
