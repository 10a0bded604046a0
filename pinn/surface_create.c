/* SPDX-License-Identifier: BSD-2-Clause */
/* Making a surface: corners that are the same, edges that must be shared, the tree. */
#include "surface_tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAF = 4 };
/** Corners closer than this over the size of the surface are one. */
static const double weld = 1e-7;

void surface_destroy(surface **s) {
  if (!s || !*s) return;
  pcsim_free(&(*s)->corner);
  pcsim_free(&(*s)->normal);
  pcsim_free(&(*s)->measure);
  pcsim_free(&(*s)->patch);
  pcsim_free(&(*s)->node);
  pcsim_free(&(*s)->item);
  pcsim_free(&(*s)->patch_start);
  pcsim_free(&(*s)->by_patch);
  pcsim_free(&(*s)->area_until);
  pcsim_free(&(*s)->corner_number);
  pcsim_free(&(*s)->corner_start);
  pcsim_free(&(*s)->corner_element);
  pcsim_free(s);
}

/* ----------------------------------------------------------------- elements */

/** Area as a vector [3], out of the surface. */
static void area_vector(int dim, const double *c, double *area) {
  double a[3], b[3];
  for (int i = 0; i < 3; i++) a[i] = c[3 + i] - c[i], b[i] = dim == 3 ? c[6 + i] - c[i] : 0;
  if (dim == 2) {
    area[0] = a[1], area[1] = -a[0], area[2] = 0;
    return;
  }
  area[0] = 0.5 * (a[1] * b[2] - a[2] * b[1]);
  area[1] = 0.5 * (a[2] * b[0] - a[0] * b[2]);
  area[2] = 0.5 * (a[0] * b[1] - a[1] * b[0]);
}

static double norm(const double *a) { return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

/** Normals, measures, volume, without the elements that have no area. */
static void measure(surface *s, double size) {
  int64_t kept = 0;
  double origin[3];
  memcpy(origin, s->corner, sizeof origin);
  s->volume = 0;
  for (int64_t e = 0; e < s->num; e++) {
    double *c = s->corner + 9 * kept, area[3];
    memmove(c, s->corner + 9 * e, 9 * sizeof *c);
    area_vector(s->dim, c, area);
    const double a = norm(area);
    if (!(a > 1e-14 * (s->dim == 2 ? size : size * size))) continue;
    s->patch[kept] = s->patch[e];
    s->measure[kept] = a;
    for (int i = 0; i < 3; i++) {
      s->normal[3 * kept + i] = area[i] / a;
      s->volume += (c[i] - origin[i]) * area[i] / s->dim;
    }
    kept++;
  }
  s->num = kept;
}

static void turn(surface *s) {
  for (int64_t e = 0; e < s->num; e++) {
    double *c = s->corner + 9 * e;
    for (int i = 0; i < 3; i++) {
      const double kept = c[i];
      c[i] = c[3 + i], c[3 + i] = kept;
      s->normal[3 * e + i] = -s->normal[3 * e + i];
    }
  }
  s->volume = -s->volume;
}

/* ------------------------------------------------------------------ corners */

typedef struct {
  double key; /**< place along a direction that no model is aligned with */
  const double *x;
  int64_t place; /**< 3 element + corner */
} corner;

static int by_key(const void *a, const void *b) {
  const corner *p = a, *q = b;
  if (p->key != q->key) return p->key < q->key ? -1 : 1;
  return p->place < q->place ? -1 : p->place > q->place;
}

/** Give the same number to corners at one place: each is compared with those just before it. */
static pcsim_status number_corners(surface *s, double size) {
  static const double direction[3] = {0.6180339887, 0.5436890127, 0.5671432904};
  corner *list = NULL;
  int64_t n = 0;
  PCSIM_TRY(pcsim_alloc((size_t)(s->num * s->dim), sizeof *list, &list));
  for (int64_t e = 0; e < s->num; e++)
    for (int c = 0; c < s->dim; c++) {
      const double *x = s->corner + 9 * e + 3 * c;
      list[n++] = (corner){x[0] * direction[0] + x[1] * direction[1] + x[2] * direction[2], x, 3 * e + c};
    }
  qsort(list, (size_t)n, sizeof *list, by_key);
  s->num_corners = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t same = -1;
    for (int64_t j = i - 1; j >= 0 && list[i].key - list[j].key <= weld * size && same < 0; j--) {
      double d[3];
      for (int k = 0; k < 3; k++) d[k] = list[i].x[k] - list[j].x[k];
      if (norm(d) <= weld * size) same = s->corner_number[list[j].place];
    }
    s->corner_number[list[i].place] = same < 0 ? s->num_corners++ : same;
  }
  pcsim_free(&list);
  return PCSIM_OK;
}

