//! Real machines live, vanish, are paused, deleted and destroyed, and every consequence is recorded once.
//!
//! A machine is a process of this host, its volume a folder. Everything is kept in one SQLite file.
//!
//! ```sh
//! cargo run --example fleet
//! ```

mod host;
mod service;
mod show;
mod story;

use std::{path::PathBuf, process::ExitCode};

use clap::Parser;

/// Starts a dozen machines and does to them what life does.
#[derive(Debug, Parser)]
struct Flags {
    /// Keep the database here; else it lies in a temporary folder.
    #[arg(long)]
    db: Option<PathBuf>,
    /// Take shorter graces, for tests.
    #[arg(long)]
    fast: bool,
}

type Failure = Box<dyn core::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run(Flags::parse()).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("fleet: {error}");
            let mut cause = error.source();
            while let Some(inner) = cause {
                eprintln!("  because: {inner}");
                cause = inner.source();
            }
            ExitCode::FAILURE
        }
    }
}

async fn run(flags: Flags) -> Result<bool, Failure> {
    let folder = tempfile::tempdir()?;
    let is_kept = flags.db.is_some();
    let database = flags.db.unwrap_or_else(|| folder.path().join("fleet.db"));
    let service = service::Service::start(&database, folder.path(), flags.fast).await?;
    let told = tokio::select! {
        told = story::tell(&service) => told,
        () = interrupted() => Err("interrupted".into()),
    };
    // Whatever became of the story, no process of it is left behind.
    let events = match told {
        Ok(events) => events,
        Err(error) => {
            service.stop().await;
            return Err(error);
        }
    };
    let shown = show::everything(&service, &events).await;
    service.stop().await;
    let is_right = shown?;
    if is_kept {
        println!("\nThe database is {}.", database.display());
    }
    Ok(is_right)
}

/// Waits for somebody to end the program.
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};

    let (Ok(mut terminated), Ok(mut hung_up)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::hangup()),
    ) else {
        return core::future::pending().await;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminated.recv() => {}
        _ = hung_up.recv() => {}
    }
}
