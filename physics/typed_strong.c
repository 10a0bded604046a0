/* SPDX-License-Identifier: BSD-2-Clause */
/* Strong forms: terms with a derivative that is no part of a divergence. Each is named, with the same thing
 * as a divergence where there is one: c*u_x is div(c*u, 0), u*u_x is div(u^2/2, 0), c*u_xx is div(c*u_x, 0),
 * and with a factor k of place k*u_x is div(k*u, 0) - u*div(k, 0). */
#include "typed.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typed_uses typed_factor_uses(const typed_names *names, const typed_factor *factors) {
  typed_uses uses = {0};
  for (; factors; factors = factors->outer) typed_uses_add(&uses, typed_uses_of(names, factors->tree));
  return uses;
}

void typed_term_open(typed_text *text, const typed_names *names, const typed_factor *factors) {
  if (!factors) return;
  typed_term_open(text, names, factors->outer);
  if (factors->divides) return;
  typed_text_tree(text, names, factors->tree, LEVEL_PRODUCT);
  typed_text_put(text, typed_column(factors->tree), "*");
}

void typed_term_close(typed_text *text, const typed_names *names, const typed_factor *factors) {
  for (; factors; factors = factors->outer) {
    if (!factors->divides) continue;
    typed_text_put(text, typed_column(factors->tree), "/");
    typed_text_tree(text, names, factors->tree, LEVEL_POWER);
  }
}

static int first_column(const typed_term *term) {
  int column = typed_column(term->leaf);
  for (const typed_factor *f = term->factors; f; f = f->outer)
    if (typed_column(f->tree) < column) column = typed_column(f->tree);
  return column;
}

void typed_term_report(const typed_term *term, const char *why) {
  typed_text text = {0};
  typed_term_open(&text, NULL, term->factors);
  typed_text_tree(&text, NULL, term->leaf, term->factors ? LEVEL_SIGNED : LEVEL_PRODUCT);
  typed_term_close(&text, NULL, term->factors);
  if (text.text)
    pcsim_tree_problem_inside(term->names->tree, term->node, (size_t)first_column(term), "`%s` %s", text.text,
                              why);
  typed_text_free(&text);
}

/* ----------------------------------------------------- writing divergences */

/* "div(" or ", 0)" around a component along `axis`. */
static void put_div(const typed_term *term, typed_text *t, int axis, bool open) {
  int dim = term->names->dim ? term->names->dim : axis == 2 ? 3 : 2;
  if (open) typed_text_put(t, 0, "%s", axis == 0 ? "div(" : axis == 1 ? "div(0, " : "div(0, 0, ");
  else typed_text_put(t, 0, "%s)", dim - axis == 1 ? "" : dim - axis == 2 ? ", 0" : ", 0, 0");
}

static bool report_writing(const typed_term *term, typed_text *writing, const char *more) {
  typed_text why = {0};
  typed_text_put(&why, 0, "is in strong form; expected a conservation law: `%s`%s",
                 writing->text ? writing->text : "", more);
  if (why.text) typed_term_report(term, why.text);
  typed_text_free(&why);
  typed_text_free(writing);
  return true;
}

/* Without the "*" at its end. */
static void drop_star(typed_text *t) {
  if (t->used && t->text[t->used - 1] == '*') t->text[--t->used] = '\0';
}

/* The factors alone, a product; "1" if there are none. */
static void put_coefficient(const typed_term *term, typed_text *t) {
  size_t before = t->used;
  typed_term_open(t, NULL, term->factors);
  if (t->used > before) drop_star(t);
  else typed_text_put(t, 0, "1");
  typed_term_close(t, NULL, term->factors);
}

/* Does the product of the factors vary along the axis? */
static bool varies(const typed_uses *uses, int axis) { return uses->coordinates >> axis & 1u || uses->jumps; }

static const char no_antiderivative[] =
    "is in strong form; expected a conservation law: the `div` of an antiderivative by the unknown";

/* ---------------------------------------------------- powers of an unknown */

typedef struct {
  const typed_term *term;
  const char *unknown;
  double exponent;
  typed_text constant; /* "2*nu*" */
  bool fits;
} power;

static bool is_name(const pcsim_expr_node *tree, const char *name) {
  return tree->kind == PCSIM_EXPR_NAME && strcmp(tree->name, name) == 0;
}

