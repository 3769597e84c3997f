"""The processors that a release is for, each with the names that others have for it."""

import platform
from dataclasses import dataclass


@dataclass(frozen=True)
class Architecture:
    """A processor, with the names of its platform."""

    # The name of the kernel.
    machine: str
    # Debian's name, which container images use as well.
    debian: str
    # The name of Node.
    node: str

    @property
    def rust(self) -> str:
        """The target of rustc."""
        return f"{self.machine}-unknown-linux-musl"

    @property
    def c_compiler(self) -> str:
        """The target of zig."""
        return f"{self.machine}-linux-musl"

    @classmethod
    def host(cls) -> "Architecture":
        """Returns the one of this machine; another one if no release is for it."""
        return ARCHITECTURES.get(platform.machine(), X86_64)


X86_64 = Architecture(machine="x86_64", debian="amd64", node="x64")
ARM64 = Architecture(machine="aarch64", debian="arm64", node="arm64")
ARCHITECTURES = {it.machine: it for it in (X86_64, ARM64)}
