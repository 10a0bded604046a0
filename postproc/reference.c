/* SPDX-License-Identifier: BSD-2-Clause */
/* `reference:`: reading the entries and comparing them with the run. */
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUM(a) (sizeof(a) / sizeof *(a))

typedef enum { ENTRY_QUANTITY, ENTRY_FIELD, ENTRY_TABLE } entry_kind;
typedef struct {
  entry_kind kind;
  int comparison; /* -1: reported only */
  reference_table table;
} entry;

struct pcsim_references {
  int num, num_comparisons;
  entry *entry;                 /* [num] */
  pcsim_comparison *comparison; /* [num] at most */
  int num_fields;
  exact_field *exact; /* [num_fields] */
};

static const pcsim_key quantity_keys[] = {
    {"value", PCSIM_KEY_NUMBER, "", "", "", "published value", 0, 0},
    {"tolerance", PCSIM_KEY_NUMBER, "", "", "1", "largest deviation relative to the value", 0, 0},
    {"absolute", PCSIM_KEY_NUMBER, "", "", "", "largest deviation", 0, 0},
    {"range", PCSIM_KEY_NUMBERS, "", "", "", "published range, [low, high]", 0, 0},
    {"source", PCSIM_KEY_TEXT, NULL, "", "", "where the value comes from", 0, 0},
};

void pcsim_references_destroy(pcsim_references **references) {
  if (!references || !*references) return;
  for (int i = 0; i < (*references)->num; ++i) table_clear(&(*references)->entry[i].table);
  for (int i = 0; i < (*references)->num_fields; ++i) exact_clear(&(*references)->exact[i]);
  pcsim_free(&(*references)->exact);
  pcsim_free(&(*references)->entry);
  pcsim_free(&(*references)->comparison);
  pcsim_free(references);
}

int pcsim_references_get(const pcsim_references *references, const pcsim_comparison **comparisons) {
  *comparisons = references->comparison;
  return references->num_comparisons;
}

/* -------------------------------------------------------------------- reading */

static pcsim_comparison *add_comparison(pcsim_references *references, entry *e, const char *quantity,
                                        const pcsim_node *node) {
  e->comparison = references->num_comparisons++;
  pcsim_comparison *c = &references->comparison[e->comparison];
  const pcsim_node *source = pcsim_node_get(node, "source");
  *c = (pcsim_comparison){.value = NAN, .reference = NAN, .error = NAN, .low = NAN, .high = NAN};
  snprintf(c->quantity, sizeof c->quantity, "%s", quantity);
  snprintf(c->source, sizeof c->source, "%s", source ? pcsim_node_text(source) : "");
  return c;
}

/* `tolerance` or `absolute`: one of them (none is good where `optional`). Returns whether one was given. */
static bool read_tolerance(pcsim_tree *tree, const pcsim_node *node, const char *name, bool optional,
                           double *tolerance, bool *absolute) {
  double relative = NAN, number = NAN;
  bool has_relative = pcsim_node_number(tree, node, "tolerance", &relative);
  bool has_absolute = pcsim_node_number(tree, node, "absolute", &number);
  if (has_relative && has_absolute)
    pcsim_tree_problem(tree, node, "`%s` has both `tolerance` and `absolute`; keep one", name);
  else if (!has_relative && !has_absolute) {
    if (!optional)
      pcsim_tree_problem(tree, node, "`%s` needs a `tolerance` (relative) or an `absolute` one", name);
    return false;
  }
  *absolute = has_absolute;
  *tolerance = has_absolute ? number : relative;
  if (*tolerance > 0.0) return true;
  pcsim_tree_problem(tree, pcsim_node_get(node, has_absolute ? "absolute" : "tolerance"),
                     "`%s` is %g; expected a positive "
                     "number",
                     has_absolute ? "absolute" : "tolerance", *tolerance);
  return false;
}

