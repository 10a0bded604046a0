/* SPDX-License-Identifier: BSD-2-Clause */
/* Friction along boundaries: wall shear as a curve, separation and reattachment. */
#include "monitor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUM(a) (sizeof(a) / sizeof *(a))

/* ------------------------------------------- faces of a plane boundary, on every rank */

enum { SEG_X, SEG_Y, SEG_AX, SEG_AY, SEG_BX, SEG_BY, SEG_A, SEG_B, SEG_WIDTH };
enum { SHEAR_X, SHEAR_Y, SHEAR_P, SHEAR_WIDTH };

typedef struct {
  int32_t *face; /* [num_local] boundary faces, from 0 */
  int num_local, num_all, ranks;
  int *count, *start;    /* [ranks] faces */
  double *geometry;      /* [num_all][SEG_WIDTH] */
  double *local, *value; /* [num_local], [num_all][SHEAR_WIDTH] */
} segments;

static void segments_clear(segments *g) {
  pcsim_free(&g->face);
  pcsim_free(&g->count);
  pcsim_free(&g->start);
  pcsim_free(&g->geometry);
  pcsim_free(&g->local);
  pcsim_free(&g->value);
}

static void describe_segment(const pcsim_mesh_view *mesh, int64_t face, double *data) {
  const int32_t *node = mesh->face_node + mesh->face_node_start[face];
  memcpy(data + SEG_X, mesh->face_centre + 3 * face, 2 * sizeof(double));
  memcpy(data + SEG_AX, mesh->node + 3 * node[0], 2 * sizeof(double));
  memcpy(data + SEG_BX, mesh->node + 3 * node[1], 2 * sizeof(double));
  data[SEG_A] = (double)mesh->node_global[node[0]];
  data[SEG_B] = (double)mesh->node_global[node[1]];
}

static void gather(const segments *g, MPI_Comm comm, int width, const double *local, double *all) {
  for (int r = 0; r < g->ranks; ++r) g->count[r] *= width, g->start[r] *= width;
  MPI_Allgatherv(local, g->num_local * width, MPI_DOUBLE, all, g->count, g->start, MPI_DOUBLE, comm);
  for (int r = 0; r < g->ranks; ++r) g->count[r] /= width, g->start[r] /= width;
}

/* Faces of the wanted patches for which `where` (or NULL) holds at the centre. */
static pcsim_status segments_local(const pcsim_mesh_view *mesh, const bool *wanted, const pcsim_expr *where,
                                   segments *g) {
  PCSIM_TRY(pcsim_alloc((size_t)(mesh->num_faces - mesh->num_interior_faces), sizeof *g->face, &g->face));
  for (int p = 0; p < mesh->num_patches; ++p)
    for (int64_t f = mesh->patch_start[p]; wanted[p] && f < mesh->patch_start[p + 1]; ++f)
      if (!where || pcsim_expr_eval(where, mesh->face_centre + 3 * f) != 0.0)
        g->face[g->num_local++] = (int32_t)(f - mesh->num_interior_faces);
  PCSIM_TRY(pcsim_alloc((size_t)g->num_local * SEG_WIDTH, sizeof(double), &g->local));
  for (int i = 0; i < g->num_local; ++i)
    describe_segment(mesh, mesh->num_interior_faces + g->face[i], g->local + SEG_WIDTH * i);
  return PCSIM_OK;
}

static pcsim_status segments_make(const pcsim_mesh *mesh, const bool *wanted, const pcsim_expr *where,
                                  segments *g) {
  MPI_Comm comm = pcsim_mesh_comm(mesh);
  MPI_Comm_size(comm, &g->ranks);
  pcsim_status status = segments_local(pcsim_mesh_get(mesh), wanted, where, g);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)g->ranks, sizeof(int), &g->count);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)g->ranks, sizeof(int), &g->start);
  PCSIM_TRY(pcsim_status_agree(comm, status));
  MPI_Allgather(&g->num_local, 1, MPI_INT, g->count, 1, MPI_INT, comm);
  for (int r = 0; r < g->ranks; ++r) g->start[r] = g->num_all, g->num_all += g->count[r];
  status = pcsim_alloc((size_t)g->num_all * SEG_WIDTH, sizeof(double), &g->geometry);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)g->num_all * SHEAR_WIDTH, sizeof(double), &g->value);
  PCSIM_TRY(pcsim_status_agree(comm, status));
  gather(g, comm, SEG_WIDTH, g->local, g->geometry);
  return PCSIM_OK;
}

