/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as a case file: read, checked against tables, read by every reader, changed by an assignment,
 * written, read back. What must hold: no crash, no leak, and the written case is the case. An assignment
 * stands behind a line "%%". */
#include <pcsim/base.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

static const pcsim_key keys[] = {
    {"a", PCSIM_KEY_BOOL, "true", NULL, "", "", 0, 0},
    {"b", PCSIM_KEY_INTEGER, NULL, NULL, "1", "", 1, 100},
    {"size", PCSIM_KEY_NUMBER, NULL, NULL, "m", "size", 1e-300, 1e300},
    {"title", PCSIM_KEY_TEXT, "a: b", NULL, "", "", 0, 0},
    {"model", PCSIM_KEY_CHOICE, "stokes", "navier-stokes|stokes", "", "", 0, 0},
    {"u", PCSIM_KEY_EXPRESSION, "", NULL, "", "", 0, 0},
    {"velocity", PCSIM_KEY_NUMBERS, "[1, 0]", NULL, "", "", 0, 0},
    {"near", PCSIM_KEY_MAPPING, "{c: {d: 1}}", NULL, "", "", 0, 0},
    {"on", PCSIM_KEY_NAMES, "", NULL, "", "", 0, 0},
    {"points", PCSIM_KEY_SEQUENCE, "", NULL, "", "", 0, 0},
    {"any", PCSIM_KEY_ANY, "", NULL, "", "", 0, 0},
};

#define MUST(condition)                                                                                      \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "%s:%d: does not hold: %s\n%s\n", __FILE__, __LINE__, #condition,                      \
              pcsim_error_message());                                                                        \
      abort();                                                                                               \
    }                                                                                                        \
  } while (0)

static void expect_message(void) {
  MUST(*pcsim_error_message());
  for (const char *p = pcsim_error_message(); *p; p++) MUST((unsigned char)*p >= 0x20 || *p == '\n');
}

static bool same(const pcsim_node *a, const pcsim_node *b) {
  if (pcsim_node_get_kind(a) != pcsim_node_get_kind(b) || pcsim_node_size(a) != pcsim_node_size(b))
    return false;
  if (strcmp(pcsim_node_text(a), pcsim_node_text(b)) != 0) return false;
  for (int64_t i = 0; i < pcsim_node_size(a); i++) {
    const char *p = pcsim_node_key(a, i), *q = pcsim_node_key(b, i);
    if ((p == NULL) != (q == NULL) || (p && strcmp(p, q) != 0)) return false;
    if (!same(pcsim_node_child(a, i), pcsim_node_child(b, i))) return false;
  }
  return true;
}

static void read_keys(pcsim_tree *tree, const pcsim_node *node) {
  static const char *const names[] = {"x", "y", "t"};
  bool truth;
  int64_t whole;
  double number, numbers[3];
  const char *text;
  int n;
  for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
    pcsim_expr *expr;
    pcsim_node_bool(tree, node, keys[k].name, &truth);
    pcsim_node_integer(tree, node, keys[k].name, &whole);
    pcsim_node_number(tree, node, keys[k].name, &number);
    pcsim_node_string(tree, node, keys[k].name, &text);
    if (pcsim_node_numbers(tree, node, keys[k].name, numbers, 3, &n)) MUST(n <= 3);
    if (pcsim_node_as_expr(tree, pcsim_node_get(node, keys[k].name), names, 3, &expr))
      pcsim_expr_destroy(&expr);
  }
}

/** Every mapping against the table, every scalar as a number. */
static void check_all(pcsim_tree *tree, pcsim_node *node, int depth) {
  int64_t n = pcsim_node_size(node);
  double value;
  if (pcsim_node_line(node) == 0)
    return; /* a default; without this the second pass fills defaults into defaults */
  if (pcsim_node_get_kind(node) == PCSIM_NODE_SCALAR) pcsim_node_as_number(tree, node, &value);
  for (int64_t i = 0; i < n; i++) check_all(tree, pcsim_node_child(node, i), depth + 1);
  if (pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING) return;
  pcsim_node_check(tree, node, keys, sizeof keys / sizeof keys[0], "fuzz");
  pcsim_node_mapping(tree, node, "near");
  if (depth == 0) read_keys(tree, node);
}

