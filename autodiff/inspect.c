/* SPDX-License-Identifier: BSD-2-Clause */
/* What a program asks for. */
#include "graph.h"

bool *graph_live(const pcsim_program *program, pcsim_value least) {
  bool *live = NULL;
  if (pcsim_alloc((size_t)program->num_nodes, sizeof *live, &live) != PCSIM_OK) {
    pcsim_error_clear();
    return NULL;
  }
  for (int i = 0; i < program->num_outputs; i++) live[program->outputs[i].value] = true;
  for (pcsim_value v = program->num_nodes - 1; v > least; v--)
    for (int i = 0; live[v] && i < graph_node(program, v)->num_inputs; i++)
      live[graph_node(program, v)->inputs[i]] = true;
  return live;
}

/** Does an output depend on value `wanted`? */
static bool is_used(const pcsim_program *program, pcsim_value wanted) {
  bool *live = graph_live(program, wanted);
  bool used = !live || live[wanted]; /* as far as is known */
  pcsim_free(&live);
  return used;
}

const char *pcsim_program_input(const pcsim_program *program, int i, int *rows, bool *used) {
  for (pcsim_value v = 0; v < program->num_nodes; v++) {
    const node *n = graph_node(program, v);
    if (n->kind != NODE_INPUT || i-- > 0) continue;
    if (rows) *rows = n->rows;
    if (used) *used = is_used(program, v);
    return program->names[n->index];
  }
  return NULL;
}

const char *pcsim_program_output(const pcsim_program *program, int i, int *rows) {
  if (i < 0 || i >= program->num_outputs) return NULL;
  if (rows) *rows = graph_node(program, program->outputs[i].value)->rows;
  return program->outputs[i].name;
}

const char *pcsim_program_parameter_name(const pcsim_program *program, int i, int *rows, int *columns) {
  for (pcsim_value v = 0; v < program->num_nodes; v++) {
    const node *n = graph_node(program, v);
    if (n->kind != NODE_PARAMETER || i-- > 0) continue;
    if (rows) *rows = n->rows;
    if (columns) *columns = n->columns;
    return program->names[n->index];
  }
  return NULL;
}
