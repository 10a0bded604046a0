/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_plan.c  Levels: which pass over the points computes a value, and what is kept between passes.
 */
#include "exec_plan.h"

#include <stdlib.h>

bool plan_is_count(const pcsim_program *program, pcsim_value v) {
  const node *n = &program->nodes[v];
  if (n->kind != NODE_SUM) return false;
  const node *in = &program->nodes[n->inputs[0]];
  return in->kind == NODE_BROADCAST && program->nodes[in->inputs[0]].space == PCSIM_NO_SPACE;
}

bool plan_is_reduction(const pcsim_program *program, pcsim_value v) {
  const node *n = &program->nodes[v];
  if (n->kind == NODE_SUM) return !plan_is_count(program, v);
  if (n->kind != NODE_OUTER) return false;
  return program->nodes[n->inputs[0]].space != PCSIM_NO_SPACE ||
         program->nodes[n->inputs[1]].space != PCSIM_NO_SPACE;
}

bool plan_is_map(node_kind kind) {
  return (kind >= NODE_GATHER && kind <= NODE_SEGMENT_PUT) || kind == NODE_SEGMENT_PLACE;
}

/** Is a value on a space only rows of another one? */
static bool is_alias(const pcsim_program *program, const node *n) {
  if (n->space == PCSIM_NO_SPACE) return false;
  if (n->kind == NODE_SLICE || n->kind == NODE_FROZEN) return true;
  const node *in = n->kind == NODE_BROADCAST ? &program->nodes[n->inputs[0]] : NULL;
  return in && in->space == n->space && in->rows == n->rows;
}

/** The value that a sum over points of equal numbers is made of, else the input. */
static pcsim_value true_input(const pcsim_program *program, pcsim_value v, int i) {
  const pcsim_value in = program->nodes[v].inputs[i];
  return plan_is_count(program, v) ? program->nodes[in].inputs[0] : in;
}

static void mark_live(plan *p) {
  const pcsim_program *g = p->program;
  for (int i = 0; i < g->num_outputs; i++) {
    p->live[g->outputs[i].value] = p->exposed[g->outputs[i].value] = true;
    p->uses[g->outputs[i].value]++;
  }
  for (pcsim_value v = g->num_nodes - 1; v >= 0; v--) {
    if (!p->live[v]) continue;
    for (int i = 0; i < g->nodes[v].num_inputs; i++) {
      const pcsim_value in = true_input(g, v, i);
      const bool branch = i && g->nodes[v].kind == NODE_OP && g->nodes[v].op == PCSIM_OP_WHERE;
      p->live[in] = true;
      p->exposed[in] = p->exposed[in] || (p->exposed[v] && !branch);
      p->uses[in]++;
    }
  }
}

static void find_roots(plan *p) {
  const pcsim_program *g = p->program;
  for (pcsim_value v = 0; v < g->num_nodes; v++) {
    const node *n = &g->nodes[v];
    p->root[v] = v;
    p->root_row[v] = 0;
    if (!is_alias(g, n)) continue;
    p->root[v] = p->root[n->inputs[0]];
    p->root_row[v] = p->root_row[n->inputs[0]] + (n->kind == NODE_SLICE ? n->first : 0);
  }
}

bool plan_reads_earlier(const plan *p, pcsim_value v, pcsim_value root) {
  if (!plan_is_map(p->program->nodes[v].kind)) return false;
  return p->program->nodes[root].kind != NODE_INPUT && p->added_to[root] < 0;
}

/** Earliest pass in which v can be computed, by the passes of its inputs. */
static int earliest_level(const plan *p, pcsim_value v) {
  const pcsim_program *g = p->program;
  const node *n = &g->nodes[v];
  int level = p->at_least ? p->at_least[v] : 0;
  for (int i = 0; i < n->num_inputs; i++) {
    const pcsim_value root = p->root[true_input(g, v, i)];
    const int at = p->level[root] + plan_reads_earlier(p, v, root);
    if (at > level) level = at;
  }
  return level;
}

