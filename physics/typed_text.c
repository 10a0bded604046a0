/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees back to text. What is lowered is text made of the user's trees, so that the lowering stays the one
 * way from equations to programs; its faults are placed at the column of the source. */
#include "typed.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void typed_text_free(typed_text *text) {
  pcsim_free(&text->text);
  pcsim_free(&text->place);
  *text = (typed_text){0};
}

static pcsim_status grow(typed_text *t, size_t need) {
  if (need <= t->room) return PCSIM_OK;
  size_t room = t->room ? t->room : 64;
  while (room < need) room *= 2;
  PCSIM_TRY(pcsim_realloc(room, 1, &t->text));
  PCSIM_TRY(pcsim_realloc(room, sizeof *t->place, &t->place));
  t->room = room;
  return PCSIM_OK;
}

void typed_text_put(typed_text *text, int place, const char *fmt, ...) {
  va_list args, again;
  if (text->status != PCSIM_OK) return;
  va_start(args, fmt);
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, fmt, args);
  va_end(args);
  if (n > 0 && text->used + (size_t)n > TYPED_MAX_TEXT) {
    text->status = PCSIM_ERR_CASE;
    n = 0;
  }
  if (text->status == PCSIM_OK && (n > 0 || !text->text))
    text->status = grow(text, text->used + (size_t)(n > 0 ? n : 0) + 1);
  if (text->status == PCSIM_OK && n > 0) {
    vsnprintf(text->text + text->used, (size_t)n + 1, fmt, again);
    for (int i = 0; i < n; ++i) text->place[text->used++] = place;
  }
  va_end(again);
}

pcsim_status typed_text_status(const typed_names *names, const pcsim_node *node, const typed_text *text) {
  if (text->status != PCSIM_ERR_CASE) return text->status;
  pcsim_tree_problem(
      names->tree, node,
      "with its coefficients written out this has more than %d characters; expected a shorter one",
      TYPED_MAX_TEXT);
  return PCSIM_OK;
}

size_t typed_text_column(const typed_text *text, size_t at) {
  if (!text->used) return 0;
  return (size_t)text->place[at < text->used ? at : text->used - 1];
}

/* The shortest writing that reads back as the same number. */
static void put_number(typed_text *t, int place, double value) {
  char digits[40] = "";
  const double pi = 3.14159265358979323846, e = 2.71828182845904523536;
  for (int n = 15; n <= 17; ++n) {
    snprintf(digits, sizeof digits, "%.*g", n, value);
    if (strtod(digits, NULL) == value) break;
  }
  typed_text_put(t, place, "%s", value == pi ? "pi" : value == e ? "e" : digits);
}

typedef struct {
  typed_text *text;
  const typed_names *names; /* NULL: as typed */
  int place;                /* of everything; -1: of each node its own */
} writing;

static void write_tree(const writing *w, const pcsim_expr_node *tree, int level);

/* where(region == 0, a, where(region == 1, b, c)); regions with the same expression are asked for once. */
static void write_regions(const writing *w, const typed_coefficient *c, int place) {
  int open = 0, last = 0;
  for (int k = 0; k < c->num; ++k) last = c->of_region && c->expr[k] ? k : last;
  for (int k = 0; k < c->num; ++k) {
    if (!c->of_region || !c->expr[k]) continue;
    if (k == last) {
      write_tree(w, pcsim_expr_root(c->expr[k]), LEVEL_ANY);
      break;
    }
    int region = 0;
    while (region < w->names->num_regions && c->of_region[region] != k) ++region;
    typed_text_put(w->text, place, "where(region == %d, ", region);
    write_tree(w, pcsim_expr_root(c->expr[k]), LEVEL_ANY);
    typed_text_put(w->text, place, ", ");
    ++open;
  }
  while (open-- > 0) typed_text_put(w->text, place, ")");
}

