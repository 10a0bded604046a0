/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of expressions: which list they stand in, derivative suffixes in and out. */
#include "lower.h"

#include <stdio.h>
#include <string.h>

static int place_of(const char *name, size_t size, const char *const *names, int n) {
  for (int i = 0; i < n; i++)
    if (strlen(names[i]) == size && !memcmp(names[i], name, size)) return i;
  return -1;
}

const char *lower_list(const char *const *names, int n, char *out, size_t size) {
  size_t used = 0;
  snprintf(out, size, "none");
  for (int i = 0; i < n; i++) {
    if (used + strlen(names[i]) + 8 > size) {
      snprintf(out + used, size - used, ", ...");
      break;
    }
    used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", names[i]);
  }
  return out;
}

/* ------------------------------------------------------------ the lists */

static const struct {
  const char *singular, *with_article;
} kinds[] = {{"coordinate", "a coordinate"}, {"unknown", "an unknown"}, {"parameter", "a parameter"}};

static int list_of(const pcsim_lowering *names, int kind, const char *const **list) {
  *list = kind == LOWER_COORDINATE ? names->coordinates
          : kind == LOWER_UNKNOWN  ? names->unknowns
                                   : names->parameters;
  return kind == LOWER_COORDINATE ? names->num_coordinates
         : kind == LOWER_UNKNOWN  ? names->num_unknowns
                                  : names->num_parameters;
}

/* Inputs of the program are named after unknowns, so these two are taken. */
static bool is_taken(const char *name) { return !strcmp(name, "coordinates"); }

static pcsim_status check_unique(const pcsim_lowering *names, int kind, int place, const char *name) {
  for (int k = 0; k <= kind; k++) {
    const char *const *list;
    int n = list_of(names, k, &list), same = place_of(name, strlen(name), list, k == kind ? place : n);
    if (same >= 0 && k == kind)
      PCSIM_FAIL(PCSIM_ERR_CASE, "the %s '%s' is named twice", kinds[k].singular, name);
    if (same >= 0)
      PCSIM_FAIL(PCSIM_ERR_CASE, "'%s' is %s and %s; expected different names", name, kinds[k].with_article,
                 kinds[kind].with_article);
  }
  return PCSIM_OK;
}

pcsim_status lower_check_names(const pcsim_lowering *names) {
  for (int kind = 0; kind < 3; kind++) {
    const char *const *list;
    int n = list_of(names, kind, &list);
    PCSIM_CHECK(n <= 0 || list, PCSIM_ERR_ARG, "names announced but not given");
    for (int i = 0; i < n; i++) {
      PCSIM_CHECK(list[i], PCSIM_ERR_ARG, "%s %d has no name", kinds[kind].singular, i);
      PCSIM_TRY(pcsim_expr_check_name(list[i]));
      PCSIM_CHECK(!is_taken(list[i]) || kind != LOWER_UNKNOWN, PCSIM_ERR_CASE,
                  "'%s' cannot be an unknown: the input of the coordinates has this name", list[i]);
      PCSIM_TRY(check_unique(names, kind, i, list[i]));
    }
  }
  return PCSIM_OK;
}

/* ------------------------------------------------------------ resolving */

static pcsim_status unknown_name(const pcsim_lowering *names, const char *name) {
  const char *all[256];
  char known[512];
  int n = 0;
  for (int kind = 0; kind < 3; kind++) {
    const char *const *list;
    int length = list_of(names, kind, &list);
    for (int i = 0; i < length && n < 256; i++) all[n++] = list[i];
  }
  lower_list(all, n, known, sizeof known);
  const char *near = pcsim_nearest(name, all, (size_t)n);
  PCSIM_FAIL(PCSIM_ERR_CASE, "unknown name '%s'%s%s%s (known: %s)", name, near ? "; did you mean '" : "",
             near ? near : "", near ? "'?" : "", known);
}

static pcsim_status add_axis(lower_derivative *what, const char *name, int axis) {
  PCSIM_CHECK(what->order < LOWER_MAX_ORDER, PCSIM_ERR_CASE,
              "'%.40s' is a derivative of order above %d; expected at most that", name, LOWER_MAX_ORDER);
  int k = what->order++;
  for (; k > 0 && what->axes[k - 1] > axis; k--) what->axes[k] = what->axes[k - 1];
  what->axes[k] = axis;
  return PCSIM_OK;
}

