/* SPDX-License-Identifier: BSD-2-Clause */
/* A monitor's number as a functional of the solution: what an adjoint needs. */
#include "monitor.h"

#include <stdio.h>
#include <string.h>

pcsim_status monitor_lower(const pcsim_tree *tree, const pcsim_monitors *monitors, const char *text,
                           pcsim_program **program) {
  static const char *const places[3] = {"x", "y", "z"};
  const char *const *parameters;
  const double *values;
  const char **unknowns = NULL;
  pcsim_status status;
  const int num = pcsim_tree_parameters(tree, &parameters, &values);
  PCSIM_TRY(pcsim_alloc((size_t)monitors->num_fields, sizeof *unknowns, &unknowns));
  for (int f = 0; f < monitors->num_fields; ++f) unknowns[f] = monitors->field[f].name;
  const pcsim_lowering lowering = {.num_coordinates = pcsim_mesh_get(monitors->mesh)->dim,
                                   .coordinates = places,
                                   .num_unknowns = monitors->num_fields,
                                   .unknowns = unknowns,
                                   .num_parameters = num,
                                   .parameters = parameters};
  status = pcsim_lower(&text, 1, &lowering, program, NULL, NULL);
  for (int i = 0; status == PCSIM_OK && i < num; ++i) {
    double *at = pcsim_program_parameter(*program, parameters[i], NULL, NULL);
    if (at) *at = values[i];
  }
  pcsim_free(&unknowns);
  return status;
}

pcsim_status monitor_name_places(const bool *wanted, int num, const char *const *names,
                                 pcsim_monitor_functional *f) {
  PCSIM_TRY(pcsim_alloc((size_t)num, sizeof *f->where, &f->where));
  for (int i = 0; i < num; ++i)
    if (wanted[i]) f->where[f->of.num_where++] = names[i];
  f->of.where = f->where;
  return PCSIM_OK;
}

static const monitor *find(const pcsim_monitors *monitors, const char *quantity, int *which) {
  for (int i = 0; i < monitors->num; ++i) {
    const monitor *m = &monitors->monitor[i];
    for (*which = 0; *which < m->num_quantities; ++*which)
      if (!strcmp(monitors->quantity[m->first_quantity + *which].name, quantity)) return m;
  }
  return NULL;
}

/* The number as a functional by itself; ERR_ARG: it is none. */
static pcsim_status functional_of(const pcsim_tree *tree, const pcsim_monitors *monitors, const monitor *m,
                                  int which, pcsim_monitor_functional *f) {
  *f = (pcsim_monitor_functional){.factor = 1};
  if (!m->kind->functional) return PCSIM_ERR_ARG;
  const pcsim_status status = m->kind->functional(tree, monitors, m, which, f);
  if (status != PCSIM_OK) pcsim_monitor_functional_free(f);
  return status;
}

static bool is_functional(const pcsim_tree *tree, const pcsim_monitors *monitors, const monitor *m,
                          int which) {
  pcsim_monitor_functional f;
  const bool is = functional_of(tree, monitors, m, which, &f) == PCSIM_OK;
  if (is) pcsim_monitor_functional_free(&f);
  else pcsim_error_clear();
  return is;
}

/* ------------------------------------------------------------ weights of fields */

static pcsim_status allocate_weights(const pcsim_tree *tree, const pcsim_monitors *monitors,
                                     pcsim_monitor_functional *f) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(monitors->mesh);
  const size_t cells = (size_t)(mesh->num_cells + mesh->num_ghosts), num = (size_t)monitors->num_fields,
               faces = (size_t)(mesh->num_faces - mesh->num_interior_faces);
  const char *const *parameters;
  PCSIM_TRY(pcsim_alloc(cells * num, 4 * sizeof(double), &f->cell));
  PCSIM_TRY(pcsim_alloc(faces * num, sizeof(double), &f->face));
  PCSIM_TRY(pcsim_alloc(faces, 3 * sizeof(double), &f->friction));
  PCSIM_TRY(pcsim_alloc((size_t)pcsim_tree_parameters(tree, &parameters, NULL), sizeof(double), &f->own));
  f->weights = (pcsim_field_weights){monitors->num_fields, f->cell, f->face, f->friction};
  f->of = (pcsim_functional){.kind = PCSIM_FUNCTIONAL_WEIGHTED, .weights = &f->weights};
  return PCSIM_OK;
}

