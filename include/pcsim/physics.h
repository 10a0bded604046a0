/* SPDX-License-Identifier: BSD-2-Clause */
/** @file physics.h  The problem: model, coefficients, boundary conditions, start; and the fields a
 *  solver hands to who evaluates them. */
#ifndef PCSIM_PHYSICS_H
#define PCSIM_PHYSICS_H

#include <pcsim/autodiff.h>
#include <pcsim/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Condition on a boundary face of an incompressible flow. */
typedef enum {
  PCSIM_FLOW_VELOCITY,       /**< velocity given (inlet) */
  PCSIM_FLOW_PRESSURE,       /**< static pressure given (outlet; safe against backflow) */
  PCSIM_FLOW_TOTAL_PRESSURE, /**< total pressure given, inflow normal to the face */
  PCSIM_FLOW_WALL,           /**< no-slip wall, may move */
  PCSIM_FLOW_SLIP            /**< no flow through, no shear: slip wall, symmetry */
} pcsim_flow_kind;

/* ------------------------------------------------- what can be named in a case */

/** A built-in model: the name `physics: {model: NAME}` and the keys it reads beside it. */
typedef struct {
  const char *name;
  const char *help;
  const pcsim_key *keys;
  size_t num_keys;
} pcsim_model;
/** Every model; `*n` gets how many. */
const pcsim_model *pcsim_model_list(size_t *n);

/** A boundary condition, named by the key that decides it: `{velocity: [1, 0]}`. */
typedef struct {
  const char *name;
  const char *help;
  const pcsim_key *keys; /**< all keys of its mapping, the deciding one first */
  size_t num_keys;
  const char *absent; /**< why the steady flow does not offer it, "" where it does */
} pcsim_condition;
const pcsim_condition *pcsim_condition_list(size_t *n);

/** Mark the boundaries that `pattern` names (a name, or a pattern such as "disk*"; an exact name wins) in
 *  `wanted` [num_patches]. None: a problem at `at` that lists the mesh's names and the nearest; returns
 * false. */
bool pcsim_patch_select(pcsim_tree *tree, const pcsim_node *at, const pcsim_mesh *mesh, const char *pattern,
                        bool *wanted);
/** What kind of condition each boundary has: `kind` [num_patches] gets a pcsim_flow_kind, or -1 where the
 *  case names none or a wrong one. Records no problems. */
void pcsim_flow_kinds(const pcsim_tree *tree, const pcsim_mesh *mesh, int *kind);

/* -------------------------------------------------------------------- motion */

/** Does `mesh: {move: {NAME: [dx, dy], ..}}` move boundaries of the mesh? */
bool pcsim_motion_given(const pcsim_tree *tree);
/** Check its expressions, which may use x, y, z and the parameters; problems go to the tree. */
void pcsim_motion_check(pcsim_tree *tree);
/** Displacement [num_nodes][3] of all nodes of the mesh as the mesher made it, m; `parameter`: NULL, or a
 *  parameter of the case: its derivative by that one as it stands in the expressions
 *  (pcsim_parameters_chain). pcsim_raw_mesh_extend has the rules. Local: who has the raw mesh. Errors:
 *  ERR_CASE with every problem (names that are no boundary, wrong number of components, boundaries that
 *  part), ERR_MEMORY. */
pcsim_status pcsim_motion_displacement(pcsim_tree *tree, const pcsim_raw_mesh *raw, const char *parameter,
                                       double *displacement) PCSIM_NODISCARD;
/** Move the mesh so. Errors: as above, ERR_CASE for a cell that is turned inside out. */
pcsim_status pcsim_motion_apply(pcsim_tree *tree, pcsim_raw_mesh *raw) PCSIM_NODISCARD;

/* ---------------------------------------------------------------------- time */

/** How to go through time. */
typedef enum { PCSIM_TIME_TR_BDF2, PCSIM_TIME_BDF2 } pcsim_time_scheme;

