/* SPDX-License-Identifier: BSD-2-Clause */
/** @file triangles.c  Squares cut into triangles, their faces and least squares. */
#include "triangles.h"

#include <math.h>

enum { STRIP = 32, MAX_NEAR = 64 };

/** Cells around nodes. */
typedef struct {
  int64_t *start;
  int32_t *cell;
} around;

static double noise(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return 2 * (double)(*state >> 11) * 0x1p-53 - 1;
}

static pcsim_status create_nodes(int side, triangles *m) {
  uint64_t state = 7;
  const int n = side + 1;
  m->num_nodes = (int64_t)n * n;
  PCSIM_TRY(pcsim_alloc((size_t)m->num_nodes * 2, sizeof *m->node, &m->node));
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      double *at = m->node + 2 * ((int64_t)j * n + i);
      const double a = noise(&state), b = noise(&state);
      at[0] = (i + (i > 0 && i < side ? 0.25 * a : 0)) / side;
      at[1] = (j + (j > 0 && j < side ? 0.25 * b : 0)) / side;
    }
  return PCSIM_OK;
}

static void cut_square(int side, int i, int j, bool rising, int32_t *corner) {
  const int32_t a = (int32_t)(j * (side + 1) + i), b = a + 1, c = a + side + 2, d = a + side + 1;
  const int32_t both[2][6] = {{a, b, d, b, c, d}, {a, b, c, a, c, d}};
  for (int k = 0; k < 6; k++) corner[k] = both[rising][k];
}

static pcsim_status create_cells(int side, triangles *m) {
  uint64_t state = 3;
  m->num_cells = 2 * (int64_t)side * side;
  const size_t n = (size_t)m->num_cells;
  PCSIM_TRY(pcsim_alloc(3 * n, sizeof *m->corner, &m->corner));
  PCSIM_TRY(pcsim_alloc(2 * n, sizeof *m->centre, &m->centre));
  PCSIM_TRY(pcsim_alloc(n, sizeof *m->volume, &m->volume));
  PCSIM_TRY(pcsim_alloc(6 * n, sizeof *m->reach, &m->reach));
  int32_t *corner = m->corner;
  for (int strip = 0; strip < side; strip += STRIP)
    for (int j = 0; j < side; j++)
      for (int i = strip; i < strip + STRIP && i < side; i++, corner += 6)
        cut_square(side, i, j, noise(&state) > 0, corner);
  for (int64_t c = 0; c < m->num_cells; c++) {
    const double *p[3];
    for (int k = 0; k < 3; k++) p[k] = m->node + 2 * m->corner[3 * c + k];
    for (int d = 0; d < 2; d++) m->centre[2 * c + d] = (p[0][d] + p[1][d] + p[2][d]) / 3;
    m->volume[c] =
        0.5 * ((p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]));
    for (int k = 0; k < 3; k++)
      for (int d = 0; d < 2; d++)
        m->reach[6 * c + 2 * k + d] = 0.5 * (p[k][d] + p[(k + 1) % 3][d]) - m->centre[2 * c + d];
  }
  return PCSIM_OK;
}

static pcsim_status create_around(const triangles *m, around *a) {
  PCSIM_TRY(pcsim_alloc((size_t)m->num_nodes + 2, sizeof *a->start, &a->start));
  PCSIM_TRY(pcsim_alloc((size_t)m->num_cells * 3, sizeof *a->cell, &a->cell));
  for (int64_t i = 0; i < 3 * m->num_cells; i++) a->start[m->corner[i] + 2]++;
  for (int64_t i = 2; i <= m->num_nodes + 1; i++) a->start[i] += a->start[i - 1];
  for (int64_t i = 0; i < 3 * m->num_cells; i++) a->cell[a->start[m->corner[i] + 1]++] = (int32_t)(i / 3);
  return PCSIM_OK;
}

