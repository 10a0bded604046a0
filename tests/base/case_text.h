/* SPDX-License-Identifier: BSD-2-Clause */
/** @file case_text.h  Cases from strings, and their problems. */
#ifndef PCSIM_TEST_CASE_TEXT_H
#define PCSIM_TEST_CASE_TEXT_H

#include "pcsim_test.h"

static inline pcsim_tree *read_text(const char *text) {
  pcsim_tree *tree = NULL;
  assert_ok(pcsim_tree_parse(text, strlen(text), "case.yaml", &tree));
  return tree;
}

/** The text cannot be used, for these reasons. */
static inline void expect_refused(const char *text, size_t size, const char *problems) {
  pcsim_tree *tree = NULL;
  size_t before = pcsim_memory_used();
  assert_status(pcsim_tree_parse(text, size, "case.yaml", &tree), PCSIM_ERR_CASE);
  assert_null(tree);
  assert_string_equal(pcsim_error_message(), problems);
  assert_int_equal(pcsim_memory_used(), before);
  pcsim_error_clear();
}

/** The tree holds these problems ("": none). */
static inline void expect_problems(const pcsim_tree *tree, const char *problems) {
  pcsim_status status = pcsim_tree_status(tree);
  assert_string_equal(status == PCSIM_OK ? "" : pcsim_error_message(), problems);
  assert_int_equal(status, *problems ? PCSIM_ERR_CASE : PCSIM_OK);
  pcsim_error_clear();
}

/** Scalar under "a.b.c". */
static inline const char *text_at(const pcsim_tree *tree, const char *path) {
  char copy[200], *rest = NULL;
  const pcsim_node *node = pcsim_tree_root(tree);
  snprintf(copy, sizeof copy, "%s", path);
  for (char *key = strtok_r(copy, ".", &rest); key; key = strtok_r(NULL, ".", &rest))
    node = pcsim_node_get(node, key);
  return node ? pcsim_node_text(node) : "(absent)";
}
#endif
