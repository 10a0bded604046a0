/* SPDX-License-Identifier: BSD-2-Clause */
/* Flux kernels of the incompressible flow by hand; hand_2d.c and hand_3d.c define DIM and include this file.
 *
 * Face value of a field: cubic through both cells and their gradients along the centre line, plus the mean
 * gradient times the skewness r (face centre minus the point where the centre line meets the face):
 *   phi_f = (1-t) phi_P + t phi_N + gbar.r + kappa t(1-t) [ (1-2t)(phi_P - phi_N) + (1-t) g_P.d - t g_N.d ]
 * Mass flux (Rhie and Chow 1983, with tau = V/a_P free of the pseudo-time step):
 *   m = u_f.S - tau_f g [ (p_N - p_P) - gbar_p.d ],  g = |S|^2/(S.d)
 * Viscous flux: nu [ g (u_N - u_P) + gbar_u.(S - g d) ]. */
#include "by_hand.h"
#include "solver/simd.h"

#include <math.h>
#include <string.h>

#define M (DIM + 1)
#define FW FLOW_FACE_WIDTH(DIM)
#define WW FLOW_WALL_WIDTH(DIM)

static inline double dot(const double *a, const double *b) {
  double s = a[0] * b[0];
  for (int i = 1; i < DIM; i++) s += a[i] * b[i];
  return s;
}

/* ------------------------------------------------------------- coefficients */

/* Through time the flux is that of the velocity scale, 1: what depends on the flow would have to be frozen.
 */
PCSIM_CLONES static pcsim_status coefficients(flow *f) {
  memset(f->a_p, 0, (size_t)f->nt * sizeof *f->a_p);
  for (int64_t k = 0; k < f->ni; k++) {
    const double *x = f->face + k * FW;
    const double m = f->through_time ? sqrt(dot(x, x)) : fabs(f->mass[k]);
    const double a = 0.5 * m + f->nu * x[3 * DIM + 1];
    f->a_p[f->owner[k]] += a;
    f->a_p[f->neighbour[k]] += a;
  }
  for (int64_t k = 0; k < f->nb; k++) {
    const double *x = f->wall + k * WW;
    const double viscous = f->wall_kind[k] == PCSIM_FLOW_PRESSURE ? 0 : f->nu * x[2 * DIM];
    const double m = f->through_time ? sqrt(dot(x, x)) : fabs(f->mass[f->ni + k]);
    f->a_p[f->wall_owner[k]] += 0.5 * m + viscous;
  }
  for (int64_t c = 0; c < f->n; c++) f->tau[c] = f->rhie_chow * f->volume[c] / f->a_p[c];
  return PCSIM_OK;
}

/* ------------------------------------------------------------------- fluxes */

typedef struct {
  const double *S, *d, *r;
  double t, g;
} face_geometry;

static inline face_geometry face_of(const flow *f, int64_t k) {
  const double *x = f->face + k * FW;
  return (face_geometry){x, x + DIM, x + 2 * DIM, x[3 * DIM], x[3 * DIM + 1]};
}

/* Weights of the face value: own value a, gradients of both sides along b_p, b_n. */
static inline void face_weights(const face_geometry *e, double kappa, double *a, double *bp, double *bn) {
  const double t = e->t, c = kappa * t * (1 - t);
  *a = (1 - t) + c * (1 - 2 * t);
  for (int i = 0; i < DIM; i++) {
    bp[i] = (1 - t) * (e->r[i] + c * e->d[i]);
    bn[i] = t * (e->r[i] - c * e->d[i]);
  }
}

/* Interpolated velocity and pressure of a face, and the pressure jump beyond the linear course (Rhie-Chow).
 */
static inline void face_values(const face_geometry *e, double kappa, const double *xp, const double *xn,
                               const double *gp, const double *gn, double *uf, double *pf, double *jump) {
  double a, bp[DIM], bn[DIM];
  const double *gpp = gp + DIM * DIM, *gpn = gn + DIM * DIM;
  face_weights(e, kappa, &a, bp, bn);
  for (int i = 0; i < DIM; i++)
    uf[i] = a * xp[i] + (1 - a) * xn[i] + dot(gp + i * DIM, bp) + dot(gn + i * DIM, bn);
  *pf = a * xp[DIM] + (1 - a) * xn[DIM] + dot(gpp, bp) + dot(gpn, bn);
  *jump = xn[DIM] - xp[DIM] - (1 - e->t) * dot(gpp, e->d) - e->t * dot(gpn, e->d);
}

