#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# good_run.sh PCSIM: a whole run, and every command that works on its folder.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
dir=$work/run

run "$pcsim" run "$here/tiny.yaml" -o "$dir"
expect_rc 0 "run"
expect_out "converged" "run"
expect_out "reference drop" "run"
for file in case.yaml summary.json history.csv fields.hdf fields.hdf.series surface.hdf report.html checkpoint.h5 log.txt \
  mesh.raw speed.png pressure.png mesh.png; do
  [ -s "$dir/$file" ] || fault "no $file in the run folder"
done
ls -A "$dir" | grep -q '\.tmp' && fault "half-written files are left: $(ls -A "$dir")"
grep -q '"status": "converged"' "$dir/summary.json" || fault "summary.json has no status"
drop=$(number "$dir/summary.json" drop)
close "$drop" 2.4 0.03 "pressure difference of Poiseuille flow"
grep -q '<svg\|<img' "$dir/report.html" || fault "report.html has no picture"
grep -qi 'http' "$dir/report.html" && grep -o 'src="http[^"]*' "$dir/report.html" && fault "report.html is not self-contained"

# The completed case runs to the same values.
run "$pcsim" run "$dir/case.yaml" -o "$work/again"
expect_rc 0 "completed case"
close "$(number "$work/again/summary.json" drop)" "$drop" 1e-12 "completed case"

# The same once more gives the same bits.
run "$pcsim" run "$here/tiny.yaml" -o "$work/twice"
cmp -s "$dir/history.csv" "$work/twice/history.csv" || fault "two runs differ in history.csv"
cmp -s "$dir/fields.hdf" "$work/twice/fields.hdf" || fault "two runs differ in fields.hdf"

# Exit codes of results.
run "$pcsim" run "$here/tiny.yaml" -o "$work/missed" --set reference.drop.value=3
expect_rc 1 "missed reference"
expect_out "MISSED" "missed reference"
run "$pcsim" run "$here/tiny.yaml" -o "$work/short" --steps 1
expect_rc 3 "one step"
grep -q '"status": "not-converged"' "$work/short/summary.json" || fault "one step: status in summary.json"
[ -s "$work/short/fields.hdf" ] || fault "one step: no fields kept"

run "$pcsim" run "$here/tiny.yaml" -o "$work/diverged" --set boundaries.x-max.pressure=1e99
expect_rc 3 "divergence"
expect_err "diverged: the " "divergence"
expect_err " in cell " "divergence"
grep -q '"status": "diverged"' "$work/diverged/summary.json" || fault "divergence: status in summary.json"
[ -s "$work/diverged/fields.hdf" ] || fault "divergence: no fields kept"

# A case extended from another folder: its table stands beside it.
mkdir "$work/base" "$work/other"
printf 'y,u\n0.25,0.75\n0.5,1\n' >"$work/base/profile.csv"
cat "$here/tiny.yaml" - >"$work/base/base.yaml" <<'END'
  profile: {table: {file: profile.csv, columns: [y, u]}, tolerance: 5%, source: "parabola"}
END
sed -i 's|^  wall: .*|&\n  profile: {kind: line, fields: u, from: [2, 0], to: [2, 1]}|' "$work/base/base.yaml"
printf 'extends: ../base/base.yaml\ntitle: extended\n' >"$work/other/case.yaml"
run "$pcsim" check "$work/other/case.yaml"
expect_rc 0 "a table beside an extended case: $err"

# check, list, new, mesh, doctor, help.
run "$pcsim" check "$here/tiny.yaml"
expect_rc 0 "check"
expect_out "tolerance: " "check prints defaults"
printf '%s\n' "$out" >"$work/checked.yaml"
run "$pcsim" check "$work/checked.yaml"
expect_rc 0 "check of the completed case"
for table in shapes models conditions monitors solutions functions keys; do
  run "$pcsim" list $table
  expect_rc 0 "list $table"
  [ -n "$out" ] || fault "list $table prints nothing"
done
for kind in channel cavity step box equation network; do
  run "$pcsim" new $kind "$work/$kind.yaml"
  expect_rc 0 "new $kind"
  run "$pcsim" check "$work/$kind.yaml"
  expect_rc 0 "check of new $kind"
done
run "$pcsim" list keys
for key in solve.time: most coarser bounds estimate kind; do
  grep -qE "^ *$key( |\$)" <<<"$out" || fault "list keys: no $key"
