"""The static binary of the profile `dist`, built by cargo for musl, with zig as the compiler of C for each target."""

import json
import os
import shutil
import sys
from pathlib import Path

from .architecture import Architecture
from .release import REPOSITORY, Fault, run

# The allocator of musl takes one lock for all threads.
FEATURES = "jemalloc"

# The version of zig, whose compiler and C library are in the binary: another one gives other bytes.
ZIG = "0.17.1"

# The compiler that cargo calls. zig does not know the names that rustc has for targets.
COMPILER = """\
#!/bin/sh
for argument do shift; case $argument in --target=*) ;; *) set -- "$@" "$argument" ;; esac; done
exec {zig} cc -target {target} -fno-sanitize=all "$@"
"""
ARCHIVER = '#!/bin/sh\nexec {zig} ar "$@"\n'


def dist_binary(architecture: Architecture) -> Path:
    """Builds the binary and returns its path. This takes half an hour."""
    if shutil.which("make") is None:
        raise Fault("`make` is not installed: `apt-get install make`")
    if architecture.rust not in run("rustup", "target", "list", "--installed", cwd=REPOSITORY).split():
        raise Fault(f"the target is not installed: `rustup target add {architecture.rust}`")
    target = target_directory()
    run(
        *("cargo", "build", "--profile", "dist", "--locked", "--target", architecture.rust),
        *("--package", "portcullis-server", "--bin", "portcullis", "--features", FEATURES),
        cwd=REPOSITORY,
        env=os.environ | environment(architecture, target),
    )
    return target / architecture.rust / "dist/portcullis"


def environment(architecture: Architecture, target: Path) -> dict[str, str]:
    """Returns the variables by which cargo and the crates with C find compiler, linker and flags."""
    tools = compiler(architecture, target)
    # The paths of this machine are in panic messages. Without them, other machines build the same binary.
    cargo_home = os.environ.get("CARGO_HOME", Path.home() / ".cargo")
    prefixes = [f"{target}=/target", f"{REPOSITORY}=/portcullis", f"{cargo_home}=/cargo"]
    name = architecture.rust.replace("-", "_")
    rust_flags = [f"--remap-path-prefix={prefix}" for prefix in prefixes]
    # No part of the service compares addresses of functions, so that those with the same code can be one.
    rust_flags += ["-Clink-self-contained=yes", "-Clink-arg=--icf=all"]
    return {
        f"CC_{name}": str(tools / "cc"),
        f"AR_{name}": str(tools / "ar"),
        f"CFLAGS_{name}": " ".join(f"-ffile-prefix-map={prefix}" for prefix in prefixes),
        f"CARGO_TARGET_{name.upper()}_LINKER": "rust-lld",
        f"CARGO_TARGET_{name.upper()}_RUSTFLAGS": " ".join(rust_flags),
        "ZIG_GLOBAL_CACHE_DIR": str(target / "zig"),
        "ZIG_LOCAL_CACHE_DIR": str(target / "zig"),
    }


def compiler(architecture: Architecture, target: Path) -> Path:
    """Writes the programs that call zig, and returns their folder."""
    zig = zig_program()
    folder = target / "zig" / architecture.machine
    folder.mkdir(parents=True, exist_ok=True)
    for name, script in (("cc", COMPILER), ("ar", ARCHIVER)):
        program = folder / name
        program.write_text(script.format(zig=zig, target=architecture.c_compiler))
        program.chmod(0o755)
    return folder


def zig_program() -> str:
    """Returns the command of zig: a program, or the module of this Python."""
    install = f"`pip install ziglang=={ZIG}`"
    zig = shutil.which("zig") or f"{sys.executable} -m ziglang"
    try:
        version = run(*zig.split(), "version").strip()
    except Fault:
        raise Fault(f"zig, the compiler of C, is not installed: {install}") from None
    if version != ZIG:
        raise Fault(f"zig has version {version}, and the release is made with {ZIG}: {install}")
    return zig


def target_directory() -> Path:
    """Returns the folder into which cargo builds."""
    metadata = run("cargo", "metadata", "--no-deps", "--format-version=1", cwd=REPOSITORY)
    return Path(json.loads(metadata)["target_directory"])
