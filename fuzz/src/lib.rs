//! What should the decision answer, if it were written a second time from its specification alone?
//!
//! [`mod@reference`] is that second writing. It trades every elegance for plainness: words, chains of
//! `if`s, wide integers. It shares no code with the implementation it is compared with, so that a
//! misreading has to be made twice to go unnoticed. [`generate`] makes the inputs of the comparison,
//! [`compare`] says where the two differ, [`targets`] are what a fuzzer calls.

pub mod compare;
pub mod generate;
pub mod reference;
pub mod targets;
