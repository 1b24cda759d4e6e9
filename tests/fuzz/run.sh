#!/bin/sh
# Builds the fuzz targets and runs each for SECONDS (30 unless told); fails on a finding.
set -eu
seconds=${1:-30}
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${TIDEMARK_FUZZ_BUILD:-$root/build/sanitize}
cd "$root"

if [ ! -f "$build/build.ninja" ]; then
  cmake --preset sanitize -B "$build" > /dev/null
fi
targets="text file recognition"
for target in pt2 trace execution; do
  if ninja -C "$build" -t targets all | grep -q "fuzz_$target:"; then targets="$targets $target"; fi
done
ninja -C "$build" -j "${JOBS:-2}" $(printf 'fuzz_%s ' $targets) make_seeds

seeds=$build/seeds
mkdir -p "$seeds/recognition"
for target in pt2 trace execution; do
  mkdir -p "$seeds/$target"
  cp "tests/fuzz/${target}_seeds/"* "$seeds/$target"
done
cp tests/fuzz/pt2_seeds/* tests/fuzz/recognition_seeds/* "$seeds/recognition"
find tests/cases -name '*.case' -exec "$build/tests/fuzz/make_seeds" "$seeds" {} +

cd "$build"
# Inputs are large, since what costs too much shows only then; memory is short, so that it shows.
# Freed memory that the sanitizer keeps back would count against the limits.
export ASAN_OPTIONS="${ASAN_OPTIONS:-quarantine_size_mb=32}"
for target in $targets; do
  mkdir -p "corpus/$target" "findings/$target"
  echo "fuzz_$target: $seconds s"
  set -- -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=512 -malloc_limit_mb=128 -timeout=5 \
    -artifact_prefix="findings/$target/" -print_final_stats=1 -print_funcs=0 -verbosity=0
  if [ "$target" = text ]; then
    set -- "$@" -dict="$root/tests/fuzz/text.dict"
  fi
  "tests/fuzz/fuzz_$target" "$@" "corpus/$target" "$seeds/$target"
done
