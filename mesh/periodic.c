/* SPDX-License-Identifier: BSD-2-Clause */
/* Which faces of a pair of periodic boundaries are the same, and their nodes. The translation of a pair comes
 * from the centres of both boundaries; pairs with the same one share a period. */
#include "connect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two nodes are the same within this part of the shortest edge of their face. */
static const double tolerance = 1e-6;

typedef struct {
  uint32_t side;
  int32_t node[4];
  int n;
  bool matched;
  double centre[3], area[3], length; /* length: of the shortest edge */
  double key;                        /* place along a direction that no mesh is laid out by */
} face;
typedef struct {
  int64_t num;
  face *face;
  double centre[3];
} boundary;

/* Node b lies on node a once a is moved by the period. */
typedef struct {
  int32_t a, b;
  int period;
} node_pair;
typedef struct {
  int64_t num;
  node_pair *pair;
} pair_list;

static double distance(const double *a, const double *b) {
  return sqrt((b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1]) + (b[2] - a[2]) * (b[2] - a[2]));
}
static double length_of(const double x[3]) { return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }
static double key_of(const double x[3]) { return 0.7310 * x[0] + 0.5531 * x[1] + 0.3994 * x[2]; }

void pcsim_shift_vector(int num_periods, const double (*period)[3], uint8_t shift, double vector[3]) {
  for (int d = 0; d < 3; d++) vector[d] = 0;
  for (int k = 0; k < num_periods; k++, shift = (uint8_t)(shift / 3))
    for (int d = 0; d < 3; d++) vector[d] += (shift % 3 - 1) * period[k][d];
}

/* The shift by one period, forwards or back. */
static uint8_t one_period(int k, bool back) {
  static const uint8_t power[PCSIM_MAX_PERIODS] = {1, 3, 9};
  return (uint8_t)(back ? PCSIM_SHIFT_NONE - power[k] : PCSIM_SHIFT_NONE + power[k]);
}

/* Both shifts together; false if a period would be added twice. */
static bool add_shifts(uint8_t a, uint8_t b, uint8_t *sum) {
  *sum = 0;
  for (int k = 0, power = 1; k < PCSIM_MAX_PERIODS; k++, power *= 3) {
    int digit = a / power % 3 + b / power % 3 - 1;
    if (digit < 0 || digit > 2) return false;
    *sum = (uint8_t)(*sum + digit * power);
  }
  return true;
}

/* --------------------------------------------------------------- boundaries */

static void fill_face(const pcsim_raw_mesh *raw, int64_t cell, int f, face *to) {
  to->side = pcsim_side_of_cell(cell, f);
  to->n = pcsim_side_nodes(raw, to->side, to->node);
  pcsim_face_geometry(raw->nodes, to->node, to->n, to->area, to->centre);
  to->length = INFINITY;
  for (int i = 0; i < to->n; i++)
    to->length = fmin(to->length, distance(raw->nodes + 3 * (int64_t)to->node[i],
                                           raw->nodes + 3 * (int64_t)to->node[(i + 1) % to->n]));
  to->key = key_of(to->centre);
}

/* Faces of all boundaries in pairs, ascending by side; boundary 2 i + s is number s of pair i. */
static pcsim_status collect(const pcsim_raw_mesh *raw, const pcsim_mesh_links *links, boundary *list) {
  int *of_patch = NULL;
  pcsim_status status = PCSIM_OK;
  PCSIM_TRY(pcsim_alloc((size_t)raw->num_patches, sizeof *of_patch, &of_patch));
  for (int i = 0; i < 2 * raw->num_periodic; i++) {
    of_patch[raw->periodic[i]] = i + 1;
    PCSIM_GOTO(pcsim_alloc((size_t)links->patch_size[raw->periodic[i]], sizeof *list[i].face, &list[i].face),
               status, done);
  }
  for (int64_t c = 0; c < raw->num_cells; c++)
    for (int f = 0; f < pcsim_cell_shapes[raw->cell_type[c]].num_faces; f++) {
      const int32_t link = links->link[c * links->stride + f];
      boundary *to = link < 0 && of_patch[-1 - link] ? list + of_patch[-1 - link] - 1 : NULL;
      if (to) fill_face(raw, c, f, to->face + to->num++);
    }
done:
  pcsim_free(&of_patch);
  return status;
}

static void find_centre(boundary *b) {
  double total = 0;
  for (int64_t i = 0; i < b->num; i++) total += length_of(b->face[i].area);
  for (int64_t i = 0; i < b->num; i++)
    for (int d = 0; d < 3; d++) b->centre[d] += b->face[i].centre[d] * length_of(b->face[i].area) / total;
}

