"""The binary in a plain archive, with its license, man pages and completions."""

from pathlib import Path

from .archive import Entry, compress, tar
from .release import COMPLETIONS, REPOSITORY, Release


def write(release: Release, out: Path) -> list[Path]:
    """Writes the archive, whose files are below a folder of its name."""
    name = f"portcullis-{release.version}-linux-{release.architecture.debian}"
    entries = [
        Entry(f"{name}/portcullis", release.binary.read_bytes(), 0o755),
        Entry(f"{name}/LICENSE", (REPOSITORY / "LICENSE").read_bytes()),
        *(Entry(f"{name}/man/{page.name}", page.read_bytes()) for page in release.man_pages),
        *(Entry(f"{name}/completions/{Path(COMPLETIONS[shell]).name}.{shell}", text)
          for shell, text in release.completions.items()),
    ]
    path = out / f"{name}.tar.gz"
    path.write_bytes(compress(tar(entries, release.epoch), release))
    return [path]
