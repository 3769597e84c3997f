#!/usr/bin/env python3
"""Builds the release binary and packs it: a .deb, an OCI image, npm packages, a wheel, checksums and an SBOM.

docs/install.md describes each package. The same binary, files and SOURCE_DATE_EPOCH give the same bytes.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

from packages import build, checksums, debian, image, npm, sbom, wheel  # noqa: E402
from packages.release import REPOSITORY, Fault, Release  # noqa: E402

FORMATS = {
    "deb": debian.write,
    "image": image.write,
    "npm": npm.write,
    "wheel": wheel.write,
    "sbom": sbom.write,
}


def arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, help="pack this binary; without it, build one")
    parser.add_argument(
        "--out", type=Path, default=REPOSITORY / "target/packages", help="the folder of the packages"
    )
    parser.add_argument(
        "--only", action="append", choices=sorted(FORMATS), help="make this package; may be repeated"
    )
    parser.add_argument("--quick", action="store_true", help="compress little: for tests")
    parser.add_argument(
        "--allow-dynamic", action="store_true", help="accept a binary that needs a C library: for tests"
    )
    return parser.parse_args()


def main() -> None:
    """Makes the packages, and prints their paths."""
    options = arguments()
    binary = options.binary or build.release_binary()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        release = Release.prepare(binary, Path(scratch), options.quick, options.allow_dynamic)
        written = [
            path
            for name, write in FORMATS.items()
            if not options.only or name in options.only
            for path in write(release, options.out)
        ]
    written.append(checksums.write(written, options.out))
    print(*written, sep="\n")


if __name__ == "__main__":
    try:
        main()
    except Fault as fault:
        sys.exit(f"package.py: {fault}")
    except KeyboardInterrupt:
        sys.exit(130)
