/* SPDX-License-Identifier: BSD-2-Clause */
/* A viscosity that varies: written at a face, and what it needs there. */
#include "flow_viscosity.h"
#include "flow_program.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Share of the velocity scale over the length scale below which shear rates are not told apart, and by how
 * much it falls with a step of a steady march. */
static const double SHEAR_FLOOR = 1e-6, SHEAR_FLOOR_FALL = 0.05;

/* Steps at whose tangent the viscosity stands still (Picard's iteration) come first, as long as the residual
 * is above this share of the largest, but no more than so many: from afar Newton's method runs away where the
 * viscosity falls with the shear rate, close by it is faster, and the only one that converges where it grows
 * fast. */
static const double FROZEN_SHARE = 0.03;
enum { FROZEN_STEPS = 12 };

/* -------------------------------------------------------------------- written */

void write_strain(const writer *w, const pcsim_value *g, strain_rate *strain) {
  for (int i = 0; i < w->d; i++)
    for (int j = 0; j <= i; j++)
      strain->e[i][j] = strain->e[j][i] = write_add(w, write_row(w, g[i], j), write_row(w, g[j], i));
}

pcsim_value write_strain_through(const writer *w, const strain_rate *strain, pcsim_value area) {
  pcsim_value sum[3];
  for (int i = 0; i < w->d; i++)
    for (int j = 0; j < w->d; j++) {
      const pcsim_value part = write_mul(w, strain->e[i][j], write_row(w, area, j));
      sum[i] = j ? write_add(w, sum[i], part) : part;
    }
  return pcsim_build_concat(w->p, sum, w->d);
}

/* 2 D:D = (sum over i, j of E_ij^2)/2 */
static pcsim_value shear_rate(const writer *w, const law_viscosity *law, const strain_rate *strain) {
  const flow *f = law->f;
  pcsim_value sum = write_mul(w, law->shared->floor, law->shared->floor);
  for (int i = 0; i < w->d; i++)
    for (int j = 0; j <= i; j++) {
      const pcsim_value square = write_mul(w, strain->e[i][j], strain->e[i][j]);
      sum = write_add(w, sum, i == j ? write_mul(w, write_number(w, 0.5), square) : square);
    }
  return write_mul(w, write_number(w, f->scale_velocity), pcsim_build_unary(w->p, PCSIM_OP_SQRT, sum));
}

pcsim_value write_viscosity(const writer *w, const law_viscosity *law, const strain_rate *strain) {
  static const char *const output = "viscosity";
  const flow *f = law->f;
  pcsim_argument argument[2 + SYSTEM_UNKNOWNS_MAX];
  pcsim_value mu;
  int num = 0;
  if (transport_needs(f->problem->viscosity_law, "shear"))
    argument[num++] = (pcsim_argument){"shear", shear_rate(w, law, strain)};
  if (law->coordinates >= 0) argument[num++] = (pcsim_argument){"coordinates", law->coordinates};
  for (int i = 0; i < f->viscous.num; i++)
    argument[num++] = (pcsim_argument){f->viscous.name[i], write_row(w, law->carried, i)};
  pcsim_build_part(w->p, f->problem->viscosity_law, law->space, argument, num, &output, 1, &mu);
  return write_div(w, mu, write_mul(w, law->shared->density, write_number(w, f->scale_velocity)));
}

law_viscosity law_viscosity_of(const writer *w, const flow *f, const char *name, pcsim_space space,
                               const law_numbers *shared) {
  law_viscosity law = {
      .f = f, .space = space, .coordinates = PCSIM_NO_VALUE, .carried = PCSIM_NO_VALUE, .shared = shared};
  if (f->viscous.place) law.coordinates = write_input(w, name, "coordinates", space, 4);
  if (f->viscous.num) law.carried = write_input(w, name, "carried", space, f->viscous.num);
  return law;
}

law_numbers law_numbers_of(const writer *w, const flow *f) {
  law_numbers all = {PCSIM_NO_VALUE, PCSIM_NO_VALUE, PCSIM_NO_VALUE};
  if (!f->viscous.varies) {
    all.nu = pcsim_build_input(w->p, "flow.nu", PCSIM_NO_SPACE, 1);
    return all;
  }
  all.density = pcsim_build_input(w->p, "flow.density", PCSIM_NO_SPACE, 1);
  all.floor = pcsim_build_input(w->p, "shear-floor", PCSIM_NO_SPACE, 1);
  return all;
}

/* --------------------------------------------------------------------- set-up */

static void find_inputs(flow *f) {
  const char *name;
  bool used;
  for (int i = 0; (name = pcsim_program_input(f->problem->viscosity_law, i, NULL, &used)); i++)
    if (used && strcmp(name, "shear") != 0 && strcmp(name, "coordinates") != 0 &&
        f->viscous.num < SYSTEM_UNKNOWNS_MAX)
      f->viscous.name[f->viscous.num++] = name;
}

