/* SPDX-License-Identifier: BSD-2-Clause */
/** @file groups_parts.h  Private to groups*.c. */
#ifndef PCSIM_PINN_GROUPS_PARTS_H
#define PCSIM_PINN_GROUPS_PARTS_H

#include "groups.h"

typedef struct {
  const char *name; /* borrowed from the group's program */
  int rows;
  bool used;
  double *data; /* [n][rows] */
} group_input;

typedef struct {
  char *name;
  int rows;
  bool mean;               /* one residual a row, its mean over the points */
  pcsim_program *whole;    /* output "r" of coordinates and normals */
  pcsim_program *residual; /* the same with what does not depend on theta as inputs "given_J" */
  pcsim_program *given;    /* those; NULL: none */
  int num_inputs;
  group_input *input; /* [num_inputs] of `residual` */
  const char **wrt;   /* [num_wrt] parameters that it has */
  int num_wrt;
  int *place;      /* [num_wrt] their numbers among the parameters */
  int64_t numbers; /* of them all */
  int64_t *at;     /* [numbers] place of each in theta, ascending */
  char **output;   /* [num_wrt] "b_NAME": their cotangents */
  int64_t n;       /* points */
  double *points;
  double *weight;   /* [rows] */
  double *scaled;   /* [rows] weight / (2 n): what a sum of squares counts */
  double *squares;  /* [rows] sums of squares of the last run */
  double *part;     /* [numbers] its part of the gradient */
  double *seeds;    /* [n][rows] */
  double *rows_out; /* [n][rows] */
  pcsim_executor *prepare, *square, *gradient, *reverse, *tangent, *elsewhere; /* made when first needed */
} group;

struct groups {
  objective objective; /* first: optimisers see this */
  const groups_parameters *parameters;
  int threads;
  int num;
  group *group;    /* [num] */
  double *theta;   /* what all executors are bound to */
  double *product; /* [numbers][numbers] of a group that lacks parameters; NULL: not needed yet */
};

void groups_objective_begin(groups *g);
void groups_objective_count(groups *g);
/** Take over theta. */
void groups_theta(groups *g, const double *theta);
/** Bind the parameters of an executor of the group to theta. */
pcsim_status groups_bind_theta(groups *g, const group *a, pcsim_executor *x) PCSIM_NODISCARD;

/** A new program on space "points" with the inputs of `from`, and in it the values of its outputs [n]. */
pcsim_status groups_open(const pcsim_program *from, const char *const *outputs, int n,
                         pcsim_program **program, pcsim_value *values) PCSIM_NODISCARD;

#endif
