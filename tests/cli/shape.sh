#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# shape.sh PCSIM MPIEXEC: boundaries that parameters move: derivatives against central differences of whole runs on the moved
# mesh, on 1 and 2 ranks; past runs, estimates and meshes of such cases.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# go FOLDER ARGS...: the case $case
go() {
  run "$pcsim" run "$case" -o "$work/$1" --force --set output.pictures=false --set solve.tolerance=1e-13 "${@:2}"
  expect_rc 0 "$1: $out"
}
# differences BASE PARAMETER VALUE STEP QUANTITY...: of the runs beside the one in BASE
differences() {
  local base=$1 parameter=$2 value=$3 step=$4 q d side
  for side in 1 -1; do
    go "$base-$side" --set "solve.gradient=[]" --set "parameters.$parameter=$(awk "BEGIN { printf \"%.12g\", $value + $side * $step }")"
  done
  for q in "${@:5}"; do
    d=$(awk -v a="$(number "$work/$base-1/summary.json" "$q")" -v b="$(number "$work/$base--1/summary.json" "$q")" -v h="$step" \
      'BEGIN { printf "%.12g", (a - b) / (2 * h) }')
    close "$(number "$work/$base/summary.json" "gradient.$q.$parameter")" "$d" 1e-6 "$base: gradient of $q by $parameter"
  done
}

# A flow on mixed cells; the distance of the plates goes into the inflow, too.
sed -e '/^reference:/,$d' -e 's/^  n: .*/  n: [20, 10]/' -e 's/^  cells: .*/  cells: mixed/' \
  "$here/../../cases/shape/plates.yaml" >"$work/plates.yaml"
case=$work/plates.yaml
go plates --set "solve.estimate=plate.force.x"
differences plates H 1.2 1e-4 plate.force.x flow
run "$2" -n 2 "$pcsim" run "$case" -o "$work/plates-2" --set output.pictures=false --set solve.tolerance=1e-13
expect_rc 0 "two ranks: $err"
for q in gradient.plate.force.x.H gradient.flow.H; do
  close "$(number "$work/plates-2/summary.json" $q)" "$(number "$work/plates/summary.json" $q)" 1e-8 "two ranks, $q"
done
run "$pcsim" report "$work/plates"
expect_rc 0 "report"
grep -q "gradient.flow.H" "$work/plates/report.html" || fault "no gradient in the report made again"
echo "2, 1.15" >"$work/points.csv" # above the mesh as it was made
run "$pcsim" sample "$work/plates" --at "$work/points.csv"
expect_rc 0 "sample: $err"
close "$(sed -n 2p "$work/out" | cut -d, -f3)" 0.1597 0.02 "sampled velocity near the plate that moved"

# Drag of a cylinder whose radius and place are parameters, on triangles; the radius through another parameter.
cat >"$work/cylinder.yaml" <<'TEXT'
pcsim: 1
parameters: {R: 0.05, grow: "R/0.05 - 1", dy: 0.01}
mesh:
  shape: channel-cylinder
  size: 0.09
  near: {cylinder: {size: 0.02}}
  move: {"cyl*": ["grow*(x - 0.2)", "dy + grow*(y - 0.2)"]}
physics: {model: navier-stokes, density: 1, viscosity: "1e-2*(1 + x^2)*(1 + 0.01*shear)"}
boundaries:
  inlet: {velocity: ["1.2*y*(0.41 - y)/0.41^2", 0]}
  outlet: {pressure: 0}
  "*": {wall: no-slip}
solve: {gradient: [body.force.x, body.force.y, size]}
monitors:
  body: {kind: forces, on: cylinder}
  size: {kind: integral, of: "u^2 + p"}
TEXT
case=$work/cylinder.yaml
go cylinder
differences cylinder R 0.05 1e-5 body.force.x body.force.y size
differences cylinder dy 0.01 1e-5 body.force.x body.force.y size

# A typed law in space, on hexahedra that slide along the walls of the duct, and on 2 ranks.
cat >"$work/duct.yaml" <<'TEXT'
pcsim: 1
parameters: {dx: 0.02, grow: 0.2}
mesh:
  shape: channel-cylinder-3d
  size: 0.2
  near: {cylinder: {size: 0.04}}
  nz: 3
  move: {cylinder: ["dx + grow*(x - 0.5)", "grow*(y - 0.2)", 0]}
physics: {unknowns: [T], equations: ["-div((1 + T^2)*grad(T)) - x"]}
boundaries: {cylinder: {T: "1 + x*z"}, inlet: {T: y}, walls: {flux: {T: "0.3*(T - y)"}}, outlet: {T: 0.5}}
solve: {gradient: [out, sum, wall]}
monitors:
  out: {kind: flux, on: cylinder}
  sum: {kind: integral, of: "T*x"}
  wall: {kind: mean, of: T, on: walls}
TEXT
case=$work/duct.yaml
go duct
differences duct dx 0.02 1e-5 out sum wall
differences duct grow 0.2 1e-5 out sum wall
run "$2" -n 2 "$pcsim" run "$case" -o "$work/duct-2" --set output.pictures=false --set solve.tolerance=1e-13
expect_rc 0 "two ranks: $err"
for q in gradient.out.dx gradient.sum.grow gradient.wall.grow; do
  close "$(number "$work/duct-2/summary.json" $q)" "$(number "$work/duct/summary.json" $q)" 1e-8 "two ranks, $q"
done

# The Gmsh file is of the mesh as it was made.
run "$pcsim" mesh "$work/plates.yaml" -o "$work/mesh" --msh "$work/plates.msh"
expect_rc 0 "mesh"
expect_err "holds the mesh before its boundaries are moved" "mesh"
run "$pcsim" list keys
expect_out "boundaries that are moved after meshing" "list keys"
finish
