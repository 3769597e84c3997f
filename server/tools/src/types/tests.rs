//! The printed types: their text, and that compilers accept every name.

use std::fs;
use std::path::Path;
use std::process::Command;

use portcullis_test_tenants::write_tenant;

use super::*;

const TYPES: &str = "
- type: wiki
  about: A page
  properties:
    locked: {type: boolean, about: Nobody writes}
    tags: {type: list<text>}
- type: user
  properties: {hired: {type: datetime}, level: {type: number}}
";

/// Names that end a text or a comment, words of the languages, and names with one identifier.
const HOSTILE: &str = r#"
- type: user
  about: "ends */ here \\u000a */ \" ' `\n\r next"
  properties:
    class: {type: text, about: "*/ \\u002a/ \\"}
    "a b": {type: text}
    "a-b": {type: number}
    a_b: {type: ip}
    "\"; drop": {type: boolean}
    "\\u000a": {type: list<number>}
    "line\nbreak\u2028": {type: list<text>}
    hashCode: {type: text}
    attributes: {type: text}
    map: {type: text}
    "7": {type: text}
    "é😀": {type: text}
    "${x}": {type: text}
- {type: string, properties: {x: {type: list<text>}}}
- {type: list}
- {type: none}
- {type: literal}
- {type: "do*/c"}
- {type: do-c}
- {type: context, about: "'''"}
- {type: tenant}
"#;

fn folder(types: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    write_tenant(folder.path());
    fs::write(folder.path().join("types.yaml"), types).expect("writable");
    folder
}

fn printed(lang: TypesLanguage, folder: &Path) -> String {
    let mut out = Vec::new();
    run(&TypesArguments { lang, folder: folder.to_owned() }, &mut out).expect("printed");
    String::from_utf8(out).expect("text")
}

#[test]
fn typescript_has_an_interface_for_each_type() {
    assert_eq!(
        printed(TypesLanguage::Ts, folder(TYPES).path()),
        r#"// The names of the tenant acme, written by `portcullis types --lang ts`.

export interface User {
  "hired"?: string;
  "level"?: number;
}

export interface Context {
}

export interface Action {
}

/** A page */
export interface Wiki {
  /** Nobody writes */
  "locked"?: boolean;
  "tags"?: string[];
}

/** The properties of each type, by its name. */
export interface PropertiesByType {
  "user": User;
  "context": Context;
  "action": Action;
  "wiki": Wiki;
}

/** A registered resource: `<type>:<verb>`. */
export type ResourceName =
  | "wiki:read";

/** What a client of the tenant asks about: `new Portcullis<Tenant>(…)`. */
export interface Tenant {
  resource: ResourceName;
  attributes: {
    user?: User & { "roles"?: string[] };
    resource?: Wiki & { "id"?: string; "type"?: string };
    action?: Action;
    context?: Context;
  };
}
"#
    );
}

#[test]
fn python_and_java_have_the_same_names() {
    let folder = folder(TYPES);
    let python = printed(TypesLanguage::Python, folder.path());
    let wiki = "# A page\nWiki = TypedDict(\"Wiki\", {\n    # Nobody writes\n    \"locked\": bool,\n    \"tags\": \
        list[str],\n}, total=False)\n";
    assert!(python.contains(wiki), "{python}");
    assert!(python.ends_with("ResourceName = Literal[\n    \"wiki:read\",\n]\n"), "{python}");
    let java = printed(TypesLanguage::Java, folder.path());
    let user = "    public record User(\n        String hired,\n        Number level) {\n";
    let put = "            if (this.level != null) map.put(\"level\", this.level);\n";
    let read = "        public static final String WIKI_READ = \"wiki:read\";\n";
    assert!([user, put, read].iter().all(|part| java.contains(part)), "{java}");
}

/// A name that policies read behind references has the type of its property, and so have the references between.
#[test]
fn names_behind_references_are_those_that_policies_read() {
    let folder = folder(
        "- {type: wiki, properties: {space: {type: ref<space>}, author: {type: ref<user>}}}\n\
         - {type: space, properties: {owner: {type: ref<user>}, open: {type: boolean}}}\n\
         - {type: user, properties: {level: {type: number}, manager: {type: ref<user>}}}\n",
    );
    let policies = [
        ("wiki:read", "resource.space.owner.level > 2 && user.manager.level > 3"),
        ("*", "exists(resource.author.manager)"),
        ("space:read", "resource.open"),
    ];
    let policies = policies.map(|(resource, when)| {
        format!("- {{name: '{when}', resource: '{resource}', effect: deny, priority: 1, when: '{when}'}}\n")
    });
    for (file, text) in [("policies.yaml", &*policies.concat()), ("cases.yaml", "[]\n")] {
        fs::write(folder.path().join(file), text).expect("writable");
    }
    let printed = printed(TypesLanguage::Ts, folder.path());
    for (name, properties) in [
        ("User", "\"level\"?: number;\n  \"manager\"?: string;\n  \"manager.level\"?: number;"),
        ("Space", "\"open\"?: boolean;\n  \"owner\"?: string;"),
        (
            "Wiki",
            "\"author\"?: string;\n  \"author.manager\"?: string;\n  \"space\"?: string;\n  \
             \"space.owner\"?: string;\n  \"space.owner.level\"?: number;",
        ),
    ] {
        let expected = format!("export interface {name} {{\n  {properties}\n}}\n");
        assert!(printed.contains(&expected), "{expected}\n{printed}");
    }
}

#[test]
fn a_folder_without_types_and_resources_has_no_names() {
    let folder = folder("[]\n");
    for file in ["resources.yaml", "cases.yaml"] {
        fs::write(folder.path().join(file), "[]\n").expect("writable");
    }
    let folder = folder.path();
    let typescript = printed(TypesLanguage::Ts, folder);
    assert!(typescript.contains("ResourceName = never;\n"), "{typescript}");
    assert!(typescript.contains("  resource?: { [name: string]: unknown };\n"), "{typescript}");
    assert!(printed(TypesLanguage::Python, folder).ends_with("ResourceName = NoReturn\n"));
    assert!(printed(TypesLanguage::Java, folder).contains("private Resources() {}\n    }\n"));
}

/// Runs a program in a folder, where this machine has it, and expects success.
fn succeeds(program: &str, arguments: &[&str], folder: &Path) {
    let Ok(run) = Command::new(program).args(arguments).current_dir(folder).output() else {
        return;
    };
    assert!(run.status.success(), "{program}: {}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn compilers_accept_every_name() {
    let folder = folder(HOSTILE);
    let work = tempfile::tempdir().expect("a folder");
    let write = |name: &str, lang| {
        fs::write(work.path().join(name), printed(lang, folder.path())).expect("writable");
    };
    write("PortcullisTypes.java", TypesLanguage::Java);
    write("tenant_types.py", TypesLanguage::Python);
    write("types.ts", TypesLanguage::Ts);
    succeeds("javac", &["-Xlint:all", "-Werror", "PortcullisTypes.java"], work.path());
    let keys =
        "import tenant_types; assert 'line\\nbreak\\u2028' in tenant_types.User.__annotations__";
    succeeds("python3", &["-c", keys], work.path());
    succeeds("tsc", &["--strict", "--noEmit", "types.ts"], work.path());
}
