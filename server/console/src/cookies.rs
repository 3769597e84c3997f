//! The cookies of the console. They are `Lax`, because sign-ins and pasted links come from other sites, and named by tenant,
//! because a `__Host-` cookie has one path.

use axum::response::Response;
use http::header::{COOKIE, SET_COOKIE};
use http::{HeaderMap, HeaderValue};
use portcullis_auth::sign_in::{ATTEMPT_LIFETIME, name_hash};

use crate::address::{Address, see_other};

/// Longest value of a cookie that is read, in bytes.
const MAX_VALUE: usize = 4_096;
/// Most other tenants whose sessions are looked up.
const MAX_OTHERS: usize = 8;
/// Seconds for which a word waits for the next page.
const WORD_SECONDS: i64 = 60;
/// Seconds for which the choice of a theme is kept: a year.
const THEME_SECONDS: i64 = 365 * 24 * 3_600;

/// The names of the cookies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cookies {
    is_secure: bool,
}

impl Cookies {
    pub(crate) fn of(address: &Address) -> Self {
        Self { is_secure: address.is_secure() }
    }

    fn name(self, name: &str) -> String {
        // `__Host-` binds a cookie to this host, to all its paths and to HTTPS.
        if self.is_secure { format!("__Host-pc-{name}") } else { format!("pc-{name}") }
    }

    /// Returns the value of the session of the tenant with this id.
    pub(crate) fn session<'h>(self, headers: &'h HeaderMap, tenant: &str) -> Option<&'h str> {
        find(headers, &self.name(&name_hash(tenant)))
    }

    /// Returns the values of all cookies of sessions; `None` without one.
    pub(crate) fn of_sessions(self, headers: &HeaderMap) -> Option<String> {
        let values: Vec<&str> = self.sessions(headers).map(|(_, value)| value).collect();
        (!values.is_empty()).then(|| values.join(" "))
    }

    /// Returns the values of sessions of other tenants than the one with this id.
    pub(crate) fn other_sessions<'h>(self, headers: &'h HeaderMap, tenant: &str) -> Vec<&'h str> {
        let own = self.name(&name_hash(tenant));
        let others = self.sessions(headers).filter(|(name, _)| *name != own);
        others.map(|(_, value)| value).take(MAX_OTHERS).collect()
    }

    /// Returns the names and values of the cookies of sessions.
    fn sessions(self, headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
        let (prefix, digits) = (self.name(""), name_hash("").len());
        pairs(headers).filter(move |(name, _)| {
            name.strip_prefix(&prefix).is_some_and(|hash| {
                // No other cookie of the console has a name of this form.
                hash.len() == digits && hash.bytes().all(|b| b.is_ascii_hexdigit())
            })
        })
    }

    /// Returns the sealed attempt with this state.
    pub(crate) fn attempt<'h>(self, headers: &'h HeaderMap, state: &str) -> Option<&'h str> {
        find(headers, &self.name(&format!("in-{}", name_hash(state))))
    }

    /// Returns the word that the page before left.
    pub(crate) fn word(self, headers: &HeaderMap) -> Option<&str> {
        find(headers, &self.name("word"))
    }

    /// Returns the chosen theme.
    pub(crate) fn theme(self, headers: &HeaderMap) -> Option<&str> {
        find(headers, &self.name("theme"))
    }

    /// Sends the browser to `to`, with the session of the tenant with this id.
    pub(crate) fn sign_in(self, to: &str, tenant: &str, value: &str) -> Response {
        let mut answer = see_other(to);
        self.set(answer.headers_mut(), &name_hash(tenant), value, None);
        answer
    }

    pub(crate) fn clear_session(self, headers: &mut HeaderMap, tenant: &str) {
        self.set(headers, &name_hash(tenant), "", Some(0));
    }

    pub(crate) fn set_attempt(self, headers: &mut HeaderMap, state: &str, sealed: &str) {
        let name = format!("in-{}", name_hash(state));
        self.set(headers, &name, sealed, Some(ATTEMPT_LIFETIME.num_seconds()));
    }

    pub(crate) fn clear_attempt(self, headers: &mut HeaderMap, state: &str) {
        self.set(headers, &format!("in-{}", name_hash(state)), "", Some(0));
    }

    pub(crate) fn set_word(self, headers: &mut HeaderMap, word: &str) {
        self.set(headers, "word", word, Some(WORD_SECONDS));
    }

    pub(crate) fn clear_word(self, headers: &mut HeaderMap) {
        self.set(headers, "word", "", Some(0));
    }

    pub(crate) fn set_theme(self, headers: &mut HeaderMap, theme: &str) {
        self.set(headers, "theme", theme, Some(THEME_SECONDS));
    }

    fn set(self, headers: &mut HeaderMap, name: &str, value: &str, seconds: Option<i64>) {
        let name = self.name(name);
        let age = seconds.map(|seconds| format!("; Max-Age={seconds}")).unwrap_or_default();
        let secure = if self.is_secure { "; Secure" } else { "" };
        // `Lax`, because the way back from a provider begins on another site.
        let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{age}");
        // Names and values are digits, letters, `-` and `_`.
        if let Ok(value) = HeaderValue::from_str(&text) {
            headers.append(SET_COOKIE, value);
        }
    }
}

/// Returns the value of the cookie `name`. The first counts, if a browser sends several.
fn find<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let (_, value) = pairs(headers).find(|(own, _)| *own == name)?;
    Some(value).filter(|value| !value.is_empty() && value.len() <= MAX_VALUE)
}

/// Returns the names and values of the cookies that a browser sends.
fn pairs(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let sent = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = sent.flat_map(|text| text.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.trim(), value.trim()))
}
