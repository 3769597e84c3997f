//! Types of Java.

use std::fmt::Write;

use portcullis_engine::types::PropertyType;

use super::identifiers::{Identifiers, Shape};
use super::names::{NamedType, TenantNames, comment};

/// The identifiers that no type of a tenant has: those that the class uses.
pub(super) const RESERVED: &str =
    "PortcullisTypes Resources Boolean LinkedHashMap List Map Number Object Record String";
/// The identifiers that no component of a record has: words of Java, and methods that every record has.
const RESERVED_COMPONENTS: &str = "abstract assert attributes boolean break byte case catch char \
    class clone const continue default do double else enum extends false final finalize finally float for getClass goto \
    hashCode if implements import instanceof int interface long native new notify notifyAll \
    null package private protected public return short static strictfp super switch \
    synchronized this throw throws toString transient true try void volatile wait while";

/// Returns the file `PortcullisTypes.java`. Writing to a string cannot fail.
pub(super) fn text(names: &TenantNames<'_>) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "// The names of the tenant {}, written by `portcullis types --lang java`.\n\n\
         import java.util.LinkedHashMap;\nimport java.util.List;\nimport java.util.Map;\n\n\
         public final class PortcullisTypes {{\n    private PortcullisTypes() {{}}",
        in_comment(names.tenant)
    );
    for one in &names.types {
        record(one, &mut out);
    }
    out.push_str("\n    /** The registered resources: <code>type:verb</code>. */\n    public static final class Resources {\n");
    out.push_str("        private Resources() {}\n");
    // The constants are in a class of their own, and no word in capitals is reserved.
    let mut identifiers = Identifiers::new("");
    for resource in &names.resources {
        let identifier = identifiers.make(resource, Shape::Screaming);
        let value = literal(resource);
        let _ = writeln!(out, "        public static final String {identifier} = {value};");
    }
    out.push_str("    }\n}\n");
    out
}

fn record(one: &NamedType<'_>, out: &mut String) {
    let mut identifiers = Identifiers::new(RESERVED_COMPONENTS);
    let properties = one.properties.iter();
    let components: Vec<_> = properties
        .map(|property| (identifiers.make(property.name, Shape::Camel), property))
        .collect();
    out.push('\n');
    about(one.about, "    ", out);
    let _ = write!(out, "    public record {}(", one.identifier);
    for (index, (identifier, property)) in components.iter().enumerate() {
        out.push_str(if index > 0 { ",\n" } else { "\n" });
        about(property.about, "        ", out);
        let _ = write!(out, "        {} {identifier}", value(property.kind));
    }
    out.push_str(
        ") {\n        /** The attributes of a check, by name, without those that are null. */\n        \
         public Map<String, Object> attributes() {\n            \
         Map<String, Object> map = new LinkedHashMap<>();\n",
    );
    for (identifier, property) in &components {
        let name = literal(property.name);
        let _ = writeln!(
            out,
            "            if (this.{identifier} != null) map.put({name}, this.{identifier});"
        );
    }
    out.push_str("            return map;\n        }\n    }\n");
}

fn about(text: Option<&str>, indent: &str, out: &mut String) {
    if let Some(text) = text {
        let _ = writeln!(out, "{indent}/** {} */", in_comment(text).replace("*/", "* /"));
    }
}

/// Returns a text as one line of a comment. Java reads `\u` in comments, too.
fn in_comment(text: &str) -> String {
    // Java reads Unicode escapes in comments, too, and one of them could end the comment.
    comment(text).replace('\\', "/")
}

/// Returns a string literal in ASCII, because the compiler may read the file in another encoding.
fn literal(text: &str) -> String {
    let mut literal = String::from('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => literal.extend(['\\', char]),
            ' '..='~' => literal.push(char),
            // `\u` of a line break would end the literal.
            '\0'..='\u{1f}' => {
                let _ = write!(literal, "\\{:03o}", u32::from(char));
            }
            char => {
                // An escape of Java is one UTF-16 unit, and a character may have two.
                for unit in char.encode_utf16(&mut [0; 2]) {
                    let _ = write!(literal, "\\u{unit:04x}");
                }
            }
        }
    }
    literal + "\""
}

fn value(kind: PropertyType) -> &'static str {
    match kind {
        PropertyType::Text | PropertyType::Datetime | PropertyType::Ip => "String",
        PropertyType::Number => "Number",
        PropertyType::Boolean => "Boolean",
        PropertyType::Texts => "List<String>",
        PropertyType::Numbers => "List<Number>",
    }
}
