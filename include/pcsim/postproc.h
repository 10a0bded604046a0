/* SPDX-License-Identifier: BSD-2-Clause */
/** @file postproc.h  Monitors, references, histories, files for ParaView, checkpoints, pictures, report. */
#ifndef PCSIM_POSTPROC_H
#define PCSIM_POSTPROC_H

#include <pcsim/physics.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------- quantities */

/** A named number of a run: "forces.cd". */
typedef struct {
  char name[96];
  double value;
  char unit[16];
} pcsim_quantity;
/** A named curve of a run (line probes, wall shear along a boundary): columns of numbers. */
typedef struct {
  char name[96];
  int num_columns;
  char column[12][32];
  int64_t num_rows;
  double *values; /**< [num_rows][num_columns], owned by the monitors */
} pcsim_curve;

/** The case's `monitors:`. Kinds: forces, pressure-difference, probe, line, flow-rate, wall-shear,
 *  extremum, reattachment, field errors. */
typedef struct pcsim_monitors pcsim_monitors;
/** Read and check; problems go to the tree (NULL then). Caller destroys. Collective. */
pcsim_status pcsim_monitors_read(pcsim_tree *tree, const pcsim_mesh *mesh, pcsim_monitors **monitors) PCSIM_NODISCARD;
/** Evaluate all; collective; every rank gets the same quantities (and rank 0 the curves). */
pcsim_status pcsim_monitors_evaluate(pcsim_monitors *monitors, const pcsim_flow_fields *fields) PCSIM_NODISCARD;
int pcsim_monitors_quantities(const pcsim_monitors *monitors, const pcsim_quantity **quantities);
int pcsim_monitors_curves(const pcsim_monitors *monitors, const pcsim_curve **curves);
void pcsim_monitors_destroy(pcsim_monitors **monitors);

/** One comparison of `reference:` with the run. */
typedef struct {
  char quantity[96];
  double value, reference, error; /**< relative error, or absolute where `absolute` is set */
  double tolerance;
  double low, high; /**< range; both NaN if none */
  bool absolute, met;
  char source[160];
} pcsim_comparison;
typedef struct pcsim_references pcsim_references;
pcsim_status pcsim_references_read(pcsim_tree *tree, const pcsim_monitors *monitors, pcsim_references **references) PCSIM_NODISCARD;
/** Compare with the monitors' current quantities, curves and (for `exact:`) fields; collective. Adds
 *  `error.*` quantities to the monitors. A quantity that is NaN or absent is not met. */
pcsim_status pcsim_references_compare(pcsim_references *references, pcsim_monitors *monitors,
                                      const pcsim_flow_fields *fields) PCSIM_NODISCARD;
int pcsim_references_get(const pcsim_references *references, const pcsim_comparison **comparisons);
void pcsim_references_destroy(pcsim_references **references);

/* ------------------------------------------------------------------ files */

/** A field on cells, [num_cells (+ ghosts)][components]. */
typedef struct {
  const char *name;
  int components; /**< 1 or 3 */
  const double *values;
} pcsim_field;
/** A field on boundary faces, [num_boundary_faces][components]. */
typedef pcsim_field pcsim_face_field;

/** VTKHDF 1.0 unstructured grid, one piece a rank; whole or not at all. Collective. */
pcsim_status pcsim_write_fields(const pcsim_mesh *mesh, const pcsim_field *fields, int n, const char *path) PCSIM_NODISCARD;
/** The same for the boundary faces of the patches with `wanted[patch]`, in the cells of 2D segments or
 *  3D polygons; adds `area`, `normal` and `patch`. */
pcsim_status pcsim_write_surface(const pcsim_mesh *mesh, const bool *wanted, const pcsim_face_field *fields, int n,
                                 const char *path) PCSIM_NODISCARD;
/** ParaView's `.series` file beside its members. Rank 0. */
pcsim_status pcsim_write_series(const char *path, const char *const *names, const double *times, int n) PCSIM_NODISCARD;

/** Checkpoint: cell values [num_cells][width] stored in raw-mesh order (any rank count reads it back), a few
 *  scalars and texts, a checksum over all; written beside and renamed. Collective. */
