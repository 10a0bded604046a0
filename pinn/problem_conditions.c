/* SPDX-License-Identifier: BSD-2-Clause */
/* `boundaries:`, `initial:` and `conditions:` of a network's case. */
#include "problem.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The entry of the case that is read. */
typedef struct {
  problem *p;
  const problem_names *names;
  const pcsim_node *node;
  const char *name;       /* for messages and groups */
  problem_condition like; /* place, entry and exactness of its conditions */
} entry;

int problem_unknown(const problem *p, const char *name) {
  for (int i = 0; i < p->num_unknowns; i++)
    if (!strcmp(p->unknown[i], name)) return i;
  return -1;
}

/* `text` is handed over. */
static pcsim_status add(const entry *e, problem_kind kind, int unknown, problem_text text) {
  problem *p = e->p;
  problem_condition *c;
  if (!text.text) return PCSIM_OK;
  pcsim_status status = pcsim_realloc((size_t)p->num_conditions + 1, sizeof *p->condition, &p->condition);
  if (status != PCSIM_OK) {
    text_clear(&text);
    return status;
  }
  c = &p->condition[p->num_conditions++];
  *c = e->like;
  c->kind = kind, c->unknown = unknown, c->text = text;
  c->name = NULL, c->piece = NULL;
  PCSIM_TRY(pcsim_strdup(e->name, &c->name));
  if (!e->like.piece) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc((size_t)p->domain->num_pieces, sizeof *c->piece, &c->piece));
  memcpy(c->piece, e->like.piece, (size_t)p->domain->num_pieces * sizeof *c->piece);
  return PCSIM_OK;
}

static bool is_given(const entry *e, const pcsim_node *at, int unknown) {
  const problem *p = e->p;
  for (int i = 0; i < p->num_conditions; i++) {
    const problem_condition *c = &p->condition[i];
    if (c->entry != e->like.entry || c->unknown != unknown || c->kind != CONDITION_VALUE) continue;
    pcsim_tree_problem(p->tree, at, "two conditions for `%s` on `%s`; keep one", p->unknown[unknown],
                       e->name);
    return true;
  }
  return false;
}

/* Does a text name an unknown? */
static bool names_unknown(const problem *p, const char *text) {
  for (const char *s = text; *s;) {
    size_t n = 1;
    if (isdigit((unsigned char)*s)) {
      char *end;
      strtod(s, &end);
      n = end > s ? (size_t)(end - s) : 1;
    } else if (isalpha((unsigned char)*s)) {
      while (isalnum((unsigned char)s[n])) n++;
      for (int i = 0; i < p->num_unknowns; i++)
        if (strlen(p->unknown[i]) == n && !strncmp(p->unknown[i], s, n)) return true;
      while (isalnum((unsigned char)s[n]) || s[n] == '_') n++;
    }
    s += n;
  }
  return false;
}

static pcsim_status add_value(const entry *e, int unknown, const pcsim_node *node) {
  problem_text text;
  const problem_names *names = e->names;
  if (pcsim_node_get_kind(node) != PCSIM_NODE_SCALAR) {
    pcsim_tree_problem(e->p->tree, node, "expected a number or an expression for `%s`",
                       e->p->unknown[unknown]);
    return PCSIM_OK;
  }
  if (is_given(e, node, unknown)) return PCSIM_OK;
  PCSIM_TRY(text_expand(node, NULL, names->name, names->num, "", "", &text));
  if (!names_unknown(e->p, text.text)) return add(e, CONDITION_VALUE, unknown, text);
  text_clear(&text);
  char *before = NULL;
  PCSIM_TRY(text_format(&before, "%s - (", e->p->unknown[unknown]));
  pcsim_status status = text_expand(node, NULL, names->name, names->num, before, ")", &text);
  pcsim_free(&before);
  return status == PCSIM_OK ? add(e, CONDITION_RESIDUAL, -1, text) : status;
}