/** `solve: {time: ...}`. */
typedef struct {
  bool given; /**< false: the case is steady */
  pcsim_time_scheme scheme;
  double start, end;   /**< s, start < end */
  double tolerance;    /**< of a step's error relative to the unknowns' scales, > 0 */
  double step;         /**< s, > 0: fixed steps; 0: the tolerance decides */
  double first, least; /**< s; first 0: chosen */
  double most;         /**< s, largest step; 0: as the tolerance allows */
  int64_t steps;       /**< limit */
} pcsim_time;
/** Does the case go through time? Records no problems. */
bool pcsim_time_given(const pcsim_tree *tree);
/** Read and check; problems go to the tree (each once, whoever reads). */
void pcsim_time_read(pcsim_tree *tree, pcsim_time *time);
/** Keys of `solve.time:`. */
const pcsim_key *pcsim_time_keys(size_t *n);

/* ------------------------------------------------------------------- the problem */

/** An incompressible flow on one mesh: what the case says, evaluated on that mesh, at one time. */
typedef struct pcsim_flow_problem pcsim_flow_problem;

/* -------------------------------------------------------------- what to start from */

/** What `initial:` says beside expressions. */
typedef struct {
  const pcsim_node *run; /**< folder of a run whose fields are taken; NULL: none */
  int64_t coarser;       /**< solve on so many coarser meshes before, each the start of the next */
  bool potential;        /**< of a flow: potential flow */
} pcsim_start;
/** The keys of it, for every problem; `*n` gets how many. */
const pcsim_key *pcsim_start_keys(size_t *n);
/** Read them; problems go to the tree. */
void pcsim_start_read(pcsim_tree *tree, pcsim_start *start);

/** Arrays of a problem; borrowed. Boundary faces count from 0 = face num_interior_faces of the mesh. */
typedef struct {
  int dim;
  double density;                     /**< kg/m^3 */
  double viscosity;                   /**< dynamic, Pa s; where it varies a mean at the scales below */
  const pcsim_program *viscosity_law; /**< NULL: constant. Output "viscosity" on "points", Pa s, of
                                         "coordinates" [4] (x, y, z, t), "shear" (the shear rate sqrt(2 D:D),
                                         1/s) and unknowns of equations that join; those that it needs */
  double force[3];                    /**< per volume, N/m^3; 0 where it varies */
  const double *cell_force;           /**< [num_cells][3] at cell centres where it varies, else NULL */
  const uint8_t *kind;                /**< [num_boundary_faces] pcsim_flow_kind */
  const double *velocity; /**< [num_boundary_faces][3] face average for VELOCITY and WALL; else 0 */
  const double *pressure; /**< [num_boundary_faces] face average for (TOTAL_)PRESSURE; else 0 */
  const double *start;    /**< [num_cells][4] velocity and pressure to start from */
  bool has_start;         /**< false: the case gives no `initial`, `start` holds a uniform guess */
  bool pressure_free;     /**< no boundary fixes the pressure: the solver must fix its level */
  double velocity_scale;  /**< largest boundary velocity (of all times) or sqrt(pressure difference/density),
                             > 0 */
  double length_scale;    /**< volume/boundary area based size of the domain, m */
  bool changes;           /**< velocity or pressure of a boundary, or the force, depend on the time */
  double time;            /**< the one they are of */
  int64_t num_kinks;
  const double *kinks; /**< [num_kinks] ascending times at which tables bend */
  bool joined;         /**< typed equations join it: the force is theirs, `force` is 0, `cell_force` NULL */
} pcsim_flow_view;

/** Read `physics:`, `boundaries:`, `initial:` of a flow model for this mesh (collective). Every fault is
 *  a problem in the tree: misspelt boundary (lists the mesh's names), boundary without condition, two
 *  conditions on one, patterns, wrong expressions, negative viscosity, all-velocity boundaries with a net
 *  inflow. Face values are averages by Gauss quadrature; where every boundary gives the velocity they
 *  are corrected to sum to zero (by a uniform normal velocity where the flow is given, at most 0.1 % of
 *  the inflow; more is a problem). `{flow-rate: q}` is uniform and normal, q > 0 into the domain. The
 * velocity of a wall is handed out without its normal part. Returns OK with `*problem` NULL if it found
 * problems, so that other readers can add theirs: ask pcsim_tree_status. Caller destroys. */
