// Evidence is in a folder beside the other catalogs.
#include "sim/scenario/evidence_files.hpp"

#include <algorithm>
#include <filesystem>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/toml/packed_files.hpp"

namespace foretrain {

std::vector<std::string> shipped_evidence() {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const std::string& root : catalog_roots()) {
    files = files_in((fs::path(root) / "evidence").string(), ".csv");
    if (!files.empty()) break;
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace foretrain
