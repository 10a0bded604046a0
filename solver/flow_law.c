/* SPDX-License-Identifier: BSD-2-Clause */
/* The discrete flow at one face, after docs/flow.md. Face value of a field: cubic through both cells and
 * their gradients along the centre line d, plus the mean gradient times the skewness r (face centre minus the
 * point where the centre line meets the face, at the share t of it): phi_f = (1-t) phi_P + t phi_N + gbar.r +
 * kappa t(1-t) [ (1-2t)(phi_P - phi_N) + (1-t) g_P.d - t g_N.d ] Mass flux (Rhie and Chow 1983, with tau =
 * V/a_P free of the pseudo-time step): m = u_f.S - tau_f g [ (p_N - p_P) - gbar_p.d ],  g = |S|^2/(S.d)
 * Viscous flux: nu [ g (u_N - u_P) + gbar_u.(S - g d) ], which is nu G.S with the gradient G = gbar_u + (u_N
 * - u_P - gbar_u.d) S/(S.d). Where nu varies it is that of G, and the flux nu (G + G^T).S (flow_viscosity.c).
 */
#include "flow_viscosity.h"

static pcsim_value rows(const writer *w, pcsim_value a, int first, int n) {
  return pcsim_build_slice(w->p, a, first, n);
}

/* g . b for `n` unknowns from `first` on: n rows. */
static pcsim_value along(const writer *w, pcsim_value g, int first, int n, pcsim_value b) {
  pcsim_value part[4];
  for (int i = 0; i < n; i++) part[i] = write_dot(w, rows(w, g, (first + i) * w->d, w->d), b);
  return n == 1 ? part[0] : pcsim_build_concat(w->p, part, n);
}

static pcsim_value where(const writer *w, pcsim_value condition, pcsim_value yes, pcsim_value no) {
  const pcsim_value in[3] = {condition, yes, no};
  return pcsim_build_op(w->p, PCSIM_OP_WHERE, in, 3);
}

static pcsim_value join(const writer *w, pcsim_value a, pcsim_value b) {
  const pcsim_value both[2] = {a, b};
  return pcsim_build_concat(w->p, both, 2);
}

/* ---------------------------------------------------------------- inside */

/* The geometry of a face in its parts; s = 1 - t. */
typedef struct {
  pcsim_value area, line, skew, t, s, g;
} face_parts;

static face_parts parts_of(const writer *w, pcsim_value geometry) {
  const int d = w->d;
  face_parts e = {.area = rows(w, geometry, 0, d),
                  .line = rows(w, geometry, d, d),
                  .skew = rows(w, geometry, 2 * d, d),
                  .t = rows(w, geometry, 3 * d, 1),
                  .g = rows(w, geometry, 3 * d + 1, 1)};
  e.s = write_sub(w, write_number(w, 1), e.t);
  return e;
}

/* Interpolated unknowns, m rows. */
static pcsim_value interpolated(const writer *w, double kappa, const face_parts *e, const law_face *f) {
  const pcsim_value c = write_mul(w, write_number(w, kappa), write_mul(w, e->t, e->s));
  const pcsim_value bend = write_mul(w, c, write_sub(w, e->s, e->t));
  const pcsim_value own = write_add(w, e->s, bend), other = write_sub(w, e->t, bend);
  const pcsim_value reach = write_mul(w, c, e->line);
  const pcsim_value bp = write_mul(w, e->s, write_add(w, e->skew, reach));
  const pcsim_value bn = write_mul(w, e->t, write_sub(w, e->skew, reach));
  const pcsim_value values = write_add(w, write_mul(w, own, f->xp), write_mul(w, other, f->xn));
  const pcsim_value slopes = write_add(w, along(w, f->gp, 0, w->m, bp), along(w, f->gn, 0, w->m, bn));
  return write_add(w, values, slopes);
}

/* Pressure jump beyond the linear course. */
static pcsim_value pressure_jump(const writer *w, const face_parts *e, const law_face *f) {
  const int d = w->d;
  const pcsim_value linear = write_add(w, along(w, f->gp, d, 1, write_mul(w, e->s, e->line)),
                                       along(w, f->gn, d, 1, write_mul(w, e->t, e->line)));
  return write_sub(w, write_sub(w, write_row(w, f->xn, d), write_row(w, f->xp, d)), linear);
}

