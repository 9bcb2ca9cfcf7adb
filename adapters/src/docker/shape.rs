//! What do the engine's answers look like, as far as they are read?

use std::collections::BTreeMap;

use lifecycle_core::{Answer, Power, Proof};
use serde::Deserialize;

use super::name::ContainerId;

/// Labels; an engine writes null for none.
pub(super) type Labels = Option<BTreeMap<String, String>>;

/// Who the engine is.
#[derive(Debug, Deserialize)]
pub(super) struct Info {
    #[serde(rename = "ID", default)]
    pub(super) id: String,
    #[serde(rename = "Name", default)]
    pub(super) name: String,
    #[serde(rename = "DockerRootDir", default)]
    pub(super) root: String,
}

/// One container, inspected.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Container {
    pub(super) id: String,
    pub(super) state: State,
    pub(super) config: Config,
    #[serde(default)]
    pub(super) mounts: Option<Vec<Mount>>,
    #[serde(default)]
    pub(super) host_config: HostConfig,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct State {
    pub(super) status: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Config {
    #[serde(default)]
    pub(super) labels: Labels,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct HostConfig {
    #[serde(default)]
    pub(super) auto_remove: bool,
}

/// What a container has mounted.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Mount {
    #[serde(rename = "Type", default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) name: String,
}

/// One container, listed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Summary {
    pub(super) id: String,
    pub(super) state: String,
    #[serde(default)]
    pub(super) labels: Labels,
    #[serde(default)]
    pub(super) mounts: Option<Vec<Mount>>,
}

/// One volume.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Volume {
    pub(super) name: String,
    #[serde(default)]
    pub(super) labels: Labels,
}

/// A container that was made.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Made {
    pub(super) id: String,
}

impl Mount {
    /// Tells whether it is a volume, of this name.
    pub(super) fn is_volume(&self, name: &str) -> bool {
        self.kind == "volume" && self.name == name
    }

    /// Tells whether it is a volume that nobody named: the engine gives those an id as a name.
    pub(super) fn is_nameless_volume(&self) -> bool {
        self.kind == "volume" && (self.name.is_empty() || ContainerId::parse(&self.name).is_some())
    }
}

/// Returns what a state of the engine means.
pub(super) fn answer(state: &str) -> Answer {
    Answer::Present(match state {
        "created" | "configured" | "initialized" | "exited" | "stopped" => Power::Off,
        "restarting" => Power::Booting,
        "running" => Power::Running,
        "paused" => Power::Suspended,
        "removing" | "stopping" => Power::Stopping,
        // Its removal began and did not come to its end. No process is left, and none can be started.
        DEAD => return Answer::Absent(Proof::Tombstone),
        _ => Power::Unrecognized,
    })
}

/// Returns a label; blank where there is none.
pub(super) fn label<'a>(labels: &'a Labels, key: &str) -> &'a str {
    let value = labels.as_ref().and_then(|labels| labels.get(key));
    value.map_or("", String::as_str)
}

pub(super) const DEAD: &str = "dead";

#[cfg(test)]
mod tests {
    use lifecycle_core::{Answer, Power, Proof};

    use super::{Container, answer};

    #[test]
    fn every_state_of_either_engine_has_its_meaning() {
        for (state, power) in [
            ("created", Power::Off),
            ("configured", Power::Off),
            ("initialized", Power::Off),
            ("restarting", Power::Booting),
            ("running", Power::Running),
            ("paused", Power::Suspended),
            ("removing", Power::Stopping),
            ("stopping", Power::Stopping),
            ("stopped", Power::Off),
            ("exited", Power::Off),
            ("unknown", Power::Unrecognized),
            ("", Power::Unrecognized),
            ("Running", Power::Unrecognized),
        ] {
            assert_eq!(answer(state), Answer::Present(power), "{state}");
        }
        assert_eq!(answer("dead"), Answer::Absent(Proof::Tombstone));
    }

    #[test]
    fn an_answer_without_a_state_or_an_id_is_none() {
        for body in [
            r#"{}"#,
            r#"{"Id":"1","Config":{}}"#,
            r#"{"State":{"Status":"running"},"Config":{}}"#,
            r#"{"Id":"1","State":{},"Config":{}}"#,
            r#"{"message":"no such container"}"#,
        ] {
            assert!(serde_json::from_str::<Container>(body).is_err(), "{body}");
        }
        let least =
            r#"{"Id":"1","State":{"Status":"running"},"Config":{"Labels":null},"Mounts":null}"#;
        assert!(serde_json::from_str::<Container>(least).is_ok());
    }
}
