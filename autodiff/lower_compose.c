/* SPDX-License-Identifier: BSD-2-Clause */
/* Lowered equations with their unknowns from a program: which derivatives are asked for, and the cheapest way
 * to have them. */
#include "lower.h"

#include <string.h>

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

/** `fields` has the outputs of the unknowns that are used and no others. */
static pcsim_status apart(const pcsim_program *lowered, const demand *d, const pcsim_program *fields,
                          pcsim_program **out) {
  pcsim_program *partials = NULL;
  if (!d->num) return pcsim_program_compose(lowered, fields, out);
  PCSIM_TRY(pcsim_transform_partials(fields, "coordinates", d->orders, d->num, &partials));
  pcsim_status status = name_partials(d, partials, fields->num_outputs);
  if (status == PCSIM_OK) status = pcsim_program_compose(lowered, partials, out);
  pcsim_program_destroy(&partials);
  return status;
}

/** Put `*other` in the place of `*best` if it costs less. At equal cost the older stays. */
static void keep_cheaper(pcsim_program **best, pcsim_program **other) {
  if (*other && pcsim_program_count(*other).operations < pcsim_program_count(*best).operations) {
    pcsim_program *swap = *best;
    *best = *other;
    *other = swap;
  }
  pcsim_program_destroy(other);
}

static pcsim_status cheapest(const pcsim_program *lowered, const demand *d, const pcsim_program *fields,
                             pcsim_program **out) {
  static const lower_route routes[] = {{true, false}, {false, false}, {true, true}, {false, true}};
  PCSIM_TRY(apart(lowered, d, fields, out));
  for (size_t i = 0; d->num > 1 && i < sizeof routes / sizeof *routes; i++) {
    pcsim_program *other = NULL;
    lower_found found;
    const pcsim_status status = lower_with_sums(lowered, d->names, fields, routes[i], &found, &other);
    if (status != PCSIM_OK) {
      pcsim_program_destroy(out);
      return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
    }
    keep_cheaper(out, &other);
    /* Nothing to join, or nothing that the other routes would do otherwise. */
    if (i == 1 && (!found.sums || !found.shared)) break;
  }
  return PCSIM_OK;
}

/** What is asked for, and a copy of the fields that gives the unknowns which are used and no more. */
static pcsim_status begin(const pcsim_program *lowered, const pcsim_lowering *names,
                          const pcsim_program *fields, demand *d, pcsim_program **copy) {
  PCSIM_TRY(pcsim_program_status(lowered));
  PCSIM_TRY(demand_of(lowered, names, d));
  PCSIM_TRY(pcsim_program_copy(fields, copy));
  PCSIM_TRY(pcsim_program_status(*copy));
  PCSIM_TRY(keep_unknowns(d, *copy));
  return d->num ? check_coordinates(d, *copy) : PCSIM_OK;
}

static pcsim_status lower_compose(const pcsim_program *lowered, const pcsim_lowering *names,
                                  const pcsim_program *fields, bool sums, pcsim_program **out) {
  demand d = {0};
  pcsim_program *copy = NULL;
  *out = NULL;
  pcsim_status status = begin(lowered, names, fields, &d, &copy);
  if (status == PCSIM_OK) status = sums ? cheapest(lowered, &d, copy, out) : apart(lowered, &d, copy, out);
  pcsim_free(&d.used);
  pcsim_free(&d.orders);
  pcsim_program_destroy(&copy);
  return status;
}

pcsim_status pcsim_lower_compose(const pcsim_program *lowered, const pcsim_lowering *names,
                                 const pcsim_program *fields, pcsim_program **out) {
  return lower_compose(lowered, names, fields, true, out);
}

pcsim_status lower_with_partials(const pcsim_program *lowered, const pcsim_lowering *names,
                                 const pcsim_program *fields, pcsim_program **out) {
  return lower_compose(lowered, names, fields, false, out);
}
