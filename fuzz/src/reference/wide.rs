//! How is time added and compared without ever overflowing?
//!
//! Every input fits an `i64`, so sums and differences of a few of them are exact in an `i128`.
//! Only a value that is stored or shown is cut back to the `i64` range.

/// Widens an instant or a duration, in milliseconds, or a count.
pub(crate) fn wide(value: i64) -> i128 {
    i128::from(value)
}

/// Cuts a result back to the range of an `i64`: the end of a saturating calculation.
pub(crate) fn narrow(value: i128) -> i64 {
    let inside = value.clamp(wide(i64::MIN), wide(i64::MAX));
    i64::try_from(inside).expect("clamped to the range of an i64")
}

/// Adds two values and stays at the largest `i64` where the sum is beyond it.
pub(crate) fn plus(left: i64, right: i64) -> i64 {
    narrow(wide(left) + wide(right))
}
