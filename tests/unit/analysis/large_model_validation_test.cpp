// Rows of large models as jobs, and what is said of predictions of them.
#include "sim/analysis/validation/large_model_validation.hpp"

#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/language_shapes.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace large_model_validation_test {

using namespace foretrain;

namespace {

/// A row of the playbook's 1B on eight H100.
LargeModelMeasurement row_of_1b() {
  LargeModelMeasurement row;
  row.source = "owner/repo@1:path", row.model = "Llama-1B", row.params = 1'342'177'280;
  row.layers = 16, row.hidden = 2048, row.heads = 32, row.kv_heads = 32, row.ffn = 8192, row.vocab = 131072;
  row.seq_len = 4096, row.micro_batch = 2, row.global_batch = 256;
  row.tp = 1, row.pp = 1, row.vpp = 1, row.cp = 1, row.ep = 1, row.dp = 8;
  row.sharding = "zero0", row.recompute = "none", row.precision = "bf16", row.gpu = "H100-80GB-SXM";
  row.framework = "nanotron", row.gpus = 8, row.nodes = 1, row.step_s = 3.26456, row.memory_gb = 50.2;
  row.notes = "q=A", row.line = 2;
  return row;
}

LargeModelCase case_of(const LargeModelMeasurement& row) {
  test::use_source_catalogs();
  static std::vector<LargeModelMeasurement> rows;  // cases point to them
  rows = {row};
  LargeModelValidation validation;
  return large_model_cases(rows, {}, validation).front();
}

LargeModelValidation validate(const std::vector<LargeModelMeasurement>& rows,
                              LargeModelOptions options = {}) {
  test::use_source_catalogs();
  return validate_large_models(rows, options);
}

}  // namespace

TEST_CASE("a row's columns are a job, its gate and tied head follow from the parameters") {
  const LargeModelCase found = case_of(row_of_1b());
  REQUIRE(found.why_not.empty());
  CHECK(found.job.shape == test::bench_1b_shape());
  CHECK(found.job.degrees == Degrees{.data = 8});
  CHECK(found.job.micro_batches() == 16);
  CHECK(found.job.framework == LlmFramework::nanotron);
  CHECK(found.job.sharding == ModelSharding::none);
  CHECK(found.job.precision == KernelPrecision::bf16);
  CHECK(found.cluster == "hgx-h100-400g");
}

TEST_CASE("words of a row's texts say how it ran") {
  LargeModelMeasurement row = row_of_1b();
  row.framework = "Megatron-Core 0.9 (NeMo)", row.precision = "fp8 (delayed)",
  row.recompute = "full, 1 block";
  row.sharding = "fsdp4", row.gpu = "GB200";
  const LargeModelCase found = case_of(row);
  CHECK(found.job.framework == LlmFramework::megatron_te);
  CHECK(found.job.precision == KernelPrecision::fp8);
  CHECK(found.job.recompute == Recompute::full);
  CHECK(found.job.sharding == ModelSharding::parameters);
  CHECK(found.job.shard_group == 4);
  CHECK(found.cluster == "coreweave-gb200");
}

TEST_CASE("a source that does not tell the inner width has four times the width") {
  LargeModelMeasurement row = row_of_1b();
  row.ffn.reset();
  const LargeModelCase found = case_of(row);
  REQUIRE(found.why_not.empty());
  CHECK(found.job.shape.inner == 4 * 2048);
}

TEST_CASE("Megatron-DeepSpeed of 2022 keeps all scores, and runs forward again where nobody says otherwise") {
  LargeModelMeasurement row = row_of_1b();
  row.framework = "Megatron-DeepSpeed", row.recompute = "";
  const LargeModelCase found = case_of(row);
  CHECK(found.job.kernels().attention == AttentionKernel::unfused);
  CHECK(found.job.recompute == Recompute::full);
  row.recompute = "none";
  CHECK(case_of(row).job.recompute == Recompute::none);
}

