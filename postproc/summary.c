/* SPDX-License-Identifier: BSD-2-Clause */
/* summary.json: what a run was and what came out. Its keys are the interface to scripts, to `compare` and to
 * `report`, so that the reader stands beside the writer. */
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <pcsim/postproc.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- writing */

static void key(text_buffer *t, const char *name) {
  text_add(t, ",\n ");
  text_add_json_string(t, name);
  text_add(t, ": ");
}
static void key_string(text_buffer *t, const char *name, const char *value) {
  key(t, name);
  text_add_json_string(t, value);
}
static void key_number(text_buffer *t, const char *name, double value) {
  key(t, name);
  text_add_json_number(t, value);
}
static void key_integer(text_buffer *t, const char *name, int64_t value) {
  key(t, name);
  text_add(t, "%" PRId64, value);
}
static void numbers(text_buffer *t, const double *values, int64_t n, int64_t stride) {
  text_add(t, "[");
  for (int64_t i = 0; i < n; i++) {
    if (i) text_add(t, ", ");
    text_add_json_number(t, values[i * stride]);
  }
  text_add(t, "]");
}

static void put_quantities(text_buffer *t, const pcsim_report *r) {
  key(t, "quantities");
  text_add(t, "{");
  for (int i = 0; i < r->num_quantities; i++) {
    if (i) text_add(t, ", ");
    text_add_json_string(t, r->quantities[i].name);
    text_add(t, ": ");
    text_add_json_number(t, r->quantities[i].value);
  }
  text_add(t, "}");
  key(t, "units");
  text_add(t, "{");
  for (int i = 0; i < r->num_quantities; i++) {
    if (i) text_add(t, ", ");
    text_add_json_string(t, r->quantities[i].name);
    text_add(t, ": ");
    text_add_json_string(t, r->quantities[i].unit);
  }
  text_add(t, "}");
}

static void put_comparison(text_buffer *t, const pcsim_comparison *c) {
  text_add(t, "{\"quantity\": ");
  text_add_json_string(t, c->quantity);
  const struct {
    const char *name;
    double value;
  } number[] = {
      {"value", c->value}, {"reference", c->reference}, {"error", c->error}, {"tolerance", c->tolerance}};
  for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
    text_add(t, ", \"%s\": ", number[i].name);
    text_add_json_number(t, number[i].value);
  }
  if (!isnan(c->low) || !isnan(c->high)) {
    text_add(t, ", \"range\": ");
    numbers(t, (const double[2]){c->low, c->high}, 2, 1);
  }
  text_add(t, ", \"absolute\": %s, \"met\": %s, \"source\": ", c->absolute ? "true" : "false",
           c->met ? "true" : "false");
  text_add_json_string(t, c->source);
  text_add(t, "}");
}

static void put_comparisons(text_buffer *t, const pcsim_report *r) {
  key(t, "references");
  text_add(t, "[");
  for (int i = 0; i < r->num_comparisons; i++) {
    text_add(t, i ? ",\n  " : "\n  ");
    put_comparison(t, &r->comparisons[i]);
  }
  text_add(t, "]");
}

static void put_measure(text_buffer *t, const char *name, const pcsim_quality_measure *m) {
  text_add(t, ",\n  \"%s\": {\"min\": ", name);
  text_add_json_number(t, m->min);
  text_add(t, ", \"mean\": ");
  text_add_json_number(t, m->mean);
  text_add(t, ", \"max\": ");
  text_add_json_number(t, m->max);
  text_add(t, ", \"worst\": [");
  for (int i = 0; i < m->num_worst; i++) {
    text_add(t, "%s{\"value\": ", i ? ", " : "");
    text_add_json_number(t, m->worst_value[i]);
    text_add(t, ", \"cell\": %" PRId64 ", \"centre\": ", m->worst_cell[i]);
    numbers(t, m->worst_centre[i], 3, 1);
    text_add(t, "}");
  }
  text_add(t, "]}");
}

