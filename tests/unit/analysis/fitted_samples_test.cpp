// Which of very many samples a fit gets: all kinds of them, and never more than it needs.
#include "sim/analysis/fit/fitted_samples.hpp"

#include <algorithm>

#include "tests/support/catch.hpp"
#include "tests/unit/analysis/sample_list.hpp"

namespace fitted_samples_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

bool all(const Sample&) { return true; }

std::vector<Sample> many_copies(const char* what, int count) {
  std::vector<Sample> samples;
  for (int i = 1; i <= count; ++i) samples.push_back(sample_of(SampleKind::copy, what, i, SampleUnit::us));
  return samples;
}

}  // namespace

TEST_CASE("few samples are all fitted, in their order, as far as they are wanted") {
  std::vector<Sample> samples = many_copies("h2d", 100);
  samples.push_back(sample_of(SampleKind::memory, "copy", 8, SampleUnit::us));
  CHECK(samples_to_fit(samples, all) == samples);
  CHECK(samples_to_fit(samples, [](const Sample& s) { return s.kind == SampleKind::memory; }) ==
        std::vector<Sample>{samples.back()});
}

TEST_CASE("of too many samples a small group stays whole, and of a large one all sizes are there") {
  std::vector<Sample> samples = many_copies("h2d", 50'000);
  const std::vector<Sample> few = many_copies("d2h", 5);
  samples.insert(samples.end(), few.begin(), few.end());
  const std::vector<Sample> fitted = samples_to_fit(samples, all);
  CHECK(fitted.size() == kMostFittedSamples);
  CHECK(std::ranges::count(fitted, "d2h", &Sample::what) == 5);
  CHECK(std::ranges::is_sorted(fitted.begin(), fitted.end() - 5, {}, &Sample::bytes));
  // About a tenth of them in every tenth of the sizes: 200, three standard deviations of which are 40.
  for (int tenth = 0; tenth < 10; ++tenth) {
    const auto inside = [&](const Sample& s) { return s.what == "h2d" && (s.bytes - 1) / 5000 == tenth; };
    CHECK(std::ranges::count_if(fitted, inside) == Approx(200).margin(40));
  }
  CHECK(samples_to_fit(samples, all) == fitted);
}

TEST_CASE("of too many jobs the smallest, the largest and those between are fitted") {
  std::vector<Sample> samples;
  for (int gpus = 1; gpus <= 500; ++gpus) samples.push_back(collective_sample("all_reduce", gpus, 1, 8));
  const std::vector<Sample> fitted = samples_to_fit(samples, all);
  CHECK(fitted.size() == kMostFittedJobs);
  CHECK(fitted.front().gpus == 1);
  CHECK(fitted.back().gpus == 500);
}

}  // namespace fitted_samples_test
