/* SPDX-License-Identifier: BSD-2-Clause */
/* Adjoints of typed laws: transposed products against tangents, derivatives by parameters of the case against
 * central differences of the whole solve, values of quantities against the fields. */
#include "solver/derivatives.h"
#include "solver/laws.h"
#include "solver/transport_adjoint.h"

/* ------------------------------------------------------------------- cases */

/* Behind a case's own parameters stands the amount of sample_displacement, 0. */
enum { PARAMETERS_MAX = 11, QUANTITIES = 6 };

/** A law with parameters, and what it is solved on. */
typedef struct {
  const char *what;
  const char *text;    /* without `parameters:` */
  const char *unknown; /* the first */
  const char *look;    /* boundary whose flux is taken */
  int num;
  const char *name[PARAMETERS_MAX];
  double value[PARAMETERS_MAX];
  sample s;
  bool periodic; /* in y */
} adjoint_case;

static const adjoint_case cases[] = {
    {.what = "diffusion, reaction, convection with an interface",
     .text =
         "physics: {unknowns: [u, v], coefficients: {k: {left: K, right: 0.5}},\n"
         "  equations: [\"div(vector(W, 1)*u - k*grad(u)) + C*u*v - Q\",\n"
         "              \"-div((1 + v^2)*grad(v)) + v - u\"],\n"
         "  sources: [{at: [0.8, 0.3], u: \"S\"}]}\n"
         "boundaries: {x-min: {u: \"A*(1 + y)\", v: \"sin(3*y)\"}, x-max: {v: 2, flux: {u: \"H*(u - B)\"}},\n"
         "             y-min: {free: true}, \"*\": {u: \"x*y + A\", flux: {v: \"E*v\"}}}\n"
         "initial: {u: 1, v: 1}\n",
     .unknown = "u",
     .look = "x-max",
     .num = 10,
     .name = {"A", "K", "S", "H", "W", "Q", "C", "E", "B", "none"},
     .value = {0.7, 3, 0.4, 1.5, 0.8, 1.2, 0.6, 0.3, 0.2, 1},
     .s = {LATTICE_MIXED_2D, 7, 6, 0, 0.15, &unit_box}},
    {.what = "convection alone, upwind",
     .text = "physics: {unknowns: [u], equations: [\"div(W*u + u^2/2, V*u) + C*u^2 - Q*x\"]}\n"
             "boundaries: {x-min: {u: \"A + y^2/4\"}, y-min: {u: \"A + B*x^2\"}, \"*\": {free: true}}\n"
             "initial: {u: 1}\n",
     .unknown = "u",
     .look = "x-max",
     .num = 6,
     .name = {"A", "W", "V", "C", "Q", "B"},
     .value = {1, 0.5, 0.7, 0.3, 0.5, 0.2},
     .s = {LATTICE_TRIANGLE, 7, 6, 0, 0.1, &unit_box}},
    {.what = "shallow water, supercritical",
     .text = "physics: {unknowns: [h, p, q], equations: [\"div(p, q)\",\n"
             "  \"div(p^2/h + G*h^2/2, p*q/h) + F*p\", \"div(p*q/h, q^2/h + G*h^2/2) + F*q\"]}\n"
             "boundaries: {x-min: {h: \"D + 0.1*y\", p: \"2*U\", q: 2}, y-min: {h: \"D + 0.1*x\", p: "
             "\"2*U\", q: 2},\n"
             "             \"*\": {free: true}}\n"
             "initial: {h: 1, p: 2, q: 2}\n",
     .unknown = "h",
     .look = "y-max",
     .num = 4,
     .name = {"D", "U", "G", "F"},
     .value = {1, 1, 1, 0.1},
     .s = {LATTICE_QUAD, 6, 6, 0, 0.1, &unit_box}},
    {.what = "diffusion in space",
     .text = "physics: {unknowns: [u], equations: [\"-div((1 + K*u^2)*grad(u)) - Q*x\"]}\n"
             "boundaries: {x-min: {u: \"A*y\"}, x-max: {flux: {u: \"H*(u - z)\"}}, \"*\": {flux: {u: E}}}\n"
             "initial: {u: 0.5}\n",
     .unknown = "u",
     .look = "x-min",
     .num = 5,
     .name = {"A", "K", "Q", "H", "E"},
     .value = {1, 0.4, 2, 1.5, 0.1},
     .s = {LATTICE_MIXED_3D, 4, 3, 3, 0.05, &unit_box}},
    {.what = "diffusion in space, tetrahedra",
     .text = "physics: {unknowns: [u], equations: [\"-div((1 + K*u^2)*grad(u)) - Q*x\"]}\n"
             "boundaries: {x-min: {u: \"A*y\"}, x-max: {flux: {u: \"H*(u - z)\"}}, \"*\": {flux: {u: E}}}\n"
             "initial: {u: 0.5}\n",
     .unknown = "u",
     .look = "x-min",
     .num = 5,
     .name = {"A", "K", "Q", "H", "E"},
     .value = {1, 0.4, 2, 1.5, 0.1},
     .s = {LATTICE_TETRA, 3, 3, 2, 0.05, &unit_box}},
    {.what = "periodic across the stream",
     .text = "physics: {unknowns: [u], equations: [\"div(vector(W, V)*u - K*grad(u)) + u^2 - "
             "q*x*sin(2*pi*y)\"]}\n"
             "boundaries: {x-min: {u: A}, x-max: {flux: {u: \"H*(u - 1)\"}}}\n"
             "initial: {u: 0.5}\n",
     .unknown = "u",
     .look = "x-max",
     .num = 6,
     .name = {"A", "K", "q", "H", "W", "V"},
     .value = {1, 0.4, 2, 1.5, 0.3, 1},
     .s = {LATTICE_MIXED_2D, 6, 6, 0, 0, &unit_box},
     .periodic = true},
};
enum { NUM_CASES = sizeof cases / sizeof *cases };

