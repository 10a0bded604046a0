/* SPDX-License-Identifier: BSD-2-Clause */
/* Errors of the fields against exact ones: relative L2 over the cells, and the largest. */
#include "reference.h"

#include <math.h>
#include <stdio.h>

static bool all_velocity(const exact_field *exact, const pcsim_monitors *monitors) {
  bool all = !monitors->typed;
  for (int i = 0; i < pcsim_mesh_get(monitors->mesh)->dim && all; ++i) all = exact_given(&exact[i]);
  return all;
}

static bool pressure_given(const exact_field *exact, const pcsim_monitors *monitors) {
  return !monitors->typed && exact_given(&exact[SAMPLE_P]);
}

pcsim_status errors_names(const exact_field *exact, const pcsim_monitors *monitors,
                          pcsim_status (*visit)(void *, const char *), void *context) {
  char name[96];
  for (int i = 0; i < monitors->num_fields; ++i) {
    if (!exact_given(&exact[i])) continue;
    snprintf(name, sizeof name, "error.%s", monitors->field[i].name);
    PCSIM_TRY(visit(context, name));
    snprintf(name, sizeof name, "error.%s.max", monitors->field[i].name);
    PCSIM_TRY(visit(context, name));
  }
  if (pressure_given(exact, monitors)) PCSIM_TRY(visit(context, "error.p.vertices"));
  if (!all_velocity(exact, monitors)) return PCSIM_OK;
  PCSIM_TRY(visit(context, "error.velocity"));
  return visit(context, "error.velocity.max");
}

/* Of one field: squared norms and largest values of the error and of the exact field. */
typedef struct {
  double error, norm, error_max, norm_max;
} field_error;

static double value_at(const pcsim_fields *fields, int field, int64_t cell) {
  const pcsim_scalar *scalar = &fields->scalar[field];
  return scalar->value[scalar->stride * cell];
}

/* Means of the error and of the exact field over the domain. */
static void find_means(const exact_field *exact, int field, const pcsim_fields *fields, double mean[2]) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(fields->mesh);
  double sum[3] = {0, 0, 0};
  for (int64_t c = 0; c < mesh->num_cells; ++c) {
    double right = exact_at(exact, mesh->cell_centre + 3 * c);
    sum[0] += mesh->cell_volume[c] * (value_at(fields, field, c) - right);
    sum[1] += mesh->cell_volume[c] * right;
    sum[2] += mesh->cell_volume[c];
  }
  MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(fields->mesh));
  mean[0] = sum[0] / sum[2];
  mean[1] = sum[1] / sum[2];
}

static field_error measure(const exact_field *exact, int field, const pcsim_fields *fields,
                           bool without_mean) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(fields->mesh);
  double mean[2] = {0, 0}, sum[2] = {0, 0}, most[2] = {0, 0};
  if (without_mean) find_means(exact, field, fields, mean);
  for (int64_t c = 0; c < mesh->num_cells; ++c) {
    double right = exact_at(exact, mesh->cell_centre + 3 * c);
    double error = value_at(fields, field, c) - right - mean[0], size = right - mean[1];
    sum[0] += mesh->cell_volume[c] * error * error;
    sum[1] += mesh->cell_volume[c] * size * size;
    most[0] = fmax(most[0], fabs(error));
    most[1] = fmax(most[1], fabs(size));
  }
  MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(fields->mesh));
  MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, pcsim_mesh_comm(fields->mesh));
  if (isnan(sum[0])) most[0] = NAN; /* fmax drops NaN */
  return (field_error){sum[0], sum[1], most[0], most[1]};
}

/* Relative where there is something to relate to. */
static double relative(double error, double norm) { return norm > 0.0 ? error / norm : error; }

static pcsim_status put(pcsim_monitors *monitors, const char *name, const field_error *e) {
  char quantity[96];
  snprintf(quantity, sizeof quantity, "error.%s", name);
  PCSIM_TRY(pcsim_monitors_put(monitors, quantity, "1", relative(sqrt(e->error), sqrt(e->norm))));
  snprintf(quantity, sizeof quantity, "error.%s.max", name);
  return pcsim_monitors_put(monitors, quantity, "1", relative(e->error_max, e->norm_max));
}

pcsim_status errors_compute(const exact_field *exact, pcsim_monitors *monitors, const pcsim_fields *fields) {
  field_error velocity = {0, 0, 0, 0};
  for (int i = 0; i < monitors->num_fields; ++i) {
    if (!exact_given(&exact[i])) continue;
    const bool pressure = !monitors->typed && i == SAMPLE_P;
    field_error e = measure(&exact[i], i, fields, pressure && monitors->pressure_free);
    PCSIM_TRY(put(monitors, monitors->field[i].name, &e));
    if (pressure) continue;
    velocity.error += e.error;
    velocity.norm += e.norm;
    velocity.error_max =
        e.error_max > velocity.error_max || isnan(e.error_max) ? e.error_max : velocity.error_max;
    velocity.norm_max = fmax(velocity.norm_max, e.norm_max);
  }
  if (all_velocity(exact, monitors)) PCSIM_TRY(put(monitors, "velocity", &velocity));
  if (!pressure_given(exact, monitors)) return PCSIM_OK;
  double error, norm;
  PCSIM_TRY(vertices_error(&exact[SAMPLE_P], fields->flow, monitors->pressure_free, &error, &norm));
  return pcsim_monitors_put(monitors, "error.p.vertices", "1", relative(sqrt(error), sqrt(norm)));
}
