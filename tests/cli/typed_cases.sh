#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# typed_cases.sh PCSIM: every case with typed equations in cases/ becomes programs, and its boundaries are complete.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
found=0
for file in "$here"/../../cases/*/*.yaml; do
  grep -q '^pcsim:' "$file" && grep -q 'unknowns:' "$file" || continue
  found=$((found + 1))
  run "$pcsim" explain "$file"
  expect_rc 0 "explain $file: $err"
  expect_out 'output "flux"' "explain $file"
done
[ "$found" -ge 14 ] || fault "only $found cases with typed equations"
finish
