// Tests of the GPU file: rates, memory, and every mistake at its place.
#include "sim/scenario/schema/schemas.hpp"
#include "tests/support/catch.hpp"

namespace schema_gpu_test {

using namespace foretrain;

namespace {

const std::string kV100 = R"(architecture = "volta"
compute_capability = 7.0
fp64 = "7.834 TFLOPs"
fp32 = "15.67 TFLOPs"
fp16 = "125.3 TFLOPs"
memory = "32 GB"
memory_bandwidth = "900 GBps"
memory_efficiency = 0.82
l2_cache = "6 MB"
sm_count = 80
)";

struct ReadGpu {
  Gpu gpu;
  std::string errors;
};

ReadGpu read(const std::string& text) {
  const SourceText source{"folder/v100.toml", text};
  Diagnostics diagnostics(source);
  Gpu gpu = read_gpu(source, diagnostics);
  return {gpu, format(diagnostics.found())};
}

std::string with(std::string text, const std::string& line, const std::string& instead) {
  const std::size_t at = text.find(line);
  REQUIRE(at != std::string::npos);
  return text.replace(at, line.size(), instead);
}

}  // namespace

TEST_CASE("a GPU file gives every figure in base units") {
  const auto [gpu, errors] = read(kV100);
  REQUIRE(errors.empty());
  CHECK(gpu.name == "v100");
  CHECK(gpu.architecture == Architecture::volta);
  CHECK(gpu.compute_capability == 7.0);
  CHECK(gpu.fp64.per_second == Approx(7.834e12));
  CHECK(gpu.fp32.per_second == Approx(15.67e12));
  CHECK(gpu.fp16.per_second == Approx(125.3e12));
  CHECK(gpu.memory.count == 32'000'000'000);
  CHECK(gpu.memory_bandwidth.per_second == Approx(900e9));
  CHECK(gpu.memory_efficiency == 0.82);
  CHECK(gpu.l2_cache.count == 6'000'000);
  CHECK(gpu.sm_count == 80);
}

TEST_CASE("a precision that a GPU file leaves out is not supported") {
  const Gpu gpu = read(kV100).gpu;
  CHECK(gpu.tf32.per_second == 0);
  CHECK(gpu.bf16.per_second == 0);
  CHECK(gpu.fp8.per_second == 0);
}

TEST_CASE("memory efficiency is 0.8 where nothing was measured") {
  CHECK(read(with(kV100, "memory_efficiency = 0.82\n", "")).gpu.memory_efficiency == 0.8);
}

TEST_CASE("the power of a board is known where its file says it") {
  CHECK(read(kV100).gpu.tdp_w == 0);
  CHECK(read(kV100 + "tdp = \"300 W\"\n").gpu.tdp_w == 300);
  CHECK(read(kV100 + "tdp = \"0.7 kW\"\n").gpu.tdp_w == Approx(700));
  CHECK(read(kV100 + "tdp = 300\n").errors ==
        "folder/v100.toml:11:7: error: tdp is a power and needs its unit, as in \"300 W\"\n"
        "  11 | tdp = 300\n"
        "     |       ^^^\n");
}

TEST_CASE("every architecture has its name") {
  const std::vector<std::string> names{"cpu",  "kepler", "pascal", "volta",  "turing", "ampere",
                                       "cdna", "cdna2",  "ada",    "hopper", "cdna3",  "blackwell"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [gpu, errors] = read(with(kV100, "volta", names[i]));
    CHECK(errors.empty());
    CHECK(gpu.architecture == static_cast<Architecture>(i));
  }
}

TEST_CASE("an unknown architecture gets a suggestion") {
  CHECK(read(with(kV100, "volta", "hoper")).errors ==
        "folder/v100.toml:1:16: error: unknown architecture \"hoper\"\n"
        "  1 | architecture = \"hoper\"\n"
        "    |                ^^^^^^^\n"
        "  hint: did you mean \"hopper\"?\n");
}

TEST_CASE("a compute rate without its unit is an error that shows the spelling") {
  CHECK(read(with(kV100, "\"15.67 TFLOPs\"", "15.67")).errors ==
        "folder/v100.toml:4:8: error: fp32 is a compute rate and needs its unit, as in \"312 TFLOPs\"\n"
        "  4 | fp32 = 15.67\n"
        "    |        ^^^^^\n");
}

TEST_CASE("a rate of zero is an error: a precision that is not supported is left out") {
  CHECK(read(with(kV100, "125.3 TFLOPs", "0 TFLOPs")).errors ==
        "folder/v100.toml:5:8: error: fp16 must be more than zero\n"
        "  5 | fp16 = \"0 TFLOPs\"\n"
        "    |        ^^^^^^^^^^\n"
        "  hint: leave it out when the GPU does not support it\n");
}

TEST_CASE("memory and its bandwidth must be more than zero, reported together") {
  const std::string text = with(with(kV100, "32 GB", "0 GB"), "900 GBps", "0 GBps");
  CHECK(read(text).errors ==
        "folder/v100.toml:6:10: error: memory must be more than zero\n"
        "  6 | memory = \"0 GB\"\n"
        "    |          ^^^^^^\n"
        "folder/v100.toml:7:20: error: memory_bandwidth must be more than zero\n"
        "  7 | memory_bandwidth = \"0 GBps\"\n"
        "    |                    ^^^^^^^^\n"
        "2 errors\n");
}

TEST_CASE("numbers of a GPU file have ranges") {
  const std::string text = with(with(kV100, "0.82", "1.5"), "sm_count = 80", "sm_count = 0");
  CHECK(read(text).errors ==
        "folder/v100.toml:8:21: error: memory_efficiency must be a number from 0.01 to 1\n"
        "  8 | memory_efficiency = 1.5\n"
        "    |                     ^^^\n"
        "folder/v100.toml:10:12: error: sm_count must be an integer from 1 to 10000\n"
        "  10 | sm_count = 0\n"
        "     |            ^\n"
        "2 errors\n");
}

TEST_CASE("an unknown key of a GPU file gets a suggestion") {
  CHECK(read(kV100 + "memory_bandwith = \"1 GBps\"\n").errors ==
        "folder/v100.toml:11:1: error: unknown key \"memory_bandwith\"\n"
        "  11 | memory_bandwith = \"1 GBps\"\n"
        "     | ^^^^^^^^^^^^^^^\n"
        "  hint: did you mean \"memory_bandwidth\" or \"memory\"?\n");
}

TEST_CASE("an empty GPU file misses its required keys, each named with an example") {
  CHECK(read("\n").errors ==
        "folder/v100.toml: error: architecture is missing\n"
        "  hint: add architecture = \"volta\"\n"
        "folder/v100.toml: error: fp32 is missing\n"
        "  hint: add fp32 = \"15.7 TFLOPs\"\n"
        "folder/v100.toml: error: memory is missing\n"
        "  hint: add memory = \"32 GB\"\n"
        "folder/v100.toml: error: memory_bandwidth is missing\n"
        "  hint: add memory_bandwidth = \"900 GBps\"\n"
        "folder/v100.toml: error: sm_count is missing\n"
        "  hint: add sm_count = 80\n"
        "5 errors\n");
}

}  // namespace schema_gpu_test
