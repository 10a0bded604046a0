/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_plan_again.c  Values that a later pass computes again where that moves less memory than keeping
 *  them.
 *
 *  What a later pass over the same points needs has to be kept and read, unless it is made again of what is
 *  kept anyway. For each pass, what is read is the cheapest set of values that all others needed can be made
 *  of by arithmetic: a minimum cut of the graph between the values that cannot be made again and those that
 *  the pass uses (maximum flow by shortest augmenting paths: J. Edmonds, R. M. Karp, Journal of the ACM 19
 *  (1972), 248-264; for derivatives: H. He, S. Zheng, "min-cut rematerialization", PyTorch 2022). */
#include "exec_code.h"
#include "exec_plan.h"

#include <limits.h>

/* Numbers moved for a row: written (a line is read before), read again. A row moved less is worth so many
 * operations; divisions and roots are as many. Larger graphs are left alone. */
enum {
  COST_READ = 1,
  COST_KEEP = 3,
  WORTH = 6,
  SLOW_OPERATION = 8,
  LARGEST = 3000,
  WITHOUT_END = INT_MAX / 4
};

/** A pass that computes values again. */
typedef struct {
  pcsim_space space;
  int level;
  pcsim_value *again; /**< [nodes] in the new program, -1: not computed again */
} later_pass;

typedef struct {
  int to, room, back; /**< `back`: the edge the other way */
  int next;           /**< of the same vertex, -1 */
} edge;

typedef struct {
  const plan *p;
  const pcsim_program *g;
  later_pass *passes;
  int num_passes;
  /* The graph of a pass. Of value v the vertices 2 v (before it is read) and 2 v + 1; then source, sink. */
  edge *edges;
  int num_edges, edge_room;
  int *first_edge, *queue,
      *through; /**< [2 nodes + 2]; `through`: edge by which a vertex is reached, -1: not */
  bool *needed, *used, *elsewhere; /**< [nodes]: in the graph; used by the pass; kept for others too */
  plan_writing out;
  int *at_least; /**< [values of the new program] */
  int room;
  pcsim_value *place; /**< [nodes] */
} writer;

static int vertices(const writer *w) { return 2 * w->g->num_nodes + 2; }
static int source(const writer *w) { return 2 * w->g->num_nodes; }
static int sink(const writer *w) { return 2 * w->g->num_nodes + 1; }

/* ------------------------------------------------------------------- what is read */

static int pass_of(const plan *p, pcsim_value v) { return p->level[v] - plan_is_reduction(p->program, v); }

static pcsim_space space_of(const plan *p, pcsim_value v) {
  return plan_is_reduction(p->program, v) ? plan_reduction_space(p->program, v) : p->program->nodes[v].space;
}

/** Is the value in memory whoever wants it? */
static bool is_there(const plan *p, pcsim_value v) {
  return p->program->nodes[v].kind == NODE_INPUT || p->added_to[v] >= 0;
}

/** Does v compute with its input in its own pass, which the input comes to from memory? */
static bool reads_earlier(const plan *p, pcsim_value v, pcsim_value root) {
  const pcsim_program *g = p->program;
  if (!p->live[v] || p->root[v] != v || plan_is_map(g->nodes[v].kind) || plan_is_count(g, v)) return false;
  if (g->nodes[root].space == PCSIM_NO_SPACE || p->added_to[v] >= 0) return false;
  return is_there(p, root) || p->level[root] < pass_of(p, v);
}

/** Is v made at a point, by little, of values at the point? */
static bool is_cheap(const plan *p, pcsim_value v) {
  return !is_there(p, v) && exec_code_takes(p->program, v);
}

static int cost(const writer *w, pcsim_value v) {
  const node *n = &w->g->nodes[v];
  return n->rows * (is_there(w->p, v) || w->elsewhere[v] ? COST_READ : COST_KEEP);
}

/** What the pass uses of earlier ones, what that is made of, and what others keep. Returns the values. */
static int find_needed(writer *w, pcsim_space space, int level) {
  const plan *p = w->p;
  const pcsim_program *g = w->g;
  int count = 0;
  for (pcsim_value v = 0; v < g->num_nodes; v++) w->needed[v] = w->used[v] = w->elsewhere[v] = false;
  for (pcsim_value v = 0; v < g->num_nodes; v++)
    for (int i = 0; p->live[v] && p->added_to[v] < 0 && i < g->nodes[v].num_inputs; i++) {
      const pcsim_value root = p->root[g->nodes[v].inputs[i]];
      const bool map = plan_is_map(g->nodes[v].kind), here = reads_earlier(p, v, root);
      if (here && space_of(p, v) == space && pass_of(p, v) == level) w->needed[root] = w->used[root] = true;
      else if (map || here) w->elsewhere[root] = true;
    }
  for (pcsim_value v = g->num_nodes - 1; v >= 0; v--) {
    if (!w->needed[v]) continue;
    count++;
    for (int i = 0; is_cheap(p, v) && i < g->nodes[v].num_inputs; i++) {
      const pcsim_value root = p->root[g->nodes[v].inputs[i]];
      if (g->nodes[root].space != PCSIM_NO_SPACE) w->needed[root] = true;
    }
  }
  return count;
}

