"""Runs the binary `portcullis`, which the wheel puts beside this script."""

import os
import sys


def main() -> None:
    """Becomes the binary, with the same arguments."""
    program = os.path.join(os.path.dirname(os.path.realpath(sys.argv[0])), "portcullis")
    os.execv(program, [program, *sys.argv[1:]])
