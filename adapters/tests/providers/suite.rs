//! How is the suite run so that every broken promise is told, not only the first?

use std::{collections::BTreeMap, sync::Arc};

use lifecycle_adapters::conformance::provider::{CASES, ProviderHarness};

/// What became of the cases that did not pass.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// What the broken ones said.
    pub(crate) broken: BTreeMap<&'static str, String>,
    /// What could not be examined.
    pub(crate) not_examined: Vec<&'static str>,
}

/// Runs every case, and fails with all that were broken; what is not examined must be just that.
pub(crate) async fn check(harness: impl ProviderHarness + 'static, not_examined: &[&str]) {
    let report = report(harness).await;
    let broken = report.broken.iter();
    let broken: String = broken
        .map(|(name, message)| format!("- {name}: {message}\n"))
        .collect();
    assert!(broken.is_empty(), "broken promises:\n{broken}");
    assert_eq!(report.not_examined, not_examined);
}

/// Runs every case.
pub(crate) async fn report(harness: impl ProviderHarness + 'static) -> Report {
    let harness = Arc::new(harness);
    let mut report = Report::default();
    for case in CASES {
        let harness = harness.clone();
        match tokio::spawn(async move { (case.run)(&*harness).await }).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => report.not_examined.push(case.name),
            Err(error) => {
                report.broken.insert(case.name, message(error));
            }
        }
    }
    report
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
