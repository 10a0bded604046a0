/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures of a field or a mesh. Every rank draws its cells as numbers, not colours, into a plane of samples
 * (SUPER x SUPER a pixel); the planes are joined on rank 0 by the largest number, where alone the colour
 * scale is chosen and the picture is composed. Edges and outlines are planes of coverage. */
#include "draw.h"
#include "text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUPER = 2 };
static const colour ink = {32, 36, 44}, faint = {120, 126, 136}, grid_line = {150, 156, 166},
                    frame_line = {222, 225, 230};
static const double TEXT = 11.5, TITLE = 14;

/* The drawn plane and where it lies in the picture. */
typedef struct {
  double z;                     /* 3D: the cutting plane */
  double world[4];              /* x0, y0, x1, y1 */
  double scale[2];              /* pixels a metre */
  int stretch;                  /* scale[1]/scale[0] */
  int left, top, width, height; /* plot area, pixels */
  int picture_width, picture_height;
  bool bar, bar_below;
  axis_ticks x, y;
} layout;

/* ----------------------------------------------------------------- layout */

static void bounds(const pcsim_mesh *mesh, double low[3], double high[3]) {
  const pcsim_mesh_view *m = pcsim_mesh_get(mesh);
  double box[6] = {DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX};
  for (int64_t i = 0; i < m->num_nodes; i++)
    for (int k = 0; k < 3; k++) {
      box[k] = fmin(box[k], m->node[3 * i + k]);
      box[3 + k] = fmin(box[3 + k], -m->node[3 * i + k]);
    }
  MPI_Allreduce(MPI_IN_PLACE, box, 6, MPI_DOUBLE, MPI_MIN, pcsim_mesh_comm(mesh));
  for (int k = 0; k < 3; k++) low[k] = box[k], high[k] = -box[3 + k];
}

static double widest_label(const axis_ticks *ticks) {
  double width = 0;
  char label[32];
  for (int i = 0; i < ticks->count; i++) {
    ticks_label(ticks, i, label);
    width = fmax(width, text_width(label, TEXT));
  }
  return width;
}

enum {
  BAR_RIGHT_ROOM = 132,
  BAR_BELOW_ROOM = 58,
  TOP_ROOM = 58,
  BOTTOM_ROOM = 64,
  MIN_HEIGHT = 260,
  MOST_TICKS = 11
};

static int most_ticks(double length, double each) {
  return length < 2 * each ? 2 : length > MOST_TICKS * each ? MOST_TICKS : (int)(length / each);
}

static void make_layout(layout *l, const pcsim_picture_options *options) {
  const double w = l->world[2] - l->world[0], h = l->world[3] - l->world[1];
  l->picture_width = options->width > 0 ? options->width : 1200;
  if (l->picture_width < 400) l->picture_width = 400;
  if (l->picture_width > 8000) l->picture_width = 8000;
  l->bar_below = l->bar && w > 2.2 * h;
  /* The room for labels depends on the ticks, they on the height: two rounds settle it. */
  double label_room = 50;
  for (int round = 0; round < 2; round++) {
    l->left = (int)label_room + 62;
    double room = l->picture_width - l->left - (l->bar && !l->bar_below ? BAR_RIGHT_ROOM : 28);
    double tallest = 0.75 * l->picture_width;
    double scale = fmin(room / w, tallest / h);
    /* A domain far longer than high is drawn higher than it is, by a whole factor that is written beside it.
     */
    l->stretch = 1;
    while (h * scale * l->stretch < 100 && h * scale * (l->stretch + 1) < 200) l->stretch++;
    l->scale[0] = scale;
    l->scale[1] = scale * l->stretch;
    l->width = (int)lround(w * l->scale[0]);
    l->height = (int)lround(h * l->scale[1]);
    if (l->width < 1) l->width = 1;
    if (l->height < 1) l->height = 1;
    /* What is narrower than the picture stands in its middle. */
    l->left += (int)(room - l->width) / 2;
    ticks_make(l->world[0], l->world[2], most_ticks(l->width, 85), &l->x);
    ticks_make(l->world[1], l->world[3], most_ticks(l->height, 42), &l->y);
    label_room = widest_label(&l->y);
  }
  l->top = TOP_ROOM;
  l->picture_height = l->top + l->height + BOTTOM_ROOM + (l->bar_below ? BAR_BELOW_ROOM : 0);
  if (l->picture_height < MIN_HEIGHT) {
    l->top += (MIN_HEIGHT - l->picture_height) / 2;
    l->picture_height = MIN_HEIGHT;
  }
}

