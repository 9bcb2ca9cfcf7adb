//! How is the suite run so that every broken promise is told, not only the first?

use std::{collections::BTreeMap, sync::Arc};

use lifecycle_adapters::conformance::store::{CASES, StoreHarness};

/// Runs every case, and fails with all that were broken.
pub(crate) async fn check(harness: impl StoreHarness + 'static) {
    let broken = broken_promises(harness).await;
    assert!(
        broken.is_empty(),
        "{} of {} promises are broken:\n{}",
        broken.len(),
        CASES.len(),
        broken
            .iter()
            .map(|(name, message)| format!("- {name}: {message}\n"))
            .collect::<String>()
    );
}

/// Runs every case; returns the names of those that failed, with what they said.
pub(crate) async fn broken_promises(
    harness: impl StoreHarness + 'static,
) -> BTreeMap<&'static str, String> {
    let harness = Arc::new(harness);
    let mut broken = BTreeMap::new();
    for case in CASES {
        let harness = harness.clone();
        let outcome = tokio::spawn(async move { (case.run)(&*harness).await }).await;
        if let Err(error) = outcome {
            broken.insert(case.name, message(error));
        }
    }
    broken
}

fn message(error: tokio::task::JoinError) -> String {
    let panic = match error.try_into_panic() {
        Ok(panic) => panic,
        Err(error) => return error.to_string(),
    };
    match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(panic) => panic
            .downcast_ref::<&str>()
            .map_or_else(|| "no message".to_owned(), |message| (*message).to_owned()),
    }
}
