/* SPDX-License-Identifier: BSD-2-Clause */
/* A strict JSON reader (RFC 8259) by recursive descent. */
#include "text.h"

#include <math.h>
#include <pcsim/postproc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64 };

struct pcsim_json {
  pcsim_json_kind kind;
  bool truth;
  double number;
  char *string;           /* STRING */
  int64_t size, capacity; /* ARRAY, OBJECT */
  pcsim_json *items;      /* [size], by value */
  char **keys;            /* OBJECT: [size] */
};

typedef struct {
  const char *start, *at, *end, *name;
  int depth;
} reader;

static void clear(pcsim_json *json) {
  for (int64_t i = 0; i < json->size; i++) {
    clear(&json->items[i]);
    if (json->keys) pcsim_free(&json->keys[i]);
  }
  pcsim_free(&json->items);
  pcsim_free(&json->keys);
  pcsim_free(&json->string);
}

void pcsim_json_destroy(pcsim_json **json) {
  if (*json) clear(*json);
  pcsim_free(json);
}

/* A problem at the reader's place. */
static pcsim_status problem(const reader *r, const char *found, const char *expected) {
  int line = 1, column = 1;
  for (const char *s = r->start; s < r->at; s++)
    if (*s == '\n') line++, column = 1;
    else column++;
  PCSIM_FAIL(PCSIM_ERR_IO, "%s:%d:%d: %s; expected %s", r->name, line, column, found, expected);
}

static pcsim_status unexpected(const reader *r, const char *expected) {
  if (r->at >= r->end) return problem(r, "the text ends", expected);
  unsigned char c = (unsigned char)*r->at;
  char found[32];
  snprintf(found, sizeof found, c > 32 && c < 127 ? "found '%c'" : "found byte 0x%02x", c);
  return problem(r, found, expected);
}

static void skip_space(reader *r) {
  while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at) r->at++;
}

static bool accept(reader *r, char c) {
  skip_space(r);
  if (r->at >= r->end || *r->at != c) return false;
  r->at++;
  return true;
}

static bool hex4(reader *r, uint32_t *code) {
  if (r->end - r->at < 4) return false;
  *code = 0;
  for (int i = 0; i < 4; i++) {
    char c = r->at[i];
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0) return false;
    *code = *code << 4 | (uint32_t)digit;
  }
  r->at += 4;
  return true;
}

static void add_utf8(text_buffer *text, uint32_t c) {
  char s[4];
  if (c < 0x80) {
    s[0] = (char)c;
    text_add_bytes(text, s, 1);
  } else if (c < 0x800) {
    s[0] = (char)(0xC0 | c >> 6), s[1] = (char)(0x80 | (c & 63));
    text_add_bytes(text, s, 2);
  } else if (c < 0x10000) {
    s[0] = (char)(0xE0 | c >> 12), s[1] = (char)(0x80 | (c >> 6 & 63)), s[2] = (char)(0x80 | (c & 63));
    text_add_bytes(text, s, 3);
  } else {
    s[0] = (char)(0xF0 | c >> 18), s[1] = (char)(0x80 | (c >> 12 & 63));
    s[2] = (char)(0x80 | (c >> 6 & 63)), s[3] = (char)(0x80 | (c & 63));
    text_add_bytes(text, s, 4);
  }
}

