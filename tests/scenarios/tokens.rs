//! Does no token outlive its machine, and none of a restored machine die?

use core::time::Duration;

use lifecycle_adapters::outbox::WorkState;
use lifecycle_core::{Effect, Source};

use crate::bench::Bench;

crate::stories! {
    a_token_minted_before_the_delete_dies_and_one_after_a_restore_lives,
    a_revoker_that_fails_is_asked_again,
    without_a_revoker_the_work_stays_owed_and_visible,
}

async fn a_token_minted_before_the_delete_dies_and_one_after_a_restore_lives(bench: Bench) {
    let id = bench.running("a", Some("v-1")).await;
    assert!(bench.mint(&id).await);
    // The revocation of the delete is still on its way when the machine is restored and gets a new token.
    *bench.tokens.failures.lock().expect("no panic") = 1;
    bench
        .reconciler
        .delete(&id, Source::User)
        .await
        .expect("deleted");
    bench.relay.deliver_due().await.expect("delivered");
    bench.clock.advance(Duration::from_secs(1));
    bench
        .reconciler
        .restore(&id, Source::User)
        .await
        .expect("restored");
    bench.clock.advance(Duration::from_secs(1));
    assert!(bench.mint(&id).await);
    bench.live(Duration::from_secs(120)).await;
    assert_eq!(bench.tokens.live(&id), 1, "exactly the new one");
}

async fn a_revoker_that_fails_is_asked_again(bench: Bench) {
    let id = bench.running("a", None).await;
    assert!(bench.mint(&id).await);
    *bench.tokens.failures.lock().expect("no panic") = 5;
    bench
        .reconciler
        .force(&id, Source::User)
        .await
        .expect("forced");
    bench.live(Duration::from_secs(600)).await;
    assert_eq!(bench.tokens.live(&id), 0);
    assert_eq!(
        bench.state(&id, Effect::RevokeCredentials).await,
        Some(WorkState::Done)
    );
}

async fn without_a_revoker_the_work_stays_owed_and_visible(mut bench: Bench) {
    let id = bench.running("a", None).await;
    bench.relay = lifecycle_adapters::relay::Relay::new(bench.reconciler.clone());
    bench
        .reconciler
        .force(&id, Source::User)
        .await
        .expect("forced");
    bench.live(Duration::from_secs(7_200)).await;
    let detail = bench
        .reconciler
        .report(&id)
        .await
        .expect("a report")
        .detail
        .to_string();
    assert!(
        detail.contains("cleanup pending") && detail.contains("revoke_credentials"),
        "{detail}"
    );
    let work = bench.work(&id, Effect::RevokeCredentials).await;
    assert_eq!(
        work[0].note.as_deref(),
        Some("no adapter for revoke_credentials")
    );
}