/* Friction per area, without a part normal to the face. */
static double shear_at(const pcsim_mesh_view *mesh, const pcsim_fields *fields, int64_t b, double shear[3]) {
  const double *area = mesh->face_area + 3 * (mesh->num_interior_faces + b),
               *friction = fields->flow->face_friction + 3 * b;
  double size2 = area[0] * area[0] + area[1] * area[1] + area[2] * area[2], normal = 0.0, size = sqrt(size2);
  for (int i = 0; i < 3; ++i) normal += friction[i] * area[i] / size2;
  for (int i = 0; i < 3; ++i) shear[i] = (friction[i] - normal * area[i]) / size;
  return size;
}

/* to [3] = the derivative by the friction on face b of the shear there along a direction. */
static void shear_back(const pcsim_mesh_view *mesh, int64_t b, const double *along, double *to) {
  const double *area = mesh->face_area + 3 * (mesh->num_interior_faces + b);
  double size2 = area[0] * area[0] + area[1] * area[1] + area[2] * area[2], normal = 0.0;
  for (int i = 0; i < 3; ++i) normal += along[i] * area[i] / size2;
  for (int i = 0; i < 3; ++i) to[i] = (along[i] - normal * area[i]) / sqrt(size2);
}

static void segments_evaluate(const pcsim_mesh *mesh, const pcsim_fields *fields, segments *g) {
  for (int i = 0; i < g->num_local; ++i) {
    double shear[3];
    shear_at(pcsim_mesh_get(mesh), fields, g->face[i], shear);
    g->local[SHEAR_WIDTH * i + SHEAR_X] = shear[0];
    g->local[SHEAR_WIDTH * i + SHEAR_Y] = shear[1];
    g->local[SHEAR_WIDTH * i + SHEAR_P] = fields->flow->face_pressure[g->face[i]];
  }
  gather(g, pcsim_mesh_comm(mesh), SHEAR_WIDTH, g->local, g->value);
}

/* ---------------------------------------------------------- order along a boundary */

typedef struct {
  int64_t node;
  int segment;
} segment_end;

static int compare_ends(const void *a, const void *b) {
  const segment_end *x = a, *y = b;
  if (x->node != y->node) return x->node < y->node ? -1 : 1;
  return (x->segment > y->segment) - (x->segment < y->segment);
}

/* The other segment at a node, -1 if it is an end (or a branch). */
static int other_segment(const segment_end *ends, int num, int64_t node, int segment) {
  int low = 0, high = num;
  while (low < high) {
    int middle = (low + high) / 2;
    if (ends[middle].node < node) low = middle + 1;
    else high = middle;
  }
  int found = -1, count = 0;
  for (int i = low; i < num && ends[i].node == node; ++i, ++count)
    if (ends[i].segment != segment) found = ends[i].segment;
  return count == 2 ? found : -1;
}

static bool before(const double *a, const double *b) {
  return a[SEG_X] < b[SEG_X] || (a[SEG_X] == b[SEG_X] && a[SEG_Y] < b[SEG_Y]);
}

/* First of the segments that are left: an open end if there is one, the leftmost of those. */
static int first_segment(const segments *g, const segment_end *ends, const bool *done, int64_t *node) {
  int best = -1;
  bool best_open = false;
  for (int i = 0; i < g->num_all; ++i) {
    const double *seg = g->geometry + SEG_WIDTH * i;
    if (done[i]) continue;
    int64_t a = (int64_t)seg[SEG_A], b = (int64_t)seg[SEG_B];
    bool open_a = other_segment(ends, 2 * g->num_all, a, i) < 0,
         open_b = other_segment(ends, 2 * g->num_all, b, i) < 0;
    bool open = open_a || open_b;
    if (best >= 0 && (open != best_open ? !open : !before(seg, g->geometry + SEG_WIDTH * best))) continue;
    best = i;
    best_open = open;
    /* A closed boundary is walked towards its lower end first. */
    *node = open_a ? a : open_b ? b : seg[SEG_AY] > seg[SEG_BY] ? a : b;
  }
  return best;
}

