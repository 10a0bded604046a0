/* SPDX-License-Identifier: BSD-2-Clause */
/** @file optimizer.c  The table of optimisers. */
#include "optimizer.h"

#include <stdlib.h>
#include <string.h>

extern const optimizer_kind optimizer_adam, optimizer_cg, optimizer_lbfgs, optimizer_lm, optimizer_ssbroyden;

static const optimizer_kind *const kinds[] = {&optimizer_ssbroyden, &optimizer_lm, &optimizer_lbfgs,
                                              &optimizer_cg, &optimizer_adam};

const optimizer_kind *const *optimizer_list(size_t *n) {
  *n = sizeof kinds / sizeof *kinds;
  return kinds;
}

const optimizer_kind *optimizer_find(const char *name) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (!strcmp(kinds[i]->name, name)) return kinds[i];
  return NULL;
}

void optimizer_defaults(const optimizer_kind *kind, double *options) {
  for (size_t i = 0; i < kind->num_keys; i++) options[i] = strtod(kind->keys[i].fallback, NULL);
}