static void gather(power *p, const pcsim_expr_node *tree, bool divides) {
  typed_uses uses = typed_uses_of(p->term->names, tree);
  if (typed_uses_no_unknowns(&uses)) {
    p->fits = p->fits && !uses.coordinates && !uses.jumps;
    if (divides) drop_star(&p->constant);
    if (divides) typed_text_put(&p->constant, 0, p->constant.used ? "/" : "1/");
    typed_text_tree(&p->constant, NULL, tree, LEVEL_POWER);
    typed_text_put(&p->constant, 0, "*");
  } else if (is_name(tree, p->unknown)) {
    p->exponent += divides ? -1 : 1;
  } else if (tree->kind == PCSIM_EXPR_POW && is_name(tree->args[0], p->unknown) &&
             tree->args[1]->kind == PCSIM_EXPR_NUMBER) {
    p->exponent += divides ? -tree->args[1]->value : tree->args[1]->value;
  } else if (tree->kind == PCSIM_EXPR_MUL) {
    gather(p, tree->args[0], divides);
    gather(p, tree->args[1], divides);
  } else {
    p->fits = false;
  }
}

/* c*u^n times the derivative of u is that of c*u^(n+1)/(n+1). False if the factors are no power. */
static bool put_power(const typed_term *term, const char *unknown, typed_text *t) {
  power p = {.term = term, .unknown = unknown, .fits = true};
  for (const typed_factor *f = term->factors; f; f = f->outer) gather(&p, f->tree, f->divides);
  double n = p.exponent + 1;
  if (p.fits && p.constant.text) typed_text_put(t, 0, "%s", p.constant.text);
  if (p.fits && n == 0) typed_text_put(t, 0, "log(%s)", unknown);
  else if (p.fits) typed_text_put(t, 0, n < 0 ? "%s^(%.15g)/(%.15g)" : "%s^%.15g/%.15g", unknown, n, n);
  typed_text_free(&p.constant);
  return p.fits;
}

/* --------------------------------------------------------------- the terms */

static bool only(uint64_t set, int unknown) { return set == UINT64_C(1) << unknown; }

/* factor * u_x */
static bool report_first(const typed_term *term, const typed_name *name, int axis) {
  const char *unknown = term->names->unknown[name->index];
  typed_uses uses = typed_factor_uses(term->names, term->factors);
  typed_text writing = {0};
  if (!typed_uses_no_unknowns(&uses) && !only(uses.values | uses.derived, name->index)) return false;
  put_div(term, &writing, axis, true);
  if (typed_uses_no_unknowns(&uses)) {
    typed_term_open(&writing, NULL, term->factors);
    typed_text_put(&writing, 0, "%s", unknown);
    typed_term_close(&writing, NULL, term->factors);
  } else if (!put_power(term, unknown, &writing)) {
    typed_text_free(&writing);
    typed_term_report(term, no_antiderivative);
    return true;
  }
  put_div(term, &writing, axis, false);
  if (varies(&uses, axis) && !uses.jumps) {
    typed_text_put(&writing, 0, " - %s*", unknown);
    put_div(term, &writing, axis, true);
    put_coefficient(term, &writing);
    put_div(term, &writing, axis, false);
  }
  return report_writing(term, &writing, "");
}

/* "u_y" of u_xy by x. */
static void put_lower_derivative(const typed_names *names, const typed_name *name, int axis, typed_text *t) {
  typed_text_put(t, 0, "%s_", names->unknown[name->index]);
  for (int a = 0; a < 4; ++a)
    for (int k = a == axis; k < name->orders[a]; ++k) typed_text_put(t, 0, "%c", "xyzt"[a]);
}

/* factor * u_xx */
static bool report_second(const typed_term *term, const typed_name *name, int axis) {
  typed_uses uses = typed_factor_uses(term->names, term->factors);
  typed_text writing = {0}, more = {0};
  put_div(term, &writing, axis, true);
  typed_term_open(&writing, NULL, term->factors);
  put_lower_derivative(term->names, name, axis, &writing);
  typed_term_close(&writing, NULL, term->factors);
  put_div(term, &writing, axis, false);
  if (varies(&uses, axis) || !typed_uses_no_unknowns(&uses)) {
    typed_text_put(&more, 0, ", which differs from it by the derivative of `");
    put_coefficient(term, &more);
    typed_text_put(&more, 0, "` by %c times `", "xyz"[axis]);
    put_lower_derivative(term->names, name, axis, &more);
    typed_text_put(&more, 0, "`");
  }
  report_writing(term, &writing, more.text ? more.text : "");
  typed_text_free(&more);
  return true;
}

static bool report_name(const typed_term *term) {
  typed_name name = typed_resolve(term->names, term->leaf->name);
  int order = name.orders[0] + name.orders[1] + name.orders[2], axis = 0;
  if (name.orders[TYPED_T]) {
    typed_term_report(term, order ? "is a derivative in space and time; expected `dt` and `div` apart"
                                  : "is of second order in time; expected two unknowns, e.g. `dt(u) - v` and "
                                    "`dt(v) + ...`");
    return true;
  }
  if (order > 2) {
    typed_term_report(term,
                      "is of third or higher order; expected first derivatives in a flux: give the second "
                      "derivative an unknown of its own, e.g. `w - lap(u)`");
    return true;
  }
  while (!name.orders[axis]) ++axis;
  return order == 1 ? report_first(term, &name, axis) : report_second(term, &name, axis);
}

