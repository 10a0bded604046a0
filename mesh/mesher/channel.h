/* SPDX-License-Identifier: BSD-2-Clause */
/** @file channel.h  Private to pcsim-mesh: a channel with a round cylinder, what both ways of meshing its
 *  plane need. */
#ifndef PCSIM_MESHER_CHANNEL_H
#define PCSIM_MESHER_CHANNEL_H

#include "mesher.h"

typedef struct {
  double length, height, width; /**< width 0 in 2D */
  double centre[2], radius;
  mesher_sizes sizes;
  mesher_layers layers; /**< around the cylinder; n = 0: none */
} channel;

/** Point of the circle at an angle, exactly on it up to rounding. */
void channel_circle_point(const channel *ch, double angle, double point[2]);
/** Unstructured triangles; layers around the cylinder are quads, or triangles if `split`. */
pcsim_status channel_triangles(const channel *ch, const char *algorithm, bool split,
                               mesher_mesh *mesh) PCSIM_NODISCARD;
/** An O-grid around the cylinder that fills the height of the channel, rectangular blocks before and
 *  behind it. */
pcsim_status channel_quads(const channel *ch, mesher_mesh *mesh) PCSIM_NODISCARD;

#endif
