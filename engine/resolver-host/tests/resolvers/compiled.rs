//! The store of compiled code on disk.

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use portcullis_resolver_host::{Compiler, Digest, HostSettings, LoadError, ResolverHost};

use super::support::{component, host_with, load};

/// Lists the files in the directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_is_compiled_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("compiled");
    // The first load compiles and stores the code, the second reads it.
    for jobs in [3, 1] {
        let (host, runtime) = host_with(Some(path.clone()), true);
        let module = load(&host, component("directory")).await.unwrap();
        assert_eq!(module.descriptor.name, "directory");
        assert_eq!(runtime.jobs.load(Ordering::Relaxed), jobs);
        let [file] = &files(&path)[..] else { panic!("{:?}", files(&path)) };
        let name = file.file_name().unwrap().to_string_lossy();
        assert!(name.starts_with(&module.digest.to_string()), "{name}");
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        if jobs == 1 {
            host.forget(&module.digest).unwrap();
            host.forget(&module.digest).unwrap();
            assert_eq!(files(&path), Vec::<PathBuf>::new());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spoilt_code_is_compiled_anew_and_old_code_goes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("compiled");
    let (host, runtime) = host_with(Some(path.clone()), true);
    load(&host, component("directory")).await.unwrap();
    let file = files(&path).remove(0);
    let good = fs::read(&file).unwrap();
    fs::write(&file, b"no code").unwrap();
    load(&host, component("directory")).await.unwrap();
    assert_eq!(runtime.jobs.load(Ordering::Relaxed), 6);
    assert_eq!(fs::read(&file).unwrap().len(), good.len());

    let old = path.join("0123-4567.cwasm");
    fs::write(&old, b"of another version").unwrap();
    let _again = host_with(Some(path.clone()), true);
    assert_eq!(files(&path), [file]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_unused_code_files_are_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("compiled");
    let (host, _) = host_with(Some(path.clone()), true);
    let used = load(&host, component("directory")).await.unwrap();
    load(&host, component("behaviours")).await.unwrap();
    let code = |digest: &Digest| {
        let is_of = |file: &PathBuf| file.to_string_lossy().contains(&digest.to_string());
        files(&path).into_iter().find(is_of).unwrap()
    };
    let kept = [code(&used.digest), path.join("notes.txt"), path.join("0123-4567.cwasm")];
    let unfinished = path.join(".tmpA1b2C3");
    for file in [&kept[1], &kept[2], &unfinished] {
        fs::write(file, b"anything").unwrap();
    }
    let written = |file: &Path| fs::metadata(file).unwrap().modified().unwrap();
    let oldest = files(&path).iter().map(|file| written(file)).min().unwrap();
    let sweep = async |before| host.sweep([used.digest].into(), before).await.unwrap();
    sweep(oldest).await;
    assert_eq!(files(&path).len(), 5, "all of it is young");
    sweep(written(&unfinished) + Duration::from_secs(1)).await;
    let mut left = files(&path);
    left.sort();
    let mut kept = Vec::from(kept);
    kept.sort();
    assert_eq!(left, kept);
    // Without a directory, nothing is deleted.
    host_with(None, true).0.sweep([].into(), oldest).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn compiled_code_is_not_accepted_from_outside() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("compiled");
    let (host, _) = host_with(Some(path.clone()), true);
    load(&host, component("directory")).await.unwrap();
    let code = fs::read(files(&path).remove(0)).unwrap();
    let error = load(&host, code).await.unwrap_err();
    assert!(matches!(error, LoadError::NotAComponent(_)), "{error:?}");
    // The code of a refused module is not stored.
    load(&host, component("files")).await.unwrap_err();
    assert_eq!(files(&path).len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_that_others_can_enter_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).unwrap();
    let (_, runtime) = host_with(None, true);
    let compiled = Some(directory.path().to_owned());
    let settings = HostSettings { instances: 1, compiled, compiler: Compiler::InProcess };
    let error = ResolverHost::new(&settings, runtime).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    assert!(error.to_string().contains("others cannot enter"), "{error}");
}