/* After the backslash. */
static pcsim_status read_escape(reader *r, text_buffer *text) {
  static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
  const char *letter = r->at < r->end && *r->at ? strchr(letters, *r->at) : NULL;
  if (letter) {
    text_add_bytes(text, &bytes[letter - letters], 1);
    r->at++;
    return PCSIM_OK;
  }
  if (r->at >= r->end || *r->at != 'u')
    return unexpected(r, "an escape \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
  r->at++;
  uint32_t code, low;
  if (!hex4(r, &code)) return unexpected(r, "four hexadecimal digits");
  if (code >= 0xD800 && code < 0xDC00) {
    if (!(r->end - r->at > 2 && r->at[0] == '\\' && r->at[1] == 'u'))
      return unexpected(r, "the low surrogate \\uDCxx");
    r->at += 2;
    if (!hex4(r, &low) || low < 0xDC00 || low > 0xDFFF) return unexpected(r, "the low surrogate \\uDCxx");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  } else if (code >= 0xDC00 && code < 0xE000)
    return problem(r, "a lone low surrogate", "a high one before it");
  if (code == 0) return problem(r, "a zero character in a string", "none");
  add_utf8(text, code);
  return PCSIM_OK;
}

static pcsim_status read_string_into(reader *r, text_buffer *text) {
  for (;;) {
    if (r->at >= r->end) return problem(r, "the text ends inside a string", "'\"'");
    unsigned char c = (unsigned char)*r->at;
    if (c == '"') return r->at++, PCSIM_OK;
    if (c < 0x20) return unexpected(r, "no control character in a string");
    if (c == '\\') {
      r->at++;
      PCSIM_TRY(read_escape(r, text));
      continue;
    }
    uint32_t code;
    char sequence[5] = {0}; /* never look past the end */
    memcpy(sequence, r->at, r->end - r->at < 4 ? (size_t)(r->end - r->at) : 4);
    int n = text_utf8(sequence, &code);
    if (n == 0) return unexpected(r, "UTF-8");
    text_add_bytes(text, r->at, (size_t)n);
    r->at += n;
  }
}

/* The opening quote is behind us. Caller frees `*string`. */
static pcsim_status read_string(reader *r, char **string) {
  text_buffer text = {0};
  pcsim_status status = read_string_into(r, &text);
  if (status == PCSIM_OK) status = text.status;
  if (status == PCSIM_OK) status = pcsim_strdup(text.data ? text.data : "", string);
  text_free(&text);
  return status;
}

static bool digits(reader *r) {
  const char *before = r->at;
  while (r->at < r->end && *r->at >= '0' && *r->at <= '9') r->at++;
  return r->at > before;
}

static pcsim_status read_number(reader *r, pcsim_json *json) {
  const char *start = r->at;
  if (*r->at == '-') r->at++;
  const char *first = r->at;
  if (!digits(r)) return unexpected(r, "a digit");
  if (*first == '0' && r->at - first > 1) return problem(r, "a number with a leading zero", "none");
  if (r->at < r->end && *r->at == '.') {
    r->at++;
    if (!digits(r)) return unexpected(r, "a digit after the point");
  }
  if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
    r->at++;
    if (r->at < r->end && (*r->at == '+' || *r->at == '-')) r->at++;
    if (!digits(r)) return unexpected(r, "a digit of the exponent");
  }
  char number[512];
  size_t length = (size_t)(r->at - start);
  if (length >= sizeof number) return problem(r, "a number of over 500 characters", "fewer");
  memcpy(number, start, length);
  number[length] = '\0';
  json->kind = PCSIM_JSON_NUMBER;
  json->number = strtod(number, NULL);
  return PCSIM_OK;
}

static pcsim_status read_value(reader *r, pcsim_json *json);

static pcsim_status grow(pcsim_json *json) {
  if (json->size < json->capacity) return PCSIM_OK;
  int64_t capacity = json->capacity ? 2 * json->capacity : 8;
  PCSIM_TRY(pcsim_realloc((size_t)capacity, sizeof *json->items, &json->items));
  if (json->kind == PCSIM_JSON_OBJECT)
    PCSIM_TRY(pcsim_realloc((size_t)capacity, sizeof *json->keys, &json->keys));
  json->capacity = capacity;
  return PCSIM_OK;
}

