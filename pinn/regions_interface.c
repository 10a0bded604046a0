/* SPDX-License-Identifier: BSD-2-Clause */
/* Interfaces between regions: where random lines through the domain pass from one region into another. Lines
 * that are uniform by direction and offset cross a surface in points that are uniform by its area (Crofton;
 * Santalo, Integral Geometry and Geometric Probability, 1976). */
#include "regions_parts.h"

#include <math.h>
#include <string.h>

enum {
  LINE_STEPS = 128,   /**< in which a line is gone along */
  FIND_LINES = 4096,  /**< that tell which regions touch */
  LINES_MAX = 1 << 22 /**< until points are given up */
};

/* A line through the ball around the domain. */
typedef struct {
  double from[DOMAIN_MAX], to[DOMAIN_MAX];
} line;

typedef struct {
  double centre[DOMAIN_MAX], radius;
} sphere;

static sphere around(const domain_view *d) {
  sphere s = {.radius = 0};
  for (int k = 0; k < d->num_space; k++) {
    const double half = 0.5 * (d->range[k][1] - d->range[k][0]);
    s.centre[k] = d->range[k][0] + half;
    s.radius += half * half;
  }
  s.radius = sqrt(s.radius);
  return s;
}

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int k = 0; k < n; k++) sum += a[k] * b[k];
  return sum;
}

static void scale_to(int n, double length, double *a) {
  const double size = sqrt(dot(n, a, a));
  for (int k = 0; k < n; k++) a[k] *= size > 0 ? length / size : 0;
}

/* Line `number` of a draw: its direction a normal vector, its offset in the disc across it. */
static void draw_line(const sphere *s, int n, uint64_t seed, uint64_t stream, uint64_t number, line *l) {
  const uint64_t first = number * (2 * DOMAIN_MAX + 2);
  double along[DOMAIN_MAX], across[DOMAIN_MAX];
  for (int k = 0; k < n; k++) {
    along[k] = pcsim_random_normal(seed, stream, first + (uint64_t)k);
    across[k] = pcsim_random_normal(seed, stream, first + DOMAIN_MAX + (uint64_t)k);
  }
  scale_to(n, 1, along);
  const double part = dot(n, along, across);
  for (int k = 0; k < n; k++) across[k] -= part * along[k];
  const double u = pcsim_random_uniform(seed, stream, first + 2 * DOMAIN_MAX);
  const double offset = n > 1 ? s->radius * pow(u, 1.0 / (n - 1)) : 0;
  scale_to(n, offset, across);
  const double half = sqrt(fmax(0, s->radius * s->radius - offset * offset));
  for (int k = 0; k < n; k++) {
    l->from[k] = s->centre[k] + across[k] - half * along[k];
    l->to[k] = s->centre[k] + across[k] + half * along[k];
  }
}

static void place(const line *l, int n, double share, double *x) {
  for (int k = 0; k < n; k++) x[k] = l->from[k] + share * (l->to[k] - l->from[k]);
}

/* Where between two shares of a line the region changes; regions on either side into `side`. */
static double bisect(const regions *r, const line *l, double low, double high, int side[2]) {
  const int n = domain_get(r->domain)->num_space;
  double x[DOMAIN_MAX];
  for (int i = 0; i < 60 && high - low > 1e-15; i++) {
    const double middle = 0.5 * (low + high);
    place(l, n, middle, x);
    const int region = regions_find(r, x);
    if (region == side[0]) low = middle;
    else high = middle, side[1] = region;
  }
  return 0.5 * (low + high);
}

/* Calls `found` for each point of the line where two regions touch inside the domain. */
typedef pcsim_status crossing(regions *r, int inner, int outer, const double *x, void *context);
static pcsim_status follow(regions *r, const line *l, crossing *found, void *context) {
  const int n = domain_get(r->domain)->num_space;
  double x[DOMAIN_MAX];
  place(l, n, 0, x);
  int before = regions_find(r, x);
  for (int i = 1; i <= LINE_STEPS; i++) {
    place(l, n, (double)i / LINE_STEPS, x);
    const int now = regions_find(r, x);
    int side[2] = {before, now};
    before = now;
    if (side[0] == side[1]) continue;
    const double at = bisect(r, l, (double)(i - 1) / LINE_STEPS, (double)i / LINE_STEPS, side);
    place(l, n, at, x);
    if (!domain_inside(r->domain, x)) continue;
    PCSIM_TRY(
        found(r, side[0] < side[1] ? side[0] : side[1], side[0] < side[1] ? side[1] : side[0], x, context));
  }
  return PCSIM_OK;
}

static int find_interface(const regions *r, int inner, int outer) {
  for (int i = 0; i < r->view.num_interfaces; i++)
    if (r->interface[i].inner == inner && r->interface[i].outer == outer) return i;
  return -1;
}

/* ------------------------------------------------------------------------ which there are */

static pcsim_status count(regions *r, int inner, int outer, const double *x, void *context) {
  const double *area = context; /* of one crossing */
  (void)x;
  int i = find_interface(r, inner, outer);
  if (i < 0) {
    PCSIM_CHECK(r->view.num_interfaces < INTERFACES_MAX, PCSIM_ERR_CASE, "more than %d interfaces",
                INTERFACES_MAX);
    i = r->view.num_interfaces++;
    r->interface[i] = (region_interface){.inner = inner, .outer = outer};
  }
  r->interface[i].area += *area;
  return PCSIM_OK;
}

