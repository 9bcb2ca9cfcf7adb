//! What does a service that owns machines put together?

use core::time::Duration;
use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex},
    time::Instant,
};

use lifecycle_adapters::{
    clock::{Clock, SystemClock},
    id::MachineId,
    process::{ProcessProvider, StartOptions, VolumeName},
    reconciler::{Reconciler, Settings},
    relay::{Relay, RelaySettings},
    row::{NewMachine, Row},
    sqlite::{SqliteCapacity, SqliteStore, SqliteTokenRevoker},
    store::Store,
};
use lifecycle_core::{Misses, Policy, Source, Status, Table, Thresholds, Volume};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{Failure, host::Host, story};

/// A service with machines: its store, its provider, and the two loops that keep them in step.
pub(crate) struct Service {
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) provider: Arc<Host>,
    pub(crate) tokens: SqliteTokenRevoker,
    pub(crate) reconciler: Reconciler,
    pub(crate) grace: Duration,
    start: Instant,
    stop: CancellationToken,
    loops: Mutex<Vec<JoinHandle<()>>>,
}

impl Service {
    pub(crate) async fn start(database: &Path, folder: &Path, fast: bool) -> Result<Self, Failure> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let store = Arc::new(SqliteStore::open(database, clock).await?);
        let provider = Arc::new(Host::new(ProcessProvider::open(folder.join("machines"))?));
        if store.load(&MachineId::new(story::FIRST)?).await?.is_some() {
            return Err(
                "this database has the machines of an earlier run; name another file".into(),
            );
        }
        let tokens = SqliteTokenRevoker::create(store.clone()).await?;
        let grace = Duration::from_secs(if fast { 2 } else { 6 });
        let policy = Policy::new(Table::DEFAULT, thresholds(grace))?;
        let settings = Settings {
            policy,
            ..Settings::default()
        };
        let reconciler = Reconciler::new(store.clone(), provider.clone()).with_settings(settings);
        let relay = Relay::new(reconciler.clone())
            .with_revoker(Arc::new(tokens.clone()))
            .with_capacity(Arc::new(SqliteCapacity::new(store.clone())))
            .with_settings(RelaySettings {
                poll: Duration::from_millis(50),
                min_backoff: Duration::from_millis(100),
                max_backoff: Duration::from_secs(1),
                confirm_after: Duration::from_millis(100),
                ..RelaySettings::default()
            });
        let stop = CancellationToken::new();
        let relaying = tokio::spawn({
            let stop = stop.clone();
            async move { relay.run(stop).await }
        });
        let sweeping = tokio::spawn(sweep(reconciler.clone(), stop.clone()));
        Ok(Self {
            store,
            provider,
            tokens,
            reconciler,
            grace,
            start: Instant::now(),
            stop,
            loops: Mutex::new(vec![relaying, sweeping]),
        })
    }

    /// Starts a machine the way a service should: registered first, so that nothing runs unrecorded.
    pub(crate) async fn launch(&self, name: &str, volume: bool) -> Result<MachineId, Failure> {
        let id = MachineId::new(name)?;
        self.register(&id, volume).await?;
        let started = self
            .provider
            .start(&id, 1, options(volume.then_some(name))?)
            .await?;
        self.reconciler
            .assign(&id, 1, &started.provider_id, Some(&started.marker))
            .await?;
        let seen = self.reconciler.observe(&id, Source::StatusRead).await?;
        self.tokens.mint(&id).await?;
        self.say(&format!(
            "{name} is {}, pid {}",
            seen.row.facts.machine().status,
            started.provider_id
        ));
        Ok(id)
    }

    pub(crate) async fn register(&self, id: &MachineId, volume: bool) -> Result<(), Failure> {
        self.reconciler
            .register(&NewMachine {
                id: id.clone(),
                scope: self.provider.scope()?,
                marker: None,
                provider_id: None,
                volume: if volume { Volume::Owned } else { Volume::None },
                volume_id: volume.then(|| id.as_str().to_owned()),
                policy: None,
            })
            .await?;
        Ok(())
    }

    pub(crate) async fn row(&self, id: &MachineId) -> Result<Row, Failure> {
        Ok(self
            .store
            .load(id)
            .await?
            .ok_or("a machine that nobody registered")?
            .row)
    }

    /// Waits until a machine has this status; an error says what it has instead.
    pub(crate) async fn wait_for(&self, id: &MachineId, status: Status) -> Result<(), Failure> {
        let patience = Instant::now() + self.grace + Duration::from_secs(15);
        loop {
            let row = self.row(id).await?;
            let now = row.facts.machine().status;
            if now == status {
                self.say(&format!("{id} is {status}"));
                return Ok(());
            }
            if Instant::now() > patience {
                return Err(format!("{id} should be {status} by now, and is {now}").into());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until no work is owed any more.
    pub(crate) async fn settled(&self, ids: &[MachineId]) -> Result<(), Failure> {
        let patience = Instant::now() + Duration::from_secs(15);
        let mut owed = BTreeMap::new();
        while Instant::now() < patience {
            owed.clear();
            for id in ids {
                for row in self
                    .store
                    .work(id)
                    .await?
                    .into_iter()
                    .filter(|row| row.state.is_owed())
                {
                    owed.insert(
                        format!("{id} {}", row.work.key.effect),
                        row.note.unwrap_or_default(),
                    );
                }
            }
            if owed.is_empty() {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Err(format!("work is still owed: {owed:?}").into())
    }

    pub(crate) fn say(&self, line: &str) {
        println!("{:7.2} s  {line}", self.start.elapsed().as_secs_f64());
    }

    /// Stops the loops, then every machine that the provider still has.
    pub(crate) async fn stop(&self) {
        self.stop.cancel();
        let loops =
            core::mem::take(&mut *self.loops.lock().expect("nothing panics while it is held"));
        for task in loops {
            // A loop that panicked has said so already.
            let _ = task.await;
        }
        self.provider.end_all().await;
        // Whatever is still in the log of the database goes into its file.
        self.store.pool().close().await;
    }
}

pub(crate) fn options(volume: Option<&str>) -> Result<StartOptions, Failure> {
    let volume = volume
        .map(|name| VolumeName::parse(name).ok_or("not a name of a volume"))
        .transpose()?;
    let mut options = StartOptions::new("sleep", ["300"]);
    options.volume = volume;
    Ok(options)
}

async fn sweep(reconciler: Reconciler, stop: CancellationToken) {
    while !stop.is_cancelled() {
        if let Err(error) = reconciler.sweep(100).await {
            eprintln!("fleet: the sweep failed: {error}");
        }
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(Duration::from_millis(200)) => {}
        }
    }
}

/// The cautious thresholds, in a hurry: one host, one clock, and somebody watching.
const fn thresholds(grace: Duration) -> Thresholds {
    Thresholds {
        listed: Misses {
            count: 2,
            span: Duration::from_millis(300),
        },
        typed: Misses {
            count: 2,
            span: Duration::from_millis(100),
        },
        visibility_window: Duration::from_millis(200),
        launch_deadline: Duration::from_secs(3),
        clock_error: Duration::from_millis(50),
        grace,
        recheck: Duration::from_millis(300),
        sweep_every: Duration::from_secs(1),
        ..Thresholds::CAUTIOUS
    }
}
