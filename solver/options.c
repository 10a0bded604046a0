/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys of `solve:` that every solver reads alike. */
#include "options.h"

#include <stdio.h>
#include <string.h>

enum { METHOD, PETSC, TOLERANCE, NUM_LINEAR_KEYS };
static const pcsim_key linear_keys[NUM_LINEAR_KEYS] = {
    {"method", PCSIM_KEY_CHOICE, "auto", "auto|multigrid|direct|petsc", "",
     "preconditioner of the coupled system; multigrid of a flow only", 0, 0},
    {"petsc", PCSIM_KEY_TEXT, "", NULL, "", "PETSc options of the Krylov method and preconditioner", 0, 0},
    {"tolerance", PCSIM_KEY_NUMBER, "", NULL, "1", "relative residual of each linear solve", 1e-12, 0.9},
};

/* Is it one of the methods? Else a problem at `at`; `mapping`: petsc is a method, too. */
static bool known(pcsim_tree *tree, const pcsim_node *at, const char *text, linear_choice c, bool mapping) {
  char all[128] = "";
  if (mapping && !strcmp(text, "petsc")) return true;
  for (size_t i = 0; i < c.num; i++) {
    if (!strcmp(text, c.methods[i])) return true;
    const size_t used = strlen(all);
    snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", c.methods[i]);
  }
  const char *near = pcsim_nearest(text, c.methods, c.num);
  pcsim_tree_problem(tree, at, "'%s' is not a linear solver; expected %s or %s%s%s%s", text, all,
                     mapping ? "petsc" : "a mapping", near ? "; did you mean '" : "", near ? near : "",
                     near ? "'?" : "");
  return false;
}

void options_read_linear(pcsim_tree *tree, const pcsim_node *solve, linear_choice c) {
  pcsim_node *linear = pcsim_node_get(solve, "linear");
  const char *text = "auto", *petsc = "";
  if (!linear) return;
  const bool mapping = pcsim_node_get_kind(linear) == PCSIM_NODE_MAPPING;
  if (mapping) {
    const size_t before = pcsim_tree_num_problems(tree);
    pcsim_key keys[NUM_LINEAR_KEYS];
    memcpy(keys, linear_keys, sizeof keys);
    keys[TOLERANCE].fallback = c.fallback;
    pcsim_node_check(tree, linear, keys, NUM_LINEAR_KEYS, "solve.linear");
    if (pcsim_tree_num_problems(tree) != before) return;
    pcsim_node_string(tree, linear, "method", &text);
    pcsim_node_number(tree, linear, "tolerance", c.tolerance);
    if (pcsim_node_string(tree, linear, "petsc", &petsc) && *petsc) {
      if (!strcmp(text, "auto")) text = "petsc";
      if (strlen(petsc) >= PETSC_OPTIONS)
        pcsim_tree_problem(tree, pcsim_node_get(linear, "petsc"), "PETSc options longer than %d characters",
                           PETSC_OPTIONS - 1);
      else snprintf(c.petsc, PETSC_OPTIONS, "%s", petsc);
    }
  } else {
    text = pcsim_node_text(linear);
  }
  if (known(tree, mapping ? pcsim_node_get(linear, "method") : linear, text, c, mapping))
    snprintf(c.linear, sizeof((pcsim_flow_options *)0)->linear, "%s", text);
}

void options_read_time(pcsim_tree *tree, const pcsim_node *solve, pcsim_time *time) {
  bool steady;
  pcsim_time_read(tree, time);
  if (pcsim_node_bool(tree, solve, "steady", &steady) && steady == time->given)
    pcsim_tree_problem(tree, pcsim_node_get(solve, "steady"),
                       steady ? "`steady: true` beside `time`; keep one"
                              : "`steady: false` needs `time: {end: ..}` beside it");
}
