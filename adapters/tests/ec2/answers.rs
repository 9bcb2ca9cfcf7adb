//! "I could not ask" is never "it is gone".

use core::time::Duration;

use lifecycle_adapters::{
    ec2::Ec2Provider,
    provider::{Provider as _, ProviderError, Seen, VolumeReading},
};
use lifecycle_core::{Answer, Cause, Power, Proof};

use crate::recorded::{CALLER, INSTANCE, Recorded, Reply, ZONES, instance, target};

#[tokio::test]
async fn an_answer_that_is_none_is_unknown_with_its_cause() {
    for (reply, cause, asked) in [
        (
            Reply::error(400, "InvalidInstanceID.Malformed"),
            Cause::Malformed,
            1,
        ),
        (
            Reply::error(400, "InvalidParameterValue"),
            Cause::Malformed,
            1,
        ),
        (
            Reply::error(503, "RequestLimitExceeded"),
            Cause::RateLimited,
            3,
        ),
        (Reply::error(400, "Throttling"), Cause::RateLimited, 3),
        (Reply::text(429, ""), Cause::RateLimited, 3),
        (Reply::error(503, "Unavailable"), Cause::ServerError, 3),
        (
            Reply::error(500, "InvalidInstanceID.NotFound"),
            Cause::ServerError,
            3,
        ),
        (
            Reply::text(502, "<html>instance not found</html>"),
            Cause::ServerError,
            3,
        ),
        (
            Reply::error(403, "UnauthorizedOperation"),
            Cause::Forbidden,
            1,
        ),
        (Reply::text(403, "<html/>"), Cause::Forbidden, 1),
        (Reply::error(401, "AuthFailure"), Cause::Unauthorized, 1),
        (Reply::error(400, "RequestExpired"), Cause::Unauthorized, 1),
        (
            Reply::text(200, "<html>not found</html>"),
            Cause::Malformed,
            1,
        ),
        (
            Reply::text(200, "{\"reservationSet\": []}"),
            Cause::Malformed,
            1,
        ),
        (
            Reply::text(200, "<DescribeInstancesResponse><reservationSet/>"),
            Cause::Malformed,
            1,
        ),
        (Reply::text(200, ""), Cause::Malformed, 1),
        (Reply::text(204, ""), Cause::Malformed, 1),
        (Reply::text(302, ""), Cause::Malformed, 1),
        (Reply::text(404, "not found"), Cause::Malformed, 1),
        (Reply::text(410, "gone"), Cause::Malformed, 1),
        (Reply::Silence, Cause::Timeout, 1),
        (Reply::Cut, Cause::Transport, 3),
        (Reply::Closed, Cause::Transport, 3),
    ] {
        let what = format!("{reply:?}");
        let server = Recorded::new(move |_| reply.clone());
        let seen = server.provider().observe(&target()).await;
        assert_eq!(seen, Seen::unknown(cause), "{what}");
        assert_eq!(server.asked("DescribeInstances").len(), asked, "{what}");
        let reading = server.provider().read_volume(&target()).await;
        assert_eq!(reading, VolumeReading::Unknown(cause), "{what}");
        let refused = server.provider().destroy_compute(&target()).await;
        assert!(refused.is_err(), "{what}");
        assert!(server.asked("TerminateInstances").is_empty(), "{what}");
    }
}

#[tokio::test]
async fn nobody_at_home_is_no_absence() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", closed.local_addr().expect("an address"));
    drop(closed);
    let server = Recorded::new(|_| Reply::instances(&[]));
    let config = server
        .config()
        .with_ec2_endpoint(&address)
        .expect("an address");
    let provider = Ec2Provider::connect(config).expect("a provider");
    assert_eq!(
        provider.observe(&target()).await,
        Seen::unknown(Cause::Transport)
    );
    assert!(provider.list().await.is_err());
}

#[tokio::test]
async fn what_has_not_the_form_of_an_id_is_never_sent() {
    let server = Recorded::raw(|_| Reply::Closed);
    let provider = server.provider();
    for id in [
        "",
        "null",
        "none",
        "0",
        "i-",
        "i-0",
        "i-xyzxyzxyz",
        "i-*",
        "vol-12345678",
        "i-1234567G",
    ] {
        let mut target = target();
        target.provider_id = id.to_owned();
        target.volume_id = Some(id.replace("vol-", "i-"));
        assert_eq!(
            provider.observe(&target).await,
            Seen::unknown(Cause::Malformed),
            "{id}"
        );
        let unknown = VolumeReading::Unknown(Cause::Malformed);
        assert_eq!(provider.read_volume(&target).await, unknown, "{id}");
        for refused in [
            provider.stop_compute(&target).await,
            provider.destroy_compute(&target).await,
            provider.destroy_volume(&target).await,
        ] {
            assert!(
                matches!(refused, Err(ProviderError::OutOfBounds(_))),
                "{id} {refused:?}"
            );
        }
    }
    assert!(server.received().is_empty());
}

