/* SPDX-License-Identifier: BSD-2-Clause */
/* Distance functions: zero on the marked pieces and nowhere else, positive inside, with a slope, with bounded
 * derivatives where that is promised; values on the boundary carried inside. */
#include "domain_text.h"

enum { N = 1024, SPACE = 10, DERIVATIVES = 65 };

typedef struct {
  domain *d;
  const domain_view *v;
  pcsim_program *p;
  pcsim_space space;
  pcsim_value x;
} trial;

static trial begin(const char *text) {
  trial t = {.d = read_domain(text)};
  t.v = domain_get(t.d);
  assert_ok(pcsim_program_create(&t.p));
  t.space = pcsim_build_space(t.p, "points");
  t.x = pcsim_build_input(t.p, "coordinates", t.space, t.v->num_coordinates);
  return t;
}

static void end(trial *t) {
  pcsim_program_destroy(&t->p);
  domain_destroy(&t->d);
}

/** Outputs "0" and its derivatives by space, first ones, then second ones i <= j, at n points: [..][n]. */
static void evaluate(const pcsim_program *p, const domain_view *v, const double *points, int n,
                     double out[1 + DERIVATIVES][N]) {
  int orders[DERIVATIVES][DOMAIN_MAX] = {{0}}, packed[DERIVATIVES * DOMAIN_MAX], num = 0;
  pcsim_program *partials = NULL;
  pcsim_executor *run = NULL;
  char name[32];
  for (int i = 0; i < v->num_space; i++) orders[num++][i] = 1;
  for (int i = 0; i < v->num_space; i++)
    for (int j = i; j < v->num_space; j++) orders[num][i]++, orders[num++][j]++;
  for (int k = 0; k < num; k++)
    for (int i = 0; i < v->num_coordinates; i++) packed[k * v->num_coordinates + i] = orders[k][i];
  assert_ok(pcsim_transform_partials(p, "coordinates", packed, num, &partials));
  assert_ok(pcsim_executor_create(partials, NULL, &run));
  assert_ok(pcsim_executor_points(run, "points", n));
  assert_ok(pcsim_executor_bind(run, "coordinates", points));
  assert_ok(pcsim_executor_bind_output(run, "0", out[0]));
  for (int k = 0; k < num; k++) {
    snprintf(name, sizeof name, "0_p_%d", k);
    assert_ok(pcsim_executor_bind_output(run, name, out[1 + k]));
  }
  assert_ok(pcsim_executor_run(run, false));
  pcsim_executor_destroy(&run);
  pcsim_program_destroy(&partials);
}

typedef struct {
  double least_inside, most, least_slope, most_slope, most_second;
} measure;

/** Check the zero set of the distance to the pieces that are named in `of`, measure the rest. */
static measure check(const char *text, const char *const *of) {
  static double points[N * DOMAIN_MAX], normals[N * SPACE], out[1 + DERIVATIVES][N];
  measure m = {INFINITY, 0, INFINITY, 0, 0};
  trial t = begin(text);
  bool marked[64] = {false};
  const int n = t.v->num_space, seconds = n * (n + 1) / 2;
  for (int i = 0; of[i]; i++) {
    const int piece = find_piece(t.d, of[i]);
    assert_true(piece >= 0);
    marked[piece] = true;
  }
  const pcsim_value f = domain_distance(t.d, marked, t.p, t.x);
  pcsim_build_output(t.p, "0", f);
  assert_ok(pcsim_program_status(t.p));
  assert_true(f != PCSIM_NO_VALUE);
  assert_ok(domain_draw_inside(t.d, 1, 2, N, points));
  evaluate(t.p, t.v, points, N, out);
  for (int i = 0; i < N; i++) {
    m.least_inside = fmin(m.least_inside, out[0][i]);
    m.most = fmax(m.most, out[0][i]);
    for (int k = 0; k < seconds; k++) {
      assert_true(isfinite(out[1 + n + k][i]));
      m.most_second = fmax(m.most_second, fabs(out[1 + n + k][i]));
    }
  }
  for (int p = 0; p < t.v->num_pieces; p++) {
    int small = 0;
    assert_ok(domain_draw_piece(t.d, p, 1, 2, N, points, normals));
    evaluate(t.p, t.v, points, N, out);
    for (int i = 0; i < N; i++) {
      if (marked[p]) assert_close(out[0][i], 0, 1e-13);
      else assert_true(out[0][i] > 0);
      small += !marked[p] && out[0][i] < 1e-3;
      for (int k = 0; k < n; k++) points[i * t.v->num_coordinates + k] -= 1e-7 * normals[i * n + k];
    }
    evaluate(t.p, t.v, points, N, out);
    for (int i = 0; i < N && marked[p]; i++) {
      m.least_slope = fmin(m.least_slope, out[0][i] / 1e-7);
      m.most_slope = fmax(m.most_slope, out[0][i] / 1e-7);
    }
    assert_true(small < N / 20);
  }
  end(&t);
  return m;
}

