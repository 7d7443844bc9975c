// Every nanosecond of a recorded step has one account; who enters collectives last.
#include <numeric>

#include "sim/analysis/traces/stragglers.hpp"
#include "sim/analysis/traces/trace_summary.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/import/traces/trace_text.hpp"

namespace trace_account_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)";

std::string said(int elements) {
  return R"("Collective name":"allreduce","dtype":"Float","Group size":2,"In msg nelems":)" +
         std::to_string(elements) + ",\"Out msg nelems\":" + std::to_string(elements);
}

TraceSummary summary_of(const std::string& events) { return summarize_trace(read_events(events)); }

double us(const TraceSummary& summary, TraceAccount account) { return 1e6 * summary.mean.of(account); }

}  // namespace

TEST_CASE("a gap before a kernel that was launched late is the host's, a short rest is the launch's") {
  // 0..10 idle and then a kernel to 30; the next is asked at 50 and starts at 58.
  const TraceSummary summary = summary_of(mark("ProfilerStep#1", 0, 100) + "," + launched("a", 1, 2, 10, 20) +
                                          "," + launched("b", 2, 50, 58, 42));
  CHECK(us(summary, TraceAccount::compute) == Approx(62));
  CHECK(us(summary, TraceAccount::host) == Approx(2 + 20));
  CHECK(us(summary, TraceAccount::launch) == Approx(8 + 8));
  CHECK(std::accumulate(summary.mean.seconds.begin(), summary.mean.seconds.end(), 0.0) == Approx(100e-6));
}

TEST_CASE("a gap while the loader is asked is the loader's, one behind an old launch is a wait") {
  const TraceSummary summary =
      summary_of(mark("ProfilerStep#1", 0, 100) + "," + mark("enumerate(DataLoader)#x.__next__", 0, 40) +
                 "," + launched("a", 1, 45, 50, 10) + "," + launched("b", 2, 46, 90, 10));
  CHECK(us(summary, TraceAccount::loading) == Approx(40));
  CHECK(us(summary, TraceAccount::host) == Approx(5));
  CHECK(us(summary, TraceAccount::waiting) == Approx(30));
}

TEST_CASE("communication is hidden behind kernels, exposed, or runs while the host is late anyway") {
  // The collective runs 10..60; kernels 0..20 and 50..70, the second asked at 30.
  const TraceSummary summary = summary_of(mark("ProfilerStep#1", 0, 70) + "," + launched("a", 1, 0, 0, 20) +
                                          "," + launched(kAllReduce, 2, 5, 10, 50, 20, said(1'000'000)) +
                                          "," + launched("b", 3, 30, 50, 20));
  CHECK(1e6 * summary.mean.overlapped_s == Approx(10 + 10));
  CHECK(1e6 * summary.mean.behind_host_s == Approx(10));
  CHECK(us(summary, TraceAccount::host) == Approx(10));
  CHECK(us(summary, TraceAccount::communication) == Approx(20));
  CHECK(summary.buckets == std::vector<std::int64_t>{4'000'000});
}

TEST_CASE("the optimizer's kernels are those launched under its mark") {
  const TraceSummary summary =
      summary_of(mark("ProfilerStep#1", 0, 100) + "," + mark("Optimizer.step#SGD.step", 40, 20) + "," +
                 launched("a", 1, 0, 0, 30) + "," + launched("b", 2, 45, 50, 15));
  CHECK(us(summary, TraceAccount::optimizer) == Approx(15));
  CHECK(us(summary, TraceAccount::compute) == Approx(30));
}

TEST_CASE("kernels and operators are counted by name, with the time of a step") {
  const TraceSummary summary =
      summary_of(mark("ProfilerStep#1", 0, 100) + "," + op("aten::relu", 1, 1, 8) + "," +
                 launched("void at::native::vectorized_elementwise_kernel<4, f>(int, f)", 1, 2, 10, 20));
  REQUIRE(summary.kernels.size() == 1);
  CHECK(summary.kernels[0].name == "vectorized_elementwise_kernel");
  CHECK(summary.kernels[0].kind == "elementwise");
  CHECK(summary.operators[0].name == "aten::relu");
  CHECK(summary.operators[0].host_s == Approx(8e-6));
  CHECK(summary.launches.kernels == Approx(1));
  CHECK(summary.launches.delay_us == Approx(8));
}

TEST_CASE("a trace without work of a GPU is refused") {
  CHECK_THROWS_AS(summary_of(op("aten::relu", 1, 1, 8)), InputError);
}

TEST_CASE("the rank that enters last is found though its clock is ahead") {
  std::vector<TraceSummary> ranks;
  std::vector<std::vector<CollectiveEntry>> entries;
  for (const double clock : {0.0, 5000.0}) {
    const double late = clock > 0 ? 7 : 0;  // the second rank comes 7 us later, both leave together
    const Trace trace =
        read_events(mark("ProfilerStep#1", clock, 100) + "," +
                    launched(kAllReduce, 1, clock + 1, clock + 10 + late, 30 - late, 20, said(10)));
    ranks.push_back(summarize_trace(trace));
    entries.push_back(collective_entries(trace, ranks.back()));
  }
  const Stragglers found = find_stragglers(ranks, entries);
  CHECK(found.matched == 1);
  CHECK(found.spread_s == Approx(7e-6));
  CHECK(found.ranks[1].last == 1);
  CHECK(found.ranks[1].clock_s == Approx(5e-3));
  CHECK(found.ranks[0].waits_s == Approx(7e-6));
  CHECK(find_stragglers(ranks, {entries[0], {}}).matched == 0);
}

}  // namespace trace_account_test