pcsim_status pcsim_flow_problem_read(pcsim_tree *tree, const pcsim_mesh *mesh,
                                     pcsim_flow_problem **problem) PCSIM_NODISCARD;
const pcsim_flow_view *pcsim_flow_problem_get(const pcsim_flow_problem *problem);
/** Boundary values and the force at another time, in the arrays of the view. Collective. Errors: ERR_CASE
 * (values that are no numbers, flows that do not balance; names place and time). */
pcsim_status pcsim_flow_problem_set_time(pcsim_flow_problem *problem, double t) PCSIM_NODISCARD;
/** Start from these values [num_cells][4], copied, velocity and pressure in the units of the case, in place
 * of `initial`. Where nothing else moves the fluid their speed becomes the velocity scale: call it before a
 * solver is made. Collective. */
void pcsim_flow_problem_set_start(pcsim_flow_problem *problem, const double *values);
void pcsim_flow_problem_destroy(pcsim_flow_problem **problem);

/** How all that a flow is given changes with one parameter of the case, in the units of the view. */
typedef struct {
  double density;
  double force[3];          /**< 0 where typed equations have it or it varies */
  const double *cell_force; /**< [num_cells][3] where it varies, else NULL; borrowed as the next two */
  double viscosity;         /**< 0 where it varies: its law has the parameters itself */
  const double *velocity;   /**< [num_boundary_faces][3], borrowed until the next derivative */
  const double *pressure;   /**< [num_boundary_faces], likewise */
} pcsim_flow_derivative;
/** Exactly, by the tangent of the case's expressions; parameters that are made of this one follow it, as do
 *  balanced inflows. Of a steady problem, whose tree must still be there. Collective. Errors: ERR_ARG (no
 * such parameter; names the nearest), ERR_MEMORY. */
pcsim_status pcsim_flow_problem_derivative(pcsim_flow_problem *problem, const char *parameter,
                                           pcsim_flow_derivative *derivative) PCSIM_NODISCARD;

/** The same with a motion of the mesh, the parameters being kept: values that depend on the place, flow rates
 *  over areas that change, walls that turn. Collective. Errors: ERR_MEMORY. */
pcsim_status pcsim_flow_problem_motion(pcsim_flow_problem *problem, const pcsim_mesh_tangent *motion,
                                       pcsim_flow_derivative *derivative) PCSIM_NODISCARD;

/** Check the parts of the case that do not need a mesh; problems go to the tree. */
void pcsim_flow_problem_check(pcsim_tree *tree);

/** Fields of a flow as a solver hands them out; borrowed from the solver, valid until its next step.
 *  n = num_cells + num_ghosts, nb = boundary faces. */
typedef struct {
  const pcsim_mesh *mesh;
  double density, viscosity;
  const double *velocity;          /**< [n][3] m/s */
  const double *pressure;          /**< [n] Pa */
  const double *velocity_gradient; /**< [n][3][3] d u_i / d x_j */
  const double *pressure_gradient; /**< [n][3] */
  const double *face_velocity;     /**< [nb][3] on boundary faces */
  const double *face_pressure;     /**< [nb] */
  const double
      *face_friction;      /**< [nb][3] viscous force of the fluid on the boundary, N (per m depth in 2D) */
  const double *face_flow; /**< [nb] volume flow out of the domain, m^3/s */
  double time;             /**< of these values, s; 0 in a steady flow */
} pcsim_flow_fields;

/* --------------------------------------------------- typed conservation laws */

/** What a boundary does to one unknown. */
typedef enum {
  PCSIM_TRANSPORT_VALUE, /**< the unknown is given */
  PCSIM_TRANSPORT_FLUX,  /**< the outward flux F.n of its equation is given (Neumann, Robin) */
  PCSIM_TRANSPORT_FREE   /**< the flux of the state inside, extrapolated to the face (outflow) */
} pcsim_transport_kind;

