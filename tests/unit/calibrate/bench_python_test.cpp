// Tests of where CUDA's libraries are looked for beside a Python.
#include <filesystem>
#include <map>
#include <stdexcept>

#include <stdlib.h>

#include "calibrate/micro/plan/python.hpp"
#include "tests/support/catch.hpp"

namespace bench_python_test {

using namespace foretrain::micro;
namespace fs = std::filesystem;

namespace {

/// A Python in <folder>/<name>/bin and the libraries of packages beside it.
struct Machine {
  Machine() {
    std::string name = (fs::temp_directory_path() / "foretrain-python-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder = fs::canonical(name);
  }
  ~Machine() { fs::remove_all(folder); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  void add_python(const std::string& name) const {
    fs::create_directories(folder / name / "bin");
    fs::copy_file("/bin/true", folder / name / "bin/python3");
  }
  std::string add_package(const std::string& packages, const std::string& package) const {
    const fs::path libraries = folder / packages / "nvidia" / package / "lib";
    fs::create_directories(libraries);
    return libraries.string();
  }
  std::vector<std::string> found(std::map<std::string, std::string> variables) const {
    return python_library_folders([&](const char* name) -> const char* {
      const auto at = variables.find(name);
      return at == variables.end() ? nullptr : at->second.c_str();
    });
  }

  fs::path folder;
};

}  // namespace

TEST_CASE("the packages of the python3 that a shell would start are found, sorted") {
  const Machine machine;
  machine.add_python("b");
  const std::string cudnn = machine.add_package("b/lib/python3.12/site-packages", "cudnn");
  const std::string cublas = machine.add_package("b/lib/python3.12/site-packages", "cu13");
  machine.add_package("c/lib/python3.12/site-packages", "nccl");
  const std::string path = (machine.folder / "a").string() + ":" + (machine.folder / "b/bin").string();
  CHECK(machine.found({{"PATH", path}}) == std::vector<std::string>{cublas, cudnn});
  CHECK(machine.found({}).empty());
  CHECK(machine.found({{"PATH", "/none"}}).empty());
}

TEST_CASE("a virtual environment's packages come before those of the Python it was made from") {
  const Machine machine;
  machine.add_python("usr");
  const std::string own = machine.add_package("env/lib/python3.12/site-packages", "cudnn");
  const std::string usual = machine.add_package("usr/lib/python3/dist-packages", "cudnn");
  fs::create_directories(machine.folder / "env/bin");
  fs::create_symlink(machine.folder / "usr/bin/python3", machine.folder / "env/bin/python3");
  const std::string python = (machine.folder / "env/bin/python3").string();
  CHECK(machine.found({{"FORETRAIN_PYTHON", python}, {"PATH", "/none"}}) ==
        std::vector<std::string>{own, usual});
}

TEST_CASE("packages of the user alone are found after the others") {
  const Machine machine;
  machine.add_python("usr");
  const std::string own = machine.add_package("home/.local/lib/python3.12/site-packages", "nccl");
  const std::string usual = machine.add_package("usr/lib/python3.12/site-packages", "nccl");
  CHECK(machine.found({{"PATH", (machine.folder / "usr/bin").string()},
                       {"HOME", (machine.folder / "home").string()}}) ==
        std::vector<std::string>{usual, own});
}

TEST_CASE("a library that is nowhere is not opened") {
  CHECK_FALSE(open_library("libforetrain-none.so.1", {"/none"}));
  CHECK(open_library("libm.so.6", {"/none"}));
}

}  // namespace bench_python_test
