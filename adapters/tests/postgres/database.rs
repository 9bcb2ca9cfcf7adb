//! How does a test get a database of its own, and machines in it?

use lifecycle_adapters::{
    id::MachineId,
    postgres::{Name, PostgresStore},
    postgres_kit::Server,
    row::NewMachine,
};
use lifecycle_core::Volume;
use sqlx::{PgPool, postgres::PgPoolOptions};

/// A database that nobody else uses; the server lives as long as anything of this.
pub(crate) struct Database {
    server: Server,
    pub(crate) url: String,
}

impl Database {
    pub(crate) fn new() -> Self {
        let server = Server::shared().unwrap_or_else(|error| panic!("{error}"));
        let url = server.create_database("store").expect("it is created");
        Self { server, url }
    }

    pub(crate) async fn pool(&self, connections: u32) -> PgPool {
        pool(&self.url, connections).await
    }

    pub(crate) async fn store(&self) -> PostgresStore {
        PostgresStore::migrate(self.pool(8).await, schema())
            .await
            .expect("it is created")
    }

    /// Returns the port of the server.
    pub(crate) fn port(&self) -> u16 {
        let after = self.url.rsplit(':').next().expect("it names a port");
        let port = after.split('/').next().expect("it names a database");
        port.parse().expect("it is a number")
    }

    /// Returns the address for another role, which logs in without a password.
    pub(crate) fn role(&self) -> (Name, String) {
        let name = self.url.rsplit('/').next().expect("it names a database");
        let role = name
            .split('?')
            .next()
            .expect("it names a database")
            .to_owned();
        self.server
            .execute(&format!("create role \"{role}\" login"))
            .expect("it is created");
        let url = self.url.replacen("postgres@", &format!("{role}@"), 1);
        assert_ne!(url, self.url);
        (Name::new(role).expect("the kit chooses plain names"), url)
    }
}

pub(crate) async fn pool(url: &str, connections: u32) -> PgPool {
    PgPoolOptions::new()
        .max_connections(connections)
        .connect(url)
        .await
        .expect("the server answers")
}

pub(crate) fn schema() -> Name {
    Name::new("lifecycle").expect("it is plain")
}

pub(crate) fn new_machine(id: &str) -> NewMachine {
    NewMachine {
        id: MachineId::new(id).expect("it is plain"),
        scope: "account/eu".to_owned(),
        marker: None,
        provider_id: Some(format!("provider-{id}")),
        volume: Volume::None,
        volume_id: None,
        policy: None,
    }
}
