/* SPDX-License-Identifier: BSD-2-Clause */
/** @file autodiff.h  Pointwise programs: building, transforming, compiling, running and saving them.
 *
 *  A program is a typed graph of values, each written once. A value lives on an index space (cells, faces,
 *  collocation points) or on none (it is the same for all points: parameters, sums over points), and has
 *  `rows` numbers a point. Operators act point by point; maps join spaces. Transforms take a program and
 *  give a program, so they nest. Includes base only. */
#ifndef PCSIM_AUTODIFF_H
#define PCSIM_AUTODIFF_H

#include <pcsim/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ building */

typedef struct pcsim_program pcsim_program;
/** Number of a value in its program. A builder call that fails returns PCSIM_NO_VALUE, records the first
 *  fault in the program, and later calls that get PCSIM_NO_VALUE return it silently: check once, at the
 *  end, with pcsim_program_status. */
typedef int32_t pcsim_value;
#define PCSIM_NO_VALUE ((pcsim_value)-1)
/** Number of an index space in its program; PCSIM_NO_SPACE: the same for all points. */
typedef int32_t pcsim_space;
#define PCSIM_NO_SPACE ((pcsim_space)-1)

/* clang-format off */
/** Operators point by point; X(enum, name, number of inputs). Comparisons give 1 or 0. The order is part
 *  of the file format: append only. */
#define PCSIM_OP_LIST(X)                                                                                     \
  X(NEG, "neg", 1) X(ADD, "add", 2) X(SUB, "sub", 2) X(MUL, "mul", 2) X(DIV, "div", 2) X(POW, "pow", 2)      \
  X(EXP, "exp", 1) X(LOG, "log", 1) X(SIN, "sin", 1) X(COS, "cos", 1) X(TAN, "tan", 1)                       \
  X(ASIN, "asin", 1) X(ACOS, "acos", 1) X(ATAN, "atan", 1) X(ATAN2, "atan2", 2) X(SINH, "sinh", 1)           \
  X(COSH, "cosh", 1) X(TANH, "tanh", 1) X(SQRT, "sqrt", 1) X(CBRT, "cbrt", 1) X(ABS, "abs", 1)               \
  X(MIN, "min", 2) X(MAX, "max", 2) X(SIGN, "sign", 1) X(STEP, "step", 1) X(ERF, "erf", 1)                   \
  X(SIGMOID, "sigmoid", 1) X(SOFTPLUS, "softplus", 1) X(GELU, "gelu", 1) X(SWISH, "swish", 1)                \
  X(LT, "lt", 2) X(LE, "le", 2) X(EQ, "eq", 2) X(AND, "and", 2) X(OR, "or", 2) X(NOT, "not", 1)              \
  X(WHERE, "where", 3) X(FLOOR, "floor", 1) X(HYPOT, "hypot", 2)
/* clang-format on */
typedef enum {
#define PCSIM_OP_ENUM(op, name, inputs) PCSIM_OP_##op,
  PCSIM_OP_LIST(PCSIM_OP_ENUM)
#undef PCSIM_OP_ENUM
      PCSIM_NUM_OPS
} pcsim_op;

pcsim_status pcsim_program_create(pcsim_program **program) PCSIM_NODISCARD;
void pcsim_program_destroy(pcsim_program **program);
/** OK, or the first fault of building. */
pcsim_status pcsim_program_status(const pcsim_program *program) PCSIM_NODISCARD;
/** Deep copy; caller destroys. */
pcsim_status pcsim_program_copy(const pcsim_program *program, pcsim_program **copy) PCSIM_NODISCARD;

