//! The only code that speaks HTTP. Without the feature `llm` nothing does, and asking says so.

use std::time::Duration;

/// What an endpoint said.
pub(super) struct Answer {
    pub status: u16,
    /// How long it asks to wait, if it does.
    pub wait: Option<Duration>,
    pub text: String,
}

/// Why it said nothing.
#[cfg_attr(
    not(feature = "llm"),
    expect(dead_code, reason = "no request, no timeout")
)]
pub(super) enum Failure {
    Timeout,
    Unreachable(String),
}

#[cfg(feature = "llm")]
#[derive(Clone)]
pub(super) struct Client(ureq::Agent);

#[cfg(feature = "llm")]
impl Client {
    pub(super) fn new(timeout: Duration) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(timeout))
            .http_status_as_error(false);
        Client(config.build().into())
    }

    pub(super) fn post(&self, url: &str, key: Option<&str>, body: &str) -> Result<Answer, Failure> {
        let failure = |error: ureq::Error| match error {
            ureq::Error::Timeout(_) => Failure::Timeout,
            error => Failure::Unreachable(error.to_string()),
        };
        let mut request = self.0.post(url).header("Content-Type", "application/json");
        if let Some(key) = key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let mut response = request.send(body).map_err(failure)?;
        Ok(Answer {
            status: response.status().as_u16(),
            wait: response
                .headers()
                .get("retry-after")
                .and_then(|value| value.to_str().ok()?.parse().ok())
                .map(Duration::from_secs),
            text: response.body_mut().read_to_string().map_err(failure)?,
        })
    }
}

#[cfg(not(feature = "llm"))]
#[derive(Clone)]
pub(super) struct Client;

#[cfg(not(feature = "llm"))]
impl Client {
    pub(super) fn new(_timeout: Duration) -> Self {
        Client
    }

    pub(super) fn post(
        &self,
        _url: &str,
        _key: Option<&str>,
        _body: &str,
    ) -> Result<Answer, Failure> {
        let reason = "this Fissure was built without the feature `llm`";
        Err(Failure::Unreachable(reason.to_owned()))
    }
}
