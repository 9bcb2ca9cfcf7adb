//! A server that answers as EC2 does where moto does not, or as it does on a bad day.

use core::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};
use std::{
    collections::BTreeMap,
    io::Write as _,
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
};

use lifecycle_adapters::{
    ec2::{Ec2Config, Ec2Credentials, Ec2Provider},
    id::MachineId,
    provider::Target,
};

use crate::http::{Received, receive};

/// A server of one test.
pub(crate) struct Recorded {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    /// Dropped at the end: who waits for it then stops waiting.
    _end: mpsc::Sender<()>,
}

/// What the server does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Text {
        status: u16,
        body: String,
        retry_after: Option<u32>,
    },
    /// Nothing, until the caller gives up.
    Silence,
    /// Half of what was announced.
    Cut,
    /// The connection is closed.
    Closed,
}

impl Recorded {
    /// Answers the questions of who and where we are, and the others so.
    pub(crate) fn new(answer: impl Fn(&Received) -> Reply + Send + Sync + 'static) -> Self {
        Self::raw(move |request| match request.action() {
            "GetCallerIdentity" => Reply::text(200, CALLER),
            "DescribeAvailabilityZones" => Reply::text(200, ZONES),
            _ => answer(request),
        })
    }

    /// Answers everything so.
    pub(crate) fn raw(answer: impl Fn(&Received) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let received = Arc::new(Mutex::new(Vec::new()));
        let (end, ended) = mpsc::channel();
        let ended = Arc::new(Mutex::new(ended));
        let (log, answer) = (Arc::clone(&received), Arc::new(answer));
        // It ends with the process: nobody asks it once its test is over.
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { continue };
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                let ended = Arc::clone(&ended);
                thread::spawn(move || {
                    let Some(request) = receive(&stream) else {
                        return;
                    };
                    lock(&log).push(request.clone());
                    send(stream, &answer(&request), &ended);
                });
            }
        });
        Self {
            address,
            received,
            _end: end,
        }
    }

    pub(crate) fn config(&self) -> Ec2Config {
        let credentials = Ec2Credentials::new("AKIDEXAMPLE", SECRET, Some(TOKEN.to_owned()));
        Ec2Config::new("eu-central-1", credentials)
            .and_then(|config| config.with_endpoint(&self.endpoint()))
            .expect("a configuration")
            .with_timeout(Duration::from_millis(300))
            .with_poll(Duration::from_millis(5))
            .with_volume_wait(Duration::from_millis(50))
    }

    pub(crate) fn provider(&self) -> Ec2Provider {
        Ec2Provider::connect(self.config()).expect("a provider")
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        lock(&self.received).clone()
    }

    /// The parameters of every request for this action.
    pub(crate) fn asked(&self, action: &str) -> Vec<BTreeMap<String, String>> {
        let received = self.received().into_iter();
        received
            .filter(|request| request.action() == action)
            .map(|request| request.parameters)
            .collect()
    }
}

impl Received {
    pub(crate) fn action(&self) -> &str {
        self.get("Action").unwrap_or_default()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str)
    }
}

impl Reply {
    pub(crate) fn text(status: u16, body: impl Into<String>) -> Self {
        Self::Text {
            status,
            body: body.into(),
            retry_after: None,
        }
    }

    pub(crate) fn error(status: u16, code: &str) -> Self {
        Self::text(
            status,
            format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Response><Errors><Error><Code>{code}</Code>\
                 <Message>not found: {SECRET} {TOKEN}</Message></Error></Errors>\
                 <RequestID>ea966190-f9aa-478e-9ede-example</RequestID></Response>"
            ),
        )
    }

    pub(crate) fn retry_after(mut self, seconds: u32) -> Self {
        if let Self::Text { retry_after, .. } = &mut self {
            *retry_after = Some(seconds);
        }
        self
    }

    /// An answer that says no more than that it was heard.
    pub(crate) fn done(action: &str) -> Self {
        Self::text(
            200,
            format!(
                "<{action}Response {XMLNS}><requestId>r</requestId><return>true</return></{action}Response>"
            ),
        )
    }

    pub(crate) fn instances(instances: &[&str]) -> Self {
        Self::page(instances, "")
    }

    pub(crate) fn page(instances: &[&str], next: &str) -> Self {
        let reservations: String = instances
            .iter()
            .map(|it| {
                format!(
                    "<item><reservationId>r</reservationId><instancesSet>{it}</instancesSet></item>"
                )
            })
            .collect();
        Self::text(
            200,
            format!(
                "<DescribeInstancesResponse {XMLNS}><requestId>r</requestId><reservationSet>{reservations}\
                 </reservationSet><nextToken>{next}</nextToken></DescribeInstancesResponse>"
            ),
        )
    }

    pub(crate) fn volume(volume: &str) -> Self {
        Self::text(
            200,
            format!(
                "<DescribeVolumesResponse {XMLNS}><requestId>r</requestId><volumeSet>{volume}</volumeSet>\
                 </DescribeVolumesResponse>"
            ),
        )
    }
}

