/* SPDX-License-Identifier: BSD-2-Clause */
/** @file transform_estimator.c  Operators of many variables as means over random directions. */
#include "transform.h"

enum { DIRECTIONS_MAX = 4096 };

/** Order of the derivative along a direction, and what its Taylor coefficient is multiplied with. */
static const struct {
  int order;
  double factor;
  bool normal; /**< directions of normal numbers, else of signs */
} operators[] = {
    [PCSIM_ESTIMATOR_LAPLACIAN] = {2, 2, false},
    /* E[v_i v_j v_k v_l] of normal numbers has three pairings: E[D^4 f] is three times the biharmonic. */
    [PCSIM_ESTIMATOR_BIHARMONIC] = {4, 24.0 / 3, true},
};
enum { NUM_OPERATORS = sizeof operators / sizeof *operators };

pcsim_status pcsim_transform_estimator(const pcsim_program *program, const char *wrt, pcsim_estimator which,
                                       int num_directions, pcsim_program **out) {
  double *weights = NULL;
  PCSIM_CHECK((int)which >= 0 && (int)which < NUM_OPERATORS, PCSIM_ERR_ARG, "there is no estimator %d",
              (int)which);
  PCSIM_CHECK(num_directions >= 1 && num_directions <= DIRECTIONS_MAX, PCSIM_ERR_ARG,
              "an estimate along %d directions; expected 1 to %d", num_directions, DIRECTIONS_MAX);
  PCSIM_TRY(pcsim_alloc((size_t)num_directions, sizeof *weights, &weights));
  for (int j = 0; j < num_directions; j++) weights[j] = operators[which].factor / num_directions;
  pcsim_status status =
      pcsim_transform_jet_collapsed(program, wrt, operators[which].order, num_directions, weights, out);
  pcsim_free(&weights);
  return status;
}

void pcsim_estimator_directions(pcsim_estimator which, uint64_t seed, uint64_t draw, int direction,
                                int64_t first, int64_t n, int rows, double *v) {
  const uint64_t stream = draw * DIRECTIONS_MAX + (uint64_t)direction;
  for (int64_t i = 0; i < n; i++)
    for (int r = 0; r < rows; r++) {
      const uint64_t place = (uint64_t)(first + i) * (uint64_t)rows + (uint64_t)r;
      double *at = &v[i * rows + r];
      if (operators[which].normal) *at = pcsim_random_normal(seed, stream, place);
      else *at = pcsim_random_bits(seed, stream, place) >> 63 ? 1 : -1;
    }
}
