/* SPDX-License-Identifier: BSD-2-Clause */
/* Every kind of monitor against closed forms; order of the interpolation; independence of the partition. */
#include "postproc/analytic.h"

static const double pi = 3.14159265358979323846;

/* ------------------------------------------------------------------ meshes and fields */

/* A ring between radius 1 and 3, finer at the inner circle; clockwise in s so that cells are
 * counter-clockwise. */
static void ring_map(double s, double t, double *x) {
  double r = 1.0 + 2.0 * (0.3 * t + 0.7 * t * t);
  x[0] = r * cos(-2.0 * pi * s);
  x[1] = r * sin(-2.0 * pi * s);
}

static void shifted(double s, double t, double *x) {
  /* Distorted inside, straight outside. */
  double bump = sin(pi * s) * sin(pi * t);
  x[0] = s + 0.02 * bump * sin(17 * s + 23 * t);
  x[1] = t + 0.02 * bump * cos(29 * s - 11 * t);
}

static void graded(double s, double t, double *x) {
  x[0] = 0.5 * (1.0 + tanh(2.0 * (2.0 * s - 1.0)) / tanh(2.0));
  x[1] = 0.5 * (1.0 + tanh(2.0 * (2.0 * t - 1.0)) / tanh(2.0));
}

static void quadratic(const double *x, double *v) {
  v[0] = 1 + 2 * x[0] - x[1] + x[0] * x[1] + 3 * x[1] * x[1];
  v[1] = x[0] * x[0] - 2 * x[0] * x[1];
  v[2] = 0;
  v[3] = 4 - x[0] + x[1] * x[1] - x[0] * x[0] + 0.5 * x[0] * x[1];
}

static void waves(const double *x, double *v) {
  v[0] = sin(3 * x[0] + 1) * cos(2 * x[1]);
  v[1] = cos(3 * x[0] + x[1]);
  v[2] = 0;
  v[3] = exp(0.5 * x[0]) * sin(2 * x[1] + 0.5);
}

#define WALLS "boundaries: {\"*\": {wall: no-slip}}\n"

/* -------------------------------------------------------------------------- forces */

static void pushed(const double *x, double *v) {
  v[0] = 2 * x[1], v[1] = 0.5 * x[0], v[2] = 0;
  v[3] = 5 + 3 * x[0] - 2 * x[1];
}

static void forces_on_ring(void **state) {
  (void)state;
  lattice l = {.nx = 40, .ny = 4, .ring = true, .map = ring_map, .names = {"disk", "", "far", ""}};
  pcsim_mesh *mesh = mesh_lattice(&l);
  pcsim_tree *tree;
  pcsim_monitors *monitors;
  monitor_analytic(mesh,
                   WALLS "monitors:\n"
                         "  forces: {on: \"di*\", density: 2, velocity: 3, area: 0.5, drag: [2, 0], lift: "
                         "[0, 1], centre: [0, 1], length: 0.25}\n"
                         "  out: {kind: flow-rate, on: [far]}\n"
                         "  shear: {kind: wall-shear, on: disk}\n",
                   pushed, 0.1, &tree, &monitors);
  /* A linear pressure on a closed polygon: force = minus its area times the gradient (p S out of the fluid,
   * into the body). A constant stress gives no net force. */
  double area = 0.5 * 40 * sin(2 * pi / 40), fx = -3 * area, fy = 2 * area, q = 0.5 * 2 * 9 * 0.5;
  assert_close(quantity_of(monitors, "forces.force.x"), fx, 1e-12);
  assert_close(quantity_of(monitors, "forces.pressure.y"), fy, 1e-12);
  assert_close(quantity_of(monitors, "forces.friction.x"), 0, 1e-12);
  assert_close(quantity_of(monitors, "forces.cd"), fx / q, 1e-12);
  assert_close(quantity_of(monitors, "forces.cl"), fy / q, 1e-12);
  /* About (0, 0) neither pressure nor the symmetric stress turns the disk; about (0, 1) the force has the arm
   * -1. */
  assert_close(quantity_of(monitors, "forces.moment"), fx, 1e-12);
  assert_close(quantity_of(monitors, "forces.cm"), fx / (q * 0.25), 1e-12);
  assert_close(quantity_of(monitors, "out"), 0, 1e-12);
  /* The stress is 2.5 * 0.1 off the diagonal: its tangential part is 0.25 |cos 2a| at the face of angle a. */
  const pcsim_curve *curve = curve_of(monitors, "shear");
  assert_int_equal(curve->num_rows, 40);
  double most = 0, mean = 0, step = 2 * sin(pi / 40);
  for (int64_t i = 0; i < 40; ++i) {
    const double *row = curve->values + 7 * i;
    double angle = atan2(row[2], row[1]);
    assert_close(row[5], 0.25 * fabs(cos(2 * angle)), 1e-9);
    assert_close(row[0], step * ((double)i + 0.5), 1e-12); /* chained without a gap */
    if (i) assert_true(hypot(row[1] - row[-6], row[2] - row[-5]) < 1.01 * step);
    most = fmax(most, row[5]);
    mean += row[5] / 40;
  }
  assert_close(quantity_of(monitors, "shear.max"), most, 1e-12);
  assert_close(quantity_of(monitors, "shear.mean"), mean, 1e-12);
  pcsim_monitors_destroy(&monitors);
  pcsim_tree_destroy(&tree);
  pcsim_mesh_destroy(&mesh);
}

