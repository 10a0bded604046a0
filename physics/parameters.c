/* SPDX-License-Identifier: BSD-2-Clause */
/* Parameters of a case that are expressions of earlier ones: derivatives by the chain rule. */
#include <pcsim/physics.h>

#include <stdio.h>
#include <string.h>

enum { NAME = 300 };

/* derivative[j] += seed d text / d parameter j, for the parameters before `num`. `values` of all. */
static pcsim_status add_derivatives(const char *text, const char *const *names, const double *values, int num,
                                    double seed, double *derivative) {
  const pcsim_lowering lowering = {.num_parameters = num, .parameters = names};
  pcsim_program *program = NULL, *reverse = NULL;
  pcsim_executor *x = NULL;
  const char **used = NULL;
  double *out = NULL, value;
  int *place = NULL, n = 0;
  pcsim_status status;
  PCSIM_GOTO(pcsim_lower(&text, 1, &lowering, &program, NULL, NULL), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)num, sizeof *used, &used), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)num, sizeof *place, &place), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)num, sizeof *out, &out), status, done);
  for (int j = 0; j < num; j++) {
    double *at = pcsim_program_parameter(program, names[j], NULL, NULL);
    if (!at) continue;
    *at = values[j];
    place[n] = j;
    used[n++] = names[j];
  }
  if (n == 0) goto done;
  PCSIM_GOTO(pcsim_transform_vjp(program, used, n, &reverse), status, done);
  PCSIM_GOTO(pcsim_executor_create(reverse, NULL, &x), status, done);
  PCSIM_GOTO(pcsim_executor_bind(x, "b_0", &seed), status, done);
  PCSIM_GOTO(pcsim_executor_bind_output(x, "0", &value), status, done);
  for (int k = 0; k < n; k++) {
    char name[NAME];
    snprintf(name, sizeof name, "b_%s", used[k]);
    PCSIM_GOTO(pcsim_executor_bind_output(x, name, &out[k]), status, done);
  }
  PCSIM_GOTO(pcsim_executor_run(x, false), status, done);
  for (int k = 0; k < n; k++) derivative[place[k]] += out[k];
done:
  pcsim_executor_destroy(&x);
  pcsim_program_destroy(&program), pcsim_program_destroy(&reverse);
  pcsim_free(&used), pcsim_free(&place), pcsim_free(&out);
  return status;
}

pcsim_status pcsim_parameters_chain(const pcsim_tree *tree, double *derivative) {
  const char *const *names;
  const double *values;
  const int num = pcsim_tree_parameters(tree, &names, &values);
  const pcsim_node *all = pcsim_node_get(pcsim_tree_root(tree), "parameters");
  for (int i = num - 1; i > 0; i--) {
    const char *text = pcsim_node_text(pcsim_node_get(all, names[i]));
    if (derivative[i] != 0) PCSIM_TRY(add_derivatives(text, names, values, i, derivative[i], derivative));
  }
  return PCSIM_OK;
}
