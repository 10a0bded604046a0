#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The example in docs/autodiff.md is the one that the tests run.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$here/../../docs/autodiff.md" | diff - "$here/example.c" ||
  { echo "docs/autodiff.md does not show tests/autodiff/example.c as it is"; exit 1; }