/* `left` - (value of the node) = 0. */
static pcsim_status add_residual(const entry *e, const char *left, const pcsim_node *node) {
  const problem_names *names = e->names;
  problem_text text, key;
  char *before = NULL;
  PCSIM_TRY(text_expand(node, left, names->name, names->num, "", "", &key));
  pcsim_status status = text_format(&before, "%s - (", key.text);
  text_clear(&key);
  if (status == PCSIM_OK) status = text_expand(node, NULL, names->name, names->num, before, ")", &text);
  pcsim_free(&before);
  return status == PCSIM_OK ? add(e, CONDITION_RESIDUAL, -1, text) : status;
}

/* A residual without a text of the case's own. */
static pcsim_status add_zero(const entry *e, const char *left) {
  problem_text text;
  PCSIM_TRY(text_expand(e->node, left, e->names->name, e->names->num, "", "", &text));
  return add(e, CONDITION_RESIDUAL, -1, text);
}

/* ------------------------------------------------------------------ boundaries */

static void report_no_unknown(const entry *e, const pcsim_node *at, const char *name, const char *what) {
  const problem *p = e->p;
  const char *near = pcsim_nearest(name, (const char *const *)p->unknown, (size_t)p->num_unknowns);
  pcsim_tree_problem(p->tree, at, "`%.96s` under `%s` of `%s` is no unknown%s%s%s", name, what, e->name,
                     near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

static pcsim_status read_flux(const entry *e, const pcsim_node *node) {
  const problem *p = e->p;
  if (pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(p->tree, node, "`flux` must give outward fluxes by unknown, e.g. {flux: {%s: 0}}",
                       p->num_unknowns ? p->unknown[0] : "u");
    return PCSIM_OK;
  }
  for (int64_t i = 0; i < pcsim_node_size(node); i++) {
    const char *name = pcsim_node_key(node, i);
    const int unknown = problem_unknown(p, name);
    char *flux = NULL;
    if (unknown < 0) report_no_unknown(e, pcsim_node_key_node(node, i), name, "flux");
    if (unknown < 0 || unknown >= p->num_equations) continue;
    const pcsim_node *equation = p->equation[unknown].node;
    PCSIM_TRY(text_flux(pcsim_node_text(equation), p->domain->coordinate, p->domain->num_space, &flux));
    if (!flux)
      pcsim_tree_problem(
          p->tree, pcsim_node_key_node(node, i),
          "the flux of `%s` is not to be seen: its equation `%s` has no term with div or lap that "
          "can be taken apart; write it with div(...), or give e.g. `dn(%s): 0`",
          name, pcsim_node_text(equation), name);
    pcsim_status status = flux ? add_residual(e, flux, pcsim_node_child(node, i)) : PCSIM_OK;
    pcsim_free(&flux);
    PCSIM_TRY(status);
  }
  return PCSIM_OK;
}

/* Both faces of a coordinate of the box: "x-min" and "x-max". */
static pcsim_status read_period(const entry *e, const pcsim_node *other) {
  problem *p = e->p;
  const domain_view *d = p->domain;
  for (int i = 0; i < d->num_space; i++) {
    char low[160], high[160];
    snprintf(low, sizeof low, "%s-min", d->coordinate[i]);
    snprintf(high, sizeof high, "%s-max", d->coordinate[i]);
    const char *name = pcsim_node_text(other);
    if (!((!strcmp(e->name, low) && !strcmp(name, high)) || (!strcmp(e->name, high) && !strcmp(name, low))))
      continue;
    for (int k = 0; k < p->num_periods; k++)
      if (p->period[k].coordinate == i) return PCSIM_OK; /* said from both sides */
    p->period[p->num_periods++] = (problem_period){i, other};
    return PCSIM_OK;
  }
  pcsim_tree_problem(p->tree, other,
                     "`%s` cannot continue at `%s`; expected the opposite face of a box, e.g. "
                     "x-min: {periodic: x-max}",
                     e->name, pcsim_node_text(other));
  return PCSIM_OK;
}

static pcsim_status add_components(const entry *e, const pcsim_node *node, const char *what) {
  static const char *const velocity[] = {"u", "v", "w"};
  const problem *p = e->p;
  if (pcsim_node_size(node) != p->domain->num_space) {
    pcsim_tree_problem(p->tree, node, "`%s` needs %d components", what, p->domain->num_space);
    return PCSIM_OK;
  }
  for (int i = 0; i < p->domain->num_space; i++)
    PCSIM_TRY(add_value(e, problem_unknown(p, velocity[i]), pcsim_node_child(node, i)));
  return PCSIM_OK;
}

/* Of a built-in flow; `*read` false: the key is none of its. */
static pcsim_status read_flow_key(const entry *e, const char *key, const pcsim_node *node, bool *read) {
  static const char *const velocity[] = {"u", "v", "w"};
  const problem *p = e->p;
  const int dim = p->domain->num_space;
  *read = true;
  if (!strcmp(key, "velocity")) return add_components(e, node, key);
  if (!strcmp(key, "pressure")) {
    const int pressure = problem_unknown(p, "p");
    PCSIM_TRY(add_value(e, pressure, node));
    for (int i = 0; i < dim && e->like.place == PLACE_PIECES; i++) {
      char text[16];
      snprintf(text, sizeof text, "dn(%s)", velocity[i]);
      PCSIM_TRY(add_zero(e, text));
    }
    return PCSIM_OK;
  }
  const bool slip =
      !strcmp(key, "symmetry") || (!strcmp(key, "wall") && !strcmp(pcsim_node_text(node), "slip"));
  if (slip && dim == 2) {
    PCSIM_TRY(add_zero(e, "u*nx + v*ny"));
    return add_zero(e, "ny*dn(u) - nx*dn(v)");
  }
  if (slip) {
    PCSIM_TRY(add_zero(e, "u*nx + v*ny + w*nz"));
    PCSIM_TRY(add_zero(e, "ny*dn(u) - nx*dn(v)"));
    PCSIM_TRY(add_zero(e, "nz*dn(v) - ny*dn(w)"));
    return add_zero(e, "nx*dn(w) - nz*dn(u)");
  }
  *read = !strcmp(key, "wall");
  if (!*read) return PCSIM_OK;
  if (strcmp(pcsim_node_text(node), "no-slip") != 0) {
    pcsim_tree_problem(p->tree, node, "a wall is `no-slip` or `slip`, not `%s`", pcsim_node_text(node));
    return PCSIM_OK;
  }
  if (pcsim_node_get(e->node, "velocity")) return PCSIM_OK; /* the wall's own, read by its key */
  for (int i = 0; i < dim; i++) {
    problem_text zero;
    const int unknown = problem_unknown(p, velocity[i]);
    if (is_given(e, node, unknown)) continue;
    PCSIM_TRY(text_expand(node, "0", NULL, 0, "", "", &zero));
    PCSIM_TRY(add(e, CONDITION_VALUE, unknown, zero));
  }
  return PCSIM_OK;
}

bool problem_is_flow(const problem *p) {
  return pcsim_node_get(pcsim_node_get(pcsim_tree_root(p->tree), "physics"), "model") != NULL;
}

/* One key of an entry: an unknown, an expression of them, or a word. */
static pcsim_status read_key(const entry *e, const char *key, const pcsim_node *key_node,
                             const pcsim_node *node) {
  const problem *p = e->p;
  bool read = false;
  if (!strcmp(key, "exact") || !strcmp(key, "at") || !strcmp(key, "free")) return PCSIM_OK;
  if (!strcmp(key, "flux")) return read_flux(e, node);
  if (!strcmp(key, "periodic") && e->like.place == PLACE_PIECES) return read_period(e, node);
  if (problem_is_flow(p)) PCSIM_TRY(read_flow_key(e, key, node, &read));
  if (read) return PCSIM_OK;
  const int unknown = problem_unknown(p, key);
  if (unknown >= 0) return add_value(e, unknown, node);
  if (pcsim_node_get_kind(node) == PCSIM_NODE_SCALAR && names_unknown(p, key))
    return add_residual(e, key, node);
  const char *near = pcsim_nearest(key, (const char *const *)p->unknown, (size_t)p->num_unknowns);
  pcsim_tree_problem(
      p->tree, key_node,
      "no condition `%.96s` (`%s`); expected an unknown, an expression of unknowns such as dn(%s), "
      "flux, periodic or free%s%s%s",
      key, e->name, p->num_unknowns ? p->unknown[0] : "u", near ? "; did you mean `" : "", near ? near : "",
      near ? "`?" : "");
  return PCSIM_OK;
}

static pcsim_status read_keys(entry *e) {
  e->like.exact = true;
  if (pcsim_node_get_kind(e->node) != PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(e->p->tree, e->node, "`%s` needs conditions in braces, e.g. {%s: 0}", e->name,
                       e->p->num_unknowns ? e->p->unknown[0] : "u");
    return PCSIM_OK;
  }
  pcsim_node_bool(e->p->tree, e->node, "exact", &e->like.exact);
  for (int64_t i = 0; i < pcsim_node_size(e->node); i++)
    PCSIM_TRY(read_key(e, pcsim_node_key(e->node, i), pcsim_node_key_node(e->node, i),
                       pcsim_node_child(e->node, i)));
  return PCSIM_OK;
}

/* Pieces that the key names: one, or those that a pattern fits, no key names exactly and no pattern before it
 * has taken. */
static int select_pieces(const domain_view *d, const pcsim_node *boundaries, const char *key,
                         const bool *covered, bool *piece) {
  int found = 0;
  for (int i = 0; i < d->num_pieces; i++) piece[i] = !strcmp(d->piece[i], key), found += piece[i];
  if (found) return found;
  for (int i = 0; i < d->num_pieces; i++) {
    piece[i] = fnmatch(key, d->piece[i], 0) == 0 && !pcsim_node_get(boundaries, d->piece[i]) && !covered[i];
    found += piece[i];
  }
  return found;
}

static void report_no_piece(const problem *p, const pcsim_node *at, const char *key) {
  const domain_view *d = p->domain;
  char known[400] = "";
  for (int i = 0; i < d->num_pieces; i++) {
    const size_t used = strlen(known);
    if (used + strlen(d->piece[i]) + 8 > sizeof known) {
      strcat(known, ", ...");
      break;
    }
    snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", d->piece[i]);
  }
  const char *near = pcsim_nearest(key, d->piece, (size_t)d->num_pieces);
  pcsim_tree_problem(p->tree, at, "`%.96s` is no point of the boundary; the domain has: %s%s%s%s", key,
                     known[0] ? known : "none", near ? "; did you mean `" : "", near ? near : "",
                     near ? "`?" : "");
}

static pcsim_status read_boundaries(problem *p, const problem_names *names, int *entries) {
  const pcsim_node *node = pcsim_node_get(pcsim_tree_root(p->tree), "boundaries");
  const domain_view *d = p->domain;
  bool *piece = NULL, *covered = NULL;
  pcsim_status status = pcsim_alloc((size_t)d->num_pieces, sizeof *piece, &piece);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)d->num_pieces, sizeof *covered, &covered);
  for (int64_t i = 0; i < pcsim_node_size(node) && status == PCSIM_OK; i++) {
    entry e = {.p = p, .names = names, .node = pcsim_node_child(node, i), .name = pcsim_node_key(node, i)};
    e.like = (problem_condition){.entry = (*entries)++, .place = PLACE_PIECES, .piece = piece};
    if (!select_pieces(d, node, e.name, covered, piece))
      report_no_piece(p, pcsim_node_key_node(node, i), e.name);
    else status = read_keys(&e);
    const pcsim_node *other = pcsim_node_get(e.node, "periodic");
    for (int k = 0; k < d->num_pieces; k++)
      covered[k] = covered[k] || piece[k] || (other && !strcmp(pcsim_node_text(other), d->piece[k]));
  }
  for (int k = 0; status == PCSIM_OK && k < d->num_pieces; k++)
    if (!covered[k])
      pcsim_tree_problem(p->tree, node,
                         "boundary `%s` has no condition; expected e.g. %s: {%s: 0}, or {free: true}",
                         d->piece[k], d->piece[k], p->num_unknowns ? p->unknown[0] : "u");
  pcsim_free(&piece), pcsim_free(&covered);
  return status;
}