static void write_name(const writing *w, const pcsim_expr_node *tree) {
  int place = w->place >= 0 ? w->place : typed_column(tree);
  typed_name found = {.kind = TYPED_NONE};
  if (w->names) found = typed_resolve(w->names, tree->name);
  if (found.kind == TYPED_NORMAL) typed_text_put(w->text, place, "dn(%c)", "xyz"[found.index]);
  else if (found.kind != TYPED_COEFFICIENT) typed_text_put(w->text, place, "%s", tree->name);
  if (found.kind != TYPED_COEFFICIENT) return;
  const typed_coefficient *c = &w->names->coefficient[found.index];
  writing inner = {w->text, w->names, place};
  typed_text_put(w->text, place, "(");
  if (c->jumps) write_regions(&inner, c, place);
  else if (c->expr[0]) write_tree(&inner, pcsim_expr_root(c->expr[0]), LEVEL_ANY);
  typed_text_put(w->text, place, ")");
}

static const struct {
  const char *sign;
  int level, left, right;
} binary[] = {
    [PCSIM_EXPR_ADD] = {" + ", LEVEL_SUM, LEVEL_SUM, LEVEL_PRODUCT},
    [PCSIM_EXPR_SUB] = {" - ", LEVEL_SUM, LEVEL_SUM, LEVEL_PRODUCT},
    [PCSIM_EXPR_MUL] = {"*", LEVEL_PRODUCT, LEVEL_PRODUCT, LEVEL_SIGNED},
    [PCSIM_EXPR_DIV] = {"/", LEVEL_PRODUCT, LEVEL_PRODUCT, LEVEL_SIGNED},
    [PCSIM_EXPR_POW] = {"^", LEVEL_POWER, LEVEL_PRIMARY, LEVEL_SIGNED},
    [PCSIM_EXPR_LT] = {" < ", 4, LEVEL_SUM, LEVEL_SUM},
    [PCSIM_EXPR_LE] = {" <= ", 4, LEVEL_SUM, LEVEL_SUM},
    [PCSIM_EXPR_GT] = {" > ", 4, LEVEL_SUM, LEVEL_SUM},
    [PCSIM_EXPR_GE] = {" >= ", 4, LEVEL_SUM, LEVEL_SUM},
    [PCSIM_EXPR_EQ] = {" == ", 4, LEVEL_SUM, LEVEL_SUM},
    [PCSIM_EXPR_NE] = {" != ", 4, LEVEL_SUM, LEVEL_SUM},
    [PCSIM_EXPR_AND] = {" and ", 2, 2, 3},
    [PCSIM_EXPR_OR] = {" or ", 1, 1, 2},
};

static void write_operator(const writing *w, const pcsim_expr_node *tree, int level) {
  int place = w->place >= 0 ? w->place : typed_column(tree);
  bool negation = tree->kind == PCSIM_EXPR_NEG, inversion = tree->kind == PCSIM_EXPR_NOT;
  int own = negation ? LEVEL_SIGNED : inversion ? 3 : binary[tree->kind].level;
  if (own < level) typed_text_put(w->text, place, "(");
  if (negation || inversion) {
    typed_text_put(w->text, place, negation ? "-" : "not ");
    write_tree(w, tree->args[0], own);
  } else {
    write_tree(w, tree->args[0], binary[tree->kind].left);
    typed_text_put(w->text, place, "%s", binary[tree->kind].sign);
    write_tree(w, tree->args[1], binary[tree->kind].right);
  }
  if (own < level) typed_text_put(w->text, place, ")");
}

static void write_tree(const writing *w, const pcsim_expr_node *tree, int level) {
  if (w->text->status != PCSIM_OK) return; /* coefficients of coefficients can be exponentially long */
  int place = w->place >= 0 ? w->place : typed_column(tree);
  if (tree->kind == PCSIM_EXPR_NUMBER) {
    put_number(w->text, place, tree->value);
  } else if (tree->kind == PCSIM_EXPR_NAME) {
    write_name(w, tree);
  } else if (tree->kind == PCSIM_EXPR_CALL) {
    typed_text_put(w->text, place, "%s(", tree->name);
    for (int i = 0; i < tree->num_args; ++i) {
      if (i) typed_text_put(w->text, place, ", ");
      write_tree(w, tree->args[i], LEVEL_ANY);
    }
    typed_text_put(w->text, place, ")");
  } else {
    write_operator(w, tree, level);
  }
}

void typed_text_tree(typed_text *text, const typed_names *names, const pcsim_expr_node *tree, int level) {
  write_tree(&(writing){text, names, -1}, tree, level);
}
