/* SPDX-License-Identifier: BSD-2-Clause */
/* Lowered equations with their unknowns from a program, where derivatives that are used in sums only go
 * through it as their sums.
 *
 *  A value of the lowered program is linear in derivatives of the unknowns along sums, differences, products
 * with and quotients by anything else. Where such a value is wanted as a whole (an output, an input of
 * anything not linear, shared by several), it is a root. At a root the derivatives that nothing wants by
 * themselves are taken as zeros, and the sum of them times their weights is added as one: pcsim_transform_sum
 * with weights that may themselves be values. */
#include "graft.h"
#include "lower.h"
#include "transform.h"

#include <string.h>

/** Where a lowered program is linear in derivatives. */
typedef struct {
  const pcsim_program *lowered;
  int width;    /**< coordinates */
  int *unknown; /**< [num_nodes] unknown of an input, -1: another value */
  int *orders;  /**< [num_names][width] of inputs that are derivatives */
  int *order;   /**< [num_nodes] highest order of a derivative that the value is linear in, 0: none */
  bool *live;   /**< [num_nodes] an output needs it */
  bool *whole;  /**< [num_nodes] wanted by itself, not only inside a sum */
  int *uses;    /**< [num_nodes] linear uses */
} structure;

typedef struct {
  pcsim_value leaf;      /**< derivative, in the lowered program */
  forward_weight weight; /**< in the result */
  bool done;
} sum_member;

typedef struct {
  const pcsim_lowering *names;
  lower_route route;
  structure s;
  transform t; /**< the fields; the result is built behind them */
  graft g;     /**< of the lowered program */
  int count;   /**< values of the fields in the result */
  bool local;  /**< all of them that depend on the coordinates live where those do */
  lower_found found;
  int num_members, room_members;
  sum_member *members; /**< of the root at hand */
  int room_stack;
  sum_member *stack;
  int *member_orders; /**< [room_members][width] */
  forward_weight *member_weights;
} collapse;

/* ---------------------------------------------------------------- structure */

static const int *orders_of(const structure *s, pcsim_value leaf) {
  return s->orders + (size_t)s->lowered->nodes[leaf].index * (size_t)s->width;
}

static bool is_leaf(const structure *s, pcsim_value v) { return s->unknown[v] >= 0 && s->order[v] > 0; }

/** Which inputs the value is linear in, as bits; the others are weights. */
static int linear_inputs(const structure *s, pcsim_value v) {
  const node *n = &s->lowered->nodes[v];
  if (n->kind != NODE_OP || n->rows != 1 || n->columns != 1) return 0;
  const int a = s->order[n->inputs[0]], b = n->num_inputs > 1 ? s->order[n->inputs[1]] : 0;
  switch (n->op) {
  case PCSIM_OP_NEG:
  case PCSIM_OP_DIV:
    return a ? 1 : 0;
  case PCSIM_OP_ADD:
  case PCSIM_OP_SUB:
    return (a ? 1 : 0) | (b ? 2 : 0);
  case PCSIM_OP_MUL:
    if (n->inputs[0] == n->inputs[1] || (!a && !b)) return 0;
    return a >= b ? 1 : 2;
  default:
    return 0;
  }
}

static pcsim_status find_leaves(structure *s, const pcsim_lowering *names) {
  for (int v = 0; v < s->lowered->num_nodes; v++) {
    const node *n = &s->lowered->nodes[v];
    s->unknown[v] = -1;
    if (n->kind == NODE_INPUT) {
      const char *name = s->lowered->names[n->index];
      int *orders = s->orders + (size_t)n->index * (size_t)s->width;
      if (!strcmp(name, "coordinates") || !strncmp(name, "n.", 2)) continue;
      PCSIM_TRY(pcsim_lowering_derivative(names, name, &s->unknown[v], orders));
      for (int i = 0; i < s->width; i++) s->order[v] += orders[i];
      continue;
    }
    const int linear = linear_inputs(s, v);
    for (int i = 0; i < n->num_inputs; i++)
      if (linear >> i & 1 && s->order[n->inputs[i]] > s->order[v]) s->order[v] = s->order[n->inputs[i]];
  }
  return PCSIM_OK;
}

/** From last to first: which values are wanted as a whole. */
static void find_roots(structure *s, lower_route route) {
  for (int i = 0; i < s->lowered->num_outputs; i++)
    s->live[s->lowered->outputs[i].value] = s->whole[s->lowered->outputs[i].value] = true;
  for (int v = s->lowered->num_nodes - 1; v >= 0; v--) {
    const node *n = &s->lowered->nodes[v];
    const int linear = linear_inputs(s, v);
    if (s->uses[v] > 1 && (!is_leaf(s, v) || route.shared_apart)) s->whole[v] = true;
    for (int i = 0; s->live[v] && i < n->num_inputs; i++) {
      s->live[n->inputs[i]] = true;
      if (linear >> i & 1) s->uses[n->inputs[i]]++;
      else s->whole[n->inputs[i]] = true;
    }
  }
}

