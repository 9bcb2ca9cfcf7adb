//! The management interface of a message broker, whose users the store makes and removes.

use core::sync::atomic::{AtomicBool, Ordering};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use serde_json::json;

use crate::{
    bao::Bao,
    faulty::{Faulty, Reply},
};

/// A broker that OpenBao's engine `rabbitmq` takes for one.
pub(crate) struct Broker {
    _server: Faulty,
    users: Arc<Mutex<BTreeSet<String>>>,
    /// Whether it removes no user.
    pub(crate) is_stuck: Arc<AtomicBool>,
}

/// What the store issued: its id of the lease, and the user.
pub(crate) struct Lease {
    pub(crate) id: String,
    pub(crate) user: String,
}

impl Broker {
    /// Starts one, and has the store make users there.
    pub(crate) async fn of(bao: &Bao) -> Self {
        let users = Arc::new(Mutex::new(BTreeSet::new()));
        let is_stuck = Arc::new(AtomicBool::new(false));
        let (known, stuck) = (Arc::clone(&users), Arc::clone(&is_stuck));
        let server = Faulty::new(move |_, request| {
            let mut words = request.line.split(' ');
            let (method, path) = (words.next().unwrap_or_default(), words.next());
            let user = path.and_then(|path| path.strip_prefix("/api/users/"));
            let mut users = known.lock().expect("users");
            match (method, user) {
                ("DELETE", _) if stuck.load(Ordering::SeqCst) => {
                    return Reply::text(500, "permission denied, Vault is sealed");
                }
                ("DELETE", Some(user)) => drop(users.remove(user)),
                ("PUT", Some(user)) => drop(users.insert(user.to_owned())),
                ("GET", _) => return Reply::text(200, "[]"),
                _ => {}
            }
            Reply::text(204, "")
        });
        bao.ask(
            "POST",
            "sys/mounts/broker",
            Some(json!({ "type": "rabbitmq" })),
        )
        .await;
        let connection = json!({
            "connection_uri": server.address, "username": "operator", "password": "word",
        });
        bao.ask("POST", "broker/config/connection", Some(connection))
            .await;
        Self {
            _server: server,
            users,
            is_stuck,
        }
    }

    /// Issues a user for a role.
    pub(crate) async fn issue(&self, bao: &Bao, role: &str) -> Lease {
        let tags = json!({ "tags": "administrator" });
        bao.ask("POST", &format!("broker/roles/{role}"), Some(tags))
            .await;
        let made = bao.ask("GET", &format!("broker/creds/{role}"), None).await;
        let lease = Lease {
            id: made["lease_id"].as_str().expect("a lease").to_owned(),
            user: made["data"]["username"]
                .as_str()
                .expect("a user")
                .to_owned(),
        };
        assert!(self.has(&lease));
        lease
    }

    pub(crate) fn has(&self, lease: &Lease) -> bool {
        self.users.lock().expect("users").contains(&lease.user)
    }
}
