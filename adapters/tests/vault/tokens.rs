//! Tokens of a real store stop working.

use std::sync::Arc;

use lifecycle_adapters::{
    revoker::Revoker as _,
    vault::{VaultConfig, VaultRevoker},
};
use serde_json::json;

use crate::{
    bao::{Bao, ROOT},
    grants::{Grants, before, everything},
};

#[tokio::test]
async fn a_token_stops_working_with_its_children_and_no_other_does() {
    let bao = Bao::start().await;
    let options = || json!({ "policies": ["root"], "ttl": "1h" });
    let token = bao.token(ROOT, options()).await;
    let child = bao.token(&token.token, options()).await;
    let other = bao.token(ROOT, options()).await;
    let grants = Arc::new(Grants::default().with_token(&token.accessor));
    bao.revoker(&grants)
        .revoke(&everything())
        .await
        .expect("revoked");
    assert!(!bao.works(&token.token).await && !bao.works(&child.token).await);
    assert!(bao.works(&other.token).await);
    assert_eq!(grants.noted(), ["row-0"]);
}

#[tokio::test]
async fn revoking_again_and_what_is_not_known_succeed() {
    let bao = Bao::start().await;
    let token = bao.token(ROOT, json!({ "ttl": "1h" })).await;
    for revocation in [everything(), before(0), everything()] {
        let grants = Grants::default()
            .with_token(&token.accessor)
            .with_token("no-such-accessor")
            .with_leases("no-such/engine")
            .with_leases("auth/token/create/no-such-role");
        let grants = Arc::new(grants);
        bao.revoker(&grants)
            .revoke(&revocation)
            .await
            .expect("revoked");
        assert_eq!(grants.noted(), ["row-0", "row-1"]);
    }
    assert!(!bao.works(&token.token).await);
}

#[tokio::test]
async fn tokens_of_a_namespace_are_revoked_within_it() {
    let bao = Bao::start().await;
    bao.ask("POST", "sys/namespaces/team", Some(json!({})))
        .await;
    let made = bao
        .ask(
            "POST",
            "team/auth/token/create",
            Some(json!({ "ttl": "1h" })),
        )
        .await;
    let accessor = made["auth"]["accessor"].as_str().expect("an accessor");
    let token = made["auth"]["client_token"].as_str().expect("a token");
    let works = async || {
        let path = "team/auth/token/lookup-self";
        bao.try_ask("GET", path, None, token).await.0 == 200
    };
    let within = |config: VaultConfig, namespace: &str, grants: &Arc<Grants>| {
        let config = config.with_namespace(namespace).expect("a namespace");
        VaultRevoker::new(config, grants.clone()).expect("a revoker")
    };
    let grants = Arc::new(Grants::default().with_token(accessor));
    assert!(works().await);
    let revoker = within(bao.config(ROOT), "no-such-team", &grants);
    let error = revoker.revoke(&everything()).await.expect_err("no such");
    assert!(
        !error.is_retryable && error.message.contains("namespace not found"),
        "{error}"
    );
    assert!(works().await && grants.noted().is_empty());
    let revoker = within(bao.config(ROOT), "team", &grants);
    revoker.revoke(&everything()).await.expect("revoked");
    assert!(!works().await);
}

#[tokio::test]
async fn a_token_that_could_not_be_noted_stays_owed() {
    let bao = Bao::start().await;
    for is_retryable in [true, false] {
        let token = bao.token(ROOT, json!({ "ttl": "1h" })).await;
        let grants = Arc::new(Grants::default().with_token(&token.accessor));
        *grants.fails.lock().expect("a switch") = [Some(is_retryable), None];
        let revoker = bao.revoker(&grants);
        let error = revoker.revoke(&everything()).await.expect_err("unknown");
        assert_eq!(error.is_retryable, is_retryable);
        assert!(bao.works(&token.token).await);
        *grants.fails.lock().expect("a switch") = [None, Some(is_retryable)];
        let error = revoker.revoke(&everything()).await.expect_err("unnoted");
        assert_eq!(error.is_retryable, is_retryable);
        assert!(error.message.contains("could not be noted"), "{error}");
        *grants.fails.lock().expect("a switch") = [None, None];
        revoker.revoke(&everything()).await.expect("revoked");
        assert_eq!(grants.noted(), ["row-0"]);
    }
}