static pcsim_status structure_of(const pcsim_program *lowered, const pcsim_lowering *names, lower_route route,
                                 structure *s) {
  const size_t n = (size_t)lowered->num_nodes;
  *s = (structure){.lowered = lowered, .width = names->num_coordinates};
  PCSIM_TRY(pcsim_alloc(n, sizeof *s->unknown, &s->unknown));
  PCSIM_TRY(pcsim_alloc((size_t)lowered->num_names * (size_t)names->num_coordinates, sizeof *s->orders,
                        &s->orders));
  PCSIM_TRY(pcsim_alloc(n, sizeof *s->order, &s->order));
  PCSIM_TRY(pcsim_alloc(n, sizeof *s->live, &s->live));
  PCSIM_TRY(pcsim_alloc(n, sizeof *s->whole, &s->whole));
  PCSIM_TRY(pcsim_alloc(n, sizeof *s->uses, &s->uses));
  PCSIM_TRY(find_leaves(s, names));
  find_roots(s, route);
  return PCSIM_OK;
}

static void structure_free(structure *s) {
  pcsim_free(&s->unknown);
  pcsim_free(&s->orders);
  pcsim_free(&s->order);
  pcsim_free(&s->live);
  pcsim_free(&s->whole);
  pcsim_free(&s->uses);
}

/* ------------------------------------------------------- members of one root */

static pcsim_status push(sum_member **list, int *num, int *room, sum_member m) {
  if (*num == *room) {
    *room = *room ? 2 * *room : 16;
    PCSIM_TRY(pcsim_realloc((size_t)*room, sizeof **list, list));
  }
  (*list)[(*num)++] = m;
  return PCSIM_OK;
}

/** Take the numbers out of a weight, so that 2 a and -a are seen to be multiples of one value. */
static forward_weight weight_of(const pcsim_program *p, pcsim_value v) {
  forward_weight w = {1, v};
  for (;;) {
    const node *n = &p->nodes[w.value];
    const bool one_row = n->num_inputs && p->nodes[n->inputs[0]].rows == 1;
    if (n->kind == NODE_CONSTANT && n->rows == 1)
      return (forward_weight){w.number * n->numbers[0], PCSIM_NO_VALUE};
    if (n->kind == NODE_BROADCAST && one_row) w.value = n->inputs[0];
    else if (n->kind == NODE_OP && n->op == PCSIM_OP_NEG) {
      w.number = -w.number;
      w.value = n->inputs[0];
    } else if (n->kind == NODE_OP && n->op == PCSIM_OP_MUL && p->nodes[n->inputs[0]].kind == NODE_CONSTANT) {
      w.number *= p->nodes[n->inputs[0]].numbers[0];
      w.value = n->inputs[1];
    } else if (n->kind == NODE_OP && n->op == PCSIM_OP_MUL && p->nodes[n->inputs[1]].kind == NODE_CONSTANT) {
      w.number *= p->nodes[n->inputs[1]].numbers[0];
      w.value = n->inputs[0];
    } else return w;
  }
}

/** The derivatives under a root with their weights: those of the linear values on the way multiply. */
static pcsim_status collect(collapse *c, pcsim_value root) {
  const structure *s = &c->s;
  pcsim_program *p = c->t.p;
  int used = 0;
  c->num_members = 0;
  PCSIM_TRY(push(&c->stack, &used, &c->room_stack,
                 (sum_member){.leaf = root, .weight.value = pcsim_build_constant(p, 1)}));
  while (used) {
    const sum_member top = c->stack[--used];
    const node *n = &s->lowered->nodes[top.leaf];
    if (is_leaf(s, top.leaf)) {
      PCSIM_TRY(push(&c->members, &c->num_members, &c->room_members,
                     (sum_member){.leaf = top.leaf, .weight = weight_of(p, top.weight.value)}));
      continue;
    }
    const int linear = linear_inputs(s, top.leaf);
    for (int i = n->num_inputs - 1; i >= 0; i--) {
      const pcsim_value in = n->inputs[i];
      pcsim_value w = top.weight.value;
      if (!(linear >> i & 1) || s->whole[in]) continue;
      if (n->op == PCSIM_OP_MUL) w = pcsim_build_binary(p, PCSIM_OP_MUL, w, c->g.place[n->inputs[1 - i]]);
      else if (n->op == PCSIM_OP_DIV) w = pcsim_build_binary(p, PCSIM_OP_DIV, w, c->g.place[n->inputs[1]]);
      else if (n->op == PCSIM_OP_NEG || (n->op == PCSIM_OP_SUB && i))
        w = pcsim_build_unary(p, PCSIM_OP_NEG, w);
      PCSIM_TRY(pcsim_program_status(p));
      PCSIM_TRY(push(&c->stack, &used, &c->room_stack, (sum_member){.leaf = in, .weight.value = w}));
    }
  }
  return PCSIM_OK;
}