done
run "$pcsim" new channel "$work/channel.yaml"
expect_rc 2 "new does not overwrite"
run "$pcsim" mesh "$here/tiny.yaml" -o "$work/mesh" --msh "$work/tiny.msh"
expect_rc 0 "mesh"
expect_out "non-orthogonality" "mesh"
[ -s "$work/mesh/mesh.png" ] && [ -s "$work/tiny.msh" ] || fault "mesh: no picture or no Gmsh file"
[ ! -e "$work/mesh/mesh-zoom.png" ] || fault "mesh: a second picture of a few cells"
run "$pcsim" mesh "$here/tiny.yaml" -o "$work/fine" --set "mesh.n=[600, 150]"
expect_rc 0 "mesh of many cells"
expect_out "mesh-zoom.png (Mesh around its smallest cell)" "mesh of many cells"
[ -s "$work/fine/mesh-zoom.png" ] || fault "mesh of many cells: no second picture"
run "$pcsim" doctor
expect_rc 0 "doctor"
expect_out "PETSc" "doctor"
run "$pcsim" explain "u_t + u*u_x - nu*lap(u)" --parameters nu --coordinates x,t
expect_rc 0 "explain"
expect_out 'input "u_xx" : 1 on points' "explain names the derivatives"
expect_out "a point: 4 operations" "explain counts"
run "$pcsim" explain "u" -- "-dn(u*v)"
expect_rc 0 "explain of two equations"
expect_out 'input "n.x"' "explain of a normal derivative"
cat >"$work/heat.yaml" <<'END'
pcsim: 1
parameters: {k: 2}
mesh: {shape: box, n: [3, 3]}
physics: {unknowns: [T], equations: ["3*dt(T) - div(k*grad(T)) + T^2"]}
boundaries: {x-min: {T: y}, "*": {flux: {T: 5*T}}}
END
run "$pcsim" explain "$work/heat.yaml"
expect_rc 0 "explain of a case"
expect_out "under dt:   3*T" "explain of a case: accumulation"
expect_out "under div:  -k*grad(T)" "explain of a case: flux"
expect_out 'output "flux"' "explain of a case: program"
expect_out "boundary x-min: T value" "explain of a case: condition"
run "$pcsim" check "$work/heat.yaml"
expect_rc 0 "check of typed equations"
run "$pcsim" explain "$here/tiny.yaml"
expect_rc 2 "explain of a case without equations"
run "$pcsim" help
expect_rc 0 "help"
run "$pcsim" version
expect_rc 0 "version"

# A mesh file gives the same flow as the shape it came from.
run "$pcsim" run "$here/tiny.yaml" -o "$work/file" --set "mesh={file: $work/tiny.msh}"
expect_rc 0 "run on the mesh file"
close "$(number "$work/file/summary.json" drop)" "$drop" 1e-6 "run on the mesh file"

# sample, compare, report.
printf 'x,y\n1,0.5\n2,0.25\n9,9\n' >"$work/points.csv"
run "$pcsim" sample "$dir" --at "$work/points.csv" -o "$work/values.csv"
expect_rc 0 "sample"
expect_err "1 of 3 points" "sample"
close "$(sed -n 2p "$work/values.csv" | cut -d, -f3)" 1 0.02 "sampled velocity in the middle"
close "$(sed -n 3p "$work/values.csv" | cut -d, -f3)" 0.75 0.03 "sampled velocity at a quarter"
printf 'x,y\n1,zero\n' >"$work/points.csv"
run "$pcsim" sample "$dir" --at "$work/points.csv"
expect_rc 2 "sample with a wrong table"
expect_err "points.csv:2:3: " "sample with a wrong table"
printf 'reference: {drop: {value: 2.4, tolerance: 3%%, source: theory}}\n' >"$work/ref.yaml"
run "$pcsim" compare "$dir" "$work/ref.yaml"
expect_rc 0 "compare"
expect_out "met" "compare"
printf 'reference: {drop: {value: 3, tolerance: 3%%, source: theory}}\n' >"$work/ref.yaml"
run "$pcsim" compare "$dir" "$work/ref.yaml"
expect_rc 1 "compare with another value"
rm "$dir/report.html"
run "$pcsim" report "$dir"
expect_rc 0 "report"
[ -s "$dir/report.html" ] || fault "report: nothing written"
run "$pcsim" report --table "$dir" "$work/missed"
expect_rc 0 "report --table"
expect_out "**missed**" "report --table"
run "$pcsim" report "$work/mesh"
expect_rc 2 "report of a folder without a run"

# A mesh study.
run "$pcsim" run "$here/tiny.yaml" -o "$work/study" --set "study={count: 3}" --set "mesh.n=[32, 16]" \
  --set "reference.\"order.drop\"={range: [1.5, 3], source: order of the method}"
expect_rc 0 "study"
expect_out "extrapolated" "study"
close "$(number "$work/study/summary.json" 'extrapolated.drop')" 2.4 0.005 "extrapolated pressure difference"
finish
