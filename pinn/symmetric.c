/* SPDX-License-Identifier: BSD-2-Clause */
#include "symmetric.h"

#include "simd.h"

#include <string.h>

enum {
  PARTS = 32 /**< pieces of work, each with a sum of its own: what a number of threads does not change */
};

struct symmetric_work {
  int64_t n, bands;
  pcsim_pool *pool;
  int64_t first[PARTS + 1]; /**< bands of a part */
  double *vectors;          /**< x, s, z [8 bands] each, padded with zeros */
  double *sums;             /**< [PARTS][8 bands] */
  double *a;                /**< of the call */
  symmetric_change change;
};

static int64_t bands_of(int64_t n) { return (n + LANES - 1) / LANES; }
/** Where band b begins: each band k before it has 8 rows of 8 (k + 1) numbers. */
static int64_t band_at(int64_t b) { return LANES * LANES * (b * (b + 1) / 2); }

int64_t symmetric_size(int64_t n) { return band_at(bands_of(n)); }

void symmetric_identity(int64_t n, double c, double *a) {
  memset(a, 0, (size_t)symmetric_size(n) * sizeof *a);
  for (int64_t i = 0; i < n; i++) {
    const int64_t b = i / LANES, row = LANES * (b + 1);
    a[band_at(b) + i % LANES * row + i] = c;
  }
}

void symmetric_take(int64_t n, const double *from, double *a) {
  memset(a, 0, (size_t)symmetric_size(n) * sizeof *a);
  for (int64_t i = 0; i < n; i++) {
    const int64_t b = i / LANES, row = LANES * (b + 1), end = row < n ? row : n;
    double *to = a + band_at(b) + i % LANES * row;
    memcpy(to, from + i * n, (size_t)(i + 1) * sizeof *to);
    for (int64_t j = i + 1; j < end; j++) to[j] = from[j * n + i];
  }
}

pcsim_status symmetric_work_create(int64_t n, pcsim_pool *pool, symmetric_work **work) {
  symmetric_work *w = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *w, &w));
  w->n = n, w->bands = bands_of(n), w->pool = pool;
  const int64_t padded = LANES * w->bands, size = symmetric_size(n);
  for (int64_t b = 0, part = 0; b < w->bands; b++)
    while (part < PARTS && band_at(b + 1) * PARTS >= size * part) w->first[part++] = b;
  w->first[0] = 0, w->first[PARTS] = w->bands;
  pcsim_status status = pcsim_alloc((size_t)(3 * padded), sizeof *w->vectors, &w->vectors);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)(PARTS * padded), sizeof *w->sums, &w->sums);
  if (status != PCSIM_OK) symmetric_work_destroy(&w);
  *work = w;
  return status;
}

void symmetric_work_destroy(symmetric_work **work) {
  if (!*work) return;
  pcsim_free(&(*work)->vectors);
  pcsim_free(&(*work)->sums);
  pcsim_free(work);
}

static inline double add_lanes(v8 a) {
  return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

/** Band b: its rows are changed; sum += the band times x for its own rows, and, left of the square, its
 *  transpose times x for the rows above. */
PCSIM_CLONES static void do_band(int64_t b, double *restrict band, const symmetric_change *c,
                                 const double *restrict x, double *restrict sum) {
  const int64_t row = LANES * (b + 1), at = LANES * b;
  double by_s[LANES], by_z[LANES];
  v8 product[LANES];
  for (int i = 0; i < LANES; i++) {
    by_s[i] = c->ss * c->s[at + i] + c->sz * c->z[at + i];
    by_z[i] = c->sz * c->s[at + i] + c->zz * c->z[at + i];
    product[i] = (v8){0};
  }
  for (int64_t j = 0; j < row; j += LANES) {
    const v8 s = *(const v8 *)(c->s + j), z = *(const v8 *)(c->z + j), xj = *(const v8 *)(x + j);
    v8 above = {0};
    for (int i = 0; i < LANES; i++) {
      v8 *a = (v8 *)(band + i * row + j);
      const v8 changed = c->scale * *a + by_s[i] * s + by_z[i] * z;
      *a = changed;
      product[i] += changed * xj;
      above += changed * x[at + i];
    }
    if (j < at) *(v8 *)(sum + j) += above;
  }
  for (int i = 0; i < LANES; i++) sum[at + i] += add_lanes(product[i]);
}

static void do_part(void *context, int part, int thread) {
  const symmetric_work *w = context;
  double *sum = w->sums + part * LANES * w->bands;
  (void)thread;
  memset(sum, 0, (size_t)(LANES * w->first[part + 1]) * sizeof *sum);
  for (int64_t b = w->first[part]; b < w->first[part + 1]; b++)
    do_band(b, w->a + band_at(b), &w->change, w->vectors, sum);
}

void symmetric_change_multiply(symmetric_work *w, double *a, const symmetric_change *c, const double *x,
                               double *out) {
  const int64_t padded = LANES * w->bands;
  const size_t bytes = (size_t)w->n * sizeof *x;
  memcpy(w->vectors, x, bytes);
  memcpy(w->vectors + padded, c->s, bytes);
  memcpy(w->vectors + 2 * padded, c->z, bytes);
  w->change = *c;
  w->change.s = w->vectors + padded, w->change.z = w->vectors + 2 * padded;
  w->a = a;
  pcsim_pool_run(w->pool, PARTS, do_part, w);
  memset(out, 0, bytes);
  for (int part = 0; part < PARTS; part++) {
    const int64_t end = LANES * w->first[part + 1] < w->n ? LANES * w->first[part + 1] : w->n;
    const double *sum = w->sums + part * padded;
    if (w->first[part] == w->first[part + 1]) continue;
    for (int64_t i = 0; i < end; i++) out[i] += sum[i];
  }
}
