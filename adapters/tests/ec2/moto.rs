//! A moto server, shared by the tests that run at the same time, each in a region of its own.

use core::{
    net::{Ipv4Addr, SocketAddr},
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};
use std::{
    env,
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError, Weak},
    thread,
    time::Instant,
};

use lifecycle_adapters::{
    ec2::{Ec2Config, Ec2Credentials, Ec2Provider, InstanceOptions},
    id::MachineId,
    provider::Target,
};

use crate::http;

/// One region of a moto server.
pub(crate) struct World {
    pub(crate) provider: Ec2Provider,
    pub(crate) region: &'static str,
    server: Arc<Server>,
}

struct Server {
    address: SocketAddr,
    /// A shell that ends the server when this process does, however that ends.
    keeper: Child,
}

impl World {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        assert!(
            next < REGIONS.len(),
            "more tests than regions: name another"
        );
        let server = server();
        let region = REGIONS[next];
        let provider = Ec2Provider::connect(config(&server, region)).expect("a provider");
        Self {
            provider,
            region,
            server,
        }
    }

    pub(crate) fn config(&self) -> Ec2Config {
        config(&self.server, self.region)
    }

    pub(crate) async fn create(&self, name: &str, options: &InstanceOptions) -> Target {
        let created = self.provider.create(&machine(name), 1, options).await;
        created.expect("an instance").target(machine(name), 1)
    }

    /// Does something to the region from outside.
    pub(crate) fn ask(&self, parameters: &[(&str, &str)]) -> String {
        http::ask(self.server.address, self.region, parameters)
    }

    /// Changes what an instance or a volume carries as its marker.
    pub(crate) fn tag(&self, id: &str, marker: Option<&str>) {
        let key = ("Tag.1.Key", "lifecycle:marker");
        match marker {
            Some(marker) => self.ask(&[
                ("Action", "CreateTags"),
                ("ResourceId.1", id),
                key,
                ("Tag.1.Value", marker),
            ]),
            None => self.ask(&[("Action", "DeleteTags"), ("ResourceId.1", id), key]),
        };
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The shell waits for the end of its input, and then ends the server.
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

pub(crate) fn machine(name: &str) -> MachineId {
    MachineId::new(name).expect("a machine id")
}

/// An image that moto knows.
pub(crate) fn options() -> InstanceOptions {
    InstanceOptions::new("ami-12c6146b", "t3.micro")
}

/// The value of the first element of this name.
pub(crate) fn element(body: &str, name: &str) -> String {
    let (_, after) = body.split_once(&format!("<{name}>")).expect("an element");
    after.split('<').next().unwrap_or_default().to_owned()
}

fn config(server: &Server, region: &str) -> Ec2Config {
    Ec2Config::new(region, Ec2Credentials::new("test", "test", None))
        .and_then(|config| config.with_endpoint(&format!("http://{}", server.address)))
        .expect("a configuration")
        .with_poll(Duration::from_millis(20))
        .with_volume_wait(Duration::from_secs(2))
}

fn server() -> Arc<Server> {
    static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(server) = shared.upgrade() {
        return server;
    }
    let server = Arc::new(start());
    *shared = Arc::downgrade(&server);
    server
}

fn start() -> Server {
    let program = program();
    // The port may be taken in between.
    for _ in 0..5 {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = free.local_addr().expect("an address");
        drop(free);
        let keeper = Command::new("sh")
            .args(["-c", KEEPER])
            .arg(&program)
            .arg(address.port().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let server = Server { address, keeper };
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(20) {
            if TcpStream::connect(address).is_ok() {
                return server;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }
    panic!("{} did not start", program.display());
}

fn program() -> PathBuf {
    let named = env::var_os("LIFECYCLE_MOTO_BIN").map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    named
        .into_iter()
        .chain(env::split_paths(&path).map(|folder| folder.join("moto_server")))
        .find(|program| program.is_file())
        .expect(
            "moto_server not found: run .ci/install-moto (Python, PyPI moto[server,ec2]) and set \
             LIFECYCLE_MOTO_BIN to the path it prints",
        )
}

const KEEPER: &str = r#""$0" -H 127.0.0.1 -p "$1" </dev/null & server=$!
trap 'kill "$server"' TERM INT
cat >/dev/null
kill "$server"
wait "$server""#;

/// Moto keeps what is in one region apart from the others.
const REGIONS: [&str; 17] = [
    "eu-central-1",
    "eu-west-1",
    "eu-west-2",
    "eu-west-3",
    "eu-north-1",
    "us-east-1",
    "us-east-2",
    "us-west-1",
    "us-west-2",
    "ca-central-1",
    "sa-east-1",
    "ap-south-1",
    "ap-northeast-1",
    "ap-northeast-2",
    "ap-northeast-3",
    "ap-southeast-1",
    "ap-southeast-2",
];
