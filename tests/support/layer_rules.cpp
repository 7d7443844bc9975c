// Each rule is a table row or a short function over (file, include line); a circle is found by walking the
// includes depth first.
#include "tests/support/layer_rules.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

namespace foretrain::test {

namespace {

constexpr std::array<std::string_view, 11> kLayers{"base",       "engine",   "cluster",  "workload",
                                                   "collective", "strategy", "scenario", "import",
                                                   "analysis",   "report",   "app"};
constexpr std::array<std::string_view, 3> kBelowCalibrate{"sim/base/", "sim/workload/device/",
                                                          "sim/scenario/"};
/// Least squares over plain numbers: it uses base alone, and these may use it.
constexpr std::string_view kFit = "calibrate/fit/";
constexpr std::array<std::string_view, 3> kAboveFit{"sim/analysis/", "sim/report/", "sim/app/"};
constexpr int kLongestFile = 400;
/// Templates over JSON: its headers may include what other headers may not.
constexpr std::string_view kDeclaredFields = "sim/report/fields/";

/// A package: how its headers begin, and the files that may include them. `in_headers`: also headers among
/// those files.
struct Door {
  std::string_view headers;
  std::vector<std::string_view> files;
  bool in_headers = false;
};

const std::vector<Door>& doors() {
  static const std::vector<Door> rows{
      {"toml++/", {"sim/scenario/toml/reader.cpp"}},
      {"boost/",
       {"sim/app/web/web_server.cpp", "sim/cluster/", "sim/import/accounting/base64.cpp",
        "sim/scenario/sweep/sample_points.cpp"}},
      {"sqlite3", {"sim/scenario/sweep/sql.cpp"}},
      {"Eigen/", {"calibrate/fit"}, true},
      {"CLI/", {"sim/app/"}},
      {"pugixml", {"sim/import/"}},
      {"zlib", {"sim/import/accounting/gzip.cpp", "sim/import/traces/trace_bytes.cpp"}},
      {"yaml-cpp/", {"sim/import/jobs/yaml.cpp"}},
      {"nlohmann/",
       {"sim/import/logs/json_value.hpp", "sim/report/json_value.hpp",
        "sim/report/prediction/chrome_trace.cpp"},
       true},
      {"sim/import/logs/json_value.hpp",
       {"sim/import/logs/", "sim/import/accounting/", "sim/import/models/"},
       true},
      {"sim/report/json_value.hpp", {"sim/report/"}},
      {"cuda", {"calibrate/micro/"}, true},
      {"cublas", {"calibrate/micro/"}, true},
      {"cudnn", {"calibrate/micro/"}, true},
      {"nccl", {"calibrate/micro/"}, true},
      {"iostream", {"calibrate/"}},
  };
  return rows;
}

struct Include {
  int line = 0;
  std::string name;
  bool quoted = false;
};

std::vector<Include> includes_of(const std::string& text) {
  std::vector<Include> found;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::size_t at = line.find_first_not_of(" \t");
    if (at == std::string::npos || line[at] != '#') continue;
    at = line.find_first_not_of(" \t", at + 1);
    if (at == std::string::npos || line.compare(at, 7, "include") != 0) continue;
    const std::size_t open = line.find_first_of("<\"", at);
    const std::size_t close = open == std::string::npos ? open : line.find_first_of(">\"", open + 1);
    if (close != std::string::npos)
      found.push_back({number, line.substr(open + 1, close - open - 1), line[open] == '"'});
  }
  return found;
}

/// Position in the order of layers; -1 for what is no file of a layer.
int layer_of(std::string_view path) {
  for (std::size_t i = 0; i < kLayers.size(); ++i) {
    if (path.starts_with("sim/" + std::string(kLayers[i]) + "/")) return static_cast<int>(i);
  }
  return -1;
}

bool is_header(std::string_view path) { return path.ends_with(".hpp") || path.ends_with(".cuh"); }

/// Why the file may not include another of ours; empty when it may.
std::string layer_breach(const std::string& path, const std::string& included) {
  if (included.starts_with(kFit) &&
      std::any_of(kAboveFit.begin(), kAboveFit.end(), [&](auto folder) { return path.starts_with(folder); }))
    return "";
  if (path.starts_with(kFit))
    return included.starts_with(kFit) || included.starts_with("sim/base/")
               ? ""
               : fmt::format("calibrate/fit may not use {}", included);
  if (path.starts_with("calibrate/")) {
    const bool allowed = std::any_of(kBelowCalibrate.begin(), kBelowCalibrate.end(),
                                     [&](auto folder) { return included.starts_with(folder); });
    return allowed || included.starts_with("calibrate/") ? ""
                                                         : fmt::format("calibrate may not use {}", included);
  }
  const int own = layer_of(path), other = layer_of(included);
  if (other < 0) return fmt::format("\"{}\" is no file of a layer", included);
  return other <= own ? "" : fmt::format("{} is above", included);
}

/// Why the file may not include a header of a package; empty when it may.
std::string door_breach(const std::string& path, const std::string& included) {
  for (const Door& door : doors()) {
    if (!included.starts_with(door.headers)) continue;
    const bool inside =
        std::any_of(door.files.begin(), door.files.end(), [&](auto file) { return path.starts_with(file); });
    if (!inside) return fmt::format("<{}> belongs in {}", included, fmt::join(door.files, " or "));
    if (is_header(path) && !door.in_headers && !path.starts_with(kDeclaredFields))
      return fmt::format("<{}> may not be in a header", included);
  }
  return "";
}

void check_text(const SourceFile& file, std::vector<std::string>& breaches) {
  const auto lines = std::count(file.text.begin(), file.text.end(), '\n');
  if (!file.text.starts_with("// "))
    breaches.push_back(fmt::format("{}:1: the first line says what the file is", file.path));
  if (lines > kLongestFile)
    breaches.push_back(fmt::format("{}:{}: more than {} lines", file.path, lines, kLongestFile));
  if (file.path.starts_with("sim/") && layer_of(file.path) < 0)
    breaches.push_back(fmt::format("{}:1: in the folder of no layer", file.path));
}

using IncludeGraph = std::map<std::string, std::vector<std::string>>;

/// Depth first; `open` is the way from the start to here. A file met again on that way closes a circle.
void find_circles(const IncludeGraph& graph, const std::string& file, std::vector<std::string>& open,
                  std::map<std::string, bool>& done, std::vector<std::string>& breaches) {
  if (const auto again = std::find(open.begin(), open.end(), file); again != open.end()) {
    breaches.push_back(
        fmt::format("{}:1: circle {} -> {}", file, fmt::join(again, open.end(), " -> "), file));
    return;
  }
  const auto node = graph.find(file);
  if (node == graph.end() || done[file]) return;
  open.push_back(file);
  for (const std::string& next : node->second) find_circles(graph, next, open, done, breaches);
  open.pop_back();
  done[file] = true;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

std::vector<std::string> layer_breaches(const std::vector<SourceFile>& files) {
  std::vector<std::string> breaches;
  IncludeGraph graph;
  for (const SourceFile& file : files) {
    check_text(file, breaches);
    for (const Include& include : includes_of(file.text)) {
      const std::string layer = include.quoted ? layer_breach(file.path, include.name) : "";
      const std::string why = layer.empty() ? door_breach(file.path, include.name) : layer;
      if (!why.empty()) breaches.push_back(fmt::format("{}:{}: {}", file.path, include.line, why));
      if (include.quoted) graph[file.path].push_back(include.name);
    }
  }
  std::vector<std::string> open;
  std::map<std::string, bool> done;
  for (const SourceFile& file : files) find_circles(graph, file.path, open, done, breaches);
  return breaches;
}

std::vector<SourceFile> read_sources(const std::string& root, const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<SourceFile> files;
  if (!fs::is_directory(fs::path(root) / folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / folder)) {
    const std::string ending = entry.path().extension().string();
    if (ending != ".hpp" && ending != ".cpp" && ending != ".cu" && ending != ".cuh") continue;
    files.push_back({entry.path().lexically_relative(root).generic_string(), text_of(entry.path())});
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

}  // namespace foretrain::test
