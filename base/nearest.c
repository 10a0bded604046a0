/* SPDX-License-Identifier: BSD-2-Clause */
/* "did you mean": the nearest of a set of names. */
#include <ctype.h>
#include <pcsim/base.h>
#include <string.h>

enum { LONGEST = 63 };

static int lower(char c) { return tolower((unsigned char)c); }

static int least(int a, int b) { return a < b ? a : b; }

/** Optimal string alignment distance (insert, delete, replace, swap of neighbours); letter case is free.
 *  Both lengths at most LONGEST. */
static int distance(const char *a, int na, const char *b, int nb) {
  int rows[3][LONGEST + 1];
  int *before = rows[0], *above = rows[1], *row = rows[2];
  for (int j = 0; j <= nb; j++) above[j] = j;
  for (int i = 1; i <= na; i++) {
    row[0] = i;
    for (int j = 1; j <= nb; j++) {
      int d = above[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));
      d = least(d, least(above[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
        d = least(d, before[j - 2] + 1);
      row[j] = d;
    }
    int *spare = before;
    before = above;
    above = row;
    row = spare;
  }
  return above[nb];
}

const char *pcsim_nearest(const char *word, const char *const *names, size_t n) {
  size_t length = strlen(word);
  const char *best = NULL;
  if (length > LONGEST) return NULL;
  int allowed = 1 + (int)length / 3;
  for (size_t k = 0; k < n; k++) {
    size_t other = strlen(names[k]);
    if (other > LONGEST) continue;
    int d = distance(word, (int)length, names[k], (int)other);
    /* A name that shares no letter is no help, however short it is. */
    if (d > 0 && d >= (int)(length > other ? length : other)) continue;
    if (d > allowed) continue;
    best = names[k];
    allowed = d - 1;
  }
  return best;
}