static void put_quality(text_buffer *t, const pcsim_mesh_quality *q) {
  key(t, "mesh");
  text_add(t, "{\"cells\": %" PRId64 ", \"faces\": %" PRId64 ", \"nodes\": %" PRId64 ", \"types\": {",
           q->num_cells, q->num_faces, q->num_nodes);
  bool first = true;
  for (int i = 0; i < PCSIM_NUM_CELL_TYPES; i++) {
    if (q->count[i] == 0) continue;
    text_add(t, "%s\"%s\": %" PRId64, first ? "" : ", ", pcsim_cell_name((pcsim_cell_type)i), q->count[i]);
    first = false;
  }
  text_add(t, "}, \"volume\": ");
  text_add_json_number(t, q->volume);
  text_add(t, ", \"size_min\": ");
  text_add_json_number(t, q->size_min);
  text_add(t, ", \"size_max\": ");
  text_add_json_number(t, q->size_max);
  put_measure(t, "non_orthogonality", &q->non_orthogonality);
  put_measure(t, "skewness", &q->skewness);
  put_measure(t, "volume_ratio", &q->volume_ratio);
  put_measure(t, "aspect_ratio", &q->aspect_ratio);
  text_add(t, "}");
}

static void put_study(text_buffer *t, const pcsim_study *s) {
  key(t, "study");
  text_add(t, "{\"kind\": \"%s\", \"ratio\": ", s->of_steps ? "steps" : "meshes");
  text_add_json_number(t, s->ratio);
  text_add(t, ", \"cells\": [");
  for (int i = 0; i < s->num_meshes; i++) text_add(t, "%s%" PRId64, i ? ", " : "", s->cells[i]);
  text_add(t, "], \"sizes\": ");
  numbers(t, s->sizes, s->num_meshes, 1);
  text_add(t, ", \"quantities\": [");
  for (int q = 0; q < s->num_quantities; q++) {
    text_add(t, "%s\n  {\"name\": ", q ? "," : "");
    text_add_json_string(t, s->names[q]);
    text_add(t, ", \"values\": ");
    numbers(t, s->values + q, s->num_meshes, s->num_quantities);
    text_add(t, ", \"order\": ");
    text_add_json_number(t, s->order[q]);
    text_add(t, ", \"extrapolated\": ");
    text_add_json_number(t, s->extrapolated[q]);
    text_add(t, ", \"uncertainty\": ");
    text_add_json_number(t, s->uncertainty[q]);
    text_add(t, "}");
  }
  text_add(t, "]}");
}

static void put_curves(text_buffer *t, const pcsim_report *r) {
  key(t, "curves");
  text_add(t, "[");
  for (int i = 0; i < r->num_curves; i++) {
    const pcsim_curve *c = &r->curves[i];
    text_add(t, "%s\n  {\"name\": ", i ? "," : "");
    text_add_json_string(t, c->name);
    text_add(t, ", \"columns\": [");
    for (int k = 0; k < c->num_columns; k++) {
      if (k) text_add(t, ", ");
      text_add_json_string(t, c->column[k]);
    }
    text_add(t, "], \"rows\": [");
    for (int64_t row = 0; row < c->num_rows; row++) {
      text_add(t, row ? ",\n   " : "\n   ");
      numbers(t, c->values + row * c->num_columns, c->num_columns, 1);
    }
    text_add(t, "]}");
  }
  text_add(t, "]");
}

static void put_training(text_buffer *t, const pcsim_report_training *training) {
  key_integer(t, "parameters", training->parameters);
  key_integer(t, "points", training->points);
  key_number(t, "loss", training->loss);
  key_string(t, "network", training->network);
  key_string(t, "optimizer", training->optimizer);
  key_integer(t, "seed", training->seed);
}