/* Faces chained end to end: order [num_all] and distance of each centre from the start, pieces one after
 * another. */
static pcsim_status chain(const segments *g, int *order, double *distance) {
  segment_end *ends = NULL;
  bool *done = NULL;
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc(2 * (size_t)g->num_all, sizeof *ends, &ends), status, finish);
  PCSIM_GOTO(pcsim_alloc((size_t)g->num_all, sizeof *done, &done), status, finish);
  for (int i = 0; i < g->num_all; ++i) {
    ends[2 * i] = (segment_end){(int64_t)g->geometry[SEG_WIDTH * i + SEG_A], i};
    ends[2 * i + 1] = (segment_end){(int64_t)g->geometry[SEG_WIDTH * i + SEG_B], i};
  }
  if (g->num_all > 0) qsort(ends, 2 * (size_t)g->num_all, sizeof *ends, compare_ends);
  double length = 0.0;
  int64_t node = 0;
  for (int n = 0; n < g->num_all;) {
    int segment = first_segment(g, ends, done, &node);
    while (segment >= 0 && !done[segment]) {
      const double *seg = g->geometry + SEG_WIDTH * segment;
      double size = hypot(seg[SEG_BX] - seg[SEG_AX], seg[SEG_BY] - seg[SEG_AY]);
      done[segment] = true;
      order[n] = segment;
      distance[n++] = length + 0.5 * size;
      length += size;
      node = (int64_t)(node == (int64_t)seg[SEG_A] ? seg[SEG_B] : seg[SEG_A]);
      segment = other_segment(ends, 2 * g->num_all, node, segment);
    }
  }
finish:
  pcsim_free(&ends);
  pcsim_free(&done);
  return status;
}

/* ----------------------------------------------------------------- wall shear */

static const pcsim_key shear_keys[] = {
    {"kind", PCSIM_KEY_TEXT, "", "", "", "wall-shear", 0, 0},
    {"on", PCSIM_KEY_NAMES, NULL, "", "", "boundaries, names or patterns", 0, 0},
};

typedef struct {
  segments g;
  int *order;       /* [g.num_all] */
  double *distance; /* [g.num_all] along the boundary */
  bool wanted[];    /* [num_patches] */
} wall_shear;

static pcsim_status read_shear(pcsim_tree *tree, pcsim_monitors *monitors, monitor *m) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(monitors->mesh);
  PCSIM_TRY(pcsim_alloc(sizeof(wall_shear) + (size_t)mesh->num_patches * sizeof(bool), 1, &m->data));
  wall_shear *w = m->data;
  monitor_read_on(tree, monitors, m, w->wanted);
  PCSIM_TRY(monitor_add_quantity(monitors, m, "Pa", ".mean"));
  return monitor_add_quantity(monitors, m, "Pa", ".max");
}

static pcsim_status prepare_shear(pcsim_monitors *monitors, monitor *m) {
  wall_shear *w = m->data;
  if (pcsim_mesh_get(monitors->mesh)->dim != 2) return PCSIM_OK;
  PCSIM_TRY(segments_make(monitors->mesh, w->wanted, NULL, &w->g));
  pcsim_status status = pcsim_alloc((size_t)w->g.num_all, sizeof *w->order, &w->order);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)w->g.num_all, sizeof *w->distance, &w->distance);
  if (status == PCSIM_OK) status = chain(&w->g, w->order, w->distance);
  if (status == PCSIM_OK)
    status = monitors_add_curve(monitors, m->name, "s x y shear.x shear.y shear pressure", w->g.num_all,
                                &m->first_curve);
  return pcsim_status_agree(pcsim_mesh_comm(monitors->mesh), status);
}