/* ------------------------------------------------------------------ periods */

/* Components that are round-off of the others become zero: nodes across an axis keep their other coordinates.
 */
static void clean(double period[3]) {
  const double size = length_of(period);
  for (int d = 0; d < 3; d++)
    if (fabs(period[d]) < 1e-9 * size) period[d] = 0;
}

/* Volume that the periods span over the product of their lengths. */
static double independence(int n, double period[][3]) {
  double rest[PCSIM_MAX_PERIODS][3], product = 1;
  for (int k = 0; k < n; k++) {
    memcpy(rest[k], period[k], sizeof rest[k]);
    for (int j = 0; j < k; j++) {
      double dot = 0, square = 0;
      for (int d = 0; d < 3; d++) dot += rest[k][d] * rest[j][d], square += rest[j][d] * rest[j][d];
      for (int d = 0; d < 3; d++) rest[k][d] -= dot / square * rest[j][d];
    }
    product *= length_of(rest[k]) / length_of(period[k]);
  }
  return product;
}

/* Which period leads from the first to the second boundary of a pair; `*back`: from the second to the first.
 */
static pcsim_status find_period(const pcsim_raw_mesh *raw, int pair, const boundary *b, int *number,
                                bool *back, pcsim_mesh_periodic *p) {
  const char *first = raw->patches[raw->periodic[2 * pair]],
             *second = raw->patches[raw->periodic[2 * pair + 1]];
  PCSIM_CHECK(b[0].num > 0 && b[1].num > 0, PCSIM_ERR_MESH,
              "boundary '%s' is periodic with '%s', but '%s' has no faces", first, second,
              b[0].num > 0 ? second : first);
  double period[3];
  for (int d = 0; d < 3; d++) period[d] = b[1].centre[d] - b[0].centre[d];
  clean(period);
  const double size = length_of(period);
  PCSIM_CHECK(size > b[0].face[0].length * tolerance, PCSIM_ERR_MESH,
              "the periodic boundaries '%s' and '%s' lie at the same place", first, second);
  for (*number = 0; *number < p->num_periods; ++*number) {
    const double *known = p->period[*number], turned[3] = {-known[0], -known[1], -known[2]};
    *back = distance(turned, period) <= 1e-6 * size;
    if (*back || distance(known, period) <= 1e-6 * size) return PCSIM_OK;
  }
  PCSIM_CHECK(p->num_periods < raw->dim, PCSIM_ERR_MESH,
              "the periodic boundaries have more than %d different periods", raw->dim);
  memcpy(p->period[p->num_periods++], period, sizeof period);
  PCSIM_CHECK(independence(p->num_periods, p->period) > 1e-6, PCSIM_ERR_MESH,
              "the period from '%s' to '%s' is a combination of the others", first, second);
  return PCSIM_OK;
}

/* ----------------------------------------------------------------- matching */

static int compare_keys(const void *x, const void *y) {
  const face *a = x, *b = y;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return a->side < b->side ? -1 : a->side > b->side;
}

/* The node of b that lies on each node of a moved by the period: other [n]; false if one is missing. */
static bool match_nodes(const pcsim_raw_mesh *raw, const face *a, const face *b, const double *period,
                        int32_t other[4]) {
  int used = 0;
  if (a->n != b->n) return false;
  for (int i = 0; i < a->n; i++) {
    double x[3];
    int found = -1;
    for (int d = 0; d < 3; d++) x[d] = raw->nodes[3 * (int64_t)a->node[i] + d] + period[d];
    for (int j = 0; j < b->n && found < 0; j++)
      if (!(used & 1 << j) && distance(x, raw->nodes + 3 * (int64_t)b->node[j]) <= tolerance * a->length)
        found = j;
    if (found < 0) return false;
    used |= 1 << found;
    other[i] = b->node[found];
  }
  return true;
}

/* The face of `to`, sorted by key, that continues `a`. */
static face *find_partner(const pcsim_raw_mesh *raw, const face *a, const boundary *to, const double *period,
                          int32_t other[4]) {
  double x[3];
  for (int d = 0; d < 3; d++) x[d] = a->centre[d] + period[d];
  const double key = key_of(x), reach = tolerance * a->length;
  int64_t low = 0, high = to->num;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (to->face[middle].key < key - reach) low = middle + 1;
    else high = middle;
  }
  for (; low < to->num && to->face[low].key <= key + reach; low++) {
    face *b = to->face + low;
    double facing = 0;
    for (int d = 0; d < 3; d++) facing += a->area[d] * b->area[d];
    if (!b->matched && facing < 0 && match_nodes(raw, a, b, period, other)) return b;
  }
  return NULL;
}