/* ------------------------------------------------------------------ start of time */

static pcsim_status read_initial(problem *p, const problem_names *names, int *entries) {
  const pcsim_node *node = pcsim_node_get(pcsim_tree_root(p->tree), "initial");
  entry e = {.p = p, .names = names, .node = node, .name = "initial"};
  e.like = (problem_condition){.entry = (*entries)++, .place = PLACE_START, .exact = true};
  if (!node) return PCSIM_OK;
  if (p->domain->time < 0) {
    pcsim_tree_problem(p->tree, node, "`initial` is the start of time, but the domain has no coordinate t");
    return PCSIM_OK;
  }
  pcsim_node_bool(p->tree, node, "exact", &e.like.exact);
  for (int64_t i = 0; i < pcsim_node_size(node); i++) {
    const char *key = pcsim_node_key(node, i);
    const size_t n = strlen(key);
    char stem[96];
    snprintf(stem, sizeof stem, "%.*s", n > 2 && !strcmp(key + n - 2, "_t") ? (int)n - 2 : 0, key);
    const int unknown = problem_unknown(p, stem);
    if (unknown < 0) {
      PCSIM_TRY(read_key(&e, key, pcsim_node_key_node(node, i), pcsim_node_child(node, i)));
      continue;
    }
    problem_text text;
    PCSIM_TRY(text_expand(pcsim_node_child(node, i), NULL, names->name, names->num, "", "", &text));
    PCSIM_TRY(add(&e, CONDITION_RATE, unknown, text));
  }
  return PCSIM_OK;
}

