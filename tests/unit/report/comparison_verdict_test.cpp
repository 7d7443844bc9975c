// The sentence above a comparison's table, for each way the scenario's own strategy can stand.
#include "sim/report/comparison/comparison_catalog.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/example_comparison.hpp"

namespace comparison_verdict_test {

using namespace foretrain;

namespace {

ComparedGpus with_own(Standing standing, double ratio) {
  ComparedGpus numbers = test::example_comparison().numbers.front();
  numbers.strategies[1].standing = standing, numbers.strategies[1].ratio = ratio;
  numbers.strategies[1].ratio_range = {ratio - 0.05, ratio + 0.05};
  return numbers;
}

}  // namespace

TEST_CASE("the fastest, and what is as fast, is no reason to switch") {
  CHECK(comparison_verdict(with_own(Standing::slower, 0.5), "ddp") == "4 GPUs: ddp is the fastest.");
  CHECK(comparison_verdict(with_own(Standing::as_fast, 0.99), "horovod") ==
        "4 GPUs: horovod is within 2 % of the fastest, ddp: no reason to switch.");
}

TEST_CASE("what shares the first place is named with it, more than three are counted") {
  ComparedGpus numbers = with_own(Standing::as_fast, 0.99);
  CHECK(comparison_verdict(numbers, "ddp") == "4 GPUs: ddp is the fastest, horovod within 2 % of it.");
  for (const char* name : {"zero1", "zero2", "zero3"}) {
    numbers.strategies.push_back(numbers.strategies[1]);
    numbers.strategies.back().strategy = name;
    if (numbers.strategies.size() == 6)
      CHECK(comparison_verdict(numbers, "ddp") ==
            "4 GPUs: ddp is the fastest, horovod, zero1 and zero2 within 2 % of it.");
  }
  CHECK(comparison_verdict(numbers, "ddp") == "4 GPUs: ddp is the fastest, 4 others within 2 % of it.");
  CHECK(comparison_verdict(numbers, "mirrored") ==
        "4 GPUs: mirrored cannot run here; ddp is the fastest that can, 4 others within 2 % of it.");
}

TEST_CASE("a slower one is told by how much, and whether that can be told") {
  CHECK(comparison_verdict(with_own(Standing::not_told_apart, 0.96), "horovod") ==
        "4 GPUs: ddp is 4 % faster than horovod, less than the predictions can tell (90 %: -1 to +10 %).");
  CHECK(comparison_verdict(with_own(Standing::slower, 0.5), "horovod") ==
        "4 GPUs: ddp is 100 % faster than horovod (90 %: +82 to +122 %).");
}

TEST_CASE("what cannot be used is said first") {
  CHECK(comparison_verdict(with_own(Standing::does_not_fit, 0.5), "horovod") ==
        "4 GPUs: horovod does not fit into the GPU's memory; ddp is the fastest that does.");
  CHECK(comparison_verdict(with_own(Standing::needs_more, 1.5), "horovod") ==
        "4 GPUs: ddp is the fastest of those that need nothing but a change of the strategy.");
  CHECK(comparison_verdict(with_own(Standing::cannot_run, 1), "horovod") ==
        "4 GPUs: horovod cannot run here; ddp is the fastest that can.");
}

TEST_CASE("the fastest is not called so beside one that is faster and needs more") {
  ComparedGpus numbers = with_own(Standing::needs_more, 1.1);
  const std::string limited =
      "4 GPUs: ddp is the fastest of those that need nothing but a change of the strategy.";
  CHECK(comparison_verdict(numbers, "ddp") == limited);
  CHECK(comparison_verdict(numbers, "zero1") == limited);
  CHECK(comparison_verdict(with_own(Standing::needs_more, 0.9), "ddp") == "4 GPUs: ddp is the fastest.");
}

TEST_CASE(
    "without the scenario's own strategy the fastest is named, and where none runs or fits that is said") {
  ComparedGpus numbers = test::example_comparison().numbers.front();
  CHECK(comparison_verdict(numbers, "zero1") == "4 GPUs: ddp is the fastest.");
  numbers.strategies[0].point.memory_capacity = {1};
  CHECK(comparison_verdict(numbers, "zero1") == "4 GPUs: none fits into the GPU's memory.");
  numbers.fastest = "";
  CHECK(comparison_verdict(numbers, "zero1") == "4 GPUs: none of the strategies runs.");
}

}  // namespace comparison_verdict_test
