// Laws of the tree: the order of layers, no circles, one door per package; and that the checker catches each
// breach.
#include <sstream>

#include <fmt/format.h>

#include "tests/support/catch.hpp"
#include "tests/support/layer_rules.hpp"

namespace layer_laws {

using namespace foretrain;
using test::layer_breaches;
using test::SourceFile;

namespace {

std::string joined(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, "\n"));
}

/// A file with a proper first line that includes what is named.
SourceFile file_with(const std::string& path, const std::string& includes) {
  return {path, "// A file.\n" + includes};
}

}  // namespace

TEST_CASE("law: the sources keep to the layers, one door per package, first lines and 400 lines") {
  std::vector<SourceFile> files = test::read_sources(FORETRAIN_SOURCE_DIR, "sim");
  REQUIRE(files.size() > 100);
  for (SourceFile& file : test::read_sources(FORETRAIN_SOURCE_DIR, "calibrate"))
    files.push_back(std::move(file));
  CHECK(joined(layer_breaches(files)) == "");
}

TEST_CASE("law: the tests and build files say in their first line what they are") {
  for (const std::string folder : {"tests", "cmake"}) {
    for (const SourceFile& file : test::read_sources(FORETRAIN_SOURCE_DIR, folder)) {
      INFO(file.path);
      CHECK(file.text.starts_with("// "));
    }
  }
}

TEST_CASE(
    "law: no test name begins with a dash, an option to Catch2, or has a semicolon or bracket, which would "
    "cut CMake's list") {
  for (const SourceFile& file : test::read_sources(FORETRAIN_SOURCE_DIR, "tests")) {
    std::istringstream lines(file.text);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("TEST_CASE(\"")) continue;
      INFO(file.path << ": " << line);
      const std::size_t begin = line.find('"') + 1;
      const std::string name = line.substr(begin, line.find('"', begin) - begin);
      CHECK_FALSE(name.starts_with('-'));
      CHECK(name.find_first_of(";[]") == std::string::npos);
    }
  }
}

TEST_CASE("the layer checker lets a file use its own layer and those below") {
  CHECK(layer_breaches(
            {file_with("sim/engine/a.hpp", "#include \"sim/base/units.hpp\"\n"),
             file_with("sim/engine/a.cpp", "#include \"sim/engine/a.hpp\"\n#include <vector>\n"),
             file_with("calibrate/fit/fit.cpp", "#include <Eigen/Dense>\n#include \"sim/base/random.hpp\"\n"),
             file_with("sim/analysis/a.cpp", "#include \"calibrate/fit/fit.hpp\"\n"),
             file_with("calibrate/micro/a.cpp", "#include \"sim/scenario/csv/samples.hpp\"\n")})
            .empty());
}

TEST_CASE("the layer checker finds an include that goes upward") {
  CHECK(joined(layer_breaches({file_with("sim/base/a.hpp", "#include \"sim/engine/b.hpp\"\n")})) ==
        "sim/base/a.hpp:2: sim/engine/b.hpp is above");
  CHECK(joined(layer_breaches({file_with("sim/base/a.hpp", "  #  include\t\"sim/app/b.hpp\"\n")})) ==
        "sim/base/a.hpp:2: sim/app/b.hpp is above");
  CHECK(joined(layer_breaches({file_with("calibrate/a.cpp", "#include \"sim/app/b.hpp\"\n")})) ==
        "calibrate/a.cpp:2: calibrate may not use sim/app/b.hpp");
  CHECK(joined(layer_breaches({file_with("calibrate/fit/a.cpp", "#include \"sim/scenario/b.hpp\"\n")})) ==
        "calibrate/fit/a.cpp:2: calibrate/fit may not use sim/scenario/b.hpp");
  CHECK(joined(layer_breaches({file_with("sim/import/a.cpp", "#include \"calibrate/fit/b.hpp\"\n")})) ==
        "sim/import/a.cpp:2: \"calibrate/fit/b.hpp\" is no file of a layer");
}

TEST_CASE("the layer checker finds an include that is not named from the root") {
  CHECK(joined(layer_breaches({file_with("sim/base/a.cpp", "#include \"a.hpp\"\n")})) ==
        "sim/base/a.cpp:2: \"a.hpp\" is no file of a layer");
  CHECK(joined(layer_breaches({file_with("sim/base/a.cpp", "#include \"tests/support/catch.hpp\"\n")})) ==
        "sim/base/a.cpp:2: \"tests/support/catch.hpp\" is no file of a layer");
}

