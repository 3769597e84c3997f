"""The file SHA256SUMS, which `sha256sum --check` reads."""

import hashlib
from pathlib import Path


def write(files: list[Path], out: Path) -> Path:
    """Writes the checksums of the files, sorted by name."""
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in sorted(files)]
    path = out / "SHA256SUMS"
    path.write_text("".join(lines))
    return path
