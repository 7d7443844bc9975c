// Calibration files: what is read, and what every mistake is answered with.
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "sim/scenario/calibration/calibration_constants.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace schema_calibration_test {

using namespace foretrain;

namespace {

std::vector<ConstantRange> known_constants() {
  return {{"nccl.kernel", Dimension::time, 1e-7, 1e-3, 0.3, "start and end of one NCCL kernel"},
          {"copy.peak", Dimension::byte_rate, 1e6, 1e13, 0.3, "host memory to GPU"},
          {"gemm.share", std::nullopt, 0.01, 1, 0.3, "of the data sheet's rate"}};
}

struct ReadCalibration {
  Calibration calibration;
  std::string errors;
};

ReadCalibration read(const std::string& text) {
  const SourceText source{"calibrations/mycluster.toml", text};
  Diagnostics diagnostics(source);
  Calibration calibration = read_calibration(source, diagnostics, known_constants());
  return {calibration, format(diagnostics.found())};
}

/// A collective with that line among its keys and those segments.
std::string collective_with(const std::string& line, const std::string& segments) {
  return "[[collectives]]\nop = \"all_reduce\"\ngpus = 8\n" + line + "\nsegments = [" + segments + "]\n";
}

void check_mistake(const std::string& text, const std::string& message) {
  INFO(text);
  CHECK_THAT(read(text).errors, Catch::Matchers::ContainsSubstring(message));
}

}  // namespace

TEST_CASE("a calibration file gives provenance, constants and collectives") {
  const auto [c, errors] = read(R"(description = "two nodes of ours"
[provenance]
gpu = "H100"
"driver version" = "550.54"
[constants."nccl.kernel"]
value = "3.41 us"
spread = 0.04
range = ["8 B", "4 GiB"]
samples = 27
residual = 0.05
[constants."gemm.share"]
value = 0.8
spread = 0.1
[[collectives]]
op = "all_reduce"
gpus = 16
nodes = 2
processes_per_node = 4
algorithm = "ring"
protocol = "ll128"
segments = [
  { from = "8 B", to = "64 KiB", latency = "11.2 us", bandwidth = "20 GBps", spread = 0.02, samples = 14 },
  { from = "128 KiB", to = "256 KiB", latency = "30 us" },
]
)");
  CHECK(errors == "");
  CHECK(c.name == "mycluster");
  CHECK(c.description == "two nodes of ours");
  REQUIRE(c.provenance.size() == 2);
  CHECK(c.provenance[1] == std::pair<std::string, std::string>("driver version", "550.54"));
  REQUIRE(c.constants.size() == 2);
  const double us = 1e-6;  // as the reader multiplies
  CHECK(c.constants[0] == CalibratedConstant{"nccl.kernel", 3.41 * us, 0.04, 8, 0x1p32, 27, 0.05});
  CHECK(c.constants[1] == CalibratedConstant{"gemm.share", 0.8, 0.1, 0, 0, 0, 0});
  CHECK(c.find("gemm.share")->value == 0.8);
  REQUIRE(c.collectives.size() == 1);
  const CalibratedCollective expected{
      "all_reduce",
      16,
      2,
      4,
      "ring",
      "ll128",
      {{8, 65536, 11.2 * us, 1 / 20e9, 0.02, 14}, {131072, 262144, 30 * us, 0, 0, 0}}};
  CHECK(c.collectives[0] == expected);
}

TEST_CASE("a calibration of nothing is empty") {
  CHECK(read("description = \"none yet\"\n").calibration.empty());
}

TEST_CASE("a misspelt constant is answered with the near one") {
  CHECK(read("[constants.\"ncl.kernel\"]\nvalue = \"3 us\"\nspread = 0.1\n").errors ==
        "calibrations/mycluster.toml:1:12: error: unknown constant \"ncl.kernel\"\n"
        "  1 | [constants.\"ncl.kernel\"]\n"
        "    |            ^^^^^^^^^^^^\n"
        "  hint: did you mean \"nccl.kernel\"?\n");
}

