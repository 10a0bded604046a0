/* SPDX-License-Identifier: BSD-2-Clause */
/* `boundaries:` of typed equations: for every unknown a value, a flux or nothing (free), on every boundary.
 */
#include "flow.h"
#include "typed.h"

#include <stdio.h>
#include <string.h>

#define NUM(a) (sizeof(a) / sizeof *(a))

/* Keys beside the unknowns. */
static const char *const keys[] = {"flux", "free", "symmetry", "periodic", "table"};

/* -------------------------------------------------------------- reading one */

typedef struct {
  typed_names *names;
  typed_condition *condition;
} reading;

static bool set_kind(const reading *r, const pcsim_node *at, int unknown, pcsim_transport_kind kind) {
  uint8_t *known = &r->condition->kind[unknown];
  if (*known != TYPED_NO_CONDITION) {
    pcsim_tree_problem(r->names->tree, at, "two conditions for `%s` on `%s`; keep one",
                       r->names->unknown[unknown], r->condition->name);
    return false;
  }
  *known = (uint8_t)kind;
  return true;
}

/* `{table: file.csv}`: values over time, interpolated. */
static pcsim_status read_table(const reading *r, const pcsim_node *table, int unknown) {
  char text[80];
  const char *name = NULL;
  if (r->names->steady) {
    pcsim_tree_problem(
        r->names->tree, table,
        "a table over time, but the case is steady (no `solve: {time: ...}`); expected an expression");
    return PCSIM_OK;
  }
  PCSIM_TRY(typed_table_add(r->names, table, NULL, &name));
  snprintf(text, sizeof text, "table(%s, t)", name);
  r->condition->text[unknown] = table;
  return pcsim_expr_parse(text, &r->condition->expr[unknown], NULL);
}

static pcsim_status read_text(const reading *r, const pcsim_node *node, int unknown, unsigned may) {
  const pcsim_node *table = NULL;
  if (pcsim_node_get_kind(node) == PCSIM_NODE_MAPPING) table = pcsim_node_get(node, "table");
  if (table && pcsim_node_size(node) == 1 && pcsim_node_get_kind(table) == PCSIM_NODE_SCALAR)
    return read_table(r, table, unknown);
  r->condition->text[unknown] = node;
  typed_parse(r->names, node, may, &r->condition->expr[unknown]);
  return PCSIM_OK;
}

static int unknown_of(const typed_names *names, const char *name) {
  for (int i = 0; i < names->num_unknowns; ++i)
    if (strcmp(names->unknown[i], name) == 0) return i;
  return -1;
}