static pcsim_status differentiate(const pcsim_tree *tree, pcsim_monitors *monitors, const monitor *m,
                                  int which, const pcsim_fields *fields, pcsim_monitor_functional *f) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(monitors->mesh);
  MPI_Comm comm = pcsim_mesh_comm(monitors->mesh);
  const int width = 4 * monitors->num_fields;
  const char *const *parameters;
  const int num = pcsim_tree_parameters(tree, &parameters, NULL);
  PCSIM_TRY(pcsim_status_agree(comm, allocate_weights(tree, monitors, f)));
  PCSIM_TRY(pcsim_status_agree(comm, m->kind->differentiate(tree, monitors, m, which, fields, f)));
  PCSIM_TRY(pcsim_mesh_exchange_add(monitors->mesh, width, f->cell));
  memset(f->cell + mesh->num_cells * width, 0, (size_t)(mesh->num_ghosts * width) * sizeof(double));
  MPI_Allreduce(MPI_IN_PLACE, f->own, num, MPI_DOUBLE, MPI_SUM, comm);
  return PCSIM_OK;
}

pcsim_status monitor_points_back(pcsim_monitors *monitors, const monitor *m, const double *seed,
                                 pcsim_monitor_functional *f) {
  const size_t fields = (size_t)monitors->num_fields, points = (size_t)sampler_num_points(monitors->samples);
  double *all = NULL;
  PCSIM_TRY(
      pcsim_status_agree(pcsim_mesh_comm(monitors->mesh), pcsim_alloc(points * fields, sizeof *all, &all)));
  memcpy(all + (size_t)m->first_point * fields, seed, (size_t)m->num_points * fields * sizeof *all);
  const pcsim_status status = sampler_transposed(monitors->samples, all, f->cell, f->face);
  pcsim_free(&all);
  return status;
}

/* ------------------------------------------------------------------------- all */

pcsim_status pcsim_monitors_functional(const pcsim_tree *tree, pcsim_monitors *monitors, const char *quantity,
                                       const pcsim_fields *fields, pcsim_monitor_functional *f) {
  int which = 0;
  const monitor *m = find(monitors, quantity, &which);
  *f = (pcsim_monitor_functional){.factor = 1};
  PCSIM_CHECK(m && (m->kind->functional || m->kind->differentiate), PCSIM_ERR_ARG, "no functional `%s`",
              quantity);
  pcsim_status status = functional_of(tree, monitors, m, which, f);
  if (status != PCSIM_ERR_ARG || !m->kind->differentiate) return status;
  pcsim_error_clear();
  status = differentiate(tree, monitors, m, which, fields, f);
  if (status != PCSIM_OK) pcsim_monitor_functional_free(f);
  return status;
}

static bool serves(const pcsim_tree *tree, const pcsim_monitors *monitors, const char *quantity,
                   pcsim_adjoint_use use) {
  int which = 0;
  const monitor *m = find(monitors, quantity, &which);
  return m && ((use == PCSIM_ADJOINT_GRADIENT && m->kind->differentiate) ||
               is_functional(tree, monitors, m, which));
}

bool pcsim_monitors_check_functional(pcsim_tree *tree, const pcsim_monitors *monitors, const pcsim_node *at,
                                     const char *quantity, pcsim_adjoint_use use) {
  char known[512] = "";
  int which = 0;
  if (serves(tree, monitors, quantity, use)) return true;
  for (int i = 0; i < monitors->num_followed; ++i) {
    const size_t used = strlen(known);
    if (serves(tree, monitors, monitors->quantity[i].name, use))
      snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", monitors->quantity[i].name);
  }
  if (find(monitors, quantity, &which))
    pcsim_tree_problem(tree, at, "no error of `%.64s` can be estimated: those of %s can%s%s", quantity,
                       monitors->typed ? "integral, mean, norm and flux"
                                       : "whole forces, flow rates, integrals and means over cells",
                       known[0] ? "; here " : "", known);
  else
    pcsim_tree_problem(tree, at, "no quantity `%.64s`; expected %s", quantity,
                       known[0] ? known : "one of `monitors:`, of which there is none");
  return false;
}

void pcsim_monitor_functional_free(pcsim_monitor_functional *f) {
  pcsim_program_destroy(&f->program);
  pcsim_free(&f->where);
  pcsim_free(&f->cell), pcsim_free(&f->face), pcsim_free(&f->friction), pcsim_free(&f->own);
}
