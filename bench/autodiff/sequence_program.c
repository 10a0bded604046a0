/* SPDX-License-Identifier: BSD-2-Clause */
/** @file sequence_program.c  The sequence as a program. */
#include "sequence.h"

typedef struct {
  pcsim_program *p;
  pcsim_space cells, faces, walls;
  pcsim_value q, length, reach;
  pcsim_value dx, dy, tau; /**< of cells: limited slopes, coefficient */
} sequence;

static pcsim_value add(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, PCSIM_OP_ADD, a, b);
}
static pcsim_value sub(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, PCSIM_OP_SUB, a, b);
}
static pcsim_value mul(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, PCSIM_OP_MUL, a, b);
}
static pcsim_value times(pcsim_program *p, double factor, pcsim_value a) {
  return mul(p, pcsim_build_constant(p, factor), a);
}
static pcsim_value row(pcsim_program *p, pcsim_value a, int i) { return pcsim_build_slice(p, a, i, 1); }
static pcsim_value absolute(pcsim_program *p, pcsim_value a) { return pcsim_build_unary(p, PCSIM_OP_ABS, a); }
/** a x + b y */
static pcsim_value dot(pcsim_program *p, pcsim_value a, pcsim_value b, pcsim_value xy) {
  return add(p, mul(p, a, row(p, xy, 0)), mul(p, b, row(p, xy, 1)));
}

/** The limiter at the middle of one face. */
static pcsim_value limit(pcsim_program *p, pcsim_value low, pcsim_value high, pcsim_value d,
                         pcsim_value room) {
  const pcsim_value positive = pcsim_build_binary(p, PCSIM_OP_LT, pcsim_build_constant(p, 0), d);
  const pcsim_value to = pcsim_build_op(p, PCSIM_OP_WHERE, (pcsim_value[]){positive, high, low}, 3);
  const pcsim_value above = add(p, mul(p, to, to), room), across = mul(p, d, to);
  return pcsim_build_binary(p, PCSIM_OP_DIV, add(p, above, times(p, 2, across)),
                            add(p, add(p, above, across), times(p, 2, mul(p, d, d))));
}

static void build_cells(sequence *s) {
  pcsim_program *p = s->p;
  const pcsim_map gradient = pcsim_build_sparse_map(p, "gradient", s->cells, s->cells, 2);
  const pcsim_value g = pcsim_build_sparse(p, gradient, s->q);
  const pcsim_value low = sub(p, pcsim_build_segment_min(p, gradient, s->q), s->q),
                    high = sub(p, pcsim_build_segment_max(p, gradient, s->q), s->q);
  const pcsim_value dx = pcsim_build_concat(p, (pcsim_value[]){row(p, g, 0), row(p, g, 2), row(p, g, 4)}, 3),
                    dy = pcsim_build_concat(p, (pcsim_value[]){row(p, g, 1), row(p, g, 3), row(p, g, 5)}, 3);
  const pcsim_value square = mul(p, s->length, s->length),
                    room = times(p, SEQUENCE_ROOM, mul(p, square, s->length));
  pcsim_value limiter = pcsim_build_constant(p, 1);
  for (int k = 0; k < 3; k++) {
    const pcsim_value d = dot(p, dx, dy, pcsim_build_slice(p, s->reach, 2 * k, 2));
    limiter = pcsim_build_binary(p, PCSIM_OP_MIN, limiter, limit(p, low, high, d, room));
  }
  s->dx = mul(p, limiter, dx);
  s->dy = mul(p, limiter, dy);
  const pcsim_value fast = add(p, absolute(p, row(p, s->q, 0)), absolute(p, row(p, s->q, 1)));
  const pcsim_value below = add(p, mul(p, s->length, fast), pcsim_build_constant(p, 12 * SEQUENCE_NU));
  s->tau = pcsim_build_frozen(p, pcsim_build_binary(p, PCSIM_OP_DIV, square, below));
}

/** What a face sees of a cell: q, dx, dy, tau. */
typedef struct {
  pcsim_value q, dx, dy, tau, at_face;
} side;

static side look(const sequence *s, pcsim_map map, pcsim_value offset) {
  pcsim_program *p = s->p;
  side a = {.q = pcsim_build_gather(p, map, s->q),
            .dx = pcsim_build_gather(p, map, s->dx),
            .dy = pcsim_build_gather(p, map, s->dy),
            .tau = pcsim_build_gather(p, map, s->tau)};
  a.at_face = add(p, a.q, dot(p, a.dx, a.dy, offset));
  return a;
}

