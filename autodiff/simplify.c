/* SPDX-License-Identifier: BSD-2-Clause */
/** @file simplify.c  A program rebuilt: folded, shared, without dead values. */
#include "graph.h"

#include <string.h>

pcsim_status graph_import(const pcsim_program *from, pcsim_program *to, const bool *live,
                          pcsim_value *place) {
  int room = 0;
  pcsim_value *inputs = NULL;
  for (int v = 0; v < from->num_nodes && to->status == PCSIM_OK; v++) {
    node n = from->nodes[v];
    place[v] = PCSIM_NO_VALUE;
    if (live && !live[v]) continue;
    if (n.num_inputs > room) {
      room = 2 * n.num_inputs;
      pcsim_status status = pcsim_realloc((size_t)room, sizeof *inputs, &inputs);
      if (status != PCSIM_OK) {
        pcsim_free(&inputs);
        return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
      }
    }
    for (int i = 0; i < n.num_inputs; i++) inputs[i] = place[n.inputs[i]];
    n.inputs = inputs;
    place[v] = graph_add(to, &n);
  }
  pcsim_free(&inputs);
  return pcsim_program_status(to);
}

/** Values that outputs need; inputs and parameters stay, since callers bind them by name. */
static void mark_live(const pcsim_program *program, bool *live) {
  for (int i = 0; i < program->num_outputs; i++) live[program->outputs[i].value] = true;
  for (int v = program->num_nodes - 1; v >= 0; v--) {
    const node *n = &program->nodes[v];
    if (n->kind == NODE_INPUT || n->kind == NODE_PARAMETER) live[v] = true;
    for (int i = 0; live[v] && i < n->num_inputs; i++) live[n->inputs[i]] = true;
  }
}

/** Rebuild the live part of `program` in a new one with the same names; `unique`: simplify on the way. */
static pcsim_status rebuild(const pcsim_program *program, bool unique, pcsim_program **result) {
  pcsim_program *r = NULL;
  bool *live = NULL;
  pcsim_value *place = NULL;
  pcsim_status status = PCSIM_OK;
  PCSIM_GOTO(graph_copy_frame(program, &r), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)program->num_nodes, sizeof *live, &live), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)program->num_nodes, sizeof *place, &place), status, done);
  mark_live(program, live);
  if (unique) PCSIM_GOTO(graph_unique_begin(r), status, done);
  PCSIM_GOTO(graph_import(program, r, live, place), status, done);
  for (int i = 0; i < program->num_outputs; i++)
    pcsim_build_output(r, program->outputs[i].name, place[program->outputs[i].value]);
  status = pcsim_program_status(r);
done:
  if (r) graph_unique_end(r);
  pcsim_free(&live);
  pcsim_free(&place);
  if (status != PCSIM_OK) pcsim_program_destroy(&r);
  *result = r;
  return status;
}

/** Put the content of `*from` in the place of `to`'s. */
static void replace(pcsim_program *to, pcsim_program **from) {
  pcsim_program old = *to;
  *to = **from;
  **from = old;
  pcsim_program_destroy(from);
}

pcsim_status graph_compact(pcsim_program *program) {
  pcsim_program *r = NULL;
  PCSIM_TRY(pcsim_program_status(program));
  PCSIM_TRY(rebuild(program, false, &r));
  replace(program, &r);
  return PCSIM_OK;
}

pcsim_status pcsim_program_simplify(pcsim_program *program) {
  pcsim_program *r = NULL;
  PCSIM_TRY(pcsim_program_status(program));
  PCSIM_TRY(rebuild(program, true, &r));
  replace(program, &r);
  /* Values that a later rule made needless are still there. */
  return graph_compact(program);
}

static pcsim_status refuse_output(const pcsim_program *program, const char *output) {
  const char **names = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)program->num_outputs, sizeof *names, &names));
  for (int j = 0; j < program->num_outputs; j++) names[j] = program->outputs[j].name;
  const char *near = pcsim_nearest(output, names, (size_t)program->num_outputs);
  const pcsim_status status =
      pcsim_error_set(PCSIM_ERR_ARG, __FILE__, __LINE__, __func__, "the program has no output '%s'%s%s%s",
                      output, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  pcsim_free(&names);
  return status;
}

/** Outputs without those that are (`wanted`: are not) among the names. */
static void drop_outputs(pcsim_program *program, const char *const *names, int n, bool wanted) {
  int kept = 0;
  for (int j = 0; j < program->num_outputs; j++) {
    bool named = false;
    for (int i = 0; i < n; i++) named = named || !strcmp(names[i], program->outputs[j].name);
    if (named == wanted) program->outputs[kept++] = program->outputs[j];
    else pcsim_free(&program->outputs[j].name);
  }
  program->num_outputs = kept;
}

pcsim_status pcsim_program_keep(pcsim_program *program, const char *const *outputs, int n) {
  PCSIM_TRY(pcsim_program_status(program));
  for (int i = 0; i < n; i++)
    if (graph_find_output(program, outputs[i]) < 0) return refuse_output(program, outputs[i]);
  drop_outputs(program, outputs, n, true);
  return graph_compact(program);
}

/** The node of an output, or the one that it is frozen from, turned into an input of the same name. */
static pcsim_status cut_at(pcsim_program *program, const char *output) {
  pcsim_value v = graph_find_output(program, output);
  if (v < 0) return refuse_output(program, output);
  while (program->nodes[v].kind == NODE_FROZEN) v = program->nodes[v].inputs[0];
  const node old = program->nodes[v];
  PCSIM_CHECK(old.kind != NODE_INPUT && old.kind != NODE_PARAMETER, PCSIM_ERR_ARG,
              "the output '%s' is an input already: there is nothing to cut", output);
  const pcsim_value made = graph_input(program, output, old.space, old.rows, old.columns);
  PCSIM_TRY(pcsim_program_status(program));
  program->nodes[v] = program->nodes[made];
  program->num_nodes = made;
  pcsim_value *inputs = old.inputs;
  double *numbers = old.numbers;
  pcsim_free(&inputs), pcsim_free(&numbers);
  return PCSIM_OK;
}

pcsim_status pcsim_program_cut(pcsim_program *program, const char *const *outputs, int n) {
  PCSIM_TRY(pcsim_program_status(program));
  for (int i = 0; i < n; i++) PCSIM_TRY(cut_at(program, outputs[i]));
  drop_outputs(program, outputs, n, false);
  return graph_compact(program);
}
