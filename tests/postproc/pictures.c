/* SPDX-License-Identifier: BSD-2-Clause */
/* PNG files decoded by an own reader; pictures of meshes: no gaps, the right colours in the right places, the
 * same on any rank count. */
#include "sample.h"

#include "postproc/draw.h"

#include <zlib.h>

static int rank;

static uint32_t get32(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint8_t predictor(int filter, int a, int b, int c) {
  int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
  switch (filter) {
  case 1:
    return (uint8_t)a;
  case 2:
    return (uint8_t)b;
  case 3:
    return (uint8_t)((a + b) / 2);
  case 4:
    return (uint8_t)(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
  default:
    return 0;
  }
}

/* Signature, chunks in order with their sums, one zlib stream, filters: the pixels. Caller frees. */
static uint8_t *decode(const uint8_t *png, size_t size, int *width, int *height) {
  static const uint8_t signature[8] = {137, 80, 78, 71, 13, 10, 26, 10};
  uint8_t *raw = NULL;
  bool ended = false;
  assert_memory_equal(png, signature, 8);
  for (size_t at = 8; at < size;) {
    uint32_t length = get32(png + at);
    const uint8_t *type = png + at + 4, *data = type + 4;
    assert_true(at + 12 + length <= size && !ended);
    assert_int_equal(get32(data + length), crc32(0, type, length + 4));
    if (!memcmp(type, "IHDR", 4)) {
      *width = (int)get32(data), *height = (int)get32(data + 4);
      assert_true(length == 13 && data[8] == 8 && data[9] == 2 && !data[10] && !data[11] && !data[12]);
    } else if (!memcmp(type, "IDAT", 4)) {
      uLongf n = (uLongf)(*width * 3 + 1) * (uLongf)*height, expected = n;
      raw = malloc(n);
      assert_int_equal(uncompress(raw, &n, data, length), Z_OK);
      assert_int_equal(n, expected);
    } else {
      assert_memory_equal(type, "IEND", 4);
      ended = true;
    }
    at += 12 + length;
  }
  assert_true(ended && raw);
  const size_t row = (size_t)*width * 3;
  uint8_t *rgb = malloc(row * (size_t)*height);
  for (size_t y = 0; y < (size_t)*height; y++)
    for (size_t i = 0; i < row; i++) {
      uint8_t *out = rgb + y * row + i;
      int a = i >= 3 ? out[-3] : 0, b = y ? out[-(ptrdiff_t)row] : 0,
          c = i >= 3 && y ? out[-(ptrdiff_t)row - 3] : 0;
      *out = (uint8_t)(raw[y * (row + 1) + 1 + i] + predictor(raw[y * (row + 1)], a, b, c));
    }
  free(raw);
  return rgb;
}

static void test_png(void **state) {
  (void)state;
  const int sizes[][2] = {{1, 1}, {7, 3}, {300, 200}};
  uint64_t random = 3;
  for (size_t k = 0; k < 3; k++) {
    pcsim_picture *picture;
    uint8_t *png, *rgb;
    size_t size;
    int width = 0, height = 0;
    assert_ok(canvas_create(sizes[k][0], sizes[k][1], &picture));
    for (int i = 0; i < 3 * sizes[k][0] * sizes[k][1]; i++) /* smooth, noisy and constant parts */
      picture->rgb[i] = (uint8_t)(i % 900 < 300   ? i / 7
                                  : i % 900 < 600 ? (int)(lattice_random(&random) % 256)
                                                  : 200);
    assert_ok(pcsim_picture_png(picture, &png, &size));
    rgb = decode(png, size, &width, &height);
    assert_true(width == sizes[k][0] && height == sizes[k][1]);
    assert_memory_equal(rgb, picture->rgb, (size_t)(3 * width * height));
    free(rgb);
    pcsim_free(&png);
    pcsim_picture_destroy(&picture);
  }
  uint8_t *png;
  size_t size;
  pcsim_picture empty = {0};
  assert_status(pcsim_picture_png(&empty, &png, &size), PCSIM_ERR_ARG);
}

static const lattice shapes[] = {{LATTICE_MIXED_2D, 30, 20, 0, 0.15, true},
                                 {LATTICE_MIXED_3D, 9, 6, 4, 0, true},
                                 {LATTICE_TETRA, 6, 4, 4, 0.1, true},
                                 {LATTICE_HEXA, 6, 4, 4, 0, false}};

/* value = 2 + 3 x - y (+ z): linear, so the picture is exact. */
static pcsim_picture *draw(MPI_Comm comm, const lattice *shape, const pcsim_picture_options *options,
                           bool values) {
  pcsim_mesh *mesh = sample_mesh(comm, shape, 0.1);
  const pcsim_mesh_view *m = pcsim_mesh_get(mesh);
  double *u = calloc((size_t)m->num_cells + 1, sizeof *u),
         *g = calloc((size_t)m->num_cells * 3 + 1, sizeof *g);
  for (int64_t c = 0; c < m->num_cells; c++) {
    const double *x = m->cell_centre + 3 * c;
    u[c] = 2 + 3 * x[0] - x[1] + x[2];
    g[3 * c] = 3, g[3 * c + 1] = -1, g[3 * c + 2] = 1;
  }
  pcsim_picture *picture;
  assert_ok(pcsim_picture_field(mesh, values ? u : NULL, values ? g : NULL, options, &picture));
  free(u), free(g);
  pcsim_mesh_destroy(&mesh);
  return picture;
}

static const uint8_t *at(const pcsim_picture *p, int x, int y) {
  return p->rgb + 3 * ((size_t)y * (size_t)p->width + (size_t)x);
}
static bool white(const uint8_t *c) { return c[0] == 255 && c[1] == 255 && c[2] == 255; }

/* The plot: the largest box whose middle row and column hold no white. */
static void find_plot(const pcsim_picture *p, int box[4]) {
  int x = p->width / 2, y = p->height / 2;
  assert_false(white(at(p, x, y)));
  for (box[0] = x; !white(at(p, box[0] - 1, y));) box[0]--;
  for (box[2] = x; !white(at(p, box[2] + 1, y));) box[2]++;
  for (box[1] = y; !white(at(p, x, box[1] - 1));) box[1]--;
  for (box[3] = y; !white(at(p, x, box[3] + 1));) box[3]++;
}

static void test_no_gaps(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    pcsim_picture *p =
        draw(MPI_COMM_WORLD, &shapes[i], &(pcsim_picture_options){.title = "u", .width = 700}, true);
    assert_true((p != NULL) == (rank == 0));
    if (!p) continue;
    int box[4];
    assert_int_equal(p->width, 700);
    find_plot(p, box);
    for (int y = box[1]; y <= box[3]; y++)
      for (int x = box[0]; x <= box[2]; x++) assert_false(white(at(p, x, y)));
    assert_close((double)(box[2] - box[0]) / (box[3] - box[1]), 1.5, 0.02); /* equal aspect */
    /* the value grows along x and falls along y: so does the brightness */
    const int mid = (box[1] + box[3]) / 2, centre = (box[0] + box[2]) / 2;
    int last = -1;
    for (int x = box[0] + 4; x < box[2] - 4; x += 8) {
      const uint8_t *c = at(p, x, mid);
      int bright = 2126 * c[0] + 7152 * c[1] + 722 * c[2];
      if (bright < last - 9000) print_error("shape %zu: x %d: %d after %d\n", i, x, bright, last);
      assert_true(bright >= last - 9000);
      last = bright;
    }
    assert_true(at(p, centre, box[1] + 4)[1] < at(p, centre, box[3] - 4)[1]);
    pcsim_picture_destroy(&p);
  }
}

static void test_ranks(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (int k = 0; k < 3; k++) {
      pcsim_picture_options options = {.title = "u", .width = 600, .edges = k == 1, .symmetric = k == 2};
      if (k == 2)
        options.window[0] = 0.1, options.window[1] = 0.05, options.window[2] = 0.4, options.window[3] = 0.2;
      pcsim_picture *all = draw(MPI_COMM_WORLD, &shapes[i], &options, k != 1);
      if (rank != 0) continue;
      pcsim_picture *one = draw(MPI_COMM_SELF, &shapes[i], &options, k != 1);
      assert_true(all->width == one->width && all->height == one->height);
      int different = 0;
      for (int j = 0; j < 3 * one->width * one->height; j++) different += abs(all->rgb[j] - one->rgb[j]) > 2;
      assert_int_equal(different, 0);
      pcsim_picture_destroy(&one);
      pcsim_picture_destroy(&all);
    }
}

static void test_odd(void **state) {
  (void)state;
  pcsim_picture_options options = {.title = NULL, .width = 500};
  lattice shape = {LATTICE_QUAD, 200, 2, 0, 0, false};
  pcsim_picture *p = draw(MPI_COMM_WORLD, &shape, &options, true); /* 100 : 1 */
  if (p) assert_true(p->height >= 260);
  pcsim_picture_destroy(&p);
  shape = (lattice){LATTICE_QUAD, 1, 60, 0, 0, false};
  p = draw(MPI_COMM_WORLD, &shape, &options, true); /* 1 : 60 */
  if (p) assert_true(p->height < 700);
  pcsim_picture_destroy(&p);
  pcsim_mesh *mesh = sample_mesh(MPI_COMM_WORLD, &shapes[0], 0.1);
  const int64_t n = pcsim_mesh_get(mesh)->num_cells;
  double *values = calloc((size_t)n + 1, sizeof *values);
  const double fills[] = {0, 7, 1e300, NAN, INFINITY};
  for (int k = 0; k < 5; k++) { /* one value everywhere, or none */
    for (int64_t c = 0; c < n; c++) values[c] = fills[k];
    assert_ok(pcsim_picture_field(mesh, values, NULL, &options, &p));
    pcsim_picture_destroy(&p);
  }
  options.title =
      "a title that is far too long for the picture that it stands above \xFF and is cut somewhere";
  options.window[0] = 100, options.window[2] = 101, options.window[3] = 1; /* beside everything */
  assert_ok(pcsim_picture_field(mesh, values, NULL, &options, &p));
  pcsim_picture_destroy(&p);
  options.window[2] = 99;
  assert_status(pcsim_picture_field(mesh, values, NULL, &options, &p), PCSIM_ERR_ARG);
  free(values);
  pcsim_mesh_destroy(&mesh);
}

static void test_colours(void **state) {
  (void)state;
  double last = -1;
  for (int i = 0; i <= 256; i++) { /* brightness grows along the whole scale */
    colour c = colour_sequential(i / 256.0), d = colour_diverging(i / 256.0),
           e = colour_diverging(1 - i / 256.0);
    double bright =
        0.2126 * pow(c.r / 255.0, 2.2) + 0.7152 * pow(c.g / 255.0, 2.2) + 0.0722 * pow(c.b / 255.0, 2.2);
    assert_true(bright > last - 1e-3);
    last = bright;
    if (i < 100) assert_true(d.b > d.r && e.r > e.b);
  }
  assert_true(colour_diverging(0.5).r > 235 && colour_diverging(0.5).g > 235 &&
              colour_diverging(0.5).b > 235);
  (void)colour_sequential(NAN);
}

static void test_ticks(void **state) {
  (void)state;
  static const struct {
    double low, high;
    int most;
    const char *first, *last;
  } cases[] = {{0, 1, 6, "0.0", "1.0"},
               {-0.3, 0.27, 8,
                "\xE2\x88\x92"
                "0.3",
                "0.2"},
               {0, 2.2, 13, "0.0", "2.2"},
               {1e-9, 9e-9, 5, "2", "8"},
               {-3e7, 3e7, 4,
                "\xE2\x88\x92"
                "2",
                "2"},
               {5, 5, 5, "5.0000", "5.0000"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    axis_ticks ticks;
    char label[32];
    ticks_make(cases[i].low, cases[i].high, cases[i].most, &ticks);
    assert_in_range(ticks.count, 1, cases[i].most);
    ticks_label(&ticks, 0, label);
    assert_string_equal(label, cases[i].first);
    ticks_label(&ticks, ticks.count - 1, label);
    assert_string_equal(label, cases[i].last);
  }
  axis_ticks ticks;
  ticks_make(NAN, 1, 5, &ticks);
  assert_int_equal(ticks.count, 0);
}

static int run(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_png),     cmocka_unit_test(test_no_gaps),
                                     cmocka_unit_test(test_ranks),   cmocka_unit_test(test_odd),
                                     cmocka_unit_test(test_colours), cmocka_unit_test(test_ticks)};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  size_t before = pcsim_memory_used();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  if (pcsim_memory_used() != before)
    failed++, print_error("%zu bytes are left\n", pcsim_memory_used() - before);
  return failed;
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