/* The case with these values. */
static law_run begin(const adjoint_case *c, const double *value) {
  char text[2048] = "parameters: {";
  for (int i = 0; i < c->num; i++)
    append(text, sizeof text, "%s%s: %.17g", i ? ", " : "", c->name[i], value[i]);
  append(text, sizeof text, "}\n%s", c->text);
  law_run r = law_begin(law_mesh(MPI_COMM_WORLD, &c->s, 0.6, c->periodic, value[c->num]), text);
  r.options.tolerance = 1e-12;
  return r;
}

/* -------------------------------------------------------------- quantities */

static const char *const left = "left", *const both[] = {"left", "right"};

typedef struct {
  pcsim_program *program[QUANTITIES];
  pcsim_functional of[QUANTITIES];
} quantities;

static quantities make_quantities(const adjoint_case *c, const double *value) {
  const test_parameters parameters = {c->num, c->name, value, false};
  char text[QUANTITIES][128];
  quantities q = {0};
  snprintf(text[0], sizeof text[0], "%s*%s + %s*x", c->unknown, c->unknown, c->name[0]);
  snprintf(text[1], sizeof text[1], "exp(-%s)*y + %s_x^2", c->unknown, c->unknown);
  snprintf(text[2], sizeof text[2], "%s + x^2", c->unknown);
  snprintf(text[4], sizeof text[4], "%s + %s*y", c->unknown, c->name[1]);
  snprintf(text[5], sizeof text[5], "%s*%s_y + x", c->unknown, c->unknown);
  for (int i = 0; i < QUANTITIES; i++)
    if (i != 3) q.program[i] = lower_quantity(text[i], sample_dim(&c->s), 1, &c->unknown, &parameters);
  q.of[0] = (pcsim_functional){.kind = PCSIM_FUNCTIONAL_INTEGRAL, .program = q.program[0]};
  q.of[1] = (pcsim_functional){
      .kind = PCSIM_FUNCTIONAL_MEAN, .program = q.program[1], .num_where = 1, .where = &left};
  q.of[2] = (pcsim_functional){
      .kind = PCSIM_FUNCTIONAL_POINT, .program = q.program[2], .point = {0.41, 0.37, c->s.nz ? 0.29 : 0}};
  q.of[3] = (pcsim_functional){.kind = PCSIM_FUNCTIONAL_FLUX, .num_where = 1, .where = &c->look};
  q.of[4] = (pcsim_functional){
      .kind = PCSIM_FUNCTIONAL_NORM, .program = q.program[4], .num_where = 2, .where = both};
  q.of[5] = (pcsim_functional){.kind = PCSIM_FUNCTIONAL_MEAN,
                               .program = q.program[5],
                               .on_boundary = true,
                               .num_where = 1,
                               .where = &c->look};
  return q;
}

static void free_quantities(quantities *q) {
  for (int i = 0; i < QUANTITIES; i++) pcsim_program_destroy(&q->program[i]);
}

