/* SPDX-License-Identifier: BSD-2-Clause */
/** @file distance.h  Private to domain_distance.c and domain_blend.c. */
#ifndef PCSIM_PINN_DISTANCE_H
#define PCSIM_PINN_DISTANCE_H

#include "shape.h"

/** The factor of each solid [num_solids] that has faces marked in `of` [num_pieces], PCSIM_NO_VALUE for the
 *  others: zero on these faces, positive in the rest of the closed domain. False: none is known, or nothing
 * is marked. */
bool distance_factors(const domain *d, const bool *of, pcsim_program *p, pcsim_value coordinates,
                      pcsim_value *factor);

#endif
