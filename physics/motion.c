/* SPDX-License-Identifier: BSD-2-Clause */
/* `mesh: {move: ..}`: displacements of boundaries as expressions of place and parameters, and their
 * derivatives by a parameter (forward mode of the same expressions). */
#include "flow.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

enum { DIM_MAX = 3 };
static const char *const axes[DIM_MAX] = {"x", "y", "z"};

static const pcsim_node *move_of(const pcsim_tree *tree) {
  return pcsim_node_get(pcsim_node_get(pcsim_tree_root(tree), "mesh"), "move");
}

bool pcsim_motion_given(const pcsim_tree *tree) { return pcsim_node_size(move_of(tree)) > 0; }

/* --------------------------------------------------------------- the case alone */

void pcsim_motion_check(pcsim_tree *tree) {
  const pcsim_node *move = move_of(tree);
  if (!move || pcsim_node_get_kind(move) != PCSIM_NODE_MAPPING) return;
  for (int64_t i = 0; i < pcsim_node_size(move); ++i) {
    const pcsim_node *entry = pcsim_node_child(move, i);
    const int64_t num = pcsim_node_size(entry);
    if (pcsim_node_get_kind(entry) != PCSIM_NODE_SEQUENCE || num < 2 || num > DIM_MAX) {
      pcsim_tree_problem(tree, entry,
                         "a motion is a sequence of two or three expressions of x, y, z and the parameters: "
                         "the displacement of the nodes of '%s'",
                         pcsim_node_key(move, i));
      continue;
    }
    for (int64_t k = 0; k < num; ++k) {
      pcsim_expr *expr = NULL;
      if (pcsim_node_as_expr(tree, pcsim_node_child(entry, k), axes, DIM_MAX, &expr))
        pcsim_expr_destroy(&expr);
    }
  }
}

/* ------------------------------------------------------------------- boundaries */

static bool is_pattern(const char *name) { return strpbrk(name, "*?[") != NULL; }

/* The entry that moves a boundary: its own name, else a pattern, -1 if none does. */
static int64_t entry_of(const pcsim_node *move, const char *patch) {
  int64_t found = -1;
  for (int64_t i = 0; i < pcsim_node_size(move); ++i) {
    const char *name = pcsim_node_key(move, i);
    if (!strcmp(name, patch)) return i;
    if (found < 0 && is_pattern(name) && fnmatch(name, patch, 0) == 0) found = i;
  }
  return found;
}

/* Every entry moves something; each has the mesh's number of components. */
static void check_entries(pcsim_tree *tree, const pcsim_raw_mesh *raw, const pcsim_node *move) {
  for (int64_t i = 0; i < pcsim_node_size(move); ++i) {
    const pcsim_node *entry = pcsim_node_child(move, i);
    const char *name = pcsim_node_key(move, i);
    bool any = false;
    for (int p = 0; p < raw->num_patches; ++p)
      any = any || !strcmp(name, raw->patches[p]) || (is_pattern(name) && !fnmatch(name, raw->patches[p], 0));
    if (!any)
      boundary_report_no_match(tree, pcsim_node_key_node(move, i), (const char *const *)raw->patches,
                               raw->num_patches, name);
    if (pcsim_node_size(entry) != raw->dim)
      pcsim_tree_problem(tree, entry, "the motion of '%s' has %lld components, the mesh %d dimensions", name,
                         (long long)pcsim_node_size(entry), raw->dim);
  }
}

/* ------------------------------------------------------------------------- nodes */

/* Nodes of one boundary, each once. */
typedef struct {
  int64_t num;
  int32_t *node;
  double *x, *out[DIM_MAX];
} patch_nodes;

static void nodes_free(patch_nodes *n) {
  pcsim_free(&n->node), pcsim_free(&n->x);
  for (int k = 0; k < DIM_MAX; ++k) pcsim_free(&n->out[k]);
}

/* `met` [nodes] holds 1 + the last boundary that came by. */
static pcsim_status nodes_find(const pcsim_raw_mesh *raw, int patch, int32_t *met, patch_nodes *n) {
  int64_t room = 0;
  for (int64_t f = 0; f < raw->num_facets; ++f)
    if (raw->facet_patch[f] == patch) room += raw->facet_start[f + 1] - raw->facet_start[f];
  PCSIM_TRY(pcsim_alloc((size_t)room, sizeof *n->node, &n->node));
  PCSIM_TRY(pcsim_alloc((size_t)room, 3 * sizeof *n->x, &n->x));
  for (int k = 0; k < DIM_MAX; ++k) PCSIM_TRY(pcsim_alloc((size_t)room, sizeof(double), &n->out[k]));
  for (int64_t f = 0; f < raw->num_facets; ++f)
    for (int64_t k = raw->facet_start[f]; raw->facet_patch[f] == patch && k < raw->facet_start[f + 1]; ++k) {
      const int32_t node = raw->facet_nodes[k];
      if (met[node] == patch + 1) continue;
      met[node] = patch + 1;
      memcpy(n->x + 3 * n->num, raw->nodes + 3 * (int64_t)node, 3 * sizeof *n->x);
      n->node[n->num++] = node;
    }
  return PCSIM_OK;
}

