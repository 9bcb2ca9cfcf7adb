//! Are credentials minted only for live machines, and gone once revoked?

use core::time::Duration;
use std::{fs, sync::Arc};

use lifecycle_adapters::{
    revoker::{Revocation, Revoker as _},
    sqlite::{MintError, SqliteStore, SqliteTokenRevoker},
    store::{Admission, Change, Commit, Store as _},
};
use lifecycle_core::{Machine, Status, Timestamp};

use crate::{Kit, at, id, registered};

#[tokio::test]
async fn tokens_work_until_they_are_revoked_and_keep_their_first_stamp() {
    let (kit, _store, revoker) = start().await;
    let token = revoker.mint(&id("a")).await.unwrap();
    assert!(revoker.is_live(token.secret()).await.unwrap());
    assert_eq!(revoker.live(&id("a")).await.unwrap(), 1);
    assert!(!revoker.is_live("guessed").await.unwrap());
    for _ in 0..2 {
        kit.clock.advance(Duration::from_secs(1));
        revoker.revoke(&revocation("a", None)).await.unwrap();
    }
    assert!(!revoker.is_live(token.secret()).await.unwrap());
    assert_eq!(
        revoker.revoked_at(token.secret()).await.unwrap(),
        Some(at(1_001_000))
    );
}

#[tokio::test]
async fn what_was_issued_later_or_elsewhere_or_for_a_later_incarnation_stays() {
    let (kit, store, revoker) = start().await;
    registered(&store, "b").await;
    let before = revoker.mint(&id("a")).await.unwrap();
    let other = revoker.mint(&id("b")).await.unwrap();
    kit.clock.advance(Duration::from_millis(1));
    let same_instant = revoker.mint(&id("a")).await.unwrap();
    kit.clock.advance(Duration::from_millis(1));
    let after = revoker.mint(&id("a")).await.unwrap();
    revoker
        .revoke(&revocation("a", Some(at(1_000_001))))
        .await
        .unwrap();
    for (token, lives) in [
        (&before, false),
        (&same_instant, false),
        (&after, true),
        (&other, true),
    ] {
        assert_eq!(revoker.is_live(token.secret()).await.unwrap(), lives);
    }

    let mut row = store.load(&id("a")).await.unwrap().unwrap().row;
    row.facts
        .update(|machine| machine.next_generation(None, at(1_000_002)));
    store.commit(&Change::of(row)).await.unwrap();
    let anew = revoker.mint(&id("a")).await.unwrap();
    revoker.revoke(&revocation("a", None)).await.unwrap();
    assert!(!revoker.is_live(after.secret()).await.unwrap());
    assert!(revoker.is_live(anew.secret()).await.unwrap());
}

#[tokio::test]
async fn none_is_minted_for_a_machine_that_is_not_live() {
    let (_kit, store, revoker) = start().await;
    assert!(matches!(
        revoker.mint(&id("nobody")).await,
        Err(MintError::NotLive(Admission::Unknown))
    ));
    end(&store).await;
    assert!(matches!(
        revoker.mint(&id("a")).await,
        Err(MintError::NotLive(Admission::Refused))
    ));
}

#[tokio::test]
async fn none_is_born_after_the_last_revoke() {
    let (_kit, store, revoker) = start().await;
    let mut host = store.pool().begin_with("BEGIN IMMEDIATE").await.unwrap();
    let token = revoker.mint_on(&mut host, &id("a")).await.unwrap();
    let ending = tokio::spawn({
        let store = store.clone();
        async move { end(&store).await }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(
        !ending.is_finished(),
        "the machine ends while its token is being minted"
    );
    host.commit().await.unwrap();
    ending.await.unwrap();
    revoker.revoke(&revocation("a", None)).await.unwrap();
    assert!(!revoker.is_live(token.secret()).await.unwrap());
}

#[tokio::test]
async fn a_minting_that_read_before_the_end_fails() {
    let (_kit, store, revoker) = start().await;
    let mut host = store.pool().begin().await.unwrap();
    let admission = store.admit_on(&mut host, &id("a")).await.unwrap();
    assert_eq!(admission, Admission::Live { generation: 1 });
    end(&store).await;
    assert!(revoker.mint_on(&mut host, &id("a")).await.is_err());
}

#[tokio::test]
async fn the_secret_is_written_nowhere() {
    let (kit, store, revoker) = start().await;
    let token = revoker.mint(&id("a")).await.unwrap();
    assert_eq!(token.secret().len(), 64);
    assert!(!format!("{token:?}").contains(token.secret()));
    store.pool().close().await;
    for file in fs::read_dir(kit.folder.path()).unwrap() {
        let content = fs::read(file.unwrap().path()).unwrap();
        let secret = token.secret().as_bytes();
        assert!(!content.windows(secret.len()).any(|part| part == secret));
    }
}

async fn start() -> (Kit, SqliteStore, SqliteTokenRevoker) {
    let kit = Kit::new();
    let store = kit.open().await;
    registered(&store, "a").await;
    let revoker = SqliteTokenRevoker::create(Arc::new(store.clone()))
        .await
        .unwrap();
    (kit, store, revoker)
}

async fn end(store: &SqliteStore) {
    let mut row = store.load(&id("a")).await.unwrap().unwrap().row;
    row.facts.update(|machine| Machine {
        status: Status::Quarantined,
        ..machine
    });
    let commit = store.commit(&Change::of(row)).await.unwrap();
    assert!(matches!(commit, Commit::Won(_)));
}

fn revocation(name: &str, issued_before: Option<Timestamp>) -> Revocation {
    Revocation {
        machine: id(name),
        generation: 1,
        issued_before,
    }
}
