// Fuzz target: folders that stand for /sys and /proc. A line is a file, PATH, a tab and its text, or a link,
// PATH, ">" and its target; what comes out is a cluster without mistakes or a refusal.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <stdlib.h>

#include "sim/import/detection/detection.hpp"
#include "sim/import/machines/machine_cluster.hpp"
#include "tests/fuzz/require.hpp"

namespace {

namespace files = std::filesystem;

/// Below the folder and nowhere else.
bool is_inside(const std::string& path) {
  return (path.starts_with("sys/") || path.starts_with("proc/")) && path.size() < 200 &&
         path.find("..") == std::string::npos && path.find('\0') == std::string::npos;
}

void add_sysfs_line(const files::path& root, const std::string& line) {
  const std::size_t mark = line.find_first_of("\t>");
  if (mark == std::string::npos || !is_inside(line.substr(0, mark))) return;
  const files::path path = root / line.substr(0, mark);
  const std::string rest = line.substr(mark + 1, 500);
  std::error_code error;
  files::create_directories(path.parent_path(), error);
  // A link made before could lead a file out of the folder.
  const std::string parent = files::weakly_canonical(path.parent_path(), error).string();
  if (error || !parent.starts_with(files::canonical(root, error).string()) || rest.empty()) return;
  if (line[mark] == '>' && rest.find('\0') == std::string::npos) files::create_symlink(rest, path, error);
  if (line[mark] == '\t' && !files::exists(files::symlink_status(path, error)))
    std::ofstream(path) << rest << "\n";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;
  std::string name = (files::temp_directory_path() / "foretrain-fuzz-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) return 0;
  std::istringstream lines(std::string(reinterpret_cast<const char*>(data), size));
  int count = 0;
  for (std::string line; std::getline(lines, line) && count < 300; ++count) add_sysfs_line(name, line);
  try {
    const DetectedMachine detected = detected_machine(name);
    test::require(!detected.unseen.empty());
    test::require(!cluster_of(detected.machine, {}).text.empty());
  } catch (const InputError& error) {
    test::require(*error.what() != '\0');
  }
  files::remove_all(name);
  return 0;
}
