/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes and problems of a case-file tree. */
#include "tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------- nodes */

pcsim_status tree_new_source(pcsim_tree *tree, const char *name, const char *folder, const char *text,
                             size_t size, tree_source **source) {
  char *copy;
  PCSIM_TRY(arena_take(&tree->memory, sizeof **source, source));
  tree_source *s = *source;
  s->rank = tree->num_sources++;
  s->size = size;
  PCSIM_TRY(arena_copy(&tree->memory, name, strlen(name), &copy));
  s->name = copy;
  PCSIM_TRY(arena_copy(&tree->memory, folder, strlen(folder), &copy));
  s->folder = copy;
  PCSIM_TRY(arena_copy(&tree->memory, text, size, &copy));
  s->text = copy;
  return PCSIM_OK;
}

pcsim_status tree_new_node(pcsim_tree *tree, pcsim_node_kind kind, const tree_source *source,
                           pcsim_node **node) {
  PCSIM_TRY(arena_take(&tree->memory, sizeof **node, node));
  (*node)->kind = kind;
  (*node)->source = source;
  (*node)->text = "";
  return PCSIM_OK;
}

pcsim_status tree_append(pcsim_tree *tree, pcsim_node *parent, pcsim_node *key, pcsim_node *value) {
  if (parent->size == parent->room) {
    pcsim_node **wider;
    int64_t room = parent->room ? 2 * parent->room : 4;
    PCSIM_TRY(arena_take(&tree->memory, (size_t)room * sizeof *wider, &wider));
    if (parent->size) memcpy(wider, parent->children, (size_t)parent->size * sizeof *wider);
    parent->children = wider;
    parent->room = room;
  }
  value->parent = parent;
  value->key = key;
  if (key) key->parent = parent;
  value->place = parent->size;
  parent->children[parent->size++] = value;
  return PCSIM_OK;
}

int64_t tree_find(const pcsim_node *mapping, const char *key) {
  if (!mapping || mapping->kind != PCSIM_NODE_MAPPING) return -1;
  for (int64_t i = 0; i < mapping->size; i++)
    if (!strcmp(mapping->children[i]->key->text, key)) return i;
  return -1;
}

pcsim_node *pcsim_tree_root(const pcsim_tree *tree) { return tree->root; }
const char *pcsim_tree_folder(const pcsim_tree *tree) { return tree->source->folder; }
pcsim_node_kind pcsim_node_get_kind(const pcsim_node *node) { return node->kind; }
const char *pcsim_node_text(const pcsim_node *node) { return node->text; }
int64_t pcsim_node_size(const pcsim_node *node) { return node ? node->size : 0; }
const char *pcsim_node_file(const pcsim_node *node) { return node->source->name; }
int pcsim_node_line(const pcsim_node *node) { return node->line; }
int pcsim_node_column(const pcsim_node *node) { return node->column; }
bool pcsim_node_used(const pcsim_node *node) { return node->used; }

pcsim_node *pcsim_node_child(const pcsim_node *node, int64_t i) {
  return node && i >= 0 && i < node->size ? node->children[i] : NULL;
}

const pcsim_node *pcsim_node_key_node(const pcsim_node *node, int64_t i) {
  const pcsim_node *child = pcsim_node_child(node, i);
  return child ? child->key : NULL;
}

const char *pcsim_node_key(const pcsim_node *node, int64_t i) {
  const pcsim_node *key = pcsim_node_key_node(node, i);
  return key ? key->text : NULL;
}

pcsim_node *pcsim_node_get(const pcsim_node *node, const char *key) {
  int64_t i = tree_find(node, key);
  if (i < 0) return NULL;
  node->children[i]->used = true;
  return node->children[i];
}

pcsim_status pcsim_node_path(const pcsim_node *node, char **path) {
  *path = NULL;
  PCSIM_CHECK(node && node->kind == PCSIM_NODE_SCALAR && *node->text, PCSIM_ERR_ARG, "a path is a text");
  return pcsim_path_join(node->source->folder, node->text, path);
}

