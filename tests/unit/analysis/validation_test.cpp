// Predicted against measured on files made in memory.
#include "sim/analysis/validation/validation.hpp"

#include <algorithm>
#include <iterator>

#include "sim/analysis/step/anchor.hpp"
#include "tests/support/catch.hpp"

namespace validation_test {

using namespace foretrain;

namespace {

Measurement row(int gpus, double value, Measurement::Metric metric = Measurement::Metric::samples_per_s) {
  Measurement m;
  m.series = "a", m.model = "mnist_net", m.cluster = "puhti", m.strategy = "ddp", m.precision = "fp32";
  m.batch_per_gpu = 64, m.gpus = gpus, m.nodes = (gpus + 3) / 4, m.value = value, m.metric = metric,
  m.line = gpus + 1;
  return m;
}

MeasurementFile file_of(std::vector<Measurement> rows) {
  MeasurementFile file;
  file.scaling = std::move(rows);
  return file;
}

Validation anchored(std::vector<Measurement> rows) { return validate(file_of(std::move(rows)), {}); }

}  // namespace

TEST_CASE("the median of an even number of errors is the mean of the middle two") {
  CHECK(statistics_of({0.1, 0.4, 0.2, 0.3}).median == Approx(0.25));
  CHECK(statistics_of({0.3, 0.1, 0.2}).median == Approx(0.2));
  CHECK(statistics_of({0.7}).median == 0.7);
}

TEST_CASE("the 90th percentile is the nearest rank from above") {
  std::vector<double> ten, eleven;
  for (int i = 1; i <= 11; ++i) {
    if (i <= 10) ten.push_back(i);
    eleven.push_back(i);
  }
  CHECK(statistics_of(ten).p90 == 9);      // rank ceil(9.0)
  CHECK(statistics_of(eleven).p90 == 10);  // rank ceil(9.9)
  CHECK(statistics_of({5}).p90 == 5);
}

TEST_CASE("the bias keeps its sign, the other figures do not") {
  const ErrorStatistics s = statistics_of({-0.2, 0.1});
  CHECK(s.bias == Approx(-0.05));
  CHECK(s.mean == Approx(0.15));
  CHECK(s.median == Approx(0.15));
  CHECK(s.p90 == Approx(0.2));
}

TEST_CASE("no errors, no statistics") {
  const ErrorStatistics s = statistics_of({});
  CHECK(s.median == 0);
  CHECK(s.p90 == 0);
}

TEST_CASE("the row of fewest GPUs anchors and is not scored") {
  const Validation v = anchored({row(4, 40'000), row(1, 20'000)});
  CHECK(v.rows == 2);
  CHECK(v.scored == 1);
  REQUIRE(v.series.size() == 1);
  REQUIRE(v.series[0].points.size() == 1);
  const ValidatedPoint& p = v.series[0].points[0];
  CHECK(p.gpus == 4);
  CHECK(p.measured == 40'000);
  CHECK(p.linear == Approx(80'000));  // four times the anchor
  CHECK(p.error == Approx(std::abs(p.predicted / 40'000 - 1)));
  CHECK(p.low <= p.predicted);
  CHECK(p.high >= p.predicted);
  CHECK(v.linear.bias == Approx(1.0));  // 80,000 / 40,000 - 1
}

TEST_CASE("without an anchor every row is scored and nothing is linear") {
  const Validation v = validate(file_of({row(1, 20'000), row(4, 40'000)}), {.anchor = false, .settings = {}});
  CHECK(v.scored == 2);
  CHECK_FALSE(v.anchored);
  CHECK(v.series[0].points[0].linear == 0);
}

TEST_CASE("throughput, step and epoch tell the same story") {
  using Metric = Measurement::Metric;
  const auto error_of = [](Metric metric, double one, double four) {
    return anchored({row(1, one, metric), row(4, four, metric)}).series.at(0).points.at(0).error;
  };
  // 20,000 samples/s at batch 64 are a step of 3.2 ms; 40,000 on four GPUs one of 6.4 ms. Times invert: p/m -
  // 1 becomes m/p - 1.
  const double rate = error_of(Metric::samples_per_s, 20'000, 40'000);
  CHECK(error_of(Metric::step_s, 3.2e-3, 6.4e-3) == Approx(rate / (1 + rate)).epsilon(1e-4));
  CHECK(error_of(Metric::epoch_s, 3.2e-3, 6.4e-3) ==
        Approx(rate / (1 + rate)).epsilon(1e-4));  // data.samples unknown: one step
}

TEST_CASE("of a rate in unknown units only ratios count") {
  using Metric = Measurement::Metric;
  const auto predicted = [](double unit) {
    return anchored({row(1, 10 * unit, Metric::rate), row(4, 30 * unit, Metric::rate)})
        .series.at(0)
        .points.at(0)
        .error;
  };
  CHECK(predicted(1) == Approx(predicted(1234.5)).epsilon(1e-9));
}

TEST_CASE("a rate without an anchor is skipped with the reason") {
  const Validation v =
      validate(file_of({row(1, 10, Measurement::Metric::rate)}), {.anchor = false, .settings = {}});
  CHECK(v.scored == 0);
  REQUIRE(v.skipped.size() == 1);
  CHECK(v.skipped[0].row == 2);
  CHECK(v.skipped[0].why == "a rate in unknown units needs an anchor");
}

TEST_CASE("rows this program does not know are skipped with their line and the reason, the others scored") {
  Measurement model = row(1, 1), cluster = row(2, 1), strategy = row(3, 1);
  model.model = "no_such_model", cluster.cluster = "nowhere", strategy.strategy = "magic";
  const Validation v = anchored({strategy, cluster, model, row(1, 20'000), row(4, 40'000)});
  CHECK(v.scored == 1);
  REQUIRE(v.skipped.size() == 3);
  CHECK(v.skipped[0].row == 2);  // sorted by line
  CHECK_THAT(v.skipped[0].why, ContainsSubstring("no_such_model"));
  CHECK_THAT(v.skipped[1].why, ContainsSubstring("nowhere"));
  CHECK_THAT(v.skipped[2].why, ContainsSubstring("magic"));
}

TEST_CASE("rows of one series that differ in batch are anchored apart") {
  Measurement small = row(1, 5'000), small4 = row(4, 10'000);
  small.batch_per_gpu = small4.batch_per_gpu = 8;
  const Validation v = anchored({row(1, 20'000), small, row(4, 40'000), small4});
  REQUIRE(v.series.size() == 1);
  REQUIRE(v.series[0].points.size() == 2);
  CHECK(v.series[0].points[0].linear == Approx(80'000));
  CHECK(v.series[0].points[1].linear == Approx(20'000));
  CHECK(v.series[0].worst == Approx(std::max(v.series[0].points[0].error, v.series[0].points[1].error)));
}

TEST_CASE("a wrong setting of the command line is an error, not a reason to skip") {
  const MeasurementFile file = file_of({row(1, 20'000), row(4, 40'000)});
  CHECK_THROWS_AS(validate(file, {.anchor = true, .settings = {"no.such.key=1"}}), InputError);
}

TEST_CASE("a wrong setting of a row skips that row") {
  Measurement odd = row(1, 20'000);
  odd.settings = {{"no.such.key", "1"}};
  const Validation v = anchored({odd});
  CHECK(v.scored == 0);
  CHECK(v.skipped.size() == 1);
}

TEST_CASE("an empty file validates to nothing") {
  const Validation v = anchored({});
  CHECK(v.rows == 0);
  CHECK(v.scored == 0);
  CHECK(v.series.empty());
}

TEST_CASE("only rows on the numbers of GPUs asked for count, the anchor stays") {
  const std::vector<Measurement> rows{row(1, 20'000), row(2, 30'000), row(4, 40'000)};
  const Validation v = validate(file_of(rows), {.anchor = true, .settings = {}, .gpus = {4}});
  CHECK(v.rows == 1);
  CHECK(v.scored == 1);
  CHECK(v.series[0].points[0].gpus == 4);
  CHECK(v.series[0].points[0].linear == Approx(80'000));
  const Validation free = validate(file_of(rows), {.anchor = false, .settings = {}, .gpus = {1, 2}});
  CHECK(free.rows == 2);
  CHECK(free.scored == 2);
}

TEST_CASE("a series without rows on those numbers of GPUs is not looked at") {
  Measurement unknown = row(1, 20'000);
  unknown.model = "no_such_model";
  const Validation v = validate(file_of({unknown}), {.anchor = false, .settings = {}, .gpus = {2}});
  CHECK(v.rows == 0);
  CHECK(v.skipped.empty());
}

TEST_CASE("a scored row carries what it ran") {
  const Validation v = validate(file_of({row(1, 20'000)}), {.anchor = false, .settings = {}});
  const ValidatedRow& ran = v.series.at(0).points.at(0).row;
  CHECK(ran.model == "mnist_net");
  CHECK(ran.cluster == "puhti");
  CHECK(ran.gpu == "v100-sxm2-32gb");
  CHECK(ran.strategy == "ddp");
  CHECK(ran.batch_per_gpu == 64);
}

TEST_CASE("without an anchor a row on one GPU under an unknown strategy is the plain loop") {
  Measurement m = row(1, 20'000);
  m.strategy = "no_such_strategy";
  const Validation free = validate(file_of({m}), {.anchor = false, .settings = {}});
  REQUIRE(free.scored == 1);
  CHECK(free.series[0].points[0].row.strategy == "single");
  CHECK(anchored({m}).skipped.size() == 1);
}

TEST_CASE("a row runs on as many nodes as it says") {
  // Two V100 of one node exchange over NVLink, two of different nodes over InfiniBand.
  std::vector<Measurement> packed{row(1, 300), row(2, 600)}, spread = packed;
  for (std::vector<Measurement>* rows : {&packed, &spread}) {
    for (Measurement& m : *rows) m.model = "vgg16", m.batch_per_gpu = 8;
  }
  spread[1].nodes = 2;
  CHECK(anchored(spread).series[0].points[0].predicted <
        0.95 * anchored(packed).series[0].points[0].predicted);
}

TEST_CASE("a number of nodes that cannot hold the row's GPUs is not believed") {
  std::vector<Measurement> rows{row(1, 20'000), row(8, 40'000)}, wrong = rows;
  wrong[1].nodes = 1;  // Puhti's nodes have four
  CHECK(anchored(wrong).series[0].points[0].predicted == anchored(rows).series[0].points[0].predicted);
}

TEST_CASE("an anchor out of reach is a failure of its group and leaves the others scored") {
  Measurement far = row(1, 2e9), far4 = row(4, 8e9), far8 = row(8, 16e9);
  for (Measurement* m : {&far, &far4, &far8}) m->series = "frames", m->line += 100;
  const Validation v = anchored({far, far4, far8, row(1, 20'000), row(4, 40'000)});
  CHECK(v.rows == 5);
  CHECK(v.scored == 1);
  CHECK(v.skipped.empty());
  CHECK(v.error.median == anchored({row(1, 20'000), row(4, 40'000)}).error.median);
  REQUIRE(v.unreached.size() == 1);
  const UnreachedAnchor& anchor = v.unreached[0];
  CHECK(anchor.series == "frames");
  CHECK(anchor.row == 102);
  CHECK(anchor.gpus == 1);
  CHECK_THAT(anchor.why, ContainsSubstring("cannot be reached"));
  REQUIRE(anchor.unscored.size() == 2);
  CHECK(anchor.unscored[1].gpus == 8);
  CHECK(anchor.unscored[1].row.model == "mnist_net");
  CHECK(anchor.unscored[1].row.gpu == "v100-sxm2-32gb");
  CHECK(std::ranges::none_of(v.series, [](const ValidatedSeries& s) { return s.series == "frames"; }));
}

TEST_CASE("without an anchor no row is out of reach, and a rate says nothing of one") {
  CHECK(validate(file_of({row(1, 2e9)}), {.anchor = false, .settings = {}}).unreached.empty());
  CHECK(anchored({row(1, 2e9, Measurement::Metric::rate), row(4, 8e9, Measurement::Metric::rate)})
            .unreached.empty());
}

TEST_CASE("series and source say nothing of a run unless rules are given") {
  Measurement one = row(1, 20'000), four = row(4, 40'000);
  const Validation plain = anchored({one, four});
  for (Measurement* m : {&one, &four}) m->source = "tensorflow xla trt2 DeepLearningExamples adaptdl";
  const Validation v = anchored({one, four});
  CHECK(v.inferred_settings.empty());
  CHECK(v.provenance.empty());
  CHECK(v.series[0].points[0].predicted == plain.series[0].points[0].predicted);
}

TEST_CASE("rules change what rows run, and the validation says so") {
  ProvenanceRule rule;
  rule.words = {"noisy"}, rule.said_in = "its log";
  rule.settings = {{"loop.hooks", "\"gradient_noise\"", {1, 1, 1}}};
  Measurement one = row(1, 20'000);
  one.source = "a noisy trainer";
  const ValidationOptions told{.anchor = false, .settings = {}, .provenance = {{"p.toml", ""}, {rule}}};
  const Validation v = validate(file_of({one}), told),
                   plain = validate(file_of({one}), {.anchor = false, .settings = {}});
  CHECK(v.provenance == "p.toml");
  CHECK(v.inferred_settings ==
        std::vector<InferredSetting>{{"loop.hooks = \"gradient_noise\"", 1, "its log"}});
  CHECK(v.series[0].points[0].predicted < plain.series[0].points[0].predicted);
}

TEST_CASE("a wrong setting of a rule is a mistake of the file of rules, at its place") {
  ProvenanceRule rule;
  rule.words = {"log"};
  rule.settings = {{"loop.hooks", "\"hugginface\"", {2, 9, 12}}};
  Measurement m = row(1, 20'000);
  m.source = "a log";
  try {
    validate(file_of({m}), {.anchor = true,
                            .settings = {},
                            .provenance = {{"p.toml", "one\nsettings \"hugginface\"\n"}, {rule}}});
    FAIL("taken");
  } catch (const InputError& error) {
    const std::string shown = error.what();
    CHECK_THAT(shown,
               ContainsSubstring(
                   "p.toml:2:9: error: unknown loop.hooks \"hugginface\" (line 2 of the measurements)"));
    CHECK_THAT(shown, ContainsSubstring("did you mean \"huggingface\"?"));
  }
}

TEST_CASE("a series of mirrored over several nodes is the workers' whatever rules say") {
  std::vector<Measurement> rows{row(1, 20'000), row(8, 40'000)};
  for (Measurement& m : rows) m.strategy = "mirrored";
  const Validation v = anchored(rows);
  CHECK(v.inferred_settings ==
        std::vector<InferredSetting>{{"strategy multi_worker_mirrored for mirrored", 2}});
  CHECK(v.series[0].points[0].row.strategy == "multi_worker_mirrored");
}

TEST_CASE("copies of a series, its parts and other anchors are predicted as each is alone") {
  // Series b is a copy of a, c has another anchor, d other numbers of GPUs, and e cannot be predicted.
  std::vector<Measurement> rows;
  const auto add = [&rows](const std::string& series, const std::vector<int>& gpus, double factor) {
    for (const int number : gpus) {
      rows.push_back(row(number, factor * 9000 * number));
      rows.back().series = series, rows.back().line = static_cast<int>(rows.size()) + 1;
      if (series == "e") rows.back().model = "no_such_network";
    }
  };
  add("a", {1, 2, 4}, 1), add("d", {1, 4, 8}, 1), add("c", {1, 2, 4}, 1.1), add("e", {1, 2}, 1);
  add("b", {1, 2, 4}, 1);
  for (const bool with_anchor : {true, false}) {
    const ValidationOptions options{.anchor = with_anchor, .evidence = true};
    const Validation together = validate(file_of(rows), options);
    REQUIRE(together.series.size() == 4);
    CHECK(together.skipped.size() == 2);
    for (const ValidatedSeries& series : together.series) {
      std::vector<Measurement> own;
      std::ranges::copy_if(rows, std::back_inserter(own),
                           [&](const Measurement& m) { return m.series == series.series; });
      const Validation alone = validate(file_of(own), options);
      REQUIRE(alone.series.size() == 1);
      const std::vector<ValidatedPoint>& points = alone.series[0].points;
      REQUIRE(points.size() == series.points.size());
      for (std::size_t i = 0; i < points.size(); ++i) {
        INFO(series.series << " " << points[i].gpus);
        CHECK(series.points[i].predicted == points[i].predicted);
        CHECK(series.points[i].measured == points[i].measured);
        CHECK(series.points[i].low == points[i].low);
        CHECK(series.points[i].linear == points[i].linear);
        CHECK(series.points[i].line == points[i].line);
      }
    }
    CHECK(together.series[0].series == "a");
    CHECK(together.series[3].series == "b");
  }
}

TEST_CASE(
    "five thousand rows of one number of GPUs are one simulation, and no list of five thousand numbers") {
  std::vector<Measurement> rows{row(1, 9000)};
  for (int i = 0; i < 5000; ++i) rows.push_back(row(2, 17000 + i));
  const Validation validation = anchored(rows);
  CHECK(validation.skipped.empty());
  CHECK(validation.scored == 5000);
}

}  // namespace validation_test
