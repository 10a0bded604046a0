/* SPDX-License-Identifier: BSD-2-Clause */
/** @file draw.h  The parts of a picture: colours, lines, letters, ticks. Pixels count from the top left. */
#ifndef PCSIM_POSTPROC_DRAW_H
#define PCSIM_POSTPROC_DRAW_H

#include <pcsim/postproc.h>

typedef struct {
  uint8_t r, g, b;
} colour;

/** t in [0, 1] (clamped). Sequential: dark violet over green to yellow; diverging: blue over white to red.
 * Both have steps of even perceived difference (straight lines in OKLab lightness). */
colour colour_sequential(double t);
colour colour_diverging(double t);

pcsim_status canvas_create(int width, int height, pcsim_picture **canvas) PCSIM_NODISCARD; /**< white */
void canvas_blend(pcsim_picture *canvas, int x, int y, colour c, double alpha);
void canvas_fill(pcsim_picture *canvas, double x0, double y0, double x1, double y1, colour c);
/** Anti-aliased line with round ends. */
void canvas_line(pcsim_picture *canvas, double x0, double y0, double x1, double y1, double width, colour c);
void canvas_triangle(pcsim_picture *canvas, const double corner[3][2], colour c);

/** Coverage of a line in a plane of floats [height][width]: the larger of old and new times `alpha` stays. */
void cover_line(float *cover, int width, int height, double x0, double y0, double x1, double y1, double thick,
                double alpha);

/** Text in the built-in stroke letters, UTF-8; `size` is the height of a capital. `a^-3` is set as a
 * superscript. `anchor`: 0 starts, 0.5 is centred, 1 ends at x; y is the base line. */
void canvas_text(pcsim_picture *canvas, double x, double y, double size, double anchor, colour c,
                 const char *text);
double text_width(const char *text, double size);
/** Cut `text` with an ellipsis so that it is no wider than `width`; `out` [size]. */
void text_fit(const char *text, double size, double width, char *out, size_t out_size);

/** Round numbers on an axis. */
typedef struct {
  double first, step;
  int count, decimals;
  int exponent; /**< labels are value/10^exponent */
} axis_ticks;
/** At most `most` ticks in [low, high]. */
void ticks_make(double low, double high, int most, axis_ticks *ticks);
double ticks_value(const axis_ticks *ticks, int i);
/** Label with a true minus sign. */
void ticks_label(const axis_ticks *ticks, int i, char out[32]);

/** Polygon or segment of the drawn plane. */
enum { CUT_MAX = 12 };
typedef struct {
  int n;
  double point[CUT_MAX][3];
} cut_shape;
/** The cell in 2D, its section with the plane at `z` in 3D (n = 0: does not meet it). */
void cut_cell(const pcsim_mesh_view *mesh, int64_t cell, double z, cut_shape *shape);
/** The face's segment (n = 2) or nothing (n = 0). */
void cut_face(const pcsim_mesh_view *mesh, int64_t face, double z, cut_shape *shape);

#endif
