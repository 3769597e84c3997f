"""The OCI image: a layout in a tar file, made without a container engine.

Source: OCI Image Format Specification 1.1 (layout, manifest, configuration).
"""

import hashlib
import json
from pathlib import Path

from .archive import Entry, compress, tar
from .release import DESCRIPTION, LICENSE, REPOSITORY, Fault, Release

# The user that distroless images call `nonroot`, which admission policies of clusters know.
USER = 65532
STATE = "var/lib/portcullis"
# Debian's copy of Mozilla's list, without the authorities that belong to this machine alone.
AUTHORITIES = Path("/usr/share/ca-certificates/mozilla")

PASSWD = f"root:x:0:0:root:/:/sbin/nologin\nportcullis:x:{USER}:{USER}::/{STATE}:/sbin/nologin\n"
GROUP = f"root:x:0:\nportcullis:x:{USER}:\n"


def write(release: Release, out: Path) -> list[Path]:
    """Writes the layout with one image, whose one layer has the binary and what it reads."""
    files = tar(layer(release), release.epoch)
    packed = compress(files, release)
    blobs = Blobs()
    config = blobs.add_json(
        "application/vnd.oci.image.config.v1+json", configuration(release, files)
    )
    manifest = blobs.add_json(
        "application/vnd.oci.image.manifest.v1+json",
        {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": config,
            "layers": [blobs.add("application/vnd.oci.image.layer.v1.tar+gzip", packed)],
        },
    )
    manifest["annotations"] = {"org.opencontainers.image.ref.name": release.version}
    manifest["platform"] = {"os": "linux", "architecture": release.architecture.debian}
    index = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [manifest],
    }
    layout = [
        Entry("blobs/", mode=0o755),
        Entry("blobs/sha256/", mode=0o755),
        Entry("index.json", encode(index)),
        Entry("oci-layout", encode({"imageLayoutVersion": "1.0.0"})),
        *blobs.entries,
    ]
    path = out / f"portcullis-{release.version}-oci-{release.architecture.debian}.tar"
    path.write_bytes(tar(layout, release.epoch))
    return [path]


def layer(release: Release):
    """Returns the files of the image."""
    yield Entry("etc/passwd", PASSWD.encode())
    yield Entry("etc/group", GROUP.encode())
    yield Entry("etc/ssl/certs/ca-certificates.crt", authorities())
    yield Entry("tmp", mode=0o1777)
    yield Entry("usr/bin/portcullis", release.binary.read_bytes(), 0o755)
    yield Entry("usr/share/doc/portcullis/copyright", (REPOSITORY / "LICENSE").read_bytes())
    yield Entry(STATE, mode=0o700, owner=USER)


def authorities() -> bytes:
    """Returns the certificates of the public authorities, in PEM. Raises `Fault` if there are none."""
    files = sorted(AUTHORITIES.glob("*.crt"))
    if not files:
        raise Fault(f"`{AUTHORITIES}` has no certificates: `apt-get install ca-certificates`")
    return b"".join(file.read_bytes() for file in files)


def configuration(release: Release, layer_bytes: bytes) -> dict:
    """Returns the configuration: how the image runs."""
    return {
        "created": release.created,
        "architecture": release.architecture.debian,
        "os": "linux",
        "config": {
            "User": f"{USER}:{USER}",
            "Entrypoint": ["/usr/bin/portcullis"],
            "Cmd": ["serve"],
            "Env": [
                "PATH=/usr/bin",
                "LISTEN_ADDR=0.0.0.0:8080",
                f"DATABASE_URL=sqlite:///{STATE}/portcullis.db",
            ],
            "ExposedPorts": {"8080/tcp": {}},
            # For engines of Docker's format; Kubernetes has probes of its own.
            "Healthcheck": {
                "Test": ["CMD", "/usr/bin/portcullis", "doctor", "--ready"],
                "Interval": 10_000_000_000,
                "Timeout": 5_000_000_000,
                "StartPeriod": 30_000_000_000,
            },
            "Volumes": {f"/{STATE}": {}},
            "WorkingDir": f"/{STATE}",
            "Labels": {
                "org.opencontainers.image.title": "portcullis",
                "org.opencontainers.image.description": DESCRIPTION,
                "org.opencontainers.image.version": release.version,
                "org.opencontainers.image.licenses": LICENSE,
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [digest(layer_bytes)]},
        "history": [{"created": release.created, "created_by": "deploy/release"}],
    }


class Blobs:
    """The contents of a layout, each named by its digest."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def add(self, media_type: str, data: bytes) -> dict:
        """Adds a blob and returns its descriptor."""
        name = digest(data)
        self.entries.append(Entry(f"blobs/{name.replace(':', '/')}", data))
        return {"mediaType": media_type, "digest": name, "size": len(data)}

    def add_json(self, media_type: str, value: dict) -> dict:
        """Adds a document and returns its descriptor."""
        return self.add(media_type, encode(value))


def digest(data: bytes) -> str:
    """Returns the digest, as descriptors write it."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def encode(value: dict) -> bytes:
    """Returns the document as JSON."""
    return json.dumps(value, indent=2, sort_keys=True).encode()
