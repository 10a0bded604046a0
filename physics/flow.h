/* SPDX-License-Identifier: BSD-2-Clause */
/* flow.h  Private to physics/: how the parts of a flow problem hand over to each other. */
#ifndef PCSIM_PHYSICS_FLOW_H
#define PCSIM_PHYSICS_FLOW_H

#include <pcsim/dual.h>
#include <pcsim/physics.h>

/* Names an expression of a flow case may use. */
enum { NAME_X, NAME_Y, NAME_Z, NAME_T, NUM_NAMES };

/* ---- joined.c: keys of places that a built-in flow and typed equations read both */

enum { JOINED_KEYS_MAX = 96 };
typedef struct {
  size_t num;
  pcsim_key key[JOINED_KEYS_MAX];
} joined_keys;
/* `own` [n], and in a joined case the names of unknowns and `more` [num_more]. Borrowed from tree and tables.
 */
void joined_keys_of(const pcsim_tree *tree, const pcsim_key *own, size_t n, const pcsim_key *more,
                    size_t num_more, bool unknowns, joined_keys *keys);

/* ---- table.c: numbers over time */

typedef struct {
  int num; /* columns beside the time; 0: no table */
  int64_t num_rows;
  double *row; /* [num_rows][1 + num] ascending times and values */
} flow_table;
/* From the file that `node` names; needs a case that goes through time and rows over all of it. */
bool flow_table_read(pcsim_tree *tree, const pcsim_node *node, flow_table *table);
void flow_table_clear(flow_table *table);
/* Linear between rows; constant outside. `value` [num]. */
void flow_table_at(const flow_table *table, double t, double *value);

/* ---- value.c: expressions of place and time, alone or as a vector; tables over time */

/* Component i is expr[i], times the table where there is one of one column; with none (num 0) the columns
 * are the components. */
typedef struct {
  int num; /* expressions */
  pcsim_expr *expr[3];
  const pcsim_node *node[3];
  flow_table table;
} flow_value;

/* Read a scalar, or a sequence of `dim` expressions (dim 0: two or three, the mesh is not known yet).
 * Problems: wrong count, wrong expression, t in a steady case, z in a plane one. */
bool flow_value_scalar(pcsim_tree *tree, const pcsim_node *node, int dim, flow_value *value);
bool flow_value_vector(pcsim_tree *tree, const pcsim_node *node, const char *what, int dim,
                       flow_value *value);
/* The same, or a table. */
bool flow_value_read(pcsim_tree *tree, const pcsim_node *node, const char *what, bool vector, int dim,
                     flow_value *value);
bool flow_value_changes(const flow_value *value);
void flow_value_clear(flow_value *value);
void flow_value_at(const flow_value *value, const double point[3], double t, double result[3]);
/* Points of a face and weights whose sum is 1: Gauss quadrature, degree 9 on segments, 5 on triangles of a
 * fan. Faces of the cells that there are have four nodes at most. */
enum { FLOW_QUADRATURE_MAX = 4 * 7 };
typedef struct {
  int num;
  double point[FLOW_QUADRATURE_MAX][3], weight[FLOW_QUADRATURE_MAX];
} flow_quadrature;
void flow_face_quadrature(const pcsim_mesh_view *mesh, int64_t face, flow_quadrature *q);
/* The same with derivatives along those of nodes and face centres, both as of the mesh. */
typedef struct {
  int num;
  pcsim_dual point[FLOW_QUADRATURE_MAX][3], weight[FLOW_QUADRATURE_MAX];
} flow_quadrature_dual;
void flow_face_quadrature_dual(const pcsim_mesh_view *mesh, const pcsim_dual *node, const pcsim_dual *centre,
                               int64_t face, flow_quadrature_dual *q);
/* Average over a face by this quadrature. */
void flow_value_face_average(const flow_value *value, const pcsim_mesh_view *mesh, int64_t face, double t,
                             double result[3]);

/* ---- points.c: expressions at many points */

