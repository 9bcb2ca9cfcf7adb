//! The suite that every provider is examined by, at moto and at a server that breaks every answer.

use core::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};
use std::{collections::BTreeMap, net::TcpListener, sync::Arc};

use async_trait::async_trait;
use lifecycle_adapters::{
    conformance::provider::{
        self, Cannot, Equipment, ProviderHarness,
        http::{self, Address, HttpHarness, HttpReply, HttpRequest, Transport},
    },
    ec2::{Ec2Config, Ec2Credentials, Ec2Provider},
    provider::{Provider, Target},
};

use crate::{
    moto::{World, machine, options},
    recorded::{CALLER, INSTANCE, Reply, ZONES, instance, instance_with, target, volume},
};

#[tokio::test]
async fn every_promise_is_kept_at_moto() {
    let nobody = TcpListener::bind("127.0.0.1:0").expect("a port");
    let harness = Moto {
        world: World::new(),
        number: AtomicU64::new(0),
        silent: nobody,
    };
    let not_examined = provider::run(&harness).await;
    assert!(not_examined.is_empty(), "{not_examined:?}");
}

#[tokio::test]
async fn every_broken_answer_is_taken_for_what_it_is() {
    let not_examined = http::run(Arc::new(Query::default())).await;
    assert!(not_examined.is_empty(), "{not_examined:?}");
}

struct Moto {
    world: World,
    number: AtomicU64,
    /// Somebody who accepts connections and never answers.
    silent: TcpListener,
}

impl Moto {
    fn tell(&self, action: &str, target: &Target) {
        let instance = ("InstanceId.1", target.provider_id.as_str());
        self.world.ask(&[("Action", action), instance]);
    }

    fn at(&self, address: &str) -> Arc<dyn Provider> {
        let config = self.world.config().with_endpoint(address);
        let config = config.expect("an address").with_timeout(SHORT);
        Arc::new(Ec2Provider::connect(config).expect("a provider"))
    }
}

#[async_trait]
impl ProviderHarness for Moto {
    fn provider(&self) -> Arc<dyn Provider> {
        Arc::new(self.world.provider.clone())
    }

    async fn make(&self, equipment: Equipment) -> Target {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let options = match equipment {
            Equipment::Bare => options(),
            Equipment::Volume => options().with_data_volume(1),
        };
        self.world
            .create(&format!("machine-{number}"), &options)
            .await
    }

    async fn vanish(&self, target: &Target) {
        // EC2 keeps what ended for an hour, and moto for ever.
        self.tell("TerminateInstances", target);
    }

    async fn stop_from_outside(&self, target: &Target) -> Result<(), Cannot> {
        self.tell("StopInstances", target);
        Ok(())
    }

    async fn bury(&self, target: &Target) -> Result<(), Cannot> {
        self.tell("TerminateInstances", target);
        Ok(())
    }

    async fn supersede(&self, target: &mut Target) -> Result<Target, Cannot> {
        self.world.tag(&target.provider_id, Some("another/1"));
        Ok(Target {
            machine: machine("another"),
            marker: Some("another/1".to_owned()),
            ..target.clone()
        })
    }

    async fn make_unmarked(&self) -> Result<Target, Cannot> {
        let target = self.make(Equipment::Bare).await;
        self.world.tag(&target.provider_id, None);
        Ok(Target {
            marker: None,
            ..target
        })
    }

    async fn share_volume(&self, target: &Target) -> Result<(), Cannot> {
        let other = self.make(Equipment::Bare).await;
        let volume = ("VolumeId", target.volume_id.as_deref().expect("a volume"));
        let from = ("InstanceId", target.provider_id.as_str());
        self.world.ask(&[("Action", "DetachVolume"), volume, from]);
        let to = ("InstanceId", other.provider_id.as_str());
        let device = ("Device", "/dev/sdf");
        self.world
            .ask(&[("Action", "AttachVolume"), volume, to, device]);
        Ok(())
    }

    async fn refused(&self) -> Result<Arc<dyn Provider>, Cannot> {
        let closed = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = closed.local_addr().expect("an address");
        drop(closed);
        Ok(self.at(&format!("http://{address}")))
    }

    async fn silent(&self) -> Result<Arc<dyn Provider>, Cannot> {
        let address = self.silent.local_addr().expect("an address");
        Ok(self.at(&format!("http://{address}")))
    }

