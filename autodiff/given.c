/* SPDX-License-Identifier: BSD-2-Clause */
/* What a program computes again and again though it only depends on the points: parted from the rest. */
#include "graph.h"

#include <stdio.h>
#include <string.h>

enum { NAME = 32 };

typedef struct {
  bool *depends;       /**< [num_nodes] on one of the names */
  bool *given;         /**< [num_nodes] becomes an input */
  int num;             /**< values that become inputs */
  char (*text)[NAME];  /**< [num] their names */
  const char **output; /**< [num] the same */
} parting;

static pcsim_status mark_names(const pcsim_program *program, const char *const *wrt, int n, parting *p) {
  for (int i = 0; i < n; i++) {
    const pcsim_value v = graph_find(program, wrt[i]);
    const char *near =
        v < 0 ? pcsim_nearest(wrt[i], (const char *const *)program->names, (size_t)program->num_names) : NULL;
    PCSIM_CHECK(v >= 0, PCSIM_ERR_ARG, "the program has no input or parameter '%s'%s%s%s", wrt[i],
                near ? "; nearest: '" : "", near ? near : "", near ? "'" : "");
    p->depends[v] = true;
  }
  return PCSIM_OK;
}

static bool is_computed(const pcsim_program *program, pcsim_value v) {
  const node *n = graph_node(program, v);
  if (n->space == PCSIM_NO_SPACE || n->kind == NODE_INPUT || n->kind == NODE_CONSTANT) return false;
  /* one number spread over the points */
  return n->kind != NODE_BROADCAST || graph_node(program, n->inputs[0])->space != PCSIM_NO_SPACE;
}

static void mark_given(const pcsim_program *program, parting *p) {
  for (pcsim_value v = 0; v < program->num_nodes; v++)
    for (int i = 0; i < graph_node(program, v)->num_inputs; i++)
      p->depends[v] = p->depends[v] || p->depends[graph_node(program, v)->inputs[i]];
  for (pcsim_value v = 0; v < program->num_nodes; v++)
    for (int i = 0; p->depends[v] && i < graph_node(program, v)->num_inputs; i++) {
      const pcsim_value a = graph_node(program, v)->inputs[i];
      p->given[a] = p->given[a] || (!p->depends[a] && is_computed(program, a));
    }
  for (int i = 0; i < program->num_outputs; i++) {
    const pcsim_value v = program->outputs[i].value;
    p->given[v] = p->given[v] || (!p->depends[v] && is_computed(program, v));
  }
  for (pcsim_value v = 0; v < program->num_nodes; v++) p->num += p->given[v];
}

static pcsim_status name_given(pcsim_program *program, parting *p) {
  PCSIM_TRY(pcsim_alloc((size_t)p->num, sizeof *p->text, &p->text));
  PCSIM_TRY(pcsim_alloc((size_t)p->num, sizeof *p->output, &p->output));
  const int nodes = program->num_nodes;
  int n = 0;
  for (pcsim_value v = 0; v < nodes; v++) {
    if (!p->given[v]) continue;
    snprintf(p->text[n], NAME, "given_%d", n);
    p->output[n] = p->text[n];
    pcsim_build_output(program, p->text[n++], v);
  }
  return pcsim_program_status(program);
}

pcsim_status pcsim_program_part(pcsim_program *program, const char *const *wrt, int n,
                                pcsim_program **given) {
  parting p = {0};
  pcsim_program *made = NULL;
  pcsim_status status;
  *given = NULL;
  PCSIM_GOTO(graph_compact(program), status, done); /* what nothing needs is not to be given */
  PCSIM_GOTO(pcsim_alloc((size_t)program->num_nodes, sizeof *p.depends, &p.depends), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)program->num_nodes, sizeof *p.given, &p.given), status, done);
  PCSIM_GOTO(mark_names(program, wrt, n, &p), status, done);
  mark_given(program, &p);
  if (!p.num) goto done;
  PCSIM_GOTO(name_given(program, &p), status, done);
  PCSIM_GOTO(pcsim_program_copy(program, &made), status, done);
  PCSIM_GOTO(pcsim_program_keep(made, p.output, p.num), status, done);
  PCSIM_GOTO(pcsim_program_cut(program, p.output, p.num), status, done);
  *given = made;
  made = NULL;
done:
  pcsim_program_destroy(&made);
  pcsim_free(&p.depends), pcsim_free(&p.given);
  pcsim_free(&p.text), pcsim_free(&p.output);
  return status;
}
