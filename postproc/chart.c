/* SPDX-License-Identifier: BSD-2-Clause */
#include "chart.h"
#include "draw.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 640, TOP = 12, PLOT_HEIGHT = 250, BOTTOM = 50, RIGHT = 18 };

typedef struct {
  double low, high; /* of log10 on a logarithmic axis */
  bool logarithmic;
  double start, length; /* pixels; y has a negative length */
} axis;

typedef struct {
  const chart *c;
  axis x, y;
} frame;

static bool usable(const axis *a, double v) { return isfinite(v) && (!a->logarithmic || v > 0); }
static double scaled(const axis *a, double v) { return a->logarithmic ? log10(v) : v; }
static double pixel(const axis *a, double v) {
  return a->start + (scaled(a, v) - a->low) / (a->high - a->low) * a->length;
}

static void stretch_to(axis *a, double v) {
  if (!usable(a, v)) return;
  v = scaled(a, v);
  a->low = fmin(a->low, v);
  a->high = fmax(a->high, v);
}

/* Room around the data; a single value gets some too. */
static void pad(axis *a, double share) {
  if (!(a->low <= a->high)) a->low = 0, a->high = 1;
  double range = a->high - a->low, size = fmax(fabs(a->low), fabs(a->high));
  if (!(range > 1e-12 * size)) range = a->logarithmic ? 1 : size > 0 ? 0.1 * size : 1;
  a->low -= share * range;
  a->high += share * range;
}

static void series_range(const chart_series *s, int64_t from, const frame *f, axis *x, axis *y) {
  for (int64_t i = from; i < s->n; i++) {
    double px = s->x[i * s->x_stride], py = s->y[i * s->y_stride];
    if (!usable(&f->x, px) || !usable(&f->y, py)) continue;
    if (x) stretch_to(x, px);
    if (y) stretch_to(y, py);
  }
}

static void find_range(frame *f) {
  const chart *c = f->c;
  f->x = (axis){INFINITY, -INFINITY, c->log_x, 0, 0};
  f->y = (axis){INFINITY, -INFINITY, c->log_y, 0, 0};
  axis late = f->y, all = f->y;
  for (int i = 0; i < c->num_series; i++) {
    series_range(&c->series[i], 0, f, &f->x, &all);
    series_range(&c->series[i], c->series[i].n / 3, f, NULL, &late);
  }
  /* Following the settled part is only worth it where the start hides it. */
  bool wild = c->settled && late.low <= late.high && all.high - all.low > 4 * (late.high - late.low);
  f->y = wild ? late : all;
  if (wild) {
    double range = late.high - late.low;
    f->y.low = fmax(all.low, late.low - range);
    f->y.high = fmin(all.high, late.high + range);
  }
  if (c->has_level && f->y.low <= f->y.high) {
    stretch_to(&f->y, c->level);
    if (c->low < c->high) {
      stretch_to(&f->y, c->low);
      stretch_to(&f->y, c->high);
    }
  }
  pad(&f->x, c->log_x ? 0.06 : 0.015);
  pad(&f->y, 0.06);
}

/* ------------------------------------------------------------------ ticks */

/* Decades, or where fewer than two lie in the range, 1, 2 and 5 of each. */
static int log_ticks(const axis *a, int most, double *values, int room) {
  int first = (int)ceil(a->low - 1e-9), last = (int)floor(a->high + 1e-9), n = 0;
  if (last - first >= 1) {
    int every = (last - first) / most + 1;
    for (int e = first; e <= last && n < room; e += every) values[n++] = pow(10, e);
    return n;
  }
  static const double mantissa[] = {1, 1.5, 2, 3, 5, 7};
  for (int e = first - 1; e <= last + 1; e++)
    for (int k = 0; k < 6 && n < room; k++) {
      double v = mantissa[k] * pow(10, e);
      if (log10(v) >= a->low && log10(v) <= a->high) values[n++] = v;
    }
  return n;
}

static void log_label(text_buffer *t, double value) {
  int e = (int)floor(log10(value) + 1e-9);
  double m = value / pow(10, e);
  if (e >= -2 && e <= 4) text_add(t, "%.6g", value);
  else if (fabs(m - 1) < 1e-9)
    text_add(t, "10<tspan class=\"sup\" dy=\"-5\">%s%d</tspan>", e < 0 ? "\xE2\x88\x92" : "", e < 0 ? -e : e);
  else
    text_add(t,
             "%.3g\xC2\xB7"
             "10<tspan class=\"sup\" dy=\"-5\">%s%d</tspan>",
             m, e < 0 ? "\xE2\x88\x92" : "", e < 0 ? -e : e);
}

