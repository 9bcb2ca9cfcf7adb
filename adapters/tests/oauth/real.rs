//! Tokens of a real authorization server stop working.

use std::sync::Arc;

use lifecycle_adapters::{
    oauth::{ClientAuthentication, OAuthRevoker, TokenHint},
    revoker::{Revocation, RevokeError, Revoker as _},
    secret::Secret,
};
use lifecycle_core::Timestamp;

use crate::{
    server::{Server, by_basic, by_post},
    tokens::{Tokens, everything, machine},
};

#[tokio::test]
async fn tokens_stop_working_at_the_server_itself() {
    let server = Server::start();
    for (client, name) in [(by_basic(), "by:basic"), (by_post(), "by post")] {
        let tokens = Arc::new(Tokens::default());
        let (refresh, access) = server.grant(name).await;
        let (other_refresh, other_access) = server.grant(name).await;
        tokens.issue_kind(1, 0, &refresh, Some(TokenHint::RefreshToken));
        tokens.issue_kind(1, 0, &access, Some(TokenHint::AccessToken));
        // A wrong hint, and none.
        tokens.issue_kind(1, 0, &other_access, Some(TokenHint::RefreshToken));
        tokens.issue(1, 0, &other_refresh);
        for token in [&refresh, &access, &other_access, &other_refresh] {
            assert!(server.works(token).await, "before, {name}");
        }
        let revoker = OAuthRevoker::new(server.config(client), tokens.clone()).expect("a revoker");
        revoker.revoke(&everything()).await.expect("revoked");
        for token in [&refresh, &access, &other_access, &other_refresh] {
            assert!(!server.works(token).await, "after, {name}");
        }
        assert_eq!(tokens.noted(), ["row-0", "row-1", "row-2", "row-3"]);
        // Nothing is left, and that is a success.
        revoker.revoke(&everything()).await.expect("revoked");
    }
}

#[tokio::test]
async fn a_refresh_token_takes_the_access_tokens_of_its_grant_with_it() {
    let server = Server::start();
    let tokens = Arc::new(Tokens::default());
    let (refresh, access) = server.grant("by post").await;
    tokens.issue_kind(1, 0, &refresh, Some(TokenHint::RefreshToken));
    revoke(&server, by_post(), &tokens).await.expect("revoked");
    assert!(!server.works(&access).await);
}

#[tokio::test]
async fn revoking_again_and_what_is_not_known_succeed() {
    let server = Server::start();
    let token = server.client_token().await;
    for _ in 0..2 {
        let tokens = Arc::new(Tokens::default());
        tokens.issue(1, 0, &token);
        tokens.issue(1, 0, "a token that this server never issued");
        revoke(&server, by_post(), &tokens).await.expect("revoked");
        assert_eq!(tokens.noted().len(), 2);
        assert!(!server.works(&token).await);
    }
}

#[tokio::test]
async fn only_what_was_issued_before_and_for_the_generations_is_revoked() {
    let server = Server::start();
    let tokens = Arc::new(Tokens::default());
    let mut issued = Vec::new();
    for (generation, at) in [(1, 10), (2, 10), (2, 20), (3, 10)] {
        let token = server.client_token().await;
        tokens.issue(generation, at, &token);
        issued.push(token);
    }
    let revoker = OAuthRevoker::new(server.config(by_post()), tokens.clone()).expect("a revoker");
    let revocation = Revocation {
        machine: machine(),
        generation: 2,
        issued_before: Some(Timestamp::from_millis(20)),
    };
    revoker.revoke(&revocation).await.expect("revoked");
    let mut working = Vec::new();
    for token in &issued {
        working.push(server.works(token).await);
    }
    assert_eq!(working, [false, false, true, true]);
}

#[tokio::test]
async fn a_wrong_secret_needs_a_person_and_the_tokens_stay_owed() {
    let server = Server::start();
    let tokens = Arc::new(Tokens::default());
    let token = server.client_token().await;
    tokens.issue(1, 0, &token);
    let client = ClientAuthentication::Post {
        id: "by post".to_owned(),
        secret: Secret::new("wrong"),
    };
    let error = revoke(&server, client, &tokens).await.expect_err("refused");
    assert!(!error.is_retryable);
    assert!(error.message.contains("401: invalid_client"), "{error}");
    assert!(server.works(&token).await && tokens.noted().is_empty());
}

#[tokio::test]
async fn a_token_of_another_client_is_not_taken_for_revoked() {
    let server = Server::start();
    let tokens = Arc::new(Tokens::default());
    let (theirs, _) = server.grant("other").await;
    let ours = server.client_token().await;
    tokens.issue(1, 0, &theirs);
    tokens.issue(1, 0, &ours);
    let error = revoke(&server, by_post(), &tokens)
        .await
        .expect_err("refused");
    assert!(!error.is_retryable);
    assert!(
        error.message.starts_with("1 of 2 tokens may still work"),
        "{error}"
    );
    assert!(error.message.contains("400: invalid_request"), "{error}");
    // The other one is not kept waiting by it.
    assert!(!server.works(&ours).await && server.works(&theirs).await);
    assert_eq!(tokens.noted(), ["row-1"]);
}

#[tokio::test]
async fn a_server_that_is_down_leaves_the_tokens_owed() {
    let server = Server::start();
    let tokens = Arc::new(Tokens::default());
    tokens.issue(1, 0, &server.client_token().await);
    let config = server.config(by_post());
    drop(server);
    let revoker = OAuthRevoker::new(config, tokens.clone()).expect("a revoker");
    let error = revoker.revoke(&everything()).await.expect_err("down");
    assert!(error.is_retryable && tokens.noted().is_empty(), "{error}");
    // Another one in its place knows no such token: it does not work any more.
    let server = Server::start();
    revoke(&server, by_post(), &tokens).await.expect("revoked");
}

async fn revoke(
    server: &Server,
    client: ClientAuthentication,
    tokens: &Arc<Tokens>,
) -> Result<(), RevokeError> {
    let revoker = OAuthRevoker::new(server.config(client), tokens.clone()).expect("a revoker");
    revoker.revoke(&everything()).await
}
