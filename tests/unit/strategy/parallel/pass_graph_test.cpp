// Calls, kernels and exchanges of one GPU: who waits for whom, in seconds counted by hand.
#include "sim/strategy/parallel/pass_graph.hpp"

#include "sim/engine/executor.hpp"
#include "tests/support/catch.hpp"

namespace parallel_pass_graph_test {

using namespace foretrain;

namespace {

Timeline timeline_of(const PassGraph& pass) {
  return run(pass.graph(), [](LinkId) { return ByteRate{1e18}; });
}

PassGraph::Exchange exchange_of(double length_s, double share = 0) {
  return {PassStream::tensor, PassCharge::tensor, seconds(length_s), share};
}

}  // namespace

TEST_CASE("a kernel begins a launch latency behind its call, and behind the kernel before it") {
  PassGraph pass(seconds(1));
  pass.call(seconds(2));
  const TaskId first = pass.kernel(seconds(5));
  pass.call(seconds(2));
  const TaskId second = pass.kernel(seconds(1));
  const Timeline timeline = timeline_of(pass);
  CHECK(to_seconds(timeline.spans[first].start) == Approx(3));   // 2 of the call, 1 of the launch
  CHECK(to_seconds(timeline.spans[second].start) == Approx(8));  // called at 4, behind the first one
}

TEST_CASE("an exchange needs the kernel before it, and the next kernel needs the exchange") {
  PassGraph pass(Time{});
  pass.call(Time{});
  pass.kernel(seconds(3));
  pass.call(Time{});
  const TaskId exchange = pass.exchange(exchange_of(2));
  pass.call(Time{});
  const TaskId next = pass.kernel(seconds(1));
  const Timeline timeline = timeline_of(pass);
  CHECK(to_seconds(timeline.spans[exchange].start) == Approx(3));
  CHECK(to_seconds(timeline.spans[next].start) == Approx(5));
}

TEST_CASE("an exchange behind holds up only the kernel that names it") {
  PassGraph pass(Time{});
  pass.call(Time{});
  pass.kernel(seconds(1));
  const TaskId exchange = pass.exchange_behind(exchange_of(4));
  const TaskId beside = pass.kernel(seconds(2));
  const TaskId waits = pass.kernel(seconds(1), exchange);
  const Timeline timeline = timeline_of(pass);
  CHECK(to_seconds(timeline.spans[beside].start) == Approx(1));
  CHECK(to_seconds(timeline.spans[waits].start) == Approx(5));
}

TEST_CASE("what is fetched ahead needs no kernel, exchanges of one stream come one after the other") {
  PassGraph pass(Time{});
  pass.call(Time{});
  pass.kernel(seconds(3));
  const TaskId first = pass.prefetch(exchange_of(2)), second = pass.prefetch(exchange_of(2));
  pass.kernel_waits_for(second);
  const TaskId waits = pass.kernel(seconds(1));
  const Timeline timeline = timeline_of(pass);
  CHECK(to_seconds(timeline.spans[first].start) == Approx(0));
  CHECK(to_seconds(timeline.spans[second].start) == Approx(2));
  CHECK(to_seconds(timeline.spans[waits].start) == Approx(4));
}

TEST_CASE("a host that waits for a task makes its next call behind it") {
  PassGraph pass(Time{});
  pass.call(seconds(1));
  pass.host_waits_for(pass.kernel(seconds(5)));
  pass.call(seconds(1));
  const TaskId next = pass.kernel(seconds(1));
  CHECK(to_seconds(timeline_of(pass).spans[next].start) == Approx(7));
}

TEST_CASE("an exchange takes its share of the GPU from kernels beside it") {
  PassGraph pass(Time{});
  pass.call(Time{});
  pass.exchange_behind(exchange_of(10, 0.25));
  const TaskId beside = pass.kernel(seconds(3));
  CHECK(to_seconds(timeline_of(pass).end_of(beside)) == Approx(4));  // 3 / (1 - 0.25)
}

TEST_CASE("a mark is a moment on the compute stream") {
  PassGraph pass(seconds(1));
  pass.call(Time{});
  pass.kernel(seconds(3));
  const TaskId mark = pass.mark();
  const Timeline timeline = timeline_of(pass);
  CHECK(timeline.spans[mark].start == timeline.end_of(mark));
  CHECK(to_seconds(timeline.end_of(mark)) == Approx(4));
}

}  // namespace parallel_pass_graph_test
