/* SPDX-License-Identifier: BSD-2-Clause */
/* A domain once it is read: what is inside, points in it and on its boundary. */
#include "shape.h"

#include <math.h>

/** Streams of random numbers: purpose, piece, draw. */
enum { STREAM_INSIDE = 1, STREAM_PIECE, STREAM_START };
static uint64_t stream(int purpose, int piece, uint64_t draw) {
  return (uint64_t)(0x50 + purpose) << 56 | (uint64_t)piece << 40 | (draw & 0xFFFFFFFFFF);
}

const domain_view *domain_get(const domain *d) { return &d->view; }

void domain_destroy(domain **d) {
  if (!d || !*d) return;
  for (int i = 0; i < (*d)->num_names; i++) pcsim_free(&(*d)->names[i]);
  pcsim_free(&(*d)->names);
  pcsim_free(&(*d)->name_list);
  for (int i = 0; i < (*d)->num_solids; i++) {
    surface_destroy(&(*d)->solids[i].surface);
    pcsim_free(&(*d)->solids[i].patch_piece);
  }
  pcsim_free(&(*d)->solids);
  pcsim_free(&(*d)->steps);
  pcsim_free(&(*d)->faces);
  pcsim_free(&(*d)->range);
  pcsim_free(&(*d)->area);
  pcsim_free(d);
}

void domain_use(domain *d, sequence_kind kind) { d->sequence = kind; }

static bool has_level(const domain *d, const double *x, double level) {
  for (int i = 0; i < d->view.num_space; i++)
    if (!isfinite(x[i])) return false;
  return shape_level(d, x) >= level;
}

bool domain_inside(const domain *d, const double *x) { return has_level(d, x, -d->tolerance); }

bool domain_near(const domain *d, const double *x, double tolerance) {
  return has_level(d, x, -tolerance * d->size);
}

/* ----------------------------------------------------------- on the boundary */

bool domain_project(const domain *d, const face *f, const double *x, double distance, double *on,
                    double *normal) {
  const solid *s = &d->solids[f->solid];
  const int n = d->view.num_space, c = f->side / 2;
  double square = 0;
  if (s->kind == SOLID_SURFACE) {
    double near[3];
    if (surface_nearest(s->surface, x, near, normal) != f->side) return false;
    for (int i = 0; i < n; i++) square += (x[i] - near[i]) * (x[i] - near[i]);
    for (int i = 0; i < n; i++) on[i] = near[i];
    return sqrt(square) <= distance;
  }
  for (int i = 0; i < n; i++) normal[i] = 0;
  if (s->kind == SOLID_BALL) {
    for (int i = 0; i < n; i++)
      if (s->bounded[i]) square += (x[i] - s->centre[i]) * (x[i] - s->centre[i]);
    const double r = sqrt(square);
    if (!(fabs(r - s->radius) <= distance) || r == 0) return false;
    for (int i = 0; i < n; i++) {
      if (s->bounded[i]) normal[i] = (x[i] - s->centre[i]) / r;
      on[i] = s->bounded[i] ? s->centre[i] + s->radius * normal[i] : x[i];
    }
    return true;
  }
  const double side = f->side % 2 ? s->high[c] : s->low[c];
  if (!(fabs(x[c] - side) <= distance)) return false;
  for (int i = 0; i < n; i++)
    if (!(x[i] >= s->low[i] - distance && x[i] <= s->high[i] + distance)) return false;
  for (int i = 0; i < n; i++) on[i] = i == c ? side : x[i];
  normal[c] = f->side % 2 ? 1 : -1;
  return true;
}

int domain_on_piece(const domain *d, const double *x, double tolerance) {
  double on[SPACE_MAX], normal[SPACE_MAX];
  for (int k = 0; k < d->num_faces; k++)
    if (d->faces[k].piece >= 0 && domain_project(d, &d->faces[k], x, tolerance * d->size, on, normal) &&
        face_keeps(d, &d->faces[k], on, normal))
      return d->faces[k].piece;
  return -1;
}

/* -------------------------------------------------------------------- points */

/** Time and parameters from u [num_coordinates - num_space]. */
static void set_others(const domain *d, const double *u, double *point) {
  for (int i = d->view.num_space; i < d->view.num_coordinates; i++)
    point[i] = d->range[i][0] + *u++ * (d->range[i][1] - d->range[i][0]);
}

/** How many points may be tried for n that are accepted with probability `part`. */
static uint64_t most_tries(int64_t n, double part) {
  const double tries = 1e5 + 16.0 * (double)n / fmax(part, 1e-9);
  return tries < 4e9 ? (uint64_t)tries : 4000000000u;
}

