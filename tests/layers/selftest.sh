#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The layer check turns red for what it must reject.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{base,mesh,postproc,solver,cli,include/pcsim}

expect() { # text that must be reported, file, content
  printf '%s\n' "$3" >"$work/$2"
  local out
  if out=$(bash "$here/check.sh" "$work"); then
    echo "not rejected: $2: $3"
    exit 1
  fi
  case "$out" in *"$1"*) ;; *) echo "expected '$1', got: $out"; exit 1 ;; esac
  rm "$work/$2"
}
expect "base may not include pcsim/mesh.h" base/a.c '#include <pcsim/mesh.h>'
expect "postproc may not include pcsim/solver.h" postproc/a.c '#include "pcsim/solver.h"'
expect "private header of base in mesh" mesh/a.c '#include "base/tree.h"'
expect "petscksp.h belongs to" postproc/a.c '#include <petscksp.h>'
expect "does not print or exit" solver/a.c 'void f(void) { exit(1); }'
expect "cli may include only public headers" cli/a.c '#include "solver/flow.h"'
printf '#include <pcsim/base.h>\n' >"$work/mesh/good.c"
bash "$here/check.sh" "$work" || { echo "rejected a lawful include"; exit 1; }

# So does the check of the READMEs.
printf '| `a.c`, `b_*.c` |\n' >"$work/base/README.md"
: >"$work/base/a.c"
: >"$work/base/a.h"
: >"$work/base/b_one.c"
bash "$here/readmes.sh" "$work" base || { echo "rejected a README that names all"; exit 1; }
: >"$work/base/other.c"
out=$(bash "$here/readmes.sh" "$work" base) && { echo "not rejected: a README that leaves out other.c"; exit 1; }
[ "$out" = "base/README.md does not name other.c" ] || { echo "unexpected: $out"; exit 1; }
