//! The text that `portcullis dev` prints at its start. It fits on one screen: 24 lines of 100 characters.

use std::fmt::Write as _;
use std::path::Path;

use portcullis_engine::Effect;

use super::examples::{self, Example, Examples, WIDTH};
use super::tenants::ServedTenant;

/// The lines of a screen.
const SCREEN: usize = 24;
/// The most checks that are shown.
const MAX_CHECKS: usize = 3;
/// The most tenants that are shown.
const MAX_TENANTS: usize = 3;

/// Returns the text: the address, a user of each tenant with the command for its token, and checks to paste.
/// `folder` is the folder that is served.
pub(super) async fn banner(examples: &Examples, folder: Option<&Path>) -> anyhow::Result<String> {
    let base_url = &examples.base_url;
    let tenants = examples.tenants.all();
    let mut lines = vec![
        format!("Portcullis for development: {base_url} (not for production)"),
        format!("Console: {base_url}/console"),
        format!("API: {base_url}/docs   all users and checks: {base_url}{}", examples::PATH),
    ];
    for tenant in tenants.iter().take(MAX_TENANTS) {
        lines.extend(user_of(examples, tenant));
    }
    if let Some(more) = tenants.len().checked_sub(MAX_TENANTS).filter(|more| *more > 0) {
        lines.push(format!("and {more} more tenants"));
    }
    let end = ending(folder);
    let mut checks = Vec::new();
    for tenant in tenants.iter().take(MAX_TENANTS) {
        checks.push(examples.decide(&tenant.bundle).await?);
    }
    // One more for the empty line before the checks.
    let room = SCREEN.saturating_sub(lines.len() + end.len() + 1);
    let chosen = fitting(checks, room);
    if !chosen.is_empty() {
        lines.push(String::new());
        lines.extend(chosen);
    }
    lines.extend(end);
    Ok(lines.join("\n") + "\n")
}

/// Returns the lines about one user of a tenant.
fn user_of(examples: &Examples, tenant: &ServedTenant) -> Vec<String> {
    let bundle = &tenant.bundle;
    let Some(user) = bundle.users.first() else {
        return vec![cut(&format!("Tenant `{}` has no users", bundle.tenant))];
    };
    let name = examples.tenants.name_of(&bundle.tenant, &user.sub);
    let roles = examples::roles_of(user);
    let mut about = format!("Tenant `{}`: a token of {name} ({roles})", bundle.tenant);
    match bundle.users.len() - 1 {
        0 => {}
        1 => about.push_str(", in the same way of 1 other user"),
        others => {
            // Writing to a string cannot fail.
            let _ = write!(about, ", in the same way of {others} other users");
        }
    }
    vec![cut(&about), format!("  {}", examples.token_command(&name))]
}

/// Returns the lines after the checks.
fn ending(folder: Option<&Path>) -> Vec<String> {
    match folder {
        None => {
            vec![String::new(), "Ctrl-C stops it; the data stays in the data directory.".to_owned()]
        }
        Some(folder) => vec![
            String::new(),
            cut(&format!(
                "Serving `{}`: a change of its files is served at once.",
                folder.display()
            )),
            "Ctrl-C stops it. The folder wins: a save undoes changes by API, except webhooks and keys."
                .to_owned(),
        ],
    }
}

/// Takes checks from each tenant in turn, while they fit into `room` lines.
fn fitting(tenants: Vec<Vec<Example>>, room: usize) -> Vec<String> {
    let most = tenants.iter().map(Vec::len).max().unwrap_or_default();
    let in_turn = (0..most).flat_map(|index| tenants.iter().filter_map(move |all| all.get(index)));
    let (mut lines, mut count) = (Vec::new(), 0);
    for Example { name, has_other_time, answer, hints, lines: command } in in_turn {
        let is_wide = command.iter().any(|line| line.chars().count() > WIDTH);
        let needed = 1 + hints.len() + command.len();
        if count < MAX_CHECKS && lines.len() + needed <= room && !is_wide {
            let decision = match answer.effect {
                Effect::Allow => "allow",
                Effect::Deny => "deny",
            };
            // The case may expect another decision at its own time.
            let when = if *has_other_time { " at this time" } else { "" };
            lines.push(cut(&format!("# {decision}{when}: {name}")));
            lines.extend(hints.iter().map(|hint| cut(&format!("# hint {hint}"))));
            lines.extend(command.iter().cloned());
            count += 1;
        }
    }
    lines
}

/// Returns a line of at most [`WIDTH`] characters.
fn cut(line: &str) -> String {
    let line = line.replace('\n', " ");
    if line.chars().count() <= WIDTH {
        return line;
    }
    line.chars().take(WIDTH - 1).chain(['…']).collect()
}
