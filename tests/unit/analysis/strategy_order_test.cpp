// The order of strategies: ties, what cannot be told apart, and what is set apart.
#include "sim/analysis/search/strategy_order.hpp"

#include <cmath>

#include "tests/support/catch.hpp"

namespace strategy_order_test {

using namespace foretrain;

namespace {

struct Candidate {
  const char* name;
  double samples_per_s;
  const char* needs = "";
  const char* why_not = "";
  bool fits = true;
};

ComparedGpus ordered(const std::vector<Candidate>& candidates, const std::string& own, double spread = 0) {
  ComparedGpus numbers;
  numbers.gpus = 4;
  const Draws draws;
  std::vector<DrawnSpeed> speeds;
  for (const Candidate& c : candidates) {
    ComparedStrategy row{c.name, c.why_not, {}, {}};
    row.needs = c.needs;
    row.point.samples_per_s = c.samples_per_s;
    row.point.memory.parameters = {2}, row.point.memory_capacity = {c.fits ? 3 : 1};
    numbers.strategies.push_back(row);
    DrawnSpeed speed{c.samples_per_s, {}, speeds.size(), true};
    for (int i = 0; i < draws.count(); ++i)
      speed.step_factors.push_back(std::exp(spread * draws.normal(Uncertain::kernels, i)));
    speeds.push_back(std::move(speed));
  }
  set_order(numbers, own, speeds, draws);
  return numbers;
}

std::vector<std::string> names_of(const ComparedGpus& numbers) {
  std::vector<std::string> names;
  for (const ComparedStrategy& row : numbers.strategies) names.push_back(row.strategy);
  return names;
}

Standing standing(const ComparedGpus& numbers, const std::string& name) {
  return std::ranges::find(numbers.strategies, name, &ComparedStrategy::strategy)->standing;
}

}  // namespace

TEST_CASE("among those within 2 % the scenario's own comes first, then ddp, then the faster") {
  const std::vector<Candidate> candidates{{"fsdp", 100}, {"zero1", 99}, {"ddp", 98.5}, {"horovod", 98.1}};
  CHECK(names_of(ordered(candidates, "horovod")) ==
        std::vector<std::string>{"horovod", "ddp", "fsdp", "zero1"});
  const ComparedGpus numbers = ordered(candidates, "single");
  CHECK(names_of(numbers) == std::vector<std::string>{"ddp", "fsdp", "zero1", "horovod"});
  CHECK(numbers.fastest == "fsdp");
  CHECK(numbers.best()->strategy == "fsdp");
  CHECK(numbers.first()->strategy == "ddp");
}

TEST_CASE("beyond 2 % speed decides, also against the scenario's own") {
  const ComparedGpus numbers = ordered({{"ddp", 95}, {"fsdp", 100}, {"zero3", 60}}, "ddp");
  CHECK(names_of(numbers) == std::vector<std::string>{"fsdp", "ddp", "zero3"});
  CHECK(standing(numbers, "ddp") == Standing::not_told_apart);
  CHECK(standing(numbers, "zero3") == Standing::slower);
}

TEST_CASE("what both strategies share cancels in their ratio, their own software does not") {
  const ComparedGpus certain = ordered({{"ddp", 90}, {"fsdp", 100}}, "ddp"),
                     shared = ordered({{"ddp", 90}, {"fsdp", 100}}, "ddp", 0.5);
  const auto ratio = [](const ComparedGpus& n) { return n.strategies[1].ratio_range; };
  CHECK(shared.strategies[1].ratio == Approx(0.9));
  CHECK(ratio(shared).low == Approx(ratio(certain).low));
  CHECK(ratio(shared).high == Approx(ratio(certain).high));
  // The closed form: 1.645 standard deviations of the difference of two equal normal distributions.
  CHECK(std::log(ratio(certain).high / ratio(certain).low) ==
        Approx(2 * 1.645 * std::sqrt(2.0) * 0.035).epsilon(0.05));
}

TEST_CASE("what needs more, does not fit or cannot run is never the fastest while something else is") {
  const ComparedGpus numbers = ordered(
      {{"single", 0, "", "one GPU"}, {"byteps", 300, "servers"}, {"zero0", 200, "", "", false}, {"ddp", 50}},
      "ddp");
  CHECK(numbers.fastest == "ddp");
  CHECK(names_of(numbers) == std::vector<std::string>{"ddp", "byteps", "zero0", "single"});
  CHECK(standing(numbers, "byteps") == Standing::needs_more);
  CHECK(standing(numbers, "zero0") == Standing::does_not_fit);
  CHECK(standing(numbers, "single") == Standing::cannot_run);
}

TEST_CASE("where nothing runs there is no first and no fastest") {
  const ComparedGpus numbers = ordered({{"single", 0, "", "one GPU"}}, "ddp");
  CHECK(numbers.best() == nullptr);
  CHECK(numbers.first() == nullptr);
  CHECK(ComparedGpus{}.best() == nullptr);
}

TEST_CASE("where all need more they are compared among themselves") {
  const ComparedGpus numbers = ordered({{"byteps", 300, "servers"}, {"mirrored", 100, "TensorFlow"}}, "ddp");
  CHECK(numbers.fastest == "byteps");
  CHECK(standing(numbers, "mirrored") == Standing::slower);
}

TEST_CASE("every standing has a word") {
  for (const Standing s : {Standing::as_fast, Standing::not_told_apart, Standing::slower,
                           Standing::needs_more, Standing::does_not_fit, Standing::cannot_run})
    CHECK_FALSE(name_of(s).empty());
}

}  // namespace strategy_order_test
