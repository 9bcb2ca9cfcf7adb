//! An instance is made once for each incarnation.

use lifecycle_adapters::{
    ec2::{InstanceOptions, marker_of},
    provider::{Provider as _, ProviderError},
};
use lifecycle_core::{Answer, Cause, Power};

use crate::{
    moto::{World, machine, options},
    recorded::{Recorded, Reply},
};

#[tokio::test]
async fn a_repeated_create_returns_what_was_made() {
    let world = World::new();
    let options = options().with_data_volume(4);
    let create = |generation| {
        let (provider, options) = (&world.provider, &options);
        async move {
            provider
                .create(&machine("web-1"), generation, options)
                .await
        }
    };
    let first = create(1).await.expect("an instance");
    assert!(first.volume_id.is_some());
    assert_eq!(first.marker, "web-1/1");
    assert_eq!(create(1).await.as_ref(), Ok(&first));
    let second = create(2).await.expect("an instance");
    assert_ne!(second.provider_id, first.provider_id);
    let instances = async || {
        world
            .provider
            .list()
            .await
            .expect("a listing")
            .machines
            .len()
    };
    assert_eq!(instances().await, 2);

    let target = first.clone().target(machine("web-1"), 1);
    world
        .provider
        .destroy_compute(&target)
        .await
        .expect("an end");
    let ended = create(1).await;
    assert!(
        ended.is_err_and(|ended| !ended.is_retryable()),
        "which volume was it?"
    );
    assert_eq!(instances().await, 2);
    let small = world.create("small", &crate::moto::options()).await;
    world
        .provider
        .destroy_compute(&small)
        .await
        .expect("an end");
    let again = world.create("small", &crate::moto::options()).await;
    assert_eq!(again, small, "also where it ended");
}

#[tokio::test]
async fn any_machine_id_makes_a_marker_that_comes_back_unchanged() {
    let world = World::new();
    for name in [" <&>\"' ", "ä/ö", "a*?\\b", "a/1", "sha256:x"] {
        let target = world.create(name, &options()).await;
        let marker = marker_of(&machine(name), 1);
        let seen = world.provider.observe(&target).await;
        assert_eq!(seen.answer, Answer::Present(Power::Running));
        assert_eq!(
            (seen.marker, target.marker),
            (Some(marker.clone()), Some(marker))
        );
    }
}

#[tokio::test]
async fn a_create_is_asked_for_once_and_names_what_it_is() {
    for reply in [Reply::error(503, "RequestLimitExceeded"), Reply::Silence] {
        let server = Recorded::new(move |request| match request.action() {
            "RunInstances" => reply.clone(),
            _ => Reply::instances(&[]),
        });
        let options = options().with_data_volume(4);
        let created = server
            .provider()
            .create(&machine("web-1"), 7, &options)
            .await;
        let cause = match created {
            Err(ProviderError::Refused { cause, .. }) => cause,
            other => panic!("{other:?}"),
        };
        assert!(
            [Cause::RateLimited, Cause::Timeout].contains(&cause),
            "{cause}"
        );
        let asked = server.asked("RunInstances");
        assert_eq!(asked.len(), 1, "never a blind retry of a create");
        let parameter = |name: &str| asked[0].get(name).map(String::as_str);
        assert_eq!(parameter("ClientToken").map(str::len), Some(64));
        assert_eq!(parameter("MaxCount"), Some("1"));
        assert_eq!(parameter("InstanceInitiatedShutdownBehavior"), Some("stop"));
        assert_eq!(
            parameter("BlockDeviceMapping.1.Ebs.DeleteOnTermination"),
            Some("false")
        );
        for index in [1, 2] {
            let tag = format!("TagSpecification.{index}.Tag.1");
            assert_eq!(parameter(&format!("{tag}.Key")), Some("lifecycle:marker"));
            assert_eq!(parameter(&format!("{tag}.Value")), Some("web-1/7"));
        }
    }
}

#[tokio::test]
async fn what_the_adapter_says_itself_cannot_be_overridden() {
    let server = Recorded::new(|_| Reply::instances(&[]));
    for name in [
        "MaxCount",
        "ClientToken",
        "BlockDeviceMapping.1.Ebs.DeleteOnTermination",
    ] {
        let mut options = InstanceOptions::new("ami-12c6146b", "t3.micro");
        options.parameters = vec![(name.to_owned(), "1".to_owned())];
        let refused = server
            .provider()
            .create(&machine("web-1"), 1, &options)
            .await;
        assert!(
            matches!(refused, Err(ProviderError::OutOfBounds(_))),
            "{refused:?}"
        );
    }
    assert!(server.asked("RunInstances").is_empty());
}
