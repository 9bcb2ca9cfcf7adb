//! Are decisions kept in their order?

use lifecycle_core::Timestamp;

use super::{
    StoreHarness,
    trial::{Trial, entry},
};
use crate::store::Change;

/// Decisions come back in the order of writing, of their own machine only; a change without one writes none.
pub async fn the_journal_keeps_the_order_of_writing(harness: &dyn StoreHarness) {
    let trial = Trial::begin(harness).await;
    let mut rows = [trial.registered("a").await, trial.registered("b").await];
    let mut expected = [
        trial.journal(&rows[0].id).await,
        trial.journal(&rows[1].id).await,
    ];
    for (place, at) in [(0, 900), (1, 800), (0, 100), (0, 500), (1, 0)] {
        let row = &rows[place];
        let written = entry(row, &format!("at {at}"), Timestamp::from_millis(at));
        expected[place].push(written.clone());
        let change = Change {
            journal: Some(written),
            ..Change::of(row.clone())
        };
        rows[place] = trial.won(&change).await;
        rows[place] = trial.won(&Change::of(rows[place].clone())).await;
    }
    for (row, expected) in rows.iter().zip(expected) {
        assert_eq!(
            trial.journal(&row.id).await,
            expected,
            "the journal keeps the decisions of each machine in the order of writing"
        );
    }
}
