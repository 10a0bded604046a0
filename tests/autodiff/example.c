/* SPDX-License-Identifier: BSD-2-Clause */
/* The engine alone: f(x) = exp(-x^2) sin(3 x) and its first three derivatives at five points.
 * docs/autodiff.md shows this file. */
#include <math.h>
#include <pcsim/autodiff.h>
#include <stdio.h>

static pcsim_status run(double out[4][5]) {
  const char *const text = "exp(-x^2)*sin(3*x)", *const x[] = {"x"};
  const char *const names[] = {"0", "0_0_1", "0_0_2", "0_0_3"};
  const double points[5] = {-1, -0.5, 0, 0.5, 1}, ones[5] = {1, 1, 1, 1, 1};
  pcsim_program *f = NULL, *jet = NULL;
  pcsim_executor *executor = NULL;
  pcsim_status status;
  PCSIM_GOTO(
      pcsim_lower(&text, 1, &(pcsim_lowering){1, x, 0, NULL, 0, NULL, NULL, 0, NULL, 0}, &f, NULL, NULL),
      status, done);
  PCSIM_GOTO(pcsim_transform_jet(f, "coordinates", 3, 1, &jet), status, done);
  PCSIM_GOTO(pcsim_executor_create(jet, NULL, &executor), status, done);
  PCSIM_GOTO(pcsim_executor_points(executor, "points", 5), status, done);
  PCSIM_GOTO(pcsim_executor_bind(executor, "coordinates", points), status, done);
  PCSIM_GOTO(pcsim_executor_bind(executor, "v_0", ones), status, done); /* the direction: along x */
  for (int k = 0; k < 4; k++)
    PCSIM_GOTO(pcsim_executor_bind_output(executor, names[k], out[k]), status, done);
  status = pcsim_executor_run(executor, true);
done:
  pcsim_executor_destroy(&executor);
  pcsim_program_destroy(&jet);
  pcsim_program_destroy(&f);
  return status;
}

int main(void) {
  double c[4][5]; /* Taylor coefficients: the k-th derivative over k! */
  if (run(c) != PCSIM_OK) return fprintf(stderr, "%s\n", pcsim_error_message()), 1;
  for (int i = 0; i < 5; i++)
    printf("%12.8f %12.8f %12.8f %12.8f\n", c[0][i], c[1][i], 2 * c[2][i], 6 * c[3][i]);
  /* At 0: 0, 3, 0 and -27 - 18. */
  return !(fabs(c[1][2] - 3) < 1e-14 && fabs(c[2][2]) < 1e-14 && fabs(6 * c[3][2] + 45) < 1e-13);
}