/** Name a space ("cells"); its number of points is given at run time. */
pcsim_space pcsim_build_space(pcsim_program *program, const char *name);
/** Data [points][rows] given at run time. Names of inputs and parameters are unique. */
pcsim_value pcsim_build_input(pcsim_program *program, const char *name, pcsim_space space, int rows);
/** Numbers [rows][columns] that training changes; row-major; the program keeps their values. */
pcsim_value pcsim_build_parameter(pcsim_program *program, const char *name, int rows, int columns);
pcsim_value pcsim_build_constant(pcsim_program *program, double value);
/** Constant column of `rows` numbers; copied. */
pcsim_value pcsim_build_constants(pcsim_program *program, int rows, const double *values);
/** An operator on values with the same rows, or one row (broadcast). */
pcsim_value pcsim_build_op(pcsim_program *program, pcsim_op op, const pcsim_value *inputs, int num_inputs);
pcsim_value pcsim_build_unary(pcsim_program *program, pcsim_op op, pcsim_value a);
pcsim_value pcsim_build_binary(pcsim_program *program, pcsim_op op, pcsim_value a, pcsim_value b);
/** W x + bias; weight [rows out][rows in], bias [rows out][1] or PCSIM_NO_VALUE. */
pcsim_value pcsim_build_dense(pcsim_program *program, pcsim_value weight, pcsim_value x, pcsim_value bias);
/** W^T x. */
pcsim_value pcsim_build_dense_transposed(pcsim_program *program, pcsim_value weight, pcsim_value x);
/** Sum over points of y x^T: [rows of y][rows of x], on no space. */
pcsim_value pcsim_build_outer(pcsim_program *program, pcsim_value y, pcsim_value x);
pcsim_value pcsim_build_concat(pcsim_program *program, const pcsim_value *values, int n);
pcsim_value pcsim_build_slice(pcsim_program *program, pcsim_value a, int first, int rows);
/** Sum of the rows: one row. */
pcsim_value pcsim_build_row_sum(pcsim_program *program, pcsim_value a);
/** Sum, mean over points: on no space. */
pcsim_value pcsim_build_sum(pcsim_program *program, pcsim_value a);
pcsim_value pcsim_build_mean(pcsim_program *program, pcsim_value a);
/** The same value without derivative. */
pcsim_value pcsim_build_frozen(pcsim_program *program, pcsim_value a);
/** What the program gives, by name. */
void pcsim_build_output(pcsim_program *program, const char *name, pcsim_value value);
/** Name of input i in the order of building, NULL past the last; `*rows` (may be NULL) gets its rows, `*used`
 *  (may be NULL) whether an output depends on it. Borrowed. */
const char *pcsim_program_input(const pcsim_program *program, int i, int *rows, bool *used);

/** Name of output i in the order of building, NULL past the last; `*rows` (may be NULL) gets its rows. */
const char *pcsim_program_output(const pcsim_program *program, int i, int *rows);
/** The same of its parameters; `*columns` too. */
const char *pcsim_program_parameter_name(const pcsim_program *program, int i, int *rows, int *columns);
/** Do outputs depend on no operator that jumps or bends (abs, min, max, sign, step, comparisons, where,
 * floor, least and largest of a row, tables; user operators are taken for such)? Their derivatives leave out
 * what the jumps and bends hold. */
bool pcsim_program_is_smooth(const pcsim_program *program);

/** The piecewise linear function through points x [points] (ascending, two or more), y [points], at every
 *  number of `a` [rows]; beyond the ends the last value goes on. The numbers are copied into the program.
 * Derivative: the slope of the piece, at a point of the table that to its right, 0 beyond the ends. */
pcsim_value pcsim_build_table(pcsim_program *program, int points, const double *x, const double *y,
                              pcsim_value a);

/** Values strictly between `from` and `to` of row `row` (from 0) of an input at which the argument of a table
 *  passes one of its points, added to `*points` [*num], which stays ascending, each once: where the program
 *  bends. Followed are arguments that are linear in that row alone, with parameters as they are now; a name
 * or row that the program does not have adds none. `*num` 0 and `*points` NULL at first; caller frees
 * `*points` with pcsim_free, after an error too. Errors: ERR_MEMORY. */
pcsim_status pcsim_program_table_points(const pcsim_program *program, const char *input, int row, double from,
                                        double to, int64_t *num, double **points) PCSIM_NODISCARD;
/** Numbers that are constant but where the output bends or jumps, or may: signs of what `abs` is taken of,
 * which is less of those that `min` and `max` choose from, comparisons, sign, step, floor, slopes of tables:
 * `*switches` has one output, "switches", of the first 256 of them. NULL: there are none. Caller destroys.
 * Errors: ERR_ARG (no such output), ERR_MEMORY. */
pcsim_status pcsim_program_switches(const pcsim_program *program, const char *output,
                                    pcsim_program **switches) PCSIM_NODISCARD;

