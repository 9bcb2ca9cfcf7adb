//! If the service dies between any two of its steps, does the next run end with exactly one destroy?
//!
//! Every call to the store is a step. The story is run once for each step and each way to die there:
//! before the call, or after it with the answer lost. Then everything works again, and time passes.

use core::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};
use std::sync::Arc;

use lifecycle_adapters::{
    clock::{Clock as _, ManualClock},
    id::MachineId,
    memory::MemoryStore,
    outbox::OutboxRow,
    reconciler::ReconcileError,
    sqlite::SqliteStore,
    store::{Admission, Store, StoreError},
};
use lifecycle_core::{Effect, Source, Status};

use crate::{
    bench::{Bench, clock, new_machine},
    wrapped::{Wrapped, wrapped_store},
};

#[tokio::test]
async fn dying_between_any_two_steps_loses_and_doubles_nothing_in_memory() {
    let steps = every_step(
        |clock: Arc<ManualClock>| async move {
            (Arc::new(MemoryStore::new(clock)) as Arc<dyn Store>, None)
        },
        1,
    )
    .await;
    assert!(steps > 60, "the story has {steps} steps");
}

#[tokio::test]
async fn dying_between_any_two_steps_loses_and_doubles_nothing_in_sqlite() {
    let make = |clock: Arc<ManualClock>| async move {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = SqliteStore::open(&folder.path().join("lifecycle.db"), clock)
            .await
            .expect("a new database");
        (Arc::new(store) as Arc<dyn Store>, Some(folder))
    };
    let steps = every_step(make, 5).await;
    assert!(steps > 60, "the story has {steps} steps");
}

#[tokio::test]
async fn dying_between_any_two_steps_loses_and_doubles_nothing_in_postgres() {
    let make = |clock: Arc<ManualClock>| async move {
        let (store, server) = crate::postgres::store(clock).await;
        // The server lives as long as this process holds on to it.
        core::mem::forget(server);
        (Arc::new(store) as Arc<dyn Store>, None)
    };
    let steps = every_step(make, 12).await;
    assert!(steps > 60, "the story has {steps} steps");
}

/// Runs the story once for each `stride`-th step at which it can die; returns how many steps it has.
async fn every_step<F, M>(make: M, stride: usize) -> usize
where
    F: Future<Output = (Arc<dyn Store>, Option<tempfile::TempDir>)>,
    M: Fn(Arc<ManualClock>) -> F,
{
    let mut step = 0;
    loop {
        let mut was_reached = false;
        for death in [Death::Before, Death::After] {
            let clock = clock();
            let (inner, folder) = make(clock.clone()).await;
            let store = Arc::new(Mortal {
                inner,
                death,
                left: AtomicUsize::new(step),
            });
            let bench = Bench::over(clock, store.clone(), folder);
            let id = MachineId::new("a").expect("a name");
            was_reached |= story(&bench, &id).await.is_err();
            store.left.store(usize::MAX, Ordering::SeqCst);
            recovered(&bench, &id, &format!("dead at step {step}, {death:?}")).await;
        }
        if !was_reached {
            return step;
        }
        step += stride;
    }
}

/// Registers, sees, mints, deletes, holds and destroys, as far as the store lives.
async fn story(bench: &Bench, id: &MachineId) -> Result<(), ReconcileError> {
    let (provider_id, marker) = bench.fleet.create(id, 1, Some("v-1"));
    bench
        .reconciler
        .register(&new_machine(id, Some((&provider_id, &marker)), Some("v-1")))
        .await?;
    bench.clock.advance(Duration::from_secs(120));
    bench.reconciler.observe(id, Source::StatusRead).await?;
    bench.relay.deliver_due().await?;
    if let Admission::Live { generation } = bench.store.admit(id).await? {
        bench.tokens.mint(id, generation, bench.clock.now());
    }
    bench.reconciler.delete(id, Source::User).await?;
    for _ in 0..12 {
        bench.relay.deliver_due().await?;
        bench.clock.advance(Duration::from_secs(35));
        bench.reconciler.sweep(10).await?;
    }
    // The store may have died inside of a delivery, which says so to nobody.
    bench.store.now().await?;
    Ok(())
}

/// The next run of the service: the user asks again, and time passes.
async fn recovered(bench: &Bench, id: &MachineId, when: &str) {
    let volume = Some("v-1");
    if bench.store.load(id).await.expect("an answer").is_none() {
        bench
            .reconciler
            .register(&new_machine(id, Some(("m-1", "a/1")), volume))
            .await
            .expect("registered");
    }
    bench.live(Duration::from_secs(180)).await;
    bench
        .reconciler
        .delete(id, Source::User)
        .await
        .expect("deleted");
    bench.live(Duration::from_secs(1_200)).await;
    assert_eq!(bench.status(id).await, Status::Destroyed, "{when}");
    assert_eq!(bench.count(id, Effect::RecordDestroyed).await, 1, "{when}");
    assert_eq!(bench.tokens.live(id), 0, "{when}");
    assert_eq!(bench.capacity.held(id), 0, "{when}");
    assert_eq!(
        bench.fleet.change(|world| world.alive().count()),
        0,
        "{when}"
    );
    assert!(
        bench.fleet.change(|world| world.volume("v-1").is_none()),
        "{when}"
    );
    let owed: Vec<OutboxRow> = bench.store.work(id).await.expect("an answer");
    assert!(
        owed.iter().all(|row| !row.state.is_owed()),
        "{when}: {owed:?}"
    );
}

#[derive(Clone, Copy, Debug)]
enum Death {
    Before,
    After,
}

/// A store that dies at one of its calls.
#[derive(Debug)]
struct Mortal {
    inner: Arc<dyn Store>,
    death: Death,
    left: AtomicUsize,
}

impl Mortal {
    fn is_dead(&self) -> bool {
        self.left.load(Ordering::SeqCst) == 0
    }

    fn dies_now(&self) -> bool {
        self.left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                if left == usize::MAX {
                    None
                } else {
                    left.checked_sub(1)
                }
            })
            .is_ok_and(|left| left == 1)
    }
}

impl Wrapped for Mortal {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    async fn around<T: Send>(
        &self,
        call: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        if self.is_dead() {
            return Err(dead());
        }
        let dies = self.dies_now();
        if dies && matches!(self.death, Death::Before) {
            return Err(dead());
        }
        let answer = call.await;
        if dies { Err(dead()) } else { answer }
    }
}

wrapped_store!(Mortal);

fn dead() -> StoreError {
    StoreError::Unavailable("the service died".into())
}