pcsim_status pcsim_summary_write(const pcsim_report *r, const char *path) {
  text_buffer t = {0};
  text_add(&t, "{\"pcsim\": ");
  text_add_json_string(&t, r->version);
  key_string(&t, "title", r->title);
  key_string(&t, "status", r->status);
  if (r->reason && r->reason[0]) key_string(&t, "reason", r->reason);
  key_number(&t, "wall_seconds", r->wall_seconds);
  key_number(&t, "cpu_seconds", r->cpu_seconds);
  key_number(&t, "solve_seconds", r->solve_seconds);
  key_integer(&t, "ranks", r->ranks);
  key_integer(&t, "cells", r->cells);
  key_integer(&t, "iterations", r->iterations);
  key_integer(&t, "linear_iterations", r->linear_iterations);
  key_number(&t, "residual", r->residual);
  key_integer(&t, "memory_bytes", (int64_t)r->memory_peak);
  if (r->machine) key_string(&t, "machine", r->machine);
  if (r->training) put_training(&t, r->training);
  put_quantities(&t, r);
  put_comparisons(&t, r);
  if (r->quality) put_quality(&t, r->quality);
  if (r->study) put_study(&t, r->study);
  if (r->num_curves) put_curves(&t, r);
  text_add(&t, "\n}\n");
  pcsim_status status = t.status;
  if (status == PCSIM_OK) status = pcsim_file_write(path, t.data, t.size);
  text_free(&t);
  return status;
}

/* ---------------------------------------------------------------- reading */

/* Everything that pcsim_report points to; texts point into `json`. */
typedef struct {
  pcsim_report report; /* first: the handle is its address */
  pcsim_json *json;
  pcsim_quantity *quantities;
  pcsim_comparison *comparisons;
  pcsim_curve *curves;
  pcsim_mesh_quality quality;
  pcsim_study study;
  pcsim_report_training training;
  int64_t *cells;
  double *study_numbers; /* sizes, values, order, extrapolated, uncertainty */
  char (*study_names)[96];
} summary;

static void copy_text(char *to, size_t size, const pcsim_json *from) {
  snprintf(to, size, "%s", pcsim_json_string(from));
}
static double number_of(const pcsim_json *json, const char *name) {
  return pcsim_json_number(pcsim_json_get(json, name));
}
static int64_t as_integer(double value) { return fabs(value) < 9e15 ? (int64_t)value : 0; } /* NaN: 0 */
static int64_t integer_of(const pcsim_json *json, const char *name) {
  return as_integer(number_of(json, name));
}

static pcsim_status take_quantities(summary *s) {
  const pcsim_json *all = pcsim_json_get(s->json, "quantities"), *units = pcsim_json_get(s->json, "units");
  int64_t n = pcsim_json_size(all);
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *s->quantities, &s->quantities));
  for (int64_t i = 0; i < n; i++) {
    const char *name = pcsim_json_key(all, i);
    pcsim_quantity *q = &s->quantities[i];
    snprintf(q->name, sizeof q->name, "%s", name ? name : "");
    q->value = pcsim_json_number(pcsim_json_item(all, i));
    if (name) copy_text(q->unit, sizeof q->unit, pcsim_json_get(units, name));
  }
  s->report.quantities = s->quantities;
  s->report.num_quantities = (int)n;
  return PCSIM_OK;
}

static pcsim_status take_comparisons(summary *s) {
  const pcsim_json *all = pcsim_json_get(s->json, "references");
  int64_t n = pcsim_json_size(all);
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *s->comparisons, &s->comparisons));
  for (int64_t i = 0; i < n; i++) {
    const pcsim_json *from = pcsim_json_item(all, i), *range = pcsim_json_get(from, "range");
    pcsim_comparison *c = &s->comparisons[i];
    copy_text(c->quantity, sizeof c->quantity, pcsim_json_get(from, "quantity"));
    copy_text(c->source, sizeof c->source, pcsim_json_get(from, "source"));
    c->value = number_of(from, "value");
    c->reference = number_of(from, "reference");
    c->error = number_of(from, "error");
    c->tolerance = number_of(from, "tolerance");
    c->low = pcsim_json_number(pcsim_json_item(range, 0));
    c->high = pcsim_json_number(pcsim_json_item(range, 1));
    c->absolute = pcsim_json_bool(pcsim_json_get(from, "absolute"));
    c->met = pcsim_json_bool(pcsim_json_get(from, "met"));
  }
  s->report.comparisons = s->comparisons;
  s->report.num_comparisons = (int)n;
  return PCSIM_OK;
}