/* Maps between spaces; the index and weight arrays are given at run time by the map's name. */
typedef int32_t pcsim_map;
#define PCSIM_NO_MAP ((pcsim_map)-1)
/** Each point of `to` names one point of `from`: gather from -> to, scatter-add to -> from. */
pcsim_map pcsim_build_index_map(pcsim_program *program, const char *name, pcsim_space to, pcsim_space from);
/** Sparse matrix [points of to][points of from] by rows, with `width` weights an entry: a value with r rows
 *  becomes r * width rows, row r * width + w. */
pcsim_map pcsim_build_sparse_map(pcsim_program *program, const char *name, pcsim_space to, pcsim_space from,
                                 int width);
pcsim_value pcsim_build_gather(pcsim_program *program, pcsim_map map, pcsim_value a);
pcsim_value pcsim_build_scatter_add(pcsim_program *program, pcsim_map map, pcsim_value a);
pcsim_value pcsim_build_sparse(pcsim_program *program, pcsim_map map, pcsim_value a);
pcsim_value pcsim_build_sparse_transposed(pcsim_program *program, pcsim_map map, pcsim_value a);
/** Least, largest value over the entries of each row of a sparse map (weights unused). Derivative: that of
 *  the first entry that attains it. */
pcsim_value pcsim_build_segment_min(pcsim_program *program, pcsim_map map, pcsim_value a);
pcsim_value pcsim_build_segment_max(pcsim_program *program, pcsim_map map, pcsim_value a);

/** One input of a part and the value that takes its place. */
typedef struct {
  const char *name;
  pcsim_value value;
} pcsim_argument;
/** Write a program out once more inside another: values of `part`, which knows one space at most and no maps,
 *  on `space` of `program`, with the arguments (on `space` or on none) in the place of its inputs. Arguments
 *  that are no inputs are left aside; parameters of one name are one. `values` [num_outputs] gets those of
 *  the named outputs, on `space`. A fault is recorded in the program, as by any builder: an output that is
 *  not there, an input that is needed and not given, rows that differ. */
void pcsim_build_part(pcsim_program *program, const pcsim_program *part, pcsim_space space,
                      const pcsim_argument *arguments, int num_arguments, const char *const *outputs,
                      int num_outputs, pcsim_value *values);

/* ------------------------------------------------------------- user operators */

/** An operator from outside: value and rules, usable wherever the built-in ones are. */
typedef struct {
  const char *name;
  int num_inputs;
  /** Values of n points: in[i] and out are arrays [n]. */
  void (*value)(void *context, int64_t n, const double *const *in, double *out);
  /** Build d out / d in[i] from the inputs (and the output) in the program: makes every transform work. */
  pcsim_value (*derivative)(void *context, pcsim_program *program, int i, const pcsim_value *in,
                            pcsim_value out);
  void *context;
} pcsim_user_op;
/** Registers a copy with the program; returns its number for pcsim_build_user. */
int pcsim_program_add_op(pcsim_program *program, const pcsim_user_op *op);
pcsim_value pcsim_build_user(pcsim_program *program, int op, const pcsim_value *inputs);

/* ------------------------------------------------------------------ lowering */

/** A table that expressions look up by table(name, x): two numbers a line of the file, separated by a comma,
 * a semicolon or blanks, the first ascending; '#' starts a comment, the first line may hold names. */
typedef struct {
  const char *name, *path;
} pcsim_lowering_table;
/** Names an expression may use; all different. Unknowns are differentiable by suffix: u_x, u_xx, u_x1_x1 (the
 *  order does not matter). The coordinate "t" is time; the others, without `num_inputs`, span the space of
 * lap, grad, div and dn. */
