/* SPDX-License-Identifier: BSD-2-Clause */
/** @file monitor.h  Private to postproc/: monitors, their kinds, and the sampling of fields at points. */
#ifndef PCSIM_POSTPROC_MONITOR_H
#define PCSIM_POSTPROC_MONITOR_H

#include <pcsim/postproc.h>

/** A field that a case can name. */
typedef struct {
  const char *name, *alias, *unit; /**< alias: a second name, or NULL */
  bool offered;                    /**< false: the w of a plane flow */
  bool oscillates; /**< between the orientations of triangles and tetrahedra: the pressure of a flow */
  bool *given;     /**< [num_patches] the case gives its values on that boundary */
} monitor_field;

/* ------------------------------------------------- monitor_sampler.c: fields at points
 *
 * Fields at any point by a weighted least-squares fit of a quadratic polynomial around it, third order in
 * smooth fields. Data: the values of the cell that holds the point and of all cells that share a node with
 * it, and values on their boundary faces where the case gives them (velocity on walls and inlets, pressure on
 * outlets, an unknown where it is fixed). Where that leaves the fit undetermined or noisy (a wall without
 * pressure values seen from a layer of quadrilaterals) the gradients of cells off the boundary join; then a
 * linear fit (pressure at walls of triangles and tetrahedra always). The fit is linear in the data: its
 * weights are found once for all fields that are given on the same boundaries. Stencils do not depend on the
 * partition. */

/** Places of a flow's fields. */
enum { SAMPLE_U, SAMPLE_V, SAMPLE_W, SAMPLE_P };
typedef struct sampler sampler;

/** `fields` [num_fields] are borrowed. */
pcsim_status sampler_create(const pcsim_mesh *mesh, const monitor_field *fields, int num_fields,
                            sampler **made) PCSIM_NODISCARD;
void sampler_destroy(sampler **samples);
/** Add a point (the same on every rank); `direction` is a unit vector along which the local cell spacing is
 *  wanted, or NULL; `place` is where a problem with the point is reported. */
pcsim_status sampler_add(sampler *samples, const double point[3], const double *direction,
                         const pcsim_node *place) PCSIM_NODISCARD;
int64_t sampler_num_points(const sampler *samples);
const double *sampler_point(const sampler *samples, int64_t i);
/** Find cells and weights; points outside the mesh are problems. Collective. */
pcsim_status sampler_prepare(sampler *samples, pcsim_tree *tree) PCSIM_NODISCARD;
/** Spacing of cell centres along the direction at point i (0 without direction). */
double sampler_spacing(const sampler *samples, int64_t i);
/** Values at every point on every rank; collective. */
pcsim_status sampler_evaluate(sampler *samples, const pcsim_fields *fields) PCSIM_NODISCARD;
/** [num_fields] at point i after evaluate. */
const double *sampler_values(const sampler *samples, int64_t i);
/** The transpose of evaluate: to what fields have on cells, cell [num_cells + num_ghosts][num_fields][4], and
 *  boundary faces, face [][num_fields], is added what comes from seed [num_points][num_fields], the same on
 *  every rank. What ghosts have is the caller's to add to their owners. Collective. */
pcsim_status sampler_transposed(sampler *samples, const double *seed, double *cell,
                                double *face) PCSIM_NODISCARD;

/* --------------------------------------------------------------- monitor_fit.c */

/** One datum of a fit: a value at `offset` from the point, or a gradient there. */
typedef struct {
  double offset[3];
  bool gradient;
  double weight[3]; /**< result: of the value in [0], or of the gradient's components */
} fit_datum;
/** Weights with which the data give the value at offset 0. `degree` 2, 1 or 0. Returns the sum of their
 *  absolute values (the amplification of noise), or infinity where the data do not determine the fit.
 *  `work` holds at least fit_work_size(n) doubles. */
double fit_weights(int dim, int degree, fit_datum *data, int n, double *work);
size_t fit_work_size(int n);
/** Spread of the data's places along a unit vector: root mean square about their mean. */
double fit_spread(const fit_datum *data, int n, const double direction[3]);

/* ---------------------------------------------------------------- monitors */

typedef struct monitor monitor;

/** A kind of monitor: what can be named in a case, and its functions. */
typedef struct {
  pcsim_monitor_kind about;
  /** Read the keys (already checked), name the quantities and curves, add points. */
  pcsim_status (*read)(pcsim_tree *tree, pcsim_monitors *monitors, monitor *m);
  /** After the points have been found; may be NULL. Collective. */
  pcsim_status (*prepare)(pcsim_monitors *monitors, monitor *m);
  pcsim_status (*evaluate)(pcsim_monitors *monitors, monitor *m, const pcsim_fields *fields);
  void (*clear)(monitor *m);             /**< frees what `data` holds; may be NULL */
  enum { OF_ANY, OF_FLOW, OF_TYPED } of; /**< problems that have it */
  /** Quantity `which` of such a monitor as a functional, into a zeroed `f`, which the caller frees, after a
   *  failure too; ERR_ARG: that quantity is none. NULL: none of them is. */
  pcsim_status (*functional)(const pcsim_tree *tree, const pcsim_monitors *monitors, const struct monitor *m,
                             int which, pcsim_monitor_functional *f);
  /** The same for numbers that are no functional, of fields that have been evaluated: their derivatives are
   *  added to the weights of `f`, those by parameters that their own expression has to f->own, of this rank
   *  alone. NULL: none of them has any. Collective. */
  pcsim_status (*differentiate)(const pcsim_tree *tree, pcsim_monitors *monitors, const struct monitor *m,
                                int which, const pcsim_fields *fields, pcsim_monitor_functional *f);
} monitor_kind;

