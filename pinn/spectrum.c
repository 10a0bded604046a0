/* SPDX-License-Identifier: BSD-2-Clause */
/* Waves of functions by sums of their samples along lines. */
#include "spectrum.h"

#include <math.h>
#include <string.h>

enum { SAMPLES = 2 * SPECTRUM_BINS, LINES = 16 };
static const double pi = 3.14159265358979323846, least_periods = 1.5, least_amplitude = 0.05,
                    near_half = 0.05; /* waves of a box have whole numbers of half periods */

/* Squares of the amplitudes of samples [SAMPLES], added to `power`. False: a sample is no number. */
static bool add_line(const double *sample, double *power) {
  double mean = 0, windowed[SAMPLES];
  for (int k = 0; k < SAMPLES; k++) mean += sample[k] / SAMPLES;
  if (!isfinite(mean)) return false;
  for (int k = 0; k < SAMPLES; k++)
    windowed[k] = (sample[k] - mean) * (1 - cos(2 * pi * (k + 0.5) / SAMPLES));
  for (int c = 0; c < SPECTRUM_BINS; c++) {
    double cosine = 0, sine = 0;
    for (int k = 0; k < SAMPLES; k++) {
      const double phase = 2 * pi * c * (k + 0.5) / SAMPLES;
      cosine += windowed[k] * cos(phase), sine += windowed[k] * sin(phase);
    }
    power[c] += (cosine * cosine + sine * sine) / ((double)SAMPLES * SAMPLES);
  }
  return true;
}

/* All lines parallel to coordinate i through the points [LINES][width]. */
static pcsim_status add_lines(const double *through, int width, int i, const double *range,
                              spectrum_function *function, void *context, double *power) {
  double *points = NULL, values[SAMPLES];
  pcsim_status status = pcsim_alloc((size_t)SAMPLES * (size_t)width, sizeof *points, &points);
  for (int line = 0; line < LINES && status == PCSIM_OK; line++) {
    for (int k = 0; k < SAMPLES; k++) {
      memcpy(points + k * width, through + line * width, (size_t)width * sizeof *points);
      points[k * width + i] = range[0] + (range[1] - range[0]) * (k + 0.5) / SAMPLES;
    }
    status = function(context, SAMPLES, points, values);
    if (status == PCSIM_OK) (void)add_line(values, power);
  }
  pcsim_free(&points);
  return status;
}

pcsim_status spectrum_add(spectrum *s, const domain *d, const double (*range)[2], spectrum_function *function,
                          void *context) {
  const int width = domain_get(d)->num_coordinates;
  double power[DOMAIN_MAX][SPECTRUM_BINS] = {{0}}, *through = NULL, sum = 0;
  pcsim_status status;
  s->num_coordinates = width;
  PCSIM_TRY(pcsim_alloc((size_t)LINES * (size_t)width, sizeof *through, &through));
  status = domain_draw_inside(d, 1, 0, LINES, through);
  for (int i = 0; i < width && status == PCSIM_OK; i++)
    status = add_lines(through, width, i, range[i], function, context, power[i]);
  pcsim_free(&through);
  PCSIM_TRY(status);
  for (int i = 0; i < width; i++)
    for (int c = 0; c < SPECTRUM_BINS; c++) sum += power[i][c];
  for (int i = 0; i < width && sum > 0; i++)
    for (int c = 0; c < SPECTRUM_BINS; c++) s->power[i][c] += power[i][c] / sum;
  return PCSIM_OK;
}

/* Where between the bins the peak at bin c lies: the parabola through the logarithms of three amplitudes. */
static double refine(const double *power, int c) {
  const double below = log(power[c - 1] + 1e-300), at = log(power[c] + 1e-300),
               above = log(power[c + 1] + 1e-300);
  const double bend = below - 2 * at + above;
  return bend < 0 ? c + 0.5 * (below - above) / bend : c;
}

int spectrum_peaks(const spectrum *s, int i, double *wave) {
  const double *power = s->power[i];
  double largest = 0;
  int n = 0;
  for (int k = 0; k < s->num_coordinates; k++)
    for (int c = 0; c < SPECTRUM_BINS; c++) largest = fmax(largest, s->power[k][c]);
  const double least = least_amplitude * least_amplitude * largest;
  for (int c = 1; c < SPECTRUM_BINS - 1 && n < SPECTRUM_PEAKS; c++) {
    if (!(power[c] >= least) || power[c] < power[c + 1] || power[c] <= power[c - 1]) continue;
    const double periods = refine(power, c), halves = round(2 * periods) / 2;
    if (periods >= least_periods) wave[n++] = pi * (fabs(periods - halves) < near_half ? halves : periods);
  }
  return n;
}