static void read_range(pcsim_tree *tree, const pcsim_node *node, const char *name, pcsim_comparison *c) {
  double range[2];
  int n = 0;
  const pcsim_node *at = pcsim_node_get(node, "range");
  if (pcsim_node_get(node, "value") || pcsim_node_get(node, "tolerance") || pcsim_node_get(node, "absolute"))
    pcsim_tree_problem(tree, at, "`%s` has a `range` and a `value` or tolerance; keep one", name);
  if (!pcsim_node_numbers(tree, node, "range", range, 2, &n)) return;
  if (n != 2 || !(range[0] <= range[1])) {
    pcsim_tree_problem(tree, at, "expected two numbers, [low, high], with low not above high");
    return;
  }
  c->low = range[0];
  c->high = range[1];
  c->reference = 0.5 * (range[0] + range[1]);
  c->absolute = true;
}

static void read_quantity(pcsim_tree *tree, pcsim_references *references, entry *e, const char *name,
                          pcsim_node *node) {
  size_t before = pcsim_tree_num_problems(tree);
  char where[96];
  snprintf(where, sizeof where, "reference.%.64s", name);
  pcsim_node_check(tree, node, quantity_keys, NUM(quantity_keys), where);
  if (pcsim_tree_num_problems(tree) != before) return;
  pcsim_comparison *c = add_comparison(references, e, name, node);
  const pcsim_node *range = pcsim_node_get(node, "range");
  if (range && (pcsim_node_size(range) > 0 || pcsim_node_text(range)[0])) {
    read_range(tree, node, name, c);
    return;
  }
  if (!pcsim_node_number(tree, node, "value", &c->reference)) {
    if (!pcsim_node_get(node, "value"))
      pcsim_tree_problem(tree, node, "`%s` needs a `value` or a `range`", name);
    return;
  }
  if (read_tolerance(tree, node, name, false, &c->tolerance, &c->absolute) && !c->absolute &&
      c->reference == 0.0)
    pcsim_tree_problem(tree, pcsim_node_get(node, "tolerance"),
                       "a tolerance relative to 0 means nothing; expected `absolute`");
}

static void read_field(pcsim_tree *tree, pcsim_references *references, const pcsim_monitors *monitors,
                       entry *e, const char *name, pcsim_node *node) {
  size_t before = pcsim_tree_num_problems(tree);
  char quantity[96];
  double tolerance;
  bool absolute;
  exact_read(tree, monitors, name, node, references->exact);
  if (pcsim_tree_num_problems(tree) != before) return;
  if (!read_tolerance(tree, node, name, true, &tolerance, &absolute)) return;
  int component = exact_component(monitors, name);
  snprintf(quantity, sizeof quantity, "error.%s",
           component < 0 ? "velocity" : monitors->field[component].name);
  pcsim_comparison *c = add_comparison(references, e, quantity, node);
  c->reference = 0.0;
  c->tolerance = tolerance;
  c->absolute = true; /* the quantity is an error already */
}

static pcsim_status read_table(pcsim_tree *tree, const pcsim_monitors *monitors, pcsim_references *references,
                               entry *e, const char *name, pcsim_node *node) {
  size_t before = pcsim_tree_num_problems(tree);
  double tolerance = NAN;
  bool absolute = false;
  PCSIM_TRY(table_read(tree, monitors, name, node, &e->table));
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  if (!read_tolerance(tree, node, name, false, &tolerance, &absolute)) return PCSIM_OK;
  pcsim_comparison *c = add_comparison(references, e, name, node);
  c->reference = 0.0;
  c->tolerance = tolerance;
  c->absolute = absolute;
  return PCSIM_OK;
}

/* ----------------------------------------------------------- names of quantities */

typedef struct {
  const char **names;
  size_t num, capacity;
  char (*own)[96]; /* [max_own] names of errors */
  size_t num_own, max_own;
} name_list;

