/* SPDX-License-Identifier: BSD-2-Clause */
/* A program written out once more inside another, on a space of it. */
#include "graft.h"

#include <string.h>

/* What a call asks for. */
typedef struct {
  const pcsim_program *part;
  pcsim_space space;
  const pcsim_argument *arguments;
  int num_arguments;
  const char *const *outputs;
  int num_outputs;
} request;

static pcsim_status mark_needed(const request *q, bool *needed) {
  const pcsim_program *part = q->part;
  PCSIM_CHECK(part->num_spaces <= 1 && part->num_maps == 0, PCSIM_ERR_ARG,
              "the part knows %d spaces and %d maps; expected one space at most and no map", part->num_spaces,
              part->num_maps);
  for (int i = 0; i < q->num_outputs; i++) {
    const pcsim_value v = graph_find_output(part, q->outputs[i]);
    PCSIM_CHECK(v >= 0, PCSIM_ERR_ARG, "the part has no output '%s'", q->outputs[i]);
    needed[v] = true;
  }
  for (pcsim_value v = part->num_nodes - 1; v >= 0; v--)
    for (int i = 0; needed[v] && i < graph_node(part, v)->num_inputs; i++)
      needed[graph_node(part, v)->inputs[i]] = true;
  return PCSIM_OK;
}

static pcsim_status argument_of(const request *q, const char *name, pcsim_value *value) {
  for (int i = 0; i < q->num_arguments; i++)
    if (!strcmp(q->arguments[i].name, name)) {
      *value = q->arguments[i].value;
      PCSIM_CHECK(*value >= 0, PCSIM_ERR_ARG, "the argument '%s' has no value", name);
      return PCSIM_OK;
    }
  PCSIM_FAIL(PCSIM_ERR_ARG, "the part needs an argument '%s'", name);
}

static pcsim_status write_out(const request *q, graft *g, const bool *needed, pcsim_value *values) {
  const pcsim_program *part = q->part;
  for (pcsim_value v = 0; v < part->num_nodes; v++) {
    const node *n = graph_node(part, v);
    pcsim_value given = PCSIM_NO_VALUE;
    if (!needed[v]) continue;
    if (n->kind == NODE_INPUT) PCSIM_TRY(argument_of(q, part->names[n->index], &given));
    PCSIM_TRY(graft_value(g, v, given));
  }
  for (int i = 0; i < q->num_outputs; i++) {
    const pcsim_value v = g->place[graph_find_output(part, q->outputs[i])];
    values[i] = graph_as_shape(g->to, v, q->space, graph_node(g->to, v)->rows, 1);
  }
  return pcsim_program_status(g->to);
}

void pcsim_build_part(pcsim_program *program, const pcsim_program *part, pcsim_space space,
                      const pcsim_argument *arguments, int num_arguments, const char *const *outputs,
                      int num_outputs, pcsim_value *values) {
  const request q = {part, space, arguments, num_arguments, outputs, num_outputs};
  graft g = {0};
  bool *needed = NULL;
  pcsim_status status;
  for (int i = 0; i < num_outputs; i++) values[i] = PCSIM_NO_VALUE;
  if (program->status != PCSIM_OK) return;
  PCSIM_GOTO(pcsim_program_status(part), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)part->num_nodes, sizeof *needed, &needed), status, done);
  PCSIM_GOTO(mark_needed(&q, needed), status, done);
  PCSIM_GOTO(graft_begin(part, program, space, &g), status, done);
  status = write_out(&q, &g, needed, values);
done:
  graft_free(&g);
  pcsim_free(&needed);
  if (status == PCSIM_OK) return;
  if (program->status == PCSIM_OK) graph_fault(program, status, "%s", pcsim_error_message());
  pcsim_error_clear();
}
