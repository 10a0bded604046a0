/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs put into one another: what one gives becomes the input of the other. */
#include "lower.h"

#include <string.h>

/** How the numbers of `from` translate into those of `to`. */
typedef struct {
  const pcsim_program *from;
  pcsim_program *to;
  pcsim_space *spaces; /**< [num_spaces] */
  pcsim_map *maps;     /**< [num_maps] */
  int *ops;            /**< [num_user_ops] */
  pcsim_value *place;  /**< [num_nodes] */
} graft;

static void graft_free(graft *g) {
  pcsim_free(&g->spaces);
  pcsim_free(&g->maps);
  pcsim_free(&g->ops);
  pcsim_free(&g->place);
}

static pcsim_status graft_spaces(graft *g) {
  for (int i = 0; i < g->from->num_spaces; i++) {
    pcsim_space s = 0;
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

static pcsim_status graft_begin(const pcsim_program *from, pcsim_program *to, graft *g) {
  *g = (graft){.from = from, .to = to};
  PCSIM_TRY(pcsim_alloc((size_t)from->num_spaces, sizeof *g->spaces, &g->spaces));
  PCSIM_TRY(pcsim_alloc((size_t)from->num_maps, sizeof *g->maps, &g->maps));
  PCSIM_TRY(pcsim_alloc((size_t)from->num_user_ops, sizeof *g->ops, &g->ops));
  PCSIM_TRY(pcsim_alloc((size_t)from->num_nodes, sizeof *g->place, &g->place));
  PCSIM_TRY(graft_spaces(g));
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

/** Any other value, with its numbers translated; `inputs` has room for them. */
static pcsim_status graft_value(graft *g, const node *n, pcsim_value *inputs, pcsim_value *out) {
  node copy = *n;
  copy.inputs = inputs;
  for (int i = 0; i < n->num_inputs; i++) inputs[i] = g->place[n->inputs[i]];
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

/** All values; `given` (NULL: none) has the outputs that take the place of inputs, `values` where they are.
 */
static pcsim_status graft_values(graft *g, const pcsim_program *given, const pcsim_value *values) {
  int room = 1;
  for (int v = 0; v < g->from->num_nodes; v++)
    if (g->from->nodes[v].num_inputs > room) room = g->from->nodes[v].num_inputs;
  pcsim_value *inputs = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)room, sizeof *inputs, &inputs));
  pcsim_status status = PCSIM_OK;
  for (int v = 0; v < g->from->num_nodes && status == PCSIM_OK; v++) {
    node n = g->from->nodes[v];
    if (n.space != PCSIM_NO_SPACE) n.space = g->spaces[n.space];
    const char *name = n.kind == NODE_INPUT ? g->from->names[n.index] : NULL;
    pcsim_value from = given && name ? graph_find_output(given, name) : PCSIM_NO_VALUE;
    if (from >= 0) {
      g->place[v] = values[from];
      status = fit(g, &n, name, &g->place[v]);
    } else if (n.kind == NODE_INPUT || n.kind == NODE_PARAMETER) status = graft_named(g, &n, &g->place[v]);
    else status = graft_value(g, &n, inputs, &g->place[v]);
  }
  pcsim_free(&inputs);
  return status;
}

static pcsim_status compose(const pcsim_program *outer, const pcsim_program *inner, pcsim_program *p,
                            graft *a, graft *b) {
  PCSIM_TRY(pcsim_program_status(outer));
  PCSIM_TRY(pcsim_program_status(inner));
  PCSIM_TRY(graph_unique_begin(p));
  PCSIM_TRY(graft_begin(inner, p, a));
  PCSIM_TRY(graft_values(a, NULL, NULL));
  PCSIM_TRY(graft_begin(outer, p, b));
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

/* --------------------------------------------------- unknowns from a program */

/** What a lowered program asks for. */
typedef struct {
  const pcsim_lowering *names;
  bool *used;  /**< [num_unknowns] */
  int *orders; /**< [num][num_coordinates], of any unknown; each once, without the unknowns themselves */
  int num;
} demand;

static int total_order(const pcsim_lowering *names, const int *orders) {
  int sum = 0;
  for (int i = 0; i < names->num_coordinates; i++) sum += orders[i];
  return sum;
}

static pcsim_status demand_add(demand *d, const char *input) {
  const int width = d->names->num_coordinates;
  int unknown, *orders = d->orders + (size_t)d->num * (size_t)width;
  PCSIM_TRY(pcsim_lowering_derivative(d->names, input, &unknown, orders));
  d->used[unknown] = true;
  if (!total_order(d->names, orders)) return PCSIM_OK;
  for (int i = 0; i < d->num; i++)
    if (!memcmp(d->orders + (size_t)i * (size_t)width, orders, (size_t)width * sizeof *orders))
      return PCSIM_OK;
  d->num++;
  return PCSIM_OK;
}

static pcsim_status demand_of(const pcsim_program *lowered, const pcsim_lowering *names, demand *d) {
  *d = (demand){.names = names};
  /* One row more than there can be, so that each has room to be read into. */
  PCSIM_TRY(pcsim_alloc((size_t)names->num_unknowns, sizeof *d->used, &d->used));
  PCSIM_TRY(pcsim_alloc(((size_t)lowered->num_names + 1) * (size_t)names->num_coordinates, sizeof *d->orders,
                        &d->orders));
  for (int v = 0; v < lowered->num_nodes; v++) {
    const node *n = &lowered->nodes[v];
    if (n->kind != NODE_INPUT) continue;
    const char *name = lowered->names[n->index];
    if (strcmp(name, "coordinates") != 0 && strncmp(name, "n.", 2) != 0) PCSIM_TRY(demand_add(d, name));
  }
  return PCSIM_OK;
}

/** Keep the outputs of the unknowns that are used, and check them. */
static pcsim_status keep_unknowns(const demand *d, pcsim_program *fields) {
  const char **wanted = NULL, **given = NULL;
  int n = 0;
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc((size_t)d->names->num_unknowns, sizeof *wanted, &wanted), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)fields->num_outputs, sizeof *given, &given), status, done);
  for (int i = 0; i < fields->num_outputs; i++) given[i] = fields->outputs[i].name;
  for (int i = 0; i < d->names->num_unknowns && status == PCSIM_OK; i++) {
    if (!d->used[i]) continue;
    const char *name = wanted[n++] = d->names->unknowns[i];
    pcsim_value v = graph_find_output(fields, name);
    const char *near = v < 0 ? pcsim_nearest(name, given, (size_t)fields->num_outputs) : NULL;
    if (v < 0)
      status = pcsim_error_set(PCSIM_ERR_ARG, __FILE__, __LINE__, __func__,
                               "nothing gives the unknown '%s'; expected an output of this name%s%s%s", name,
                               near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    else if (graph_node(fields, v)->rows != 1 || graph_node(fields, v)->columns != 1)
      status = pcsim_error_set(PCSIM_ERR_ARG, __FILE__, __LINE__, __func__,
                               "the unknown '%s' is given with %d rows; expected one", name,
                               graph_node(fields, v)->rows);
  }
  if (status == PCSIM_OK) status = pcsim_program_keep(fields, wanted, n);
done:
  pcsim_free(&wanted);
  pcsim_free(&given);
  return status;
}

