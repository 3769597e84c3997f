//! The frame of every page: title, banner, navigation, and the headers.

use std::fmt;

use askama::Template;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, Uri};
use portcullis_http::answer_text::AnswerText;
use portcullis_http::error::ApiError;
use portcullis_http::text_answer;
use portcullis_operations::sessions::SessionProof;
use portcullis_operations::sessions::live::Session;
use portcullis_operations::sessions::providers::ConsoleTenant;
use portcullis_runtime::app::App;

use crate::address::Address;
use crate::assets::{ASSETS, Assets};
use crate::cookies::Cookies;
use crate::{forms, headers};

/// The end of every page.
pub(crate) const END: &str = "</main></div></body></html>\n";
/// The end of a page whose later part failed.
pub(crate) const END_AFTER_FAILURE: &str =
    "<p role=\"alert\">This page broke off. Load it again.</p></main></div></body></html>\n";
const HTML: &str = "text/html; charset=utf-8";

/// The person of a page.
#[derive(Clone, Debug)]
pub(crate) struct Signed {
    folder: String,
    subject: String,
    roles: String,
    csrf: String,
    is_manager: bool,
    /// The other tenants in which the browser has a session: their names and folders.
    others: Vec<(String, String)>,
}

impl Signed {
    pub(crate) fn new(
        app: &App,
        tenant: &ConsoleTenant,
        session: &Session,
        proof: &SessionProof,
        is_manager: bool,
    ) -> Self {
        Self {
            folder: Address::of(app).folder(&tenant.name),
            others: Vec::new(),
            subject: session.record.subject.clone(),
            roles: session.holder.identity.roles.join(", "),
            csrf: forms::token(app, proof.hash()),
            is_manager,
        }
    }
}

/// A page of the navigation: its path, its name, and the first parts of the paths below it.
type NavPage = (&'static str, &'static str, &'static [&'static str]);

/// A link of the navigation.
struct NavLink {
    path: &'static str,
    name: &'static str,
    is_current: bool,
}

/// The frame of a page.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    address: Address,
    theme: &'static str,
    /// The token of the form of themes.
    theme_csrf: String,
    /// The path of the page, as the browser has it.
    here: String,
    /// The path of the page below the folder of the tenant.
    page: String,
    word: Option<&'static str>,
    /// The name of the tenant that the page is about.
    tenant: Option<String>,
    signed: Option<Signed>,
}

#[derive(Template)]
#[template(path = "frame.html")]
struct Top<'f> {
    title: &'f str,
    frame: &'f Frame,
    signed: Option<&'f Signed>,
    nav: Vec<NavLink>,
    assets: String,
    files: &'static Assets,
    themes: [(&'static str, &'static str); 3],
}

/// The words that a page may leave for the next one.
const WORDS: [(&str, &str); 7] = [
    ("approved", "The proposal is approved, and applied."),
    ("ended", "The session has ended."),
    ("proposed", "The change waits for a second manager."),
    ("rejected", "The proposal is rejected."),
    ("restored", "The revision is restored."),
    ("signed-in", "You are signed in."),
    ("theme", "The theme is chosen."),
];
/// The pages of the navigation, each with the first parts of the paths below it.
const OF_MANAGERS: [NavPage; 5] = [
    ("decisions", "Decisions", &["decisions"]),
    ("ask", "Ask", &["ask"]),
    ("access", "Access", &["access"]),
    ("policies", "Policies", &["policies", "rules", "resources", "types", "conditions"]),
    ("changes", "Changes", &["changes", "proposals"]),
];
const OF_MEMBERS: [NavPage; 2] =
    [("me", "My access", &["me"]), ("decisions", "Decisions", &["decisions"])];
/// The themes, with the names of their buttons.
pub(crate) const THEMES: [(&str, &str); 3] =
    [("light", "Light"), ("dark", "Dark"), ("system", "System")];

