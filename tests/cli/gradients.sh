#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# gradients.sh PCSIM MPIEXEC: gradients of every kind of number that a monitor has against central differences of whole
# runs: of a flow with a bubble at its wall, of typed equations, of equations that join a flow; on two ranks.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
bare=(--set output.pictures=false --set "solve.gradient=[]")

# check CASE BOUND "QUANTITIES" PARAMETER VALUE ...: each value is that of the case, differences are a ten-thousandth of it
check() {
  local file=$1 name bound=$2 quantities=$3 q d value parameter up down
  name=$(basename "$file" .yaml)
  shift 3
  run "$pcsim" run "$file" --set output.pictures=false -o "$work/$name"
  expect_rc 0 "$name: $err"
  run "$mpiexec" -n 2 "$pcsim" run "$file" --set output.pictures=false -o "$work/$name-two"
  expect_rc 0 "$name on two ranks: $err"
  while [ $# -gt 1 ]; do
    parameter=$1 value=$2
    up=$(awk -v v="$value" 'BEGIN { printf "%.17g", v * 1.0001 }') down=$(awk -v v="$value" 'BEGIN { printf "%.17g", v * 0.9999 }')
    shift 2
    for side in "$up" "$down"; do
      run "$pcsim" run "$file" "${bare[@]}" --set "parameters.$parameter=$side" -o "$work/$name-$parameter-$side"
      expect_rc 0 "$name, $parameter = $side: $err"
    done
    for q in $quantities; do
      d=$(awk -v a="$(number "$work/$name-$parameter-$up/summary.json" "$q")" \
        -v b="$(number "$work/$name-$parameter-$down/summary.json" "$q")" -v v="$value" \
        'BEGIN { printf "%.12g", (a - b) / (2e-4 * v) }')
      close "$(number "$work/$name/summary.json" "gradient.$q.$parameter")" "$d" "$bound" "$name: $q by $parameter"
      close "$(number "$work/$name-two/summary.json" "gradient.$q.$parameter")" "$d" "$bound" \
        "$name on two ranks: $q by $parameter"
    done
  done
}
mpiexec=$2

flow="drop point.u many.2.p crest.max crest.max.at crest.min low high size ring edge wall.cm wall.pressure.y wall.friction.x \
wall.moment drag.mean drag.max bubble.separation bubble.reattachment bubble.length"
cat >"$work/flow.yaml" <<CASE
pcsim: 1
parameters: {U: 1, mu: 0.01, k: 2}
mesh: {shape: box, high: [6, 1], n: [36, 12], cells: mixed, distort: 0.1, seed: 1}
physics: {model: navier-stokes, density: "1 + U/4", viscosity: "mu*k"}
boundaries:
  x-min: {velocity: ["where(y < 0.5, 16*U*y*(0.5 - y), 0)", 0]}
  x-max: {pressure: 0}
  "y-*": {wall: no-slip}
solve: {tolerance: 1e-13, gradient: [$(echo "$flow" | sed 's/ /, /g')]}
monitors:
  drop:   {kind: pressure-difference, points: [[0.55, 0.45], [3.5, 0.52]]}
  point:  {kind: probe, points: [2.21, 0.03], fields: [u]}
  many:   {kind: probe, points: [[1, 0.5], [3.03, 0.997]]}
  crest:  {kind: extremum, of: "k*u*u + p*x", along: {from: [1.53, 0.02], to: [1.53, 0.98]}}
  low:    {kind: min, of: "u + 0.1*v*k"}
  high:   {kind: max, of: "p + u_y", on: y-max}
  size:   {kind: norm, of: "u_x + k*v"}
  ring:   {kind: integral, of: "p*u_y*k", on: y-min}
  edge:   {kind: mean, of: "u^2", on: x-max}
  wall:   {kind: forces, on: y-min, density: 1, velocity: 2, area: 3, centre: [0.3, 0.4], length: 2}
  drag:   {kind: wall-shear, on: y-min}
  bubble: {kind: reattachment, on: y-max}
CASE
check "$work/flow.yaml" 2e-6 "$flow" U 1 mu 0.01 k 2

laws="point.T point.S crest.max crest.min.at low high on"
cat >"$work/laws.yaml" <<CASE
pcsim: 1
parameters: {a: 2, h: 3}
mesh: {shape: box, n: [10, 9], cells: triangles}
physics:
  unknowns: [T, S]
  equations: ["-div((a + T^2)*grad(T)) - 4*exp(-x)*S", "-lap(S) + S - T"]
boundaries:
  x-min: {T: "1 + y^2/4", S: a}
  x-max: {flux: {T: "h*(T - 0.2)", S: 0}}
  "*": {symmetry: true}
solve: {tolerance: 1e-13, gradient: [$(echo "$laws" | sed 's/ /, /g')]}
monitors:
  point: {kind: probe, points: [0.97, 0.03]}
  crest: {kind: extremum, of: "T*S*a*(x - 0.3)^2", along: {from: [0.02, 0.52], to: [0.98, 0.47]}}
  low:   {kind: min, of: "T*h - S"}
  high:  {kind: max, of: "T_x*a"}
  on:    {kind: max, of: "S - a*T", on: x-max}
CASE
check "$work/laws.yaml" 2e-6 "$laws" a 2 h 3
sed 's/solve: {/solve: {reconstruction: cubic, /' "$work/laws.yaml" >"$work/cubic.yaml"
check "$work/cubic.yaml" 2e-6 "$laws" a 2

joined="point.T point.p high crest.max low"
cat >"$work/joined.yaml" <<CASE
pcsim: 1
parameters: {q: 0.1, mu: 0.05}
mesh: {shape: box, high: [4, 1], n: [24, 10]}
physics:
  model: navier-stokes
  density: 1
  viscosity: "mu*exp(-T/4)"
  force: [0, "T/10"]
  unknowns: [T]
  equations: ["div(T*vector(u, v) - 0.1*grad(T))"]
boundaries:
  x-min: {velocity: ["6*y*(1 - y)", 0], T: 0}
  x-max: {pressure: 0, free: true}
  "y*":  {wall: no-slip, flux: {T: "-q"}}
solve: {tolerance: 1e-13, gradient: [$(echo "$joined" | sed 's/ /, /g')]}
monitors:
  point: {kind: probe, points: [2.03, 0.03], fields: [T, p]}
  high:  {kind: max, of: "T*q + u", on: x-max}
  crest: {kind: extremum, of: "u*T - p", along: {from: [3, 0.01], to: [3, 0.99]}}
  low:   {kind: min, of: "p + T_x"}
CASE
check "$work/joined.yaml" 2e-6 "$joined" q 0.1 mu 0.05

# What moves the mesh or the place of a monitor is told apart.
run "$pcsim" run "$work/laws.yaml" --set "parameters={a: 2, h: 3, s: 0, at: 0.5}" --set "mesh.move={x-max: [s*y*(1 - y), 0]}" \
  --set "monitors.point.points=[at, 0.5]" --set output.pictures=false -o "$work/moved"
expect_rc 0 "moved: $err"
expect_err "gradient: none of high by 's', which moves the mesh under what it looks at" "moved"
expect_err "gradient: none by 'at'" "moved"
[ -n "$(number "$work/moved/summary.json" gradient.high.a)" ] || fault "moved: no gradient by a"
finish