typedef struct {
  int num; /* texts, at most 3 */
  const char *const *texts;
  int num_coordinates; /* 3: x, y, z; 4: and t */
  int64_t num_points;
  const double *x;            /* [num_points][num_coordinates] */
  const char *parameter;      /* derivatives by this one, as it stands in the texts; or NULL and along ... */
  const double *displacement; /* ... [num_points][num_coordinates] of the points */
} point_expressions;
/* value[k], derivative[k] [num_points] of text k; NULL: not wanted. */
pcsim_status point_expressions_evaluate(const pcsim_tree *tree, const point_expressions *e,
                                        double *const *value, double *const *derivative) PCSIM_NODISCARD;

/* ---- model.c: `physics:` */

/* Above this, products of a few values leave the range of doubles. */
#define FLOW_LARGEST 1e100

typedef struct {
  double density, viscosity, force[3];
  bool varies;     /* the viscosity does (viscosity.c): `viscosity` is not a number */
  flow_value push; /* the force where it varies (num > 0): `force` is 0 */
} flow_physics;
/* flow_value_clear its push. */
void flow_physics_read(pcsim_tree *tree, int dim, flow_physics *physics);

/* ---- force.c: a force per volume, constant or an expression of place and time */

void flow_force_read(pcsim_tree *tree, const pcsim_node *node, int dim, flow_physics *physics);
/* At the centres of cells at the problem's time; nothing where it is constant. */
void flow_force_fill(pcsim_flow_problem *problem);
/* The first value of all ranks that is no number or too large is a problem. Collective. */
void flow_force_report(pcsim_tree *tree, const pcsim_flow_problem *problem);
/* The same as an error of this rank. */
pcsim_status flow_force_check(const pcsim_flow_problem *problem) PCSIM_NODISCARD;
/* Its largest magnitude, of all ranks. Collective. */
double flow_force_largest(const pcsim_flow_problem *problem);

/* ---- viscosity.c: a viscosity that depends on place, time, the shear rate, unknowns of joined equations */

/* Is `physics: {viscosity: ..}` more than a number made of parameters? Records no problems. */
bool flow_viscosity_varies(const pcsim_tree *tree, const pcsim_node *physics);
/* Its program (pcsim_flow_view); problems go to the tree, and NULL is handed out. dim 0: the mesh is not
 * known yet. Caller destroys. */
pcsim_status flow_viscosity_read(pcsim_tree *tree, int dim, pcsim_program **law) PCSIM_NODISCARD;
/* Its mean over the cells where the shear rate is `shear` (1/s) and unknowns of `laws` (NULL: none) have
 * their start, 0 with a problem in the tree where it is not positive in a cell. Collective. */
pcsim_status flow_viscosity_mean(pcsim_tree *tree, const pcsim_mesh *mesh, const pcsim_program *law,
                                 const pcsim_transport_view *laws, double time, double shear,
                                 double *mean) PCSIM_NODISCARD;

/* ---- cell_values.c: local programs at the centres of this rank's cells */

typedef struct {
  const pcsim_transport_view *laws; /* NULL: no typed equations */
  int64_t n;
  double *points; /* [n][4] place, time */
  double *column; /* [m + 1][n] unknowns, of their start; what stands for all other inputs */
  double *out;    /* [n][rows] of the last run */
} cell_values;
/* cell_values_free after a failure too. */
pcsim_status cell_values_create(const pcsim_mesh *mesh, const pcsim_transport_view *laws, int rows,
                                cell_values *values) PCSIM_NODISCARD;
void cell_values_free(cell_values *values);
/* Inputs that are no coordinates, fields or unknowns are `other` everywhere. */
pcsim_status cell_values_run(const cell_values *values, const pcsim_program *program, const char *output,
                             double other) PCSIM_NODISCARD;

/* ---- condition.c: one mapping of `boundaries:` */

