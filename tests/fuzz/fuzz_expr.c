/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as an expression. What must hold: no crash, no leak, a message with a place inside the text, and
 * the same value whether names are bound as variables or folded as constants. */
#include <math.h>
#include <pcsim/base.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                                      \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "%s:%d: does not hold: %s\n%s\n", __FILE__, __LINE__, #condition,                      \
              pcsim_error_message());                                                                        \
      abort();                                                                                               \
    }                                                                                                        \
  } while (0)

static const char *const names[] = {"x", "y", "t", "u", "u_x", "u_xx"};
enum { NUM_NAMES = sizeof names / sizeof names[0] };
static const double values[NUM_NAMES] = {0.3, -1.5, 2, 0, 1e-200, 7};

static void check_node(const pcsim_expr_node *node, size_t length) {
  MUST(node->column >= 0 && (size_t)node->column <= length);
  MUST((node->num_args == 0) == (node->args == NULL));
  if (node->kind == PCSIM_EXPR_CALL) {
    const pcsim_expr_function *f = pcsim_expr_get_function((size_t)node->index);
    MUST(f && !strcmp(f->name, node->name) && node->num_args >= f->min_args && node->num_args <= f->max_args);
  }
  for (int i = 0; i < node->num_args; i++) check_node(node->args[i], length);
}

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static void use(const char *text, pcsim_expr *variable) {
  pcsim_expr *constant;
  double value = 0;
  size_t offset = 0, length = strlen(text);
  check_node(pcsim_expr_root(variable), length);
  MUST(!strcmp(pcsim_expr_text(variable), text));
  if (pcsim_expr_bind(variable, names, NUM_NAMES, NULL, NULL, 0, &offset) != PCSIM_OK) {
    MUST(offset < length && *pcsim_error_message());
    return;
  }
  check_node(pcsim_expr_root(variable), length);
  MUST(pcsim_expr_parse(text, &constant, NULL) == PCSIM_OK);
  MUST(pcsim_expr_bind(constant, NULL, 0, names, values, NUM_NAMES, NULL) == PCSIM_OK);
  MUST(pcsim_expr_is_constant(constant, &value));
  MUST(pcsim_expr_root(constant)->kind == PCSIM_EXPR_NUMBER);
  MUST(same(value, pcsim_expr_eval(variable, values)));
  bool used = false;
  for (int i = 0; i < NUM_NAMES; i++) used = used || pcsim_expr_uses(variable, i);
  MUST(used == !pcsim_expr_is_constant(variable, NULL));
  pcsim_expr_destroy(&constant);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t held = pcsim_memory_used(), offset = SIZE_MAX;
  char *text = malloc(size + 1);
  pcsim_expr *expr;
  memcpy(text, data, size);
  text[size] = '\0';
  pcsim_status status = pcsim_expr_parse(text, &expr, &offset);
  if (status == PCSIM_OK) use(text, expr);
  else MUST(status == PCSIM_ERR_CASE && !expr && offset <= strlen(text) && *pcsim_error_message());
  pcsim_expr_destroy(&expr);
  if (pcsim_expr_check_name(text) == PCSIM_OK && status == PCSIM_OK) MUST(strlen(text) < 64);
  pcsim_nearest(text, names, NUM_NAMES);
  free(text);
  pcsim_error_clear();
  MUST(pcsim_memory_used() == held);
  return 0;
}
