/* SPDX-License-Identifier: BSD-2-Clause */
/* A trained network as it lies in a file, asked for values. */
#include "domain.h"

#include <pcsim/pinn.h>

#include <math.h>
#include <string.h>

/** How far outside the domain a point may lie, over the size of the domain: files hold rounded numbers. */
static const double slack = 1e-9;

struct pcsim_trained {
  domain *domain;
  pcsim_program *program;
  pcsim_executor *x;
  const char **unknown;
  pcsim_trained_view view;
};

void pcsim_trained_destroy(pcsim_trained **model) {
  pcsim_trained *m = *model;
  if (!m) return;
  pcsim_executor_destroy(&m->x);
  pcsim_program_destroy(&m->program);
  domain_destroy(&m->domain);
  pcsim_free(&m->unknown);
  pcsim_free(model);
}

const pcsim_trained_view *pcsim_trained_get(const pcsim_trained *model) { return &model->view; }

static pcsim_status open_program(pcsim_trained *m, const char *path) {
  const domain_view *d = domain_get(m->domain);
  const char *name;
  int rows = 0, n = 0;
  PCSIM_TRY(pcsim_program_load(path, &m->program));
  name = pcsim_program_input(m->program, 0, &rows, NULL);
  PCSIM_CHECK(name && !strcmp(name, "coordinates") && rows == d->num_coordinates, PCSIM_ERR_IO,
              "%s is of another case: it takes %d coordinates, the case has %d", path, rows,
              d->num_coordinates);
  while (pcsim_program_output(m->program, n, NULL)) n++;
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *m->unknown, &m->unknown));
  for (int i = 0; i < n; i++) m->unknown[i] = pcsim_program_output(m->program, i, NULL);
  m->view = (pcsim_trained_view){.num_coordinates = d->num_coordinates,
                                 .coordinate = d->coordinate,
                                 .range = d->range,
                                 .num_unknowns = n,
                                 .unknown = m->unknown};
  return pcsim_executor_create(m->program, &(pcsim_executor_options){.threads = 1}, &m->x);
}

pcsim_status pcsim_trained_open(pcsim_tree *tree, const char *path, pcsim_trained **model) {
  pcsim_trained *m = NULL;
  *model = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *m, &m));
  pcsim_status status = domain_read(tree, &m->domain);
  if (status == PCSIM_OK && m->domain) status = open_program(m, path);
  if (status != PCSIM_OK || !m->domain) pcsim_trained_destroy(&m);
  *model = m;
  return status;
}

static bool is_inside(const pcsim_trained *m, const double *x) {
  const domain_view *d = domain_get(m->domain);
  for (int k = d->num_space; k < d->num_coordinates; k++) {
    const double allowed = slack * (d->range[k][1] - d->range[k][0]);
    if (!(x[k] >= d->range[k][0] - allowed && x[k] <= d->range[k][1] + allowed)) return false;
  }
  return domain_near(m->domain, x, slack);
}

pcsim_status pcsim_trained_evaluate(pcsim_trained *m, int64_t n, const double *points, double *values) {
  const int unknowns = m->view.num_unknowns;
  double *columns = NULL;
  pcsim_status status;
  PCSIM_TRY(pcsim_alloc((size_t)(n * unknowns), sizeof *columns, &columns));
  PCSIM_GOTO(pcsim_executor_points(m->x, "points", n), status, done);
  PCSIM_GOTO(pcsim_executor_bind(m->x, "coordinates", points), status, done);
  for (int u = 0; u < unknowns; u++)
    PCSIM_GOTO(pcsim_executor_bind_output(m->x, m->unknown[u], columns + u * n), status, done);
  PCSIM_GOTO(pcsim_executor_run(m->x, false), status, done);
  for (int64_t i = 0; i < n; i++) {
    const bool inside = is_inside(m, points + i * m->view.num_coordinates);
    for (int u = 0; u < unknowns; u++) values[i * unknowns + u] = inside ? columns[u * n + i] : NAN;
  }
done:
  pcsim_free(&columns);
  return status;
}
