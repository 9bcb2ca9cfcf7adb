//! Is any policy accepted exactly where the reference model accepts it?

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lifecycle_fuzz::targets::policy(bytes));
