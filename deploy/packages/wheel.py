"""The wheel, which puts the binary into the folder of scripts.

Source: the binary distribution format of PyPA.
"""

import base64
import hashlib
from pathlib import Path

from .archive import Entry, zip_file
from .release import DEPLOY, DESCRIPTION, LICENSE, REPOSITORY, Release

# PyPI has another project with the name `portcullis`.
NAME = "portcullis-authz"
MODULE = NAME.replace("-", "_")
# A static binary runs with either C library.
PLATFORMS = ("manylinux_2_17", "manylinux2014", "musllinux_1_1")


def write(release: Release, out: Path) -> list[Path]:
    """Writes the wheel."""
    stem = f"{MODULE}-{release.version}"
    info = f"{stem}.dist-info"
    platforms = [f"{platform}_{release.architecture.machine}" for platform in PLATFORMS]
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in platforms)
    metadata = (
        f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {release.version}\nSummary: {DESCRIPTION}\n"
        f"License: {LICENSE}\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n"
        f"Try it: `uvx {NAME} dev`.\n"
    )
    # `uvx NAME` runs the script that has the name of the project.
    entry_points = f"[console_scripts]\n{NAME} = {MODULE}:main\n"
    files = [
        Entry(f"{MODULE}/__init__.py", (DEPLOY / "wheel/launcher.py").read_bytes()),
        Entry(f"{stem}.data/scripts/portcullis", release.binary.read_bytes(), 0o755),
        Entry(f"{info}/METADATA", metadata.encode()),
        Entry(
            f"{info}/WHEEL",
            f"Wheel-Version: 1.0\nGenerator: portcullis\nRoot-Is-Purelib: false\n{tags}".encode(),
        ),
        Entry(f"{info}/entry_points.txt", entry_points.encode()),
        Entry(f"{info}/licenses/LICENSE", (REPOSITORY / "LICENSE").read_bytes()),
    ]
    files.append(record(files, f"{info}/RECORD"))
    path = out / f"{stem}-py3-none-{'.'.join(platforms)}.whl"
    path.write_bytes(zip_file(files, release))
    return [path]


def record(files: list[Entry], path: str) -> Entry:
    """Returns the list of all files with their digests and sizes."""
    lines = [f"{file.path},sha256={checksum(file.data)},{len(file.data)}\n" for file in files]
    return Entry(path, ("".join(lines) + f"{path},,\n").encode())


def checksum(data: bytes) -> str:
    """Returns the SHA-256 digest in base64 for URLs, without padding."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