/** Cells that share a node with c, ascending, without c; returns their number. */
static int find_near(const triangles *m, const around *a, int64_t c, int32_t near[MAX_NEAR]) {
  int n = 0;
  for (int k = 0; k < 3; k++) {
    const int32_t v = m->corner[3 * c + k];
    for (int64_t i = a->start[v]; i < a->start[v + 1]; i++) {
      const int32_t other = a->cell[i];
      int at = 0;
      while (at < n && near[at] < other) at++;
      if (other == c || (at < n && near[at] == other)) continue;
      for (int j = n++; j > at; j--) near[j] = near[j - 1];
      near[at] = other;
    }
  }
  return n;
}

static void fit(const triangles *m, int64_t c, const int32_t *near, int n, double *weight) {
  double xx = 0, xy = 0, yy = 0, *own = weight + 2 * n;
  for (int i = 0; i < n; i++) {
    const double x = m->centre[2 * near[i]] - m->centre[2 * c],
                 y = m->centre[2 * near[i] + 1] - m->centre[2 * c + 1], w = 1 / (x * x + y * y);
    xx += w * x * x, xy += w * x * y, yy += w * y * y;
    weight[2 * i] = w * x, weight[2 * i + 1] = w * y;
  }
  const double det = xx * yy - xy * xy;
  own[0] = own[1] = 0;
  for (int i = 0; i < n; i++) {
    const double x = weight[2 * i], y = weight[2 * i + 1];
    own[0] -= weight[2 * i] = (yy * x - xy * y) / det;
    own[1] -= weight[2 * i + 1] = (xx * y - xy * x) / det;
  }
}

static pcsim_status create_gradient(triangles *m, const around *a) {
  int32_t near[MAX_NEAR];
  PCSIM_TRY(pcsim_alloc((size_t)m->num_cells + 1, sizeof *m->start, &m->start));
  for (int64_t c = 0; c < m->num_cells; c++) m->start[c + 1] = m->start[c] + find_near(m, a, c, near) + 1;
  const size_t entries = (size_t)m->start[m->num_cells];
  PCSIM_TRY(pcsim_alloc(entries, sizeof *m->column, &m->column));
  PCSIM_TRY(pcsim_alloc(2 * entries, sizeof *m->weight, &m->weight));
  for (int64_t c = 0; c < m->num_cells; c++) {
    const int n = find_near(m, a, c, near);
    for (int i = 0; i < n; i++) m->column[m->start[c] + i] = near[i];
    m->column[m->start[c] + n] = (int32_t)c;
    fit(m, c, near, n, m->weight + 2 * m->start[c]);
  }
  return PCSIM_OK;
}

/** The cell beyond side k of c, -1: none. */
static int32_t find_beyond(const triangles *m, const around *a, int64_t c, int k) {
  const int32_t p = m->corner[3 * c + k], q = m->corner[3 * c + (k + 1) % 3];
  for (int64_t i = a->start[p]; i < a->start[p + 1]; i++)
    for (int j = 0; j < 3; j++)
      if (a->cell[i] != c && m->corner[3 * a->cell[i] + j] == q) return a->cell[i];
  return -1;
}

/** Middle of side k from the centre of c; area vector out of c. */
static void find_side(const triangles *m, int64_t c, int k, double middle[2], double area[2]) {
  const double *p = m->node + 2 * m->corner[3 * c + k], *q = m->node + 2 * m->corner[3 * c + (k + 1) % 3];
  for (int d = 0; d < 2; d++) middle[d] = m->reach[6 * c + 2 * k + d];
  area[0] = q[1] - p[1];
  area[1] = p[0] - q[0];
}

static void put_face(triangles *m, int64_t c, int k, int32_t beyond) {
  double middle[2], area[2];
  find_side(m, c, k, middle, area);
  const double size = area[0] * area[0] + area[1] * area[1];
  if (beyond < 0) {
    double *w = m->wall + 5 * m->num_walls;
    m->inside[m->num_walls++] = (int32_t)c;
    for (int d = 0; d < 2; d++) w[d] = middle[d], w[2 + d] = area[d];
    w[4] = size / (area[0] * middle[0] + area[1] * middle[1]);
    return;
  }
  double *f = m->face + 7 * m->num_faces;
  m->owner[m->num_faces] = (int32_t)c;
  m->neighbour[m->num_faces++] = beyond;
  for (int d = 0; d < 2; d++) {
    f[d] = middle[d];
    f[2 + d] = middle[d] + m->centre[2 * c + d] - m->centre[2 * (int64_t)beyond + d];
    f[4 + d] = area[d];
  }
  f[6] = size / (area[0] * (f[0] - f[2]) + area[1] * (f[1] - f[3]));
}

