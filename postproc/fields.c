/* SPDX-License-Identifier: BSD-2-Clause */
/* Field and surface files: VTKHDF 1.0 unstructured grids, one piece a rank. ParaView 5.11 reads no later
 * version, and chooses the reader by the ending `.hdf`. */
#include "hdf.h"
#include "text.h"

#include <math.h>
#include <pcsim/postproc.h>
#include <string.h>

/* One rank's piece of a grid. Connectivity counts from 0 in each piece. */
typedef struct {
  int64_t num_points, num_cells, num_ids;
  const double *points; /* [num_points][3] */
  int64_t *ids;         /* [num_ids] */
  int64_t *offsets;     /* [num_cells + 1] */
  uint8_t *types;       /* [num_cells] VTK numbers */
} grid_piece;

static void piece_free(grid_piece *piece) {
  pcsim_free(&piece->ids);
  pcsim_free(&piece->offsets);
  pcsim_free(&piece->types);
}

static pcsim_status piece_alloc(grid_piece *piece) {
  PCSIM_TRY(pcsim_alloc((size_t)piece->num_ids, sizeof *piece->ids, &piece->ids));
  PCSIM_TRY(pcsim_alloc((size_t)piece->num_cells + 1, sizeof *piece->offsets, &piece->offsets));
  PCSIM_TRY(pcsim_alloc((size_t)piece->num_cells, sizeof *piece->types, &piece->types));
  return PCSIM_OK;
}

static int64_t sum_over_ranks(MPI_Comm comm, int64_t n) {
  MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT64_T, MPI_SUM, comm);
  return n;
}

static int64_t piece_bytes(const grid_piece *piece, const pcsim_field *fields, int n) {
  int64_t bytes = piece->num_points * 24 + piece->num_ids * 8 + piece->num_cells * 9 + 4096;
  for (int i = 0; i < n; i++) bytes += piece->num_cells * 8 * fields[i].components + 1024;
  return bytes;
}

static pcsim_status write_grid(hdf_file *file, hid_t group, const grid_piece *piece) {
  const int64_t version[2] = {1, 0};
  pcsim_status status = hdf_attribute_int(group, "Version", version, 2);
  if (status == PCSIM_OK) status = hdf_attribute_text(group, "Type", "UnstructuredGrid");
  PCSIM_TRY(pcsim_status_agree(file->comm, status));
  const hid_t i64 = H5T_NATIVE_INT64, i64le = H5T_STD_I64LE;
  PCSIM_TRY(hdf_write(file, group, "NumberOfPoints", i64, i64le, 1, 0, &piece->num_points));
  PCSIM_TRY(hdf_write(file, group, "NumberOfCells", i64, i64le, 1, 0, &piece->num_cells));
  PCSIM_TRY(hdf_write(file, group, "NumberOfConnectivityIds", i64, i64le, 1, 0, &piece->num_ids));
  PCSIM_TRY(hdf_write(file, group, "Points", H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE, piece->num_points, 3,
                      piece->points));
  PCSIM_TRY(hdf_write(file, group, "Connectivity", i64, i64le, piece->num_ids, 0, piece->ids));
  PCSIM_TRY(hdf_write(file, group, "Offsets", i64, i64le, piece->num_cells + 1, 0, piece->offsets));
  PCSIM_TRY(
      hdf_write(file, group, "Types", H5T_NATIVE_UCHAR, H5T_STD_U8LE, piece->num_cells, 0, piece->types));
  return PCSIM_OK;
}

static pcsim_status write_cell_data(hdf_file *file, hid_t group, int64_t num_cells, const pcsim_field *fields,
                                    int n) {
  for (int i = 0; i < n; i++)
    PCSIM_TRY(hdf_write(file, group, fields[i].name, H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE, num_cells,
                        fields[i].components > 1 ? fields[i].components : 0, fields[i].values));
  return PCSIM_OK;
}

static pcsim_status check_fields(const pcsim_field *fields, int n) {
  for (int i = 0; i < n; i++) {
    const pcsim_field *f = &fields[i];
    PCSIM_CHECK(f->name && f->name[0] && !strchr(f->name, '/'), PCSIM_ERR_ARG,
                "field %d has no usable name ('%s')", i, f->name ? f->name : "");
    PCSIM_CHECK(f->components == 1 || f->components == 3, PCSIM_ERR_ARG,
                "field '%s' has %d components; expected 1 or 3", f->name, f->components);
    for (int j = 0; j < i; j++)
      PCSIM_CHECK(strcmp(f->name, fields[j].name) != 0, PCSIM_ERR_ARG, "two fields are named '%s'", f->name);
  }
  return PCSIM_OK;
}

static pcsim_status volume_piece(const pcsim_mesh_view *m, grid_piece *piece) {
  *piece = (grid_piece){.num_points = m->num_nodes,
                        .num_cells = m->num_cells,
                        .num_ids = m->num_cells > 0 ? m->cell_node_start[m->num_cells] : 0,
                        .points = m->node};
  PCSIM_TRY(piece_alloc(piece));
  for (int64_t i = 0; i < piece->num_ids; i++) piece->ids[i] = m->cell_node[i];
  for (int64_t c = 0; c < m->num_cells; c++) {
    piece->offsets[c + 1] = m->cell_node_start[c + 1];
    piece->types[c] = (uint8_t)pcsim_cell_vtk_type(m->cell_type[c]);
  }
  return PCSIM_OK;
}

