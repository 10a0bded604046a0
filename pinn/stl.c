/* SPDX-License-Identifier: BSD-2-Clause */
/* STL: a text of facets with three vertices each, or 80 bytes of title, the number of facets and 50 bytes
 * each (normal, three vertices as 32-bit numbers, least significant byte first; two bytes of attributes). */
#include "stl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 84, FACET = 50 };

static double number_at(const unsigned char *at) {
  const uint32_t bits =
      (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static pcsim_status read_binary(const char *path, const unsigned char *data, double scale, int64_t num,
                                double *corners) {
  for (int64_t k = 0; k < num; k++)
    for (int i = 0; i < 9; i++) {
      const double x = scale * number_at(data + HEADER + FACET * k + 12 + 4 * i);
      PCSIM_CHECK(isfinite(x), PCSIM_ERR_CASE, "%s: a corner of triangle %lld is not finite", path,
                  (long long)k + 1);
      corners[9 * k + i] = x;
    }
  return PCSIM_OK;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/** Three numbers after "vertex". */
static bool read_vertex(const char *at, const char *end, double scale, double *x) {
  for (int i = 0; i < 3; i++) {
    char *next;
    x[i] = scale * strtod(at, &next);
    if (next == at || next > end || !isfinite(x[i])) return false;
    at = next;
  }
  while (at < end && is_blank(*at)) at++;
  return at == end;
}

static pcsim_status read_text(const char *path, const char *text, double scale, int64_t *num,
                              double **corners) {
  int64_t n = 0, room = 0, line = 0;
  bool loop = false;
  for (const char *at = text, *next; *at; at = next) {
    const char *end = strchr(at, '\n');
    next = end ? end + 1 : at + strlen(at);
    if (!end) end = next;
    line++;
    while (at < end && is_blank(*at)) at++;
    if (!strncasecmp(at, "outer", 5)) {
      PCSIM_CHECK(n % 3 == 0, PCSIM_ERR_CASE, "%s:%lld: the loop before has %lld corners; expected 3", path,
                  (long long)line, (long long)(n % 3));
      loop = true;
    }
    if (!strncasecmp(at, "endloop", 7)) {
      PCSIM_CHECK(n % 3 == 0 && n > 0, PCSIM_ERR_CASE,
                  "%s:%lld: the loop has another number of corners than 3", path, (long long)line);
      loop = false;
    }
    if (strncasecmp(at, "vertex", 6) != 0) continue;
    if (n == room) {
      room = room ? 2 * room : 3 * 256;
      PCSIM_TRY(pcsim_realloc((size_t)room, 3 * sizeof(double), corners));
    }
    PCSIM_CHECK(loop, PCSIM_ERR_CASE, "%s:%lld: a corner outside of a loop", path, (long long)line);
    PCSIM_CHECK(read_vertex(at + 6, end, scale, *corners + 3 * n), PCSIM_ERR_CASE,
                "%s:%lld: expected `vertex` and three finite numbers", path, (long long)line);
    n++;
  }
  PCSIM_CHECK(!loop && n % 3 == 0, PCSIM_ERR_CASE, "%s ends within a triangle", path);
  PCSIM_CHECK(n > 0, PCSIM_ERR_CASE, "%s has no triangles", path);
  *num = n / 3;
  return PCSIM_OK;
}

static pcsim_status read_any(const char *path, const char *data, size_t size, double scale, int64_t *num,
                             double **corners) {
  const unsigned char *bytes = (const unsigned char *)data;
  if (size >= HEADER) {
    const uint32_t n = (uint32_t)bytes[80] | (uint32_t)bytes[81] << 8 | (uint32_t)bytes[82] << 16 |
                       (uint32_t)bytes[83] << 24;
    /* Some writers begin the title of a binary file with "solid": the size decides. */
    if (size == HEADER + (size_t)FACET * n) {
      PCSIM_CHECK(n > 0, PCSIM_ERR_CASE, "%s has no triangles", path);
      PCSIM_TRY(pcsim_alloc(n, 9 * sizeof(double), corners));
      *num = n;
      return read_binary(path, bytes, scale, n, *corners);
    }
    PCSIM_CHECK(strlen(data) == size, PCSIM_ERR_CASE,
                "%s is no STL file: %zu bytes, but its %u triangles would take %zu", path, size, (unsigned)n,
                HEADER + (size_t)FACET * n);
  }
  PCSIM_CHECK(strlen(data) == size && !strncasecmp(data, "solid", 5), PCSIM_ERR_CASE,
              "%s is no STL file: it neither begins with `solid` nor is it binary", path);
  return read_text(path, data, scale, num, corners);
}

pcsim_status stl_read(const char *path, double scale, int64_t *num, double **corners) {
  char *data = NULL;
  size_t size;
  *num = 0;
  *corners = NULL;
  PCSIM_TRY(pcsim_file_read(path, (size_t)4 << 30, &data, &size));
  const pcsim_status status = read_any(path, data, size, scale, num, corners);
  pcsim_free(&data);
  if (status != PCSIM_OK) pcsim_free(corners);
  return status;
}
