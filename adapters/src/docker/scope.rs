//! Where does the engine say that we are?

use core::time::Duration;
use std::{sync::PoisonError, time::Instant};

use super::{
    engine::{Engine, Request},
    failure::{Failure, Thing},
    shape::Info,
};

impl Engine {
    /// Returns the scope as the engine says it now.
    pub(super) async fn asked_scope(&self) -> Result<String, Failure> {
        let reply = self.ask(Request::get(&["info"], Thing::Other)).await?;
        let info: Info = reply.read()?;
        let scope = info.scope(reply.is_podman);
        let scope = scope.ok_or_else(|| Failure::malformed("the engine does not say who it is"))?;
        let mut kept = self.scope.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some((scope.clone(), Instant::now()));
        Ok(scope)
    }

    /// Returns the scope as the engine said it not long ago: good enough for what is there.
    pub(super) async fn known_scope(&self) -> Result<String, Failure> {
        let known = {
            let kept = self.scope.lock().unwrap_or_else(PoisonError::into_inner);
            kept.as_ref()
                .filter(|(_, at)| at.elapsed() < KEPT_FOR)
                .map(|(scope, _)| scope.clone())
        };
        match known {
            Some(scope) => Ok(scope),
            None => self.asked_scope().await,
        }
    }
}

impl Info {
    fn scope(&self, is_podman: bool) -> Option<String> {
        let Self { id, name, root } = self;
        if !is_podman && !id.is_empty() {
            return Some(format!("docker:{id}"));
        }
        let engine = if is_podman { "podman" } else { "docker" };
        let says = !name.is_empty() && !root.is_empty();
        says.then(|| format!("{engine}:{name}{root}"))
    }
}

/// Podman takes half a second to say it.
const KEPT_FOR: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use crate::docker::shape::Info;

    fn info(id: &str, name: &str, root: &str) -> Info {
        Info {
            id: id.to_owned(),
            name: name.to_owned(),
            root: root.to_owned(),
        }
    }

    #[test]
    fn the_id_of_podman_is_another_with_every_answer_and_names_nothing() {
        let asked = |id| info(id, "host", "/var/lib/containers/storage").scope(true);
        assert_eq!(asked("1"), asked("2"));
        assert_eq!(
            asked("1").as_deref(),
            Some("podman:host/var/lib/containers/storage")
        );
        let docker = |id| info(id, "host", "/var/lib/docker").scope(false);
        assert_eq!(docker("A:B").as_deref(), Some("docker:A:B"));
        assert_eq!(docker("").as_deref(), Some("docker:host/var/lib/docker"));
    }

    #[test]
    fn an_engine_that_says_nothing_is_nowhere() {
        assert_eq!(info("", "", "").scope(false), None);
        assert_eq!(info("1", "", "/root").scope(true), None);
    }
}
