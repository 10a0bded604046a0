/* SPDX-License-Identifier: BSD-2-Clause */
/** @file chart.h  Line charts as inline SVG for the report. Colours come from the page's style sheet (classes
 *  s0 to s7), so that light, dark and print each have their own. */
#ifndef PCSIM_POSTPROC_CHART_H
#define PCSIM_POSTPROC_CHART_H

#include "text.h"

typedef enum { CHART_LINE, CHART_POINTS, CHART_BOTH, CHART_DASHED } chart_style;
typedef struct {
  const double *x, *y;
  int64_t n;
  int x_stride, y_stride; /**< in doubles */
  const char *name;       /**< for the legend; NULL: none */
  chart_style style;
  int colour; /**< 0 to 7 */
} chart_series;
typedef struct {
  const char *title, *x_label, *y_label;
  bool log_x, log_y;
  bool x_integer; /**< ticks on whole numbers only */
  bool settled;   /**< the range follows the later two thirds of the rows: a wild start may leave it */
  bool has_level; /**< a reference value as a line, with a band around it if low < high */
  double level, low, high;
  const char *level_name;
  const chart_series *series;
  int num_series;
  int id; /**< of this chart on its page, from 0 (names its clip path) */
} chart;

/** Append `<figure class="chart">...</figure>`. Values that are not finite, or not positive on a logarithmic
 * axis, are gaps. A chart without any value says so. */
void chart_add(text_buffer *text, const chart *c);

#endif
