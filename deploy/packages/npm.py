"""The npm packages: `portcullis` has the launcher, `portcullis-linux-x64` and `portcullis-linux-arm64` the binary.

npm installs the optional dependency whose `os` and `cpu` are those of the machine.
"""

import json
from pathlib import Path

from .architecture import ARCHITECTURES, Architecture
from .archive import Entry, compress, tar
from .release import DEPLOY, DESCRIPTION, LICENSE, REPOSITORY, Release

NAME = "portcullis"
# The folder inside of every npm package.
ROOT = "package"


def platform(architecture: Architecture) -> str:
    """Returns the name of the package with the binary."""
    return f"{NAME}-linux-{architecture.node}"


def write(release: Release, out: Path) -> list[Path]:
    """Writes the packages as `npm pack` does. That of the launcher is the same for every processor."""
    launcher = {
        "bin": {"portcullis": "bin/portcullis.js"},
        "optionalDependencies": {platform(it): release.version for it in ARCHITECTURES.values()},
        "engines": {"node": ">=18"},
    }
    script = Entry(f"{ROOT}/bin/portcullis.js", (DEPLOY / "npm/portcullis.js").read_bytes(), 0o755)
    fields = {"os": ["linux"], "cpu": [release.architecture.node]}
    binary = Entry(f"{ROOT}/bin/portcullis", release.binary.read_bytes(), 0o755)
    return [
        pack(release, out, NAME, launcher, script),
        pack(release, out, platform(release.architecture), fields, binary),
    ]


def pack(release: Release, out: Path, name: str, fields: dict, program: Entry) -> Path:
    """Writes one package."""
    manifest = {
        "name": name,
        "version": release.version,
        "description": DESCRIPTION,
        "license": LICENSE,
        **fields,
    }
    readme = f"# {name}\n\n{DESCRIPTION}. Try it: `npx portcullis dev`.\n"
    entries = [
        Entry(f"{ROOT}/LICENSE", (REPOSITORY / "LICENSE").read_bytes()),
        Entry(f"{ROOT}/README.md", readme.encode()),
        Entry(f"{ROOT}/package.json", json.dumps(manifest, indent=2).encode()),
        program,
    ]
    path = out / f"{name}-{release.version}.tgz"
    path.write_bytes(compress(tar(entries, release.epoch), release))
    return path
