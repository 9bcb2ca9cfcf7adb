//! Is capacity accounted for once, in whatever order hold and release come?

use lifecycle_adapters::{
    capacity::{Capacity as _, Reservation},
    postgres::PgCapacity,
};

use crate::{changes::id, database::Database};

#[tokio::test]
async fn a_release_that_comes_before_its_hold_wins() {
    let database = Database::new();
    let capacity = PgCapacity::new(&database.store().await);
    let [early, late] = [1, 2].map(|holds| Reservation {
        machine: id("a"),
        generation: 1,
        holds,
    });
    capacity.release(&early).await.expect("it is remembered");
    for reservation in [&early, &late, &late] {
        capacity.hold(reservation).await.expect("it is held");
    }
    assert_eq!(capacity.reserved().await.expect("it is read"), 1);
    for _ in 0..2 {
        capacity.release(&late).await.expect("it is released");
        assert_eq!(capacity.reserved().await.expect("it is read"), 0);
    }
}