static void report_no_unknown(const reading *r, const pcsim_node *at, const char *name, const char *where) {
  const char *near = pcsim_nearest(name, r->names->unknown, (size_t)r->names->num_unknowns);
  pcsim_tree_problem(r->names->tree, at, "`%.96s` under `%s` of `%s` is no unknown%s%s%s", name, where,
                     r->condition->name, near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

static pcsim_status read_flux(const reading *r, const pcsim_node *node) {
  if (pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING || pcsim_node_size(node) == 0) {
    pcsim_tree_problem(r->names->tree, node,
                       "`flux` must give outward fluxes by unknown, e.g. {flux: {%s: 0}} (boundary `%s`)",
                       r->names->num_unknowns ? r->names->unknown[0] : "u", r->condition->name);
    return PCSIM_OK;
  }
  for (int64_t i = 0; i < pcsim_node_size(node); ++i) {
    const char *key = pcsim_node_key(node, i);
    int unknown = unknown_of(r->names, key);
    if (unknown < 0) report_no_unknown(r, pcsim_node_key_node(node, i), key, "flux");
    else if (set_kind(r, pcsim_node_key_node(node, i), unknown, PCSIM_TRANSPORT_FLUX))
      PCSIM_TRY(read_text(r, pcsim_node_child(node, i), unknown, MAY_UNKNOWNS | MAY_NORMAL | MAY_TIME));
  }
  return PCSIM_OK;
}

/* `free: true`: all that have no other condition; `free: [u, v]`: these. */
static void read_free(const reading *r, const pcsim_node *node) {
  const typed_names *names = r->names;
  bool one = pcsim_node_get_kind(node) == PCSIM_NODE_SCALAR;
  if (one && strcmp(pcsim_node_text(node), "true") == 0) {
    for (int i = 0; i < names->num_unknowns; ++i)
      if (r->condition->kind[i] == TYPED_NO_CONDITION) r->condition->kind[i] = PCSIM_TRANSPORT_FREE;
    return;
  }
  if (one && strcmp(pcsim_node_text(node), "false") == 0) {
    pcsim_tree_problem(names->tree, node, "`free: false` is no condition (boundary `%s`)",
                       r->condition->name);
    return;
  }
  for (int64_t i = 0; i < (one ? 1 : pcsim_node_size(node)); ++i) {
    const pcsim_node *item = one ? node : pcsim_node_child(node, i);
    int unknown = unknown_of(names, pcsim_node_text(item));
    if (unknown < 0) report_no_unknown(r, item, pcsim_node_text(item), "free");
    else set_kind(r, item, unknown, PCSIM_TRANSPORT_FREE);
  }
}

/* No flux of any unknown that has no other condition. */
static void read_symmetry(const reading *r) {
  bool on = false;
  if (!pcsim_node_bool(r->names->tree, r->condition->node, "symmetry", &on)) return;
  if (!on)
    pcsim_tree_problem(r->names->tree, pcsim_node_get(r->condition->node, "symmetry"),
                       "`symmetry: false` is no condition (boundary `%s`)", r->condition->name);
  for (int i = 0; i < r->names->num_unknowns; ++i)
    if (r->condition->kind[i] == TYPED_NO_CONDITION) r->condition->kind[i] = PCSIM_TRANSPORT_FLUX;
}

static void report_key(const reading *r, int64_t i) {
  const char *all[TYPED_MAX + NUM(keys)], *key = pcsim_node_key(r->condition->node, i);
  char known[600] = "";
  int n = 0;
  for (int k = 0; k < r->names->num_unknowns; ++k) all[n++] = r->names->unknown[k];
  for (size_t k = 0; k < 4; ++k) all[n++] = keys[k];
  const char *near = pcsim_nearest(key, all, (size_t)n);
  for (int k = 0; k < n && strlen(known) + strlen(all[k]) + 8 < sizeof known; ++k) {
    if (k) strcat(known, ", ");
    strcat(known, all[k]);
  }
  pcsim_tree_problem(r->names->tree, pcsim_node_key_node(r->condition->node, i),
                     "no condition `%.96s` (boundary `%s`); expected one of: %s%s%s%s", key,
                     r->condition->name, known, near ? "; did you mean `" : "", near ? near : "",
                     near ? "`?" : "");
}

/* Values and fluxes first, so that `free` and `symmetry` take what is left. */
static pcsim_status read_given(const reading *r) {
  const pcsim_node *node = r->condition->node;
  for (int64_t i = 0; i < pcsim_node_size(node); ++i) {
    const char *key = pcsim_node_key(node, i);
    const pcsim_node *child = pcsim_node_child(node, i);
    int unknown = unknown_of(r->names, key);
    if (unknown >= 0) {
      if (set_kind(r, pcsim_node_key_node(node, i), unknown, PCSIM_TRANSPORT_VALUE))
        PCSIM_TRY(read_text(r, child, unknown, MAY_TIME | MAY_NORMAL));
    } else if (strcmp(key, "flux") == 0) {
      PCSIM_TRY(read_flux(r, child));
    } else if (strcmp(key, "table") == 0) {
      pcsim_tree_problem(r->names->tree, child,
                         "boundary `%s`: a table is that of an unknown; expected e.g. {u: {table: f.csv}}",
                         r->condition->name);
    } else if (strcmp(key, "free") != 0 && strcmp(key, "symmetry") != 0 && !r->names->num_carriers) {
      report_key(r, i); /* beside a flow its reader knows all keys */
    }
  }
  return PCSIM_OK;
}

/* For all unknowns alike. */
static void read_periodic(const reading *r) {
  static const pcsim_key key[] = {
      {"periodic", PCSIM_KEY_TEXT, NULL, "", "", "name of the boundary that this one continues at", 0, 0}};
  const pcsim_node *node = r->condition->node;
  for (int64_t i = 0; i < pcsim_node_size(node); ++i) {
    if (strcmp(pcsim_node_key(node, i), "periodic") == 0) continue;
    pcsim_tree_problem(r->names->tree, pcsim_node_key_node(node, i),
                       "boundary `%s` is periodic: it takes no other condition", r->condition->name);
    return;
  }
  pcsim_node_check(r->names->tree, r->condition->node, key, NUM(key), r->condition->name);
  r->condition->periodic = pcsim_node_get(node, "periodic");
}

static pcsim_status read_condition(const reading *r) {
  typed_condition *c = r->condition;
  if (pcsim_node_get_kind(c->node) != PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(r->names->tree, c->node, "`%s` needs a condition in braces, e.g. {%s: 0}", c->name,
                       r->names->num_unknowns ? r->names->unknown[0] : "u");
    return PCSIM_OK;
  }
  size_t before = pcsim_tree_num_problems(r->names->tree);
  if (pcsim_node_get(c->node, "periodic")) {
    read_periodic(r);
    return PCSIM_OK;
  }
  PCSIM_TRY(read_given(r));
  const pcsim_node *open = pcsim_node_get(c->node, "free");
  if (open) read_free(r, open);
  if (pcsim_node_get(c->node, "symmetry")) read_symmetry(r);
  if (pcsim_tree_num_problems(r->names->tree) != before) return PCSIM_OK;
  for (int i = 0; i < r->names->num_unknowns; ++i)
    if (c->kind[i] == TYPED_NO_CONDITION)
      pcsim_tree_problem(
          r->names->tree, c->key,
          "boundary `%s` has no condition for `%s`; expected a value, `%s: 0`, a flux, `flux: {%s: "
          "0}`, or `free: true`",
          c->name, r->names->unknown[i], r->names->unknown[i], r->names->unknown[i]);
  return PCSIM_OK;
}

/* ------------------------------------------------------------------- all */

static bool is_periodic(const pcsim_node *node) {
  return pcsim_node_get_kind(node) == PCSIM_NODE_MAPPING && pcsim_node_get(node, "periodic");
}

pcsim_status typed_conditions_read(typed_names *names, typed_conditions *conditions) {
  const pcsim_node *root = pcsim_tree_root(names->tree), *node = pcsim_node_get(root, "boundaries");
  size_t m = (size_t)names->num_unknowns;
  *conditions = (typed_conditions){0};
  if (!node || pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(names->tree, node ? node : root,
                       node ? "`boundaries` must be a mapping of names to conditions, e.g. {walls: {u: 0}}"
                            : "no `boundaries:`; expected a condition for every boundary of the mesh");
    return PCSIM_OK;
  }
  int64_t n = pcsim_node_size(node);
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *conditions->condition, &conditions->condition));
  for (int64_t k = 0; k < 2 * n; ++k) {
    const int64_t i = k % n;
    if (is_periodic(pcsim_node_child(node, i)) != (k >= n)) continue;
    typed_condition *c = &conditions->condition[conditions->num++];
    conditions->num_periodic += k >= n;
    c->name = pcsim_node_key(node, i);
    c->key = pcsim_node_key_node(node, i);
    c->node = pcsim_node_get(node, c->name);
    PCSIM_TRY(pcsim_alloc(m, sizeof *c->kind, &c->kind));
    PCSIM_TRY(pcsim_alloc(m, sizeof *c->expr, &c->expr));
    PCSIM_TRY(pcsim_alloc(m, sizeof *c->text, &c->text));
    if (m) memset(c->kind, TYPED_NO_CONDITION, m);
    PCSIM_TRY(read_condition(&(reading){names, c}));
  }
  return PCSIM_OK;
}

