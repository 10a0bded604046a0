#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# bad_input.sh PCSIM: every wrong case of bad/ ends with exit 2 and exactly the messages that its comments expect:
#   # expect LINE:COLUMN TEXT    one line on standard error that begins FILE:LINE:COLUMN: and holds TEXT
#   # expect-text TEXT           one line that holds TEXT (no place in the case)
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

check_file() { # file
  local file=$1 name wanted=0 line place text
  name=$(basename "$file")
  run "$pcsim" run "$file" -o "$work/run"
  [ "$rc" = 2 ] || fault "$name: exit $rc, expected 2: $err"
  while IFS= read -r line; do
    wanted=$((wanted + 1))
    if [[ "$line" == "# expect-text "* ]]; then
      text=${line#\# expect-text }
      grep -qF -- "$text" "$work/err" || fault "$name: no line with '$text' in: $err"
      continue
    fi
    line=${line#\# expect }
    place=${line%% *}
    text=${line#* }
    grep -F -- "$file:$place: " "$work/err" | grep -qF -- "$text" || fault "$name: no '$place: ... $text' in: $err"
  done < <(grep '^# expect' "$file")
  [ "$wanted" -gt 0 ] || fault "$name: says nothing of what it expects"
  [ "$(wc -l <"$work/err")" = "$wanted" ] || fault "$name: expected $wanted lines on standard error, got: $err"
  grep -q "$work/run" "$work/err" && fault "$name: names the run folder: $err"
  rm -rf "$work/run"
}

for file in "$here"/bad/*.yaml; do check_file "$file"; done

# What cannot be a text file of comments.
: >"$work/empty.yaml"
run "$pcsim" run "$work/empty.yaml"
expect_rc 2 "empty file"
expect_err "empty.yaml:1:1: " "empty file"
head -c 4000 "$pcsim" >"$work/binary.yaml"
run "$pcsim" run "$work/binary.yaml"
expect_rc 2 "binary file"
expect_err "binary.yaml:1:" "binary file"
[ "$(wc -l <"$work/err")" = 1 ] || fault "binary file: more than one line: $err"
run "$pcsim" run "$work/absent.yaml"
expect_rc 4 "missing case file"
expect_err "absent.yaml" "missing case file"
run "$pcsim" run "$here"
expect_rc 4 "a folder for a case"

# One place for each message, and the place of the key that asks.
places() { [ "$(grep -o ':[0-9]*:[0-9]*: ' "$work/err" | wc -l)" = 1 ] || fault "$1: one place expected: $err"; }
run "$pcsim" run "$here/tiny.yaml" --set "mesh.n=[100000000, 100000000]" -o "$work/run" --force
expect_rc 2 "huge mesh"
places "huge mesh"
printf 'not a mesh\n' >"$work/nan.msh"
sed "s|^mesh:.*|mesh: {file: $work/nan.msh}|" "$here/tiny.yaml" >"$work/nan.yaml"
run "$pcsim" run "$work/nan.yaml" -o "$work/run" --force
expect_rc 2 "mesh file that is none"
places "mesh file that is none"
expect_err "nan.yaml:5:" "mesh file that is none"

# Options that PETSc refuses.
run "$pcsim" run "$here/tiny.yaml" --set 'solve.linear={petsc: -pc_type bogus}' -o "$work/run" --force
expect_rc 2 "wrong PETSc options"
places "wrong PETSc options"
expect_err "bogus" "wrong PETSc options"
case "$err" in *http* | *.c:*) fault "wrong PETSc options: a place in PETSc: $err" ;; esac

# Keys of later versions are no advice.
sed 's/^monitors:/domains:/' "$here/tiny.yaml" >"$work/domains.yaml"
run "$pcsim" check "$work/domains.yaml"
expect_rc 2 "key of no version"
case "$err" in *network* | *train* | *surrogate*) fault "key of no version: advises what is refused: $err" ;; esac

# Wrong calls.
run "$pcsim" rnu
expect_rc 2 "wrong command"
expect_err "did you mean 'run'" "wrong command"
run "$pcsim" run "$here/tiny.yaml" --froce
expect_rc 2 "wrong option"
expect_err "did you mean '--force'" "wrong option"
run "$pcsim" run
expect_rc 2 "no case"
run "$pcsim" run "$here/tiny.yaml" --steps many
expect_rc 2 "wrong number"
run "$pcsim" run "$here/tiny.yaml" --set physics.viscosty=1 -o "$work/run"
expect_rc 2 "wrong --set"
expect_err "viscosity" "wrong --set"
run "$pcsim" list shaeps
expect_rc 2 "wrong table"
expect_err "did you mean 'shapes'" "wrong table"
run "$pcsim" new chanel
expect_rc 2 "wrong starter"
expect_err "did you mean 'channel'" "wrong starter"
run "$pcsim" explain "u_t + nuu*u" --parameters nu
expect_rc 2 "wrong name in an equation"
expect_err "u_t + nuu*u:1:7: unknown name 'nuu'; did you mean 'nu'?" "wrong name in an equation"
run "$pcsim" explain "u" --unknowns u,u
expect_rc 2 "unknown named twice"
run "$pcsim" explain
expect_rc 2 "nothing to explain"
finish