static const char *const square = "domain: {box: {x: [0, 2], y: [-1, 1], t: [0, 1]}}\n";
static const char *const disks = "domain:\n  box: {x: [-0.5, 0.5], y: [-0.5, 0.5]}\n  minus:\n"
                                 "    disk1: {ball: {centre: [0.3, 0.3], radius: 0.1}}\n"
                                 "    disk2: {ball: {centre: [-0.3, 0.3], radius: 0.1}}\n";

static void boxes(void **state) {
  (void)state;
  measure m = check(square, (const char *[]){"x-min", "x-max", "y-min", "y-max", NULL});
  assert_true(m.least_inside > 0 && m.most > 0.9 && m.most <= 1);
  assert_true(m.least_slope > 0 && m.most_slope <= 2); /* 4 / 2 in the middle of a side */
  assert_true(m.most_second <= 4);                     /* of the polynomial: 8 / 4, mixed 4 */
  m = check(square, (const char *[]){"x-min", NULL});
  assert_true(m.least_inside > 0 && m.most <= 1 && m.most_second == 0);
  assert_close(m.least_slope, 0.5, 1e-6);
  m = check(square, (const char *[]){"x-min", "y-max", NULL});
  assert_true(m.least_inside > 0 && m.most <= 1 && m.most_second <= 0.25);
  m = check("domain: {box: {x: [3, 4]}}\n", (const char *[]){"x-min", "x-max", NULL});
  assert_close(m.least_slope, 4, 1e-5);
  assert_close(m.most_second, 8, 1e-13);
}

static void balls(void **state) {
  (void)state;
  measure m = check("domain: {ball: {centre: [1, 2, 3], radius: 2}}\n", (const char *[]){"ball", NULL});
  assert_true(m.least_inside > 0 && m.most <= 1);
  assert_close(m.least_slope, 1, 1e-6);
  assert_close(m.most_second, 0.5, 1e-13);
  m = check(disks, (const char *[]){"disk1", "disk2", NULL});
  assert_true(m.least_inside > 0 && m.most <= 1);
  assert_true(m.least_slope > 3.7 && m.most_slope < 3.9); /* 2 / (radius log(size^2 / radius^2)) */
  assert_true(m.most_second <= 120);
  m = check(disks, (const char *[]){"disk2", "x-min", "x-max", "y-min", "y-max", NULL});
  assert_true(m.least_inside > 0 && m.most <= 1 && m.most_second <= 400);
  m = check(
      "domain: {box: {x: [0, 3], y: [0, 1], z: [0, 1]}, minus: {pin: {ball: {centre: [1, 0.5], radius: 0.2, "
      "coordinates: [x, y]}}}}\n",
      (const char *[]){"pin", "z-min", NULL});
  assert_true(m.least_inside > 0 && m.most <= 1 && m.most_second <= 100);
}