static pcsim_status report_unmatched(const pcsim_raw_mesh *raw, int pair, const boundary *b, int end,
                                     const double *period) {
  const face *first = b[end].face;
  long long count = 0;
  char cell[200], point[100], move[100];
  for (int64_t i = 0; i < b[end].num; i++) {
    const face *f = b[end].face + i;
    if (f->matched) continue;
    if (count++ == 0 || f->side < first->side) first = f;
  }
  pcsim_print_cell(raw, pcsim_side_cell(first->side), cell, sizeof cell);
  pcsim_print_point(raw, first->centre, point, sizeof point);
  pcsim_print_point(raw, period, move, sizeof move);
  PCSIM_FAIL(
      PCSIM_ERR_MESH,
      "the periodic boundaries '%s' (%lld faces) and '%s' (%lld faces), %s apart, do not match: the face "
      "at %s of '%s', of %s, has no partner; %lld such face%s",
      raw->patches[raw->periodic[2 * pair]], (long long)b[0].num, raw->patches[raw->periodic[2 * pair + 1]],
      (long long)b[1].num, move, point, raw->patches[raw->periodic[2 * pair + end]], cell, count,
      count == 1 ? "" : "s");
}

static void add_side(pcsim_mesh_periodic *p, const face *from, const face *beyond, uint8_t shift) {
  p->side[p->num_sides++] = (pcsim_periodic_side){from->side, (int32_t)pcsim_side_cell(beyond->side), shift};
}

/* Join the faces of a pair; `b` are its boundaries in the order of the period. */
static pcsim_status match_pair(const pcsim_raw_mesh *raw, int pair, boundary *b, int number, bool back,
                               pcsim_mesh_periodic *p, pair_list *nodes) {
  boundary *from = b + back, *to = b + !back;
  int32_t other[4];
  bool whole = true;
  qsort(to->face, (size_t)to->num, sizeof *to->face, compare_keys);
  for (int64_t i = 0; i < from->num; i++) {
    face *a = from->face + i, *partner = find_partner(raw, a, to, p->period[number], other);
    if (!partner) {
      whole = false;
      continue;
    }
    a->matched = partner->matched = true;
    add_side(p, a, partner, one_period(number, true));
    add_side(p, partner, a, one_period(number, false));
    for (int k = 0; k < a->n; k++) nodes->pair[nodes->num++] = (node_pair){a->node[k], other[k], number};
  }
  if (whole && from->num == to->num) return PCSIM_OK;
  return report_unmatched(raw, pair, b, whole ? !back : back, p->pair + 3 * pair);
}

static int compare_sides(const void *x, const void *y) {
  const pcsim_periodic_side *a = x, *b = y;
  return (a->side > b->side) - (a->side < b->side);
}

static int compare_pairs(const void *x, const void *y) {
  const node_pair *a = x, *b = y;
  if (a->a != b->a) return a->a < b->a ? -1 : 1;
  if (a->b != b->b) return a->b < b->b ? -1 : 1;
  return (a->period > b->period) - (a->period < b->period);
}

/* Each pair of nodes once, and the periods as the mean over them. */
static void finish_pairs(const pcsim_raw_mesh *raw, pair_list *nodes, pcsim_mesh_periodic *p) {
  double sum[PCSIM_MAX_PERIODS][3] = {{0}};
  int64_t n = 0, count[PCSIM_MAX_PERIODS] = {0};
  qsort(nodes->pair, (size_t)nodes->num, sizeof *nodes->pair, compare_pairs);
  for (int64_t i = 0; i < nodes->num; i++) {
    const node_pair *pair = nodes->pair + i;
    if (i > 0 && compare_pairs(pair, pair - 1) == 0) continue;
    nodes->pair[n++] = *pair;
    count[pair->period]++;
    for (int d = 0; d < 3; d++)
      sum[pair->period][d] += raw->nodes[3 * (int64_t)pair->b + d] - raw->nodes[3 * (int64_t)pair->a + d];
  }
  nodes->num = n;
  for (int k = 0; k < p->num_periods; k++) {
    for (int d = 0; d < 3; d++) p->period[k][d] = sum[k][d] / (double)count[k];
    clean(p->period[k]);
  }
}

/* The period or its reverse that a translation was found as. */
static void settle(int num_periods, double period[][3], double translation[3]) {
  for (int k = 0; k < num_periods; k++)
    for (int sign = -1; sign <= 1; sign += 2) {
      const double x[3] = {sign * period[k][0], sign * period[k][1], sign * period[k][2]};
      if (distance(x, translation) <= 1e-5 * length_of(x)) memcpy(translation, x, sizeof x);
    }
}

