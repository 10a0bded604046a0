/* SPDX-License-Identifier: BSD-2-Clause */
/** @file groups.h  Private: residuals at points as a least-squares problem,
 *
 *      loss(theta) = 1/2 sum_g sum_k w_gk / n_g sum_i r_gk(x_i; theta)^2
 *
 *  over groups g, rows k of a group's residual and its n_g points x_i. Each group has a program with the
 * derivatives that it asks for. What does not depend on theta is computed when points are set. theta is the
 * numbers of the programs' parameters that change, in the order in which they are named. */
#ifndef PCSIM_PINN_GROUPS_H
#define PCSIM_PINN_GROUPS_H

#include "objective.h"

#include <pcsim/autodiff.h>

typedef struct groups groups;
enum { GROUPS_ROWS_MAX = 64 /**< of one group */ };

/** The numbers that training changes: the parameters of `program` whose names are in none of the others' way.
 */
typedef struct {
  int num;
  char **name;    /**< [num] owned */
  int64_t *first; /**< [num + 1] place in theta */
  double *start;  /**< [first[num]] as the program has them */
} groups_parameters;
/** Parameters of a program whose names begin with `prefix`, in its order. Caller clears. */
pcsim_status groups_parameters_of(const pcsim_program *program, const char *prefix,
                                  groups_parameters *parameters) PCSIM_NODISCARD;
void groups_parameters_clear(groups_parameters *parameters);

/** Caller destroys; the parameters are borrowed. */
pcsim_status groups_create(const groups_parameters *parameters, int threads, groups **g) PCSIM_NODISCARD;
void groups_destroy(groups **g);
/** Data at points beside the coordinates: inputs of the residual by their names ("n.x", "data_0"). */
typedef struct {
  int num;
  const char *const *name; /**< [num] */
  const double *values;    /**< [points][num] */
} groups_columns;
/** One more group, number 0, 1, ...: residual program with outputs "0" .. "rows - 1" of inputs "coordinates"
 * [width] and perhaps of columns on space "points"; copied. `measured`: from output k column "data_k" is
 * taken away. Weights are 1. Errors: ERR_ARG (no row, more than GROUPS_ROWS_MAX, nothing that training
 * changes). `factor`: column that all rows are multiplied by, NULL: none. */
pcsim_status groups_add(groups *g, const char *name, const pcsim_program *residual, int rows, bool measured,
                        const char *factor) PCSIM_NODISCARD;
/** What counts of a group is the mean of each row over its points, not their squares: an integral. */
void groups_mean(groups *g, int group);
/** Its points [n][width] and the columns that its program asks for; copied. */
pcsim_status groups_points(groups *g, int group, int64_t n, int width, const double *points,
                           const groups_columns *columns) PCSIM_NODISCARD;
/** Weights [rows] of a group. */
void groups_weight(groups *g, int group, const double *weights);

int groups_num(const groups *g);
const char *groups_name(const groups *g, int group);
int groups_rows(const groups *g, int group);
const double *groups_weights(const groups *g, int group);
/** Points of a group now; borrowed until they are set anew. */
int64_t groups_get_points(const groups *g, int group, const double **points);

/** What optimisers see; borrowed. */
objective *groups_objective(groups *g);
/** Mean squares [rows] of a group's residuals at its points. */
pcsim_status groups_mean_squares(groups *g, int group, const double *theta, double *squares) PCSIM_NODISCARD;
/** Residuals [n][rows] at other points than the group's, unweighted. */
pcsim_status groups_residuals(groups *g, int group, const double *theta, int64_t n, const double *points,
                              const groups_columns *columns, double *residuals) PCSIM_NODISCARD;
/** Lower triangle [n][n] of the weighted J^T J of one group. */
pcsim_status groups_product(groups *g, int group, const double *theta, double *product) PCSIM_NODISCARD;
/** Squared Frobenius norms [rows] of the derivatives of a group's rows by theta, each over its number of
 * points: the trace of its part of J^T J with weight 1. */
pcsim_status groups_traces(groups *g, int group, const double *theta, double *traces) PCSIM_NODISCARD;

#endif
