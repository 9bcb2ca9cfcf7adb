//! How is a container made, and made once?

use core::fmt;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    engine::{Engine, Request},
    failure::{Failure, Kind, Thing},
    identity::{GENERATION_LABEL, MACHINE_LABEL, MARKER_LABEL, VOLUME_LABEL, is_of, marker_of},
    name::{VolumeName, container_name},
    shape::{Container, Made, Volume, label},
};
use crate::{
    id::MachineId,
    provider::{ProviderError, Target},
};

/// What to run, and with what.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ContainerOptions {
    /// The image, which the engine must have.
    pub image: String,
    /// The program and its arguments; empty: the image's own.
    pub command: Vec<String>,
    /// The environment. `Debug` shows no value of it, and no error quotes one.
    pub environment: BTreeMap<String, String>,
    /// Its volume, made where there is none of that name.
    pub volume: Option<VolumeMount>,
    /// Members of the engine's `HostConfig` (memory, ulimits, network, …), as its reference has them.
    /// A container that removes itself is not made: it would take volumes with it.
    pub host: Map<String, Value>,
}

/// A volume, and where the container finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeMount {
    /// Its name.
    pub name: VolumeName,
    /// The folder inside of the container.
    pub at: String,
}

/// A container that was made, as a row of a store keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// The container's id.
    pub provider_id: String,
    /// The marker that it carries.
    pub marker: String,
    /// Where it runs.
    pub scope: String,
    /// The name of its volume.
    pub volume_id: Option<String>,
}

impl ContainerOptions {
    /// Makes options for a command without a volume.
    pub fn new<T: Into<String>>(
        image: impl Into<String>,
        command: impl IntoIterator<Item = T>,
    ) -> Self {
        Self {
            image: image.into(),
            command: command.into_iter().map(Into::into).collect(),
            environment: BTreeMap::new(),
            volume: None,
            host: Map::new(),
        }
    }

    /// Gives it a volume.
    #[must_use]
    pub fn with_volume(mut self, name: VolumeName, at: impl Into<String>) -> Self {
        self.volume = Some(VolumeMount {
            name,
            at: at.into(),
        });
        self
    }

    /// Takes what is secret out of what the engine said.
    fn redacted(&self, failure: Failure) -> Failure {
        let values = self.environment.values().filter(|value| !value.is_empty());
        let message = values.fold(failure.message, |message, value| {
            message.replace(value, "[redacted]")
        });
        Failure { message, ..failure }
    }

    fn body(&self, labels: &BTreeMap<&str, &str>) -> Result<Value, ProviderError> {
        let mut host = self.host.clone();
        if host
            .get("AutoRemove")
            .is_some_and(|value| *value != json!(false))
        {
            let removes = "a container that removes itself".to_owned();
            return Err(ProviderError::OutOfBounds(removes));
        }
        if let Some(VolumeMount { name, at }) = &self.volume {
            let mount = json!({ "Type": "volume", "Source": name.as_str(), "Target": at });
            match host.entry("Mounts").or_insert_with(|| json!([])) {
                Value::Array(mounts) => mounts.push(mount),
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Object(_) => {
                    let wrong = "mounts that are no list".to_owned();
                    return Err(ProviderError::OutOfBounds(wrong));
                }
            }
        }
        let environment = self.environment.iter();
        let environment: Vec<String> = environment
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let mut body = json!({
            "Image": self.image,
            "Env": environment,
            "Labels": labels,
            "HostConfig": host,
        });
        if !self.command.is_empty() {
            body["Cmd"] = json!(self.command);
        }
        Ok(body)
    }
}

impl fmt::Debug for ContainerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            image,
            command,
            environment,
            volume,
            host,
        } = self;
        f.debug_struct("ContainerOptions")
            .field("image", image)
            .field("command", command)
            .field("environment", &environment.keys())
            .field("volume", volume)
            .field("host", host)
            .finish()
    }
}

impl Created {
    /// Returns the machine as its provider knows it.
    #[must_use]
    pub fn target(&self, machine: MachineId, generation: u64) -> Target {
        Target {
            machine,
            generation,
            provider_id: self.provider_id.clone(),
            marker: Some(self.marker.clone()),
            scope: self.scope.clone(),
            volume_id: self.volume_id.clone(),
        }
    }
}

