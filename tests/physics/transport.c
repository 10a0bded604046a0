/* SPDX-License-Identifier: BSD-2-Clause */
/* Typed equations: what their local programs give, against values worked out by hand. */
#include "physics/lattice.h"
#include <pcsim/physics.h>
#include <unistd.h>

static const lattice square = {.nx = 4, .ny = 4, .names = {"bottom", "right", "top", "left"}};

typedef struct {
  pcsim_tree *tree;
  pcsim_mesh *mesh;
  pcsim_transport_problem *problem;
  const pcsim_transport_view *view;
} setting;

static setting begin(pcsim_mesh *mesh, const char *text) {
  setting s = {.tree = tree_of(text), .mesh = mesh};
  assert_true(pcsim_transport_given(s.tree));
  pcsim_transport_problem_check(s.tree);
  assert_ok(pcsim_tree_status(s.tree));
  assert_ok(pcsim_transport_problem_read(s.tree, s.mesh, &s.problem));
  assert_ok(pcsim_tree_status(s.tree));
  assert_non_null(s.problem);
  s.view = pcsim_transport_problem_get(s.problem);
  return s;
}

static void end(setting *s) {
  pcsim_transport_problem_destroy(&s->problem);
  pcsim_tree_destroy(&s->tree);
  pcsim_mesh_destroy(&s->mesh);
}

/* An input and its numbers at one point; the list ends with a NULL name. */
typedef struct {
  const char *name;
  double value[4];
} given;

/* Output `name` [rows] of a program at one point; what is not given must not be asked for. */
static void evaluate(const pcsim_program *program, const given *inputs, const char *name, double *out) {
  pcsim_executor *executor = NULL;
  pcsim_program *copy = NULL;
  const char *input;
  bool used;
  assert_ok(pcsim_program_copy(program, &copy));
  assert_ok(pcsim_program_keep(copy, &name, 1));
  assert_ok(pcsim_executor_create(copy, NULL, &executor));
  assert_ok(pcsim_executor_points(executor, "points", 1));
  for (int i = 0; (input = pcsim_program_input(copy, i, NULL, &used)); ++i) {
    int k = 0;
    while (inputs[k].name && strcmp(inputs[k].name, input) != 0) ++k;
    if (!inputs[k].name && used) fail_msg("the program asks for %s", input);
    if (inputs[k].name) assert_ok(pcsim_executor_bind(executor, input, inputs[k].value));
  }
  assert_ok(pcsim_executor_bind_output(executor, name, out));
  assert_ok(pcsim_executor_run(executor, true));
  pcsim_executor_destroy(&executor);
  pcsim_program_destroy(&copy);
}

#define EVERYWHERE "boundaries: {\"*\": {u: 0}}\n"

/* ------------------------------------------------------------- the three parts */

static const given point[] = {{"coordinates", {0.3, 0.7, 0, 2}},
                              {"u", {1.5}},
                              {"u_x", {2}},
                              {"u_y", {-3}},
                              {"v", {0.5}},
                              {"v_x", {0.25}},
                              {"v_y", {4}},
                              {NULL, {0}}};

typedef struct {
  const char *equation;
  double accumulation, flux[2], source;
} form;

