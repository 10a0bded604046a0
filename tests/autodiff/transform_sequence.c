/* SPDX-License-Identifier: BSD-2-Clause */
/* Tangents and cotangents of a finite-volume sequence: gradient, limiter, frozen coefficient, upwind flux and
 * scatter. */
#include "network.h"

enum { CELLS = 12, FACES = 17, ROW = 4 };
typedef struct {
  int32_t owner[FACES], neighbour[FACES];
  int64_t start[CELLS + 1];
  int32_t column[CELLS * ROW];
  double weight[CELLS * ROW * 2];
  double offset[FACES * 4], flux[FACES];
  double u[CELLS];
} mesh;

static mesh make_mesh(void) {
  mesh m = {0};
  uint64_t seed = 11;
  for (int f = 0; f < FACES; f++) {
    m.owner[f] = f % CELLS;
    m.neighbour[f] = (5 * f + 3 + (f % CELLS == (5 * f + 3) % CELLS)) % CELLS;
    m.flux[f] = noise(&seed);
    for (int k = 0; k < 4; k++) m.offset[4 * f + k] = 0.5 * noise(&seed);
  }
  for (int c = 0; c < CELLS; c++) {
    m.start[c + 1] = m.start[c] + 2 + c % 3;
    m.u[c] = noise(&seed);
    for (int64_t e = m.start[c]; e < m.start[c + 1]; e++) {
      m.column[e] = (int32_t)((c + 1 + 3 * (e - m.start[c])) % CELLS);
      for (int k = 0; k < 2; k++) m.weight[2 * e + k] = noise(&seed);
    }
  }
  return m;
}

static pcsim_value op2(pcsim_program *p, pcsim_op op, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, op, a, b);
}

/** Value at the face from one side: u + limiter grad u . d. */
static pcsim_value side(pcsim_program *p, pcsim_map map, pcsim_value u, pcsim_value limited, pcsim_value d) {
  return op2(p, PCSIM_OP_ADD, pcsim_build_gather(p, map, u),
             pcsim_build_row_sum(p, op2(p, PCSIM_OP_MUL, pcsim_build_gather(p, map, limited), d)));
}

/** Gradient, limiter from neighbour extrema, frozen coefficient, upwind flux, dissipation, scatter. */
static pcsim_program *build_sequence(void) {
  pcsim_program *p = NULL;
  assert_ok(pcsim_program_create(&p));
  const pcsim_space cells = pcsim_build_space(p, "cells"), faces = pcsim_build_space(p, "faces");
  const pcsim_value u = pcsim_build_input(p, "u", cells, 1), flux = pcsim_build_input(p, "flux", faces, 1);
  const pcsim_value offset = pcsim_build_input(p, "offset", faces, 4);
  const pcsim_value nu = pcsim_build_parameter(p, "nu", 1, 1);
  *pcsim_program_parameter(p, "nu", NULL, NULL) = 0.3;
  const pcsim_map owner = pcsim_build_index_map(p, "owner", faces, cells);
  const pcsim_map neighbour = pcsim_build_index_map(p, "neighbour", faces, cells);
  const pcsim_map gradient = pcsim_build_sparse_map(p, "gradient", cells, cells, 2);
  const pcsim_value grad = pcsim_build_sparse(p, gradient, u);
  const pcsim_value up = op2(p, PCSIM_OP_SUB, pcsim_build_segment_max(p, gradient, u), u);
  const pcsim_value down = op2(p, PCSIM_OP_SUB, u, pcsim_build_segment_min(p, gradient, u));
  const pcsim_value steep = pcsim_build_row_sum(
      p, op2(p, PCSIM_OP_MUL, grad, grad)); /* of no method: every kind of value takes part */
  const pcsim_value room =
      op2(p, PCSIM_OP_MIN, op2(p, PCSIM_OP_MUL, up, up), op2(p, PCSIM_OP_MUL, down, down));
  const pcsim_value limiter =
      op2(p, PCSIM_OP_DIV, room,
          op2(p, PCSIM_OP_ADD, op2(p, PCSIM_OP_ADD, room, steep), pcsim_build_constant(p, 0.1)));
  const pcsim_value limited = op2(p, PCSIM_OP_MUL, limiter, grad);
  const pcsim_value left = side(p, owner, u, limited, pcsim_build_slice(p, offset, 0, 2));
  const pcsim_value right = side(p, neighbour, u, limited, pcsim_build_slice(p, offset, 2, 2));
  const pcsim_value positive = op2(p, PCSIM_OP_LT, pcsim_build_constant(p, 0), flux);
  const pcsim_value upwind = pcsim_build_op(p, PCSIM_OP_WHERE, (pcsim_value[]){positive, left, right}, 3);
  const pcsim_value speed =
      pcsim_build_frozen(p, pcsim_build_unary(p, PCSIM_OP_TANH, pcsim_build_gather(p, owner, u)));
  const pcsim_value jump = op2(p, PCSIM_OP_SUB, right, left);
  const pcsim_value convection = op2(p, PCSIM_OP_MUL, op2(p, PCSIM_OP_ADD, flux, speed), upwind);
  const pcsim_value total = op2(p, PCSIM_OP_SUB, convection, op2(p, PCSIM_OP_MUL, nu, jump));
  pcsim_build_output(p, "r",
                     op2(p, PCSIM_OP_SUB, pcsim_build_scatter_add(p, owner, total),
                         pcsim_build_scatter_add(p, neighbour, total)));
  pcsim_build_output(p, "drag", pcsim_build_sum(p, op2(p, PCSIM_OP_MUL, total, total)));
  assert_ok(pcsim_program_status(p));
  return p;
}

