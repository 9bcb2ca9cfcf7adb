//! Is every reservation counted once, in whatever order it comes?

use std::sync::Arc;

use lifecycle_adapters::{
    capacity::{Capacity as _, Reservation},
    sqlite::SqliteCapacity,
};

use crate::{Kit, id};

#[tokio::test]
async fn holding_and_releasing_again_change_nothing() {
    let kit = Kit::new();
    let capacity = SqliteCapacity::new(Arc::new(kit.open().await));
    for _ in 0..2 {
        capacity.hold(&reservation(1)).await.unwrap();
        capacity.hold(&reservation(2)).await.unwrap();
    }
    assert_eq!(capacity.held().await.unwrap(), 2);
    for _ in 0..2 {
        capacity.release(&reservation(1)).await.unwrap();
        capacity.hold(&reservation(1)).await.unwrap();
    }
    assert_eq!(capacity.held().await.unwrap(), 1);
}

#[tokio::test]
async fn a_release_that_comes_before_its_hold_wins() {
    let kit = Kit::new();
    let capacity = SqliteCapacity::new(Arc::new(kit.open().await));
    capacity.release(&reservation(1)).await.unwrap();
    capacity.hold(&reservation(1)).await.unwrap();
    assert_eq!(capacity.held().await.unwrap(), 0);
}

#[tokio::test]
async fn a_reservation_in_the_hosts_transaction_goes_with_it() {
    let kit = Kit::new();
    let store = kit.open().await;
    let capacity = SqliteCapacity::new(Arc::new(store.clone()));
    let mut host = store.pool().begin_with("BEGIN IMMEDIATE").await.unwrap();
    capacity.hold_on(&mut host, &reservation(1)).await.unwrap();
    host.rollback().await.unwrap();
    assert_eq!(capacity.held().await.unwrap(), 0);
}

fn reservation(holds: u64) -> Reservation {
    Reservation {
        machine: id("a"),
        generation: 1,
        holds,
    }
}
