#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# installed.sh PCSIM BUILD CC: an installed tree serves a program that knows it by pkg-config alone, also after it moved.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
build=$2
cc=$3

cmake --install "$build" --prefix "$work/first" >"$work/log" 2>&1 || fault "install: $(tail -3 "$work/log")"
mv "$work/first" "$work/moved"
file=$(find "$work/moved" -name pcsim.pc)
[ -n "$file" ] || fault "no pcsim.pc is installed"
! grep -q "$work" "$file" || fault "pcsim.pc names the folder that it was installed to"
export PKG_CONFIG_PATH=${file%/*}
flags=$(pkg-config --cflags --libs pcsim) || fault "pkg-config refuses"
# shellcheck disable=SC2086
run "$cc" -std=c11 -Wall -Wextra -Werror "$here/host.c" -o "$work/host" $flags
expect_rc 0 "link of a host"
export LD_LIBRARY_PATH=${file%/pkgconfig/*}
run "$work/host" "$here/tiny.yaml"
expect_rc 0 "run of a host"
expect_out "viscosity 0.1" "run of a host"
finish