static pcsim_status read_items(reader *r, pcsim_json *json, char close) {
  if (accept(r, close)) return PCSIM_OK;
  do {
    PCSIM_TRY(grow(json));
    int64_t i = json->size++; /* owned from here on, whatever fails below */
    if (json->kind == PCSIM_JSON_OBJECT) {
      if (!accept(r, '"')) return unexpected(r, "a key in quotes");
      PCSIM_TRY(read_string(r, &json->keys[i]));
      for (int64_t j = 0; j < i; j++)
        if (!strcmp(json->keys[j], json->keys[i]))
          return problem(r, "a key for the second time", "each key once");
      if (!accept(r, ':')) return unexpected(r, "':'");
    }
    PCSIM_TRY(read_value(r, &json->items[i]));
  } while (accept(r, ','));
  if (!accept(r, close)) return unexpected(r, close == ']' ? "',' or ']'" : "',' or '}'");
  return PCSIM_OK;
}

static bool read_word(reader *r, const char *word) {
  size_t n = strlen(word);
  if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0) return false;
  r->at += n;
  return true;
}

static pcsim_status read_value(reader *r, pcsim_json *json) {
  skip_space(r);
  if (r->at >= r->end) return unexpected(r, "a value");
  char c = *r->at;
  if (c == '{' || c == '[') {
    if (++r->depth > MAX_DEPTH) return problem(r, "nesting deeper than 64", "less");
    r->at++;
    json->kind = c == '{' ? PCSIM_JSON_OBJECT : PCSIM_JSON_ARRAY;
    PCSIM_TRY(read_items(r, json, c == '{' ? '}' : ']'));
    r->depth--;
    return PCSIM_OK;
  }
  if (c == '"') {
    r->at++;
    json->kind = PCSIM_JSON_STRING;
    PCSIM_TRY(read_string(r, &json->string));
    return PCSIM_OK;
  }
  if (c == '-' || (c >= '0' && c <= '9')) return read_number(r, json);
  if (read_word(r, "true") || read_word(r, "false")) {
    json->kind = PCSIM_JSON_BOOL;
    json->truth = c == 't';
    return PCSIM_OK;
  }
  if (read_word(r, "null")) return PCSIM_OK;
  return unexpected(r, "a value");
}

pcsim_status pcsim_json_parse(const char *text, size_t size, const char *name, pcsim_json **json) {
  *json = NULL;
  reader r = {text, text, text + size, name, 0};
  PCSIM_TRY(pcsim_alloc(1, sizeof **json, json));
  pcsim_status status = read_value(&r, *json);
  skip_space(&r);
  if (status == PCSIM_OK && r.at < r.end) status = unexpected(&r, "nothing behind the value");
  if (status != PCSIM_OK) pcsim_json_destroy(json);
  return status;
}

pcsim_status pcsim_json_read(const char *path, pcsim_json **json) {
  char *text = NULL;
  size_t size;
  *json = NULL;
  PCSIM_TRY(pcsim_file_read(path, 0, &text, &size));
  pcsim_status status = pcsim_json_parse(text, size, path, json);
  pcsim_free(&text);
  return status;
}

pcsim_json_kind pcsim_json_get_kind(const pcsim_json *json) { return json ? json->kind : PCSIM_JSON_NULL; }
int64_t pcsim_json_size(const pcsim_json *json) { return json ? json->size : 0; }
const pcsim_json *pcsim_json_item(const pcsim_json *json, int64_t i) {
  return json && i >= 0 && i < json->size ? &json->items[i] : NULL;
}
const char *pcsim_json_key(const pcsim_json *json, int64_t i) {
  return json && json->keys && i >= 0 && i < json->size ? json->keys[i] : NULL;
}
const pcsim_json *pcsim_json_get(const pcsim_json *json, const char *key) {
  for (int64_t i = 0; json && json->keys && i < json->size; i++)
    if (!strcmp(json->keys[i], key)) return &json->items[i];
  return NULL;
}
double pcsim_json_number(const pcsim_json *json) {
  return json && json->kind == PCSIM_JSON_NUMBER ? json->number : NAN;
}
const char *pcsim_json_string(const pcsim_json *json) {
  return json && json->kind == PCSIM_JSON_STRING ? json->string : "";
}
bool pcsim_json_bool(const pcsim_json *json) { return json && json->kind == PCSIM_JSON_BOOL && json->truth; }