TEST_CASE("the layer checker finds a circle of includes once") {
  const std::vector<SourceFile> files{file_with("sim/base/a.hpp", "#include \"sim/base/b.hpp\"\n"),
                                      file_with("sim/base/b.hpp", "#include \"sim/base/c.hpp\"\n"),
                                      file_with("sim/base/c.hpp", "#include \"sim/base/b.hpp\"\n")};
  CHECK(joined(layer_breaches(files)) ==
        "sim/base/b.hpp:1: circle sim/base/b.hpp -> sim/base/c.hpp -> sim/base/b.hpp");
  CHECK(joined(layer_breaches({file_with("sim/base/a.hpp", "#include \"sim/base/a.hpp\"\n")})) ==
        "sim/base/a.hpp:1: circle sim/base/a.hpp -> sim/base/a.hpp");
}

TEST_CASE("the layer checker finds a package outside its door or in a header") {
  const auto breach = [](const std::string& path, const std::string& header) {
    return joined(layer_breaches({file_with(path, "#include <" + header + ">\n")}));
  };
  CHECK(breach("sim/scenario/toml/reader.cpp", "toml++/toml.h") == "");
  CHECK(breach("sim/scenario/toml/value.cpp", "toml++/toml.h") ==
        "sim/scenario/toml/value.cpp:2: <toml++/toml.h> belongs in sim/scenario/toml/reader.cpp");
  CHECK(breach("sim/cluster/routing.cpp", "boost/graph/adjacency_list.hpp") == "");
  CHECK(breach("sim/cluster/routing.hpp", "boost/graph/adjacency_list.hpp") ==
        "sim/cluster/routing.hpp:2: <boost/graph/adjacency_list.hpp> may not be in a header");
  CHECK(breach("sim/collective/a.cpp", "boost/graph/adjacency_list.hpp") ==
        "sim/collective/a.cpp:2: <boost/graph/adjacency_list.hpp> belongs in sim/app/web/web_server.cpp or "
        "sim/cluster/ or sim/import/accounting/base64.cpp or sim/scenario/sweep/sample_points.cpp");
  CHECK(breach("sim/report/json_value.hpp", "nlohmann/json.hpp") == "");
  CHECK(breach("sim/report/prediction/json.cpp", "nlohmann/json.hpp") ==
        "sim/report/prediction/json.cpp:2: <nlohmann/json.hpp> belongs in sim/import/logs/json_value.hpp or "
        "sim/report/json_value.hpp or "
        "sim/report/prediction/chrome_trace.cpp");
  CHECK(breach("sim/app/version.hpp", "CLI/CLI.hpp") ==
        "sim/app/version.hpp:2: <CLI/CLI.hpp> may not be in a header");
  CHECK(joined(layer_breaches({file_with("sim/app/a.cpp", "#include \"sim/report/json_value.hpp\"\n")})) ==
        "sim/app/a.cpp:2: <sim/report/json_value.hpp> belongs in sim/report/");
  CHECK(breach("sim/app/list.cpp", "CLI/CLI.hpp") == "");
  CHECK(breach("sim/report/prediction/table.cpp", "CLI/CLI.hpp") ==
        "sim/report/prediction/table.cpp:2: <CLI/CLI.hpp> belongs in sim/app/");
  CHECK(breach("sim/scenario/a.cpp", "Eigen/Dense") ==
        "sim/scenario/a.cpp:2: <Eigen/Dense> belongs in calibrate/fit");
  CHECK(breach("sim/app/a.cpp", "nccl.h") == "sim/app/a.cpp:2: <nccl.h> belongs in calibrate/micro/");
  CHECK(breach("sim/app/a.cpp", "iostream") == "sim/app/a.cpp:2: <iostream> belongs in calibrate/");
}

TEST_CASE("the layer checker finds a missing first line, a long file and a folder that is no layer") {
  CHECK(joined(layer_breaches({{"sim/base/a.hpp", "#pragma once\n"}})) ==
        "sim/base/a.hpp:1: the first line says what the file is");
  CHECK(joined(layer_breaches({{"sim/base/a.hpp", ""}})) ==
        "sim/base/a.hpp:1: the first line says what the file is");
  CHECK(layer_breaches({file_with("sim/base/a.hpp", std::string(399, '\n'))}).empty());
  CHECK(joined(layer_breaches({file_with("sim/base/a.hpp", std::string(400, '\n'))})) ==
        "sim/base/a.hpp:401: more than 400 lines");
  CHECK(joined(layer_breaches({file_with("sim/utils/a.hpp", "")})) ==
        "sim/utils/a.hpp:1: in the folder of no layer");
}

}  // namespace layer_laws