void pcsim_tree_destroy(pcsim_tree **tree) {
  if (!tree || !*tree) return;
  pcsim_free(&(*tree)->problems);
  pcsim_free(&(*tree)->parameters);
  pcsim_free(&(*tree)->values);
  arena_clear(&(*tree)->memory);
  pcsim_free(tree);
}

/* ------------------------------------------------------------- words */

/** One problem is one line of bounded length without a cut character. */
static void make_line(char *text) {
  size_t n = strlen(text);
  if (n > TREE_MAX_PROBLEM) {
    n = TREE_MAX_PROBLEM;
    while (n && ((unsigned char)text[n] & 0xc0) == 0x80) n--;
    memcpy(text + n, "...", 4);
  }
  for (char *p = text; *p; p++)
    if ((unsigned char)*p < 0x20 || *p == 0x7f) *p = ' ';
}

bool node_is_empty(const pcsim_node *node) {
  return node->kind == PCSIM_NODE_SCALAR && node->style == STYLE_PLAIN && !*node->text;
}

const char *node_label(const pcsim_node *node, char *out, size_t size) {
  if (node->key) {
    snprintf(out, size, "'%s'", node->key->text);
  } else if (node->parent && node->parent->kind == PCSIM_NODE_SEQUENCE) {
    char outer[TREE_MAX_KEY + 64];
    /* Of nested sequences only the inner two places are told: the column shows the rest. */
    const pcsim_node *above = node->parent;
    while (!above->key && above->parent) above = above->parent;
    if (above->key) snprintf(outer, sizeof outer, " of '%s'", above->key->text);
    else outer[0] = '\0';
    snprintf(out, size, "element %lld%s", (long long)node->place + 1, outer);
  } else {
    snprintf(out, size, "the value");
  }
  return out;
}

const char *node_found(const pcsim_node *node, char *out, size_t size) {
  if (node->kind == PCSIM_NODE_SEQUENCE) return "a sequence";
  if (node->kind == PCSIM_NODE_MAPPING) return "a mapping";
  if (node_is_empty(node)) return "nothing";
  size_t n = 0, length = strlen(node->text);
  while (n < length) { /* whole characters only */
    uint32_t code;
    size_t step = tree_decode(node->text + n, node->text + length, &code);
    if (!step || n + step > 60) break;
    n += step;
  }
  snprintf(out, size, "'%.*s%s'", (int)n, node->text, n < length ? "..." : "");
  make_line(out);
  return out;
}

/* ---------------------------------------------------------- problems */

static bool is_known(const pcsim_tree *tree, const tree_problem *p, const char *text) {
  for (size_t i = 0; i < tree->num_problems; i++) {
    const tree_problem *q = &tree->problems[i];
    if (q->source == p->source && q->line == p->line && q->column == p->column && !strcmp(q->text, text))
      return true;
  }
  return false;
}

static pcsim_status keep_problem(pcsim_tree *tree, tree_problem *p, const char *fmt, va_list args) {
  if (tree->num_problems >= TREE_MAX_PROBLEMS) {
    tree->num_dropped++;
    return PCSIM_OK;
  }
  char text[TREE_MAX_PROBLEM + 8];
  int size = vsnprintf(text, TREE_MAX_PROBLEM + 2, fmt, args); /* one byte too many shows that it was cut */
  if (size < 0) snprintf(text, sizeof text, "%s", fmt);
  make_line(text);
  if (is_known(tree, p, text)) return PCSIM_OK;
  PCSIM_TRY(arena_copy(&tree->memory, text, strlen(text), &p->text));
  if (tree->num_problems == tree->room_problems) {
    size_t room = tree->room_problems ? 2 * tree->room_problems : 8;
    PCSIM_TRY(pcsim_realloc(room, sizeof *tree->problems, &tree->problems));
    tree->room_problems = room;
  }
  p->order = tree->num_problems;
  p->of_parameters = tree->in_parameters;
  tree->problems[tree->num_problems++] = *p;
  return PCSIM_OK;
}

void tree_problem_at(pcsim_tree *tree, const tree_source *source, int line, int column, const char *fmt,
                     ...) {
  tree_problem p = {.source = source, .line = line, .column = column};
  va_list args;
  va_start(args, fmt);
  pcsim_status status = keep_problem(tree, &p, fmt, args);
  va_end(args);
  if (status != PCSIM_OK) tree->failure = status;
}

