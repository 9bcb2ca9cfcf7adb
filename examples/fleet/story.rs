//! What does life do to a dozen machines?

use core::time::Duration;
use std::{collections::BTreeMap, process::Command};

use lifecycle_adapters::{
    id::MachineId,
    reconciler::{NewIncarnation, ReconcileError},
};
use lifecycle_core::{Source, Status};

use super::{
    Failure,
    service::{Service, options},
};

/// What happened to each machine, in words.
pub(crate) type Events = BTreeMap<MachineId, &'static str>;

pub(crate) async fn tell(service: &Service) -> Result<Events, Failure> {
    service.say("a dozen machines are started");
    let peaceful = service.launch(FIRST, false).await?;
    let killed = service.launch("web-2", false).await?;
    let paused = service.launch("web-3", false).await?;
    let thawed = service.launch("web-4", false).await?;
    let reused = service.launch("web-5", false).await?;
    let bystander = service.launch("web-6", false).await?;
    let deleted_bare = service.launch("web-7", false).await?;
    let lost = service.launch("db-1", true).await?;
    let deleted = service.launch("db-2", true).await?;
    let restored = service.launch("db-3", true).await?;
    let base = service.launch("base-1", true).await?;
    let never = MachineId::new("late-1")?;
    service.register(&never, false).await?;
    service.say("late-1 is registered, and its create is never answered");
    // What is too new is not missed; let the fleet come of age.
    tokio::time::sleep(Duration::from_millis(300)).await;

    service.say("web-2 is killed from outside");
    signal(service, &killed, "KILL").await?;
    service.wait_for(&killed, Status::Destroyed).await?;

    service.say("web-3 and web-4 are stopped by a signal");
    signal(service, &paused, "STOP").await?;
    signal(service, &thawed, "STOP").await?;
    service.wait_for(&paused, Status::Paused).await?;
    service.wait_for(&thawed, Status::Paused).await?;
    service.say("web-4 goes on");
    signal(service, &thawed, "CONT").await?;
    service.wait_for(&thawed, Status::Running).await?;

    service.say("db-1 is killed; it has a volume");
    signal(service, &lost, "KILL").await?;
    service.wait_for(&lost, Status::Paused).await?;

    service.say("db-2, db-3 and web-7 are deleted by their users");
    service.reconciler.delete(&deleted, Source::User).await?;
    service.reconciler.delete(&restored, Source::User).await?;
    service
        .reconciler
        .delete(&deleted_bare, Source::User)
        .await?;
    let report = service.reconciler.report(&deleted).await?;
    service.say(&format!("db-2: {}", report.detail));

    service.say("db-3 is restored in time, and recovered on its volume");
    service.reconciler.restore(&restored, Source::User).await?;
    recover(service, &restored, "db-3").await?;
    service.wait_for(&restored, Status::Running).await?;

    service.say("web-5 is killed, and its pid comes to belong to another process");
    signal(service, &reused, "KILL").await?;
    let pid_of = async |id| {
        service
            .row(id)
            .await?
            .provider_id
            .ok_or_else(|| Failure::from("no pid"))
    };
    service
        .provider
        .reuse(&pid_of(&reused).await?, &pid_of(&bystander).await?);
    service.wait_for(&reused, Status::Destroyed).await?;

    service.say("base-1 is killed, and reopening it overrides the mapping");
    signal(service, &base, "KILL").await?;
    service.reconciler.force(&base, Source::BaseReopen).await?;
    service.wait_for(&base, Status::Destroyed).await?;

    service.say(&format!(
        "the grace of {} s passes",
        service.grace.as_secs()
    ));
    service.wait_for(&deleted_bare, Status::Destroyed).await?;
    service.wait_for(&deleted, Status::Destroyed).await?;
    service.wait_for(&never, Status::Failed).await?;
    service.wait_for(&bystander, Status::Running).await?;
    let events = Events::from([
        (peaceful, "left in peace"),
        (killed, "killed from outside"),
        (paused, "stopped by a signal"),
        (thawed, "stopped by a signal, then continued"),
        (reused, "killed, its pid reused by web-6"),
        (bystander, "left in peace, under a reused pid"),
        (deleted_bare, "deleted, without a volume"),
        (lost, "killed; its volume is kept"),
        (deleted, "deleted by its user"),
        (restored, "deleted, restored in time, recovered"),
        (base, "killed, then reopened with force"),
        (never, "never arrived"),
    ]);
    service
        .settled(&events.keys().cloned().collect::<Vec<_>>())
        .await?;
    Ok(events)
}

/// The first machine of the story.
pub(crate) const FIRST: &str = "web-1";

/// Waits until the deleted guest has gone, then begins it anew on its volume.
async fn recover(service: &Service, id: &MachineId, volume: &str) -> Result<(), Failure> {
    service.wait_for(id, Status::Paused).await?;
    if let Some(pid) = service.row(id).await?.provider_id {
        // The stop of the delete may have been taken back in time; a recovery is for lost compute.
        signal_pid(&pid, "KILL")?;
    }
    for _ in 0..100 {
        let new = NewIncarnation::default();
        match service.reconciler.recover(id, &new, Source::User).await {
            Ok(row) => {
                let generation = row.facts.machine().generation;
                let started = service
                    .provider
                    .start(id, generation, options(Some(volume))?)
                    .await?;
                service
                    .reconciler
                    .assign(id, generation, &started.provider_id, Some(&started.marker))
                    .await?;
                service.tokens.mint(id).await?;
                service.say(&format!(
                    "db-3 begins anew as generation {generation}, pid {}",
                    started.provider_id
                ));
                return Ok(());
            }
            Err(ReconcileError::NotRecoverable(_)) => {
                tokio::time::sleep(Duration::from_millis(100)).await
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(format!("{id} did not become recoverable").into())
}

async fn signal(service: &Service, id: &MachineId, name: &str) -> Result<(), Failure> {
    let pid = service
        .row(id)
        .await?
        .provider_id
        .ok_or("a machine without a pid")?;
    signal_pid(&pid, name)
}

/// Signals a process as anybody on the host could, behind the provider's back.
fn signal_pid(pid: &str, name: &str) -> Result<(), Failure> {
    // A process that is gone already cannot be signalled, which is as good.
    Command::new("kill").args(["-s", name, pid]).output()?;
    Ok(())
}
