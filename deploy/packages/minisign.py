"""Signatures in the format of minisign (https://jedisct1.github.io/minisign), by Ed25519 (RFC 8032) of OpenSSL.

A file is signed by the BLAKE2b hash of its content, and the comment beside the signature is signed with it.
"""

import base64
import getpass
import hashlib
import os
import secrets
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .release import Fault

PURE, HASHED = b"Ed", b"ED"
SCRYPT, PLAIN, BLAKE2 = b"Sc", b"\0\0", b"B2"

# What stands before the 32 bytes of a key in DER (RFC 8410, section 7).
PRIVATE = bytes.fromhex("302e020100300506032b657004220420")
PUBLIC = bytes.fromhex("302a300506032b6570032100")

SECRET_SIZE, PUBLIC_SIZE, SIGNATURE_SIZE = 158, 42, 74
TRUSTED = "trusted comment: "


@dataclass(frozen=True)
class SecretKey:
    """A key that signs, with the number by which signatures name it."""

    number: bytes
    seed: bytes
    public: bytes

    def public_text(self) -> str:
        """Returns the file of the public key."""
        key = base64.b64encode(PURE + self.number + self.public).decode()
        return f"untrusted comment: minisign public key {number_text(self.number)}\n{key}\n"

    def secret_text(self) -> str:
        """Returns the file of the secret key, without a password."""
        secret = self.number + self.seed + self.public
        packed = PURE + PLAIN + BLAKE2 + bytes(48) + secret + checksum(secret)
        key = base64.b64encode(packed).decode()
        return f"untrusted comment: minisign secret key\n{key}\n"

    def sign(self, data: bytes, comment: str) -> str:
        """Returns the file of the signature. The same data and comment give the same text."""
        signature = openssl("-sign", PRIVATE + self.seed, hashlib.blake2b(data).digest())
        both = openssl("-sign", PRIVATE + self.seed, signature + comment.encode())
        lines = (
            f"untrusted comment: signature by minisign key {number_text(self.number)}",
            base64.b64encode(HASHED + self.number + signature).decode(),
            TRUSTED + comment,
            base64.b64encode(both).decode(),
        )
        return "\n".join(lines) + "\n"


def new_key(path: Path) -> Path:
    """Writes a new secret key to `path`, and returns the path of its public key beside it."""
    seed = secrets.token_bytes(32)
    key = SecretKey(secrets.token_bytes(8), seed, public_of(seed))
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise Fault(f"`{path}` cannot be written: {error.strerror}") from None
    with os.fdopen(descriptor, "w") as file:
        file.write(key.secret_text())
    public = path.with_suffix(".pub")
    public.write_text(key.public_text())
    return public


def secret_key(path: Path) -> SecretKey:
    """Reads a secret key. One with a password asks for it, or has it from MINISIGN_PASSWORD."""
    packed = decoded(lines(path)[1], SECRET_SIZE, path)
    derivation, secret = packed[2:4], packed[54:]
    if derivation == SCRYPT:
        secret = bytes(a ^ b for a, b in zip(secret, stream(packed[6:54])))
    if packed[:2] != PURE or derivation not in (SCRYPT, PLAIN) or checksum(secret[:72]) != secret[72:]:
        raise Fault(f"`{path}` is not a secret key of minisign, or the password is wrong")
    return SecretKey(secret[:8], secret[8:40], secret[40:72])


def stream(parameters: bytes) -> bytes:
    """Returns the bytes that hide a secret key: scrypt of the password, with the parameters of libsodium."""
    password = os.environ.get("MINISIGN_PASSWORD") or getpass.getpass("password of the key: ")
    operations, memory = (int.from_bytes(parameters[at : at + 8], "little") for at in (32, 40))
    # libsodium derives cost and parallelism from both limits, with blocks of 1 KiB.
    cost = min(max(operations, 32_768) // 32, memory // 1_024)
    n = 1 << (cost.bit_length() - 1)
    p = max(operations // 4 // n // 8, 1)
    return hashlib.scrypt(
        password.encode(), salt=parameters[:32], n=n, r=8, p=p, maxmem=2**31 - 1, dklen=104
    )


def verify(data: bytes, signature: Path, public: Path) -> str:
    """Returns the comment of a signature of the data. Raises `Fault` if it is not one of the public key."""
    key = decoded(lines(public)[1], PUBLIC_SIZE, public)
    text = lines(signature)
    if len(text) != 4 or not text[2].startswith(TRUSTED):
        raise Fault(f"`{signature}` is not a signature of minisign")
    signed, comment = decoded(text[1], SIGNATURE_SIZE, signature), text[2].removeprefix(TRUSTED)
    if key[:2] != PURE or signed[:10] != HASHED + key[2:10]:
        raise Fault(f"`{signature}` is not a signature by the key `{public}`")
    both = decoded(text[3], 64, signature)
    hashed = hashlib.blake2b(data).digest()
    for message, part in ((hashed, signed[10:]), (signed[10:] + comment.encode(), both)):
        if not is_signed(message, part, key[10:]):
            raise Fault(f"`{signature}` does not fit: the file or the signature was changed")
    return comment


def lines(path: Path) -> list[str]:
    """Returns the lines of a key or signature."""
    try:
        text = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        text = []
    if len(text) < 2:
        raise Fault(f"`{path}` cannot be read, or is not a file of minisign")
    return text


def decoded(text: str, size: int, path: Path) -> bytes:
    """Returns the bytes of a line, which must be so many."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        data = b""
    if len(data) != size:
        raise Fault(f"`{path}` is damaged: expected {size} bytes in base64")
    return data


def checksum(secret: bytes) -> bytes:
    """Returns the checksum of a secret key."""
    return hashlib.blake2b(PURE + secret, digest_size=32).digest()


def number_text(number: bytes) -> str:
    """Returns the number of a key, as minisign shows it."""
    return number[::-1].hex().upper()


def public_of(seed: bytes) -> bytes:
    """Returns the public key of a secret one."""
    command = ("openssl", "pkey", "-inform", "DER", "-pubout", "-outform", "DER")
    done = subprocess.run(command, input=PRIVATE + seed, capture_output=True, check=True)
    return done.stdout.removeprefix(PUBLIC)


def is_signed(message: bytes, signature: bytes, public: bytes) -> bool:
    """Returns whether `signature` is one of the message by the public key."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(signature)
        file.flush()
        try:
            openssl("-verify", PUBLIC + public, message, "-pubin", "-sigfile", file.name)
        except subprocess.CalledProcessError:
            return False
    return True


def openssl(action: str, key: bytes, message: bytes, *options: str) -> bytes:
    """Runs `openssl pkeyutl`, which reads key and message from files."""
    with tempfile.TemporaryDirectory() as folder:
        key_file, message_file = Path(folder, "key"), Path(folder, "message")
        key_file.write_bytes(key)
        message_file.write_bytes(message)
        command = ("openssl", "pkeyutl", action, "-rawin", "-keyform", "DER", "-inkey", key_file)
        try:
            return subprocess.run(
                (*command, "-in", message_file, *options), capture_output=True, check=True
            ).stdout
        except FileNotFoundError:
            raise Fault("`openssl` is not installed") from None