/// An instance without volumes.
pub(crate) fn instance(id: &str, state: &str, marker: &str) -> String {
    instance_with(id, state, marker, "<blockDeviceMapping/>")
}

pub(crate) fn instance_with(id: &str, state: &str, marker: &str, devices: &str) -> String {
    format!(
        "<item><instanceId>{id}</instanceId><instanceState><code>0</code><name>{state}</name>\
         </instanceState>{devices}{}</item>",
        tags(marker)
    )
}

pub(crate) fn volume(status: &str, marker: &str, attached: &[&str], multi: bool) -> String {
    let attachments: String = attached
        .iter()
        .map(|instance| {
            format!(
                "<item><volumeId>{VOLUME}</volumeId><instanceId>{instance}</instanceId>\
                 <device>/dev/sdf</device><status>attached</status>\
                 <deleteOnTermination>false</deleteOnTermination></item>"
            )
        })
        .collect();
    format!(
        "<item><volumeId>{VOLUME}</volumeId><size>8</size><status>{status}</status>\
         <attachmentSet>{attachments}</attachmentSet>{}\
         <multiAttachEnabled>{multi}</multiAttachEnabled></item>",
        tags(marker)
    )
}

pub(crate) fn target() -> Target {
    Target {
        machine: MachineId::new("web-1").expect("a machine id"),
        generation: 1,
        provider_id: INSTANCE.to_owned(),
        marker: Some("web-1/1".to_owned()),
        scope: "123456789012/eu-central-1".to_owned(),
        volume_id: Some(VOLUME.to_owned()),
    }
}

fn tags(marker: &str) -> String {
    if marker.is_empty() {
        return "<tagSet/>".to_owned();
    }
    format!("<tagSet><item><key>lifecycle:marker</key><value>{marker}</value></item></tagSet>")
}

fn send(mut stream: TcpStream, reply: &Reply, ended: &Mutex<mpsc::Receiver<()>>) {
    let text = match reply {
        Reply::Text {
            status,
            body,
            retry_after,
        } => {
            let retry_after = retry_after.map(|seconds| format!("retry-after: {seconds}\r\n"));
            format!(
                "HTTP/1.1 {status} As Recorded\r\ncontent-type: text/xml;charset=UTF-8\r\n\
                 connection: close\r\n{}content-length: {}\r\n\r\n{body}",
                retry_after.unwrap_or_default(),
                body.len()
            )
        }
        Reply::Silence => {
            // Until the test is over, which drops the other end.
            let _ = lock(ended).recv_timeout(Duration::from_secs(5));
            return;
        }
        Reply::Cut => "HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n<Desc".to_owned(),
        Reply::Closed => return,
    };
    // Who gave up waiting does not read it.
    let _ = stream.write_all(text.as_bytes());
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) const INSTANCE: &str = "i-1234567890abcdef0";
pub(crate) const VOLUME: &str = "vol-1234567890abcdef0";
pub(crate) const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
pub(crate) const TOKEN: &str = "IQoJb3JpZ2luX2VjEXAMPLETOKEN";
pub(crate) const CALLER: &str = "<GetCallerIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">\n\
  <GetCallerIdentityResult>\n    <Arn>arn:aws:iam::123456789012:user/Alice</Arn>\n\
  <UserId>AIDACKCEVSQ6C2EXAMPLE</UserId>\n    <Account>123456789012</Account>\n\
  </GetCallerIdentityResult>\n  <ResponseMetadata><RequestId>r</RequestId></ResponseMetadata>\n\
</GetCallerIdentityResponse>";
pub(crate) const ZONES: &str = "<DescribeAvailabilityZonesResponse xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\">\
  <requestId>r</requestId><availabilityZoneInfo><item><zoneName>eu-central-1a</zoneName>\
  <zoneState>available</zoneState><regionName>eu-central-1</regionName><messageSet/></item><item>\
  <zoneName>eu-central-1b</zoneName><regionName>eu-central-1</regionName></item>\
  </availabilityZoneInfo></DescribeAvailabilityZonesResponse>";
const XMLNS: &str = "xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"";