static pcsim_status list_elements(surface *s) {
  PCSIM_TRY(pcsim_alloc((size_t)s->num_corners + 2, sizeof *s->corner_start, &s->corner_start));
  PCSIM_TRY(pcsim_alloc((size_t)(s->num * s->dim), sizeof *s->corner_element, &s->corner_element));
  int64_t *start = s->corner_start + 1;
  for (int64_t e = 0; e < s->num; e++)
    for (int c = 0; c < s->dim; c++) start[s->corner_number[3 * e + c] + 1]++;
  for (int64_t k = 0; k < s->num_corners; k++) start[k + 1] += start[k];
  for (int64_t e = 0; e < s->num; e++)
    for (int c = 0; c < s->dim; c++) s->corner_element[start[s->corner_number[3 * e + c]]++] = e;
  return PCSIM_OK;
}

/** How often an element goes from corner a to corner b. */
static int goes(const surface *s, int64_t e, int64_t a, int64_t b) {
  const int64_t *n = s->corner_number + 3 * e;
  for (int c = 0; c < 3; c++)
    if (n[c] == a && n[(c + 1) % 3] == b) return 1;
  return 0;
}

static const char *place_of(const surface *s, const double *x, char *text, size_t size) {
  snprintf(text, size, s->dim == 2 ? "(%g, %g)" : "(%g, %g, %g)", x[0], x[1], x[2]);
  return text;
}

/** In the plane: as many segments end at a corner as begin there. In space: an edge is run through as often
 * one way as the other. */
static pcsim_status check_closed(const surface *s) {
  int64_t open = 0;
  const double *first = NULL;
  char place[96];
  for (int64_t e = 0; e < s->num; e++)
    for (int c = 0; c < s->dim; c++) {
      const int64_t a = s->corner_number[3 * e + c], b = s->corner_number[3 * e + (c + 1) % 3];
      int balance = 0;
      for (int64_t i = s->corner_start[a]; i < s->corner_start[a + 1]; i++) {
        const int64_t o = s->corner_element[i];
        if (s->dim == 3) balance += goes(s, o, a, b) - goes(s, o, b, a);
        else balance += (s->corner_number[3 * o] == a) - (s->corner_number[3 * o + 1] == a);
      }
      if (balance == 0) continue;
      if (!first) first = s->corner + 9 * e + 3 * c;
      open++;
    }
  PCSIM_CHECK(open == 0, PCSIM_ERR_CASE,
              "the surface is not closed, or its %s do not agree about what is inside: %lld %s without a "
              "counterpart, the first at %s",
              s->dim == 2 ? "segments" : "triangles", (long long)open, s->dim == 2 ? "ends" : "edges",
              place_of(s, first, place, sizeof place));
  return PCSIM_OK;
}

/* --------------------------------------------------------------------- tree */

typedef struct {
  double key, centre[3]; /**< key: what the list is sorted by */
  int32_t element;
} placed;

static int by_place(const void *a, const void *b) {
  const placed *p = a, *q = b;
  if (p->key != q->key) return p->key < q->key ? -1 : 1;
  return p->element < q->element ? -1 : p->element > q->element;
}

static void summarise(const surface *s, surface_node *n, const placed *list, int32_t count) {
  double whole = 0;
  for (int i = 0; i < 3; i++) n->low[i] = INFINITY, n->high[i] = -INFINITY, n->area[i] = n->centre[i] = 0;
  for (int32_t k = 0; k < count; k++) {
    const int64_t e = list[k].element;
    whole += s->measure[e];
    for (int i = 0; i < 3; i++) {
      n->area[i] += s->measure[e] * s->normal[3 * e + i];
      n->centre[i] += s->measure[e] * list[k].centre[i];
      for (int c = 0; c < s->dim; c++) {
        n->low[i] = fmin(n->low[i], s->corner[9 * e + 3 * c + i]);
        n->high[i] = fmax(n->high[i], s->corner[9 * e + 3 * c + i]);
      }
    }
  }
  for (int i = 0; i < 3; i++) n->centre[i] /= whole;
  n->radius = 0;
  for (int32_t k = 0; k < count; k++)
    for (int c = 0; c < s->dim; c++) {
      const double *x = s->corner + 9 * (int64_t)list[k].element + 3 * c;
      const double d[3] = {x[0] - n->centre[0], x[1] - n->centre[1], x[2] - n->centre[2]};
      n->radius = fmax(n->radius, norm(d));
    }
}

/** Nodes of list [count], the first at `*place`. */
static void grow(surface *s, placed *list, int32_t first, int32_t count, int32_t *place) {
  surface_node *n = &s->node[(*place)++];
  summarise(s, n, list + first, count);
  if (count <= LEAF) {
    n->first = first, n->count = count;
    return;
  }
  double low[3], high[3];
  for (int i = 0; i < 3; i++) low[i] = INFINITY, high[i] = -INFINITY;
  for (int32_t k = first; k < first + count; k++)
    for (int i = 0; i < 3; i++) {
      low[i] = fmin(low[i], list[k].centre[i]);
      high[i] = fmax(high[i], list[k].centre[i]);
    }
  int axis = 0;
  for (int i = 1; i < 3; i++)
    if (high[i] - low[i] > high[axis] - low[axis]) axis = i;
  for (int32_t k = first; k < first + count; k++) list[k].key = list[k].centre[axis];
  qsort(list + first, (size_t)count, sizeof *list, by_place);
  grow(s, list, first, count / 2, place);
  n->other = *place;
  grow(s, list, first + count / 2, count - count / 2, place);
}

