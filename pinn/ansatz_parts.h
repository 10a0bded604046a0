/* SPDX-License-Identifier: BSD-2-Clause */
/** @file ansatz_parts.h  Private to the ansatz: pieces that its files hand to each other. */
#ifndef PCSIM_PINN_ANSATZ_PARTS_H
#define PCSIM_PINN_ANSATZ_PARTS_H

#include "ansatz.h"

enum { LAYERS_MAX = 64 };
/** What diffusion makes of a condition that contradicts the start, at one wall (ansatz_layer.c). */
typedef struct {
  pcsim_value value; /**< for a jump of 1 */
  double jump;       /**< of the condition at the start */
  double largest;    /**< of `value` */
  int condition;     /**< its number; layers of one condition follow each other */
} wall_layer;

typedef struct {
  const problem *problem;
  const domain *domain;
  const ansatz_options *options;
  ansatz *ansatz;
  pcsim_program *program;
  pcsim_space space;
  pcsim_value coordinates; /**< [num_coordinates] */
  int num_layers;
  wall_layer layer[LAYERS_MAX]; /**< [num_layers] */
} ansatz_builder;

pcsim_value parts_coordinate(ansatz_builder *b, int i);
/** factor x + offset */
pcsim_value parts_linear(ansatz_builder *b, pcsim_value x, double factor, double offset);
/** The coordinates with one of them held at a number. */
pcsim_value parts_with(ansatz_builder *b, int i, double number);
/** Output of a program of the coordinates, at these. */
pcsim_value parts_at(ansatz_builder *b, const pcsim_program *of, const char *output, pcsim_value coordinates);
/** What a value is made of as a program of its own, output "a". Caller destroys. */
pcsim_status parts_program(ansatz_builder *b, pcsim_value value, pcsim_program **program) PCSIM_NODISCARD;
/** Program of a text without unknowns, output "0". Caller destroys. */
pcsim_status parts_lower(ansatz_builder *b, const problem_text *text,
                         pcsim_program **program) PCSIM_NODISCARD;
/** A and B of an unknown for the values on pieces; NO_VALUE: A is 0, B is 1. Marks what is built. */
pcsim_status parts_boundary(ansatz_builder *b, int unknown, pcsim_value *a,
                            pcsim_value *factor) PCSIM_NODISCARD;
/** u and v of the stream function that the network's output gives, as outputs of the program: without
 * divergence whatever the weights are. Walls at rest that hang together are built in: psi is zero there with
 * its slope. Marks what is built. */
pcsim_status parts_stream(ansatz_builder *b, pcsim_value network) PCSIM_NODISCARD;
/** The start of an unknown that is held; NULL: none. */
const problem_condition *parts_held_start(const problem *p, int unknown);
/** D = -b/a of the only equation a u_t + b u_xx + ... = 0 with a rate of the unknown, and a; 0 where there is
 * none, or a and b are no numbers. Coordinates are x, t. */
pcsim_status parts_diffusion(const problem *p, int unknown, double *diffusion, double *rate) PCSIM_NODISCARD;
/** sqrt(4 D (t - begin)), not quite 0 at the begin of all the time. */
pcsim_value parts_width(ansatz_builder *b, double diffusion);
/** Walls whose value agrees with the start but not with the equation there: one unknown, one coordinate of
 * space, value and start held. */
pcsim_status parts_find_walls(ansatz_builder *b, ansatz_walls *w) PCSIM_NODISCARD;
/** The start with what such walls make of it. */
pcsim_value parts_from_walls(ansatz_builder *b, const ansatz_walls *w, pcsim_value start);
/** Inputs of a network [2 at most; returned] that have the layers at such walls, in [-1, 1]. */
int parts_wall_inputs(ansatz_builder *b, const ansatz_walls *w, pcsim_value *inputs);
/** The seam of an unknown: in one coordinate of space and without further inputs, its start held, its rate in
 * one equation only, whose diffusion is a number. */
pcsim_status parts_find_seam(ansatz_builder *b, int unknown, ansatz_seam *s) PCSIM_NODISCARD;
/** What a kink |x|/2 at the seam has become at a time, less |x|/2, and its derivative by x. */
void parts_kernel(ansatz_builder *b, const ansatz_seam *s, pcsim_value *smooth, pcsim_value *slope);
/** The start, its jumps being carried by the heat equation. */
pcsim_value parts_carried(ansatz_builder *b, const ansatz_seam *s, pcsim_value start);
/** Inputs of a network [2] that have the kink and the jump, in [-1, 1]. */
void parts_seam_inputs(ansatz_builder *b, const ansatz_seam *s, pcsim_value *inputs);
/** Layers of the walls whose conditions contradict the start, into `b`. */
pcsim_status parts_layers(ansatz_builder *b) PCSIM_NODISCARD;
/** All of them with their jumps; NO_VALUE: there are none. */
pcsim_value parts_layer_sum(ansatz_builder *b);
/** The unknown's conditions at the start are not built after all. */
void parts_forget_start(ansatz_builder *b, int unknown);
/** Values that are to be held and differ where their places meet are problems of the tree; `*found` says
 * whether there are any. */
pcsim_status parts_contradictions(ansatz_builder *b, bool *found) PCSIM_NODISCARD;
/** Conditions that are built hold at points drawn on their places; those that do not contradict another one,
 * which is a problem of the tree. */
pcsim_status parts_check(ansatz_builder *b) PCSIM_NODISCARD;

#endif
