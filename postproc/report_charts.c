/* SPDX-License-Identifier: BSD-2-Clause */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SERIES = 8 };

/* "residual", "momentum.x", "continuity", ...: a known word, or one with something behind a point; and the
 * errors of fields, "error.u". */
static bool is_residual(const char *name) {
  static const char *const words[] = {"residual", "momentum", "continuity", "mass"};
  if (!strncmp(name, "error.", 6)) return true;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t n = strlen(words[i]);
    if (!strncmp(name, words[i], n) && (name[n] == '\0' || name[n] == '.')) return true;
  }
  return false;
}

static bool any_positive(const double *rows, int64_t n, int columns, int k) {
  for (int64_t i = 0; i < n; i++)
    if (rows[i * columns + k] > 0) return true;
  return false;
}

static const pcsim_comparison *comparison_of(const pcsim_report *r, const char *name) {
  for (int i = 0; i < r->num_comparisons; i++)
    if (!strcmp(r->comparisons[i].quantity, name)) return &r->comparisons[i];
  return NULL;
}

static const pcsim_quantity *quantity_of(const pcsim_report *r, const char *name) {
  for (int i = 0; i < r->num_quantities; i++)
    if (!strcmp(r->quantities[i].name, name)) return &r->quantities[i];
  return NULL;
}

/* --------------------------------------------------------------- convergence */

/* The column that charts are drawn over: the time where there is one, else the step. */
static int abscissa(const char *const *names, int columns) {
  for (int k = 0; k < columns; k++)
    if (!strcmp(names[k], "time")) return k;
  return 0;
}

bool report_through_time(const pcsim_report *r) {
  const double *rows;
  int columns;
  if (!r->history) return false;
  pcsim_history_rows(r->history, &rows, &columns);
  return abscissa(pcsim_history_names(r->history), columns) > 0;
}

static void residual_chart(text_buffer *t, const double *rows, int64_t n, int columns,
                           const char *const *names, int *id) {
  chart_series series[MAX_SERIES];
  chart c = {.title = "Residuals",
             .x_label = "step",
             .y_label = "residual",
             .log_y = true,
             .x_integer = true,
             .series = series};
  for (int k = 1; k < columns && c.num_series < MAX_SERIES; k++) {
    if (!is_residual(names[k]) || !any_positive(rows, n, columns, k)) continue;
    series[c.num_series] = (chart_series){
        rows, rows + k, n, columns, columns, names[k], n < 40 ? CHART_BOTH : CHART_LINE, c.num_series};
    c.num_series++;
  }
  if (c.num_series == 0) return;
  c.id = (*id)++;
  chart_add(t, &c);
}

/* The band of a comparison: its range, or its tolerance about the reference. */
static void set_level(chart *c, const pcsim_comparison *from) {
  if (!from) return;
  c->has_level = true;
  c->level_name = "reference";
  if (isfinite(from->low) && isfinite(from->high)) {
    c->low = from->low, c->high = from->high;
    c->level = isfinite(from->reference) ? from->reference : (from->low + from->high) / 2;
    return;
  }
  double half = fabs(from->absolute ? from->tolerance : from->tolerance * from->reference);
  c->level = from->reference;
  c->low = from->reference - half, c->high = from->reference + half;
  c->has_level = isfinite(c->level);
}

static void quantity_chart(text_buffer *t, const pcsim_report *r, const double *rows, int64_t n, int columns,
                           int k, const char *name, int *id) {
  const pcsim_quantity *q = quantity_of(r, name);
  const int x = abscissa(pcsim_history_names(r->history), columns);
  chart_series series = {rows + x, rows + k, n, columns, columns, name, n < 40 ? CHART_BOTH : CHART_LINE, 0};
  char label[128];
  snprintf(label, sizeof label, q && q->unit[0] && strcmp(q->unit, "1") ? "%s, %s" : "%s", name,
           q ? q->unit : "");
  chart c = {.title = name,
             .x_label = x ? "time, s" : "step",
             .y_label = label,
             .x_integer = x == 0,
             .settled = x == 0,
             .series = &series,
             .num_series = 1};
  set_level(&c, comparison_of(r, name));
  c.id = (*id)++;
  chart_add(t, &c);
}