static pcsim_status add_name(name_list *list, const char *name) {
  if (list->num == list->capacity) {
    size_t capacity = list->capacity ? 2 * list->capacity : 64;
    PCSIM_TRY(pcsim_realloc(capacity, sizeof *list->names, &list->names));
    list->capacity = capacity;
  }
  list->names[list->num++] = name;
  return PCSIM_OK;
}

static pcsim_status add_error_name(void *context, const char *name) {
  name_list *list = context;
  if (list->num_own == list->max_own) return PCSIM_OK;
  snprintf(list->own[list->num_own], sizeof *list->own, "%s", name);
  return add_name(list, list->own[list->num_own++]);
}

static void report_unknown(pcsim_tree *tree, const pcsim_node *at, const char *name, const name_list *list) {
  char known[500] = "";
  for (size_t i = 0; i < list->num; ++i) {
    size_t used = strlen(known);
    if (used + strlen(list->names[i]) + 8 > sizeof known) {
      strncat(known, ", ...", sizeof known - used - 1);
      break;
    }
    snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", list->names[i]);
  }
  const char *near = list->num ? pcsim_nearest(name, list->names, list->num) : NULL;
  pcsim_tree_problem(tree, at, "no monitor gives a quantity `%.96s`; the case has: %s%s%s%s", name,
                     known[0] ? known : "none", near ? "; did you mean `" : "", near ? near : "",
                     near ? "`?" : "");
}

/* Every quantity that is compared must be one that the monitors or the exact fields give. */
static pcsim_status check_names(pcsim_tree *tree, const pcsim_monitors *monitors,
                                const pcsim_references *references, const pcsim_node *node) {
  name_list list = {0};
  pcsim_status status = PCSIM_OK;
  for (int i = 0; i < monitors->num_quantities; ++i)
    PCSIM_GOTO(add_name(&list, monitors->quantity[i].name), status, done);
  list.max_own =
      2 * (size_t)monitors->num_fields + 3; /* of each, of the velocity, of the pressure at nodes */
  PCSIM_GOTO(pcsim_alloc(list.max_own, sizeof *list.own, &list.own), status, done);
  PCSIM_GOTO(errors_names(references->exact, monitors, add_error_name, &list), status, done);
  for (int i = 0; i < references->num; ++i) {
    const char *name = pcsim_node_key(node, i);
    bool known = references->entry[i].kind != ENTRY_QUANTITY;
    for (size_t k = 0; k < list.num; ++k) known = known || strcmp(list.names[k], name) == 0;
    if (!known) report_unknown(tree, pcsim_node_key_node(node, i), name, &list);
  }
done:
  pcsim_free(&list.names);
  pcsim_free(&list.own);
  return status;
}

static pcsim_status read_entry(pcsim_tree *tree, const pcsim_monitors *monitors, pcsim_references *references,
                               entry *e, const char *name, pcsim_node *node) {
  e->comparison = -1;
  if (pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(
        tree, node, "reference `%s` must be a mapping, e.g. {value: 5.58, tolerance: 0.1%%, source: \"...\"}",
        name);
    return PCSIM_OK;
  }
  const pcsim_node *run = pcsim_node_get(node, "run");
  if (run) {
    pcsim_tree_problem(tree, run,
                       "a reference to another run is not offered yet; expected `value`, `range`, `exact` or "
                       "`table`");
    return PCSIM_OK;
  }
  e->kind = pcsim_node_get(node, "exact")   ? ENTRY_FIELD
            : pcsim_node_get(node, "table") ? ENTRY_TABLE
                                            : ENTRY_QUANTITY;
  if (e->kind == ENTRY_FIELD) read_field(tree, references, monitors, e, name, node);
  else if (e->kind == ENTRY_TABLE) PCSIM_TRY(read_table(tree, monitors, references, e, name, node));
  else read_quantity(tree, references, e, name, node);
  return PCSIM_OK;
}

