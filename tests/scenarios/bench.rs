//! What does a story need: a store, a fleet, tokens, capacity, and a clock that all of them share?

use core::time::Duration;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use crate::postgres;
use async_trait::async_trait;
use lifecycle_adapters::{
    alert::{Alert, Alerts},
    capacity::{Capacity, CapacityError, Reservation},
    clock::{Clock as _, ManualClock},
    id::MachineId,
    memory::MemoryStore,
    outbox::{OutboxRow, WorkState},
    postgres_kit::Server,
    provider::Provider,
    reconciler::{Reconciler, Settings},
    relay::{Relay, RelaySettings},
    revoker::{Revocation, RevokeError, Revoker},
    row::{NewMachine, Row},
    simulated::SimulatedProvider,
    sqlite::SqliteStore,
    store::{Admission, Store},
};
use lifecycle_core::{Effect, Source, Status, Timestamp, Volume};

/// Everything that a story needs.
pub(crate) struct Bench {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) fleet: SimulatedProvider,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) capacity: Arc<Accounts>,
    pub(crate) alerts: Arc<Heard>,
    pub(crate) reconciler: Reconciler,
    pub(crate) relay: Relay,
    _folder: Option<tempfile::TempDir>,
    _server: Option<Server>,
}

pub(crate) const SCOPE: &str = "account-1/eu";

impl Bench {
    pub(crate) fn memory() -> Self {
        let clock = clock();
        let store = Arc::new(MemoryStore::new(clock.clone()));
        Self::over(clock, store, None)
    }

    pub(crate) async fn sqlite() -> Self {
        let clock = clock();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = SqliteStore::open(&folder.path().join("lifecycle.db"), clock.clone())
            .await
            .expect("a new database");
        Self::over(clock, Arc::new(store), Some(folder))
    }

    pub(crate) async fn postgres() -> Self {
        let clock = clock();
        let (store, server) = postgres::store(clock.clone()).await;
        let mut bench = Self::over(clock, Arc::new(store), None);
        bench._server = Some(server);
        bench
    }

    pub(crate) fn over(
        clock: Arc<ManualClock>,
        store: Arc<dyn Store>,
        folder: Option<tempfile::TempDir>,
    ) -> Self {
        let fleet = SimulatedProvider::new(clock.clone(), SCOPE);
        let tokens = Arc::new(Tokens::default());
        let capacity = Arc::new(Accounts::default());
        let alerts = Arc::new(Heard::default());
        let reconciler = Reconciler::new(store.clone(), Arc::new(fleet.clone()))
            .with_clock(clock.clone())
            .with_alerts(alerts.clone());
        let relay = relay(&reconciler, &tokens, &capacity);
        Self {
            clock,
            fleet,
            store,
            tokens,
            capacity,
            alerts,
            reconciler,
            relay,
            _folder: folder,
            _server: None,
        }
    }

    /// Chooses other settings.
    pub(crate) fn settled(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings::default();
        change(&mut settings);
        self.reconciler = self.reconciler.with_settings(settings);
        self.relay = relay(&self.reconciler, &self.tokens, &self.capacity);
        self
    }

    /// Asks another provider.
    pub(crate) fn with_provider(&self, provider: Arc<dyn Provider>) -> (Reconciler, Relay) {
        let reconciler = Reconciler::new(self.store.clone(), provider)
            .with_clock(self.clock.clone())
            .with_alerts(self.alerts.clone());
        let relay = relay(&reconciler, &self.tokens, &self.capacity);
        (reconciler, relay)
    }

    /// Creates and registers a machine and sees it run; with a volume where one is named.
    pub(crate) async fn running(&self, name: &str, volume: Option<&str>) -> MachineId {
        let id = self.registered(name, volume).await;
        self.clock.advance(Duration::from_secs(120));
        let seen = self
            .reconciler
            .observe(&id, Source::StatusRead)
            .await
            .expect("an answer");
        assert_eq!(
            seen.row.facts.machine().status,
            Status::Running,
            "{}",
            seen.why
        );
        self.drain().await;
        // Two questions of the same instant would count as one answer.
        self.clock.advance(Duration::from_secs(1));
        id
    }

    pub(crate) async fn registered(&self, name: &str, volume: Option<&str>) -> MachineId {
        let id = MachineId::new(name).expect("a name");
        let (provider_id, marker) = self.fleet.create(&id, 1, volume);
        self.reconciler
            .register(&new_machine(&id, Some((&provider_id, &marker)), volume))
            .await
            .expect("registered");
        id
    }

    /// Mints a token as a service does: only for a machine that is admitted.
    pub(crate) async fn mint(&self, id: &MachineId) -> bool {
        match self.store.admit(id).await.expect("an answer") {
            Admission::Live { generation } => {
                self.tokens.mint(id, generation, self.clock.now());
                true
            }
            Admission::Refused | Admission::Unknown => false,
        }
    }

    pub(crate) async fn row(&self, id: &MachineId) -> Row {
        self.store
            .load(id)
            .await
            .expect("an answer")
            .expect("a registered machine")
            .row
    }

    pub(crate) async fn status(&self, id: &MachineId) -> Status {
        self.row(id).await.facts.machine().status
    }