/* Linear upwind velocity from the side that the mass flux comes from. */
static pcsim_value upwind(const writer *w, const face_parts *e, const law_face *f, pcsim_value mass) {
  const int d = w->d;
  const pcsim_value bp = write_add(w, e->skew, write_mul(w, e->t, e->line));
  const pcsim_value bn = write_sub(w, e->skew, write_mul(w, e->s, e->line));
  const pcsim_value left = write_add(w, rows(w, f->xp, 0, d), along(w, f->gp, 0, d, bp));
  const pcsim_value right = write_add(w, rows(w, f->xn, 0, d), along(w, f->gn, 0, d, bn));
  return where(w, write_op(w, PCSIM_OP_LE, write_number(w, 0), mass), left, right);
}

/* The velocity's gradient on the face, d columns of d rows: column i is that of u_i. */
static void face_gradient(const writer *w, const face_parts *e, const law_face *f, pcsim_value *g) {
  const int d = w->d;
  const pcsim_value along_line = write_div(w, e->area, write_dot(w, e->area, e->line));
  for (int i = 0; i < d; i++) {
    const pcsim_value mean = write_add(w, write_mul(w, e->s, rows(w, f->gp, i * d, d)),
                                       write_mul(w, e->t, rows(w, f->gn, i * d, d)));
    const pcsim_value jump = write_sub(w, write_row(w, f->xn, i), write_row(w, f->xp, i));
    const pcsim_value missing = write_sub(w, jump, write_dot(w, mean, e->line));
    g[i] = write_add(w, mean, write_mul(w, missing, along_line));
  }
}

/* Viscous flux without nu, which the law gives if nobody else has. */
static pcsim_value varying_friction(const writer *w, const face_parts *e, const law_face *f,
                                    pcsim_value *nu) {
  pcsim_value g[3];
  strain_rate strain;
  face_gradient(w, e, f, g);
  write_strain(w, g, &strain);
  if (*nu < 0) *nu = write_viscosity(w, f->law, &strain);
  return write_strain_through(w, &strain, e->area);
}

/* Viscous flux without nu. */
static pcsim_value friction(const writer *w, const face_parts *e, const law_face *f) {
  const int d = w->d;
  const pcsim_value correct = write_sub(w, e->area, write_mul(w, e->g, e->line));
  const pcsim_value jump = write_sub(w, rows(w, f->xn, 0, d), rows(w, f->xp, 0, d));
  const pcsim_value slopes = write_add(w, along(w, f->gp, 0, d, write_mul(w, e->s, correct)),
                                       along(w, f->gn, 0, d, write_mul(w, e->t, correct)));
  return write_add(w, write_mul(w, e->g, jump), slopes);
}

law_face_flux law_write_face(const writer *w, const flow_choices *choices, const law_face *f) {
  const int d = w->d;
  const face_parts e = parts_of(w, f->geometry);
  const pcsim_value x = interpolated(w, choices->kappa, &e, f);
  const pcsim_value tau = write_add(w, write_mul(w, e.s, f->tau_p), write_mul(w, e.t, f->tau_n));
  law_face_flux out = {.velocity = rows(w, x, 0, d),
                       .dissipation = write_mul(w, tau, e.g),
                       .jump = pressure_jump(w, &e, f),
                       .nu = f->nu};
  const pcsim_value interpolation = write_dot(w, out.velocity, e.area);
  out.mass = write_sub(w, interpolation, write_mul(w, out.dissipation, out.jump));
  if (choices->central < 1) {
    const pcsim_value share = write_number(w, choices->central), rest = write_number(w, 1 - choices->central);
    out.velocity =
        write_add(w, write_mul(w, share, out.velocity), write_mul(w, rest, upwind(w, &e, f, out.mass)));
  }
  const pcsim_value convected = write_mul(w, out.mass, out.velocity);
  const pcsim_value pressure = write_mul(w, write_row(w, x, d), e.area);
  const pcsim_value viscous = f->law ? varying_friction(w, &e, f, &out.nu) : friction(w, &e, f);
  const pcsim_value momentum = write_sub(w, write_add(w, convected, pressure), write_mul(w, out.nu, viscous));
  out.flux = join(w, momentum, out.mass);
  return out;
}

/* -------------------------------------------------------------- boundaries */

