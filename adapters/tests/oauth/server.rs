//! A real authorization server, and what a client of it can ask.

use std::{
    env,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use lifecycle_adapters::{
    endpoint::Endpoint,
    oauth::{ClientAuthentication, OAuthConfig},
    secret::Secret,
};
use serde_json::Value;

/// The server of one test; it ends with it, and when this process ends.
pub(crate) struct Server {
    address: String,
    child: Child,
    /// It warns on it for as long as it runs.
    _output: BufReader<ChildStdout>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let modules = env::var("LIFECYCLE_OIDC_MODULES").unwrap_or_default();
        assert!(
            Path::new(&modules).join("oidc-provider").is_dir(),
            "oidc-provider not found: run .ci/install-oidc (Node, npm oidc-provider) and set \
             LIFECYCLE_OIDC_MODULES to the path it prints"
        );
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oauth/server.mjs");
        let mut child = Command::new("node")
            .arg(script)
            .env("LIFECYCLE_OIDC_MODULES", modules)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("node not found: install Node 20 or later");
        let mut address = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("an output"));
        output.read_line(&mut address).expect("a line");
        let address = address.trim_end().to_owned();
        assert!(
            address.starts_with("http://127.0.0.1:"),
            "oidc-provider did not start"
        );
        Self {
            address,
            child,
            _output: output,
        }
    }

    pub(crate) fn config(&self, client: ClientAuthentication) -> OAuthConfig {
        let endpoint = format!("{}/token/revocation", self.address);
        OAuthConfig::new(Endpoint::new(&endpoint).expect("an endpoint"), client)
    }

    /// Returns a refresh token and an access token of one grant.
    pub(crate) async fn grant(&self, client: &str) -> (String, String) {
        let url = format!("{}/mint", self.address);
        let mut url = reqwest::Url::parse(&url).expect("an address");
        url.query_pairs_mut().append_pair("client", client);
        let answer = client_of_tests().get(url).send().await.expect("an answer");
        let text = answer.text().await.expect("a text");
        let mut lines = text.lines().map(str::to_owned);
        let mut line = || lines.next().expect("a token");
        (line(), line())
    }

    /// Returns an access token, as a machine would get it.
    pub(crate) async fn client_token(&self) -> String {
        let answer = self
            .post("/token", &[("grant_type", "client_credentials")])
            .await;
        answer["access_token"].as_str().expect("a token").to_owned()
    }

    /// Asks the server itself whether a token works.
    pub(crate) async fn works(&self, token: &str) -> bool {
        let answer = self.post("/token/introspection", &[("token", token)]).await;
        answer["active"].as_bool().expect("an answer")
    }

    async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Value {
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(fields);
        body.append_pair("client_id", "by post");
        body.append_pair("client_secret", SECRET);
        let answer = client_of_tests()
            .post(format!("{}{path}", self.address))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body.finish())
            .send()
            .await
            .expect("an answer");
        let text = answer.text().await.expect("a text");
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn by_basic() -> ClientAuthentication {
    ClientAuthentication::Basic {
        id: "by:basic".to_owned(),
        secret: Secret::new(SECRET),
    }
}

pub(crate) fn by_post() -> ClientAuthentication {
    ClientAuthentication::Post {
        id: "by post".to_owned(),
        secret: Secret::new(SECRET),
    }
}

fn client_of_tests() -> reqwest::Client {
    let client = reqwest::Client::builder().no_proxy().build();
    client.expect("a client")
}

/// As in `server.mjs`.
pub(crate) const SECRET: &str = "s%20 ec:r+et/&=";