typedef struct {
  int num_coordinates;
  const char *const *coordinates; /**< "x", "y", "t": rows of the input "coordinates" of the program */
  int num_unknowns;
  const char *const *unknowns;
  int num_parameters;
  const char *const *parameters;
  const double *values; /**< [num_parameters]: constants of the program; NULL: parameters of it (1 x 1, zero
                           until set through pcsim_program_parameter), to be fitted or differentiated by */
  int num_tables;
  const pcsim_lowering_table
      *tables;    /**< read when an expression uses them; their numbers stay in the program */
  int num_inputs; /**< the last so many coordinates are neither space nor time: a family's parameters, with
                     derivatives by suffix alone */
} pcsim_lowering;
/** Program of the expressions: input "coordinates" [num_coordinates] on space "points" (if there are any);
 * one input for each unknown and derivative that is needed ("u", "u_xx"; the letters in the order of the
 *  coordinates, so u_yx is "u_xy"), sorted by unknown, order and coordinates; "n.x", "n.y" of the outward
 * normal where dn occurs; outputs "0", "1", ... Numbers: lap(e), div(v), div(a, b), dt(e), dn(e), dot(v, w);
 * vectors: grad(e), vector(a, b), sums, multiples and where(c, v, w) of vectors. `e` is any expression:
 * table(name, x) is a number. Products and nested derivatives are expanded by the chain rule. An expression
 * of numbers alone gives an output on no space. On failure `*which` is the text (-1: the names) and `*offset`
 * the place in it (both may be NULL). Errors: ERR_CASE. Caller destroys. */
pcsim_status pcsim_lower(const char *const *texts, int n, const pcsim_lowering *names,
                         pcsim_program **program, int *which, size_t *offset) PCSIM_NODISCARD;
/** Which derivative an input of a lowered program is: unknown and order by each coordinate, `orders`
 *  [num_coordinates]. Errors: ERR_CASE if it is none of an unknown. */
pcsim_status pcsim_lowering_derivative(const pcsim_lowering *names, const char *input, int *unknown,
                                       int *orders) PCSIM_NODISCARD;
/** `outer` with every input that has the name of an output of `inner` replaced by that output. Other inputs
 * and parameters of one name are one (the value of a parameter is the inner one), as are spaces and maps.
 * Outputs: those of `outer`. Simplified. Errors: ERR_ARG where sizes, spaces or maps of one name differ.
 * Caller destroys. */
pcsim_status pcsim_program_compose(const pcsim_program *outer, const pcsim_program *inner,
                                   pcsim_program **out) PCSIM_NODISCARD;
/** A lowered program for unknowns that the program `fields` gives (a network, a trial function): outputs with
 * the names of the unknowns, one row each, of the input "coordinates". Its partial derivatives take the place
 * of the inputs "u_xx"; of the unknowns only coordinates, parameters and normals are left. Derivatives that
 * are used in weighted sums only go through `fields` as one where that has fewer operations (weights may be
 * any values). Caller destroys. */
pcsim_status pcsim_lower_compose(const pcsim_program *lowered, const pcsim_lowering *names,
                                 const pcsim_program *fields, pcsim_program **out) PCSIM_NODISCARD;

/* ---------------------------------------------------------------- transforms */

/* All keep the outputs of the program, simplify on the way (pcsim_program_simplify says what that means), and
 * may be applied to their own results: the second tangents are named "d2_", the third "d3_", likewise "b2_"
 * and "v2_"; the level is the least at which no name is taken. Caller destroys the result. */

/** Tangents of all outputs along inputs or parameters `wrt` [n]: adds an input "d_NAME" for each and an
 * output "d_OUT" for each output. */
pcsim_status pcsim_transform_jvp(const pcsim_program *program, const char *const *wrt, int n,
                                 pcsim_program **out) PCSIM_NODISCARD;
/** Cotangents: adds an input "b_OUT" for each output and an output "b_NAME" for each of `wrt`. */
pcsim_status pcsim_transform_vjp(const pcsim_program *program, const char *const *wrt, int n,
                                 pcsim_program **out) PCSIM_NODISCARD;
/** Taylor coefficients of every output, order 1..K, along each of `num_directions` directions of the input
 *  or parameter `wrt`: adds inputs "v_J" [rows of wrt] for direction J = 0, 1, ... and outputs "OUT_J_K" (the
 * K-th derivative / K!); at level L from 2 on the names are "vL_J" and "OUT_vL_J_K". */
pcsim_status pcsim_transform_jet(const pcsim_program *program, const char *wrt, int order, int num_directions,
                                 pcsim_program **out) PCSIM_NODISCARD;
