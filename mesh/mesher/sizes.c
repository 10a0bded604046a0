/* SPDX-License-Identifier: BSD-2-Clause */
/* Local mesh size and points along lines. */
#include "mesher.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double mesher_distance(const mesher_piece *piece, double x, double y, double z) {
  const double p[3] = {x, y, z};
  double sum = 0;
  for (int i = 0; i < piece->round; i++) sum += (p[i] - piece->a[i]) * (p[i] - piece->a[i]);
  if (piece->round) return fabs(sqrt(sum) - piece->b[0]);
  for (int i = 0; i < 3; i++) {
    double d = p[i] < piece->a[i] ? piece->a[i] - p[i] : p[i] > piece->b[i] ? p[i] - piece->b[i] : 0;
    sum += d * d;
  }
  return sqrt(sum);
}

double mesher_size_at(const mesher_sizes *sizes, double x, double y, double z) {
  double h = sizes->far;
  for (int i = 0; i < sizes->num_sources; i++) {
    const mesher_source *s = &sizes->source[i];
    double d = INFINITY;
    for (int k = 0; k < s->num_pieces; k++) d = fmin(d, mesher_distance(&s->piece[k], x, y, z));
    h = fmin(h, s->size + s->growth * d);
  }
  return mesher_field_at(sizes->field, (const double[3]){x, y, z}, h);
}

/* Cells of size 1 per volume 1, then boxes halved until the size hardly changes inside; gives up past the
 * limit, so that absurd sizes are found out in no time. */
static void add_estimate(const mesher_sizes *sizes, int dim, const double low[3], const double high[3],
                         int depth, double *sum) {
  static const double per_volume[] = {0, 1, 2.31, 7.0};
  double mid[3], volume = 1, diagonal = 0;
  for (int k = 0; k < 3; k++) {
    mid[k] = 0.5 * (low[k] + high[k]);
    if (k < dim) volume *= high[k] - low[k];
    if (k < dim) diagonal = hypot(diagonal, high[k] - low[k]);
  }
  double h = mesher_size_at(sizes, mid[0], mid[1], mid[2]), steepest = mesher_field_growth(sizes->field);
  for (int i = 0; i < sizes->num_sources; i++) steepest = fmax(steepest, sizes->source[i].growth);
  if (depth == 0 || steepest * diagonal < h) {
    *sum += per_volume[dim] * volume / pow(h, dim);
    return;
  }
  for (int part = 0; part < 1 << dim && *sum <= MESHER_CELL_LIMIT; part++) {
    double a[3] = {low[0], low[1], low[2]}, b[3] = {high[0], high[1], high[2]};
    for (int k = 0; k < dim; k++) *(part >> k & 1 ? &a[k] : &b[k]) = mid[k];
    add_estimate(sizes, dim, a, b, depth - 1, sum);
  }
}

double mesher_estimate(const mesher_sizes *sizes, int dim, const double low[3], const double high[3]) {
  double sum = 0;
  add_estimate(sizes, dim, low, high, 24, &sum);
  return sum;
}

/* `near.NAME.size`: a source if one of the shape's patches has the name. */
static pcsim_status read_source(const mesher_spec *spec, const char *key, int num_pieces,
                                const mesher_piece *pieces, mesher_sizes *sizes) {
  char name[64], growth[80];
  if (sscanf(key, "near.%63[^.]", name) != 1 || strcmp(key + 5 + strlen(name), ".size") != 0) return PCSIM_OK;
  PCSIM_CHECK(sizes->num_sources < MESHER_MAX_PATCHES, PCSIM_ERR_CASE, "mesh: more than %d entries in near",
              MESHER_MAX_PATCHES);
  mesher_source *s = &sizes->source[sizes->num_sources];
  for (int i = 0; i < num_pieces; i++)
    if (!strcmp(pieces[i].patch, name) && s->num_pieces < (int)(sizeof s->piece / sizeof *s->piece))
      s->piece[s->num_pieces++] = pieces[i];
  PCSIM_CHECK(s->num_pieces > 0, PCSIM_ERR_CASE, "mesh: near names '%s', which the shape does not have",
              name);
  snprintf(growth, sizeof growth, "near.%s.growth", name);
  PCSIM_TRY(mesher_spec_positive(spec, key, &s->size));
  PCSIM_TRY(mesher_spec_number(spec, growth, &s->growth));
  PCSIM_CHECK(s->growth >= 0, PCSIM_ERR_CASE, "mesh: %s is %g, it must not be negative", growth, s->growth);
  sizes->num_sources++;
  return PCSIM_OK;
}