/* Volume of the unit ball. */
static double ball_volume(int n) { return pow(3.14159265358979323846, 0.5 * n) / tgamma(0.5 * n + 1); }

pcsim_status regions_find_interfaces(regions *r) {
  const domain_view *d = domain_get(r->domain);
  const int n = d->num_space;
  const sphere s = around(d);
  /* a surface is crossed twice its area over that of the sphere times, in the mean of all lines */
  double area = 0.5 * n * ball_volume(n) * pow(s.radius, n - 1) / FIND_LINES;
  for (uint64_t i = 0; i < FIND_LINES; i++) {
    line l;
    draw_line(&s, n, 1, 0, i, &l);
    PCSIM_TRY(follow(r, &l, count, &area));
  }
  return PCSIM_OK;
}

/* ------------------------------------------------------------------------------- drawing */

/* Points that are looked for. */
typedef struct {
  int interface;
  int64_t n, found;
  double *points, *normals;
} wanted;

/* Out of the inner region: against the slope of its level, by central differences. */
static void normal_at(const regions *r, int inner, const double *x, double *normal) {
  const domain_view *d = domain_get(r->domain);
  double near[DOMAIN_MAX];
  memcpy(near, x, (size_t)d->num_space * sizeof *near);
  for (int k = 0; k < d->num_space; k++) {
    const double h = 1e-6 * (d->range[k][1] - d->range[k][0]);
    near[k] = x[k] + h;
    const double above = regions_level(r, inner, near);
    near[k] = x[k] - h;
    normal[k] = (regions_level(r, inner, near) - above) / (2 * h);
    near[k] = x[k];
  }
  scale_to(d->num_space, 1, normal);
}

static pcsim_status take(regions *r, int inner, int outer, const double *x, void *context) {
  wanted *w = context;
  const domain_view *d = domain_get(r->domain);
  if (w->found == w->n || find_interface(r, inner, outer) != w->interface) return PCSIM_OK;
  memcpy(w->points + w->found * d->num_coordinates, x, (size_t)d->num_space * sizeof *x);
  normal_at(r, inner, x, w->normals + w->found * d->num_space);
  w->found++;
  return PCSIM_OK;
}

/* Time and inputs, anywhere in their ranges. */
static void draw_others(const domain_view *d, uint64_t seed, uint64_t stream, int64_t n, double *points) {
  for (int64_t i = 0; i < n; i++)
    for (int k = d->num_space; k < d->num_coordinates; k++) {
      const double u = pcsim_random_uniform(seed, stream, (uint64_t)(i * DOMAIN_MAX + k));
      points[i * d->num_coordinates + k] = d->range[k][0] + u * (d->range[k][1] - d->range[k][0]);
    }
}

static pcsim_status draw(regions *r, const kept_draw *k, double *points, double *normals) {
  const domain_view *d = domain_get(r->domain);
  const sphere s = around(d);
  const uint64_t stream = 1 + k->draw * 2 * INTERFACES_MAX + 2 * (uint64_t)k->interface;
  wanted w = {.interface = k->interface, .n = k->n, .points = points, .normals = normals};
  for (uint64_t i = 0; w.found < k->n && i < LINES_MAX; i++) {
    line l;
    draw_line(&s, d->num_space, k->seed, stream, i, &l);
    PCSIM_TRY(follow(r, &l, take, &w));
  }
  const region_interface *a = &r->interface[k->interface];
  PCSIM_CHECK(w.found == k->n, PCSIM_ERR_CASE,
              "points between the regions `%s` and `%s` are not found: they touch too little",
              r->view.name[a->inner], r->view.name[a->outer]);
  draw_others(d, k->seed, stream + 1, k->n, points);
  return PCSIM_OK;
}

pcsim_status regions_draw_interface(regions *r, int interface, uint64_t seed, uint64_t number, int64_t n,
                                    double *points, double *normals) {
  const domain_view *d = domain_get(r->domain);
  const size_t width = (size_t)(n * d->num_coordinates);
  const kept_draw wanted_draw = {.interface = interface, .seed = seed, .draw = number, .n = n};
  kept_draw *k = NULL;
  for (int i = 0; i < REGIONS_KEPT && !k; i++) {
    const kept_draw *a = &r->kept[i];
    if (a->points && a->interface == interface && a->seed == seed && a->draw == number && a->n == n)
      k = &r->kept[i];
  }
  if (!k) {
    k = &r->kept[r->next_kept];
    r->next_kept = (r->next_kept + 1) % REGIONS_KEPT;
    pcsim_free(&k->points);
    *k = wanted_draw;
    PCSIM_TRY(pcsim_alloc(width + (size_t)(n * d->num_space), sizeof *k->points, &k->points));
    pcsim_status status = draw(r, k, k->points, k->points + width);
    if (status != PCSIM_OK) {
      pcsim_free(&k->points);
      return status;
    }
  }
  memcpy(points, k->points, width * sizeof *points);
  memcpy(normals, k->points + width, (size_t)(n * d->num_space) * sizeof *normals);
  return PCSIM_OK;
}
