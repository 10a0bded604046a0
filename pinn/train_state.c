/* SPDX-License-Identifier: BSD-2-Clause */
/* Checkpoints: a line of text, then numbers as the machine has them.
 *
 *      pcsim training 4 HASH PARAMETERS STATE CHECKSUM
 *
 *  followed by what was chosen for each part (how many), the parts that are done (how many; of each what came
 * next, step and second at its end, its held-out loss, how many numbers, the numbers), then of the present
 * one scalars, theta, the best theta, the optimiser's state, weights, numbers of points, the points of the
 * interior. */
#include "train.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { HEADER = 256, NUM_SCALARS = 14 };

/* FNV-1a, 64 bits. */
static uint64_t checksum(const void *from, size_t size) {
  const unsigned char *bytes = from;
  uint64_t h = 1469598103934665603u;
  for (size_t i = 0; i < size; i++) h = (h ^ bytes[i]) * 1099511628211u;
  return h;
}

static size_t num_weights(const pcsim_training *t) {
  size_t n = 0;
  for (int g = 0; g < t->num_groups; g++) n += (size_t)groups_rows(t->groups, g);
  return n;
}

/* Everything as one array, to be written out or filled in; `out` false: into the training. */
static void pass(pcsim_training *t, double *numbers, bool out) {
  double *inner;
  int64_t num_inner;
  const size_t n = (size_t)t->num_parameters;
  double scalars[NUM_SCALARS] = {(double)t->step,
                                 (double)t->draw,
                                 (double)t->stalls,
                                 t->first_loss,
                                 t->loss,
                                 t->held_out,
                                 t->best_loss,
                                 t->best_held_out,
                                 t->seconds,
                                 t->noise_unit,
                                 (double)t->watched_step,
                                 t->watched_loss,
                                 t->part.seconds,
                                 t->part.slab_seconds};
  t->kind->state(t->optimizer, &inner, &num_inner);
  struct {
    double *numbers;
    size_t n;
  } parts[] = {{scalars, NUM_SCALARS}, {t->theta, n}, {t->best, n}, {inner, (size_t)num_inner}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    memcpy(out ? numbers : parts[i].numbers, out ? parts[i].numbers : numbers, parts[i].n * sizeof *numbers);
    numbers += parts[i].n;
  }
  for (int g = 0; g < t->num_groups; g++) {
    const size_t rows = (size_t)groups_rows(t->groups, g);
    if (out) memcpy(numbers, groups_weights(t->groups, g), rows * sizeof *numbers);
    else groups_weight(t->groups, g, numbers);
    numbers += rows;
    if (out) *numbers = (double)t->group[g].n;
    else t->group[g].n = (int64_t)*numbers;
    numbers++;
  }
  t->level.known = false;
  t->step = (int64_t)scalars[0], t->draw = (int64_t)scalars[1], t->stalls = (int64_t)scalars[2];
  t->first_loss = scalars[3], t->loss = scalars[4], t->held_out = scalars[5];
  t->best_loss = scalars[6], t->best_held_out = scalars[7], t->seconds = scalars[8];
  t->noise_unit = scalars[9];
  t->watched_step = (int64_t)scalars[10], t->watched_loss = scalars[11];
  t->part.seconds = scalars[12], t->part.slab_seconds = scalars[13];
}

static size_t count(pcsim_training *t) {
  double *inner;
  int64_t n;
  t->kind->state(t->optimizer, &inner, &n);
  return NUM_SCALARS + 2 * (size_t)t->num_parameters + (size_t)n + num_weights(t) + (size_t)t->num_groups;
}

/* ------------------------------------------------------------------- parts that are done */

enum { NUM_FINISHED = 5 /* scalars of one */ };

static size_t count_finished(const pcsim_training *t) {
  size_t n = 1;
  for (int i = 0; i < t->num_finished; i++) n += NUM_FINISHED + (size_t)t->finished[i].num_parameters;
  return n;
}

static size_t count_chosen(const pcsim_training *t) { return 1 + (size_t)t->from->num_chosen * TRAIN_CHOICE; }

static void write_chosen(const pcsim_training *t, double *numbers) {
  *numbers++ = t->from->num_chosen;
  for (int i = 0; i < t->from->num_chosen; i++, numbers += TRAIN_CHOICE)
    train_choice_write(&t->from->chosen[i], numbers);
}

static void write_finished(const pcsim_training *t, double *numbers) {
  *numbers++ = t->num_finished;
  for (int i = 0; i < t->num_finished; i++) {
    const train_finished *f = &t->finished[i];
    const double scalars[NUM_FINISHED] = {f->next, (double)f->step, f->seconds, f->held_out,
                                          (double)f->num_parameters};
    memcpy(numbers, scalars, sizeof scalars);
    memcpy(numbers + NUM_FINISHED, f->theta, (size_t)f->num_parameters * sizeof *numbers);
    numbers += NUM_FINISHED + f->num_parameters;
  }
}

static pcsim_status another_case(const char *path) {
  PCSIM_FAIL(PCSIM_ERR_CASE, "%s is of another case and cannot be resumed; --force starts again", path);
}

/* What was chosen then counts: nothing is tried again. */
static pcsim_status read_chosen(pcsim_training *t, const double *numbers, size_t n, const char *path,
                                size_t *taken) {
  train_case *from = t->from;
  const double num = n ? numbers[0] : 0;
  if (!(num >= 1 && num <= (double)(n - 1) / TRAIN_CHOICE)) return another_case(path);
  PCSIM_TRY(pcsim_realloc((size_t)num, sizeof *from->chosen, &from->chosen));
  from->num_chosen = 0;
  for (*taken = 1; from->num_chosen < (int)num; *taken += TRAIN_CHOICE)
    if (!train_choice_read(numbers + *taken, &from->asked, &from->chosen[from->num_chosen++]))
      return another_case(path);
  from->tries = true;
  return train_restart(t);
}

