/* SPDX-License-Identifier: BSD-2-Clause */
/* `path=value` on a tree. */
#include "tree.h"

#include <stdio.h>
#include <string.h>

enum { SET_MAX_LENGTH = 65536, SET_SHOWN = 200 };

/** One step of a path: the key (or element) it names and what follows. */
typedef struct {
  const char *key; /**< not terminated */
  size_t size;
  const char *rest; /**< after the dot; NULL at the end of the path */
} step;

/** Split off the first segment; quotes keep dots together. NULL `key` on a malformed path. */
static step first_segment(const char *path, const char *end) {
  step s = {NULL, 0, NULL};
  const char *stop;
  if (path < end && *path == '"') {
    const char *close = memchr(path + 1, '"', (size_t)(end - path - 1));
    if (!close) return s;
    s.key = path + 1;
    s.size = (size_t)(close - s.key);
    stop = close + 1;
    if (stop < end && *stop != '.') return (step){NULL, 0, NULL};
  } else {
    const char *dot = memchr(path, '.', (size_t)(end - path));
    stop = dot ? dot : end;
    s.key = path;
    s.size = (size_t)(stop - path);
  }
  if (!s.size) s.key = NULL;
  if (stop < end) s.rest = stop + 1;
  return s;
}

/** An existing key may hold dots itself (`forces.cd`): the longest one that fits is meant. */
static int64_t match_key(const pcsim_node *mapping, const char *path, const char *end, step *s) {
  int64_t best = -1;
  size_t longest = 0;
  for (int64_t i = 0; i < mapping->size; i++) {
    const char *key = mapping->children[i]->key->text;
    size_t n = strlen(key), left = (size_t)(end - path);
    if (!n || n > left || n <= longest || memcmp(path, key, n) != 0 || (n < left && path[n] != '.')) continue;
    best = i;
    longest = n;
  }
  if (best >= 0) {
    *s = (step){path, longest, longest < (size_t)(end - path) ? path + longest + 1 : NULL};
    return best;
  }
  *s = first_segment(path, end);
  if (s->key)
    for (int64_t i = 0; i < mapping->size; i++) {
      const char *key = mapping->children[i]->key->text;
      if (strlen(key) == s->size && !memcmp(key, s->key, s->size)) return i;
    }
  return -1;
}

typedef struct {
  pcsim_tree *tree;
  tree_source *source;
  const char *text; /**< the assignment */
  const char *name; /**< "--set ..." for messages: one line, bounded */
  const char *end;  /**< its '=' */
} assignment;

static pcsim_status new_key(const assignment *a, const step *s, pcsim_node **key) {
  char *text;
  PCSIM_CHECK(s->size <= TREE_MAX_KEY, PCSIM_ERR_CASE, "%s: a key has more than %d characters", a->name,
              TREE_MAX_KEY);
  PCSIM_TRY(tree_new_node(a->tree, PCSIM_NODE_SCALAR, a->source, key));
  PCSIM_TRY(arena_copy(&a->tree->memory, s->key, s->size, &text));
  (*key)->text = text;
  (*key)->line = 1;
  (*key)->column = (int)(s->key - a->text) + 1;
  return PCSIM_OK;
}

static void replace_child(pcsim_node *parent, int64_t i, pcsim_node *key, pcsim_node *value) {
  value->parent = parent;
  value->key = key;
  if (key) key->parent = parent;
  value->place = i;
  parent->children[i] = value;
}

/** Make what is missing below `mapping` and hang the value there. Nothing can be in the way any more. */
static pcsim_status make_rest(const assignment *a, pcsim_node *mapping, step s, pcsim_node *value) {
  pcsim_node *key, *inner;
  /* The new branch is built from its end, so that a malformed path leaves the tree as it was. */
  PCSIM_CHECK(s.key, PCSIM_ERR_CASE, "%s: the path before '=' is malformed; expected key.key...=value",
              a->name);
  PCSIM_TRY(new_key(a, &s, &key));
  if (!s.rest) return tree_append(a->tree, mapping, key, value);
  PCSIM_TRY(tree_new_node(a->tree, PCSIM_NODE_MAPPING, a->source, &inner));
  inner->line = 1;
  inner->column = key->column;
  PCSIM_TRY(make_rest(a, inner, first_segment(s.rest, a->end), value));
  return tree_append(a->tree, mapping, key, inner);
}

static pcsim_status place_of_element(const assignment *a, const pcsim_node *sequence, const char *path,
                                     int64_t *place, step *s) {
  *s = first_segment(path, a->end);
  int64_t i = 0;
  bool digits = s->key != NULL;
  for (size_t k = 0; digits && k < s->size; k++) {
    digits = s->key[k] >= '0' && s->key[k] <= '9' && k < 9;
    i = 10 * i + (s->key[k] - '0');
  }
  PCSIM_CHECK(digits && i < sequence->size, PCSIM_ERR_CASE,
              "%s: '%.*s' names no element; the sequence has %lld, counted from 0", a->name, (int)s->size,
              s->key ? s->key : "", (long long)sequence->size);
  *place = i;
  return PCSIM_OK;
}