typedef enum { GIVES_NOTHING, GIVES_VELOCITY, GIVES_PRESSURE, GIVES_FLOW_RATE } flow_gives;
typedef struct {
  const char *name;           /* as written: a name or a pattern */
  const pcsim_node *key;      /* its place */
  pcsim_node *node;           /* the mapping */
  const pcsim_node *periodic; /* the boundary that it continues at; then no kind and no value */
  pcsim_flow_kind kind;
  flow_gives gives;
  flow_value value;
  bool valid;
} flow_condition;
/* The table entry that decides a mapping, NULL if none or more than one does (`*second` gets the other). */
const pcsim_condition *flow_condition_find(const pcsim_node *node, const pcsim_condition **second);
void flow_condition_read(pcsim_tree *tree, int dim, flow_condition *condition);

/* ---- boundary.c: `boundaries:` on a mesh */

/* One key under `boundaries:`: a name or a pattern. */
typedef struct {
  const char *name;
  const pcsim_node *key;
  const pcsim_node *periodic; /* the name of its partner; NULL for what is not periodic */
} boundary_entry;
/* The problem that none of a mesh's `names` [num] is meant by `name`: lists them, with the nearest. */
void boundary_report_no_match(pcsim_tree *tree, const pcsim_node *at, const char *const *names, int num,
                              const char *name);
/* Which entry each patch of the mesh gets, -1 for none: of_patch [num_patches]. Problems: keys that name
 * nothing, patches without an entry (`example` shows one), two patterns for one, periodic ones that the mesh
 * does not join. */
pcsim_status boundary_entries_match(pcsim_tree *tree, const pcsim_mesh *mesh, const boundary_entry *entry,
                                    int num, const char *example, int *of_patch) PCSIM_NODISCARD;

typedef struct {
  int num;
  flow_condition *condition; /* [num] in the order of the case */
  int *of_patch;             /* [num_patches] index into condition, -1 none */
} flow_boundaries;
pcsim_status flow_boundaries_read(pcsim_tree *tree, int dim, flow_boundaries *boundaries) PCSIM_NODISCARD;
pcsim_status flow_boundaries_match(pcsim_tree *tree, const pcsim_mesh *mesh,
                                   flow_boundaries *boundaries) PCSIM_NODISCARD;
void flow_boundaries_clear(flow_boundaries *boundaries);

/* ---- flow_scale.c: scales of a problem */

/* From what is given at boundaries (area and volume over all ranks), forces and the start. Collective. */
void flow_problem_find_scales(pcsim_flow_problem *problem, double area, double volume);
/* A Reynolds number that rounding cannot bear is a problem. */
void flow_problem_check_reynolds(pcsim_tree *tree, const pcsim_flow_view *view);
/* Scales where typed equations push with up to `force` per volume. */
void flow_problem_add_force(pcsim_flow_problem *problem, double force);
/* Where the viscosity varies the view's is its mean at the shear rate of the scales. Collective. */
pcsim_status flow_problem_scale_viscosity(pcsim_tree *tree, pcsim_flow_problem *problem,
                                          const pcsim_transport_view *laws) PCSIM_NODISCARD;

/* ---- flow_problem.c: what other parts of a problem need of it */

/* pcsim_flow_problem_read beside typed equations, which are NULL where there are none. */
pcsim_status flow_problem_read(pcsim_tree *tree, const pcsim_mesh *mesh, const pcsim_transport_view *laws,
                               pcsim_flow_problem **problem) PCSIM_NODISCARD;

/* The arrays `.._along`, where they are not there yet (flow_derivative.c). */
pcsim_status flow_problem_allocate_along(pcsim_flow_problem *problem) PCSIM_NODISCARD;

struct pcsim_flow_problem {
  pcsim_flow_view view;
  const pcsim_tree *tree; /* borrowed */
  const pcsim_mesh *mesh;
  uint8_t *kind;
  double *velocity, *pressure, *start;
  double *patch_area; /* [num_patches] over all ranks */
  int64_t num_faces;
  flow_boundaries boundaries; /* what the values come from */
  double *kinks;
  pcsim_program *law;                      /* of the viscosity; NULL: constant */
  flow_value push;                         /* the force where it varies */
  double *cell_force;                      /* [num_cells][3] its values; NULL: constant */
  double *velocity_along, *pressure_along; /* of flow_derivative.c; NULL before the first */
  double *force_along;                     /* likewise, NULL where the force is constant too */
};

#endif