static void write_and_read_back(const pcsim_tree *tree, bool extends) {
  char *text, *twice;
  pcsim_tree *again;
  MUST(pcsim_tree_write(tree, &text) == PCSIM_OK);
  pcsim_status status = pcsim_tree_parse(text, strlen(text), "written", &again);
  /* Only an `extends` given as an assignment to a nested key cannot be here; one in the root was followed. */
  if (extends && status != PCSIM_OK) {
    pcsim_free(&text);
    return;
  }
  MUST(status == PCSIM_OK);
  MUST(same(pcsim_tree_root(tree), pcsim_tree_root(again)));
  MUST(pcsim_tree_write(again, &twice) == PCSIM_OK);
  MUST(!strcmp(text, twice));
  pcsim_free(&twice);
  pcsim_free(&text);
  pcsim_tree_destroy(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t held = pcsim_memory_used(), length = size;
  char *text = malloc(size + 1), *assignment = NULL;
  pcsim_tree *tree;
  memcpy(text, data, size);
  text[size] = '\0';
  char *mark = strstr(text, "\n%%\n");
  if (mark) {
    length = (size_t)(mark - text) + 1;
    assignment = mark + 4;
  }
  pcsim_status status = pcsim_tree_parse(text, length, "fuzz.yaml", &tree);
  if (status == PCSIM_OK) {
    bool extends = pcsim_node_get(pcsim_tree_root(tree), "extends") != NULL; /* a second, duplicate one */
    /* A tree with duplicate keys is refused in the end, and its written form likewise. */
    bool clean = pcsim_tree_status(tree) == PCSIM_OK;
    if (clean && length % 4 == 0) write_and_read_back(tree, extends); /* a part suffices, for speed */
    if (assignment && pcsim_tree_set(tree, assignment) != PCSIM_OK) expect_message();
    check_all(tree, pcsim_tree_root(tree), 0);
    if (pcsim_tree_status(tree) != PCSIM_OK) {
      MUST(pcsim_tree_num_problems(tree) > 0);
      expect_message();
    }
    size_t problems = pcsim_tree_num_problems(tree);
    if (length % 4 == 1) check_all(tree, pcsim_tree_root(tree), 0);
    if (problems < 1000) MUST(pcsim_tree_num_problems(tree) == problems); /* nothing is said twice */
    if (clean) write_and_read_back(tree, extends);
    pcsim_tree_destroy(&tree);
  } else {
    MUST(status == PCSIM_ERR_CASE && !tree);
    expect_message();
  }
  free(text);
  pcsim_error_clear();
  MUST(pcsim_memory_used() == held);
  return 0;
}

/* ---------------------------------------------------------- mutations */

static const char *const pieces[] = {
    "a: true\n",
    "b: 5\n",
    "size: \"2*H\"\n",
    "title: x\n",
    "model: stokes\n",
    "velocity: [1, \"H^2\", 3]\n",
    "near: {a: 1, size: 2}\n",
    "on: [inlet, outlet]\n",
    "points: [[0, 1], [2, 3]]\n",
    "parameters: {H: 0.41, U: \"2*H\"}\n",
    "  H: 1\n",
    "  - x\n",
    "- - 1\n",
    "\"k: #\": \"\\u00e9\\n\"\n",
    "'it''s': 'x'\n",
    "t: |\n  one\n   two\n",
    "t: >-\n  one\n\n  two\n",
    "extends: base.yaml\n",
    "extends: fuzz.yaml\n",
    "&x ",
    "*x",
    "!!str ",
    "---\n",
    "...\n",
    "%%\na.b.c=[1, {d: e}]\n",
    "\n%%\nparameters.H=2\n",
    "? a\n: b\n",
    "{}",
    "[]",
    "~",
    "\"\"",
    "%YAML 1.1\n---\n",
    "\xef\xbb\xbf",
    "\t",
    "\xc2\x85",
    "\xe2\x80\xa8",
    "\r\n",
    "\"\\0\"",
    "<<: ",
};

static size_t line_start(const uint8_t *data, size_t size, size_t at) {
  while (at > 0 && (at > size || data[at - 1] != '\n')) at--;
  return at;
}

static size_t line_end(const uint8_t *data, size_t size, size_t at) {
  while (at < size && data[at] != '\n') at++;
  return at < size ? at + 1 : size;
}

static size_t insert(uint8_t *data, size_t size, size_t max_size, size_t at, const void *what, size_t n) {
  if (size + n > max_size) return size;
  memmove(data + at + n, data + at, size - at);
  memcpy(data + at, what, n);
  return size + n;
}

/** Whole lines and pieces of YAML half of the time: bytes alone seldom keep a text readable. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
  unsigned r = seed * 2654435761u;
  size_t at = size ? (r >> 4) % size : 0, from = line_start(data, size, at), to = line_end(data, size, at);
  const char *piece = pieces[(r >> 12) % (sizeof pieces / sizeof pieces[0])];
  switch (seed % 12) {
  case 0:
    return insert(data, size, max_size, from, piece, strlen(piece));
  case 1:
    return insert(data, size, max_size, at, piece, strlen(piece));
  case 2:
    return insert(data, size, max_size, from, "  ", 2);
  case 3: /* a line less */
    if (to - from == size) break;
    memmove(data + from, data + to, size - to);
    return size - (to - from);
  case 4: /* a line twice */
    if (size + to - from > max_size) break;
    memmove(data + to + (to - from), data + to, size - to);
    memcpy(data + to, data + from, to - from);
    return size + (to - from);
  case 5: /* less indentation */
    if (to - from < 3 || data[from] != ' ') break;
    memmove(data + from, data + from + 1, size - from - 1);
    return size - 1;
  default:
    break;
  }
  return LLVMFuzzerMutate(data, size, max_size);
}