static pcsim_value build_flux(const sequence *s, pcsim_map owner, pcsim_map neighbour) {
  pcsim_program *p = s->p;
  const pcsim_value face = pcsim_build_input(p, "face", s->faces, 7);
  const pcsim_value from_owner = pcsim_build_slice(p, face, 0, 2),
                    from_neighbour = pcsim_build_slice(p, face, 2, 2),
                    area = pcsim_build_slice(p, face, 4, 2), g = row(p, face, 6);
  const side l = look(s, owner, from_owner), r = look(s, neighbour, from_neighbour);
  const pcsim_value mean = times(p, 0.5, add(p, l.at_face, r.at_face)), jump = sub(p, r.q, l.q);
  const pcsim_value across =
      times(p, 0.5,
            dot(p, add(p, row(p, l.dx, 2), row(p, r.dx, 2)), add(p, row(p, l.dy, 2), row(p, r.dy, 2)),
                sub(p, from_owner, from_neighbour)));
  const pcsim_value tau = times(p, 0.5, add(p, l.tau, r.tau));
  const pcsim_value smooth = mul(p, mul(p, tau, g), sub(p, row(p, jump, 2), across));
  const pcsim_value m = sub(p, dot(p, row(p, mean, 0), row(p, mean, 1), area), smooth);
  const pcsim_value positive = pcsim_build_binary(p, PCSIM_OP_LT, pcsim_build_constant(p, 0), m);
  const pcsim_value up = pcsim_build_op(
      p, PCSIM_OP_WHERE,
      (pcsim_value[]){positive, pcsim_build_slice(p, l.at_face, 0, 2), pcsim_build_slice(p, r.at_face, 0, 2)},
      3);
  const pcsim_value friction = mul(p, times(p, SEQUENCE_NU, g), pcsim_build_slice(p, jump, 0, 2));
  const pcsim_value momentum = sub(p, add(p, mul(p, m, up), mul(p, row(p, mean, 2), area)), friction);
  return pcsim_build_concat(p, (pcsim_value[]){momentum, m}, 2);
}

static pcsim_value build_walls(const sequence *s, pcsim_map inside) {
  pcsim_program *p = s->p;
  const pcsim_value wall = pcsim_build_input(p, "wall", s->walls, 5);
  const side a = look(s, inside, pcsim_build_slice(p, wall, 0, 2));
  const pcsim_value friction =
      mul(p, times(p, SEQUENCE_NU, row(p, wall, 4)), pcsim_build_slice(p, a.q, 0, 2));
  const pcsim_value momentum =
      add(p, mul(p, row(p, a.at_face, 2), pcsim_build_slice(p, wall, 2, 2)), friction);
  return pcsim_build_concat(p, (pcsim_value[]){momentum, times(p, 0, row(p, wall, 4))}, 2);
}

pcsim_status sequence_program(pcsim_program **program) {
  sequence s = {0};
  PCSIM_TRY(pcsim_program_create(&s.p));
  pcsim_program *p = *program = s.p;
  s.cells = pcsim_build_space(p, "cells");
  s.faces = pcsim_build_space(p, "faces");
  s.walls = pcsim_build_space(p, "walls");
  s.q = pcsim_build_input(p, "q", s.cells, 3);
  s.length = pcsim_build_input(p, "length", s.cells, 1);
  s.reach = pcsim_build_input(p, "reach", s.cells, 6);
  build_cells(&s);
  const pcsim_map owner = pcsim_build_index_map(p, "owner", s.faces, s.cells),
                  neighbour = pcsim_build_index_map(p, "neighbour", s.faces, s.cells),
                  inside = pcsim_build_index_map(p, "inside", s.walls, s.cells),
                  sides = pcsim_build_sparse_map(p, "sides", s.cells, s.faces, 1);
  const pcsim_value flux = build_flux(&s, owner, neighbour), wall = build_walls(&s, inside);
  pcsim_build_output(p, "r",
                     add(p, pcsim_build_sparse(p, sides, flux), pcsim_build_scatter_add(p, inside, wall)));
  return pcsim_program_simplify(p);
}
