// A step's parts by label, on graphs written by hand.
#include "sim/analysis/step/step_parts.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/small_graph.hpp"

namespace step_parts_test {

using namespace foretrain;
using test::us;

namespace {

Task charged(Task task, Account account, LabelId label = kNone) {
  task.account = static_cast<std::uint8_t>(account), task.label = label;
  return task;
}

double part(const std::vector<StepPart>& parts, std::string_view name) {
  for (const StepPart& p : parts) {
    if (p.name == name) return p.seconds * 1e6;
  }
  return 0;
}

/// Two steps. In the second the stream runs layers for 10 us, waits 20 us for two buckets, then 4 us for a
/// launch (3 us of host, 1 us latency) and runs the optimizer for 5 us.
struct TwoSteps {
  Plan plan;
  Timeline timeline;

  TwoSteps() {
    TaskGraph& graph = plan.graph;
    const QueueId host = graph.add_queue("host"), stream = graph.add_queue("stream"),
                  nccl = graph.add_queue("nccl");
    const TaskId first =
        graph.add(charged(test::kernel_task(stream, 7 * us), Account::compute, graph.label("conv1")));
    graph.add(charged(test::kernel_task(stream, 6 * us), Account::compute, graph.label("conv1")));
    const TaskId layers =
        graph.add(charged(test::kernel_task(stream, 4 * us), Account::compute, graph.label("fc 2")));
    const TaskId zero = graph.add(charged(test::host_task(nccl, 12 * us), Account::exposed_communication,
                                          graph.label("all_reduce bucket 0")),
                                  {{layers}});
    const TaskId one = graph.add(charged(test::host_task(nccl, 8 * us), Account::exposed_communication,
                                         graph.label("all_reduce bucket 11")),
                                 {{zero}});
    const TaskId call = graph.add(charged(test::host_task(host, 3 * us), Account::host), {{one}});
    const TaskId last =
        graph.add(charged(test::kernel_task(stream, 5 * us), Account::optimizer, graph.label("optimizer")),
                  {{call, us}});
    plan.step_ends = {first, last};
    timeline = test::run_on(graph);
  }

  std::vector<StepPart> parts(int steps = 1) const {
    const auto [first, last] = std::pair(plan.step_ends[0], plan.step_ends[1]);
    const QueueId stream = plan.graph.tasks()[last].queue;
    return step_parts(plan.graph,
                      queue_path(plan.graph, timeline, stream, timeline.end_of(first), timeline.end_of(last)),
                      {"conv1", "fc 2"}, steps);
  }
};

}  // namespace

TEST_CASE(
    "a step's parts are its labels without their numbers, the layers together, the host's calls and waits "
    "together") {
  const std::vector<StepPart> parts = TwoSteps().parts();
  REQUIRE(parts.size() == 4);
  CHECK(parts.front().name == "all_reduce");  // the largest first
  CHECK(part(parts, "all_reduce") == Approx(12 + 8));
  CHECK(part(parts, "forward and backward kernels") == Approx(6 + 4));
  CHECK(part(parts, "Python and launches") == Approx(3 + 1));
  CHECK(part(parts, "optimizer") == Approx(5));
}

TEST_CASE("the parts sum to the step, and several steps are averaged") {
  double sum = 0;
  for (const StepPart& p : TwoSteps().parts(2)) sum += p.seconds;
  CHECK(sum * 1e6 == Approx((10 + 20 + 4 + 5) / 2.0));
}

TEST_CASE("a difference names what either has, largest first whatever its sign") {
  const std::vector<StepPart> found = difference({{"a", 5}, {"b", 2}}, {{"b", 1.5}, {"c", 9}});
  REQUIRE(found.size() == 3);
  CHECK(found[0].name == "c");
  CHECK(found[0].seconds == -9);
  CHECK(found[1].name == "a");
  CHECK(found[1].seconds == 5);
  CHECK(found[2].name == "b");
  CHECK(found[2].seconds == 0.5);
}

TEST_CASE("what is left of equal parts by rounding is no difference") {
  const double once = 0.1 + 0.2, other = 0.3;  // 5.6e-17 apart
  REQUIRE(once != other);
  CHECK(difference({{"a", once}, {"b", 1e-12}}, {{"a", other}}).size() == 1);
}

}  // namespace step_parts_test