TEST_CASE("rows that ran and are said not to fit are counted") {
  LargeModelMeasurement row = row_of_1b();
  row.micro_batch = 32, row.line = 3;
  const MemoryScore score = memory_score(validate({row_of_1b(), row}));
  CHECK(score.ran == 2);
  CHECK(score.ran_refused == 1);
}

TEST_CASE("replicas are what the other degrees leave, chunks make a schedule interleaved") {
  LargeModelMeasurement row = row_of_1b();
  row.gpus = 64, row.nodes = 8, row.tp = 2, row.pp = 4, row.vpp = 2, row.dp.reset();
  const LargeModelCase found = case_of(row);
  REQUIRE(found.why_not.empty());
  CHECK(found.job.degrees == Degrees{.tensor = 2, .pipeline = 4, .virtual_stages = 2, .data = 8});
  CHECK(found.job.schedule == PipelineSchedule::interleaved);
}

TEST_CASE("experts' sizes come from the catalog's network of the row's name") {
  LargeModelMeasurement row = row_of_1b();
  row.model = "DeepSeek_V3", row.ep = 8, row.layers.reset();
  CHECK(case_of(row).job.shape.experts == test::deepseek_v3_shape().experts);
  row.model = "Nameless-MoE";
  CHECK(case_of(row).why_not == "no network of the catalog is called Nameless-MoE");
}

TEST_CASE("rows that are no job say why") {
  LargeModelMeasurement row = row_of_1b();
  row.hidden.reset();
  CHECK(case_of(row).why_not == "sizes of its layers are missing");
  row = row_of_1b(), row.gpu = "TPU v5";
  CHECK(case_of(row).why_not == "no cluster is known for GPU TPU v5");
  row = row_of_1b(), row.tp = 3;
  CHECK_FALSE(case_of(row).why_not.empty());
}

TEST_CASE("rows are predicted, others are skipped with their line") {
  std::vector<LargeModelMeasurement> rows{row_of_1b(), row_of_1b()};
  rows[1].hidden.reset(), rows[1].line = 3;
  const LargeModelValidation validation = validate(rows);
  CHECK(validation.rows == 2);
  REQUIRE(validation.points.size() == 1);
  REQUIRE(validation.skipped.size() == 1);
  CHECK(validation.skipped[0].row == 3);
  const ValidatedLargeModel& point = validation.points[0];
  CHECK(point.tag == "A");
  CHECK(point.source == "owner/repo");
  CHECK(point.predicted_s > 0.5 * 3.26456);
  CHECK(point.predicted_s < 2 * 3.26456);
  CHECK(point.compute_s + point.exchange_s + point.host_s + point.bubble_s <= point.predicted_s * (1 + 1e-6));
  CHECK(point.mfu_s == Approx(3.26456));  // the best row of its model sets the share
  CHECK(point.roofline_s > 0);
}

TEST_CASE("an anchor's row is exact, and scales those of its series") {
  std::vector<LargeModelMeasurement> rows{row_of_1b(), row_of_1b()};
  rows[1].gpus = 16, rows[1].nodes = 2, rows[1].dp = 16, rows[1].step_s = 1.7;
  const LargeModelValidation plain = validate(rows);
  const LargeModelValidation anchored = validate(rows, {.anchor = true});
  REQUIRE(anchored.points.size() == 2);
  CHECK(anchored.points[0].is_anchor);
  CHECK(anchored.points[0].predicted_s == Approx(3.26456));
  CHECK_FALSE(anchored.points[1].is_anchor);
  const double scale = 3.26456 / plain.points[0].predicted_s;
  CHECK(anchored.points[1].predicted_s == Approx(plain.points[1].predicted_s * scale));
  const auto predicted = [](const ValidatedLargeModel& p) { return p.predicted_s; };
  const std::vector<ErrorGroup> groups = group_large_models(anchored, {"model"}, predicted);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].rows == 1);  // without the anchor
}

