/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of equations: names written out, fluxes found. */
#include "problem.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pcsim_status text_format(char **text, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const int n = vsnprintf(NULL, 0, format, args);
  va_end(args);
  PCSIM_TRY(pcsim_alloc((size_t)n + 1, 1, text));
  va_start(args, format);
  vsnprintf(*text, (size_t)n + 1, format, args);
  va_end(args);
  return PCSIM_OK;
}

void text_clear(problem_text *text) {
  pcsim_free(&text->text);
  pcsim_free(&text->place);
  *text = (problem_text){0};
}

/* ------------------------------------------------------------- names written out */

typedef struct {
  size_t used, room;
  problem_text *out;
} writer;

static pcsim_status put(writer *w, const char *text, size_t n, size_t place, bool moves) {
  if (w->used + n + 1 > w->room) {
    w->room = 2 * (w->used + n + 1);
    PCSIM_TRY(pcsim_realloc(w->room, 1, &w->out->text));
    PCSIM_TRY(pcsim_realloc(w->room, sizeof *w->out->place, &w->out->place));
  }
  for (size_t i = 0; i < n; i++) {
    w->out->text[w->used] = text[i];
    w->out->place[w->used++] = (int32_t)(moves ? place + i : place);
  }
  w->out->text[w->used] = '\0';
  return PCSIM_OK;
}

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Length of the number at `s`, whose exponent is no name: 1e5, 0.1. */
static size_t number_length(const char *s) {
  char *end;
  strtod(s, &end);
  return (size_t)(end - s);
}

pcsim_status text_expand(const pcsim_node *node, const char *text, const text_name *names, int n,
                         const char *before, const char *behind, problem_text *out) {
  writer w = {.out = out};
  const bool own = !text;
  if (own) text = pcsim_node_text(node);
  *out = (problem_text){.node = node};
  pcsim_status status = put(&w, before, strlen(before), 0, false);
  for (const char *s = text; *s && status == PCSIM_OK;) {
    const size_t place = own ? (size_t)(s - text) : 0;
    size_t length = 1;
    const char *with = NULL;
    if (isdigit((unsigned char)*s) || (*s == '.' && isdigit((unsigned char)s[1]))) length = number_length(s);
    else if (is_name(*s)) {
      for (length = 0; is_name(s[length]);) length++;
      for (int i = 0; i < n && !with; i++)
        if (strlen(names[i].name) == length && !strncmp(names[i].name, s, length)) with = names[i].text;
    }
    if (with) {
      status = put(&w, "(", 1, place, false);
      if (status == PCSIM_OK) status = put(&w, with, strlen(with), place, false);
      if (status == PCSIM_OK) status = put(&w, ")", 1, place, false);
    } else status = put(&w, s, length, place, own);
    s += length;
  }
  if (status == PCSIM_OK)
    status = put(&w, behind, strlen(behind), own && *text ? strlen(text) - 1 : 0, false);
  if (status != PCSIM_OK) text_clear(out);
  return status;
}

/* ---------------------------------------------------------------------- fluxes */

/* End of the term that begins at `s`: its next + or - outside of parentheses that joins two terms. */
static const char *term_end(const char *s) {
  int depth = 0;
  bool operand = false; /* something stands before, so that a sign joins */
  for (; *s; s++) {
    if (*s == '(') depth++;
    else if (*s == ')') depth--;
    else if ((*s == '+' || *s == '-') && depth == 0 && operand) return s;
    if (isdigit((unsigned char)*s) || *s == '.') {
      s += number_length(s) ? number_length(s) - 1 : 0;
      operand = true;
    } else if (!isspace((unsigned char)*s)) operand = is_name(*s) || *s == ')' || *s == '%';
  }
  return s;
}

/* A call of `name` in [s, end), or NULL. */
static const char *find_call(const char *s, const char *end, const char *name) {
  const size_t n = strlen(name);
  for (const char *at = s; at + n < end; at++) {
    if (strncmp(at, name, n) != 0 || at[n] != '(' || (at > s && is_name(at[-1]))) continue;
    return at;
  }
  return NULL;
}

static const char *closing(const char *open, const char *end) {
  int depth = 0;
  for (const char *s = open; s < end; s++) {
    depth += (*s == '(') - (*s == ')');
    if (!depth) return s;
  }
  return NULL;
}

/* Does `at` stand outside of all parentheses that open behind `s`? */
static bool is_outermost(const char *s, const char *at) {
  int depth = 0;
  for (; s < at; s++) depth += (*s == '(') - (*s == ')');
  return depth == 0;
}

/* Is there a comma between the outermost parentheses? */
static bool has_comma(const char *s, const char *end) {
  int depth = 0;
  for (; s < end; s++) {
    depth += (*s == '(') - (*s == ')');
    if (*s == ',' && !depth) return true;
  }
  return false;
}

/* The term's part of the flux, added to `*sum`; `*whole` false where it cannot be told. */
static pcsim_status add_term(const char *s, const char *end, const char *normal, char **sum, bool *whole) {
  const char *div = find_call(s, end, "div"), *lap = find_call(s, end, "lap"), *call = div ? div : lap;
  if (!call) return PCSIM_OK;
  const char *open = call + 3, *close = closing(open, end);
  if ((div && lap) || !close || find_call(close, end, "div") || find_call(close, end, "lap") ||
      !is_outermost(s, call)) {
    *whole = false;
    return PCSIM_OK;
  }
  char *next = NULL, *own = NULL;
  const int before = (int)(call - s), inside = (int)(close - open - 1), behind = (int)(end - close - 1);
  pcsim_status status;
  if (lap) status = text_format(&own, "dn(%.*s)", inside, open + 1);
  else if (has_comma(open + 1, close))
    status = text_format(&own, "dot(vector(%.*s), %s)", inside, open + 1, normal);
  else status = text_format(&own, "dot(%.*s, %s)", inside, open + 1, normal);
  if (status == PCSIM_OK)
    status = text_format(&next, "%s %s%.*s%s%.*s", *sum ? *sum : "",
                         *sum && *s != '+' && *s != '-' ? "+ " : "", before, s, own, behind, close + 1);
  pcsim_free(&own);
  pcsim_free(sum);
  *sum = next;
  return status;
}

/* vector(dn(x), dn(y)), or in one dimension vector(dn(x)). */
static pcsim_status normal_text(const char *const *coordinates, int n, char **text) {
  PCSIM_TRY(text_format(text, "vector("));
  for (int i = 0; i < n; i++) {
    char *next = NULL;
    pcsim_status status =
        text_format(&next, "%s%sdn(%s)%s", *text, i ? ", " : "", coordinates[i], i + 1 == n ? ")" : "");
    pcsim_free(text);
    *text = next;
    PCSIM_TRY(status);
  }
  return PCSIM_OK;
}

pcsim_status text_flux(const char *equation, const char *const *coordinates, int n, char **text) {
  char *normal = NULL;
  bool whole = true;
  *text = NULL;
  pcsim_status status = normal_text(coordinates, n, &normal);
  for (const char *s = equation; *s && status == PCSIM_OK;) {
    const char *end = term_end(s);
    status = add_term(s, end, normal, text, &whole);
    s = end;
  }
  pcsim_free(&normal);
  if (status != PCSIM_OK || !whole) pcsim_free(text);
  return status;
}