/** Several solids at one place: slopes go to zero where pieces meet, second derivatives grow there. */
static void combined(void **state) {
  (void)state;
  static const char *const shapes[] = {
      /* a re-entrant corner, a box inside, a box cut by a disk, a lens, two disks together, a bar through a
         disk */
      "domain: {box: {x: [0, 2], y: [0, 2]}, minus: {notch: {box: {x: [1, 2], y: [1, 2]}}}}\n",
      "domain: {box: {x: [0, 2], y: [0, 2]}, minus: {notch: {box: {x: [0.8, 1.2], y: [0.7, 1.1]}}}}\n",
      "domain: {box: {x: [0, 2], y: [0, 2]}, minus: {notch: {ball: {centre: [2, 1], radius: 0.5}}}}\n",
      "domain: {ball: {centre: [0, 0], radius: 1}, and: {notch: {ball: {centre: [1, 0], radius: 1}}}}\n",
      "domain: {ball: {centre: [0, 0], radius: 1}, plus: {notch: {ball: {centre: [1, 0], radius: 1}}}}\n",
      "domain: {ball: {centre: [0, 0], radius: 1}, plus: {notch: {box: {x: [-2, 2], y: [-0.2, 0.3]}}}}\n",
      "domain: {box: {x: [0, 1], y: [0, 1], z: [0, 1]}, minus: {notch: {box: {x: [0.4, 0.6], y: [0.4, 0.6], "
      "z: "
      "[0.3, 0.5]}}}}\n",
      "domain: {box: {x: [-3, 3], y: [-3, 3]}, minus: {notch: {ball: {centre: [0, 0], radius: 1}, and: {cut: "
      "{ball: "
      "{centre: [1, 0], radius: 1}}}}}}\n",
  };
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    measure m = check(shapes[i], (const char *[]){"notch", NULL});
    assert_true(m.least_inside > 0 && m.most < 10 && m.least_slope > 0 && m.most_slope < 20);
    domain *d = read_domain(shapes[i]);
    const domain_view *v = domain_get(d);
    const char *all[16] = {NULL};
    for (int p = 0; p < v->num_pieces; p++) all[p] = v->piece[p];
    m = check(shapes[i], all);
    assert_true(m.least_inside > 0 && m.most < 10 && m.least_slope >= 0 && m.most_slope < 20);
    domain_destroy(&d);
  }
}

/** Parts that touch along a face, and boundaries that go on in the plane of another. */
static void none_known(void **state) {
  (void)state;
  trial t = begin("domain: {box: {x: [0, 1], y: [0, 2]}, plus: {right: {box: {x: [1, 2], y: [0, 1]}}}}\n");
  bool of[8] = {false};
  assert_int_equal(domain_distance(t.d, of, t.p, t.x), PCSIM_NO_VALUE);
  of[find_piece(t.d, "x-max")] = true;
  assert_int_equal(domain_distance(t.d, of, t.p, t.x), PCSIM_NO_VALUE);
  of[find_piece(t.d, "x-max")] = false;
  of[find_piece(t.d, "y-min")] = true;
  assert_int_equal(domain_distance(t.d, of, t.p, t.x), PCSIM_NO_VALUE);
  of[find_piece(t.d, "y-min")] = false;
  of[find_piece(t.d, "x-min")] = true;
  assert_true(domain_distance(t.d, of, t.p, t.x) != PCSIM_NO_VALUE);
  assert_ok(pcsim_program_status(t.p));
  end(&t);
}

/* -------------------------------------------------------------------- values */

/** Values on pieces, in turn; what is carried inside equals them there. `smooth`: bound of second
 *  derivatives. */
static void check_blend(const char *text, const char *const *of, const char *const *values, double smooth) {
  static double points[N * DOMAIN_MAX], normals[N * SPACE], out[1 + DERIVATIVES][N],
      wanted[1 + DERIVATIVES][N];
  trial t = begin(text);
  const int n = t.v->num_space;
  pcsim_program *program[8] = {NULL};
  domain_value value[64] = {{NULL, NULL}};
  int which[8];
  for (int i = 0; of[i]; i++) {
    const pcsim_lowering names = {.num_coordinates = t.v->num_coordinates, .coordinates = t.v->coordinate};
    assert_ok(pcsim_lower(&values[i], 1, &names, &program[i], NULL, NULL));
    which[i] = find_piece(t.d, of[i]);
    assert_true(which[i] >= 0);
    value[which[i]] = (domain_value){program[i], "0"};
  }
  pcsim_build_output(t.p, "0", domain_blend(t.d, value, t.p, t.space, t.x));
  assert_ok(pcsim_program_status(t.p));
  for (int i = 0; of[i]; i++) {
    assert_ok(domain_draw_piece(t.d, which[i], 3, 4, N, points, normals));
    evaluate(t.p, t.v, points, N, out);
    evaluate(program[i], t.v, points, N, wanted);
    for (int k = 0; k < N; k++) assert_close(out[0][k], wanted[0][k], 1e-12);
  }
  assert_ok(domain_draw_inside(t.d, 3, 4, N, points));
  evaluate(t.p, t.v, points, N, out);
  for (int k = 0; k < N; k++)
    for (int i = 0; i < n * (n + 1) / 2; i++) assert_true(fabs(out[1 + n + i][k]) <= smooth);
  for (int i = 0; of[i]; i++) pcsim_program_destroy(&program[i]);
  end(&t);
}

