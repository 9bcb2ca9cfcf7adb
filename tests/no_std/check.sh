#!/bin/sh
# Does the core link without std, allocator and libc, and is there no way to panic in `decide`?
set -eu
cd "$(dirname "$0")"

target=x86_64-unknown-linux-gnu
out=${CARGO_TARGET_DIR:-../../target}/no-std
fail() { echo "no_std: $1" >&2; exit 1; }

command -v nm >/dev/null || fail "nm is not installed"

RUSTFLAGS="-C link-arg=-nostartfiles -C link-arg=-nostdlib -C link-arg=-static -C relocation-model=static" \
    cargo build --quiet --release --locked --offline --target "$target" --target-dir "$out"
program=$out/$target/release/lifecycle-no-std

symbols=$(nm --demangle "$program")
found() { echo "$symbols" | grep -E "$1" || true; }

# Proof that names are there to be looked at.
[ -n "$(found ' decide$|lifecycle_core::decide')" ] || fail "decide was not linked, or its name was stripped"
allocators=$(found '__rust_alloc|__rustc::__rust|__rdl_|__rg_|alloc::|malloc|(^|[^_])free$')
[ -z "$allocators" ] || fail "an allocator was linked: $allocators"
panics=$(found 'core::panicking|core::result::unwrap_failed|core::option::(unwrap|expect)_failed|slice_.*_fail|rust_begin_unwind|_Unwind')
[ -z "$panics" ] || fail "something can panic: $panics"
undefined=$(nm --undefined-only "$program")
[ -z "$undefined" ] || fail "something is missing: $undefined"

status=0
"$program" || status=$?
[ "$status" -eq 6 ] || fail "decided status $status instead of 6 (destroyed)"
echo "no_std: decide links without std, allocator, libc and panics"
