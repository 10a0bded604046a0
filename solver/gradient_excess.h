/* SPDX-License-Identifier: BSD-2-Clause */
/** @file gradient_excess.h  Private to solver/: what the maps of gradient.h make of polynomials about a cell.
 *
 *  Monomials of degree 2 about a centre are x^2/2, xy, ..: field k has the second derivative k = 1 and no
 *  other, in the order of second_index; those of degree 3 likewise in the order of third_index. Letters of
 *  array shapes as in gradient.h. */
#ifndef PCSIM_SOLVER_GRADIENT_EXCESS_H
#define PCSIM_SOLVER_GRADIENT_EXCESS_H

#include "gradient.h"

#ifdef PCSIM_DUAL
#define excess_rows_create excess_rows_create_dual
#define excess_rows_free excess_rows_free_dual
#define excess_gradient excess_gradient_dual
#define excess_fill excess_fill_dual
#define damped_inverse damped_inverse_dual
#endif

enum { SECOND_MAX = 6, THIRD_MAX = 10 };

/** Numbers of derivatives of second and third order. */
static inline int second_count(int dim) { return dim * (dim + 1) / 2; }
static inline int third_count(int dim) { return dim * (dim + 1) * (dim + 2) / 6; }

/** Place of the derivative by axes a and b in a list of second derivatives: xx, xy, yy, or xx, xy, xz, yy,
 *  yz, zz. */
static inline int second_index(int dim, int a, int b) {
  const int low = a < b ? a : b, high = a < b ? b : a;
  return dim == 2 ? low + high : low == 0 ? high : low + high + 1;
}

/** Likewise by axes a, b and c: xxx, xxy, xyy, yyy, or xxx, xxy, xxz, xyy, xyz, xzz, yyy, yyz, yzz, zzz. */
static inline int third_index(int dim, int a, int b, int c) {
  const int low = a < b ? (a < c ? a : c) : (b < c ? b : c), sum = a + b + c;
  if (dim == 2) return sum;
  const int high = a > b ? (a > c ? a : c) : (b > c ? b : c), middle = sum - low - high;
  static const int first[3] = {0, 6, 9};
  return first[low] + second_index(3 - low, middle - low, high - low);
}

/** Rows of the maps of one class by cell and by node; -1: none. */
typedef struct {
  const gradient_maps *g;
  const pcsim_mesh_view *v;
  gradient_places at;
  int class, dim, face_degree;
  int64_t *cell, *direct, *class_cell, *class_face; /* [n] */
  int64_t *node, *class_node;                       /* [num_nodes] */
  uint8_t *given;                                   /* [num_nodes] 1: the class has a given value there */
} excess_rows;
/** The maps and the request are borrowed. excess_rows_free after a failure too. */
pcsim_status excess_rows_create(const gradient_request *request, const gradient_maps *g, int class,
                                excess_rows *rows) PCSIM_NODISCARD;
void excess_rows_free(excess_rows *rows);

/** A field of several numbers at a cell, at a node where it is given, on a boundary face. */
typedef enum { EXCESS_CELL, EXCESS_NODE, EXCESS_FACE } excess_place;
typedef void (*excess_field)(const void *context, excess_place kind, int64_t place, pcsim_real *value);
/** gradient [d][num] of such a field of `num` <= 3 THIRD_MAX numbers in an owned cell by the maps. */
void excess_gradient(const excess_rows *rows, int64_t cell, excess_field field, const void *context, int num,
                     pcsim_real *gradient);
/** excess [n][d][count]: gradients of the monomials of degree 2 or 3 about each cell, whose own are zero at
 *  its centre. */
void excess_fill(const excess_rows *rows, int degree, pcsim_real *excess);

/** inverse [num][rows] of the least-squares problem a [rows][num], num <= THIRD_MAX, in which nothing is
 *  amplified more than tenfold: directions that `a` hardly sees are damped. */
void damped_inverse(int rows, int num, const pcsim_real *a, pcsim_real *inverse);

#endif
