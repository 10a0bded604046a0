#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# ranks.sh PCSIM MPIEXEC: 1, 2 and 4 ranks give the same quantities; failures do not hang; another number of ranks resumes.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
mpiexec=$2
args=("$here/tiny.yaml" --set "mesh.n=[32, 16]" --set solve.tolerance=1e-11)

for n in 1 2 4; do
  run timeout 100 "$mpiexec" -n $n "$pcsim" run "${args[@]}" -o "$work/np$n"
  expect_rc 0 "$n ranks"
  [ "$(grep -c '^converged' <<<"$out")" = 1 ] || fault "$n ranks: rank 0 alone prints: $out"
done
for n in 2 4; do
  for q in drop wall.force.x wall.force.y; do
    close "$(number "$work/np$n/summary.json" $q)" "$(number "$work/np1/summary.json" $q)" 1e-8 "$n ranks, $q"
  done
done

# mpiexec gives the ranks a terminal: no progress line all the same.
tr -d '\n' <"$work/out" | grep -q $'[\r\033]' && fault "4 ranks: a progress line in the output"

run timeout 100 "$mpiexec" -n 2 "$pcsim" run "$here/bad/misspelt-boundary.yaml" -o "$work/bad"
expect_rc 2 "bad input on 2 ranks"
[ "$(grep -c 'did you mean' <<<"$err")" = 1 ] || fault "bad input on 2 ranks: one line expected: $err"
run timeout 100 "$mpiexec" -n 2 "$pcsim" run "$here/tiny.yaml" -o /proc/nowhere/run
expect_rc 4 "no folder on 2 ranks"

run timeout 100 "$mpiexec" -n 2 "$pcsim" run "${args[@]}" -o "$work/part" --set solve.cfl=1 --set output.checkpoint=1 --steps 2
expect_rc 3 "two steps on 2 ranks"
run "$pcsim" run "${args[@]}" -o "$work/part" --set solve.cfl=1 --set output.checkpoint=1 --resume
expect_rc 0 "resume on 1 rank"
expect_out "goes on from step 2" "resume on 1 rank"
close "$(number "$work/part/summary.json" drop)" "$(number "$work/np1/summary.json" drop)" 1e-8 "resume on 1 rank"
finish
