// The first sentence says what the table says.
#include "sim/report/prediction/headline.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/example_prediction.hpp"

namespace headline_test {

using namespace foretrain;

namespace {

/// Its eight GPUs have the memory.
Prediction example() {
  Prediction p = test::example_prediction();
  p.points[1].memory_capacity = p.points[0].memory_capacity;
  return p;
}

}  // namespace

TEST_CASE("how far more GPUs help, and from where they are less than 90 % used") {
  Prediction p = example();
  CHECK(headline(p) == "More GPUs help up to all 320; beyond 4 each is less than 90 % used.");
  p.cluster_gpus = 640;
  CHECK(headline(p) == "More GPUs help up to at least 320; beyond 4 each is less than 90 % used.");
  p.crossover.worth_requesting.front() = {0.9, 320, 320};
  CHECK(headline(p) == "More GPUs help up to at least 320, each at least 90 % used.");
}

TEST_CASE("the fastest number comes with its speedup where the table has it") {
  Prediction p = example();
  p.crossover.fastest_gpus = 8, p.crossover.no_gain_from = 12;
  CHECK(headline(p) == "8 GPUs are fastest (6.40x); beyond 4 each is less than 90 % used.");
  p.crossover.worth_requesting.front() = {0.9, 1, 1};
  CHECK(headline(p) == "8 GPUs are fastest (6.40x), but none is 90 % used.");
}

TEST_CASE("listed numbers that are slower than one are named with the reason, also when more are faster") {
  Prediction p = example();
  p.points[1].speedup = 0.7;
  CHECK(headline(p) ==
        "More GPUs help up to all 320; beyond 4 each is less than 90 % used; 8 GPUs are slower than one "
        "(0.70x); the largest loss is exposed "
        "communication over the network (ib).");
  p.crossover.fastest_gpus = 1;
  CHECK(
      headline(p) ==
      "8 GPUs are slower than one (0.70x); the largest loss is exposed communication over the network (ib).");
  p.points[1].speedup = 0.99;
  CHECK(headline(p) == "More GPUs than one do not help.");
  p.crossover.searched = 1;
  CHECK(headline(p) == "One GPU is all that this can use.");
  p.points[1].memory_capacity = {1000};
  CHECK(headline(p) == "On more GPUs than one this does not fit into memory.");
}

TEST_CASE("what does not fit is not recommended") {
  Prediction p = example();
  p.points[1].memory_capacity = {1000};
  CHECK_THAT(headline(p), Catch::Matchers::EndsWith("; numbers marked ! do not fit into memory."));
  p.points[1].speedup = 0.5;
  CHECK(headline(p).find("slower") == std::string::npos);
  p.cannot_run = true;
  CHECK(headline(p) == "This cannot run: it does not fit into the memory of these GPUs.");
  p.points.clear();
  CHECK(headline(p).empty());
}

}  // namespace headline_test
