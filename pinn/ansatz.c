/* SPDX-License-Identifier: BSD-2-Clause */
/* u = A + B N: conditions that hold whatever the weights are. */
#include "ansatz.h"
#include "ansatz_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void ansatz_clear(ansatz *a) {
  pcsim_program_destroy(&a->fields);
  pcsim_free(&a->built);
  pcsim_free(&a->seam);
  pcsim_free(&a->layered);
}

/* --------------------------------------------------------------- the network's inputs */

typedef struct {
  int n;
  pcsim_value value[NETWORK_INPUTS];
} input_list;

static void add_input(input_list *list, network_options *options, pcsim_value value, double scale) {
  options->scale[list->n] = scale;
  list->value[list->n++] = value;
}

/* Sine and cosine of a phase. */
static void add_wave(ansatz_builder *b, input_list *list, network_options *options, pcsim_value phase,
                     double scale) {
  add_input(list, options, pcsim_build_unary(b->program, PCSIM_OP_SIN, phase), scale);
  add_input(list, options, pcsim_build_unary(b->program, PCSIM_OP_COS, phase), scale);
}

static bool is_periodic(const ansatz_builder *b, int coordinate) {
  for (int k = 0; k < b->problem->num_periods; k++)
    if (b->problem->period[k].coordinate == coordinate) return true;
  return false;
}

/* Inputs that a coordinate gives. */
static int num_inputs_of(const ansatz_builder *b, int coordinate) {
  return is_periodic(b, coordinate) ? 2 : 1 + 2 * b->options->options.num_waves[coordinate];
}

/* About a centre: log of the distance, from -1 at `radius` to 1 in the furthest corner, and (`direction`) the
 * direction. */
static void add_polar(ansatz_builder *b, input_list *list, network_options *options, const bool *of,
                      const double *centre, double radius, bool direction, double scale) {
  const domain_view *d = b->problem->domain;
  pcsim_program *p = b->program;
  pcsim_value offset[DOMAIN_MAX], square = PCSIM_NO_VALUE;
  double furthest = 0;
  for (int i = 0; i < d->num_space; i++) {
    if (!of[i]) continue;
    offset[i] = parts_linear(b, parts_coordinate(b, i), 1, -centre[i]);
    const pcsim_value part = pcsim_build_binary(p, PCSIM_OP_MUL, offset[i], offset[i]);
    square = square < 0 ? part : pcsim_build_binary(p, PCSIM_OP_ADD, square, part);
    furthest += pow(fmax(centre[i] - d->range[i][0], d->range[i][1] - centre[i]), 2);
  }
  /* a corner is a point of the domain: the distance from it is never 0 */
  square = pcsim_build_binary(p, PCSIM_OP_ADD, square, pcsim_build_constant(p, 1e-24 * furthest));
  const double factor = 1 / log(sqrt(furthest) / radius);
  const pcsim_value logarithm = pcsim_build_unary(p, PCSIM_OP_LOG, square),
                    distance = pcsim_build_unary(p, PCSIM_OP_SQRT, square);
  add_input(list, options, parts_linear(b, logarithm, factor, -2 * factor * log(radius) - 1), scale);
  for (int i = 0; i < d->num_space && direction; i++)
    if (of[i]) add_input(list, options, pcsim_build_binary(p, PCSIM_OP_DIV, offset[i], distance), scale);
}

/* What the layers of each condition's walls add up to, -1 where there is none; those of the last conditions
 * together. */
static void add_layers(ansatz_builder *b, input_list *list, network_options *options) {
  enum { MOST = 8 };
  pcsim_value sum[MOST];
  double scale = 0, largest[MOST];
  int n = 0;
  for (int i = 0; i < b->num_layers; i++) {
    const wall_layer *l = &b->layer[i];
    const bool next = !i || l->condition != b->layer[i - 1].condition;
    if (next && n < MOST) sum[n] = l->value, largest[n++] = l->largest;
    else sum[n - 1] = pcsim_build_binary(b->program, PCSIM_OP_ADD, sum[n - 1], l->value);
  }
  for (int i = 0; i < b->problem->domain->num_space; i++) scale = fmax(scale, b->options->options.scale[i]);
  for (int i = 0; i < n && list->n < NETWORK_INPUTS; i++)
    add_input(list, options, parts_linear(b, sum[i], 2 / largest[i], -1), scale);
}

