/* SPDX-License-Identifier: BSD-2-Clause */
/* Interfaces of two materials: one-sided gradients on both sides, and the common values at which both fluxes
 * agree, by one Newton step from the mean: exact where fluxes are linear in the unknowns and gradients. */
#include "transport_write.h"

#include <string.h>

/* More would make the written-out elimination too long. */
enum { INTERFACE_UNKNOWNS_MAX = 8 };

typedef struct {
  pcsim_value a[INTERFACE_UNKNOWNS_MAX][INTERFACE_UNKNOWNS_MAX]; /* [row][column], factorised in place */
  pcsim_value inverse[INTERFACE_UNKNOWNS_MAX];                   /* of the pivots; 0 where nothing diffuses */
} small_matrix;

/* Columns of d(left - right)/du and a size that tells a pivot from round-off. */
static void factorise(const writer *w, const pcsim_value *left, const pcsim_value *right, small_matrix *s) {
  const int m = w->m;
  for (int c = 0; c < m; c++)
    for (int r = 0; r < m; r++)
      s->a[r][c] = write_sub(w, write_row(w, left[c], r), write_row(w, right[c], r));
  for (int k = 0; k < m; k++) {
    const pcsim_value zero = write_number(w, 0), pivot = s->a[k][k];
    const pcsim_value size = write_add(w, pcsim_build_unary(w->p, PCSIM_OP_ABS, write_row(w, left[k], k)),
                                       pcsim_build_unary(w->p, PCSIM_OP_ABS, write_row(w, right[k], k)));
    const pcsim_value none = write_op(w, PCSIM_OP_LE, pcsim_build_unary(w->p, PCSIM_OP_ABS, pivot),
                                      write_mul(w, write_number(w, 1e-10), size));
    const pcsim_value safe =
        pcsim_build_op(w->p, PCSIM_OP_WHERE, (pcsim_value[]){none, write_number(w, 1), pivot}, 3);
    s->inverse[k] = pcsim_build_op(w->p, PCSIM_OP_WHERE,
                                   (pcsim_value[]){none, zero, write_div(w, write_number(w, 1), safe)}, 3);
    for (int r = k + 1; r < m; r++) {
      s->a[r][k] = write_mul(w, s->a[r][k], s->inverse[k]);
      for (int c = k + 1; c < m; c++)
        s->a[r][c] = write_sub(w, s->a[r][c], write_mul(w, s->a[r][k], s->a[k][c]));
    }
  }
}

static void solve(const writer *w, const small_matrix *s, pcsim_value b, pcsim_value *x) {
  const int m = w->m;
  for (int r = 0; r < m; r++) {
    x[r] = write_row(w, b, r);
    for (int k = 0; k < r; k++) x[r] = write_sub(w, x[r], write_mul(w, s->a[r][k], x[k]));
  }
  for (int r = m - 1; r >= 0; r--) {
    for (int k = r + 1; k < m; k++) x[r] = write_sub(w, x[r], write_mul(w, s->a[r][k], x[k]));
    x[r] = write_mul(w, x[r], s->inverse[r]);
  }
}

/* An interface on both sides of its common values. */
typedef struct {
  face_values f;
  place side[2];
  pcsim_value normal[2];
  pcsim_value by_common[2]
                       [INTERFACE_UNKNOWNS_MAX]; /* columns: derivative of each side's flux by the values */
  small_matrix matrix;
} interface;

static pcsim_value flux(const writer *w, const interface *i, const place *side) {
  return write_through(w, write_evaluate(w, w->t->problem->terms, "flux", side, NULL), i->f.area);
}

static void begin(const writer *w, const pcsim_program *tangent, interface *i) {
  pcsim_value mean[INTERFACE_UNKNOWNS_MAX];
  write_faces(w, "interfaces", false, &i->f);
  for (int u = 0; u < w->m; u++) {
    const pcsim_value up = write_row(w, i->f.up, u), un = write_row(w, i->f.un, u);
    mean[u] = write_add(w, up, write_mul(w, i->f.t, write_sub(w, un, up)));
  }
  for (int s = 0; s < 2; s++) {
    write_interface_side(w, &i->f, s == 1, mean, &i->side[s], &i->normal[s]);
    for (int c = 0; c < w->m; c++)
      i->by_common[s][c] = write_through(
          w, write_column(w, tangent, "d_flux", &i->side[s], c, write_number(w, 1), i->normal[s]), i->f.area);
  }
  factorise(w, i->by_common[0], i->by_common[1], &i->matrix);
}

pcsim_status transport_write_interfaces(const writer *w, pcsim_value *sum) {
  interface i;
  pcsim_program *tangent = NULL;
  pcsim_value common[INTERFACE_UNKNOWNS_MAX];
  PCSIM_CHECK(w->m <= INTERFACE_UNKNOWNS_MAX, PCSIM_ERR_CASE,
              "%d unknowns with coefficients that jump between regions; the solver takes at most %d there",
              w->m, INTERFACE_UNKNOWNS_MAX);
  PCSIM_TRY(write_tangent_of(w, w->t->problem->terms, &tangent));
  begin(w, tangent, &i);
  pcsim_program_destroy(&tangent);
  solve(w, &i.matrix, write_sub(w, flux(w, &i, &i.side[1]), flux(w, &i, &i.side[0])), common);
  for (int u = 0; u < w->m; u++) common[u] = write_add(w, i.side[0].u[u], common[u]);
  for (int s = 0; s < 2; s++) write_interface_side(w, &i.f, s == 1, common, &i.side[s], &i.normal[s]);
  const pcsim_value both =
      write_mul(w, write_number(w, 0.5), write_add(w, flux(w, &i, &i.side[0]), flux(w, &i, &i.side[1])));
  *sum = write_add(w, *sum, pcsim_build_scatter_add(w->p, i.f.owner, both));
  *sum = write_sub(w, *sum, pcsim_build_scatter_add(w->p, i.f.neighbour, both));
  return pcsim_program_status(w->p);
}

/* Common values eliminated: with K = dF/du of a cell's value at fixed common ones, flux = A X - K. */
void transport_write_interface_blocks(const writer *w, const pcsim_program *tangent) {
  static const char *const names[2] = {"interface owner", "interface neighbour"};
  interface i;
  pcsim_value x[INTERFACE_UNKNOWNS_MAX], columns[INTERFACE_UNKNOWNS_MAX];
  begin(w, tangent, &i);
  for (int s = 0; s < 2; s++) {
    for (int c = 0; c < w->m; c++) {
      const pcsim_value k = write_through(
          w, write_column(w, tangent, "d_flux", &i.side[s], c, PCSIM_NO_VALUE, i.normal[s]), i.f.area);
      const pcsim_value sign = write_number(w, s ? -1 : 1);
      solve(w, &i.matrix, write_mul(w, sign, k), x);
      /* the owner's flux: by_common[0] x, less K where its own cell moves */
      pcsim_value sum = s ? PCSIM_NO_VALUE : pcsim_build_unary(w->p, PCSIM_OP_NEG, k);
      for (int u = 0; u < w->m; u++) {
        const pcsim_value part = write_mul(w, i.by_common[0][u], x[u]);
        sum = sum < 0 ? part : write_add(w, sum, part);
      }
      columns[c] = sum;
    }
    pcsim_build_output(w->p, names[s], pcsim_build_concat(w->p, columns, w->m));
  }
}
