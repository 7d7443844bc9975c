// Standard output and error go to files outside of the folder, so that what the program leaves there is its
// own.
#include "tests/bench/bench_run.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "tests/support/run_program.hpp"

namespace foretrain::test {

namespace {

std::string read_whole(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

bool BenchOutcome::says_one_sentence() const {
  return err.starts_with("error: ") && err.size() > 20 && std::count(err.begin(), err.end(), '\n') == 1 &&
         err.back() == '\n';
}

BenchFolder::BenchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "foretrain-bench-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  path_ = std::filesystem::path(name) / "run";
  std::filesystem::create_directory(path_);
}

BenchFolder::~BenchFolder() { std::filesystem::remove_all(path_.parent_path()); }

std::filesystem::path BenchFolder::program() {
  return std::filesystem::path(FORETRAIN_BINARY).parent_path() / "standin" / "foretrain-bench";
}

BenchOutcome BenchFolder::run_line(const std::string& line) const {
  const ProgramRun run =
      run_program("TMPDIR=. " + line + " >../out 2>../err", path_.string(), FORETRAIN_BINARY);
  return {run.exit_code, read_whole(path_.parent_path() / "out"), read_whole(path_.parent_path() / "err")};
}

BenchOutcome BenchFolder::run(const std::string& arguments, const std::string& environment) const {
  // No Python is found: starting it would be most of a run.
  return run_line("env -u LD_LIBRARY_PATH PATH=/none " + environment + " '" + program().string() +
                  "' --budget 100s " + arguments);
}

BenchOutcome BenchFolder::run_limited(std::size_t blocks, const std::string& arguments) const {
  return run_line(fmt::format("ulimit -f {}; env -u LD_LIBRARY_PATH PATH=/none '{}' --budget 100s {}", blocks,
                              program().string(), arguments));
}

BenchOutcome BenchFolder::foretrain(const std::string& arguments) const {
  return run_line("FORETRAIN_PATH='" FORETRAIN_SOURCE_DIR "' foretrain " + arguments);
}

std::string BenchFolder::text_of(const std::string& name) const { return read_whole(path_ / name); }

std::vector<Sample> BenchFolder::samples(const std::string& name) const {
  const SourceText source = read_text_file((path_ / name).string(), kLargestSamples);
  Diagnostics diagnostics(source);
  SampleFile file = read_samples_csv(source, diagnostics);
  diagnostics.throw_if_any();
  if (!file.skipped.empty()) throw std::runtime_error(name + ": " + file.skipped.front().why);
  return file.samples;
}

std::vector<std::string> BenchFolder::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace foretrain::test