static pcsim_status create_faces(triangles *m, const around *a, int side) {
  const size_t faces = (size_t)(3 * m->num_cells - 4 * (int64_t)side) / 2, walls = 4 * (size_t)side;
  PCSIM_TRY(pcsim_alloc(faces, sizeof *m->owner, &m->owner));
  PCSIM_TRY(pcsim_alloc(faces, sizeof *m->neighbour, &m->neighbour));
  PCSIM_TRY(pcsim_alloc(7 * faces, sizeof *m->face, &m->face));
  PCSIM_TRY(pcsim_alloc(walls, sizeof *m->inside, &m->inside));
  PCSIM_TRY(pcsim_alloc(5 * walls, sizeof *m->wall, &m->wall));
  for (int64_t c = 0; c < m->num_cells; c++)
    for (int k = 0; k < 3; k++) {
      const int32_t beyond = find_beyond(m, a, c, k);
      if (beyond < 0 || beyond > c) put_face(m, c, k, beyond);
    }
  return PCSIM_OK;
}

static pcsim_status create_sides(triangles *m) {
  PCSIM_TRY(pcsim_alloc((size_t)m->num_cells + 2, sizeof *m->side_start, &m->side_start));
  PCSIM_TRY(pcsim_alloc(2 * (size_t)m->num_faces, sizeof *m->side_face, &m->side_face));
  PCSIM_TRY(pcsim_alloc(2 * (size_t)m->num_faces, sizeof *m->side_sign, &m->side_sign));
  for (int64_t f = 0; f < m->num_faces; f++) {
    m->side_start[m->owner[f] + 2]++;
    m->side_start[m->neighbour[f] + 2]++;
  }
  for (int64_t c = 2; c <= m->num_cells + 1; c++) m->side_start[c] += m->side_start[c - 1];
  for (int64_t f = 0; f < m->num_faces; f++)
    for (int k = 0; k < 2; k++) {
      const int64_t at = m->side_start[(k ? m->neighbour[f] : m->owner[f]) + 1]++;
      m->side_face[at] = (int32_t)f;
      m->side_sign[at] = k ? -1 : 1;
    }
  return PCSIM_OK;
}

static pcsim_status create(int side, triangles *m, around *a) {
  PCSIM_TRY(create_nodes(side, m));
  PCSIM_TRY(create_cells(side, m));
  PCSIM_TRY(create_around(m, a));
  PCSIM_TRY(create_gradient(m, a));
  PCSIM_TRY(create_faces(m, a, side));
  return create_sides(m);
}

pcsim_status triangles_create(int side, triangles *mesh) {
  around a = {0};
  *mesh = (triangles){0};
  const pcsim_status status = create(side, mesh, &a);
  pcsim_free(&a.start);
  pcsim_free(&a.cell);
  if (status != PCSIM_OK) triangles_destroy(mesh);
  return status;
}

void triangles_destroy(triangles *m) {
  pcsim_free(&m->node);
  pcsim_free(&m->corner);
  pcsim_free(&m->centre);
  pcsim_free(&m->volume);
  pcsim_free(&m->reach);
  pcsim_free(&m->start);
  pcsim_free(&m->column);
  pcsim_free(&m->weight);
  pcsim_free(&m->owner);
  pcsim_free(&m->neighbour);
  pcsim_free(&m->face);
  pcsim_free(&m->inside);
  pcsim_free(&m->wall);
  pcsim_free(&m->side_start);
  pcsim_free(&m->side_face);
  pcsim_free(&m->side_sign);
}