/* Blend of a central velocity with linear upwind from the side that the mass flux comes from. */
static inline void blend_upwind(const face_geometry *e, double beta, double m, const double *xp,
                                const double *xn, const double *gp, const double *gn, double *uf) {
  const bool from_p = m >= 0;
  const double *x = from_p ? xp : xn, *g = from_p ? gp : gn, shift = from_p ? e->t : e->t - 1;
  double b[DIM];
  for (int i = 0; i < DIM; i++) b[i] = e->r[i] + shift * e->d[i];
  for (int i = 0; i < DIM; i++) uf[i] = beta * uf[i] + (1 - beta) * (x[i] + dot(g + i * DIM, b));
}

/* Viscous flux of one velocity component without nu. */
static inline double face_viscous(const face_geometry *e, double jump, const double *gp, const double *gn) {
  double correct[DIM];
  for (int i = 0; i < DIM; i++) correct[i] = e->S[i] - e->g * e->d[i];
  return e->g * jump + (1 - e->t) * dot(gp, correct) + e->t * dot(gn, correct);
}

/* State of one boundary face: value (velocity, pressure) and outward volume flux. */
static inline double wall_state(const flow *f, int64_t k, const double *q, const double *grad,
                                double *value) {
  const int64_t c = f->wall_owner[k];
  const double *S = f->wall + k * WW, *d = S + DIM, g = S[2 * DIM];
  const double *x = q + c * M, *gr = grad + c * M * DIM, *given = f->wall_value + k * M;
  const double p_cell = x[DIM] + dot(gr + DIM * DIM, d);
  switch (f->wall_kind[k]) {
  case PCSIM_FLOW_VELOCITY:
  case PCSIM_FLOW_WALL:
    for (int i = 0; i < DIM; i++) value[i] = given[i];
    value[DIM] = p_cell;
    return dot(given, S);
  case PCSIM_FLOW_SLIP: {
    const double s2 = dot(S, S);
    double u[DIM];
    for (int i = 0; i < DIM; i++) u[i] = x[i] + dot(gr + i * DIM, d);
    const double un = dot(u, S) / s2;
    for (int i = 0; i < DIM; i++) value[i] = u[i] - un * S[i];
    value[DIM] = p_cell;
    return 0;
  }
  default: { /* pressure, total pressure */
    const double s2 = dot(S, S), un = dot(x, S);
    double m = un;
    if (f->wall_kind[k] == PCSIM_FLOW_TOTAL_PRESSURE) {
      /* flow along the normal: p = p0 - u_n^2/2 */
      for (int i = 0; i < DIM; i++) value[i] = un / s2 * S[i];
      value[DIM] = given[DIM] - (un < 0 ? 0.5 * un * un / s2 : 0);
    } else {
      for (int i = 0; i < DIM; i++) value[i] = x[i];
      value[DIM] = given[DIM];
      m -= f->tau[c] * g * (value[DIM] - p_cell);
    }
    return m;
  }
  }
}

/* Viscous flux nu du/dn |S| on a boundary face: two points, corrected for non-orthogonality, extrapolated to
 * the wall with the cell gradient so that parabolas are exact (set_share in gradient.c). */
static inline void wall_viscous(const flow *f, int64_t k, const double *x, const double *gr,
                                const double *value, double *flux) {
  const double *S = f->wall + k * WW, *d = S + DIM, g = S[2 * DIM];
  const uint8_t kind = f->wall_kind[k];
  if (kind == PCSIM_FLOW_PRESSURE || kind == PCSIM_FLOW_TOTAL_PRESSURE) {
    for (int i = 0; i < DIM; i++) flux[i] = 0;
    return;
  }
  if (kind == PCSIM_FLOW_SLIP) { /* only the normal component is held */
    const double un = dot(x, S) / dot(S, S);
    for (int i = 0; i < DIM; i++) flux[i] = -f->nu * g * un * S[i];
    return;
  }
  for (int i = 0; i < DIM; i++) {
    const double two = g * (value[i] - x[i]) + dot(gr + i * DIM, S) - g * dot(gr + i * DIM, d);
    flux[i] = f->nu * (two + S[2 * DIM + 1] * (two - dot(gr + i * DIM, S)));
  }
}

