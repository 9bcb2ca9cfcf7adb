//! Region, credentials and endpoints are read from where the AWS tools read them.

use std::{collections::BTreeMap, fs, path::Path};

use lifecycle_adapters::{
    ec2::{Ec2Config, Ec2ConfigError, Ec2Provider},
    provider::{Provider as _, Seen},
};
use lifecycle_core::{Answer, Cause, Power};

use crate::recorded::{CALLER, INSTANCE, Recorded, Reply, ZONES, instance, target};

#[tokio::test]
async fn variables_have_the_first_word_and_profiles_the_second() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join(".aws");
    fs::create_dir(&folder).expect("a folder");
    let credentials = "[default]\naws_access_key_id = AKIDDEFAULT\naws_secret_access_key = d\n\
                       [work]\naws_access_key_id = AKIDWORK\naws_secret_access_key = w # mine\n\
                       aws_session_token = t\n";
    fs::write(folder.join("credentials"), credentials).expect("a file");
    let config = "[default]\nregion = eu-west-1\n[profile work]\nregion = eu-west-2\n\
                  aws_access_key_id = AKIDOTHER\naws_secret_access_key = o\n";
    fs::write(folder.join("config"), config).expect("a file");
    let key = ("AWS_ACCESS_KEY_ID", "AKIDVARIABLE");
    let secret = ("AWS_SECRET_ACCESS_KEY", "v");
    for (variables, signed_as) in [
        (vec![], "AKIDDEFAULT/eu-west-1"),
        (vec![("AWS_PROFILE", "work")], "AKIDWORK/eu-west-2"),
        (vec![key, secret], "AKIDVARIABLE/eu-west-1"),
        (
            vec![key, secret, ("AWS_PROFILE", "work")],
            "AKIDVARIABLE/eu-west-2",
        ),
        (
            vec![("AWS_DEFAULT_REGION", "us-east-1")],
            "AKIDDEFAULT/us-east-1",
        ),
        (
            vec![
                ("AWS_DEFAULT_REGION", "us-east-1"),
                ("AWS_REGION", "us-east-2"),
            ],
            "AKIDDEFAULT/us-east-2",
        ),
    ] {
        let server = Recorded::new(|_| Reply::instances(&[]));
        let endpoint = server.endpoint();
        let mut variables = variables;
        variables.push(("AWS_ENDPOINT_URL", &endpoint));
        let config = read(home.path(), &variables).expect("a configuration");
        let provider = Ec2Provider::connect(config).expect("a provider");
        provider.list().await.expect("a listing");
        for request in server.received() {
            let authorization = &request.headers["authorization"];
            let (key, region) = signed_as.split_once('/').expect("a pair");
            assert!(
                authorization.contains(&format!("Credential={key}/")),
                "{authorization}"
            );
            assert!(
                authorization.contains(&format!("/{region}/")),
                "{authorization}"
            );
            let has_token = request.headers.contains_key("x-amz-security-token");
            assert_eq!(has_token, key == "AKIDWORK");
        }
    }
}

#[test]
fn endpoints_are_named_for_both_for_each_or_not_at_all() {
    let home = tempfile::tempdir().expect("a folder");
    let keys = [
        ("AWS_ACCESS_KEY_ID", "a"),
        ("AWS_SECRET_ACCESS_KEY", "b"),
        ("AWS_REGION", "cn-north-1"),
    ];
    let usual = "https://ec2.cn-north-1.amazonaws.com.cn/ https://sts.cn-north-1.amazonaws.com.cn/";
    for (variables, endpoints) in [
        (vec![], usual),
        (
            vec![("AWS_ENDPOINT_URL", "http://a:1")],
            "http://a:1/ http://a:1/",
        ),
        (
            vec![
                ("AWS_ENDPOINT_URL", "http://a"),
                ("AWS_ENDPOINT_URL_STS", "http://b/x"),
            ],
            "http://a/ http://b/x",
        ),
        (
            vec![("AWS_ENDPOINT_URL_EC2", "http://c")],
            "http://c/ https://sts.cn-north-1.amazonaws.com.cn/",
        ),
        (
            vec![
                ("AWS_ENDPOINT_URL", "http://a"),
                ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"),
            ],
            usual,
        ),
    ] {
        let config = read(home.path(), &[&keys[..], &variables].concat()).expect("a configuration");
        let shown = format!("{config:?}");
        let (ec2, sts) = endpoints.split_once(' ').expect("two");
        assert!(shown.contains(&format!("endpoint: {ec2:?}")), "{shown}");
        assert!(shown.contains(&format!("sts_endpoint: {sts:?}")), "{shown}");
    }
    for wrong in [
        "x",
        "ftp://a",
        "http://user@a",
        "http://u:p@a",
        "http://a?b=c",
        "file:///etc",
    ] {
        let variables = [&keys[..], &[("AWS_ENDPOINT_URL", wrong)]].concat();
        let refused = read(home.path(), &variables);
        assert!(
            matches!(refused, Err(Ec2ConfigError::WrongEndpoint)),
            "{wrong} {refused:?}"
        );
    }
}