static void flow_rate(void **state) {
  (void)state;
  lattice l = {.nx = 6, .ny = 5, .map = shifted, .names = {"bottom", "right", "top", "left"}};
  pcsim_mesh *mesh = mesh_lattice(&l);
  pcsim_tree *tree;
  pcsim_monitors *monitors;
  monitor_analytic(mesh,
                   WALLS "monitors: {in: {kind: flow-rate, on: left}, all: {kind: flow-rate, on: \"*\"}}\n",
                   pushed, 0, &tree, &monitors);
  assert_close(quantity_of(monitors, "in"), -1, 1e-12); /* into the domain: negative */
  assert_close(quantity_of(monitors, "all"), 0, 1e-12);
  pcsim_monitors_destroy(&monitors);
  pcsim_tree_destroy(&tree);
  pcsim_mesh_destroy(&mesh);
}

static void box_forces(void **state) {
  (void)state;
  pcsim_mesh *mesh = mesh_box(4);
  pcsim_tree *tree;
  pcsim_monitors *monitors;
  monitor_analytic(mesh,
                   WALLS "monitors:\n"
                         "  f: {kind: forces, on: x-max, centre: [0, 0, 0]}\n"
                         "  q: {kind: flow-rate, on: x-max}\n"
                         "  at: {kind: probe, points: [0.5, 0.5, 0.5]}\n"
                         "  corner: {kind: probe, points: [[0, 0, 0], [1, 1, 1]], fields: [p, w]}\n",
                   pushed, 0, &tree, &monitors);
  assert_close(quantity_of(monitors, "f.force.x"), 5 + 3 - 1, 1e-12);
  assert_close(quantity_of(monitors, "f.force.y"), 0, 1e-12);
  assert_close(quantity_of(monitors, "q"), 1, 1e-12);
  assert_close(quantity_of(monitors, "at.u"), 1, 1e-12);
  assert_close(quantity_of(monitors, "at.v"), 0.25, 1e-12);
  assert_close(quantity_of(monitors, "at.p"), 5.5, 1e-12);
  assert_close(quantity_of(monitors, "corner.1.p"), 5, 1e-11);
  assert_close(quantity_of(monitors, "corner.2.p"), 6, 1e-11);
  assert_close(quantity_of(monitors, "corner.2.w"), 0, 1e-11);
  assert_close(quantity_of(monitors, "f.moment.y"), 0.5 * (5 + 3 - 1), 1e-12);
  pcsim_monitors_destroy(&monitors);
  pcsim_tree_destroy(&tree);
  pcsim_mesh_destroy(&mesh);
}

