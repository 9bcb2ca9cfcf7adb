//! Which instances does the account have in the region?

use std::collections::{BTreeMap, BTreeSet};

use super::{Ec2Provider, query::Request, session::Session, shape::Instances};
use crate::provider::{Completeness, Listed, Listing, ProviderError};

impl Ec2Provider {
    pub(super) async fn list_instances(&self) -> Result<Listing, ProviderError> {
        let session = self.session();
        let scope = self.scope_of(&session).await?;
        let mut found = BTreeMap::new();
        let completeness = self.pages(&session, &mut found).await?;
        Ok(Listing {
            scope,
            completeness,
            machines: found.into_values().collect(),
        })
    }

    /// Reads page after page. Only where the first one fails there is no listing at all.
    async fn pages(
        &self,
        session: &Session,
        found: &mut BTreeMap<String, Listed>,
    ) -> Result<Completeness, ProviderError> {
        let size = self.shared.config.page_size;
        let mut seen = BTreeSet::new();
        let mut token = String::new();
        loop {
            let mut request = Request::ec2().with("MaxResults", size.to_string());
            if !token.is_empty() {
                request = request.with("NextToken", token.as_str());
            }
            let page: Instances = match self.read(session, request).await {
                Ok(page) => page,
                Err(failure) if token.is_empty() => return Err(failure.into()),
                Err(failure) => {
                    tracing::warn!(failure = failure.message, "a page could not be read");
                    return Ok(Completeness::Partial);
                }
            };
            let next = page.next.clone();
            let (reservations, instances) = (page.reservations.items.len(), add(page, found));
            if next.is_empty() {
                // Services count either; a page filled to the brim may have had a successor.
                let is_full = [reservations, instances]
                    .iter()
                    .any(|count| u32::try_from(*count).is_ok_and(|count| count == size));
                return Ok(if is_full {
                    Completeness::Partial
                } else {
                    Completeness::Complete
                });
            }
            if !seen.insert(next.clone()) {
                tracing::warn!("a page named an earlier one as the next");
                return Ok(Completeness::Partial);
            }
            token = next;
        }
    }
}

/// Adds a page, and returns how many instances it has.
fn add(page: Instances, found: &mut BTreeMap<String, Listed>) -> usize {
    let mut count = 0;
    for instance in page.into_instances() {
        count += 1;
        let listed = Listed {
            provider_id: instance.instance_id.clone(),
            answer: instance.answer(),
            marker: Some(instance.marker().to_owned()),
        };
        found.insert(instance.instance_id, listed);
    }
    count
}
