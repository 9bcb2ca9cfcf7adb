//! How does a story tell a Postgres what time it is?

use std::sync::Arc;

use lifecycle_adapters::{
    clock::{Clock as _, ManualClock},
    postgres::{Name, PostgresStore},
    postgres_kit::Server,
    store::{Store, StoreError},
};
use sqlx::{PgPool, postgres::PgPoolOptions};

use crate::wrapped::{Wrapped, wrapped_store};

/// A store in a database of its own, whose clock is the story's.
pub(crate) async fn store(clock: Arc<ManualClock>) -> (Timed, Server) {
    let server = Server::shared().unwrap_or_else(|error| panic!("{error}"));
    let url = server.create_database("story").expect("a new database");
    let pool = PgPoolOptions::new()
        .max_connections(4)
        .connect(&url)
        .await
        .expect("the server answers");
    let schema = Name::new("lifecycle").expect("a plain name");
    let store = PostgresStore::migrate(pool.clone(), schema)
        .await
        .expect("a new schema");
    sqlx::raw_sql(
        "create table public.story (now_ms bigint not null);
         insert into public.story values (0);
         create or replace function lifecycle.now_ms() returns bigint
             language sql volatile parallel safe
             begin atomic select now_ms from public.story; end",
    )
    .execute(&pool)
    .await
    .expect("a new database");
    (
        Timed {
            inner: store,
            pool,
            clock,
        },
        server,
    )
}

/// A store that is told the time before each call.
#[derive(Debug)]
pub(crate) struct Timed {
    inner: PostgresStore,
    pool: PgPool,
    clock: Arc<ManualClock>,
}

impl Wrapped for Timed {
    fn inner(&self) -> &dyn Store {
        &self.inner
    }

    async fn around<T: Send>(
        &self,
        call: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        sqlx::query("update public.story set now_ms = greatest(now_ms, $1)")
            .bind(self.clock.now().as_millis())
            .execute(&self.pool)
            .await
            .expect("the server answers");
        call.await
    }
}

wrapped_store!(Timed);