/* ---------------------------------------------------------------- other places */

static const char *skip(const char *s) { return s + strspn(s, " \t"); }

/* "t = 0.5 and x = 0": coordinates that are given. */
static bool read_place(entry *e, const pcsim_node *at) {
  const domain_view *d = e->p->domain;
  for (const char *s = skip(pcsim_node_text(at)); *s;) {
    const size_t n = strcspn(s, " \t=");
    const char *equals = skip(s + n), *end = strstr(equals, " and ");
    char name[96], number[200];
    int i = 0;
    snprintf(name, sizeof name, "%.*s", (int)n, s);
    while (i < d->num_coordinates && strcmp(d->coordinate[i], name) != 0) i++;
    if (i == d->num_coordinates || *equals != '=') {
      pcsim_tree_problem_inside(e->p->tree, at, (size_t)(s - pcsim_node_text(at)),
                                "expected COORDINATE = NUMBER, several joined by `and`");
      return false;
    }
    equals += 1 + (equals[1] == '=');
    const size_t length = end ? (size_t)(end - equals) : strlen(equals);
    snprintf(number, sizeof number, "%.*s", (int)length, equals);
    const char *const *names;
    const double *values;
    const int num = pcsim_tree_parameters(e->p->tree, &names, &values);
    pcsim_expr *expr = NULL;
    const bool good = pcsim_expr_parse(number, &expr, NULL) == PCSIM_OK &&
                      pcsim_expr_bind(expr, NULL, 0, names, values, num, NULL) == PCSIM_OK;
    if (!good) {
      pcsim_tree_problem_inside(e->p->tree, at, (size_t)(equals - pcsim_node_text(at)), "%s",
                                pcsim_error_message());
      pcsim_error_clear();
      pcsim_expr_destroy(&expr);
      return false;
    }
    e->like.fixed[i] = true;
    e->like.at[i] = pcsim_expr_eval(expr, NULL);
    pcsim_expr_destroy(&expr);
    const double *range = d->range[i], slack = 1e-12 * (range[1] - range[0]);
    if (!(e->like.at[i] >= range[0] - slack && e->like.at[i] <= range[1] + slack)) {
      pcsim_tree_problem(e->p->tree, at, "%s = %g lies outside of the domain, which goes from %g to %g", name,
                         e->like.at[i], range[0], range[1]);
      return false;
    }
    s = end ? skip(end + 5) : "";
  }
  return true;
}

