/* SPDX-License-Identifier: BSD-2-Clause */
/* Distances, winding numbers and points of closed surfaces, by a tree of boxes. */
#include "surface.h"
#include "surface_tree.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;
/** How many radii away a part of the surface is taken as one. */
static const double far_away = 3;

enum { STACK = 128 };

/* ----------------------------------------------------------------- elements */

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(const double *a, const double *b, double *c) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

/** The point of a segment nearest to x, all of three numbers. */
static void segment_nearest(const double *a, const double *b, const double *x, double *on) {
  double along[3], to[3];
  for (int i = 0; i < 3; i++) along[i] = b[i] - a[i], to[i] = x[i] - a[i];
  const double t = fmin(fmax(dot(to, along) / dot(along, along), 0), 1);
  for (int i = 0; i < 3; i++) on[i] = a[i] + t * along[i];
}

static double square_distance(const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < 3; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

/** Nearest point of a triangle: on its plane if that is inside, else on the nearest edge. */
static void triangle_nearest(const double *const c[3], const double *normal, const double *x, double *on) {
  double to[3], edge[3], side[3], best = INFINITY;
  bool inside = true;
  for (int i = 0; i < 3; i++) to[i] = x[i] - c[0][i];
  const double height = dot(to, normal);
  for (int i = 0; i < 3; i++) on[i] = x[i] - height * normal[i];
  for (int k = 0; k < 3; k++) {
    const double *a = c[k], *b = c[(k + 1) % 3];
    for (int i = 0; i < 3; i++) edge[i] = b[i] - a[i], to[i] = on[i] - a[i];
    cross(edge, to, side);
    inside = inside && dot(side, normal) >= 0;
  }
  if (inside) return;
  for (int k = 0; k < 3; k++) {
    double near[3];
    segment_nearest(c[k], c[(k + 1) % 3], x, near);
    const double square = square_distance(near, x);
    if (square < best) best = square, memcpy(on, near, sizeof near);
  }
}

static void element_nearest(const surface *s, int64_t e, const double *x, double *on) {
  const double *c = s->corner + 9 * e;
  if (s->dim == 2) segment_nearest(c, c + 3, x, on);
  else triangle_nearest((const double *const[]){c, c + 3, c + 6}, s->normal + 3 * e, x, on);
}

/** How much of the circle or sphere around x an element covers, 0 to 1 with its sign. */
static double element_winding(const surface *s, int64_t e, const double *x) {
  double d[3][3], length[3], c[3];
  for (int k = 0; k < s->dim; k++)
    for (int i = 0; i < 3; i++) d[k][i] = s->corner[9 * e + 3 * k + i] - x[i];
  if (s->dim == 2) return atan2(d[0][0] * d[1][1] - d[0][1] * d[1][0], dot(d[0], d[1])) / (2 * pi);
  for (int k = 0; k < 3; k++) length[k] = sqrt(dot(d[k], d[k]));
  /* A. Van Oosterom, J. Strackee, IEEE Trans. Biomed. Eng. 30 (1983) 125-126. */
  cross(d[1], d[2], c);
  return atan2(dot(d[0], c), length[0] * length[1] * length[2] + dot(d[0], d[1]) * length[2] +
                                 dot(d[1], d[2]) * length[0] + dot(d[2], d[0]) * length[1]) /
         (2 * pi);
}

/* ------------------------------------------------------------------ queries */

static void widen(const surface *s, const double *x, double *y) {
  for (int i = 0; i < 3; i++) y[i] = i < s->dim ? x[i] : 0;
}

static double box_distance(const surface_node *n, const double *x) {
  double sum = 0;
  for (int i = 0; i < 3; i++) {
    const double d = fmax(0, fmax(n->low[i] - x[i], x[i] - n->high[i]));
    sum += d * d;
  }
  return sum;
}

/** Nearest element; `*square`: of the distance. */
static int64_t nearest_element(const surface *s, const double *x, double *square) {
  int32_t stack[STACK];
  int depth = 0;
  int64_t best = 0;
  *square = INFINITY;
  stack[depth++] = 0;
  while (depth) {
    const int32_t place = stack[--depth];
    const surface_node *n = &s->node[place];
    if (box_distance(n, x) >= *square) continue;
    for (int32_t k = n->first; k < n->first + n->count; k++) {
      double on[3];
      element_nearest(s, s->item[k], x, on);
      const double d = square_distance(on, x);
      if (d < *square) *square = d, best = s->item[k];
    }
    if (n->count) continue;
    const int32_t a = place + 1, b = n->other;
    const bool first = box_distance(&s->node[a], x) < box_distance(&s->node[b], x);
    stack[depth++] = first ? b : a;
    stack[depth++] = first ? a : b;
  }
  return best;
}

double surface_winding(const surface *s, const double *x) {
  int32_t stack[STACK];
  int depth = 0;
  double y[3], sum = 0;
  widen(s, x, y);
  stack[depth++] = 0;
  while (depth) {
    const int32_t place = stack[--depth];
    const surface_node *n = &s->node[place];
    double to[3];
    for (int i = 0; i < 3; i++) to[i] = n->centre[i] - y[i];
    const double square = dot(to, to);
    if (square > far_away * far_away * n->radius * n->radius) {
      sum += dot(n->area, to) / (s->dim == 2 ? 2 * pi * square : 4 * pi * square * sqrt(square));
      continue;
    }
    for (int32_t k = n->first; k < n->first + n->count; k++) sum += element_winding(s, s->item[k], y);
    if (n->count) continue;
    stack[depth++] = n->other;
    stack[depth++] = place + 1;
  }
  return sum;
}

double surface_level(const surface *s, const double *x) {
  double y[3], square;
  widen(s, x, y);
  (void)nearest_element(s, y, &square);
  return surface_winding(s, x) > 0.5 ? sqrt(square) : -sqrt(square);
}

int surface_nearest(const surface *s, const double *x, double *on, double *normal) {
  double y[3], near[3], square;
  widen(s, x, y);
  const int64_t e = nearest_element(s, y, &square);
  element_nearest(s, e, y, near);
  for (int i = 0; i < s->dim; i++) on[i] = near[i], normal[i] = s->normal[3 * e + i];
  return s->patch[e];
}

void surface_box(const surface *s, double low[3], double high[3]) {
  memcpy(low, s->node[0].low, 3 * sizeof *low);
  memcpy(high, s->node[0].high, 3 * sizeof *high);
}

double surface_volume(const surface *s) { return s->volume; }

int surface_num_patches(const surface *s) { return s->num_patches; }

double surface_area(const surface *s, int patch) {
  const int64_t first = s->patch_start[patch], end = s->patch_start[patch + 1];
  return end > first ? s->area_until[end - 1] : 0;
}

void surface_point(const surface *s, int patch, const double *u, double *x, double *normal) {
  const int64_t first = s->patch_start[patch];
  int64_t low = first, high = s->patch_start[patch + 1] - 1;
  const double area = u[0] * s->area_until[high];
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (s->area_until[middle] > area) high = middle;
    else low = middle + 1;
  }
  /* What is left of the number says where within the element. */
  const double before = low > first ? s->area_until[low - 1] : 0;
  const double rest = fmin(fmax((area - before) / (s->area_until[low] - before), 0), 1);
  const int64_t e = s->by_patch[low];
  const double *c = s->corner + 9 * e;
  const double root = s->dim == 3 ? sqrt(rest) : rest, other = s->dim == 3 ? u[1] : 0;
  for (int i = 0; i < s->dim; i++) {
    x[i] = (1 - root) * c[i] + root * (1 - other) * c[3 + i] + (s->dim == 3 ? root * other * c[6 + i] : 0);
    normal[i] = s->normal[3 * e + i];
  }
}

int64_t surface_meeting(const surface *s, int a, int b, int64_t n, double *points) {
  int64_t found = 0;
  for (int64_t k = 0; k < s->num_corners && found < n; k++) {
    bool of_a = false, of_b = false;
    for (int64_t i = s->corner_start[k]; i < s->corner_start[k + 1]; i++) {
      of_a = of_a || s->patch[s->corner_element[i]] == a;
      of_b = of_b || s->patch[s->corner_element[i]] == b;
    }
    if (!of_a || !of_b) continue;
    const int64_t e = s->corner_element[s->corner_start[k]];
    for (int c = 0; c < s->dim; c++)
      if (s->corner_number[3 * e + c] == k)
        memcpy(points + found * s->dim, s->corner + 9 * e + 3 * c, (size_t)s->dim * sizeof *points);
    found++;
  }
  return found;
}
