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