/* Pieces that `over` names, and what they measure; without it the domain. */
static bool read_over(const entry *e, bool *piece, double *measure) {
  const problem *p = e->p;
  const domain_view *d = p->domain;
  const pcsim_node *over = pcsim_node_get(e->node, "over");
  *measure = over ? 0 : d->volume;
  for (int64_t i = 0; over && i < (pcsim_node_size(over) ? pcsim_node_size(over) : 1); i++) {
    const pcsim_node *at = pcsim_node_size(over) ? pcsim_node_child(over, i) : over;
    bool found = false;
    for (int k = 0; k < d->num_pieces; k++) {
      if (fnmatch(pcsim_node_text(at), d->piece[k], 0) != 0) continue;
      *measure += piece[k] ? 0 : d->area[k];
      piece[k] = found = true;
    }
    if (!found) report_no_piece(p, at, pcsim_node_text(at));
    if (!found) return false;
  }
  return true;
}

/* {integral: EXPRESSION, over: NAMES, equals: VALUE}: the measure times the mean, less the value, is zero. */
static pcsim_status add_integral(entry *e) {
  problem *p = e->p;
  const pcsim_node *of = pcsim_node_get(e->node, "integral"), *equals = pcsim_node_get(e->node, "equals");
  problem_text value, text;
  char *before = NULL, *behind = NULL;
  bool *piece = NULL;
  double measure = 0;
  for (int64_t i = 0; i < pcsim_node_size(e->node); i++) {
    const char *key = pcsim_node_key(e->node, i);
    if (!strcmp(key, "integral") || !strcmp(key, "over") || !strcmp(key, "equals")) continue;
    pcsim_tree_problem(p->tree, pcsim_node_key_node(e->node, i),
                       "no key `%.64s` of an integral; expected integral, over, equals", key);
    return PCSIM_OK;
  }
  if (!equals || p->domain->num_coordinates > p->domain->num_space) {
    pcsim_tree_problem(p->tree, e->node,
                       equals ? "an integral holds in a steady problem without inputs"
                              : "an integral needs its value, {integral: u, equals: 0}");
    return PCSIM_OK;
  }
  pcsim_status status = pcsim_alloc((size_t)p->domain->num_pieces, sizeof *piece, &piece);
  if (status == PCSIM_OK && read_over(e, piece, &measure)) {
    if (pcsim_node_get(e->node, "over")) e->like.piece = piece;
    status = text_expand(equals, NULL, e->names->name, e->names->num, "", "", &value);
    if (status == PCSIM_OK) status = text_format(&before, "%.17g*(", measure);
    if (status == PCSIM_OK) status = text_format(&behind, ") - (%s)", value.text);
    text_clear(&value);
    if (status == PCSIM_OK)
      status = text_expand(of, NULL, e->names->name, e->names->num, before, behind, &text);
    if (status == PCSIM_OK) status = add(e, CONDITION_RESIDUAL, -1, text);
  }
  pcsim_free(&before), pcsim_free(&behind), pcsim_free(&piece);
  return status;
}