TEST_CASE("a constant that physics does not allow is refused with what it allows") {
  CHECK(read("[constants.\"nccl.kernel\"]\nvalue = \"3 ms\"\nspread = 0.1\n").errors ==
        "calibrations/mycluster.toml:2:9: error: constants.\"nccl.kernel\".value must be from \"100 ns\" to "
        "\"1 ms\"\n"
        "  2 | value = \"3 ms\"\n"
        "    |         ^^^^^^\n"
        "  hint: start and end of one NCCL kernel\n");
  check_mistake("[constants.\"nccl.kernel\"]\nvalue = \"0 us\"\nspread = 0.1\n",
                "must be from \"100 ns\" to \"1 ms\"");
  check_mistake("[constants.\"gemm.share\"]\nvalue = 1.5\nspread = 0.1\n", "must be from 0.01 to 1");
  check_mistake("[constants.\"gemm.share\"]\nvalue = nan\nspread = 0.1\n", "must be a number");
}

TEST_CASE("wrong keys of a constant are answered each at its place") {
  const std::string begin = "[constants.\"nccl.kernel\"]\n", right = "value = \"3 us\"\nspread = 0.1\n";
  check_mistake(begin + "spread = 0.1\n", "constants.\"nccl.kernel\".value is missing");
  check_mistake(begin + "value = \"3 us\"\n", "constants.\"nccl.kernel\".spread is missing");
  check_mistake(begin + "value = 3\nspread = 0.1\n", "must be a time with its unit, as in \"2.5 us\"");
  check_mistake(begin + "value = \"3 GB\"\nspread = 0.1\n", "\"3 GB\" is a size, a time is needed");
  check_mistake(begin + "value = \"3 us\"\nspread = -0.1\n", "spread must be a number from 0 to 10");
  check_mistake(begin + right + "range = [\"8 B\"]\n", "range must be two sizes, the smaller first");
  check_mistake(begin + right + "range = [\"8 GiB\", \"4 GiB\"]\n",
                "range must be two sizes, the smaller first");
  check_mistake(begin + right + "range = [\"8\", \"4 GiB\"]\n", "\"8\" has no unit");
  check_mistake(begin + right + "samples = -1\n", "samples must be an integer from 0");
  check_mistake(begin + right + "residual = 11\n", "residual must be a number from 0 to 10");
  check_mistake(begin + right + "sampels = 1\n", "unknown key \"sampels\"");
  check_mistake("[constants]\n\"nccl.kernel\" = \"3 us\"\n",
                "constants.\"nccl.kernel\" must be a table, not a string");
}

TEST_CASE("wrong keys of a collective are answered each at its place") {
  const std::string segment = "{ from = \"8 B\", to = \"1 KiB\", latency = \"9 us\" }";
  check_mistake("[[collectives]]\ngpus = 8\nsegments = [" + segment + "]\n", "collectives.op is missing");
  check_mistake("[[collectives]]\nop = \"all_redcue\"\ngpus = 8\nsegments = [" + segment + "]\n",
                "did you mean \"all_reduce\"");
  check_mistake(collective_with("nodes = 9", segment), "9 nodes cannot share 8 GPUs");
  check_mistake(collective_with("algorithm = \"rng\"", segment), "did you mean \"ring\"");
  check_mistake(collective_with("protocol = \"ll64\"", segment), "unknown collectives.protocol \"ll64\"");
  check_mistake(collective_with("processes_per_node = -1", segment), "must be an integer from 0");
  check_mistake(collective_with("", ""), "collectives.segments is empty");
  check_mistake("[[collectives]]\nop = \"all_reduce\"\ngpus = 8\n", "collectives.segments is missing");
  check_mistake(collective_with("", segment) + collective_with("", segment),
                "this collective stands here twice");
  check_mistake("collectives = [3]\n", "collectives must hold tables");
  check_mistake(collective_with("", "3"), "collectives.segments must hold tables");
}

