/* SPDX-License-Identifier: BSD-2-Clause */
/* Balls that are taken away from a shape: circles in the plane. */
#include "mesher.h"

#include <math.h>
#include <string.h>

pcsim_status mesher_holes_read(const mesher_spec *spec, int dim, mesher_holes *holes) {
  const char *key, *value;
  double number[4];
  holes->n = 0;
  for (int i = 0; mesher_spec_item(spec, i, &key, &value); i++) {
    if (strncmp(key, "hole.", 5) != 0) continue;
    PCSIM_CHECK(holes->n < MESHER_MAX_HOLES, PCSIM_ERR_CASE, "mesh: more than %d holes", MESHER_MAX_HOLES);
    PCSIM_TRY(mesher_spec_numbers(spec, key, dim + 1, number));
    PCSIM_CHECK(number[dim] > 0, PCSIM_ERR_CASE, "mesh: %s has the radius %g", key, number[dim]);
    mesher_ball *b = &holes->ball[holes->n++];
    *b = (mesher_ball){.patch = key + 5, .radius = number[dim]};
    memcpy(b->centre, number, (size_t)dim * sizeof *number);
  }
  return PCSIM_OK;
}

const char *mesher_holes_classify(const mesher_holes *holes, int n, const double corner[][3]) {
  for (int h = 0; h < holes->n; h++) {
    const mesher_ball *b = &holes->ball[h];
    int on = 0;
    for (int i = 0; i < n; i++) {
      double d = 0;
      for (int k = 0; k < 3; k++) d = hypot(d, corner[i][k] - b->centre[k]);
      on += fabs(d - b->radius) <= 1e-6 * b->radius;
    }
    if (on == n) return b->patch;
  }
  return NULL;
}

typedef struct {
  const mesher_sizes *sizes;
  const mesher_ball *ball;
} circle;

static void point_at(const mesher_ball *b, double angle, double p[2]) {
  p[0] = b->centre[0] + b->radius * cos(angle);
  p[1] = b->centre[1] + b->radius * sin(angle);
}

static double size_on_circle(const void *context, double s) {
  const circle *c = context;
  double p[2];
  point_at(c->ball, s / c->ball->radius, p);
  return mesher_size_at(c->sizes, p[0], p[1], 0);
}

pcsim_status mesher_hole_loop(const mesher_ball *ball, const mesher_sizes *sizes, mesher_mesh *mesh,
                              int32_t **loop, int *size) {
  const circle c = {sizes, ball};
  double *s = NULL, p[2];
  pcsim_status status;
  *loop = NULL;
  PCSIM_GOTO(mesher_line(size_on_circle, &c, 2 * acos(-1) * ball->radius, 16, 0, &s, size), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)*size, sizeof **loop, loop), status, done);
  for (int i = 0; i < *size && status == PCSIM_OK; i++) {
    point_at(ball, s[i] / ball->radius, p);
    status = mesher_add_node(mesh, p[0], p[1], 0, &(*loop)[i]);
  }
done:
  pcsim_free(&s);
  return status;
}