static void blends(void **state) {
  (void)state;
  static const char *const lid[] = {"y-max", "x-min", "x-max", "y-min", NULL};
  check_blend("domain: {box: {x: [0, 1], y: [0, 1]}}\n", lid,
              (const char *[]){"4*x*(1-x)", "0*x", "0*y", "x*0"}, 8);
  check_blend(
      square, lid,
      (const char *[]){"x^2+sin(x)+t", "y^2*t+sin(2*y)*0+t*(1-y^2)", "4+sin(2)+t+0*y", "x^2+sin(x)+t"}, 20);
  check_blend("domain: {box: {x: [0, 1], y: [0, 1], z: [0, 1]}}\n",
              (const char *[]){"x-min", "x-max", "z-max", "y-min", NULL},
              (const char *[]){"y*z+z^2", "y*z+sin(1)+z^2", "y+sin(x)+1+0*z", "sin(x)+z^2"}, 10);
  check_blend("domain: {box: {x: [0, 1]}}\n", (const char *[]){"x-min", "x-max", NULL},
              (const char *[]){"x+1", "x+5"}, 1e-12);
  check_blend(disks, (const char *[]){"disk1", "disk2", "x-min", "x-max", NULL},
              (const char *[]){"1+0*x", "x", "y+3", "cos(y)"}, 1e4);
  check_blend("domain: {ball: {centre: [0, 0, 0, 0], radius: 1}}\n", (const char *[]){"ball", NULL},
              (const char *[]){"x1*x2+sin(x4)"}, 2);
}

/** Pieces that are held when `of` have these values (a text each, the same text being one value): those named
 * in `held`, in the order of the view. */
static void check_hold(const char *text, const char *const *of, const char *const *values, const char *held) {
  trial t = begin(text);
  pcsim_program *program[8] = {NULL};
  domain_value value[64] = {{NULL, NULL}};
  bool holds[64];
  char list[200] = "";
  for (int i = 0; of[i]; i++) {
    const pcsim_lowering names = {.num_coordinates = t.v->num_coordinates, .coordinates = t.v->coordinate};
    int same = 0;
    while (strcmp(values[same], values[i]) != 0) same++;
    if (same == i) assert_ok(pcsim_lower(&values[i], 1, &names, &program[i], NULL, NULL));
    value[find_piece(t.d, of[i])] = (domain_value){program[same], "0"};
  }
  domain_hold(t.d, value, holds);
  for (int i = 0; i < t.v->num_pieces; i++) {
    if (holds[i])
      snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", *list ? " " : "", t.v->piece[i]);
    if (!holds[i]) value[i] = (domain_value){NULL, NULL};
  }
  assert_string_equal(list, held);
  /* What is held has both functions. */
  if (*list) {
    assert_true(domain_distance(t.d, holds, t.p, t.x) != PCSIM_NO_VALUE);
    assert_true(domain_blend(t.d, value, t.p, t.space, t.x) != PCSIM_NO_VALUE);
    assert_ok(pcsim_program_status(t.p));
  }
  for (int i = 0; of[i]; i++) pcsim_program_destroy(&program[i]);
  end(&t);
}

static void held(void **state) {
  (void)state;
  static const char *const notched =
      "domain: {box: {x: [0, 2], y: [0, 2]}, minus: {notch: {box: {x: [1, 2], y: [1, 2]}}}}\n";
  static const char *const cut =
      "domain: {ball: {centre: [0, 0, 0], radius: 1}, and: {cut: {box: {z: [-0.2, 2]}}}}\n";
  check_hold(notched, (const char *[]){"x-min", "x-max", "notch", NULL}, (const char *[]){"0", "0", "0"},
             "x-min x-max");
  check_hold(notched, (const char *[]){"notch", NULL}, (const char *[]){"0"}, "");
  check_hold(cut, (const char *[]){"ball", "cut", NULL}, (const char *[]){"0", "x"}, "ball");
  check_hold(cut, (const char *[]){"ball", "cut", NULL}, (const char *[]){"0", "0"}, "ball cut");
  check_hold(disks, (const char *[]){"disk1", "disk2", "x-min", "y-max", NULL},
             (const char *[]){"0", "1", "x", "y"}, "x-min y-max disk1 disk2");
  check_hold(
      "domain: {ball: {centre: [0, 0], radius: 1}, plus: {right: {ball: {centre: [1, 0], radius: 1}}}}\n",
      (const char *[]){"ball", "right", NULL}, (const char *[]){"0", "0"}, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(boxes),    cmocka_unit_test(balls),
                                     cmocka_unit_test(combined), cmocka_unit_test(none_known),
                                     cmocka_unit_test(blends),   cmocka_unit_test(held)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
