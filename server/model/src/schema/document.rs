//! The macro that declares a type of the documents.

/// Puts types into the API's document: the name of each, the types that its schema names, and the schema.
#[macro_export]
macro_rules! document {
    ($type:ty $(as $name:literal)? $(, naming $($named:ty),+)? => $schema:expr) => {
        impl ::utoipa::PartialSchema for $type {
            fn schema() -> $crate::schema::AnySchema {
                $schema.into()
            }
        }

        impl ::utoipa::ToSchema for $type {
            $(fn name() -> ::std::borrow::Cow<'static, str> {
                $name.into()
            })?

            $(fn schemas(schemas: &mut Vec<(String, $crate::schema::AnySchema)>) {
                $($crate::schema::collect::<$named>(schemas);)+
            })?
        }
    };
}