/* Where an earlier boundary has moved a node, both agree. */
static pcsim_status place_node(const pcsim_raw_mesh *raw, const char *patch, int32_t node, const double *u,
                               bool taken, double *displacement) {
  double *to = displacement + 3 * (int64_t)node;
  for (int k = 0; k < raw->dim; ++k) {
    PCSIM_CHECK(
        !taken || fabs(to[k] - u[k]) <= 1e-9 * fmax(fabs(to[k]), fabs(u[k])), PCSIM_ERR_CASE,
        "boundary '%s' moves the node at (%.6g, %.6g, %.6g), which it has in common with another one, "
        "by %.6g along %s, the other one by %.6g: they would part",
        patch, raw->nodes[3 * (int64_t)node], raw->nodes[3 * (int64_t)node + 1],
        raw->nodes[3 * (int64_t)node + 2], u[k], axes[k], to[k]);
    to[k] = u[k];
  }
  return PCSIM_OK;
}

static pcsim_status move_patch(const pcsim_tree *tree, const pcsim_raw_mesh *raw, int patch,
                               const pcsim_node *entry, const char *parameter, int32_t *met, uint8_t *taken,
                               double *displacement) {
  patch_nodes n = {0};
  pcsim_status status = nodes_find(raw, patch, met, &n);
  const char *texts[DIM_MAX];
  for (int k = 0; k < raw->dim; ++k) texts[k] = pcsim_node_text(pcsim_node_child(entry, k));
  const point_expressions e = {.num = raw->dim,
                               .texts = texts,
                               .num_coordinates = 3,
                               .num_points = n.num,
                               .x = n.x,
                               .parameter = parameter};
  if (status == PCSIM_OK)
    status = point_expressions_evaluate(tree, &e, parameter ? NULL : n.out, parameter ? n.out : NULL);
  for (int64_t i = 0; status == PCSIM_OK && i < n.num; ++i) {
    const double u[DIM_MAX] = {n.out[0][i], n.out[1][i], n.out[2][i]};
    status = place_node(raw, raw->patches[patch], n.node[i], u, taken[n.node[i]], displacement);
    taken[n.node[i]] = 1;
  }
  nodes_free(&n);
  return status;
}

static pcsim_status fill(const pcsim_tree *tree, const pcsim_raw_mesh *raw, const char *parameter,
                         double *displacement) {
  const pcsim_node *move = move_of(tree);
  bool *moves = NULL;
  int32_t *met = NULL;
  uint8_t *taken = NULL;
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc((size_t)raw->num_patches, sizeof *moves, &moves), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)raw->num_nodes, sizeof *met, &met), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)raw->num_nodes, sizeof *taken, &taken), status, done);
  for (int p = 0; p < raw->num_patches; ++p) {
    const int64_t i = entry_of(move, raw->patches[p]);
    if (i < 0) continue;
    moves[p] = true;
    PCSIM_GOTO(move_patch(tree, raw, p, pcsim_node_child(move, i), parameter, met, taken, displacement),
               status, done);
  }
  status = pcsim_raw_mesh_extend(raw, moves, displacement);
done:
  pcsim_free(&moves), pcsim_free(&met), pcsim_free(&taken);
  return status;
}

/* What the mesh has against a motion is a problem of the case, at `move`. */
static pcsim_status placed(pcsim_tree *tree, pcsim_status status) {
  if (status != PCSIM_ERR_CASE) return status;
  pcsim_tree_problem(tree, move_of(tree), "%s", pcsim_error_message());
  return pcsim_tree_status(tree);
}

pcsim_status pcsim_motion_displacement(pcsim_tree *tree, const pcsim_raw_mesh *raw, const char *parameter,
                                       double *displacement) {
  const size_t problems = pcsim_tree_num_problems(tree);
  memset(displacement, 0, (size_t)raw->num_nodes * 3 * sizeof *displacement);
  if (!pcsim_motion_given(tree)) return PCSIM_OK;
  check_entries(tree, raw, move_of(tree));
  if (pcsim_tree_num_problems(tree) > problems) return pcsim_tree_status(tree);
  return placed(tree, fill(tree, raw, parameter, displacement));
}

pcsim_status pcsim_motion_apply(pcsim_tree *tree, pcsim_raw_mesh *raw) {
  double *displacement = NULL;
  if (!pcsim_motion_given(tree)) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc((size_t)raw->num_nodes, 3 * sizeof *displacement, &displacement));
  pcsim_status status = pcsim_motion_displacement(tree, raw, NULL, displacement);
  if (status == PCSIM_OK) status = placed(tree, pcsim_raw_mesh_move(raw, displacement));
  pcsim_free(&displacement);
  return status;
}