static pcsim_status take_curves(summary *s) {
  const pcsim_json *all = pcsim_json_get(s->json, "curves");
  int64_t n = pcsim_json_size(all);
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *s->curves, &s->curves));
  s->report.curves = s->curves;
  for (int64_t i = 0; i < n; i++) {
    const pcsim_json *from = pcsim_json_item(all, i), *columns = pcsim_json_get(from, "columns");
    const pcsim_json *rows = pcsim_json_get(from, "rows");
    pcsim_curve *c = &s->curves[s->report.num_curves++];
    copy_text(c->name, sizeof c->name, pcsim_json_get(from, "name"));
    const int most = (int)(sizeof c->column / sizeof *c->column);
    c->num_columns = pcsim_json_size(columns) < most ? (int)pcsim_json_size(columns) : most;
    c->num_rows = pcsim_json_size(rows);
    for (int k = 0; k < c->num_columns; k++)
      copy_text(c->column[k], sizeof *c->column, pcsim_json_item(columns, k));
    PCSIM_TRY(pcsim_alloc((size_t)(c->num_rows * c->num_columns), sizeof *c->values, &c->values));
    for (int64_t row = 0; row < c->num_rows; row++)
      for (int k = 0; k < c->num_columns; k++)
        c->values[row * c->num_columns + k] =
            pcsim_json_number(pcsim_json_item(pcsim_json_item(rows, row), k));
  }
  return PCSIM_OK;
}

static void take_measure(const pcsim_json *mesh, const char *name, pcsim_quality_measure *m) {
  const pcsim_json *from = pcsim_json_get(mesh, name), *worst = pcsim_json_get(from, "worst");
  m->min = number_of(from, "min");
  m->mean = number_of(from, "mean");
  m->max = number_of(from, "max");
  m->num_worst = pcsim_json_size(worst) < 5 ? (int)pcsim_json_size(worst) : 5;
  for (int i = 0; i < m->num_worst; i++) {
    const pcsim_json *w = pcsim_json_item(worst, i);
    m->worst_value[i] = number_of(w, "value");
    m->worst_cell[i] = integer_of(w, "cell");
    for (int k = 0; k < 3; k++)
      m->worst_centre[i][k] = pcsim_json_number(pcsim_json_item(pcsim_json_get(w, "centre"), k));
  }
}

static void take_quality(summary *s) {
  const pcsim_json *mesh = pcsim_json_get(s->json, "mesh");
  pcsim_mesh_quality *q = &s->quality;
  if (!mesh) return;
  q->num_cells = integer_of(mesh, "cells");
  q->num_faces = integer_of(mesh, "faces");
  q->num_nodes = integer_of(mesh, "nodes");
  for (int i = 0; i < PCSIM_NUM_CELL_TYPES; i++)
    q->count[i] = integer_of(pcsim_json_get(mesh, "types"), pcsim_cell_name((pcsim_cell_type)i));
  q->volume = number_of(mesh, "volume");
  q->size_min = number_of(mesh, "size_min");
  q->size_max = number_of(mesh, "size_max");
  take_measure(mesh, "non_orthogonality", &q->non_orthogonality);
  take_measure(mesh, "skewness", &q->skewness);
  take_measure(mesh, "volume_ratio", &q->volume_ratio);
  take_measure(mesh, "aspect_ratio", &q->aspect_ratio);
  s->report.quality = q;
}

static pcsim_status take_study(summary *s) {
  const pcsim_json *from = pcsim_json_get(s->json, "study"), *cells = pcsim_json_get(from, "cells");
  const pcsim_json *quantities = pcsim_json_get(from, "quantities");
  const int m = (int)pcsim_json_size(cells), n = (int)pcsim_json_size(quantities);
  if (m == 0) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc((size_t)m, sizeof *s->cells, &s->cells));
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *s->study_names, &s->study_names));
  PCSIM_TRY(pcsim_alloc((size_t)(m + m * n + 3 * n), sizeof *s->study_numbers, &s->study_numbers));
  double *sizes = s->study_numbers, *values = sizes + m, *order = values + m * n;
  for (int i = 0; i < m; i++) {
    s->cells[i] = as_integer(pcsim_json_number(pcsim_json_item(cells, i)));
    sizes[i] = pcsim_json_number(pcsim_json_item(pcsim_json_get(from, "sizes"), i));
  }
  for (int q = 0; q < n; q++) {
    const pcsim_json *one = pcsim_json_item(quantities, q);
    copy_text(s->study_names[q], sizeof *s->study_names, pcsim_json_get(one, "name"));
    for (int i = 0; i < m; i++)
      values[i * n + q] = pcsim_json_number(pcsim_json_item(pcsim_json_get(one, "values"), i));
    order[q] = number_of(one, "order");
    order[n + q] = number_of(one, "extrapolated");
    order[2 * n + q] = number_of(one, "uncertainty");
  }
  const char *kind = pcsim_json_string(pcsim_json_get(from, "kind"));
  s->study = (pcsim_study){.num_meshes = m,
                           .of_steps = kind && !strcmp(kind, "steps"),
                           .num_quantities = n,
                           .ratio = number_of(from, "ratio"),
                           .cells = s->cells,
                           .sizes = sizes,
                           .names = (const char(*)[96])s->study_names,
                           .values = values,
                           .order = order,
                           .extrapolated = order + n,
                           .uncertainty = order + 2 * n};
  s->report.study = &s->study;
  return PCSIM_OK;
}