static void forms(void **state) {
  (void)state;
  static const form table[] = {
      {"dt(u) - div(grad(u))", 1.5, {-2, 3}, 0},
      {"u_t - lap(u)", 1.5, {-2, 3}, 0},
      {"3*dt(u^2) - nu*lap(u)/2", 6.75, {-0.1, 0.15}, 0},
      {"-(div(grad(u)) - x*u)", 0, {-2, 3}, 0.45},
      {"div(-nu*grad(u) + vector(y, -x)*u) + u - 2", 0, {-0.2 + 1.05, 0.3 - 0.45}, -0.5},
      {"div(u^2/2, u*x) - div(grad(u))*nu", 0, {1.125 - 0.2, 0.45 + 0.3}, 0},
      {"-div(k*grad(u))", 0, {-(1 + 2.25) * 2, (1 + 2.25) * 3}, 0},
      {"div((1 + u^2)*grad(u)) - 1", 0, {3.25 * 2, -3.25 * 3}, -1},
      {"lap(u^3)", 0, {3 * 2.25 * 2, -3 * 2.25 * 3}, 0},
      {"div(grad(x*u))", 0, {1.5 + 0.6, -0.9}, 0},
      {"dt(rho*u) - 2*lap(u) + dot(grad(u), grad(u))", 1.5 * 1.3, {-4, 6}, 13},
      {"rho*dt(u) - lap(u)", 1.5 * 1.3, {-2, 3}, 0},
      {"div(where(u > 1, vector(u, 0), vector(0, u))) + u", 0, {1.5, 0}, 1.5},
      {"lap(sin(x)*y) - lap(u) + exp(u)", 0, {-2, 3}, -0.2955202066613396 * 0.7 + 4.4816890703380645},
      {"-lap(u) + sqrt(u_x^2 + u_y^2 + 3)", 0, {-2, 3}, 4},
      {"div(sqrt(u_x^2 + u_y^2 + 3)*grad(u))", 0, {8, -12}, 0},
      {"(div(grad(u)) + u)/(2*nu)", 0, {10, -15}, 7.5},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
    char text[600];
    double a, f[2], s;
    snprintf(
        text, sizeof text,
        "parameters: {nu: 0.1}\nphysics:\n  unknowns: [u]\n  coefficients: {k: \"1 + u^2\", rho: 1 + x}\n"
        "  equations: [\"%s\"]\n" EVERYWHERE,
        table[i].equation);
    setting c = begin(mesh_lattice(&square), text);
    evaluate(c.view->terms, point, "accumulation", &a);
    evaluate(c.view->terms, point, "flux", f);
    evaluate(c.view->terms, point, "source", &s);
    print_message("%s\n", table[i].equation);
    assert_close(a, table[i].accumulation, 1e-14);
    assert_close(f[0], table[i].flux[0], 1e-13);
    assert_close(f[1], table[i].flux[1], 1e-13);
    assert_close(s, table[i].source, 1e-14);
    assert_int_equal(c.view->has_time[0], table[i].accumulation != 0);
    assert_int_equal(c.view->has_any_time, table[i].accumulation != 0);
    end(&c);
  }
}

/* Rows of several unknowns: component j of equation i is row j*m + i. */
static void systems(void **state) {
  (void)state;
  setting c = begin(mesh_lattice(&square), "parameters: {F: 0.04, K: 0.06}\n"
                                           "physics:\n"
                                           "  unknowns: [u, v]\n"
                                           "  equations:\n"
                                           "    v: dt(v) - 2*lap(v) - u*v^2 + (F + K)*v\n"
                                           "    u: dt(u) - lap(u) + u*v^2 - F*(1 - u) + u*v_y\n"
                                           "boundaries: {\"*\": {u: 0, v: 0}}\n");
  double a[2], f[4], s[2];
  assert_int_equal(c.view->num_unknowns, 2);
  assert_string_equal(c.view->unknown[1], "v");
  evaluate(c.view->terms, point, "accumulation", a);
  evaluate(c.view->terms, point, "flux", f);
  evaluate(c.view->terms, point, "source", s);
  assert_close(a[0], 1.5, 0);
  assert_close(a[1], 0.5, 0);
  assert_close(f[0], -2, 1e-15);
  assert_close(f[1], -0.5, 1e-15);
  assert_close(f[2], 3, 1e-15);
  assert_close(f[3], -8, 1e-15);
  assert_close(s[0], 0.375 + 0.04 * 0.5 + 6, 1e-15);
  assert_close(s[1], -0.375 + 0.05, 1e-15);
  assert_string_equal(c.view->written[3 * 1 + 1], "-2*grad(v)");
  assert_string_equal(c.view->written[2], "u*v^2 - F*(1 - u) + u*v_y");
  end(&c);
}

static void in_space(void **state) {
  (void)state;
  setting c = begin(mesh_box(2), "physics:\n  unknowns: [T]\n"
                                 "  equations: [\"dt(T) + div(vector(y, z, x)*T - z*grad(T))\"]\n"
                                 "boundaries: {\"*\": {T: z}}\n");
  const given at[] = {
      {"coordinates", {0.5, 2, 3, 1}}, {"T", {2}}, {"T_x", {1}}, {"T_y", {-1}}, {"T_z", {4}}, {NULL, {0}}};
  double f[3];
  evaluate(c.view->terms, at, "flux", f);
  assert_int_equal(c.view->dim, 3);
  assert_close(f[0], 4 - 3, 1e-15);
  assert_close(f[1], 6 + 3, 1e-15);
  assert_close(f[2], 1 - 12, 1e-15);
  end(&c);
}