/* -------------------------------------------------------------------- nodes */

/* Numbers of the nodes on periodic boundaries. */
static pcsim_status number_nodes(const pcsim_raw_mesh *raw, const pair_list *nodes, pcsim_mesh_periodic *p) {
  PCSIM_TRY(pcsim_alloc((size_t)raw->num_nodes, sizeof *p->place, &p->place));
  for (int64_t i = 0; i < nodes->num; i++) p->place[nodes->pair[i].a] = p->place[nodes->pair[i].b] = 1;
  for (int64_t i = 0; i < raw->num_nodes; i++) p->num_nodes += p->place[i];
  PCSIM_TRY(pcsim_alloc((size_t)p->num_nodes, sizeof *p->node, &p->node));
  int64_t n = 0;
  for (int64_t i = 0; i < raw->num_nodes; i++) {
    if (p->place[i]) p->node[n] = (int32_t)i;
    p->place[i] = p->place[i] ? (int32_t)n++ : -1;
  }
  return PCSIM_OK;
}

/* What one period leads to from each node: start [num_nodes + 1], step [2 pairs]. */
typedef struct {
  int64_t *start;
  pcsim_periodic_image *step;
} steps;

static pcsim_status make_steps(const pair_list *nodes, const pcsim_mesh_periodic *p, steps *s) {
  size_t n = (size_t)p->num_nodes;
  PCSIM_TRY(pcsim_alloc(n + 2, sizeof *s->start, &s->start));
  PCSIM_TRY(pcsim_alloc(2 * (size_t)nodes->num, sizeof *s->step, &s->step));
  for (int64_t i = 0; i < nodes->num; i++) {
    s->start[p->place[nodes->pair[i].a] + 2]++;
    s->start[p->place[nodes->pair[i].b] + 2]++;
  }
  for (size_t i = 0; i < n; i++) s->start[i + 2] += s->start[i + 1];
  for (int64_t i = 0; i < nodes->num; i++) {
    const node_pair *q = nodes->pair + i;
    s->step[s->start[p->place[q->a] + 1]++] = (pcsim_periodic_image){q->b, one_period(q->period, true)};
    s->step[s->start[p->place[q->b] + 1]++] = (pcsim_periodic_image){q->a, one_period(q->period, false)};
  }
  return PCSIM_OK;
}

enum { MAX_IMAGES = 32 };
/* All places of a node, itself first, breadth first over single periods; false if they do not close. */
static bool find_images(const pcsim_mesh_periodic *p, const steps *s, int32_t node,
                        pcsim_periodic_image image[MAX_IMAGES], int *num) {
  image[0] = (pcsim_periodic_image){node, PCSIM_SHIFT_NONE};
  *num = 1;
  for (int i = 0; i < *num; i++) {
    const int32_t at = p->place[image[i].node];
    for (int64_t k = s->start[at]; k < s->start[at + 1]; k++) {
      pcsim_periodic_image next = {s->step[k].node, 0};
      int known = 0;
      if (!add_shifts(image[i].shift, s->step[k].shift, &next.shift)) return false;
      while (known < *num && (image[known].node != next.node || image[known].shift != next.shift)) known++;
      if (known < *num) continue;
      if (*num == MAX_IMAGES) return false;
      image[(*num)++] = next;
    }
  }
  return true;
}

/* Images of every node; each group of places is moved to fit the one of its lowest node exactly. */
static pcsim_status list_images(pcsim_raw_mesh *raw, const steps *s, pcsim_mesh_periodic *p) {
  PCSIM_TRY(pcsim_alloc((size_t)p->num_nodes + 1, sizeof *p->start, &p->start));
  for (int fill = 0; fill < 2; fill++) {
    for (int64_t i = 0; i < p->num_nodes; i++) {
      pcsim_periodic_image image[MAX_IMAGES];
      int n;
      char point[100];
      const double *x = raw->nodes + 3 * (int64_t)p->node[i];
      pcsim_print_point(raw, x, point, sizeof point);
      PCSIM_CHECK(
          find_images(p, s, p->node[i], image, &n), PCSIM_ERR_MESH,
          "periodic boundaries meet at %s in a way that is not supported: the node is several periods "
          "away from itself",
          point);
      if (!fill) {
        p->start[i + 1] = p->start[i] + n - 1;
        continue;
      }
      memcpy(p->image + p->start[i], image + 1, (size_t)(n - 1) * sizeof *image);
      bool lowest = true;
      for (int k = 1; k < n; k++) lowest = lowest && image[k].node > p->node[i];
      for (int k = 1; lowest && k < n; k++) {
        double move[3];
        pcsim_shift_vector(p->num_periods, p->period, image[k].shift, move);
        for (int d = 0; d < 3; d++) raw->nodes[3 * (int64_t)image[k].node + d] = x[d] - move[d];
      }
    }
    if (!fill) PCSIM_TRY(pcsim_alloc((size_t)p->start[p->num_nodes], sizeof *p->image, &p->image));
  }
  return PCSIM_OK;
}

