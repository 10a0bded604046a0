/* SPDX-License-Identifier: BSD-2-Clause */
/** @file domain_text.h  Domains from the text of a case. */
#ifndef PCSIM_TEST_DOMAIN_TEXT_H
#define PCSIM_TEST_DOMAIN_TEXT_H

#include "base/case_text.h"
#include "pinn/domain.h"

static inline domain *read_domain(const char *text) {
  pcsim_tree *tree = read_text(text);
  domain *d = NULL;
  assert_ok(domain_read(tree, &d));
  expect_problems(tree, "");
  assert_non_null(d);
  pcsim_tree_destroy(&tree);
  return d;
}

/** The only problems of a case. */
static inline void expect_faults(const char *text, const char *problems) {
  const size_t before = pcsim_memory_used();
  pcsim_tree *tree = read_text(text);
  domain *d = NULL;
  assert_ok(domain_read(tree, &d));
  assert_null(d);
  expect_problems(tree, problems);
  pcsim_tree_destroy(&tree);
  assert_int_equal(pcsim_memory_used(), before);
}

static inline int find_piece(const domain *d, const char *name) {
  const domain_view *v = domain_get(d);
  for (int i = 0; i < v->num_pieces; i++)
    if (!strcmp(v->piece[i], name)) return i;
  return -1;
}
#endif
