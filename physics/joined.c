/* SPDX-License-Identifier: BSD-2-Clause */
/* Typed equations that join a built-in flow: one case, two problems on one mesh. */
#include "flow.h"
#include "typed.h"

#include <math.h>
#include <string.h>

bool pcsim_joined_given(const pcsim_tree *tree) {
  const pcsim_node *physics = pcsim_node_get(pcsim_tree_root(tree), "physics");
  if (!physics || pcsim_node_get_kind(physics) != PCSIM_NODE_MAPPING) return false;
  return pcsim_node_get(physics, "model") &&
         (pcsim_node_get(physics, "equations") || pcsim_node_get(physics, "unknowns"));
}

static void add(joined_keys *keys, const pcsim_key *key) {
  for (size_t i = 0; i < keys->num; ++i)
    if (!strcmp(keys->key[i].name, key->name)) return;
  if (keys->num < JOINED_KEYS_MAX) keys->key[keys->num++] = *key;
}

static void add_unknowns(const pcsim_tree *tree, joined_keys *keys) {
  const pcsim_node *list = pcsim_node_get(pcsim_node_get(pcsim_tree_root(tree), "physics"), "unknowns");
  const bool one = list && pcsim_node_get_kind(list) == PCSIM_NODE_SCALAR;
  for (int64_t i = 0; list && i < (one ? 1 : pcsim_node_size(list)); ++i) {
    const pcsim_key key = {.name = pcsim_node_text(one ? list : pcsim_node_child(list, i)),
                           .type = PCSIM_KEY_ANY,
                           .fallback = "",
                           .choices = "",
                           .unit = "",
                           .help = "an unknown of the typed equations"};
    if (key.name[0]) add(keys, &key);
  }
}

void joined_keys_of(const pcsim_tree *tree, const pcsim_key *own, size_t n, const pcsim_key *more,
                    size_t num_more, bool unknowns, joined_keys *keys) {
  const bool joined = pcsim_joined_given(tree);
  keys->num = 0;
  for (size_t i = 0; joined && i < num_more; ++i) add(keys, &more[i]);
  for (size_t i = 0; i < n; ++i) add(keys, &own[i]);
  if (joined && unknowns) add_unknowns(tree, keys);
}

/* ------------------------------------------------------------------ the force */

/* Largest force of the start and of unknowns as large as they are given, on this rank. */
static pcsim_status largest_force(const pcsim_mesh *mesh, const pcsim_transport_view *view, double *force) {
  const int m = view->num_unknowns, dim = view->dim;
  cell_values d;
  pcsim_status status = cell_values_create(mesh, view, dim, &d);
  *force = 0;
  for (int full = 0; status == PCSIM_OK && full < 2; ++full) {
    for (int64_t c = 0; full && c < d.n; ++c)
      for (int i = 0; i < m; ++i) d.column[i * d.n + c] = view->scale[i];
    status = cell_values_run(&d, view->force, "force", 0);
    for (int64_t c = 0; status == PCSIM_OK && c < d.n; ++c) {
      double sum = 0;
      for (int i = 0; i < dim; ++i) sum += d.out[c * dim + i] * d.out[c * dim + i];
      if (isfinite(sum)) *force = fmax(*force, sqrt(sum));
    }
  }
  cell_values_free(&d);
  return status;
}

pcsim_status pcsim_joined_problem_read(pcsim_tree *tree, const pcsim_mesh *mesh, pcsim_flow_problem **flow,
                                       pcsim_transport_problem **transport) {
  double force = 0;
  *flow = NULL, *transport = NULL;
  PCSIM_CHECK(tree && mesh && pcsim_joined_given(tree), PCSIM_ERR_ARG,
              "the case has no typed equations beside a built-in model");
  pcsim_status status = pcsim_transport_problem_read(tree, mesh, transport);
  const pcsim_transport_view *view = *transport ? pcsim_transport_problem_get(*transport) : NULL;
  if (status == PCSIM_OK) status = flow_problem_read(tree, mesh, view, flow);
  if (status != PCSIM_OK || !*flow || !*transport) goto fail;
  if (view->force) status = largest_force(mesh, view, &force);
  PCSIM_GOTO(pcsim_status_agree(pcsim_mesh_comm(mesh), status), status, fail);
  MPI_Allreduce(MPI_IN_PLACE, &force, 1, MPI_DOUBLE, MPI_MAX, pcsim_mesh_comm(mesh));
  flow_problem_add_force(*flow, force);
  PCSIM_GOTO(flow_problem_scale_viscosity(tree, *flow, view), status, fail);
  if (pcsim_flow_problem_get(*flow)->viscosity > 0) return PCSIM_OK;
fail:
  pcsim_flow_problem_destroy(flow);
  pcsim_transport_problem_destroy(transport);
  return status;
}
