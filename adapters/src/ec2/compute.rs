//! How does an instance end, and no volume with it?

use core::time::Duration;

use lifecycle_core::{Answer, Power, Proof};
use tokio::time::sleep;

use super::{
    Ec2Provider,
    failure::{Failure, Kind},
    identity::{Identity, Sight},
    query::Request,
    session::Session,
    shape::{
        Answer as Shape, Instance, ModifyInstanceAttribute, StopInstances, TerminateInstances,
    },
};
use crate::provider::{Delivered, ProviderError, Target};

impl Ec2Provider {
    pub(super) async fn stop_instance(&self, target: &Target) -> Result<Delivered, ProviderError> {
        let session = self.session();
        let instance = match self.prove(&session, target).await? {
            Identity::Over(proof) => return Ok(Delivered::NotFound(proof)),
            Identity::Proven(instance) => instance,
        };
        let id = &instance.instance_id;
        match instance.answer() {
            Answer::Present(Power::Off) => return Ok(Delivered::Accepted),
            Answer::Present(Power::Stopping) => {}
            Answer::Present(
                Power::Booting | Power::Running | Power::Suspended | Power::Unrecognized,
            )
            | Answer::Absent(_)
            | Answer::Unknown(_) => {
                let stop = Request::ec2().with("InstanceId.1", id);
                let asked = self.deliver::<StopInstances>(&session, &stop).await?;
                if matches!(asked, Delivered::NotFound(_)) {
                    return Ok(asked);
                }
            }
        }
        let Some(limit) = self.shared.config.stop_limit else {
            return Ok(Delivered::Accepted);
        };
        if instance.is_ending() || self.has_stopped(&session, id, limit).await? {
            return Ok(Delivered::Accepted);
        }
        let hard = Request::ec2()
            .with("InstanceId.1", id)
            .with("Force", "true");
        self.deliver::<StopInstances>(&session, &hard).await
    }

    pub(super) async fn terminate_instance(
        &self,
        target: &Target,
    ) -> Result<Delivered, ProviderError> {
        let session = self.session();
        let instance = match self.prove(&session, target).await? {
            Identity::Over(proof) => return Ok(Delivered::NotFound(proof)),
            Identity::Proven(instance) if instance.is_ending() => return Ok(Delivered::Accepted),
            Identity::Proven(instance) => instance,
        };
        if let Some(proof) = self.keep_volumes(&session, &instance).await? {
            return Ok(Delivered::NotFound(proof));
        }
        let request = Request::ec2().with("InstanceId.1", &instance.instance_id);
        self.deliver::<TerminateInstances>(&session, &request).await
    }

    /// Makes every attached volume outlive the instance, and reads that back; returns the proof where
    /// the instance ended meanwhile.
    async fn keep_volumes(
        &self,
        session: &Session,
        instance: &Instance,
    ) -> Result<Option<Proof>, ProviderError> {
        let at_risk = at_risk(instance)?;
        if at_risk.is_empty() {
            return Ok(None);
        }
        let mut request = Request::ec2().with("InstanceId", &instance.instance_id);
        for (index, device) in at_risk.iter().enumerate() {
            let device_name = format!("BlockDeviceMapping.{}.DeviceName", index + 1);
            let flag = format!("BlockDeviceMapping.{}.Ebs.DeleteOnTermination", index + 1);
            request = request.with(device_name, &device.name).with(flag, "false");
        }
        let asked = self
            .deliver::<ModifyInstanceAttribute>(session, &request)
            .await?;
        if let Delivered::NotFound(proof) = asked {
            return Ok(Some(proof));
        }
        self.read_back(session, &instance.instance_id).await
    }

    async fn read_back(&self, session: &Session, id: &str) -> Result<Option<Proof>, ProviderError> {
        let mut left = READINGS;
        loop {
            let instance = match self.look(session, id).await? {
                Sight::There(instance) => instance,
                Sight::Absent(Proof::TypedNotFound) => return Ok(Some(Proof::TypedNotFound)),
                Sight::Absent(_) => {
                    let unread = format!("the volumes of {id} could not be read back");
                    return Err(ProviderError::VolumeAtRisk(unread));
                }
            };
            let at_risk = at_risk(&instance)?;
            if at_risk.is_empty() {
                return Ok(None);
            }
            left -= 1;
            if left == 0 {
                return Err(ProviderError::VolumeAtRisk(volumes(&at_risk)));
            }
            sleep(self.shared.config.poll).await;
        }
    }

    async fn has_stopped(
        &self,
        session: &Session,
        id: &str,
        limit: Duration,
    ) -> Result<bool, ProviderError> {
        let mut left = limit;
        loop {
            let is_running = match self.look(session, id).await? {
                Sight::There(instance) => matches!(
                    instance.answer(),
                    Answer::Present(Power::Booting | Power::Running | Power::Stopping)
                ),
                Sight::Absent(_) => false,
            };
            if !is_running {
                return Ok(true);
            }
            if left.is_zero() {
                return Ok(false);
            }
            let pause = self.shared.config.poll.min(left);
            sleep(pause).await;
            // Without a pause of its own the limit would never be reached.
            left = left.saturating_sub(pause.max(Duration::from_millis(1)));
        }
    }

    /// Asks for a change, once; that there is no such thing is an answer.
    pub(super) async fn deliver<T: Shape>(
        &self,
        session: &Session,
        request: &Request,
    ) -> Result<Delivered, ProviderError> {
        match self.change::<T>(session, request).await {
            Ok(_) => Ok(Delivered::Accepted),
            Err(Failure {
                kind: Kind::NotFound,
                message: _,
                retry_after: _,
            }) => Ok(Delivered::NotFound(Proof::TypedNotFound)),
            Err(failure) => Err(failure.into()),
        }
    }
}

/// A device whose volume would go down with the instance.
#[derive(Debug)]
struct AtRisk {
    name: String,
    volume: String,
}

/// Returns the devices that are not known to be kept.
fn at_risk(instance: &Instance) -> Result<Vec<AtRisk>, ProviderError> {
    let Some(devices) = &instance.block_device_mapping else {
        let unread = format!("the service names no volumes of {}", instance.instance_id);
        return Err(ProviderError::VolumeAtRisk(unread));
    };
    let at_risk = devices.items.iter().filter_map(|device| {
        let volume = device.ebs.as_ref()?;
        (volume.delete_on_termination != Some(false)).then(|| AtRisk {
            name: device.device_name.clone(),
            volume: volume.volume_id.clone(),
        })
    });
    Ok(at_risk.collect())
}

fn volumes(devices: &[AtRisk]) -> String {
    let names: Vec<_> = devices.iter().map(|it| it.volume.as_str()).collect();
    names.join(", ")
}

/// How often to look whether a change has arrived: the service is only eventually consistent.
const READINGS: u32 = 5;
