//! Requests are signed, and nothing shows with what.

use lifecycle_adapters::provider::Provider as _;

use crate::recorded::{Recorded, Reply, SECRET, TOKEN, target};

#[tokio::test]
async fn requests_carry_a_signature_for_the_service_they_go_to() {
    let server = Recorded::new(|_| Reply::instances(&[]));
    server.provider().observe(&target()).await;
    let received = server.received();
    assert_eq!(received.len(), 3);
    for request in received {
        let service = if request.action() == "GetCallerIdentity" {
            "sts"
        } else {
            "ec2"
        };
        let authorization = &request.headers["authorization"];
        let begins = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/";
        assert!(authorization.starts_with(begins), "{authorization}");
        assert!(
            authorization.contains(&format!("/eu-central-1/{service}/aws4_request")),
            "{authorization}"
        );
        for header in ["content-type", "host", "x-amz-date", "x-amz-security-token"] {
            assert!(request.headers.contains_key(header), "{header}");
            assert!(authorization.contains(header), "{header} is signed");
        }
        assert!(!request.body.contains(SECRET) && !authorization.contains(SECRET));
    }
}

#[tokio::test]
async fn no_secret_is_shown_in_errors_or_while_debugging() {
    let mut shown = Vec::new();
    // The service quotes what it was sent.
    for (status, code) in [
        (400, "InvalidParameterValue"),
        (401, "AuthFailure"),
        (403, "SignatureDoesNotMatch"),
        (500, "InternalError"),
    ] {
        let server = Recorded::new(move |_| Reply::error(status, code));
        let provider = server.provider();
        let refused = provider.list().await.expect_err("refused");
        assert!(refused.to_string().contains(code), "{refused}");
        shown.push(format!(
            "{refused} {refused:?} {provider:?} {:?}",
            server.config()
        ));
        let refused = provider
            .destroy_compute(&target())
            .await
            .expect_err("refused");
        shown.push(format!("{refused} {refused:?}"));
    }
    for text in shown {
        for secret in [SECRET, TOKEN, "AKIDEXAMPLE"] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}
