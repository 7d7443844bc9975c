// Writing calibrations: the whole text of one, and that the reader takes back what is written.
#include "sim/scenario/calibration/calibration_text.hpp"

#include <cmath>

#include "sim/base/random.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "tests/support/catch.hpp"

namespace calibration_text_test {

using namespace foretrain;

namespace {

std::vector<ConstantRange> known_constants() {
  return {{"nccl.kernel", Dimension::time, 0, 0, 0.3, "time"},
          {"copy.peak", Dimension::byte_rate, 0, 0, 0.3, "rate"},
          {"gemm.rate", Dimension::flop_rate, 0, 0, 0.3, "rate"},
          {"gemm.half", Dimension::flops, 0, 0, 0.3, "work"},
          {"copy.half", Dimension::bytes, 0, 0, 0.3, "size"},
          {"gemm.share", std::nullopt, 0, 0, 0.3, "share"}};
}

Calibration example() {
  Calibration c;
  c.name = "ours", c.description = "two \"nodes\"";
  c.provenance = {{"gpu", "H100"}, {"the host", "a\\b"}};
  c.constants = {{"nccl.kernel", 3.41234567e-6, 0.04, 8, 0x1p32, 27, 0.05123456},
                 {"gemm.share", 0.8, 0.1, 0, 0, 0, 0}};
  c.collectives = {{"all_reduce",
                    8,
                    1,
                    0,
                    "",
                    "",
                    {{8, 65536, 11.2e-6, 1 / 24.1e9, 0.02, 14}, {100000, 262144, 30e-6, 0, 0, 0}}},
                   {"broadcast", 16, 2, 8, "ring", "ll128", {{12345, 12345, 0, 1e-9, 0, 1}}}};
  return c;
}

Calibration read_back(const std::string& text) {
  const SourceText source{"ours.toml", text};
  Diagnostics diagnostics(source);
  Calibration calibration = read_calibration(source, diagnostics, known_constants());
  INFO(text);
  INFO(format(diagnostics.found()));
  CHECK(diagnostics.empty());
  return calibration;
}

}  // namespace

TEST_CASE("a calibration is written with one key per line, quantities with their units and what they mean") {
  CHECK(write_calibration(example(), known_constants()) ==
        R"(# Constants and collectives of one cluster as measured; written by `foretrain calibrate fit`.
description = "two \"nodes\""

# What was measured, and with what.
[provenance]
gpu = "H100"
"the host" = "a\\b"

# value x exp(+-1.645 spread) is a 90 % interval; range: sizes it was fitted on; residual: root mean square of log(fitted / measured)
# over that many samples.

[constants."nccl.kernel"]
value = "3.41235 us"
spread = 0.04
range = ["8 B", "4 GiB"]
samples = 27
residual = 0.05123

[constants."gemm.share"]
value = 0.8
spread = 0.1

# Time of a message between two sizes is latency + bytes / bandwidth; gpus are those of all nodes together.

[[collectives]]
op = "all_reduce"
gpus = 8
nodes = 1
segments = [
  { from = "8 B", to = "64 KiB", latency = "11.2 us", bandwidth = "24.1 GBps", spread = 0.02, samples = 14 },
  { from = "100000 B", to = "256 KiB", latency = "30 us" },
]

[[collectives]]
op = "broadcast"
gpus = 16
nodes = 2
processes_per_node = 8
algorithm = "ring"
protocol = "ll128"
segments = [
  { from = "12345 B", to = "12345 B", latency = "0 s", bandwidth = "1 GBps", samples = 1 },
]
)");
}

TEST_CASE("what is written is read back as it was written") {
  const Calibration written = as_written(example(), known_constants());
  CHECK(read_back(write_calibration(example(), known_constants())) == written);
  CHECK(as_written(written, known_constants()) == written);
  CHECK(write_calibration(written, known_constants()) == write_calibration(example(), known_constants()));
  CHECK(written.constants[0].value == Approx(3.41234567e-6).epsilon(1e-5));
}

TEST_CASE("any numbers are read back as they were written, within six digits") {
  const CounterRandom random(3);
  for (std::uint64_t draw = 0; draw < 200; ++draw) {
    Calibration c;
    c.name = "ours";
    std::uint64_t k = 0;
    const auto any = [&](double least, double most) {
      return least * std::pow(most / least, random.uniform(draw, k++));
    };
    for (const ConstantRange& range : known_constants()) {
      const QuantityRange limits = range.dimension ? range_of(*range.dimension) : QuantityRange{1e-13, 9e14};
      c.constants.push_back({std::string(range.name), any(limits.least, limits.most), any(1e-3, 9),
                             std::floor(any(1, 1e3)), std::floor(any(1e4, 1e12)), 3, any(1e-3, 9)});
    }
    CalibratedCollective one{"all_gather", 4, 2, 0, "", "", {}};
    double begin = 1;
    for (int i = 0; i < 5; ++i) {
      const double end = std::floor(begin * any(1, 1e3));
      one.segments.push_back({begin, end, any(1e-9, 1e3), 1 / any(2, 9e14), any(1e-3, 9), 1 + i});
      begin = end + 1;
    }
    c.collectives.push_back(one);
    const Calibration written = as_written(c, known_constants());
    CHECK(read_back(write_calibration(c, known_constants())).collectives == written.collectives);
    CHECK(read_back(write_calibration(written, known_constants())).constants == written.constants);
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(written.constants[i].value == Approx(c.constants[i].value).epsilon(1e-5));
    CHECK(written.collectives[0].segments[2].seconds_per_byte ==
          Approx(one.segments[2].seconds_per_byte).epsilon(1e-5));
  }
}

TEST_CASE("a quantity is written in the unit of its size") {
  CHECK(write_quantity(0, Dimension::time) == "0 s");
  CHECK(write_quantity(2.5e-6, Dimension::time) == "2.5 us");
  CHECK(write_quantity(1e-3, Dimension::time) == "1 ms");
  CHECK(write_quantity(0.99999999e-3, Dimension::time) == "1 ms");
  CHECK(write_quantity(90, Dimension::time) == "90 s");
  CHECK(write_quantity(1e-14, Dimension::time) == "0.01 ps");
  CHECK(write_quantity(25e9, Dimension::byte_rate) == "25 GBps");
  CHECK(write_quantity(0.5, Dimension::byte_rate) == "0.5 Bps");
  CHECK(write_quantity(312e12, Dimension::flop_rate) == "312 TFLOPs");
  CHECK(write_quantity(4.1e9, Dimension::flops) == "4.1 GFLOP");
  CHECK(write_quantity(300, Dimension::power) == "300 W");
  CHECK(write_quantity(65536, Dimension::bytes) == "64 KiB");
  CHECK(write_quantity(65537, Dimension::bytes) == "65537 B");
  CHECK(write_quantity(0, Dimension::bytes) == "0 B");
  CHECK(write_quantity(2.5, Dimension::bytes) == "2.5 B");
}

TEST_CASE(
    "a text with quotes, tabs and backslashes is read back, line ends become spaces, control characters are "
    "written out") {
  Calibration c;
  c.name = "ours", c.description = "a\n\"b\"\t\\c\x01 ü\u202e\xff";
  c.provenance = {{"key with \"quotes\"", "two\nlines"}};
  Calibration readable = c;
  readable.description = "a \"b\"\t\\c\\u0001 ü\\u202e\\xff";
  readable.provenance = {{"key with \"quotes\"", "two lines"}};
  CHECK(read_back(write_calibration(c, known_constants())) == readable);
  CHECK(read_back(write_calibration(readable, known_constants())) == readable);
}

}  // namespace calibration_text_test
