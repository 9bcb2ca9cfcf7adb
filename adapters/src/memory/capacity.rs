//! Which reservations does a service's test see?

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;

use crate::capacity::{Capacity, CapacityError, Reservation};

/// Accounts for capacity in this process.
#[derive(Debug, Default)]
pub struct MemoryCapacity {
    reservations: Mutex<BTreeMap<Reservation, State>>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Held,
    /// Remembered for good, so that a hold that comes later changes nothing.
    Released,
}

impl MemoryCapacity {
    /// Makes an account without reservations.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns what is reserved now, by machine, generation and count.
    #[must_use]
    pub fn reserved(&self) -> Vec<Reservation> {
        let reservations = self.reservations.lock();
        reservations
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .filter(|(_, state)| matches!(state, State::Held))
            .map(|(reservation, _)| reservation.clone())
            .collect()
    }
}

#[async_trait]
impl Capacity for MemoryCapacity {
    async fn hold(&self, reservation: &Reservation) -> Result<(), CapacityError> {
        self.reservations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(reservation.clone())
            .or_insert(State::Held);
        Ok(())
    }

    async fn release(&self, reservation: &Reservation) -> Result<(), CapacityError> {
        self.reservations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(reservation.clone(), State::Released);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::MachineId;

    #[tokio::test]
    async fn a_release_that_comes_before_its_hold_wins() {
        let capacity = MemoryCapacity::new();
        let [early, late] = [1, 2].map(reservation);
        capacity.release(&early).await.unwrap();
        for reservation in [&early, &late, &late] {
            capacity.hold(reservation).await.unwrap();
        }
        assert_eq!(capacity.reserved(), core::slice::from_ref(&late));

        capacity.release(&late).await.unwrap();
        capacity.release(&late).await.unwrap();
        assert_eq!(capacity.reserved(), []);
    }

    fn reservation(holds: u64) -> Reservation {
        Reservation {
            machine: MachineId::new("a").unwrap(),
            generation: 1,
            holds,
        }
    }
}