/* What the fields say. */
static void expected_values(const adjoint_case *c, const law_run *r, const double *value, double *expected) {
  const pcsim_mesh_view *v = pcsim_mesh_get(r->mesh);
  const int patch = pcsim_mesh_find_patch(r->mesh, c->look);
  pcsim_transport_fields f;
  double volume = 0, area = 0;
  int rank, mine;
  int64_t cell;
  bool inside;
  const double point[3] = {0.41, 0.37, c->s.nz ? 0.29 : 0};
  assert_ok(pcsim_transport_solver_fields(r->solver, &f));
  memset(expected, 0, QUANTITIES * sizeof *expected);
  for (int64_t k = 0; k < v->num_cells; k++) {
    const double *x = v->cell_centre + 3 * k, u = f.value[0][k], u_x = f.gradient[0][3 * k];
    expected[0] += v->cell_volume[k] * (u * u + value[0] * x[0]);
    expected[4] += v->cell_volume[k] * pow(u + value[1] * x[1], 2);
    if (strcmp(v->region_name[v->cell_region[k]], "left") != 0) continue;
    expected[1] += v->cell_volume[k] * (exp(-u) * x[1] + u_x * u_x);
    volume += v->cell_volume[k];
  }
  assert_ok(pcsim_mesh_locate(r->mesh, point, &rank, &cell, &inside));
  MPI_Comm_rank(MPI_COMM_WORLD, &mine);
  if (mine == rank) {
    expected[2] = f.value[0][cell] + point[0] * point[0];
    for (int j = 0; j < 3; j++)
      expected[2] += f.gradient[0][3 * cell + j] * (point[j] - v->cell_centre[3 * cell + j]);
  }
  for (int64_t k = v->patch_start[patch]; k < v->patch_start[patch + 1]; k++) {
    const double *s = v->face_area + 3 * k, size = sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
    const int64_t face = k - v->num_interior_faces;
    expected[3] += f.face_flux[0][face];
    expected[5] +=
        size * (f.face[0][face] * f.gradient[0][3 * (int64_t)v->owner[k] + 1] + v->face_centre[3 * k]);
    area += size;
  }
  MPI_Allreduce(MPI_IN_PLACE, expected, QUANTITIES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &volume, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &area, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  expected[1] /= volume, expected[4] = sqrt(expected[4]), expected[5] /= area;
}

/* Values of the quantities of a solution with these parameters. */
static void solve_values(const adjoint_case *c, const double *value, double *out) {
  law_run r = begin(c, value);
  pcsim_solve_result result;
  law_solve(&r, &result);
  expected_values(c, &r, value, out);
  law_end(&r);
}

/* ------------------------------------------------------------- derivatives */

static double scale_of(const adjoint_case *c, int i) { return i < c->num ? c->value[i] : 1; }

/* [QUANTITIES][PARAMETERS_MAX] (J(p + h) - J(p - h))/2h */
static void differences(const adjoint_case *c, double (*out)[PARAMETERS_MAX]) {
  for (int i = 0; i <= c->num; i++) {
    double value[PARAMETERS_MAX], up[QUANTITIES], down[QUANTITIES];
    const double h = 2e-5 * scale_of(c, i);
    memcpy(value, c->value, sizeof value);
    value[i] = c->value[i] + h;
    solve_values(c, value, up);
    value[i] = c->value[i] - h;
    solve_values(c, value, down);
    for (int k = 0; k < QUANTITIES; k++) out[k][i] = (up[k] - down[k]) / (2 * h);
  }
}

static void check_derivatives(const adjoint_case *c) {
  double expected[QUANTITIES][PARAMETERS_MAX], values[QUANTITIES];
  law_run r = begin(c, c->value);
  quantities q = make_quantities(c, c->value);
  pcsim_solve_result result;
  differences(c, expected);
  law_solve(&r, &result);
  expected_values(c, &r, c->value, values);
  pcsim_mesh_tangent motion = sample_motion(r.mesh, law_raw(MPI_COMM_WORLD, &c->s, 0.6, c->periodic));
  for (int k = 0; k < QUANTITIES; k++) {
    double derivative[PARAMETERS_MAX];
    pcsim_transport_sensitivity s = {
        .derivative = derivative, .num_shapes = 1, .shape = &motion, .by_shape = &derivative[c->num]};
    assert_ok(pcsim_transport_solver_adjoint(r.solver, &q.of[k], c->name, c->num, 1e-11, &s));
    assert_true(s.converged);
    assert_close(s.value, values[k], 1e-12);
    assert_derivatives(c->what, k, &(test_parameters){c->num, c->name, c->value, true}, derivative,
                       expected[k], 1e-3);
  }
  pcsim_mesh_tangent_free(&motion);
  free_quantities(&q);
  law_end(&r);
}

static void derivatives(void **state) {
  (void)state;
  for (int k = 0; k < NUM_CASES; k++) check_derivatives(&cases[k]);
}

/* -------------------------------------------------------------- transposes */

static double *numbers(const transport *t) {
  double *a = NULL;
  assert_ok(pcsim_alloc((size_t)(t->nt * t->m), sizeof *a, &a));
  return a;
}

static void fill(const transport *t, int first, double middle, double size, double *a) {
  for (int64_t c = 0; c < t->n; c++)
    for (int i = 0; i < t->m; i++)
      a[c * t->m + i] = middle + size * noise(t->view->cell_original[c], first + i);
}

/* <a, b>, and the sum of the terms' magnitudes. */
static double dot(const transport *t, const double *a, const double *b, double *magnitude) {
  double sum[2] = {0, 0};
  for (int64_t i = 0; i < t->n * t->m; i++) sum[0] += a[i] * b[i], sum[1] += fabs(a[i] * b[i]);
  MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  *magnitude = sum[1];
  return sum[0];
}

/* <w, R' v> = <R'^T w, v> at a rough state, interfaces and upwinding included. */
static void check_transpose(const adjoint_case *c, transport_choices choices) {
  law_run r = begin(c, c->value);
  transport *t = NULL;
  transport_adjoint *adjoint = NULL;
  double size[2];
  assert_ok(transport_create(r.mesh, r.problem, &choices, &t));
  assert_ok(transport_adjoint_create(t, NULL, 0, NULL, &adjoint));
  double *v = numbers(t), *w = numbers(t), *y = numbers(t);
  fill(t, 0, 1.5, 0.2, t->q), fill(t, 3, 0, 1, v), fill(t, 5, 0, 1, w);
  assert_ok(transport_residual(t, 0, y));
  assert_ok(transport_update_speed(t));
  assert_ok(transport_tangent(t, v, y));
  const double forward = dot(t, w, y, &size[0]);
  assert_ok(transport_adjoint_product(adjoint, w, false, y));
  const double back = dot(t, y, v, &size[1]);
  if (!(fabs(forward - back) <= 1e-13 * fmin(size[0], size[1])))
    print_error("%s, central %g: %.17g, transposed %.17g\n", c->what, choices.central, forward, back);
  assert_true(fabs(forward) > 1e-3 * size[0] && fabs(forward - back) <= 1e-13 * fmin(size[0], size[1]));
  pcsim_free(&v), pcsim_free(&w), pcsim_free(&y);
  transport_adjoint_destroy(&adjoint);
  transport_destroy(&t);
  law_end(&r);
}

static void transposes(void **state) {
  (void)state;
  for (int k = 0; k < NUM_CASES; k++)
    for (int central = 0; central <= 2; central++)
      for (int more = 0; more < (sample_is_cubic(&cases[k].s) ? 4 : 3); more++)
        check_transpose(&cases[k], (transport_choices){.central = central / 2.0,
                                                       .kappa = central % 2 ? 0 : 1,
                                                       .degree = more == 3  ? 3
                                                                 : more > 0 ? 2
                                                                            : 1,
                                                       .limited = more == 2,
                                                       .bounded = more == 2,
                                                       .low = {0},
                                                       .high = {2}});
}

/* ------------------------------------------------------------------ refusals */

static void refusals(void **state) {
  (void)state;
  const adjoint_case *c = &cases[0];
  law_run r = begin(c, c->value);
  quantities q = make_quantities(c, c->value);
  double derivative[PARAMETERS_MAX];
  pcsim_transport_sensitivity s = {.derivative = derivative};
  assert_ok(pcsim_transport_solver_create(r.mesh, r.problem, &r.options, &r.solver));
  const char *const nowhere = "nowhere", *const no_side = "no side";
  q.of[0].num_where = 1, q.of[0].where = &nowhere, q.of[2].point[0] = 7, q.of[3].where = &no_side;
  q.of[5].num_where = 0;
  const char *const said[QUANTITIES] = {"no region \"nowhere\"",   NULL, "outside the mesh",
                                        "no boundary \"no side\"", NULL, "names none"};
  for (int k = 0; k < QUANTITIES; k++) {
    if (!said[k]) continue;
    assert_int_equal(pcsim_transport_solver_adjoint(r.solver, &q.of[k], c->name, c->num, 1e-8, &s),
                     PCSIM_ERR_ARG);
    assert_non_null(strstr(pcsim_error_message(), said[k]));
    pcsim_error_clear();
  }
  q.of[3] =
      (pcsim_functional){.kind = PCSIM_FUNCTIONAL_FLUX, .num_where = 1, .where = &c->look, .unknown = 2};
  assert_int_equal(pcsim_transport_solver_adjoint(r.solver, &q.of[3], c->name, c->num, 1e-8, &s),
                   PCSIM_ERR_ARG);
  pcsim_error_clear();
  free_quantities(&q);
  law_end(&r);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(transposes), cmocka_unit_test(derivatives),
                                     cmocka_unit_test(refusals)};
  return cmocka_run_group_tests(tests, solver_start, solver_end);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