    fn malformed_ids(&self) -> Vec<String> {
        let special = [
            "i-",
            "i-0",
            "I-0123456789abcdef0",
            "i-0123456789abcdef0 ",
            "vol-0123456789abcdef0",
        ];
        let usual = provider::SENTINELS.iter().chain(&special);
        usual.map(|id| (*id).to_owned()).collect()
    }
}

/// The query API with one instance, whose volume is told to outlive it before it ends.
#[derive(Default)]
struct Query {
    is_kept: AtomicBool,
}

impl HttpHarness for Query {
    fn transport(&self) -> Transport {
        Transport::Tcp
    }

    fn provider(&self, address: &Address) -> Arc<dyn Provider> {
        self.is_kept.store(false, Ordering::Relaxed);
        let address = match address {
            Address::Tcp(address) => format!("http://{address}"),
            Address::Unix(path) => panic!("{} is no address of EC2", path.display()),
        };
        let config = Ec2Config::new("eu-central-1", Ec2Credentials::new("a", "b", None))
            .and_then(|config| config.with_endpoint(&address))
            .expect("a configuration")
            .with_timeout(SHORT)
            .with_page_size(5)
            .with_poll(Duration::from_millis(5))
            .with_volume_wait(Duration::from_millis(20));
        Arc::new(Ec2Provider::connect(config).expect("a provider"))
    }

    fn target(&self) -> Target {
        target()
    }

    fn answer(&self, request: &HttpRequest) -> HttpReply {
        let parameters = parameters(request);
        let reply = match parameters["Action"].as_str() {
            "GetCallerIdentity" => Reply::text(200, CALLER),
            "DescribeAvailabilityZones" => Reply::text(200, ZONES),
            "DescribeInstances" => {
                let flag = !self.is_kept.load(Ordering::Relaxed);
                let devices = format!(
                    "<blockDeviceMapping><item><deviceName>/dev/xvda</deviceName><ebs><volumeId>vol-0000000a\
                     </volumeId><status>attached</status><deleteOnTermination>{flag}</deleteOnTermination>\
                     </ebs></item></blockDeviceMapping>"
                );
                Reply::instances(&[&instance_with(INSTANCE, "running", "web-1/1", &devices)])
            }
            "DescribeVolumes" => Reply::volume(&volume("available", "web-1/1", &[], false)),
            "ModifyInstanceAttribute" => {
                self.is_kept.store(true, Ordering::Relaxed);
                Reply::done("ModifyInstanceAttribute")
            }
            action => Reply::done(action),
        };
        xml(&reply)
    }

    fn not_found(&self, request: &HttpRequest) -> Option<HttpReply> {
        let parameters = parameters(request);
        let code = match parameters["Action"].as_str() {
            "DescribeInstances" if parameters.contains_key("MaxResults") => return None,
            "DescribeInstances"
            | "StopInstances"
            | "TerminateInstances"
            | "ModifyInstanceAttribute" => "InvalidInstanceID.NotFound",
            "DescribeVolumes" | "DeleteVolume" => "InvalidVolume.NotFound",
            _ => return None,
        };
        Some(xml(&Reply::error(400, code)))
    }

    fn is_change(&self, request: &HttpRequest) -> bool {
        let action = &parameters(request)["Action"];
        !action.starts_with("Describe") && !action.starts_with("Get")
    }

    fn page_without_a_next(&self, request: &HttpRequest) -> Option<HttpReply> {
        parameters(request).get("MaxResults").map(|size| {
            let size: usize = size.parse().expect("a number");
            let full = (0..size).map(|index| instance(&format!("i-0000000{index}"), "running", ""));
            let full: Vec<_> = full.collect();
            xml(&Reply::instances(
                &full.iter().map(String::as_str).collect::<Vec<_>>(),
            ))
        })
    }
}

fn parameters(request: &HttpRequest) -> BTreeMap<String, String> {
    form_urlencoded::parse(&request.body).into_owned().collect()
}

fn xml(reply: &Reply) -> HttpReply {
    match reply {
        Reply::Text { status, body, .. } => {
            HttpReply::new(*status, "text/xml;charset=UTF-8", body.as_str())
        }
        Reply::Silence | Reply::Cut | Reply::Closed => panic!("{reply:?} is no answer"),
    }
}

const SHORT: Duration = Duration::from_millis(200);
