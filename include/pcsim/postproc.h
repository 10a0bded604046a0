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

/** A kind of monitor: `NAME: {kind: KIND, ...}`. */
typedef struct {
  const char *name;
  const char *help;
  const pcsim_key *keys;
  size_t num_keys;
  const char *quantities; /**< what it adds, in words: "NAME.cd, NAME.cl" */
} pcsim_monitor_kind;
/** Every kind; `i` from 0; NULL past the end. */
const pcsim_monitor_kind *pcsim_monitor_kind_get(size_t i);

/** The case's `monitors:`. Of any problem: probe, line, extremum, integral, mean, min, max, norm; of a flow
 *  also forces, pressure-difference, flow-rate, wall-shear, reattachment; of typed laws also flux. Signs: a
 *  force is that of the fluid on the boundary (pressure times the area vector out of the fluid, plus
 *  friction); a flow rate and a flux count out of the domain. */
typedef struct pcsim_monitors pcsim_monitors;
/** Read and check. `typed`: the typed laws whose unknowns the monitors name; NULL: a flow, with u, v, w, p.
 *  Returns OK with `*monitors` NULL if it found problems (they are in the tree). Every quantity has its name
 *  from here on, with the value NaN. Borrows tree, mesh and `typed`. Caller destroys before them.
 *  Collective. */
pcsim_status pcsim_monitors_read(pcsim_tree *tree, const pcsim_mesh *mesh, const pcsim_transport_view *typed,
                                 pcsim_monitors **monitors) PCSIM_NODISCARD;
/** Evaluate all; collective; every rank gets the same quantities and curves, which do not depend on the
 *  partition beyond rounding. */
pcsim_status pcsim_monitors_evaluate(pcsim_monitors *monitors, const pcsim_fields *fields) PCSIM_NODISCARD;
/** Borrowed until the next call that may add to them (pcsim_references_compare) or destroy. */
int pcsim_monitors_quantities(const pcsim_monitors *monitors, const pcsim_quantity **quantities);
int pcsim_monitors_curves(const pcsim_monitors *monitors, const pcsim_curve **curves);
/** Set a quantity that something else than a monitor found (the order of a mesh study), or add it. */
pcsim_status pcsim_monitors_put(pcsim_monitors *monitors, const char *name, const char *unit,
                                double value) PCSIM_NODISCARD;
/** A monitor's number as a functional, with what it stands on. Not copied: `of` points into it. */
typedef struct {
  pcsim_functional of;
  pcsim_program *program; /**< owned */
  const char **where;     /**< owned; the names belong to the monitors' mesh */
  double factor;          /**< the quantity is so much times the functional */
  /* Of a number that is no functional itself (of.kind PCSIM_FUNCTIONAL_WEIGHTED): */
  pcsim_field_weights weights; /**< its derivatives; the arrays are the next */
  double *cell;                /**< owned; [num_cells + num_ghosts][num][4], 0 in ghosts */
  double *face, *friction;     /**< owned */
  double *own;                 /**< owned; [parameters of the case] derivatives by those in its expression */
} pcsim_monitor_functional;
/** What an adjoint can say of a quantity. */
typedef enum {
  PCSIM_ADJOINT_GRADIENT, /**< derivatives by parameters: of every number of a monitor */
  PCSIM_ADJOINT_ESTIMATE  /**< its error, too: of those that are functionals themselves */
} pcsim_adjoint_use;
/** Can `quantity` be had for that? Else a problem at `at` that names those that can. */
bool pcsim_monitors_check_functional(pcsim_tree *tree, const pcsim_monitors *monitors, const pcsim_node *at,
                                     const char *quantity, pcsim_adjoint_use use);
/** The quantity as a functional; of one that is none, where it is differentiable, its derivatives by
 * `fields`, for which the monitors have been evaluated. Extrema are differentiated where they are taken.
 * Collective. Errors: ERR_ARG (none of that name), ERR_CASE. Caller frees. */
