/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of keys against mappings, defaults, and the typed readers. The readers and the check say the same
 * words about the same fault, so that it is reported once. */
#include "expr.h"
#include "tree.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_SIZE = TREE_MAX_KEY + 64, FOUND_SIZE = 128, LIST_SIZE = 512, MAX_CHOICES = 64 };

/* ------------------------------------------------------------- types */

static bool wrong_type(pcsim_tree *tree, const pcsim_node *node, const char *expected) {
  char label[LABEL_SIZE], found[FOUND_SIZE];
  pcsim_tree_problem(tree, node, "%s must be %s, found %s", node_label(node, label, sizeof label), expected,
                     node_found(node, found, sizeof found));
  return false;
}

static bool is_text(const pcsim_node *node) {
  return node->kind == PCSIM_NODE_SCALAR && !node_is_empty(node);
}

static bool read_bool(pcsim_tree *tree, const pcsim_node *node, bool *value) {
  *value = is_text(node) && !strcmp(node->text, "true");
  if (*value || (is_text(node) && !strcmp(node->text, "false"))) return true;
  return wrong_type(tree, node, "true or false");
}

static bool check_text(pcsim_tree *tree, const pcsim_node *node) {
  return is_text(node) || wrong_type(tree, node, "a text");
}

static bool check_numbers(pcsim_tree *tree, const pcsim_node *node) {
  bool right = true;
  double value;
  if (node->kind != PCSIM_NODE_SEQUENCE)
    return wrong_type(tree, node, "a sequence of numbers, such as [1, 0]");
  for (int64_t i = 0; i < node->size; i++) right = tree_number(tree, node->children[i], &value) && right;
  return right;
}

static bool check_names(pcsim_tree *tree, const pcsim_node *node) {
  bool right = true;
  if (node->kind == PCSIM_NODE_SCALAR)
    return is_text(node) || wrong_type(tree, node, "a name or a sequence of names");
  if (node->kind == PCSIM_NODE_MAPPING) return wrong_type(tree, node, "a name or a sequence of names");
  for (int64_t i = 0; i < node->size; i++) right = check_text(tree, node->children[i]) && right;
  return right;
}

/** Split "a|b|c" in `copy`. */
static size_t split_choices(char *copy, size_t size, const char *choices, const char **names) {
  size_t n = 0;
  char *rest = NULL;
  snprintf(copy, size, "%s", choices ? choices : "");
  for (char *word = strtok_r(copy, "|", &rest); word && n < MAX_CHOICES; word = strtok_r(NULL, "|", &rest))
    names[n++] = word;
  return n;
}

