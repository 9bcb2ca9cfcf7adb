//! How does a test stand between the reconciler and a store?

use lifecycle_adapters::store::{Store, StoreError};

/// A store around another one.
pub(crate) trait Wrapped: Send + Sync {
    fn inner(&self) -> &dyn Store;

    /// Makes a call of the inner store, or does not.
    fn around<T: Send>(
        &self,
        call: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> impl Future<Output = Result<T, StoreError>> + Send;
}

/// Makes a store of a wrapper: every call goes through its `around`.
macro_rules! wrapped_store {
    ($wrapper:ident) => {
        wrapped_store! {
            $wrapper:
            async fn now(&self) -> lifecycle_core::Timestamp;
            async fn register(&self, new: &lifecycle_adapters::row::NewMachine) -> lifecycle_adapters::store::Registered;
            async fn load(&self, id: &lifecycle_adapters::id::MachineId) -> Option<lifecycle_adapters::store::Loaded>;
            async fn commit(&self, change: &lifecycle_adapters::store::Change) -> lifecycle_adapters::store::Commit;
            async fn commit_many(&self, changes: &[lifecycle_adapters::store::Change]) -> Vec<lifecycle_adapters::store::Commit>;
            async fn take_due(&self, scope: Option<&str>, limit: u32) -> Vec<lifecycle_adapters::store::Loaded>;
            async fn claim(&self, limit: u32, lease: core::time::Duration) -> Vec<lifecycle_adapters::outbox::Claimed>;
            async fn settle(&self, key: &lifecycle_adapters::outbox::WorkKey, token: &str, settlement: &lifecycle_adapters::outbox::Settlement) -> bool;
            async fn work(&self, id: &lifecycle_adapters::id::MachineId) -> Vec<lifecycle_adapters::outbox::OutboxRow>;
            async fn dead_letters(&self, limit: u32) -> Vec<lifecycle_adapters::outbox::OutboxRow>;
            async fn retry_dead(&self, key: &lifecycle_adapters::outbox::WorkKey) -> bool;
            async fn drop_dead(&self, key: &lifecycle_adapters::outbox::WorkKey, reason: &str) -> bool;
            async fn next_work_at(&self) -> Option<lifecycle_core::Timestamp>;
            async fn ledger(&self, id: &lifecycle_adapters::id::MachineId) -> Vec<lifecycle_adapters::ledger::Fact>;
            async fn journal(&self, id: &lifecycle_adapters::id::MachineId) -> Vec<lifecycle_adapters::journal::Entry>;
            async fn kept_volumes(&self) -> Vec<lifecycle_adapters::store::KeptVolume>;
            async fn scope_window(&self, scope: &str, window: core::time::Duration) -> lifecycle_core::ScopeWindow;
            async fn release_scope(&self, scope: &str) -> ();
            async fn admit(&self, id: &lifecycle_adapters::id::MachineId) -> lifecycle_adapters::store::Admission;
            async fn adopt(&self, batch: &[lifecycle_adapters::store::Adopted]) -> Vec<lifecycle_adapters::store::Registered>;
            async fn repair(&self, mode: lifecycle_adapters::store::RepairMode) -> lifecycle_adapters::store::Repaired;
        }
    };
    ($wrapper:ident: $(async fn $call:ident(&self $(, $name:ident: $kind:ty)*) -> $answer:ty;)+) => {
        #[async_trait::async_trait]
        impl Store for $wrapper {
            $(async fn $call(&self $(, $name: $kind)*) -> Result<$answer, StoreError> {
                self.around(self.inner().$call($($name),*)).await
            })+
        }
    };
}

pub(crate) use wrapped_store;
