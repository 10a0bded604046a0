#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# folder.sh PCSIM: the rules of the run folder, and what the environment can do to it.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
case=$here/tiny.yaml
dir=$work/run

run "$pcsim" run "$case" -o "$dir"
expect_rc 0 "first run"
sum=$(cat "$dir"/summary.json "$dir"/history.csv | cksum)
run "$pcsim" run "$case" -o "$dir"
expect_rc 2 "finished folder"
expect_err "--force" "finished folder"
[ "$sum" = "$(cat "$dir"/summary.json "$dir"/history.csv | cksum)" ] || fault "finished folder: touched"
run "$pcsim" run "$case" -o "$dir" --resume
expect_rc 0 "resume of a finished run"
expect_out "nothing to resume" "resume of a finished run"
run "$pcsim" run "$case" -o "$dir" --resume --set physics.viscosity=0.2
expect_rc 2 "resume with another case"
expect_err "not the one that the run" "resume with another case"
run "$pcsim" run "$case" -o "$dir" --force
expect_rc 0 "forced"
run "$pcsim" run "$case" -o "$dir" --force --resume
expect_rc 2 "force and resume"

# Other people's folders.
mkdir "$work/foreign"
echo precious >"$work/foreign/thesis.txt"
run "$pcsim" run "$case" -o "$work/foreign"
expect_rc 2 "foreign folder"
expect_err "thesis.txt" "foreign folder"
[ "$(ls "$work/foreign")" = thesis.txt ] || fault "foreign folder: touched"
run "$pcsim" run "$case" -o "$work/foreign" --force
expect_rc 0 "foreign folder, forced"
[ "$(cat "$work/foreign/thesis.txt")" = precious ] || fault "foreign folder, forced: a file was lost"
mkdir "$work/own"
cp "$case" "$work/own/case.yaml"
run "$pcsim" run "$work/own/case.yaml" -o "$work/own" --force
expect_rc 2 "the user's own case.yaml"
cmp -s "$case" "$work/own/case.yaml" || fault "the user's own case.yaml was overwritten"

# An unfinished run.
rm "$dir/summary.json"
run "$pcsim" run "$case" -o "$dir"
expect_rc 2 "unfinished folder"
expect_err "--resume" "unfinished folder"
run "$pcsim" run "$case" -o "$dir" --resume
expect_rc 0 "resume"
expect_out "goes on from step" "resume"

# Parents of the folder are not made, but for the default runs/.
run "$pcsim" run "$case" -o "$work/nowhere/run"
expect_rc 4 "no parent folder"
expect_err "there is no folder $work/nowhere" "no parent folder"
[ ! -e "$work/nowhere" ] || fault "no parent folder: it was made"
run "$pcsim" mesh "$case" -o "$work/nowhere/mesh"
expect_rc 4 "no parent folder for a mesh"
run "$pcsim" run "$case" -o "$work/late/" --resume
expect_rc 0 "resume of nothing"
expect_out "starts from the beginning" "resume of nothing"

# A table shows what can be shown.
run "$pcsim" report --table "$work/nowhere" "$dir" "$work/absent"
expect_rc 2 "table with bad folders"
expect_out "| run |" "table with bad folders"
expect_err "$work/nowhere" "table with bad folders"
expect_err "$work/absent" "table with bad folders"

# The default folder.
(cd "$work" && run "$pcsim" run "$case" && [ -s runs/tiny/summary.json ]) || fault "no runs/tiny"

# What the environment can do. Permissions do not bind root, so a read-only folder needs a file system that is.
run "$pcsim" run "$case" -o "$case/x"
expect_rc 4 "a file in the way"
expect_err "$case" "a file in the way"
run "$pcsim" run "$case" -o /proc/nowhere/run
expect_rc 4 "a folder that cannot be made"
if [ "$(id -u)" != 0 ]; then
  mkdir "$work/locked"
  chmod a-w "$work/locked"
  run "$pcsim" run "$case" -o "$work/locked/run"
  expect_rc 4 "read-only folder"
elif mkdir "$work/small" && mount -t tmpfs -o size=64k none "$work/small" 2>/dev/null; then
  run "$pcsim" run "$case" -o "$work/small/run"
  expect_rc 4 "full disk"
  expect_err "space" "full disk"
  [ ! -e "$work/small/run/summary.json" ] || fault "full disk: a summary was written"
  mount -o remount,ro "$work/small"
  run "$pcsim" run "$case" -o "$work/small/other"
  expect_rc 4 "read-only folder"
  umount "$work/small"
fi
if [ -w /dev/full ]; then
  rc=0
  "$pcsim" list keys >/dev/full 2>"$work/err" || rc=$?
  err=$(cat "$work/err")
  expect_rc 4 "full standard output"
fi
finish
