/* SPDX-License-Identifier: BSD-2-Clause */
/* What is left of the faces of each solid, volume and areas.
 *
 * Faces are tried in points. Where every face of a solid is left whole or goes whole, the volume follows from
 * the solids' own: by the divergence theorem it is 1/d times the integral of x . n over the boundary, to
 * which a solid gives plus or minus its volume, or nothing. Otherwise points of the box around the domain are
 * counted. */
#include "shape.h"

#include <math.h>

enum { TRIES = 1 << 18, FACE_TRIES_MIN = 1 << 10, FACE_TRIES_MAX = 1 << 14, SURFACE_COST = 16 };

/** The box around the domain: that of the solids which are not taken away. */
static void find_box(domain *d) {
  double low[STEPS_MAX][SPACE_MAX], high[STEPS_MAX][SPACE_MAX];
  const int n = d->view.num_space;
  for (int k = 0; k < d->num_steps; k++) {
    const step *s = &d->steps[k];
    for (int i = 0; i < n; i++) {
      const double *a = s->kind == STEP_SOLID ? NULL : low[s->left], *b = a ? low[s->right] : NULL;
      const double *c = a ? high[s->left] : NULL, *e = a ? high[s->right] : NULL;
      switch (s->kind) {
      case STEP_SOLID:
        low[k][i] = d->solids[s->solid].low[i], high[k][i] = d->solids[s->solid].high[i];
        break;
      case STEP_PLUS:
        low[k][i] = fmin(a[i], b[i]), high[k][i] = fmax(c[i], e[i]);
        break;
      case STEP_AND:
        low[k][i] = fmax(a[i], b[i]), high[k][i] = fmin(c[i], e[i]);
        break;
      case STEP_MINUS:
        low[k][i] = a[i], high[k][i] = c[i];
        break;
      }
    }
  }
  double square = 0, far = 0;
  for (int i = 0; i < n; i++) {
    d->range[i][0] = low[d->num_steps - 1][i], d->range[i][1] = high[d->num_steps - 1][i];
    square += (d->range[i][1] - d->range[i][0]) * (d->range[i][1] - d->range[i][0]);
    far = fmax(far, fmax(fabs(d->range[i][0]), fabs(d->range[i][1])));
  }
  d->size = sqrt(square);
  d->tolerance = 1e-12 * d->size + 1e-15 * far;
  d->offset = 1e-7 * d->size + 1e-12 * far;
}

/** Part of a face that is left, and by `sign` whether the domain lies inside (1) or outside (-1) of the solid
 *  there; 0: nothing is left, or both. */
static void try_face(const domain *d, face *f, int tries, int *sign) {
  double u[SEQUENCE_MAX], x[SPACE_MAX], normal[SPACE_MAX], before[SPACE_MAX];
  sequence s;
  int kept = 0, inside = 0;
  sequence_start(&s, SEQUENCE_SOBOL, face_numbers(d, f), 0, (uint64_t)(f - d->faces));
  for (int k = 0; k < tries; k++) {
    double same = 0;
    sequence_point(&s, (uint64_t)k, u);
    face_point(d, f, u, x, normal);
    for (int i = 0; i < d->view.num_space; i++) before[i] = normal[i];
    if (!face_keeps(d, f, x, normal)) continue;
    for (int i = 0; i < d->view.num_space; i++) same += before[i] * normal[i];
    kept++;
    inside += same > 0;
  }
  f->kept = (double)kept / tries;
  *sign = inside == kept && kept ? 1 : inside == 0 && kept ? -1 : 0;
}

/** True if the volume is that of whole solids. */
static bool whole_volume(const domain *d, const int *sign, double *volume) {
  *volume = 0;
  for (int i = 0; i < d->num_solids; i++) {
    int whole = 0, gone = 0, faces = 0, signs = 0;
    for (int k = 0; k < d->view.num_space; k++)
      if (!d->solids[i].bounded[k]) return false;
    for (int k = 0; k < d->num_faces; k++) {
      if (d->faces[k].solid != i) continue;
      faces++;
      whole += d->faces[k].kept == 1;
      gone += d->faces[k].kept == 0;
      signs += sign[k];
    }
    if (gone == faces) continue;
    if (whole != faces || (signs != faces && signs != -faces)) return false;
    *volume += (signs > 0 ? 1 : -1) * solid_volume(&d->solids[i], d->view.num_space);
  }
  return true;
}

