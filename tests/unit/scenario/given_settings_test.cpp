// Settings of one command line that contradict each other are refused with both.
#include "sim/scenario/sections/given_settings.hpp"

#include "sim/base/diagnostics.hpp"
#include "tests/support/catch.hpp"

namespace given_settings_test {

using namespace foretrain;

namespace {

std::string refused(const std::vector<std::string>& settings) {
  try {
    check_given_settings(settings);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a key that two settings give different values is refused with both") {
  const std::string said = refused({"model.batch_per_gpu=32", "run.epochs=3", " model.batch_per_gpu = 64"});
  CHECK_THAT(said, ContainsSubstring("--set  model.batch_per_gpu = 64:1:1: error: model.batch_per_gpu has "
                                     "another value in --set model.batch_per_gpu=32"));
  CHECK_THAT(said, ContainsSubstring("keep one of the two"));
}

TEST_CASE("the same value twice and other keys are no contradiction") {
  CHECK(refused({"model.precision=fp32", "model.precision=\"fp32\"", "run.epochs=3"}).empty());
  CHECK(refused({"model.batch_per_gpu=balance", "model.global_batch=64"}).empty());
  CHECK(refused({"no value", "no value either", "=1", "=2"}).empty());
}

TEST_CASE("settings of which a table may hold only one are refused with both") {
  CHECK_THAT(refused({"model.batch_per_gpu=32", "model.global_batch=64"}),
             ContainsSubstring("model.global_batch excludes --set model.batch_per_gpu=32") &&
                 ContainsSubstring("weak scaling"));
  CHECK_THAT(refused({"measured.step=1s", "measured.samples_per_s=3"}),
             ContainsSubstring("measured.samples_per_s excludes --set measured.step=1s"));
}

TEST_CASE("every contradiction is told at once and each setting once") {
  const std::string said =
      refused({"a.b=1", "a.b=2", "a.b=3", "model.global_batch=8", "model.batch_per_gpu=4"});
  CHECK_THAT(said, ContainsSubstring("3 errors"));
}

}  // namespace given_settings_test
