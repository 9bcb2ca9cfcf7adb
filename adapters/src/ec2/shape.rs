//! What do the service's answers look like?

use quick_xml::{Reader, de, events::Event};
use serde::{Deserialize, de::DeserializeOwned};

/// An answer to one action.
pub(super) trait Answer: DeserializeOwned {
    /// The action, which is also the name of its answer.
    const ACTION: &'static str;
}

/// Reads an answer; none where it is not this action's, or not whole.
pub(super) fn answer<T: Answer>(body: &str) -> Option<T> {
    let is_its_own = root(body)?.strip_suffix("Response") == Some(T::ACTION);
    is_its_own.then(|| de::from_str(body).ok()).flatten()
}

/// Reads an error; none where it is none of the service's.
pub(super) fn error(body: &str) -> Option<ServiceError> {
    let error = match root(body)?.as_str() {
        "Response" => de::from_str::<ErrorList>(body).ok()?.errors.errors.pop(),
        "ErrorResponse" => Some(de::from_str::<ErrorResponse>(body).ok()?.error),
        _ => None,
    };
    error.filter(|error| !error.code.is_empty())
}

fn root(body: &str) -> Option<String> {
    let mut reader = Reader::from_str(body);
    loop {
        match reader.read_event().ok()? {
            Event::Start(element) | Event::Empty(element) => {
                let name = element.local_name();
                return Some(name.as_ref().to_owned());
            }
            Event::Eof => return None,
            Event::End(_)
            | Event::Text(_)
            | Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_)
            | Event::GeneralRef(_) => {}
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct ServiceError {
    #[serde(rename = "Code")]
    pub(super) code: String,
    #[serde(rename = "Message", default)]
    pub(super) message: String,
}

#[derive(Deserialize)]
struct ErrorList {
    #[serde(rename = "Errors")]
    errors: Errors,
}

#[derive(Deserialize)]
struct Errors {
    #[serde(rename = "Error")]
    errors: Vec<ServiceError>,
}

#[derive(Deserialize)]
struct ErrorResponse {
    #[serde(rename = "Error")]
    error: ServiceError,
}

/// A list as the service writes it. The element itself must be there: its lack is no empty list.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct List<T> {
    #[serde(rename = "item", default = "Vec::new")]
    pub(super) items: Vec<T>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Instances {
    #[serde(rename = "reservationSet")]
    pub(super) reservations: List<Reservation>,
    #[serde(rename = "nextToken", default)]
    pub(super) next: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Reservation {
    #[serde(rename = "instancesSet")]
    pub(super) instances: List<Instance>,
}

/// Of `RunInstances`, whose answer is one reservation.
#[derive(Debug, Deserialize)]
pub(super) struct Run {
    #[serde(rename = "instancesSet")]
    pub(super) instances: List<Instance>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Instance {
    pub(super) instance_id: String,
    pub(super) instance_state: State,
    /// Where it is left out nothing is known of its volumes.
    pub(super) block_device_mapping: Option<List<Device>>,
    pub(super) tag_set: Option<List<Tag>>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct State {
    pub(super) name: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Device {
    pub(super) device_name: String,
    /// A disk of the host has none.
    pub(super) ebs: Option<DeviceVolume>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeviceVolume {
    pub(super) volume_id: String,
    pub(super) delete_on_termination: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Tag {
    pub(super) key: String,
    #[serde(default)]
    pub(super) value: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Volumes {
    #[serde(rename = "volumeSet")]
    pub(super) volumes: List<Volume>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Volume {
    pub(super) volume_id: String,
    pub(super) status: String,
    #[serde(default)]
    pub(super) multi_attach_enabled: bool,
    pub(super) attachment_set: List<Attachment>,
    pub(super) tag_set: Option<List<Tag>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Attachment {
    #[serde(default)]
    pub(super) instance_id: String,
    pub(super) status: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Zones {
    #[serde(rename = "availabilityZoneInfo")]
    pub(super) zones: List<Zone>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Zone {
    pub(super) region_name: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Caller {
    #[serde(rename = "GetCallerIdentityResult")]
    pub(super) result: CallerResult,
}

#[derive(Debug, Deserialize)]
pub(super) struct CallerResult {
    #[serde(rename = "Account")]
    pub(super) account: String,
}

macro_rules! acknowledged {
    ($($name:ident),+) => {$(
        /// An answer of which only the name counts.
        #[derive(Debug, Deserialize)]
        pub(super) struct $name {}

        impl Answer for $name {
            const ACTION: &'static str = stringify!($name);
        }
    )+};
}

macro_rules! answers {
    ($($name:ident: $action:literal),+) => {$(
        impl Answer for $name {
            const ACTION: &'static str = $action;
        }
    )+};
}

acknowledged!(
    StopInstances,
    TerminateInstances,
    ModifyInstanceAttribute,
    DetachVolume,
    DeleteVolume
);

answers!(
    Instances: "DescribeInstances",
    Run: "RunInstances",
    Volumes: "DescribeVolumes",
    Zones: "DescribeAvailabilityZones",
    Caller: "GetCallerIdentity"
);

#[cfg(test)]
mod tests {
    use super::{Instances, answer, error};

    const TWO: &str = include_str!("../../tests/ec2/bodies/instances.xml");

    #[test]
    fn half_an_answer_is_none() {
        let whole: Instances = answer(TWO).expect("an answer");
        let count = |answer: &Instances| {
            let sizes = answer.reservations.items.iter();
            sizes.map(|it| it.instances.items.len()).sum::<usize>()
        };
        assert_eq!((count(&whole), whole.next.as_str()), (2, "token=="));
        let end = TWO.trim_end().len();
        for cut in (0..end).filter(|cut| TWO.is_char_boundary(*cut)) {
            let half: Option<Instances> = answer(&TWO[..cut]);
            assert!(
                half.is_none(),
                "cut at {cut}: {:?}",
                &TWO[cut.saturating_sub(40)..cut]
            );
        }
    }

    #[test]
    fn what_is_not_the_actions_answer_is_none() {
        let lists = [
            "",
            "{}",
            "<html><body>not found</body></html>",
            "<DescribeInstancesResponse/>",
            "<DescribeInstancesResponse><requestId>r</requestId></DescribeInstancesResponse>",
            "<DescribeVolumesResponse><reservationSet/></DescribeVolumesResponse>",
            "<Response><Errors/></Response>",
        ];
        for body in lists {
            assert!(answer::<Instances>(body).is_none(), "{body}");
            assert!(error(body).is_none(), "{body}");
        }
        let empty = "<DescribeInstancesResponse><reservationSet/></DescribeInstancesResponse>";
        assert!(answer::<Instances>(empty).is_some());
    }
}
