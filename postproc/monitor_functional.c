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

pcsim_status pcsim_monitors_functional(const pcsim_tree *tree, const pcsim_monitors *monitors,
                                       const char *quantity, pcsim_monitor_functional *f) {
  int which = 0;
  const monitor *m = find(monitors, quantity, &which);
  *f = (pcsim_monitor_functional){.factor = 1};
  PCSIM_CHECK(m && m->kind->functional, PCSIM_ERR_ARG, "no functional `%s`", quantity);
  const pcsim_status status = m->kind->functional(tree, monitors, m, which, f);
  if (status != PCSIM_OK) pcsim_monitor_functional_free(f);
  return status;
}

static bool is_functional(const pcsim_tree *tree, const pcsim_monitors *monitors, const char *quantity) {
  pcsim_monitor_functional f;
  const bool is = pcsim_monitors_functional(tree, monitors, quantity, &f) == PCSIM_OK;
  if (is) pcsim_monitor_functional_free(&f);
  else pcsim_error_clear();
  return is;
}

bool pcsim_monitors_check_functional(pcsim_tree *tree, const pcsim_monitors *monitors, const pcsim_node *at,
                                     const char *quantity) {
  char known[512] = "";
  int which = 0;
  if (is_functional(tree, monitors, quantity)) return true;
  for (int i = 0; i < monitors->num_followed; ++i) {
    const size_t used = strlen(known);
    if (is_functional(tree, monitors, monitors->quantity[i].name))
      snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", monitors->quantity[i].name);
  }
  if (find(monitors, quantity, &which))
    pcsim_tree_problem(tree, at, "`%.64s` has no adjoint: %s have%s%s", quantity,
                       monitors->typed ? "those of integral, mean, norm and flux"
                                       : "forces, flow rates, integrals and means",
                       known[0] ? "; here " : "", known);
  else
    pcsim_tree_problem(tree, at, "no quantity `%.64s`; expected %s", quantity,
                       known[0] ? known : "one of `monitors:`, of which none has an adjoint");
  return false;
}

void pcsim_monitor_functional_free(pcsim_monitor_functional *f) {
  pcsim_program_destroy(&f->program);
  pcsim_free(&f->where);
}