pcsim_status surface_grow(surface *s) {
  placed *list = NULL;
  int32_t place = 0;
  PCSIM_TRY(pcsim_alloc((size_t)s->num, sizeof *s->item, &s->item));
  PCSIM_TRY(pcsim_alloc((size_t)(2 * s->num), sizeof *s->node, &s->node));
  PCSIM_TRY(pcsim_alloc((size_t)s->num, sizeof *list, &list));
  for (int64_t e = 0; e < s->num; e++) {
    list[e].element = (int32_t)e;
    for (int c = 0; c < s->dim; c++)
      for (int i = 0; i < 3; i++) list[e].centre[i] += s->corner[9 * e + 3 * c + i] / s->dim;
  }
  grow(s, list, 0, (int32_t)s->num, &place);
  for (int64_t k = 0; k < s->num; k++) s->item[k] = list[k].element;
  pcsim_free(&list);
  return PCSIM_OK;
}

/* ---------------------------------------------------------------- the whole */

static pcsim_status sort_patches(surface *s) {
  PCSIM_TRY(pcsim_alloc((size_t)s->num_patches + 2, sizeof *s->patch_start, &s->patch_start));
  PCSIM_TRY(pcsim_alloc((size_t)s->num, sizeof *s->by_patch, &s->by_patch));
  PCSIM_TRY(pcsim_alloc((size_t)s->num, sizeof *s->area_until, &s->area_until));
  int64_t *start = s->patch_start + 1;
  for (int64_t e = 0; e < s->num; e++) start[s->patch[e] + 1]++;
  for (int p = 0; p < s->num_patches; p++) start[p + 1] += start[p];
  for (int64_t e = 0; e < s->num; e++) s->by_patch[start[s->patch[e]]++] = e;
  for (int p = 0; p < s->num_patches; p++) {
    double area = 0;
    for (int64_t k = s->patch_start[p]; k < s->patch_start[p + 1]; k++)
      s->area_until[k] = area += s->measure[s->by_patch[k]];
  }
  return PCSIM_OK;
}

static pcsim_status build(surface *s, int64_t num, const double *corners, const int32_t *patch) {
  double low[3] = {0}, high[3] = {0}, size = 0;
  PCSIM_TRY(pcsim_alloc((size_t)num, 9 * sizeof(double), &s->corner));
  PCSIM_TRY(pcsim_alloc((size_t)num, 3 * sizeof(double), &s->normal));
  PCSIM_TRY(pcsim_alloc((size_t)num, sizeof *s->measure, &s->measure));
  PCSIM_TRY(pcsim_alloc((size_t)num, sizeof *s->patch, &s->patch));
  PCSIM_TRY(pcsim_alloc((size_t)num, 3 * sizeof(int64_t), &s->corner_number));
  for (int64_t e = 0; e < num; e++) {
    s->patch[e] = patch[e];
    for (int c = 0; c < s->dim; c++)
      for (int i = 0; i < s->dim; i++) {
        const double x = corners[(e * s->dim + c) * s->dim + i];
        PCSIM_CHECK(isfinite(x), PCSIM_ERR_CASE, "a corner of the surface is not finite");
        s->corner[9 * e + 3 * c + i] = x;
        low[i] = e + c == 0 ? x : fmin(low[i], x);
        high[i] = e + c == 0 ? x : fmax(high[i], x);
      }
  }
  for (int i = 0; i < s->dim; i++) size = hypot(size, high[i] - low[i]);
  s->num = num;
  measure(s, size);
  PCSIM_CHECK(s->num > s->dim, PCSIM_ERR_CASE, "the surface has %lld %s with an area; nothing is inside",
              (long long)s->num, s->dim == 2 ? "segments" : "triangles");
  PCSIM_TRY(number_corners(s, size));
  PCSIM_TRY(list_elements(s));
  PCSIM_TRY(check_closed(s));
  if (s->volume < 0) turn(s);
  PCSIM_CHECK(s->volume > 1e-12 * pow(size, s->dim), PCSIM_ERR_CASE, "the surface has nothing inside");
  /* `turn` changed which corner is which. */
  PCSIM_TRY(number_corners(s, size));
  PCSIM_TRY(sort_patches(s));
  return surface_grow(s);
}

pcsim_status surface_create(int dim, int64_t num, const double *corners, const int32_t *patch,
                            int num_patches, surface **out) {
  surface *s = NULL;
  *out = NULL;
  PCSIM_CHECK((dim == 2 || dim == 3) && num >= 0 && num < INT32_MAX / 2 && num_patches >= 1, PCSIM_ERR_ARG,
              "%lld elements in %d dimensions", (long long)num, dim);
  PCSIM_CHECK(num > 0, PCSIM_ERR_CASE, "the surface is empty");
  PCSIM_TRY(pcsim_alloc(1, sizeof *s, &s));
  s->dim = dim;
  s->num_patches = num_patches;
  const pcsim_status status = build(s, num, corners, patch);
  if (status == PCSIM_OK) *out = s;
  else surface_destroy(&s);
  return status;
}
