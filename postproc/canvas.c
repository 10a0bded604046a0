/* SPDX-License-Identifier: BSD-2-Clause */
#include "draw.h"

#include <math.h>
#include <string.h>

pcsim_status canvas_create(int width, int height, pcsim_picture **canvas) {
  *canvas = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof **canvas, canvas));
  (*canvas)->width = width;
  (*canvas)->height = height;
  pcsim_status status = pcsim_alloc((size_t)width * (size_t)height * 3, 1, &(*canvas)->rgb);
  if (status != PCSIM_OK) {
    pcsim_free(canvas);
    return status;
  }
  memset((*canvas)->rgb, 255, (size_t)width * (size_t)height * 3);
  return PCSIM_OK;
}

void pcsim_picture_destroy(pcsim_picture **picture) {
  if (*picture) pcsim_free(&(*picture)->rgb);
  pcsim_free(picture);
}

static uint8_t mix(uint8_t under, uint8_t over, double alpha) {
  return (uint8_t)(under + alpha * (over - under) + 0.5);
}

void canvas_blend(pcsim_picture *canvas, int x, int y, colour c, double alpha) {
  if (x < 0 || y < 0 || x >= canvas->width || y >= canvas->height || !(alpha > 0)) return;
  uint8_t *p = canvas->rgb + 3 * ((size_t)y * (size_t)canvas->width + (size_t)x);
  if (alpha > 1) alpha = 1;
  p[0] = mix(p[0], c.r, alpha);
  p[1] = mix(p[1], c.g, alpha);
  p[2] = mix(p[2], c.b, alpha);
}

static double overlap(double pixel, double low, double high) {
  double a = pixel > low ? pixel : low, b = pixel + 1 < high ? pixel + 1 : high;
  return b > a ? b - a : 0;
}

void canvas_fill(pcsim_picture *canvas, double x0, double y0, double x1, double y1, colour c) {
  for (int y = (int)floor(y0); y < y1; y++)
    for (int x = (int)floor(x0); x < x1; x++)
      canvas_blend(canvas, x, y, c, overlap(x, x0, x1) * overlap(y, y0, y1));
}

/* Distance of a point from a segment. */
static double distance(double px, double py, double x0, double y0, double x1, double y1) {
  double dx = x1 - x0, dy = y1 - y0, length2 = dx * dx + dy * dy;
  double t = length2 > 0 ? ((px - x0) * dx + (py - y0) * dy) / length2 : 0;
  t = t < 0 ? 0 : t > 1 ? 1 : t;
  dx = px - x0 - t * dx;
  dy = py - y0 - t * dy;
  return sqrt(dx * dx + dy * dy);
}

static int clamp_int(double v, int low, int high) { return v < low ? low : v > high ? high : (int)v; }

/* Rows and, within a row, only the columns near the segment: long slanted lines stay cheap. */
typedef void (*put_cover)(void *context, int x, int y, double cover);
static void line_pixels(int width, int height, double x0, double y0, double x1, double y1, double thick,
                        put_cover put, void *context) {
  if (!isfinite(x0) || !isfinite(y0) || !isfinite(x1) || !isfinite(y1)) return;
  double reach = thick / 2 + 1, dy = y1 - y0, dx = x1 - x0;
  int top = clamp_int(floor(fmin(y0, y1) - reach), 0, height),
      bottom = clamp_int(ceil(fmax(y0, y1) + reach), 0, height);
  for (int y = top; y < bottom; y++) {
    double low = fmin(x0, x1), high = fmax(x0, x1);
    if (fabs(dy) > 1e-9) {
      double ta = (y + 0.5 - reach - y0) / dy, tb = (y + 0.5 + reach - y0) / dy;
      double xa = x0 + dx * fmin(1, fmax(0, ta)), xb = x0 + dx * fmin(1, fmax(0, tb));
      low = fmin(xa, xb), high = fmax(xa, xb);
    }
    int left = clamp_int(floor(low - reach), 0, width), right = clamp_int(ceil(high + reach), 0, width);
    for (int x = left; x < right; x++) {
      double cover = thick / 2 + 0.5 - distance(x + 0.5, y + 0.5, x0, y0, x1, y1);
      if (cover > 0) put(context, x, y, fmin(cover, fmin(1, thick)));
    }
  }
}

typedef struct {
  pcsim_picture *canvas;
  colour c;
} brush;
static void put_brush(void *context, int x, int y, double cover) {
  brush *b = context;
  canvas_blend(b->canvas, x, y, b->c, cover);
}

void canvas_line(pcsim_picture *canvas, double x0, double y0, double x1, double y1, double width, colour c) {
  line_pixels(canvas->width, canvas->height, x0, y0, x1, y1, width, put_brush, &(brush){canvas, c});
}

typedef struct {
  float *cover;
  int width;
  double alpha;
} cover_plane;
static void put_plane(void *context, int x, int y, double cover) {
  cover_plane *p = context;
  float *old = &p->cover[(size_t)y * (size_t)p->width + (size_t)x], value = (float)(cover * p->alpha);
  if (value > *old) *old = value;
}

void cover_line(float *cover, int width, int height, double x0, double y0, double x1, double y1, double thick,
                double alpha) {
  line_pixels(width, height, x0, y0, x1, y1, thick, put_plane, &(cover_plane){cover, width, alpha});
}

void canvas_triangle(pcsim_picture *canvas, const double corner[3][2], colour c) {
  enum { SAMPLES = 4 };
  double x0 = 1e9, x1 = -1e9, y0 = 1e9, y1 = -1e9, edge[3];
  for (int i = 0; i < 3; i++) {
    x0 = fmin(x0, corner[i][0]), x1 = fmax(x1, corner[i][0]);
    y0 = fmin(y0, corner[i][1]), y1 = fmax(y1, corner[i][1]);
  }
  for (int y = (int)floor(y0); y < y1; y++)
    for (int x = (int)floor(x0); x < x1; x++) {
      int inside = 0;
      for (int k = 0; k < SAMPLES * SAMPLES; k++) {
        double px = x + (k % SAMPLES + 0.5) / SAMPLES, py = y + ((double)(k / SAMPLES) + 0.5) / SAMPLES;
        for (int i = 0; i < 3; i++) {
          const double *a = corner[i], *b = corner[(i + 1) % 3];
          edge[i] = (b[0] - a[0]) * (py - a[1]) - (b[1] - a[1]) * (px - a[0]);
        }
        inside += (edge[0] >= 0) == (edge[1] >= 0) && (edge[1] >= 0) == (edge[2] >= 0);
      }
      canvas_blend(canvas, x, y, c, (double)inside / (SAMPLES * SAMPLES));
    }
}
