/* SPDX-License-Identifier: BSD-2-Clause */
/** @file expr.h  Inside of an expression: shared by parser and evaluator. Private to base. */
#ifndef PCSIM_BASE_EXPR_H
#define PCSIM_BASE_EXPR_H

#include "arena.h"

struct pcsim_expr {
  arena memory; /**< nodes, names, text */
  char *text;
  pcsim_expr_node *root;
};

enum {
  EXPR_MAX_LENGTH = 65536, /**< bytes of text */
  EXPR_MAX_NESTING =
      200, /**< parentheses, signs and powers inside each other: bounds the parser's recursion */
  EXPR_MAX_HEIGHT = 1000 /**< levels of the tree (a sum of n terms has n): bounds everybody else's */
};

/** Place in the function table, -1 if there is no such function. */
int expr_function_find(const char *name);
/** Is this a function whose name stands for nothing else? Not so the operators of equations. */
bool expr_function_reserves(const char *name);
/** Value of function `index` at `a` [num_args]. */
double expr_function_call(int index, const double *a, int num_args);
/** Largest number of arguments any function takes. */
enum { EXPR_MAX_ARGS = 8 };

/** Does the expression use `name` (before bind)? */
bool expr_uses_name(const pcsim_expr *expr, const char *name);
/** A list "a, b, c" of names for messages, cut when long. Writes at most `size` bytes. */
void expr_list_names(char *out, size_t size, const char *const *names, size_t n);

#endif
