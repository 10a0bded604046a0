/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_plan_place.c  Which entry of each row attains the extremum, as a value.
 *
 *  The transpose of a segment's extremum runs over the points it writes, each of which meets many rows, and
 *  each row many points: the row's extremal entry would be looked for again and again. So it is found once
 * for each row, and the transpose compares. */
#include "exec_plan.h"

pcsim_value plan_append(plan_writing *w, const node *n, pcsim_value origin, pcsim_status *status) {
  if (*status == PCSIM_OK && w->to->num_nodes == w->room) {
    *status = pcsim_realloc(2 * (size_t)w->room + 64, sizeof *w->origin, &w->origin);
    if (*status == PCSIM_OK) w->room = 2 * w->room + 64;
  }
  if (*status != PCSIM_OK) return PCSIM_NO_VALUE;
  const pcsim_value v = graph_append(w->to, n);
  if (v < 0) *status = w->to->status;
  else w->origin[v] = origin;
  return v;
}

void plan_writing_free(plan_writing *w) {
  pcsim_program_destroy(&w->to);
  pcsim_free(&w->origin);
}

/** Place by `chosen` [values of the new program] along the map of `put`; one for all that ask for the same.
 */
static pcsim_value find_place(plan_writing *w, const node *put, pcsim_value chosen, pcsim_value origin,
                              pcsim_status *status) {
  for (pcsim_value v = chosen + 1; *status == PCSIM_OK && v < w->to->num_nodes; v++) {
    const node *n = &w->to->nodes[v];
    if (n->kind == NODE_SEGMENT_PLACE && n->index == put->index && n->first == put->first &&
        n->inputs[0] == chosen)
      return v;
  }
  return plan_append(w,
                     &(node){.kind = NODE_SEGMENT_PLACE,
                             .index = put->index,
                             .space = w->to->maps[put->index].to,
                             .rows = put->rows,
                             .columns = 1,
                             .first = put->first,
                             .num_inputs = 1,
                             .inputs = &chosen},
                     origin, status);
}

static pcsim_status write_all(const pcsim_program *g, plan_writing *w, pcsim_value *place,
                              pcsim_value *inputs) {
  pcsim_status status = PCSIM_OK;
  PCSIM_TRY(graph_copy_frame(g, &w->to));
  for (pcsim_value v = 0; v < g->num_nodes && status == PCSIM_OK; v++) {
    node n = g->nodes[v];
    for (int i = 0; i < n.num_inputs; i++) inputs[i] = place[n.inputs[i]];
    if (n.kind == NODE_SEGMENT_PUT) inputs[1] = find_place(w, &n, inputs[1], v, &status);
    n.inputs = inputs;
    place[v] = plan_append(w, &n, v, &status);
  }
  for (int i = 0; i < g->num_outputs && status == PCSIM_OK; i++)
    pcsim_build_output(w->to, g->outputs[i].name, place[g->outputs[i].value]);
  return status == PCSIM_OK ? pcsim_program_status(w->to) : status;
}

pcsim_status plan_places(const pcsim_program *g, plan_writing *w) {
  bool any = false;
  int most = 1;
  for (pcsim_value v = 0; v < g->num_nodes; v++) {
    any = any || g->nodes[v].kind == NODE_SEGMENT_PUT;
    if (g->nodes[v].num_inputs > most) most = g->nodes[v].num_inputs;
  }
  *w = (plan_writing){0};
  if (!any) return PCSIM_OK;
  pcsim_value *place = NULL, *inputs = NULL;
  pcsim_status status = pcsim_alloc((size_t)g->num_nodes, sizeof *place, &place);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)most, sizeof *inputs, &inputs);
  if (status == PCSIM_OK) status = write_all(g, w, place, inputs);
  pcsim_free(&place);
  pcsim_free(&inputs);
  if (status == PCSIM_OK) return PCSIM_OK;
  plan_writing_free(w);
  return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
}
