/* SPDX-License-Identifier: BSD-2-Clause */
/* PNG (ISO/IEC 15948): 8-bit RGB, the filter of each row chosen by the smallest sum of absolute differences.
 */
#include <pcsim/postproc.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void put32(uint8_t *p, uint32_t v) {
  p[0] = (uint8_t)(v >> 24), p[1] = (uint8_t)(v >> 16), p[2] = (uint8_t)(v >> 8), p[3] = (uint8_t)v;
}

static uint8_t *put_chunk(uint8_t *p, const char *type, const uint8_t *data, size_t size) {
  put32(p, (uint32_t)size);
  memcpy(p + 4, type, 4);
  if (size) memmove(p + 8, data, size);
  put32(p + 8 + size, (uint32_t)crc32(crc32(0, NULL, 0), p + 4, (uInt)(size + 4)));
  return p + size + 12;
}

static uint8_t paeth(int a, int b, int c) {
  int pa = abs(b - c), pb = abs(a - c), pc = abs(a + b - 2 * c);
  return (uint8_t)(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
}

static uint8_t predict(int filter, uint8_t left, uint8_t up, uint8_t corner) {
  switch (filter) {
  case 1:
    return left;
  case 2:
    return up;
  case 3:
    return (uint8_t)((left + up) / 2);
  case 4:
    return paeth(left, up, corner);
  default:
    return 0;
  }
}

/* One row behind its filter number. */
static void filter_row(int filter, const uint8_t *row, const uint8_t *above, size_t n, uint8_t *out) {
  out[0] = (uint8_t)filter;
  for (size_t i = 0; i < n; i++) {
    uint8_t left = i >= 3 ? row[i - 3] : 0, up = above ? above[i] : 0,
            corner = above && i >= 3 ? above[i - 3] : 0;
    out[i + 1] = (uint8_t)(row[i] - predict(filter, left, up, corner));
  }
}

static long row_cost(const uint8_t *out, size_t n) {
  long cost = 0;
  for (size_t i = 1; i <= n; i++) cost += out[i] < 128 ? out[i] : 256 - out[i];
  return cost;
}

static void filter_all(const pcsim_picture *picture, uint8_t *raw, uint8_t *trial) {
  const size_t n = (size_t)picture->width * 3;
  for (int y = 0; y < picture->height; y++) {
    const uint8_t *row = picture->rgb + (size_t)y * n, *above = y ? row - n : NULL;
    uint8_t *best = raw + (size_t)y * (n + 1);
    long best_cost = -1;
    for (int filter = 0; filter < 5; filter++) {
      filter_row(filter, row, above, n, trial);
      long cost = row_cost(trial, n);
      if (best_cost >= 0 && cost >= best_cost) continue;
      best_cost = cost;
      memcpy(best, trial, n + 1);
    }
  }
}

pcsim_status pcsim_picture_png(const pcsim_picture *picture, uint8_t **png, size_t *size) {
  *png = NULL;
  *size = 0;
  PCSIM_CHECK(picture && picture->width > 0 && picture->height > 0, PCSIM_ERR_ARG, "an empty picture");
  const size_t row = (size_t)picture->width * 3 + 1, raw_size = row * (size_t)picture->height;
  uLong bound = compressBound((uLong)raw_size);
  uint8_t *raw = NULL, *out = NULL;
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc(raw_size + row, 1, &raw), status, done);
  PCSIM_GOTO(pcsim_alloc(bound + 128, 1, &out), status, done);
  filter_all(picture, raw, raw + raw_size);
  static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  memcpy(out, signature, 8);
  uint8_t header[13] = {0};
  put32(header, (uint32_t)picture->width);
  put32(header + 4, (uint32_t)picture->height);
  header[8] = 8, header[9] = 2; /* bits, RGB */
  uint8_t *at = put_chunk(out + 8, "IHDR", header, 13);
  if (compress2(at + 8, &bound, raw, (uLong)raw_size, 9) != Z_OK) {
    status =
        pcsim_error_set(PCSIM_ERR_LIBRARY, __FILE__, __LINE__, __func__, "zlib cannot compress a picture");
    goto done;
  }
  at = put_chunk(at, "IDAT", at + 8, bound);
  at = put_chunk(at, "IEND", NULL, 0);
  *size = (size_t)(at - out);
  *png = out;
  out = NULL;
done:
  pcsim_free(&raw);
  pcsim_free(&out);
  return status;
}
