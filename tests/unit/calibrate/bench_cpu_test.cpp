// Tests of the CPU measurements: the coded picture, threads, child processes, Python; points of plan_cpu()
// really run.
#include <atomic>

#include "calibrate/micro/cpu/cpu.hpp"
#include "calibrate/micro/cpu/picture.hpp"
#include "calibrate/micro/plan/child.hpp"
#include "calibrate/micro/plan/outcome.hpp"
#include "calibrate/micro/plan/plans.hpp"
#include "sim/base/diagnostics.hpp"
#include "tests/support/catch.hpp"

namespace bench_cpu_test {

using namespace foretrain;
using namespace foretrain::micro;

namespace {

/// A limit in seconds that a child which ends never meets, however busy the machine is.
constexpr double kAnyTime = 3600;

}  // namespace

TEST_CASE("coefficients survive coding, in whichever place they stand") {
  std::vector<Block> blocks(3);
  for (Block& block : blocks) block.fill(0);
  blocks[0][0] = -40;
  blocks[0][63] = 7;
  for (std::size_t i = 0; i < 64; ++i) blocks[2][i] = static_cast<std::int16_t>(static_cast<int>(i) - 32);
  CHECK(decode_coefficients(code_blocks(blocks)) == blocks);
}

TEST_CASE("a constant coefficient is a constant block: 8 x 20 / 8 above the middle") {
  Block block{};
  block[0] = 20;
  const auto pixels = decode_pixels(code_blocks({block}));
  REQUIRE(pixels.size() == 64);
  for (const std::uint8_t pixel : pixels) CHECK(pixel == 128 + 20);
}

TEST_CASE("a cut picture decodes to something rather than reading beyond its end") {
  CodedPicture picture = typical_picture();
  picture.bits.resize(picture.bits.size() / 2);
  CHECK(decode_pixels(picture).size() == static_cast<std::size_t>(picture.blocks) * 64);
}

TEST_CASE("the typical picture has the bits per pixel of a photograph") {
  const CodedPicture picture = typical_picture();
  const double bits_per_pixel = 8.0 * static_cast<double>(picture.bits.size()) / (500.0 * 375);
  CHECK(bits_per_pixel > 1);  // ImageNet's mean file is 110 KB: 4.7
  CHECK(bits_per_pixel < 8);
}

TEST_CASE("all threads run, and the time is that of the slowest") {
  std::atomic<int> calls = 0;
  CHECK(run_together(3, [&](int) { ++calls; }) >= 0);
  CHECK(calls == 3);
}

TEST_CASE("every point of the processor that needs no Python is measured, and positive") {
  Machine machine;
  machine.cpus = 2;
  const RepeatRule quick{.seconds = 0.01, .fewest = 2, .most = 3};
  for (const Point& point : plan_cpu(machine)) {
    if (point.sample.bytes > (1 << 20)) continue;
    INFO(key_of(point.sample));
    const Measured measured = measure_cpu(point, quick);
    CHECK(measured.summary.median > 0);
    CHECK(sample_of(point, measured).value > 0);
  }
}

TEST_CASE("Python's loop is measured where there is Python") {
  if (!has_python()) FORETRAIN_SKIP("no python3");
  Point point;
  point.sample.kind = SampleKind::cpu;
  point.sample.what = "python_loop";
  const Summary summary = measure_cpu(point, {.seconds = 0.02}).summary;
  CHECK(summary.median > 1e-10);
  CHECK(summary.repeats >= 5);
}

TEST_CASE("a child's output, code, variables and end are seen") {
  CHECK(run_child({"sh", "-c", "echo $FORETRAIN_A; exit 4"}, {{"FORETRAIN_A", "b c"}}, kAnyTime).output ==
        "b c\n");
  CHECK(run_child({"sh", "-c", "exit 4"}, {}, kAnyTime).exit_code == 4);
  CHECK(run_child({"sh", "-c", "kill -9 $$"}, {}, kAnyTime).exit_code == 128 + 9);
  CHECK(run_child({"sleep", "20"}, {}, 0.05).exit_code == 124);
  CHECK_THROWS_AS(run_child({"no-such-program-of-foretrain"}, {}, kAnyTime), EnvironmentError);
}

TEST_CASE("what has no measurement is skipped") {
  Point point;
  point.sample.what = "gpu";
  CHECK_THROWS_AS(measure_cpu(point, {}), PointSkipped);
}

}  // namespace bench_cpu_test
