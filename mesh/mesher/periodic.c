/* SPDX-License-Identifier: BSD-2-Clause */
/* Which boundaries of a mesh are periodic, from the specification. */
#include "mesher.h"

#include <string.h>

static int find(const char *name, size_t length, int n, const char *const *names) {
  for (int k = 0; k < n; k++)
    if (strlen(names[k]) == length && memcmp(names[k], name, length) == 0) return k;
  return -1;
}

static bool read_pair(const mesher_spec *spec, int n, const char *const *names, int i, int pair[2]) {
  const char *key, *value;
  if (!mesher_spec_item(spec, i, &key, &value) || strcmp(key, "periodic") != 0) return false;
  const char *tab = strchr(value, '\t');
  if (!tab) return false;
  pair[0] = find(value, (size_t)(tab - value), n, names);
  pair[1] = find(tab + 1, strlen(tab + 1), n, names);
  return pair[0] >= 0 && pair[1] >= 0;
}

bool mesher_periodic_next(const mesher_spec *spec, int n, const char *const *names, int *i, int pair[2]) {
  const char *key, *value;
  for (; mesher_spec_item(spec, *i, &key, &value); ++*i) {
    bool new = read_pair(spec, n, names, *i, pair);
    for (int k = 0, old[2]; new &&k < *i; k++)
      if (read_pair(spec, n, names, k, old))
        new = !((old[0] == pair[0] && old[1] == pair[1]) || (old[0] == pair[1] && old[1] == pair[0]));
    if (!new) continue;
    ++*i;
    return true;
  }
  return false;
}

pcsim_status mesher_periodic_set(const mesher_spec *spec, pcsim_raw_mesh *raw) {
  const char *const *names = (const char *const *)raw->patches;
  int pair[2];
  for (int i = 0; mesher_periodic_next(spec, raw->num_patches, names, &i, pair);) {
    int n = raw->num_periodic;
    PCSIM_TRY(pcsim_realloc((size_t)n + 1, 2 * sizeof *raw->periodic, &raw->periodic));
    raw->periodic[2 * n] = pair[0];
    raw->periodic[2 * n + 1] = pair[1];
    raw->num_periodic = n + 1;
  }
  return PCSIM_OK;
}