static void take_training(summary *s) {
  const pcsim_json *j = s->json;
  if (!pcsim_json_get(j, "optimizer")) return;
  s->training = (pcsim_report_training){.parameters = integer_of(j, "parameters"),
                                        .points = integer_of(j, "points"),
                                        .seed = integer_of(j, "seed"),
                                        .loss = number_of(j, "loss"),
                                        .network = pcsim_json_string(pcsim_json_get(j, "network")),
                                        .optimizer = pcsim_json_string(pcsim_json_get(j, "optimizer"))};
  s->report.training = &s->training;
}

static pcsim_status take_all(summary *s, const char *path) {
  const pcsim_json *j = s->json;
  pcsim_report *r = &s->report;
  PCSIM_CHECK(pcsim_json_get_kind(pcsim_json_get(j, "pcsim")) == PCSIM_JSON_STRING &&
                  pcsim_json_get_kind(pcsim_json_get(j, "quantities")) == PCSIM_JSON_OBJECT,
              PCSIM_ERR_IO, "'%s' is not the summary of a run: 'pcsim' or 'quantities' is missing", path);
  r->version = pcsim_json_string(pcsim_json_get(j, "pcsim"));
  r->title = pcsim_json_string(pcsim_json_get(j, "title"));
  r->status = pcsim_json_string(pcsim_json_get(j, "status"));
  r->reason = pcsim_json_string(pcsim_json_get(j, "reason"));
  r->machine = pcsim_json_string(pcsim_json_get(j, "machine"));
  r->wall_seconds = number_of(j, "wall_seconds");
  r->cpu_seconds = number_of(j, "cpu_seconds");
  r->solve_seconds = number_of(j, "solve_seconds");
  r->ranks = (int)integer_of(j, "ranks");
  r->cells = integer_of(j, "cells");
  r->iterations = integer_of(j, "iterations");
  r->linear_iterations = integer_of(j, "linear_iterations");
  r->residual = number_of(j, "residual");
  r->memory_peak = (size_t)integer_of(j, "memory_bytes");
  PCSIM_TRY(take_quantities(s));
  PCSIM_TRY(take_comparisons(s));
  PCSIM_TRY(take_curves(s));
  PCSIM_TRY(take_study(s));
  take_quality(s);
  take_training(s);
  return PCSIM_OK;
}

pcsim_status pcsim_summary_read(const char *path, pcsim_report **report) {
  summary *s = NULL;
  *report = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *s, &s));
  *report = &s->report;
  pcsim_status status = pcsim_json_read(path, &s->json);
  if (status == PCSIM_OK) status = take_all(s, path);
  if (status != PCSIM_OK) pcsim_summary_free(report);
  return status;
}

void pcsim_summary_free(pcsim_report **report) {
  summary *s = (summary *)*report;
  *report = NULL;
  if (!s) return;
  for (int i = 0; i < s->report.num_curves; i++) pcsim_free(&s->curves[i].values);
  pcsim_free(&s->curves);
  pcsim_free(&s->quantities);
  pcsim_free(&s->comparisons);
  pcsim_free(&s->cells);
  pcsim_free(&s->study_numbers);
  pcsim_free(&s->study_names);
  pcsim_json_destroy(&s->json);
  pcsim_free(&s);
}
