#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# resume.sh PCSIM TIMES: kill -9 at random moments; --resume ends at the values of a run without accident. Then an
# orderly stop by a signal.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
times=${2:-3}
# Small pseudo-time steps make many steps; a checkpoint after each.
args=("$here/tiny.yaml" --set "mesh.n=[64, 32]" --set solve.cfl=1 --set output.checkpoint=1 --set solve.tolerance=1e-10)

start=$(date +%s%N)
run "$pcsim" run "${args[@]}" -o "$work/whole"
expect_rc 0 "undisturbed run"
span=$((($(date +%s%N) - start) / 1000000))
[ $faults = 0 ] || finish

# Every file of the folder that claims to be whole is.
check_whole() {
  [ ! -e "$work/run/summary.json" ] || grep -q '"status"' "$work/run/summary.json" || fault "cut summary.json"
  [ ! -e "$work/run/case.yaml" ] || "$pcsim" check "$work/run/case.yaml" >/dev/null 2>&1 || fault "cut case.yaml"
}

RANDOM=${3:-4711}
for i in $(seq "$times"); do
  rm -rf "$work/run"
  kills=$((1 + RANDOM % 3))
  for k in $(seq "$kills"); do
    "$pcsim" run "${args[@]}" -o "$work/run" --resume >"$work/log" 2>&1 &
    pid=$!
    ms=$((20 + RANDOM % span))
    sleep "$(awk -v m=$ms 'BEGIN { print m / 1000 }')"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    check_whole
  done
  run "$pcsim" run "${args[@]}" -o "$work/run" --resume
  expect_rc 0 "resume $i after $kills kills"
  case "$out" in *"goes on from step"* | *"nothing to resume"*) ;; *) fault "resume $i does not say from where: $out" ;; esac
  for q in drop wall.force.x wall.force.y; do
    close "$(number "$work/run/summary.json" $q)" "$(number "$work/whole/summary.json" $q)" 1e-9 "resume $i, $q"
  done
  # Every step once. The last may come one earlier or later: a resumed run has a newer preconditioner, whose solves
  # end elsewhere within their tolerance.
  steps=$(tail -n +2 "$work/run/history.csv" | cut -d, -f1)
  whole=$(tail -n 1 "$work/whole/history.csv" | cut -d, -f1)
  last=${steps##*$'\n'}
  [ "$steps" = "$(seq "${steps%%$'\n'*}" "$last")" ] || fault "resume $i: steps of history.csv are not each there once"
  [ "${steps%%$'\n'*}" = "$(sed -n 2p "$work/whole/history.csv" | cut -d, -f1)" ] && [ $((last - whole)) -ge -1 ] &&
    [ $((last - whole)) -le 1 ] || fault "resume $i: ends with step $last, the undisturbed run with $whole"
done

# SIGTERM: the step is finished, a checkpoint is written, the folder waits for --resume.
rm -rf "$work/run"
"$pcsim" run "${args[@]}" -o "$work/run" >"$work/log" 2>&1 &
pid=$!
for _ in $(seq 500); do
  grep -q '^step 1:' "$work/log" && break
  sleep 0.01
done
kill -TERM $pid
rc=0
wait $pid || rc=$?
err=$(cat "$work/log")
[ ! -e "$work/run/summary.json" ] && {
  expect_rc 3 "SIGTERM"
  expect_err "--resume goes on" "SIGTERM"
}
run "$pcsim" run "${args[@]}" -o "$work/run" --resume
expect_rc 0 "resume after SIGTERM"

# A damaged checkpoint is refused, not used.
rm "$work/run/summary.json"
printf 'x' | dd of="$work/run/checkpoint.h5" bs=1 seek=2000 conv=notrunc 2>/dev/null
run "$pcsim" run "${args[@]}" -o "$work/run" --resume
expect_rc 4 "damaged checkpoint"
expect_err "checkpoint.h5" "damaged checkpoint"
expect_err "--force starts again" "damaged checkpoint"
finish
