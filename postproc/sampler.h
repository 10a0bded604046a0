/* SPDX-License-Identifier: BSD-2-Clause */
/** @file sampler.h  Private to the sampler of monitors: its parts. */
#ifndef PCSIM_POSTPROC_SAMPLER_H
#define PCSIM_POSTPROC_SAMPLER_H

#include "monitor.h"

/* Weights of a class in a cell: of the value, of the gradient. */
enum { WEIGHT_VALUE, WEIGHT_SLOPE, CELL_WEIGHTS = WEIGHT_SLOPE + 3 };

typedef struct {
  int64_t point;
  int64_t first_cell, first_face; /* into cells and faces; the next stencil's are the ends */
} stencil;

/* Boundary faces of ghost cells that stencils reach, fetched from their owners. */
typedef struct {
  int ranks;
  int *send_count, *send_start, *receive_count, *receive_start; /* [ranks] in faces */
  int32_t *send_face;                                           /* boundary faces (from 0) to send */
  int64_t num_send, num_receive;
  double *send_buffer, *receive_buffer; /* [][face_width or num_fields] */
} face_halo;

struct sampler {
  const pcsim_mesh *mesh;
  const monitor_field *fields;
  int num_fields;
  int num_classes; /* of fields that are given on the same boundaries: they share weights */
  int *class_of;   /* [num_fields] */
  int *one_of;     /* [num_classes] one field of each */
  int face_width;  /* FACE_GIVES + num_classes */
  int64_t num_points, capacity;
  double *point, *direction; /* [num_points][3] */
  const pcsim_node **place;
  double *spacing, *value; /* [num_points], [num_points][num_fields] */
  int64_t num_stencils, num_cells, num_faces;
  stencil *stencils;      /* [num_stencils + 1] */
  int32_t *cells, *faces; /* of the stencils: cells, faces of the pool */
  double *cell_weight;    /* [num_cells][num_classes][CELL_WEIGHTS] */
  double *face_weight;    /* [num_faces][num_classes] */
  face_halo halo;
  /* Faces of each local cell: owned ones into the boundary faces, ghosts into the halo. Set-up only. */
  int64_t *face_start; /* [num_cells + num_ghosts + 1] */
  int32_t *face_of;    /* pool index: local boundary face, or num boundary faces + place in the halo */
  double *face_data;   /* [pool][face_width] */
};

static inline int64_t sampler_num_boundary(const pcsim_mesh_view *mesh) {
  return mesh->num_faces - mesh->num_interior_faces;
}

/** send_buffer [num_send][width] to receive_buffer [num_receive][width] of who asked. Collective. */
pcsim_status sampler_exchange_faces(face_halo *halo, MPI_Comm comm, int width) PCSIM_NODISCARD;
/** The way back, from receive_buffer to send_buffer. Collective. */
pcsim_status sampler_return_faces(face_halo *halo, MPI_Comm comm, int width) PCSIM_NODISCARD;

#endif
