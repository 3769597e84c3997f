//! The sessions of the console, and the links that begin one.

pub mod session_links;
pub mod sessions;

#[cfg(test)]
mod tests;
