/* SPDX-License-Identifier: BSD-2-Clause */
/* Gradients and wall stress of known fields on every cell type. */
#include "solver/sample.h"

/* u_i = c[i][0] + c[i][1] x + c[i][2] y + c[i][3] z; the last row is the pressure. */
typedef struct {
  int dim;
  double c[4][4];
} linear_field;

static double field_at(const linear_field *f, int i, const double *x) {
  return f->c[i][0] + f->c[i][1] * x[0] + f->c[i][2] * x[1] + f->c[i][3] * x[2];
}

static void append_value(char *text, size_t size, const linear_field *f, int i) {
  append(text, size, "\"%.17g + (%.17g)*x + (%.17g)*y", f->c[i][0], f->c[i][1], f->c[i][2]);
  if (f->dim == 3) append(text, size, " + (%.17g)*z", f->c[i][3]);
  append(text, size, "\"");
}

static void append_condition(char *text, size_t size, const linear_field *f, const char *side,
                             pcsim_flow_kind kind) {
  static const char *const words[] = {
      "velocity: ", "pressure: ", "total-pressure: ", "wall: no-slip, velocity: ", "wall: slip"};
  append(text, size, "  %s: {%s", side, words[kind]);
  if (kind == PCSIM_FLOW_PRESSURE || kind == PCSIM_FLOW_TOTAL_PRESSURE) append_value(text, size, f, 3);
  if (kind == PCSIM_FLOW_VELOCITY || kind == PCSIM_FLOW_WALL)
    for (int i = 0; i < f->dim; i++) {
      append(text, size, i ? ", " : "[");
      append_value(text, size, f, i);
    }
  append(text, size, kind == PCSIM_FLOW_VELOCITY || kind == PCSIM_FLOW_WALL ? "]}\n" : "}\n");
}

/* Unit normal of the side y-min, into the box. */
static void floor_normal(const placement *p, int dim, double *n) {
  const double up[3] = {0, 0, 1};
  double a[3], b[3], size = 0;
  for (int i = 0; i < 3; i++) b[i] = p->frame[i][0], a[i] = dim == 3 ? p->frame[i][2] : up[i];
  for (int i = 0; i < 3; i++) n[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
  for (int i = 0; i < 3; i++) size += n[i] * n[i];
  for (int i = 0; i < 3; i++) n[i] /= sqrt(size);
}

/* Linear field with no flow through y-min; `uniform`: one velocity all over that side. */
static linear_field field_over_wall(const sample *s, bool uniform) {
  linear_field f = {.dim = sample_dim(s)};
  double n[3];
  uint64_t random = 99;
  floor_normal(s->place, f.dim, n);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j <= f.dim; j++) f.c[i][j] = lattice_random(&random) / 1073741824.0 - 1;
  for (int i = f.dim; i < 3; i++) memset(f.c[i], 0, sizeof f.c[i]);
  double height = 0, slope[3] = {0};
  for (int i = 0; i < f.dim; i++) height += n[i] * s->place->origin[i];
  for (int i = 0; i < f.dim && uniform; i++) { /* slope along the normal only */
    for (int j = 0; j < f.dim; j++) slope[i] += f.c[i][1 + j] * n[j];
    for (int j = 0; j < f.dim; j++) f.c[i][1 + j] = slope[i] * n[j];
    f.c[i][0] -= slope[i] * height;
  }
  for (int j = 0; j <= f.dim; j++) { /* normal part out, then one that grows with the distance */
    double normal = 0;
    for (int i = 0; i < f.dim; i++) normal += n[i] * f.c[i][j];
    for (int i = 0; i < f.dim; i++) f.c[i][j] += n[i] * ((j ? 0.7 * n[j - 1] : -0.7 * height) - normal);
  }
  return f;
}

static pcsim_flow_kind kind_of(char letter) {
  static const char letters[] = "VPTWS"; /* in the order of pcsim_flow_kind */
  return (pcsim_flow_kind)(strchr(letters, letter) - letters);
}

