//! Nothing shows a credential: no error, no log at any level, no `Debug`.

use std::sync::Arc;

use lifecycle_adapters::{
    endpoint::Endpoint,
    oauth::{ClientAuthentication, OAuthConfig, OAuthRevoker},
    revoker::Revoker as _,
    secret::Secret,
};

use crate::{
    faults::revoker,
    faulty::{Faulty, Reply},
    overheard::Overheard,
    server::by_basic,
    tokens::{Tokens, everything},
};

#[tokio::test]
async fn no_path_shows_a_token_or_the_clients_secret() {
    let overheard = Overheard::new();
    let mut shown = String::new();
    // The server quotes what it was sent, wherever it can.
    let quote = |status: u16| {
        Faulty::new(move |_, request| {
            let sent = format!("{} {:?}", request.body, request.header("authorization"));
            let body = format!(
                r#"{{"error":"{TOKEN}","error_description":{:?}}}"#,
                format!("{sent} {SECRET}")
            );
            let headers =
                format!("location: http://127.0.0.1:1/{TOKEN}\r\nwww-authenticate: {TOKEN}\r\n");
            Reply::with(status, &headers, body)
        })
    };
    let servers = [200, 202, 302, 307, 400, 401, 403, 404, 418, 429, 500, 503]
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
    let mut failed = 0;
    for server in servers {
        for client in [by_basic_secret(), by_post_secret()] {
            let tokens = Arc::new(Tokens::default());
            tokens.issue(1, 0, TOKEN);
            let address = format!("{}/revoke?key=open%20sesame", server.address);
            let endpoint = Endpoint::new(&address).expect("an endpoint");
            let config = OAuthConfig::new(endpoint, client)
                .with_timeout(core::time::Duration::from_millis(300));
            shown += &format!("{config:?}");
            let revoker = OAuthRevoker::new(config, tokens.clone()).expect("a revoker");
            let answer = revoker.revoke(&everything()).await;
            failed += usize::from(answer.is_err());
            shown += &format!("{answer:?} {revoker:?} {tokens:?}\n");
            if let Err(error) = answer {
                shown += &chain(&error);
            }
        }
    }
    assert_eq!(failed, 30, "all but the good answer: {shown}");
    let overheard = overheard.text();
    assert!(overheard.contains("tokens were revoked"), "{overheard}");
    for text in [&shown, &overheard] {
        for secret in [
            TOKEN,
            SECRET,
            "b3BlbiBzZXNhbWU",
            "open+sesame",
            "open%20sesame",
        ] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
}

#[tokio::test]
async fn errors_of_the_host_come_without_what_was_asked() {
    let server = Faulty::always(Reply::text(200, ""));
    for fails in [[Some(true), None], [None, Some(true)]] {
        let tokens = Arc::new(Tokens::default());
        tokens.issue(1, 0, TOKEN);
        *tokens.fails.lock().expect("a switch") = fails;
        let error = revoker(&server, &tokens).revoke(&everything()).await;
        let error = error.expect_err("the host failed");
        assert!(error.message.contains("the table is locked"), "{error}");
        assert!(!format!("{error} {error:?}").contains(TOKEN));
    }
}

#[test]
fn a_configuration_shows_no_query_and_no_secret() {
    let endpoint = Endpoint::new("https://login.example/revoke?key=opensesame");
    let config = OAuthConfig::new(endpoint.expect("an endpoint"), by_basic());
    let shown = format!("{config:?}");
    assert!(
        !shown.contains("opensesame") && shown.contains("[redacted]"),
        "{shown}"
    );
}

fn by_basic_secret() -> ClientAuthentication {
    ClientAuthentication::Basic {
        id: "client".to_owned(),
        secret: Secret::new(SECRET),
    }
}

fn by_post_secret() -> ClientAuthentication {
    ClientAuthentication::Post {
        id: "client".to_owned(),
        secret: Secret::new(SECRET),
    }
}

/// An error, with everything that it says is behind it.
fn chain(error: &dyn core::error::Error) -> String {
    let source = error.source().map(chain).unwrap_or_default();
    format!("{error} {error:?} {source}\n")
}

const TOKEN: &str = "to-ken-7f3a";
const SECRET: &str = "open sesame";