pcsim_status pcsim_monitors_functional(const pcsim_tree *tree, pcsim_monitors *monitors, const char *quantity,
                                       const pcsim_fields *fields,
                                       pcsim_monitor_functional *f) PCSIM_NODISCARD;
void pcsim_monitor_functional_free(pcsim_monitor_functional *f);
/** Of a run through time each quantity that is followed has also `.min`, `.max`, `.mean`, `.frequency`,
 *  `.min.time` and `.max.time` over the window that its monitor's `after:` begins. Extrema are vertices of
 *  parabolas through three steps, the mean is the trapezoidal rule's, the frequency counts whole periods
 *  between upward crossings of the middle of the extrema. */
enum { PCSIM_NUM_STATISTICS = 6 };
/** The first so many quantities are followed; the others are found at the end. */
int pcsim_monitors_num_followed(const pcsim_monitors *monitors);
/** Name them, with the value NaN, so that references can. */
pcsim_status pcsim_monitors_announce_statistics(pcsim_monitors *monitors) PCSIM_NODISCARD;
/** Set them from the rows of a history (rank 0; others NULL): times in `time_column`, the followed quantities
 *  from `first_column` on. Collective. */
pcsim_status pcsim_monitors_statistics(pcsim_monitors *monitors, const double *rows, int64_t num_rows,
                                       int num_columns, int time_column, int first_column) PCSIM_NODISCARD;
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

/** A named exact solution: `{exact: NAME, ...}` with its parameters. */
typedef struct {
  const char *name;
  const char *help;
  const char *parameters[4]; /**< names of the numbers it needs, NULL past the last */
} pcsim_exact_solution;
const pcsim_exact_solution *pcsim_exact_solution_get(size_t i); /**< `i` from 0; NULL past the end */

/** The case's `reference:`. Entries are
 *    QUANTITY: {value, tolerance (relative) | absolute | range: [lo, hi], source}
 *    FIELD:    {exact: expression or name, tolerance | absolute} for velocity (a sequence), u, v, w,
 * pressure, p, or an unknown of typed laws; the expression is of x, y, z, t LINE:     {table: {file, columns:
 * [y, u], except: [..], scale}, tolerance (of the largest value) | absolute, source} against a line monitor
 * Field errors are relative L2 over the cells (absolute where the exact field is zero), `.max` the largest
 * relative to the largest exact value; `error.p.vertices` compares at the nodes, where the cells around are
 * brought to by a linear fit. The pressure is compared without its mean where no boundary gives it. */
typedef struct pcsim_references pcsim_references;
/** Returns OK with `*references` NULL if it found problems. Borrows tree and mesh. Collective. */
pcsim_status pcsim_references_read(pcsim_tree *tree, const pcsim_monitors *monitors,
                                   pcsim_references **references) PCSIM_NODISCARD;
/** Compare with the monitors' current quantities, curves and (for `exact:`) fields; collective. Adds
 *  `error.*` quantities and `LINE:reference` curves to the monitors. A quantity that is NaN or absent is not
 *  met. */
pcsim_status pcsim_references_compare(pcsim_references *references, pcsim_monitors *monitors,
                                      const pcsim_fields *fields) PCSIM_NODISCARD;
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

/** VTKHDF 1.0 unstructured grid (give the path the ending `.hdf`: ParaView 5.11 chooses its reader by it),
 * one piece a rank; whole or not at all. Collective. Errors: ERR_IO with the path and the reason, and no file
 * is left; a file that stood there before stays as it was. Field names are unique and without `/`. */
pcsim_status pcsim_write_fields(const pcsim_mesh *mesh, const pcsim_field *fields, int n,
                                const char *path) PCSIM_NODISCARD;
/** The same for the boundary faces of the patches with `wanted[patch]` (NULL: all), as 2D segments or 3D
 *  polygons; give forces per area, so that integrals over the surface are forces; adds `area` (length in 2D),
 * `normal` (unit, out of the fluid) and `patch` (index; the names are the strings of `/pcsim/patches`).
 * Collective. */
pcsim_status pcsim_write_surface(const pcsim_mesh *mesh, const bool *wanted, const pcsim_face_field *fields,
                                 int n, const char *path) PCSIM_NODISCARD;
