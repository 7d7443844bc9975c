// The plan of the modules as data: which there are, where a cost may be written down, and what no module
// may know. What a layer may include, and the one door per package, stands in tests/support/layer_rules.cpp.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/support/catch.hpp"
#include "tests/support/layer_rules.hpp"

namespace project_laws {

using foretrain::test::read_sources;
using foretrain::test::SourceFile;

namespace {

using Modules = std::map<std::string, std::set<std::string>>;

/// By layer; files may also stand in the layer's own folder. A new module is a row here and a line in
/// docs/architecture.md.
const Modules& modules() {
  static const Modules plan{
      {"base", {}},
      {"engine", {}},
      {"cluster", {"fabrics"}},
      {"workload",
       {"device", "fine_tuning", "layers", "lowering", "program", "recorded", "tape", "transformer"}},
      {"collective", {"algorithms", "nccl", "transports"}},
      {"strategy",
       {"ddp", "fsdp", "horovod", "parallel", "process", "program", "replicas", "servers", "step", "zero"}},
      {"scenario", {"calibration", "csv", "layers", "schema", "sections", "sweep", "toml"}},
      {"import",
       {"accounting", "detection", "jobs", "logs", "machines", "models", "networks", "pasted", "settings",
        "sites", "traces", "yolo"}},
      {"analysis",
       {"advice", "answer", "causes", "collective", "evidence", "explanation", "fit", "search", "step",
        "spreads", "sweep", "traces", "uncertainty", "validation"}},
      {"report",
       {"calibration", "collective", "comparison", "drawing", "evidence",   "explanation", "fields",
        "mcp",         "model",      "page",       "plan",    "prediction", "program",     "simulators",
        "study",       "sweep",      "topology",   "traces",  "validation", "workshop"}},
      {"app", {"evidence", "library", "machine", "mcp", "options", "pages", "sweep", "web"}},
  };
  return plan;
}

constexpr std::size_t kMostFilesOfModule = 50;
constexpr std::size_t kMostColumns = 110;

/// Times that strategies may write down: no cost of a call, but a setting or a limit, each named where it
/// stands.
const std::set<std::string>& times_that_are_no_costs() {
  static const std::set<std::string> names{"kShortestPeriod", "kCycle", "kOldCycle", "kSlowestRdma"};
  return names;
}

/// Layer and module of "sim/strategy/ddp/ddp.cpp"; the module is empty for a file in the layer's folder.
std::pair<std::string, std::string> place_of(const std::string& path) {
  static const std::regex pattern("sim/(\\w+)/(?:(\\w+)/)?[^/]+");
  std::smatch part;
  if (!std::regex_match(path, part, pattern)) return {};
  return {part[1], part[2]};
}

std::size_t columns(const std::string& line) {
  return static_cast<std::size_t>(std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; }));
}

/// What a source says about each of its lines.
template <class Complaint>
void each_line(const std::vector<SourceFile>& files, Complaint complaint) {
  for (const SourceFile& file : files) {
    std::istringstream lines(file.text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      const std::string why = complaint(line);
      if (!why.empty()) FAIL_CHECK(file.path << ":" << number << ": " << why);
    }
  }
}

/// Why a line of a strategy may not stand outside of the table of costs; empty when it may.
std::string cost_breach(const std::string& line) {
  static const std::regex cost("(microseconds\\(\\s*\\d|Time\\{\\s*\\d[\\d']{3,})");
  if (!std::regex_search(line, cost)) return {};
  const auto& allowed = times_that_are_no_costs();
  const bool is_named = std::ranges::any_of(
      allowed, [&](const std::string& name) { return line.find(name) != std::string::npos; });
  return is_named ? "" : "a cost belongs into sim/strategy/process/call_costs.inc";
}

/// Whether a line of code looks into a scenario's [parallel].
bool looks_into_layout(const std::string& line) {
  static const std::regex member("(\\.|->)parallel\\b");
  return std::regex_search(line.substr(0, line.find("//")), member);
}

constexpr int kMostLooksIntoLayout = 2;

}  // namespace

