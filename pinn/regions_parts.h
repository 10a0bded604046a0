/* SPDX-License-Identifier: BSD-2-Clause */
/** @file regions_parts.h  Private to regions*.c. */
#ifndef PCSIM_PINN_REGIONS_PARTS_H
#define PCSIM_PINN_REGIONS_PARTS_H

#include "regions.h"

enum { REGIONS_KEPT = 64 /**< draws on interfaces that are kept */ };

/** A draw on an interface, kept because points that training does not see are asked for again and again. */
typedef struct {
  int interface;
  uint64_t seed, draw;
  int64_t n;
  double *points; /**< [n][num_coordinates], then normals [n][num_space]; NULL: empty; owned */
} kept_draw;

struct regions {
  regions_view view;
  const domain *domain;           /**< borrowed */
  int num_given;                  /**< those with a condition; one more is the rest */
  const char **name, **condition; /**< [num_given + 1] borrowed from the tree */
  char **closed;                  /**< [num_given] conditions with their borders; owned */
  pcsim_expr **expr;              /**< [num_given] of the coordinates of space */
  double (*range)[DOMAIN_MAX][2];
  double *volume;
  double *share; /**< [num_given + 1][num_pieces] */
  region_interface *interface;
  kept_draw kept[REGIONS_KEPT];
  int next_kept;
};

/** Positive where the condition of a region holds, 0 on its border. */
double regions_level(const regions *r, int region, const double *x);
/** Which regions touch, and how large the interfaces are. */
pcsim_status regions_find_interfaces(regions *r) PCSIM_NODISCARD;

#endif