pcsim_status pcsim_write_fields(const pcsim_mesh *mesh, const pcsim_field *fields, int n, const char *path) {
  MPI_Comm comm = pcsim_mesh_comm(mesh);
  grid_piece piece = {0};
  hdf_file file;
  hid_t group, data;
  pcsim_status status = check_fields(fields, n);
  if (status == PCSIM_OK) status = volume_piece(pcsim_mesh_get(mesh), &piece);
  PCSIM_GOTO(pcsim_status_agree(comm, status), status, done);
  PCSIM_GOTO(hdf_create(comm, path, sum_over_ranks(comm, piece_bytes(&piece, fields, n)), &file), status,
             done);
  status = hdf_group(&file, file.file, "VTKHDF", &group);
  if (status == PCSIM_OK) status = write_grid(&file, group, &piece);
  if (status == PCSIM_OK) status = hdf_group(&file, group, "CellData", &data);
  if (status == PCSIM_OK) status = write_cell_data(&file, data, piece.num_cells, fields, n);
  status = hdf_finish(&file, status);
done:
  piece_free(&piece);
  return status;
}

/* ---------------------------------------------------------------- surface */

/* The wanted boundary faces of one rank, their own nodes, and room for one field at a time. */
typedef struct {
  grid_piece piece;
  double *points;
  int64_t *face;  /* [num_cells] boundary face (from 0) */
  int32_t *patch; /* [num_cells] */
  double *values; /* [num_cells][3] */
} surface_piece;

static void surface_free(surface_piece *s) {
  piece_free(&s->piece);
  pcsim_free(&s->points);
  pcsim_free(&s->face);
  pcsim_free(&s->patch);
  pcsim_free(&s->values);
}

static int64_t count_faces(const pcsim_mesh_view *m, const bool *wanted, int64_t *num_ids) {
  int64_t faces = 0;
  *num_ids = 0;
  for (int p = 0; p < m->num_patches; p++) {
    if (wanted && !wanted[p]) continue;
    faces += m->patch_start[p + 1] - m->patch_start[p];
    *num_ids += m->face_node_start[m->patch_start[p + 1]] - m->face_node_start[m->patch_start[p]];
  }
  return faces;
}

/* Lines in 2D; triangles, quads or polygons in 3D. */
static uint8_t face_type(int64_t nodes) { return nodes == 2 ? 3 : nodes == 3 ? 5 : nodes == 4 ? 9 : 7; }

/* Number the nodes the faces use in the order they are met. `local` [num_nodes] is 0 for "not met". */
static void fill_surface(const pcsim_mesh_view *m, const bool *wanted, int64_t *local, surface_piece *s) {
  int64_t face = 0, id = 0;
  for (int p = 0; p < m->num_patches; p++) {
    if (wanted && !wanted[p]) continue;
    for (int64_t f = m->patch_start[p]; f < m->patch_start[p + 1]; f++, face++) {
      for (int64_t k = m->face_node_start[f]; k < m->face_node_start[f + 1]; k++) {
        int32_t node = m->face_node[k];
        if (local[node] == 0) {
          local[node] = ++s->piece.num_points;
          memcpy(s->points + 3 * (local[node] - 1), m->node + 3 * (int64_t)node, 3 * sizeof(double));
        }
        s->piece.ids[id++] = local[node] - 1;
      }
      s->piece.offsets[face + 1] = id;
      s->piece.types[face] = face_type(m->face_node_start[f + 1] - m->face_node_start[f]);
      s->face[face] = f - m->num_interior_faces;
      s->patch[face] = p;
    }
  }
}

static pcsim_status surface_make(const pcsim_mesh_view *m, const bool *wanted, surface_piece *s) {
  s->piece.num_cells = count_faces(m, wanted, &s->piece.num_ids);
  PCSIM_TRY(piece_alloc(&s->piece));
  size_t n = (size_t)s->piece.num_cells;
  PCSIM_TRY(pcsim_alloc(n, sizeof *s->face, &s->face));
  PCSIM_TRY(pcsim_alloc(n, sizeof *s->patch, &s->patch));
  PCSIM_TRY(pcsim_alloc(3 * n, sizeof *s->values, &s->values));
  /* Never more nodes than ids. */
  PCSIM_TRY(pcsim_alloc(3 * (size_t)s->piece.num_ids, sizeof *s->points, &s->points));
  int64_t *local = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)m->num_nodes, sizeof *local, &local));
  fill_surface(m, wanted, local, s);
  s->piece.points = s->points;
  pcsim_free(&local);
  return PCSIM_OK;
}

