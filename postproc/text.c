/* SPDX-License-Identifier: BSD-2-Clause */
#include "text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(text_buffer *text, size_t more) {
  if (text->status != PCSIM_OK) return false;
  if (text->size + more + 1 <= text->capacity) return true;
  size_t capacity = text->capacity < 512 ? 512 : text->capacity;
  while (capacity < text->size + more + 1) capacity += capacity / 2 + 1;
  text->status = pcsim_realloc(capacity, 1, &text->data);
  if (text->status != PCSIM_OK) return false;
  text->capacity = capacity;
  return true;
}

void text_add_bytes(text_buffer *text, const char *bytes, size_t size) {
  if (!reserve(text, size)) return;
  memcpy(text->data + text->size, bytes, size);
  text->size += size;
  text->data[text->size] = '\0';
}

void text_add(text_buffer *text, const char *fmt, ...) {
  va_list args, again;
  va_start(args, fmt);
  va_copy(again, args);
  char small[512];
  int n = vsnprintf(small, sizeof small, fmt, args);
  if (n >= 0 && (size_t)n < sizeof small) text_add_bytes(text, small, (size_t)n);
  else if (n >= 0 && reserve(text, (size_t)n)) {
    vsnprintf(text->data + text->size, (size_t)n + 1, fmt, again);
    text->size += (size_t)n;
  }
  va_end(again);
  va_end(args);
}

int text_utf8(const char *s, uint32_t *code) {
  const unsigned char *u = (const unsigned char *)s;
  if (u[0] < 0x80) return *code = u[0], 1;
  int n = u[0] >= 0xF0 && u[0] < 0xF5 ? 4 : u[0] >= 0xE0 ? 3 : u[0] >= 0xC2 ? 2 : 0;
  if (n == 0 || u[0] >= 0xF5) return 0;
  uint32_t c = u[0] & (0xFFu >> (n + 1));
  for (int i = 1; i < n; i++) {
    if ((u[i] & 0xC0) != 0x80) return 0;
    c = c << 6 | (u[i] & 0x3Fu);
  }
  static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
  if (c < smallest[n] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return 0;
  return *code = c, n;
}

void text_add_json_string(text_buffer *text, const char *string) {
  if (!string) {
    text_add(text, "null");
    return;
  }
  text_add_bytes(text, "\"", 1);
  for (const char *s = string; *s;) {
    uint32_t code;
    int n = text_utf8(s, &code);
    if (n == 0) {
      text_add(text, "\\ufffd");
      s++;
      continue;
    }
    if (code == '"' || code == '\\') text_add(text, "\\%c", (int)code);
    else if (code == '\n') text_add(text, "\\n");
    else if (code == '\t') text_add(text, "\\t");
    else if (code < 0x20 || code == 0x7F) text_add(text, "\\u%04x", (unsigned)code);
    else text_add_bytes(text, s, (size_t)n);
    s += n;
  }
  text_add_bytes(text, "\"", 1);
}

void text_number(double value, char out[32]) {
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(out, 32, "%.*g", digits, value);
    if (strtod(out, NULL) == value) break;
  }
}

void text_add_json_number(text_buffer *text, double value) {
  char number[32];
  if (isfinite(value)) text_number(value, number);
  else strcpy(number, "null");
  text_add_bytes(text, number, strlen(number));
}

void text_add_html(text_buffer *text, const char *string) {
  if (!string) return;
  for (const char *s = string; *s;) {
    uint32_t code;
    int n = text_utf8(s, &code);
    if (n == 0) {
      text_add(text, "\xEF\xBF\xBD"); /* U+FFFD */
      s++;
      continue;
    }
    switch (code) {
    case '&':
      text_add(text, "&amp;");
      break;
    case '<':
      text_add(text, "&lt;");
      break;
    case '>':
      text_add(text, "&gt;");
      break;
    case '"':
      text_add(text, "&quot;");
      break;
    case '\'':
      text_add(text, "&#39;");
      break;
    default:
      if ((code < 0x20 && code != '\n' && code != '\t') || code == 0x7F) text_add(text, "\xEF\xBF\xBD");
      else text_add_bytes(text, s, (size_t)n);
    }
    s += n;
  }
}

void text_add_base64(text_buffer *text, const uint8_t *bytes, size_t size) {
  static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (!reserve(text, (size + 2) / 3 * 4)) return;
  char *out = text->data + text->size;
  for (size_t i = 0; i < size; i += 3) {
    uint32_t v = (uint32_t)bytes[i] << 16;
    if (i + 1 < size) v |= (uint32_t)bytes[i + 1] << 8;
    if (i + 2 < size) v |= bytes[i + 2];
    *out++ = digit[v >> 18];
    *out++ = digit[v >> 12 & 63];
    *out++ = i + 1 < size ? digit[v >> 6 & 63] : '=';
    *out++ = i + 2 < size ? digit[v & 63] : '=';
  }
  *out = '\0';
  text->size = (size_t)(out - text->data);
}

void text_free(text_buffer *text) {
  pcsim_free(&text->data);
  *text = (text_buffer){0};
}
