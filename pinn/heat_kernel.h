/* SPDX-License-Identifier: BSD-2-Clause */
/** @file heat_kernel.h  Private: what diffusion makes of a start that does not suit a wall, as programs. */
#ifndef PCSIM_PINN_HEAT_KERNEL_H
#define PCSIM_PINN_HEAT_KERNEL_H

#include <pcsim/autodiff.h>

/** exp(x^2) erfc(x), x >= 0 (one row), to 1e-14 relative: J. A. C. Weideman, SIAM J. Numer. Anal. 31 (1994)
 *  1497, with 40 terms. Faults are recorded in the program. */
pcsim_value heat_erfcx(pcsim_program *p, pcsim_value x);

/** W(d, s), s = c t, of the half space d >= 0 with
 *
 *      W_t = c W_dd,   W = 0 at t = 0,   -W_d + q W = 1 at d = 0,   q >= 0:
 *
 *      W = exp(-y^2) (E(y) - E(y + q sqrt(s))) / q,   y = d / (2 sqrt(s)),   E(x) = exp(x^2) erfc(x),
 *
 *  for q = 0 the limit 2 sqrt(s) (exp(-y^2) / sqrt(pi) - y erfc(y)) (Carslaw, Jaeger: Conduction of Heat in
 *  Solids, 2.7, 2.9), which is also taken where q sqrt(longest) is below 1e-6. s > 0.
 *  @param distance, s  one row each
 *  @param longest      the largest s that is asked for */
pcsim_value heat_half_space(pcsim_program *p, pcsim_value distance, pcsim_value s, double q, double longest);

/** W at d = 0, for scales: (1 - E(q sqrt(s))) / q. */
double heat_at_wall(double q, double s);

#endif
