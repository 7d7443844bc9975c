"""What pyproject.toml cannot say: the wheel holds the program, its library and the catalogs, which CMake builds in the checkout around this folder.

The release build of the checkout, build/release, is used where it is there and made where it is not. Without a checkout around it (a
copy of this folder alone), or with FORETRAIN_PURE=1, the package is Python alone: it records, and asks a program that is installed."""
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import setuptools
from setuptools.command.build_py import build_py

if int(setuptools.__version__.split(".")[0]) < 70 and importlib.util.find_spec("wheel") is None:
    sys.exit(
        "foretrain: building its wheel needs the Python package wheel beside setuptools before 70.1"
        " (Debian: python3-wheel; or pip install wheel)"
    )
try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

TOP = Path(__file__).resolve().parent.parent
IS_PURE = os.environ.get("FORETRAIN_PURE", "") not in ("", "0") or not (TOP / "sim/app/library/foretrain.h").is_file()


def carry_out(*command):
    """A step of the build, from the checkout's folder; what it printed is shown where it fails."""
    done = subprocess.run(command, cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    if done.returncode != 0:
        sys.exit(
            "{}\nforetrain: {} failed; what it needs, `tools/install_packages build` installs on Debian."
            " FORETRAIN_PURE=1 makes a package without the program.".format(done.stdout, " ".join(command))
        )


def build_program(folder):
    """The program, its library and the catalogs into a folder."""
    for tool in ("cmake", "ninja", "c++"):
        if shutil.which(tool) is None:
            sys.exit(
                f"foretrain: {tool} is missing, which builds the program; `tools/install_packages build` installs all"
                " that it needs on Debian. FORETRAIN_PURE=1 makes a package without the program."
            )
    release = "build/release"
    carry_out("cmake", "--preset", "release")
    carry_out("cmake", "--build", release, "--target", "foretrain_python")
    shutil.rmtree(folder, ignore_errors=True)
    carry_out("cmake", "--install", release, "--component", "python", "--prefix", str(folder), "--strip")


class BuildWithProgram(build_py):
    def run(self):
        super().run()
        if not IS_PURE and not getattr(self, "editable_mode", False):
            build_program(Path(self.build_lib).resolve() / "foretrain" / "program")


class WheelOfPlatform(bdist_wheel):
    """One wheel for every Python 3: the library is C to Python (ctypes), so no interpreter's ABI is in it."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = IS_PURE

    def get_tag(self):
        return super().get_tag() if IS_PURE else ("py3", "none", super().get_tag()[2])


class Distribution(setuptools.Distribution):
    def has_ext_modules(self):
        return not IS_PURE


setuptools.setup(distclass=Distribution, cmdclass={"build_py": BuildWithProgram, "bdist_wheel": WheelOfPlatform})
