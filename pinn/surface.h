/* SPDX-License-Identifier: BSD-2-Clause */
/** @file surface.h  Private: closed polygons of the plane and closed triangulated surfaces of space.
 *
 *  Elements are segments or triangles, their normals pointing out: counter-clockwise seen from outside in
 * space, the inside to the left of a segment in the plane. Each belongs to a patch. */
#ifndef PCSIM_PINN_SURFACE_H
#define PCSIM_PINN_SURFACE_H

#include <pcsim/base.h>

typedef struct surface surface;

/** Corners [num][dim][dim] and patches [num] (0 .. num_patches - 1), copied. Elements without area are left
 * out; if the volume comes out negative all are turned. Errors: ERR_CASE with a sentence (open edges with
 * their place, elements that do not agree about what is inside, no volume), ERR_MEMORY. Caller destroys. */
pcsim_status surface_create(int dim, int64_t num, const double *corners, const int32_t *patch,
                            int num_patches, surface **s) PCSIM_NODISCARD;
void surface_destroy(surface **s);

/** A box around it. */
void surface_box(const surface *s, double low[3], double high[3]);
/** Area or volume inside, exact. */
double surface_volume(const surface *s);
int surface_num_patches(const surface *s);
/** Length or area of a patch, exact. */
double surface_area(const surface *s, int patch);

/** Distance of x [dim] from the surface, positive inside, negative outside. What is inside is told by the
 * winding number (A. Jacobson, L. Kavan, O. Sorkine-Hornung, ACM Trans. Graph. 32 (2013)), far elements taken
 * together (G. Barill, N. G. Dickson, R. Schmidt, D. I. W. Levin, A. Jacobson, ACM Trans. Graph. 37 (2018)).
 */
double surface_level(const surface *s, const double *x);
/** How often the surface goes around x: 1 inside, 0 outside, up to some thousandths. */
double surface_winding(const surface *s, const double *x);
/** The point `on` of the surface nearest to x, and the normal there; the patch. `on` may be x. */
int surface_nearest(const surface *s, const double *x, double *on, double *normal);

/** The point of a patch, uniform by area, that belongs to u [dim - 1], each between 0 and 1. */
void surface_point(const surface *s, int patch, const double *u, double *x, double *normal);

/** Corners that patches a and b share, points [n][dim] at most; returns how many. */
int64_t surface_meeting(const surface *s, int a, int b, int64_t n, double *points);

#endif
