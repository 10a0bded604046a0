/* SPDX-License-Identifier: BSD-2-Clause */
/* What a training has found: unknowns at points, and as a program. */
#include "train.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 160 };

static pcsim_status bind_best(pcsim_training *t, pcsim_executor *x) {
  for (int i = 0; i < t->parameters.num; i++)
    PCSIM_TRY(pcsim_executor_bind(x, t->parameters.name[i], t->best + t->parameters.first[i]));
  return PCSIM_OK;
}

/* Unknown by unknown its value, then (with `derivatives`) its first derivatives: outputs "0", "1", ... */
static pcsim_status make_executor(pcsim_training *t, bool derivatives, pcsim_executor **x) {
  const problem *p = &t->from->problem;
  const int width = derivatives ? p->names.num_coordinates + 1 : 1, n = p->num_unknowns * width;
  char(*text)[TEXT] = NULL;
  const char **list = NULL;
  pcsim_program *lowered = NULL, *composed = NULL;
  pcsim_status status;
  if (*x) return PCSIM_OK;
  PCSIM_GOTO(pcsim_alloc((size_t)n, sizeof *text, &text), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)n, sizeof *list, &list), status, done);
  for (int i = 0; i < n; i++) {
    const char *u = p->unknown[i / width], *by = i % width ? p->names.coordinates[i % width - 1] : NULL;
    snprintf(text[i], TEXT, "%s%s%s", u, by ? "_" : "", by ? by : "");
    list[i] = text[i];
  }
  PCSIM_GOTO(pcsim_lower(list, n, &p->names, &lowered, NULL, NULL), status, done);
  PCSIM_GOTO(pcsim_lower_compose(lowered, &p->names, t->ansatz.fields, &composed), status, done);
  PCSIM_GOTO(
      pcsim_executor_create(composed, &(pcsim_executor_options){.threads = t->from->options.threads}, x),
      status, done);
  status = bind_best(t, *x);
done:
  pcsim_free(&text), pcsim_free(&list);
  pcsim_program_destroy(&lowered);
  pcsim_program_destroy(&composed);
  if (status != PCSIM_OK) pcsim_executor_destroy(x);
  return status;
}

pcsim_status pcsim_training_evaluate(pcsim_training *t, int64_t n, const double *points, double *values,
                                     double *gradients) {
  pcsim_executor **x = gradients ? &t->gradients : &t->values;
  const int unknowns = t->from->problem.num_unknowns, coordinates = t->from->problem.names.num_coordinates,
            width = gradients ? coordinates + 1 : 1;
  double *columns = NULL;
  pcsim_status status;
  PCSIM_TRY(make_executor(t, gradients != NULL, x));
  PCSIM_TRY(pcsim_alloc((size_t)n * (size_t)(unknowns * width), sizeof *columns, &columns));
  PCSIM_GOTO(pcsim_executor_points(*x, "points", n), status, done);
  PCSIM_GOTO(pcsim_executor_bind(*x, "coordinates", points), status, done);
  for (int i = 0; i < unknowns * width; i++) {
    char name[16];
    snprintf(name, sizeof name, "%d", i);
    PCSIM_GOTO(pcsim_executor_bind_output(*x, name, columns + i * n), status, done);
  }
  PCSIM_GOTO(pcsim_executor_run(*x, false), status, done);
  for (int u = 0; u < unknowns; u++)
    for (int k = 0; k < width; k++) {
      const double *from = columns + (int64_t)(u * width + k) * n;
      double *to = k ? gradients + u * coordinates + k - 1 : values + u;
      const int64_t stride = k ? (int64_t)unknowns * coordinates : unknowns;
      for (int64_t i = 0; i < n; i++) to[i * stride] = from[i];
    }
done:
  pcsim_free(&columns);
  return status;
}

pcsim_status pcsim_training_points(pcsim_training *t, uint64_t draw, int64_t n, double *points) {
  return domain_draw_inside(t->from->domain, t->from->options.seed, sample_draw(SAMPLE_FRESH, draw + 1), n,
                            points);
}

bool pcsim_training_inside(const pcsim_training *t, const double *point) {
  return domain_inside(t->from->domain, point);
}

pcsim_status pcsim_training_model(pcsim_training *t, pcsim_program **model) {
  PCSIM_TRY(pcsim_program_copy(t->ansatz.fields, model));
  for (int i = 0; i < t->parameters.num; i++) {
    double *numbers = pcsim_program_parameter(*model, t->parameters.name[i], NULL, NULL);
    const int64_t first = t->parameters.first[i];
    memcpy(numbers, t->best + first, (size_t)(t->parameters.first[i + 1] - first) * sizeof *numbers);
  }
  return PCSIM_OK;
}
