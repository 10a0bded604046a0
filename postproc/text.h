/* SPDX-License-Identifier: BSD-2-Clause */
/** @file text.h  A growing text (JSON, CSV, HTML, SVG are all put together with it). */
#ifndef PCSIM_POSTPROC_TEXT_H
#define PCSIM_POSTPROC_TEXT_H

#include <pcsim/base.h>

/** Zero-initialise. The first failure sticks in `status`; later additions do nothing then, so that a
 *  writer checks once at its end. */
typedef struct {
  char *data; /**< zero-terminated once anything was added; NULL before */
  size_t size, capacity;
  pcsim_status status;
} text_buffer;

void text_add(text_buffer *text, const char *fmt, ...) PCSIM_PRINTF(2, 3);
void text_add_bytes(text_buffer *text, const char *bytes, size_t size);
/** A JSON string with its quotes; invalid UTF-8 becomes U+FFFD. NULL gives null. */
void text_add_json_string(text_buffer *text, const char *string);
/** A JSON number with the fewest digits that read back to the same double; null for NaN and infinities. */
void text_add_json_number(text_buffer *text, double value);
/** Text for HTML and SVG, content and attributes: & < > " ' and control characters are escaped. */
void text_add_html(text_buffer *text, const char *string);
void text_add_base64(text_buffer *text, const uint8_t *bytes, size_t size);
void text_free(text_buffer *text);

/** The shortest of %.15g, %.16g, %.17g that reads back to the same double. */
void text_number(double value, char out[32]);
/** Bytes of the UTF-8 sequence at `s` and its code point; 0 where it is not valid. */
int text_utf8(const char *s, uint32_t *code);

#endif
