//! What is sent before an instance ends, and what is not.

use core::sync::atomic::{AtomicBool, Ordering};

use lifecycle_adapters::{
    ec2::Ec2Provider,
    provider::{Delivered, Provider as _, ProviderError},
};
use lifecycle_core::{Cause, Proof};

use crate::recorded::{INSTANCE, Recorded, Reply, instance, instance_with, target};

#[tokio::test]
async fn volumes_are_kept_before_the_instance_ends_and_that_is_read_back() {
    let server = instance_that_obeys(true);
    let destroyed = server.provider().destroy_compute(&target()).await;
    assert_eq!(destroyed, Ok(Delivered::Accepted));
    let asked = server.asked("ModifyInstanceAttribute");
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0]["BlockDeviceMapping.1.DeviceName"], "/dev/xvda");
    assert_eq!(
        asked[0]["BlockDeviceMapping.1.Ebs.DeleteOnTermination"],
        "false"
    );
    assert!(
        !asked[0].contains_key("BlockDeviceMapping.2.DeviceName"),
        "the other one is kept"
    );
    let order: Vec<_> = server
        .received()
        .iter()
        .map(|it| it.action().to_owned())
        .collect();
    assert_eq!(
        order[2..],
        [
            "DescribeInstances",
            "ModifyInstanceAttribute",
            "DescribeInstances",
            "TerminateInstances"
        ]
    );
}

#[tokio::test]
async fn an_instance_whose_volume_cannot_be_kept_is_not_ended() {
    let server = instance_that_obeys(false);
    let refused = server.provider().destroy_compute(&target()).await;
    let at_risk = Err(ProviderError::VolumeAtRisk("vol-0000000a".to_owned()));
    assert_eq!(refused, at_risk, "accepted, and not done");
    assert!(server.asked("TerminateInstances").is_empty());

    // Where the service says nothing of a volume, it is not known to be kept.
    let unsaid = device("/dev/xvda", "vol-0000000a", "");
    for devices in [
        String::new(),
        format!("<blockDeviceMapping>{unsaid}</blockDeviceMapping>"),
    ] {
        let server = Recorded::new(move |request| match request.action() {
            "DescribeInstances" => {
                Reply::instances(&[&instance_with(INSTANCE, "running", "web-1/1", &devices)])
            }
            action => Reply::done(action),
        });
        let refused = server.provider().destroy_compute(&target()).await;
        assert!(
            matches!(refused, Err(ProviderError::VolumeAtRisk(_))),
            "{refused:?}"
        );
        assert!(server.asked("TerminateInstances").is_empty());
    }
}

#[tokio::test]
async fn what_is_unknown_after_a_change_is_asked_again_by_the_caller() {
    for (action, reply, cause) in [
        (
            "ModifyInstanceAttribute",
            Reply::error(503, "RequestLimitExceeded"),
            Cause::RateLimited,
        ),
        (
            "ModifyInstanceAttribute",
            Reply::error(403, "UnauthorizedOperation"),
            Cause::Forbidden,
        ),
        ("ModifyInstanceAttribute", Reply::Silence, Cause::Timeout),
        ("TerminateInstances", Reply::Silence, Cause::Timeout),
        (
            "TerminateInstances",
            Reply::error(500, "InternalError"),
            Cause::ServerError,
        ),
        (
            "TerminateInstances",
            Reply::error(400, "OperationNotPermitted"),
            Cause::Forbidden,
        ),
        (
            "TerminateInstances",
            Reply::text(200, "<html/>"),
            Cause::Malformed,
        ),
    ] {
        let server = obeying(
            move |request| (request == action).then(|| reply.clone()),
            true,
        );
        let refused = server.provider().destroy_compute(&target()).await;
        match refused {
            Err(ProviderError::Refused { cause: other, .. }) => assert_eq!(other, cause),
            other => panic!("{other:?}"),
        }
        assert_eq!(server.asked(action).len(), 1, "{action} is sent once");
        let ended = server.asked("TerminateInstances").len();
        assert_eq!(ended, usize::from(action == "TerminateInstances"));
    }
}

