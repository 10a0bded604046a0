#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# joined_run.sh PCSIM MPIEXEC: equations that join a flow, from the case to the run folder: the heated cavity on a coarse
# mesh, on two ranks, sampled; heat carried through a channel.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cavity=$here/../../cases/heated-cavity

run "$pcsim" run "$cavity/ra1e4.yaml" --set "mesh.n=[32, 32]" -o "$work/whole"
expect_rc 0 "heated cavity: $out"
for file in fields.hdf surface.hdf speed.png T.png report.html summary.json history.csv checkpoint.h5; do
  [ -s "$work/whole/$file" ] || fault "heated cavity: no $file"
done
[ "$(head -1 "$work/whole/history.csv" | cut -d, -f1-8)" = step,residual,momentum.x,momentum.y,continuity,residual.T,cfl,linear ] ||
  fault "heated cavity: columns of history.csv: $(head -1 "$work/whole/history.csv")"
whole=$work/whole/summary.json
close "$(number "$whole" heat-in)" "-$(number "$whole" nusselt)" 1e-8 "heat in and out"

run "$2" -n 2 "$pcsim" run "$cavity/ra1e4.yaml" --set "mesh.n=[32, 32]" -o "$work/two"
expect_rc 0 "two ranks"
for q in nusselt up.max across.max; do
  close "$(number "$work/two/summary.json" $q)" "$(number "$whole" $q)" 1e-8 "two ranks, $q"
done

run "$pcsim" run "$cavity/ra1e4.yaml" --set "mesh.n=[32, 32]" --steps 3 -o "$work/steps"
expect_rc 3 "limit of steps"

run "$pcsim" explain "$cavity/ra1e4.yaml"
expect_rc 0 "explain: $err"
expect_out "under div:  T*vector(u, v) - grad(T)" "explain: flux"
expect_out "boundary y*: T flux" "explain: condition"
expect_out 'output "force"' "explain: force"

printf 'x,y\n0.5,0.5\n' >"$work/points.csv"
run "$pcsim" sample "$work/whole" --at "$work/points.csv"
expect_rc 0 "sample"
expect_out ",T" "sample"

# A channel whose walls heat what flows in: all heat leaves through the outlet.
cat >"$work/channel.yaml" <<'CASE'
pcsim: 1
mesh: {shape: box, high: [4, 1], n: [32, 12]}
physics:
  model: navier-stokes
  density: 1
  viscosity: 0.05
  unknowns: [T]
  equations: ["div(T*vector(u, v) - 0.02*grad(T))"]
boundaries:
  x-min: {velocity: ["6*y*(1 - y)", 0], T: 0}
  x-max: {pressure: 0, free: true}
  "y*":  {wall: no-slip, flux: {T: -0.1}}
monitors:
  walls: {kind: flux, of: T, on: "y*"}
  ends:  {kind: flux, of: T, on: "x*"}
  flow:  {kind: flow-rate, on: x-max}
  mixed: {kind: mean, of: "T*u", on: x-max}
CASE
run "$pcsim" run "$work/channel.yaml" -o "$work/channel"
expect_rc 0 "channel: $err"
close "$(number "$work/channel/summary.json" walls)" -0.8 1e-9 "heat through the walls"
close "$(number "$work/channel/summary.json" ends)" 0.8 1e-8 "heat through the ends"
close "$(number "$work/channel/summary.json" flow)" 1 1e-9 "volume flow"

# A start from that run, through time from it, and gradients of a number of either part.
run "$pcsim" run "$work/channel.yaml" --set "initial={run: $work/channel}" --set "mesh.n=[16, 6]" \
  --set "parameters={k: 1}" --set "solve.gradient=[walls, mixed-flow]" \
  --set "monitors.mixed-flow={kind: integral, of: \"k*T*u\"}" -o "$work/again"
expect_rc 0 "channel from a run: $err"
expect_out "start: u, v, w, p, T of $work/channel" "channel from a run"
close "$(number "$work/again/summary.json" gradient.walls.k)" 0 1e-12 "heat through the walls does not depend on k"
close "$(number "$work/again/summary.json" gradient.mixed-flow.k)" "$(number "$work/again/summary.json" mixed-flow)" \
  1e-9 "an integral and its derivative by its own factor"
run "$pcsim" run "$work/channel.yaml" --set "initial={run: $work/channel}" --set "solve.time={end: 0.02}" -o "$work/time"
expect_rc 0 "channel through time: $err"
close "$(number "$work/time/summary.json" flow)" 1 1e-6 "volume flow through time"
finish
