/* SPDX-License-Identifier: BSD-2-Clause */
/* Values on the boundary that hold whatever the weights are. */
#include "ansatz_parts.h"

#include <string.h>

/* ------------------------------------------------------------------------------ small ones */

pcsim_value parts_coordinate(ansatz_builder *b, int i) {
  if (b->problem->domain->num_coordinates == 1) return b->coordinates;
  return pcsim_build_slice(b->program, b->coordinates, i, 1);
}

pcsim_value parts_linear(ansatz_builder *b, pcsim_value x, double factor, double offset) {
  pcsim_program *p = b->program;
  if (factor != 1) x = pcsim_build_binary(p, PCSIM_OP_MUL, pcsim_build_constant(p, factor), x);
  return offset != 0 ? pcsim_build_binary(p, PCSIM_OP_ADD, x, pcsim_build_constant(p, offset)) : x;
}

pcsim_value parts_with(ansatz_builder *b, int i, double number) {
  const int n = b->problem->domain->num_coordinates;
  pcsim_value list[DOMAIN_MAX];
  /* 0 x + number: on the space of the points */
  for (int k = 0; k < n; k++) list[k] = parts_coordinate(b, k);
  list[i] = pcsim_build_binary(
      b->program, PCSIM_OP_ADD,
      pcsim_build_binary(b->program, PCSIM_OP_MUL, pcsim_build_constant(b->program, 0), list[i]),
      pcsim_build_constant(b->program, number));
  return n == 1 ? list[0] : pcsim_build_concat(b->program, list, n);
}

pcsim_value parts_at(ansatz_builder *b, const pcsim_program *of, const char *output,
                     pcsim_value coordinates) {
  pcsim_value value;
  pcsim_build_part(b->program, of, b->space, &(pcsim_argument){"coordinates", coordinates}, 1, &output, 1,
                   &value);
  return value;
}

pcsim_status parts_program(ansatz_builder *b, pcsim_value value, pcsim_program **program) {
  const char *const output = "a";
  pcsim_program *copy = NULL;
  *program = NULL;
  PCSIM_TRY(pcsim_program_copy(b->program, &copy));
  pcsim_build_output(copy, output, value);
  pcsim_status status = pcsim_program_keep(copy, &output, 1);
  if (status == PCSIM_OK) *program = copy;
  else pcsim_program_destroy(&copy);
  return status;
}

pcsim_status parts_lower(ansatz_builder *b, const problem_text *text, pcsim_program **program) {
  PCSIM_TRY(problem_lower(b->problem, &text, 1, program));
  PCSIM_CHECK(*program, PCSIM_ERR_INTERNAL, "a text that was lowered before is not any more: %s", text->text);
  return PCSIM_OK;
}

void parts_forget_start(ansatz_builder *b, int unknown) {
  for (int i = 0; i < b->problem->num_conditions; i++)
    if (b->problem->condition[i].place == PLACE_START && b->problem->condition[i].unknown == unknown)
      b->ansatz->built[i] = false;
}

/* --------------------------------------------------------------------- values on pieces */

/* Pieces on which one text gives the value. */
typedef struct {
  const problem_condition *condition; /* the first with this text */
  pcsim_program *value;               /* output "0" */
  bool *of;                           /* [num_pieces], owned */
} given_value;
typedef struct {
  int num;
  given_value *given; /* [num] */
} given_values;

static void clear_values(given_values *v) {
  for (int i = 0; i < v->num; i++) {
    pcsim_program_destroy(&v->given[i].value);
    pcsim_free(&v->given[i].of);
  }
  pcsim_free(&v->given);
}

static bool is_wanted(const problem_condition *c, int unknown) {
  return c->place == PLACE_PIECES && c->kind == CONDITION_VALUE && c->unknown == unknown && c->exact;
}

static pcsim_status gather_values(ansatz_builder *b, int unknown, given_values *v) {
  const problem *p = b->problem;
  const size_t pieces = (size_t)p->domain->num_pieces;
  *v = (given_values){0};
  PCSIM_TRY(pcsim_alloc((size_t)p->num_conditions, sizeof *v->given, &v->given));
  for (int i = 0; i < p->num_conditions; i++) {
    const problem_condition *c = &p->condition[i];
    int k = 0;
    if (!is_wanted(c, unknown)) continue;
    while (k < v->num && strcmp(v->given[k].condition->text.text, c->text.text) != 0) k++;
    if (k == v->num) {
      v->given[v->num++].condition = c;
      PCSIM_TRY(pcsim_alloc(pieces, sizeof(bool), &v->given[k].of));
      PCSIM_TRY(parts_lower(b, &c->text, &v->given[k].value));
    }
    for (size_t j = 0; j < pieces; j++) v->given[k].of[j] = v->given[k].of[j] || c->piece[j];
  }
  return PCSIM_OK;
}

/* Does the ansatz hold a condition on all of its pieces? What is held on some of them is penalised on all. */
static bool is_held(const problem_condition *c, int pieces, const bool *held) {
  for (int j = 0; j < pieces; j++)
    if (c->piece[j] && !held[j]) return false;
  return true;
}

pcsim_status parts_boundary(ansatz_builder *b, int unknown, pcsim_value *a, pcsim_value *factor) {
  const int pieces = b->problem->domain->num_pieces;
  given_values v;
  domain_value *values = NULL;
  bool *held = NULL;
  pcsim_value blend;
  *a = *factor = PCSIM_NO_VALUE;
  pcsim_status status = gather_values(b, unknown, &v);
  if (status != PCSIM_OK || !v.num) goto done;
  PCSIM_GOTO(pcsim_alloc((size_t)pieces, sizeof *values, &values), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)pieces, sizeof *held, &held), status, done);
  for (int k = 0; k < v.num; k++)
    for (int j = 0; j < pieces; j++)
      if (v.given[k].of[j]) values[j] = (domain_value){v.given[k].value, "0"};
  domain_hold(b->domain, values, held);
  for (int j = 0; j < pieces; j++)
    if (!held[j]) values[j] = (domain_value){NULL, NULL};
  const pcsim_value distance = domain_distance(b->domain, held, b->program, b->coordinates);
  PCSIM_GOTO(pcsim_program_status(b->program), status, done);
  if (distance < 0) goto done;
  blend = domain_blend(b->domain, values, b->program, b->space, b->coordinates);
  PCSIM_GOTO(pcsim_program_status(b->program), status, done);
  if (blend < 0) goto done;
  *a = blend, *factor = distance;
  for (int i = 0; i < b->problem->num_conditions; i++)
    if (is_wanted(&b->problem->condition[i], unknown))
      b->ansatz->built[i] = is_held(&b->problem->condition[i], pieces, held);
done:
  pcsim_free(&held);
  pcsim_free(&values);
  clear_values(&v);
  return status;
}
