//! The OCI image: unpacked as a container engine does, and run without this machine's files.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Packages, first_decision, serves, succeed};
use crate::support::openid::skip;

/// The user of the image, which is not root.
const USER: &str = "65532:65532";

/// Mounts the root of the image to read only, and the folder of data over it to write, and runs the command there.
const READ_ONLY: &str = "
    /bin/mount --bind \"$1\" \"$1\"
    /bin/mount --bind \"$2\" \"$2\"
    /bin/mount -o remount,bind,ro \"$1\"
    root=$1
    shift 2
    exec /usr/sbin/chroot --userspec=65532:65532 \"$root\" /usr/bin/portcullis \"$@\"
";

/// An unpacked layout. Each blob that it reads has the digest and the size of its descriptor.
struct Layout<'a>(&'a Path);

impl Layout<'_> {
    #[track_caller]
    fn path(&self, descriptor: &Value) -> PathBuf {
        let digest = descriptor["digest"].as_str().unwrap();
        let path = self.0.join("blobs").join(digest.replace(':', "/"));
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(format!("sha256:{}", hex::encode(Sha256::digest(&bytes))), digest);
        assert_eq!(descriptor["size"], bytes.len());
        path
    }

    #[track_caller]
    fn read(&self, descriptor: &Value) -> Value {
        serde_json::from_slice(&std::fs::read(self.path(descriptor)).unwrap()).unwrap()
    }
}

/// Copies the libraries that the binary of cargo needs. A release needs none.
fn add_libraries(root: &Path) {
    let shown = Command::new("ldd").arg(root.join("usr/bin/portcullis")).output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout);
    let words = shown.split_whitespace().filter(|word| word.starts_with('/'));
    for library in words.filter(|word| !word.ends_with("portcullis")) {
        let target = root.join(library.trim_start_matches('/'));
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(library, target).unwrap();
    }
}

#[test]
fn the_image_runs_with_nothing_but_its_own_files() {
    let Some(packages) = Packages::shared() else { return };
    if !rustix::process::geteuid().is_root() {
        return skip("the image runs in a changed root, which needs root");
    }
    let (since, directory) = (Instant::now(), tempfile::tempdir().unwrap());
    let untar = |archive: &Path, to: &Path| {
        std::fs::create_dir(to).unwrap();
        succeed(Command::new("tar").arg("-xpf").arg(archive).arg("-C").arg(to));
    };
    let layout = directory.path().join("layout");
    untar(&packages.file("-oci-amd64.tar"), &layout);
    let index: Value =
        serde_json::from_slice(&std::fs::read(layout.join("index.json")).unwrap()).unwrap();
    let layout = Layout(&layout);
    let manifest = layout.read(&index["manifests"][0]);
    let config = layout.read(&manifest["config"]);
    assert_eq!(config["config"]["User"], USER);
    assert_eq!(config["config"]["Entrypoint"], json!(["/usr/bin/portcullis"]));
    let probe = config["config"]["Healthcheck"]["Test"].as_array().unwrap();
    assert_eq!(probe[1..], ["/usr/bin/portcullis", "doctor", "--ready"]);
    let database = json!("DATABASE_URL=sqlite:///var/lib/portcullis/portcullis.db");
    assert!(config["config"]["Env"].as_array().unwrap().contains(&database), "{config}");

    let root = directory.path().join("root");
    untar(&layout.path(&manifest["layers"][0]), &root);
    let authorities = root.join("etc/ssl/certs/ca-certificates.crt");
    assert!(std::fs::read_to_string(authorities).unwrap().contains("BEGIN CERTIFICATE"));
    add_libraries(&root);
    // By its path, because the environment is empty. The root of the image is read-only, apart from the folder of data.
    let state = root.join("var/lib/portcullis");
    let command = |arguments: &[&str]| {
        let mut command = Command::new("/usr/bin/unshare");
        command.args(["--mount", "/bin/sh", "-euc", READ_ONLY, "sh"]).arg(&root).arg(&state);
        command.args(arguments).env_clear();
        command
    };
    first_decision(since, command, "/var/lib/portcullis/first");
    serves(command(&["serve"]), Path::new("/var/lib/portcullis"));
    assert!(root.join("var/lib/portcullis/portcullis.db").exists());
}
