//! Does the provider keep the promises of its trait over a real engine?

use core::time::Duration;
use std::{os::unix::net::UnixListener, sync::Arc};

use async_trait::async_trait;
use lifecycle_adapters::{
    conformance::provider::{self, Cannot, Equipment, ProviderHarness},
    docker::{DockerConfig, DockerProvider},
    provider::{Provider, Target},
};

use crate::kit::{IMAGE, IMPOLITE, POLITE, Podman, machine};

#[tokio::test(flavor = "multi_thread")]
async fn the_provider_keeps_every_promise_over_podman() {
    let harness = Containers::start();
    let not_examined = provider::run(&harness).await;
    let names: Vec<_> = not_examined.iter().map(|(name, _)| *name).collect();
    // Podman has no state of a container that ended and stays listed; a fake engine tells of Docker's.
    assert_eq!(names, ["a_machine_that_is_listed_as_ended_is_a_tombstone"]);
}

struct Containers {
    podman: Podman,
    /// Takes connections and never answers.
    _silent: UnixListener,
}

impl Containers {
    fn start() -> Self {
        let podman = Podman::start();
        let silent = UnixListener::bind(podman.path("silent.sock")).expect("a socket");
        Self {
            podman,
            _silent: silent,
        }
    }

    fn behind(&self, socket: &str) -> Arc<dyn Provider> {
        let config = DockerConfig::new(self.podman.path(socket))
            .with_timeout(Duration::from_millis(300))
            .with_stop_limit(Duration::ZERO);
        Arc::new(DockerProvider::connect(config).expect("a client"))
    }
}

#[async_trait]
impl ProviderHarness for Containers {
    fn provider(&self) -> Arc<dyn Provider> {
        Arc::new(self.podman.provider())
    }

    async fn make(&self, equipment: Equipment) -> Target {
        let has_volume = matches!(equipment, Equipment::Volume);
        self.podman.make(&POLITE, has_volume).await
    }

    async fn vanish(&self, target: &Target) {
        self.podman
            .run(&["rm", "--force", "--time", "0", &target.provider_id]);
    }

    async fn stop_from_outside(&self, target: &Target) -> Result<(), Cannot> {
        self.podman.run(&["kill", &target.provider_id]);
        Ok(())
    }

    async fn supersede(&self, target: &mut Target) -> Result<Target, Cannot> {
        // An engine gives no id twice, so the row is the one that is wrong.
        let other = target.clone();
        target.machine = machine("of another time");
        target.marker = Some("of another time/1".to_owned());
        Ok(other)
    }

    async fn make_unmarked(&self) -> Result<Target, Cannot> {
        let arguments = [&[IMAGE][..], &IMPOLITE].concat();
        let id = self.podman.foreign(&arguments);
        let scope = self.podman.provider().scope().await;
        Ok(Target {
            machine: machine("unmarked"),
            generation: 1,
            provider_id: id,
            marker: None,
            scope: scope.expect("a scope"),
            volume_id: None,
        })
    }

    async fn share_volume(&self, target: &Target) -> Result<(), Cannot> {
        let volume = target.volume_id.as_deref().expect("a volume");
        let mount = format!("{volume}:/theirs");
        let arguments = [&["--volume", mount.as_str(), IMAGE][..], &IMPOLITE].concat();
        self.podman.foreign(&arguments);
        Ok(())
    }

    async fn refused(&self) -> Result<Arc<dyn Provider>, Cannot> {
        Ok(self.behind("nobody.sock"))
    }

    async fn silent(&self) -> Result<Arc<dyn Provider>, Cannot> {
        Ok(self.behind("silent.sock"))
    }

    fn malformed_ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = provider::SENTINELS
            .iter()
            .map(|id| (*id).to_owned())
            .collect();
        // A name, and an id that is short: both may be another container's tomorrow.
        ids.extend(["lifecycle-1", "0123456789ab"].map(str::to_owned));
        ids.push("A".repeat(64));
        ids
    }
}