/** ParaView's `.series` file beside its members ("fields.hdf.series"); `names` are relative to it. Rank 0. */
pcsim_status pcsim_write_series(const char *path, const char *const *names, const double *times,
                                int n) PCSIM_NODISCARD;

/** Checkpoint: cell values [num_cells][width] stored in raw-mesh order (any rank count reads it back), a few
 *  scalars and texts, a checksum over every byte; written beside (`.pcsim-NAME.tmp`) and renamed, so that a
 *  kill at any moment leaves the old or the new file. An HDF5 file behind a 512-byte header of our own. Rank
 * 0 holds all values while it writes or reads. Collective. */
typedef struct {
  int64_t step;
  int width;
  double scalars[32];
  char case_hash[65];       /**< of the completed case and mesh: a checkpoint of another case is refused */
  int64_t num_cells_global; /**< set by write and read */
} pcsim_checkpoint;
pcsim_status pcsim_checkpoint_write(const pcsim_mesh *mesh, const pcsim_checkpoint *info,
                                    const double *values, const char *path) PCSIM_NODISCARD;
/** Read; `values` [num_cells][width], or NULL to read `info` only. Refuses (ERR_IO) what is truncated,
 * damaged, foreign or of another mesh. On entry `info->case_hash` not empty and `info->width` not 0 are what
 * must be found; with `values`, `info->width` must be set. On success `*info` is the file's; on failure it is
 * unchanged. */
pcsim_status pcsim_checkpoint_read(const pcsim_mesh *mesh, const char *path, pcsim_checkpoint *info,
                                   double *values) PCSIM_NODISCARD;

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
                                 const pcsim_picture_options *options,
                                 pcsim_picture **picture) PCSIM_NODISCARD;
pcsim_status pcsim_picture_png(const pcsim_picture *picture, uint8_t **png, size_t *size) PCSIM_NODISCARD;
void pcsim_picture_destroy(pcsim_picture **picture);

/* ------------------------------------------------- summary, history, report */

/** `history.csv` and the convergence curves of the report. Rank 0. */
typedef struct pcsim_history pcsim_history;
/** Columns: step first, residual, momentum..., then the quantities. `resume_step` < 0 starts anew; else the
 * rows of an existing file with a step below it are kept (a row cut off by a kill is dropped) and other
 * columns or a broken row are ERR_IO. Names that begin with residual, momentum, continuity or mass are drawn
 * as residuals. Caller closes. */
pcsim_status pcsim_history_open(const char *path, const char *const *columns, int n, int64_t resume_step,
                                pcsim_history **history) PCSIM_NODISCARD;
/** Read a whole history for a report; nothing is written. Caller closes. */
pcsim_status pcsim_history_read(const char *path, pcsim_history **history) PCSIM_NODISCARD;
/** `values` [n]; handed to the system before the call returns. */
pcsim_status pcsim_history_add(pcsim_history *history, const double *values) PCSIM_NODISCARD;
/** Rows so far; `*values` [rows][*num_columns] borrowed until the next add. Both may be NULL. */
int64_t pcsim_history_rows(const pcsim_history *history, const double **values, int *num_columns);
/** Names of the columns [num_columns]; borrowed. */
const char *const *pcsim_history_names(const pcsim_history *history);
pcsim_status pcsim_history_close(pcsim_history **history);

/** What was trained, of a run with a network. */
typedef struct {
  int64_t parameters, points, seed;
  double loss; /**< at points that training did not see */
  const char *network, *optimizer;
} pcsim_report_training;
/** What summary.json and report.html say. */
typedef struct {
  const char *title, *status, *reason, *version, *case_text, *machine;
  double wall_seconds, cpu_seconds, solve_seconds;
  int ranks;
  int64_t cells, iterations, linear_iterations;
  double residual;    /**< of a run through time: error of the last step */
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
  /** study of meshes or time steps, or NULL */
  const struct pcsim_study *study;
  const pcsim_report_training *training; /**< NULL: nothing was trained */
} pcsim_report;
/** A study: quantities on successive meshes, or with successive time steps on one mesh; observed order,
 *  extrapolated value. */