/* -------------------------------------------------------------------- minimum cut */

static pcsim_status add_edge(writer *w, int from, int to, int room) {
  if (w->num_edges + 2 > w->edge_room) {
    PCSIM_TRY(pcsim_realloc(2 * (size_t)w->edge_room + 256, sizeof *w->edges, &w->edges));
    w->edge_room = 2 * w->edge_room + 256;
  }
  const int e = w->num_edges;
  w->edges[e] = (edge){to, room, e + 1, w->first_edge[from]};
  w->edges[e + 1] = (edge){from, 0, e, w->first_edge[to]};
  w->first_edge[from] = e;
  w->first_edge[to] = e + 1;
  w->num_edges += 2;
  return PCSIM_OK;
}

static pcsim_status make_graph(writer *w) {
  const plan *p = w->p;
  w->num_edges = 0;
  for (int i = 0; i < vertices(w); i++) w->first_edge[i] = -1;
  for (pcsim_value v = 0; v < w->g->num_nodes; v++) {
    const node *n = &w->g->nodes[v];
    if (!w->needed[v]) continue;
    PCSIM_TRY(add_edge(w, 2 * v, 2 * v + 1, cost(w, v)));
    if (w->used[v]) PCSIM_TRY(add_edge(w, 2 * v + 1, sink(w), WITHOUT_END));
    if (!is_cheap(p, v)) PCSIM_TRY(add_edge(w, source(w), 2 * v, WITHOUT_END));
    for (int i = 0; is_cheap(p, v) && i < n->num_inputs; i++) {
      const pcsim_value root = p->root[n->inputs[i]];
      if (w->g->nodes[root].space != PCSIM_NO_SPACE) PCSIM_TRY(add_edge(w, 2 * root + 1, 2 * v, WITHOUT_END));
    }
  }
  return PCSIM_OK;
}

/** Reach what can be reached from the source; is the sink? */
static bool search(writer *w) {
  int begin = 0, end = 0;
  for (int i = 0; i < vertices(w); i++) w->through[i] = -1;
  w->queue[end++] = source(w);
  while (begin < end) {
    const int from = w->queue[begin++];
    for (int e = w->first_edge[from]; e >= 0; e = w->edges[e].next) {
      const int to = w->edges[e].to;
      if (!w->edges[e].room || w->through[to] >= 0 || to == source(w)) continue;
      w->through[to] = e;
      w->queue[end++] = to;
    }
  }
  return w->through[sink(w)] >= 0;
}

/** Cost of the cut; afterwards `through` tells on which side vertices are. */
static int cut(writer *w) {
  int total = 0;
  while (search(w)) {
    int least = WITHOUT_END;
    for (int v = sink(w); v != source(w); v = w->edges[w->edges[w->through[v]].back].to)
      if (w->edges[w->through[v]].room < least) least = w->edges[w->through[v]].room;
    for (int v = sink(w); v != source(w); v = w->edges[w->edges[w->through[v]].back].to) {
      w->edges[w->through[v]].room -= least;
      w->edges[w->edges[w->through[v]].back].room += least;
    }
    total += least;
  }
  return total;
}

static int operations(const node *n) {
  if (n->kind != NODE_OP) return 0;
  return n->rows * (n->op == PCSIM_OP_DIV || n->op == PCSIM_OP_SQRT ? SLOW_OPERATION : 1);
}

/** Decide for one pass: 0 in `again` marks what is computed again. */
static pcsim_status decide(writer *w, pcsim_space space, int level) {
  const plan *p = w->p;
  const pcsim_program *g = w->g;
  int before = 0, work = 0;
  const int count = find_needed(w, space, level);
  if (!count || count > LARGEST) return PCSIM_OK;
  PCSIM_TRY(make_graph(w));
  const int after = cut(w);
  for (pcsim_value v = 0; v < g->num_nodes; v++)
    if (w->used[v]) before += cost(w, v);
  /* Behind the cut, and wanted there. */
  for (pcsim_value v = 0; v < g->num_nodes; v++) w->needed[v] = w->used[v];
  for (pcsim_value v = g->num_nodes - 1; v >= 0; v--) {
    w->needed[v] = w->needed[v] && is_cheap(p, v) && w->through[2 * v] < 0;
    if (!w->needed[v]) continue;
    work += operations(&g->nodes[v]);
    for (int i = 0; i < g->nodes[v].num_inputs; i++) {
      const pcsim_value root = p->root[g->nodes[v].inputs[i]];
      if (g->nodes[root].space != PCSIM_NO_SPACE) w->needed[root] = true;
    }
  }
  if (!work || work > WORTH * (before - after)) return PCSIM_OK;
  later_pass *q = &w->passes[w->num_passes++];
  *q = (later_pass){.space = space, .level = level};
  PCSIM_TRY(pcsim_alloc((size_t)g->num_nodes, sizeof *q->again, &q->again));
  for (pcsim_value v = 0; v < g->num_nodes; v++)
    q->again[v] = p->live[v] && g->nodes[v].space != PCSIM_NO_SPACE && w->needed[p->root[v]] ? 0 : -1;
  return PCSIM_OK;
}

