/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of a raw mesh and their messages. Cells are counted from 1 in messages, as the first cell of a
 * file is; coordinates say where to look. */
#include "connect.h"

#include <math.h>
#include <stdio.h>

int pcsim_side_nodes(const pcsim_raw_mesh *raw, uint32_t side, int32_t nodes[4]) {
  if (!pcsim_side_is_facet(side)) {
    int64_t cell = pcsim_side_cell(side);
    return pcsim_cell_face_nodes(raw->cell_type[cell], raw->cell_nodes + raw->cell_start[cell],
                                 pcsim_side_face(side), nodes);
  }
  int64_t facet = pcsim_side_facet(side), start = raw->facet_start[facet];
  int n = (int)(raw->facet_start[facet + 1] - start);
  for (int i = 0; i < n; i++) nodes[i] = raw->facet_nodes[start + i];
  return n;
}

static void average(const pcsim_raw_mesh *raw, const int32_t *nodes, int n, double centre[3]) {
  for (int d = 0; d < 3; d++) {
    centre[d] = 0;
    for (int i = 0; i < n; i++) centre[d] += raw->nodes[3 * (int64_t)nodes[i] + d] / n;
  }
}

void pcsim_print_point(const pcsim_raw_mesh *raw, const double x[3], char *text, size_t size) {
  if (raw->dim == 2) snprintf(text, size, "(%.6g, %.6g)", x[0], x[1]);
  else snprintf(text, size, "(%.6g, %.6g, %.6g)", x[0], x[1], x[2]);
}

void pcsim_print_cell(const pcsim_raw_mesh *raw, int64_t cell, char *text, size_t size) {
  double centre[3];
  char point[100];
  int n = (int)(raw->cell_start[cell + 1] - raw->cell_start[cell]);
  average(raw, raw->cell_nodes + raw->cell_start[cell], n, centre);
  pcsim_print_point(raw, centre, point, sizeof point);
  snprintf(text, size, "cell %lld (%s at %s)", (long long)cell + 1, pcsim_cell_name(raw->cell_type[cell]),
           point);
}

/* The cell of a side, or a facet with its patch: "facet 3 of 'wall' (segment at (0, 1))" */
static void print_side(const pcsim_raw_mesh *raw, uint32_t side, char *text, size_t size) {
  if (!pcsim_side_is_facet(side)) {
    pcsim_print_cell(raw, pcsim_side_cell(side), text, size);
    return;
  }
  int64_t facet = pcsim_side_facet(side);
  int32_t nodes[4];
  double centre[3];
  char point[100];
  average(raw, nodes, pcsim_side_nodes(raw, side, nodes), centre);
  pcsim_print_point(raw, centre, point, sizeof point);
  snprintf(text, size, "facet %lld of '%s' (%s at %s)", (long long)facet + 1,
           raw->patches[raw->facet_patch[facet]], pcsim_cell_name(raw->facet_type[facet]), point);
}

void pcsim_faults_add(pcsim_faults *faults, pcsim_fault kind, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t *side = faults->side[kind];
  if (faults->count[kind]++ == 0 || a < side[0]) {
    side[0] = a;
    side[1] = b;
    side[2] = c;
  }
}

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

pcsim_status pcsim_faults_report(const pcsim_faults *faults, const pcsim_raw_mesh *raw) {
  int kind = 0;
  while (kind < PCSIM_NUM_FAULTS && faults->count[kind] == 0) kind++;
  if (kind == PCSIM_NUM_FAULTS) return PCSIM_OK;
  char text[3][200] = {"", "", ""}, face[100];
  const uint32_t *side = faults->side[kind];
  int32_t nodes[4];
  double centre[3];
  for (int i = 0; i < 3; i++)
    if (i == 0 || side[i] != side[0]) print_side(raw, side[i], text[i], sizeof text[i]);
  average(raw, nodes, pcsim_side_nodes(raw, side[0], nodes), centre);
  pcsim_print_point(raw, centre, face, sizeof face);
  long long count = (long long)faults->count[kind];
  switch ((pcsim_fault)kind) {
  case PCSIM_FAULT_CROWDED:
    PCSIM_FAIL(PCSIM_ERR_MESH,
               "%s, %s and %s share the face at %s: a face joins two cells at most (duplicate cells?); %lld "
               "such face%s",
               text[0], text[1], text[2], face, count, plural(count));
  case PCSIM_FAULT_OVERLAP:
    PCSIM_FAIL(PCSIM_ERR_MESH,
               "%s and %s lie on the same side of their face at %s: duplicate or folded cells; %lld such "
               "face%s",
               text[0], text[1], face, count, plural(count));
  case PCSIM_FAULT_APART:
    PCSIM_FAIL(PCSIM_ERR_MESH,
               "%s is not attached to the rest of the mesh: %lld of %lld cells share no face with the others "
               "(nodes not merged where parts meet?)",
               text[0], count, (long long)raw->num_cells);
  case PCSIM_FAULT_LOOSE:
    PCSIM_FAIL(PCSIM_ERR_MESH, "%s is not the face of any cell; %lld such facet%s", text[0], count,
               plural(count));
  case PCSIM_FAULT_TWICE:
    PCSIM_FAIL(PCSIM_ERR_MESH,
               "%s lies on the same face as %s: a face belongs to one boundary, once; %lld such face%s",
               text[1], text[0], count, plural(count));
  case PCSIM_FAULT_INSIDE:
    PCSIM_FAIL(PCSIM_ERR_MESH,
               "%s lies between %s and %s of the same region: a boundary must be outside, or between two "
               "regions; %lld such facet%s",
               text[0], text[1], text[2], count, plural(count));
  case PCSIM_FAULT_UNNAMED:
    PCSIM_FAIL(PCSIM_ERR_MESH,
               "%lld face%s of the boundary belong%s to no named boundary, the first at %s of %s: name every "
               "part of the boundary (a physical group in Gmsh)",
               count, plural(count), count == 1 ? "s" : "", face, text[0]);
  case PCSIM_NUM_FAULTS:
    break;
  }
  return PCSIM_OK;
}