/* Programs of a typed problem live on the space "points". Their inputs, those of them that are needed:
 *    "coordinates" [4]       x, y, z, t (z = 0 in 2D)
 *    "u", "u_x", ...         unknowns and first derivatives by x, y (and z in 3D) in place, one row each
 *    "n.x", "n.y", ("n.z")   unit normal out of the domain; conditions only
 *    "region"                number of the mesh region of the cell that is evaluated (view: fields)
 *  and the parameters of the case as parameters of the program, 1 x 1, with their values. Outputs lie on
 *  "points" too. pcsim_program_input tells which inputs there are. */

/** One entry of `boundaries:` on the faces that it names; periodic ones have none and are left out. Row i of
 * the programs' outputs belongs to unknown (and equation) i of the view. */
typedef struct {
  const char *name;             /**< key in the case: a boundary or a pattern */
  const uint8_t *kind;          /**< [m] pcsim_transport_kind */
  const pcsim_program *program; /**< outputs "value" [m], "flux" [m]; rows that do not count are 0. `value`
                                   depends on no unknown, `flux` on values of unknowns, not on derivatives */
  const pcsim_program *lowered; /**< the same before simplification: rows as outputs "0", "1", ... */
  int64_t num_faces;            /**< on this rank */
  const int64_t *face;          /**< [num_faces] boundary faces, 0 = face num_interior_faces of the mesh */
} pcsim_transport_condition;

/** A source in points: one point, or quadrature points along a segment. Cell cell[i] gains weight[i] times
 *  "value" at point[i]; in `dt A + div F + source = 0` integrated over a cell it counts negative. */
typedef struct {
  const pcsim_program *program; /**< output "value" [m]: strength, for a segment per length; of coordinates */
  int64_t num_points;           /**< in cells of this rank */
  const int32_t *cell;          /**< [num_points] owned cell */
  const double *point;          /**< [num_points][3] */
  const double *weight;         /**< [num_points] 1 for a point, a length for a segment */
} pcsim_transport_source;

/** Conservation laws as typed in a case: dt A + div F + source = 0 for m unknowns on one mesh. */
typedef struct pcsim_transport_problem pcsim_transport_problem;

/** Parts of a typed problem; borrowed. */
typedef struct {
  int dim;
  int num_unknowns;           /**< m: also the number of equations; equation i is that of unknown i */
  const char *const *unknown; /**< [m] names */
  const char *const
      *written;         /**< [m][3] as typed: what stands under dt, under div, and the rest; "" nothing */
  const bool *has_time; /**< [m] equation i has a time derivative */
  bool has_any_time;    /**< one of them has */
  const double *scale;  /**< [m] typical magnitude of each unknown, > 0 */
  double length_scale;  /**< m, > 0 */
  const pcsim_program *terms;   /**< outputs "accumulation" [m], "flux" [dim*m] (row j*m + i: component j of
                                   equation i), "source" [m] with its sign in the equation; accumulation uses
                                   no derivatives */
  const pcsim_program *lowered; /**< the same before simplification: rows as outputs "0", "1", ... */
  int num_fields;               /**< cell fields that the programs read by name */
  const char *const *field;     /**< [num_fields] names of inputs */
  const double *const *values;  /**< [num_fields] -> [num_cells + num_ghosts] */
  const int32_t *material; /**< [num_cells + num_ghosts] a face between two different ones is an interface
                              across which coefficients jump; NULL: no jumps */
  int num_conditions;
  const pcsim_transport_condition *condition; /**< [num_conditions]; every boundary face is in one */
  int num_sources;
  const pcsim_transport_source *source; /**< [num_sources] */
  const pcsim_program *initial;         /**< output "start" [m] of coordinates; NULL: the case gives none */
  const double *start;        /**< [num_cells][m]: `initial` at cell centres, else a uniform guess */
  int num_carriers;           /**< d where the equations join a built-in flow, else 0 */
  const char *const *carrier; /**< [num_carriers] inputs of the programs that are the flow's velocity */
  const pcsim_program *force; /**< of a joined flow: output "force" [dim] per volume, of unknowns, place and
                                 velocity; NULL: none */
  int64_t num_kinks;
  const double *kinks; /**< [num_kinks] ascending times at which tables bend, inside the span of the run */
} pcsim_transport_view;

