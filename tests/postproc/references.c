/* SPDX-License-Identifier: BSD-2-Clause */
/* References against closed forms: values, ranges, exact fields, tables; and every message of both readers.
 */
#include "postproc/analytic.h"

#include <unistd.h>

#define WALLS "boundaries: {\"*\": {wall: no-slip}}\n"

static void kovasznay(const double *x, double *v) {
  const double pi = 3.14159265358979323846;
  double lambda = 20 - sqrt(400 + 4 * pi * pi), e = exp(lambda * x[0]);
  v[0] = 1 - e * cos(2 * pi * x[1]);
  v[1] = lambda / (2 * pi) * e * sin(2 * pi * x[1]);
  v[2] = 0;
  v[3] = 0.5 * (1 - e * e);
}

/* With a constant added to the pressure and one per cent to u. */
static void nearly(const double *x, double *v) {
  kovasznay(x, v);
  v[0] *= 1.01;
  v[3] += 7;
}

static const pcsim_comparison *comparison_of(const pcsim_references *references, const char *name) {
  const pcsim_comparison *c;
  int n = pcsim_references_get(references, &c);
  for (int i = 0; i < n; ++i)
    if (strcmp(c[i].quantity, name) == 0) return &c[i];
  print_error("no comparison %s\n", name);
  fail();
  return NULL;
}

typedef struct {
  pcsim_mesh *mesh;
  pcsim_tree *tree;
  pcsim_monitors *monitors;
  pcsim_references *references;
} all;

static all compare(const lattice *l, const char *text, analytic f) {
  all a = {mesh_lattice(l), tree_of(text), NULL, NULL};
  assert_ok(pcsim_monitors_read(a.tree, a.mesh, NULL, &a.monitors));
  assert_ok(pcsim_tree_status(a.tree));
  assert_ok(pcsim_references_read(a.tree, a.monitors, &a.references));
  assert_ok(pcsim_tree_status(a.tree));
  assert_non_null(a.references);
  analytic_fields fields = analytic_make(a.mesh, f, 0);
  assert_ok(pcsim_monitors_evaluate(a.monitors, &fields.fields));
  assert_ok(pcsim_references_compare(a.references, a.monitors, &fields.fields));
  assert_ok(
      pcsim_references_compare(a.references, a.monitors, &fields.fields)); /* again: nothing is added twice */
  analytic_free(&fields);
  return a;
}

static void clear(all *a) {
  pcsim_references_destroy(&a->references);
  pcsim_monitors_destroy(&a->monitors);
  pcsim_tree_destroy(&a->tree);
  pcsim_mesh_destroy(&a->mesh);
}

static void exact_fields(void **state) {
  (void)state;
  lattice l = {.nx = 12, .ny = 10, .cells = LATTICE_MIXED, .names = {"a", "b", "c", "d"}};
  all a =
      compare(&l,
              WALLS "parameters: {Re: 40}\n"
                    "reference:\n"
                    "  velocity: {exact: kovasznay, re: Re, tolerance: 2%}\n"
                    "  p: {exact: \"(1 - exp(2*(Re/2 - sqrt(Re^2/4 + 4*pi^2))*x))/2\", tolerance: 1e-12}\n"
                    "  error.velocity.max: {range: [0, 0.01], source: test}\n"
                    "  error.u: {value: 0.01, absolute: 1e-12, source: test}\n",
              nearly);
  assert_close(quantity_of(a.monitors, "error.u"), 0.01, 1e-14);
  assert_close(quantity_of(a.monitors, "error.v"), 0, 1e-14);
  assert_close(quantity_of(a.monitors, "error.p"), 0, 1e-12); /* no boundary gives it: without its mean */
  assert_close(quantity_of(a.monitors, "error.p.max"), 0, 1e-12);
  double velocity = quantity_of(a.monitors, "error.velocity");
  assert_true(velocity > 0.005 && velocity < 0.01);
  assert_true(comparison_of(a.references, "error.velocity")->met);
  assert_true(comparison_of(a.references, "error.p")->met);
  assert_true(comparison_of(a.references, "error.u")->met);
  assert_true(comparison_of(a.references, "error.velocity.max")->met);
  clear(&a);
}