static pcsim_status put_value(const assignment *a, pcsim_node *value) {
  pcsim_node *at = a->tree->root, *key = NULL;
  const char *path = a->text;
  for (;;) {
    step s;
    int64_t i = -1;
    if (at->kind == PCSIM_NODE_SEQUENCE) {
      PCSIM_TRY(place_of_element(a, at, path, &i, &s));
    } else {
      i = match_key(at, path, a->end, &s);
      if (i < 0) return make_rest(a, at, s, value);
      PCSIM_TRY(new_key(a, &s, &key));
      /* new_key copies the bytes of the path, which are those of the key that was found. */
    }
    if (!s.rest) {
      replace_child(at, i, at->kind == PCSIM_NODE_SEQUENCE ? NULL : key, value);
      return PCSIM_OK;
    }
    pcsim_node *next = at->children[i];
    char found[128];
    PCSIM_CHECK(next->kind != PCSIM_NODE_SCALAR, PCSIM_ERR_CASE, "%s: '%.*s' holds %s, no keys", a->name,
                (int)(s.key + s.size - a->text), a->text, node_found(next, found, sizeof found));
    at = next;
    path = s.rest;
  }
}

/** Parse the text after '='; its problems become the failure, not problems of the case. */
static pcsim_status scan_value(assignment *a, pcsim_node **value) {
  pcsim_tree *tree = a->tree;
  tree_problem *problems = tree->problems;
  size_t n = tree->num_problems, room = tree->room_problems, dropped = tree->num_dropped;
  tree->problems = NULL;
  tree->num_problems = tree->room_problems = tree->num_dropped = 0;
  pcsim_status status = tree_scan(tree, a->source, value);
  if (status == PCSIM_OK) status = tree_report(tree);
  pcsim_free(&tree->problems);
  tree->problems = problems;
  tree->num_problems = n;
  tree->room_problems = room;
  tree->num_dropped = dropped;
  return status;
}

/** The '=' that ends the path; quoted keys may hold one. */
static const char *find_equals(const char *text) {
  bool quoted = false;
  for (; *text; text++) {
    if (*text == '"') quoted = !quoted;
    if (*text == '=' && !quoted) return text;
  }
  return NULL;
}

static pcsim_status set_value(assignment *a) {
  pcsim_node *value = NULL;
  const char *given = a->end + 1;
  PCSIM_TRY(tree_new_source(a->tree, a->name, a->tree->source->folder, given, strlen(given), &a->source));
  a->source->shift = (int)(given - a->text);
  PCSIM_TRY(scan_value(a, &value));
  PCSIM_CHECK(value && !node_is_empty(value), PCSIM_ERR_CASE, "%s: expected a value after '='", a->name);
  PCSIM_TRY(put_value(a, value));
  return tree_evaluate_parameters(a->tree);
}

/** What stands for the file in messages: the assignment itself, on one line of bounded length. */
static pcsim_status name_assignment(const char *text, char **name) {
  size_t n = strlen(text);
  if (n > SET_SHOWN)
    for (n = SET_SHOWN; n && ((unsigned char)text[n] & 0xc0) == 0x80;) n--;
  PCSIM_TRY(pcsim_alloc(n + 16, 1, name));
  snprintf(*name, n + 16, "--set %.*s", (int)n, text);
  const char *end = *name + strlen(*name);
  for (char *p = *name; *p;) {
    uint32_t code;
    size_t size = tree_decode(p, end, &code);
    if (!size || code < 0x20 || !tree_printable(code)) memset(p, '?', size ? size : 1);
    p += size ? size : 1;
  }
  return PCSIM_OK;
}

/** The path may hold printable text only: it is shown in messages and becomes keys. */
static bool is_printable(const char *path, const char *end) {
  while (path < end) {
    uint32_t code;
    size_t n = tree_decode(path, end, &code);
    if (!n || !tree_printable(code) || code < 0x20) return false;
    path += n;
  }
  return true;
}

pcsim_status pcsim_tree_set(pcsim_tree *tree, const char *text) {
  char *name = NULL;
  pcsim_status status = PCSIM_OK;
  PCSIM_CHECK(text, PCSIM_ERR_ARG, "no assignment");
  PCSIM_CHECK(strlen(text) <= SET_MAX_LENGTH, PCSIM_ERR_CASE, "--set: the assignment has more than %d bytes",
              SET_MAX_LENGTH);
  PCSIM_TRY(name_assignment(text, &name));
  assignment a = {.tree = tree, .text = text, .name = name, .end = find_equals(text)};
  const char *fault = NULL;
  if (!a.end || a.end == text) fault = "expected path=value, such as solve.tolerance=1e-8";
  else if (!is_printable(text, a.end)) fault = "the path before '=' is no printable UTF-8 text";
  else if (!strncmp(text, "extends", 7) && (text[7] == '=' || text[7] == '.'))
    fault = "'extends' was followed when the case was read and cannot be set";
  if (fault) status = pcsim_error_set(PCSIM_ERR_CASE, __FILE__, __LINE__, __func__, "%s: %s", name, fault);
  else PCSIM_GOTO(set_value(&a), status, done);
done:
  pcsim_free(&name);
  return status;
}