/** Keys of `physics:` with typed equations; `*n` gets how many. */
const pcsim_key *pcsim_transport_keys(size_t *n);
/** Does `physics:` hold typed equations and no built-in model? */
bool pcsim_transport_given(const pcsim_tree *tree);
/** Typed equations that join a built-in flow? Then the boundaries have conditions of both, the equations may
 * name the flow's velocity u, v, w, and `force` of the flow may depend on the unknowns. */
bool pcsim_joined_given(const pcsim_tree *tree);
/** Read both parts of such a case, as pcsim_flow_problem_read and pcsim_transport_problem_read do: both are
 * NULL if there are problems. Caller destroys both. Collective. Errors: ERR_ARG (no such case), and of both.
 */
pcsim_status pcsim_joined_problem_read(pcsim_tree *tree, const pcsim_mesh *mesh, pcsim_flow_problem **flow,
                                       pcsim_transport_problem **transport) PCSIM_NODISCARD;
/** Read `physics:`, `boundaries:`, `initial:` of typed equations for this mesh (collective). Every fault is a
 *  problem in the tree, all in one pass: equations that are no conservation laws (with the writing that is
 * one where there is one), counts and names of unknowns, wrong names and expressions, boundaries without a
 *  condition for an unknown, a level that nothing fixes, values that are not finite. Returns OK with
 * `*problem` NULL if it found problems: ask pcsim_tree_status. The mesh must outlive it. Caller destroys. */
pcsim_status pcsim_transport_problem_read(pcsim_tree *tree, const pcsim_mesh *mesh,
                                          pcsim_transport_problem **problem) PCSIM_NODISCARD;
const pcsim_transport_view *pcsim_transport_problem_get(const pcsim_transport_problem *problem);
/** Start from these values [num_cells][m], copied, in the units of the case, in place of `initial`; the
 * scales of the unknowns become as large. Collective. */
void pcsim_transport_problem_set_start(pcsim_transport_problem *problem, const double *values);
void pcsim_transport_problem_destroy(pcsim_transport_problem **problem);
/** Check the parts of the case that do not need a mesh; problems go to the tree. */
void pcsim_transport_problem_check(pcsim_tree *tree);

/** Fields of typed laws as a solver hands them out; borrowed from the solver, valid until its next step.
 *  n = num_cells + num_ghosts, nb = boundary faces. */
typedef struct {
  const pcsim_mesh *mesh;
  int num_unknowns;               /**< m */
  const char *const *name;        /**< [m] */
  const double *const *value;     /**< [m] -> [n] */
  const double *const *gradient;  /**< [m] -> [n][3] */
  const double *const *face;      /**< [m] -> [nb] on boundary faces */
  const double *const *face_flux; /**< [m] -> [nb] flux of the equation out of the domain, times the area */
  int degree;                     /**< of the polynomials that stand for the unknowns in the cells: 1, 2, 3 */
  int num_derivatives;            /**< e: of a polynomial about the cell's centre */
  const double *derivatives; /**< [n][m][e] first ones by x, y(, z), then second ones xx, xy, .., then third
                                  ones xxx, xxy, .. */
  double time;               /**< of these values; 0 in a steady problem */
} pcsim_transport_fields;

/* ---------------------------------------------------------------- functionals */

typedef enum {
  PCSIM_FUNCTIONAL_INTEGRAL, /**< over the domain, regions or boundaries */
  PCSIM_FUNCTIONAL_MEAN,     /**< the integral over the volume or area of the same place */
  PCSIM_FUNCTIONAL_NORM,     /**< root of the integral of the square */
  PCSIM_FUNCTIONAL_POINT,    /**< at a point: unknowns from the cell around it and their gradients */
  PCSIM_FUNCTIONAL_FLUX,  /**< flux of one equation out of boundaries, as the residual has it; typed laws */
  PCSIM_FUNCTIONAL_FORCE, /**< of the fluid on boundaries, in a direction: N (N/m in the plane); flows */
  PCSIM_FUNCTIONAL_FLOW_RATE, /**< volume flow out of boundaries: m^3/s (m^2/s); flows */
  PCSIM_FUNCTIONAL_WEIGHTED   /**< the sum of the fields times given weights: what is left of any number when
                                   it is differentiated by them */
} pcsim_functional_kind;
/** Derivatives of a number by the fields that a solver hands out (pcsim_fields), in units of the number over
 * theirs. Borrowed arrays of this rank. */