typedef struct pcsim_study {
  int num_meshes, num_quantities; /**< num_meshes: runs of the study */
  bool of_steps;                  /**< the time step was varied, not the mesh */
  double ratio;                   /**< mean ratio of sizes of successive runs */
  const int64_t *cells;           /**< [num_meshes] coarse to fine */
  const double *sizes;            /**< [num_meshes] cell sizes, or time steps */
  const char (*names)[96];        /**< [num_quantities] */
  const double *values;           /**< [num_meshes][num_quantities] */
  const double *order;            /**< [num_quantities] observed over the last three; NaN if not monotone */
  const double *extrapolated; /**< [num_quantities] Richardson with the order limited to [0.5, 2]; NaN if not
                                 monotone */
  const double *uncertainty;  /**< [num_quantities] grid convergence index of the finest, relative */
} pcsim_study;
/** Formal order of the flow solver, and whether an observed order agrees with it (within 0.3). */
#define PCSIM_STUDY_FORMAL_ORDER 2.0
bool pcsim_study_order_expected(double order);
/** summary.json: the shape of the design page plus `reason`, `linear_iterations`, `memory_bytes`,
 *  `solve_seconds`, `machine`, `units`, `curves`, `study` and `mesh`. NaN and infinities are null. Rank 0. */
pcsim_status pcsim_summary_write(const pcsim_report *report, const char *path) PCSIM_NODISCARD;
/** Read it back (pictures, history and case text are not in it: NULL). All is owned by `*report`; caller
 * frees with pcsim_summary_free. Errors: ERR_IO with the path, line and column. */
pcsim_status pcsim_summary_read(const char *path, pcsim_report **report) PCSIM_NODISCARD;
void pcsim_summary_free(pcsim_report **report);
/** Self-contained HTML: pictures inline, convergence curves, curves against references (a curve named
 *  "NAME:reference" is drawn as points over the curve "NAME"; its first column is the abscissa and the others
 *  match by column name). Rank 0. */
pcsim_status pcsim_report_write(const pcsim_report *report, const char *path) PCSIM_NODISCARD;

/* ------------------------------------------------------------------- JSON */

/** A JSON text, read strictly (RFC 8259; duplicate keys and depth over 64 are refused). */
typedef struct pcsim_json pcsim_json;
typedef enum {
  PCSIM_JSON_NULL,
  PCSIM_JSON_BOOL,
  PCSIM_JSON_NUMBER,
  PCSIM_JSON_STRING,
  PCSIM_JSON_ARRAY,
  PCSIM_JSON_OBJECT
} pcsim_json_kind;
/** `name` stands for the text in messages `name:line:column: ...`. Caller destroys the root; the values below
 * it are borrowed from it. Errors: ERR_IO. */
pcsim_status pcsim_json_parse(const char *text, size_t size, const char *name,
                              pcsim_json **json) PCSIM_NODISCARD;
pcsim_status pcsim_json_read(const char *path, pcsim_json **json) PCSIM_NODISCARD;
void pcsim_json_destroy(pcsim_json **json);
/* All of these take NULL (an absent value) and what is of another kind. */
pcsim_json_kind pcsim_json_get_kind(const pcsim_json *json);
int64_t pcsim_json_size(const pcsim_json *json); /**< items of an array, members of an object; else 0 */
const pcsim_json *pcsim_json_item(const pcsim_json *json, int64_t i); /**< NULL outside */
const char *pcsim_json_key(const pcsim_json *json, int64_t i);        /**< key of member i, else NULL */
const pcsim_json *pcsim_json_get(const pcsim_json *json, const char *key);
double pcsim_json_number(const pcsim_json *json);      /**< NaN for others (null too) */
const char *pcsim_json_string(const pcsim_json *json); /**< "" for others */
bool pcsim_json_bool(const pcsim_json *json);          /**< false for others */

#ifdef __cplusplus
}
#endif
#endif
