#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# sensitivities.sh PCSIM MPIEXEC: gradients and estimated errors of monitors from the case to summary, fields and report.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
case=$here/../../cases/transport/cooled-wall.yaml
none=(--set "solve.gradient=[]" --set "solve.estimate=[]" --set output.pictures=false)

run "$pcsim" run "$case" -o "$work/one"
expect_rc 0 "one rank: $out"
expect_out "estimate: heat 3.0259" "one rank"
for text in indicator.heat indicator.size; do
  grep -q "$text" "$work/one/fields.hdf" || fault "no $text in fields.hdf"
done
grep -q "corrected.size" "$work/one/report.html" || fault "no corrected.size in the report"
one=$work/one/summary.json
[ "$(number "$one" geometry.heat)" = 0 ] || fault "a square has an error of geometry"
run "$2" -n 2 "$pcsim" run "$case" -o "$work/two" --set output.pictures=false
expect_rc 0 "two ranks"
for q in gradient.heat.k0 gradient.out.Tinf gradient.heat.hot corrected.heat corrected.size; do
  close "$(number "$work/two/summary.json" $q)" "$(number "$one" $q)" 1e-8 "two ranks, $q"
done

# Gradients against central differences of whole runs; k0 and Tinf go into later parameters, too.
differences() { # PARAMETER UP DOWN STEP
  for side in "$2" "$3"; do
    # the references lie aside: the case is another one
    run "$pcsim" run "$work/bare.yaml" "${none[@]}" --set solve.tolerance=1e-13 --set "parameters.$1=$side" -o "$work/$1-$side"
    expect_rc 0 "$1 = $side"
  done
  for q in heat out; do
    d=$(awk -v a="$(number "$work/$1-$2/summary.json" $q)" -v b="$(number "$work/$1-$3/summary.json" $q)" -v h="$4" \
      'BEGIN { printf "%.12g", (a - b) / (2 * h) }')
    close "$(number "$one" "gradient.$q.$1")" "$d" 1e-6 "gradient of $q by $1"
  done
}
sed '/^reference:/,$d' "$case" >"$work/bare.yaml"
differences k0 2.0004 1.9996 4e-4
differences h 3.0006 2.9994 6e-4
differences Tinf 0.2001 0.1999 1e-4

# The folder afterwards knows them.
run "$pcsim" report "$work/one"
expect_rc 0 "report"
grep -q "gradient.out.Tinf" "$work/one/report.html" || fault "no gradient in the report made again"
run "$pcsim" compare "$work/one" "$case"
expect_rc 0 "compare: $out"

# What moves the mesh is told apart, at each place.
run "$pcsim" run "$work/bare.yaml" --set parameters.last="0*h" --set "mesh.low=[0, last]" --set output.pictures=false -o "$work/moves"
expect_rc 0 "moves"
expect_err "gradient: none by 'last', which is a size of the mesh, moves a source or the mesh under a line of them, or is part of a reference value" "moves"
expect_err "gradient: none by 'h'" "moves"
bad() { # SET TEXT
  run "$pcsim" check "$work/bare.yaml" --set "$1"
  expect_rc 2 "$1"
  expect_err "$2" "$1"
}
bad solve.estimate=heet "no quantity \`heet\`; expected heat, out, size"
bad 'solve.gradient=[heat, nothing]' "no quantity \`nothing\`"
run "$pcsim" check "$work/bare.yaml" --set 'monitors.heat={kind: max, of: T}' --set solve.estimate=heat --set solve.gradient=heat
expect_rc 2 "estimate of a maximum"
expect_err "no error of \`heat\` can be estimated: those of integral, mean, norm and flux can; here out, size" "estimate of a maximum"
run "$pcsim" check "$here/typed.yaml" --set solve.estimate=heat
expect_rc 2 "through time"
expect_err "\`estimate\` is of steady solutions" "through time"
run "$pcsim" check "$here/tiny.yaml" --set solve.estimate=drop
expect_rc 2 "flow"
expect_err "no error of \`drop\` can be estimated: those of whole forces, flow rates, integrals and means over cells can; here wall.force.x, wall.force.y" "flow"

# A flow: gradients of a force by the speed at the inlet and the height that goes into it, its error.
run "$pcsim" run "$here/tiny.yaml" --set solve.tolerance=1e-13 --set solve.gradient=wall.force.x \
  --set solve.estimate=wall.force.x -o "$work/flow"
expect_rc 0 "flow"
grep -q indicator.wall.force.x "$work/flow/fields.hdf" || fault "flow: no indicator"
for q in estimate corrected geometry; do
  grep -q "\"$q.wall.force.x\": \"N/m\"" "$work/flow/summary.json" || fault "flow: no unit of $q.wall.force.x"
done
# The same with a viscosity of place and a force of place.
run "$pcsim" run "$here/tiny.yaml" --set 'physics.viscosity="0.1*(1 + x*shear)"' --set 'physics.force=["0.2*y", "-x"]' \
  --set solve.gradient=wall.force.x --set solve.estimate=wall.force.x --set reference.drop.value=15.41 -o "$work/varies"
expect_rc 0 "a viscosity that varies"
awk -v e="$(number "$work/varies/summary.json" estimate.wall.force.x)" 'BEGIN { exit !(e < -1e-4 || e > 1e-4) }' ||
  fault "a viscosity that varies: no estimate"
for side in 1.0001 0.9999; do
  run "$pcsim" run "$here/tiny.yaml" --set solve.tolerance=1e-13 --set "parameters.U=$side" --set output.pictures=false -o "$work/U-$side"
done
d=$(awk -v a="$(number "$work/U-1.0001/summary.json" wall.force.x)" -v b="$(number "$work/U-0.9999/summary.json" wall.force.x)" \
  'BEGIN { printf "%.12g", (a - b) / 2e-4 }')
close "$(number "$work/flow/summary.json" gradient.wall.force.x.U)" "$d" 1e-6 "gradient of a force"
finish
