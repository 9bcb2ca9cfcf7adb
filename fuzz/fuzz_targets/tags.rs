//! Does every number and word that is read write the same again?

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lifecycle_fuzz::targets::tags(bytes));
