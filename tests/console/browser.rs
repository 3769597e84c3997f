//! A browser as the console meets it: it keeps cookies, and sends forms from their pages.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::support::{Reply, Request};

/// A browser with its cookies.
#[derive(Clone, Debug)]
pub(crate) struct Browser {
    address: SocketAddr,
    pub(crate) cookies: BTreeMap<String, String>,
}

impl Browser {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address, cookies: BTreeMap::new() }
    }

    /// Returns this browser at another address.
    pub(crate) fn at(&self, address: SocketAddr) -> Self {
        Self { address, cookies: self.cookies.clone() }
    }

    /// Opens a page.
    pub(crate) fn get(&mut self, path: &str) -> Reply {
        self.send(Request::new(format!("GET {path}")))
    }

    /// Opens a page of a list and those after it, and returns their texts: a page ends early on a busy machine. `path` is without
    /// its query.
    pub(crate) fn whole(&mut self, path: &str, query: &str) -> String {
        let mut page = self.get(&format!("{path}{query}")).is(200);
        let mut text = page.text.clone();
        while let Some(next) = next(&page) {
            page = self.get(&format!("{path}{next}")).is(200);
            text += &page.text;
        }
        text
    }

    /// Sends the form of `page` with these fields beside its token.
    pub(crate) fn post(&mut self, path: &str, page: &Reply, fields: &[(&str, &str)]) -> Reply {
        let token = csrf(page);
        let fields: Vec<_> = fields.iter().copied().chain([("csrf", &*token)]).collect();
        self.send(form(path, &fields).header("sec-fetch-site", "same-origin"))
    }

    /// Sends a request with the cookies, and keeps those of the answer.
    pub(crate) fn send(&mut self, request: Request) -> Reply {
        let pairs = self.cookies.iter().map(|(name, value)| format!("{name}={value}"));
        let cookies = pairs.collect::<Vec<_>>().join("; ");
        let request = if cookies.is_empty() { request } else { request.header("cookie", &cookies) };
        let reply = request.send(self.address);
        for set in reply.headers.get_all("set-cookie") {
            let set = set.to_str().expect("text");
            let (name, value) =
                set.split(';').next().expect("a pair").split_once('=').expect("a pair");
            match set.contains("Max-Age=0") {
                true => self.cookies.remove(name),
                false => self.cookies.insert(name.to_owned(), value.to_owned()),
            };
        }
        reply
    }

    /// The cookie of the session.
    pub(crate) fn session(&self) -> Option<(&String, &String)> {
        self.cookies.iter().find(|(name, _)| {
            let name = name.trim_start_matches("__Host-");
            name.strip_prefix("pc-")
                .is_some_and(|hash| hash.len() == 16 && !hash.starts_with("in-"))
        })
    }
}

/// The query of the page after this one; `None` if it is the last.
pub(crate) fn next(page: &Reply) -> Option<String> {
    let link = page.text.split("rel=\"next\" href=\"").nth(1)?.split('"').next()?;
    Some(link.replace("&#38;", "&"))
}

/// A form without anything that a page adds.
pub(crate) fn form(path: &str, fields: &[(&str, &str)]) -> Request {
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    Request::new(format!("POST {path}")).body("application/x-www-form-urlencoded", body)
}

/// The token of the last form of a page: the forms of the frame come first.
#[track_caller]
pub(crate) fn csrf(page: &Reply) -> String {
    let value = page.text.rsplit("name=\"csrf\" value=\"").next().expect("a part");
    value.split('"').next().expect("a value").to_owned()
}

/// The path in the `Location` of an answer.
#[track_caller]
pub(crate) fn location(reply: &Reply) -> String {
    reply.header("location").expect("a location").to_owned()
}