TEST_CASE("segments that overlap, descend or cannot be are refused") {
  const auto two = [](const std::string& from, const std::string& to) {
    return collective_with("", "{ from = \"8 B\", to = \"1 KiB\", latency = \"9 us\" }, { from = \"" + from +
                                   "\", to = \"" + to + "\", latency = \"9 us\" }");
  };
  CHECK(read(two("2 KiB", "4 KiB")).errors == "");
  check_mistake(two("512 B", "4 KiB"), "from must lie above the segment before it");
  check_mistake(two("1 KiB", "4 KiB"), "from must lie above the segment before it");
  check_mistake(two("4 KiB", "2 KiB"), "to is smaller than");
  check_mistake(two("-4 KiB", "2 KiB"), "is negative");
  const auto line = [](const std::string& keys) {
    return collective_with("", "{ from = \"8 B\", to = \"1 KiB\", " + keys + " }");
  };
  check_mistake(line("latency = \"0 us\""), "latency must be more than zero where there is no bandwidth");
  CHECK(read(line("latency = \"0 us\", bandwidth = \"3 GBps\"")).errors == "");
  check_mistake(line("bandwidth = \"3 GBps\""), "latency is missing");
  check_mistake(line("latency = \"1 us\", bandwidth = \"0 GBps\""),
                "bandwidth must be from \"1 Bps\" to \"1 PBps\"");
  check_mistake(line("latency = \"1 us\", bandwidth = \"2 PBps\""), "no wire carries more");
  check_mistake(line("latency = \"100 d\""), "is longer than 12 days");
  check_mistake(line("latency = \"1 us\", spread = \"2 %\""), "spread must be a number");
  check_mistake(line("latency = \"1 us\", from_ = 3"), "unknown key \"from_\"");
}

TEST_CASE("all mistakes of a calibration file are reported at once") {
  const std::string errors =
      read("[constants.\"copy.peak\"]\nvalue = \"3 us\"\nspread = 20\n[provenance]\ngpu = 3\n" +
           collective_with("node = 2", ""))
          .errors;
  for (const std::string message :
       {"a bandwidth is needed", "spread must be", "provenance.gpu must be a string", "unknown key \"node\"",
        "segments is empty"})
    CHECK_THAT(errors, Catch::Matchers::ContainsSubstring(message));
}

TEST_CASE("more segments than any library has protocols are refused") {
  std::string segments;
  for (int i = 1; i <= 65; ++i)
    segments += "{ from = \"" + std::to_string(2 * i) + " B\", to = \"" + std::to_string(2 * i + 1) +
                " B\", latency = \"9 us\" },";
  check_mistake(collective_with("", segments), "collectives.segments has 65 entries, at most 64 are allowed");
}

TEST_CASE("a cluster names its calibration, whose mistakes are shown in its own file") {
  test::use_source_catalogs();
  const std::filesystem::path file = std::filesystem::temp_directory_path() /
                                     ("foretrain_calibration_" + std::to_string(::getpid()) + ".toml");
  const std::string cluster = "nodes = 2\nnode = \"dgx-a100\"\ncalibration = \"" + file.string() +
                              "\"\n[fabric]\nkind = \"star\"\nlink = \"ib_hdr\"\n";
  const auto read_with = [&](const std::string& text) {
    std::ofstream(file) << text;
    const SourceText source{"c.toml", cluster};
    Diagnostics diagnostics(source);
    const ClusterSpec spec = read_cluster(source, diagnostics);
    return std::pair(spec.calibration, format(diagnostics.found()));
  };
  const auto [right, none] =
      read_with(collective_with("", "{ from = \"8 B\", to = \"1 KiB\", latency = \"9 us\" }"));
  CHECK(right.name == file.stem().string());
  CHECK(right.collectives.size() == 1);
  const auto [wrong, errors] = read_with(collective_with("nodes = 0", "3"));
  CHECK_THAT(errors,
             Catch::Matchers::ContainsSubstring(file.string() + ":4:9: error: collectives.nodes must be"));
  std::filesystem::remove(file);
}

TEST_CASE("a cluster that names no calibration of the catalog is told so") {
  const SourceText source{"c.toml",
                          "nodes = 2\nnode = \"dgx-a100\"\ncalibration = \"nowhere\"\n[fabric]\nkind = "
                          "\"star\"\nlink = \"ib_hdr\"\n"};
  Diagnostics diagnostics(source);
  read_cluster(source, diagnostics);
  CHECK_THAT(format(diagnostics.found()),
             Catch::Matchers::ContainsSubstring("c.toml:3:15: error: unknown calibration \"nowhere\""));
}

TEST_CASE("every constant has its name once, a range and a meaning") {
  const std::vector<ConstantRange> all = calibratable_constants();
  for (const ConstantRange& range : all) {
    INFO(range.name);
    CHECK(find_constant(all, range.name) == &range);
    CHECK(range.least >= 0);
    CHECK((range.most == 0 || range.most > range.least));
    CHECK(range.prior > 0);
    CHECK_FALSE(range.meaning.empty());
  }
  CHECK(find_constant(all, "nothing") == nullptr);
}

}  // namespace schema_calibration_test
