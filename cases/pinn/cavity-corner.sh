#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# cavity-corner.sh DIR [PCSIM]: rise of the pressure of a run of cavity.yaml in each power of ten of the distance from
# the corners at the lid, along their diagonals, over that of the exact solution near a corner, 2 mu k log r with the
# slope k = 4 of the lid's velocity: 1 is exact.
set -eu
run=$1 pcsim=${2:-pcsim}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk 'BEGIN {
  print "x,y"
  for (c = 0; c < 2; c++)
    for (k = 6; k >= 2; k--) {
      a = 10^-k / sqrt(2)
      printf "%.15g,%.15g\n", c ? 1 - a : a, 1 - a
    }
}' >"$work/at.csv"
"$pcsim" sample "$run" --at "$work/at.csv" -o "$work/values.csv" >/dev/null
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "p") p = i; next }
  { n = (NR - 2) % 5; corner = NR < 7 ? 1 : -1
    if (n == 0) printf "%s", NR < 7 ? "(0, 1):" : "\n(1, 1):"
    else printf " %.4f", corner * ($p - before) / (2 * 0.01 * 4 * log(10))
    before = $p }
  END { print "   from 1e-6 to 1e-2" }' "$work/values.csv"
