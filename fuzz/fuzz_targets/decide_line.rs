//! Does any line get the answer of the reference model, or an error line?

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lifecycle_fuzz::targets::decide_line(bytes));