static double vertices_error_of(int n, lattice_cells cells) {
  lattice l = {.nx = n, .ny = n, .cells = cells, .names = {"a", "b", "c", "d"}};
  all a = compare(&l, "boundaries: {\"?\": {pressure: 0}}\nreference: {p: {exact: kovasznay, re: 40}}\n",
                  kovasznay);
  double error = quantity_of(a.monitors, "error.p.vertices");
  clear(&a);
  return error;
}

static void vertices(void **state) {
  (void)state;
  for (int cells = 0; cells < 3; ++cells) {
    double coarse = vertices_error_of(16, (lattice_cells)cells),
           fine = vertices_error_of(32, (lattice_cells)cells);
    print_message("pressure at vertices: %.2e %.2e order %.2f\n", coarse, fine, log2(coarse / fine));
    assert_true(log2(coarse / fine) > 1.8);
  }
}

/* An oscillation from triangle to triangle does not reach the vertices inside. */
static void oscillating(const double *x, double *v) {
  double s = x[0] * 24 - floor(x[0] * 24), t = x[1] * 24 - floor(x[1] * 24);
  v[0] = v[1] = v[2] = 0;
  int parity = ((int)floor(x[0] * 24) + (int)floor(x[1] * 24)) % 2;
  v[3] = x[0] + (parity ? (t < s ? 0.1 : -0.1) : (s + t < 1 ? 0.1 : -0.1));
}

static void oscillation(void **state) {
  (void)state;
  lattice l = {.nx = 24, .ny = 24, .cells = LATTICE_TRIANGLES, .names = {"a", "b", "c", "d"}};
  pcsim_mesh *mesh = mesh_lattice(&l);
  pcsim_tree *tree = tree_of(WALLS "reference: {pressure: {exact: x}}\n");
  pcsim_monitors *monitors = NULL;
  pcsim_references *references = NULL;
  assert_ok(pcsim_monitors_read(tree, mesh, NULL, &monitors));
  assert_ok(pcsim_references_read(tree, monitors, &references));
  assert_ok(pcsim_tree_status(tree));
  analytic_fields fields = analytic_make(mesh, oscillating, 0);
  /* The gradient that a fit around the cell finds. */
  const pcsim_mesh_view *m = pcsim_mesh_get(mesh);
  for (int64_t c = 0; c < m->num_cells; ++c) fields.block[3][3 * c] = 1, fields.block[3][3 * c + 1] = 0;
  assert_ok(pcsim_references_compare(references, monitors, &fields.fields));
  assert_true(quantity_of(monitors, "error.p") > 0.3);
  assert_true(quantity_of(monitors, "error.p.vertices") < 0.2 * quantity_of(monitors, "error.p"));
  const pcsim_comparison *c;
  assert_int_equal(pcsim_references_get(references, &c), 0); /* no tolerance: reported only */
  analytic_free(&fields);
  pcsim_references_destroy(&references);
  pcsim_monitors_destroy(&monitors);
  pcsim_tree_destroy(&tree);
  pcsim_mesh_destroy(&mesh);
}

