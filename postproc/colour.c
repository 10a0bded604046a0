/* SPDX-License-Identifier: BSD-2-Clause */
/* Colour maps made from paths in OKLab (B. Ottosson, 2020), whose lightness and distances follow the eye:
 * equal steps of the number look like equal steps of the colour, in grey print too. */
#include "draw.h"

#include <math.h>

static double gamma_encode(double v) {
  v = v < 0 ? 0 : v > 1 ? 1 : v;
  return v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055;
}

static bool oklab_to_linear(double lightness, double a, double b, double rgb[3]) {
  double l = lightness + 0.3963377774 * a + 0.2158037573 * b;
  double m = lightness - 0.1055613458 * a - 0.0638541728 * b;
  double s = lightness - 0.0894841775 * a - 1.2914855480 * b;
  l = l * l * l, m = m * m * m, s = s * s * s;
  rgb[0] = 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s;
  rgb[1] = -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s;
  rgb[2] = -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s;
  for (int i = 0; i < 3; i++)
    if (rgb[i] < -1e-4 || rgb[i] > 1.0001) return false;
  return true;
}

/* Chroma gives way where the screen has no such colour. */
static colour from_lch(double lightness, double chroma, double hue) {
  double rgb[3], c = cos(hue * M_PI / 180), s = sin(hue * M_PI / 180);
  for (int i = 0; i < 40 && !oklab_to_linear(lightness, chroma * c, chroma * s, rgb); i++) chroma *= 0.97;
  return (colour){(uint8_t)lround(255 * gamma_encode(rgb[0])), (uint8_t)lround(255 * gamma_encode(rgb[1])),
                  (uint8_t)lround(255 * gamma_encode(rgb[2]))};
}

/* Monotone cubic through evenly spaced knots (Catmull-Rom, ends doubled). */
static double along(const double *knot, int n, double t) {
  double x = t * (n - 1);
  int i = (int)x < n - 1 ? (int)x : n - 2;
  double f = x - i, p1 = knot[i], p2 = knot[i + 1];
  double p0 = i > 0 ? knot[i - 1] : 2 * p1 - p2, p3 = i + 2 < n ? knot[i + 2] : 2 * p2 - p1;
  return p1 + 0.5 * f * (p2 - p0 + f * (2 * p0 - 5 * p1 + 4 * p2 - p3 + f * (3 * (p1 - p2) + p3 - p0)));
}

static double clamped(double t) { return t > 0 ? (t < 1 ? t : 1) : 0; } /* NaN: 0 */

colour colour_sequential(double t) {
  static const double hue[] = {312, 285, 262, 228, 195, 170, 148, 124, 104};
  static const double chroma[] = {0.115, 0.125, 0.115, 0.095, 0.095, 0.115, 0.150, 0.175, 0.175};
  t = clamped(t);
  return from_lch(0.27 + 0.645 * t, along(chroma, 9, t), along(hue, 9, t));
}

colour colour_diverging(double t) {
  double s = 2 * clamped(t) - 1, d = fabs(s);
  static const double cold[] = {0.0, 0.065, 0.125, 0.145, 0.115}, warm[] = {0.0, 0.075, 0.145, 0.180, 0.145};
  double lightness = 0.965 - 0.60 * pow(d, 1.15);
  return s < 0 ? from_lch(lightness, along(cold, 5, d), 240 + 20 * d)
               : from_lch(lightness, along(warm, 5, d), 45 - 22 * d);
}