TEST_CASE("errors are grouped by any key, worst first") {
  LargeModelValidation validation;
  std::vector<LargeModelMeasurement> rows{row_of_1b(), row_of_1b(), row_of_1b()};
  const double errors[] = {0.1, 0.3, -0.5};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ValidatedLargeModel& point = validation.points.emplace_back();
    point.row = &rows[i], point.predicted_s = rows[i].step_s * (1 + errors[i]);
    point.degrees.tensor = i == 2 ? 2 : 1;
  }
  const auto groups = group_large_models(validation, {"tensor"}, [](const auto& p) { return p.predicted_s; });
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].values == std::vector<std::string>{"TP  2"});
  CHECK(groups[0].error.median == Approx(0.5));
  CHECK(groups[1].rows == 2);
  for (const std::string& key : large_model_keys())
    CHECK_FALSE(group_large_models(validation, {key}, [](const auto& p) { return p.predicted_s; }).empty());
}

TEST_CASE("the order of layouts is compared, and what the predicted best one loses") {
  LargeModelValidation validation;
  std::vector<LargeModelMeasurement> rows(4, row_of_1b());
  const double measured[] = {1.0, 2.0, 3.0, 4.0}, predicted[] = {1.5, 1.2, 3.3, 4.4};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].step_s = measured[i];
    ValidatedLargeModel& point = validation.points.emplace_back();
    point.row = &rows[i], point.predicted_s = predicted[i], point.tag = "A";
    point.degrees = {.tensor = 1 << i, .data = 8 >> i};
  }
  const std::vector<LayoutOrder> orders = layout_orders(validation);
  REQUIRE(orders.size() == 1);
  CHECK(orders[0].layouts == 4);
  // Ranks 2 1 3 4 against 1 2 3 4: 1 - 6 (1 + 1) / (4 (16 - 1)).
  CHECK(orders[0].correlation == Approx(0.8));
  CHECK(orders[0].lost == Approx(1));  // 2.0 instead of 1.0
}

TEST_CASE("memory is scored by its size where a row ran, by the verdict where it did not") {
  LargeModelValidation validation;
  std::vector<LargeModelMeasurement> rows(3, row_of_1b());
  rows[1].fits = false, rows[1].memory_gb = 0, rows[2].fits = false, rows[2].memory_gb = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ValidatedLargeModel& point = validation.points.emplace_back();
    point.row = &rows[i], point.predicted_gb = 55.22, point.capacity_bytes = 80e9;
    point.peak_bytes = i == 1 ? 100e9 : 60e9, point.tag = i == 0 ? "A" : "oom-likely";
  }
  const MemoryScore score = memory_score(validation);
  CHECK(score.rows == 1);
  CHECK(score.error.median == Approx(0.1));  // 55.22 of 50.2
  CHECK(score.fits == 1);
  CHECK(score.fits_right == 1);
  CHECK(score.fails == 2);
  CHECK(score.fails_right == 1);
}

TEST_CASE("a copy of a row is predicted as the row, and each changed column as that row alone") {
  const LargeModelMeasurement plain = row_of_1b();
  std::vector<LargeModelMeasurement> rows(9, plain);
  rows[1].notes = "q=B", rows[1].step_s = 4, rows[1].source = "another@2";
  rows[2].precision = "fp8", rows[3].recompute = "full", rows[4].micro_batch = 1;
  rows[5].sharding = "zero1", rows[6].seq_len = 2048, rows[7].tp = 2, rows[8].layers = 8;
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].line = static_cast<int>(i) + 2;
  const LargeModelValidation together = validate(rows);
  REQUIRE(together.points.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO("row " << i);
    const std::vector<LargeModelMeasurement> own{rows[i]};
    const LargeModelValidation alone = validate(own);
    REQUIRE(alone.points.size() == 1);
    CHECK(together.points[i].predicted_s == alone.points[0].predicted_s);
    CHECK(together.points[i].predicted_gb == alone.points[0].predicted_gb);
    CHECK(together.points[i].source == alone.points[0].source);
    CHECK(together.points[i].tag == alone.points[0].tag);
    CHECK(together.points[i].row == &rows[i]);
    CHECK((together.points[i].predicted_s == together.points[0].predicted_s) == (i < 2));
  }
}

}  // namespace large_model_validation_test
