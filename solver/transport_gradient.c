/* SPDX-License-Identifier: BSD-2-Clause */
/* Gradients of typed laws: which faces and nodes fix what, for the maps of gradient.h. */
#include "transport.h"

#include <string.h>

static bool fixes(const transport *t, int condition, int class) {
  for (int i = 0; i < t->m; i++)
    if (t->class_of[i] == class) return t->problem->condition[condition].kind[i] == PCSIM_TRANSPORT_VALUE;
  return false;
}

/* Condition of each boundary of the mesh, also where this rank has no face of it; several: -1. */
static void conditions_of_patches(const transport *t, int *condition) {
  const pcsim_mesh_view *v = t->view;
  for (int p = 0; p < v->num_patches; p++) condition[p] = -1;
  for (int k = 0; k < t->problem->num_conditions; k++)
    for (int64_t i = 0; i < t->boundary[k].num; i++) {
      const int64_t face = t->ni + t->boundary[k].face[i];
      for (int p = 0; p < v->num_patches; p++)
        if (face >= v->patch_start[p] && face < v->patch_start[p + 1]) condition[p] = k;
    }
  MPI_Allreduce(MPI_IN_PLACE, condition, v->num_patches, MPI_INT, MPI_MAX, pcsim_mesh_comm(t->mesh));
}

/* Values that depend on nothing but place and time are known at the nodes as well. */
static pcsim_status known_at_nodes(const pcsim_transport_condition *c, bool *known) {
  pcsim_program *values;
  const char *name;
  bool used;
  PCSIM_TRY(transport_values_program(c, &values));
  *known = true;
  for (int i = 0; (name = pcsim_program_input(values, i, NULL, &used)); i++)
    if (used && strcmp(name, "coordinates") != 0) *known = false;
  pcsim_program_destroy(&values);
  return PCSIM_OK;
}

static pcsim_status classify_nodes(const transport *t, const int *condition, uint8_t *node) {
  for (int p = 0; p < t->view->num_patches; p++) {
    bool known = false;
    if (condition[p] >= 0) PCSIM_TRY(known_at_nodes(&t->problem->condition[condition[p]], &known));
    for (int c = 0; c < t->num_classes; c++)
      node[p * t->num_classes + c] = !known                      ? GRADIENT_NODE_NONE
                                     : fixes(t, condition[p], c) ? GRADIENT_NODE_GIVEN
                                                                 : GRADIENT_NODE_CELLS;
  }
  return PCSIM_OK;
}

/* Given nodes, sorted by condition. */
static pcsim_status pack_nodes(transport *t, const int *condition) {
  const gradient_maps *g = &t->gradient;
  for (int k = 0; k < t->problem->num_conditions; k++) {
    transport_nodes *nodes = &t->nodes[k];
    for (int64_t i = 0; i < g->num_given; i++) nodes->num += condition[t->view->node_patch[g->given[i]]] == k;
    PCSIM_TRY(pcsim_alloc((size_t)nodes->num, sizeof *nodes->place, &nodes->place));
    PCSIM_TRY(pcsim_alloc((size_t)nodes->num * 4, sizeof *nodes->coordinates, &nodes->coordinates));
    PCSIM_TRY(pcsim_alloc((size_t)(nodes->num * t->m), sizeof *nodes->value, &nodes->value));
    int64_t at = 0;
    for (int64_t i = 0; i < g->num_given; i++) {
      if (condition[t->view->node_patch[g->given[i]]] != k) continue;
      nodes->place[at] = i;
      memcpy(nodes->coordinates + 4 * at++, t->view->node + 3 * (int64_t)g->given[i], 3 * sizeof(double));
    }
  }
  return PCSIM_OK;
}

/* What the maps of gradients are asked for: which faces and nodes fix what. */
typedef struct {
  int *condition;        /* [patches] */
  uint8_t *node, *fixed; /* [patches][classes], [nb][classes] */
} gradient_wishes;

static void wishes_free(gradient_wishes *w) {
  pcsim_free(&w->condition), pcsim_free(&w->node), pcsim_free(&w->fixed);
}

static pcsim_status wishes_create(const transport *t, gradient_wishes *w) {
  const size_t patches = (size_t)t->view->num_patches, classes = (size_t)t->num_classes;
  *w = (gradient_wishes){0};
  pcsim_status status = pcsim_alloc(patches, sizeof *w->condition, &w->condition);
  if (status == PCSIM_OK) status = pcsim_alloc(patches * classes, sizeof *w->node, &w->node);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)t->nb * classes, sizeof *w->fixed, &w->fixed);
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(t->mesh), status));
  conditions_of_patches(t, w->condition);
  for (int k = 0; k < t->problem->num_conditions; k++)
    for (int64_t i = 0; i < t->boundary[k].num; i++)
      for (int c = 0; c < t->num_classes; c++)
        w->fixed[t->boundary[k].face[i] * t->num_classes + c] = fixes(t, k, c);
  return classify_nodes(t, w->condition, w->node);
}

static gradient_request request_of(const transport *t, const gradient_wishes *w, const dual_places *places) {
  return (gradient_request){t->mesh, t->num_classes,          w->fixed, w->node, t->problem->material,
                            places,  transport_flux_degree(t)};
}

static pcsim_status build_gradients(transport *t, const gradient_wishes *w) {
  const gradient_request request = request_of(t, w, NULL);
  PCSIM_TRY(gradient_create(&request, &t->gradient));
  if (t->choices.degree > 1) PCSIM_TRY(second_create(&request, &t->gradient, &t->second));
  if (t->choices.degree > 2) PCSIM_TRY(third_create(&request, &t->gradient, &t->second, &t->third));
  for (int k = 0; k < t->problem->num_conditions; k++)
    for (int64_t i = 0; i < t->boundary[k].num; i++)
      for (int c = 0; c < t->m; c++)
        t->boundary[k].share[i * t->m + c] =
            t->gradient.share[t->boundary[k].face[i] * t->num_classes + t->class_of[c]];
  return pack_nodes(t, w->condition);
}

pcsim_status transport_make_gradients(transport *t) {
  gradient_wishes w;
  pcsim_status status = wishes_create(t, &w);
  if (status == PCSIM_OK) status = build_gradients(t, &w);
  wishes_free(&w);
  return status;
}

pcsim_status transport_gradient_tangent(const transport *t, const dual_places *places, gradient_maps *along,
                                        second_maps *second) {
  gradient_wishes w;
  pcsim_status status = wishes_create(t, &w);
  if (status == PCSIM_OK) {
    const gradient_request request = request_of(t, &w, places);
    status = gradient_tangent_create(&request, along, t->choices.degree > 1 ? second : NULL);
  }
  wishes_free(&w);
  return pcsim_status_agree(pcsim_mesh_comm(t->mesh), status);
}