/* -------------------------------------------------------------------- interpolation */

/* Quadratic fields are reproduced inside, on walls, in corners, on any cells; pressure at walls on
 * quadrilaterals. */
static void quadratics_exact(void **state) {
  (void)state;
  for (int cells = 0; cells < 3; ++cells) {
    lattice l = {
        .nx = 9, .ny = 8, .cells = (lattice_cells)cells, .map = shifted, .names = {"a", "b", "c", "d"}};
    pcsim_mesh *mesh = mesh_lattice(&l);
    pcsim_tree *tree;
    pcsim_monitors *monitors;
    monitor_analytic(mesh,
                     WALLS "monitors:\n"
                           "  inside: {kind: probe, points: [[0.5, 0.5], [0.31, 0.77], [0.07, 0.03]]}\n"
                           "  wall: {kind: probe, points: [[0.5, 0], [1, 0.4]]}\n"
                           "  corner: {kind: probe, points: [0, 1], fields: [velocity.x, v]}\n",
                     quadratic, 0, &tree, &monitors);
    static const struct {
      const char *name;
      double x[3];
    } probes[] = {{"inside.1", {0.5, 0.5, 0}},
                  {"inside.2", {0.31, 0.77, 0}},
                  {"inside.3", {0.07, 0.03, 0}},
                  {"wall.1", {0.5, 0, 0}},
                  {"wall.2", {1, 0.4, 0}}};
    for (size_t i = 0; i < 5; ++i) {
      char name[64];
      double v[4];
      quadratic(probes[i].x, v);
      snprintf(name, sizeof name, "%s.u", probes[i].name);
      assert_close(quantity_of(monitors, name), v[0], 1e-10);
      snprintf(name, sizeof name, "%s.v", probes[i].name);
      assert_close(quantity_of(monitors, name), v[1], 1e-10);
      snprintf(name, sizeof name, "%s.p", probes[i].name);
      /* At walls of triangles the pressure is linear on purpose: it must not amplify their oscillation. */
      assert_close(quantity_of(monitors, name), v[3], cells == LATTICE_QUADS || i < 2 ? 1e-9 : 0.02);
    }
    double corner[3] = {0, 1, 0}, v[4];
    quadratic(corner, v);
    assert_close(quantity_of(monitors, "corner.u"), v[0], 1e-10);
    assert_close(quantity_of(monitors, "corner.v"), v[1], 1e-10);
    pcsim_monitors_destroy(&monitors);
    pcsim_tree_destroy(&tree);
    pcsim_mesh_destroy(&mesh);
  }
}

/* Largest errors of u and p along a slanted line that ends on walls. */
static void line_errors(int n, lattice_cells cells, double error[2]) {
  lattice l = {.nx = n, .ny = n, .cells = cells, .map = shifted, .names = {"a", "b", "c", "d"}};
  pcsim_mesh *mesh = mesh_lattice(&l);
  pcsim_tree *tree;
  pcsim_monitors *monitors;
  monitor_analytic(mesh, WALLS "monitors: {l: {kind: line, from: [0, 0.2], to: [0.8, 1], count: 301}}\n",
                   waves, 0, &tree, &monitors);
  const pcsim_curve *curve = curve_of(monitors, "l");
  assert_int_equal(curve->num_columns, 6);
  assert_string_equal(curve->column[3], "u");
  error[0] = error[1] = 0;
  for (int64_t i = 0; i < curve->num_rows; ++i) {
    const double *row = curve->values + 6 * i;
    double x[3] = {row[1], row[2], 0}, v[4];
    waves(x, v);
    error[0] = fmax(error[0], fabs(row[3] - v[0]));
    error[1] = fmax(error[1], fabs(row[5] - v[3]));
  }
  pcsim_monitors_destroy(&monitors);
  pcsim_tree_destroy(&tree);
  pcsim_mesh_destroy(&mesh);
}