    pub(crate) async fn count(&self, id: &MachineId, fact: Effect) -> usize {
        self.store
            .ledger(id)
            .await
            .expect("an answer")
            .iter()
            .filter(|one| one.fact == fact)
            .count()
    }

    pub(crate) async fn work(&self, id: &MachineId, effect: Effect) -> Vec<OutboxRow> {
        let mut work = self.store.work(id).await.expect("an answer");
        work.retain(|row| row.work.key.effect == effect);
        work
    }

    pub(crate) async fn state(&self, id: &MachineId, effect: Effect) -> Option<WorkState> {
        self.work(id, effect).await.last().map(|row| row.state)
    }

    /// Delivers until nothing is due.
    pub(crate) async fn drain(&self) {
        for _ in 0..50 {
            if self
                .relay
                .deliver_due()
                .await
                .is_ok_and(|relayed| relayed.claimed == 0)
            {
                return;
            }
        }
    }

    /// Lets time pass in small steps, with a sweep and a relay at work, as a service has them.
    pub(crate) async fn live(&self, duration: Duration) {
        let step = Duration::from_secs(10);
        let mut left = duration;
        while !left.is_zero() {
            self.clock.advance(step.min(left));
            left = left.saturating_sub(step);
            // What fails now is looked at again.
            let _ = self.reconciler.sweep(100).await;
            self.drain().await;
        }
    }
}

pub(crate) fn new_machine(
    id: &MachineId,
    provided: Option<(&str, &str)>,
    volume: Option<&str>,
) -> NewMachine {
    NewMachine {
        id: id.clone(),
        scope: SCOPE.to_owned(),
        marker: provided.map(|(_, marker)| marker.to_owned()),
        provider_id: provided.map(|(provider_id, _)| provider_id.to_owned()),
        volume: if volume.is_some() {
            Volume::Owned
        } else {
            Volume::None
        },
        volume_id: volume.map(str::to_owned),
        policy: None,
    }
}

pub(crate) fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(Timestamp::from_millis(1_700_000_000_000)))
}

fn relay(reconciler: &Reconciler, tokens: &Arc<Tokens>, capacity: &Arc<Accounts>) -> Relay {
    Relay::new(reconciler.clone())
        .with_revoker(tokens.clone())
        .with_capacity(capacity.clone())
        .with_settings(RelaySettings {
            max_backoff: Duration::from_secs(30),
            ..RelaySettings::default()
        })
}

/// Tokens in memory.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    issued: Mutex<Vec<Token>>,
    pub(crate) failures: Mutex<u32>,
}

#[derive(Debug)]
struct Token {
    machine: MachineId,
    generation: u64,
    issued_at: Timestamp,
    is_revoked: bool,
}

impl Tokens {
    pub(crate) fn mint(&self, machine: &MachineId, generation: u64, issued_at: Timestamp) {
        let token = Token {
            machine: machine.clone(),
            generation,
            issued_at,
            is_revoked: false,
        };
        self.issued.lock().expect("no panic").push(token);
    }

    pub(crate) fn live(&self, machine: &MachineId) -> usize {
        let issued = self.issued.lock().expect("no panic");
        issued
            .iter()
            .filter(|token| token.machine == *machine && !token.is_revoked)
            .count()
    }
}

#[async_trait]
impl Revoker for Tokens {
    async fn revoke(&self, revocation: &Revocation) -> Result<(), RevokeError> {
        let mut failures = self.failures.lock().expect("no panic");
        if *failures > 0 {
            *failures -= 1;
            return Err(RevokeError {
                message: "simulated".to_owned(),
                is_retryable: true,
                source: None,
            });
        }
        for token in self.issued.lock().expect("no panic").iter_mut() {
            let is_meant = token.machine == revocation.machine
                && token.generation <= revocation.generation
                && revocation
                    .issued_before
                    .is_none_or(|before| token.issued_at <= before);
            token.is_revoked |= is_meant;
        }
        Ok(())
    }
}

/// Capacity in memory: reservations held, those released before their hold kept out.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    reserved: Mutex<BTreeMap<Reservation, bool>>,
}

impl Accounts {
    pub(crate) fn held(&self, machine: &MachineId) -> usize {
        let reserved = self.reserved.lock().expect("no panic");
        reserved
            .iter()
            .filter(|(reservation, held)| reservation.machine == *machine && **held)
            .count()
    }
}

#[async_trait]
impl Capacity for Accounts {
    async fn hold(&self, reservation: &Reservation) -> Result<(), CapacityError> {
        self.reserved
            .lock()
            .expect("no panic")
            .entry(reservation.clone())
            .or_insert(true);
        Ok(())
    }

    async fn release(&self, reservation: &Reservation) -> Result<(), CapacityError> {
        self.reserved
            .lock()
            .expect("no panic")
            .insert(reservation.clone(), false);
        Ok(())
    }
}

/// Alerts that were raised.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    raised: Mutex<Vec<Alert>>,
}

impl Heard {
    pub(crate) fn all(&self) -> Vec<Alert> {
        self.raised.lock().expect("no panic").clone()
    }
}

impl Alerts for Heard {
    fn raise(&self, alert: Alert) {
        self.raised.lock().expect("no panic").push(alert);
    }
}