#[tokio::test]
async fn an_instance_that_ends_already_is_left_alone() {
    for (state, delivered) in [
        ("shutting-down", Delivered::Accepted),
        ("terminated", Delivered::NotFound(Proof::Tombstone)),
    ] {
        let server =
            Recorded::new(move |_| Reply::instances(&[&instance(INSTANCE, state, "web-1/1")]));
        assert_eq!(
            server.provider().destroy_compute(&target()).await,
            Ok(delivered)
        );
        assert!(server.asked("TerminateInstances").is_empty());
    }
    let server = Recorded::new(|request| match request.action() {
        "TerminateInstances" => Reply::error(400, "InvalidInstanceID.NotFound"),
        _ => Reply::instances(&[&instance(INSTANCE, "running", "web-1/1")]),
    });
    let raced = server.provider().destroy_compute(&target()).await;
    assert_eq!(raced, Ok(Delivered::NotFound(Proof::TypedNotFound)));
}

#[tokio::test]
async fn a_stop_that_comes_too_soon_or_too_late_waits_for_the_next_try() {
    // As EC2 answers for an instance that is pending, or was terminated since it was looked at.
    let server = Recorded::new(|request| match request.action() {
        "StopInstances" => Reply::error(400, "IncorrectInstanceState"),
        _ => Reply::instances(&[&instance(INSTANCE, "pending", "web-1/1")]),
    });
    let refused = server.provider().stop_compute(&target()).await;
    assert!(refused.is_err_and(|refused| refused.is_retryable()));
    let server =
        Recorded::new(|_| Reply::instances(&[&instance(INSTANCE, "terminated", "web-1/1")]));
    let stopped = server.provider().stop_compute(&target()).await;
    assert_eq!(stopped, Ok(Delivered::NotFound(Proof::Tombstone)));
    assert!(server.asked("StopInstances").is_empty());
}

#[tokio::test]
async fn a_guest_that_does_not_stop_is_stopped_hard_after_the_limit() {
    let server = Recorded::new(|request| match request.action() {
        "StopInstances" => Reply::done("StopInstances"),
        _ => Reply::instances(&[&instance(INSTANCE, "running", "web-1/1")]),
    });
    let stopped = server.provider().stop_compute(&target()).await;
    assert_eq!(stopped, Ok(Delivered::Accepted));
    assert_eq!(
        server.asked("StopInstances").len(),
        1,
        "the service's own limit"
    );

    let config = server
        .config()
        .with_stop_limit(core::time::Duration::from_millis(20));
    let provider = Ec2Provider::connect(config).expect("a provider");
    assert_eq!(
        provider.stop_compute(&target()).await,
        Ok(Delivered::Accepted)
    );
    let asked = server.asked("StopInstances");
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[1].get("Force"), None);
    assert_eq!(asked[2]["Force"], "true");
}

fn instance_that_obeys(obeys: bool) -> Recorded {
    obeying(|_| None, obeys)
}

/// An instance with two volumes, one of which would go down with it; and what it is told.
fn obeying(fault: impl Fn(&str) -> Option<Reply> + Send + Sync + 'static, obeys: bool) -> Recorded {
    let at_risk = AtomicBool::new(true);
    Recorded::new(move |request| {
        if let Some(reply) = fault(request.action()) {
            return reply;
        }
        match request.action() {
            "DescribeInstances" => {
                let flag = at_risk.load(Ordering::Relaxed).to_string();
                let devices = format!(
                    "<blockDeviceMapping>{}{}<item><deviceName>/dev/nvme1</deviceName></item></blockDeviceMapping>",
                    device("/dev/xvda", "vol-0000000a", &flag),
                    device("/dev/sdf", "vol-0000000b", "false"),
                );
                Reply::instances(&[&instance_with(INSTANCE, "running", "web-1/1", &devices)])
            }
            "ModifyInstanceAttribute" => {
                at_risk.fetch_and(!obeys, Ordering::Relaxed);
                Reply::done("ModifyInstanceAttribute")
            }
            action => Reply::done(action),
        }
    })
}

fn device(name: &str, volume: &str, flag: &str) -> String {
    let flag = match flag {
        "" => String::new(),
        flag => format!("<deleteOnTermination>{flag}</deleteOnTermination>"),
    };
    format!(
        "<item><deviceName>{name}</deviceName><ebs><volumeId>{volume}</volumeId>\
         <status>attached</status>{flag}</ebs></item>"
    )
}