PCSIM_CLONES static pcsim_status residual(flow *f, double *r) {
  const double *q = f->q, *grad = f->grad, beta = f->central;
  const int64_t n = f->n;
  for (int64_t c = 0; c < n; c++) {
    for (int i = 0; i < DIM; i++) r[c * M + i] = -f->force[i] * f->volume[c];
    r[c * M + DIM] = 0;
  }
  for (int64_t k = 0; k < f->ni; k++) {
    const face_geometry e = face_of(f, k);
    const int64_t P = f->owner[k], N = f->neighbour[k];
    const double *xp = q + P * M, *xn = q + N * M, *gp = grad + P * M * DIM, *gn = grad + N * M * DIM;
    double uf[DIM], flux[M], pf, jump;
    face_values(&e, f->kappa, xp, xn, gp, gn, uf, &pf, &jump);
    const double tau = (1 - e.t) * f->tau[P] + e.t * f->tau[N];
    const double m = dot(uf, e.S) - tau * e.g * jump;
    if (beta < 1) blend_upwind(&e, beta, m, xp, xn, gp, gn, uf);
    for (int i = 0; i < DIM; i++)
      flux[i] = m * uf[i] + pf * e.S[i] - f->nu * face_viscous(&e, xn[i] - xp[i], gp + i * DIM, gn + i * DIM);
    flux[DIM] = m;
    f->mass[k] = m;
    for (int i = 0; i < DIM; i++) f->face_velocity[k * DIM + i] = uf[i];
    if (P < n)
      for (int i = 0; i < M; i++) r[P * M + i] += flux[i];
    if (N < n)
      for (int i = 0; i < M; i++) r[N * M + i] -= flux[i];
  }
  for (int64_t k = 0; k < f->nb; k++) {
    const int64_t c = f->wall_owner[k];
    const double *S = f->wall + k * WW;
    double value[M], viscous[DIM];
    const double m = wall_state(f, k, q, grad, value);
    wall_viscous(f, k, q + c * M, grad + c * M * DIM, value, viscous);
    f->mass[f->ni + k] = m;
    /* an outlet that sucks: half of the convective flux keeps the kinetic energy bounded */
    const double convected = f->wall_kind[k] == PCSIM_FLOW_PRESSURE && m < 0 ? 0.5 * m : m;
    for (int i = 0; i < DIM; i++) r[c * M + i] += convected * value[i] + value[DIM] * S[i] - viscous[i];
    r[c * M + DIM] += m;
  }
  return PCSIM_OK;
}

PCSIM_CLONES static pcsim_status tangent(flow *f, const double *v, const double *v_grad, double *y) {
  const double beta = f->central;
  const int64_t n = f->n;
  for (int64_t c = 0; c < n; c++) {
    for (int i = 0; i < DIM; i++) y[c * M + i] = f->diagonal[c] * v[c * M + i];
    y[c * M + DIM] = 0;
  }
  for (int64_t k = 0; k < f->ni; k++) {
    const face_geometry e = face_of(f, k);
    const int64_t P = f->owner[k], N = f->neighbour[k];
    const double *xp = v + P * M, *xn = v + N * M, *gp = v_grad + P * M * DIM, *gn = v_grad + N * M * DIM;
    double uf[DIM], flux[M], pf, jump;
    face_values(&e, f->kappa, xp, xn, gp, gn, uf, &pf, &jump);
    const double tau = (1 - e.t) * f->tau[P] + e.t * f->tau[N];
    const double dm = dot(uf, e.S) - tau * e.g * jump, m = f->mass[k], *base = f->face_velocity + k * DIM;
    if (beta < 1) blend_upwind(&e, beta, m, xp, xn, gp, gn, uf);
    for (int i = 0; i < DIM; i++)
      flux[i] = m * uf[i] + dm * base[i] + pf * e.S[i] -
                f->nu * face_viscous(&e, xn[i] - xp[i], gp + i * DIM, gn + i * DIM);
    flux[DIM] = dm;
    if (P < n)
      for (int i = 0; i < M; i++) y[P * M + i] += flux[i];
    if (N < n)
      for (int i = 0; i < M; i++) y[N * M + i] -= flux[i];
  }
  for (int64_t k = 0; k < f->nb; k++) {
    const int64_t c = f->wall_owner[k];
    const double *S = f->wall + k * WW, *d = S + DIM, g = S[2 * DIM];
    const double *x = v + c * M, *gr = v_grad + c * M * DIM;
    const double p_cell = x[DIM] + dot(gr + DIM * DIM, d);
    const uint8_t kind = f->wall_kind[k];
    double viscous[DIM], zero[M] = {0};
    wall_viscous(f, k, x, gr, zero, viscous);
    if (kind == PCSIM_FLOW_PRESSURE || kind == PCSIM_FLOW_TOTAL_PRESSURE) {
      const double s2 = dot(S, S), dun = dot(x, S), un = dot(f->q + c * M, S), m = f->mass[f->ni + k];
      const bool total = kind == PCSIM_FLOW_TOTAL_PRESSURE;
      const double dm = total ? dun : dun + f->tau[c] * g * p_cell;
      const double dp = total && un < 0 ? -un * dun / s2 : 0;
      const double share = !total && m < 0 ? 0.5 : 1;
      for (int i = 0; i < DIM; i++) {
        const double u = total ? un / s2 * S[i] : f->q[c * M + i], du = total ? dun / s2 * S[i] : x[i];
        y[c * M + i] += share * (dm * u + m * du) + dp * S[i];
      }
      y[c * M + DIM] += dm;
    } else {
      for (int i = 0; i < DIM; i++) y[c * M + i] += p_cell * S[i] - viscous[i];
    }
  }
  return PCSIM_OK;
}