typedef struct {
  int64_t step;
  int width;
  double scalars[32];
  char case_hash[65];  /**< of the completed case and mesh: a checkpoint of another case is refused */
  int64_t num_cells_global;
} pcsim_checkpoint;
pcsim_status pcsim_checkpoint_write(const pcsim_mesh *mesh, const pcsim_checkpoint *info, const double *values,
                                    const char *path) PCSIM_NODISCARD;
/** Read; `values` [num_cells][width]. Refuses (ERR_IO) what is truncated, damaged or of another mesh. */
pcsim_status pcsim_checkpoint_read(const pcsim_mesh *mesh, const char *path, pcsim_checkpoint *info, double *values) PCSIM_NODISCARD;

/* --------------------------------------------------------------- pictures */

/** An RGB picture, 8 bits a channel. */
typedef struct {
  int width, height;
  uint8_t *rgb; /**< [height][width][3] */
} pcsim_picture;
typedef struct {
  const char *title; /**< with unit */
  int width;         /**< pixels, default 1200 */
  double window[4];  /**< x0, y0, x1, y1 in the plane; all 0: everything */
  bool edges;        /**< draw cell edges */
  bool symmetric;    /**< colour scale symmetric about zero, diverging colours */
} pcsim_picture_options;
/** Colour picture of a scalar on cells, shaded with its gradient [n][3] where given (NULL: flat). 3D: the
 *  plane through the middle normal to z, and `values` NULL draws the mesh alone. Collective; rank 0 gets
 *  the picture (others NULL). Caller destroys. */
pcsim_status pcsim_picture_field(const pcsim_mesh *mesh, const double *values, const double *gradient,
                                 const pcsim_picture_options *options, pcsim_picture **picture) PCSIM_NODISCARD;
pcsim_status pcsim_picture_png(const pcsim_picture *picture, uint8_t **png, size_t *size) PCSIM_NODISCARD;
void pcsim_picture_destroy(pcsim_picture **picture);

/* ------------------------------------------------- summary, history, report */

/** One row of `history.csv` and the curves of the report. */
typedef struct pcsim_history pcsim_history;
/** Columns: step, residual, momentum..., then the quantities. `resume`: keep the rows before `step`. Rank 0. */
pcsim_status pcsim_history_open(const char *path, const char *const *columns, int n, int64_t resume_step, pcsim_history **history) PCSIM_NODISCARD;
pcsim_status pcsim_history_add(pcsim_history *history, const double *values) PCSIM_NODISCARD;
int64_t pcsim_history_rows(const pcsim_history *history, const double **values, int *num_columns);
pcsim_status pcsim_history_close(pcsim_history **history) PCSIM_NODISCARD;

/** What summary.json and report.html say. */
typedef struct {
  const char *title, *status, *reason, *version, *case_text, *machine;
  double wall_seconds, cpu_seconds, solve_seconds;
  int ranks;
  int64_t cells, iterations, linear_iterations;
  double residual;
  size_t memory_peak; /**< resident, summed over ranks, bytes */
  const pcsim_quantity *quantities;
  int num_quantities;
  const pcsim_comparison *comparisons;
  int num_comparisons;
  const pcsim_curve *curves;
  int num_curves;
  const pcsim_history *history;
  const pcsim_mesh_quality *quality;
  /** pictures, each with a caption */
  const pcsim_picture *const *pictures;
  const char *const *captions;
  int num_pictures;
  /** mesh study, or NULL: one row a mesh */
  const struct pcsim_study *study;
} pcsim_report;
/** A mesh study: quantities on successive meshes, observed order, extrapolated value. */
typedef struct pcsim_study {
  int num_meshes, num_quantities;
  double ratio;             /**< mean ratio of sizes of successive meshes */
  const int64_t *cells;     /**< [num_meshes] coarse to fine */
  const double *sizes;      /**< [num_meshes] */
  const char (*names)[96];  /**< [num_quantities] */
  const double *values;     /**< [num_meshes][num_quantities] */
  const double *order;      /**< [num_quantities] observed over the last three; NaN if not monotone */
  const double *extrapolated; /**< [num_quantities] Richardson; NaN if not monotone */
  const double *uncertainty;  /**< [num_quantities] grid convergence index of the finest, relative */
} pcsim_study;
pcsim_status pcsim_summary_write(const pcsim_report *report, const char *path) PCSIM_NODISCARD;
/** Self-contained HTML: pictures inline, convergence curves, curves against references. Rank 0. */
pcsim_status pcsim_report_write(const pcsim_report *report, const char *path) PCSIM_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif
