//! How is an instance made, and made once?

use core::time::Duration;

use lifecycle_core::{Answer, Cause};
use tokio::time::sleep;

use super::{
    Ec2Provider,
    identity::{Sight, is_id},
    marker::{MARKER_TAG, client_token, marker_of},
    query::Request,
    session::Session,
    shape::{Instance, Instances, Run},
};
use crate::{
    id::MachineId,
    provider::{ProviderError, Target},
};

/// What an instance is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceOptions {
    /// The image's id.
    pub image: String,
    /// The type, such as `t3.micro`.
    pub instance_type: String,
    /// The volume that is made with it and outlives it.
    pub data_volume: Option<DataVolume>,
    /// Further parameters of `RunInstances`, such as `SubnetId`; what the adapter sets itself, and
    /// more block devices, are refused.
    pub parameters: Vec<(String, String)>,
}

/// An EBS volume to make with an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataVolume {
    /// The device's name, such as `/dev/sdf`.
    pub device: String,
    /// The size in GiB.
    pub size_gib: u32,
    /// The type, such as `gp3`.
    pub volume_type: String,
}

/// An instance that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// Its id.
    pub provider_id: String,
    /// Its marker.
    pub marker: String,
    /// The account and region it is in.
    pub scope: String,
    /// The id of its data volume.
    pub volume_id: Option<String>,
}

impl InstanceOptions {
    /// An instance of this image and type, without a data volume.
    #[must_use]
    pub fn new(image: impl Into<String>, instance_type: impl Into<String>) -> Self {
        Self {
            image: image.into(),
            instance_type: instance_type.into(),
            data_volume: None,
            parameters: Vec::new(),
        }
    }

    /// With a data volume of type `gp3` at `/dev/sdf`.
    #[must_use]
    pub fn with_data_volume(mut self, size_gib: u32) -> Self {
        self.data_volume = Some(DataVolume {
            device: "/dev/sdf".to_owned(),
            size_gib,
            volume_type: "gp3".to_owned(),
        });
        self
    }

    fn request(
        &self,
        machine: &MachineId,
        generation: u64,
        marker: &str,
    ) -> Result<Request, ProviderError> {
        let mut request = Request::ec2()
            .with("ImageId", &self.image)
            .with("InstanceType", &self.instance_type)
            .with("MinCount", "1")
            .with("MaxCount", "1")
            .with("ClientToken", client_token(machine, generation))
            // A guest that shuts itself down is off, not gone.
            .with("InstanceInitiatedShutdownBehavior", "stop");
        for (index, kind) in [(1, "instance"), (2, "volume")] {
            let tag = format!("TagSpecification.{index}");
            request = request
                .with(format!("{tag}.ResourceType"), kind)
                .with(format!("{tag}.Tag.1.Key"), MARKER_TAG)
                .with(format!("{tag}.Tag.1.Value"), marker);
        }
        if let Some(volume) = &self.data_volume {
            request = request
                .with("BlockDeviceMapping.1.DeviceName", &volume.device)
                .with(
                    "BlockDeviceMapping.1.Ebs.VolumeSize",
                    volume.size_gib.to_string(),
                )
                .with("BlockDeviceMapping.1.Ebs.VolumeType", &volume.volume_type)
                .with("BlockDeviceMapping.1.Ebs.DeleteOnTermination", "false");
        }
        for (name, value) in &self.parameters {
            let first = name.split('.').next().unwrap_or_default();
            if OURS.contains(&first) {
                return Err(ProviderError::OutOfBounds(format!("the parameter {name}")));
            }
            request = request.with(name, value);
        }
        Ok(request)
    }
}

