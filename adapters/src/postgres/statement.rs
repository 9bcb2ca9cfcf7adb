//! Which statements are asked, and of which schema?

use core::{fmt, time::Duration};
use std::sync::Arc;

use lifecycle_core::{Delivery, Effect};
use sqlx::{
    AssertSqlSafe, Postgres,
    postgres::PgArguments,
    query::{Query, QueryAs},
};

use super::{Name, adopt, claim, commit, ledger, outbox, register, repair, rows, scopes, settle};
use crate::outbox::WorkState;

/// One statement. Its text holds nothing from outside but names that [`Name`] let pass.
#[derive(Clone)]
pub(super) struct Statement(Arc<str>);

impl Statement {
    pub(super) fn query(&self) -> Query<'_, Postgres, PgArguments> {
        sqlx::query(AssertSqlSafe(self.0.clone()))
    }

    pub(super) fn query_with(&self, arguments: PgArguments) -> Query<'_, Postgres, PgArguments> {
        sqlx::query_with(AssertSqlSafe(self.0.clone()), arguments)
    }

    pub(super) fn rows<T>(&self) -> QueryAs<'_, Postgres, T, PgArguments>
    where
        T: for<'r> sqlx::FromRow<'r, sqlx::postgres::PgRow>,
    {
        sqlx::query_as(AssertSqlSafe(self.0.clone()))
    }
}

impl From<String> for Statement {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Every statement of one schema, written once.
#[derive(Debug)]
pub(super) struct Statements {
    pub(super) rows: rows::Statements,
    pub(super) register: Statement,
    pub(super) commit: Statement,
    pub(super) adopt: Statement,
    pub(super) claim: claim::Statements,
    pub(super) settle: Statement,
    pub(super) outbox: outbox::Statements,
    pub(super) ledger: ledger::Statements,
    pub(super) scopes: scopes::Statements,
    pub(super) repair: repair::Statements,
}

impl Statements {
    pub(super) fn of(schema: &Name) -> Self {
        Self {
            rows: rows::Statements::of(schema),
            register: register::statement(schema),
            commit: commit::statement(schema),
            adopt: adopt::statement(schema),
            claim: claim::Statements::of(schema),
            settle: settle::statement(schema),
            outbox: outbox::Statements::of(schema),
            ledger: ledger::Statements::of(schema),
            scopes: scopes::Statements::of(schema),
            repair: repair::Statements::of(schema),
        }
    }
}

/// Lists the effects of the outbox of which something holds, as a statement has them.
pub(super) fn effects(holds: fn(Effect) -> bool) -> String {
    let effects = Effect::ALL.iter().filter(|effect| match effect.delivery() {
        Delivery::Outbox => holds(**effect),
        Delivery::WithCommit => false,
    });
    quoted(effects.map(|effect| effect.word()))
}

/// Lists the states in which work is owed, as a statement has them.
pub(super) fn owed() -> String {
    let states = WorkState::ALL.iter().filter(|state| state.is_owed());
    quoted(states.map(|state| state.word()))
}

fn quoted(words: impl Iterator<Item = &'static str>) -> String {
    let words: Vec<String> = words.map(|word| format!("'{word}'")).collect();
    words.join(", ")
}

/// A span of time as a statement adds it to its clock: a century at most, which no clock overflows.
pub(super) fn span(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).map_or(A_CENTURY, |millis| millis.min(A_CENTURY))
}

const A_CENTURY: i64 = 100 * 366 * 24 * 60 * 60 * 1000;
