"""Archives whose bytes depend on nothing but their entries and one time."""

import gzip
import io
import tarfile
import time
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass

from .release import Release


@dataclass(frozen=True)
class Entry:
    """A file, or a directory if it has no data."""

    path: str
    data: bytes | None = None
    mode: int = 0o644
    # The user id and the group id.
    owner: int = 0


def tar(entries: Iterable[Entry], epoch: int) -> bytes:
    """Returns a tar archive of the entries, sorted by path."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for entry in sorted(entries, key=lambda entry: entry.path):
            header = tarfile.TarInfo(entry.path)
            header.mode, header.mtime = entry.mode, epoch
            header.uid = header.gid = entry.owner
            if entry.data is None:
                header.type = tarfile.DIRTYPE
                archive.addfile(header)
            else:
                header.size = len(entry.data)
                archive.addfile(header, io.BytesIO(entry.data))
    return buffer.getvalue()


def compress(data: bytes, release: Release) -> bytes:
    """Returns the data in gzip format, without a time or a name."""
    return gzip.compress(data, level(release), mtime=0)


def zip_file(entries: Iterable[Entry], release: Release) -> bytes:
    """Returns a zip archive of the files, in their order."""
    buffer = io.BytesIO()
    # The format has no time before 1980.
    moment = time.gmtime(max(release.epoch, 315_532_800))[:6]
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=level(release)) as archive:
        for entry in entries:
            header = zipfile.ZipInfo(entry.path, moment)
            header.create_system = 3  # Unix, so that the next line means a mode.
            header.external_attr = (0o100000 | entry.mode) << 16
            header.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(header, entry.data or b"", compresslevel=level(release))
    return buffer.getvalue()


def level(release: Release) -> int:
    """Returns the level of gzip and zip; 0 stores the bytes as they are."""
    return 0 if release.quick else 9