impl Ec2Provider {
    pub(super) async fn create_instance(
        &self,
        machine: &MachineId,
        generation: u64,
        options: &InstanceOptions,
    ) -> Result<Created, ProviderError> {
        let session = self.session();
        let marker = marker_of(machine, generation);
        let request = options.request(machine, generation, &marker)?;
        let scope = self.scope_of(&session).await?;
        // The token of an old create is forgotten by the service; the tag is not.
        let instance = match self.find_marked(&session, &marker).await? {
            Some(instance) => instance,
            None => self.run(&session, &request).await?,
        };
        let volume_id = match &options.data_volume {
            Some(volume) => Some(
                self.data_volume(&session, &instance, &volume.device)
                    .await?,
            ),
            None => None,
        };
        Ok(Created {
            provider_id: instance.instance_id,
            marker,
            scope,
            volume_id,
        })
    }

    async fn run(&self, session: &Session, request: &Request) -> Result<Instance, ProviderError> {
        let answer: Run = self.change(session, request).await?;
        let mut instances = answer.instances.items;
        match (instances.pop(), instances.is_empty()) {
            (Some(instance), true) if is_id(&instance.instance_id, "i-") => Ok(instance),
            (_, _) => Err(ProviderError::refused(
                Cause::Malformed,
                "the answer does not name the one instance that was made",
            )),
        }
    }

    async fn find_marked(
        &self,
        session: &Session,
        marker: &str,
    ) -> Result<Option<Instance>, ProviderError> {
        let mut token = String::new();
        loop {
            let mut request = Request::ec2()
                .with("Filter.1.Name", format!("tag:{MARKER_TAG}"))
                .with("Filter.1.Value.1", marker);
            if !token.is_empty() {
                request = request.with("NextToken", token.as_str());
            }
            let answer: Instances = self.read(session, request).await?;
            let next = answer.next.clone();
            let found = answer
                .into_instances()
                .find(|instance| instance.marker() == marker);
            // A service that names the same page again would be asked for ever.
            if found.is_some() || next.is_empty() || next == token {
                return Ok(found);
            }
            token = next;
        }
    }

    /// Waits until the data volume is seen at its instance.
    async fn data_volume(
        &self,
        session: &Session,
        instance: &Instance,
        device: &str,
    ) -> Result<String, ProviderError> {
        let id = &instance.instance_id;
        let mut left = self.shared.config.volume_wait;
        let mut current = Some(instance.clone());
        loop {
            if let Some(volume) = current.as_ref().and_then(|it| it.volume_at(device)) {
                return Ok(volume);
            }
            if current.is_some_and(|it| matches!(it.answer(), Answer::Absent(_))) {
                let ended = format!("{id} has ended; its data volume is found by its tag");
                return Err(ProviderError::refused(Cause::Malformed, ended));
            }
            if left.is_zero() {
                let unseen = format!("{id} was made; its data volume is not seen yet");
                return Err(ProviderError::refused(Cause::Timeout, unseen));
            }
            let pause = self.shared.config.poll.min(left);
            sleep(pause).await;
            left = left.saturating_sub(pause.max(Duration::from_millis(1)));
            current = match self.look(session, id).await? {
                Sight::There(instance) => Some(*instance),
                Sight::Absent(_) => None,
            };
        }
    }
}

impl Created {
    /// Returns the machine as its provider knows it.
    #[must_use]
    pub fn target(self, machine: MachineId, generation: u64) -> Target {
        Target {
            machine,
            generation,
            provider_id: self.provider_id,
            marker: Some(self.marker),
            scope: self.scope,
            volume_id: self.volume_id,
        }
    }
}

impl Instance {
    fn volume_at(&self, device: &str) -> Option<String> {
        let devices = &self.block_device_mapping.as_ref()?.items;
        let device = devices.iter().find(|it| it.device_name == device)?;
        Some(device.ebs.as_ref()?.volume_id.clone())
    }
}

/// The parameters that say what is made, how many, whose, and what becomes of its volumes.
const OURS: [&str; 8] = [
    "Action",
    "BlockDeviceMapping",
    "ClientToken",
    "DryRun",
    "InstanceInitiatedShutdownBehavior",
    "MaxCount",
    "MinCount",
    "TagSpecification",
];