static void find_levels(plan *p) {
  const pcsim_program *g = p->program;
  for (pcsim_value v = 0; v < g->num_nodes; v++) {
    if (!p->live[v]) continue;
    const int level = earliest_level(p, v) + plan_is_reduction(g, v);
    p->level[v] = p->root[v] != v ? p->level[p->root[v]] : level;
    if (p->level[v] >= p->num_levels) p->num_levels = p->level[v] + 1;
  }
}

/** May v be computed in another pass than the earliest? */
static bool is_movable(const plan *p, pcsim_value v) {
  const node *n = &p->program->nodes[v];
  return p->live[v] && p->root[v] == v && n->space != PCSIM_NO_SPACE && n->kind != NODE_INPUT;
}

/** Latest pass that is early enough for all uses in their passes; INT32_MAX: there is none. `mapped`: a map
 * reads the value, so it is kept for its whole space anyway. */
static void find_latest(const plan *p, int *latest, bool *mapped, bool move) {
  const pcsim_program *g = p->program;
  for (pcsim_value v = 0; v < g->num_nodes; v++) {
    latest[v] = INT32_MAX;
    mapped[v] = false;
  }
  for (int i = 0; i < g->num_outputs; i++) {
    const pcsim_value root = p->root[g->outputs[i].value];
    if (p->level[root] < latest[root]) latest[root] = p->level[root];
  }
  for (pcsim_value v = g->num_nodes - 1; v >= 0; v--) {
    if (!p->live[v] || p->root[v] != v || plan_is_count(g, v)) continue;
    const node *n = &g->nodes[v];
    /* Of a value that follows its uses, or stays. */
    if (is_movable(p, v) && latest[v] < INT32_MAX && (move || latest[v] < p->level[v]))
      p->level[v] = latest[v];
    const int pass = p->level[v] - plan_is_reduction(g, v);
    for (int i = 0; i < n->num_inputs; i++) {
      const pcsim_value root = p->root[n->inputs[i]];
      const int at = pass - plan_reads_earlier(p, v, root);
      if (at < latest[root]) latest[root] = at;
      mapped[root] = mapped[root] || (plan_is_map(n->kind) && p->added_to[v] < 0);
    }
  }
}

/** Rows of inputs that have to be kept for v because they are computed in earlier passes. */
static int kept_rows(const plan *p, pcsim_value v, const bool *mapped) {
  const pcsim_program *g = p->program;
  const node *n = &g->nodes[v];
  int rows = 0;
  for (int i = 0; i < n->num_inputs && !plan_is_map(n->kind); i++) {
    const pcsim_value root = p->root[n->inputs[i]];
    const node *r = &g->nodes[root];
    const bool there = r->kind == NODE_INPUT || p->added_to[root] >= 0 || mapped[root];
    if (r->space != PCSIM_NO_SPACE && !there && p->level[root] < p->level[v]) rows += r->rows;
  }
  return rows;
}

/** Values that only later passes use are computed there, unless more would have to be kept for them than they
 * are: a gathered input is not stored to be read again. First all go as late as their uses allow; then those
 * that cost more that way go back, which may pull others, until nothing moves: levels only fall. */
static pcsim_status move_late(plan *p) {
  const pcsim_program *g = p->program;
  int *latest = NULL;
  bool *mapped = NULL;
  pcsim_status status = pcsim_alloc((size_t)g->num_nodes, sizeof *latest, &latest);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)g->num_nodes, sizeof *mapped, &mapped);
  bool moved = status == PCSIM_OK;
  for (bool first = true; moved; first = false) {
    find_latest(p, latest, mapped, first);
    moved = false;
    for (pcsim_value v = 0; v < g->num_nodes; v++) {
      if (!is_movable(p, v) || kept_rows(p, v, mapped) <= g->nodes[v].rows) continue;
      const int level = earliest_level(p, v);
      moved = moved || level < p->level[v];
      p->level[v] = level;
    }
  }
  for (pcsim_value v = 0; v < g->num_nodes; v++) p->level[v] = p->level[p->root[v]];
  pcsim_free(&latest);
  pcsim_free(&mapped);
  return status;
}

