//! A real store refuses, is sealed or is asked too often.

use core::time::Duration;
use std::sync::Arc;

use lifecycle_adapters::{
    revoker::Revoker as _,
    secret::Secret,
    vault::{VaultConfigError, VaultRevoker},
};
use serde_json::json;

use crate::{
    bao::{Bao, ROOT},
    broker::Broker,
    grants::{Grants, before, everything},
};

#[tokio::test]
async fn a_denied_permission_needs_a_person_and_what_is_permitted_is_done() {
    let bao = Bao::start().await;
    let broker = Broker::of(&bao).await;
    let lease = broker.issue(&bao, "m-1").await;
    let token = bao.token(ROOT, json!({ "ttl": "1h" })).await;
    let grants = Grants::default()
        .with_leases("broker/creds/m-1")
        .with_token(&token.accessor);
    let grants = Arc::new(grants);
    let limited = bao.limited("tokens-only", MAY_REVOKE_TOKENS).await;
    let config = bao.config(&limited.token);
    let revoker = VaultRevoker::new(config, grants.clone()).expect("a revoker");
    for (revocation, left) in [(before(i64::MAX / 2), "1 of 2"), (everything(), "1 of 1")] {
        let error = revoker.revoke(&revocation).await.expect_err("denied");
        assert!(!error.is_retryable);
        assert!(error.message.starts_with(left), "{error}");
        assert!(error.message.contains("403: permission denied"), "{error}");
        assert!(broker.has(&lease) && !bao.works(&token.token).await);
    }
    // A person gives it a token that may.
    revoker.replace_token(&Secret::new(ROOT)).expect("a token");
    revoker.revoke(&everything()).await.expect("revoked");
    assert!(!broker.has(&lease));
}

#[tokio::test]
async fn the_policy_that_is_documented_is_enough() {
    let bao = Bao::start().await;
    let broker = Broker::of(&bao).await;
    let policy = format!(
        r#"{MAY_REVOKE_TOKENS}
        path "sys/leases/revoke-prefix/broker/creds/*" {{ capabilities = ["update", "sudo"] }}
        path "sys/leases/lookup/broker/creds/*" {{ capabilities = ["list", "sudo"] }}
        path "sys/leases/lookup" {{ capabilities = ["update"] }}
        path "sys/leases/revoke" {{ capabilities = ["update"] }}"#
    );
    let limited = bao.limited("revoker", &policy).await;
    for revocation in [before(i64::MAX / 2), everything()] {
        let token = bao.token(ROOT, json!({ "ttl": "1h" })).await;
        let lease = broker.issue(&bao, "m-1").await;
        let grants = Grants::default()
            .with_leases("broker/creds/m-1")
            .with_token(&token.accessor);
        let config = bao.config(&limited.token);
        let revoker = VaultRevoker::new(config, Arc::new(grants)).expect("a revoker");
        revoker.revoke(&revocation).await.expect("revoked");
        assert!(!broker.has(&lease) && !bao.works(&token.token).await);
    }
}

#[tokio::test]
async fn a_token_of_ours_that_ended_needs_a_person() {
    let bao = Bao::start().await;
    let token = bao.token(ROOT, json!({ "ttl": "1h" })).await;
    let grants = Arc::new(Grants::default().with_token(&token.accessor));
    let config = bao.config("s.ended-long-ago");
    let revoker = VaultRevoker::new(config, grants.clone()).expect("a revoker");
    let error = revoker.revoke(&everything()).await.expect_err("denied");
    assert!(!error.is_retryable && grants.noted().is_empty(), "{error}");
    assert!(bao.works(&token.token).await);
    for wrong in ["", "two words", "a\nline"] {
        let replaced = revoker.replace_token(&Secret::new(wrong));
        assert!(matches!(replaced, Err(VaultConfigError::WrongToken)));
    }
}

#[tokio::test]
async fn a_sealed_store_is_tried_again_and_what_it_holds_is_revoked_once_it_is_open() {
    let bao = Bao::start().await;
    let token = bao.token(ROOT, json!({ "ttl": "1h" })).await;
    let grants = Arc::new(Grants::default().with_token(&token.accessor));
    let revoker = bao.revoker(&grants);
    bao.ask("POST", "sys/seal", None).await;
    for revocation in [everything(), before(i64::MAX / 2)] {
        let error = revoker.revoke(&revocation).await.expect_err("sealed");
        assert!(error.is_retryable && grants.noted().is_empty(), "{error}");
        assert!(error.message.contains("503: Vault is sealed"), "{error}");
    }
    bao.unseal().await;
    // It opens a moment before it serves.
    for _ in 0..100 {
        if revoker.revoke(&everything()).await.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(grants.noted(), ["row-0"]);
    assert!(!bao.works(&token.token).await);
}

#[tokio::test]
async fn a_store_that_is_asked_too_often_is_tried_again() {
    let bao = Bao::start().await;
    let quota = json!({ "rate": 1, "interval": "2s", "path": "auth/token/" });
    bao.ask("POST", "sys/quotas/rate-limit/slow", Some(quota))
        .await;
    let grants = Grants::default()
        .with_token("a")
        .with_token("b")
        .with_token("c");
    let grants = Arc::new(grants);
    let revoker = bao.revoker(&grants);
    let error = revoker.revoke(&everything()).await.expect_err("too often");
    assert!(error.is_retryable, "{error}");
    assert!(
        error.message.contains("429: rate limit quota exceeded"),
        "{error}"
    );
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_millis(2_100)).await;
        if revoker.revoke(&everything()).await.is_ok() {
            break;
        }
    }
    // Bit by bit, since what was revoked is not asked again.
    assert_eq!(grants.noted(), ["row-0", "row-1", "row-2"]);
}

const MAY_REVOKE_TOKENS: &str =
    r#"path "auth/token/revoke-accessor" { capabilities = ["update"] }"#;
