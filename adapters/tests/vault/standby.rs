//! A standby that names the active node is followed only where that is one of ours.

use std::sync::Arc;

use lifecycle_adapters::{
    endpoint::Endpoint,
    revoker::Revoker as _,
    secret::Secret,
    vault::{VaultConfig, VaultConfigError, VaultRevoker},
};

use crate::{
    faults::{is_retried, revoker},
    faulty::{Faulty, Reply},
    grants::{Grants, everything},
};

#[tokio::test]
async fn an_address_that_is_not_configured_is_never_sent_the_token() {
    for status in [301, 302, 303, 307, 308] {
        let stranger = Faulty::always(Reply::text(204, ""));
        let standby = redirecting(status, &stranger.address);
        let grants = Arc::new(Grants::default().with_token("an-accessor"));
        assert!(is_retried(&revoker(&standby, &grants), &everything()).await);
        // Nor is a peer asked that was not named.
        let peer = Faulty::always(Reply::text(204, ""));
        assert!(is_retried(&with_peer(&standby, &peer, &grants), &everything()).await);
        assert!(stranger.received().is_empty() && peer.received().is_empty());
        assert!(grants.noted().is_empty());
    }
}

#[tokio::test]
async fn a_configured_peer_is_asked_the_same_once() {
    let active = Faulty::always(Reply::text(204, ""));
    let standby = redirecting(307, &active.address);
    let grants = Arc::new(Grants::default().with_token("an-accessor"));
    let revoker = with_peer(&standby, &active, &grants);
    revoker.revoke(&everything()).await.expect("revoked");
    let received = active.received();
    assert_eq!(received.len(), 1);
    assert_eq!(
        received[0].line,
        "POST /v1/auth/token/revoke-accessor HTTP/1.1"
    );
    assert_eq!(received[0].body, r#"{"accessor":"an-accessor"}"#);
    assert_eq!(received[0].header("x-vault-token"), Some("s.ours"));
}

#[tokio::test]
async fn two_standbys_that_name_each_other_are_no_circle() {
    let second = redirecting(307, "http://127.0.0.1:1");
    let first = redirecting(307, &second.address);
    let grants = Arc::new(Grants::default().with_token("an-accessor"));
    let revoker = with_peer(&first, &second, &grants);
    assert!(is_retried(&revoker, &everything()).await);
    assert_eq!((first.received().len(), second.received().len()), (1, 1));
}

#[tokio::test]
async fn a_standby_that_names_itself_or_nothing_is_tried_again_later() {
    for headers in ["", "location: /v1/elsewhere\r\n", "location: ::\r\n"] {
        let standby = Faulty::always(Reply::with(307, headers, ""));
        let grants = Arc::new(Grants::default().with_token("an-accessor"));
        assert!(is_retried(&revoker(&standby, &grants), &everything()).await);
        assert_eq!(standby.received().len(), 1);
    }
}

#[test]
fn an_address_with_a_query_is_no_node() {
    let endpoint = || Endpoint::new("https://vault.example/?a=b").expect("an endpoint");
    let token = || Secret::new("s.ours");
    let wrong = VaultConfig::new(endpoint(), token());
    assert!(matches!(wrong, Err(VaultConfigError::HasQuery)));
    let plain = Endpoint::new("https://vault.example").expect("an endpoint");
    let config = VaultConfig::new(plain, token()).expect("a configuration");
    let wrong = config.clone().with_peer(endpoint());
    assert!(matches!(wrong, Err(VaultConfigError::HasQuery)));
    for namespace in ["", " ", "a\nb"] {
        let wrong = config.clone().with_namespace(namespace);
        assert!(matches!(wrong, Err(VaultConfigError::WrongNamespace)));
    }
}

fn redirecting(status: u16, to: &str) -> Faulty {
    let headers = format!("location: {to}/v1/auth/token/revoke-accessor\r\n");
    Faulty::always(Reply::with(status, &headers, ""))
}

fn with_peer(node: &Faulty, peer: &Faulty, grants: &Arc<Grants>) -> VaultRevoker {
    let endpoint = |server: &Faulty| Endpoint::new(&server.address).expect("an endpoint");
    let config = VaultConfig::new(endpoint(node), Secret::new("s.ours"))
        .and_then(|config| config.with_peer(endpoint(peer)))
        .expect("a configuration");
    VaultRevoker::new(config, grants.clone()).expect("a revoker")
}