/** The solid that holds the whole domain, if it is one: then its own points serve instead of a box's. */
static const solid *outer_solid(const domain *d) {
  int k = d->num_steps - 1;
  while (d->steps[k].kind == STEP_AND || d->steps[k].kind == STEP_MINUS) k = d->steps[k].left;
  const solid *s = d->steps[k].kind == STEP_SOLID ? &d->solids[d->steps[k].solid] : NULL;
  return s && s->kind != SOLID_SURFACE ? s : NULL;
}

static pcsim_status draw_inside(const domain *d, sequence *s, int64_t n, bool start, double *points) {
  const int num_space = d->view.num_space, num = d->view.num_coordinates;
  const solid *outer = outer_solid(d);
  double u[SEQUENCE_MAX];
  solid box = {.kind = SOLID_BOX};
  double part = d->volume_part, volume = 1;
  for (int i = 0; i < num_space; i++) {
    box.low[i] = d->range[i][0], box.high[i] = d->range[i][1];
    volume *= box.high[i] - box.low[i];
  }
  /* A ball is taken for itself where fewer of its points are lost than of the box around the domain. */
  if (outer && solid_volume(outer, num_space) <= volume) part *= volume / solid_volume(outer, num_space);
  else outer = &box;
  const bool test = d->num_solids > 1 || d->solids[0].kind == SOLID_SURFACE;
  const int m = solid_numbers(outer, num_space);
  const uint64_t most = most_tries(n, part);
  uint64_t place = 0;
  s->num = m + num - num_space;
  sequence_start(s, s->kind, s->num, s->seed, s->stream);
  for (int64_t i = 0; i < n; place++) {
    double *x = points + i * num;
    PCSIM_CHECK(place < most, PCSIM_ERR_CASE,
                "the domain is too thin: of %llu points around it %lld are inside", (unsigned long long)place,
                (long long)i);
    sequence_point(s, place, u);
    solid_point(outer, num_space, u, x);
    if (test && !(shape_level(d, x) > 0)) continue;
    set_others(d, u + m, x);
    if (start) x[d->view.time] = d->range[d->view.time][0];
    i++;
  }
  return PCSIM_OK;
}

pcsim_status domain_draw_inside(const domain *d, uint64_t seed, uint64_t draw, int64_t n, double *points) {
  sequence s = {.kind = d->sequence, .seed = seed, .stream = stream(STREAM_INSIDE, 0, draw)};
  return draw_inside(d, &s, n, false, points);
}

pcsim_status domain_draw_start(const domain *d, uint64_t seed, uint64_t draw, int64_t n, double *points) {
  sequence s = {.kind = d->sequence, .seed = seed, .stream = stream(STREAM_START, 0, draw)};
  PCSIM_CHECK(d->view.time >= 0, PCSIM_ERR_ARG, "the domain has no time");
  return draw_inside(d, &s, n, true, points);
}

/** The face of a piece that u picks, by the whole area `area` of its faces. */
static const face *pick_face(const domain *d, int piece, double area, double u) {
  const face *last = NULL;
  area *= u;
  for (int k = 0; k < d->num_faces && !(last && area < 0); k++) {
    if (d->faces[k].piece != piece) continue;
    last = &d->faces[k];
    area -= last->area;
  }
  return last;
}

pcsim_status domain_draw_piece(const domain *d, int piece, uint64_t seed, uint64_t draw, int64_t n,
                               double *points, double *normals) {
  const int num_space = d->view.num_space, num = d->view.num_coordinates;
  double u[SEQUENCE_MAX], whole = 0;
  sequence s;
  int m = 0;
  PCSIM_CHECK(piece >= 0 && piece < d->view.num_pieces, PCSIM_ERR_ARG, "there is no piece %d", piece);
  for (int k = 0; k < d->num_faces; k++) {
    if (d->faces[k].piece != piece) continue;
    const int numbers = face_numbers(d, &d->faces[k]);
    m = numbers > m ? numbers : m;
    whole += d->faces[k].area;
  }
  sequence_start(&s, d->sequence, m + num - num_space + 1, seed, stream(STREAM_PIECE, piece, draw));
  const uint64_t most = most_tries(n, d->area[piece] / whole);
  uint64_t place = 0;
  for (int64_t i = 0; i < n; place++) {
    double *x = points + i * num, *normal = normals + i * num_space;
    PCSIM_CHECK(place < most, PCSIM_ERR_CASE, "the boundary '%s' is too small: of %llu points %lld are on it",
                d->view.piece[piece], (unsigned long long)place, (long long)i);
    sequence_point(&s, place, u);
    const face *f = pick_face(d, piece, whole, u[s.num - 1]);
    face_point(d, f, u, x, normal);
    if (!face_keeps(d, f, x, normal)) continue;
    set_others(d, u + m, x);
    i++;
  }
  return PCSIM_OK;
}