static bool any_value(const double *rows, int64_t n, int columns, int k) {
  for (int64_t i = 0; i < n; i++)
    if (isfinite(rows[i * columns + k])) return true;
  return false;
}

void report_convergence(text_buffer *t, const pcsim_report *r, int *id) {
  if (!r->history) return;
  const double *rows;
  int columns;
  int64_t n = pcsim_history_rows(r->history, &rows, &columns);
  const char *const *names = pcsim_history_names(r->history);
  if (n == 0) return;
  const size_t begin = t->size;
  const int first = *id;
  text_add(t, "<section><h2>%s</h2>\n<div class=\"charts\">\n",
           report_through_time(r) ? "Over time" : "Convergence");
  residual_chart(t, rows, n, columns, names, id);
  /* Those with a reference first, then the other quantities while they are not too many to look at. */
  enum { MOST = 12 };
  int drawn = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int k = 1; k < columns; k++) {
      bool compared = comparison_of(r, names[k]) != NULL;
      if (is_residual(names[k]) || compared != (pass == 0) || !quantity_of(r, names[k])) continue;
      if ((pass == 1 && drawn >= MOST) || !any_value(rows, n, columns, k)) continue;
      quantity_chart(t, r, rows, n, columns, k, names[k], id);
      drawn++;
    }
  if (*id == first) t->size = begin; /* no chart: no heading either */
  else text_add(t, "</div></section>\n");
}

/* --------------------------------------------------------------------- curves */

static const char reference_suffix[] = ":reference";

static bool is_reference(const pcsim_curve *c) {
  size_t n = strlen(c->name), m = sizeof reference_suffix - 1;
  return n > m && !strcmp(c->name + n - m, reference_suffix);
}

static const pcsim_curve *reference_of(const pcsim_report *r, const pcsim_curve *c) {
  size_t n = strlen(c->name);
  for (int i = 0; i < r->num_curves; i++)
    if (!strncmp(r->curves[i].name, c->name, n) && !strcmp(r->curves[i].name + n, reference_suffix))
      return &r->curves[i];
  return NULL;
}

static int column_of(const pcsim_curve *c, const char *name) {
  for (int k = 0; c && k < c->num_columns; k++)
    if (!strcmp(c->column[k], name)) return k;
  return -1;
}

static bool is_place(const char *name) {
  return !strcmp(name, "x") || !strcmp(name, "y") || !strcmp(name, "z") || !strcmp(name, "s");
}

/* Abscissa of a curve: that of its reference if the curve has it, else the only coordinate that varies, else
 * the first column. */
static int abscissa_of(const pcsim_curve *c, const pcsim_curve *reference) {
  int k = reference ? column_of(c, reference->column[0]) : -1, varying = 0, found = 0;
  if (k >= 0) return k;
  for (k = 0; k < c->num_columns; k++) {
    if (!is_place(c->column[k]) || c->column[k][0] == 's' || c->num_rows < 2) continue;
    double first = c->values[k], last = c->values[(c->num_rows - 1) * c->num_columns + k], mid;
    mid = c->values[c->num_rows / 2 * c->num_columns + k];
    if (first != last || first != mid) varying++, found = k;
  }
  return varying == 1 ? found : 0;
}

static bool constant_zero(const pcsim_curve *c, int k) {
  for (int64_t i = 0; i < c->num_rows; i++)
    if (c->values[i * c->num_columns + k] != 0) return false;
  return true;
}