/* A parameter stays one: another value, another result. */
static void parameters(void **state) {
  (void)state;
  setting c =
      begin(mesh_lattice(&square), "parameters: {nu: 0.5, half: nu}\n"
                                   "physics:\n  unknowns: [u]\n  equations: \"nu*half*lap(u)\"\n" EVERYWHERE);
  double f[2];
  pcsim_program *copy = NULL;
  evaluate(c.view->terms, point, "flux", f);
  assert_close(f[0], 0.5, 0);
  assert_ok(pcsim_program_copy(c.view->terms, &copy));
  *pcsim_program_parameter(copy, "nu", NULL, NULL) = 3;
  evaluate(copy, point, "flux", f);
  assert_close(f[1], -4.5, 0);
  pcsim_program_destroy(&copy);
  end(&c);
}

/* ------------------------------------------------------------------ conditions */

static const pcsim_transport_condition *find(const pcsim_transport_view *view, const char *name) {
  for (int k = 0; k < view->num_conditions; ++k)
    if (strcmp(view->condition[k].name, name) == 0) return &view->condition[k];
  fail_msg("no condition %s", name);
  return NULL;
}

static void conditions(void **state) {
  (void)state;
  setting c =
      begin(mesh_lattice(&square), "parameters: {h: 5}\n"
                                   "physics:\n  unknowns: [u, v]\n  equations: [lap(u) + v, lap(v) - u]\n"
                                   "boundaries:\n"
                                   "  left: {u: \"x + 2*y\", flux: {v: \"h*(v - u)*nx + dn(x*y)\"}}\n"
                                   "  right: {free: true, v: -7}\n"
                                   "  \"*\": {symmetry: true}\n");
  const given at[] = {
      {"coordinates", {0.25, 3, 0, 0}}, {"u", {1}}, {"v", {2}}, {"n.x", {0.6}}, {"n.y", {0.8}}, {NULL, {0}}};
  const pcsim_mesh_view *mesh = pcsim_mesh_get(c.mesh);
  const pcsim_transport_condition *left = find(c.view, "left"), *right = find(c.view, "right"),
                                  *rest = find(c.view, "*");
  double r[2];
  int64_t faces[3] = {left->num_faces, right->num_faces, rest->num_faces};
  assert_int_equal(left->kind[0], PCSIM_TRANSPORT_VALUE);
  assert_int_equal(left->kind[1], PCSIM_TRANSPORT_FLUX);
  assert_int_equal(right->kind[0], PCSIM_TRANSPORT_FREE);
  assert_int_equal(right->kind[1], PCSIM_TRANSPORT_VALUE);
  assert_int_equal(rest->kind[0], PCSIM_TRANSPORT_FLUX);
  evaluate(left->program, at, "value", r);
  assert_close(r[0], 6.25, 0);
  assert_close(r[1], 0, 0);
  evaluate(left->program, at, "flux", r);
  assert_close(r[0], 0, 0);
  assert_close(r[1], 5 * 0.6 + (3 * 0.6 + 0.25 * 0.8), 1e-15);
  evaluate(right->program, at, "value", r);
  assert_close(r[1], -7, 0);
  evaluate(rest->program, at, "flux", r);
  assert_close(r[0], 0, 0);
  assert_close(r[1], 0, 0);
  for (int64_t i = 0; i < left->num_faces; ++i)
    assert_int_equal(pcsim_mesh_face_patch(c.mesh, mesh->num_interior_faces + left->face[i]),
                     pcsim_mesh_find_patch(c.mesh, "left"));
  MPI_Allreduce(MPI_IN_PLACE, faces, 3, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  assert_int_equal(faces[0], 4);
  assert_int_equal(faces[1], 4);
  assert_int_equal(faces[2], 8);
  assert_close(c.view->scale[1], 7, 0);
  assert_true(c.view->scale[0] > 1.7 && c.view->scale[0] < 2);
  end(&c);
}

static void start(void **state) {
  (void)state;
  setting c = begin(mesh_lattice(&square), "physics:\n  unknowns: [u, v]\n  equations: [lap(u), lap(v)]\n"
                                           "initial: {v: 10*x}\n"
                                           "boundaries: {left: {u: 3, v: 0}, \"*\": {u: 5, v: 0}}\n");
  const pcsim_mesh_view *mesh = pcsim_mesh_get(c.mesh);
  assert_non_null(c.view->initial);
  for (int64_t i = 0; i < mesh->num_cells; ++i) {
    assert_close(c.view->start[2 * i], 4.5, 1e-14); /* mean of the given values */
    assert_close(c.view->start[2 * i + 1], 10 * mesh->cell_centre[3 * i], 1e-14);
  }
  assert_close(c.view->length_scale, 1, 1e-14);
  end(&c);
}

/* ------------------------------------------------------------------- regions */

/* The unit square, regions "core" where x < 1/2 and "rest". */
static pcsim_mesh *mesh_of_two(void) {
  int rank = 0;
  pcsim_mesh *mesh = NULL;
  pcsim_raw_mesh *raw = NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    static const char *const names[] = {"core", "rest", "void"};
    raw = raw_lattice(&square);
    pcsim_free(&raw->regions[0]);
    pcsim_free(&raw->regions);
    raw->regions = raw_names_(names, 3);
    raw->num_regions = 3;
    for (int64_t c = 0; c < raw->num_cells; ++c)
      raw->cell_region[c] = raw->nodes[3 * raw->cell_nodes[raw->cell_start[c]]] < 0.49 ? 0
                            : c % 8 < 4                                                ? 1
                                                                                       : 2;
  }
  assert_ok(pcsim_mesh_create(MPI_COMM_WORLD, raw, &mesh));
  pcsim_raw_mesh_destroy(&raw);
  return mesh;
}