/* Errors from the parts of a mesh and from the whole on one rank. */
static void partition(void **state) {
  (void)state;
  static const char text[] =
      WALLS "reference: {velocity: {exact: kovasznay, re: 38}, p: {exact: kovasznay, re: 38}}\n";
  lattice l = {.nx = 13, .ny = 11, .cells = LATTICE_MIXED, .names = {"a", "b", "c", "d"}};
  pcsim_mesh *mesh[2] = {mesh_lattice(&l), NULL};
  pcsim_monitors *monitors[2];
  pcsim_raw_mesh *raw = raw_lattice(&l);
  assert_ok(pcsim_mesh_create(MPI_COMM_SELF, raw, &mesh[1]));
  pcsim_raw_mesh_destroy(&raw);
  pcsim_tree *tree = tree_of(text);
  for (int k = 0; k < 2; ++k) {
    pcsim_references *references = NULL;
    assert_ok(pcsim_monitors_read(tree, mesh[k], NULL, &monitors[k]));
    assert_ok(pcsim_references_read(tree, monitors[k], &references));
    analytic_fields fields = analytic_make(mesh[k], kovasznay, 0);
    assert_ok(pcsim_references_compare(references, monitors[k], &fields.fields));
    analytic_free(&fields);
    pcsim_references_destroy(&references);
  }
  const pcsim_quantity *q[2];
  int n = pcsim_monitors_quantities(monitors[0], &q[0]);
  assert_int_equal(n, 9);
  assert_int_equal(pcsim_monitors_quantities(monitors[1], &q[1]), n);
  for (int i = 0; i < n; ++i) {
    assert_close(q[0][i].value, q[1][i].value, 1e-12);
    assert_true(q[0][i].value > 1e-6);
  }
  for (int k = 0; k < 2; ++k) {
    pcsim_monitors_destroy(&monitors[k]);
    pcsim_mesh_destroy(&mesh[k]);
  }
  pcsim_tree_destroy(&tree);
}

static void linear(const double *x, double *v) { v[0] = 3 + x[1], v[1] = 0, v[2] = 0, v[3] = 2 * x[0]; }

static void values(void **state) {
  (void)state;
  lattice l = {.nx = 5, .ny = 5, .names = {"a", "b", "c", "d"}};
  all a = compare(&l,
                  WALLS "monitors: {q: {kind: flow-rate, on: b}, d: {kind: pressure-difference, points: [[1, "
                        "0.5], [0, 0.5]]},\n"
                        "  bubble: {kind: reattachment, on: a}}\n"
                        "reference:\n"
                        "  q: {value: 3.4, tolerance: 3%, source: \"a book\"}\n"
                        "  d: {value: 2.1, absolute: 0.05, source: test}\n"
                        "  bubble.length: {range: [0, 1000], source: test}\n",
                  linear);
  const pcsim_comparison *c = comparison_of(a.references, "q");
  assert_close(c->value, 3.5, 1e-12);
  assert_close(c->error, 0.1 / 3.4, 1e-12);
  assert_true(c->met);
  assert_string_equal(c->source, "a book");
  assert_close(comparison_of(a.references, "d")->error, 0.1, 1e-10);
  assert_false(comparison_of(a.references, "d")->met);
  assert_false(comparison_of(a.references, "bubble.length")->met); /* NaN is in no range */
  clear(&a);
}

/* ---------------------------------------------------------------------------- tables */

static char table_path[256];

static void write_table(const char *text) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int number = (int)getpid();
  MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const char *folder = getenv("TMPDIR");
  snprintf(table_path, sizeof table_path, "%s/pcsim-table-%d.csv", folder ? folder : "/tmp", number);
  if (rank == 0) assert_ok(pcsim_file_write(table_path, text, strlen(text)));
  MPI_Barrier(MPI_COMM_WORLD);
}

static void remove_table(void) {
  int rank;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) unlink(table_path);
}

