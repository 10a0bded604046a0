/* SPDX-License-Identifier: BSD-2-Clause */
/* `initial: {run: .., coarser: ..}`: a start that is no expression. Who has meshes and runs fills it in. */
#include <pcsim/physics.h>

enum { COARSER_MAX = 6 };

static const pcsim_key start_keys[] = {
    {"run", PCSIM_KEY_TEXT, "", "", "",
     "folder of a run, on this mesh or another: its unknowns are taken over by name, conservatively", 0, 0},
    {"coarser", PCSIM_KEY_INTEGER, "", "", "1",
     "solve on so many coarser meshes first, each twice as coarse as the next and the start of it", 0, 0},
    {"potential", PCSIM_KEY_BOOL, "", "", "", "start a flow from potential flow", 0, 0},
};

const pcsim_key *pcsim_start_keys(size_t *n) {
  *n = sizeof start_keys / sizeof *start_keys;
  return start_keys;
}

void pcsim_start_read(pcsim_tree *tree, pcsim_start *start) {
  const pcsim_node *root = pcsim_tree_root(tree);
  pcsim_node *node = pcsim_node_get(root, "initial");
  *start = (pcsim_start){0};
  if (!node || pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING) return;
  const pcsim_node *run = pcsim_node_get(node, "run"), *coarser = pcsim_node_get(node, "coarser"),
                   *file = pcsim_node_get(pcsim_node_get(root, "mesh"), "file"),
                   *study = pcsim_node_get(root, "study"), *potential = pcsim_node_get(node, "potential");
  if (run && pcsim_node_text(run)[0]) start->run = run;
  if (potential && pcsim_node_bool(tree, node, "potential", &start->potential) && start->potential &&
      start->run)
    pcsim_tree_problem(tree, potential, "`potential` beside `run`; keep one");
  if (start->potential && pcsim_transport_given(tree))
    pcsim_tree_problem(tree, potential, "`potential` starts a flow; typed equations have none");
  if (!coarser || !pcsim_node_integer(tree, node, "coarser", &start->coarser)) return;
  if (start->coarser < 1 || start->coarser > COARSER_MAX)
    pcsim_tree_problem(tree, coarser, "`coarser` is %lld; expected 1 to %d coarser meshes",
                       (long long)start->coarser, COARSER_MAX);
  if (start->run) pcsim_tree_problem(tree, coarser, "`coarser` beside `run`; keep one");
  if (pcsim_time_given(tree))
    pcsim_tree_problem(
        tree, coarser,
        "`coarser` starts a steady solve; a run through time may start from one with `run: DIR`");
  if (study)
    pcsim_tree_problem(tree, coarser, "`coarser` beside `study`, which solves on coarser meshes by itself");
  if (file)
    pcsim_tree_problem(tree, coarser,
                       "`coarser` needs a shape under `mesh`, which can be made coarser; a mesh file cannot");
}
