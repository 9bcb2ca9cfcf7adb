//! How is one question put to the service?

use core::time::Duration;
use std::time::SystemTime;

use aws_sigv4::{
    http_request::{SignableBody, SignableRequest, SigningSettings, sign},
    sign::v4,
};
use backon::{BackoffBuilder as _, ExponentialBuilder};
use lifecycle_core::Cause;
use reqwest::{RequestBuilder, Response, Url, header};
use tokio::time::sleep;

use super::{
    Ec2Provider,
    failure::Failure,
    session::Session,
    shape::{self, Answer},
};

/// What is asked, without the name of the action, which the type of the answer says.
#[derive(Clone, Debug)]
pub(super) struct Request {
    service: Service,
    parameters: Vec<(String, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Service {
    Ec2,
    Sts,
}

impl Request {
    pub(super) const fn ec2() -> Self {
        Self::to(Service::Ec2)
    }

    pub(super) const fn sts() -> Self {
        Self::to(Service::Sts)
    }

    const fn to(service: Service) -> Self {
        Self {
            service,
            parameters: Vec::new(),
        }
    }

    /// Adds a parameter.
    pub(super) fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.parameters.push((name.into(), value.into()));
        self
    }

    fn body(&self, action: &str) -> String {
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.append_pair("Action", action);
        body.append_pair("Version", self.service.version());
        body.extend_pairs(&self.parameters);
        body.finish()
    }
}

impl Service {
    const fn name(self) -> &'static str {
        match self {
            Self::Ec2 => "ec2",
            Self::Sts => "sts",
        }
    }

    const fn version(self) -> &'static str {
        match self {
            Self::Ec2 => "2016-11-15",
            Self::Sts => "2011-06-15",
        }
    }
}

impl Ec2Provider {
    /// Reads something, again where the service was busy, failed or was not reached.
    pub(super) async fn read<T: Answer>(
        &self,
        session: &Session,
        request: Request,
    ) -> Result<T, Failure> {
        let pauses = ExponentialBuilder::default()
            .with_min_delay(self.shared.config.poll / 10)
            .with_max_times(REPETITIONS)
            .with_jitter()
            .build();
        for pause in pauses {
            match self.change(session, &request).await {
                Err(failure) if failure.is_passing() => {
                    let wanted = failure.retry_after.unwrap_or_default();
                    if wanted > LONGEST_PAUSE {
                        return Err(failure);
                    }
                    tracing::debug!(
                        action = T::ACTION,
                        failure = failure.message,
                        "asking again"
                    );
                    sleep(pause.max(wanted)).await;
                }
                answer => return answer,
            }
        }
        self.change(session, &request).await
    }

    /// Asks for something, once.
    pub(super) async fn change<T: Answer>(
        &self,
        session: &Session,
        request: &Request,
    ) -> Result<T, Failure> {
        let answer = self.exchange(session, request, T::ACTION).await;
        let answer = answer.and_then(|body| {
            shape::answer(&body).ok_or_else(|| Failure::malformed("the answer is not the action's"))
        });
        if let Err(failure) = &answer
            && failure.cause() == Cause::Unauthorized
        {
            self.renew(session);
        }
        answer
    }

    async fn exchange(
        &self,
        session: &Session,
        request: &Request,
        action: &str,
    ) -> Result<String, Failure> {
        let request = self.signed(session, request, request.body(action))?;
        let response = request.send().await.map_err(Failure::transport)?;
        let status = response.status().as_u16();
        let retry_after = retry_after(&response);
        let body = body(response).await?;
        let body = str::from_utf8(&body);
        match (status, body) {
            (200, Ok(body)) => Ok(body.to_owned()),
            (200, Err(_)) => Err(Failure::malformed("the answer is no text")),
            (_, body) => Err(Failure::of(
                status,
                body.unwrap_or_default(),
                retry_after,
                &session.credentials,
            )),
        }
    }

    fn signed(
        &self,
        session: &Session,
        request: &Request,
        body: String,
    ) -> Result<RequestBuilder, Failure> {
        let config = &self.shared.config;
        let endpoint: &Url = match request.service {
            Service::Ec2 => &config.endpoint,
            Service::Sts => &config.sts_endpoint,
        };
        // Never with the reason: it may quote what was to be signed.
        let unsigned = || Failure::refused(Cause::Unauthorized, "the request could not be signed");
        let identity = session.credentials.identity().into();
        let parameters = v4::SigningParams::builder()
            .identity(&identity)
            .region(&config.region)
            .name(request.service.name())
            .time(SystemTime::now())
            .settings(SigningSettings::default())
            .build()
            .map_err(|_| unsigned())?
            .into();
        let signable = SignableRequest::new(
            "POST",
            endpoint.as_str(),
            [(CONTENT_TYPE.0, CONTENT_TYPE.1)].into_iter(),
            SignableBody::Bytes(body.as_bytes()),
        )
        .map_err(|_| unsigned())?;
        let (instructions, _) = sign(signable, &parameters)
            .map_err(|_| unsigned())?
            .into_parts();
        let mut builder = self
            .shared
            .client
            .post(endpoint.clone())
            .header(CONTENT_TYPE.0, CONTENT_TYPE.1);
        for (name, value) in instructions.headers() {
            builder = builder.header(name, value);
        }
        Ok(builder.body(body))
    }
}

/// Reads a body of reasonable length; one that was cut off is an error of the transport.
async fn body(mut response: Response) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await.map_err(Failure::transport)? {
        body.extend_from_slice(&part);
        if body.len() > LONGEST_BODY {
            return Err(Failure::malformed("the answer is too long"));
        }
    }
    Ok(body)
}

fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(header::RETRY_AFTER)?.to_str().ok()?;
    seconds.trim().parse().ok().map(Duration::from_secs)
}

const CONTENT_TYPE: (&str, &str) = (
    "content-type",
    "application/x-www-form-urlencoded; charset=utf-8",
);
const REPETITIONS: usize = 2;
/// A longer wait is the caller's to make.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
const LONGEST_BODY: usize = 64 << 20;