/* A boundary face taken apart. */
typedef struct {
  pcsim_value area, line, g, share;
  pcsim_value u, given;  /* velocity of the cell; given velocity */
  pcsim_value area2, un; /* |S|^2, u.S */
  pcsim_value pressure;  /* the cell's, extrapolated to the face */
} boundary_parts;

static boundary_parts boundary_parts_of(const writer *w, const law_boundary *b) {
  const int d = w->d;
  boundary_parts e = {.area = rows(w, b->geometry, 0, d),
                      .line = rows(w, b->geometry, d, d),
                      .g = rows(w, b->geometry, 2 * d, 1),
                      .share = rows(w, b->geometry, 2 * d + 1, 1),
                      .u = rows(w, b->x, 0, d),
                      .given = rows(w, b->value, 0, d)};
  e.area2 = write_dot(w, e.area, e.area);
  e.un = write_dot(w, e.u, e.area);
  e.pressure = write_add(w, write_row(w, b->x, d), along(w, b->g, d, 1, e.line));
  return e;
}

/* Two points, corrected for non-orthogonality, extrapolated to the wall with the cell's gradient so that
 * parabolas are exact (gradient.h). */
static pcsim_value wall_friction(const writer *w, const law_boundary *b, const boundary_parts *e) {
  const int d = w->d;
  const pcsim_value slope = along(w, b->g, 0, d, e->area), reach = along(w, b->g, 0, d, e->line);
  const pcsim_value jump = write_sub(w, write_sub(w, e->given, e->u), reach);
  const pcsim_value missing = write_mul(w, e->g, jump); /* two points - fitted */
  const pcsim_value two = write_add(w, missing, slope);
  return write_mul(w, b->nu, write_add(w, two, write_mul(w, e->share, missing)));
}

static law_boundary_flux given_velocity(const writer *w, const law_boundary *b, const boundary_parts *e) {
  return (law_boundary_flux){.mass = write_dot(w, e->given, e->area),
                             .state = join(w, e->given, e->pressure),
                             .viscous = b->law ? PCSIM_NO_VALUE : wall_friction(w, b, e)};
}

/* The cell's gradient, with the slope that meets the given velocity as in wall_friction. */
static void wall_gradient(const writer *w, const law_boundary *b, const boundary_parts *e, bool meets,
                          pcsim_value *g) {
  const int d = w->d;
  const pcsim_value outward = write_div(w, e->area, write_dot(w, e->area, e->line));
  const pcsim_value factor = write_add(w, write_number(w, 1), e->share);
  for (int i = 0; i < d; i++) {
    g[i] = rows(w, b->g, i * d, d);
    if (!meets) continue;
    const pcsim_value jump = write_sub(w, write_row(w, e->given, i), write_row(w, e->u, i));
    const pcsim_value missing = write_sub(w, jump, write_dot(w, g[i], e->line));
    g[i] = write_add(w, g[i], write_mul(w, write_mul(w, factor, missing), outward));
  }
}

/* What friction takes out of the cell where the viscosity varies. Along an outlet the velocity does not
 * change across it: what is left of the stress acts along it, by the slope of the normal velocity. At a slip
 * wall it acts across. */
static pcsim_value varying_viscous(const writer *w, flow_group_kind kind, const law_boundary *b,
                                   const boundary_parts *e, pcsim_value *nu) {
  pcsim_value g[3], parts[3];
  strain_rate strain;
  wall_gradient(w, b, e, kind == FLOW_GROUP_GIVEN, g);
  write_strain(w, g, &strain);
  if (*nu < 0) *nu = write_viscosity(w, b->law, &strain);
  if (kind == FLOW_GROUP_GIVEN) return write_mul(w, *nu, write_strain_through(w, &strain, e->area));
  if (kind == FLOW_GROUP_SLIP) {
    const pcsim_value twice = write_mul(w, write_number(w, -2), write_mul(w, *nu, e->g));
    return write_mul(w, write_mul(w, twice, write_div(w, e->un, e->area2)), e->area);
  }
  for (int j = 0; j < w->d; j++) {
    for (int i = 0; i < w->d; i++) {
      const pcsim_value part = write_mul(w, write_row(w, g[i], j), write_row(w, e->area, i));
      parts[j] = i ? write_add(w, parts[j], part) : part;
    }
  }
  const pcsim_value slope = pcsim_build_concat(w->p, parts, w->d); /* of u.S */
  const pcsim_value across = write_div(w, write_dot(w, slope, e->area), e->area2);
  return write_mul(w, *nu, write_sub(w, slope, write_mul(w, across, e->area)));
}

