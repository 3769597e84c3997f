"""The release that is packed: its binary, version and time, and the files made from its command line."""

import datetime
import os
import shutil
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

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
    # The time of every file in a package, in seconds since 1970.
    epoch: int
    # The stripped binary.
    binary: Path
    man_pages: tuple[Path, ...]
    # The script of each shell in `COMPLETIONS`.
    completions: dict[str, bytes]
    # Whether speed matters more than size.
    quick: bool

    @property
    def created(self) -> str:
        """The time of the files, in the form of RFC 3339."""
        moment = datetime.datetime.fromtimestamp(self.epoch, datetime.UTC)
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")

    @classmethod
    def prepare(cls, binary: Path, scratch: Path, quick: bool, allow_dynamic: bool) -> "Release":
        """Strips a copy of the binary in `scratch`, and has it write its man pages and completions."""
        if not binary.is_file():
            raise Fault(f"the binary `{binary}` does not exist")
        stripped = scratch / "portcullis"
        shutil.copyfile(binary, stripped)
        run("strip", "--strip-all", stripped)
        stripped.chmod(0o755)
        version = workspace_version()
        check_binary(stripped, version, allow_dynamic)
        pages = scratch / "man"
        pages.mkdir()
        run(stripped, "man-pages", pages)
        return cls(
            version=version,
            epoch=source_date_epoch(),
            binary=stripped,
            man_pages=tuple(sorted(pages.iterdir())),
            completions={
                shell: run(stripped, "completions", shell).encode() for shell in COMPLETIONS
            },
            quick=quick,
        )


def workspace_version() -> str:
    """Returns the version of the workspace: three numbers, which mean the same to all package managers."""
    manifest = tomllib.loads((REPOSITORY / "Cargo.toml").read_text())
    version = manifest["workspace"]["package"]["version"]
    if not all(part.isdigit() for part in version.split(".")):
        raise Fault(f"version `{version}` is not a release: expected three numbers, such as 0.3.0")
    return version


def check_binary(binary: Path, version: str, allow_dynamic: bool) -> None:
    """Raises `Fault` if the binary has another version, or needs a C library of the system."""
    found = run(binary, "--version").split()[-1]
    if found != version:
        raise Fault(f"the binary has version `{found}`, and Cargo.toml has `{version}`: build it again")
    if "INTERP" in run("readelf", "--program-headers", "--wide", binary) and not allow_dynamic:
        raise Fault("the binary needs a C library of the system: build it for x86_64-unknown-linux-musl")


def source_date_epoch() -> int:
    """Returns SOURCE_DATE_EPOCH, or the time of the last commit."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        epoch = run("git", "-C", REPOSITORY, "log", "-1", "--format=%ct").strip()
    if not epoch.isdigit():
        raise Fault(f"SOURCE_DATE_EPOCH is `{epoch}`: expected seconds since 1970")
    return int(epoch)
