//! How is a connection cut between two messages?

use core::sync::atomic::{AtomicI64, Ordering};
use std::sync::Arc;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::Notify,
};

/// Stands between a client and a server, and cuts one connection when it is told to.
pub(crate) struct Proxy {
    port: u16,
    /// How many messages still pass before the cut; negative: nothing is cut.
    left: Arc<AtomicI64>,
    all: Arc<Notify>,
}

impl Proxy {
    pub(crate) async fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port is free");
        let address = listener.local_addr().expect("it listens");
        let (left, all) = (Arc::new(AtomicI64::new(NEVER)), Arc::new(Notify::new()));
        tokio::spawn({
            let (left, all) = (left.clone(), all.clone());
            async move {
                while let Ok((client, _)) = listener.accept().await {
                    tokio::spawn(connect(client, port, left.clone(), all.clone()));
                }
            }
        });
        Self {
            port: address.port(),
            left,
            all,
        }
    }

    /// Returns the address of a database by way of here.
    pub(crate) fn url(&self, url: &str, port: u16) -> String {
        url.replacen(&format!(":{port}"), &format!(":{}", self.port), 1)
    }

    /// Cuts the connection over which the message after so many goes, instead of handing that on.
    pub(crate) fn cut_after(&self, messages: i64) {
        self.left.store(messages, Ordering::SeqCst);
    }

    /// Cuts every connection that there is now.
    pub(crate) fn cut_all(&self) {
        self.all.notify_waiters();
    }

    /// Cuts nothing more, and tells whether something was cut.
    pub(crate) fn has_cut(&self) -> bool {
        self.left.swap(NEVER, Ordering::SeqCst) < 0
    }
}

const NEVER: i64 = i64::MIN / 2;

async fn connect(client: TcpStream, port: u16, left: Arc<AtomicI64>, all: Arc<Notify>) {
    let Ok(server) = TcpStream::connect(("127.0.0.1", port)).await else {
        return;
    };
    for stream in [&client, &server] {
        stream.set_nodelay(true).expect("it is open");
    }
    let cut = Arc::new(Notify::new());
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    tokio::join!(
        hand_on(
            from_client,
            to_server,
            left.clone(),
            cut.clone(),
            all.clone()
        ),
        hand_on(from_server, to_client, left, cut, all),
    );
}

/// Hands bytes on until either end is closed, or the connection is cut. What a side sends at once is
/// taken for one message.
async fn hand_on(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    left: Arc<AtomicI64>,
    cut: Arc<Notify>,
    all: Arc<Notify>,
) {
    let mut bytes = vec![0; 1 << 16];
    loop {
        let read = tokio::select! {
            read = from.read(&mut bytes) => read.unwrap_or(0),
            () = cut.notified() => 0,
            () = all.notified() => 0,
        };
        let is_last = read > 0 && left.fetch_sub(1, Ordering::SeqCst) == 0;
        if is_last || read == 0 || to.write_all(&bytes[..read]).await.is_err() {
            cut.notify_one();
            return;
        }
    }
}
