"""The file SHA256SUMS, which `sha256sum --check` reads, and its signature."""

import hashlib
from pathlib import Path

from . import minisign
from .release import DEPLOY, Fault

NAME = "SHA256SUMS"
SIGNATURE = f"{NAME}.minisig"
# The key of the releases. Its secret part is with the maintainers.
PUBLIC_KEY = DEPLOY / "portcullis.pub"


def write(files: list[Path], out: Path) -> Path:
    """Writes the checksums of the files, sorted by name."""
    path = out / NAME
    path.write_text("".join(f"{checksum(file)}  {file.name}\n" for file in sorted(files)))
    return path


def sign(sums: Path, key: Path, version: str) -> Path:
    """Writes the signature of the checksums, and with them of all files."""
    path = sums.with_name(SIGNATURE)
    signed = minisign.secret_key(key).sign(sums.read_bytes(), f"portcullis {version}")
    path.write_text(signed)
    return path


def verify(file: Path, public: Path) -> str:
    """Returns the release to which a file belongs, such as `portcullis 0.3.0`.

    Raises `Fault` if the checksums beside it have no signature of the key, or the file is not one of theirs.
    """
    try:
        data = file.with_name(NAME).read_bytes()
        found = checksum(file)
    except OSError as error:
        raise Fault(f"`{error.filename}` cannot be read: {error.strerror}") from None
    release = minisign.verify(data, file.with_name(SIGNATURE), public)
    expected = dict(line.split("  ")[::-1] for line in data.decode().splitlines())
    if file.name == NAME:
        return release
    if file.name not in expected:
        raise Fault(f"`{file}` is not a file of {release}")
    if expected[file.name] != found:
        raise Fault(f"`{file}` was changed: its SHA-256 is {found}, not {expected[file.name]}")
    return release


def checksum(file: Path) -> str:
    """Returns the SHA-256 digest of a file."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
