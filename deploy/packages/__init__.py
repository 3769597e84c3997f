"""The formats of the packages, one module each."""
