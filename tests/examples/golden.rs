//! Is what an example prints still what lies beside it?

use std::{env, fs, path::Path};

use similar::TextDiff;

/// Compares a page with the file beside the example; writes the file where `UPDATE_GOLDEN` is set.
pub(crate) fn check(file: &str, page: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples")
        .join(file);
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, page).unwrap();
        return;
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        golden == page,
        "examples/{file} differs from what the example prints; if that is meant, run \
         `UPDATE_GOLDEN=1 cargo test`\n{}",
        TextDiff::from_lines(golden.as_str(), page)
            .unified_diff()
            .header("golden", "printed")
    );
}