static void check_linear(const sample *s, const linear_field *field, const char *kinds) {
  char text[8192] = "physics: {model: navier-stokes, density: 2, viscosity: 0.1}\nboundaries:\n";
  for (int p = 0; p < 2 * field->dim; p++)
    append_condition(text, sizeof text, field, sample_sides[p], kind_of(kinds[p]));
  sample_case c = case_of(sample_mesh(MPI_COMM_WORLD, s), text);
  flow *f = NULL;
  assert_ok(flow_create(c.mesh, c.problem, &c.options, &f));
  const int d = f->dim, m = d + 1;
  const double scale[2] = {f->scale_velocity, f->density * f->scale_velocity * f->scale_velocity};
  for (int64_t i = 0; i < f->n * m; i++)
    f->q[i] = field_at(field, i % m == d ? 3 : (int)(i % m), f->view->cell_centre + 3 * (i / m)) /
              scale[i % m == d];
  assert_ok(flow_update_gradient(f));
  double worst = 0;
  for (int64_t cell = 0; cell < f->nt; cell++) /* ghosts too */
    for (int i = 0; i < m; i++)
      for (int j = 0; j < d; j++) {
        const double is = f->grad[(cell * m + i) * d + j] * scale[i == d],
                     be = field->c[i == d ? 3 : i][1 + j];
        worst = fabs(is - be) <= worst ? worst : fabs(is - be);
      }
  if (!(worst <= 1e-10)) print_error("%s: gradient off by %g\n", kind_names[s->kind], worst);
  assert_close(worst, 0, 1e-10);
  flow_destroy(&f);
  case_free(&c);
}

static sample sample_of(lattice_kind kind, double jitter) {
  const bool flat = kind < LATTICE_HEXA;
  return (sample){kind, flat ? 9 : 5, flat ? 8 : 4, flat ? 0 : 4, jitter, flat ? &askew_2d : &askew_3d};
}

/* Every kind of boundary, each beside several others. */
static void linear_fields(void **state) {
  /* x-min, x-max, y-min (the wall), ...: velocity, pressure, total pressure, wall, slip */
  static const char *const sets[] = {"VPWVVP", "PSWTSV", "TVWSPS", "VVVPVV", "SPWSSS"};
  (void)state;
  const size_t before = pcsim_memory_used();
  for (int kind = 0; kind < NUM_LATTICES; kind++)
    for (size_t set = 0; set < sizeof sets / sizeof *sets; set++)
      for (int uniform = 0; uniform < 2; uniform++) {
        const sample s = sample_of(kind, kind == LATTICE_PYRAMID || kind == LATTICE_MIXED_3D ? 0.1 : 0.2);
        const linear_field field = field_over_wall(&s, uniform);
        check_linear(&s, &field, sets[set]);
      }
  assert_int_equal(pcsim_memory_used(), before);
}

/* ------------------------------------------------------------- wall stress */

/* u = t y (1 - y/2) over the wall y-min of a box, t along the wall: error of the stress there (1), root
 * mean square over the faces away from the other sides. */