/* About corners in which a flow is singular; log of the distance -1 at a thousandth of the domain's size. */
static pcsim_status add_corners(ansatz_builder *b, input_list *list, network_options *options) {
  const domain_view *d = b->problem->domain;
  const bool of[DOMAIN_MAX] = {true, true};
  corners c;
  /* with values held by blending the corner would be held wrongly, and nothing is gained */
  if (!b->options->polar || !b->options->stream) return PCSIM_OK;
  PCSIM_TRY(ansatz_corners(b->problem, b->domain, &c));
  if (list->n + 3 * c.num > NETWORK_INPUTS) return PCSIM_OK;
  for (int i = 0; i < c.num; i++)
    add_polar(b, list, options, of, c.corner[i].at,
              1e-3 * hypot(d->range[0][1] - d->range[0][0], d->range[1][1] - d->range[1][0]), true,
              fmax(b->options->options.scale[0], b->options->options.scale[1]));
  return PCSIM_OK;
}

static void add_holes(ansatz_builder *b, input_list *list, network_options *options) {
  bool of[DOMAIN_MAX];
  double centre[DOMAIN_MAX], radius, scale = 0;
  const int space = b->problem->domain->num_space;
  int holes = 0;
  while (domain_hole(b->domain, holes, of, centre, &radius)) holes++;
  const bool direction = holes <= ANSATZ_DIRECTIONS;
  if (!b->options->polar || holes > ANSATZ_HOLES ||
      list->n + holes * (direction ? space + 1 : 1) > NETWORK_INPUTS)
    return;
  for (int i = 0; i < space; i++) scale = fmax(scale, b->options->options.scale[i]);
  for (int i = 0; domain_hole(b->domain, i, of, centre, &radius); i++)
    add_polar(b, list, options, of, centre, radius, direction, scale);
}

/* What a kink at the seam of a period becomes, once for each diffusion. */
static void add_seams(ansatz_builder *b, input_list *list, network_options *options) {
  const ansatz_seam *seam = b->ansatz->seam;
  for (int u = 0; u < b->problem->num_solved; u++) {
    bool known = !seam[u].images;
    for (int v = 0; v < u; v++) known = known || (seam[v].images && seam[v].diffusion == seam[u].diffusion);
    if (known || list->n + 2 > NETWORK_INPUTS) continue;
    pcsim_value inputs[2];
    parts_seam_inputs(b, &seam[u], inputs);
    for (int i = 0; i < 2; i++) add_input(list, options, inputs[i], b->options->options.scale[0]);
  }
}

static void add_walls(ansatz_builder *b, input_list *list, network_options *options) {
  pcsim_value inputs[2];
  if (list->n + 2 > NETWORK_INPUTS) return;
  const int n = parts_wall_inputs(b, &b->ansatz->walls, inputs);
  for (int i = 0; i < n; i++) add_input(list, options, inputs[i], b->options->options.scale[0]);
}

/* Each coordinate in [-1, 1], or sine and cosine over its period; those of its waves. */
static pcsim_status network_inputs(ansatz_builder *b, network_options *options, pcsim_value *inputs) {
  const domain_view *d = b->problem->domain;
  const network_options *given = &b->options->options;
  const double pi = 3.14159265358979323846;
  input_list list = {0};
  for (int i = 0; i < d->num_coordinates; i++) {
    const double *whole = i == d->time ? b->options->time : d->range[i],
                 *range = b->options->range && i < d->num_space ? b->options->range[i] : whole;
    const double length = range[1] - range[0], scale = given->scale[i];
    const pcsim_value x = parts_coordinate(b, i);
    if (is_periodic(b, i)) {
      const double factor = 2 * pi / (whole[1] - whole[0]);
      add_wave(b, &list, options, parts_linear(b, x, factor, -whole[0] * factor), scale);
      continue;
    }
    add_input(&list, options, parts_linear(b, x, 2 / length, -range[0] * (2 / length) - 1), scale);
    const double share = 2 / (whole[1] - whole[0]); /* waves are those of the whole */
    const pcsim_value y = parts_linear(b, x, share, -whole[0] * share - 1);
    for (int k = 0; k < given->num_waves[i]; k++)
      add_wave(b, &list, options, parts_linear(b, y, given->wave[i][k], 0), 1);
  }
  add_holes(b, &list, options);
  add_seams(b, &list, options);
  add_layers(b, &list, options);
  add_walls(b, &list, options);
  PCSIM_TRY(add_corners(b, &list, options));
  options->num_inputs = list.n;
  *inputs = list.n == 1 ? list.value[0] : pcsim_build_concat(b->program, list.value, list.n);
  return PCSIM_OK;
}