void mesher_sizes_free(mesher_sizes *sizes) { mesher_field_destroy(&sizes->field); }

pcsim_status mesher_sizes_on_lines(const mesher_sizes *sizes) {
  PCSIM_CHECK(!sizes->field, PCSIM_ERR_CASE,
              "mesh: `sizes` are for triangles and tetrahedra without `n`; these cells follow lines");
  return PCSIM_OK;
}

pcsim_status mesher_sizes_read(const mesher_spec *spec, int dim, int num_pieces, const mesher_piece *pieces,
                               mesher_sizes *sizes) {
  const char *key, *value;
  *sizes = (mesher_sizes){0};
  sizes->far = INFINITY; /* a shape with counts needs no size */
  if (mesher_spec_text(spec, "size") || !mesher_spec_text(spec, "n"))
    PCSIM_TRY(mesher_spec_positive(spec, "size", &sizes->far));
  for (int i = 0; mesher_spec_item(spec, i, &key, &value); i++)
    PCSIM_TRY(read_source(spec, key, num_pieces, pieces, sizes));
  return mesher_field_read(spec, dim, &sizes->field);
}

pcsim_status mesher_layers_read(const mesher_spec *spec, const char *patch, mesher_layers *layers) {
  char key[3][96];
  double first, ratio, thickness;
  *layers = (mesher_layers){0};
  snprintf(key[0], sizeof key[0], "near.%s.layers.first", patch);
  snprintf(key[1], sizeof key[1], "near.%s.layers.ratio", patch);
  snprintf(key[2], sizeof key[2], "near.%s.layers.thickness", patch);
  if (!mesher_spec_text(spec, key[0])) return PCSIM_OK;
  PCSIM_TRY(mesher_spec_positive(spec, key[0], &first));
  PCSIM_TRY(mesher_spec_positive(spec, key[1], &ratio));
  PCSIM_TRY(mesher_spec_positive(spec, key[2], &thickness));
  PCSIM_CHECK(first <= thickness, PCSIM_ERR_CASE, "mesh: %s is %g, more than the thickness of all layers, %g",
              key[0], first, thickness);
  PCSIM_CHECK(ratio >= 1 && ratio <= 3, PCSIM_ERR_CASE, "mesh: %s is %g, expected 1 to 3", key[1], ratio);
  /* the count whose geometric sum comes closest to the thickness; the heights are then scaled to meet it */
  double count = ratio > 1 + 1e-9 ? log1p(thickness / first * (ratio - 1)) / log(ratio) : thickness / first;
  PCSIM_CHECK(count < 1000, PCSIM_ERR_CASE, "mesh: %s = %g makes %.0f layers, the limit is 1000", key[0],
              first, count);
  layers->n = count < 1 ? 1 : (int)lround(count);
  PCSIM_TRY(pcsim_alloc((size_t)layers->n + 1, sizeof(double), &layers->height));
  for (int i = 0; i < layers->n; i++) layers->height[i + 1] = layers->height[i] + pow(ratio, i);
  for (int i = 1; i <= layers->n; i++) layers->height[i] *= thickness / layers->height[layers->n];
  layers->height[layers->n] = thickness;
  return PCSIM_OK;
}

/* Cells per length, integrated in steps of an eighth of a cell by Simpson's rule: a table of (place, count).
 */
