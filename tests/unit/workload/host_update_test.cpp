// The optimizer's update on the host: which of memory, threads and arithmetic it waits for, and what it
// holds.
#include "sim/workload/device/host_update.hpp"

#include "sim/workload/device/host_memory.hpp"
#include "tests/support/catch.hpp"

namespace host_update_test {

using namespace foretrain;

namespace {

Host two_epycs() {
  Host host;
  host.cpu = "2x AMD EPYC 7742", host.cores = 128, host.memory_bandwidth = {10e9};
  return host;
}

constexpr double kBillion = 1e9;
const Optimizer kAdam{OptimizerKind::adamw, OptimizerForm::fused, true};

}  // namespace

TEST_CASE("a vectorised Adam moves 28 bytes a parameter and PyTorch's loop 80") {
  CHECK(fused_host_bytes(kAdam, 4) == 28);
  CHECK(fused_host_bytes(kAdam, 2) == 14);
  CHECK(fused_host_bytes({OptimizerKind::sgd, OptimizerForm::fused, false}, 4) == 12);
  CHECK(unfused_host_bytes(kAdam, 4) == 80);
  CHECK(unfused_host_passes(kAdam) == 8);
}

TEST_CASE("eight ranks on all cores share 13.7 percent of the memory's bandwidth") {
  const HostUpdateTime time =
      host_update_time({.elements = kBillion, .bytes_per_element = 42, .ranks = 8}, two_epycs());
  CHECK(time.seconds == Approx(42e9 / (0.137 * 409.6e9 / 8)));
  CHECK(time.bound == HostBound::memory);
}

TEST_CASE("one rank has the memory of one socket and cores of its own are faster") {
  const HostUpdate one{.elements = kBillion, .bytes_per_element = 28};
  HostUpdate two = one, bound = one;
  two.ranks = 2, bound.ranks = 2, bound.threads = 64;
  const double alone = host_update_time(one, two_epycs()).seconds;
  CHECK(host_update_time(two, two_epycs()).seconds == Approx(alone));
  CHECK(host_update_time(bound, two_epycs()).seconds == Approx(alone * 0.137 / 0.2));
}

TEST_CASE("one thread moves what a core's memcpy does") {
  Host desktop;
  desktop.cpu = "AMD Ryzen 5 5600", desktop.cores = 6, desktop.memory_bandwidth = {5e9};
  const HostUpdateTime time =
      host_update_time({.elements = kBillion, .bytes_per_element = 28, .threads = 1}, desktop);
  CHECK(time.seconds == Approx(28e9 / 10e9));
  CHECK(time.bound == HostBound::threads);
  // All six of them fill 0.45 of 51.2 GB/s.
  CHECK(host_update_time({.elements = kBillion, .bytes_per_element = 28, .threads = 6}, desktop).seconds ==
        Approx(28 / (0.45 * 51.2)));
}

TEST_CASE("many passes over few bytes wait for arithmetic and wider vectors shorten them") {
  Host narrow;
  narrow.cpu = "AMD Ryzen 9 5950X", narrow.cores = 16, narrow.memory_bandwidth = {1e12};
  Host wide = narrow;
  wide.cpu = "AMD Ryzen 9 9950X";
  const HostUpdate update{.elements = kBillion, .bytes_per_element = 1, .passes = 8, .threads = 1};
  CHECK(host_update_time(update, narrow).bound == HostBound::arithmetic);
  CHECK(host_update_time(update, wide).seconds < host_update_time(update, narrow).seconds);
}

TEST_CASE("DeepSpeed's optimizer on the host takes 24 bytes a parameter and a process") {
  HostShare share;
  share.trained = kBillion, share.buffer_share = kDeepSpeedBuffers;
  const HostMemoryUse use = host_memory_use(share);
  CHECK(use.total().count - use.processes.count == 24'000'000'000);
  CHECK(use.masters.count == 4'000'000'000);
  CHECK(use.moments.count == 8'000'000'000);
  CHECK(use.gradients.count == 4'000'000'000);
  CHECK(use.buffers.count == 8'000'000'000);
  CHECK(use.times(8).total().count == 8 * use.total().count);
}

TEST_CASE("a drive takes the optimizer's state off the host and leaves its buffers") {
  HostShare share;
  share.trained = kBillion, share.buffer_share = kDeepSpeedBuffers, share.optimizer_on_drive = true;
  const HostMemoryUse use = host_memory_use(share);
  CHECK(use.on_drive.count == 16'000'000'000);
  CHECK(use.masters.count + use.moments.count + use.gradients.count == 0);
  CHECK((use.buffers.count > 0 && use.buffers.count < 8'000'000'000));
}

TEST_CASE("nothing is used where nothing was moved") { CHECK_FALSE(HostMemoryUse{}.is_used()); }

}  // namespace host_update_test