pcsim_status typed_conditions_match(const typed_names *names, const pcsim_mesh *mesh,
                                    typed_conditions *conditions) {
  char example[96];
  boundary_entry *entries = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)pcsim_mesh_get(mesh)->num_patches, sizeof *conditions->of_patch,
                        &conditions->of_patch));
  PCSIM_TRY(pcsim_alloc((size_t)conditions->num, sizeof *entries, &entries));
  for (int c = 0; c < conditions->num; ++c)
    entries[c] = (boundary_entry){conditions->condition[c].name, conditions->condition[c].key,
                                  conditions->condition[c].periodic};
  snprintf(example, sizeof example, "{%s: 0}", names->num_unknowns ? names->unknown[0] : "u");
  pcsim_status status =
      boundary_entries_match(names->tree, mesh, entries, conditions->num, example, conditions->of_patch);
  pcsim_free(&entries);
  return status;
}

void typed_conditions_clear(int num_unknowns, typed_conditions *conditions) {
  for (int c = 0; c < conditions->num; ++c) {
    typed_condition *one = &conditions->condition[c];
    for (int i = 0; one->expr && i < num_unknowns; ++i) pcsim_expr_destroy(&one->expr[i]);
    pcsim_free(&one->kind);
    pcsim_free(&one->expr);
    pcsim_free(&one->text);
  }
  pcsim_free(&conditions->condition);
  pcsim_free(&conditions->of_patch);
  conditions->num = 0;
}

pcsim_status typed_condition_program(const typed_names *names, const typed_condition *condition,
                                     pcsim_program **program, pcsim_program **lowered) {
  int m = names->num_unknowns;
  typed_text *text = NULL;
  const typed_text **texts = NULL;
  const pcsim_node **node = NULL;
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc(2 * (size_t)m, sizeof *text, &text), status, done);
  PCSIM_GOTO(pcsim_alloc(2 * (size_t)m, sizeof *texts, &texts), status, done);
  PCSIM_GOTO(pcsim_alloc(2 * (size_t)m, sizeof *node, &node), status, done);
  for (int i = 0; i < m; ++i) {
    int row = condition->kind[i] == PCSIM_TRANSPORT_FLUX ? m + i : i;
    if (!condition->expr[i]) continue;
    typed_text_tree(&text[row], names, pcsim_expr_root(condition->expr[i]), LEVEL_ANY);
    node[row] = condition->text[i];
  }
  for (int i = 0; i < 2 * m; ++i) texts[i] = &text[i];
  status = typed_program_make(names, texts, node, (typed_output[]){{"value", m}, {"flux", m}}, 2, program,
                              lowered);
done:
  for (int i = 0; text && i < 2 * m; ++i) typed_text_free(&text[i]);
  pcsim_free(&text);
  pcsim_free(&texts);
  pcsim_free(&node);
  return status;
}