static double to_x(const layout *l, double x) { return (x - l->world[0]) * l->scale[0]; }
static double to_y(const layout *l, double y) { return (l->world[3] - y) * l->scale[1]; }

/* ---------------------------------------------------------------- samples */

/* What each rank draws. A sample that no cell covers holds -FLT_MAX. */
typedef struct {
  float *value; /* [SUPER*height][SUPER*width] */
  float *edge;  /* [height][width] coverage; NULL without edges */
  float *border;
  int columns, rows;
  double low, high; /* of the cells */
} planes;

static void planes_free(planes *p) {
  pcsim_free(&p->value);
  pcsim_free(&p->edge);
  pcsim_free(&p->border);
}

static pcsim_status planes_make(const layout *l, bool edges, planes *p) {
  p->columns = SUPER * l->width;
  p->rows = SUPER * l->height;
  const size_t pixels = (size_t)l->width * (size_t)l->height;
  PCSIM_TRY(pcsim_alloc(pixels * SUPER * SUPER, sizeof *p->value, &p->value));
  PCSIM_TRY(pcsim_alloc(pixels, sizeof *p->border, &p->border));
  if (edges) PCSIM_TRY(pcsim_alloc(pixels, sizeof *p->edge, &p->edge));
  for (size_t i = 0; i < pixels * SUPER * SUPER; i++) p->value[i] = -FLT_MAX;
  return PCSIM_OK;
}

/* A plane a x + b y + c of the cell's value, in samples. */
typedef struct {
  double a, b, c, low, high;
} shade;

/* Columns [left, right) of the sample row whose centre is y. Half-open in both directions, and computed from
 * each edge with its ends in one order: cells that share an edge neither overlap nor leave a gap. */
static bool row_span(const double (*point)[2], int n, double y, double *left, double *right) {
  *left = DBL_MAX, *right = -DBL_MAX;
  for (int i = 0; i < n; i++) {
    const double *p = point[i], *q = point[(i + 1) % n];
    if ((p[1] <= y) == (q[1] <= y)) continue;
    if (p[1] > q[1]) {
      const double *swap = p;
      p = q, q = swap;
    }
    double x = p[0] + (q[0] - p[0]) * ((y - p[1]) / (q[1] - p[1]));
    *left = fmin(*left, x);
    *right = fmax(*right, x);
  }
  return *left < *right;
}

static void fill_polygon(planes *p, const double (*point)[2], int n, const shade *s) {
  double top = DBL_MAX, bottom = -DBL_MAX;
  for (int i = 0; i < n; i++) top = fmin(top, point[i][1]), bottom = fmax(bottom, point[i][1]);
  if (!(bottom > 0 && top < p->rows)) return;
  int first = top > 0 ? (int)floor(top) : 0, last = bottom < p->rows ? (int)ceil(bottom) : p->rows;
  for (int row = first; row < last; row++) {
    double left, right;
    if (!row_span(point, n, row + 0.5, &left, &right)) continue;
    if (right <= 0.5 || left >= p->columns) continue;
    int from = left > 0.5 ? (int)ceil(left - 0.5) : 0;
    int to = right - 0.5 < p->columns ? (int)ceil(right - 0.5) : p->columns;
    float *out = p->value + (size_t)row * (size_t)p->columns;
    for (int x = from; x < to; x++) {
      double v = s->a * (x + 0.5) + s->b * (row + 0.5) + s->c;
      out[x] = (float)(v < s->low ? s->low : v > s->high ? s->high : v);
    }
  }
}