#[tokio::test]
async fn a_new_instance_may_be_missed_at_first() {
    let asked = core::sync::atomic::AtomicUsize::new(0);
    let server =
        Recorded::new(
            move |_| match asked.fetch_add(1, core::sync::atomic::Ordering::Relaxed) {
                0 => Reply::error(400, "InvalidInstanceID.NotFound"),
                1 => Reply::instances(&[]),
                2 => Reply::instances(&[&instance("i-0000000a", "running", "other/1")]),
                _ => Reply::instances(&[&instance(INSTANCE, "pending", "web-1/1")]),
            },
        );
    let provider = server.provider();
    for answer in [
        Answer::Absent(Proof::TypedNotFound),
        // Below what any policy believes.
        Answer::Absent(Proof::UntypedNotFound),
        Answer::Absent(Proof::UntypedNotFound),
        Answer::Present(Power::Booting),
    ] {
        let seen = provider.observe(&target()).await;
        assert_eq!(seen.answer, answer);
        assert_eq!(seen.scope.as_deref(), Some("123456789012/eu-central-1"));
    }
}

#[tokio::test]
async fn states_are_told_apart_and_unknown_ones_are_no_evidence() {
    for (state, answer) in [
        ("pending", Answer::Present(Power::Booting)),
        ("running", Answer::Present(Power::Running)),
        ("stopping", Answer::Present(Power::Stopping)),
        ("stopped", Answer::Present(Power::Off)),
        ("shutting-down", Answer::Present(Power::Stopping)),
        ("terminated", Answer::Absent(Proof::Tombstone)),
        ("hibernating", Answer::Present(Power::Unrecognized)),
        ("", Answer::Present(Power::Unrecognized)),
    ] {
        let server =
            Recorded::new(move |_| Reply::instances(&[&instance(INSTANCE, state, "web-1/1")]));
        assert_eq!(
            server.provider().observe(&target()).await.answer,
            answer,
            "{state}"
        );
    }
    let another = |_: &_| Reply::instances(&[&instance(INSTANCE, "terminated", "web-2/1")]);
    let seen = Recorded::new(another).provider().observe(&target()).await;
    assert_eq!(
        seen.answer,
        Answer::Absent(Proof::Superseded),
        "another's end"
    );
}

#[tokio::test]
async fn a_wait_that_the_service_asks_for_is_passed_on() {
    let server = Recorded::new(|_| Reply::error(503, "RequestLimitExceeded").retry_after(30));
    match server.provider().list().await {
        Err(ProviderError::Refused {
            cause: Cause::RateLimited,
            retry_after,
            ..
        }) => {
            assert_eq!(retry_after, Some(Duration::from_secs(30)));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(server.asked("DescribeInstances").len(), 1);
}

#[tokio::test]
async fn where_we_are_is_what_the_service_says_and_asked_for_once() {
    let server = Recorded::new(|_| Reply::instances(&[&instance(INSTANCE, "running", "web-1/1")]));
    let provider = server.provider();
    for _ in 0..3 {
        provider.observe(&target()).await;
    }
    assert_eq!(server.asked("GetCallerIdentity").len(), 1);
    assert_eq!(server.asked("DescribeInstances").len(), 3);
    // The configuration says eu-central-1, and does not count.
    let server = Recorded::raw(|request| match request.action() {
        "GetCallerIdentity" => Reply::text(200, CALLER),
        _ => Reply::text(200, ZONES.replace("eu-central-1", "eu-west-1")),
    });
    let scope = server.provider().scope().await;
    assert_eq!(scope.as_deref(), Ok("123456789012/eu-west-1"));
}

#[tokio::test]
async fn where_the_service_does_not_say_where_we_are_nothing_is_known() {
    let two = ZONES.replacen("eu-central-1<", "eu-west-1<", 1);
    let none = ZONES
        .replace("<item>", "<other>")
        .replace("</item>", "</other>");
    for (caller, zones, cause) in [
        (
            Reply::text(200, CALLER),
            Reply::text(200, two),
            Cause::Malformed,
        ),
        (
            Reply::text(200, CALLER),
            Reply::text(200, none),
            Cause::Malformed,
        ),
        (
            Reply::text(200, CALLER.replace("123456789012<", "<")),
            Reply::text(200, ZONES),
            Cause::Malformed,
        ),
        (
            Reply::error(403, "AccessDenied"),
            Reply::text(200, ZONES),
            Cause::Forbidden,
        ),
        (
            Reply::text(200, CALLER),
            Reply::error(403, "UnauthorizedOperation"),
            Cause::Forbidden,
        ),
    ] {
        let server = Recorded::raw(move |request| match request.action() {
            "GetCallerIdentity" => caller.clone(),
            "DescribeAvailabilityZones" => zones.clone(),
            _ => Reply::error(400, "InvalidInstanceID.NotFound"),
        });
        let seen = server.provider().observe(&target()).await;
        assert_eq!(seen, Seen::unknown(cause));
        assert!(server.provider().destroy_compute(&target()).await.is_err());
    }
}
