/* SPDX-License-Identifier: BSD-2-Clause */
/** @file distance.h  Private to domain_distance.c, domain_blend.c, domain_hold.c. */
#ifndef PCSIM_PINN_DISTANCE_H
#define PCSIM_PINN_DISTANCE_H

#include "shape.h"

/** The factor of each solid [num_solids] that has faces marked in `of` [num_pieces], PCSIM_NO_VALUE for the
 *  others: zero on these faces, positive in the rest of the closed domain. False: none is known, or nothing
 * is marked. */
bool distance_factors(const domain *d, const bool *of, pcsim_program *p, pcsim_value coordinates,
                      pcsim_value *factor);

/** Do the surfaces of two solids meet, or nearly so? */
bool distance_meet(const domain *d, int a, int b);
/** Number of the first of the solids that each of the marked ones [num_solids] hangs together with, -1 for
 * others. */
void distance_groups(const domain *d, const bool *marked, int *group);
/** Product of the factors of a group. */
pcsim_value distance_of_group(const domain *d, const pcsim_value *factor, const int *group, int which,
                              pcsim_program *p);
/** Is a solid part of a union, so that its factor is trimmed? Does the domain lie outside of it? */
bool distance_is_trimmed(const domain *d, int solid);
bool distance_is_outside(const domain *d, int solid);

#endif