static double stress_error(const sample *s, double (*height)(const double *)) {
  const int dim = sample_dim(s);
  char text[2048] = "physics: {model: navier-stokes, density: 1, viscosity: 1}\n"
                    "boundaries: {y-min: {wall: no-slip}, y-max: {pressure: 0}, ";
  append(text, sizeof text,
         dim == 2 ? "\"x*\": {wall: slip}}\n" : "\"x*\": {wall: slip}, \"z*\": {wall: slip}}\n");
  append(text, sizeof text, "initial: {velocity: [1, 0%s]}\n", dim == 2 ? "" : ", 0");
  sample_case c = case_of(sample_mesh(MPI_COMM_WORLD, s), text);
  flow *f = NULL;
  double *value = NULL, *friction = NULL, *rate = NULL, sum[2] = {0, 0};
  assert_ok(flow_create(c.mesh, c.problem, &c.options, &f));
  const int m = dim + 1;
  const pcsim_mesh_view *v = f->view;
  for (int64_t i = 0; i < f->n; i++) {
    const double y = height(v->cell_centre + 3 * i);
    for (int k = 0; k < m; k++) f->q[i * m + k] = k == dim || k == 1 ? 0 : (k + 1) * y / f->scale_velocity;
  }
  assert_ok(flow_update_gradient(f));
  assert_ok(pcsim_alloc((size_t)(f->nb * m), sizeof *value, &value));
  assert_ok(pcsim_alloc((size_t)(f->nb * dim), sizeof *friction, &friction));
  assert_ok(pcsim_alloc((size_t)f->nb, sizeof *rate, &rate));
  assert_ok(f->kernels->boundary(f, value, friction, rate));
  for (int64_t k = 0; k < f->nb; k++) { /* slip: nothing through, no shear */
    const double *S = f->wall + k * FLOW_WALL_WIDTH(dim), *push = friction + k * dim;
    if (f->wall_kind[k] != PCSIM_FLOW_SLIP) continue;
    double through = 0, along = 0, area = 0;
    for (int i = 0; i < dim; i++)
      through += value[k * m + i] * S[i], area += S[i] * S[i], along += push[i] * S[i];
    assert_close(through, 0, 1e-14);
    assert_close(rate[k], 0, 0);
    for (int i = 0; i < dim; i++) assert_close(push[i], along / area * S[i], 1e-14);
  }
  const int patch = pcsim_mesh_find_patch(c.mesh, "y-min");
  for (int64_t k = v->patch_start[patch]; k < v->patch_start[patch + 1]; k++) {
    const double *x = v->face_centre + 3 * k, area = fabs(v->face_area[3 * k + 1]);
    const double edge_x = 2.0 / s->nx, edge_z = dim == 3 ? 2.0 / s->nz : 0;
    if (x[0] < edge_x || x[0] > 1 - edge_x || (dim == 3 && (x[2] < edge_z || x[2] > 1 - edge_z))) continue;
    const int64_t b = k - f->ni;
    for (int i = 0; i < dim; i++) { /* slope 1 at the wall; the stress acts along the flow */
      const double is = friction[b * dim + i] * f->scale_velocity * f->scale_velocity / area;
      const double error = is - (i == 1 ? 0 : i + 1);
      sum[0] += error * error, sum[1] += 1;
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  assert_true(sum[1] > 0);
  pcsim_free(&value), pcsim_free(&friction), pcsim_free(&rate);
  flow_destroy(&f);
  case_free(&c);
  return sqrt(sum[0] / sum[1]);
}

static double parabola(const double *x) { return x[1] * (1 - 0.5 * x[1]); }

/* Straight blocks: exact. Distorted: exact where cells take their gradient from nodes and simplices meet the
 * wall; else the cell's fit has a slope along the wall, whose error is small and goes down with the mesh. */
static void wall_stress(void **state) {
  (void)state;
  for (int kind = 0; kind < NUM_LATTICES; kind++) {
    const bool mixed = kind == LATTICE_MIXED_2D,
               simplex = kind == LATTICE_TRIANGLE || kind == LATTICE_TETRA || kind == LATTICE_PYRAMID;
    for (int distorted = 0; distorted < 2; distorted++) {
      double error[2];
      for (int fine = 0; fine < 2; fine++) {
        const int n = (kind < LATTICE_HEXA ? 16 : 6) << fine;
        const sample s = {kind, n, n, kind < LATTICE_HEXA ? 0 : n, 0.15 * distorted, &unit_box};
        error[fine] = stress_error(&s, parabola);
      }
      if (simplex || (!distorted && !mixed)) {
        assert_close(error[0] + error[1], 0, 1e-12);
        continue;
      }
      assert_close(error[0], 0, 3e-3);
      if (!(error[1] < error[0])) print_error("%s: %g then %g\n", kind_names[kind], error[0], error[1]);
      assert_true(error[1] < error[0]);
    }
  }
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(linear_fields), cmocka_unit_test(wall_stress)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