static void bind_mesh(interpreter *it, const pcsim_program *p, const mesh *m, const double *u) {
  interpret_begin(it, p);
  interpret_points(it, "cells", CELLS);
  interpret_points(it, "faces", FACES);
  interpret_bind_map(it, "owner", (interpret_map){.index = m->owner});
  interpret_bind_map(it, "neighbour", (interpret_map){.index = m->neighbour});
  interpret_bind_map(it, "gradient",
                     (interpret_map){.start = m->start, .column = m->column, .weight = m->weight});
  interpret_bind(it, "u", u);
  interpret_bind(it, "flux", m->flux);
  interpret_bind(it, "offset", m->offset);
}

static void test_sequence(void **state) {
  (void)state;
  const mesh m = make_mesh();
  pcsim_program *p = build_sequence(), *tangent = NULL, *cotangent = NULL;
  const char *wrt[] = {"u", "nu"};
  assert_ok(pcsim_transform_jvp(p, wrt, 2, &tangent));
  assert_ok(pcsim_transform_vjp(p, wrt, 2, &cotangent));
  double du[CELLS], dnu = 0.7, br[CELLS], bdrag = -0.4;
  uint64_t seed = 21;
  for (int c = 0; c < CELLS; c++) {
    du[c] = noise(&seed);
    br[c] = noise(&seed);
  }
  interpreter f, b;
  bind_mesh(&f, tangent, &m, m.u);
  interpret_bind(&f, "d_u", du);
  interpret_bind(&f, "d_nu", &dnu);
  interpret_run(&f);
  bind_mesh(&b, cotangent, &m, m.u);
  interpret_bind(&b, "b_r", br);
  interpret_bind(&b, "b_drag", &bdrag);
  interpret_run(&b);
  double ahead = bdrag * interpret_output(&f, "d_drag")[0], backward = dnu * interpret_output(&b, "b_nu")[0];
  double size = fabs(ahead) + fabs(backward);
  for (int c = 0; c < CELLS; c++) {
    ahead += br[c] * interpret_output(&f, "d_r")[c];
    backward += du[c] * interpret_output(&b, "b_u")[c];
    size += fabs(br[c] * interpret_output(&f, "d_r")[c]);
  }
  assert_close(ahead / size, backward / size, 1e-13);
  print_message("sequence: <b, J v> against <J^T b, v>: %.1e\n", fabs(ahead - backward) / size);
  interpret_end(&b);

  /* Central differences; what is frozen stays at its value: its input is moved back by hand. */
  pcsim_program *thawed = build_sequence();
  for (int v = 0; v < thawed->num_nodes; v++)
    if (thawed->nodes[v].kind == NODE_FROZEN) {
      interpreter base;
      bind_mesh(&base, p, &m, m.u);
      interpret_run(&base);
      for (int which = 0; which < CELLS; which++) {
        double r[2][CELLS];
        for (int s = 0; s < 2; s++) {
          double u[CELLS];
          memcpy(u, m.u, sizeof u);
          u[which] += s ? -1e-6 : 1e-6;
          interpreter it;
          bind_mesh(&it, thawed, &m, u);
          for (int w = 0; w < thawed->num_nodes; w++) {
            interpret_node(&it, w);
            if (w == v) memcpy(it.values[w], base.values[w], FACES * sizeof(double));
          }
          memcpy(r[s], interpret_output(&it, "r"), sizeof r[s]);
          interpret_end(&it);
        }
        double unit[CELLS] = {0}, none = 0;
        unit[which] = 1;
        interpret_bind(&f, "d_u", unit);
        interpret_bind(&f, "d_nu", &none);
        interpret_run(&f);
        for (int c = 0; c < CELLS; c++)
          assert_close(interpret_output(&f, "d_r")[c], (r[0][c] - r[1][c]) / 2e-6, 1e-7);
      }
      interpret_end(&base);
    }
  interpret_end(&f);
  pcsim_program_destroy(&thawed);
  pcsim_program_destroy(&tangent);
  pcsim_program_destroy(&cotangent);
  pcsim_program_destroy(&p);
}