static void fill_shear_curve(pcsim_monitors *monitors, const monitor *m, const pcsim_fields *fields) {
  wall_shear *w = m->data;
  segments_evaluate(monitors->mesh, fields, &w->g);
  const pcsim_curve *curve = &monitors->curve[m->first_curve];
  for (int i = 0; i < w->g.num_all; ++i) {
    const double *geometry = w->g.geometry + SEG_WIDTH * w->order[i],
                 *value = w->g.value + SHEAR_WIDTH * w->order[i];
    double *row = curve->values + (int64_t)i * curve->num_columns;
    row[0] = w->distance[i];
    row[1] = geometry[SEG_X];
    row[2] = geometry[SEG_Y];
    row[3] = value[SHEAR_X];
    row[4] = value[SHEAR_Y];
    row[5] = hypot(value[SHEAR_X], value[SHEAR_Y]);
    row[6] = value[SHEAR_P];
  }
}

static pcsim_status evaluate_shear(pcsim_monitors *monitors, monitor *m, const pcsim_fields *fields) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(monitors->mesh);
  wall_shear *w = m->data;
  double sum[2] = {0, 0}, most = 0.0;
  bool finite = true;
  for (int p = 0; p < mesh->num_patches; ++p)
    for (int64_t f = mesh->patch_start[p]; w->wanted[p] && f < mesh->patch_start[p + 1]; ++f) {
      double shear[3], size = shear_at(mesh, fields, f - mesh->num_interior_faces, shear);
      double magnitude = sqrt(shear[0] * shear[0] + shear[1] * shear[1] + shear[2] * shear[2]);
      sum[0] += size * magnitude;
      sum[1] += size;
      most = fmax(most, magnitude);
      finite = finite && isfinite(magnitude);
    }
  if (!finite) sum[0] = NAN;
  MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(monitors->mesh));
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, pcsim_mesh_comm(monitors->mesh));
  monitor_set(monitors, m, 0, sum[0] / sum[1]);
  monitor_set(monitors, m, 1, isfinite(sum[0]) ? most : NAN);
  if (mesh->dim == 2) fill_shear_curve(monitors, m, fields);
  return PCSIM_OK;
}

/* The magnitude grows along the shear itself. */
static void magnitude_back(const pcsim_mesh_view *mesh, const pcsim_fields *fields, int64_t b, double factor,
                           double *friction) {
  double shear[3], to[3];
  shear_at(mesh, fields, b, shear);
  const double magnitude = sqrt(shear[0] * shear[0] + shear[1] * shear[1] + shear[2] * shear[2]);
  if (!(magnitude > 0)) return; /* no derivative: 0 lies between those of both sides */
  shear_back(mesh, b, shear, to);
  for (int i = 0; i < 3; ++i) friction[3 * b + i] += factor * to[i] / magnitude;
}

static pcsim_status back_shear(const pcsim_tree *tree, pcsim_monitors *monitors, const monitor *m, int which,
                               const pcsim_fields *fields, pcsim_monitor_functional *f) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(monitors->mesh);
  const wall_shear *w = m->data;
  MPI_Comm comm = pcsim_mesh_comm(monitors->mesh);
  struct {
    double value;
    int rank;
  } most = {-1, 0};
  int64_t at = -1;
  double area = 0;
  int rank;
  (void)tree;
  MPI_Comm_rank(comm, &rank);
  most.rank = rank;
  for (int p = 0; p < mesh->num_patches; ++p)
    for (int64_t k = mesh->patch_start[p]; w->wanted[p] && k < mesh->patch_start[p + 1]; ++k) {
      double shear[3];
      area += shear_at(mesh, fields, k - mesh->num_interior_faces, shear);
      const double magnitude = sqrt(shear[0] * shear[0] + shear[1] * shear[1] + shear[2] * shear[2]);
      if (magnitude > most.value) most.value = magnitude, at = k - mesh->num_interior_faces;
    }
  MPI_Allreduce(MPI_IN_PLACE, &area, 1, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
  if (which == 1) {
    if (most.rank == rank && at >= 0) magnitude_back(mesh, fields, at, 1, f->friction);
    return PCSIM_OK;
  }
  for (int p = 0; p < mesh->num_patches; ++p)
    for (int64_t k = mesh->patch_start[p]; w->wanted[p] && k < mesh->patch_start[p + 1]; ++k) {
      const double *s = mesh->face_area + 3 * k;
      magnitude_back(mesh, fields, k - mesh->num_interior_faces,
                     sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]) / area, f->friction);
    }
  return PCSIM_OK;
}

