//! Nothing shows a credential: no error, no log at any level, no `Debug`.

use core::time::Duration;
use std::sync::Arc;

use lifecycle_adapters::{
    endpoint::Endpoint,
    revoker::Revoker as _,
    secret::Secret,
    vault::{VaultConfig, VaultConfigError, VaultRevoker},
};

use crate::{
    faulty::{Faulty, Reply},
    grants::{Grants, before, everything},
    overheard::Overheard,
};

#[tokio::test]
async fn no_path_shows_our_token_or_an_accessor() {
    let overheard = Overheard::new();
    let mut shown = String::new();
    // The store quotes what it was sent, wherever it can.
    let quote = |status: u16| {
        Faulty::new(move |_, request| {
            let sent = format!("{} {:?} permission denied", request.body, request.headers);
            let body = format!(r#"{{"request_id":"1","data":{{}},"errors":[{sent:?}]}}"#);
            let headers = format!("location: http://127.0.0.1:1/{TOKEN}\r\n");
            Reply::with(status, &headers, body)
        })
    };
    let servers = [
        200, 202, 302, 307, 400, 401, 403, 404, 412, 418, 429, 473, 500, 503,
    ]
    .map(quote)
    .into_iter()
    .chain(
        [
            Reply::Silence,
            Reply::Closed,
            Reply::Cut(200),
            Reply::Cut(400),
        ]
        .map(Faulty::always),
    );
    let (mut done, mut failed) = (0, 0);
    for server in servers {
        let endpoint = Endpoint::new(&server.address).expect("an endpoint");
        let config = VaultConfig::new(endpoint, Secret::new(TOKEN))
            .expect("a configuration")
            .with_timeout(Duration::from_millis(200));
        for (grants, revocation) in [
            (Grants::default().with_token(ACCESSOR), everything()),
            (Grants::default().with_leases("a/b"), everything()),
            (Grants::default().with_leases("a/b"), before(0)),
        ] {
            let grants = Arc::new(grants);
            let revoker = VaultRevoker::new(config.clone(), grants.clone()).expect("a revoker");
            revoker.replace_token(&Secret::new(TOKEN)).expect("a token");
            let answer = revoker.revoke(&revocation).await;
            shown += &format!("{config:?} {revoker:?} {grants:?} {answer:?}\n");
            match &answer {
                Ok(()) => done += 1,
                Err(error) => {
                    failed += 1;
                    shown += &chain(error);
                }
            }
        }
    }
    assert_eq!((done, failed), (2, 52), "{shown}");
    let overheard = overheard.text();
    assert!(
        overheard.contains("tokens and leases were revoked"),
        "{overheard}"
    );
    for text in [&shown, &overheard] {
        for secret in [TOKEN, ACCESSOR] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
}

#[test]
fn a_token_that_cannot_be_one_is_refused_without_being_shown() {
    let endpoint = Endpoint::new("https://vault.example").expect("an endpoint");
    let wrong = VaultConfig::new(endpoint, Secret::new(format!("{TOKEN}\n")));
    let error = wrong.expect_err("wrong");
    assert!(matches!(error, VaultConfigError::WrongToken));
    assert!(!chain(&error).contains(TOKEN));
}

/// An error, with everything that it says is behind it.
fn chain(error: &dyn core::error::Error) -> String {
    let source = error.source().map(chain).unwrap_or_default();
    format!("{error} {error:?} {source}\n")
}

const TOKEN: &str = "s.opensesame";
const ACCESSOR: &str = "an-accessor-7f3a";