/* -------------------------------------------------------------- one unknown after another */

static pcsim_value mul(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, PCSIM_OP_MUL, a, b);
}
static pcsim_value add(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, PCSIM_OP_ADD, a, b);
}
static pcsim_value sub(pcsim_program *p, pcsim_value a, pcsim_value b) {
  return pcsim_build_binary(p, PCSIM_OP_SUB, a, b);
}

/* What the start of a later span of time hands over is held, whatever the case says of its own start. */
static void handed_over(ansatz_builder *b, int unknown, problem_kind kind, pcsim_value *value) {
  const problem *p = b->problem;
  char name[128];
  for (int i = 0; i < p->num_conditions; i++)
    if (p->condition[i].place == PLACE_START) b->ansatz->built[i] = true;
  if (p->order[unknown][p->domain->time] < (kind == CONDITION_RATE ? 2 : 1)) return;
  snprintf(name, sizeof name, "%s%s", p->unknown[unknown], kind == CONDITION_RATE ? "_t" : "");
  *value = parts_at(b, b->options->start, name, parts_with(b, p->domain->time, b->options->time[0]));
}

/* Value at the start of an unknown, or of its derivative by time; NO_VALUE: not given to be held. */
static pcsim_status start_value(ansatz_builder *b, int unknown, problem_kind kind, pcsim_value *value) {
  const problem *p = b->problem;
  *value = PCSIM_NO_VALUE;
  if (b->options->start) {
    handed_over(b, unknown, kind, value);
    return PCSIM_OK;
  }
  for (int i = 0; i < p->num_conditions; i++) {
    const problem_condition *c = &p->condition[i];
    if (c->place != PLACE_START || c->unknown != unknown || c->kind != kind || !c->exact) continue;
    b->ansatz->built[i] = true;
    pcsim_program *given = NULL;
    PCSIM_TRY(parts_lower(b, &c->text, &given));
    *value = parts_at(b, given, "0", b->coordinates);
    pcsim_program_destroy(&given);
    const ansatz_seam *seam = &b->ansatz->seam[unknown];
    if (kind == CONDITION_VALUE && seam->images) *value = parts_carried(b, seam, *value);
    if (kind == CONDITION_VALUE) *value = parts_from_walls(b, &b->ansatz->walls, *value);
    return PCSIM_OK;
  }
  return PCSIM_OK;
}

/* A and B of the boundary made to hold at the start as well. */
static pcsim_status add_start(ansatz_builder *b, int unknown, pcsim_value *a, pcsim_value *factor) {
  pcsim_program *p = b->program, *of_boundary = NULL, *by_time = NULL;
  const int t = b->problem->domain->time;
  pcsim_value value, rate;
  if (t < 0) return PCSIM_OK;
  PCSIM_TRY(start_value(b, unknown, CONDITION_VALUE, &value));
  PCSIM_TRY(start_value(b, unknown, CONDITION_RATE, &rate));
  if (value < 0 && rate < 0) return pcsim_program_status(p);
  if (value < 0) { /* a rate alone is not held */
    parts_forget_start(b, unknown);
    return PCSIM_OK;
  }
  const double begin = b->options->time[0], length = b->options->time[1] - begin;
  const pcsim_value since = parts_linear(b, parts_coordinate(b, t), 1, -begin);
  const pcsim_value share = parts_linear(b, parts_coordinate(b, t), 1 / length, -begin / length);
  const pcsim_value at_start = parts_with(b, t, begin);
  pcsim_status status = PCSIM_OK;
  if (*a < 0) *a = value;
  else {
    PCSIM_GOTO(parts_program(b, *a, &of_boundary), status, done);
    *a = add(p, *a, sub(p, value, parts_at(b, of_boundary, "a", at_start)));
  }
  if (rate >= 0) {
    pcsim_value slope = rate;
    if (of_boundary) {
      int orders[DOMAIN_MAX] = {0};
      orders[t] = 1;
      PCSIM_GOTO(pcsim_transform_partials(of_boundary, "coordinates", orders, 1, &by_time), status, done);
      slope = sub(p, slope, parts_at(b, by_time, "a_p_0", at_start));
    }
    *a = add(p, *a, mul(p, since, slope));
  }
  const pcsim_value zero = rate >= 0 ? mul(p, share, share) : share;
  *factor = *factor < 0 ? zero : mul(p, *factor, zero);
done:
  pcsim_program_destroy(&of_boundary);
  pcsim_program_destroy(&by_time);
  return status == PCSIM_OK ? pcsim_program_status(p) : status;
}

