/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of faces with their derivatives. */
#define PCSIM_DUAL 1
#include "face_parts.h"

void face_parts_along(const pcsim_dual *area, const pcsim_dual *face, const pcsim_dual *owner,
                      const pcsim_dual *neighbour, double along[FACE_PARTS]) {
  const face_parts p =
      neighbour ? face_parts_inside(area, face, owner, neighbour) : face_parts_at_wall(area, face, owner);
  for (int i = 0; i < 3; i++) {
    along[FACE_LINE + i] = pcsim_derivative_of(p.line[i]);
    along[FACE_SKEW + i] = pcsim_derivative_of(p.skew[i]);
  }
  along[FACE_T] = pcsim_derivative_of(p.t);
  along[FACE_G] = pcsim_derivative_of(p.g);
}