/* ---------------------------------------------------------------- jacobian */

static pcsim_status jacobian(flow *f, void *context, flow_add_block add) {
  double B[M * M];
  for (int64_t k = 0; k < f->ni; k++) {
    const face_geometry e = face_of(f, k);
    const int32_t P = f->owner[k], N = f->neighbour[k];
    const double m = f->mass[k], *uf = f->face_velocity + k * DIM;
    const double tau = (1 - e.t) * f->tau[P] + e.t * f->tau[N], visc = f->nu * e.g;
    /* side 0: derivative with respect to P, side 1: to N; the flux leaves P and enters N */
    for (int side = 0; side < 2; side++) {
      const double w = side ? e.t : 1 - e.t, dmp = side ? -tau * e.g : tau * e.g;
      const double up = (side ? fmin(m, 0) : fmax(m, 0)) + (side ? -visc : visc);
      for (int i = 0; i < DIM; i++) {
        for (int j = 0; j < DIM; j++) B[i * M + j] = uf[i] * w * e.S[j] + (i == j ? up : 0);
        B[i * M + DIM] = w * e.S[i] + uf[i] * dmp;
      }
      for (int j = 0; j < DIM; j++) B[DIM * M + j] = w * e.S[j];
      B[DIM * M + DIM] = dmp;
      const int32_t column = side ? N : P;
      double C[M * M];
      for (int i = 0; i < M * M; i++) C[i] = -B[i];
      add(context, P, column, 4 * k + 2 * 0 + side, B);
      add(context, N, column, 4 * k + 2 * 1 + side, C);
    }
  }
  for (int64_t k = 0; k < f->nb; k++) {
    const int32_t c = f->wall_owner[k];
    const double *S = f->wall + k * WW, g = S[2 * DIM], m = f->mass[f->ni + k];
    const uint8_t kind = f->wall_kind[k];
    memset(B, 0, sizeof B);
    if (kind == PCSIM_FLOW_PRESSURE) {
      const double dmp = f->tau[c] * g, *u = f->q + (int64_t)c * M, share = m < 0 ? 0.5 : 1;
      for (int i = 0; i < DIM; i++) {
        for (int j = 0; j < DIM; j++) B[i * M + j] = share * (u[i] * S[j] + (i == j ? m : 0));
        B[i * M + DIM] = share * u[i] * dmp;
      }
      for (int j = 0; j < DIM; j++) B[DIM * M + j] = S[j];
      B[DIM * M + DIM] = dmp;
    } else if (kind == PCSIM_FLOW_TOTAL_PRESSURE) {
      const double s2 = dot(S, S), un = dot(f->q + (int64_t)c * M, S);
      for (int i = 0; i < DIM; i++)
        for (int j = 0; j < DIM; j++) B[i * M + j] = (2 * un / s2 - (un < 0 ? un / s2 : 0)) * S[i] * S[j];
      for (int j = 0; j < DIM; j++) B[DIM * M + j] = S[j];
    } else {
      const double s2 = dot(S, S), visc = f->nu * g;
      for (int i = 0; i < DIM; i++) {
        for (int j = 0; j < DIM; j++)
          B[i * M + j] = kind == PCSIM_FLOW_SLIP ? visc * S[i] * S[j] / s2 : (i == j ? visc : 0);
        B[i * M + DIM] = S[i];
      }
    }
    add(context, c, c, 4 * f->ni + k, B);
  }
  return PCSIM_OK;
}

static pcsim_status boundary(flow *f, double *value, double *friction, double *flow_rate) {
  for (int64_t k = 0; k < f->nb; k++) {
    const int64_t c = f->wall_owner[k];
    double viscous[DIM];
    flow_rate[k] = wall_state(f, k, f->q, f->grad, value + k * M);
    wall_viscous(f, k, f->q + c * M, f->grad + c * M * DIM, value + k * M, viscous);
    for (int i = 0; i < DIM; i++) friction[k * DIM + i] = -viscous[i];
  }
  return PCSIM_OK;
}