pcsim_status flow_viscosity_create(flow *f) {
  const pcsim_mesh_view *v = f->view;
  const size_t faces = (size_t)(f->ni + f->nb);
  if (!f->problem->viscosity_law) return PCSIM_OK;
  f->viscous.varies = true;
  f->viscous.floor = SHEAR_FLOOR / f->problem->length_scale;
  find_inputs(f);
  const size_t num = (size_t)f->viscous.num;
  PCSIM_TRY(pcsim_alloc((size_t)f->ni, sizeof(double), &f->viscous.nu));
  PCSIM_TRY(pcsim_alloc(faces * num, sizeof(double), &f->viscous.carried));
  PCSIM_TRY(pcsim_alloc(faces * num, sizeof(double), &f->viscous.d_carried));
  if (!transport_needs(f->problem->viscosity_law, "coordinates")) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc(faces * 4, sizeof(double), &f->viscous.place));
  for (size_t k = 0; k < faces; k++)
    memcpy(f->viscous.place + 4 * k, v->face_centre + 3 * k, 3 * sizeof(double));
  for (size_t k = 0; k < faces; k++) f->viscous.place[4 * k + 3] = f->time;
  return PCSIM_OK;
}

void flow_viscosity_destroy(flow *f) {
  pcsim_free(&f->viscous.nu), pcsim_free(&f->viscous.place);
  pcsim_free(&f->viscous.carried), pcsim_free(&f->viscous.d_carried);
}

void flow_viscosity_set_time(flow *f, double t) {
  const int64_t faces = f->viscous.place ? f->ni + f->nb : 0;
  if (faces == 0 || f->viscous.place[3] == t) return;
  for (int64_t k = 0; k < faces; k++) f->viscous.place[4 * k + 3] = t;
  for (int i = 0; f->programs && i < FLOW_NUM_GROUPS; i++)
    for (int64_t k = 0; k < f->programs->group[i].num; k++) f->programs->group[i].place[4 * k + 3] = t;
}

/* ---------------------------------------------------------------------- floor */

void flow_viscosity_ease(flow *f, double share) {
  const double unit = 1 / f->problem->length_scale, now = f->viscous.floor / unit;
  const double wanted = share < 1 ? fmax(SHEAR_FLOOR_FALL * now, fmin(now, share)) : 1;
  f->viscous.floor = fmax(wanted, SHEAR_FLOOR) * unit;
  f->viscous.steps = share < 1 ? f->viscous.steps + 1 : 0;
  f->viscous.frozen = share > FROZEN_SHARE && f->viscous.steps <= FROZEN_STEPS;
}

bool flow_viscosity_is_eased(const flow *f) {
  return f->viscous.varies && f->viscous.floor > 1.01 * SHEAR_FLOOR / f->problem->length_scale;
}

/* ---------------------------------------------------------------------- faults */

/* What is no number is the worst. */
static double badness(double nu) { return nu > 0 && nu < INFINITY ? 0 : nu <= 0 ? 1 - nu : INFINITY; }

typedef struct {
  double bad, nu, cell, local, centre[3]; /* number in the mesh's file, on this rank */
} fault;

static void look_at(const flow *f, double nu, int32_t cell, int64_t face, fault *worst) {
  if (!(badness(nu) > worst->bad)) return;
  *worst = (fault){badness(nu), nu, (double)f->view->cell_original[cell], cell, {0}};
  memcpy(worst->centre, f->view->face_centre + 3 * face, sizeof worst->centre);
}

void flow_viscosity_check(flow *f, double *r) {
  const flow_programs *p = f->programs;
  MPI_Comm comm = pcsim_mesh_comm(f->mesh);
  fault worst = {0};
  struct {
    double value;
    int rank;
  } mine = {0, 0}, all;
  if (!f->viscous.varies) return;
  for (int64_t k = 0; k < f->ni; k++)
    look_at(f, f->viscous.nu[k], f->owner[k] < f->n ? f->owner[k] : f->neighbour[k], k, &worst);
  for (int i = 0; i < FLOW_NUM_GROUPS; i++)
    for (int64_t k = 0; k < p->group[i].num; k++)
      look_at(f, p->group[i].nu[k], p->group[i].owner[k], f->ni + p->group[i].face[k], &worst);
  MPI_Comm_rank(comm, &mine.rank);
  mine.value = worst.bad;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
  if (!(all.value > 0)) return;
  if (mine.rank == all.rank) r[(int64_t)worst.local * (f->dim + 1)] = NAN;
  MPI_Bcast(&worst, sizeof worst / sizeof(double), MPI_DOUBLE, all.rank, comm);
  f->viscous.wrong = true;
  f->viscous.wrong_value = worst.nu * f->density * f->scale_velocity;
  f->viscous.wrong_cell = (int64_t)worst.cell;
  memcpy(f->viscous.wrong_centre, worst.centre, sizeof worst.centre);
}

bool flow_viscosity_blame(const flow *f, char *reason, size_t size) {
  const double *x = f->viscous.wrong_centre;
  if (!f->viscous.wrong) return false;
  snprintf(reason, size,
           "the viscosity becomes %g Pa s at a face of cell %lld, at (%.6g, %.6g, %.6g); expected a positive "
           "number: give `physics: {viscosity: ..}` a lower limit, e.g. with max(..)",
           f->viscous.wrong_value, (long long)f->viscous.wrong_cell + 1, x[0], x[1], x[2]);
  return true;
}

void flow_viscosity_forgive(flow *f) { f->viscous.wrong = false; }
