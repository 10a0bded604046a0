/* SPDX-License-Identifier: BSD-2-Clause */
/** @file transform_begin.c  Start and end of every transform. */
#include "transform.h"

static pcsim_status unknown_name(const pcsim_program *program, const char *name) {
  const char *near = pcsim_nearest(name, (const char *const *)program->names, (size_t)program->num_names);
  if (near)
    PCSIM_FAIL(PCSIM_ERR_ARG, "the program has no input or parameter '%s'; did you mean '%s'?", name, near);
  PCSIM_FAIL(PCSIM_ERR_ARG, "the program has no input or parameter '%s'", name);
}

pcsim_status transform_begin(const pcsim_program *program, const char *const *names, int n, transform *t) {
  *t = (transform){.num_source = program->num_nodes, .num_wrt = n};
  PCSIM_TRY(pcsim_program_status(program));
  pcsim_status status = PCSIM_OK;
  PCSIM_GOTO(graph_copy_frame(program, &t->p), status, fail);
  PCSIM_GOTO(pcsim_alloc((size_t)program->num_nodes, sizeof *t->place, &t->place), status, fail);
  PCSIM_GOTO(pcsim_alloc((size_t)n, sizeof *t->wrt, &t->wrt), status, fail);
  PCSIM_GOTO(graph_unique_begin(t->p), status, fail);
  PCSIM_GOTO(graph_import(program, t->p, NULL, t->place), status, fail);
  for (int i = 0; i < program->num_outputs; i++)
    pcsim_build_output(t->p, program->outputs[i].name, t->place[program->outputs[i].value]);
  for (int i = 0; i < n; i++) {
    const pcsim_value v = graph_find(program, names[i]);
    if (v < 0) PCSIM_GOTO(unknown_name(program, names[i]), status, fail);
    t->wrt[i] = t->place[v];
  }
  PCSIM_GOTO(pcsim_program_status(t->p), status, fail);
  return PCSIM_OK;
fail:
  return transform_end(t, status, NULL);
}

pcsim_status transform_end(transform *t, pcsim_status status, pcsim_program **out) {
  if (t->p) graph_unique_end(t->p);
  if (status == PCSIM_OK) status = graph_compact(t->p);
  pcsim_free(&t->place);
  pcsim_free(&t->wrt);
  if (status == PCSIM_OK) *out = t->p;
  else pcsim_program_destroy(&t->p);
  return status;
}

bool transform_taken(const pcsim_program *program, const char *name) {
  return graph_find(program, name) >= 0 || graph_find_output(program, name) >= 0;
}