TEST_CASE(
    "law: every source stands in a module of the plan, every module has sources, and none is too full") {
  std::map<std::string, std::size_t> files_of;
  for (const SourceFile& file : read_sources(FORETRAIN_SOURCE_DIR, "sim")) {
    const auto [layer, room] = place_of(file.path);
    INFO(file.path);
    REQUIRE(modules().count(layer) == 1);
    CHECK((room.empty() || modules().at(layer).count(room) == 1));
    ++files_of[layer + "/" + room];
  }
  for (const auto& [layer, names] : modules()) {
    for (const std::string& name : names) {
      INFO(layer << "/" << name);
      CHECK(files_of[layer + "/" + name] > 0);
    }
  }
  for (const auto& [room, files] : files_of) {
    INFO(room);
    CHECK(files <= kMostFilesOfModule);
  }
}

TEST_CASE("law: tests of a module stand in the folder of its name, or in that of its layer") {
  static const std::regex pattern("tests/unit/(\\w+)/(?:(\\w+)/)?[^/]+");
  int in_modules = 0;
  for (const SourceFile& file : read_sources(FORETRAIN_SOURCE_DIR, "tests/unit")) {
    std::smatch part;
    INFO(file.path);
    REQUIRE(std::regex_match(file.path, part, pattern));
    if (part[1] == "calibrate") continue;  // what stands beside sim/
    REQUIRE(modules().count(part[1]) == 1);
    CHECK((part[2] == "" || modules().at(part[1]).count(part[2]) == 1));
    in_modules += part[2] == "" ? 0 : 1;
  }
  CHECK(in_modules > 0);
}

TEST_CASE("law: the modules are those that docs/architecture.md shows") {
  std::ifstream in(std::string(FORETRAIN_SOURCE_DIR) + "/docs/architecture.md");
  const std::string page(std::istreambuf_iterator<char>(in), {});
  for (const auto& [layer, names] : modules()) {
    for (const std::string& name : names) {
      INFO("sim/" << layer << "/" << name);
      CHECK(page.find("sim/" + layer + "/" + name) != std::string::npos);
    }
  }
}

TEST_CASE("law: strategies write down no cost of a call outside of the one table") {
  CHECK(cost_breach("  host(thread, microseconds(10));") != "");
  CHECK(cost_breach("constexpr Time kCall = Time{4'000'000};") != "");
  CHECK(cost_breach("constexpr Time kCycle = Time{1'000'000'000};").empty());
  CHECK(cost_breach("  host(thread, process_.calls().tensor);").empty());
  each_line(read_sources(FORETRAIN_SOURCE_DIR, "sim/strategy"), cost_breach);
}

TEST_CASE("law: who answers for a step is chosen in one place, and nobody else asks for a layout") {
  CHECK(looks_into_layout("  if (scenario.parallel) return {};"));
  CHECK(looks_into_layout("  return own->parallel->sharding;"));
  CHECK_FALSE(looks_into_layout("// Strategy `ddp`: torch.nn.parallel.DistributedDataParallel."));
  CHECK_FALSE(looks_into_layout("  given_parallel_keys(source), options.parallelism;"));
  int all = 0;
  std::map<std::string, int> looks;
  for (const SourceFile& file : read_sources(FORETRAIN_SOURCE_DIR, "sim")) {
    if (file.path.starts_with("sim/scenario/") || file.path.starts_with("sim/import/")) continue;
    std::istringstream lines(file.text);
    for (std::string line; std::getline(lines, line);)
      if (looks_into_layout(line)) ++all, ++looks[file.path];
  }
  CAPTURE(looks);
  CHECK(looks["sim/analysis/step/step_model.cpp"] == all);
  CHECK(all <= kMostLooksIntoLayout);
}

TEST_CASE("law: the product knows no benchmark by its name") {
  each_line(read_sources(FORETRAIN_SOURCE_DIR, "sim"), [](const std::string& line) -> std::string {
    if (line.find("ngc-24.07") != std::string::npos) return {};  // a container, as people write it
    for (const std::string name : {"lambda-", "ngc-", "trt2", "adaptdl", "deeplearningexamples"}) {
      if (line.find(name) != std::string::npos)
        return "\"" + name + "\" belongs into docs/measured/provenance.toml";
    }
    return {};
  });
}

TEST_CASE("law: lines have at most 110 columns") {
  CHECK(columns("größer") == 6);
  const auto too_long = [](const std::string& line) -> std::string {
    // A suppression's comment and an include cannot be broken.
    const bool fixed = line.starts_with("#include") || line.find("NOLINT") != std::string::npos;
    return columns(line) > kMostColumns && !fixed ? "more than 110 columns" : "";
  };
  for (const char* folder : {"sim", "calibrate"})
    each_line(read_sources(FORETRAIN_SOURCE_DIR, folder), too_long);
}

}  // namespace project_laws