static shade cell_shade(const layout *l, const planes *p, double value, const double *gradient,
                        const double *centre) {
  shade s = {0, 0, value, p->low, p->high};
  if (!gradient || !isfinite(gradient[0] + gradient[1] + gradient[2])) return s;
  s.a = gradient[0] / (SUPER * l->scale[0]);
  s.b = -gradient[1] / (SUPER * l->scale[1]);
  s.c += gradient[0] * (l->world[0] - centre[0]) + gradient[1] * (l->world[3] - centre[1]);
  if (l->z != 0) s.c += gradient[2] * (l->z - centre[2]);
  return s;
}

static void draw_cells(const layout *l, planes *p, const pcsim_mesh_view *m, const double *values,
                       const double *gradient) {
  cut_shape cut;
  double point[CUT_MAX][2];
  for (int64_t c = 0; c < m->num_cells; c++) {
    cut_cell(m, c, l->z, &cut);
    if (cut.n < 3) continue;
    for (int i = 0; i < cut.n; i++) {
      point[i][0] = SUPER * to_x(l, cut.point[i][0]);
      point[i][1] = SUPER * to_y(l, cut.point[i][1]);
    }
    double value = values ? values[c] : m->cell_region[c];
    if (!isfinite(value)) continue; /* a hole in the picture is what a NaN looks like */
    shade s = cell_shade(l, p, value, values && gradient ? gradient + 3 * c : NULL, m->cell_centre + 3 * c);
    fill_polygon(p, (const double(*)[2])point, cut.n, &s);
  }
}

/* How dark an edge is drawn: paler where the cells beside it get too small to tell apart, so that fine
 * regions turn grey and not black, but never so pale that a finer region looks lighter than a coarser one. */
static double edge_alpha(const layout *l, const pcsim_mesh_view *m, int64_t f) {
  const double *a = m->face_area + 3 * f, *o = m->cell_centre + 3 * (int64_t)m->owner[f];
  const double *n =
      f < m->num_interior_faces ? m->cell_centre + 3 * (int64_t)m->neighbour[f] : m->face_centre + 3 * f;
  double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]), apart = 0;
  for (int k = 0; k < 3; k++) apart += (n[k] - o[k]) * a[k];
  double pixels = length > 0 ? fabs(apart) / length * sqrt(l->scale[0] * l->scale[1]) : 0;
  double t = (pixels - 1) / 7;
  return t <= 0 ? 0.5 : t >= 1 ? 0.9 : 0.5 + 0.4 * t;
}

static void draw_faces(const layout *l, planes *p, const pcsim_mesh_view *m) {
  cut_shape cut;
  for (int64_t f = p->edge ? 0 : m->num_interior_faces; f < m->num_faces; f++) {
    cut_face(m, f, l->z, &cut);
    if (cut.n != 2) continue;
    double x0 = to_x(l, cut.point[0][0]), y0 = to_y(l, cut.point[0][1]);
    double x1 = to_x(l, cut.point[1][0]), y1 = to_y(l, cut.point[1][1]);
    if (f < m->num_interior_faces)
      cover_line(p->edge, l->width, l->height, x0, y0, x1, y1, 0.9, edge_alpha(l, m, f));
    else cover_line(p->border, l->width, l->height, x0, y0, x1, y1, 1.5, 1);
  }
}

/* Join the planes of all ranks on rank 0 by the maximum, in pieces that MPI's int can count. */
static void join(MPI_Comm comm, int rank, float *plane, size_t n) {
  const size_t piece = 1 << 24;
  for (size_t at = 0; plane && at < n; at += piece) {
    int count = (int)(n - at < piece ? n - at : piece);
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : plane + at, plane + at, count, MPI_FLOAT, MPI_MAX, 0, comm);
  }
}

/* ------------------------------------------------------------ colour scale */

