/* SPDX-License-Identifier: BSD-2-Clause */
/** @file moments.h  Private to solver/: least-squares quadratics from moments of scattered data.
 *
 *  Moments about a place are sums over data: of products of two monomials of the offset (the normal matrix,
 *  its upper half by rows) and of monomials times the values of each of `width` fields. Moments about one
 * place become those about another without the data, so that a fit over the neighbours' neighbours needs no
 * more than the neighbours' moments. Monomials: 1, x, y(, z), then x x, x y, ... */
#ifndef PCSIM_SOLVER_MOMENTS_H
#define PCSIM_SOLVER_MOMENTS_H

#include <pcsim/base.h>

enum { MOMENTS_TERMS_MAX = 10 };
/** Monomials of a quadratic: 6 or 10. */
int moments_terms(int dim);
/** Numbers of one set of moments. */
int moments_size(int dim, int width);
/** Add a datum with these values [width] at an offset. */
void moments_add(int dim, int width, const double *offset, const double *values, double *moments);
/** Add `from` about a place that lies at `shift` from the one of `to`. */
void moments_add_shifted(int dim, int width, const double *from, const double *shift, double *to);
/** The fits: quadratic [width][terms]; false where the data do not determine them. */
bool moments_solve(int dim, int width, const double *moments, double *quadratic);
/** Value of a quadratic at an offset. */
double moments_value(int dim, const double *quadratic, const double *offset);

#endif