static void tables(void **state) {
  (void)state;
  lattice l = {.nx = 40, .ny = 40, .names = {"a", "b", "c", "d"}};
  char text[1500];
  write_table("# a comment\ny,Re40,flag\n0.0,-0.5,\n0.25, 1.0,\n0.5,2.0,\n0.75,77,misprint\n1,,no value\n");
  snprintf(
      text, sizeof text,
      WALLS
      "monitors: {mid: {kind: line, from: [0.3, 0], to: [0.3, 1], fields: v}, all: {kind: line, from: [0.3, "
      "1], to: [0.3, 0]}}\n"
      "reference:\n"
      "  mid: {table: {file: %s, columns: [y, Re40], except: [0.75], scale: 0}, absolute: 1, source: test}\n"
      "  other: {table: {file: %s, columns: [y, Re40], except: [0.75]}, line: all, field: u, tolerance: "
      "30%%, source: test}\n",
      table_path, table_path);
  all a = compare(&l, text, kovasznay);
  double x[3] = {0.3, 0, 0}, v[4], worst = 0, most = 0;
  static const double rows[3][2] = {{0, -0.5}, {0.25, 1}, {0.5, 2}};
  for (int i = 0; i < 3; ++i) {
    x[1] = rows[i][0];
    kovasznay(x, v);
    worst = fmax(worst, fabs(v[0] - rows[i][1]));
    most = fmax(most, fabs(v[1]));
  }
  const pcsim_comparison *c = comparison_of(a.references, "other");
  assert_close(c->value, worst, 1e-4);
  assert_close(c->error, worst / 2, 1e-4);
  assert_false(c->met);
  assert_close(comparison_of(a.references, "mid")->value, most, 1e-4);
  assert_true(comparison_of(a.references, "mid")->met);
  const pcsim_curve *curve = curve_of(a.monitors, "other:reference");
  assert_int_equal(curve->num_rows, 3);
  assert_string_equal(curve->column[0], "y");
  assert_string_equal(curve->column[1], "u");
  assert_close(curve->values[5], 2, 0);
  const pcsim_curve *curves;
  assert_int_equal(pcsim_monitors_curves(a.monitors, &curves), 4);
  clear(&a);
  remove_table();
}

/* -------------------------------------------------------------------------- messages */

typedef struct {
  const char *text, *place, *words[3];
} fault;
#define M                                                                                                    \
  "monitors: {f: {kind: forces, on: a, density: 1, velocity: 1, area: 1}, l: {kind: line, from: [0, 0], "    \
  "to: [0, 1]}}\n"