/* factor * dot(a, grad(e)) */
static bool report_dot(const typed_term *term) {
  const pcsim_expr_node *gradient = NULL, *other = NULL;
  for (int i = 0; i < 2; ++i)
    if (typed_is_call(term->leaf->args[i], "grad")) {
      gradient = term->leaf->args[i];
      other = term->leaf->args[1 - i];
    }
  if (!gradient) return false;
  typed_uses uses = typed_factor_uses(term->names, term->factors), more = typed_uses_of(term->names, other);
  typed_uses inner = typed_uses_of(term->names, gradient->args[0]);
  typed_uses_add(&uses, more);
  if (uses.derived || !inner.values) return false;
  if (uses.values) {
    if (uses.values & ~inner.values) return false; /* another unknown: a source of gradients */
    typed_term_report(term, no_antiderivative);
    return true;
  }
  typed_text writing = {0};
  bool minus = uses.coordinates && !uses.jumps;
  for (int part = 0; part < 1 + minus; ++part) {
    if (part) typed_text_put(&writing, 0, " - ");
    if (part) typed_text_tree(&writing, NULL, gradient->args[0], LEVEL_SIGNED);
    typed_text_put(&writing, 0, part ? "*div(" : "div(");
    typed_term_open(&writing, NULL, term->factors);
    typed_text_tree(&writing, NULL, other, LEVEL_SIGNED);
    if (!part) typed_text_put(&writing, 0, "*");
    if (!part) typed_text_tree(&writing, NULL, gradient->args[0], LEVEL_SIGNED);
    typed_term_close(&writing, NULL, term->factors);
    typed_text_put(&writing, 0, ")");
  }
  return report_writing(term, &writing, "");
}

/* A factor that varies before div or lap: bring it inside. */
static bool report_factor(const typed_term *term) {
  const pcsim_expr_node *leaf = term->leaf;
  bool lap = typed_is_call(leaf, "lap");
  typed_text writing = {0}, more = {0};
  typed_text_put(&writing, 0, "div(");
  typed_term_open(&writing, NULL, term->factors);
  typed_text_put(&more, 0, ", which differs from it by `dot(grad(");
  put_coefficient(term, &more);
  typed_text_put(&more, 0, "), ");
  for (int k = 0; k < 2; ++k) {
    typed_text *t = k ? &more : &writing;
    if (lap || leaf->num_args > 1) typed_text_put(t, 0, lap ? "grad(" : "vector(");
    for (int i = 0; i < leaf->num_args; ++i) {
      if (i) typed_text_put(t, 0, ", ");
      typed_text_tree(t, NULL, leaf->args[i], lap || leaf->num_args > 1 ? LEVEL_ANY : LEVEL_SIGNED);
    }
    if (lap || leaf->num_args > 1) typed_text_put(t, 0, ")");
  }
  typed_term_close(&writing, NULL, term->factors);
  typed_text_put(&writing, 0, ")");
  typed_text_put(&more, 0, ")`");
  report_writing(term, &writing, more.text ? more.text : "");
  typed_text_free(&more);
  return true;
}

/* A factor with an unknown, or with the time, before dt. */
static bool report_time_factor(const typed_term *term, const pcsim_expr_node *what) {
  typed_uses uses = typed_factor_uses(term->names, term->factors);
  typed_text writing = {0};
  typed_text_put(&writing, 0, "dt(");
  bool known = what->kind == PCSIM_EXPR_NAME && uses.values && put_power(term, what->name, &writing);
  if (!known) {
    typed_text_free(&writing);
    typed_term_report(term,
                      "is in strong form: its factor varies in time; expected the `dt` of an antiderivative");
    return true;
  }
  typed_text_put(&writing, 0, ")");
  return report_writing(term, &writing, "");
}

bool typed_term_is_strong(const typed_term *term) {
  const pcsim_expr_node *leaf = term->leaf;
  if (typed_is_call(leaf, "dt")) return report_time_factor(term, leaf->args[0]);
  if (typed_is_call(leaf, "div") || typed_is_call(leaf, "lap")) return report_factor(term);
  if (typed_is_call(leaf, "dot")) return report_dot(term);
  if (leaf->kind != PCSIM_EXPR_NAME) return false;
  typed_name name = typed_resolve(term->names, leaf->name);
  bool first_in_time = name.orders[TYPED_T] == 1 && !name.orders[0] && !name.orders[1] && !name.orders[2];
  if (!first_in_time) return report_name(term);
  pcsim_expr_node unknown = *leaf;
  unknown.name = (char *)(uintptr_t)term->names->unknown[name.index];
  return report_time_factor(term, &unknown);
}
