//! A listing is whole, or says that it is not.

use lifecycle_adapters::{
    ec2::Ec2Provider,
    provider::{Completeness, Listing, Provider as _, ProviderError},
};
use lifecycle_core::Cause;

use crate::{
    moto::{World, options},
    recorded::{Recorded, Reply, instance},
};

#[tokio::test]
async fn every_page_is_read() {
    let world = World::new();
    for index in 0..12 {
        world.create(&format!("web-{index}"), &options()).await;
    }
    let config = world.config().with_page_size(5);
    let provider = Ec2Provider::connect(config).expect("a provider");
    let listing = provider.list().await.expect("a listing");
    assert_eq!(listing.completeness, Completeness::Complete);
    assert_eq!(listing.machines.len(), 12);
}

#[tokio::test]
async fn a_page_that_fails_makes_the_listing_partial_and_not_short() {
    for reply in [
        Reply::error(503, "Unavailable"),
        Reply::error(400, "InvalidNextToken"),
        Reply::error(400, "InvalidInstanceID.NotFound"),
        Reply::text(200, "<html>not found</html>"),
        Reply::text(200, "<DescribeInstancesResponse><reservationSet>"),
        Reply::text(200, "<DescribeInstancesResponse/>"),
        Reply::text(200, ""),
        Reply::Cut,
        Reply::Closed,
        Reply::Silence,
    ] {
        let what = format!("{reply:?}");
        let listing = pages(move |page| match page {
            0 => Reply::page(&[FIRST], "second"),
            _ => reply.clone(),
        })
        .await
        .expect("a listing");
        assert_eq!(listing.completeness, Completeness::Partial, "{what}");
        assert_eq!(listing.machines.len(), 1, "{what}");
    }
}

#[tokio::test]
async fn a_first_page_that_fails_is_no_listing() {
    let refused = pages(|_| Reply::error(503, "Unavailable")).await;
    let is_refused = |refused: &Result<Listing, ProviderError>, wanted: Cause| matches!(refused, Err(ProviderError::Refused { cause, .. }) if *cause == wanted);
    assert!(is_refused(&refused, Cause::ServerError), "{refused:?}");
    let refused = pages(|_| Reply::text(200, "<html/>")).await;
    assert!(is_refused(&refused, Cause::Malformed), "{refused:?}");
}

#[tokio::test]
async fn a_token_that_is_dropped_or_repeated_makes_the_listing_partial() {
    let ids: Vec<_> = (0..5)
        .map(|index| instance(&format!("i-0000000{index}"), "running", "a/1"))
        .collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let full = Reply::page(&ids, "");
    let listing = pages(move |_| full.clone()).await.expect("a listing");
    assert_eq!(
        listing.completeness,
        Completeness::Partial,
        "a full page that names no next"
    );
    assert_eq!(listing.machines.len(), 5);
    let listing = pages(|_| Reply::page(&[FIRST], "again"))
        .await
        .expect("a listing");
    assert_eq!(listing.completeness, Completeness::Partial);
    let listing = pages(|_| Reply::page(&[FIRST], ""))
        .await
        .expect("a listing");
    assert_eq!(listing.completeness, Completeness::Complete);
}

/// Lists where each page is answered so.
async fn pages(
    reply: impl Fn(usize) -> Reply + Send + Sync + 'static,
) -> Result<Listing, ProviderError> {
    let server = Recorded::new(move |request| {
        let is_first = request.get("NextToken").is_none();
        reply(usize::from(!is_first))
    });
    let config = server.config().with_page_size(5);
    Ec2Provider::connect(config)
        .expect("a provider")
        .list()
        .await
}

const FIRST: &str = "<item><instanceId>i-00000001</instanceId><instanceState><code>16</code>\
                     <name>running</name></instanceState><blockDeviceMapping/></item>";
