#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# disk_full.sh PROGRAM [LAUNCHER...]: run PROGRAM on a disk of 1 MB that is mounted for it alone; 77 (skipped)
# where mounting is not allowed.
program=$1
shift
unshare -m true 2>/dev/null || exit 77
folder=$(mktemp -d) || exit 77
unshare -m sh -c '
  folder=$1; shift
  mount -t tmpfs -o size=1m tmpfs "$folder" || exit 77
  "$@" "$folder"
' sh "$folder" "$@" "$program"
result=$?
rmdir "$folder"
exit $result