struct monitor {
  const monitor_kind *kind;
  const char *name; /**< borrowed from the tree */
  pcsim_node *node;
  int first_quantity, num_quantities;
  double after;    /**< statistics over time begin here */
  int first_curve; /**< -1: none */
  int64_t first_point, num_points;
  void *data; /**< the kind's own, one block */
};

struct pcsim_monitors {
  const pcsim_mesh *mesh;
  const pcsim_transport_view *typed;  /**< NULL: a flow */
  const pcsim_transport_view *joined; /**< equations whose unknowns follow the flow's fields; NULL: none */
  bool through_time;                  /**< the case goes through time: exact fields may depend on t */
  int *patch_kind;                    /**< [num_patches] pcsim_flow_kind or -1; of a flow */
  bool pressure_free;                 /**< no boundary of a flow gives the pressure */
  int num_fields;
  monitor_field *field; /**< [num_fields] */
  bool *given;          /**< what their `given` point into */
  int num;
  monitor *monitor;
  int num_quantities, capacity_quantities;
  int num_followed; /**< quantities of monitors, the first ones */
  pcsim_quantity *quantity;
  int num_curves, capacity_curves;
  pcsim_curve *curve;
  sampler *samples;
};

extern const monitor_kind monitor_forces, monitor_flow_rate;                        /* monitor_forces.c */
extern const monitor_kind monitor_wall_shear, monitor_reattachment;                 /* monitor_walls.c */
extern const monitor_kind monitor_pressure_difference, monitor_probe, monitor_line; /* monitor_points.c */
extern const monitor_kind monitor_extremum;                                         /* monitor_extremum.c */
extern const monitor_kind monitor_integral, monitor_mean, monitor_min, monitor_max, monitor_norm,
    monitor_flux; /* monitor_integrals.c */

/** monitor_fields.c: the fields of the case, with where it gives them. Collective. */
pcsim_status monitors_read_fields(pcsim_tree *tree, pcsim_monitors *monitors) PCSIM_NODISCARD;
/** Place of a field by name or alias among those offered, or -1. */
int monitors_find_field(const pcsim_monitors *monitors, const char *name);
/** "u, v or p": the fields offered, for messages. */
void monitors_field_names(const pcsim_monitors *monitors, char *text, size_t size);

/** Declare the next quantity "NAME" + suffix (printf style), NaN until evaluated. */
pcsim_status monitor_add_quantity(pcsim_monitors *monitors, monitor *m, const char *unit, const char *fmt,
                                  ...) PCSIM_PRINTF(4, 5) PCSIM_NODISCARD;
/** Set quantity i of a monitor. */
void monitor_set(pcsim_monitors *monitors, const monitor *m, int i, double value);
/** Append a curve with columns separated by blanks ("s x y u"). The name is copied. */
pcsim_status monitors_add_curve(pcsim_monitors *monitors, const char *name, const char *columns,
                                int64_t num_rows, int *index) PCSIM_NODISCARD;

/* monitor_functional.c: parts of functionals. */

/** An expression of the fields, the place and the parameters, these with their values. Caller destroys. */
pcsim_status monitor_lower(const pcsim_tree *tree, const pcsim_monitors *monitors, const char *text,
                           pcsim_program **program) PCSIM_NODISCARD;
/** The names that are wanted, of `num`, which must outlive `f`. */
pcsim_status monitor_name_places(const bool *wanted, int num, const char *const *names,
                                 pcsim_monitor_functional *f) PCSIM_NODISCARD;

/* monitor_expression.c: an expression at points, backwards. */

/** Arguments of an expression, in the order of `of` of integrals: [num_fields] values, [num_fields][dim]
 * derivatives. */
static inline int monitor_num_arguments(const pcsim_monitors *monitors, int dim) {
  return monitors->num_fields * (1 + dim);
}
typedef struct {
  int64_t num;
  const double *seed;     /**< [num] */
  const double *argument; /**< [num][monitor_num_arguments] */
  const double *place;    /**< [num][3] */
} monitor_points;
/** back [num][monitor_num_arguments] = seed times the derivatives of the expression `text` by its arguments;
 *  own [parameters] += the sum of those by parameters. Local. Errors: ERR_CASE, ERR_MEMORY. */
pcsim_status monitor_expression_back(const pcsim_tree *tree, const pcsim_monitors *monitors, const char *text,
                                     const monitor_points *points, double *back, double *own) PCSIM_NODISCARD;
/** What comes from the monitor's own points, seed [num_points][num_fields], to the weights. Collective. */
pcsim_status monitor_points_back(pcsim_monitors *monitors, const monitor *m, const double *seed,
                                 pcsim_monitor_functional *f) PCSIM_NODISCARD;

/* Readers shared by the kinds; each records problems and returns false then. */

/** `on:` names or patterns into `wanted` [num_patches]. */
bool monitor_read_on(pcsim_tree *tree, const pcsim_monitors *monitors, const monitor *m, bool *wanted);
/** A point of the mesh's dimension from a node. */
bool monitor_read_point(pcsim_tree *tree, const pcsim_mesh *mesh, const pcsim_node *node, double point[3]);
/** A vector key of the mesh's dimension; absent: false without problem. */
bool monitor_read_vector(pcsim_tree *tree, const pcsim_monitors *monitors, const pcsim_node *node,
                         const char *key, double vector[3]);
/** Scale to length one; a problem at `key` where it is zero. */
bool monitor_unit_vector(pcsim_tree *tree, const pcsim_node *node, const char *key, double vector[3]);
bool monitor_is_root(const pcsim_monitors *monitors);

#endif
