/* SPDX-License-Identifier: BSD-2-Clause */
/** @file cmd_list.c  pcsim list [TABLE]: what can be named in a case, from the tables that the modules read
 * by. */
#include "train.h"

#include <string.h>

static const char *type_name(pcsim_key_type type) {
  static const char *const names[] = {"true | false", "whole number", "number",  "text",
                                      "choice",       "expression",   "numbers", "sequence",
                                      "mapping",      "names",        "any"};
  return type < sizeof names / sizeof *names ? names[type] : "";
}

static void print_keys(const char *indent, const pcsim_key *keys, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const pcsim_key *k = &keys[i];
    const char *type = k->type == PCSIM_KEY_CHOICE && k->choices ? k->choices : type_name(k->type);
    printf("%s%-14s %s", indent, k->name, type);
    if (k->unit && *k->unit) printf(" [%s]", k->unit);
    if (!k->fallback) printf(", required");
    else if (*k->fallback) printf(", default %s", k->fallback);
    printf("\n%s%-14s   %s\n", indent, "", k->help);
  }
}

static void list_shapes(void) {
  size_t n;
  const pcsim_shape *shapes = pcsim_shape_list(&n);
  for (size_t i = 0; i < n; i++) {
    printf("%s\n  %s\n", shapes[i].name, shapes[i].help);
    print_keys("    ", shapes[i].keys, shapes[i].num_keys);
  }
}

static void list_models(void) {
  size_t n;
  const pcsim_model *models = pcsim_model_list(&n);
  for (size_t i = 0; i < n; i++) {
    printf("%s\n  %s\n", models[i].name, models[i].help);
    print_keys("    ", models[i].keys, models[i].num_keys);
  }
  const pcsim_key *keys = pcsim_transport_keys(&n);
  printf("no model\n  typed equations: conservation laws for unknowns of one's own\n");
  print_keys("    ", keys, n);
}

static void list_conditions(void) {
  size_t n;
  const pcsim_condition *conditions = pcsim_condition_list(&n);
  for (size_t i = 0; i < n; i++) {
    if (conditions[i].absent && *conditions[i].absent) continue;
    printf("%s\n  %s\n", conditions[i].name, conditions[i].help);
    print_keys("    ", conditions[i].keys, conditions[i].num_keys);
  }
}

static void list_kinds(bool (*get)(size_t i, pcsim_training_kind *kind)) {
  pcsim_training_kind kind;
  for (size_t i = 0; get(i, &kind); i++) {
    printf("%s\n  %s\n", kind.name, kind.help);
    print_keys("    ", kind.keys, kind.num_keys);
  }
}

static void list_monitors(void) {
  const pcsim_monitor_kind *kind;
  for (size_t i = 0; (kind = pcsim_monitor_kind_get(i)); i++) {
    printf("%s\n  %s\n", kind->name, kind->help);
    if (kind->quantities && *kind->quantities) printf("  quantities: %s\n", kind->quantities);
    print_keys("    ", kind->keys, kind->num_keys);
  }
  printf("\nOf a case with a network:\n");
  list_kinds(cli_train_monitor_kind);
}

static void list_solutions(void) {
  const pcsim_exact_solution *solution;
  for (size_t i = 0; (solution = pcsim_exact_solution_get(i)); i++) {
    printf("%s\n  %s\n", solution->name, solution->help);
    for (size_t k = 0; k < 4 && solution->parameters[k]; k++)
      printf("%s%s", k ? ", " : "  parameters: ", solution->parameters[k]);
    if (solution->parameters[0]) printf("\n");
  }
  const char *name, *help;
  printf("\nOf a case with a network, reference: {u: {exact: NAME}}:\n");
  for (size_t i = 0; (name = cli_train_solution(i, &help)); i++) printf("%s\n  %s\n", name, help);
}

static void list_functions(void) {
  for (size_t i = 0; i < pcsim_expr_num_functions(); i++) {
    const pcsim_expr_function *f = pcsim_expr_get_function(i);
    printf("%-10s %s\n", f->name, f->help);
  }
}

static void list_networks(void) { list_kinds(pcsim_network_kind); }
static void list_optimizers(void) { list_kinds(pcsim_optimizer_kind); }

static void list_keys(void) {
  size_t n;
  const pcsim_key *keys;
  print_keys("", cli_case_keys, cli_num_case_keys);
  printf("\nmesh: (and those of its shape: pcsim list shapes)\n");
  keys = pcsim_mesh_keys(&n);
  print_keys("  ", keys, n);
  printf("\ninitial: (beside expressions of the unknowns; of a flow velocity and pressure)\n");
  keys = pcsim_start_keys(&n);
  print_keys("  ", keys, n);
  printf("\nsolve: (of a flow)\n");
  keys = pcsim_flow_option_keys(&n);
  print_keys("  ", keys, n);
  printf("\nsolve: (of typed equations)\n");
  keys = pcsim_transport_option_keys(&n);
  print_keys("  ", keys, n);
  printf("\nsolve.time:\n");
  keys = pcsim_time_keys(&n);
  print_keys("  ", keys, n);
  printf("\noutput:\n");
  print_keys("  ", cli_output_keys, cli_num_output_keys);
  printf("\nstudy:\n");
  print_keys("  ", cli_study_keys, cli_num_study_keys);
  printf("\nA case with a network:\n");
  print_keys("", cli_training_case_keys, cli_num_training_case_keys);
  printf("\nnetwork:\n");
  keys = pcsim_network_keys(&n);
  print_keys("  ", keys, n);
  printf("\ntrain:\n");
  keys = pcsim_training_keys(&n);
  print_keys("  ", keys, n);
  printf("\nreference.UNKNOWN: (of a case with a network)\n");
  keys = cli_train_reference_keys(&n);
  print_keys("  ", keys, n);
  printf("\nphysics, boundaries, monitors: pcsim list models, conditions, monitors\n");
}

static const struct {
  const char *name, *help;
  void (*print)(void);
} tables[] = {
    {"shapes", "parametric meshes and their keys", list_shapes},
    {"models", "physics: {model: ...} and its keys", list_models},
    {"conditions", "what a boundary can be given", list_conditions},
    {"monitors", "quantities to follow", list_monitors},
    {"solutions", "exact solutions to compare fields with", list_solutions},
    {"functions", "functions in expressions", list_functions},
    {"networks", "network: {kind: ...} and its keys", list_networks},
    {"optimizers", "train: {optimizer: ...} and its keys", list_optimizers},
    {"keys", "keys of a case with type, unit, default", list_keys},
};
enum { NUM_TABLES = sizeof tables / sizeof *tables };

pcsim_status cmd_list(cli *c, int argc, char **argv) {
  const char *name = NULL, *names[NUM_TABLES];
  int n;
  PCSIM_TRY(cli_options_read("list", argc, argv, NULL, 0, "TABLE", 0, 1, &name, &n));
  if (n == 0) {
    for (size_t i = 0; c->rank == 0 && i < NUM_TABLES; i++)
      printf("pcsim list %-12s %s\n", tables[i].name, tables[i].help);
    return PCSIM_OK;
  }
  for (size_t i = 0; i < NUM_TABLES; i++) {
    names[i] = tables[i].name;
    if (strcmp(name, tables[i].name) != 0) continue;
    if (c->rank == 0) tables[i].print();
    return PCSIM_OK;
  }
  const char *near = pcsim_nearest(name, names, NUM_TABLES);
  PCSIM_FAIL(PCSIM_ERR_CASE, "pcsim list: no table '%s'%s%s%s; `pcsim list` names them", name,
             near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}
