//! How fast is a sweep over Postgres, beside a loop over single rows and beside one statement by hand?
//!
//! Starts a server of its own and prints ratios of one run:
//!
//! ```sh
//! cargo bench --bench sweep                       # 10,000 machines
//! cargo bench --bench sweep -- 10000 100000 1000000
//! ```

use core::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use std::{env, fs, sync::Arc, time::Instant};

use async_trait::async_trait;
use lifecycle_adapters::{
    facts::Facts,
    id::MachineId,
    postgres::{Name, PostgresStore},
    postgres_kit::{Options, Server},
    provider::{
        Completeness, Delivered, Listed, Listing, Provider, ProviderError, Seen, Target,
        VolumeReading,
    },
    reconciler::Reconciler,
    row::NewMachine,
    store::{Adopted, Store as _},
};
use lifecycle_core::{
    Answer, Effects, LastSeen, Machine, Power, Proof, SeenPower, Source, Status, Timestamp, Volume,
};
use sqlx::{PgPool, postgres::PgPoolOptions};

fn main() {
    let sizes: Vec<u32> = env::args()
        .skip(1)
        .filter_map(|argument| argument.parse().ok())
        .collect();
    let sizes = if sizes.is_empty() {
        vec![10_000]
    } else {
        sizes
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let server = Server::private(Options::default()).unwrap_or_else(|error| panic!("{error}"));
    println!("Postgres {}, fsync off\n", server.version());
    println!(
        "{:>9}  {:>14}  {:>14}  {:>14}  {:>9}",
        "machines", "all changing/s", "none changing/s", "memory, MiB", "per row"
    );
    let mut first = None;
    for size in &sizes {
        let url = server.create_database("sweep").expect("a new database");
        let measured = runtime.block_on(measure(&url, *size));
        let per_row = 1e6 / measured.changing;
        let relative = per_row / *first.get_or_insert(per_row);
        println!(
            "{size:>9}  {:>14.0}  {:>14.0}  {:>14.1}  {relative:>8.2}x",
            measured.changing, measured.idle, measured.memory_mib
        );
    }
    let url = server.create_database("sweep").expect("a new database");
    runtime.block_on(compare(&url, 4_000));
}

struct Measured {
    changing: f64,
    idle: f64,
    memory_mib: f64,
}

/// Sweeps a fleet in which every row changes, then one in which none does.
async fn measure(url: &str, size: u32) -> Measured {
    let bench = Bench::new(url, size).await;
    let before = resident_mib();
    let changing = bench.sweep().await;
    let memory_mib = resident_mib() - before;
    bench.make_due().await;
    let idle = bench.sweep().await;
    Measured {
        changing,
        idle,
        memory_mib,
    }
}

/// Changes every row in three ways, and prints how they compare.
async fn compare(url: &str, size: u32) {
    let bench = Bench::new(url, size).await;
    let swept = bench.sweep().await;
    bench.flip();
    bench.make_due().await;
    let looped = bench.looped(size.min(2_000)).await;
    bench.flip();
    bench.make_due().await;
    let by_hand = bench.by_hand(size).await;
    println!("\nEvery row changing, {size} machines:");
    println!("  sweep         {swept:>9.0} rows/s");
    println!(
        "  row by row    {looped:>9.0} rows/s   the sweep is {:.1} times as fast",
        swept / looped
    );
    println!(
        "  by hand       {by_hand:>9.0} rows/s   the sweep reaches {:.2} of it",
        swept / by_hand
    );
}

struct Bench {
    pool: PgPool,
    fleet: Arc<Fleet>,
    reconciler: Reconciler,
    size: u32,
}

impl Bench {
    async fn new(url: &str, size: u32) -> Self {
        let pool = PgPoolOptions::new()
            .max_connections(4)
            .connect(url)
            .await
            .expect("the server answers");
        let schema = Name::new("lifecycle").expect("a plain name");
        let store = Arc::new(
            PostgresStore::migrate(pool.clone(), schema)
                .await
                .expect("a new schema"),
        );
        for start in (0..size).step_by(5_000) {
            let batch: Vec<Adopted> = (start..size.min(start + 5_000)).map(adopted).collect();
            store.adopt(&batch).await.expect("new machines");
        }
        sqlx::raw_sql("analyze")
            .execute(&pool)
            .await
            .expect("the server answers");
        let fleet = Arc::new(Fleet {
            size,
            is_off: AtomicBool::new(true),
        });
        let reconciler = Reconciler::new(store, fleet.clone());
        let bench = Self {
            pool,
            fleet,
            reconciler,
            size,
        };
        bench.make_due().await;
        bench
    }

    fn flip(&self) {
        self.fleet.is_off.fetch_xor(true, Ordering::SeqCst);
    }

    async fn make_due(&self) {
        // A question must not be older than the status it is asked about.
        tokio::time::sleep(Duration::from_millis(5)).await;
        // A vacuum stands alone.
        for statement in [
            "update lifecycle.machines set look_again_at = 0",
            "vacuum analyze",
        ] {
            sqlx::raw_sql(statement)
                .execute(&self.pool)
                .await
                .expect("the server answers");
        }
    }

    /// Returns rows a second.
    async fn sweep(&self) -> f64 {
        let begun = Instant::now();
        let swept = self
            .reconciler
            .sweep(self.size)
            .await
            .expect("the server answers");
        assert_eq!(swept.looked_at, u64::from(self.size));
        f64::from(self.size) / begun.elapsed().as_secs_f64()
    }

    /// Looks at one row after the other, as a service without a sweep does.
    async fn looped(&self, count: u32) -> f64 {
        let begun = Instant::now();
        for number in 0..count {
            let seen = self
                .reconciler
                .observe(&machine_id(number), Source::Sweep)
                .await
                .expect("the server answers");
            assert!(seen.rule.is_some());
        }
        f64::from(count) / begun.elapsed().as_secs_f64()
    }

    /// Does the same writes in one statement that knows the answer already.
    async fn by_hand(&self, size: u32) -> f64 {
        let begun = Instant::now();
        let changed = sqlx::query(BY_HAND)
            .execute(&self.pool)
            .await
            .expect("the schema is as it was");
        assert_eq!(changed.rows_affected(), u64::from(size));
        f64::from(size) / begun.elapsed().as_secs_f64()
    }
}

const BY_HAND: &str = include_str!("sweep.sql");

fn machine_id(number: u32) -> MachineId {
    MachineId::new(format!("m-{number}")).expect("a plain name")
}

fn adopted(number: u32) -> Adopted {
    let id = machine_id(number);
    let start = Timestamp::from_millis(1_700_000_000_000);
    let machine = Machine {
        status: Status::Running,
        last_seen: Some(LastSeen {
            power: SeenPower::Running,
            at: start,
        }),
        observed_at: Some(start),
        ..Machine::new(SCOPE, None, start)
    };
    Adopted {
        new: NewMachine {
            provider_id: Some(id.as_str().to_owned()),
            id,
            scope: SCOPE.to_owned(),
            marker: None,
            volume: Volume::None,
            volume_id: None,
            policy: None,
        },
        facts: Facts::of(&machine),
        recorded: Vec::new(),
        delivered: Effects::ALL,
    }
}

/// A fleet that is all off or all on.
#[derive(Debug)]
struct Fleet {
    size: u32,
    is_off: AtomicBool,
}

impl Fleet {
    fn power(&self) -> Power {
        if self.is_off.load(Ordering::SeqCst) {
            Power::Off
        } else {
            Power::Running
        }
    }
}

#[async_trait]
impl Provider for Fleet {
    async fn observe(&self, _target: &Target) -> Seen {
        Seen {
            answer: Answer::Present(self.power()),
            scope: Some(SCOPE.to_owned()),
            marker: None,
        }
    }

    async fn list(&self) -> Result<Listing, ProviderError> {
        let machines = (0..self.size)
            .map(|number| Listed::present(machine_id(number).as_str(), self.power(), None))
            .collect();
        Ok(Listing {
            scope: SCOPE.to_owned(),
            completeness: Completeness::Complete,
            machines,
        })
    }

    async fn read_volume(&self, _target: &Target) -> VolumeReading {
        VolumeReading::Absent(Proof::TypedNotFound)
    }

    async fn stop_compute(&self, _target: &Target) -> Result<Delivered, ProviderError> {
        Ok(Delivered::Accepted)
    }

    async fn destroy_compute(&self, _target: &Target) -> Result<Delivered, ProviderError> {
        Ok(Delivered::Accepted)
    }

    async fn destroy_volume(&self, _target: &Target) -> Result<Delivered, ProviderError> {
        Ok(Delivered::Accepted)
    }
}

/// Returns the memory of this process, as the operating system counts it.
fn resident_mib() -> f64 {
    let pages = fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| text.split_whitespace().nth(1)?.parse::<f64>().ok())
        .unwrap_or(f64::NAN);
    pages * 4_096.0 / 1_048_576.0
}

const SCOPE: &str = "bench";
