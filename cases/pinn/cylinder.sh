#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# cylinder.sh [PCSIM]: drag of cases/cylinder/family.yaml by the solver at the Reynolds numbers of cylinder.yaml, as lines of its
# `reference:`.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
pcsim=${1:-$here/../../build/release/pcsim}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for re in 12 17 22 27 32 37 42 47 52 57; do
  "$pcsim" run "$here/../cylinder/family.yaml" -o "$work/$re" --set "parameters.Re=$re" --set output.pictures=false >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
  cd=$(grep -o '"forces.cd": [-0-9.e+]*' "$work/$re/summary.json" | cut -d' ' -f2)
  printf '  "forces.cd(Re=%s)": {value: %.5f, tolerance: 1%%, source: "solver, cases/cylinder/family.yaml"}\n' "$re" "$cd"
done
