/* SPDX-License-Identifier: BSD-2-Clause */
/* Text to tree: recursive descent, one function a level of precedence.
 *
 *   or:     and ("or" and)*
 *   and:    not ("and" not)*
 *   not:    "not" not | comparison
 *   comparison: sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
 *   sum:    product (("+" | "-") product)*
 *   product: signed (("*" | "/") signed)*
 *   signed: ("+" | "-") signed | power
 *   power:  primary ["^" signed]            so -2^2 is -4 and 2^-1 is 0.5
 *   primary: number ["%"] | name | name "(" or ("," or)* ")" | "(" or ")"
 */
#include "expr.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_SIGN } token_kind;

typedef struct {
  token_kind kind;
  size_t at, size;
  double value;
} token;

typedef struct {
  pcsim_expr *expr;
  const char *text;
  size_t at;   /**< first byte not yet read */
  token next;  /**< looked-at token */
  int nesting; /**< open levels of recursion */
  size_t fault;
} parser;

/** A tree and its number of levels. */
typedef struct {
  pcsim_expr_node *node;
  int height;
} piece;

#define FAIL_AT(p, where, ...)                                                                               \
  do {                                                                                                       \
    (p)->fault = (where);                                                                                    \
    PCSIM_FAIL(PCSIM_ERR_CASE, __VA_ARGS__);                                                                 \
  } while (0)

/* ctype.h follows the host's locale; the grammar does not. */
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_word(char c) { return is_letter(c) || is_digit(c); }
static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* ------------------------------------------------------------ tokens */