enum { MAX_TICKS = 40 };
typedef struct {
  int n;
  double value[MAX_TICKS];
  axis_ticks linear;
} tick_set;

static void find_ticks(const axis *a, int most, bool integer, tick_set *set) {
  set->n = 0;
  if (a->logarithmic) {
    set->n = log_ticks(a, most, set->value, MAX_TICKS);
    return;
  }
  ticks_make(a->low, a->high, most, &set->linear);
  if (integer && set->linear.step < 1) {
    double first = ceil(a->low);
    set->linear = (axis_ticks){first, 1, (int)(floor(a->high) - first) + 1, 0, 0};
  }
  if (set->linear.count > MAX_TICKS) set->linear.count = MAX_TICKS;
  for (int i = 0; i < set->linear.count; i++) set->value[set->n++] = ticks_value(&set->linear, i);
}

static void tick_label(text_buffer *t, const axis *a, const tick_set *set, int i) {
  if (a->logarithmic) {
    log_label(t, set->value[i]);
    return;
  }
  char label[32];
  ticks_label(&set->linear, i, label);
  text_add(t, "%s", label);
}

static double label_room(const axis *a, const tick_set *set) {
  size_t longest = a->logarithmic ? 6 : 1;
  for (int i = 0; !a->logarithmic && i < set->n; i++) {
    char label[32];
    ticks_label(&set->linear, i, label);
    if (strlen(label) > longest) longest = strlen(label);
  }
  return 7.2 * (double)longest + 12;
}

static void axis_name(text_buffer *t, const char *name, const axis *a, const tick_set *set) {
  text_add_html(t, name ? name : "");
  if (!a->logarithmic && set->linear.exponent)
    text_add(t, " [10<tspan class=\"sup\" dy=\"-5\">%d</tspan><tspan dy=\"5\">]</tspan>",
             set->linear.exponent);
}

