#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# start.sh PCSIM: a solve that starts from another run or from coarser meshes ends where it ends without, sooner; a run
# through time goes on from a run; what cannot be started from is named.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
flow() { run "$pcsim" run "$here/tiny.yaml" --set output.pictures=false "$@"; }
typed() { run "$pcsim" run "$here/typed.yaml" --set output.pictures=false "$@"; }
steps() { sed -n 's/.* after \([0-9]*\) steps.*/\1/p' "$work/out" | tail -n 1; }

flow -o "$work/first"
expect_rc 0 "first run"
first=$(steps)
flow -o "$work/same" --set "initial.run=$work/first"
expect_rc 0 "start from a run on the same mesh"
expect_out "start: u, v, w, p of $work/first, 288 cells" "start from a run"
[ "$(steps)" -lt "$first" ] || fault "start from the solution takes $(steps) steps, the first run $first"
flow -o "$work/other" --set "initial.run=$work/first" --set "mesh.n=[32, 16]" --set mesh.cells=triangles
expect_rc 0 "start from a run on another mesh"
flow -o "$work/direct" --set "mesh.n=[32, 16]" --set mesh.cells=triangles
flow -o "$work/coarser" --set initial.coarser=2 --set "mesh.n=[32, 16]" --set mesh.cells=triangles
expect_rc 0 "coarser meshes first"
expect_out "start: mesh 2 of 2, sizes times 2" "coarser meshes first"
for q in drop wall.force.x; do
  for other in other coarser; do
    close "$(number "$work/$other/summary.json" $q)" "$(number "$work/direct/summary.json" $q)" 1e-6 "$other, $q"
  done
done
# Started again without them, none of theirs is left.
cp -r "$work/coarser" "$work/again"
flow -o "$work/again" --force
expect_rc 0 "forced after coarser meshes"
[ ! -e "$work/again/start-1" ] && [ ! -e "$work/again/start-2" ] || fault "forced: folders of coarser meshes are left"
# The run's folder is the start of nothing but itself: it opens again, and a killed run goes on.
run "$pcsim" report "$work/other"
expect_rc 0 "report of a run that started from another"
flow -o "$work/stopped" --set initial.coarser=1 --steps 1
expect_rc 3 "stopped after a step"
rm "$work/stopped/summary.json"
flow -o "$work/stopped" --set initial.coarser=1 --resume
expect_rc 0 "resumed behind the coarser mesh"
expect_out "goes on from step 1" "resumed behind the coarser mesh"
case "$out" in *"start: u, v"*) fault "resumed behind the coarser mesh: the start was made again" ;; esac

# Between plates without friction potential flow is the solution.
cat >"$work/slip.yaml" <<EOF
pcsim: 1
mesh: {shape: box, low: [0, 0], high: [4, 1], n: [24, 12]}
physics: {model: navier-stokes, density: 1, viscosity: 0.1}
boundaries: {x-min: {velocity: [1, 0]}, x-max: {pressure: 3}, "y-*": {wall: slip}}
initial: {potential: true}
monitors: {u: {kind: probe, points: [2, 0.5]}}
EOF
run "$pcsim" run "$work/slip.yaml" -o "$work/slip" --set output.pictures=false --steps 0
expect_rc 3 "potential flow, no step"
expect_out "start: potential flow" "potential flow"
close "$(number "$work/slip/summary.json" u.u)" 1 1e-5 "potential flow, u"
close "$(number "$work/slip/summary.json" u.p)" 3 1e-5 "potential flow, p"
run "$pcsim" run "$work/slip.yaml" -o "$work/slip" --force --set output.pictures=false --set mesh.cells=mixed --set mesh.distort=0.2
expect_rc 0 "from potential flow on distorted cells"

# Through time: half of the way, then the other half from the first one's state, on another mesh.
typed -o "$work/half" --set solve.time.end=0.25 --set output.times=[] --set reference={}
expect_rc 0 "half of the time"
typed -o "$work/rest" --set "initial={run: $work/half}" --set solve.time.start=0.25 --set "mesh.n=[20, 20]" \
  --set output.times=[0.5] --set reference={}
expect_rc 0 "the other half"
expect_out "start: T of $work/half" "the other half"
close "$(number "$work/rest/summary.json" p.T)" 1.894860 2e-3 "the other half, p.T"
close "$(number "$work/rest/summary.json" heat)" 1.562732 1e-3 "the other half, heat"

flow -o "$work/bad" --set initial.run="$work/nothing"
expect_rc 2 "start from nothing"
expect_err "no run with a state in" "start from nothing"
flow -o "$work/bad" --set "initial.run=$work/half"
expect_rc 2 "start from a run of other unknowns"
expect_err "none of the unknowns of this case; it has: T" "start from a run of other unknowns"
rm -rf "$work/bad"
flow -o "$work/bad" --set initial.coarser=9
expect_rc 2 "too many meshes"
expect_err "expected 1 to 6 coarser meshes" "too many meshes"
typed -o "$work/bad" --set initial.coarser=1
expect_rc 2 "coarser meshes of a run through time"
expect_err '`coarser` starts a steady solve' "coarser meshes of a run through time"
typed -o "$work/bad" --set "initial={T: 1, potential: true}"
expect_rc 2 "potential flow of typed equations"
expect_err "typed equations have none" "potential flow of typed equations"
[ ! -e "$work/bad" ] || fault "a refused case left a folder"
finish
