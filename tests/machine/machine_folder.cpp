// The program and its stand-ins are started by a shell, as a user would.
#include "tests/machine/machine_folder.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/support/run_program.hpp"

namespace foretrain::test {

MachineFolder::MachineFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "foretrain-machine-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  path_ = name;
}

MachineFolder::~MachineFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

MachineOutcome MachineFolder::line(const std::string& words) const {
  const std::string source = FORETRAIN_SOURCE_DIR;
  const std::filesystem::path build = std::filesystem::path(FORETRAIN_BINARY).parent_path();
  const std::string standin = (build / "standin").string(), node = (build / "standin_node").string();
  const ProgramRun run =
      run_program("export PATH=\"$PATH:" + standin + "\" NODE_STANDINS='" + node + "' FORETRAIN_PATH='" +
                      source + "' FORETRAIN_PYTHON=\"${PYTHON_OF_TEST-" + source +
                      "/tests/machine/fake_python.py}\" FAKE_MODELS='" + source + "/models'\n" + words,
                  path_.string(), FORETRAIN_BINARY);
  return {run.exit_code, run.output};
}

MachineOutcome MachineFolder::run(const std::string& words, const std::string& environment) const {
  return line("env " + environment +
              " FAKE_DEVICE=cuda FAKE_GPU='NVIDIA H100 80GB HBM3' foretrain calibrate machine -o run " +
              words);
}

MachineOutcome MachineFolder::run_without_bench(const std::string& words,
                                                const std::string& environment) const {
  return run("--budget 30s --stages detect,steps,capture,fit,report " + words, environment);
}

std::string MachineFolder::text_of(const std::string& name) const {
  std::ifstream stream(path_ / "run" / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

bool MachineFolder::has(const std::string& name) const {
  return std::filesystem::exists(path_ / "run" / name);
}

}  // namespace foretrain::test
