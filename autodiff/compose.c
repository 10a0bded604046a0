/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs put into one another: what one gives becomes the input of the other. */
#include "graft.h"

#include <string.h>

void graft_free(graft *g) {
  pcsim_free(&g->spaces);
  pcsim_free(&g->maps);
  pcsim_free(&g->ops);
  pcsim_free(&g->place);
  pcsim_free(&g->inputs);
}

static pcsim_status graft_spaces(graft *g, pcsim_space space) {
  for (int i = 0; i < g->from->num_spaces; i++) {
    pcsim_space s = 0;
    if (space != PCSIM_NO_SPACE) {
      g->spaces[i] = space;
      continue;
    }
    while (s < g->to->num_spaces && strcmp(g->to->spaces[s], g->from->spaces[i]) != 0) s++;
    g->spaces[i] = s < g->to->num_spaces ? s : pcsim_build_space(g->to, g->from->spaces[i]);
  }
  return pcsim_program_status(g->to);
}

static pcsim_status graft_maps(graft *g) {
  for (int i = 0; i < g->from->num_maps; i++) {
    const graph_map *m = &g->from->maps[i];
    pcsim_space to = g->spaces[m->to], from = g->spaces[m->from];
    pcsim_map k = 0;
    while (k < g->to->num_maps && strcmp(g->to->maps[k].name, m->name) != 0) k++;
    g->maps[i] = k;
    if (k == g->to->num_maps)
      g->maps[i] = m->width ? pcsim_build_sparse_map(g->to, m->name, to, from, m->width)
                            : pcsim_build_index_map(g->to, m->name, to, from);
    else if (g->to->maps[k].to != to || g->to->maps[k].from != from || g->to->maps[k].width != m->width)
      PCSIM_FAIL(PCSIM_ERR_ARG, "both programs have a map '%s', and they join other spaces", m->name);
  }
  for (int i = 0; i < g->from->num_user_ops; i++)
    g->ops[i] = pcsim_program_add_op(g->to, &g->from->user_ops[i]);
  return pcsim_program_status(g->to);
}

pcsim_status graft_begin(const pcsim_program *from, pcsim_program *to, pcsim_space space, graft *g) {
  *g = (graft){.from = from, .to = to};
  PCSIM_TRY(pcsim_alloc((size_t)from->num_spaces, sizeof *g->spaces, &g->spaces));
  PCSIM_TRY(pcsim_alloc((size_t)from->num_maps, sizeof *g->maps, &g->maps));
  PCSIM_TRY(pcsim_alloc((size_t)from->num_user_ops, sizeof *g->ops, &g->ops));
  PCSIM_TRY(pcsim_alloc((size_t)from->num_nodes, sizeof *g->place, &g->place));
  int room = 1;
  for (int v = 0; v < from->num_nodes; v++)
    if (from->nodes[v].num_inputs > room) room = from->nodes[v].num_inputs;
  PCSIM_TRY(pcsim_alloc((size_t)room, sizeof *g->inputs, &g->inputs));
  PCSIM_TRY(graft_spaces(g, space));
  return graft_maps(g);
}

/* ----------------------------------------------------------------- values */

static pcsim_status different(const char *name) {
  PCSIM_FAIL(PCSIM_ERR_ARG, "both programs have '%s', with another size or on another space", name);
}

/** An input or parameter: one that is there already, or a new one. */
static pcsim_status graft_named(graft *g, const node *n, pcsim_value *out) {
  const char *name = g->from->names[n->index];
  *out = graph_find(g->to, name);
  if (*out < 0 && n->kind == NODE_INPUT) {
    *out = graph_input(g->to, name, n->space, n->rows, n->columns);
  } else if (*out < 0) {
    *out = pcsim_build_parameter(g->to, name, n->rows, n->columns);
    if (*out >= 0)
      memcpy(g->to->nodes[*out].numbers, n->numbers,
             (size_t)n->rows * (size_t)n->columns * sizeof *n->numbers);
  }
  PCSIM_TRY(pcsim_program_status(g->to));
  const node *found = graph_node(g->to, *out);
  if (found->kind != n->kind || found->space != n->space || found->rows != n->rows ||
      found->columns != n->columns)
    return different(name);
  return PCSIM_OK;
}