/** One member for each derivative that is there several times with multiples of one value. */
static void join_members(collapse *c) {
  int kept = 0;
  for (int i = 0; i < c->num_members; i++) {
    const sum_member m = c->members[i];
    int j = 0;
    while (j < kept && (c->members[j].leaf != m.leaf || c->members[j].weight.value != m.weight.value)) j++;
    if (j == kept) c->members[kept++] = m;
    else c->members[j].weight.number += m.weight.number;
  }
  c->num_members = kept;
}

/** Is a member carried anyway, below another one of the same unknown? */
static bool is_below(const collapse *c, int member) {
  const structure *s = &c->s;
  const pcsim_value leaf = c->members[member].leaf;
  const int *a = orders_of(s, leaf);
  for (int j = 0; j < c->num_members; j++) {
    const pcsim_value other = c->members[j].leaf;
    const int *b = orders_of(s, other);
    bool below = s->unknown[other] == s->unknown[leaf] && s->order[leaf] < s->order[other];
    for (int i = 0; below && i < s->width; i++) below = a[i] <= b[i];
    if (below) return true;
  }
  return false;
}

/* ------------------------------------------------------------------- values */

static pcsim_value unknown_value(const collapse *c, pcsim_value leaf) {
  return graph_find_output(c->t.p, c->names->unknowns[c->s.unknown[leaf]]);
}

/** A sum of derivatives of one unknown; zero is a constant. */
static pcsim_status sum_value(collapse *c, pcsim_value leaf, const int *orders, const forward_weight *weights,
                              int n, pcsim_value *out) {
  const pcsim_value value = unknown_value(c, leaf);
  PCSIM_TRY(transform_sum(c->t.p, c->t.wrt[0], orders, weights, n, c->count, &value, 1, out));
  if (*out < 0) *out = pcsim_build_constant(c->t.p, 0);
  return pcsim_program_status(c->t.p);
}

static pcsim_status partial_value(collapse *c, pcsim_value leaf, pcsim_value *out) {
  return sum_value(c, leaf, orders_of(&c->s, leaf), &(forward_weight){1, PCSIM_NO_VALUE}, 1, out);
}

static pcsim_status add_term(collapse *c, pcsim_value root, forward_weight weight, pcsim_value term) {
  pcsim_program *p = c->t.p;
  const node *n = &c->s.lowered->nodes[root];
  const pcsim_space space = n->space == PCSIM_NO_SPACE ? n->space : c->g.spaces[n->space];
  if (weight.value >= 0) term = pcsim_build_binary(p, PCSIM_OP_MUL, weight.value, term);
  term = pcsim_build_binary(p, PCSIM_OP_MUL, pcsim_build_constant(p, weight.number), term);
  term = pcsim_build_binary(p, PCSIM_OP_ADD, c->g.place[root], term);
  c->g.place[root] = graph_as_shape(p, term, space, 1, 1);
  return pcsim_program_status(p);
}

/** Members `first` and those that go with it, as one. */
static pcsim_status add_group(collapse *c, pcsim_value root, int first, bool by_weight) {
  const structure *s = &c->s;
  const sum_member lead = c->members[first];
  const bool apart = is_below(c, first);
  bool one_value = true;
  int n = 0;
  for (int j = first; j < c->num_members; j++) {
    sum_member *m = &c->members[j];
    const bool fits = s->unknown[m->leaf] == s->unknown[lead.leaf] && !is_below(c, j) && !apart &&
                      (!by_weight || m->weight.value == lead.weight.value);
    if (m->done || (j != first && !fits)) continue;
    memcpy(c->member_orders + (size_t)n * (size_t)s->width, orders_of(s, m->leaf),
           (size_t)s->width * sizeof *c->member_orders);
    c->member_weights[n++] = m->weight;
    one_value = one_value && m->weight.value == lead.weight.value;
    m->done = true;
  }
  pcsim_value term;
  if (n == 1) {
    PCSIM_TRY(partial_value(c, lead.leaf, &term));
    return add_term(c, root, lead.weight, term);
  }
  c->found.sums++;
  /* A value that all share stays outside. */
  for (int i = 0; one_value && i < n; i++) c->member_weights[i].value = PCSIM_NO_VALUE;
  PCSIM_TRY(sum_value(c, lead.leaf, c->member_orders, c->member_weights, n, &term));
  return add_term(c, root, (forward_weight){1, one_value ? lead.weight.value : PCSIM_NO_VALUE}, term);
}