static const fault faults[] = {
    {"monitors: {f: {kind: force, on: a}}\n",
     "case.yaml:1:22:",
     {"no kind of monitor `force`", "did you mean `forces`?"}},
    {"monitors: {forced: {on: a}}\n",
     "case.yaml:1:12:",
     {"no kind of monitor `forced`", "pressure-difference"}},
    {"monitors: {f: 3}\n", "case.yaml:1:15:", {"`f` must be a mapping"}},
    {"monitors: {f.x: {kind: flow-rate, on: a}}\n", "case.yaml:1:12:", {"`f.x` cannot name a monitor"}},
    {"monitors: {forces: {on: A}}\n", "case.yaml:1:25:", {"no boundary `A`", "a, b, c, d"}},
    {"monitors: {forces: {on: [a, bottom]}}\n", "case.yaml:1:29:", {"no boundary `bottom`"}},
    {"monitors: {forces: {on: a, densty: 1}}\n", "case.yaml:1:28:", {"densty", "density"}},
    {"monitors: {forces: {on: a, density: 1, area: 1}}\n",
     "case.yaml:1:12:",
     {"`density`, `velocity` and `area`; `velocity` is missing"}},
    {"monitors: {forces: {on: a, density: 1, area: 0, velocity: 1}}\n", "case.yaml:1:46:", {"`area` is 0"}},
    {"monitors: {forces: {on: a, drag: [0, 0]}}\n", "case.yaml:1:34:", {"`drag` is zero"}},
    {"monitors: {forces: {on: a, drag: [1, 0, 0]}}\n", "case.yaml:1:34:", {"two numbers"}},
    {"monitors: {forces: {on: a, length: 2}}\n", "case.yaml:1:12:", {"need a `centre`"}},
    {"monitors: {d: {kind: pressure-difference, points: [[0, 0]]}}\n", "case.yaml:1:51:", {"expected two"}},
    {"monitors: {d: {kind: pressure-difference, points: [[0, 0], [3, 0.5]]}}\n",
     "case.yaml:1:60:",
     {"(3, 0.5) lies outside the mesh", "nearest cell"}},
    {"monitors: {l: {kind: line, from: [0, 0], to: [0, 2]}}\n", "case.yaml:1:34:", {"lies outside the mesh"}},
    {"monitors: {p: {kind: probe, points: [0, x]}}\n", "case.yaml:1:41:", {"x"}},
    {"monitors: {p: {kind: probe, points: [0, 1/0]}}\n", "case.yaml:1:41:", {"finite"}},
    {"monitors: {p: {kind: probe, points: [0, 0], fields: [u, w]}}\n",
     "case.yaml:1:57:",
     {"no field `w`", "u, v or p"}},
    {"monitors: {e: {kind: extremum, of: \"u + q\", along: {from: [0, 0], to: [1, 0]}}}\n",
     "case.yaml:1:41:",
     {"q"}},
    {"monitors: {e: {kind: extremum, of: u, along: {from: [0, 0], to: [0, 0]}}}\n",
     "case.yaml:1:39:",
     {"the same point"}},
    {"monitors: {r: {kind: reattachment, on: a, where: \"y <\"}}\n", "case.yaml:1:", {"expect"}},
    {M "reference: {f.ce: {value: 1, tolerance: 1%, source: s}}\n",
     "case.yaml:2:13:",
     {"no monitor gives a quantity `f.ce`", "did you mean `f.cd`?"}},
    {M "reference: {f.cd: {value: 1, tolerance: 1%}}\n", "case.yaml:2:13:", {"source"}},
    {M "reference: {f.cd: {value: 1, source: s}}\n",
     "case.yaml:2:13:",
     {"`tolerance` (relative) or an `absolute`"}},
    {M "reference: {f.cd: {value: 1, tolerance: 1, absolute: 1, source: s}}\n",
     "case.yaml:2:13:",
     {"both `tolerance` and `absolute`"}},
    {M "reference: {f.cd: {value: 0, tolerance: 1%, source: s}}\n", "case.yaml:2:41:", {"relative to 0"}},
    {M "reference: {f.cd: {range: [2, 1], source: s}}\n", "case.yaml:2:27:", {"low not above high"}},
    {M "reference: {f.cd: {value: 1, tolerance: -1%, source: s}}\n", "case.yaml:2:41:", {"positive"}},
    {M "reference: {u: {exact: kovasnay}}\n", "case.yaml:2:24:", {"did you mean `kovasznay`?"}},
    {M "reference: {u: {exact: kovasznay}}\n", "case.yaml:2:13:", {"re"}},
    {M "reference: {velocity: {exact: [1]}}\n", "case.yaml:2:31:", {"two expressions"}},
    {M "reference: {q: {exact: x}}\n", "case.yaml:2:24:", {"`q` is none"}},
    {M "reference: {u: {exact: \"2*x + h\"}}\n", "case.yaml:2:31:", {"h"}},
    {M "reference: {m: {table: {file: f.csv, columns: [y, u]}, absolute: 1, source: s}}\n",
     "case.yaml:2:13:",
     {"no line monitor `m`"}},
    {M "reference: {l: {table: {file: missing.csv, columns: [y, u]}, absolute: 1, source: s}}\n",
     "case.yaml:2:31:",
     {"missing.csv"}},
};

