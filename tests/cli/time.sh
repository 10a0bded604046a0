#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# time.sh PCSIM: a run through time: what it writes, the times it meets, statistics, and the same bits after a kill.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
dir=$work/run

run "$pcsim" run "$here/pulse.yaml" -o "$dir"
expect_rc 0 "run"
expect_out "finished" "run"
for file in fields-00000.hdf fields-00001.hdf fields-00002.hdf fields-00003.hdf fields.hdf; do
  [ -s "$dir/$file" ] || fault "no $file in the run folder"
  grep -q "\"$file\"" "$dir/fields.hdf.series" || fault "$file is not in the series"
done
head -n 1 "$dir/history.csv" | grep -q '^step,time,dt,error,linear,rejections,flow,' || fault "columns of history.csv"
# Steps end at the times of output, at the bends of the table and at the end.
for t in 0 0.25 0.3 0.7 0.9 1; do
  cut -d, -f2 "$dir/history.csv" | grep -qx "$t" || fault "no step ends at t = $t"
done
close "$(number "$dir/summary.json" flow)" -0.3333333 1e-6 "flow at the end"
close "$(number "$dir/summary.json" flow.max)" -0.3333333 1e-6 "weakest flow after 0.2"
grep -q '"status": "completed"' "$dir/summary.json" || fault "status in summary.json"
grep -q '"flow.frequency"' "$dir/summary.json" || fault "no frequency in summary.json"
run "$pcsim" report "$dir"
expect_rc 0 "report"
grep -q "Error of the last step" "$dir/report.html" || fault "report: the error of a step is called a residual"

# Killed at random moments, resumed: the same bits.
RANDOM=4712
steps=$(($(wc -l <"$dir/history.csv") - 2))
[ "$steps" -gt 25 ] || fault "only $steps steps: too few for what follows"
for i in 1 2 3; do
  rm -rf "$work/cut"
  "$pcsim" run "$here/pulse.yaml" -o "$work/cut" --set output.checkpoint=1 >"$work/log" 2>&1 &
  pid=$!
  stop=$((11 + RANDOM % (steps - 12)))
  for _ in $(seq 3000); do
    grep -q "^step $stop:" "$work/log" && break
    kill -0 $pid 2>/dev/null || break
    sleep 0.002
  done
  kill -9 $pid 2>/dev/null
  wait $pid 2>/dev/null
  run "$pcsim" run "$here/pulse.yaml" -o "$work/cut" --set output.checkpoint=1 --resume
  expect_rc 0 "resume $i"
  cmp -s "$work/cut/history.csv" "$dir/history.csv" || fault "resume $i (near step $stop): history.csv differs"
  cmp -s "$work/cut/fields.hdf" "$dir/fields.hdf" || fault "resume $i (near step $stop): fields.hdf differs"
done

# A largest step, met to a tenth so that no sliver is left before a stop.
run "$pcsim" run "$here/pulse.yaml" -o "$work/most" --set solve.time.most=0.02
expect_rc 0 "largest step"
tail -n +3 "$work/most/history.csv" | cut -d, -f3 | awk '$1 > 0.0221 { exit 1 }' || fault "a step above the largest"
run "$pcsim" run "$here/pulse.yaml" -o "$work/wrong" --set "solve.time={end: 1, step: 0.1, most: 0.2}"
expect_rc 2 "largest step beside a fixed one"
expect_err '`most` has no meaning beside `step`' "largest step beside a fixed one"

# A step that falls under its limit: exit 3, equation and cell, the last good state kept.
run "$pcsim" run "$here/pulse.yaml" -o "$work/least" --set solve.time.least=0.05
expect_rc 3 "least step"
expect_err "the step fell under its limit of 0.05" "least step"
expect_err " equation " "least step"
expect_err " in cell " "least step"
expect_err "checkpoint.h5" "least step"
[ -s "$work/least/checkpoint.h5" ] || fault "least step: no checkpoint"
run "$pcsim" run "$here/pulse.yaml" -o "$work/short" --steps 5
expect_rc 3 "limit of steps"
expect_err "the limit of 5 steps is reached at t = " "limit of steps"
finish