static pcsim_status find_nodes(pcsim_raw_mesh *raw, const pair_list *nodes, pcsim_mesh_periodic *p) {
  steps s = {0};
  pcsim_status status;
  PCSIM_GOTO(number_nodes(raw, nodes, p), status, done);
  PCSIM_GOTO(make_steps(nodes, p, &s), status, done);
  PCSIM_GOTO(list_images(raw, &s, p), status, done);
done:
  pcsim_free(&s.start);
  pcsim_free(&s.step);
  return status;
}

/* ---------------------------------------------------------------------- all */

static pcsim_status match_all(const pcsim_raw_mesh *raw, boundary *list, pair_list *nodes,
                              pcsim_mesh_periodic *p) {
  int64_t faces = 0;
  for (int i = 0; i < 2 * raw->num_periodic; i++) {
    find_centre(list + i);
    faces += list[i].num;
  }
  PCSIM_TRY(pcsim_alloc((size_t)raw->num_periodic, 3 * sizeof *p->pair, &p->pair));
  PCSIM_TRY(pcsim_alloc((size_t)faces, sizeof *p->side, &p->side));
  PCSIM_TRY(pcsim_alloc((size_t)faces * 2, sizeof *nodes->pair, &nodes->pair));
  for (int i = 0; i < raw->num_periodic; i++) {
    int number = 0;
    bool back = false;
    PCSIM_TRY(find_period(raw, i, list + 2 * i, &number, &back, p));
    for (int d = 0; d < 3; d++) p->pair[3 * i + d] = (back ? -1 : 1) * p->period[number][d];
    PCSIM_TRY(match_pair(raw, i, list + 2 * i, number, back, p, nodes));
  }
  qsort(p->side, (size_t)p->num_sides, sizeof *p->side, compare_sides);
  finish_pairs(raw, nodes, p);
  for (int i = 0; i < raw->num_periodic; i++) settle(p->num_periods, p->period, p->pair + 3 * i);
  return PCSIM_OK;
}

pcsim_status pcsim_mesh_periodic_find(pcsim_raw_mesh *raw, pcsim_mesh_links *links,
                                      pcsim_mesh_periodic *periodic) {
  boundary *list = NULL;
  pair_list nodes = {0};
  pcsim_status status = PCSIM_OK;
  *periodic = (pcsim_mesh_periodic){0};
  if (raw->num_periodic == 0) return PCSIM_OK;
  PCSIM_GOTO(pcsim_alloc(2 * (size_t)raw->num_periodic, sizeof *list, &list), status, done);
  PCSIM_GOTO(collect(raw, links, list), status, done);
  PCSIM_GOTO(match_all(raw, list, &nodes, periodic), status, done);
  PCSIM_GOTO(find_nodes(raw, &nodes, periodic), status, done);
  for (int i = 0; i < 2 * raw->num_periodic; i++) links->patch_size[raw->periodic[i]] = 0;
  links->num_boundary_faces -= periodic->num_sides;
  links->num_interior_faces += periodic->num_sides / 2;
done:
  for (int i = 0; list && i < 2 * raw->num_periodic; i++) pcsim_free(&list[i].face);
  pcsim_free(&list);
  pcsim_free(&nodes.pair);
  if (status != PCSIM_OK) pcsim_mesh_periodic_free(periodic);
  return status;
}

void pcsim_mesh_periodic_free(pcsim_mesh_periodic *p) {
  pcsim_free(&p->pair);
  pcsim_free(&p->side);
  pcsim_free(&p->place);
  pcsim_free(&p->node);
  pcsim_free(&p->start);
  pcsim_free(&p->image);
}

const pcsim_periodic_side *pcsim_mesh_periodic_beyond(const pcsim_mesh_periodic *p, int64_t cell, int f) {
  const pcsim_periodic_side wanted = {.side = pcsim_side_of_cell(cell, f)};
  return bsearch(&wanted, p->side, (size_t)p->num_sides, sizeof *p->side, compare_sides);
}