static void regions(void **state) {
  (void)state;
  setting c = begin(mesh_of_two(), "parameters: {big: 1000}\n"
                                   "physics:\n  unknowns: [u]\n"
                                   "  coefficients:\n"
                                   "    k: {core: big, rest: 1 + u, void: 1 + u}\n"
                                   "    q: {void: 4, rest: 2, core: 3}\n"
                                   "  equations: [\"-div(k*grad(u)) - q*x\"]\n" EVERYWHERE);
  const pcsim_mesh_view *mesh = pcsim_mesh_get(c.mesh);
  given at[5] = {{"coordinates", {0.5, 0, 0, 0}}, {"u", {2}}, {"u_x", {1}}, {"u_y", {2}}, {"region", {0}}};
  given inputs[6];
  double f[2], s;
  const double k[3] = {1000, 3, 3}, q[3] = {3, 2, 4};
  assert_int_equal(c.view->num_fields, 1);
  assert_string_equal(c.view->field[0], "region");
  for (int r = 0; r < 3; ++r) {
    memset(inputs, 0, sizeof inputs);
    memcpy(inputs, at, sizeof at);
    inputs[4].value[0] = r;
    evaluate(c.view->terms, inputs, "flux", f);
    evaluate(c.view->terms, inputs, "source", &s);
    assert_close(f[0], -k[r], 1e-12);
    assert_close(f[1], -2 * k[r], 1e-12);
    assert_close(s, -0.5 * q[r], 1e-14);
  }
  for (int64_t i = 0; i < mesh->num_cells + mesh->num_ghosts; ++i) {
    assert_close(c.view->values[0][i], mesh->cell_region[i], 0);
    /* "rest" and "void" have different texts for k, so they count as two materials. */
    assert_int_equal(c.view->material[i], mesh->cell_region[i]);
  }
  end(&c);
  c = begin(mesh_of_two(), "physics:\n  unknowns: [u]\n"
                           "  coefficients: {q: {void: 4, rest: 2, core: 3}}\n"
                           "  equations: [\"-lap(u) - q\"]\n" EVERYWHERE);
  assert_null(c.view->material); /* the flux does not jump */
  end(&c);
}

/* ------------------------------------------------------------------- sources */

