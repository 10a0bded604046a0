/* SPDX-License-Identifier: BSD-2-Clause */
/* Plane velocities from a stream function: u = psi_y, v = -psi_x. */
#include "ansatz_parts.h"

#include <stdlib.h>
#include <string.h>

/* Is the condition "the unknown is zero", to be built in? */
static bool is_zero(const problem_condition *c, int unknown) {
  char *end;
  return c->place == PLACE_PIECES && c->kind == CONDITION_VALUE && c->unknown == unknown && c->exact &&
         strtod(c->text.text, &end) == 0 && end > c->text.text && !*end;
}

/* Pieces on which both velocities are zero. */
static void find_walls(const problem *p, bool *wall) {
  for (int k = 0; k < p->domain->num_pieces; k++) {
    bool zero[2] = {false, false};
    for (int i = 0; i < p->num_conditions; i++)
      for (int u = 0; u < 2; u++)
        if (is_zero(&p->condition[i], u) && p->condition[i].piece[k]) zero[u] = true;
    wall[k] = zero[0] && zero[1];
  }
}

/* Do the walls hang together, piece by piece? Else psi has an unknown constant on each part. */
static pcsim_status hang_together(const ansatz_builder *b, const bool *wall, bool *together) {
  const domain_view *d = b->problem->domain;
  bool *reached = NULL;
  int first = 0, left = 0;
  PCSIM_TRY(pcsim_alloc((size_t)d->num_pieces + 1, sizeof *reached, &reached));
  while (first < d->num_pieces && !wall[first]) first++;
  reached[first] = true;
  pcsim_status status = PCSIM_OK;
  for (bool more = true; more && status == PCSIM_OK;) {
    more = false;
    for (int i = 0; i < d->num_pieces; i++)
      for (int j = 0; j < d->num_pieces && status == PCSIM_OK; j++) {
        double point[DOMAIN_MAX];
        int64_t found = 0;
        if (!wall[i] || !wall[j] || !reached[i] || reached[j]) continue;
        status = domain_draw_meeting(b->domain, i, j, 1, 0, 1, point, &found);
        if (found) reached[j] = more = true;
      }
  }
  for (int k = 0; k < d->num_pieces; k++) left += wall[k] && !reached[k];
  *together = !left;
  pcsim_free(&reached);
  return status;
}

/* Are both velocities given on a piece? */
static bool is_given(const problem *p, int piece) {
  bool given[2] = {false, false};
  for (int i = 0; i < p->num_conditions; i++) {
    const problem_condition *c = &p->condition[i];
    if (c->place == PLACE_PIECES && c->kind == CONDITION_VALUE && c->piece[piece] && c->unknown >= 0 &&
        c->unknown < 2)
      given[c->unknown] = true;
  }
  return given[0] && given[1];
}

pcsim_status ansatz_closed(const problem *p, const domain *d, bool *closed) {
  const ansatz_builder b = {.problem = p, .domain = d};
  const int pieces = p->domain->num_pieces;
  bool *wall = NULL;
  int walls = 0;
  *closed = false;
  if (!problem_is_flow(p) || p->domain->num_space != 2 || p->domain->time >= 0 || p->num_periods)
    return PCSIM_OK;
  for (int k = 0; k < pieces; k++)
    if (!is_given(p, k)) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc((size_t)pieces + 1, sizeof *wall, &wall));
  find_walls(p, wall);
  for (int k = 0; k < pieces; k++) walls += wall[k];
  pcsim_status status = PCSIM_OK;
  if (walls) status = hang_together(&b, wall, closed);
  pcsim_free(&wall);
  return status;
}

/* The distance from the walls that are held; NO_VALUE: none are. */
static pcsim_status wall_distance(ansatz_builder *b, pcsim_value *distance) {
  const problem *p = b->problem;
  const int pieces = p->domain->num_pieces;
  bool *wall = NULL, *held = NULL, together = false;
  domain_value *values = NULL;
  pcsim_program *zero = NULL;
  problem_text text = {0};
  pcsim_status status;
  *distance = PCSIM_NO_VALUE;
  PCSIM_GOTO(pcsim_alloc((size_t)pieces, sizeof *wall, &wall), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)pieces, sizeof *held, &held), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)pieces, sizeof *values, &values), status, done);
  find_walls(p, wall);
  PCSIM_GOTO(hang_together(b, wall, &together), status, done);
  if (!together) goto done;
  PCSIM_GOTO(pcsim_strdup("0", &text.text), status, done);
  PCSIM_GOTO(parts_lower(b, &text, &zero), status, done);
  for (int k = 0; k < pieces; k++)
    if (wall[k]) values[k] = (domain_value){zero, "0"};
  domain_hold(b->domain, values, held);
  *distance = domain_distance(b->domain, held, b->program, b->coordinates);
  for (int i = 0; *distance >= 0 && i < p->num_conditions; i++)
    for (int u = 0; u < 2; u++) {
      bool built = is_zero(&p->condition[i], u);
      for (int k = 0; built && k < pieces; k++)
        if (p->condition[i].piece[k] && !held[k]) built = false;
      if (built) b->ansatz->built[i] = true;
    }
done:
  pcsim_free(&wall), pcsim_free(&held), pcsim_free(&values);
  pcsim_program_destroy(&zero);
  text_clear(&text);
  return status;
}

pcsim_status parts_stream(ansatz_builder *b, pcsim_value network) {
  pcsim_program *p = b->program, *psi = NULL, *slopes = NULL;
  int orders[2][DOMAIN_MAX] = {{0}};
  int list[2 * DOMAIN_MAX];
  const int n = b->problem->domain->num_coordinates;
  pcsim_value distance, value = network;
  PCSIM_TRY(wall_distance(b, &distance));
  if (distance >= 0) {
    const pcsim_value square = pcsim_build_binary(p, PCSIM_OP_MUL, distance, distance);
    value = pcsim_build_binary(p, PCSIM_OP_MUL, square, value);
  }
  PCSIM_TRY(pcsim_program_status(p));
  orders[0][1] = 1, orders[1][0] = 1;
  for (int i = 0; i < 2; i++) memcpy(list + (size_t)i * (size_t)n, orders[i], (size_t)n * sizeof *list);
  PCSIM_TRY(parts_program(b, value, &psi));
  pcsim_status status = pcsim_transform_partials(psi, "coordinates", list, 2, &slopes);
  if (status == PCSIM_OK) {
    pcsim_value velocity[2] = {parts_at(b, slopes, "a_p_0", b->coordinates),
                               parts_linear(b, parts_at(b, slopes, "a_p_1", b->coordinates), -1, 0)};
    for (int u = 0; u < 2; u++) {
      const char *name = b->problem->unknown[u];
      if (b->options->magnitude[u] != 1)
        velocity[u] = parts_linear(b, velocity[u], b->options->magnitude[u], 0);
      if (b->options->base) /* what is corrected has no divergence either */
        velocity[u] = pcsim_build_binary(p, PCSIM_OP_ADD, velocity[u],
                                         parts_at(b, b->options->base, name, b->coordinates));
      pcsim_build_output(p, name, velocity[u]);
    }
    status = pcsim_program_status(p);
  }
  pcsim_program_destroy(&psi);
  pcsim_program_destroy(&slopes);
  return status;
}