/* --------------------------------------------------------------- the new program */

static const later_pass *find_pass(const writer *w, pcsim_space space, int level) {
  for (int i = 0; i < w->num_passes; i++)
    if (w->passes[i].space == space && w->passes[i].level == level) return &w->passes[i];
  return NULL;
}

/** v once more with inputs as they stand in the new program, in pass `at_least` or later. */
static pcsim_status append(writer *w, pcsim_value v, const later_pass *q, int at_least, pcsim_value *inputs,
                           pcsim_value *number) {
  pcsim_status status = PCSIM_OK;
  node n = w->g->nodes[v];
  for (int i = 0; i < n.num_inputs; i++) {
    const pcsim_value in = n.inputs[i];
    inputs[i] = q && q->again[in] >= 0 ? q->again[in] : w->place[in];
  }
  n.inputs = inputs;
  *number = plan_append(&w->out, &n, v, &status);
  PCSIM_TRY(status);
  if (*number >= w->room) {
    PCSIM_TRY(pcsim_realloc(2 * (size_t)w->room + 64, sizeof *w->at_least, &w->at_least));
    w->room = 2 * w->room + 64;
  }
  w->at_least[*number] = at_least;
  return PCSIM_OK;
}

/** Pass by pass; what is computed again stands before the other values of its pass. */
static pcsim_status write_program(writer *w, const int *order, pcsim_value *inputs) {
  const plan *p = w->p;
  PCSIM_TRY(graph_copy_frame(w->g, &w->out.to));
  for (int level = 0; level < p->num_levels; level++) {
    for (int i = 0; i < w->num_passes; i++)
      for (pcsim_value v = 0; v < w->g->num_nodes; v++) {
        const later_pass *q = &w->passes[i];
        if (q->level == level && q->again[v] >= 0) PCSIM_TRY(append(w, v, q, level, inputs, &q->again[v]));
      }
    for (pcsim_value v = 0; v < w->g->num_nodes; v++) {
      if (order[v] != level) continue;
      const bool reads =
          p->live[v] && p->root[v] == v && p->added_to[v] < 0 && !plan_is_map(w->g->nodes[v].kind);
      const later_pass *q = reads ? find_pass(w, space_of(p, v), pass_of(p, v)) : NULL;
      PCSIM_TRY(append(w, v, q, 0, inputs, &w->place[v]));
    }
  }
  for (int i = 0; i < w->g->num_outputs; i++)
    pcsim_build_output(w->out.to, w->g->outputs[i].name, w->place[w->g->outputs[i].value]);
  return pcsim_program_status(w->out.to);
}

static pcsim_status make(writer *w) {
  const plan *p = w->p;
  const pcsim_program *g = w->g;
  const size_t n = (size_t)g->num_nodes;
  PCSIM_TRY(pcsim_alloc((size_t)(p->num_levels * g->num_spaces), sizeof *w->passes, &w->passes));
  PCSIM_TRY(pcsim_alloc(2 * n + 2, sizeof *w->first_edge, &w->first_edge));
  PCSIM_TRY(pcsim_alloc(2 * n + 2, sizeof *w->queue, &w->queue));
  PCSIM_TRY(pcsim_alloc(2 * n + 2, sizeof *w->through, &w->through));
  PCSIM_TRY(pcsim_alloc(n, sizeof *w->needed, &w->needed));
  PCSIM_TRY(pcsim_alloc(n, sizeof *w->used, &w->used));
  PCSIM_TRY(pcsim_alloc(n, sizeof *w->elsewhere, &w->elsewhere));
  PCSIM_TRY(pcsim_alloc(n, sizeof *w->place, &w->place));
  for (int level = 1; level < p->num_levels; level++)
    for (pcsim_space space = 0; space < g->num_spaces; space++) PCSIM_TRY(decide(w, space, level));
  if (!w->num_passes) return PCSIM_OK;
  int *order = NULL;
  pcsim_value *inputs = NULL;
  pcsim_status status = plan_order(p, &order, &inputs);
  if (status == PCSIM_OK) status = write_program(w, order, inputs);
  pcsim_free(&order);
  pcsim_free(&inputs);
  return status;
}

pcsim_status plan_again(const plan *p, plan_writing *out, int **at_least) {
  writer w = {.p = p, .g = p->program};
  const pcsim_status status = make(&w);
  for (int i = 0; i < w.num_passes; i++) pcsim_free(&w.passes[i].again);
  pcsim_free(&w.passes);
  pcsim_free(&w.edges);
  pcsim_free(&w.first_edge);
  pcsim_free(&w.queue);
  pcsim_free(&w.through);
  pcsim_free(&w.needed);
  pcsim_free(&w.used);
  pcsim_free(&w.elsewhere);
  pcsim_free(&w.place);
  if (status != PCSIM_OK) {
    plan_writing_free(&w.out);
    pcsim_free(&w.at_least);
    return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
  }
  *out = w.out;
  *at_least = w.at_least;
  return PCSIM_OK;
}