static void add_source(const pcsim_transport_source *source, double *sum) {
  for (int i = 0; i < 4; ++i) sum[i] = 0;
  for (int64_t i = 0; i < source->num_points; ++i) {
    double value[2];
    given at[] = {
        {"coordinates", {source->point[3 * i], source->point[3 * i + 1], source->point[3 * i + 2], 0}},
        {NULL, {0}}};
    evaluate(source->program, at, "value", value);
    sum[0] += source->weight[i];
    sum[1] += source->weight[i] * value[0];
    sum[2] += source->weight[i] * value[1];
    sum[3] += 1;
  }
  MPI_Allreduce(MPI_IN_PLACE, sum, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void tilt(double s, double t, double *x) {
  x[0] = s + 0.05 * sin(7 * t);
  x[1] = t + 0.05 * sin(9 * s);
}

static void sources(void **state) {
  (void)state;
  lattice bent = {.nx = 7, .ny = 5, .cells = LATTICE_MIXED, .map = tilt, .names = {"b", "r", "t", "l"}};
  setting c = begin(mesh_lattice(&bent), "parameters: {q: 3}\n"
                                         "physics:\n  unknowns: [u, v]\n  equations: [lap(u), lap(v)]\n"
                                         "  sources:\n"
                                         "    - {at: [0.31, 0.42], u: 2*q, v: x}\n"
                                         "    - {from: [0.2, 0.2], to: [0.8, 0.6], v: \"x^3\"}\n"
                                         "boundaries: {\"*\": {u: 0, v: 0}}\n");
  const double length = sqrt(0.6 * 0.6 + 0.4 * 0.4);
  double sum[4];
  assert_int_equal(c.view->num_sources, 2);
  add_source(&c.view->source[0], sum);
  assert_close(sum[0], 1, 0);
  assert_close(sum[1], 6, 0);
  assert_close(sum[2], 0.31, 1e-15);
  add_source(&c.view->source[1], sum);
  assert_close(sum[0], length, 1e-12);
  assert_close(sum[1], 0, 0);
  /* Two Gauss points a piece are exact for cubic polynomials. */
  assert_close(sum[2], length / 0.6 * (pow(0.8, 4) - pow(0.2, 4)) / 4, 1e-12);
  assert_true(sum[3] >= 2 * 6);
  end(&c);
  /* Along faces of the mesh: each piece belongs to one cell. */
  c = begin(mesh_lattice(&square), "physics:\n  unknowns: [u]\n  equations: [lap(u)]\n"
                                   "  sources: [{from: [0, 0.5], to: [1, 0.5], u: 1}]\n" EVERYWHERE);
  double total = 0;
  for (int64_t i = 0; i < c.view->source[0].num_points; ++i) {
    total += c.view->source[0].weight[i];
    assert_close(c.view->source[0].weight[i], 0.125, 1e-14);
  }
  MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  assert_close(total, 1, 1e-13);
  end(&c);
}

/* A file of two columns, in expressions and over time at a boundary. Every rank writes its own. */
static void tables(void **state) {
  (void)state;
  char path[] = "transport-table-XXXXXX", text[800];
  static const char lines[] = "T, k\n0, 1\n2, 5\n4, 6\n";
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, lines, sizeof lines - 1), (int)sizeof lines - 1);
  close(file);
  snprintf(text, sizeof text,
           "physics:\n  unknowns: [u]\n  tables: {k: %s}\n  coefficients: {K: \"1 + table(k, u)\"}\n"
           "  equations: [\"dt(u) - div(K*grad(u)) + lap(table(k, 2*u))\"]\n"
           "initial: {u: 1}\nsolve: {time: {end: 1}}\n"
           "boundaries: {left: {u: {table: %s}}, \"*\": {flux: {u: {table: %s}}}}\n",
           path, path, path);
  setting c = begin(mesh_lattice(&square), text);
  double f[2], value;
  evaluate(c.view->terms, point, "flux", f); /* u = 1.5: K = 1 + 4; the slope at 2*u = 3 is 1/2 */
  assert_close(f[0], -5 * 2 + 0.5 * 2 * 2, 1e-14);
  assert_close(f[1], 5 * 3 - 0.5 * 2 * 3, 1e-14);
  evaluate(find(c.view, "left")->program, (given[]){{"coordinates", {0, 0, 0, 3}}, {NULL, {0}}}, "value",
           &value);
  assert_close(value, 5.5, 1e-15);
  evaluate(find(c.view, "*")->program, (given[]){{"coordinates", {0, 0, 0, 9}}, {NULL, {0}}}, "flux", &value);
  assert_close(value, 6, 1e-15);
  assert_close(c.view->scale[0], 1, 0);
  end(&c);
  unlink(path);
}

static int run(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forms),      cmocka_unit_test(systems),    cmocka_unit_test(in_space),
      cmocka_unit_test(parameters), cmocka_unit_test(conditions), cmocka_unit_test(start),
      cmocka_unit_test(regions),    cmocka_unit_test(sources),    cmocka_unit_test(tables),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return failed || pcsim_memory_used() != 0;
}
int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
