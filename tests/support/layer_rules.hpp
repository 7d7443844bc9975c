// The rules of the project that can be read off the source text: layers, circles, one door per package, first
// lines, file lengths.
#pragma once

#include <string>
#include <vector>

namespace foretrain::test {

struct SourceFile {
  std::string path;  ///< from the root of the tree, as in "sim/engine/max_min.hpp"
  std::string text;
};

/// Every breach in the files, one line each ("sim/base/units.hpp:3: …"), in the order of the files; circles
/// come last. An include of our own names a file from the root of the tree ("sim/…", "calibrate/…"); other
/// quoted ones are breaches.
std::vector<std::string> layer_breaches(const std::vector<SourceFile>& files);

/// All .hpp, .cpp, .cu and .cuh files below `root`/`folder`, sorted by path; none when there is no such
/// folder.
std::vector<SourceFile> read_sources(const std::string& root, const std::string& folder);

}  // namespace foretrain::test
