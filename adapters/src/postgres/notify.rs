//! Who wakes an idle relay?

use sqlx::postgres::PgListener;

use super::{PostgresStore, failure::failed};
use crate::store::StoreError;

/// Tells when work was queued, whoever queued it. Polling stays the fallback: what was queued while
/// the connection was down is not told of one by one.
///
/// It holds a connection of the pool.
#[derive(Debug)]
pub struct WorkNotifications {
    listener: PgListener,
}

impl PostgresStore {
    /// Listens for work that is queued from now on.
    ///
    /// # Errors
    ///
    /// Returns why the database could not be listened to.
    pub async fn work_notifications(&self) -> Result<WorkNotifications, StoreError> {
        let mut listener = PgListener::connect_with(self.pool())
            .await
            .map_err(failed)?;
        listener
            .listen(&self.listen_channel())
            .await
            .map_err(failed)?;
        Ok(WorkNotifications { listener })
    }
}

impl WorkNotifications {
    /// Waits until work may have been queued: once for all that was queued since the last call, and
    /// once after the connection was lost, since nobody knows what was missed.
    ///
    /// # Errors
    ///
    /// Returns why the database can no longer be listened to; calling again connects again.
    pub async fn queued(&mut self) -> Result<(), StoreError> {
        // None: the connection was lost.
        let _notification = self.listener.try_recv().await.map_err(failed)?;
        while self.listener.next_buffered().is_some() {}
        Ok(())
    }
}
