/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields from one mesh to another: exact for what is linear, conservative, of second order for what is
 * smooth; between every two kinds of cells, on any number of ranks. */
#include "lattice.h"

#include <math.h>

/* A lattice of the unit box. */
static pcsim_mesh *unit_mesh(lattice shape) {
  pcsim_raw_mesh *raw = lattice_make(&shape);
  const double size[3] = {shape.nx, shape.ny, raw->dim == 3 ? shape.nz : 1};
  pcsim_mesh *mesh;
  int rank;
  for (int64_t i = 0; i < raw->num_nodes; i++)
    for (int d = 0; d < 3; d++) raw->nodes[3 * i + d] /= size[d];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  assert_ok(pcsim_mesh_create(MPI_COMM_WORLD, rank == 0 ? raw : NULL, &mesh));
  pcsim_raw_mesh_destroy(&raw);
  return mesh;
}

typedef struct {
  double value, gradient[3];
} field_at;
static field_at linear(const double x[3]) {
  return (field_at){1 + 2 * x[0] - 3 * x[1] + 0.5 * x[2], {2, -3, 0.5}};
}
static field_at smooth(const double x[3]) {
  const double a = sin(3 * x[0]), b = cos(2 * x[1]), c = exp(x[2]);
  return (field_at){a * b * c, {3 * cos(3 * x[0]) * b * c, -2 * a * sin(2 * x[1]) * c, a * b * c}};
}

typedef struct {
  double worst, l2;     /* difference from the field at the centres: largest, L2 */
  double before, after; /* integral */
  double covered;
} outcome;

