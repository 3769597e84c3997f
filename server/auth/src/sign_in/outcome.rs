//! The provider of a sign-in, and the reasons why it ends without anybody.

use crate::config::SignInClient;
use crate::error::AuthError;

/// An identity provider with the client by which people sign in.
#[derive(Clone, Debug)]
pub struct SignInProvider {
    pub issuer: String,
    pub client: SignInClient,
}

/// The reason why nobody is signed in.
#[derive(Debug)]
pub enum SignInError {
    /// The answer of the browser does not fit the attempt; the text says why.
    Refused(String),
    /// The provider cannot be asked; the cause is for the log.
    Provider(anyhow::Error),
    /// The provider signs the person in, but its token does not serve here.
    Token(AuthError),
}