static pcsim_status add_sums(collapse *c, pcsim_value root) {
  PCSIM_TRY(collect(c, root));
  join_members(c);
  bool by_weight = c->route.by_weight;
  for (int i = 0; i < c->num_members; i++) {
    const pcsim_value w = c->members[i].weight.value;
    if (w >= 0 && c->t.p->nodes[w].space != PCSIM_NO_SPACE && !c->local) by_weight = true;
  }
  const size_t room = (size_t)c->num_members;
  PCSIM_TRY(pcsim_realloc(room * (size_t)c->s.width, sizeof *c->member_orders, &c->member_orders));
  PCSIM_TRY(pcsim_realloc(room, sizeof *c->member_weights, &c->member_weights));
  for (int i = 0; i < c->num_members; i++)
    if (!c->members[i].done) PCSIM_TRY(add_group(c, root, i, by_weight));
  return PCSIM_OK;
}

static pcsim_status place_value(collapse *c, pcsim_value v) {
  const structure *s = &c->s;
  const node *n = &s->lowered->nodes[v];
  pcsim_value given = PCSIM_NO_VALUE;
  if (s->unknown[v] >= 0 && !s->live[v]) return PCSIM_OK;
  if (is_leaf(s, v) && s->whole[v]) PCSIM_TRY(partial_value(c, v, &given));
  else if (is_leaf(s, v)) given = pcsim_build_constant(c->t.p, 0);
  else if (s->unknown[v] >= 0) given = unknown_value(c, v);
  else if (!s->live[v] && n->kind != NODE_INPUT && n->kind != NODE_PARAMETER) return PCSIM_OK;
  PCSIM_TRY(graft_value(&c->g, v, given));
  return s->whole[v] && s->order[v] && !is_leaf(s, v) ? add_sums(c, v) : PCSIM_OK;
}

/** Does all that the coordinates change live where they do? Weights that differ from point to point cannot go
 * through a map or a sum. */
static pcsim_status find_local(collapse *c) {
  const pcsim_program *p = c->t.p;
  const pcsim_value x = c->t.wrt[0];
  bool *depends = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)c->count, sizeof *depends, &depends));
  depends[x] = true;
  c->local = true;
  for (int v = 0; v < c->count; v++) {
    const node *n = &p->nodes[v];
    for (int i = 0; i < n->num_inputs; i++) depends[v] = depends[v] || depends[n->inputs[i]];
    const bool map = n->kind >= NODE_GATHER && n->kind <= NODE_SEGMENT_PUT;
    if (depends[v] && (map || n->space != p->nodes[x].space)) c->local = false;
  }
  pcsim_free(&depends);
  return PCSIM_OK;
}

static pcsim_status build(collapse *c, const pcsim_program *lowered) {
  pcsim_program *p = c->t.p;
  c->count = p->num_nodes;
  PCSIM_TRY(find_local(c));
  PCSIM_TRY(structure_of(lowered, c->names, c->route, &c->s));
  for (int v = 0; v < lowered->num_nodes; v++)
    c->found.shared = c->found.shared || (c->s.uses[v] > 1 && is_leaf(&c->s, v));
  PCSIM_TRY(graft_begin(lowered, p, PCSIM_NO_SPACE, &c->g));
  for (int v = 0; v < lowered->num_nodes; v++) PCSIM_TRY(place_value(c, v));
  for (int i = 0; i < p->num_outputs; i++) pcsim_free(&p->outputs[i].name);
  p->num_outputs = 0;
  for (int i = 0; i < lowered->num_outputs; i++)
    pcsim_build_output(p, lowered->outputs[i].name, c->g.place[lowered->outputs[i].value]);
  return pcsim_program_status(p);
}

pcsim_status lower_with_sums(const pcsim_program *lowered, const pcsim_lowering *names,
                             const pcsim_program *fields, lower_route route, lower_found *found,
                             pcsim_program **out) {
  collapse c = {.names = names, .route = route};
  const char *const wrt = "coordinates";
  *out = NULL;
  PCSIM_TRY(transform_begin(fields, &wrt, 1, &c.t));
  pcsim_status status = build(&c, lowered);
  *found = c.found;
  structure_free(&c.s);
  graft_free(&c.g);
  pcsim_free(&c.members);
  pcsim_free(&c.stack);
  pcsim_free(&c.member_orders);
  pcsim_free(&c.member_weights);
  status = transform_end(&c.t, status, out);
  if (status == PCSIM_OK) status = pcsim_program_simplify(*out);
  if (status != PCSIM_OK) pcsim_program_destroy(out);
  return status;
}