static pcsim_status read_others(problem *p, const problem_names *names, int *entries) {
  const pcsim_node *list = pcsim_node_get(pcsim_tree_root(p->tree), "conditions");
  if (!list) return PCSIM_OK;
  if (pcsim_node_get_kind(list) != PCSIM_NODE_SEQUENCE) {
    pcsim_tree_problem(
        p->tree, list,
        "`conditions` is a sequence, e.g. [{at: \"t = 0.5\", u: 0}, {integral: u, equals: 0}]");
    return PCSIM_OK;
  }
  for (int64_t i = 0; i < pcsim_node_size(list); i++) {
    char name[40];
    snprintf(name, sizeof name, "conditions.%lld", (long long)i);
    entry e = {.p = p, .names = names, .node = pcsim_node_child(list, i), .name = name};
    e.like = (problem_condition){.entry = (*entries)++, .place = PLACE_FIXED};
    const pcsim_node *at = pcsim_node_get(e.node, "at");
    if (pcsim_node_get(e.node, "integral")) {
      e.like.place = PLACE_INTEGRAL;
      PCSIM_TRY(add_integral(&e));
    } else if (!at)
      pcsim_tree_problem(p->tree, e.node, "a condition needs its place, `at: \"x = 0 and y = 0\"`");
    else if (read_place(&e, at)) PCSIM_TRY(read_keys(&e));
  }
  return PCSIM_OK;
}

pcsim_status problem_conditions(problem *p, const problem_names *names) {
  int entries = 0;
  PCSIM_TRY(read_boundaries(p, names, &entries));
  PCSIM_TRY(read_initial(p, names, &entries));
  return read_others(p, names, &entries);
}
