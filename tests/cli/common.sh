# SPDX-License-Identifier: BSD-2-Clause
# Shared by the tests of the command line. Sourced with the program's path in $1.
set -u
pcsim=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"' EXIT
faults=0

fault() {
  echo "FAULT: $*"
  faults=$((faults + 1))
}
# run COMMAND...: sets rc, out and err.
run() {
  rc=0
  "$@" >"$work/out" 2>"$work/err" || rc=$?
  out=$(cat "$work/out")
  err=$(cat "$work/err")
}
# expect_rc N WHAT
expect_rc() { [ "$rc" = "$1" ] || fault "$2: exit $rc, expected $1: $err"; }
# expect_err TEXT WHAT
expect_err() { case "$err" in *"$1"*) ;; *) fault "$2: '$1' is not in: $err" ;; esac; }
expect_out() { case "$out" in *"$1"*) ;; *) fault "$2: '$1' is not in: $out" ;; esac; }
# number FILE QUANTITY: a value of summary.json
number() { sed -n "s/.*\"quantities\": {.*\"$2\": \([-+0-9.e]*\).*/\1/p" "$1"; }
# close A B RELATIVE WHAT
close() {
  awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; m = b < 0 ? -b : b; exit !(a != "" && b != "" && d <= t * m) }' ||
    fault "$4: $1 and $2 differ by more than $3"
}
finish() {
  [ "$faults" = 0 ] || { echo "$faults faults"; exit 1; }
  exit 0
}
