"""The release that is packed: its binary, version and time, and the files made from its command line."""

import datetime
import os
import shutil
import subprocess
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from .architecture import Architecture

REPOSITORY = Path(__file__).resolve().parents[2]
DEPLOY = REPOSITORY / "deploy"

DESCRIPTION = "Multi-tenant authorization service: RBAC, ABAC, reasons, WebAssembly resolvers"
LICENSE = "Apache-2.0"

# The completions of each shell, where Debian's packages put them.
COMPLETIONS = {
    "bash": "usr/share/bash-completion/completions/portcullis",
    "fish": "usr/share/fish/vendor_completions.d/portcullis.fish",
    "zsh": "usr/share/zsh/vendor-completions/_portcullis",
}


class Fault(Exception):
    """An error that the user can mend; its text says how."""


def run(*command: str | Path, **options) -> str:
    """Runs a program to its end and returns its output. Raises `Fault` if it is missing or fails."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, **options)
    except FileNotFoundError:
        raise Fault(f"`{command[0]}` is not installed") from None
    except subprocess.CalledProcessError as error:
        raise Fault(f"`{' '.join(map(str, command))}` fails with exit code {error.returncode}") from None
    return done.stdout


@dataclass(frozen=True)
class Release:
    """A binary with what all packages need."""

    version: str
    architecture: Architecture
    # The time of every file in a package, in seconds since 1970.
    epoch: int
    # The stripped binary, in a folder that packages may use.
    binary: Path
    man_pages: tuple[Path, ...]
    # The script of each shell in `COMPLETIONS`.
    completions: dict[str, bytes]
    # Whether nothing is compressed.
    quick: bool

    @property
    def created(self) -> str:
        """The time of the files, in the form of RFC 3339."""
        moment = datetime.datetime.fromtimestamp(self.epoch, datetime.UTC)
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")

    @classmethod
    def prepare(cls, binary: Path, scratch: Path, quick: bool, allow_dynamic: bool) -> "Release":
        """Copies the binary of this machine to `scratch`, and has it write its man pages and completions."""
        stripped = stripped_copy(binary, scratch)
        version = workspace_version()
        check_version(stripped, version)
        check_static(stripped, allow_dynamic)
        pages = scratch / "man"
        pages.mkdir()
        run(stripped, "man-pages", pages)
        return cls(
            version=version,
            architecture=Architecture.host(),
            epoch=source_date_epoch(),
            binary=stripped,
            man_pages=tuple(sorted(pages.iterdir())),
            completions={
                shell: run(stripped, "completions", shell).encode() for shell in COMPLETIONS
            },
            quick=quick,
        )

    def of(self, architecture: Architecture, binary: Path, scratch: Path) -> "Release":
        """Returns the release for another processor, whose binary this machine cannot run."""
        stripped = stripped_copy(binary, scratch)
        check_static(stripped, allow_dynamic=False)
        return replace(self, architecture=architecture, binary=stripped)


def workspace_version() -> str:
    """Returns the version of the workspace: three numbers, which mean the same to all package managers."""
    manifest = tomllib.loads((REPOSITORY / "Cargo.toml").read_text())
    version = manifest["workspace"]["package"]["version"]
    if not all(part.isdigit() for part in version.split(".")):
        raise Fault(f"version `{version}` is not a release: expected three numbers, such as 0.3.0")
    return version


def stripped_copy(binary: Path, scratch: Path) -> Path:
    """Copies the binary to `scratch`, without symbols."""
    if not binary.is_file():
        raise Fault(f"the binary `{binary}` does not exist")
    scratch.mkdir(exist_ok=True)
    copy = scratch / "portcullis"
    shutil.copyfile(binary, copy)
    if ".symtab" in run("readelf", "--section-headers", "--wide", copy):
        strip(copy)
    copy.chmod(0o755)
    return copy


def strip(binary: Path) -> None:
    """Removes the symbols with the tool of the Rust toolchain: the `strip` of a system knows one processor."""
    sysroot = Path(run("rustc", "--print", "sysroot", cwd=REPOSITORY).strip())
    program = next(sysroot.glob("lib/rustlib/*/bin/rust-objcopy"), None)
    if program is None:
        raise Fault(f"`rust-objcopy` is not in `{sysroot}`: install Rust by rustup")
    # Its library is not where the program looks for it.
    run(program, "--strip-all", binary, env=os.environ | {"LD_LIBRARY_PATH": str(sysroot / "lib")})


def check_version(binary: Path, version: str) -> None:
    """Raises `Fault` if the binary has another version."""
    found = run(binary, "--version").split()[-1]
    if found != version:
        raise Fault(f"the binary has version `{found}`, and Cargo.toml has `{version}`: build it again")


def must_be_clean() -> None:
    """Raises `Fault` if the work tree differs from the commit whose time the files have."""
    changed = run("git", "-C", REPOSITORY, "status", "--porcelain").splitlines()
    if changed:
        raise Fault(f"the work tree has changes without a commit, such as `{changed[0][3:]}`: commit them")


def check_static(binary: Path, allow_dynamic: bool) -> None:
    """Raises `Fault` if the binary needs a C library of the system."""
    if "INTERP" in run("readelf", "--program-headers", "--wide", binary) and not allow_dynamic:
        raise Fault("the binary needs a C library of the system: leave out `--binary`")


def source_date_epoch() -> int:
    """Returns SOURCE_DATE_EPOCH, or the time of the last commit."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        epoch = run("git", "-C", REPOSITORY, "log", "-1", "--format=%ct").strip()
    if not epoch.isdigit():
        raise Fault(f"SOURCE_DATE_EPOCH is `{epoch}`: expected seconds since 1970")
    return int(epoch)
