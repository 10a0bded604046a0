/* SPDX-License-Identifier: BSD-2-Clause */
/** @file sequence.h  The residual of a finite-volume scheme for steady incompressible flow, as a program and
 * by hand.
 *
 *  Unknowns q = (u, v, p) of each cell, r = (momentum x, momentum y, mass):
 *  - gradient: least squares over the cells that share a node
 *  - limiter: Venkatakrishnan, Journal of Computational Physics 118 (1995), 120-130, with the extrema of the
 *    same cells, at the middles of the faces, cut at 1
 *  - flux: m = area . mean velocity - tau g ((p_N - p_P) - mean grad p . d), tau frozen (Rhie-Chow); momentum
 *    m u + p area - nu g (u_N - u_P), u from upwind; g = area^2 / (area . d)
 *  - walls: pressure from the cell, friction to a wall at rest
 *  - scatter: r of a cell is the sum of its fluxes */
#ifndef PCSIM_BENCH_AUTODIFF_SEQUENCE_H
#define PCSIM_BENCH_AUTODIFF_SEQUENCE_H

#include "triangles.h"

#include <pcsim/autodiff.h>

#define SEQUENCE_NU 0.01
/** (K h)^3 of the limiter: K^3. */
#define SEQUENCE_ROOM 1.0

/** Spaces "cells", "faces", "walls"; inputs "q" [cells][3], "length" [cells] (root of the volume), "reach",
 * "face", "wall" and maps "gradient", "sides", "owner", "neighbour", "inside" as in triangles.h; output "r"
 * [cells][3]. */
pcsim_status sequence_program(pcsim_program **program) PCSIM_NODISCARD;

/** What the hand-written loops read and write; arrays as in triangles.h. */
typedef struct {
  const triangles *mesh;
  const double *q, *length;
  int32_t *near_start, *near; /**< [cells + 1]; neighbours without the cell itself */
  double *weight;             /**< [entries][2] */
  double *slope;              /**< [cells][8]: limited d/dx of u, v, p, tau, d/dy, 0: one cache line */
  double *r;                  /**< [cells][3] */
} hand_loops;
/** Slopes of cells begin .. end - 1. */
typedef void hand_cells(const hand_loops *h, int64_t begin, int64_t end);
/** r of the same cells from their own faces; then from the faces `others` [n] of earlier cells. */
typedef void hand_faces(const hand_loops *h, int64_t begin, int64_t end, const int32_t *others, int64_t n);
extern hand_cells hand_cells_portable, hand_cells_avx2;
extern hand_faces hand_faces_portable, hand_faces_avx2;

/** Both, side by side, on about 3,000 (one thread), 100,000 and 1,000,000 cells, if "sequence" and `only`
 * begin alike or `only` is a part of it. Exits on failure. */
void measure_sequence(const char *only, double budget, int tile);

#endif
