/* SPDX-License-Identifier: BSD-2-Clause */
/** @file generate.h  The mesh that a case asks for, made by pcsim-mesh. */
#ifndef PCSIM_BENCH_GENERATE_H
#define PCSIM_BENCH_GENERATE_H

#include <pcsim/mesh.h>

/** Mesh of the `mesh:` of a case; caller destroys. The hand-over file stands in TMPDIR, else in /tmp, while
 * this runs. Any failure ends the program. */
pcsim_raw_mesh *bench_generate(pcsim_tree *tree);

#endif
