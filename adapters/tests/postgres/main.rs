//! Does the Postgres store keep its promises on a real server?
//!
//! One server for all tests, one database for each. See `postgres_kit` for where the server comes from.

mod capacity;
mod changes;
mod concurrency;
mod contract;
mod database;
mod migrations;
mod notifications;
mod outcome;
mod poison;
mod proxy;
mod restart;
mod retention;
mod tokens;
mod transactions;