typedef struct {
  int num;            /**< fields, as in pcsim_fields: u, v, w, p of a flow, then unknowns of typed laws */
  const double *cell; /**< [num_cells][num][4] by the value, by its gradient along x, y, z */
  const double *face; /**< [boundary faces][num] by the value there */
  const double *friction; /**< [boundary faces][3] by a flow's friction on the face; NULL: by none */
} pcsim_field_weights;
/** A number that depends on the solution, such as a monitor's. */
typedef struct {
  pcsim_functional_kind kind;
  const pcsim_program *program; /**< of the first four: what pcsim_lower gives for one expression (output "0")
                                   of the unknowns, their first derivatives (on boundaries those of the cell
                                     behind), the problem's fields and the coordinates [2], [3] or, with z and
                                     the time, [4]; borrowed. Parameters have the values that the program
                                     holds */
  bool on_boundary;             /**< `where` names boundaries: always so of the last three; the first three
                                     over boundaries are offered of typed laws */
  int num_where;                /**< 0: the whole domain, not of boundaries */
  const char *const *where;     /**< [num_where] regions or boundaries; not of POINT */
  int unknown;                  /**< FLUX: its equation */
  double point[3];              /**< POINT: m */
  double direction[3];          /**< FORCE */
  const pcsim_field_weights *weights; /**< WEIGHTED: borrowed; no derivatives by shapes, no estimates */
} pcsim_functional;
/** Derivatives by each parameter of the case as it stands in the programs become those by the parameter with
 *  all that it goes into: derivative [pcsim_tree_parameters] gains what later parameters, which are
 *  expressions of earlier ones, hand on. Local. Errors: ERR_CASE, ERR_MEMORY. */
pcsim_status pcsim_parameters_chain(const pcsim_tree *tree, double *derivative) PCSIM_NODISCARD;

/* ------------------------------------------------------------ fields by name */

/** One scalar field; components of a vector lie interleaved. n = num_cells + num_ghosts, nb = boundary faces.
 */
typedef struct {
  const char *name, *unit;
  int stride;             /**< 1, or the number of components of its vector */
  const double *value;    /**< of cell c < n: value[stride * c] */
  const double *gradient; /**< of cell c < n: gradient[3 * stride * c + j], j = 0, 1, 2 */
  const double *face;     /**< on boundary face b < nb: face[stride * b] */
  const double *flux;     /**< [nb] flux of its conservation law out of the domain, times the area; or NULL */
} pcsim_scalar;

/** The fields of any problem, as who evaluates and writes them sees them. Borrowed like what they are made
 * of. */
typedef struct {
  const pcsim_mesh *mesh;
  double time; /**< of these values; 0 in a steady problem */
  int num;
  const pcsim_scalar *scalar;    /**< [num]; a flow's are u, v, w, p, w = 0 in 2D */
  const pcsim_flow_fields *flow; /**< what only a flow has; NULL for typed laws */
} pcsim_fields;

enum { PCSIM_FLOW_NUM_FIELDS = 4 };
/** The list over a flow's fields; `scalar` [PCSIM_FLOW_NUM_FIELDS] is room that must live as long as it. */
pcsim_fields pcsim_fields_of_flow(const pcsim_flow_fields *flow, pcsim_scalar *scalar);
/** Both, the flow's first; `scalar` [PCSIM_FLOW_NUM_FIELDS + num_unknowns]. */
pcsim_fields pcsim_fields_of_joined(const pcsim_flow_fields *flow, const pcsim_transport_fields *laws,
                                    pcsim_scalar *scalar);
/** The same over those of typed laws; `scalar` [num_unknowns]. */
pcsim_fields pcsim_fields_of_transport(const pcsim_transport_fields *transport, pcsim_scalar *scalar);

#ifdef __cplusplus
}
#endif
#endif