static bool check_choice(pcsim_tree *tree, const pcsim_node *node, const pcsim_key *key) {
  char copy[LIST_SIZE], list[LIST_SIZE], label[LABEL_SIZE], found[FOUND_SIZE];
  const char *names[MAX_CHOICES], *near = NULL;
  size_t n = split_choices(copy, sizeof copy, key->choices, names);
  if (is_text(node)) {
    for (size_t i = 0; i < n; i++)
      if (!strcmp(names[i], node->text)) return true;
    near = pcsim_nearest(node->text, names, n);
  }
  expr_list_names(list, sizeof list, names, n);
  pcsim_tree_problem(tree, node, "%s must be one of %s; found %s%s%s%s",
                     node_label(node, label, sizeof label), list, node_found(node, found, sizeof found),
                     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  return false;
}

/** Bounds of a key; both 0: none. A least positive number as `min` means "positive". */
static bool check_bounds(pcsim_tree *tree, const pcsim_node *node, const pcsim_key *key, double value) {
  char label[LABEL_SIZE], expected[96];
  bool below = isfinite(key->min), above = isfinite(key->max) && key->max < DBL_MAX;
  if (key->min == 0 && key->max == 0) return true;
  if (value >= key->min && value <= key->max) return true;
  if (key->min <= -DBL_MAX) below = false;
  bool positive = key->min > 0 && key->min < 1e-290;
  if (key->min == key->max) snprintf(expected, sizeof expected, "%g", key->min);
  else if (below && above && !positive)
    snprintf(expected, sizeof expected, "from %g to %g", key->min, key->max);
  else if (below && above) snprintf(expected, sizeof expected, "positive and at most %g", key->max);
  else if (positive) snprintf(expected, sizeof expected, "positive");
  else if (below) snprintf(expected, sizeof expected, "at least %g", key->min);
  else snprintf(expected, sizeof expected, "at most %g", key->max);
  pcsim_tree_problem(tree, node, "%s must be %s%s%s, found %g", node_label(node, label, sizeof label),
                     expected, key->unit && *key->unit && strcmp(key->unit, "1") != 0 ? " " : "",
                     key->unit && strcmp(key->unit, "1") != 0 ? key->unit : "", value);
  return false;
}

static void check_type(pcsim_tree *tree, const pcsim_node *node, const pcsim_key *key) {
  bool truth;
  double number;
  int64_t whole;
  if (node->broken) return;
  switch (key->type) {
  case PCSIM_KEY_BOOL:
    read_bool(tree, node, &truth);
    return;
  case PCSIM_KEY_INTEGER:
    if (tree_integer(tree, node, &whole)) check_bounds(tree, node, key, (double)whole);
    return;
  case PCSIM_KEY_NUMBER:
    if (tree_number(tree, node, &number)) check_bounds(tree, node, key, number);
    return;
  case PCSIM_KEY_TEXT:
    check_text(tree, node);
    return;
  case PCSIM_KEY_CHOICE:
    check_choice(tree, node, key);
    return;
  case PCSIM_KEY_EXPRESSION:
    if (!is_text(node)) wrong_type(tree, node, "a number or an expression");
    return;
  case PCSIM_KEY_NUMBERS:
    check_numbers(tree, node);
    return;
  case PCSIM_KEY_SEQUENCE:
    if (node->kind != PCSIM_NODE_SEQUENCE) wrong_type(tree, node, "a sequence ([a, b, ...])");
    return;
  case PCSIM_KEY_MAPPING:
    if (node->kind != PCSIM_NODE_MAPPING) wrong_type(tree, node, "a mapping (key: value)");
    return;
  case PCSIM_KEY_NAMES:
    check_names(tree, node);
    return;
  case PCSIM_KEY_ANY:
    return;
  }
}

/* ---------------------------------------------------------- defaults */

static pcsim_status fill_default(pcsim_tree *tree, pcsim_node *node, const pcsim_key *key) {
  pcsim_node *name, *value = NULL;
  tree_source *source;
  char *text;
  size_t size = strlen(key->fallback);
  PCSIM_TRY(tree_new_source(tree, node->source->name, node->source->folder, key->fallback, size, &source));
  source->made = true;
  PCSIM_TRY(tree_new_node(tree, PCSIM_NODE_SCALAR, source, &name));
  PCSIM_TRY(arena_copy(&tree->memory, key->name, strlen(key->name), &text));
  name->text = text;
  if (*key->fallback == '[' || *key->fallback == '{') {
    PCSIM_TRY(tree_scan(tree, source, &value));
    PCSIM_CHECK(value, PCSIM_ERR_INTERNAL, "the default of '%s' is no YAML: %s", key->name, key->fallback);
  } else {
    PCSIM_TRY(tree_new_node(tree, PCSIM_NODE_SCALAR, source, &value));
    PCSIM_TRY(arena_copy(&tree->memory, key->fallback, size, &text));
    value->text = text;
    value->end = size;
  }
  return tree_append(tree, node, name, value);
}

/* ------------------------------------------------------------- check */

static const char *in_what(const char *where, char *out, size_t size) {
  if (where && strchr(where, ' ')) snprintf(out, size, "in %s", where); /* words, no key */
  else if (where && *where) snprintf(out, size, "in '%s'", where);
  else snprintf(out, size, "in the case");
  return out;
}

static void describe(const pcsim_key *key, char *out, size_t size) {
  static const char *const types[] = {
      [PCSIM_KEY_BOOL] = "true or false", [PCSIM_KEY_INTEGER] = "a whole number",
      [PCSIM_KEY_NUMBER] = "a number",    [PCSIM_KEY_TEXT] = "a text",
      [PCSIM_KEY_CHOICE] = "one of",      [PCSIM_KEY_EXPRESSION] = "a number or an expression",
      [PCSIM_KEY_NUMBERS] = "numbers",    [PCSIM_KEY_SEQUENCE] = "a sequence",
      [PCSIM_KEY_MAPPING] = "a mapping",  [PCSIM_KEY_NAMES] = "a name or names",
      [PCSIM_KEY_ANY] = "a value"};
  const char *choices = key->type == PCSIM_KEY_CHOICE && key->choices ? key->choices : "";
  snprintf(out, size, "%s%s%s%s%s", types[key->type], *choices ? " " : "", choices,
           key->help && *key->help ? ": " : "", key->help ? key->help : "");
}

/** Misspelt keys: the place in `names` that each unknown key probably means is marked in `meant`. */
static void check_unknown(pcsim_tree *tree, const pcsim_node *node, const pcsim_key *keys,
                          const char *const *names, size_t n, const char *where, bool *meant) {
  char list[LIST_SIZE], place[LABEL_SIZE];
  expr_list_names(list, sizeof list, names, n);
  in_what(where, place, sizeof place);
  for (int64_t i = 0; i < node->size; i++) {
    const pcsim_node *key = node->children[i]->key;
    size_t k = 0;
    while (k < n && strcmp(names[k], key->text) != 0) k++;
    if (k < n) {
      check_type(tree, node->children[i], &keys[k]);
      continue;
    }
    if (key->broken) continue;
    const char *near = pcsim_nearest(key->text, names, n);
    for (k = 0; near && k < n; k++)
      if (names[k] == near) meant[k] = true;
    pcsim_tree_problem(tree, key, "unknown key '%s' %s%s%s%s (known: %s)", key->text, place,
                       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "", list);
  }
}

static pcsim_status check_keys(pcsim_tree *tree, pcsim_node *node, const pcsim_key *keys, size_t n,
                               const char *where) {
  const char **names = NULL;
  bool *meant = NULL;
  char place[LABEL_SIZE], what[LIST_SIZE];
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc(n, sizeof *names, &names), status, done);
  PCSIM_GOTO(pcsim_alloc(n, sizeof *meant, &meant), status, done);
  for (size_t k = 0; k < n; k++) names[k] = keys[k].name;
  check_unknown(tree, node, keys, names, n, where, meant);
  for (size_t k = 0; k < n; k++) {
    if (tree_find(node, keys[k].name) >= 0) continue;
    if (keys[k].fallback && *keys[k].fallback) {
      PCSIM_GOTO(fill_default(tree, node, &keys[k]), status, done);
    } else if (!keys[k].fallback && !meant[k]) {
      describe(&keys[k], what, sizeof what);
      pcsim_tree_problem(tree, node, "missing key '%s' %s (%s)", keys[k].name,
                         in_what(where, place, sizeof place), what);
    }
  }
done:
  pcsim_free(&meant);
  pcsim_free(&names);
  return status;
}