static bool read_fault(const fault *f, const pcsim_mesh *mesh) {
  char text[2000];
  snprintf(text, sizeof text, "%s" WALLS, f->text);
  pcsim_tree *tree = tree_of(text);
  pcsim_monitors *monitors = NULL;
  pcsim_references *references = NULL;
  assert_ok(pcsim_monitors_read(tree, mesh, NULL, &monitors));
  if (monitors) assert_ok(pcsim_references_read(tree, monitors, &references));
  assert_null(references);
  bool good = pcsim_tree_status(tree) == PCSIM_ERR_CASE;
  const char *message = pcsim_error_message();
  size_t count = pcsim_tree_num_problems(tree);
  good = good && strncmp(message, f->place, strlen(f->place)) == 0;
  /* A missing table leaves its line unread as well. */
  good = good && count >= 1 && count <= (strstr(f->text, "f.csv") ? 2u : 1u);
  for (int w = 0; w < 3 && f->words[w]; ++w) good = good && strstr(message, f->words[w]);
  if (!good) print_error("case:\n%sfound (%zu):\n%s\nexpected at %s\n\n", f->text, count, message, f->place);
  pcsim_monitors_destroy(&monitors);
  pcsim_tree_destroy(&tree);
  return good;
}

static void messages(void **state) {
  (void)state;
  lattice l = {.nx = 4, .ny = 4, .names = {"a", "b", "c", "d"}};
  pcsim_mesh *mesh = mesh_lattice(&l);
  int wrong = 0;
  for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i) wrong += !read_fault(&faults[i], mesh);
  assert_int_equal(wrong, 0);
  pcsim_mesh_destroy(&mesh);
}

static void table_messages(void **state) {
  (void)state;
  static const struct {
    const char *table, *keys, *words;
  } wrong[] = {{"y,u\n0,1\n0.5,abc\n", "columns: [y, u]", ":3: `abc` is no number"},
               {"y,u\n0,1\n", "columns: [y, w]", "has no column `w`; it has: y, u"},
               {"y,u\n0,1\n", "columns: [y, u], except: [0.5]", "has no row at 0.5"},
               {"y,u\n0,1\n1.5,2\n", "columns: [y, u]", "a row at y = 1.5, off the line `l` (0 to 1)"},
               {"x,u\n0,1\n", "columns: [x, u]", "does not run along x"},
               {"r,u\n0,1\n", "columns: [r, u]", "`r` is no place along a line"},
               {"y,q\n0,1\n", "columns: [y, q]", "say which with `field: u`"},
               {"# nothing\n", "columns: [y, u]", "has no rows"}};
  lattice l = {.nx = 4, .ny = 4, .names = {"a", "b", "c", "d"}};
  pcsim_mesh *mesh = mesh_lattice(&l);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    char text[1000];
    write_table(wrong[i].table);
    snprintf(text, sizeof text, M "reference: {l: {table: {file: %s, %s}, absolute: 1, source: s}}\n",
             table_path, wrong[i].keys);
    pcsim_tree *tree = tree_of(text);
    pcsim_monitors *monitors = NULL;
    pcsim_references *references = NULL;
    assert_ok(pcsim_monitors_read(tree, mesh, NULL, &monitors));
    assert_non_null(monitors);
    assert_ok(pcsim_references_read(tree, monitors, &references));
    assert_status(pcsim_tree_status(tree), PCSIM_ERR_CASE);
    if (!strstr(pcsim_error_message(), wrong[i].words) || pcsim_tree_num_problems(tree) != 1) {
      print_error("found: %s\nexpected: %s\n", pcsim_error_message(), wrong[i].words);
      fail();
    }
    pcsim_monitors_destroy(&monitors);
    pcsim_tree_destroy(&tree);
    remove_table();
  }
  pcsim_mesh_destroy(&mesh);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(exact_fields), cmocka_unit_test(vertices),
                                     cmocka_unit_test(oscillation),  cmocka_unit_test(partition),
                                     cmocka_unit_test(values),       cmocka_unit_test(tables),
                                     cmocka_unit_test(messages),     cmocka_unit_test(table_messages)};
  size_t before = pcsim_memory_used();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  if (pcsim_memory_used() != before)
    print_error("%zu bytes are still held\n", pcsim_memory_used() - before), ++failed;
  return failed;
}
int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
