"""The .deb: binary, systemd unit, settings, man pages, completions, and the scripts of its life."""

import gzip
import hashlib
import os
from pathlib import Path

from .archive import Entry
from .release import COMPLETIONS, DEPLOY, DESCRIPTION, REPOSITORY, Release, run

SETTINGS = "etc/portcullis/portcullis.env"
SCRIPTS = ("postinst", "prerm", "postrm")

CONTROL = """\
Package: portcullis
Version: {version}
Architecture: {architecture}
Maintainer: The Portcullis authors <portcullis@localhost>
Section: net
Priority: optional
Depends: adduser, ca-certificates
Installed-Size: {kibibytes}
Description: {description}
 Portcullis answers authorization checks: may this subject do this action on
 this resource? The package has the service with its systemd unit, and the
 command line. It does not start the service: first write your settings to
 /etc/portcullis/portcullis.env.
"""


def write(release: Release, out: Path) -> list[Path]:
    """Writes the package with dpkg-deb."""
    tree = release.binary.parent / "debian"
    tree.mkdir(mode=0o755)
    files = list(contents(release))
    for entry in [*files, *control_files(release, files)]:
        place(tree, entry)
    for item in [tree, *tree.rglob("*")]:
        os.utime(item, (release.epoch, release.epoch))
    path = out / f"portcullis_{release.version}_{release.architecture.debian}.deb"
    # Parallel xz splits its blocks by the number of processors, which the bytes must not depend on.
    compression = ["-Znone"] if release.quick else ["-Zxz", "--threads-max=1"]
    command = ["dpkg-deb", *compression, "--root-owner-group", "--build", tree, path]
    # The time of the members that dpkg-deb itself makes.
    run(*command, env=os.environ | {"SOURCE_DATE_EPOCH": str(release.epoch)})
    return [path]


def contents(release: Release):
    """Returns the files that the package installs."""
    sources = DEPLOY / "debian"
    yield Entry("usr/bin/portcullis", release.binary.read_bytes(), 0o755)
    # The file will hold secrets; postinst gives it to the group of the service.
    yield Entry(SETTINGS, (sources / "portcullis.env").read_bytes(), 0o640)
    unit = (sources / "portcullis.service").read_bytes()
    yield Entry("usr/lib/systemd/system/portcullis.service", unit)
    for page in release.man_pages:
        yield Entry(f"usr/share/man/man1/{page.name}.gz", gzip.compress(page.read_bytes(), mtime=0))
    for shell, path in COMPLETIONS.items():
        yield Entry(path, release.completions[shell])
    license_text = (REPOSITORY / "LICENSE").read_bytes()
    yield Entry("usr/share/doc/portcullis/copyright", license_text)


def control_files(release: Release, files: list[Entry]):
    """Returns the files that tell dpkg about the package."""
    kibibytes = sum(len(file.data) for file in files) // 1024
    control = CONTROL.format(
        version=release.version,
        architecture=release.architecture.debian,
        kibibytes=kibibytes,
        description=DESCRIPTION,
    )
    yield Entry("DEBIAN/control", control.encode())
    yield Entry("DEBIAN/conffiles", f"/{SETTINGS}\n".encode())
    sums = (f"{hashlib.md5(file.data).hexdigest()}  {file.path}\n" for file in files if file.path != SETTINGS)
    yield Entry("DEBIAN/md5sums", "".join(sums).encode())
    for script in SCRIPTS:
        yield Entry(f"DEBIAN/{script}", (DEPLOY / "debian" / script).read_bytes(), 0o755)


def place(tree: Path, entry: Entry) -> None:
    """Writes a file with its mode; the umask of the caller does not matter."""
    path = tree / entry.path
    path.parent.mkdir(parents=True, exist_ok=True)
    for folder in path.relative_to(tree).parents:
        (tree / folder).chmod(0o755)
    path.write_bytes(entry.data)
    path.chmod(entry.mode)
