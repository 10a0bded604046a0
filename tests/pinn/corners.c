/* SPDX-License-Identifier: BSD-2-Clause */
/* Points towards corners: as many in each power of ten of the distance, sums with their weights are
 * integrals. */
#include "pinn/corners.h"
#include "domain_text.h"

enum { N = 8192, WIDTH = 3, DECADES = 5 };
static const double pi = 3.14159265358979323846, catalan = 0.91596559417721901505;
static const char *const text = "domain: {box: {x: [0, 1], y: [0, 1], t: [0, 2]}}\n";
static double points_[N * WIDTH], before_[N * WIDTH], normals_[N * 2];

/* The corners (1, 1) and (0, 1) of the unit square, the lid between them. */
static corners make(const domain *d, double share) {
  const int left = find_piece(d, "x-min"), right = find_piece(d, "x-max"), lid = find_piece(d, "y-max");
  corners c = {
      .num = 2,
      .share = share,
      .corner = {{.at = {1, 1}, .side = {{right, {0, -1}, {1, 0}, 0}, {lid, {-1, 0}, {0, 1}, 0}}},
                 {.at = {0, 1}, .side = {{left, {0, -1}, {-1, 0}, 0}, {lid, {1, 0}, {0, 1}, 0}}}},
  };
  corners_measure(d, &c);
  assert_int_equal(c.num, 2);
  return c;
}

static void count_decades(const corners *c, int64_t first, int64_t wanted) {
  const double factor = pow(c->radius[1] / c->radius[0], 1.0 / DECADES);
  int64_t count[DECADES] = {0};
  for (int64_t i = first; i < N; i++) {
    const double *x = points_ + i * WIDTH, r = fmin(hypot(x[0] - 1, x[1] - 1), hypot(x[0], x[1] - 1));
    assert_true(r > 0.999 * c->radius[0] && r < 1.001 * c->radius[1]);
    count[(int)fmin(log(r / c->radius[0]) / log(factor), DECADES - 1)]++;
  }
  for (int k = 0; k < DECADES; k++) assert_close((double)count[k] / ((double)wanted / DECADES), 1, 0.02);
}

static void inside(void **state) {
  (void)state;
  domain *d = read_domain(text);
  const corners c = make(d, 0.25), none = {0};
  const double around = 1e-3; /* of the corner (1, 1), within which 1 / r^2 is not integrated */
  double sums[4] = {0};
  assert_close(c.corner[0].measure / (pi / 2 * log(c.radius[1] / c.radius[0])), 1, 1e-3);
  assert_ok(domain_draw_inside(d, 3, 7, N, points_));
  memcpy(before_, points_, sizeof points_);
  assert_ok(corners_move_inside(d, &c, 3, 7, N, points_));
  assert_memory_equal(points_, before_, sizeof points_ * 3 / 4);
  count_decades(&c, N * 3 / 4, N / 4);
  for (int64_t i = 0; i < N; i++) {
    const double *x = points_ + i * WIDTH, r = hypot(x[0] - 1, x[1] - 1);
    const double w = corners_weight_inside(d, &c, x) / N;
    assert_true(domain_inside(d, x) && x[2] == before_[i * WIDTH + 2]);
    assert_true(w > 0 && w * N <= 1 / (1 - c.share));
    sums[0] += w, sums[1] += w * x[0] * x[0] * x[1], sums[2] += w * log(r);
    if (r > around) sums[3] += w / (r * r);
  }
  assert_close(sums[0], 1, 1e-3);
  assert_close(sums[1], 1.0 / 6, 1e-3);
  assert_close(sums[2], log(2) / 2 + pi / 4 - 1.5, 1e-3);
  assert_close(sums[3] / (pi / 2 * log(2 / around) - catalan), 1, 1e-2);
  assert_true(corners_weight_inside(d, &none, points_) == 1);
  domain_destroy(&d);
}

static void on_a_piece(void **state) {
  (void)state;
  domain *d = read_domain(text);
  const corners c = make(d, 0.5);
  const int lid = find_piece(d, "y-max"), right = find_piece(d, "x-max"), floor = find_piece(d, "y-min");
  const double around = 1e-4;
  for (int side = 0; side < 2; side++) {
    double sums[3] = {0};
    const int piece = side ? right : lid;
    assert_ok(domain_draw_piece(d, piece, 3, 7, N, points_, normals_));
    assert_ok(corners_move_piece(d, &c, piece, 3, 7, N, points_, normals_));
    count_decades(&c, N / 2, N / 2);
    for (int64_t i = 0; i < N; i++) {
      const double *x = points_ + i * WIDTH, r = side ? 1 - x[1] : 1 - x[0];
      const double w = corners_weight_piece(d, &c, piece, x) / N;
      assert_int_equal(domain_on_piece(d, x, 1e-9), piece);
      assert_true(normals_[2 * i] == side && normals_[2 * i + 1] == !side);
      sums[0] += w, sums[1] += w * log(r), sums[2] += r > around ? w / r : 0;
    }
    assert_close(sums[0], 1, 1e-3);
    assert_close(sums[1], -1, 2e-3);
    assert_close(sums[2] / -log(around), 1, 1e-2);
  }
  assert_ok(domain_draw_piece(d, floor, 3, 7, N, points_, normals_)); /* no corner there */
  memcpy(before_, points_, sizeof points_);
  assert_ok(corners_move_piece(d, &c, floor, 3, 7, N, points_, normals_));
  assert_memory_equal(points_, before_, sizeof points_);
  assert_true(corners_weight_piece(d, &c, floor, points_) == 1);
  domain_destroy(&d);
}

/* Values count more within a distance R of a corner, by (R / r)^3; not on pieces without a corner. */
static void stress(void **state) {
  (void)state;
  domain *d = read_domain(text);
  const corners c = make(d, 0.5);
  const int lid = find_piece(d, "y-max"), floor = find_piece(d, "y-min");
  const double middle[2] = {0.5, 1}, near[2] = {1 - 1e-3, 1}, nearer[2] = {1e-4, 1}, end[2] = {0, 1};
  assert_true(corners_stress(&c, lid, middle) == 1);
  assert_true(corners_stress(&c, lid, near) > 1);
  assert_close(corners_stress(&c, lid, nearer) / corners_stress(&c, lid, near), 1e3, 1e-6);
  assert_true(isfinite(corners_stress(&c, lid, end)));
  assert_true(corners_stress(&c, floor, nearer) == 1);
  domain_destroy(&d);
}

/* Draws differ: held-out points are others, of the same density. The same draw gives the same points. */
static void draws(void **state) {
  (void)state;
  domain *d = read_domain(text);
  const corners c = make(d, 0.5);
  for (uint64_t draw = 7; draw < 10; draw++) {
    memcpy(before_, points_, sizeof points_);
    assert_ok(domain_draw_inside(d, 3, draw / 2, N, points_));
    assert_ok(corners_move_inside(d, &c, 3, draw / 2, N, points_));
    const size_t half = N / 2 * WIDTH;
    if (draw == 8) assert_memory_not_equal(before_ + half, points_ + half, half * sizeof *points_);
    if (draw == 9) assert_memory_equal(before_, points_, sizeof points_);
  }
  domain_destroy(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(inside), cmocka_unit_test(on_a_piece),
                                     cmocka_unit_test(stress), cmocka_unit_test(draws)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
