//! How is access taken away, and capacity accounted for?

use core::time::Duration;

use lifecycle_core::{Effect, Status};

use super::{Relay, delivery::Failure};
use crate::{
    capacity::{CapacityError, Reservation},
    outbox::{Claimed, Settlement},
    reconciler::Read,
    revoker::Revocation,
};

impl Relay {
    pub(super) async fn revoke(
        &self,
        work: &Claimed,
        read: &Read,
        read_at: Duration,
    ) -> Result<Settlement, Failure> {
        let key = &work.row.work.key;
        let Some(revoker) = &self.revoker else {
            return Ok(self.without_adapter(key.effect));
        };
        let machine = read.loaded.row.facts.machine();
        let is_ended =
            machine.generation > key.generation || matches!(machine.status, Status::Destroyed);
        let revocation = Revocation {
            machine: key.machine.clone(),
            generation: key.generation,
            issued_before: (!is_ended).then_some(work.row.work.committed_at),
        };
        Ok(
            match self
                .called(work, read_at, revoker.revoke(&revocation))
                .await?
            {
                Some(Ok(())) => Settlement::Done,
                Some(Err(error)) => self.failed(work, error.to_string(), error.is_retryable),
                None => self.failed(work, "the revoker did not answer in time".to_owned(), true),
            },
        )
    }

    pub(super) async fn account(
        &self,
        work: &Claimed,
        read_at: Duration,
    ) -> Result<Settlement, Failure> {
        let key = &work.row.work.key;
        let Some(capacity) = &self.capacity else {
            return Ok(self.without_adapter(key.effect));
        };
        let reservation = Reservation {
            machine: key.machine.clone(),
            generation: key.generation,
            holds: key.holds,
        };
        let is_hold = matches!(key.effect, Effect::HoldCompute);
        let accounted = async {
            if is_hold {
                capacity.hold(&reservation).await
            } else {
                capacity.release(&reservation).await
            }
        };
        Ok(match self.called(work, read_at, accounted).await? {
            Some(Ok(())) => Settlement::Done,
            Some(Err(CapacityError {
                message,
                is_retryable,
                source: _,
            })) => self.failed(work, message, is_retryable),
            None => self.failed(work, "the capacity did not answer in time".to_owned(), true),
        })
    }
}