static outcome carry(const pcsim_mesh *from, const pcsim_mesh *to, field_at (*field)(const double x[3]),
                     bool with_gradient) {
  const pcsim_mesh_view *a = pcsim_mesh_get(from), *b = pcsim_mesh_get(to);
  pcsim_transfer *t;
  outcome o = {0};
  double *value = test_calloc((size_t)a->num_cells + 1, sizeof *value),
         *gradient = test_calloc((size_t)a->num_cells + 1, 3 * sizeof *gradient),
         *out = test_calloc((size_t)b->num_cells + 1, sizeof *out), sums[3] = {0};
  for (int64_t c = 0; c < a->num_cells; c++) {
    const field_at f = field(a->cell_centre + 3 * c);
    value[c] = f.value;
    memcpy(gradient + 3 * c, f.gradient, sizeof f.gradient);
    sums[0] += f.value * a->cell_volume[c];
  }
  assert_ok(pcsim_transfer_create(from, to, &t));
  assert_ok(pcsim_transfer_apply(t, value, with_gradient ? gradient : NULL, out));
  o.covered = pcsim_transfer_covered(t);
  for (int64_t c = 0; c < b->num_cells; c++) {
    const double difference = out[c] - field(b->cell_centre + 3 * c).value;
    o.worst = fmax(o.worst, fabs(difference));
    sums[2] += difference * difference * b->cell_volume[c];
    sums[1] += out[c] * b->cell_volume[c];
  }
  MPI_Allreduce(MPI_IN_PLACE, &o.worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  o.before = sums[0];
  o.after = sums[1];
  o.l2 = sqrt(sums[2]);
  pcsim_transfer_destroy(&t);
  test_free(value);
  test_free(gradient);
  test_free(out);
  return o;
}

static const lattice coarse[NUM_LATTICES] = {
    [LATTICE_QUAD] = {LATTICE_QUAD, 6, 5, 0, 0.2, true},
    [LATTICE_TRIANGLE] = {LATTICE_TRIANGLE, 5, 6, 0, 0.2, true},
    [LATTICE_MIXED_2D] = {LATTICE_MIXED_2D, 6, 4, 0, 0.2, true},
    [LATTICE_HEXA] = {LATTICE_HEXA, 3, 3, 2, 0.15, true},
    [LATTICE_TETRA] = {LATTICE_TETRA, 2, 3, 2, 0.15, true},
    [LATTICE_PRISM] = {LATTICE_PRISM, 3, 2, 2, 0.15, true},
    [LATTICE_PYRAMID] = {LATTICE_PYRAMID, 2, 2, 3, 0.15, true},
    [LATTICE_MIXED_3D] = {LATTICE_MIXED_3D, 3, 2, 3, 0.15, true},
};

static lattice finer(lattice shape, int factor) {
  shape.nx = factor * shape.nx + 1; /* no node of one mesh on those of the other */
  shape.ny = factor * shape.ny - 1;
  shape.nz = factor * shape.nz + 1;
  return shape;
}

static bool in_space(int kind) { return kind >= LATTICE_HEXA; }

static void linear_fields_and_integrals_stay(void **state) {
  (void)state;
  for (int i = 0; i < NUM_LATTICES; i++)
    for (int k = 0; k < NUM_LATTICES; k++) {
      /* in space each kind with itself and with the mixture, which has all */
      const bool wanted = !in_space(i) || i == k || i == LATTICE_MIXED_3D || k == LATTICE_MIXED_3D;
      if (in_space(i) != in_space(k) || !wanted) continue;
      pcsim_mesh *from = unit_mesh(coarse[i]), *to = unit_mesh(finer(coarse[k], 2));
      const outcome there = carry(from, to, linear, true), back = carry(to, from, smooth, false),
                    slopes = carry(from, to, smooth, true);
      assert_true(fabs(there.covered - 1) < 1e-10);
      assert_true(there.worst < 1e-11);
      assert_true(fabs(there.after - there.before) < 1e-12);
      assert_true(fabs(back.after - back.before) < 1e-12);
      assert_true(fabs(slopes.after - slopes.before) < 1e-12);
      pcsim_mesh_destroy(&from);
      pcsim_mesh_destroy(&to);
    }
}

/* Planes of one mesh in those of the other, exactly and within round-off: onto itself, onto its refinement,
 * and onto itself with every node a few units of the last place away. */
static void meshes_that_coincide(void **state) {
  (void)state;
  for (int k = 0; k < NUM_LATTICES; k++)
    for (int jitter = 0; jitter < 2; jitter++)
      for (int other = 0; other < 3; other++) {
        lattice shape = coarse[k];
        if (!jitter) shape.jitter = 0;
        pcsim_raw_mesh *raw = lattice_make(&shape), *fine = NULL;
        pcsim_mesh *from, *to;
        int rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        assert_ok(pcsim_raw_mesh_refine(raw, &fine));
        assert_ok(pcsim_mesh_create(MPI_COMM_WORLD, rank == 0 ? raw : NULL, &from));
        for (int64_t i = 0; other == 2 && i < raw->num_nodes; i++)
          for (int d = 0; d < raw->dim; d++)
            raw->nodes[3 * i + d] *= 1 + 2.3e-16 * (double)((7 * i + 3 * d) % 5 - 2);
        assert_ok(pcsim_mesh_create(MPI_COMM_WORLD, rank == 0 ? (other == 1 ? fine : raw) : NULL, &to));
        const outcome there = carry(from, to, linear, true), back = carry(to, from, linear, true);
        assert_true(fabs(there.covered - 1) < 1e-12 && there.worst < 1e-13 && back.worst < 1e-13);
        assert_true(fabs(there.after - there.before) < 1e-12);
        pcsim_mesh_destroy(&from);
        pcsim_mesh_destroy(&to);
        pcsim_raw_mesh_destroy(&raw);
        pcsim_raw_mesh_destroy(&fine);
      }
}

/* Cell values are values at centres, which differ from means by the square of the size: order 2. */
static void smooth_fields_come_at_second_order(void **state) {
  (void)state;
  static const int kinds[][2] = {{LATTICE_TRIANGLE, LATTICE_QUAD}, {LATTICE_TETRA, LATTICE_HEXA}};
  for (int i = 0; i < 2; i++) {
    double error[2], cells[2];
    for (int k = 0; k < 2; k++) {
      pcsim_mesh *from = unit_mesh(finer(coarse[kinds[i][0]], k ? 4 : 2)),
                 *to = unit_mesh(finer(coarse[kinds[i][1]], k ? 4 : 2));
      const pcsim_mesh_view *view = pcsim_mesh_get(from);
      error[k] = carry(from, to, smooth, true).l2;
      cells[k] = pow((double)view->num_cells_global, 1.0 / view->dim);
      pcsim_mesh_destroy(&from);
      pcsim_mesh_destroy(&to);
    }
    assert_true(log(error[0] / error[1]) / log(cells[1] / cells[0]) > 1.9);
  }
}

/* The other mesh is half as long: cells that it covers in part follow the slope, cells beyond take the
 * nearest value.
 */
static void what_is_not_covered_goes_on(void **state) {
  (void)state;
  pcsim_raw_mesh *raw = lattice_make(&(lattice){LATTICE_QUAD, 4, 4, 0, 0, false});
  pcsim_mesh *from, *to = unit_mesh((lattice){LATTICE_QUAD, 5, 4, 0, 0, false});
  int rank;
  for (int64_t i = 0; i < raw->num_nodes; i++) {
    raw->nodes[3 * i] /= 8;
    raw->nodes[3 * i + 1] /= 4;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  assert_ok(pcsim_mesh_create(MPI_COMM_WORLD, rank == 0 ? raw : NULL, &from));
  pcsim_raw_mesh_destroy(&raw);
  pcsim_transfer *t;
  const pcsim_mesh_view *a = pcsim_mesh_get(from), *b = pcsim_mesh_get(to);
  double value[16], gradient[48], out[20];
  for (int64_t c = 0; c < a->num_cells; c++) {
    const field_at f = linear(a->cell_centre + 3 * c);
    value[c] = f.value;
    memcpy(gradient + 3 * c, f.gradient, sizeof f.gradient);
  }
  assert_ok(pcsim_transfer_create(from, to, &t));
  assert_true(pcsim_transfer_covered(t) == 0);
  assert_ok(pcsim_transfer_apply(t, value, gradient, out));
  for (int64_t c = 0; c < b->num_cells; c++) {
    const double *x = b->cell_centre + 3 * c;
    const double nearest[3] = {0.4375, x[1], 0};
    assert_close(out[c], linear(x[0] < 0.55 ? x : nearest).value, 1e-12);
  }
  pcsim_transfer_destroy(&t);
  pcsim_mesh_destroy(&from);
  pcsim_mesh_destroy(&to);
}

static void plane_and_space_do_not_mix(void **state) {
  (void)state;
  pcsim_mesh *from = unit_mesh(coarse[LATTICE_QUAD]), *to = unit_mesh(coarse[LATTICE_HEXA]);
  pcsim_transfer *t;
  assert_int_equal(pcsim_transfer_create(from, to, &t), PCSIM_ERR_CASE);
  assert_null(t);
  pcsim_error_clear();
  pcsim_mesh_destroy(&from);
  pcsim_mesh_destroy(&to);
}

static int run(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(linear_fields_and_integrals_stay),   cmocka_unit_test(meshes_that_coincide),
      cmocka_unit_test(smooth_fields_come_at_second_order), cmocka_unit_test(what_is_not_covered_goes_on),
      cmocka_unit_test(plane_and_space_do_not_mix),
  };
  return cmocka_run_group_tests_name("transfer", tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
