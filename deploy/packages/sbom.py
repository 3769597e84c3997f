"""The SBOM: every crate in the binary, with version, license, checksum and dependencies.

Source: CycloneDX 1.5. Crates whose names end with `-sys` contain C libraries, such as SQLite and AWS-LC.
"""

import json
import re
import tomllib
from pathlib import Path

from .architecture import Architecture
from .build import FEATURES
from .release import DESCRIPTION, LICENSE, REPOSITORY, Release, run

ROOT = "portcullis-server"
SEPARATOR = "\t"


def write(release: Release, out: Path) -> list[Path]:
    """Writes the document."""
    crates, edges = linked_crates(release.architecture)
    checksums = lock_checksums()
    root = next(key for key in crates if key[0] == ROOT)
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": release.created,
            "component": {
                "type": "application",
                "bom-ref": purl(root),
                "name": "portcullis",
                "version": release.version,
                "description": DESCRIPTION,
                "licenses": [{"expression": LICENSE}],
            },
        },
        "components": [
            component(crate, license_text, checksums.get(crate))
            for crate, license_text in sorted(crates.items())
            if crate != root
        ],
        "dependencies": [
            {"ref": purl(crate), "dependsOn": sorted(map(purl, edges[crate]))}
            for crate in sorted(crates)
        ],
    }
    path = out / f"portcullis-{release.version}-{release.architecture.debian}.cdx.json"
    path.write_text(json.dumps(document, indent=2) + "\n")
    return [path]


def linked_crates(architecture: Architecture) -> tuple[dict, dict]:
    """Returns the license of each crate in the binary, and the crates on which each depends.

    A crate is its name and version. Build and test dependencies are not in the binary.
    """
    lines = run(
        *("cargo", "tree", "--locked", "--package", ROOT, "--edges", "normal,no-proc-macro"),
        *("--target", architecture.rust, "--features", FEATURES, "--prefix", "depth"),
        *("--format", f"{SEPARATOR}{{p}}{SEPARATOR}{{l}}"),
        cwd=REPOSITORY,
    ).splitlines()
    crates, edges = {}, {}
    path = []
    for line in lines:
        depth, package, license_text = line.split(SEPARATOR)
        # A crate that came before ends with `(*)`, and its dependencies are not repeated.
        license_text = license_text.removesuffix(" (*)")
        name, version = package.split()[:2]
        crate = (name, version.removeprefix("v"))
        del path[int(depth) :]
        if path:
            edges[path[-1]].add(crate)
        path.append(crate)
        crates[crate] = license_text
        edges.setdefault(crate, set())
    return crates, edges


def lock_checksums() -> dict:
    """Returns the checksum of each crate that comes from the registry."""
    lock = tomllib.loads((REPOSITORY / "Cargo.lock").read_text())
    packages = lock["package"]
    return {(it["name"], it["version"]): it["checksum"] for it in packages if "checksum" in it}


def component(crate: tuple, license_text: str, checksum: str | None) -> dict:
    """Returns the entry of a crate. Some manifests write `/` between licenses, the old form of `OR`."""
    name, version = crate
    entry = {
        "type": "library",
        "bom-ref": purl(crate),
        "name": name,
        "version": version,
        "purl": purl(crate),
        "licenses": [{"expression": " OR ".join(re.split(" ?/ ?", license_text))}],
    }
    if checksum:
        entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return entry


def purl(crate: tuple) -> str:
    """Returns the package URL of a crate."""
    return f"pkg:cargo/{crate[0]}@{crate[1]}"
