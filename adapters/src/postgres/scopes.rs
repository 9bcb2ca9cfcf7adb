//! What does the fleet guard see of a scope?

use core::time::Duration;

use lifecycle_core::{ScopeWindow, Timestamp};

use super::{
    Name, PostgresStore,
    failure::Failure,
    statement::{Statement, span},
};

#[derive(Debug)]
pub(super) struct Statements {
    window: Statement,
    release: Statement,
}

impl Statements {
    pub(super) fn of(schema: &Name) -> Self {
        Self {
            window: format!(
                "with gone as materialized (
                     select g.machine from {schema}.newly_gone g
                     where g.scope = $1 and g.at > (select {schema}.now_ms()) - $2
                 )
                 select (select count(*) from gone),
                     (select count(*) from {schema}.machines m where m.scope = $1 and {ACTIVE})
                     + (select count(*) from gone where not exists (
                         select from {schema}.machines m
                         where m.id = gone.machine and m.scope = $1 and {ACTIVE}
                     )),
                     (select held_since from {schema}.scopes where scope = $1),
                     (select released_at from {schema}.scopes where scope = $1)"
            )
            .into(),
            release: format!(
                "insert into {schema}.scopes (scope, released_at) values ($1, {schema}.now_ms())
                 on conflict (scope) do update set held_since = null, released_at = excluded.released_at"
            )
            .into(),
        }
    }
}

impl PostgresStore {
    pub(super) async fn window(
        &self,
        scope: &str,
        window: Duration,
    ) -> Result<ScopeWindow, Failure> {
        let mut connection = self.connection().await?;
        let (newly_gone, active, held_since, released_at): (i64, i64, Option<i64>, Option<i64>) =
            self.statements()
                .scopes
                .window
                .rows()
                .bind(scope)
                .bind(span(window))
                .fetch_one(&mut *connection)
                .await?;
        Ok(ScopeWindow {
            newly_gone: newly_gone.unsigned_abs(),
            active: active.unsigned_abs(),
            held_since: held_since.map(Timestamp::from_millis),
            released_at: released_at.map(Timestamp::from_millis),
        })
    }

    pub(super) async fn release(&self, scope: &str) -> Result<(), Failure> {
        let mut connection = self.connection().await?;
        self.statements()
            .scopes
            .release
            .query()
            .bind(scope)
            .execute(&mut *connection)
            .await?;
        Ok(())
    }
}

/// As the index of the active machines has it.
const ACTIVE: &str = "m.status in ('provisioning', 'running', 'paused', 'failed')";

#[cfg(test)]
mod tests {
    use lifecycle_core::Status;

    use super::*;

    #[test]
    fn active_is_what_the_core_says() {
        for status in Status::ALL {
            let is_listed = ACTIVE.contains(&format!("'{status}'"));
            assert_eq!(is_listed, status.is_active(), "{status}");
        }
    }
}