static pcsim_status count_cells(mesher_line_size size, const void *context, double length, double **place,
                                double **count, size_t *n) {
  size_t max = 1024;
  *n = 0;
  PCSIM_TRY(pcsim_alloc(max, sizeof(double), place));
  PCSIM_TRY(pcsim_alloc(max, sizeof(double), count));
  while ((*place)[*n] < length) {
    if (*n + 2 > max) {
      max *= 2;
      PCSIM_TRY(mesher_check_line((double)*n / 8));
      PCSIM_TRY(pcsim_realloc(max, sizeof(double), place));
      PCSIM_TRY(pcsim_realloc(max, sizeof(double), count));
    }
    double s = (*place)[*n], h = size(context, s), step = fmin(h / 8, length / 64);
    PCSIM_CHECK(h > 0 && s + step > s, PCSIM_ERR_CASE, "mesh: the size %g is too small for a length of %g", h,
                length);
    if (s + 1.5 * step > length) step = length - s;
    double sum = 1 / h + 4 / size(context, s + step / 2) + 1 / size(context, s + step);
    (*place)[*n + 1] = s + step == length || step == length - s ? length : s + step;
    (*count)[*n + 1] = (*count)[*n] + step * sum / 6;
    ++*n;
  }
  return PCSIM_OK;
}

pcsim_status mesher_line(mesher_line_size size, const void *context, double length, int n_min, int n_fixed,
                         double **s, int *n) {
  double *place = NULL, *count = NULL;
  size_t table = 0;
  pcsim_status status = PCSIM_OK;
  *s = NULL;
  PCSIM_GOTO(count_cells(size, context, length, &place, &count, &table), status, done);
  double total = count[table];
  PCSIM_GOTO(mesher_check_line(fmax(total, n_fixed)), status, done);
  *n = n_fixed > 0 ? n_fixed : (int)ceil(total - 1e-6);
  if (*n < n_min) *n = n_min;
  PCSIM_GOTO(pcsim_alloc((size_t)*n + 1, sizeof(double), s), status, done);
  size_t k = 0;
  for (int i = 1; i < *n; i++) {
    double want = total * i / *n;
    while (count[k + 1] < want) k++;
    (*s)[i] = place[k] + (place[k + 1] - place[k]) * (want - count[k]) / (count[k + 1] - count[k]);
  }
  (*s)[*n] = length;
done:
  pcsim_free(&place);
  pcsim_free(&count);
  return status;
}

pcsim_status mesher_line_symmetric(double a, double b, int n, double ratio, double **s) {
  PCSIM_TRY(mesher_check_line(n));
  PCSIM_TRY(pcsim_alloc((size_t)n + 1, sizeof(double), s));
  /* d/dt tanh(c(2t-1)) is 2c at the middle and 2c/cosh^2(c) at the ends */
  double c = ratio > 1 + 1e-9 ? acosh(sqrt(ratio)) : 0;
  for (int i = 0; i <= n; i++) {
    double t = (2.0 * i - n) / n, u = c > 0 ? tanh(c * t) / tanh(c) : t; /* odd in t: exactly symmetric */
    (*s)[i] = 0.5 * (a + b) + 0.5 * (b - a) * u;
  }
  (*s)[0] = a;
  (*s)[n] = b;
  return PCSIM_OK;
}

pcsim_status mesher_line_geometric(double a, double b, int n, double ratio, double **s) {
  PCSIM_TRY(mesher_check_line(n));
  PCSIM_TRY(pcsim_alloc((size_t)n + 1, sizeof(double), s));
  double q = n > 1 ? log(ratio) / (n - 1) : 0;
  for (int i = 0; i <= n; i++)
    (*s)[i] = a + (b - a) * (fabs(q) > 1e-12 ? expm1(q * i) / expm1(q * n) : (double)i / n);
  (*s)[n] = b;
  return PCSIM_OK;
}
