//! Reads the facts of a route from the parameters of its handler: the right of the caller, and what is read beside the body.

use axum::Extension;
use axum::extract::State;
use http::Uri;
use portcullis_runtime::app::App;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{Operation, Parameter, ParameterIn};

/// A parameter of a handler.
pub trait HandlerParameter {
    /// Adds what the parameter says to the description of its route.
    fn describe(_: &mut Operation) {}
}

impl HandlerParameter for State<App> {}
impl HandlerParameter for Uri {}
impl<T> HandlerParameter for Extension<T> {}
impl<T> HandlerParameter for Option<Extension<T>> {}

/// All parameters of a handler, as the type that axum gives them.
pub trait HandlerParameters {
    /// Adds what the parameters say to the description of their route.
    fn describe(operation: &mut Operation);
}

macro_rules! tuples {
    ($([$($name:ident)*])*) => {$(
        impl<M, $($name: HandlerParameter),*> HandlerParameters for (M, $($name,)*) {
            fn describe(operation: &mut Operation) {
                let all: &[fn(&mut Operation)] = &[$($name::describe),*];
                all.iter().for_each(|describe| describe(operation));
            }
        }
    )*};
}

tuples!([] [A] [A B] [A B C] [A B C D] [A B C D E] [A B C D E F] [A B C D E F G]);

/// Adds `parameters` to the description of a route.
pub fn add(operation: &mut Operation, parameters: impl IntoIterator<Item = Parameter>) {
    let all = operation.parameters.get_or_insert_default();
    all.extend(parameters.into_iter().map(RefOr::T));
}

/// Returns the names of the query parameters that the handler with the parameters `P` reads.
pub fn names_in_query<P: HandlerParameters>() -> Vec<String> {
    let mut operation = Operation::new();
    P::describe(&mut operation);
    let parameters = operation.parameters.into_iter().flatten().filter_map(|one| match one {
        RefOr::T(parameter) => Some(parameter),
        RefOr::Ref(_) => None,
    });
    let in_query = parameters.filter(|one| one.parameter_in == ParameterIn::Query);
    in_query.map(|parameter| parameter.name).collect()
}