/* A number that training changes, or a network of its own, of order 1 and 0 at the start of a number. */
static pcsim_value coefficient_raw(ansatz_builder *b, int u, pcsim_value inputs) {
  const problem *q = b->problem;
  const problem_coefficient *c = &q->coefficient[u - q->num_solved];
  char prefix[200];
  pcsim_value list[NETWORK_INPUTS];
  int n = 0, row = 0;
  const bool shared = b->options->shared && !c->num_of;
  snprintf(prefix, sizeof prefix, "%s%s_", shared ? b->options->shared : b->options->prefix, q->unknown[u]);
  if (!c->num_of) {
    strcat(prefix, "value");
    const pcsim_value zero = pcsim_build_binary(b->program, PCSIM_OP_MUL, pcsim_build_constant(b->program, 0),
                                                parts_coordinate(b, 0));
    return add(b->program, zero, pcsim_build_parameter(b->program, prefix, 1, 1));
  }
  for (int i = 0; i < q->domain->num_coordinates; i++) {
    const int rows = num_inputs_of(b, i);
    for (int k = 0; k < rows; k++, row++)
      if (c->of[i]) list[n++] = pcsim_build_slice(b->program, inputs, row, 1);
  }
  network_options options = b->options->options;
  options.num_inputs = n, options.num_outputs = 1;
  options.stream += (uint64_t)u + 1;
  for (int i = 0; i < n; i++) options.scale[i] = 1;
  const pcsim_value in = n == 1 ? list[0] : pcsim_build_concat(b->program, list, n);
  return b->options->network->build(&options, b->program, prefix, in);
}

/* Inside its bounds, at its start where `raw` is 0. */
static pcsim_value coefficient_value(ansatz_builder *b, int u, pcsim_value raw) {
  const problem_coefficient *c = &b->problem->coefficient[u - b->problem->num_solved];
  const double *range = c->range, span = range[1] - range[0];
  if (span > 0) {
    const double share = (c->start - range[0]) / span;
    const pcsim_value shifted = parts_linear(b, raw, 1, log(share / (1 - share)));
    return parts_linear(b, pcsim_build_unary(b->program, PCSIM_OP_SIGMOID, shifted), span, range[0]);
  }
  if (c->positive) return parts_linear(b, pcsim_build_unary(b->program, PCSIM_OP_EXP, raw), c->start, 0);
  return parts_linear(b, raw, c->start != 0 ? fabs(c->start) : 1, c->start);
}

static pcsim_status build_coefficients(ansatz_builder *b, pcsim_value inputs) {
  const problem *q = b->problem;
  for (int u = q->num_solved; u < q->num_unknowns; u++) {
    pcsim_value a, factor, value = coefficient_raw(b, u, inputs);
    PCSIM_TRY(parts_boundary(b, u, &a, &factor));
    if (factor < 0) value = coefficient_value(b, u, value);
    else value = mul(b->program, factor, value);
    if (factor >= 0 && q->coefficient[u - q->num_solved].positive) /* with the sign of what is given */
      value = mul(b->program, a, pcsim_build_unary(b->program, PCSIM_OP_EXP, value));
    else if (a >= 0) value = add(b->program, a, value);
    pcsim_build_output(b->program, q->unknown[u], value);
  }
  return pcsim_program_status(b->program);
}

