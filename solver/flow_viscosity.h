/* SPDX-License-Identifier: BSD-2-Clause */
/** @file flow_viscosity.h  Private to solver/: a viscosity that varies (generalised Newtonian fluids, fluids
 * whose viscosity depends on what flows along), written as values of programs.
 *
 *  The law (pcsim_flow_view.viscosity_law) is a program in the units of the case; here it stands at the
 * points of faces, with the shear rate sqrt(2 D:D + floor^2). The floor, 1e-6 of the velocity scale over the
 * length scale, keeps laws that have no value at rest, such as k shear^(n-1) with n < 1, and their
 * derivatives finite. Letters and scales as in flow.h. */
#ifndef PCSIM_SOLVER_FLOW_VISCOSITY_H
#define PCSIM_SOLVER_FLOW_VISCOSITY_H

#include "flow_law.h"

/** E = grad u + grad u^T = 2 D: e[i][j] one row each, e[i][j] is e[j][i]. */
typedef struct {
  pcsim_value e[3][3];
} strain_rate;
/** Of a velocity whose component i has the gradient g[i], d rows. */
void write_strain(const writer *w, const pcsim_value *g, strain_rate *strain);
/** E.S: d rows. */
pcsim_value write_strain_through(const writer *w, const strain_rate *strain, pcsim_value area);
/** The scaled viscosity of the law. */
pcsim_value write_viscosity(const writer *w, const law_viscosity *law, const strain_rate *strain);

/** What the law asks for: arrays of the flow, nothing if the viscosity is constant. */
pcsim_status flow_viscosity_create(flow *f) PCSIM_NODISCARD;
void flow_viscosity_destroy(flow *f);
/** The time of the faces' coordinates. */
void flow_viscosity_set_time(flow *f, double t);
/** The floor of the shear rate, and whether tangents see the viscosity change, in a march whose residual is
 * `share` of its largest; 1: at the beginning. Is the floor not at its end yet? */
void flow_viscosity_ease(flow *f, double share);
bool flow_viscosity_is_eased(const flow *f);
/** After a residual: what is not positive is kept for flow_viscosity_blame, and r [n][m] gets an entry in
 *  that cell which is no number, so that nobody goes on with it. Collective. */
void flow_viscosity_check(flow *f, double *r);
/** The last thing found since flow_viscosity_forgive, as a sentence. False: nothing was. */
bool flow_viscosity_blame(const flow *f, char *reason, size_t size);
void flow_viscosity_forgive(flow *f);

#endif
