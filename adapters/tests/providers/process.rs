//! Do processes keep the promises that machines keep?

use core::sync::atomic::{AtomicU64, Ordering};
use std::{
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use lifecycle_adapters::{
    conformance::provider::{Cannot, Equipment, ProviderHarness, SENTINELS},
    id::MachineId,
    process::{ProcessProvider, StartOptions, VolumeName},
    provider::{Provider, Target},
};
use rustix::process::{Pid, Signal, kill_process};

use crate::suite;

#[tokio::test(flavor = "multi_thread")]
async fn the_process_provider_keeps_every_promise() {
    suite::check(
        Processes::new(),
        &[
            // There is nobody between the provider and its processes.
            "a_refused_connection_is_unknown_and_not_absent",
            "a_provider_that_never_answers_is_unknown_and_not_absent",
        ],
    )
    .await;
}

/// Processes on a root of their own; they end with the test.
struct Processes {
    provider: ProcessProvider,
    _root: tempfile::TempDir,
    count: AtomicU64,
    made: Mutex<Vec<Target>>,
    foreign: Mutex<Vec<Child>>,
}

impl Processes {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a folder");
        Self {
            provider: ProcessProvider::open(root.path()).expect("a root"),
            _root: root,
            count: AtomicU64::new(0),
            made: Mutex::default(),
            foreign: Mutex::default(),
        }
    }

    async fn start(&self, machine: &MachineId, volume: Option<VolumeName>) -> Target {
        let mut options = StartOptions::new("sleep", ["600"]);
        options.volume = volume;
        let started = self.provider.start(machine, 1, options).await;
        let target = started.expect("a process").target(machine.clone(), 1);
        self.made.lock().expect("targets").push(target.clone());
        target
    }
}

#[async_trait]
impl ProviderHarness for Processes {
    fn provider(&self) -> Arc<dyn Provider> {
        Arc::new(self.provider.clone())
    }

    async fn make(&self, equipment: Equipment) -> Target {
        let number = self.count.fetch_add(1, Ordering::SeqCst);
        let machine = MachineId::new(format!("machine {number}")).expect("an id");
        let volume = format!("volume-{number}");
        let volume = matches!(equipment, Equipment::Volume).then(|| VolumeName::parse(volume));
        self.start(&machine, volume.flatten()).await
    }

    async fn vanish(&self, target: &Target) {
        // It must have been a process of ours until now: nothing else is signalled.
        let _ = self.provider.destroy_compute(target).await;
        let keeps_no_volume = target.volume_id.is_none();
        if keeps_no_volume {
            let forgotten = self.provider.forget(&target.machine, 1).await;
            forgotten.expect("it ended");
        }
    }

    async fn stop_from_outside(&self, target: &Target) -> Result<(), Cannot> {
        kill_process(pid(target), Signal::TERM).expect("a process of the test");
        Ok(())
    }

    async fn bury(&self, target: &Target) -> Result<(), Cannot> {
        kill_process(pid(target), Signal::KILL).expect("a process of the test");
        Ok(())
    }

    async fn supersede(&self, target: &mut Target) -> Result<Target, Cannot> {
        // The operating system gives ids as it likes, so the row is the one of before.
        let other = target.clone();
        let marker = target.marker.as_deref().expect("a marker");
        let (boot, ticks) = marker.rsplit_once(':').expect("a marker");
        let ticks: u64 = ticks.parse().expect("ticks");
        target.marker = Some(format!("{boot}:{}", ticks - 1));
        Ok(other)
    }

    async fn make_unmarked(&self) -> Result<Target, Cannot> {
        let child = Command::new("sleep")
            .arg("600")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("a process");
        let provider_id = child.id().to_string();
        self.foreign.lock().expect("children").push(child);
        Ok(Target {
            machine: MachineId::new("never started").expect("an id"),
            generation: 1,
            provider_id,
            marker: None,
            scope: self.provider.scope().expect("a scope"),
            volume_id: None,
        })
    }

    async fn share_volume(&self, target: &Target) -> Result<(), Cannot> {
        let number = self.count.fetch_add(1, Ordering::SeqCst);
        let machine = MachineId::new(format!("sharer {number}")).expect("an id");
        let volume = target.volume_id.clone().and_then(VolumeName::parse);
        self.start(&machine, volume).await;
        Ok(())
    }

    fn malformed_ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = SENTINELS.iter().map(|id| (*id).to_owned()).collect();
        ids.extend(["1x", "+1", "01", "99999999999"].map(str::to_owned));
        ids
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for child in self.foreign.get_mut().expect("children") {
            let _ = child.kill();
            let _ = child.wait();
        }
        let targets = core::mem::take(self.made.get_mut().expect("targets"));
        let provider = self.provider.clone();
        let cleaning = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .build()
                .expect("a runtime");
            for target in targets {
                // Most of them ended in their case.
                let _ = runtime.block_on(provider.destroy_compute(&target));
            }
        });
        let _ = cleaning.join();
    }
}

fn pid(target: &Target) -> Pid {
    let raw = target.provider_id.parse().ok().and_then(Pid::from_raw);
    raw.expect("a process id")
}
