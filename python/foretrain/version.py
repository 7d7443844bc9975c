"""The package's version, that of the program it belongs to."""
VERSION = "0.1.0"