/** Space over which a reduction sums. */
pcsim_space plan_reduction_space(const pcsim_program *program, pcsim_value v) {
  const node *n = &program->nodes[v];
  for (int i = 0; i < n->num_inputs; i++)
    if (program->nodes[n->inputs[i]].space != PCSIM_NO_SPACE) return program->nodes[n->inputs[i]].space;
  return PCSIM_NO_SPACE;
}

/** A sum of sums over points has one accumulator: outer products of all channels of a jet, say. `merged`
 *  of a member names the sum it is part of. */
static void merge_sums(plan *p) {
  const pcsim_program *g = p->program;
  pcsim_value *kind_of = p->merged_leaf;
  for (pcsim_value v = 0; v < g->num_nodes; v++) {
    p->merged[v] = kind_of[v] = -1;
    if (!p->live[v]) continue;
    const node *n = &g->nodes[v];
    if (plan_is_reduction(g, v)) {
      p->merged[v] = kind_of[v] = v;
      continue;
    }
    if (n->kind != NODE_OP || n->op != PCSIM_OP_ADD || n->space != PCSIM_NO_SPACE) continue;
    const pcsim_value a = n->inputs[0], b = n->inputs[1], la = kind_of[a], lb = kind_of[b];
    if (la < 0 || lb < 0 || a == b || p->uses[a] != 1 || p->uses[b] != 1) continue;
    const node *na = &g->nodes[la], *nb = &g->nodes[lb];
    if (na->kind != nb->kind || na->rows != nb->rows || na->columns != nb->columns ||
        p->level[la] != p->level[lb] || plan_reduction_space(g, la) != plan_reduction_space(g, lb))
      continue;
    p->merged[a] = p->merged[b] = p->merged[v] = v;
    kind_of[v] = la;
  }
  /* Inputs stand before their uses: one pass from the end leads every member to the last sum. */
  for (pcsim_value v = g->num_nodes - 1; v >= 0; v--)
    if (p->merged[v] >= 0) p->merged[v] = p->merged[p->merged[v]];
}

static void keep(plan *p, pcsim_value root) {
  if (p->program->nodes[root].kind == NODE_INPUT || p->stored[root] >= 0) return;
  p->stored[root] = p->num_stores;
  p->store_node[p->num_stores++] = root;
}

/** Values that a map or a later pass reads. */
static void find_stored(plan *p) {
  const pcsim_program *g = p->program;
  for (pcsim_value v = 0; v < g->num_nodes; v++) p->stored[v] = -1;
  for (pcsim_value v = 0; v < g->num_nodes; v++) {
    const node *n = &g->nodes[v];
    const bool reduction = plan_is_reduction(g, v);
    if (!p->live[v] || p->root[v] != v || plan_is_count(g, v) || (n->space == PCSIM_NO_SPACE && !reduction))
      continue;
    const int pass = p->level[v] - reduction;
    if (p->added_to[v] == v) keep(p, v);
    for (int i = 0; i < n->num_inputs && p->added_to[v] < 0; i++) {
      const pcsim_value root = p->root[n->inputs[i]];
      if (g->nodes[root].space == PCSIM_NO_SPACE || p->added_to[root] >= 0) continue;
      if (plan_is_map(n->kind) || pass > p->level[root]) keep(p, root);
    }
  }
}

/** Values on no space that are computed from others on none, in the order of the passes. */
static void list_uniforms(plan *p) {
  const pcsim_program *g = p->program;
  for (int level = 0; level < p->num_levels; level++)
    for (pcsim_value v = 0; v < g->num_nodes; v++) {
      const node *n = &g->nodes[v];
      if (!p->live[v] || n->space != PCSIM_NO_SPACE || p->level[v] != level || p->merged[v] >= 0) continue;
      if (n->kind == NODE_INPUT || n->kind == NODE_PARAMETER || n->kind == NODE_CONSTANT) continue;
      p->uniforms[p->num_uniforms++] = v;
    }
}