/** The same with the K-th coefficients summed over the directions, direction J times weights[J] (NULL: 1),
 * and propagated as one (collapsed): outputs "OUT_J_k" for k < K and "OUT_sum" ("OUT_vL_sum"). The Laplacian
 * is twice the sum of order 2 over unit directions. */
pcsim_status pcsim_transform_jet_collapsed(const pcsim_program *program, const char *wrt, int order,
                                           int num_directions, const double *weights,
                                           pcsim_program **out) PCSIM_NODISCARD;

/** Partial derivatives of every output by the rows of the input or parameter `wrt`: orders [n][rows of wrt],
 * {2, 1} being the third derivative twice by the first row and once by the second. Adds outputs "OUT_p_J" for
 * J = 0 .. n - 1
 *  ("OUT_pL_J" at level L from 2 on). Of coefficients in all variables and combined directions the cheaper
 * way is taken. */
pcsim_status pcsim_transform_partials(const pcsim_program *program, const char *wrt, const int *orders, int n,
                                      pcsim_program **out) PCSIM_NODISCARD;

/** A linear differential operator with constant coefficients on every output: the sum of weights[i] times the
 * partial derivative orders[i], propagated as one: output "OUT_operator" ("OUT_operatorL" at level L from 2
 * on). Its lower derivatives are needed one by one, its members are not: the biharmonic in 2D is {4, 0}, {2,
 * 2}, {0, 4} with 1, 2, 1. */
pcsim_status pcsim_transform_operator(const pcsim_program *program, const char *wrt, const int *orders,
                                      const double *weights, int n, pcsim_program **out) PCSIM_NODISCARD;

/** Operators of many variables that are means over random directions: the Laplacian is E[D^2 f] over random
 * signs, the biharmonic E[D^4 f]/3 over normal numbers, D being the derivative along the direction. */
typedef enum { PCSIM_ESTIMATOR_LAPLACIAN, PCSIM_ESTIMATOR_BIHARMONIC } pcsim_estimator;
/** An unbiased estimate of the operator on every output by the input or parameter `wrt`: the mean of its
 * terms along `num_directions` directions, propagated as one by pcsim_transform_jet_collapsed: inputs "v_J",
 * output "OUT_sum" (levels as there). Its cost does not grow with the number of variables. With one direction
 * the variance is 2 sum_{i != j} H_ij^2 for the Laplacian, H being the matrix of second derivatives; it falls
 * with 1 / num_directions. Source: Hutchinson 1990; Shi et al., NeurIPS 2024 (STDE). */
pcsim_status pcsim_transform_estimator(const pcsim_program *program, const char *wrt, pcsim_estimator which,
                                       int num_directions, pcsim_program **out) PCSIM_NODISCARD;
/** Directions for the input "v_J" (J = `direction`, below 4096) of points first .. first + n - 1, v
 * [n][rows]. `draw` numbers the draws of a seed (steps of training), below 2^52; what is drawn depends on
 * seed, draw, direction and the point's number only, not on how points are cut into calls. */
void pcsim_estimator_directions(pcsim_estimator which, uint64_t seed, uint64_t draw, int direction,
                                int64_t first, int64_t n, int rows, double *v);

/* -------------------------------------------------------- compiling and running */

/** What a program costs. An operator point by point counts one operation a row, be it a sum or a sine; a
 * product and its sum count two; an entry of a sparse map counts as if there were one in a row. What is done
 * once for all points does not count. */
typedef struct {
  int64_t nodes;
  int64_t stages;      /**< passes over points: a sum or a map starts a new one, for each space on its own */
  int64_t temporaries; /**< values at points that are neither read from outside nor put out */
  double operations;   /**< a point (of its space) */
  double bytes;        /**< a point, inputs read and outputs written, in double */
} pcsim_program_cost;
/** Constant folding, algebraic simplification, common subexpressions, dead code; in place. Results keep their
 *  IEEE meaning with these exceptions: 0 * x is 0 whatever x; x + 0 is x; the sign of a zero is free; whole
 *  powers up to 16 become products. Inputs and parameters stay, needed or not. */
