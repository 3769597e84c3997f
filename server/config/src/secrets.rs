//! Secrets: the value of a variable, or the content of the file that another variable names.

use std::path::Path;

use portcullis_auth::AdminKeys;
use portcullis_storage::encryption::KeyRing;

use crate::error::ConfigError;
use crate::settings::setting_of;
use crate::variables::Variables;

const ENCRYPTION_KEY: &str = "ENCRYPTION_KEY";
const ADMIN_API_KEY: &str = "ADMIN_API_KEY";
const ADMIN_API_KEYS: &str = "ADMIN_API_KEYS";

/// Fewest characters of an admin key.
const MIN_ADMIN_KEY: usize = 32;
/// Most characters of the name of an admin key.
const MAX_KEY_NAME: usize = 64;

impl Variables {
    /// Returns the secret without the line break at its end, which most tools write into a file. An empty one is absent.
    ///
    /// # Errors
    /// Both variables are set, or the file cannot be read as text. The error holds no secret.
    pub(crate) fn secret(&self, name: &'static str) -> Result<Option<String>, ConfigError> {
        let file = setting_of(name).and_then(|setting| setting.file);
        let path = file.and_then(|file| Some((file, self.get(file)?)));
        let Some((file, path)) = path else { return Ok(self.get(name).map(str::to_owned)) };
        if self.get(name).is_some() {
            let expected = format!("only one of {name} and {file}, but both are set");
            return Err(ConfigError::new(file, expected));
        }
        let text = std::fs::read_to_string(Path::new(path)).map_err(|error| {
            ConfigError::unreadable_file(file, "a readable file in UTF-8", path, &error)
        })?;
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        Ok(Some(text.to_owned()).filter(|text| !text.is_empty()))
    }

    /// Returns a secret that must be set.
    pub(crate) fn required_secret(
        &self,
        name: &'static str,
        expected: &str,
    ) -> Result<String, ConfigError> {
        self.secret(name)?
            .ok_or_else(|| ConfigError::new(name, format!("{expected}, but it is not set")))
    }

    /// Returns the keys that encrypt secrets at rest.
    pub fn encryption_keys(&self) -> Result<KeyRing, ConfigError> {
        let expected = "32 bytes in base64, as `openssl rand -base64 32` prints them";
        let text = self.required_secret(ENCRYPTION_KEY, expected)?;
        KeyRing::parse(&text).map_err(|expected| ConfigError::new(ENCRYPTION_KEY, expected))
    }

    /// Returns the keys of the operator: the nameless key in `ADMIN_API_KEY`, and the keys in `ADMIN_API_KEYS`.
    pub(crate) fn admin_keys(&self) -> Result<AdminKeys, ConfigError> {
        let mut keys = AdminKeys::default();
        let named = self.secret(ADMIN_API_KEYS)?;
        let expected = format!("at least {MIN_ADMIN_KEY} characters");
        let unnamed = match &named {
            // Without keys that have names, the nameless one is required.
            None => Some(self.required_secret(ADMIN_API_KEY, &expected)?),
            Some(_) => self.secret(ADMIN_API_KEY)?,
        };
        if let Some(key) = unnamed {
            if key.chars().count() < MIN_ADMIN_KEY {
                return Err(ConfigError::new(ADMIN_API_KEY, expected));
            }
            // It is the first.
            let _ = keys.add("", &key);
        }
        for (entry, number) in named.iter().flat_map(|named| named.split(',')).zip(1..) {
            add_named_key(&mut keys, entry.trim(), number)?;
        }
        Ok(keys)
    }
}

/// Adds a key of the form `name=key`. A fault names the number of the key and not the key.
fn add_named_key(keys: &mut AdminKeys, entry: &str, number: usize) -> Result<(), ConfigError> {
    let (name, key) =
        entry.split_once('=').ok_or_else(|| wrong_named_key(number, "has no name"))?;
    let has_usual = name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    if !(1..=MAX_KEY_NAME).contains(&name.len()) || !has_usual {
        return Err(wrong_named_key(number, "has another name"));
    }
    if key.chars().count() < MIN_ADMIN_KEY {
        return Err(wrong_named_key(number, "is too short"));
    }
    match keys.add(name, key) {
        true => Ok(()),
        false => Err(wrong_named_key(number, "or its name is there twice")),
    }
}

fn wrong_named_key(number: usize, what: &str) -> ConfigError {
    let expected = format!(
        "`name=key` with commas in between, names of letters, digits, `.`, `_` and `-`, and keys of at least \
         {MIN_ADMIN_KEY} characters; key {number} {what}"
    );
    ConfigError::new(ADMIN_API_KEYS, expected)
}