void pcsim_node_check(pcsim_tree *tree, pcsim_node *node, const pcsim_key *keys, size_t num_keys,
                      const char *where) {
  if (!node || node->broken) return;
  if (node->kind != PCSIM_NODE_MAPPING) {
    wrong_type(tree, node, "a mapping (key: value)");
    return;
  }
  pcsim_status status = check_keys(tree, node, keys, num_keys, where);
  if (status != PCSIM_OK) tree->failure = status;
}

pcsim_node *pcsim_node_mapping(pcsim_tree *tree, pcsim_node *node, const char *key) {
  if (!node || node->kind != PCSIM_NODE_MAPPING) return NULL;
  static const pcsim_key made = {.type = PCSIM_KEY_MAPPING, .fallback = "{}"};
  pcsim_node *child = pcsim_node_get(node, key);
  if (!child) {
    pcsim_key wanted = made;
    wanted.name = key;
    pcsim_status status = fill_default(tree, node, &wanted);
    if (status != PCSIM_OK) {
      tree->failure = status;
      return NULL;
    }
    child = pcsim_node_get(node, key);
  }
  if (child->kind == PCSIM_NODE_MAPPING) return child;
  if (!child->broken) wrong_type(tree, child, "a mapping (key: value)");
  return NULL;
}

/* ----------------------------------------------------------- readers */

static const pcsim_node *wanted(const pcsim_node *node, const char *key) {
  const pcsim_node *value = pcsim_node_get(node, key);
  return value && !value->broken ? value : NULL;
}

bool pcsim_node_bool(pcsim_tree *tree, const pcsim_node *node, const char *key, bool *value) {
  const pcsim_node *v = wanted(node, key);
  bool result;
  if (!v || !read_bool(tree, v, &result)) return false;
  *value = result;
  return true;
}

bool pcsim_node_integer(pcsim_tree *tree, const pcsim_node *node, const char *key, int64_t *value) {
  const pcsim_node *v = wanted(node, key);
  return v && tree_integer(tree, v, value);
}

bool pcsim_node_number(pcsim_tree *tree, const pcsim_node *node, const char *key, double *value) {
  const pcsim_node *v = wanted(node, key);
  return v && tree_number(tree, v, value);
}

bool pcsim_node_string(pcsim_tree *tree, const pcsim_node *node, const char *key, const char **value) {
  const pcsim_node *v = wanted(node, key);
  if (!v || !check_text(tree, v)) return false;
  *value = v->text;
  return true;
}

bool pcsim_node_numbers(pcsim_tree *tree, const pcsim_node *node, const char *key, double *values, int max,
                        int *n) {
  const pcsim_node *v = wanted(node, key);
  char label[LABEL_SIZE];
  if (!v || !check_numbers(tree, v)) return false;
  if (v->size > max) {
    pcsim_tree_problem(tree, v, "%s has %lld numbers; at most %d are expected",
                       node_label(v, label, sizeof label), (long long)v->size, max);
    return false;
  }
  for (int64_t i = 0; i < v->size; i++)
    if (!tree_number(tree, v->children[i], &values[i])) return false;
  *n = (int)v->size;
  return true;
}

bool pcsim_node_as_number(pcsim_tree *tree, const pcsim_node *node, double *value) {
  return node && tree_number(tree, node, value);
}
