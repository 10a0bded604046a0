/* SPDX-License-Identifier: BSD-2-Clause */
/* Any lines as equations. What must hold: no crash, no leak, a message with a place inside the text that
 * failed; what comes out can be saved and read back (the reader checks every value), and simplifying changes
 * no value. */
#include "autodiff/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const file_operators no_operators = {NULL, 0};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                                      \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "%s:%d: does not hold: %s\n%s\n", __FILE__, __LINE__, #condition,                      \
              pcsim_error_message());                                                                        \
      abort();                                                                                               \
    }                                                                                                        \
  } while (0)

enum { MAX_TEXTS = 4 };
static const char *const coordinates[] = {"x", "y", "t"}, *const numbered[] = {"x1", "x2"},
                         *const line[] = {"x"};
static const char *const unknowns[] = {"u", "v"}, *const parameters[] = {"k", "nu"};
static const double values[] = {1.5, 0.01};
static const pcsim_lowering scopes[] = {{3, coordinates, 2, unknowns, 2, parameters, values, 0, NULL, 0},
                                        {2, numbered, 2, unknowns, 2, parameters, NULL, 0, NULL, 0},
                                        {1, line, 1, unknowns, 0, NULL, NULL, 0, NULL, 0},
                                        {0, NULL, 2, unknowns, 2, parameters, values, 0, NULL, 0}};

/** Any fixed number for an input, from its name. */
static double number_of(const char *name) {
  unsigned h = 7;
  while (*name) h = h * 31 + (unsigned char)*name++;
  return 0.25 + (h % 97) / 64.0;
}

/** All values of a lowered program at a point; true if all are finite. */
static bool evaluate(const pcsim_program *p, double *value) {
  bool finite = true;
  for (int v = 0; v < p->num_nodes; v++) {
    const node *n = &p->nodes[v];
    double in[3] = {0};
    MUST(n->num_inputs <= 3);
    for (int i = 0; i < n->num_inputs; i++) in[i] = value[n->inputs[i]];
    if (n->kind == NODE_CONSTANT) value[v] = n->numbers[0];
    else if (n->kind == NODE_INPUT || n->kind == NODE_PARAMETER) value[v] = number_of(p->names[n->index]);
    else if (n->kind == NODE_SLICE) value[v] = 0.5 + n->first;
    else if (n->kind == NODE_OP) value[v] = op_value(n->op, in);
    else {
      MUST(n->kind == NODE_BROADCAST);
      value[v] = in[0];
    }
    finite =
        finite && isfinite(value[v]) && fabs(value[v]) < 1e100 && (value[v] == 0 || fabs(value[v]) > 1e-100);
  }
  return finite;
}

/* Jumps (floor, comparisons) may fall on the other side after a rounding that simplifying changes. */
static bool jumps(const pcsim_program *p) {
  for (int v = 0; v < p->num_nodes; v++) {
    pcsim_op op = p->nodes[v].op;
    if (p->nodes[v].kind == NODE_OP &&
        (op == PCSIM_OP_FLOOR || op == PCSIM_OP_SIGN || op == PCSIM_OP_STEP || op == PCSIM_OP_LT ||
         op == PCSIM_OP_LE || op == PCSIM_OP_EQ || op == PCSIM_OP_NOT || op == PCSIM_OP_AND ||
         op == PCSIM_OP_OR || op == PCSIM_OP_WHERE))
      return true;
  }
  return false;
}

/** Size of the terms that an output is made of: what a rounding is measured by. */
static double scale_of(const pcsim_program *p, const double *value) {
  double scale = 1;
  for (int v = 0; v < p->num_nodes; v++) scale = fmax(scale, fabs(value[v]));
  return scale;
}

static void simplify(const pcsim_program *p) {
  pcsim_program *q;
  MUST(pcsim_program_copy(p, &q) == PCSIM_OK);
  MUST(pcsim_program_simplify(q) == PCSIM_OK);
  double *before = malloc(((size_t)p->num_nodes + 1) * sizeof *before);
  double *after = malloc(((size_t)q->num_nodes + 1) * sizeof *after);
  if (evaluate(p, before) && evaluate(q, after) && !jumps(p) && scale_of(p, before) < 1e6)
    for (int i = 0; i < p->num_outputs; i++) {
      double a = before[p->outputs[i].value], b = after[q->outputs[i].value];
      if (fabs(a - b) > 1e-3 * scale_of(p, before)) fprintf(stderr, "%.17g and %.17g\n", a, b);
      MUST(fabs(a - b) <= 1e-3 * scale_of(p, before));
    }
  free(before);
  free(after);
  pcsim_program_destroy(&q);
}

static void use(const pcsim_program *p, int n) {
  program_flat flat;
  pcsim_program *q;
  MUST(p->num_outputs == n);
  MUST(program_flatten(p, &flat) == PCSIM_OK);
  MUST(program_unflatten(&flat, no_operators, &q) == PCSIM_OK);
  MUST(q->num_nodes == p->num_nodes && q->num_outputs == n);
  pcsim_program_destroy(&q);
  program_flat_free(&flat);
  if (p->num_nodes < 20000) simplify(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t held = pcsim_memory_used(), offset = SIZE_MAX;
  const char *texts[MAX_TEXTS];
  int n = 0, which = 99;
  const pcsim_lowering *scope = &scopes[size ? data[0] % 4 : 0];
  char *text = malloc(size + 1), *save = NULL;
  pcsim_program *program;
  memcpy(text, data, size);
  text[size] = '\0';
  for (char *t = strtok_r(text, "\n", &save); t && n < MAX_TEXTS; t = strtok_r(NULL, "\n", &save))
    texts[n++] = t;
  if (n) {
    pcsim_status status = pcsim_lower(texts, n, scope, &program, &which, &offset);
    if (status == PCSIM_OK) use(program, n);
    else
      MUST(status == PCSIM_ERR_CASE && !program && which >= 0 && which < n &&
           offset <= strlen(texts[which]) && *pcsim_error_message());
    pcsim_program_destroy(&program);
  }
  free(text);
  pcsim_error_clear();
  MUST(pcsim_memory_used() == held);
  return 0;
}
