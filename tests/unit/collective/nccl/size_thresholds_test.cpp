// NCCL 2.4: where LL ends and how many channels run, on the machines whose logs show it.
#include "sim/collective/nccl/size_thresholds.hpp"

#include <cstdlib>
#include <limits>

#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"

namespace size_thresholds_test {

using namespace foretrain;
using namespace foretrain::nccl;

namespace {

RunSetting six_channels(int ranks) {
  RunSetting setting;
  setting.version = {2, 4, 99}, setting.ranks = ranks, setting.channels = 6;
  return setting;
}

Protocol protocol_of(int ranks, CollectiveOp op, std::int64_t bytes) {
  return choose_by_size(six_channels(ranks), op, nccl::Algorithm::ring, bytes).protocol;
}

}  // namespace

TEST_CASE("before 2.5 all-reduces take trees up to a size that follows ranks and nodes") {
  RunSetting setting;
  setting.version = {2, 4, 8}, setting.ranks = 32, setting.nodes = 8, setting.channels = 2;
  // 5000 MB/s a ring, 2/3 of it a tree: 10,000 B for each of 6 x 31 - 15 x 3 - 4 x 3 = 129 us saved.
  CHECK(std::abs(tree_threshold(setting, false) - 1'290'000) <= 1);
  // NVLink: 10,000 and 7,500 MB/s.
  CHECK(std::abs(tree_threshold(setting, true) - 30'000 * 129) <= 1);
  setting.ranks = 16, setting.nodes = 2;
  CHECK(tree_threshold(setting, true) == std::numeric_limits<std::int64_t>::max());
  setting.ranks = 2;  // 6 us of a ring against 15 of a tree
  CHECK(tree_threshold(setting, true) == 0);
  setting.ranks = 8, setting.nodes = 1;
  CHECK(tree_threshold(setting, true) == 0);
  setting.nodes = 8, setting.ranks = 64, setting.version = {2, 3, 7};
  CHECK(tree_threshold(setting, true) == 0);
}

TEST_CASE("LL ends at 64 bytes for each thread, channel and chunk of a loop") {
  // Eight V100: 6 x 256 x 8 x 64 B = 768 KiB; the log jumps between 512 KiB and 1 MiB.
  CHECK(protocol_of(8, CollectiveOp::all_reduce, 768 << 10) == Protocol::ll);
  CHECK(protocol_of(8, CollectiveOp::all_reduce, (768 << 10) + 1) == Protocol::simple);
  // Twelve: 1.18 MB, and chains of any number of ranks at 96 KiB; the log jumps at 2 MiB and at 128 KiB.
  CHECK(protocol_of(12, CollectiveOp::reduce_scatter, 1 << 20) == Protocol::ll);
  CHECK(protocol_of(12, CollectiveOp::reduce_scatter, 2 << 20) == Protocol::simple);
  CHECK(protocol_of(12, CollectiveOp::broadcast, 96 << 10) == Protocol::ll);
  CHECK(protocol_of(12, CollectiveOp::reduce, (96 << 10) + 1) == Protocol::simple);
}

TEST_CASE("LL takes threads before channels, eight bytes for each, and Simple all") {
  const auto run = [](std::int64_t bytes) {
    return choose_by_size(six_channels(8), CollectiveOp::all_reduce, nccl::Algorithm::ring, bytes).run;
  };
  CHECK(run(0) == RunShape{1, 64});
  CHECK(run(64 * 8 * 8) == RunShape{1, 64});
  CHECK(run(64 * 8 * 8 + 1) == RunShape{1, 128});
  CHECK(run(256 * 8 * 8) == RunShape{1, 256});
  CHECK(run(256 * 8 * 8 + 1) == RunShape{2, 256});
  CHECK(run(512 << 10) == RunShape{6, 256});
  CHECK(run(1 << 20) == RunShape{6, 288});
}

TEST_CASE("trees go on with LL four times as long") {
  const RunSetting setting = six_channels(8);
  const std::int64_t end = 6 * 256 * 64 * 4;
  const auto protocol = [&](std::int64_t bytes) {
    return choose_by_size(setting, CollectiveOp::all_reduce, nccl::Algorithm::tree, bytes).protocol;
  };
  CHECK(protocol(end) == Protocol::ll);
  CHECK(protocol(end + 1) == Protocol::simple);
}

TEST_CASE("before 2.5 there is no LL128, and the channels of the search run once") {
  CollectiveSettings old, usual;
  old.nccl.version = {2, 4, 99}, usual.nccl.version = {2, 20, 5};
  const test::OneJob before(test::nvlink_cluster(1, 2), 4, old), now(test::nvlink_cluster(1, 2), 4, usual);
  bool is_used_now = false;
  for (std::int64_t bytes = 8; bytes < 1 << 30; bytes *= 2) {
    CHECK(before.plan(CollectiveOp::all_reduce, bytes).protocol != Protocol::ll128);
    is_used_now |= now.plan(CollectiveOp::all_reduce, bytes).protocol == Protocol::ll128;
  }
  CHECK(is_used_now);
  const int simple = before.plan(CollectiveOp::all_reduce, 1 << 30).channels;
  CHECK(2 * simple == now.plan(CollectiveOp::all_reduce, 1 << 30).channels);
  CHECK(before.communicator.job().search_channels == simple);
}

}  // namespace size_thresholds_test
