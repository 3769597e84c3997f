"""The static release binary, built by cargo for musl."""

import json
import os
import shutil
from pathlib import Path

from .release import REPOSITORY, Fault, run

TARGET = "x86_64-unknown-linux-musl"


def release_binary() -> Path:
    """Builds the binary and returns its path. This takes minutes."""
    if shutil.which("musl-gcc") is None:
        raise Fault("`musl-gcc` is not installed: `apt-get install musl-tools`")
    if TARGET not in run("rustup", "target", "list", "--installed").split():
        raise Fault(f"the target is not installed: `rustup target add {TARGET}`")
    # Cargo builds in the same folders everywhere, as far as the binary shows: paths are in panic messages.
    cargo_home = os.environ.get("CARGO_HOME", Path.home() / ".cargo")
    prefixes = {REPOSITORY: "/portcullis", cargo_home: "/cargo"}
    remap = [f"--remap-path-prefix={path}={name}" for path, name in prefixes.items()]
    remap_c = [f"-ffile-prefix-map={path}={name}" for path, name in prefixes.items()]
    environment = os.environ | {
        "CC_x86_64_unknown_linux_musl": "musl-gcc",
        "CFLAGS_x86_64_unknown_linux_musl": " ".join(remap_c),
        "CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_RUSTFLAGS": " ".join(remap),
    }
    run(
        *("cargo", "build", "--release", "--locked", "--target", TARGET),
        *("--package", "portcullis-server", "--bin", "portcullis"),
        cwd=REPOSITORY,
        env=environment,
    )
    metadata = run("cargo", "metadata", "--no-deps", "--format-version=1", cwd=REPOSITORY)
    return Path(json.loads(metadata)["target_directory"]) / TARGET / "release/portcullis"
