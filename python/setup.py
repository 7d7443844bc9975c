"""Everything about the package is in pyproject.toml; here is only what a build on an older setuptools needs, said in one sentence."""
import importlib.util
import sys

import setuptools

if int(setuptools.__version__.split(".")[0]) < 70 and importlib.util.find_spec("wheel") is None:
    sys.exit(
        "foretrain: building its wheel needs the Python package wheel beside setuptools before 70.1"
        " (Debian: python3-wheel; or pip install wheel)"
    )

setuptools.setup()