typedef struct {
  double low, high;         /* of the colours */
  double all_low, all_high; /* of the cells in view */
  bool below, above;        /* values beyond the scale exist */
  bool symmetric;
  colour table[1024]; /* low to high */
} colour_scale;

static int compare_floats(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/* The whole range, unless a few thousandths of the area (a corner singularity) would take most of the
 * colours. */
static pcsim_status choose_scale(const planes *p, bool symmetric, colour_scale *s) {
  float *sorted = NULL;
  size_t n = 0, all = (size_t)p->columns * (size_t)p->rows;
  *s = (colour_scale){.symmetric = symmetric};
  PCSIM_TRY(pcsim_alloc(all / 7 + 1, sizeof *sorted, &sorted));
  double low = DBL_MAX, high = -DBL_MAX;
  for (size_t i = 0; i < all; i++) {
    if (p->value[i] == -FLT_MAX) continue;
    low = fmin(low, p->value[i]), high = fmax(high, p->value[i]);
    if (i % 7 == 0) sorted[n++] = p->value[i];
  }
  if (!(low <= high)) low = 0, high = 1; /* nothing in view */
  s->low = s->all_low = low;
  s->high = s->all_high = high;
  if (n > 1000) {
    qsort(sorted, n, sizeof *sorted, compare_floats);
    double q0 = sorted[(size_t)(0.003 * (double)n)], q1 = sorted[(size_t)(0.997 * (double)(n - 1))];
    if (high - low > 1.6 * (q1 - q0) && q1 > q0) {
      if (q0 - low > 0.15 * (q1 - q0)) s->low = q0, s->below = true;
      if (high - q1 > 0.15 * (q1 - q0)) s->high = q1, s->above = true;
    }
  }
  pcsim_free(&sorted);
  if (symmetric) {
    double most = fmax(fabs(s->low), fabs(s->high));
    s->low = -most, s->high = most;
    s->below = low<-most, s->above = high> most;
  }
  double size = fmax(fabs(s->low), fabs(s->high));
  if (!(s->high - s->low > 1e-9 * size)) { /* one value: a scale around it */
    double half = size > 0 ? 0.05 * size : 0.5;
    s->low -= half, s->high += half;
  }
  const int colours = sizeof s->table / sizeof *s->table;
  for (int i = 0; i < colours; i++) {
    double t = (i + 0.5) / colours;
    s->table[i] = symmetric ? colour_diverging(t) : colour_sequential(t);
  }
  return PCSIM_OK;
}

static colour scale_colour(const colour_scale *s, double value) {
  const int n = sizeof s->table / sizeof *s->table;
  double t = (value - s->low) / (s->high - s->low) * n;
  return s->table[t > 0 ? (t < n ? (int)t : n - 1) : 0];
}

static void exponent_text(int exponent, char out[32]) {
  snprintf(out, 32,
           "\xC3\x97"
           "10^%d",
           exponent);
}

/* Pointed ends say that values go beyond the scale. */
static void bar_right(pcsim_picture *canvas, const layout *l, const colour_scale *s) {
  const double x0 = l->left + l->width + 26, x1 = x0 + 18, y0 = l->top + (s->above ? 14 : 0);
  const double y1 = l->top + l->height - (s->below ? 14 : 0);
  for (int y = (int)y0; y < y1; y++)
    canvas_fill(canvas, x0, y, x1, fmin(y + 1, y1),
                scale_colour(s, s->high - (y + 0.5 - y0) / (y1 - y0) * (s->high - s->low)));
  const double mid = (x0 + x1) / 2;
  if (s->above)
    canvas_triangle(canvas, (const double[3][2]){{x0, y0}, {x1, y0}, {mid, l->top}},
                    scale_colour(s, s->high));
  if (s->below)
    canvas_triangle(canvas, (const double[3][2]){{x0, y1}, {x1, y1}, {mid, y1 + 14}},
                    scale_colour(s, s->low));
  axis_ticks t;
  char label[32];
  ticks_make(s->low, s->high, most_ticks(y1 - y0, 36), &t);
  for (int i = 0; i < t.count; i++) {
    double y = y0 + (s->high - ticks_value(&t, i)) / (s->high - s->low) * (y1 - y0);
    canvas_line(canvas, x1, y, x1 + 5, y, 1.1, ink);
    ticks_label(&t, i, label);
    canvas_text(canvas, x1 + 10, y + TEXT / 2, TEXT, 0, ink, label);
  }
  if (!t.exponent) return;
  exponent_text(t.exponent, label);
  canvas_text(canvas, x0, l->top - 11, TEXT, 0, ink, label);
}

static void bar_below(pcsim_picture *canvas, const layout *l, const colour_scale *s) {
  const double y0 = l->top + l->height + BOTTOM_ROOM + 4, y1 = y0 + 16, length = fmin(l->width, 640);
  const double start = l->left + (l->width - length) / 2, mid = (y0 + y1) / 2;
  const double x0 = start + (s->below ? 14 : 0), x1 = start + length - (s->above ? 14 : 0);
  for (int x = (int)x0; x < x1; x++)
    canvas_fill(canvas, fmax(x, x0), y0, fmin(x + 1, x1), y1,
                scale_colour(s, s->low + (x + 0.5 - x0) / (x1 - x0) * (s->high - s->low)));
  if (s->below)
    canvas_triangle(canvas, (const double[3][2]){{x0, y0}, {x0, y1}, {start, mid}}, scale_colour(s, s->low));
  if (s->above)
    canvas_triangle(canvas, (const double[3][2]){{x1, y0}, {x1, y1}, {x1 + 14, mid}},
                    scale_colour(s, s->high));
  axis_ticks t;
  char label[32];
  ticks_make(s->low, s->high, most_ticks(x1 - x0, 70), &t);
  for (int i = 0; i < t.count; i++) {
    double x = x0 + (ticks_value(&t, i) - s->low) / (s->high - s->low) * (x1 - x0);
    canvas_line(canvas, x, y1, x, y1 + 5, 1.1, ink);
    ticks_label(&t, i, label);
    canvas_text(canvas, x, y1 + 10 + TEXT, TEXT, 0.5, ink, label);
  }
  if (!t.exponent) return;
  exponent_text(t.exponent, label);
  canvas_text(canvas, start + length + 12, mid + TEXT / 2, TEXT, 0, ink, label);
}

/* ------------------------------------------------------------ composition */

static colour region_colour(int region) {
  static const colour tint[] = {
      {231, 238, 246}, {250, 236, 217}, {226, 243, 229}, {245, 228, 238}, {240, 240, 214}};
  return tint[region % (int)(sizeof tint / sizeof *tint)];
}

static void paint_samples(pcsim_picture *canvas, const layout *l, const planes *p, const colour_scale *s) {
  for (int y = 0; y < l->height; y++)
    for (int x = 0; x < l->width; x++) {
      int sum[3] = {0, 0, 0}, covered = 0;
      for (int k = 0; k < SUPER * SUPER; k++) {
        float v =
            p->value[(size_t)(SUPER * y + k / SUPER) * (size_t)p->columns + (size_t)(SUPER * x + k % SUPER)];
        if (v == -FLT_MAX) continue;
        colour c = s ? scale_colour(s, v) : region_colour((int)v);
        sum[0] += c.r, sum[1] += c.g, sum[2] += c.b;
        covered++;
      }
      if (!covered) continue;
      colour mean = {(uint8_t)(sum[0] / covered), (uint8_t)(sum[1] / covered), (uint8_t)(sum[2] / covered)};
      canvas_blend(canvas, l->left + x, l->top + y, mean, (double)covered / (SUPER * SUPER));
    }
}

static void paint_cover(pcsim_picture *canvas, const layout *l, const float *cover, colour c, double alpha) {
  for (int y = 0; cover && y < l->height; y++)
    for (int x = 0; x < l->width; x++)
      canvas_blend(canvas, l->left + x, l->top + y, c,
                   alpha * (double)cover[(size_t)y * (size_t)l->width + (size_t)x]);
}

static void paint_axes(pcsim_picture *canvas, const layout *l) {
  const double right = l->left + l->width, bottom = l->top + l->height, x0 = l->left - 8, y0 = bottom + 8;
  char label[64];
  canvas_line(canvas, l->left, y0, right, y0, 1.1, grid_line);
  canvas_line(canvas, x0, l->top, x0, bottom, 1.1, grid_line);
  for (int i = 0; i < l->x.count; i++) {
    double x = l->left + to_x(l, ticks_value(&l->x, i));
    canvas_line(canvas, x, y0, x, y0 + 5, 1.1, grid_line);
    ticks_label(&l->x, i, label);
    canvas_text(canvas, x, y0 + 10 + TEXT, TEXT, 0.5, ink, label);
  }
  for (int i = 0; i < l->y.count; i++) {
    double y = l->top + to_y(l, ticks_value(&l->y, i));
    canvas_line(canvas, x0 - 5, y, x0, y, 1.1, grid_line);
    ticks_label(&l->y, i, label);
    canvas_text(canvas, x0 - 9, y + TEXT / 2, TEXT, 1, ink, label);
  }
  char power[32] = "";
  if (l->x.exponent) exponent_text(l->x.exponent, power);
  snprintf(label, sizeof label, "x %s", power);
  canvas_text(canvas, (l->left + right) / 2, y0 + 33 + TEXT, TEXT, 0.5, faint, label);
  power[0] = '\0';
  if (l->y.exponent) exponent_text(l->y.exponent, power);
  snprintf(label, sizeof label, l->stretch > 1 ? "y %s (drawn %d times as high)" : "y %s", power, l->stretch);
  if (l->stretch > 1 || l->y.exponent) canvas_text(canvas, x0 - 4, l->top - 11, TEXT, 0, faint, label);
  else canvas_text(canvas, x0 - 28 - widest_label(&l->y), (l->top + bottom + TEXT) / 2, TEXT, 1, faint, "y");
}

/* A faint line where the window cuts through cells; the domain's own border covers it elsewhere. */
static void paint_frame(pcsim_picture *canvas, const layout *l) {
  const double x0 = l->left, y0 = l->top, x1 = x0 + l->width, y1 = y0 + l->height;
  canvas_line(canvas, x0, y0, x1, y0, 1, frame_line);
  canvas_line(canvas, x1, y0, x1, y1, 1, frame_line);
  canvas_line(canvas, x1, y1, x0, y1, 1, frame_line);
  canvas_line(canvas, x0, y1, x0, y0, 1, frame_line);
}

static void paint_title(pcsim_picture *canvas, const layout *l, const char *title, int dim,
                        const colour_scale *s) {
  char line[256], note[192] = "";
  if (dim == 3) snprintf(note, sizeof note, "plane z = %.4g", l->z);
  if (s && (s->below || s->above))
    snprintf(note + strlen(note), sizeof note - strlen(note), "%svalues from %.4g to %.4g",
             note[0] ? "; " : "", s->all_low, s->all_high);
  double room = l->picture_width - 2.0 * 24;
  double note_width = note[0] ? text_width(note, TEXT) + 24 : 0;
  text_fit(title ? title : "", TITLE, room - note_width, line, sizeof line);
  canvas_text(canvas, 24, 26, TITLE, 0, ink, line);
  canvas_text(canvas, l->picture_width - 24, 26, TEXT, 1, faint, note);
}

static pcsim_status compose(const layout *l, const planes *p, const pcsim_picture_options *options, int dim,
                            pcsim_picture **picture) {
  colour_scale scale;
  if (l->bar) PCSIM_TRY(choose_scale(p, options->symmetric, &scale));
  pcsim_picture *canvas;
  PCSIM_TRY(canvas_create(l->picture_width, l->picture_height, &canvas));
  paint_samples(canvas, l, p, l->bar ? &scale : NULL);
  paint_frame(canvas, l);
  paint_cover(canvas, l, p->edge, ink, l->bar ? 0.4 : 0.75);
  paint_cover(canvas, l, p->border, ink, 0.9);
  paint_axes(canvas, l);
  paint_title(canvas, l, options->title, dim, l->bar ? &scale : NULL);
  if (l->bar && l->bar_below) bar_below(canvas, l, &scale);
  if (l->bar && !l->bar_below) bar_right(canvas, l, &scale);
  *picture = canvas;
  return PCSIM_OK;
}

static pcsim_status check_window(const double window[4], bool *given) {
  *given = window[0] != 0 || window[1] != 0 || window[2] != 0 || window[3] != 0;
  PCSIM_CHECK(!*given || (window[2] > window[0] && window[3] > window[1]), PCSIM_ERR_ARG,
              "the window of a picture is empty: [%g, %g, %g, %g]; expected x0 < x1 and y0 < y1", window[0],
              window[1], window[2], window[3]);
  return PCSIM_OK;
}

/* A plane just off the middle meets no node of a mesh that has nodes there. */
static void place(const pcsim_mesh *mesh, const double *window, layout *l) {
  double low[3], high[3];
  bounds(mesh, low, high);
  if (pcsim_mesh_get(mesh)->dim == 3) l->z = (low[2] + high[2]) / 2 + 1.2345e-7 * (high[2] - low[2]);
  const double all[4] = {low[0], low[1], high[0], high[1]};
  memcpy(l->world, window ? window : all, sizeof l->world);
}

static void value_range(const pcsim_mesh *mesh, const double *values, planes *p) {
  const pcsim_mesh_view *m = pcsim_mesh_get(mesh);
  double range[2] = {DBL_MAX, DBL_MAX};
  for (int64_t c = 0; c < m->num_cells; c++) {
    double v = values ? values[c] : m->cell_region[c];
    if (isfinite(v)) range[0] = fmin(range[0], v), range[1] = fmin(range[1], -v);
  }
  MPI_Allreduce(MPI_IN_PLACE, range, 2, MPI_DOUBLE, MPI_MIN, pcsim_mesh_comm(mesh));
  /* Samples are floats, and the least of them means "nothing". */
  p->low = fmax(range[0], -1e37), p->high = fmin(-range[1], 1e37);
}

pcsim_status pcsim_picture_field(const pcsim_mesh *mesh, const double *values, const double *gradient,
                                 const pcsim_picture_options *options, pcsim_picture **picture) {
  const pcsim_mesh_view *m = pcsim_mesh_get(mesh);
  MPI_Comm comm = pcsim_mesh_comm(mesh);
  int rank, with_values = values != NULL || m->num_cells == 0;
  bool window;
  layout l = {0};
  planes p = {0};
  *picture = NULL;
  PCSIM_TRY(check_window(options->window, &window));
  MPI_Comm_rank(comm, &rank);
  MPI_Allreduce(MPI_IN_PLACE, &with_values, 1, MPI_INT, MPI_LAND, comm);
  l.bar = with_values && m->num_cells_global > 0;
  place(mesh, window ? options->window : NULL, &l);
  make_layout(&l, options);
  value_range(mesh, values, &p);
  pcsim_status status = pcsim_status_agree(comm, planes_make(&l, options->edges || !l.bar, &p));
  if (status == PCSIM_OK) {
    draw_cells(&l, &p, m, values, gradient);
    draw_faces(&l, &p, m);
    const size_t pixels = (size_t)l.width * (size_t)l.height;
    join(comm, rank, p.value, pixels * SUPER * SUPER);
    join(comm, rank, p.edge, pixels);
    join(comm, rank, p.border, pixels);
    if (rank == 0) status = compose(&l, &p, options, m->dim, picture);
    status = pcsim_status_agree(comm, status);
  }
  planes_free(&p);
  return status;
}