/* Only the normal component is held. */
static law_boundary_flux slip(const writer *w, const law_boundary *b, const boundary_parts *e) {
  const pcsim_value u = write_add(w, e->u, along(w, b->g, 0, w->d, e->line));
  const pcsim_value through = write_div(w, write_dot(w, u, e->area), e->area2);
  law_boundary_flux out = {.mass = PCSIM_NO_VALUE,
                           .state = join(w, write_sub(w, u, write_mul(w, through, e->area)), e->pressure),
                           .viscous = PCSIM_NO_VALUE};
  if (b->law) return out;
  const pcsim_value held = write_mul(w, write_mul(w, b->nu, e->g), write_div(w, e->un, e->area2));
  out.viscous = pcsim_build_unary(w->p, PCSIM_OP_NEG, write_mul(w, held, e->area));
  return out;
}

/* No friction. */
static law_boundary_flux outlet(const writer *w, const law_boundary *b, const boundary_parts *e) {
  const pcsim_value p = write_row(w, b->value, w->d), jump = write_sub(w, p, e->pressure);
  const pcsim_value dissipation = write_mul(w, write_mul(w, b->tau, e->g), jump);
  return (law_boundary_flux){
      .mass = write_sub(w, e->un, dissipation), .state = join(w, e->u, p), .viscous = PCSIM_NO_VALUE};
}

/* Flow along the normal: where it comes in, p = p0 - u_n^2/2. */
static law_boundary_flux total_pressure(const writer *w, const law_boundary *b, const boundary_parts *e) {
  const pcsim_value zero = write_number(w, 0), in = write_op(w, PCSIM_OP_LT, e->un, zero);
  const pcsim_value normal = write_div(w, e->un, e->area2);
  const pcsim_value head = write_mul(w, write_number(w, 0.5), write_mul(w, e->un, normal));
  const pcsim_value p = write_sub(w, write_row(w, b->value, w->d), where(w, in, head, zero));
  return (law_boundary_flux){
      .mass = e->un, .state = join(w, write_mul(w, normal, e->area), p), .viscous = PCSIM_NO_VALUE};
}

law_boundary_flux law_write_boundary(const writer *w, flow_group_kind kind, const law_boundary *b) {
  static law_boundary_flux (*const write[FLOW_NUM_GROUPS])(const writer *, const law_boundary *,
                                                           const boundary_parts *) = {given_velocity, slip,
                                                                                      outlet, total_pressure};
  const boundary_parts e = boundary_parts_of(w, b);
  law_boundary_flux out = write[kind](w, b, &e);
  out.nu = b->nu;
  if (b->law) out.viscous = varying_viscous(w, kind, b, &e, &out.nu);
  pcsim_value momentum = write_mul(w, write_row(w, out.state, w->d), e.area), convected = out.mass;
  if (kind == FLOW_GROUP_OUTLET) { /* one that sucks: half of the flux keeps the kinetic energy bounded */
    const pcsim_value half = write_mul(w, write_number(w, 0.5), out.mass);
    convected = where(w, write_op(w, PCSIM_OP_LT, out.mass, write_number(w, 0)), half, out.mass);
  }
  if (convected >= 0) momentum = write_add(w, momentum, write_mul(w, convected, rows(w, out.state, 0, w->d)));
  if (out.viscous >= 0) momentum = write_sub(w, momentum, out.viscous);
  out.flux = join(w, momentum, out.mass >= 0 ? out.mass : write_mul(w, write_number(w, 0), e.un));
  return out;
}

/* ------------------------------------------------------------ coefficients */

pcsim_value law_write_pace(const writer *w, bool given, bool friction, pcsim_value area, pcsim_value g,
                           pcsim_value mass, pcsim_value nu) {
  const pcsim_value viscous = friction ? write_mul(w, nu, g) : write_number(w, 0);
  if (mass < 0 && !given) return viscous;
  const pcsim_value flux = given ? pcsim_build_unary(w->p, PCSIM_OP_SQRT, write_dot(w, area, area))
                                 : pcsim_build_unary(w->p, PCSIM_OP_ABS, mass);
  return write_add(w, viscous, write_mul(w, write_number(w, 0.5), flux));
}
