# A Spack recipe, for a tree at hand: put it under packages/foretrain of a repository of your own (`spack repo create`), then in the tree
# `spack dev-build foretrain@main`. No public address is named: a site adds its own `git`.
from spack.package import *


class Foretrain(CMakePackage):
    """Predicts how long a training epoch takes on N GPUs, how much faster that is than one, and where more of them stop paying."""

    license("Apache-2.0")

    version("main")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("boost@1.74:+graph")
    depends_on("eigen@3.4:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("cli11@2.3:", type="build")
    depends_on("tomlplusplus@3.3:", type="build")
    depends_on("fmt@9:")
    depends_on("pugixml@1.12:")
    depends_on("yaml-cpp@0.7:")
    depends_on("zlib-api")

    conflicts("%gcc@:11", msg="C++20 as of GCC 12")
    conflicts("%clang@:13", msg="C++20 as of clang 14")

    generator("ninja")

    def cmake_args(self):
        return [self.define("FORETRAIN_TESTS", False)]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def predicts(self):
        Executable(self.prefix.bin.foretrain)("predict", "mahti-resnet50-ddp", "--gpus", "1,4")
