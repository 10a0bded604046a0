/* SPDX-License-Identifier: BSD-2-Clause */
/* What a tree depends on. */
#include "typed.h"

#include <string.h>

bool typed_is_call(const pcsim_expr_node *tree, const char *name) {
  return tree->kind == PCSIM_EXPR_CALL && strcmp(tree->name, name) == 0;
}

int typed_column(const pcsim_expr_node *tree) { return tree->column > 0 ? tree->column : 0; }

void typed_uses_add(typed_uses *to, typed_uses more) {
  to->coordinates |= more.coordinates;
  to->values |= more.values;
  to->derived |= more.derived;
  to->jumps |= more.jumps;
  if (more.order > to->order) to->order = more.order;
  if (more.time_order > to->time_order) to->time_order = more.time_order;
}

bool typed_uses_no_unknowns(const typed_uses *uses) { return !uses->values && !uses->derived; }

bool typed_uses_constant(const typed_uses *uses) {
  return typed_uses_no_unknowns(uses) && !uses->coordinates && !uses->jumps;
}

static typed_uses uses_of_name(const typed_names *names, const pcsim_expr_node *tree) {
  typed_name found = typed_resolve(names, tree->name);
  typed_uses uses = {0};
  if (found.kind == TYPED_COORDINATE) uses.coordinates = 1u << found.index;
  if (found.kind == TYPED_NORMAL) uses.coordinates = 7u;
  if (found.kind == TYPED_UNKNOWN) {
    uses.order = found.orders[0] + found.orders[1] + found.orders[2];
    uses.time_order = found.orders[TYPED_T];
    if (uses.order || uses.time_order) uses.derived = UINT64_C(1) << found.index;
    else uses.values = UINT64_C(1) << found.index;
  }
  if (found.kind != TYPED_COEFFICIENT) return uses;
  uses = names->coefficient[found.index].uses;
  if (names->coefficient[found.index].jumps) uses.jumps |= UINT64_C(1) << found.index;
  return uses;
}

typed_uses typed_uses_of(const typed_names *names, const pcsim_expr_node *tree) {
  typed_uses uses = {0};
  if (tree->kind == PCSIM_EXPR_NAME) return uses_of_name(names, tree);
  for (int i = 0; i < tree->num_args; ++i) typed_uses_add(&uses, typed_uses_of(names, tree->args[i]));
  int order = typed_is_call(tree, "lap")                                                               ? 2
              : typed_is_call(tree, "grad") || typed_is_call(tree, "div") || typed_is_call(tree, "dn") ? 1
                                                                                                       : 0;
  bool time = typed_is_call(tree, "dt");
  if (!order && !time) return uses;
  uses.derived |= uses.values;
  uses.values = 0;
  uses.order += order;
  uses.time_order += time;
  return uses;
}