/* Longest distance from the first node: a length to compare the volume with. */
static double cell_length(const pcsim_raw_mesh *raw, const int32_t *nodes, int n) {
  double longest = 0;
  const double *a = raw->nodes + 3 * (int64_t)nodes[0];
  for (int i = 1; i < n; i++) {
    const double *b = raw->nodes + 3 * (int64_t)nodes[i];
    double square = 0;
    for (int d = 0; d < 3; d++) square += (b[d] - a[d]) * (b[d] - a[d]);
    if (square > longest) longest = square;
  }
  return sqrt(longest);
}

static pcsim_status check_nodes(const pcsim_raw_mesh *raw, int64_t cell, const int32_t *nodes, int n) {
  for (int i = 1; i < n; i++)
    for (int j = 0; j < i; j++)
      if (nodes[i] == nodes[j]) {
        char text[200];
        pcsim_print_cell(raw, cell, text, sizeof text);
        PCSIM_FAIL(PCSIM_ERR_MESH, "%s is degenerate: it uses node %d twice", text, nodes[i] + 1);
      }
  return PCSIM_OK;
}

/* Two neighbouring nodes at one place, or a face without area: the cell has a volume, but no gradient and no
 * flow can be had there. Lengths and areas are compared with the cell's. */
static bool is_pinched(const pcsim_raw_mesh *raw, int64_t cell, double length, double least, char *text,
                       size_t size) {
  const pcsim_cell_shape *shape = &pcsim_cell_shapes[raw->cell_type[cell]];
  const int32_t *nodes = raw->cell_nodes + raw->cell_start[cell];
  char point[100];
  for (int e = 0; e < shape->num_edges; e++) {
    const int32_t a = nodes[shape->edge[e][0]], b = nodes[shape->edge[e][1]];
    const int32_t pair[2] = {a, b};
    if (cell_length(raw, pair, 2) > least * length) continue;
    pcsim_print_point(raw, raw->nodes + 3 * (int64_t)a, point, sizeof point);
    snprintf(text, size, "its nodes %d and %d lie at the same place %s", a + 1, b + 1, point);
    return true;
  }
  for (int f = 0; f < shape->num_faces && raw->dim == 3; f++) {
    int32_t face[4];
    double area[3], centre[3];
    int n = pcsim_cell_face_nodes(raw->cell_type[cell], nodes, f, face);
    pcsim_face_geometry(raw->nodes, face, n, area, centre);
    if (sqrt(area[0] * area[0] + area[1] * area[1] + area[2] * area[2]) > least * length * length) continue;
    pcsim_print_point(raw, centre, point, sizeof point);
    snprintf(text, size, "its face at %s has no area", point);
    return true;
  }
  return false;
}

static pcsim_status report_pinched(const pcsim_raw_mesh *raw, int64_t count, int64_t first,
                                   const char *reason) {
  char text[200];
  pcsim_print_cell(raw, first, text, sizeof text);
  PCSIM_FAIL(PCSIM_ERR_MESH, "%s is degenerate: %s; %lld such cell%s of %lld", text, reason, (long long)count,
             plural(count), (long long)raw->num_cells);
}

pcsim_status pcsim_mesh_check_cells(const pcsim_raw_mesh *raw, double *centre) {
  /* Smallest volume over length^dim: round-off of the volume is near 1e-16, a wall layer of aspect 1e5
   * that is also a needle reaches 1e-10. */
  const double least = 1e-13;
  int64_t bad = 0, first = -1, pinched = 0, first_pinched = -1;
  char reason[2][200];
  double first_volume = 0, first_block = 0;
  for (int64_t c = 0; c < raw->num_cells; c++) {
    const int32_t *nodes = raw->cell_nodes + raw->cell_start[c];
    int n = (int)(raw->cell_start[c + 1] - raw->cell_start[c]);
    double volume, length = cell_length(raw, nodes, n),
                   block = length * length * (raw->dim == 3 ? length : 1);
    PCSIM_TRY(check_nodes(raw, c, nodes, n));
    pcsim_cell_geometry(raw->nodes, raw->cell_type[c], nodes, &volume, centre + 3 * c);
    if (volume > least * block) {
      if (!is_pinched(raw, c, length, least, reason[pinched > 0], sizeof *reason)) continue;
      if (pinched++ == 0) first_pinched = c;
      continue;
    }
    if (bad++ == 0) {
      first = c;
      first_volume = volume;
      first_block = block;
    }
  }
  if (bad == 0) return pinched ? report_pinched(raw, pinched, first_pinched, reason[0]) : PCSIM_OK;
  char text[200];
  pcsim_print_cell(raw, first, text, sizeof text);
  bool inverted = first_volume < -least * first_block;
  PCSIM_FAIL(PCSIM_ERR_MESH, "%s is %s: its %s is %.6g; %lld such cell%s of %lld", text,
             inverted ? "inverted (its nodes run the wrong way round)" : "degenerate",
             raw->dim == 2 ? "area" : "volume", first_volume, (long long)bad, plural(bad),
             (long long)raw->num_cells);
}