static void add_axes(text_buffer *t, const frame *f, const tick_set *tx, const tick_set *ty) {
  const double left = f->x.start, right = left + f->x.length, bottom = TOP + PLOT_HEIGHT;
  for (int i = 0; i < tx->n; i++) {
    double x = pixel(&f->x, tx->value[i]);
    text_add(t, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%.1f\"/>", x, x, TOP, bottom);
    text_add(t, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", x, bottom + 17);
    tick_label(t, &f->x, tx, i);
    text_add(t, "</text>");
  }
  for (int i = 0; i < ty->n; i++) {
    double y = pixel(&f->y, ty->value[i]);
    text_add(t, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", left, right, y, y);
    text_add(t, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", left - 7, y + 4);
    tick_label(t, &f->y, ty, i);
    text_add(t, "</text>");
  }
  text_add(t, "<path class=\"axis\" d=\"M%.1f %d V%.1f H%.1f\"/>", left, TOP, bottom, right);
  text_add(t, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", (left + right) / 2,
           bottom + 38);
  axis_name(t, f->c->x_label, &f->x, tx);
  text_add(t,
           "</text><text class=\"name\" transform=\"translate(14 %.1f) rotate(-90)\" text-anchor=\"middle\">",
           TOP + PLOT_HEIGHT / 2.0);
  axis_name(t, f->c->y_label, &f->y, ty);
  text_add(t, "</text>");
}

/* ----------------------------------------------------------------- series */

static void add_points(text_buffer *t, const frame *f, const chart_series *s) {
  int64_t every = s->n / 400 + 1;
  for (int64_t i = 0; i < s->n; i += every) {
    double x = s->x[i * s->x_stride], y = s->y[i * s->y_stride];
    if (!usable(&f->x, x) || !usable(&f->y, y)) continue;
    text_add(t, "<circle class=\"p%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.4\"/>", s->colour % 8, pixel(&f->x, x),
             pixel(&f->y, y));
  }
}

/* Long series keep the lowest and the highest of each bundle of rows, so that no peak is lost. */
static void add_line(text_buffer *t, const frame *f, const chart_series *s) {
  const int64_t bundle = s->n / 800 + 1;
  bool down = false;
  text_add(t, "<path class=\"s%d%s\" d=\"", s->colour % 8, s->style == CHART_DASHED ? " dashed" : "");
  for (int64_t i = 0; i < s->n; i += bundle) {
    int64_t low = -1, high = -1;
    for (int64_t k = i; k < s->n && k < i + bundle; k++) {
      double x = s->x[k * s->x_stride], y = s->y[k * s->y_stride];
      if (!usable(&f->x, x) || !usable(&f->y, y)) continue;
      if (low < 0 || y < s->y[low * s->y_stride]) low = k;
      if (high < 0 || y > s->y[high * s->y_stride]) high = k;
    }
    if (low < 0) {
      down = false;
      continue;
    }
    const int64_t order[2] = {low < high ? low : high, low < high ? high : low};
    for (int k = 0; k < (low == high ? 1 : 2); k++) {
      /* A value far outside the plot is held near it: SVG readers lose precision otherwise. */
      double y = pixel(&f->y, s->y[order[k] * s->y_stride]);
      y = fmin(fmax(y, -1000), 2000);
      text_add(t, "%c%.1f %.1f", down ? 'L' : 'M', pixel(&f->x, s->x[order[k] * s->x_stride]), y);
      down = true;
    }
  }
  text_add(t, "\"/>");
}

static void add_level(text_buffer *t, const frame *f) {
  const chart *c = f->c;
  if (!c->has_level) return;
  if (c->low < c->high && usable(&f->y, c->low)) {
    double y0 = pixel(&f->y, c->high), y1 = pixel(&f->y, c->low);
    text_add(t, "<rect class=\"band\" x=\"%.1f\" width=\"%.1f\" y=\"%.1f\" height=\"%.1f\"/>", f->x.start,
             f->x.length, y0, fmax(y1 - y0, 0.5));
  }
  if (usable(&f->y, c->level))
    text_add(t, "<line class=\"level\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", f->x.start,
             f->x.start + f->x.length, pixel(&f->y, c->level), pixel(&f->y, c->level));
}

static void add_legend(text_buffer *t, const chart *c) {
  int named = c->has_level && c->level_name;
  for (int i = 0; i < c->num_series; i++) named += c->series[i].name != NULL;
  if (named < 2) return;
  text_add(t, "<ul class=\"legend\">");
  for (int i = 0; i < c->num_series; i++) {
    const chart_series *s = &c->series[i];
    if (!s->name) continue;
    text_add(t, "<li><svg width=\"26\" height=\"10\" aria-hidden=\"true\">");
    if (s->style != CHART_POINTS)
      text_add(t, "<path class=\"s%d%s\" d=\"M1 5H25\"/>", s->colour % 8,
               s->style == CHART_DASHED ? " dashed" : "");
    if (s->style == CHART_POINTS || s->style == CHART_BOTH)
      text_add(t, "<circle class=\"p%d\" cx=\"13\" cy=\"5\" r=\"3.4\"/>", s->colour % 8);
    text_add(t, "</svg>");
    text_add_html(t, s->name);
    text_add(t, "</li>");
  }
  if (c->has_level && c->level_name) {
    text_add(t, "<li><svg width=\"26\" height=\"10\" aria-hidden=\"true\">");
    if (c->low < c->high) text_add(t, "<rect class=\"band\" x=\"1\" y=\"0\" width=\"24\" height=\"10\"/>");
    text_add(t, "<path class=\"level\" d=\"M1 5H25\"/></svg>");
    text_add_html(t, c->level_name);
    text_add(t, "</li>");
  }
  text_add(t, "</ul>");
}

void chart_add(text_buffer *t, const chart *c) {
  frame f = {.c = c};
  find_range(&f);
  tick_set tx, ty;
  find_ticks(&f.y, 6, false, &ty);
  f.y.start = TOP + PLOT_HEIGHT, f.y.length = -PLOT_HEIGHT;
  f.x.start = 24 + label_room(&f.y, &ty);
  f.x.length = WIDTH - RIGHT - f.x.start;
  find_ticks(&f.x, 8, c->x_integer, &tx);
  text_add(t, "<figure class=\"chart\"><figcaption>");
  text_add_html(t, c->title);
  text_add(t, "</figcaption>");
  add_legend(t, c);
  text_add(t, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH, TOP + PLOT_HEIGHT + BOTTOM);
  text_add_html(t, c->title);
  text_add(t,
           "\"><clipPath id=\"clip%d\"><rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/></clipPath>",
           c->id, f.x.start, TOP - 4, f.x.length + 4, PLOT_HEIGHT + 8);
  add_axes(t, &f, &tx, &ty);
  text_add(t, "<g clip-path=\"url(#clip%d)\">", c->id);
  add_level(t, &f);
  for (int i = 0; i < c->num_series; i++) {
    if (c->series[i].style != CHART_POINTS) add_line(t, &f, &c->series[i]);
    if (c->series[i].style == CHART_POINTS || c->series[i].style == CHART_BOTH)
      add_points(t, &f, &c->series[i]);
  }
  text_add(t, "</g></svg></figure>\n");
}