impl Frame {
    /// Returns the frame for somebody without a session.
    pub(crate) fn stranger(app: &App, address: &Address, headers: &HeaderMap) -> Self {
        let cookies = Cookies::of(address);
        let chosen = cookies.theme(headers);
        // Only a theme that is known gets into the page: the cookie may have any text.
        let theme = THEMES.iter().map(|(theme, _)| *theme).find(|theme| Some(*theme) == chosen);
        let left = cookies.word(headers);
        let word = WORDS.iter().find(|(name, _)| Some(*name) == left).map(|(_, word)| *word);
        Self {
            address: address.clone(),
            theme: theme.unwrap_or("system"),
            theme_csrf: forms::token(app, &[]),
            here: address.path("/console"),
            page: String::new(),
            word,
            tenant: None,
            signed: None,
        }
    }

    /// Returns the frame of a page about the tenant that the address calls `name`.
    pub(crate) fn of_tenant(self, name: &str) -> Self {
        Self { tenant: Some(name.to_owned()), ..self }
    }

    /// Returns the frame of the page at `uri` for somebody with a session.
    pub(crate) fn signed(self, uri: &Uri, signed: Signed) -> Self {
        let here = self.address.path(uri.path_and_query().map_or("/", |wanted| wanted.as_str()));
        let path = self.address.path(uri.path());
        let page = path.strip_prefix(&signed.folder).unwrap_or_default().to_owned();
        Self { here, page, signed: Some(signed), ..self }
    }

    /// Returns the frame with links to the tenants `others`, in which the browser has a session, too.
    pub(crate) fn beside(self, others: Vec<ConsoleTenant>) -> Self {
        let others = others.into_iter().map(|other| {
            let folder = self.address.folder(&other.name);
            (other.name, folder)
        });
        let others = others.collect();
        Self { signed: self.signed.map(|signed| Signed { others, ..signed }), ..self }
    }

    /// Returns the token of the forms of the person; empty without a session.
    pub(crate) fn csrf(&self) -> &str {
        self.signed.as_ref().map_or("", |signed| &signed.csrf)
    }

    /// Returns the frame without the person, who is signed out.
    pub(crate) fn signed_out(&self) -> Self {
        Self { word: None, signed: None, here: self.address.path("/console"), ..self.clone() }
    }

    /// Writes the page up to its heading.
    pub(crate) fn begin(&self, title: &str, to: &mut AnswerText) -> fmt::Result {
        let top = Top {
            title,
            frame: self,
            signed: self.signed.as_ref(),
            nav: self.nav(),
            assets: self.address.path("/console/-/assets"),
            files: &ASSETS,
            themes: THEMES,
        };
        top.render_into(to).map_err(|_| fmt::Error)
    }

    fn nav(&self) -> Vec<NavLink> {
        let Some(signed) = &self.signed else { return Vec::new() };
        let links: &[NavPage] = if signed.is_manager { &OF_MANAGERS } else { &OF_MEMBERS };
        let current = self.page.split('/').next().unwrap_or_default();
        let links = links.iter().map(|(path, name, below)| NavLink {
            path,
            name,
            is_current: below.contains(&current),
        });
        links.collect()
    }

    /// Answers with a whole page, whose content `content` is.
    pub(crate) fn show(&self, title: &str, content: &impl Template) -> Result<Response, ApiError> {
        let mut text = AnswerText::default();
        let written = self.begin(title, &mut text).and_then(|()| {
            content.render_into(&mut text).map_err(|_| fmt::Error)?;
            fmt::Write::write_str(&mut text, END)
        });
        match written {
            Ok(()) => Ok(self.finish(text_answer::written(HTML, text))),
            // Templates do not fail by themselves.
            Err(fmt::Error) => Err(text_answer::Unwritten::NoRoom.into()),
        }
    }

    /// Adds what every page has to an answer.
    pub(crate) fn finish(&self, mut answer: Response) -> Response {
        headers::add(&mut answer);
        // The word is shown once, and a redirect shows nothing.
        if self.word.is_some() && !answer.status().is_redirection() {
            Cookies::of(&self.address).clear_word(answer.headers_mut());
        }
        answer.into_response()
    }
}