#[test]
fn what_is_missing_or_not_supported_is_named() {
    let home = tempfile::tempdir().expect("a folder");
    let path = home.path().join("config");
    fs::write(
        &path,
        "[profile sso]\nsso_session = x\n[profile role]\nrole_arn = r\n",
    )
    .expect("a file");
    let path = path.to_str().expect("a text");
    let region = ("AWS_REGION", "eu-west-1");
    let refused = |variables: &[(&str, &str)]| {
        read(home.path(), variables)
            .expect_err("refused")
            .to_string()
    };
    assert!(refused(&[]).contains("AWS_REGION"));
    assert!(refused(&[region]).contains("AWS_ACCESS_KEY_ID"));
    assert!(refused(&[region, ("AWS_SECRET_ACCESS_KEY", "b")]).contains("other half"));
    let file = ("AWS_CONFIG_FILE", path);
    assert!(refused(&[region, file, ("AWS_PROFILE", "sso")]).contains("`sso_session`"));
    assert!(refused(&[region, file, ("AWS_PROFILE", "role")]).contains("`role_arn`"));
    let a_folder = home.path().to_str().expect("a text");
    let unreadable = refused(&[region, ("AWS_SHARED_CREDENTIALS_FILE", a_folder)]);
    assert!(unreadable.contains("could not be read"), "{unreadable}");
    let refused = read(
        home.path(),
        &[
            ("AWS_REGION", "evil.example/"),
            ("AWS_ACCESS_KEY_ID", "a"),
            ("AWS_SECRET_ACCESS_KEY", "b"),
        ],
    );
    assert!(matches!(refused, Err(Ec2ConfigError::WrongRegion)));
}

#[tokio::test]
async fn credentials_of_a_profile_are_read_again_when_they_are_refused() {
    let home = tempfile::tempdir().expect("a folder");
    let path = home.path().join("credentials");
    let write = |key: &str| {
        let text = format!("[default]\naws_access_key_id = {key}\naws_secret_access_key = s\n");
        fs::write(&path, text).expect("a file");
    };
    write("AKIDOLD");
    let server = Recorded::raw(|request| {
        let is_old = request.headers["authorization"].contains("AKIDOLD");
        match request.action() {
            _ if is_old => Reply::error(400, "ExpiredToken"),
            "GetCallerIdentity" => Reply::text(200, CALLER),
            "DescribeAvailabilityZones" => Reply::text(200, ZONES),
            _ => Reply::instances(&[&instance(INSTANCE, "running", "web-1/1")]),
        }
    });
    let variables = [
        (
            "AWS_SHARED_CREDENTIALS_FILE",
            path.to_str().expect("a text"),
        ),
        ("AWS_ENDPOINT_URL", &server.endpoint()),
        ("AWS_REGION", "eu-central-1"),
    ];
    let config = read(home.path(), &variables).expect("a configuration");
    let provider = Ec2Provider::connect(config).expect("a provider");
    let refused = Seen::unknown(Cause::Unauthorized);
    assert_eq!(provider.observe(&target()).await, refused);
    write("AKIDNEW");
    assert_eq!(
        provider.observe(&target()).await,
        refused,
        "what was asked with the old ones"
    );
    let seen = provider.observe(&target()).await;
    assert_eq!(seen.answer, Answer::Present(Power::Running));
}

fn read(home: &Path, variables: &[(&str, &str)]) -> Result<Ec2Config, Ec2ConfigError> {
    let variables: BTreeMap<_, _> = variables.iter().copied().collect();
    Ec2Config::from_variables(|name| match name {
        "HOME" => home.to_str().map(str::to_owned),
        name => variables.get(name).map(|value| (*value).to_owned()),
    })
}