static pcsim_status read_entries(pcsim_tree *tree, const pcsim_monitors *monitors,
                                 pcsim_references *references) {
  pcsim_node *node = pcsim_node_get(pcsim_tree_root(tree), "reference");
  if (!node) return PCSIM_OK;
  if (pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(tree, node, "`reference` must be a mapping of quantities, fields and lines");
    return PCSIM_OK;
  }
  int64_t n = pcsim_node_size(node);
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *references->entry, &references->entry));
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *references->comparison, &references->comparison));
  references->num = (int)n;
  for (int64_t i = 0; i < n; ++i) {
    const char *name = pcsim_node_key(node, i);
    PCSIM_TRY(
        read_entry(tree, monitors, references, &references->entry[i], name, pcsim_node_get(node, name)));
  }
  return check_names(tree, monitors, references, node);
}

pcsim_status pcsim_references_read(pcsim_tree *tree, const pcsim_monitors *monitors,
                                   pcsim_references **result) {
  *result = NULL;
  pcsim_references *references = NULL;
  size_t before = pcsim_tree_num_problems(tree);
  pcsim_status status = pcsim_alloc(1, sizeof *references, &references);
  if (status == PCSIM_OK) {
    references->num_fields = monitors->num_fields;
    status = pcsim_alloc((size_t)monitors->num_fields, sizeof *references->exact, &references->exact);
    if (status != PCSIM_OK) pcsim_references_destroy(&references);
  }
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(monitors->mesh), status));
  status = read_entries(tree, monitors, references);
  if (status != PCSIM_OK || pcsim_tree_num_problems(tree) != before) pcsim_references_destroy(&references);
  PCSIM_TRY(status);
  *result = references;
  return PCSIM_OK;
}

/* ------------------------------------------------------------------ comparing */

static double find_value(const pcsim_monitors *monitors, const char *name) {
  for (int i = 0; i < monitors->num_quantities; ++i)
    if (strcmp(monitors->quantity[i].name, name) == 0) return monitors->quantity[i].value;
  return NAN;
}

static void compare_quantity(pcsim_comparison *c, double value) {
  c->value = value;
  if (isnan(c->low)) {
    c->error = fabs(value - c->reference) / (c->absolute ? 1.0 : fabs(c->reference));
    c->met = c->error <= c->tolerance;
    return;
  }
  c->error = value < c->low ? c->low - value : value > c->high ? value - c->high : 0.0 * value;
  c->met = value >= c->low && value <= c->high;
}

static pcsim_status compare_table(pcsim_comparison *c, reference_table *table, pcsim_monitors *monitors) {
  double largest;
  table_compare(table, monitors, &c->value, &largest);
  c->error = c->absolute ? c->value : c->value / largest;
  c->met = c->error <= c->tolerance;
  if (table->reference_curve >= 0) return PCSIM_OK;
  char name[112];
  snprintf(name, sizeof name, "%.84s:reference", c->quantity);
  PCSIM_TRY(monitors_add_curve(monitors, name, table->columns, table->num_rows, &table->reference_curve));
  memcpy(monitors->curve[table->reference_curve].values, table->rows,
         2 * (size_t)table->num_rows * sizeof(double));
  return PCSIM_OK;
}

pcsim_status pcsim_references_compare(pcsim_references *references, pcsim_monitors *monitors,
                                      const pcsim_fields *fields) {
  PCSIM_CHECK(fields->mesh == monitors->mesh, PCSIM_ERR_ARG,
              "the fields are of another mesh than the monitors");
  for (int i = 0; i < references->num_fields; ++i) references->exact[i].time = fields->time;
  PCSIM_TRY(errors_compute(references->exact, monitors, fields));
  for (int i = 0; i < references->num; ++i) {
    entry *e = &references->entry[i];
    if (e->comparison < 0) continue;
    pcsim_comparison *c = &references->comparison[e->comparison];
    if (e->kind == ENTRY_TABLE) PCSIM_TRY(compare_table(c, &e->table, monitors));
    else compare_quantity(c, find_value(monitors, c->quantity));
  }
  return PCSIM_OK;
}
