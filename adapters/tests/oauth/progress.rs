//! What was revoked is kept, whatever becomes of the rest.

use core::sync::atomic::{AtomicBool, Ordering};
use std::{collections::BTreeSet, sync::Arc};

use lifecycle_adapters::revoker::Revoker as _;

use crate::{
    faults::revoker,
    faulty::{Faulty, Reply},
    tokens::{Tokens, everything},
};

#[tokio::test]
async fn a_token_that_was_revoked_is_not_asked_again() {
    let is_well = Arc::new(AtomicBool::new(false));
    let switch = Arc::clone(&is_well);
    let server = Faulty::new(move |_, request| {
        let is_refused = request.body == "token=two" && !switch.load(Ordering::SeqCst);
        Reply::text(if is_refused { 500 } else { 200 }, "")
    });
    let tokens = Arc::new(Tokens::default());
    for token in ["one", "two", "three"] {
        tokens.issue(1, 0, token);
    }
    let revoker = revoker(&server, &tokens);
    let error = revoker.revoke(&everything()).await.expect_err("one failed");
    assert!(error.is_retryable);
    assert_eq!(
        error.to_string(),
        "1 of 3 tokens may still work: the server answered http 500"
    );
    assert_eq!(tokens.noted(), ["row-0", "row-2"]);
    is_well.store(true, Ordering::SeqCst);
    revoker.revoke(&everything()).await.expect("revoked");
    let mut bodies: Vec<_> = server.received().into_iter().map(|r| r.body).collect();
    bodies.sort();
    assert_eq!(
        bodies,
        ["token=one", "token=three", "token=two", "token=two"]
    );
}

#[tokio::test]
async fn a_call_that_is_given_up_has_noted_what_it_did() {
    let server = Faulty::new(|number, _| match number {
        0 => Reply::text(200, ""),
        _ => Reply::Silence,
    });
    let tokens = Arc::new(Tokens::default());
    tokens.issue(1, 0, "one");
    tokens.issue(1, 0, "two");
    let revoker = revoker(&server, &tokens);
    let revocation = everything();
    let call = revoker.revoke(&revocation);
    let given_up = tokio::time::timeout(core::time::Duration::from_millis(200), call).await;
    assert!(given_up.is_err());
    assert_eq!(tokens.noted(), ["row-0"]);
}

#[tokio::test]
async fn a_server_that_is_down_is_not_asked_about_every_token_and_none_is_forgotten() {
    let server = Faulty::new(|_, request| {
        let is_poison = ["token=0", "token=1", "token=2"].contains(&request.body.as_str());
        Reply::text(if is_poison { 500 } else { 200 }, "")
    });
    let tokens = Arc::new(Tokens::default());
    for token in 0..9 {
        tokens.issue(1, 0, &token.to_string());
    }
    let revoker = revoker(&server, &tokens);
    let error = revoker.revoke(&everything()).await.expect_err("poisoned");
    assert!(error.message.starts_with("9 of 9"), "{error}");
    assert_eq!(server.received().len(), 3);
    // The next call begins elsewhere.
    let error = revoker.revoke(&everything()).await.expect_err("poisoned");
    assert!(error.message.starts_with("3 of 9"), "{error}");
    let noted: BTreeSet<_> = tokens.noted().into_iter().collect();
    assert_eq!(noted.len(), 6);
}

#[tokio::test]
async fn a_token_that_could_not_be_noted_stays_owed() {
    let server = Faulty::always(Reply::text(200, ""));
    for is_retryable in [true, false] {
        let tokens = Arc::new(Tokens::default());
        tokens.issue(1, 0, "one");
        let revoker = revoker(&server, &tokens);
        *tokens.fails.lock().expect("a switch") = [None, Some(is_retryable)];
        let error = revoker.revoke(&everything()).await.expect_err("unnoted");
        assert_eq!(error.is_retryable, is_retryable);
        assert!(error.message.contains("could not be noted"), "{error}");
        *tokens.fails.lock().expect("a switch") = [None, None];
        revoker.revoke(&everything()).await.expect("revoked");
        assert_eq!(tokens.noted(), ["row-0"]);
    }
}

#[tokio::test]
async fn a_host_that_does_not_know_its_tokens_leaves_them_owed() {
    let server = Faulty::always(Reply::text(200, ""));
    for is_retryable in [true, false] {
        let tokens = Arc::new(Tokens::default());
        tokens.issue(1, 0, "one");
        *tokens.fails.lock().expect("a switch") = [Some(is_retryable), None];
        let error = revoker(&server, &tokens).revoke(&everything()).await;
        assert_eq!(error.expect_err("unknown").is_retryable, is_retryable);
    }
    assert!(server.received().is_empty());
}
