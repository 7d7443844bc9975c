// A time limit against the upper end of a run.
#include "sim/analysis/advice/recommend.hpp"
#include "tests/support/catch.hpp"

namespace time_limit_test {

using namespace foretrain;

namespace {

/// 1000 s, at the latest 1180.
Prediction prediction_of_1000_s() {
  Prediction prediction;
  prediction.samples = 1000;
  PredictionPoint point;
  point.gpus = 4, point.total_s = 1000;
  point.total_interval = {900, 1180, 0.9};
  prediction.points = {point};
  return prediction;
}

}  // namespace

TEST_CASE("the latest end is that of the run's interval") {
  CHECK(latest_end_s(prediction_of_1000_s().points[0]) == Approx(1180));
}

TEST_CASE("a limit that the run surely, or possibly, exceeds is told apart") {
  const Prediction prediction = prediction_of_1000_s();
  CHECK(time_limit_warning(900, 4, prediction) ==
        "a time limit of 0:15:00 is too short: the run takes 0:16:40 on 4 GPUs, and up to 0:19:40");
  CHECK_THAT(time_limit_warning(1100, 4, prediction), ContainsSubstring("may be too short"));
  CHECK(time_limit_warning(1180, 4, prediction).empty());
}

TEST_CASE("without a limit, a row or a known data set there is no verdict") {
  Prediction prediction = prediction_of_1000_s();
  CHECK(time_limit_warning(0, 4, prediction).empty());
  CHECK(time_limit_warning(10, 8, prediction).empty());
  prediction.samples = 0;
  CHECK(time_limit_warning(10, 4, prediction).empty());
}

}  // namespace time_limit_test
