//! Leases of a real store end, and with them what they stood for.

use core::{sync::atomic::Ordering, time::Duration};
use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use lifecycle_adapters::{revoker::Revoker as _, vault::VaultRevoker};

use crate::{
    bao::{Bao, ROOT},
    broker::Broker,
    grants::{Grants, before, everything},
};

#[tokio::test]
async fn all_leases_under_a_prefix_end_and_no_others() {
    let bao = Bao::start().await;
    let broker = Broker::of(&bao).await;
    let ours = [
        broker.issue(&bao, "m-1").await,
        broker.issue(&bao, "m-1").await,
    ];
    let theirs = broker.issue(&bao, "m-10").await;
    let grants = Arc::new(Grants::default().with_leases("broker/creds/m-1"));
    let revoker = bao.revoker(&grants);
    revoker.revoke(&everything()).await.expect("revoked");
    // At once: the store answers when the users are gone.
    assert!(!ours.iter().any(|lease| broker.has(lease)));
    assert!(broker.has(&theirs));
    revoker.revoke(&everything()).await.expect("revoked");
    // What is issued under it later is revoked by the next.
    let late = broker.issue(&bao, "m-1").await;
    revoker.revoke(&everything()).await.expect("revoked");
    assert!(!broker.has(&late) && broker.has(&theirs));
}

#[tokio::test]
async fn a_lease_that_the_engine_cannot_end_stays_owed_until_it_can() {
    let bao = Bao::start().await;
    for revocation in [everything(), before(i64::MAX / 2)] {
        let broker = Broker::of(&bao).await;
        let lease = broker.issue(&bao, "m-1").await;
        let token = bao.token(ROOT, serde_json::json!({ "ttl": "1h" })).await;
        let grants = Grants::default()
            .with_leases("broker/creds/m-1")
            .with_token(&token.accessor);
        let grants = Arc::new(grants);
        broker.is_stuck.store(true, Ordering::SeqCst);
        let revoker = bao.revoker(&grants);
        for _ in 0..2 {
            let error = revoker.revoke(&revocation).await.expect_err("stuck");
            assert!(error.is_retryable, "{error}");
            assert!(error.message.contains("400: failed to revoke"), "{error}");
        }
        // The token is not kept waiting by it.
        assert!(broker.has(&lease) && !bao.works(&token.token).await);
        broker.is_stuck.store(false, Ordering::SeqCst);
        revoker.revoke(&revocation).await.expect("revoked");
        assert!(!broker.has(&lease));
        bao.ask("DELETE", "sys/mounts/broker", None).await;
    }
}

#[tokio::test]
async fn only_leases_issued_before_end_where_there_is_an_instant() {
    let bao = Bao::start().await;
    let broker = Broker::of(&bao).await;
    let old = broker.issue(&bao, "m-1").await;
    let nested = broker.issue(&bao, "m-2").await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = i64::try_from(since.expect("a time").as_millis()).expect("a time");
    tokio::time::sleep(Duration::from_millis(50)).await;
    let young = broker.issue(&bao, "m-1").await;

    let grants = Arc::new(Grants::default().with_leases("broker/creds/m-1"));
    let revoker = bao.revoker(&grants);
    revoker.revoke(&before(now)).await.expect("revoked");
    assert!(!broker.has(&old) && broker.has(&young) && broker.has(&nested));

    // Folders below the prefix are looked into.
    let grants = Arc::new(Grants::default().with_leases("broker/creds"));
    bao.revoker(&grants)
        .revoke(&before(now))
        .await
        .expect("revoked");
    assert!(broker.has(&young) && !broker.has(&nested));

    // One lease, named by its own id.
    let grants = Arc::new(Grants::default().with_leases(&young.id));
    bao.revoker(&grants)
        .revoke(&before(now))
        .await
        .expect("revoked");
    assert!(broker.has(&young));
    // As old as that by a clock that may be wrong by a minute.
    let config = bao.config(ROOT).with_clock_error(Duration::from_secs(60));
    let revoker = VaultRevoker::new(config, grants).expect("a revoker");
    revoker.revoke(&before(now)).await.expect("revoked");
    assert!(!broker.has(&young));
}
