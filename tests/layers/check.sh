#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Rejects an include against the layer order: check.sh [ROOT]. One line a fault, exit 1 when there are any.
set -eu
root=${1:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}

# What each module may include of include/pcsim/ (its own header among them).
declare -A may=(
  [base]="base"
  [autodiff]="base autodiff"
  [mesh]="base dual mesh"
  [physics]="base dual autodiff mesh physics"
  [solver]="base dual autodiff mesh physics solver"
  [pinn]="base autodiff mesh physics pinn"
  [postproc]="base autodiff mesh physics postproc"
)
# Libraries, each allowed only in the modules that own it.
declare -A owner=([petsc]="solver cli tests" [hdf5]="postproc autodiff" [H5]="postproc autodiff" [yaml]="base" [gmshc]="mesh" [zlib]="postproc")

faults=0
fault() { printf '%s\n' "$*"; faults=$((faults + 1)); }

check_file() { # module file
  local module=$1 file=$2 line name text
  while IFS=: read -r line text; do
    name=$(sed -E 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]([^>"]+)[>"].*/\1/' <<<"$text")
    case "$name" in
    pcsim/*.h)
      local other=${name#pcsim/}
      other=${other%.h}
      [[ " ${may[$module]} " == *" $other "* ]] ||
        fault "$file:$line: $module may not include $name (allowed: ${may[$module]})"
      ;;
    pcsim.h) fault "$file:$line: pcsim.h is for hosts; a module includes pcsim/<module>.h" ;;
    */*)
      local first=${name%%/*}
      if [[ -n "${may[$first]:-}" && "$first" != "$module" ]]; then
        fault "$file:$line: private header of $first in $module"
      fi
      ;;
    *) ;;
    esac
    local library
    for library in "${!owner[@]}"; do
      if [[ "$name" == "$library"*.h && " ${owner[$library]} " != *" $module "* ]]; then
        fault "$file:$line: $name belongs to ${owner[$library]}"
      fi
    done
  done < <(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' "$file" || true)
}

for module in "${!may[@]}"; do
  [ -d "$root/$module" ] || continue
  while IFS= read -r file; do check_file "$module" "$file"; done \
    < <(find "$root/$module" -name '*.c' -o -name '*.h' -o -name '*.cu' | sort)
  [ -f "$root/include/pcsim/$module.h" ] && check_file "$module" "$root/include/pcsim/$module.h"
done
# The command line sees the public headers only.
while IFS=: read -r file line text; do
  fault "$file:$line: cli may include only public headers: $text"
done < <(grep -nE '#[[:space:]]*include[[:space:]]*"[a-z]+/' "$root"/cli/*.[ch] 2>/dev/null || true)
# The library never prints or exits; that is the command line's part (the mesher is a program of its own).
while IFS=: read -r file line text; do
  fault "$file:$line: the library does not print or exit: ${text#"${text%%[![:space:]]*}"}"
done < <(grep -nE '(^|[^_[:alnum:]])(printf|puts|putchar|exit|abort|perror)[[:space:]]*\(' -r --include='*.c' \
  "$root/base" "$root/autodiff" "$root/mesh" "$root/physics" "$root/solver" "$root/pinn" "$root/postproc" 2>/dev/null | grep -v '/mesher/' |
  grep -vE ':[[:space:]]*(\*|//|/\*)' || true)

if [ "$faults" -gt 0 ]; then exit 1; fi
