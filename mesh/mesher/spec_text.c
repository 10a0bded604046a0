/* SPDX-License-Identifier: BSD-2-Clause */
/* The specification file: lines `key=value`, written by pcsim_mesh_spec_generate. */
#include "mesher.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct mesher_spec {
  char *text; /* the file, cut into keys and values in place */
  int n;
  struct {
    const char *key, *value;
  } * item;
};

static bool may_repeat(const char *key) {
  static const char *const keys[] = {"rename", "periodic", "region", "parameter"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (!strcmp(keys[i], key)) return true;
  return false;
}

static pcsim_status cut_lines(mesher_spec *spec, const char *path) {
  int lines = 0;
  for (const char *p = spec->text; *p; p++) lines += *p == '\n';
  PCSIM_TRY(pcsim_alloc((size_t)lines + 1, sizeof *spec->item, &spec->item));
  int line = 0;
  for (char *p = spec->text; *p;) {
    char *end = strchrnul(p, '\n'), *next = *end ? end + 1 : end;
    line++;
    *end = 0;
    if (*p && *p != '#') {
      char *equal = strchr(p, '=');
      PCSIM_CHECK(equal && equal > p, PCSIM_ERR_CASE, "%s:%d: '%s' is not of the form key=value", path, line,
                  p);
      *equal = 0;
      PCSIM_CHECK(!mesher_spec_text(spec, p) || may_repeat(p), PCSIM_ERR_CASE, "%s:%d: '%s' is given twice",
                  path, line, p);
      spec->item[spec->n].key = p;
      spec->item[spec->n++].value = equal + 1;
    }
    p = next;
  }
  return PCSIM_OK;
}

pcsim_status mesher_spec_read(const char *path, mesher_spec **spec) {
  mesher_spec *s = NULL;
  size_t size = 0;
  pcsim_status status = PCSIM_OK;
  *spec = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *s, &s));
  PCSIM_GOTO(pcsim_file_read(path, 1 << 20, &s->text, &size), status, fail);
  if (memchr(s->text, 0, size)) {
    status = pcsim_error_set(PCSIM_ERR_CASE, __FILE__, __LINE__, __func__, "%s: is not a text file", path);
    goto fail;
  }
  PCSIM_GOTO(cut_lines(s, path), status, fail);
  *spec = s;
  return PCSIM_OK;
fail:
  mesher_spec_destroy(&s);
  return status;
}

void mesher_spec_destroy(mesher_spec **spec) {
  if (!*spec) return;
  pcsim_free(&(*spec)->text);
  pcsim_free(&(*spec)->item);
  pcsim_free(spec);
}

const char *mesher_spec_text(const mesher_spec *spec, const char *key) {
  for (int i = 0; i < spec->n; i++)
    if (!strcmp(spec->item[i].key, key)) return spec->item[i].value;
  return NULL;
}

bool mesher_spec_item(const mesher_spec *spec, int i, const char **key, const char **value) {
  if (i >= spec->n) return false;
  *key = spec->item[i].key;
  *value = spec->item[i].value;
  return true;
}

int mesher_spec_count(const mesher_spec *spec, const char *key) {
  const char *text = mesher_spec_text(spec, key);
  if (!text || !*text) return 0;
  int n = 1;
  for (; *text; text++) n += *text == ',';
  return n;
}

pcsim_status mesher_spec_numbers(const mesher_spec *spec, const char *key, int n, double *values) {
  const char *text = mesher_spec_text(spec, key);
  PCSIM_CHECK(text, PCSIM_ERR_CASE, "mesh: '%s' is missing", key);
  const char *p = text;
  for (int i = 0; i < n; i++) {
    char *end;
    values[i] = strtod(p, &end);
    PCSIM_CHECK(end != p && *end == (i + 1 < n ? ',' : 0) && isfinite(values[i]), PCSIM_ERR_CASE,
                "mesh: %s is '%s', expected %d finite number%s", key, text, n,
                n > 1 ? "s separated by commas" : "");
    p = end + 1;
  }
  return PCSIM_OK;
}

pcsim_status mesher_spec_number(const mesher_spec *spec, const char *key, double *value) {
  return mesher_spec_numbers(spec, key, 1, value);
}

pcsim_status mesher_spec_positive(const mesher_spec *spec, const char *key, double *value) {
  PCSIM_TRY(mesher_spec_number(spec, key, value));
  PCSIM_CHECK(*value > 0, PCSIM_ERR_CASE, "mesh: %s is %g, it must be greater than 0", key, *value);
  return PCSIM_OK;
}