static pcsim_status allocate(plan *p) {
  const size_t n = (size_t)p->program->num_nodes;
  PCSIM_TRY(pcsim_alloc(n, sizeof *p->root, &p->root));
  PCSIM_TRY(pcsim_alloc(n, sizeof *p->root_row, &p->root_row));
  PCSIM_TRY(pcsim_alloc(n, sizeof *p->level, &p->level));
  PCSIM_TRY(pcsim_alloc(n, sizeof *p->live, &p->live));
  PCSIM_TRY(pcsim_alloc(n, sizeof *p->exposed, &p->exposed));
  PCSIM_TRY(pcsim_alloc(n, sizeof *p->uses, &p->uses));
  PCSIM_TRY(pcsim_alloc(n, sizeof *p->added_to, &p->added_to));
  PCSIM_TRY(pcsim_alloc(n, sizeof *p->taken_away, &p->taken_away));
  PCSIM_TRY(pcsim_alloc(n, sizeof *p->stored, &p->stored));
  PCSIM_TRY(pcsim_alloc(n, sizeof *p->merged, &p->merged));
  PCSIM_TRY(pcsim_alloc(n, sizeof *p->merged_leaf, &p->merged_leaf));
  PCSIM_TRY(pcsim_alloc(n, sizeof *p->store_node, &p->store_node));
  return pcsim_alloc(n, sizeof *p->uniforms, &p->uniforms);
}

/** Points a tile: what lives at a time should stay in the second cache, but six vectors at least, since each
 * product of two rows that is summed over points ends with a sum over the lanes; 24 is a multiple of most
 * vectors and of the three columns of the matrix kernel, and no power of two, whose rows would fall on the
 * same lines. */
static void choose_tile(plan *p, int tile, const exec_kernels *kernels) {
  p->lanes = kernels->lanes;
  p->panel = kernels->panel;
  int rows = 1;
  for (int i = 0; i < p->num_stages; i++)
    if (p->stages[i].tile_rows > rows) rows = p->stages[i].tile_rows;
  if (tile <= 0) {
    const int64_t room = kernels->tile_bytes / (kernels->single ? 4 : 8);
    const int least = kernels->lanes > 4 ? 6 * kernels->lanes : 24;
    tile = kernels->single ? 192 : 96;
    while (tile > least && (int64_t)tile * rows > room) tile /= 2;
  }
  const int unit = p->lanes > 8 ? p->lanes : 8;
  p->tile = (tile + unit - 1) / unit * unit;
}

/** Which pass computes each value of the program. */
static pcsim_status find_passes(plan *p) {
  PCSIM_TRY(allocate(p));
  mark_live(p);
  find_roots(p);
  plan_adds(p);
  find_levels(p);
  return move_late(p);
}

static void free_passes(plan *p) {
  pcsim_free(&p->root);
  pcsim_free(&p->root_row);
  pcsim_free(&p->level);
  pcsim_free(&p->live);
  pcsim_free(&p->exposed);
  pcsim_free(&p->uses);
  pcsim_free(&p->added_to);
  pcsim_free(&p->taken_away);
  pcsim_free(&p->stored);
  pcsim_free(&p->merged);
  pcsim_free(&p->merged_leaf);
  pcsim_free(&p->store_node);
  pcsim_free(&p->uniforms);
}

/** Put a program that was written anew in the place of the plan's; `at_least` [values] of it, or NULL: as
 * they were. */