static void orders(void **state) {
  (void)state;
  for (int cells = 0; cells < 3; ++cells) {
    double coarse[2], fine[2];
    line_errors(32, (lattice_cells)cells, coarse);
    line_errors(128, (lattice_cells)cells, fine);
    print_message("cells %d: u %.2e %.2e order %.2f, p %.2e %.2e order %.2f\n", cells, coarse[0], fine[0],
                  log2(coarse[0] / fine[0]) / 2, coarse[1], fine[1], log2(coarse[1] / fine[1]) / 2);
    assert_true(log2(coarse[0] / fine[0]) / 2 > 2.6);
    assert_true(log2(coarse[1] / fine[1]) / 2 >
                (cells == LATTICE_QUADS ? 2.6 : 1.5)); /* linear at the walls */
  }
}

/* Stagnation points of potential flow around the unit circle: points on the true circle, a sagitta off the
 * polygon or on a node of it. */
static void around_circle(const double *x, double *v) {
  double r2 = x[0] * x[0] + x[1] * x[1], r4 = r2 * r2;
  v[0] = 1 - (x[0] * x[0] - x[1] * x[1]) / r4;
  v[1] = -2 * x[0] * x[1] / r4;
  v[2] = 0;
  v[3] = 0.5 * (1 - v[0] * v[0] - v[1] * v[1]) + 0.2 * x[0];
}

static double drop_error(int n, lattice_cells cells) {
  lattice l = {
      .nx = n, .ny = n / 2, .cells = cells, .ring = true, .map = ring_map, .names = {"disk", "", "far", ""}};
  pcsim_mesh *mesh = mesh_lattice(&l);
  pcsim_tree *tree;
  pcsim_monitors *monitors;
  monitor_analytic(
      mesh,
      "boundaries: {disk: {wall: no-slip}, far: {velocity: [1, 0]}}\n"
      "monitors: {drop: {kind: pressure-difference, points: [[-1, 0], [\"cos(0.3)\", \"sin(0.3)\"]]}}\n",
      around_circle, 0, &tree, &monitors);
  double value = quantity_of(monitors, "drop"), a[3] = {-1, 0, 0}, b[3] = {cos(0.3), sin(0.3), 0}, va[4],
         vb[4];
  around_circle(a, va);
  around_circle(b, vb);
  pcsim_monitors_destroy(&monitors);
  pcsim_tree_destroy(&tree);
  pcsim_mesh_destroy(&mesh);
  return fabs(value - va[3] + vb[3]) / fabs(va[3] - vb[3]);
}

static void pressure_on_circle(void **state) {
  (void)state;
  for (int cells = 0; cells < 2; ++cells) {
    double coarse = drop_error(60, (lattice_cells)cells), fine = drop_error(240, (lattice_cells)cells);
    print_message("drop error: %.2e %.2e order %.2f\n", coarse, fine, log2(coarse / fine) / 2);
    assert_true(log2(coarse / fine) / 2 > 2.0);
    assert_true(fine < 1e-3);
  }
}

/* --------------------------------------------------------------------------- extrema */

static void like_cavity(const double *x, double *v) {
  /* Steep on the scale 0.06, as the profiles of the cavity at Re 1000 are. */
  double y = x[1];
  v[0] = -0.39 * exp(-pow((y - 0.1717) / 0.12, 2)) + y * y * y * (1 + 0.1 * sin(3 * x[0]));
  v[1] = 0.38 * exp(-pow((x[0] - 0.1578) / 0.14, 2)) - 0.53 * exp(-pow((x[0] - 0.9092) / 0.07, 2));
  v[2] = v[3] = 0;
}

static void extremum_of(double (*f)(double), double low, double high, double *value) {
  const double g = 0.6180339887498949;
  for (int i = 0; i < 100; ++i) {
    double a = high - g * (high - low), b = low + g * (high - low);
    if (f(a) > f(b)) high = b;
    else low = a;
  }
  *value = f(0.5 * (low + high));
}
static double minus_u(double y) {
  double x[3] = {0.5, y, 0}, v[4];
  like_cavity(x, v);
  return -v[0];
}
static double plus_v(double s) {
  double x[3] = {s, 0.5, 0}, v[4];
  like_cavity(x, v);
  return v[1];
}
static double minus_v(double s) { return -plus_v(s); }

