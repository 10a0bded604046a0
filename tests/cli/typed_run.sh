#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# typed_run.sh PCSIM MPIEXEC: typed equations from the case to the run folder: steady with a study, through time, resumed,
# on two ranks, sampled, compared, and with faults.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cases=$here/../../cases/transport

# A steady case with a study of meshes.
run "$pcsim" run "$cases/poisson.yaml" --set "mesh.n=[16, 16]" --set study.count=2 --set "reference.order.error.u.range=[1, 3]" -o "$work/poisson"
expect_rc 0 "poisson"
for file in fields.hdf surface.hdf u.png mesh.png report.html summary.json history.csv checkpoint.h5 study-1/summary.json; do
  [ -s "$work/poisson/$file" ] || fault "poisson: no $file"
done
[ "$(head -1 "$work/poisson/history.csv")" = step,residual,residual.u,cfl,linear ] || fault "poisson: columns of history.csv"
grep -q 'u.flux' "$work/poisson/surface.hdf" || fault "poisson: no flux on the boundaries"
# A missed reference, a limit of steps.
run "$pcsim" run "$cases/poisson.yaml" --set "mesh.n=[8, 8]" --set study.count=2 --set reference.u.tolerance=1e-9 -o "$work/missed"
expect_rc 1 "missed reference"
run "$pcsim" run "$cases/heat.yaml" --set "mesh.n=[8, 8]" --set study.count=2 --set solve.steps=1 -o "$work/steps"
expect_rc 3 "limit of steps"

# Through time; the same in two parts and on two ranks.
time=$here/typed.yaml
run "$pcsim" run "$time" -o "$work/whole"
expect_rc 0 "time: $out"
[ -s "$work/whole/fields-00000.hdf" ] || fault "time: no fields at the asked time"
whole=$work/whole/summary.json
"$pcsim" run "$time" --set solve.time.tolerance=1e-6 --set output.checkpoint=10 -o "$work/stopped" >"$work/log" 2>&1 &
pid=$!
for _ in $(seq 1000); do
  grep -q "^step 15:" "$work/log" && break
  sleep 0.01
done
kill -TERM $pid
rc=0
wait $pid || rc=$?
err=$(cat "$work/log")
[ -e "$work/stopped/summary.json" ] || expect_rc 3 "SIGTERM"
run "$pcsim" run "$time" --set solve.time.tolerance=1e-6 --set output.checkpoint=10 -o "$work/stopped" --resume
expect_rc 0 "resume"
expect_out "goes on from step" "resume"
run "$pcsim" run "$time" --set solve.time.tolerance=1e-6 --set output.checkpoint=10 -o "$work/unstopped"
expect_rc 0 "undisturbed"
cmp -s "$work/stopped/history.csv" "$work/unstopped/history.csv" || fault "a resumed run has another history"
run "$2" -n 2 "$pcsim" run "$time" -o "$work/two"
expect_rc 0 "two ranks"
for q in heat low slope out p.T error.T low.max; do
  close "$(number "$work/two/summary.json" $q)" "$(number "$whole" $q)" 1e-5 "two ranks, $q"
done
# Nothing flows through the insulated boundaries.
close "$(number "$whole" around)" "$(number "$whole" out)" 1e-9 "flux through all boundaries"

# A step that falls under its limit: exit 3, equation, cell and where the last good state is.
run "$pcsim" run "$time" --set solve.time.least=0.1 --set solve.time.tolerance=1e-9 --set solve.time.first=0.2 -o "$work/least"
expect_rc 3 "least step"
expect_err "the step fell under its limit of 0.1" "least step"
expect_err "the T equation" "least step"
expect_err " in cell " "least step"
expect_err "checkpoint.h5" "least step"
[ -s "$work/least/checkpoint.h5" ] || fault "least step: no checkpoint"

# The folder afterwards.
printf 'x,y\n0.5,0.25\n' >"$work/points.csv"
run "$pcsim" sample "$work/whole" --at "$work/points.csv"
expect_rc 0 "sample"
expect_out "x,y,T" "sample"
close "$(sed -n '2s/.*,//p' "$work/out")" "$(number "$whole" p.T)" 1e-2 "sample against probe"
run "$pcsim" compare "$work/whole" "$time"
expect_rc 0 "compare: $out"
run "$pcsim" report "$work/whole"
expect_rc 0 "report"

# Faults, each at its place.
bad() { # SET TEXT
  run "$pcsim" check "$time" --set "$1"
  expect_rc 2 "$1"
  expect_err "$2" "$1"
}
bad output.fields=velocity "no field 'velocity'; expected T"
bad 'monitors.heat={kind: forces, on: x-min}' "no kind of monitor \`forces\` of typed equations"
bad 'monitors.heat={kind: integral, of: "S + 1"}' "S"
bad 'monitors.heat={kind: integral, of: T, region: iron}' "no region \`iron\`"
bad 'monitors.out={kind: flux, of: S, on: x-min}' "no unknown \`S\`; expected T"
bad 'monitors.p.fields=p' "no field \`p\`; expected T"
bad solve.linear=multigrid "'multigrid' is not a linear solver; expected auto, direct or a mapping"
bad 'reference.S={exact: "x", source: "none"}' "\`S\` is none; expected T"
bad 'solve.rhie-chow=1' "rhie-chow"
bad 'solve.bounds={S: 0}' "\`S\` under \`bounds\` is no unknown"
bad 'solve.bounds={T: [1, 0]}' "the lower bound 1 is not below the upper 0"
bad 'solve.limiter=minmod' "'minmod'"
bad 'solve.reconstruction=quartic' "'quartic'"
bad 'solve.reconstruction=cubic' "\`time\` does not go together with \`reconstruction: cubic\`"
finish