static pcsim_status build_unknowns(ansatz_builder *b, pcsim_value network) {
  const problem *q = b->problem;
  pcsim_program *p = b->program;
  const int outputs = q->num_solved - b->options->stream;
  if (b->options->stream) PCSIM_TRY(parts_stream(b, pcsim_build_slice(p, network, 0, 1)));
  for (int u = b->options->stream ? 2 : 0; u < q->num_solved; u++) {
    pcsim_value a = PCSIM_NO_VALUE, factor = PCSIM_NO_VALUE;
    pcsim_value value = outputs == 1 ? network : pcsim_build_slice(p, network, u - b->options->stream, 1);
    PCSIM_TRY(parts_boundary(b, u, &a, &factor));
    /* layers are 0 at the first start; at later ones what is handed over has them */
    const pcsim_value layers = parts_layer_sum(b);
    if (layers >= 0 && b->options->start) a = a >= 0 ? add(p, a, layers) : layers;
    PCSIM_TRY(add_start(b, u, &a, &factor));
    if (layers >= 0 && !b->options->start) a = a >= 0 ? add(p, a, layers) : layers;
    if (b->options->base) a = parts_at(b, b->options->base, q->unknown[u], b->coordinates);
    if (b->options->magnitude[u] != 1) value = parts_linear(b, value, b->options->magnitude[u], 0);
    if (factor >= 0) value = mul(p, factor, value);
    if (a >= 0) value = add(p, a, value);
    pcsim_build_output(p, q->unknown[u], value);
  }
  return pcsim_program_status(p);
}

pcsim_status ansatz_build(const problem *q, const domain *d, const ansatz_options *options, ansatz *a) {
  ansatz_builder b = {.problem = q, .domain = d, .options = options, .ansatz = a};
  pcsim_status status = PCSIM_OK;
  const size_t before = pcsim_tree_num_problems(q->tree);
  *a = (ansatz){0};
  PCSIM_GOTO(pcsim_alloc((size_t)q->num_conditions, sizeof *a->built, &a->built), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)q->num_solved, sizeof *a->seam, &a->seam), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)q->num_conditions, sizeof *a->layered, &a->layered), status, done);
  PCSIM_GOTO(pcsim_program_create(&b.program), status, done);
  b.space = pcsim_build_space(b.program, "points");
  b.coordinates = pcsim_build_input(b.program, "coordinates", b.space, q->domain->num_coordinates);
  for (int u = 0; u < q->num_solved; u++) PCSIM_GOTO(parts_find_seam(&b, u, &a->seam[u]), status, done);
  PCSIM_GOTO(parts_find_walls(&b, &a->walls), status, done);
  bool contradict;
  PCSIM_GOTO(parts_contradictions(&b, &contradict), status, done);
  if (contradict) goto done; /* a trial before may have said it: problems are kept once */
  if (options->wall_layers) PCSIM_GOTO(parts_layers(&b), status, done);
  network_options network = options->options;
  network.num_outputs = q->num_solved - options->stream;
  pcsim_value inputs = PCSIM_NO_VALUE;
  PCSIM_GOTO(network_inputs(&b, &network, &inputs), status, done);
  const pcsim_value out = options->network->build(&network, b.program, options->prefix, inputs);
  PCSIM_GOTO(build_unknowns(&b, out), status, done);
  PCSIM_GOTO(build_coefficients(&b, inputs), status, done);
  PCSIM_GOTO(parts_check(&b), status, done);
  if (pcsim_tree_num_problems(q->tree) != before) goto done;
  a->fields = b.program;
  b.program = NULL;
done:
  pcsim_program_destroy(&b.program);
  if (status != PCSIM_OK) ansatz_clear(a);
  return status;
}

/* -------------------------------------------------------------------------- what it says */

pcsim_status ansatz_names(const problem *p, const ansatz *a, bool built, char **text) {
  char *sum = NULL;
  PCSIM_TRY(pcsim_strdup("", &sum));
  for (int i = 0; i < p->num_conditions; i++) {
    const problem_condition *c = &p->condition[i];
    if (a->built[i] != built) continue;
    char *next = NULL;
    const char *what = c->unknown >= 0 ? p->unknown[c->unknown] : "a condition";
    pcsim_status status = text_format(&next, "%s%s%s%s on %s", sum, *sum ? "; " : "", what,
                                      c->kind == CONDITION_RATE ? "_t" : "", c->name);
    pcsim_free(&sum);
    PCSIM_TRY(status);
    sum = next;
  }
  for (int k = 0; k < p->num_periods && built; k++) {
    char *next = NULL;
    pcsim_status status = text_format(&next, "%s%speriod of %s", sum, *sum ? "; " : "",
                                      p->domain->coordinate[p->period[k].coordinate]);
    pcsim_free(&sum);
    PCSIM_TRY(status);
    sum = next;
  }
  *text = sum;
  return PCSIM_OK;
}