/** Part of the box around the domain that is inside. */
static double count_inside(const domain *d, int tries) {
  double u[SEQUENCE_MAX], x[SPACE_MAX];
  const int n = d->view.num_space;
  sequence s;
  int inside = 0;
  sequence_start(&s, SEQUENCE_SOBOL, n, 0, (uint64_t)d->num_faces);
  for (int k = 0; k < tries; k++) {
    sequence_point(&s, (uint64_t)k, u);
    for (int i = 0; i < n; i++) x[i] = d->range[i][0] + u[i] * (d->range[i][1] - d->range[i][0]);
    inside += shape_level(d, x) >= 0;
  }
  return (double)inside / tries;
}

/** Pieces in the order of the case, without those of which nothing is left. */
static void number_pieces(domain *d, pcsim_tree *tree) {
  int number[PIECES_MAX], num = 0;
  for (int p = 0; p < d->view.num_pieces; p++) {
    double area = 0;
    const pcsim_node *at = NULL;
    for (int k = 0; k < d->num_faces; k++) {
      if (d->faces[k].piece != p) continue;
      area += d->faces[k].area * d->faces[k].kept;
      if (d->solids[d->faces[k].solid].node) at = d->solids[d->faces[k].solid].node;
    }
    if (at && !(area > 0))
      pcsim_tree_problem(tree, at, "'%s' changes nothing: no point of its surface is boundary of the domain",
                         d->names[d->view.num_coordinates + p]);
    number[p] = area > 0 ? num : -1;
    if (!(area > 0)) continue;
    d->area[num] = area;
    d->name_list[d->view.num_coordinates + num++] = d->names[d->view.num_coordinates + p];
  }
  for (int k = 0; k < d->num_faces; k++)
    d->faces[k].piece = d->faces[k].kept > 0 ? number[d->faces[k].piece] : -1;
  for (int k = 0; k < d->num_solids; k++) d->solids[k].node = NULL;
  d->view.num_pieces = num;
}

pcsim_status domain_measure(domain *d, pcsim_tree *tree, const pcsim_node *at) {
  const int num_space = d->view.num_space;
  int *sign = NULL, points = TRIES;
  double box = 1, whole;
  find_box(d);
  for (int i = 0; i < num_space; i++) box *= fmax(0, d->range[i][1] - d->range[i][0]);
  /* Surfaces answer more slowly. */
  for (int i = 0; i < d->num_solids; i++)
    if (d->solids[i].kind == SOLID_SURFACE) points = TRIES / SURFACE_COST;
  if (d->num_solids == 1) d->volume_part = solid_volume(&d->solids[0], num_space) / box;
  else d->volume_part = box > 0 ? count_inside(d, points) : 0;
  if (!(d->volume_part > 0)) {
    pcsim_tree_problem(tree, at, "the domain is empty: of %d points around it none is inside", points);
    return PCSIM_OK;
  }
  PCSIM_TRY(pcsim_alloc((size_t)d->num_faces, sizeof *sign, &sign));
  int tries = d->num_faces ? points / d->num_faces : 0;
  tries = tries < FACE_TRIES_MIN ? FACE_TRIES_MIN : tries > FACE_TRIES_MAX ? FACE_TRIES_MAX : tries;
  for (int k = 0; k < d->num_faces; k++) try_face(d, &d->faces[k], d->num_solids == 1 ? 1 : tries, &sign[k]);
  d->view.volume = whole_volume(d, sign, &whole) ? whole : d->volume_part * box;
  pcsim_free(&sign);
  for (int i = 0; i < d->view.num_coordinates; i++) d->name_list[i] = d->names[i];
  number_pieces(d, tree);
  return PCSIM_OK;
}
