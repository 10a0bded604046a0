#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Every source file of a module is named in the README of its folder: itself, by a pattern such as `domain_*.c`, or a
# header by the source file of its name.
# Usage: readmes.sh ROOT [FOLDER...]
set -u
root=$1
shift
folders=${*:-base autodiff mesh mesh/mesher physics solver postproc pinn cli}
status=0
for folder in $folders; do
  readme="$root/$folder/README.md"
  [ -f "$readme" ] || { echo "$folder has no README.md"; status=1; continue; }
  mapfile -t patterns < <(grep -o '`[^`]*`' "$readme" | tr -d '`' | tr ' ,' '\n\n')
  for path in "$root/$folder"/*.[ch] "$root/$folder"/*.cu; do
    [ -f "$path" ] || continue
    name=${path##*/}
    named=0
    for pattern in "${patterns[@]}"; do
      # shellcheck disable=SC2254
      case "$name" in $pattern) named=1 ;; esac
      # shellcheck disable=SC2254
      case "${name%.h}.c" in $pattern) named=1 ;; esac
    done
    [ "$named" = 1 ] || { echo "$folder/README.md does not name $name"; status=1; }
  done
done
exit $status