/** Where a problem at `node` is shown: a mapping or an empty value at its key, a default at what it was
 * filled into. */
static const pcsim_node *place_of(const pcsim_tree *tree, const pcsim_node *node) {
  if (!node) node = tree->root;
  while (node &&
         (node->line == 0 || node->kind == PCSIM_NODE_MAPPING || (node->key && node_is_empty(node)))) {
    if (node->key && node->key->line > 0) return node->key;
    if (node->line > 0 || !node->parent) break;
    node = node->parent;
  }
  return node;
}

static void problem(pcsim_tree *tree, const pcsim_node *at, size_t offset, const char *fmt, va_list args) {
  if (at && at->broken) return;
  const pcsim_node *place = place_of(tree, at);
  tree_problem p = {.source = place ? place->source : tree->source, .line = 1, .column = 1};
  if (place && place->line > 0) {
    p.line = place->line;
    p.column = place->column;
    if (place == at && offset != SIZE_MAX && at->kind == PCSIM_NODE_SCALAR)
      tree_place_inside(at, offset, &p.line, &p.column);
  }
  pcsim_status status = keep_problem(tree, &p, fmt, args);
  if (status != PCSIM_OK) tree->failure = status;
}

void pcsim_tree_problem(pcsim_tree *tree, const pcsim_node *at, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  problem(tree, at, SIZE_MAX, fmt, args);
  va_end(args);
}

void pcsim_tree_problem_inside(pcsim_tree *tree, const pcsim_node *at, size_t offset, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  problem(tree, at, offset, fmt, args);
  va_end(args);
}

size_t pcsim_tree_num_problems(const pcsim_tree *tree) { return tree->num_problems + tree->num_dropped; }

static int by_place(const void *a, const void *b) {
  const tree_problem *p = *(const tree_problem *const *)a, *q = *(const tree_problem *const *)b;
  if (p->source->rank != q->source->rank) return p->source->rank < q->source->rank ? -1 : 1;
  if (p->line != q->line) return p->line < q->line ? -1 : 1;
  if (p->column != q->column) return p->column < q->column ? -1 : 1;
  return p->order < q->order ? -1 : p->order > q->order;
}

static void write_report(const pcsim_tree *tree, FILE *out) {
  const tree_problem *sorted[TREE_MAX_PROBLEMS];
  size_t n = tree->num_problems, shown = n < TREE_SHOWN_PROBLEMS ? n : TREE_SHOWN_PROBLEMS;
  for (size_t i = 0; i < n; i++) sorted[i] = &tree->problems[i];
  qsort(sorted, n, sizeof sorted[0], by_place);
  for (size_t i = 0; i < shown; i++)
    fprintf(out, "%s%s:%d:%d: %s", i ? "\n" : "", sorted[i]->source->name, sorted[i]->line, sorted[i]->column,
            sorted[i]->text);
  if (pcsim_tree_num_problems(tree) > shown)
    fprintf(out, "\n%s: and %zu more problems", tree->source->name, pcsim_tree_num_problems(tree) - shown);
}

pcsim_status tree_report(const pcsim_tree *tree) {
  char *text = NULL;
  size_t size = 0;
  if (tree->failure != PCSIM_OK) PCSIM_FAIL(tree->failure, "out of memory while the case was checked");
  if (!tree->num_problems) return PCSIM_OK;
  FILE *out = open_memstream(&text, &size);
  PCSIM_CHECK(out, PCSIM_ERR_MEMORY, "out of memory for the problems of the case");
  write_report(tree, out);
  if (fclose(out) || !text) {
    free(text);
    PCSIM_FAIL(PCSIM_ERR_MEMORY, "out of memory for the problems of the case");
  }
  pcsim_status status = pcsim_error_set(PCSIM_ERR_CASE, __FILE__, __LINE__, __func__, "%s", text);
  free(text);
  return status;
}

pcsim_status pcsim_tree_status(const pcsim_tree *tree) { return tree_report(tree); }
