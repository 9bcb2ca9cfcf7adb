//! Is the instance of that id there, and is it this machine's?

use lifecycle_core::{Answer, Cause, Power, Proof};

use super::{
    Ec2Provider,
    failure::{Failure, Kind},
    marker::{MARKER_TAG, expected},
    query::Request,
    session::Session,
    shape::{Instance, Instances, List, Tag},
};
use crate::provider::{ProviderError, Seen, Target};

/// What one look at an id found.
#[derive(Debug)]
pub(super) enum Sight {
    There(Box<Instance>),
    Absent(Proof),
}

/// What a machine's id stands for, once its marker was checked.
#[derive(Debug)]
pub(super) enum Identity {
    /// The machine's own instance, which has not ended.
    Proven(Box<Instance>),
    /// It ended, or the id is another's.
    Over(Proof),
}

impl Ec2Provider {
    pub(super) async fn observe_instance(&self, target: &Target) -> Seen {
        let session = self.session();
        match self.try_observe(&session, target).await {
            Ok(seen) => seen,
            Err(failure) => Seen::unknown(failure.cause()),
        }
    }

    async fn try_observe(&self, session: &Session, target: &Target) -> Result<Seen, Failure> {
        if !is_id(&target.provider_id, "i-") {
            return Err(Failure::malformed("not an instance's id"));
        }
        let scope = self.scope_of(session).await?;
        let (answer, marker) = match self.look(session, &target.provider_id).await? {
            Sight::Absent(proof) => (Answer::Absent(proof), None),
            Sight::There(instance) => {
                let marker = instance.marker();
                let is_others = !marker.is_empty() && marker != expected(target);
                let answer = match instance.answer() {
                    Answer::Absent(_) if is_others => Answer::Absent(Proof::Superseded),
                    answer @ (Answer::Present(_) | Answer::Absent(_) | Answer::Unknown(_)) => {
                        answer
                    }
                };
                (answer, Some(marker.to_owned()))
            }
        };
        Ok(Seen {
            answer,
            scope: Some(scope),
            marker,
        })
    }

    /// Makes sure that the target's id is its own instance, in the scope that it is kept in.
    pub(super) async fn prove(
        &self,
        session: &Session,
        target: &Target,
    ) -> Result<Identity, ProviderError> {
        if !is_id(&target.provider_id, "i-") {
            let wrong = format!("the instance {:?}", target.provider_id);
            return Err(ProviderError::OutOfBounds(wrong));
        }
        self.check_scope(session, target).await?;
        let instance = match self.look(session, &target.provider_id).await? {
            Sight::There(instance) => instance,
            Sight::Absent(Proof::TypedNotFound) => {
                return Ok(Identity::Over(Proof::TypedNotFound));
            }
            Sight::Absent(_) => {
                let nothing = "the answer has nothing of the instance";
                return Err(ProviderError::refused(Cause::Malformed, nothing));
            }
        };
        let marker = instance.marker();
        if marker != expected(target) && !marker.is_empty() {
            return Ok(Identity::Over(Proof::Superseded));
        }
        match instance.answer() {
            Answer::Absent(proof) => Ok(Identity::Over(proof)),
            Answer::Present(_) | Answer::Unknown(_) if marker.is_empty() => {
                Err(ProviderError::Unproven)
            }
            Answer::Present(_) | Answer::Unknown(_) => Ok(Identity::Proven(instance)),
        }
    }

    pub(super) async fn check_scope(
        &self,
        session: &Session,
        target: &Target,
    ) -> Result<(), ProviderError> {
        let scope = self.scope_of(session).await?;
        if scope == target.scope {
            return Ok(());
        }
        let elsewhere = format!("scope {}, this is {scope}", target.scope);
        Err(ProviderError::OutOfBounds(elsewhere))
    }

    pub(super) async fn look(&self, session: &Session, id: &str) -> Result<Sight, Failure> {
        let request = Request::ec2().with("InstanceId.1", id);
        let answer: Instances = match self.read(session, request).await {
            Ok(answer) => answer,
            Err(failure) if failure.kind == Kind::NotFound => {
                return Ok(Sight::Absent(Proof::TypedNotFound));
            }
            Err(failure) => return Err(failure),
        };
        let is_whole = answer.next.is_empty();
        let found = answer
            .into_instances()
            .find(|instance| instance.instance_id == id);
        Ok(match found {
            Some(instance) => Sight::There(Box::new(instance)),
            None if is_whole => Sight::Absent(Proof::UntypedNotFound),
            None => Sight::Absent(Proof::PartialList),
        })
    }
}

/// Tells whether a text has the form of an id. What has not is never sent: services differ in what
/// they say of it.
pub(super) fn is_id(text: &str, prefix: &str) -> bool {
    let hexadecimal = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.strip_prefix(prefix)
        .is_some_and(|rest| (8..=32).contains(&rest.len()) && rest.bytes().all(hexadecimal))
}

impl Instances {
    pub(super) fn into_instances(self) -> impl Iterator<Item = Instance> {
        let reservations = self.reservations.items.into_iter();
        reservations.flat_map(|reservation| reservation.instances.items)
    }
}

impl Instance {
    /// Returns the marker; blank where there is none.
    pub(super) fn marker(&self) -> &str {
        marker(self.tag_set.as_ref())
    }

    pub(super) fn answer(&self) -> Answer {
        Answer::Present(match self.instance_state.name.as_str() {
            "pending" => Power::Booting,
            "running" => Power::Running,
            "stopping" | SHUTTING_DOWN => Power::Stopping,
            "stopped" => Power::Off,
            "terminated" => return Answer::Absent(Proof::Tombstone),
            _ => Power::Unrecognized,
        })
    }

    /// Tells whether its termination is under way.
    pub(super) fn is_ending(&self) -> bool {
        self.instance_state.name == SHUTTING_DOWN
    }
}

pub(super) fn marker(tags: Option<&List<Tag>>) -> &str {
    let mut tags = tags.into_iter().flat_map(|tags| &tags.items);
    tags.find(|tag| tag.key == MARKER_TAG)
        .map_or("", |tag| tag.value.as_str())
}

const SHUTTING_DOWN: &str = "shutting-down";
