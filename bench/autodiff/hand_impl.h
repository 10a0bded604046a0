/* SPDX-License-Identifier: BSD-2-Clause */
/** @file hand_impl.h  The sequence as one would write it by hand: two passes, u, v and p in one vector.
 * Included once by each hand_*.c, which sets NAME(x). */
#include "residual.h"
#include "sequence.h"

#include <string.h>

typedef double four __attribute__((vector_size(32)));
typedef int64_t mask __attribute__((vector_size(32)));
#define ALL(x) ((four){x, x, x, x})
#define SELECT(m, a, b) ((four)(((m) & (mask)(a)) | (~(m) & (mask)(b))))
#if defined(__AVX__)
#include <immintrin.h>
#define LESS(a, b) _mm256_min_pd(a, b)
#define MORE(a, b) _mm256_max_pd(a, b)
#else
#define LESS(a, b) SELECT((a) < (b), a, b)
#define MORE(a, b) SELECT((a) > (b), a, b)
#endif
#define INLINE static inline __attribute__((always_inline))

INLINE four three(const double *a) { return (four){a[0], a[1], a[2], 0}; }
INLINE four load(const double *a) {
  four x;
  memcpy(&x, a, sizeof x);
  return x;
}

INLINE four limit(four low, four high, four dx, four dy, const double *reach, four room, four limiter) {
  const four d = dx * reach[0] + dy * reach[1], to = SELECT(d > 0, high, low);
  const four above = to * to + room, across = d * to;
  const four l = (above + 2 * across) / (above + across + 2 * (d * d));
  return LESS(l, limiter);
}

void NAME(hand_cells)(const hand_loops *h, int64_t begin, int64_t end) {
  const double *q = h->q;
  int32_t e = h->near_start[begin];
  for (int64_t c = begin; c < end; c++) {
    const four own = three(q + 3 * c);
    four dx = {0}, dy = {0}, low = {0}, high = {0};
    for (; e < h->near_start[c + 1]; e++) {
      const four d = load(q + 3 * h->near[e]) - own;
      dx += d * h->weight[2 * e];
      dy += d * h->weight[2 * e + 1];
      low = LESS(d, low);
      high = MORE(d, high);
    }
    const double length = h->length[c], *reach = h->mesh->reach + 6 * c;
    const four room = ALL(SEQUENCE_ROOM * length * length * length);
    four l = limit(low, high, dx, dy, reach, room, ALL(1));
    l = limit(low, high, dx, dy, reach + 2, room, l);
    l = limit(low, high, dx, dy, reach + 4, room, l);
    const double fast = (own[0] < 0 ? -own[0] : own[0]) + (own[1] < 0 ? -own[1] : own[1]);
    four *slope = (four *)(h->slope + 8 * c);
    dx *= l;
    dx[3] = length * length / (12 * SEQUENCE_NU + length * fast);
    slope[0] = dx;
    slope[1] = dy * l;
  }
}

/** Flux through face f out of its owner. */
INLINE four find_flux(const hand_loops *h, const double *face, int64_t p, int64_t n) {
  const four *sp = (const four *)(h->slope + 8 * p), *sn = (const four *)(h->slope + 8 * n);
  const four qp = load(h->q + 3 * p), qn = load(h->q + 3 * n), px = sp[0], py = sp[1], nx = sn[0], ny = sn[1];
  const four left = qp + px * face[0] + py * face[1], right = qn + nx * face[2] + ny * face[3];
  const four mean = 0.5 * (left + right), jump = qn - qp;
  const four across = 0.5 * ((px + nx) * (face[0] - face[2]) + (py + ny) * (face[1] - face[3]));
  const double tau = 0.5 * (px[3] + nx[3]);
  const double m = face[4] * mean[0] + face[5] * mean[1] - tau * face[6] * (jump[2] - across[2]);
  const four up = m > 0 ? left : right;
  four flux = m * up + mean[2] * (four){face[4], face[5], 0, 0} - (SEQUENCE_NU * face[6]) * jump;
  flux[2] = m;
  return flux;
}

INLINE void add(double *r, four flux) {
  r[0] += flux[0];
  r[1] += flux[1];
  r[2] += flux[2];
}

static void NAME(add_walls)(const hand_loops *h, int64_t begin, int64_t end) {
  for (int64_t w = 0; w < h->mesh->num_walls; w++) {
    const int64_t c = h->mesh->inside[w];
    if (c < begin || c >= end) continue;
    const double *wall = h->mesh->wall + 5 * w, *slope = h->slope + 8 * c, *q = h->q + 3 * c;
    const double p = q[2] + slope[2] * wall[0] + slope[6] * wall[1];
    h->r[3 * c] += p * wall[2] + SEQUENCE_NU * wall[4] * q[0];
    h->r[3 * c + 1] += p * wall[3] + SEQUENCE_NU * wall[4] * q[1];
  }
}

/** First face whose owner is at least c. */
static int64_t NAME(first_face)(const triangles *m, int64_t c) {
  int64_t low = 0, high = m->num_faces;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (m->owner[middle] < c) low = middle + 1;
    else high = middle;
  }
  return low;
}

void NAME(hand_faces)(const hand_loops *h, int64_t begin, int64_t end, const int32_t *others, int64_t n) {
  const triangles *m = h->mesh;
  double *r = h->r;
  memset(r + 3 * begin, 0, (size_t)(end - begin) * 3 * sizeof *r);
  const int64_t last = NAME(first_face)(m, end);
  for (int64_t f = NAME(first_face)(m, begin); f < last; f++) {
    const four flux = find_flux(h, m->face + 7 * f, m->owner[f], m->neighbour[f]);
    add(r + 3 * m->owner[f], flux);
    if (m->neighbour[f] < end) add(r + 3 * m->neighbour[f], -flux);
  }
  for (int64_t i = 0; i < n; i++) {
    const int64_t f = others[i];
    add(r + 3 * m->neighbour[f], -find_flux(h, m->face + 7 * f, m->owner[f], m->neighbour[f]));
  }
  NAME(add_walls)(h, begin, end);
}

/* ------------------------------------------------------------------- the residual of a network */

void NAME(hand_residual)(int64_t n, const double *const in[RESIDUAL_INPUTS],
                         double *const seed[RESIDUAL_INPUTS]) {
  const double *restrict u = in[0], *restrict v = in[1], *restrict u_x = in[2], *restrict u_y = in[3],
                         *restrict v_x = in[4], *restrict v_y = in[5], *restrict p_x = in[6],
                         *restrict p_y = in[7], *restrict lap_u = in[8], *restrict lap_v = in[9];
  const double factor = 2 / (double)n, nu = RESIDUAL_NU;
  for (int64_t i = 0; i < n; i++) {
    const double a = factor * (u[i] * u_x[i] + v[i] * u_y[i] + p_x[i] - nu * lap_u[i]),
                 b = factor * (u[i] * v_x[i] + v[i] * v_y[i] + p_y[i] - nu * lap_v[i]),
                 c = factor * (u_x[i] + v_y[i]);
    seed[0][i] = a * u_x[i] + b * v_x[i];
    seed[1][i] = a * u_y[i] + b * v_y[i];
    seed[2][i] = a * u[i] + c;
    seed[3][i] = a * v[i];
    seed[4][i] = b * u[i];
    seed[5][i] = b * v[i] + c;
    seed[6][i] = a;
    seed[7][i] = b;
    seed[8][i] = -nu * a;
    seed[9][i] = -nu * b;
  }
}
