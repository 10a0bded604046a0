#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/fuzz/run.sh [runs] [target...]: feed changed inputs to the parsers and loaders under the address and
# undefined-behaviour sanitizers. `runs` each (default 500000); targets: case, expr, lower, program, equations,
# domain (default: all).
# Ends with 1 on a crash, a hang (10 s) or a leak; the input that did it stays in the folder that is named.
# SEED=n repeats a run; CC=clang-16 takes another clang; FUZZ_DIR keeps build and corpus between runs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
runs=${1:-500000}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- case expr lower program equations domain
dir=${FUZZ_DIR:-$(mktemp -d)}
cc=${CC:-clang}
command -v "$cc" >/dev/null || { echo "fuzz: needs clang with libFuzzer (Debian: clang libclang-rt-14-dev)" >&2; exit 77; }
mkdir -p "$dir/run"
# What `extends` can find.
printf 'parameters: {H: 0.41}\nmesh: {size: 1, near: {a: 2}}\n' > "$dir/run/base.yaml"
printf 'extends: base.yaml\na: 1\n' > "$dir/run/fuzz.yaml"

failed=0
for target in "$@"; do
  sources="" flags="" libraries=""
  case $target in
  lower | program)
    # The graph and what reads and writes it; the executors take no part in this.
    sources=$(ls "$root"/autodiff/*.c | grep -v /exec_)
    flags="-I$root $(pkg-config --cflags hdf5-openmpi)"
    libraries=$(pkg-config --libs hdf5-openmpi)
    ;;
  equations)
    # Up to the program: nothing of meshes and executors is called.
    sources="$(ls "$root"/autodiff/*.c | grep -v /exec_) $(ls "$root"/physics/typed_*.c | grep -vE 'conditions|sources')"
    flags="-I$root $(pkg-config --cflags hdf5-openmpi)"
    libraries=$(pkg-config --libs hdf5-openmpi)
    ;;
  domain)
    # Reading, points, distances: no mesher, no executors.
    sources="$(ls "$root"/autodiff/*.c | grep -v /exec_) $(ls "$root"/pinn/domain*.c | grep -vE 'msh|meet')
      $root/pinn/shape.c $root/pinn/sequence.c $root/pinn/stl.c $(ls "$root"/pinn/surface*.c)
      $root/mesh/spec.c $root/mesh/shapes.c"
    flags="-I$root $(pkg-config --cflags hdf5-openmpi)"
    libraries=$(pkg-config --libs hdf5-openmpi)
    ;;
  esac
  # Tracing comparisons costs half of the speed and finds little here: words come from the dictionary.
  "$cc" -std=c17 -g -O2 -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
    -fno-sanitize-coverage=trace-cmp \
    -I"$root/include" $flags $(mpicc --showme:compile) $(pkg-config --cflags yaml-0.1) \
    "$root"/base/*.c $sources "$here/fuzz_$target.c" -o "$dir/fuzz_$target" \
    $(mpicc --showme:link) $(pkg-config --libs yaml-0.1) $libraries -lpthread -lm
  mkdir -p "$dir/corpus_$target"
  # A run of its own begins with fresh seeds; what it finds is added to the corpus.
  if (cd "$dir/run" && ASAN_OPTIONS="malloc_context_size=4:quarantine_size_mb=32:${ASAN_OPTIONS:-}" "$dir/fuzz_$target" -runs="$runs" -seed="${SEED:-0}" -timeout=10 -rss_limit_mb=2048 -max_len=4096 \
      -dict="$here/$target.dict" -artifact_prefix="$dir/found_$target-" -print_final_stats=1 -verbosity=1 \
      "$dir/corpus_$target" "$here/seeds/$target") > "$dir/log_$target" 2>&1; then
    grep -E 'number_of_executed_units|average_exec' "$dir/log_$target" | sed "s/^/fuzz $target: /"
  else
    tail -n 60 "$dir/log_$target"
    echo "fuzz $target: failed; see $dir/log_$target and $dir/found_$target-*" >&2
    failed=1
  fi
done
[ -n "${FUZZ_DIR:-}" ] || [ $failed = 1 ] || rm -rf "$dir"
exit $failed