/** Any other value, with its numbers translated. */
static pcsim_status graft_other(graft *g, const node *n, pcsim_value *out) {
  node copy = *n;
  copy.inputs = g->inputs;
  for (int i = 0; i < n->num_inputs; i++) g->inputs[i] = g->place[n->inputs[i]];
  if (n->kind == NODE_USER) copy.index = g->ops[n->index];
  if (n->kind >= NODE_GATHER && n->kind <= NODE_SEGMENT_PUT) copy.index = g->maps[n->index];
  *out = graph_add(g->to, &copy);
  return pcsim_program_status(g->to);
}

/** Does a value of `to` fit where `n` was an input? What is the same for all points is spread. */
static pcsim_status fit(graft *g, const node *n, const char *name, pcsim_value *value) {
  const node *given = graph_node(g->to, *value);
  if (given->rows != n->rows || given->columns != n->columns ||
      (given->space != n->space && given->space != PCSIM_NO_SPACE))
    PCSIM_FAIL(PCSIM_ERR_ARG, "'%s' is given with %d x %d numbers on %s; expected %d x %d on %s", name,
               given->rows, given->columns, graph_space_name(g->to, given->space), n->rows, n->columns,
               graph_space_name(g->to, n->space));
  *value = graph_as_shape(g->to, *value, n->space, n->rows, n->columns);
  return pcsim_program_status(g->to);
}

pcsim_status graft_value(graft *g, pcsim_value v, pcsim_value given) {
  node n = g->from->nodes[v];
  if (n.space != PCSIM_NO_SPACE) n.space = g->spaces[n.space];
  if (given >= 0) {
    g->place[v] = given;
    return fit(g, &n, g->from->names[n.index], &g->place[v]);
  }
  if (n.kind == NODE_INPUT || n.kind == NODE_PARAMETER) return graft_named(g, &n, &g->place[v]);
  return graft_other(g, &n, &g->place[v]);
}

/** All values; `given` (NULL: none) has the outputs that take the place of inputs, `values` where they are.
 */
static pcsim_status graft_values(graft *g, const pcsim_program *given, const pcsim_value *values) {
  for (int v = 0; v < g->from->num_nodes; v++) {
    const node *n = &g->from->nodes[v];
    const pcsim_value from =
        given && n->kind == NODE_INPUT ? graph_find_output(given, g->from->names[n->index]) : PCSIM_NO_VALUE;
    PCSIM_TRY(graft_value(g, v, from < 0 ? from : values[from]));
  }
  return PCSIM_OK;
}

static pcsim_status compose(const pcsim_program *outer, const pcsim_program *inner, pcsim_program *p,
                            graft *a, graft *b) {
  PCSIM_TRY(pcsim_program_status(outer));
  PCSIM_TRY(pcsim_program_status(inner));
  PCSIM_TRY(graph_unique_begin(p));
  PCSIM_TRY(graft_begin(inner, p, PCSIM_NO_SPACE, a));
  PCSIM_TRY(graft_values(a, NULL, NULL));
  PCSIM_TRY(graft_begin(outer, p, PCSIM_NO_SPACE, b));
  PCSIM_TRY(graft_values(b, inner, a->place));
  for (int i = 0; i < outer->num_outputs; i++)
    pcsim_build_output(p, outer->outputs[i].name, b->place[outer->outputs[i].value]);
  graph_unique_end(p);
  return pcsim_program_simplify(p);
}

pcsim_status pcsim_program_compose(const pcsim_program *outer, const pcsim_program *inner,
                                   pcsim_program **out) {
  graft a = {0}, b = {0};
  pcsim_program *p = NULL;
  *out = NULL;
  PCSIM_TRY(pcsim_program_create(&p));
  pcsim_status status = compose(outer, inner, p, &a, &b);
  graft_free(&a);
  graft_free(&b);
  if (status != PCSIM_OK) {
    pcsim_program_destroy(&p);
    return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
  }
  *out = p;
  return PCSIM_OK;
}