static void clear_shear(monitor *m) {
  wall_shear *w = m->data;
  segments_clear(&w->g);
  pcsim_free(&w->order);
  pcsim_free(&w->distance);
}

const monitor_kind monitor_wall_shear = {
    {"wall-shear", "friction per area on boundaries", shear_keys, NUM(shear_keys),
     "NAME.mean, NAME.max (of the magnitude); in 2D the curve NAME along the boundary"},
    read_shear,
    prepare_shear,
    evaluate_shear,
    clear_shear,
    OF_FLOW,
    NULL,
    back_shear};

/* --------------------------------------------------------------- reattachment */

static const pcsim_key reattachment_keys[] = {
    {"kind", PCSIM_KEY_TEXT, "", "", "", "reattachment", 0, 0},
    {"on", PCSIM_KEY_NAMES, NULL, "", "", "boundaries, names or patterns", 0, 0},
    {"where", PCSIM_KEY_EXPRESSION, "", "", "",
     "condition in x, y that picks the straight piece, \"y < -0.49\"", 0, 0},
    {"direction", PCSIM_KEY_SEQUENCE, "", "", "", "direction of the main flow along it; x if not given", 0,
     0},
};

typedef struct {
  double place, low, high; /* along the direction: centre and ends of a face */
  int index;               /* in the gathered order */
} along;

typedef struct {
  segments g;
  pcsim_expr *where;
  along *face; /* [g.num_all] in order along the direction */
  double direction[3];
  int crossed[2]; /* faces before separation and reattachment of the last evaluation; -1: at an end, none */
  bool wanted[];  /* [num_patches] */
} reattachment;

static pcsim_status read_reattachment(pcsim_tree *tree, pcsim_monitors *monitors, monitor *m) {
  static const char *const names[3] = {"x", "y", "z"};
  const pcsim_mesh_view *mesh = pcsim_mesh_get(monitors->mesh);
  PCSIM_TRY(pcsim_alloc(sizeof(reattachment) + (size_t)mesh->num_patches * sizeof(bool), 1, &m->data));
  reattachment *r = m->data;
  if (mesh->dim != 2)
    pcsim_tree_problem(tree, m->node,
                       "monitor `%s`: reattachment is a point in two dimensions; this mesh has three",
                       m->name);
  monitor_read_on(tree, monitors, m, r->wanted);
  const pcsim_node *where = pcsim_node_get(m->node, "where");
  if (where && pcsim_node_text(where)[0]) (void)pcsim_node_as_expr(tree, where, names, 3, &r->where);
  r->direction[0] = 1.0;
  if (monitor_read_vector(tree, monitors, m->node, "direction", r->direction))
    monitor_unit_vector(tree, m->node, "direction", r->direction);
  PCSIM_TRY(monitor_add_quantity(monitors, m, "m", ".separation"));
  PCSIM_TRY(monitor_add_quantity(monitors, m, "m", ".reattachment"));
  return monitor_add_quantity(monitors, m, "m", ".length");
}

static int compare_along(const void *a, const void *b) {
  double x = ((const along *)a)->place, y = ((const along *)b)->place;
  return (x > y) - (x < y);
}

static pcsim_status prepare_reattachment(pcsim_monitors *monitors, monitor *m) {
  reattachment *r = m->data;
  PCSIM_TRY(segments_make(monitors->mesh, r->wanted, r->where, &r->g));
  pcsim_status status = pcsim_alloc((size_t)r->g.num_all, sizeof *r->face, &r->face);
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(monitors->mesh), status));
  for (int i = 0; i < r->g.num_all; ++i) {
    const double *seg = r->g.geometry + SEG_WIDTH * i, *d = r->direction;
    double a = seg[SEG_AX] * d[0] + seg[SEG_AY] * d[1], b = seg[SEG_BX] * d[0] + seg[SEG_BY] * d[1];
    r->face[i] = (along){0.5 * (a + b), fmin(a, b), fmax(a, b), i};
  }
  if (r->g.num_all > 0) qsort(r->face, (size_t)r->g.num_all, sizeof *r->face, compare_along);
  return PCSIM_OK;
}

