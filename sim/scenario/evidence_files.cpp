// Beside the other catalogs.
#include "sim/scenario/evidence_files.hpp"

#include <algorithm>
#include <filesystem>

#include "sim/scenario/catalog.hpp"

namespace foretrain {

std::vector<std::string> shipped_evidence() {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const std::string& root : catalog_roots()) {
    std::error_code problem;
    for (fs::directory_iterator it(fs::path(root) / "evidence", problem), end; !problem && it != end;
         it.increment(problem))
      if (it->path().extension() == ".csv") files.push_back(it->path().string());
    if (!files.empty()) break;
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace foretrain