pcsim_status pcsim_program_simplify(pcsim_program *program) PCSIM_NODISCARD;
/** Keep the named outputs [n] alone, and what they need; in place. Errors: ERR_ARG with the nearest name. */
pcsim_status pcsim_program_keep(pcsim_program *program, const char *const *outputs, int n) PCSIM_NODISCARD;
/** Cut at the named outputs [n]: each becomes an input of its name, shape and space, and what only it needed
 *  goes; in place. A tangent or cotangent that is cut at values of the program that it was made from takes
 *  them from a run of that program. What stands on the way to a cut value is no longer seen by transforms. An
 *  output that is frozen is cut where the value that it is frozen from is made: cotangents need no seed for
 *  it, and everybody else reads the input as well.
 *  Errors: ERR_ARG (no such output, with the nearest name; an output that is an input already). */
pcsim_status pcsim_program_cut(pcsim_program *program, const char *const *outputs, int n) PCSIM_NODISCARD;
/** Outputs that are sums over points behind linear operations (the derivative by a weight that stands beside
 * a constant direction is sum(y) c^T) become sums of what a point gives, in place, as Jacobians need them
 *  (pcsim_executor_jacobian). More work than before: for programs whose Jacobian is wanted, after their last
 *  simplification, which would undo it. Other outputs stay. */
pcsim_status pcsim_program_terms(pcsim_program *program) PCSIM_NODISCARD;
/** Part a program: what does not depend on the inputs and parameters `wrt` [n], lies on a space and is used
 * by what does (or put out) is computed by `*given`, whose outputs "given_0", "given_1", ... are inputs of
 * the same names of `program` afterwards. Run `*given` when the points change, `program` when `wrt` does.
 * Numbers on no space stay. `*given` is NULL where there is nothing to compute; else the caller destroys it.
 * Parts parted before are not parted again: "given_0" must not be a name of the program. Errors: ERR_ARG (a
 * name that is no input or parameter). */
pcsim_status pcsim_program_part(pcsim_program *program, const char *const *wrt, int n,
                                pcsim_program **given) PCSIM_NODISCARD;
pcsim_program_cost pcsim_program_count(const pcsim_program *program);
/** The program as text, one value a line. Caller frees with pcsim_free. */
pcsim_status pcsim_program_print(const pcsim_program *program, char **text) PCSIM_NODISCARD;

typedef struct {
  int threads;              /**< 0: one */
  bool single;              /**< float instead of double inside tiles */
  int tile;                 /**< points a tile, 0: chosen */
  const char *device;       /**< "cpu" (NULL) */
  const char *instructions; /**< "portable", "avx2", "avx512"; NULL: the best that the processor has */
  bool interpreted;         /**< elementwise steps one by one, without machine code made for the program */
} pcsim_executor_options;
typedef struct pcsim_executor pcsim_executor;
/** Plan a program: stages, tiles, memory. The program is copied. Caller destroys. */
pcsim_status pcsim_executor_create(const pcsim_program *program, const pcsim_executor_options *options,
                                   pcsim_executor **executor) PCSIM_NODISCARD;
void pcsim_executor_destroy(pcsim_executor **executor);
/** Bind data; borrowed until bound anew. Inputs [points][rows] by name; parameters and inputs on no space
 *  [rows][columns]; an unknown name fails with the nearest. Outputs overlap no inputs. */
pcsim_status pcsim_executor_points(pcsim_executor *executor, const char *space,
                                   int64_t points) PCSIM_NODISCARD;
pcsim_status pcsim_executor_bind(pcsim_executor *executor, const char *name,
                                 const double *data) PCSIM_NODISCARD;
pcsim_status pcsim_executor_bind_index(pcsim_executor *executor, const char *map,
                                       const int32_t *index) PCSIM_NODISCARD;
pcsim_status pcsim_executor_bind_sparse(pcsim_executor *executor, const char *map, const int64_t *start,
                                        const int32_t *column, const double *weight) PCSIM_NODISCARD;
pcsim_status pcsim_executor_bind_output(pcsim_executor *executor, const char *name,
                                        double *data) PCSIM_NODISCARD;
/** Run all stages. The result does not depend on the number of threads. `check` true: the first value that
 *  is not finite is an error that names the operator and the point; what "where" does not take counts as
 *  little as in its result. */
pcsim_status pcsim_executor_run(pcsim_executor *executor, bool check) PCSIM_NODISCARD;

