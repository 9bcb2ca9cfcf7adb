//! Is a machine's EBS volume there, who uses it, and how is it deleted?

use core::time::Duration;

use lifecycle_core::{Answer, Cause, Proof};
use tokio::time::sleep;

use super::{
    Ec2Provider,
    failure::{Failure, Kind},
    identity::{Sight, is_id, marker},
    marker::{Owner, owner},
    query::Request,
    session::Session,
    shape::{DeleteVolume, DetachVolume, Volume, Volumes},
};
use crate::provider::{Delivered, ProviderError, Target, VolumeReading};

/// Who uses a volume.
#[derive(Debug)]
enum Use {
    /// Nobody.
    Free,
    /// An instance of the machine's own; `ended` where it is terminated or gone.
    Own { instance: String, ended: bool },
    /// Somebody else, or it may be used by several.
    Others,
}

impl Ec2Provider {
    pub(super) async fn read_ebs(&self, target: &Target) -> VolumeReading {
        let session = self.session();
        match self.try_read(&session, target).await {
            Ok(reading) => reading,
            Err(failure) => VolumeReading::Unknown(failure.cause()),
        }
    }

    async fn try_read(&self, session: &Session, target: &Target) -> Result<VolumeReading, Failure> {
        let Some(id) = &target.volume_id else {
            // Nothing to ask for, which proves nothing.
            return Ok(VolumeReading::Absent(Proof::UntypedNotFound));
        };
        if !is_id(id, "vol-") {
            return Err(Failure::malformed("not a volume's id"));
        }
        // What another account or region does not have proves nothing of this volume.
        if self.scope_of(session).await? != target.scope {
            return Err(Failure::refused(Cause::Forbidden, "another scope"));
        }
        let volume = match self.find_volume(session, id).await? {
            Ok(volume) => volume,
            Err(proof) => return Ok(VolumeReading::Absent(proof)),
        };
        if owner(volume.marker(), target) == Owner::Other {
            return Ok(VolumeReading::Shared);
        }
        Ok(match self.use_of(session, &volume, target).await? {
            Use::Free
            | Use::Own {
                instance: _,
                ended: _,
            } => VolumeReading::Exclusive,
            Use::Others => VolumeReading::Shared,
        })
    }

    pub(super) async fn delete_ebs(&self, target: &Target) -> Result<Delivered, ProviderError> {
        let Some(id) = &target.volume_id else {
            return Ok(Delivered::NotFound(Proof::UntypedNotFound));
        };
        if !is_id(id, "vol-") {
            return Err(ProviderError::OutOfBounds(format!("the volume {id:?}")));
        }
        let session = self.session();
        self.check_scope(&session, target).await?;
        let wait = self.shared.config.volume_wait;
        let mut left = wait;
        let mut detached = false;
        loop {
            let volume = match self.find_volume(&session, id).await? {
                Ok(volume) => volume,
                Err(proof) => return Ok(Delivered::NotFound(proof)),
            };
            match owner(volume.marker(), target) {
                Owner::Machine => {}
                Owner::Other => return Ok(Delivered::NotFound(Proof::Superseded)),
                Owner::Unsaid => return Err(ProviderError::Unproven),
            }
            let why = match self.use_of(&session, &volume, target).await? {
                Use::Others => {
                    let shared = format!("the volume {id}, which others use");
                    return Err(ProviderError::OutOfBounds(shared));
                }
                Use::Own {
                    instance,
                    ended: true,
                } => {
                    if !detached {
                        self.detach(&session, id, &instance).await?;
                        detached = true;
                    }
                    format!("the volume {id} is being detached from {instance}")
                }
                Use::Own {
                    instance,
                    ended: false,
                } => format!("the volume {id} is in use by {instance}, which has not ended"),
                Use::Free if volume.status == "deleting" => return Ok(Delivered::Accepted),
                Use::Free if ["available", "error"].contains(&volume.status.as_str()) => {
                    let request = Request::ec2().with("VolumeId", id);
                    return self.deliver::<DeleteVolume>(&session, &request).await;
                }
                Use::Free => format!("the volume {id} is {}", volume.status),
            };
            if left.is_zero() {
                return Err(ProviderError::refused(Cause::Timeout, why));
            }
            let pause = self.shared.config.poll.min(left);
            sleep(pause).await;
            left = left.saturating_sub(pause.max(Duration::from_millis(1)));
        }
    }

    async fn find_volume(
        &self,
        session: &Session,
        id: &str,
    ) -> Result<Result<Volume, Proof>, Failure> {
        let request = Request::ec2().with("VolumeId.1", id);
        let answer: Volumes = match self.read(session, request).await {
            Ok(answer) => answer,
            Err(failure) if failure.kind == Kind::NotFound => {
                return Ok(Err(Proof::TypedNotFound));
            }
            Err(failure) => return Err(failure),
        };
        let mut volumes = answer.volumes.items.into_iter();
        Ok(match volumes.find(|volume| volume.volume_id == id) {
            Some(volume) if volume.status == "deleted" => Err(Proof::Tombstone),
            Some(volume) => Ok(volume),
            None => Err(Proof::UntypedNotFound),
        })
    }

    /// Tells who uses a volume. An instance that cannot be read may be anybody's.
    async fn use_of(
        &self,
        session: &Session,
        volume: &Volume,
        target: &Target,
    ) -> Result<Use, Failure> {
        if volume.multi_attach_enabled {
            return Ok(Use::Others);
        }
        let mut attached = volume.attachment_set.items.iter();
        let attached = match (
            attached.find(|attachment| attachment.status != "detached"),
            attached.any(|attachment| attachment.status != "detached"),
        ) {
            (_, true) => return Ok(Use::Others),
            (None, false) => return Ok(Use::Free),
            (Some(attachment), false) => attachment.instance_id.clone(),
        };
        if attached.is_empty() {
            // By a service of the provider's, which has no instance of ours.
            return Ok(Use::Others);
        }
        let (owner, ended) = match self.look(session, &attached).await? {
            Sight::There(instance) => {
                let ended = matches!(instance.answer(), Answer::Absent(_));
                (owner(instance.marker(), target), ended)
            }
            Sight::Absent(Proof::TypedNotFound) => (Owner::Unsaid, true),
            Sight::Absent(_) => return Err(Failure::malformed("nothing of the instance")),
        };
        // The tags of what ended may be gone before its attachment is; its id is its own for ever.
        let is_own = match owner {
            Owner::Machine => true,
            Owner::Unsaid => attached == target.provider_id,
            Owner::Other => false,
        };
        Ok(if is_own {
            Use::Own {
                instance: attached,
                ended,
            }
        } else {
            Use::Others
        })
    }

    async fn detach(
        &self,
        session: &Session,
        id: &str,
        instance: &str,
    ) -> Result<(), ProviderError> {
        let request = Request::ec2()
            .with("VolumeId", id)
            .with("InstanceId", instance);
        match self.change::<DetachVolume>(session, &request).await {
            Ok(_) => Ok(()),
            // It is free by now, or being detached: the next look tells.
            Err(failure) if ALREADY.iter().any(|code| failure.message.starts_with(code)) => Ok(()),
            Err(failure) if failure.kind == Kind::NotFound => Ok(()),
            Err(failure) => Err(failure.into()),
        }
    }
}

impl Volume {
    fn marker(&self) -> &str {
        marker(self.tag_set.as_ref())
    }
}

const ALREADY: [&str; 2] = ["IncorrectState", "InvalidAttachment.NotFound"];
