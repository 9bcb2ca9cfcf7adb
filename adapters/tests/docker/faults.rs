//! What does the provider make of an engine that answers badly?

use core::time::Duration;
use std::sync::Arc;

use lifecycle_adapters::{
    conformance::provider::http::{
        self, Address, HttpHarness, HttpReply, HttpRequest, Outcome, Server, Transport,
    },
    docker::{DockerConfig, DockerProvider},
    id::MachineId,
    provider::{Provider, Target},
};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_answer_is_taken_for_what_it_is() {
    let not_examined = http::run(Arc::new(FakeEngine::new())).await;
    let names: Vec<_> = not_examined.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        names,
        ["a_page_that_names_no_next_one_makes_no_complete_listing"],
        "the engine knows no pages"
    );
}

/// An engine with one container and its volume.
pub(crate) struct FakeEngine {
    folder: tempfile::TempDir,
}

pub(crate) const VOLUME: &str = "home";

impl FakeEngine {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    /// Starts an engine that answers as a well one, but where it is told otherwise.
    pub(crate) async fn lying(
        self: &Arc<Self>,
        lie: impl Fn(&HttpRequest) -> Option<Outcome> + Send + Sync + 'static,
    ) -> (Server, Arc<dyn Provider>) {
        let engine = self.clone();
        let server = Server::start(&self.transport(), move |request| {
            lie(request).unwrap_or_else(|| Outcome::Reply(engine.answer(request)))
        })
        .await;
        let provider = self.provider(server.address());
        (server, provider)
    }
}

impl HttpHarness for FakeEngine {
    fn transport(&self) -> Transport {
        Transport::Unix(self.folder.path().to_owned())
    }

    fn provider(&self, address: &Address) -> Arc<dyn Provider> {
        let Address::Unix(socket) = address else {
            panic!("a socket, not {address:?}");
        };
        let config = DockerConfig::new(socket)
            .with_timeout(Duration::from_millis(300))
            .with_stop_limit(Duration::ZERO);
        Arc::new(DockerProvider::connect(config).expect("a client"))
    }

    fn target(&self) -> Target {
        Target {
            machine: MachineId::new("web").expect("an id"),
            generation: 1,
            provider_id: id(),
            marker: Some("web/1".to_owned()),
            scope: "docker:ENGINE".to_owned(),
            volume_id: Some(VOLUME.to_owned()),
        }
    }

    fn answer(&self, request: &HttpRequest) -> HttpReply {
        let (path, _) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let container = format!("/containers/{}", id());
        let volume = format!("/volumes/{VOLUME}");
        match (request.method.as_str(), path) {
            ("GET", "/info") => reply(&json!({ "ID": "ENGINE", "Name": "host" })),
            ("GET", "/containers/json") => reply(&json!([summary("running")])),
            ("GET", path) if path == format!("{container}/json") => reply(&inspected("running")),
            ("GET", path) if path == volume => {
                reply(&json!({ "Name": VOLUME, "Labels": { "lifecycle.machine": "web" } }))
            }
            ("POST", path) if path == format!("{container}/stop") => HttpReply::empty(204),
            ("DELETE", path) if path == container || path == volume => HttpReply::empty(204),
            _ => HttpReply::new(404, "text/plain", "Not Found"),
        }
    }

    fn not_found(&self, request: &HttpRequest) -> Option<HttpReply> {
        let says = |what: &str| Some(HttpReply::json(404, json!({ "message": what }).to_string()));
        if request.path.starts_with(&format!("/containers/{}", id())) {
            says(&format!("No such container: {}", id()))
        } else if request.path.starts_with("/volumes/") {
            says(&format!("get {VOLUME}: no such volume"))
        } else {
            None
        }
    }
}

pub(crate) fn id() -> String {
    "0123456789abcdef".repeat(4)
}

pub(crate) fn reply(body: &Value) -> HttpReply {
    HttpReply::json(200, body.to_string())
}

pub(crate) fn summary(state: &str) -> Value {
    json!({ "Id": id(), "State": state, "Labels": labels(), "Mounts": mounts() })
}

pub(crate) fn inspected(state: &str) -> Value {
    json!({
        "Id": id(),
        "State": { "Status": state },
        "Config": { "Labels": labels() },
        "Mounts": mounts(),
        "HostConfig": { "AutoRemove": false },
    })
}

fn labels() -> Value {
    json!({
        "lifecycle.machine": "web",
        "lifecycle.generation": "1",
        "lifecycle.marker": "web/1",
        "lifecycle.volume": VOLUME,
    })
}

fn mounts() -> Value {
    json!([{ "Type": "volume", "Name": VOLUME, "Destination": "/home" }])
}