/* Parts are made as they were, each with its numbers, one after the other; what is chosen for a part depends
 * on these alone. `*taken` numbers [n] are read. */
static pcsim_status read_finished(pcsim_training *t, const double *numbers, size_t n, const char *path,
                                  size_t *taken) {
  const int num = n ? (int)numbers[0] : 0;
  size_t at = 1;
  for (int i = 0; i < num; i++) {
    const double *scalars = numbers + at;
    if (n - at < NUM_FINISHED + (size_t)t->num_parameters || (int64_t)scalars[4] != t->num_parameters)
      return another_case(path);
    memcpy(t->best, scalars + NUM_FINISHED, (size_t)t->num_parameters * sizeof *numbers);
    t->level.known = false;
    at += NUM_FINISHED + (size_t)t->num_parameters;
    t->step = (int64_t)scalars[1], t->seconds = scalars[2], t->best_held_out = scalars[3];
    PCSIM_TRY(train_next(t, (train_kind)scalars[0]));
  }
  *taken = at;
  return PCSIM_OK;
}

/* ---------------------------------------------------------------------------------- files */

/* Coordinates of the points of interiors. */
static size_t num_interior(const pcsim_training *t) {
  size_t n = 0;
  for (int g = 0; g < t->num_groups; g++)
    if (t->group[g].kind == TRAIN_INTERIOR)
      n += (size_t)(groups_get_points(t->groups, g, NULL) * t->from->problem.domain->num_coordinates);
  return n;
}

static void copy_interior(const pcsim_training *t, double *to) {
  for (int g = 0; g < t->num_groups; g++) {
    const double *points;
    if (t->group[g].kind != TRAIN_INTERIOR) continue;
    const size_t n =
        (size_t)(groups_get_points(t->groups, g, &points) * t->from->problem.domain->num_coordinates);
    memcpy(to, points, n * sizeof *to);
    to += n;
  }
}

pcsim_status pcsim_training_save(const pcsim_training *training, const char *hash, const char *path) {
  pcsim_training *t = (pcsim_training *)training; /* passing out changes nothing */
  const size_t chosen = count_chosen(t), done = chosen + count_finished(t), fixed = done + count(t),
               n = fixed + num_interior(t);
  char *bytes = NULL;
  double *numbers = NULL;
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc(HEADER + n * sizeof(double), 1, &bytes), status, done);
  PCSIM_GOTO(pcsim_alloc(n, sizeof *numbers, &numbers), status, done);
  write_chosen(t, numbers);
  write_finished(t, numbers + chosen);
  pass(t, numbers + done, true);
  copy_interior(t, numbers + fixed);
  memcpy(bytes + HEADER, numbers, n * sizeof *numbers);
  snprintf(bytes, HEADER, "pcsim training 4 %s %" PRId64 " %zu %016" PRIx64 "\n", hash, t->num_parameters, n,
           checksum(numbers, n * sizeof *numbers));
  status = pcsim_file_write(path, bytes, HEADER + n * sizeof *numbers);
done:
  pcsim_free(&bytes);
  pcsim_free(&numbers);
  return status;
}

/* The file's numbers, `*num` of them, with `*parameters` of the present part. */
static pcsim_status check(const char *bytes, size_t size, const char *hash, const char *path,
                          int64_t *parameters, size_t *num) {
  char found[80] = "";
  uint64_t sum = 0;
  PCSIM_CHECK(
      size > HEADER && memchr(bytes, '\n', HEADER) &&
          sscanf(bytes, "pcsim training 4 %79s %" SCNd64 " %zu %" SCNx64, found, parameters, num, &sum) == 4,
      PCSIM_ERR_IO, "%s is no checkpoint of a training", path);
  PCSIM_CHECK(size == HEADER + *num * sizeof(double) && checksum(bytes + HEADER, size - HEADER) == sum,
              PCSIM_ERR_IO, "%s is damaged", path);
  return strcmp(found, hash) ? another_case(path) : PCSIM_OK;
}

pcsim_status pcsim_training_load(pcsim_training *t, const char *hash, const char *path) {
  char *bytes = NULL;
  double *numbers = NULL;
  size_t size, n, chosen = 0, at = 0;
  int64_t parameters;
  pcsim_status status;
  PCSIM_TRY(pcsim_file_read(path, SIZE_MAX / 4, &bytes, &size));
  PCSIM_GOTO(check(bytes, size, hash, path, &parameters, &n), status, done);
  PCSIM_GOTO(pcsim_alloc(n, sizeof *numbers, &numbers), status, done);
  memcpy(numbers, bytes + HEADER, size - HEADER);
  PCSIM_GOTO(read_chosen(t, numbers, n, path, &chosen), status, done);
  PCSIM_GOTO(read_finished(t, numbers + chosen, n - chosen, path, &at), status, done);
  at += chosen;
  if (parameters != t->num_parameters || n - at < count(t)) {
    status = another_case(path);
    goto done;
  }
  pass(t, numbers + at, false);
  status = train_draw(t, numbers + at + count(t));
done:
  pcsim_free(&bytes);
  pcsim_free(&numbers);
  return status;
}
