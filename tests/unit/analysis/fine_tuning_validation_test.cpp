// Rows of published fine-tunings as questions, and how their answers are read.
#include "sim/analysis/validation/fine_tuning_validation.hpp"

#include <algorithm>

#include "sim/scenario/csv/measurements.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "tests/support/catch.hpp"

namespace fine_tuning_validation_test {

using namespace foretrain;

namespace {

constexpr const char* kHeader =
    "source,page,model,params,method,rank,targets,weights_dtype,optimizer,opt_dtype,strategy,offload,"
    "recompute,seq_len,"
    "micro_batch,accumulation,packing,gpu,gpus,nodes,metric,value,notes\n";

std::vector<FineTuningMeasurement> rows(const std::string& lines) {
  const MeasurementFile file = read_or_throw({"rows.csv", kHeader + lines}, read_measurements);
  REQUIRE(file.kind == MeasurementFile::Kind::fine_tunings);
  return file.fine_tunings;
}

bool has(const FineTuningCase& job, const std::string& setting) {
  return std::ranges::find(job.settings, setting) != job.settings.end();
}

}  // namespace

TEST_CASE("a row of a fine-tuning names the network, the card and the keys of a scenario") {
  const auto read = rows(
      "own,p,Llama 3 8B,8.03e+09,qlora,16,\"q,v\",nf4-dq,AdamW fused,\"fp32 (adapters cast "
      "up)\",single,none,full,2048,2,1,"
      "yes,A100-80GB,1,1,memory_gb,14.4,\"[A] peak ALLOCATED; Liger\"\n");
  const FineTuningCase job = fine_tuning_case(read.front());
  CHECK(job.why_not.empty());
  CHECK(job.model == "llama3_8b");
  CHECK(job.gpu == "a100-sxm4-80gb");
  for (const char* setting :
       {"model.adapters.kind=\"lora\"", "model.adapters.rank=16", "model.weights=\"nf4_double\"",
        "model.adapters.targets=[\"q_proj\", \"v_proj\"]", "model.optimizer_form=\"fused\"",
        "model.recompute=true", "model.fused_kernels=[\"linear_cross_entropy\"]",
        "model.sequence_length=2048"}) {
    INFO(setting);
    CHECK(has(job, setting));
  }
  CHECK_FALSE(has(job, "model.adapters.fp32=false"));
  CHECK(read.front().grade() == 'A');
}

TEST_CASE("what no row of the tables knows is skipped with its reason") {
  const auto read = rows(
      "own,p,CogVideoX-2B,,lora,8,,bf16,AdamW,bf16,single,none,none,512,1,1,no,A100-80GB,1,1,memory_gb,9,\n"
      "own,p,Llama 3 8B,,boft,8,,bf16,AdamW,bf16,single,none,none,512,1,1,no,A100-80GB,1,1,memory_gb,9,\n"
      "own,p,Llama 3 8B,,lora,8,,bf16,AdamW,bf16,single,none,none,,1,1,no,A100-80GB,1,1,memory_gb,9,\n");
  const FineTuningValidation validation = validate_fine_tunings(read);
  REQUIRE(validation.skipped.size() == 3);
  CHECK(validation.skipped[0].why == "no network of the catalog is called CogVideoX-2B");
  CHECK(validation.skipped[1].why == "boft is not modelled");
  CHECK(validation.skipped[2].why == "the length of its samples is not told");
}

TEST_CASE("memory, time and verdicts of a fine-tuning are scored apart") {
  const std::string job = "own,p,Llama 3.2 1B,,full,,,bf16,AdamW,bf16,single,none,full,512,1,1,yes,";
  const auto read = rows(job + "A100-80GB,1,1,memory_gb,12,\"[B] peak ALLOCATED\"\n" + job +
                         "A100-80GB,1,1,tokens_per_s,9000,[C] printed\n" + job +
                         "RTX-3090,1,1,fits,1,[A] ran\n" + job + "T4,1,1,fits,0,[A] OOM\n");
  const FineTuningValidation validation = validate_fine_tunings(read);
  REQUIRE(validation.points.size() == 4);
  const auto groups = group_fine_tunings(validation, {"grade"}, [](const auto&) { return true; });
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].values == std::vector<std::string>{"memory", "B"});
  CHECK(groups[1].values == std::vector<std::string>{"time", "C"});
  // Eight bytes a parameter and two while the optimizer steps.
  CHECK(validation.points[0].predicted > 12);
  CHECK(validation.points[0].predicted < 13.5);
  CHECK(validation.points[1].low < validation.points[1].predicted);
  const FitsScore score = fits_score(validation);
  CHECK(score.ran == 1);
  CHECK(score.failed == 1);
}

}  // namespace fine_tuning_validation_test