static void curve_chart(text_buffer *t, const pcsim_curve *c, const pcsim_curve *reference, int x, int k,
                        int *id) {
  char title[160];
  int rk = column_of(reference, c->column[k]);
  snprintf(title, sizeof title, "%s: %s", c->name, c->column[k]);
  chart_series series[2] = {
      {c->values + x, c->values + k, c->num_rows, c->num_columns, c->num_columns, "this run", CHART_LINE, 0}};
  if (rk > 0)
    series[1] = (chart_series){reference->values,      reference->values + rk,
                               reference->num_rows,    reference->num_columns,
                               reference->num_columns, "reference",
                               CHART_POINTS,           1};
  chart line = {.title = title,
                .x_label = c->column[x],
                .y_label = c->column[k],
                .series = series,
                .num_series = rk > 0 ? 2 : 1,
                .id = (*id)++};
  chart_add(t, &line);
}

void report_curves(text_buffer *t, const pcsim_report *r, int *id) {
  bool open = false;
  for (int i = 0; i < r->num_curves; i++) {
    const pcsim_curve *c = &r->curves[i];
    if (is_reference(c) || c->num_rows < 2 || c->num_columns < 2) continue;
    const pcsim_curve *reference = reference_of(r, c);
    int x = abscissa_of(c, reference);
    for (int k = 0; k < c->num_columns; k++) {
      bool compared = column_of(reference, c->column[k]) > 0;
      if (k == x || (!compared && (is_place(c->column[k]) || reference || constant_zero(c, k)))) continue;
      if (!open) text_add(t, "<section><h2>Profiles</h2>\n<div class=\"charts\">\n");
      open = true;
      curve_chart(t, c, reference, x, k, id);
    }
  }
  if (open) text_add(t, "</div></section>\n");
}

/* ----------------------------------------------------------------- mesh study */

enum { MAX_MESHES = 16 };

/* Distance of each mesh's value from the reference, or from the extrapolated value where there is none. */
static void study_chart(text_buffer *t, const pcsim_report *r, const pcsim_study *s, int q, int *id) {
  const pcsim_comparison *reference = comparison_of(r, s->names[q]);
  double target = s->extrapolated[q], order = s->order[q];
  bool to_reference = reference && isfinite(reference->reference);
  if (to_reference) target = reference->reference;
  if (!isfinite(target) || s->num_meshes < 2) return;
  double error[MAX_MESHES], guide[2], size[2];
  int n = s->num_meshes < MAX_MESHES ? s->num_meshes : MAX_MESHES, positive = 0;
  for (int i = 0; i < n; i++) {
    error[i] = fabs(s->values[i * s->num_quantities + q] - target);
    if (target != 0) error[i] /= fabs(target);
    positive += isfinite(error[i]) && error[i] > 0;
  }
  if (positive < 2) return;
  char title[192], slope[64], label[64];
  snprintf(title, sizeof title, "%s: distance from the %s value", s->names[q],
           to_reference ? "reference" : "extrapolated");
  snprintf(label, sizeof label, target != 0 ? "relative distance" : "distance");
  chart_series series[2] = {{s->sizes, error, n, 1, 1, s->of_steps ? "steps" : "meshes", CHART_BOTH, 0}};
  chart c = {.title = title,
             .x_label = s->of_steps ? "time step" : "cell size",
             .y_label = label,
             .log_x = true,
             .log_y = true,
             .series = series,
             .num_series = 1,
             .id = (*id)++};
  double slope_order = isfinite(order) && order > 0 && !to_reference ? order : 2;
  if (error[n - 1] > 0 && s->sizes[0] > 0 && s->sizes[n - 1] > 0) {
    size[0] = s->sizes[0], size[1] = s->sizes[n - 1];
    guide[1] = 0.7 * error[n - 1];
    guide[0] = guide[1] * pow(size[0] / size[1], slope_order);
    snprintf(slope, sizeof slope, "slope %.3g", slope_order);
    series[c.num_series++] = (chart_series){size, guide, 2, 1, 1, slope, CHART_DASHED, 7};
  }
  chart_add(t, &c);
}

void report_study_charts(text_buffer *t, const pcsim_report *r, int *id) {
  text_add(t, "<div class=\"charts\">\n");
  for (int q = 0; q < r->study->num_quantities && q < 12; q++) study_chart(t, r, r->study, q, id);
  text_add(t, "</div>\n");
}