static void extrema(void **state) {
  (void)state;
  double u_min, v_max, v_min;
  extremum_of(minus_u, 0.1, 0.25, &u_min);
  extremum_of(plus_v, 0.1, 0.25, &v_max);
  extremum_of(minus_v, 0.85, 0.95, &v_min);
  for (int uniform = 0; uniform < 2; ++uniform) {
    lattice l = {
        .nx = 256, .ny = 256, .map = uniform ? NULL : graded, .names = {"walls", "walls", "lid", "walls"}};
    pcsim_mesh *mesh = mesh_lattice(&l);
    pcsim_tree *tree;
    pcsim_monitors *monitors;
    monitor_analytic(
        mesh,
        WALLS "monitors:\n"
              "  u: {kind: extremum, of: u, along: {from: [0.5, 0], to: [0.5, 0.9]}}\n"
              "  v: {kind: extremum, of: v, along: {from: [0, 0.5], to: [1, 0.5]}}\n"
              "  speed: {kind: extremum, of: \"sqrt(u^2 + v^2)\", along: {from: [0.5, 0], to: [0.5, 1]}}\n",
        like_cavity, 0, &tree, &monitors);
    double e[3] = {quantity_of(monitors, "u.min") / -u_min - 1, quantity_of(monitors, "v.max") / v_max - 1,
                   quantity_of(monitors, "v.min") / -v_min - 1};
    print_message("extrema, relative errors: %.1e %.1e %.1e\n", e[0], e[1], e[2]);
    for (int k = 0; k < 3; ++k) assert_close(e[k], 0, 1e-5);
    assert_close(quantity_of(monitors, "v.min.at"), 0.9092, 2e-3);
    double top[3] = {0.5, 1, 0}, v[4];
    like_cavity(top, v);
    assert_close(quantity_of(monitors, "speed.max"), hypot(v[0], v[1]), 1e-4); /* at the end of the line */
    assert_close(quantity_of(monitors, "speed.max.at"), 1, 1e-12);
    pcsim_monitors_destroy(&monitors);
    pcsim_tree_destroy(&tree);
    pcsim_mesh_destroy(&mesh);
  }
}

/* ---------------------------------------------------------------------- reattachment */

static void bubble(const double *x, double *v) {
  /* Shear at y = 0: (x - 0.05)(x - 0.62), backflow between; at y = 1 the bubble runs off the end. */
  v[0] = x[1] * (x[0] - 0.05) * (x[0] - 0.62) * (1 - x[1]) + x[1] * x[1] * (x[0] - 0.4);
  v[1] = v[2] = v[3] = 0;
}

static void reattachment(void **state) {
  (void)state;
  lattice l = {.nx = 50, .ny = 5, .names = {"walls", "out", "walls", "in"}};
  pcsim_mesh *mesh = mesh_lattice(&l);
  pcsim_tree *tree;
  pcsim_monitors *monitors;
  monitor_analytic(mesh,
                   WALLS "monitors:\n"
                         "  lower: {kind: reattachment, on: walls, where: \"y < 0.1\"}\n"
                         "  back: {kind: reattachment, on: walls, where: \"y < 0.1\", direction: [-1, 0]}\n"
                         "  none: {kind: reattachment, on: walls, where: \"x > 0.7 and y < 0.1\"}\n"
                         "  start: {kind: reattachment, on: walls, where: \"x > 0.2 and y < 0.1\"}\n",
                   bubble, 1, &tree, &monitors);
  assert_close(quantity_of(monitors, "lower.separation"), 0.05, 4e-4);
  assert_close(quantity_of(monitors, "lower.reattachment"), 0.62, 4e-4);
  assert_close(quantity_of(monitors, "lower.length"), 0.57, 8e-4);
  /* Against the direction it is the piece beyond 0.62 that flows back: it begins with the wall's end. */
  assert_close(quantity_of(monitors, "back.separation"), -1, 1e-12);
  assert_close(quantity_of(monitors, "back.reattachment"), -0.62, 4e-4);
  assert_true(isnan(quantity_of(monitors, "none.separation")));
  assert_close(quantity_of(monitors, "start.separation"), 0.2, 1e-12);
  pcsim_monitors_destroy(&monitors);
  pcsim_tree_destroy(&tree);
  pcsim_mesh_destroy(&mesh);
}

