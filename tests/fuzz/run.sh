#!/bin/sh
# Builds the fuzz targets and runs each for SECONDS (30 unless told); fails on a finding.
set -eu
seconds=${1:-30}
jobs=${JOBS:-2}
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
ninja -C "$build" -j "$jobs" $(printf 'fuzz_%s ' $targets) make_seeds

seeds=$build/seeds
mkdir -p "$seeds/recognition"
for target in pt2 trace execution; do
  mkdir -p "$seeds/$target"
  cp "tests/fuzz/${target}_seeds/"* "$seeds/$target"
done
cp tests/fuzz/pt2_seeds/* tests/fuzz/recognition_seeds/* "$seeds/recognition"
find tests/cases -name '*.case' -exec "$build/tests/fuzz/make_seeds" "$seeds" {} +

cd "$build"
mkdir -p findings
# Inputs are large, since what costs too much shows only then; memory is short, so that it shows.
# Freed memory that the sanitizer keeps back would count against the limits.
export ASAN_OPTIONS="${ASAN_OPTIONS:-quarantine_size_mb=32}"
fuzz() {
  mkdir -p "corpus/$1" "findings/$1"
  echo "fuzz_$1: $seconds s"
  dictionary=
  if [ "$1" = text ]; then dictionary=-dict=$root/tests/fuzz/text.dict; fi
  "tests/fuzz/fuzz_$1" -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=512 -malloc_limit_mb=128 \
    -timeout=5 -artifact_prefix="findings/$1/" -print_final_stats=1 -print_funcs=0 -verbosity=0 \
    ${dictionary:+"$dictionary"} "corpus/$1" "$seeds/$1"
}

# As many at once as there are processors; what each says comes when the one before has ended.
failed=0
end_first() {
  wait "$2" || failed=1
  cat "findings/$1.log"
}
set --
for target in $targets; do
  fuzz "$target" > "findings/$target.log" 2>&1 &
  set -- "$@" "$target" "$!"
  if [ $# -ge $((2 * jobs)) ]; then
    end_first "$1" "$2"
    shift 2
  fi
done
while [ $# -gt 0 ]; do
  end_first "$1" "$2"
  shift 2
done
exit "$failed"