/// Makes an incarnation's container, or returns what was made.
pub(super) async fn create(
    engine: &Engine,
    machine: &MachineId,
    generation: u64,
    options: &ContainerOptions,
) -> Result<Created, ProviderError> {
    let scope = engine.asked_scope().await?;
    let name = container_name(machine, generation);
    if let Some(container) = find(engine, &name, machine, generation).await? {
        return finish(engine, container, scope).await;
    }
    let marker = marker_of(machine, generation);
    let number = generation.to_string();
    let volume = options.volume.as_ref().map(|volume| volume.name.as_str());
    let labels = BTreeMap::from([
        (MACHINE_LABEL, machine.as_str()),
        (GENERATION_LABEL, number.as_str()),
        (MARKER_LABEL, marker.as_str()),
        (VOLUME_LABEL, volume.unwrap_or_default()),
    ]);
    let body = options.body(&labels)?;
    if let Some(volume) = &options.volume {
        make_volume(engine, &volume.name, machine).await?;
    }
    let path = ["containers", "create"];
    let query = [("name", name.as_str())];
    let request = Request::post(&path, Thing::Other).with(&query);
    match engine.read::<Made>(request.with_body(&body)?).await {
        Ok(made) => tracing::debug!(%machine, generation, id = made.id, "a container was made"),
        // Another create of the same won: what it made is ours.
        Err(failure) if failure.kind == Kind::Conflict => {}
        Err(failure) => return Err(options.redacted(failure).into()),
    }
    match find(engine, &name, machine, generation).await? {
        Some(container) => finish(engine, container, scope).await,
        None => Err(Failure::malformed("the container that was made is not there").into()),
    }
}

/// Finds what an earlier create made.
async fn find(
    engine: &Engine,
    name: &str,
    machine: &MachineId,
    generation: u64,
) -> Result<Option<Container>, ProviderError> {
    let path = ["containers", name, "json"];
    let container: Container = match engine.read(Request::get(&path, Thing::Container)).await {
        Ok(container) => container,
        Err(failure) => {
            return match failure.kind {
                Kind::NotFound(_) => Ok(None),
                Kind::Conflict | Kind::Refused(_) => Err(failure.into()),
            };
        }
    };
    let labels = &container.config.labels;
    let is_ours = is_of(labels, machine)
        && label(labels, GENERATION_LABEL) == generation.to_string()
        && !label(labels, MARKER_LABEL).is_empty();
    if is_ours {
        Ok(Some(container))
    } else {
        let other = format!("the container {name}, which is not of {machine}");
        Err(ProviderError::OutOfBounds(other))
    }
}

/// Starts a container that never ran.
async fn finish(
    engine: &Engine,
    container: Container,
    scope: String,
) -> Result<Created, ProviderError> {
    if matches!(container.state.status.as_str(), "created" | "configured") {
        let path = ["containers", container.id.as_str(), "start"];
        engine.act(Request::post(&path, Thing::Container)).await?;
    }
    Ok(Created {
        marker: label(&container.config.labels, MARKER_LABEL).to_owned(),
        // Not its mounts: an image may bring volumes that nobody named.
        volume_id: Some(label(&container.config.labels, VOLUME_LABEL).to_owned())
            .filter(|name| !name.is_empty()),
        provider_id: container.id,
        scope,
    })
}

/// Makes a machine's volume, or makes sure that the one that is there is the machine's.
async fn make_volume(
    engine: &Engine,
    name: &VolumeName,
    machine: &MachineId,
) -> Result<(), ProviderError> {
    #[derive(Serialize)]
    #[serde(rename_all = "PascalCase")]
    struct Body<'a> {
        name: &'a str,
        labels: BTreeMap<&'a str, &'a str>,
    }
    let body = Body {
        name: name.as_str(),
        labels: BTreeMap::from([(MACHINE_LABEL, machine.as_str())]),
    };
    let path = ["volumes", "create"];
    let request = Request::post(&path, Thing::Other).with_body(&body)?;
    // Where there is one of that name, the engine returns it as it is.
    let volume: Volume = engine.read(request).await?;
    if volume.name == name.as_str() && is_of(&volume.labels, machine) {
        Ok(())
    } else {
        let other = format!("the volume {name}, which is not of {machine}");
        Err(ProviderError::OutOfBounds(other))
    }
}