/* ------------------------------------------------------------- ranks, names before a run */

/* The same numbers from the whole mesh on one rank as from its parts: every rank also builds the mesh alone.
 */
static void partition(void **state) {
  (void)state;
  static const char text[] =
      "boundaries: {a: {wall: no-slip}, b: {pressure: 0}, c: {symmetry: true}, d: {velocity: [1, 0]}}\n"
      "monitors:\n"
      "  l: {kind: line, from: [0, 0.5], to: [1, 0.5], count: 65}\n"
      "  m: {kind: line, from: [0.5, 0], to: [0.5, 1], count: 65}\n"
      "  e: {kind: extremum, of: \"u*v\", along: {from: [0, 0], to: [1, 1]}}\n"
      "  s: {kind: wall-shear, on: \"*\"}\n"
      "  d: {kind: pressure-difference, points: [[0, 0], [1, 1]]}\n";
  for (int cells = 0; cells < 3; ++cells) {
    lattice l = {.nx = 16, .ny = 16, .cells = (lattice_cells)cells, .names = {"a", "b", "c", "d"}};
    pcsim_mesh *mesh = mesh_lattice(&l), *alone = NULL;
    pcsim_raw_mesh *raw = raw_lattice(&l);
    assert_ok(pcsim_mesh_create(MPI_COMM_SELF, raw, &alone));
    pcsim_raw_mesh_destroy(&raw);
    pcsim_tree *tree[2];
    pcsim_monitors *monitors[2];
    monitor_analytic(mesh, text, waves, 0.3, &tree[0], &monitors[0]);
    monitor_analytic(alone, text, waves, 0.3, &tree[1], &monitors[1]);
    const pcsim_quantity *q[2];
    const pcsim_curve *c[2];
    int n = pcsim_monitors_quantities(monitors[0], &q[0]);
    assert_int_equal(n, pcsim_monitors_quantities(monitors[1], &q[1]));
    for (int i = 0; i < n; ++i) assert_close(q[0][i].value, q[1][i].value, 1e-11);
    n = pcsim_monitors_curves(monitors[0], &c[0]);
    assert_int_equal(n, pcsim_monitors_curves(monitors[1], &c[1]));
    for (int i = 0; i < n; ++i)
      for (int64_t k = 0; k < c[0][i].num_rows * c[0][i].num_columns; ++k)
        assert_close(c[0][i].values[k], c[1][i].values[k], 1e-11);
    for (int k = 0; k < 2; ++k) {
      pcsim_monitors_destroy(&monitors[k]);
      pcsim_tree_destroy(&tree[k]);
    }
    pcsim_mesh_destroy(&mesh);
    pcsim_mesh_destroy(&alone);
  }
}

/* A linear velocity and a pressure that is a square on the unit square of right-angled cells. */
static void plane(const double *x, double *v) {
  v[0] = 1 + 2 * x[0] - 3 * x[1], v[1] = x[1], v[2] = 0, v[3] = x[0] * x[0];
}

