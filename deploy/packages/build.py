"""The static release binary, built by cargo for musl."""

import json
import os
import shutil
from pathlib import Path

from .release import REPOSITORY, Fault, run

TARGET = "x86_64-unknown-linux-musl"

# The allocator of musl takes one lock for all threads.
FEATURES = "jemalloc"

# The headers of the kernel, which AWS-LC reads; musl-gcc does not search where Debian has them.
KERNEL_HEADERS = {
    "asm": Path("/usr/include/x86_64-linux-gnu/asm"),
    "asm-generic": Path("/usr/include/asm-generic"),
    "linux": Path("/usr/include/linux"),
}


def release_binary() -> Path:
    """Builds the binary and returns its path. This takes minutes."""
    if shutil.which("musl-gcc") is None:
        raise Fault("`musl-gcc` is not installed: `apt-get install musl-tools`")
    if shutil.which("make") is None:
        raise Fault("`make` is not installed: `apt-get install make`")
    if TARGET not in run("rustup", "target", "list", "--installed").split():
        raise Fault(f"the target is not installed: `rustup target add {TARGET}`")
    target = target_directory()
    # The paths of this machine are in panic messages. Without them, other machines build the same binary.
    cargo_home = os.environ.get("CARGO_HOME", Path.home() / ".cargo")
    prefixes = [f"{REPOSITORY}=/portcullis", f"{cargo_home}=/cargo"]
    c_flags = [f"-ffile-prefix-map={prefix}" for prefix in prefixes]
    c_flags += ["-idirafter", str(kernel_headers(target))]
    rust_flags = [f"--remap-path-prefix={prefix}" for prefix in prefixes]
    environment = os.environ | {
        "CC_x86_64_unknown_linux_musl": "musl-gcc",
        "CFLAGS_x86_64_unknown_linux_musl": " ".join(c_flags),
        "CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_RUSTFLAGS": " ".join(rust_flags),
    }
    run(
        *("cargo", "build", "--release", "--locked", "--target", TARGET),
        *("--package", "portcullis-server", "--bin", "portcullis", "--features", FEATURES),
        cwd=REPOSITORY,
        env=environment,
    )
    return target / TARGET / "release/portcullis"


def target_directory() -> Path:
    """Returns the folder into which cargo builds."""
    metadata = run("cargo", "metadata", "--no-deps", "--format-version=1", cwd=REPOSITORY)
    return Path(json.loads(metadata)["target_directory"])


def kernel_headers(target: Path) -> Path:
    """Returns a folder with the headers of the kernel alone: those of glibc are not for musl."""
    folder = target / "kernel-headers"
    folder.mkdir(parents=True, exist_ok=True)
    for name, source in KERNEL_HEADERS.items():
        if not source.is_dir():
            raise Fault(f"`{source}` is missing: `apt-get install linux-libc-dev`")
        link = folder / name
        link.unlink(missing_ok=True)
        link.symlink_to(source)
    return folder
