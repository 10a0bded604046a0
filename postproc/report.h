/* SPDX-License-Identifier: BSD-2-Clause */
/** @file report.h  The two halves of the HTML report. */
#ifndef PCSIM_POSTPROC_REPORT_H
#define PCSIM_POSTPROC_REPORT_H

#include "chart.h"

#include <pcsim/postproc.h>

/** The history has times: the run went through time. */
bool report_through_time(const pcsim_report *report);
/** Residuals and quantities against the step or the time; nothing where there is no chart. `*id` counts the
 * charts of the page. */
void report_convergence(text_buffer *text, const pcsim_report *report, int *id);
/** Curves, with the points of their references. */
void report_curves(text_buffer *text, const pcsim_report *report, int *id);
/** Errors or changes of the quantities over the cell size. */
void report_study_charts(text_buffer *text, const pcsim_report *report, int *id);

#endif
