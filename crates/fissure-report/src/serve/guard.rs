//! Who may ask for what.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::Shared;

/// A word that only those know who saw the address on the terminal.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    pub fn random() -> io::Result<Token> {
        let mut bytes = [0; 16];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Token(
            bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        ))
    }

    /// One that the user chose.
    pub fn chosen(text: String) -> Token {
        Token(text)
    }

    pub fn text(&self) -> &str {
        &self.0
    }

    /// Compares hashes, so that the time it takes says nothing about the word.
    fn is(&self, other: &str) -> bool {
        Sha256::digest(&self.0) == Sha256::digest(other)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[derive(Deserialize)]
pub(super) struct Asked {
    token: Option<String>,
}

/// Whether a request carries the token, in its address or as `Authorization: Bearer`.
pub(super) fn knows_token(shared: &Shared, asked: &Asked, headers: &HeaderMap) -> bool {
    let bearer = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.strip_prefix("Bearer "));
    asked
        .token
        .as_deref()
        .or(bearer)
        .is_some_and(|token| shared.token.is(token))
}

/// Lets requests through that may be answered.
pub(super) async fn guard(
    State(shared): State<Arc<Shared>>,
    Query(asked): Query<Asked>,
    request: Request,
    next: Next,
) -> Response {
    let known = knows_token(&shared, &asked, request.headers());
    if shared.closed && !known {
        let text = "the address needs the token that fissure serve printed: ?token=…";
        return (StatusCode::FORBIDDEN, text).into_response();
    }
    // A page of another site could name itself as the address of this machine.
    if !known && !is_local(request.headers()) {
        let text = "asked by a name that is not this machine's loopback";
        return (StatusCode::FORBIDDEN, text).into_response();
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, header::HeaderValue::from_static(value));
    }
    response
}

fn is_local(headers: &HeaderMap) -> bool {
    let Some(host) = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
    else {
        return false;
    };
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    // As an address: a name may begin with the digits of one.
    name == "localhost"
        || name
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_differ_and_are_not_shown() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert_eq!(one.text().len(), 32);
        assert!(one.is(one.text()) && !one.is(other.text()) && !one.is(""));
        assert!(!format!("{one:?}").contains(one.text()));
    }

    #[test]
    fn only_names_of_loopback_are_local() {
        for (host, local) in [
            ("127.0.0.1:8765", true),
            ("localhost:1", true),
            ("[::1]:80", true),
            ("evil.example:8765", false),
            ("127.evil.example", false),
            ("127.0.0.1.evil.example:8765", false),
            ("localhost.evil.example", false),
            ("127.1.2.3", true),
            ("[2001:db8::1]:80", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            assert_eq!(is_local(&headers), local, "{host}");
        }
        assert!(!is_local(&HeaderMap::new()));
    }
}
