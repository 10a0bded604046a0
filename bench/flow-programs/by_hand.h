/* SPDX-License-Identifier: BSD-2-Clause */
/** @file by_hand.h  The yardstick: fluxes, tangent and compact Jacobian of the flow written by hand. */
#ifndef PCSIM_BENCH_FLOW_BY_HAND_H
#define PCSIM_BENCH_FLOW_BY_HAND_H

#include "solver/flow.h"

extern const flow_kernels flow_by_hand_2d, flow_by_hand_3d;
static inline const flow_kernels *flow_by_hand(const flow *f) {
  return f->dim == 2 ? &flow_by_hand_2d : &flow_by_hand_3d;
}

#endif