/** Transforms of transforms of the sequence: forward over reverse against reverse over forward. */
static void test_sequence_nested(void **state) {
  (void)state;
  const mesh m = make_mesh();
  pcsim_program *p = build_sequence(), *g = NULL, *d = NULL, *q[2] = {NULL, NULL};
  const char *wrt[] = {"u"};
  assert_ok(pcsim_program_keep(p, (const char *[]){"drag"}, 1));
  assert_ok(pcsim_transform_vjp(p, wrt, 1, &g));
  assert_ok(pcsim_transform_jvp(g, wrt, 1, &q[0]));
  assert_ok(pcsim_transform_jvp(p, wrt, 1, &d));
  assert_ok(pcsim_program_keep(d, (const char *[]){"d_drag"}, 1));
  assert_ok(pcsim_transform_vjp(d, wrt, 1, &q[1]));
  double du[CELLS], one = 1, results[2][CELLS], size = 0;
  uint64_t seed = 2;
  for (int c = 0; c < CELLS; c++) du[c] = noise(&seed);
  for (int way = 0; way < 2; way++) {
    interpreter it;
    bind_mesh(&it, q[way], &m, m.u);
    interpret_bind(&it, "d_u", du);
    interpret_bind(&it, way ? "b_d_drag" : "b_drag", &one);
    interpret_run(&it);
    memcpy(results[way], interpret_output(&it, way ? "b_u" : "d_b_u"), sizeof results[way]);
    interpret_end(&it);
  }
  for (int c = 0; c < CELLS; c++) size = fmax(size, fabs(results[0][c]));
  assert_true(size > 0.1);
  /* Frozen twice: the products of frozen and thawed parts differ between the orders only if frozen leaks. */
  for (int c = 0; c < CELLS; c++) assert_close(results[0][c] / size, results[1][c] / size, 1e-13);
  pcsim_program_destroy(&q[0]);
  pcsim_program_destroy(&q[1]);
  pcsim_program_destroy(&g);
  pcsim_program_destroy(&d);
  pcsim_program_destroy(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sequence),
      cmocka_unit_test(test_sequence_nested),
  };
  return interpret_balance(cmocka_run_group_tests_name("transform_sequence", tests, NULL, NULL));
}
