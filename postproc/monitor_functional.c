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

static const monitor *find(const pcsim_monitors *monitors, const char *quantity) {
  for (int i = 0; i < monitors->num; ++i) {
    const monitor *m = &monitors->monitor[i];
    for (int k = 0; k < m->num_quantities; ++k)
      if (!strcmp(monitors->quantity[m->first_quantity + k].name, quantity)) return m;
  }
  return NULL;
}

bool pcsim_monitors_check_functional(pcsim_tree *tree, const pcsim_monitors *monitors, const pcsim_node *at,
                                     const char *quantity) {
  const monitor *m = find(monitors, quantity);
  char known[512] = "";
  if (m && m->kind->functional) return true;
  for (int i = 0; i < monitors->num_followed; ++i) {
    const monitor *other = find(monitors, monitors->quantity[i].name);
    const size_t used = strlen(known);
    if (other && other->kind->functional)
      snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", monitors->quantity[i].name);
  }
  if (m)
    pcsim_tree_problem(tree, at, "`%.64s` has no adjoint: those of integral, mean, norm and flux have%s%s",
                       quantity, known[0] ? "; here " : "", known);
  else
    pcsim_tree_problem(tree, at, "no quantity `%.64s`; expected %s", quantity,
                       known[0] ? known : "one of `monitors:`, of which none has an adjoint");
  return false;
}

pcsim_status pcsim_monitors_functional(const pcsim_tree *tree, const pcsim_monitors *monitors,
                                       const char *quantity, pcsim_monitor_functional *f) {
  const monitor *m = find(monitors, quantity);
  *f = (pcsim_monitor_functional){0};
  PCSIM_CHECK(m && m->kind->functional, PCSIM_ERR_ARG, "no functional `%s`", quantity);
  const pcsim_status status = m->kind->functional(tree, monitors, m, f);
  if (status != PCSIM_OK) pcsim_monitor_functional_free(f);
  return status;
}

void pcsim_monitor_functional_free(pcsim_monitor_functional *f) {
  pcsim_program_destroy(&f->program);
  pcsim_free(&f->where);
}
