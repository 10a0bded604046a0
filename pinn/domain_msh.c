/* SPDX-License-Identifier: BSD-2-Clause */
/* The domain of a mesh file: what its boundary faces enclose. */
#include "domain_reader.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pcsim_status make_raw(const pcsim_mesh_spec *spec, pcsim_raw_mesh **raw) {
  char *path = NULL;
  PCSIM_TRY(pcsim_temporary_make(false, &path));
  pcsim_status status = pcsim_mesh_spec_generate(spec, path, NULL);
  if (status == PCSIM_OK) status = pcsim_raw_mesh_read(path, raw);
  unlink(path);
  pcsim_free(&path);
  return status;
}

/** Segments of an edge, triangles of a face. */
static int num_elements(const pcsim_mesh_view *m, int64_t f) {
  return m->face_node_start[f + 1] - m->face_node_start[f] == 4 ? 4 : 1;
}

/** The elements of a boundary face, what is outside on the right of segments, in front of triangles; a face
 * with four nodes is four triangles around their mean, as everywhere in meshes. */
static void add_elements(const pcsim_mesh_view *m, int64_t f, double *to) {
  const int32_t *node = m->face_node + m->face_node_start[f];
  const int n = (int)(m->face_node_start[f + 1] - m->face_node_start[f]), dim = m->dim;
  const double *x[4];
  double mean[3] = {0};
  for (int k = 0; k < n; k++) {
    x[k] = m->node + 3 * (int64_t)node[k];
    for (int i = 0; i < 3; i++) mean[i] += x[k][i] / n;
  }
  if (dim == 2) {
    const double *area = m->face_area + 3 * f;
    const bool turned = (x[1][1] - x[0][1]) * area[0] - (x[1][0] - x[0][0]) * area[1] < 0;
    memcpy(to, x[turned], 2 * sizeof *to);
    memcpy(to + 2, x[!turned], 2 * sizeof *to);
  } else if (n == 3) {
    for (int k = 0; k < 3; k++) memcpy(to + 3 * k, x[k], 3 * sizeof *to);
  } else
    for (int k = 0; k < 4; k++, to += 9) {
      memcpy(to, x[k], 3 * sizeof *to);
      memcpy(to + 3, x[(k + 1) % 4], 3 * sizeof *to);
      memcpy(to + 6, mean, 3 * sizeof *to);
    }
}

static pcsim_status enclose(const pcsim_mesh_view *m, surface **s) {
  const int64_t first = m->num_interior_faces;
  const int size = m->dim * m->dim;
  int64_t num = 0;
  double *corners = NULL;
  int32_t *patch = NULL;
  pcsim_status status = PCSIM_OK;
  for (int64_t f = first; f < m->num_faces; f++) num += num_elements(m, f);
  PCSIM_GOTO(pcsim_alloc((size_t)(num * size), sizeof *corners, &corners), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)num, sizeof *patch, &patch), status, done);
  num = 0;
  for (int p = 0; p < m->num_patches; p++)
    for (int64_t f = m->patch_start[p]; f < m->patch_start[p + 1]; f++) {
      add_elements(m, f, corners + num * size);
      for (int k = 0; k < num_elements(m, f); k++) patch[num++] = p;
    }
  status = surface_create(m->dim, num, corners, patch, m->num_patches, s);
done:
  pcsim_free(&patch);
  pcsim_free(&corners);
  return status;
}

/** The solid with its patches as boundaries. */
static bool add_mesh(reader *r, const pcsim_node *at, const pcsim_mesh_view *m, solid *s) {
  static const char *const names[] = {"x", "y", "z"};
  double low[3], high[3];
  s->kind = SOLID_SURFACE;
  surface_box(s->surface, low, high);
  for (int i = 0; i < m->dim; i++) {
    if (!reader_add_space(r, at, names[i])) return false;
    s->bounded[i] = true;
    s->low[i] = r->range[i][0] = low[i];
    s->high[i] = r->range[i][1] = high[i];
  }
  r->status = pcsim_alloc((size_t)m->num_patches, sizeof *s->patch_piece, &s->patch_piece);
  for (int p = 0; r->status == PCSIM_OK && p < m->num_patches; p++)
    if (!reader_add_piece(r, at, m->patch_name[p], &s->patch_piece[p])) return false;
  return r->status == PCSIM_OK;
}

bool reader_msh(reader *r, const pcsim_node *at, const pcsim_mesh_spec *spec, int *result) {
  pcsim_raw_mesh *raw = NULL;
  pcsim_mesh *mesh = NULL;
  solid s = {.kind = SOLID_BOX};
  bool right = false;
  pcsim_status status = make_raw(spec, &raw);
  if (status == PCSIM_OK) {
    raw->num_periodic = 0; /* the boundary is whole for a network, whatever is the same on its parts */
    status = pcsim_mesh_create(MPI_COMM_SELF, raw, &mesh);
  }
  if (status == PCSIM_OK) status = enclose(pcsim_mesh_get(mesh), &s.surface);
  if (status == PCSIM_ERR_CASE || status == PCSIM_ERR_MESH) {
    pcsim_tree_problem(r->tree, at, "%s", pcsim_error_message());
    pcsim_error_clear();
  } else if (status != PCSIM_OK) r->status = status;
  else right = add_mesh(r, at, pcsim_mesh_get(mesh), &s) && reader_add_solid(r, at, &s, result);
  if (!right) {
    surface_destroy(&s.surface);
    pcsim_free(&s.patch_piece);
  }
  pcsim_mesh_destroy(&mesh);
  pcsim_raw_mesh_destroy(&raw);
  return right;
}
