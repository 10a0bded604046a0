/* SPDX-License-Identifier: BSD-2-Clause */
/* Local programs at the centres of cells, with the unknowns of typed equations at their start. */
#include "flow.h"

#include <string.h>

pcsim_status cell_values_create(const pcsim_mesh *mesh, const pcsim_transport_view *laws, int rows,
                                cell_values *d) {
  const pcsim_mesh_view *v = pcsim_mesh_get(mesh);
  const int m = laws ? laws->num_unknowns : 0;
  const size_t n = (size_t)v->num_cells;
  *d = (cell_values){.laws = laws, .n = v->num_cells};
  PCSIM_TRY(pcsim_alloc(4 * n, sizeof(double), &d->points));
  PCSIM_TRY(pcsim_alloc(n * ((size_t)m + 1), sizeof(double), &d->column));
  PCSIM_TRY(pcsim_alloc(n * (size_t)rows, sizeof(double), &d->out));
  for (int64_t c = 0; c < d->n; ++c) {
    memcpy(d->points + 4 * c, v->cell_centre + 3 * c, 3 * sizeof(double));
    for (int i = 0; i < m; ++i) d->column[i * d->n + c] = laws->start[c * m + i];
  }
  return PCSIM_OK;
}

void cell_values_free(cell_values *d) { pcsim_free(&d->points), pcsim_free(&d->column), pcsim_free(&d->out); }

static const double *data_of(const cell_values *d, const char *name) {
  const pcsim_transport_view *laws = d->laws;
  if (!strcmp(name, "coordinates")) return d->points;
  for (int i = 0; laws && i < laws->num_fields; ++i)
    if (!strcmp(name, laws->field[i])) return laws->values[i];
  int i = 0;
  while (laws && i < laws->num_unknowns && strcmp(name, laws->unknown[i]) != 0) ++i;
  return d->column + i * d->n;
}

pcsim_status cell_values_run(const cell_values *d, const pcsim_program *program, const char *output,
                             double other) {
  const int m = d->laws ? d->laws->num_unknowns : 0;
  pcsim_executor *x = NULL;
  const char *name;
  bool used;
  pcsim_status status;
  for (int64_t c = 0; c < d->n; ++c) d->column[m * d->n + c] = other;
  PCSIM_GOTO(pcsim_executor_create(program, NULL, &x), status, done);
  PCSIM_GOTO(pcsim_executor_points(x, "points", d->n), status, done);
  for (int i = 0; (name = pcsim_program_input(program, i, NULL, &used)); ++i)
    if (used) PCSIM_GOTO(pcsim_executor_bind(x, name, data_of(d, name)), status, done);
  PCSIM_GOTO(pcsim_executor_bind_output(x, output, d->out), status, done);
  status = pcsim_executor_run(x, false);
done:
  pcsim_executor_destroy(&x);
  return status;
}
