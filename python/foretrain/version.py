"""The package's version, that of the program it belongs to."""
VERSION = "0.5.0"