static double shear_along(const reattachment *r, int i) {
  const double *value = r->g.value + SHEAR_WIDTH * r->face[i].index;
  return value[SHEAR_X] * r->direction[0] + value[SHEAR_Y] * r->direction[1];
}

/* Where the shear changes sign between faces i and i + 1, linear between the centres. */
static double crossing(const reattachment *r, int i) {
  double a = shear_along(r, i), b = shear_along(r, i + 1);
  return r->face[i].place + (r->face[i + 1].place - r->face[i].place) * a / (a - b);
}

/* The bubble: the longest piece with shear against the direction. One that begins with the wall separates at
 * its begin; one that reaches the end of the wall does not reattach. */
static pcsim_status evaluate_reattachment(pcsim_monitors *monitors, monitor *m, const pcsim_fields *fields) {
  reattachment *r = m->data;
  double best[2] = {NAN, NAN}, longest = -1.0;
  r->crossed[0] = r->crossed[1] = -1;
  segments_evaluate(monitors->mesh, fields, &r->g);
  int n = r->g.num_all;
  for (int i = 0; i < n;) {
    if (!(shear_along(r, i) < 0.0)) {
      ++i;
      continue;
    }
    int last = i;
    while (last + 1 < n && shear_along(r, last + 1) < 0.0) ++last;
    double low = i == 0 ? r->face[0].low : crossing(r, i - 1);
    double high = last == n - 1 ? r->face[last].high : crossing(r, last);
    if (high - low > longest) {
      longest = high - low;
      best[0] = low;
      r->crossed[0] = i - 1;
      r->crossed[1] = last == n - 1 ? -1 : last;
      best[1] = last == n - 1 ? NAN : high;
    }
    i = last + 1;
  }
  monitor_set(monitors, m, 0, best[0]);
  monitor_set(monitors, m, 1, best[1]);
  monitor_set(monitors, m, 2, best[1] - best[0]);
  return PCSIM_OK;
}

/* A crossing moves with the shear on the two faces around it, on whichever ranks they lie. */
static void crossing_back(const pcsim_mesh *mesh, const reattachment *r, int i, double factor,
                          double *friction) {
  const double a = shear_along(r, i), b = shear_along(r, i + 1),
               gap = r->face[i + 1].place - r->face[i].place;
  const double by[2] = {-gap * b / ((a - b) * (a - b)), gap * a / ((a - b) * (a - b))};
  int rank;
  MPI_Comm_rank(pcsim_mesh_comm(mesh), &rank);
  for (int k = 0; k < 2; ++k) {
    const int local = r->face[i + k].index - r->g.start[rank];
    double to[3];
    if (local < 0 || local >= r->g.num_local) continue;
    shear_back(pcsim_mesh_get(mesh), r->g.face[local], r->direction, to);
    for (int j = 0; j < 3; ++j) friction[3 * r->g.face[local] + j] += factor * by[k] * to[j];
  }
}

static pcsim_status back_reattachment(const pcsim_tree *tree, pcsim_monitors *monitors, const monitor *m,
                                      int which, const pcsim_fields *fields, pcsim_monitor_functional *f) {
  const reattachment *r = m->data;
  (void)tree, (void)fields;
  if (which != 1 && r->crossed[0] >= 0)
    crossing_back(monitors->mesh, r, r->crossed[0], which == 0 ? 1 : -1, f->friction);
  if (which != 0 && r->crossed[1] >= 0) crossing_back(monitors->mesh, r, r->crossed[1], 1, f->friction);
  return PCSIM_OK;
}

static void clear_reattachment(monitor *m) {
  reattachment *r = m->data;
  segments_clear(&r->g);
  pcsim_expr_destroy(&r->where);
  pcsim_free(&r->face);
}

const monitor_kind monitor_reattachment = {
    {"reattachment",
     "separation and reattachment along a straight wall: the ends of its longest piece with backflow",
     reattachment_keys, NUM(reattachment_keys),
     "NAME.separation, NAME.reattachment (along the direction), NAME.length"},
    read_reattachment,
    prepare_reattachment,
    evaluate_reattachment,
    clear_reattachment,
    OF_FLOW,
    NULL,
    back_reattachment};
