/* SPDX-License-Identifier: BSD-2-Clause */
#include "draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void ticks_make(double low, double high, int most, axis_ticks *ticks) {
  *ticks = (axis_ticks){.first = low, .step = 1, .count = 0};
  if (!isfinite(low) || !isfinite(high)) return;
  double largest = fmax(fabs(low), fabs(high)), range = high - low;
  int magnitude = largest > 0 ? (int)floor(log10(largest) + 1e-12) : 0;
  if (largest > 0 && (magnitude >= 5 || magnitude <= -4)) ticks->exponent = magnitude;
  if (!(range > 1e-12 * largest)) { /* one value: one tick */
    ticks->count = 1;
    ticks->decimals = magnitude - ticks->exponent < 4 ? 4 - (magnitude - ticks->exponent) : 0;
    return;
  }
  if (most < 2) most = 2;
  double base = pow(10, floor(log10(range / most)));
  static const double nice[] = {1, 2, 5, 10, 20};
  for (int i = 0; i < 5; i++) {
    double step = nice[i] * base, first = ceil(low / step - 1e-9);
    int count = (int)(floor(high / step + 1e-9) - first) + 1;
    if (count > most && i < 4) continue;
    ticks->first = first * step;
    ticks->step = step;
    ticks->count = count > 0 ? count : 0;
    break;
  }
  double decimals = ticks->exponent - floor(log10(ticks->step) + 1e-9);
  ticks->decimals = decimals > 0 ? (int)decimals : 0;
}

double ticks_value(const axis_ticks *ticks, int i) {
  double value = ticks->first + i * ticks->step;
  return fabs(value) < 1e-9 * ticks->step ? 0 : value;
}

void ticks_label(const axis_ticks *ticks, int i, char out[32]) {
  double value = ticks_value(ticks, i) / pow(10, ticks->exponent);
  snprintf(out, 32, "%s%.*f", value < 0 ? "\xE2\x88\x92" : "", ticks->decimals > 12 ? 12 : ticks->decimals,
           fabs(value));
}
