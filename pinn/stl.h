/* SPDX-License-Identifier: BSD-2-Clause */
/** @file stl.h  Private: triangles from STL files. */
#ifndef PCSIM_PINN_STL_H
#define PCSIM_PINN_STL_H

#include <pcsim/base.h>

/** Triangles of an STL file, text or binary: corners [num][3][3], times `scale`. The normals of the file are
 * left aside: the order of the corners says what is outside. Caller frees with pcsim_free. Errors: ERR_IO
 * (cannot be read), ERR_CASE (what is wrong, with the line or the place), ERR_MEMORY. */
pcsim_status stl_read(const char *path, double scale, int64_t *num, double **corners) PCSIM_NODISCARD;

#endif