/** Which rows and columns of a Jacobian. With the program of pcsim_transform_vjp of a residual and its seed
 *  "b_OUT" s_i at point i, column i of the block is s_i times the derivative of residual i by the numbers of
 *  the outputs "b_NAME", one output after the other: seeds of 1 give J, square roots of weights a weighted J.
 *  Exactly: a row holds the terms, point by point, of an output that is a sum over points. They are
 *  derivatives of single residuals as long as a residual depends on the parameters through values at its own
 *  point only, which maps between points and sums over points (a mean, say) break. */
typedef struct {
  const char *const *outputs; /**< [num_outputs] sums over the same space, from the same pass over it */
  int num_outputs;
  int64_t first, end; /**< points first .. end - 1; end 0: to the last */
  int64_t block;      /**< points a block at most, rounded up to whole vectors; 0: chosen */
} pcsim_jacobian;
/** Some rows of J at a few points: [rows][stride], in the executor's precision, aligned to 64 bytes; zeros
 *  past point n. Row k of the block is row first_row + k / columns * step + k % columns of J: part of a
 * matrix of parameters, `columns` of its columns, `step` numbers from one of its rows to the next. */
typedef struct {
  const double *numbers;       /**< NULL in single precision */
  const float *numbers_single; /**< NULL in double precision */
  int64_t rows, stride;
  int64_t first_row, columns, step;
  int64_t first, n; /**< its points */
  int thread;       /**< 0 .. threads - 1: whose memory it is */
  int part;         /**< 0 .. PCSIM_JACOBIAN_PARTS - 1, see below */
} pcsim_jacobian_block;
/** Called by the thread that made the block; the block is gone when it returns. */
typedef void pcsim_jacobian_visitor(void *context, const pcsim_jacobian_block *block);
enum { PCSIM_JACOBIAN_PARTS = 32 };
/** Row of J that row k of a block is. */
static inline int64_t pcsim_jacobian_row(const pcsim_jacobian_block *block, int64_t k) {
  return block->first_row + k / block->columns * block->step + k % block->columns;
}
/** Hand the Jacobian to `visitor` block by block, each made and consumed in the first cache of one thread,
 *  several threads at a time; each number of J once. Blocks have the same bits whatever the number of
 * threads; their order has not. Which part a block belongs to depends on the points and the block size only,
 * and the blocks of a part come on one thread, always in the same order, those of a row with ascending
 * points: sums kept for each part and added in the order of the parts do not depend on the threads. Bound
 * outputs on the space are written for the same points. Errors: ERR_ARG. */
pcsim_status pcsim_executor_jacobian(pcsim_executor *executor, const pcsim_jacobian *jacobian,
                                     pcsim_jacobian_visitor *visitor, void *context) PCSIM_NODISCARD;
/** Lower triangle of c [rows][rows] += J^T J, rows being the numbers of all outputs together; what is above
 *  the diagonal stays as it is. In single precision products are summed in single over about a thousand
 *  points, then in double. The result does not depend on the number of threads. `jacobian->block` has no
 *  effect. Holds some 600 columns of J at a time (1200 in single precision). Errors: ERR_ARG, ERR_MEMORY. */
pcsim_status pcsim_executor_jacobian_product(pcsim_executor *executor, const pcsim_jacobian *jacobian,
                                             double *c) PCSIM_NODISCARD;

/* --------------------------------------------------------------------- files */

/** HDF5, versioned; whole or not at all. */
pcsim_status pcsim_program_save(const pcsim_program *program, const char *path) PCSIM_NODISCARD;
/** Refuses what it does not know, truncated and damaged files (ERR_IO with a sentence). Caller destroys. */
pcsim_status pcsim_program_load(const char *path, pcsim_program **program) PCSIM_NODISCARD;
/** The same for programs that may use operators of the host: a file knows them by name and number of inputs,
 * `ops` [num_ops] (copied) are those that there are. One that is not among them is refused. */
pcsim_status pcsim_program_load_with(const char *path, const pcsim_user_op *ops, int num_ops,
                                     pcsim_program **program) PCSIM_NODISCARD;
/** Value of a parameter [rows][columns]; borrowed, writable. NULL if absent. */
double *pcsim_program_parameter(pcsim_program *program, const char *name, int *rows, int *columns);

#ifdef __cplusplus
}
#endif
#endif