/** One part of a suffix: a coordinate's name, or letters that are coordinates each. */
static pcsim_status read_part(const pcsim_lowering *names, const char *name, size_t begin, size_t size,
                              lower_derivative *what, size_t *at) {
  int axis = place_of(name + begin, size, names->coordinates, names->num_coordinates);
  *at = begin;
  if (axis >= 0) return add_axis(what, name, axis);
  for (size_t i = 0; i < size; i++) {
    axis = place_of(name + begin + i, 1, names->coordinates, names->num_coordinates);
    if (axis < 0) {
      char known[256];
      *at = begin + i;
      /* Where no letter is a coordinate, the whole part was meant as one. */
      int shown = i == 0 ? (int)size : 1;
      if (!names->num_coordinates)
        PCSIM_FAIL(PCSIM_ERR_CASE, "'%s' is a derivative, but there are no coordinates here", name);
      PCSIM_FAIL(PCSIM_ERR_CASE, "unknown coordinate '%.*s' in '%s' (known: %s)", shown, name + begin + i,
                 name, lower_list(names->coordinates, names->num_coordinates, known, sizeof known));
    }
    PCSIM_TRY(add_axis(what, name, axis));
  }
  return PCSIM_OK;
}

pcsim_status lower_resolve(const pcsim_lowering *names, const char *name, lower_name *out, size_t *at) {
  const char *suffix = strchr(name, '_');
  size_t size = suffix ? (size_t)(suffix - name) : strlen(name);
  char stem[LOWER_NAME_SIZE];
  *at = 0;
  *out = (lower_name){.index = -1};
  for (int kind = 0; kind < 3 && out->index < 0; kind++) {
    const char *const *list;
    int n = list_of(names, kind, &list);
    out->kind = (lower_name_kind)kind;
    out->index = place_of(name, size, list, n);
  }
  snprintf(stem, sizeof stem, "%.*s", (int)(size < sizeof stem ? size : sizeof stem - 1), name);
  if (out->index < 0) return unknown_name(names, stem);
  if (suffix && out->kind != LOWER_UNKNOWN) {
    char known[256];
    PCSIM_FAIL(PCSIM_ERR_CASE, "'%s' is %s and has no derivative '%s'; expected an unknown (known: %s)", stem,
               kinds[out->kind].with_article, name,
               lower_list(names->unknowns, names->num_unknowns, known, sizeof known));
  }
  out->derivative.unknown = out->index;
  while (suffix) {
    const char *next = strchr(suffix + 1, '_');
    size_t begin = (size_t)(suffix + 1 - name), end = next ? (size_t)(next - name) : strlen(name);
    PCSIM_TRY(read_part(names, name, begin, end - begin, &out->derivative, at));
    suffix = next;
  }
  return PCSIM_OK;
}

/* -------------------------------------------------------------- writing */

void lower_write_name(const pcsim_lowering *names, const lower_derivative *what, char out[LOWER_NAME_SIZE]) {
  bool letters = true;
  for (int i = 0; i < names->num_coordinates; i++) letters = letters && !names->coordinates[i][1];
  size_t used = (size_t)snprintf(out, LOWER_NAME_SIZE, "%s", names->unknowns[what->unknown]);
  for (int i = 0; i < what->order && used < LOWER_NAME_SIZE; i++)
    used += (size_t)snprintf(out + used, LOWER_NAME_SIZE - used, "%s%s", letters && i ? "" : "_",
                             names->coordinates[what->axes[i]]);
}

int lower_compare(const lower_derivative *a, const lower_derivative *b) {
  if (a->unknown != b->unknown) return a->unknown < b->unknown ? -1 : 1;
  if (a->order != b->order) return a->order < b->order ? -1 : 1;
  for (int i = 0; i < a->order; i++)
    if (a->axes[i] != b->axes[i]) return a->axes[i] < b->axes[i] ? -1 : 1;
  return 0;
}

pcsim_status pcsim_lowering_derivative(const pcsim_lowering *names, const char *input, int *unknown,
                                       int *orders) {
  lower_name found;
  size_t at;
  PCSIM_TRY(lower_resolve(names, input, &found, &at));
  PCSIM_CHECK(found.kind == LOWER_UNKNOWN, PCSIM_ERR_CASE, "'%s' is no unknown and none of its derivatives",
              input);
  *unknown = found.index;
  for (int i = 0; i < names->num_coordinates; i++) orders[i] = 0;
  for (int i = 0; i < found.derivative.order; i++) orders[found.derivative.axes[i]]++;
  return PCSIM_OK;
}