static locale_t plain_locale;
static pthread_once_t locale_once = PTHREAD_ONCE_INIT;
static void make_locale(void) { plain_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

/** strtod with a decimal point, whatever the host's locale writes. */
static double to_double(const char *text) {
  pthread_once(&locale_once, make_locale);
  return plain_locale ? strtod_l(text, NULL, plain_locale) : strtod(text, NULL);
}

/** Length of the number at `s`: digits [. digits] [e [sign] digits]; 0 if there is none. */
static size_t number_size(const char *s) {
  size_t n = 0, digits = 0;
  while (is_digit(s[n])) n++, digits++;
  if (s[n] == '.') {
    n++;
    while (is_digit(s[n])) n++, digits++;
  }
  if (!digits) return 0;
  if (s[n] == 'e' || s[n] == 'E') {
    size_t k = n + 1;
    if (s[k] == '+' || s[k] == '-') k++;
    if (is_digit(s[k])) {
      while (is_digit(s[k])) k++;
      n = k;
    }
  }
  return n;
}

/** Length of the name at `s` with its derivative suffixes; 0 if there is none. */
static size_t name_size(const char *s) {
  size_t n = 0;
  if (!is_letter(s[0])) return 0;
  while (is_word(s[n])) n++;
  while (s[n] == '_' && is_word(s[n + 1])) {
    n++;
    while (is_word(s[n])) n++;
  }
  return n;
}

/** Bytes of the UTF-8 character at `s` (1 for a stray byte), so that a message never cuts one. */
static size_t character_size(const char *s) {
  unsigned char c = (unsigned char)s[0];
  size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
  for (size_t i = 1; i < n; i++)
    if (((unsigned char)s[i] & 0xc0) != 0x80) return 1;
  return n;
}

static pcsim_status read_number(parser *p, size_t size) {
  const char *s = p->text + p->at;
  size_t rest = size;
  while (is_word(s[rest]) || s[rest] == '_' || s[rest] == '.') rest++;
  if (rest > size) {
    if (is_letter(s[size]) && name_size(s + size) == rest - size && (s[size] != 'e' || rest - size > 1))
      FAIL_AT(p, p->at + size, "unexpected '%.*s' after the number %.*s; a product is written %.*s*%.*s",
              (int)(rest - size), s + size, (int)size, s, (int)size, s, (int)(rest - size), s + size);
    FAIL_AT(p, p->at + size, "unexpected '%.*s' after the number %.*s", (int)(rest - size), s + size,
            (int)size, s);
  }
  char digits[512];
  if (size >= sizeof digits) FAIL_AT(p, p->at, "the number has more than %zu characters", sizeof digits - 1);
  memcpy(digits, s, size);
  digits[size] = '\0';
  p->next.value = to_double(digits);
  if (!isfinite(p->next.value)) FAIL_AT(p, p->at, "the number %s is too large", digits);
  p->next.kind = TOKEN_NUMBER;
  return PCSIM_OK;
}

/** Say how something from another language is written here. */
static const char *foreign_sign(const char *s) {
  if (!strncmp(s, "**", 2)) return "a power is written ^";
  if (!strncmp(s, "&&", 2) || *s == '&') return "write 'and'";
  if (!strncmp(s, "||", 2) || *s == '|') return "write 'or' or abs(...)";
  if (*s == '!' && s[1] != '=') return "write 'not'";
  if (*s == '=' && s[1] != '=') return "equality is written ==";
  if (*s == '[' || *s == '{') return "write parentheses ()";
  if (*s == '_') return "a name starts with a letter and has no underscore, but for derivatives such as u_x";
  return NULL;
}

static pcsim_status advance(parser *p) {
  const char *s;
  while (is_blank(p->text[p->at])) p->at++;
  s = p->text + p->at;
  p->next = (token){.at = p->at};
  if (!*s) return PCSIM_OK; /* TOKEN_END */
  size_t size = number_size(s);
  if (size) {
    PCSIM_TRY(read_number(p, size));
  } else if ((size = name_size(s))) {
    p->next.kind = TOKEN_NAME;
    if (s[size] == '_')
      FAIL_AT(p, p->at + size, "'_' after '%.*s'; a name has no underscore, but for derivatives such as u_x",
              (int)size, s);
  } else {
    const char *hint = foreign_sign(s);
    if (hint) FAIL_AT(p, p->at, "unexpected '%.*s'; %s", s[0] == s[1] ? 2 : (int)character_size(s), s, hint);
    if (!strchr("+-*/^()<>=!,%", *s))
      FAIL_AT(p, p->at, "unexpected '%.*s'; expected a number, a name, an operator or a parenthesis",
              (int)character_size(s), s);
    size = s[1] == '=' && strchr("<>=!", *s) ? 2 : 1;
    p->next.kind = TOKEN_SIGN;
  }
  p->next.size = size;
  p->at += size;
  return PCSIM_OK;
}

static bool is_sign(const parser *p, const char *sign) {
  return p->next.kind == TOKEN_SIGN && strlen(sign) == p->next.size &&
         !memcmp(p->text + p->next.at, sign, p->next.size);
}

static bool is_keyword(const parser *p, const char *word) {
  return p->next.kind == TOKEN_NAME && strlen(word) == p->next.size &&
         !memcmp(p->text + p->next.at, word, p->next.size);
}

/** "unexpected X; expected Y" at the looked-at token. */
static pcsim_status unexpected(parser *p, const char *expected) {
  p->fault = p->next.at;
  if (p->next.kind == TOKEN_END)
    PCSIM_FAIL(PCSIM_ERR_CASE, "the expression ends too early; expected %s", expected);
  PCSIM_FAIL(PCSIM_ERR_CASE, "unexpected '%.*s'; expected %s", (int)(p->next.size < 60 ? p->next.size : 60),
             p->text + p->next.at, expected);
}

/* ------------------------------------------------------------- nodes */

static pcsim_status make_node(parser *p, pcsim_expr_kind kind, size_t at, const piece *args, int num_args,
                              piece *out) {
  pcsim_expr_node *node = NULL;
  int height = 0;
  for (int i = 0; i < num_args; i++)
    if (args[i].height > height) height = args[i].height;
  if (height >= EXPR_MAX_HEIGHT)
    FAIL_AT(p, at, "the expression is nested or chained more than %d times; split it with parameters",
            EXPR_MAX_HEIGHT);
  PCSIM_TRY(arena_take(&p->expr->memory, sizeof *node, &node));
  node->kind = kind;
  node->column = (int)at;
  node->index = -1;
  node->num_args = num_args;
  if (num_args) PCSIM_TRY(arena_take(&p->expr->memory, (size_t)num_args * sizeof(void *), &node->args));
  for (int i = 0; i < num_args; i++) node->args[i] = args[i].node;
  *out = (piece){node, height + 1};
  return PCSIM_OK;
}

static pcsim_status make_binary(parser *p, pcsim_expr_kind kind, piece *left, piece right) {
  piece args[2] = {*left, right};
  return make_node(p, kind, (size_t)left->node->column, args, 2, left);
}

static pcsim_status parse_or(parser *p, piece *out);
static pcsim_status parse_signed(parser *p, piece *out);

static pcsim_status enter(parser *p) {
  if (++p->nesting > EXPR_MAX_NESTING)
    FAIL_AT(p, p->next.at, "more than %d levels inside each other; split the expression with parameters",
            EXPR_MAX_NESTING);
  return PCSIM_OK;
}

/* ------------------------------------------------------------ levels */

static const struct {
  const char *foreign, *ours;
} other_words[] = {{"ln", "log"},   {"arcsin", "asin"},    {"arccos", "acos"}, {"arctan", "atan"},
                   {"fabs", "abs"}, {"heaviside", "step"}, {"if", "where"},    {"fmod", "mod"},
                   {"sgn", "sign"}, {"arctan2", "atan2"}};

static pcsim_status unknown_function(parser *p, size_t at, const char *name) {
  const char *names[64], *near = NULL;
  size_t n = pcsim_expr_num_functions();
  for (size_t i = 0; i < n && i < 64; i++) names[i] = pcsim_expr_get_function(i)->name;
  for (size_t i = 0; i < sizeof other_words / sizeof other_words[0]; i++)
    if (!strcmp(name, other_words[i].foreign)) near = other_words[i].ours;
  if (!near) near = pcsim_nearest(name, names, n);
  if (near) FAIL_AT(p, at, "unknown function '%s'; did you mean '%s'?", name, near);
  char known[512];
  expr_list_names(known, sizeof known, names, n);
  FAIL_AT(p, at, "unknown function '%s' (known: %s); a product is written with *", name, known);
}

/** After "name(": arguments and ")". */
static pcsim_status parse_call(parser *p, size_t at, const char *name, piece *out) {
  piece args[EXPR_MAX_ARGS];
  size_t open = p->next.at;
  int n = 0, index = expr_function_find(name);
  if (index < 0) return unknown_function(p, at, name);
  const pcsim_expr_function *f = pcsim_expr_get_function((size_t)index);
  PCSIM_TRY(advance(p));
  if (!is_sign(p, ")")) {
    for (;;) {
      if (n == f->max_args)
        FAIL_AT(p, p->next.at, "'%s' takes %s%d argument%s; found more", name,
                f->min_args < f->max_args ? "at most " : "", f->max_args, f->max_args == 1 ? "" : "s");
      PCSIM_TRY(parse_or(p, &args[n]));
      n++;
      if (!is_sign(p, ",")) break;
      PCSIM_TRY(advance(p));
    }
    if (p->next.kind == TOKEN_END) FAIL_AT(p, open, "this '(' is not closed");
    if (!is_sign(p, ")")) return unexpected(p, "an operator, ',' or ')'");
  }
  if (n < f->min_args)
    FAIL_AT(p, p->next.at, "'%s' takes %s%d argument%s; found %d", name,
            f->min_args < f->max_args ? "at least " : "", f->min_args, f->min_args == 1 ? "" : "s", n);
  PCSIM_TRY(advance(p));
  PCSIM_TRY(make_node(p, PCSIM_EXPR_CALL, at, args, n, out));
  out->node->index = index;
  return arena_copy(&p->expr->memory, name, strlen(name), &out->node->name);
}

static pcsim_status parse_name(parser *p, piece *out) {
  token name = p->next;
  char word[128];
  if (name.size >= sizeof word) FAIL_AT(p, name.at, "a name is longer than %zu characters", sizeof word - 1);
  memcpy(word, p->text + name.at, name.size);
  word[name.size] = '\0';
  PCSIM_TRY(advance(p));
  if (is_sign(p, "(")) return parse_call(p, name.at, word, out);
  if (!strcmp(word, "pi") || !strcmp(word, "e")) {
    PCSIM_TRY(make_node(p, PCSIM_EXPR_NUMBER, name.at, NULL, 0, out));
    out->node->value = *word == 'p' ? 3.14159265358979323846 : 2.71828182845904523536;
    return PCSIM_OK;
  }
  if (expr_function_reserves(word))
    FAIL_AT(p, p->next.at, "the function '%s' needs its argument in parentheses", word);
  PCSIM_TRY(make_node(p, PCSIM_EXPR_NAME, name.at, NULL, 0, out));
  return arena_copy(&p->expr->memory, word, name.size, &out->node->name);
}

static pcsim_status parse_primary(parser *p, piece *out) {
  static const char expected[] = "a number, a name or '('";
  size_t at = p->next.at;
  if (p->next.kind == TOKEN_NUMBER) {
    double value = p->next.value;
    PCSIM_TRY(advance(p));
    if (is_sign(p, "%")) {
      value /= 100;
      PCSIM_TRY(advance(p));
    }
    PCSIM_TRY(make_node(p, PCSIM_EXPR_NUMBER, at, NULL, 0, out));
    out->node->value = value;
    return PCSIM_OK;
  }
  if (p->next.kind == TOKEN_NAME) {
    if (is_keyword(p, "and") || is_keyword(p, "or") || is_keyword(p, "not")) return unexpected(p, expected);
    return parse_name(p, out);
  }
  if (!is_sign(p, "(")) return unexpected(p, expected);
  PCSIM_TRY(advance(p));
  PCSIM_TRY(parse_or(p, out));
  if (p->next.kind == TOKEN_END) FAIL_AT(p, at, "this '(' is not closed");
  if (!is_sign(p, ")")) return unexpected(p, "an operator or ')'");
  return advance(p);
}

static pcsim_status parse_power(parser *p, piece *out) {
  piece exponent;
  PCSIM_TRY(parse_primary(p, out));
  if (!is_sign(p, "^")) return PCSIM_OK;
  PCSIM_TRY(advance(p));
  PCSIM_TRY(parse_signed(p, &exponent));
  return make_binary(p, PCSIM_EXPR_POW, out, exponent);
}

static pcsim_status parse_signed(parser *p, piece *out) {
  size_t at = p->next.at;
  bool minus = is_sign(p, "-");
  PCSIM_TRY(enter(p));
  if (minus || is_sign(p, "+")) {
    PCSIM_TRY(advance(p));
    PCSIM_TRY(parse_signed(p, out));
    if (minus) {
      piece arg = *out;
      PCSIM_TRY(make_node(p, PCSIM_EXPR_NEG, at, &arg, 1, out));
    }
  } else {
    PCSIM_TRY(parse_power(p, out));
  }
  p->nesting--;
  return PCSIM_OK;
}

static pcsim_status parse_product(parser *p, piece *out) {
  PCSIM_TRY(parse_signed(p, out));
  while (is_sign(p, "*") || is_sign(p, "/")) {
    pcsim_expr_kind kind = is_sign(p, "*") ? PCSIM_EXPR_MUL : PCSIM_EXPR_DIV;
    piece right;
    PCSIM_TRY(advance(p));
    PCSIM_TRY(parse_signed(p, &right));
    PCSIM_TRY(make_binary(p, kind, out, right));
  }
  return PCSIM_OK;
}

static pcsim_status parse_sum(parser *p, piece *out) {
  PCSIM_TRY(parse_product(p, out));
  while (is_sign(p, "+") || is_sign(p, "-")) {
    pcsim_expr_kind kind = is_sign(p, "+") ? PCSIM_EXPR_ADD : PCSIM_EXPR_SUB;
    piece right;
    PCSIM_TRY(advance(p));
    PCSIM_TRY(parse_product(p, &right));
    PCSIM_TRY(make_binary(p, kind, out, right));
  }
  return PCSIM_OK;
}

static bool comparison(const parser *p, pcsim_expr_kind *kind) {
  static const struct {
    const char *sign;
    pcsim_expr_kind kind;
  } signs[] = {{"<", PCSIM_EXPR_LT},  {"<=", PCSIM_EXPR_LE}, {">", PCSIM_EXPR_GT},
               {">=", PCSIM_EXPR_GE}, {"==", PCSIM_EXPR_EQ}, {"!=", PCSIM_EXPR_NE}};
  for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
    if (is_sign(p, signs[i].sign)) {
      *kind = signs[i].kind;
      return true;
    }
  return false;
}

static pcsim_status parse_comparison(parser *p, piece *out) {
  pcsim_expr_kind kind, again;
  piece right;
  PCSIM_TRY(parse_sum(p, out));
  if (!comparison(p, &kind)) return PCSIM_OK;
  PCSIM_TRY(advance(p));
  PCSIM_TRY(parse_sum(p, &right));
  if (comparison(p, &again)) FAIL_AT(p, p->next.at, "comparisons cannot be chained; write 'a < b and b < c'");
  return make_binary(p, kind, out, right);
}

static pcsim_status parse_not(parser *p, piece *out) {
  size_t at = p->next.at;
  if (!is_keyword(p, "not")) return parse_comparison(p, out);
  PCSIM_TRY(enter(p));
  PCSIM_TRY(advance(p));
  PCSIM_TRY(parse_not(p, out));
  p->nesting--;
  piece arg = *out;
  return make_node(p, PCSIM_EXPR_NOT, at, &arg, 1, out);
}

static pcsim_status parse_and(parser *p, piece *out) {
  PCSIM_TRY(parse_not(p, out));
  while (is_keyword(p, "and")) {
    piece right;
    PCSIM_TRY(advance(p));
    PCSIM_TRY(parse_not(p, &right));
    PCSIM_TRY(make_binary(p, PCSIM_EXPR_AND, out, right));
  }
  return PCSIM_OK;
}

static pcsim_status parse_or(parser *p, piece *out) {
  PCSIM_TRY(enter(p));
  PCSIM_TRY(parse_and(p, out));
  while (is_keyword(p, "or")) {
    piece right;
    PCSIM_TRY(advance(p));
    PCSIM_TRY(parse_and(p, &right));
    PCSIM_TRY(make_binary(p, PCSIM_EXPR_OR, out, right));
  }
  p->nesting--;
  return PCSIM_OK;
}

static pcsim_status parse_whole(parser *p) {
  piece whole;
  if (strlen(p->text) > EXPR_MAX_LENGTH)
    FAIL_AT(p, 0, "the expression is longer than %d characters", EXPR_MAX_LENGTH);
  PCSIM_TRY(advance(p));
  if (p->next.kind == TOKEN_END) FAIL_AT(p, 0, "empty; expected a number or an expression");
  PCSIM_TRY(parse_or(p, &whole));
  if (is_sign(p, ")")) FAIL_AT(p, p->next.at, "this ')' has no '('");
  if (is_sign(p, "%"))
    FAIL_AT(p, p->next.at, "unexpected '%%'; per cent follows a number, a remainder is written mod(a, b)");
  if (p->next.kind != TOKEN_END) return unexpected(p, "an operator or the end");
  p->expr->root = whole.node;
  return PCSIM_OK;
}

pcsim_status pcsim_expr_parse(const char *text, pcsim_expr **expr, size_t *offset) {
  *expr = NULL;
  PCSIM_CHECK(text, PCSIM_ERR_ARG, "no text to parse");
  PCSIM_TRY(pcsim_alloc(1, sizeof **expr, expr));
  parser p = {.expr = *expr};
  pcsim_status status = arena_copy(&p.expr->memory, text, strlen(text), &p.expr->text);
  if (status == PCSIM_OK) {
    p.text = p.expr->text;
    status = parse_whole(&p);
  }
  if (status != PCSIM_OK) {
    if (offset) *offset = p.fault;
    pcsim_expr_destroy(expr);
    return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
  }
  return PCSIM_OK;
}

pcsim_status pcsim_expr_check_name(const char *name) {
  static const char *const reserved[] = {"pi", "e", "and", "or", "not", "true", "false"};
  size_t n = 0;
  if (is_letter(name[0]))
    while (is_word(name[n])) n++;
  PCSIM_CHECK(n && !name[n], PCSIM_ERR_CASE, "'%s' cannot be a name: letters and digits only, a letter first",
              name);
  PCSIM_CHECK(n < 64, PCSIM_ERR_CASE, "'%s' cannot be a name: it is longer than 63 characters", name);
  PCSIM_CHECK(!expr_function_reserves(name), PCSIM_ERR_CASE, "'%s' cannot be a name: it is a function", name);
  for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
    PCSIM_CHECK(strcmp(name, reserved[i]) != 0, PCSIM_ERR_CASE,
                "'%s' cannot be a name: it has a meaning of its own", name);
  return PCSIM_OK;
}
