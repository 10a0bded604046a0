#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# typed_cases.sh PCSIM: every case with typed equations in cases/ becomes programs, and its boundaries are complete;
# those of networks are explained, too, and refused by pcsim mesh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
found=0
for file in "$here"/../../cases/*/*.yaml; do
  grep -q '^pcsim:' "$file" && grep -q 'unknowns:' "$file" || continue
  run "$pcsim" explain "$file"
  if grep -q '^train:' "$file"; then
    expect_rc 0 "explain $file"
    expect_out "equation 1" "explain $file"
    run "$pcsim" mesh "$file" -o "$work/mesh"
    expect_rc 2 "mesh $file"
    expect_err "trains a network" "mesh $file"
    continue
  fi
  found=$((found + 1))
  expect_rc 0 "explain $file: $err"
  expect_out 'output "flux"' "explain $file"
done
[ "$found" -ge 14 ] || fault "only $found cases with typed equations"
finish