static void integrals(void **state) {
  (void)state;
  lattice l = {.nx = 40, .ny = 20, .names = {"low", "right", "high", "left"}};
  pcsim_mesh *mesh = mesh_lattice(&l);
  pcsim_tree *tree;
  pcsim_monitors *monitors;
  monitor_analytic(mesh,
                   WALLS "parameters: {a: 2}\n"
                         "monitors:\n"
                         "  whole: {kind: integral, of: \"a*u + x\"}\n"
                         "  mean: {of: \"u + v\"}\n"
                         "  edge: {kind: integral, of: u, on: left}\n"
                         "  slope: {kind: mean, of: u_x - u_y, on: [low, high]}\n"
                         "  square: {kind: integral, of: p, region: fluid}\n"
                         "  size: {kind: norm, of: v}\n"
                         "  low: {kind: min, of: u}\n"
                         "  high: {kind: max, of: u, on: low}\n"
                         "  none: {kind: max, of: \"log(0*u - 1)\"}\n",
                   plane, 0, &tree, &monitors);
  assert_close(quantity_of(monitors, "whole"), 2 * 0.5 + 0.5, 1e-12);
  assert_close(quantity_of(monitors, "mean"), 1, 1e-12);
  assert_close(quantity_of(monitors, "edge"), -0.5, 1e-12);
  assert_close(quantity_of(monitors, "slope"), 5, 1e-9);
  assert_close(quantity_of(monitors, "square"), 1.0 / 3 - 1.0 / (12 * 1600), 1e-12); /* midpoint rule */
  assert_close(quantity_of(monitors, "size"), sqrt(1.0 / 3 - 1.0 / (12 * 400)), 1e-12);
  assert_close(quantity_of(monitors, "low"), 1 + 2 * 0.0125 - 3 * 0.975, 1e-12);
  assert_close(quantity_of(monitors, "high"), 1 + 2 * 0.9875, 1e-12);
  assert_true(isnan(quantity_of(monitors, "none")));
  pcsim_monitors_destroy(&monitors);
  pcsim_tree_destroy(&tree);
  pcsim_mesh_destroy(&mesh);
}

static void names_before_run(void **state) {
  (void)state;
  lattice l = {.nx = 4, .ny = 4, .names = {"a", "b", "c", "d"}};
  pcsim_mesh *mesh = mesh_lattice(&l);
  pcsim_tree *tree = tree_of(WALLS "monitors: {forces: {on: a}, probe: {points: [0.5, 0.5]}}\n");
  pcsim_monitors *monitors = NULL;
  const pcsim_quantity *q;
  assert_ok(pcsim_monitors_read(tree, mesh, NULL, &monitors));
  assert_int_equal(pcsim_monitors_quantities(monitors, &q), 9);
  for (int i = 0; i < 9; ++i) assert_true(isnan(q[i].value));
  assert_string_equal(q[0].name, "forces.force.x"); /* no reference values, no coefficients */
  assert_ok(pcsim_monitors_put(monitors, "order.u", "1", 2.0));
  assert_close(quantity_of(monitors, "order.u"), 2, 0);
  pcsim_monitors_destroy(&monitors);
  pcsim_tree_destroy(&tree);
  tree = tree_of("title: no monitors\n");
  assert_ok(pcsim_monitors_read(tree, mesh, NULL, &monitors));
  assert_non_null(monitors);
  pcsim_monitors_destroy(&monitors);
  pcsim_tree_destroy(&tree);
  pcsim_mesh_destroy(&mesh);
  const pcsim_monitor_kind *kind;
  for (size_t i = 0; (kind = pcsim_monitor_kind_get(i)); ++i) assert_string_equal(kind->keys[0].name, "kind");
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(forces_on_ring), cmocka_unit_test(flow_rate),
                                     cmocka_unit_test(box_forces),     cmocka_unit_test(quadratics_exact),
                                     cmocka_unit_test(orders),         cmocka_unit_test(pressure_on_circle),
                                     cmocka_unit_test(extrema),        cmocka_unit_test(reattachment),
                                     cmocka_unit_test(partition),      cmocka_unit_test(names_before_run),
                                     cmocka_unit_test(integrals)};
  size_t before = pcsim_memory_used();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  if (pcsim_memory_used() != before)
    print_error("%zu bytes are still held\n", pcsim_memory_used() - before), ++failed;
  return failed;
}
int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
