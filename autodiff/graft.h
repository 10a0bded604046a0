/* SPDX-License-Identifier: BSD-2-Clause */
/** @file graft.h  Private to autodiff/: one program put into another, value by value. */
#ifndef PCSIM_AUTODIFF_GRAFT_H
#define PCSIM_AUTODIFF_GRAFT_H

#include "graph.h"

/** How the numbers of `from` translate into those of `to`. Spaces, maps, inputs and parameters of one name
 * are one. */
typedef struct {
  const pcsim_program *from;
  pcsim_program *to;
  pcsim_space *spaces; /**< [num_spaces] */
  pcsim_map *maps;     /**< [num_maps] */
  int *ops;            /**< [num_user_ops] */
  pcsim_value *place;  /**< [num_nodes] */
  pcsim_value *inputs; /**< room for those of one value */
} graft;

/** Join spaces, maps and operators; `space` (PCSIM_NO_SPACE: none) takes the place of every space of `from`.
 * On failure too, graft_free frees. Errors: ERR_ARG. */
pcsim_status graft_begin(const pcsim_program *from, pcsim_program *to, pcsim_space space,
                         graft *g) PCSIM_NODISCARD;
void graft_free(graft *g);
/** Put value `v` of `from`, whose inputs are there, in its place. `given` (PCSIM_NO_VALUE: none) is a value
 * of `to` that stands for it if it is an input. Errors: ERR_ARG where sizes or spaces differ. */
pcsim_status graft_value(graft *g, pcsim_value v, pcsim_value given) PCSIM_NODISCARD;

#endif
