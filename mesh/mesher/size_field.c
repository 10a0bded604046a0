/* SPDX-License-Identifier: BSD-2-Clause */
/* Sizes that are asked for at places: the file of them, and the least of size + growth * distance by a tree.
 */
#include "../box_tree.h"
#include "mesher.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct mesher_field {
  double growth;
  int32_t num, capacity;
  double *size; /* [num] */
  box *place;   /* [num] flat boxes */
  box_tree tree;
  double *least; /* [nodes of the tree] of the sizes below */
};

void mesher_field_destroy(mesher_field **field) {
  mesher_field *f = *field;
  if (!f) return;
  box_tree_free(&f->tree);
  pcsim_free(&f->size), pcsim_free(&f->place), pcsim_free(&f->least);
  pcsim_free(field);
}

/* -------------------------------------------------------------------- the file */

/* The size stands behind so many coordinates. */
static pcsim_status add(mesher_field *f, int coordinates, const double *number) {
  if (f->num == f->capacity) {
    f->capacity = f->capacity ? 2 * f->capacity : 1024;
    PCSIM_TRY(pcsim_realloc((size_t)f->capacity, sizeof *f->size, &f->size));
    PCSIM_TRY(pcsim_realloc((size_t)f->capacity, sizeof *f->place, &f->place));
  }
  box *b = &f->place[f->num];
  for (int d = 0; d < 3; d++) b->low[d] = b->high[d] = d < coordinates ? number[d] : 0;
  f->size[f->num++] = number[coordinates];
  return PCSIM_OK;
}

/* Numbers of a line, at most 5; -1: something else stands there. */
static int numbers_of(const char *line, double *number) {
  int n = 0;
  for (const char *p = line;;) {
    char *end;
    p += strspn(p, " \t\r,;");
    if (!*p || *p == '#') return n;
    if (n == 5) return n;
    number[n] = strtod(p, &end);
    if (end == p || !strchr(" \t\r,;#", *end)) return -1;
    n++;
    p = end;
  }
}

static pcsim_status take_line(mesher_field *f, int dim, const char *path, int at, const char *line) {
  double number[5];
  const int n = numbers_of(line, number);
  if (n == 0 || (n < 0 && f->num == 0 && at == 1)) return PCSIM_OK; /* empty, or a line of names */
  PCSIM_CHECK(n == dim + 1 || (n == 4 && number[2] == 0), PCSIM_ERR_CASE,
              "mesh: %s:%d: expected %d numbers, %s and the size there", path, at, dim + 1,
              dim == 2 ? "x, y" : "x, y, z");
  for (int i = 0; i < n; i++)
    PCSIM_CHECK(isfinite(number[i]), PCSIM_ERR_CASE, "mesh: %s:%d: a number is not finite", path, at);
  PCSIM_CHECK(number[n - 1] > 0, PCSIM_ERR_CASE, "mesh: %s:%d: the size %g, expected a positive one", path,
              at, number[n - 1]);
  PCSIM_CHECK(f->num < INT32_MAX / 4, PCSIM_ERR_CASE, "mesh: %s has too many places", path);
  return add(f, n - 1, number);
}

static pcsim_status take_file(mesher_field *f, int dim, const char *path) {
  char *text = NULL;
  size_t size = 0;
  pcsim_status status = pcsim_file_read(path, 0, &text, &size);
  int at = 1;
  for (char *p = text; status == PCSIM_OK && *p; at++) {
    char *end = strchrnul(p, '\n'), *next = *end ? end + 1 : end;
    *end = 0;
    status = take_line(f, dim, path, at, p);
    p = next;
  }
  pcsim_free(&text);
  PCSIM_TRY(status);
  PCSIM_CHECK(f->num > 0, PCSIM_ERR_CASE, "mesh: there is no size in %s", path);
  return PCSIM_OK;
}

/* -------------------------------------------------------------------- the tree */

/* Children have higher places than their parent. */
static pcsim_status find_least(mesher_field *f) {
  PCSIM_TRY(pcsim_alloc((size_t)f->tree.num_nodes, sizeof *f->least, &f->least));
  for (int32_t k = f->tree.num_nodes - 1; k >= 0; k--) {
    const box_node *node = &f->tree.node[k];
    f->least[k] = node->count ? INFINITY : fmin(f->least[k + 1], f->least[node->other]);
    for (int32_t i = 0; i < node->count; i++)
      f->least[k] = fmin(f->least[k], f->size[f->tree.item[node->first + i]]);
  }
  return PCSIM_OK;
}

static pcsim_status fill(mesher_field *f, const mesher_spec *spec, int dim, const char *path) {
  double factor = 1;
  PCSIM_TRY(mesher_spec_positive(spec, "sizes.growth", &f->growth));
  PCSIM_TRY(mesher_spec_positive(spec, "sizes.factor", &factor));
  PCSIM_TRY(take_file(f, dim, path));
  for (int32_t i = 0; i < f->num; i++) f->size[i] *= factor;
  PCSIM_TRY(box_tree_make(f->num, f->place, &f->tree));
  return find_least(f);
}

pcsim_status mesher_field_read(const mesher_spec *spec, int dim, mesher_field **field) {
  const char *path = mesher_spec_text(spec, "sizes.file");
  mesher_field *f = NULL;
  *field = NULL;
  if (!path) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc(1, sizeof *f, &f));
  const pcsim_status status = fill(f, spec, dim, path);
  if (status != PCSIM_OK) mesher_field_destroy(&f);
  *field = f;
  return status;
}

double mesher_field_growth(const mesher_field *field) { return field ? field->growth : 0; }

static double distance(const box *b, const double *p) {
  double sum = 0;
  for (int d = 0; d < 3; d++) {
    const double x = fmax(fmax(b->low[d] - p[d], p[d] - b->high[d]), 0);
    sum += x * x;
  }
  return sqrt(sum);
}

double mesher_field_at(const mesher_field *f, const double p[3], double most) {
  enum { DEPTH = 64 };
  int32_t stack[DEPTH];
  int n = 0;
  if (f) stack[n++] = 0;
  while (n > 0) {
    const int32_t at = stack[--n];
    const box_node *node = &f->tree.node[at];
    if (f->least[at] + f->growth * distance(&node->around, p) >= most) continue;
    for (int32_t i = 0; i < node->count; i++) {
      const int32_t item = f->tree.item[node->first + i];
      most = fmin(most, f->size[item] + f->growth * distance(&f->place[item], p));
    }
    if (node->count) continue;
    const int32_t other = node->other;
    const bool left = f->least[at + 1] + f->growth * distance(&f->tree.node[at + 1].around, p) <
                      f->least[other] + f->growth * distance(&f->tree.node[other].around, p);
    stack[n++] = left ? other : at + 1;
    stack[n++] = left ? at + 1 : other;
  }
  return most;
}
