// Copies and messages between nodes: rates and latencies of the routes, shared where several copies meet, and
// what is not predicted.
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/node_layout.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/sample_list.hpp"

namespace link_samples_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

constexpr std::int64_t kGiB = 1 << 30;

Sample copy(const std::string& what, std::int64_t bytes, Settings settings = {},
            SampleUnit unit = SampleUnit::gigabytes_per_s) {
  return sample_of(SampleKind::copy, what, bytes, unit, std::move(settings));
}

Sample message(const std::string& what, std::int64_t bytes, SampleUnit unit, Settings settings = {}) {
  return sample_of(SampleKind::network, what, bytes, unit, std::move(settings));
}

std::string reason(const ClusterSpec& cluster, const Sample& sample) {
  return why_not_predicted(cluster, sample);
}

}  // namespace

TEST_CASE("a copy to a GPU takes the latency of its hops and its bytes over the narrowest") {
  // cpu0 to switch0 to gpu0: two hops of 1 us, 12.3 GB/s.
  const ClusterSpec cluster = nvlink_cluster(1, 1);
  CHECK(predicted(cluster, copy("h2d", 0, {}, SampleUnit::us)) == Approx(2));
  CHECK(predicted(cluster, copy("h2d", 123'000, {}, SampleUnit::us)) == Approx(2 + 10));
  CHECK(predicted(cluster, copy("d2h", 123'000, {{"src", "3"}}, SampleUnit::us)) == Approx(2 + 10));
  CHECK(predicted(cluster, copy("h2d", 0)) == Approx(12.3));
  CHECK(predicted(cluster, copy("h2d", 123'000)) == Approx(123'000 / 12e-6 / 1e9));
}

TEST_CASE("copies together share the links above their GPUs") {
  // GPUs 0 and 1 behind one switch share its link to the CPU, GPUs 2 and 3 have another.
  const ClusterSpec switched = nvlink_cluster(1, 1), direct = pcie_cluster(1, 4);
  const auto together = [](const char* count) {
    return copy("h2d", 0, {{"together", count}, {"dst", "all"}});
  };
  CHECK(predicted(switched, together("2")) == Approx(12.3));
  CHECK(predicted(switched, together("4")) == Approx(2 * 12.3));
  CHECK(predicted(direct, together("4")) == Approx(4 * 12.3));
}

TEST_CASE("copies together end when all bytes are there, in us as in bytes per second") {
  // Two copies of 123 kB each over one link of 12.3 GB/s: 20 us, and 2 us of latency.
  const Settings both{{"together", "2"}};
  CHECK(predicted(nvlink_cluster(1, 1), copy("h2d", 123'000, both, SampleUnit::us)) == Approx(22));
  CHECK(predicted(nvlink_cluster(1, 1), copy("h2d", 123'000, both)) == Approx(2 * 123'000 / 22e-6 / 1e9));
}

TEST_CASE("both ways at once are twice the rate") {
  const ClusterSpec cluster = nvlink_cluster(1, 1);
  CHECK(predicted(cluster, copy("h2d", 0, {{"both_ways", "1"}})) == Approx(2 * 12.3));
  CHECK(predicted(cluster, copy("p2p", 0, {{"both_ways", "1"}})) == Approx(2 * 2 * 24.25));
  CHECK(predicted(cluster, message("write", 1 << 23, SampleUnit::gigabytes_per_s, {{"both_ways", "1"}})) ==
        Approx(2 * 12.3));
}

TEST_CASE("a copy between two GPUs takes their NVLinks, or passes the CPU at the root complex's share") {
  CHECK(predicted(nvlink_cluster(1, 1), copy("p2p", 0, {{"src", "0"}, {"dst", "3"}})) == Approx(2 * 24.25));
  CHECK(predicted(pcie_cluster(1, 2), copy("p2p", 0)) == Approx(kRootComplexShare * 12.3));
}

TEST_CASE(
    "without peer access a copy between GPUs goes through host memory, as fast as the staging share says") {
  ClusterSpec cluster = pcie_cluster(1, 2);
  cluster.node.peer_access = false;
  cluster.node.gpu.staging_share = 0.4;
  const double slow = predicted(cluster, copy("p2p", 0));
  cluster.node.gpu.staging_share = 0.2;
  CHECK(slow > 0);
  CHECK(predicted(cluster, copy("p2p", 0)) == Approx(slow / 2));
  CHECK(predicted(cluster, copy("p2p", 0, {{"peer", "0"}})) ==
        Approx(slow / 2));  // off in the log, off on the machine
}

TEST_CASE("a copy inside a GPU reads and writes at the streaming rate") {
  // 900 GB/s x 0.8
  CHECK(predicted(nvlink_cluster(1, 1), copy("d2d", kGiB)) == Approx(720));
  CHECK(predicted(nvlink_cluster(1, 1), copy("d2d", 0)) == Approx(720));
  CHECK_THAT(reason(nvlink_cluster(1, 1), copy("d2d", 1 << 20)),
             ContainsSubstring("stay in the cache"));  // cache: 6 MiB
}

TEST_CASE("a copy inside a GPU by its time is a kernel that reads and writes its bytes") {
  // 2 GiB at 900 GB/s x 0.8 are 2.98 ms; the cache and the launch are less than a hundredth of it.
  CHECK(predicted(nvlink_cluster(1, 1), copy("d2d", kGiB, {}, SampleUnit::us)) ==
        Approx(2.0 * kGiB / 720e3).epsilon(0.01));
}

TEST_CASE("messages between nodes take the wire's rate, and small ones two hops and a switch") {
  const ClusterSpec cluster = star_cluster(2, {12.3e9});
  CHECK(predicted(cluster, message("write", 1 << 23, SampleUnit::gigabytes_per_s)) == Approx(12.3));
  CHECK(predicted(cluster, message("latency", 0, SampleUnit::us)) == Approx(2 * 0.6 + 0.3));
  CHECK(predicted(cluster, message("latency", 12'300, SampleUnit::us)) == Approx(1.5 + 1));
}

TEST_CASE("of copies that the model does not know the reason is said") {
  const ClusterSpec cluster = nvlink_cluster(1, 1);
  CHECK_THAT(reason(cluster, copy("h2d", kGiB, {{"memory", "pageable"}})), ContainsSubstring("pageable"));
  CHECK_THAT(reason(cluster, copy("h2d", kGiB, {{"dst", "4"}})), ContainsSubstring("no such GPU"));
  CHECK_THAT(reason(cluster, copy("d2h", kGiB, {{"together", "5"}})), ContainsSubstring("no such GPU"));
  CHECK_THAT(reason(cluster, copy("p2p", kGiB, {{"src", "1"}, {"dst", "1"}})),
             ContainsSubstring("no such pair"));
  CHECK_THAT(reason(cluster, copy("p2p", kGiB, {{"dst", "9"}})), ContainsSubstring("no such pair"));
  CHECK_THAT(reason(cluster, copy("p2p", kGiB, {{"peer", "0"}})), ContainsSubstring("peer access was off"));
  CHECK_THAT(reason(cluster, copy("h2h", kGiB)), ContainsSubstring("h2h"));
  CHECK_THAT(reason(cluster, copy("h2d", kGiB, {}, SampleUnit::share)), ContainsSubstring("us or GBps"));
  CHECK_THAT(reason(cluster, copy("d2d", 0, {}, SampleUnit::us)), ContainsSubstring("GBps"));
}

TEST_CASE("of messages that the model does not know the reason is said") {
  const ClusterSpec cluster = star_cluster(2, {12.3e9});
  CHECK_THAT(reason(plain_node(2, v100()), message("write", 1 << 23, SampleUnit::gigabytes_per_s)),
             ContainsSubstring("no network"));
  CHECK_THAT(reason(cluster, message("write", 4096, SampleUnit::gigabytes_per_s)),
             ContainsSubstring("small messages"));
  CHECK_THAT(reason(cluster, message("write", 1 << 23, SampleUnit::us)), ContainsSubstring("in GBps"));
  CHECK_THAT(reason(cluster, message("latency", 8, SampleUnit::gigabytes_per_s)), ContainsSubstring("in us"));
  CHECK(reason(cluster, message("write", 1 << 23, SampleUnit::gigabytes_per_s)).empty());
}

TEST_CASE("a negative number of copies together, or one beyond any node, predicts nothing") {
  const ClusterSpec cluster = nvlink_cluster(1, 1);
  for (const char* count : {"0", "-3", "9223372036854775807"}) {
    INFO(count);
    CHECK_FALSE(reason(cluster, copy("h2d", kGiB, {{"together", count}})).empty());
  }
}

}  // namespace link_samples_test