static pcsim_status write_own_arrays(hdf_file *file, hid_t data, const pcsim_mesh_view *m, surface_piece *s) {
  const int64_t n = s->piece.num_cells;
  const double *area = m->face_area + 3 * m->num_interior_faces;
  for (int64_t i = 0; i < n; i++) {
    const double *a = area + 3 * s->face[i];
    s->values[i] = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
  }
  PCSIM_TRY(hdf_write(file, data, "area", H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE, n, 0, s->values));
  for (int64_t i = 0; i < n; i++) {
    const double *a = area + 3 * s->face[i];
    double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    for (int k = 0; k < 3; k++) s->values[3 * i + k] = length > 0 ? a[k] / length : 0;
  }
  PCSIM_TRY(hdf_write(file, data, "normal", H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE, n, 3, s->values));
  PCSIM_TRY(hdf_write(file, data, "patch", H5T_NATIVE_INT32, H5T_STD_I32LE, n, 0, s->patch));
  return PCSIM_OK;
}

static pcsim_status write_face_fields(hdf_file *file, hid_t data, const pcsim_face_field *fields, int n,
                                      surface_piece *s) {
  for (int i = 0; i < n; i++) {
    int w = fields[i].components;
    for (int64_t j = 0; j < s->piece.num_cells; j++)
      for (int k = 0; k < w; k++) s->values[w * j + k] = fields[i].values[w * s->face[j] + k];
    PCSIM_TRY(hdf_write(file, data, fields[i].name, H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE, s->piece.num_cells,
                        w > 1 ? w : 0, s->values));
  }
  return PCSIM_OK;
}

/* Names of the patches, from rank 0, as fixed-length strings. */
static pcsim_status write_patch_names(hdf_file *file, const pcsim_mesh_view *m) {
  size_t width = 1;
  for (int p = 0; p < m->num_patches; p++)
    if (strlen(m->patch_name[p]) + 1 > width) width = strlen(m->patch_name[p]) + 1;
  char *names = NULL;
  pcsim_status status = pcsim_alloc((size_t)m->num_patches * width, 1, &names);
  hid_t group = H5I_INVALID_HID, type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, width);
  if (status == PCSIM_OK)
    for (int p = 0; p < m->num_patches; p++) strcpy(names + (size_t)p * width, m->patch_name[p]);
  status = pcsim_status_agree(file->comm, status);
  if (status == PCSIM_OK) status = hdf_group(file, file->file, "pcsim", &group);
  if (status == PCSIM_OK)
    status = hdf_write(file, group, "patches", type, type, file->rank == 0 ? m->num_patches : 0, 0, names);
  if (group >= 0) H5Gclose(group);
  H5Tclose(type);
  pcsim_free(&names);
  return status;
}

pcsim_status pcsim_write_surface(const pcsim_mesh *mesh, const bool *wanted, const pcsim_face_field *fields,
                                 int n, const char *path) {
  const pcsim_mesh_view *m = pcsim_mesh_get(mesh);
  MPI_Comm comm = pcsim_mesh_comm(mesh);
  surface_piece s = {0};
  hdf_file file;
  hid_t group, data;
  pcsim_status status = check_fields(fields, n);
  for (int i = 0; status == PCSIM_OK && i < n; i++)
    if (!strcmp(fields[i].name, "area") || !strcmp(fields[i].name, "normal") ||
        !strcmp(fields[i].name, "patch"))
      status = pcsim_error_set(PCSIM_ERR_ARG, __FILE__, __LINE__, __func__,
                               "a surface file adds '%s' by itself", fields[i].name);
  if (status == PCSIM_OK) status = surface_make(m, wanted, &s);
  PCSIM_GOTO(pcsim_status_agree(comm, status), status, done);
  int64_t bytes = piece_bytes(&s.piece, fields, n) + s.piece.num_cells * 36;
  PCSIM_GOTO(hdf_create(comm, path, sum_over_ranks(comm, bytes), &file), status, done);
  status = hdf_group(&file, file.file, "VTKHDF", &group);
  if (status == PCSIM_OK) status = write_grid(&file, group, &s.piece);
  if (status == PCSIM_OK) status = hdf_group(&file, group, "CellData", &data);
  if (status == PCSIM_OK) status = write_own_arrays(&file, data, m, &s);
  if (status == PCSIM_OK) status = write_face_fields(&file, data, fields, n, &s);
  if (status == PCSIM_OK) status = write_patch_names(&file, m);
  status = hdf_finish(&file, status);
done:
  surface_free(&s);
  return status;
}

pcsim_status pcsim_write_series(const char *path, const char *const *names, const double *times, int n) {
  text_buffer text = {0};
  text_add(&text, "{\"file-series-version\": \"1.0\", \"files\": [");
  for (int i = 0; i < n; i++) {
    text_add(&text, "%s\n  {\"name\": ", i ? "," : "");
    text_add_json_string(&text, names[i]);
    text_add(&text, ", \"time\": ");
    text_add_json_number(&text, times[i]);
    text_add(&text, "}");
  }
  text_add(&text, "\n]}\n");
  pcsim_status status = text.status;
  if (status == PCSIM_OK) status = pcsim_file_write(path, text.data, text.size);
  text_free(&text);
  return status;
}