static pcsim_status take_program(plan *p, plan_writing *w, int *at_least) {
  if (!at_least && p->at_least) {
    const pcsim_status status = pcsim_alloc((size_t)w->to->num_nodes, sizeof *at_least, &at_least);
    if (status != PCSIM_OK) {
      plan_writing_free(w);
      return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
    }
    for (pcsim_value v = 0; v < w->to->num_nodes; v++)
      at_least[v] = w->origin[v] >= 0 ? p->at_least[w->origin[v]] : 0;
  }
  pcsim_free(&p->at_least);
  p->at_least = at_least;
  for (pcsim_value v = 0; p->origin && v < w->to->num_nodes; v++)
    if (w->origin[v] >= 0) w->origin[v] = p->origin[w->origin[v]];
  pcsim_free(&p->origin);
  pcsim_program_destroy(&p->program);
  p->program = w->to;
  p->origin = w->origin;
  free_passes(p);
  p->num_levels = 0;
  return find_passes(p);
}

pcsim_status plan_order(const plan *p, int **order, pcsim_value **inputs) {
  const pcsim_program *g = p->program;
  int most = RECORD_ROWS + 1;
  PCSIM_TRY(pcsim_alloc((size_t)g->num_nodes, sizeof **order, order));
  for (pcsim_value v = 0; v < g->num_nodes; v++) {
    const node *n = &g->nodes[v];
    if (n->num_inputs > most) most = n->num_inputs;
    (*order)[v] = p->added_to[v] < 0 ? p->level[v] : 0; /* there as soon as what is added */
    for (int i = 0; i < n->num_inputs; i++)
      if ((*order)[n->inputs[i]] > (*order)[v]) (*order)[v] = (*order)[n->inputs[i]];
  }
  return pcsim_alloc((size_t)most, sizeof **inputs, inputs);
}

static pcsim_status write_places(plan *p) {
  plan_writing w = {0};
  PCSIM_TRY(plan_places(p->program, &w));
  return w.to ? take_program(p, &w, NULL) : PCSIM_OK;
}

static pcsim_status write_again(plan *p) {
  plan_writing w = {0};
  int *at_least = NULL;
  PCSIM_TRY(plan_again(p, &w, &at_least));
  return w.to ? take_program(p, &w, at_least) : PCSIM_OK;
}

static pcsim_status write_records(plan *p) {
  plan_writing w = {0};
  PCSIM_TRY(plan_records(p, &w));
  return w.to ? take_program(p, &w, NULL) : PCSIM_OK;
}

static pcsim_status make(plan *p, const pcsim_program *program, int tile, const exec_kernels *kernels) {
  PCSIM_TRY(pcsim_program_status(program));
  PCSIM_TRY(pcsim_program_copy(program, &p->program));
  PCSIM_TRY(find_passes(p));
  PCSIM_TRY(write_places(p));
  PCSIM_TRY(write_again(p));
  PCSIM_TRY(write_records(p));
  merge_sums(p);
  find_stored(p);
  list_uniforms(p);
  PCSIM_TRY(plan_stages(p));
  choose_tile(p, tile, kernels);
  return PCSIM_OK;
}

void plan_origin(const plan *p, pcsim_value *v, int *row) {
  if (!p->origin) return;
  const pcsim_program *g = p->program;
  const pcsim_value whole = *v;
  for (pcsim_value u = 0; u < g->num_nodes && p->origin[whole] < 0; u++) {
    const node *n = &g->nodes[u];
    if (n->kind != NODE_SLICE || n->inputs[0] != whole || *row < n->first || *row >= n->first + n->rows)
      continue;
    *v = p->origin[u];
    *row -= n->first;
    return;
  }
  *v = p->origin[whole];
}

pcsim_status plan_create(const pcsim_program *program, int tile, const exec_kernels *kernels, plan *p) {
  *p = (plan){0};
  pcsim_status status = make(p, program, tile, kernels);
  if (status == PCSIM_OK) return PCSIM_OK;
  plan_destroy(p);
  return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
}

void plan_destroy(plan *p) {
  pcsim_program_destroy(&p->program);
  pcsim_free(&p->origin);
  pcsim_free(&p->at_least);
  free_passes(p);
  pcsim_free(&p->stages);
  pcsim_free(&p->instructions);
  pcsim_free(&p->micros);
  pcsim_free(&p->list);
  pcsim_free(&p->packs);
  pcsim_free(&p->splats);
  pcsim_free(&p->reductions);
}
