//! Which database does the service use, and how does it find it again after its death?

use std::{
    env,
    path::{Path, PathBuf},
    sync::Arc,
};

use lifecycle_adapters::{
    capacity::Capacity,
    clock::SystemClock,
    id::MachineId,
    postgres::{Name, PgCapacity, PgTokenRevoker, PostgresStore, TokenTable},
    revoker::Revoker,
    sqlite::{SqliteCapacity, SqliteStore, SqliteTokenRevoker},
    store::{Admission, Store},
};
use sqlx::PgPool;

use crate::world::World;

/// Where everything is.
pub(crate) struct Database {
    kind: Kind,
    world: PathBuf,
}

enum Kind {
    Sqlite(PathBuf),
    Postgres(String),
}

/// Everything, opened.
pub(crate) struct Opened {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) revoker: Arc<dyn Revoker>,
    pub(crate) capacity: Arc<dyn Capacity>,
    pub(crate) world: World,
    tokens: Tokens,
}

enum Tokens {
    Sqlite(SqliteTokenRevoker, Arc<SqliteCapacity>),
    Postgres(PostgresStore),
}

impl Database {
    pub(crate) fn sqlite(file: &Path, world: &Path) -> Self {
        Self {
            kind: Kind::Sqlite(file.to_owned()),
            world: world.to_owned(),
        }
    }

    pub(crate) fn postgres(url: &str, world: &Path) -> Self {
        Self {
            kind: Kind::Postgres(url.to_owned()),
            world: world.to_owned(),
        }
    }

    /// Finds what the parent said.
    pub(crate) fn of_environment() -> Self {
        let world = PathBuf::from(env::var(WORLD).expect("the parent says"));
        match (env::var(FILE), env::var(URL)) {
            (Ok(file), _) => Self {
                kind: Kind::Sqlite(file.into()),
                world,
            },
            (Err(_), url) => Self {
                kind: Kind::Postgres(url.expect("the parent says")),
                world,
            },
        }
    }

    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        let world = (WORLD, self.world.display().to_string());
        match &self.kind {
            Kind::Sqlite(file) => vec![world, (FILE, file.display().to_string())],
            Kind::Postgres(url) => vec![world, (URL, url.clone())],
        }
    }

    /// Creates what is the host's own: its table of tokens.
    pub(crate) async fn prepare(&self) {
        if let Kind::Postgres(url) = &self.kind {
            let pool = PgPool::connect(url).await.expect("the server answers");
            sqlx::raw_sql(
                "create table public.tokens (
                    machine text not null,
                    generation bigint not null,
                    issued_at timestamptz not null default clock_timestamp(),
                    revoked_at timestamptz
                )",
            )
            .execute(&pool)
            .await
            .expect("a new database");
        }
    }

    pub(crate) async fn open(&self) -> Opened {
        let world = World::open(&self.world);
        match &self.kind {
            Kind::Sqlite(file) => {
                let store = SqliteStore::open(file, Arc::new(SystemClock::new())).await;
                let store = Arc::new(store.expect("a database of ours"));
                let tokens = SqliteTokenRevoker::create(store.clone())
                    .await
                    .expect("a table of tokens");
                let capacity = Arc::new(SqliteCapacity::new(store.clone()));
                Opened {
                    store,
                    revoker: Arc::new(tokens.clone()),
                    capacity: capacity.clone(),
                    world,
                    tokens: Tokens::Sqlite(tokens, capacity),
                }
            }
            Kind::Postgres(url) => {
                let pool = PgPool::connect(url).await.expect("the server answers");
                let store = PostgresStore::migrate(pool.clone(), name("lifecycle"))
                    .await
                    .expect("a schema of ours");
                Opened {
                    store: Arc::new(store.clone()),
                    revoker: Arc::new(PgTokenRevoker::new(pool, token_table())),
                    capacity: Arc::new(PgCapacity::new(&store)),
                    world,
                    tokens: Tokens::Postgres(store),
                }
            }
        }
    }
}

impl Opened {
    /// Mints a token where the machine admits it, in one transaction.
    pub(crate) async fn mint(&self, id: &MachineId) {
        match &self.tokens {
            // A machine that is not live gets none.
            Tokens::Sqlite(tokens, _) => drop(tokens.mint(id).await),
            Tokens::Postgres(store) => {
                let mut transaction = store.pool().begin().await.expect("the server answers");
                let admission = store
                    .admit_on(&mut transaction, id)
                    .await
                    .expect("the server answers");
                if let Admission::Live { generation } = admission {
                    sqlx::query("insert into public.tokens (machine, generation) values ($1, $2)")
                        .bind(id.as_str())
                        .bind(i64::try_from(generation).expect("a small number"))
                        .execute(&mut *transaction)
                        .await
                        .expect("the server answers");
                }
                transaction.commit().await.expect("the server answers");
            }
        }
    }

    pub(crate) async fn live_tokens(&self, id: &MachineId) -> u64 {
        match &self.tokens {
            Tokens::Sqlite(tokens, _) => tokens.live(id).await.expect("an answer"),
            Tokens::Postgres(store) => {
                let live =
                    "select count(*) from public.tokens where machine = $1 and revoked_at is null";
                let (live,): (i64,) = sqlx::query_as(live)
                    .bind(id.as_str())
                    .fetch_one(store.pool())
                    .await
                    .expect("an answer");
                live.unsigned_abs()
            }
        }
    }

    pub(crate) async fn reserved(&self) -> u64 {
        match &self.tokens {
            Tokens::Sqlite(_, capacity) => capacity.held().await.expect("an answer"),
            Tokens::Postgres(store) => PgCapacity::new(store).reserved().await.expect("an answer"),
        }
    }
}

fn token_table() -> TokenTable {
    TokenTable {
        schema: name("public"),
        table: name("tokens"),
        machine: name("machine"),
        generation: Some(name("generation")),
        issued_at: Some(name("issued_at")),
        revoked_at: name("revoked_at"),
    }
}

fn name(text: &str) -> Name {
    Name::new(text).expect("a plain name")
}

const WORLD: &str = "LIFECYCLE_KILLS_WORLD";
const FILE: &str = "LIFECYCLE_KILLS_FILE";
const URL: &str = "LIFECYCLE_KILLS_URL";