static pcsim_status check_coordinates(const demand *d, const pcsim_program *fields) {
  pcsim_value v = graph_find(fields, "coordinates");
  PCSIM_CHECK(v >= 0, PCSIM_ERR_ARG, "the unknowns depend on nothing: expected an input 'coordinates'");
  PCSIM_CHECK(graph_node(fields, v)->rows == d->names->num_coordinates && graph_node(fields, v)->columns == 1,
              PCSIM_ERR_ARG, "the unknowns depend on %d coordinates; the equations on %d",
              graph_node(fields, v)->rows, d->names->num_coordinates);
  return PCSIM_OK;
}

/** Name the partial derivatives, which stand behind the unknowns, as the lowered program asks for them. */
static pcsim_status name_partials(const demand *d, pcsim_program *p, int num_unknowns) {
  for (int i = num_unknowns; i < p->num_outputs; i++) {
    const int o = (i - num_unknowns) / d->num, *orders = d->orders;
    lower_derivative what = {0};
    char name[LOWER_NAME_SIZE];
    orders += (size_t)((i - num_unknowns) % d->num) * (size_t)d->names->num_coordinates;
    while (strcmp(d->names->unknowns[what.unknown], p->outputs[o].name) != 0) what.unknown++;
    for (int axis = 0; axis < d->names->num_coordinates; axis++)
      for (int k = 0; k < orders[axis]; k++) what.axes[what.order++] = axis;
    lower_write_name(d->names, &what, name);
    pcsim_free(&p->outputs[i].name);
    PCSIM_TRY(pcsim_strdup(name, &p->outputs[i].name));
  }
  return PCSIM_OK;
}

static pcsim_status give_unknowns(const pcsim_program *lowered, const demand *d, pcsim_program *fields,
                                  pcsim_program **out) {
  pcsim_program *partials = NULL;
  PCSIM_TRY(keep_unknowns(d, fields));
  if (!d->num) return pcsim_program_compose(lowered, fields, out);
  PCSIM_TRY(check_coordinates(d, fields));
  PCSIM_TRY(pcsim_transform_partials(fields, "coordinates", d->orders, d->num, &partials));
  pcsim_status status = name_partials(d, partials, fields->num_outputs);
  if (status == PCSIM_OK) status = pcsim_program_compose(lowered, partials, out);
  pcsim_program_destroy(&partials);
  return status;
}

pcsim_status pcsim_lower_compose(const pcsim_program *lowered, const pcsim_lowering *names,
                                 const pcsim_program *fields, pcsim_program **out) {
  demand d = {0};
  pcsim_program *copy = NULL;
  pcsim_status status;
  *out = NULL;
  PCSIM_GOTO(pcsim_program_status(lowered), status, done);
  PCSIM_GOTO(demand_of(lowered, names, &d), status, done);
  PCSIM_GOTO(pcsim_program_copy(fields, &copy), status, done);
  PCSIM_GOTO(pcsim_program_status(copy), status, done);
  status = give_unknowns(lowered, &d, copy, out);
done:
  pcsim_free(&d.used);
  pcsim_free(&d.orders);
  pcsim_program_destroy(&copy);
  return status;
}
