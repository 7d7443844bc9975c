// A speedup whose ends are far apart has no middle worth saying.
#include "sim/analysis/answer/answer_words.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace answer_words_test {

using namespace foretrain;

namespace {

std::string words_of(double speedup, Range range, double chance_of_gain) {
  PredictionPoint p;
  p.gpus = 4, p.step_s = 1, p.memory_capacity = Bytes{1};
  p.speedup = speedup, p.speedup_range = range, p.chance_of_gain = chance_of_gain;
  Answer answer;
  answer.quantity = "step", answer.value_s = 1, answer.rows = {p};
  return time_words(answer, p, test::resnet_scenario({4}), 1);
}

}  // namespace

TEST_CASE("a speedup that is known has its figure") {
  const std::string words = words_of(3.5, {2.9, 3.8}, 1);
  CHECK_THAT(words, ContainsSubstring("3.5 times faster than one GPU"));
  CHECK_THAT(words, !ContainsSubstring("cannot say"));
}

TEST_CASE("where the ends are a factor of three apart, nobody can say by how much") {
  CHECK_THAT(
      words_of(2.5, {1.1, 3.9}, 0.97),
      ContainsSubstring("faster than one GPU, but foretrain cannot say by how much (between 1.1 and 3.9 "
                        "times as fast)"));
  const std::string words = words_of(1.5, {0.5, 3}, 0.8);
  CHECK_THAT(words, ContainsSubstring("cannot say by how much that is faster than one GPU, if it is"));
  CHECK_THAT(words, !ContainsSubstring("1.5 times"));
}

TEST_CASE("a run that is mostly start-up is compared as a whole, and its steps beside it") {
  PredictionPoint one, four;
  one.gpus = 1, one.step_s = 4, one.total_s = 42, one.memory_capacity = Bytes{1};
  four.gpus = 4, four.step_s = 1, four.total_s = 18, four.memory_capacity = Bytes{1};
  four.speedup = 3.8, four.speedup_range = {3, 3.9}, four.chance_of_gain = 1;
  Answer answer;
  answer.quantity = "total", answer.value_s = 18, answer.rows = {one, four};
  const Scenario scenario = test::resnet_scenario({1, 4});
  CHECK_THAT(
      time_words(answer, four, scenario, 1),
      ContainsSubstring(": 2.3 times faster than one GPU; the training steps alone are 3.8 times as fast."));
  // Start-up of a long run changes nothing, and a step has none.
  four.total_s = 11.5, answer.rows = {one, four};
  CHECK_THAT(time_words(answer, four, scenario, 1), ContainsSubstring(": 3.8 times faster than one GPU."));
  four.total_s = 18, answer.quantity = "step", answer.rows = {one, four};
  CHECK_THAT(time_words(answer, four, scenario, 1), ContainsSubstring(": 3.8 times faster than one GPU."));
}

}  // namespace answer_words_test
