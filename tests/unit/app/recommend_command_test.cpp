// foretrain predict --recommend as people run it: the request, its options and their mistakes, the job
// scripts it writes.
#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace recommend_command_test {

using namespace foretrain;
using nlohmann::json;
using test::ProgramRun;
using test::TemporaryFolder;

namespace {

const std::string kQuestion =
    "foretrain predict --model mnist_net --cluster puhti --gpus 1-4,8,16 --set data.samples=6000000 --set "
    "run.epochs=50 ";

ProgramRun asked(const std::string& options) { return TemporaryFolder().run(kQuestion + options); }

json best_of(const std::string& options) {
  const ProgramRun run = asked("--format json " + options);
  INFO(run.output);
  REQUIRE(run.exit_code == 0);
  return json::parse(run.output)["recommendation"]["best"];
}

void check_refused(const std::string& options, const std::vector<std::string>& messages) {
  const ProgramRun run = asked(options);
  INFO(options << ": " << run.output);
  CHECK(run.exit_code == 1);
  for (const std::string& message : messages) CHECK_THAT(run.output, ContainsSubstring(message));
}

/// What `job show` reads of a file that --sbatch or --condor wrote, and the job it was written for.
struct ReadBack {
  json best, script;
};

ReadBack read_back(const std::string& line, const std::string& option) {
  const TemporaryFolder folder;
  const ProgramRun run = folder.run(line + " --format json " + option + " written");
  INFO(run.output);
  REQUIRE(run.exit_code == 0);
  const ProgramRun shown = folder.run("foretrain job show written --format json");
  INFO(folder.read("written") << shown.output);
  REQUIRE(shown.exit_code == 0);
  return {json::parse(run.output)["recommendation"]["best"], json::parse(shown.output)};
}

void check_same_job(const ReadBack& both) {
  INFO(both.script.dump(1));
  const json& fields = both.script["fields"];
  CHECK(fields["nodes"]["value"] == both.best["nodes"]);
  CHECK(fields["nodes"]["value"].get<int>() * fields["gpus_per_node"]["value"].get<int>() ==
        both.best["gpus"].get<int>());
  CHECK(fields["time_limit_s"]["value"].get<double>() == both.best["time_limit_s"].get<double>());
  CHECK(both.script["not_understood"].empty());
  CHECK(both.script["mistakes"].empty());
  CHECK(both.script["warnings"].empty());
}

}  // namespace

TEST_CASE("a recommendation is a request that can be copied, and a table of three jobs") {
  const TemporaryFolder folder;
  const ProgramRun run = folder.run(
      "foretrain predict mahti-resnet50-ddp --gpus 1-4,8 --recommend --deadline 12h --goal cheapest "
      "--details");
  INFO(run.output);
  REQUIRE(run.exit_code == 0);
  CHECK_THAT(run.output,
             ContainsSubstring("\nAsk for ") &&
                 ContainsSubstring(" of mahti, partition gpumedium with ddp (the cheapest job).\n"));
  CHECK_THAT(run.output, ContainsSubstring("--gres=gpu:a100:4 --time="));
  CHECK_THAT(run.output, ContainsSubstring("\n  GPUs nodes             strategy "));
  CHECK(folder.entries() == 0);
}

TEST_CASE("each option about the job asks for a recommendation") {
  for (const char* option : {"--recommend", "--goal balanced", "--deadline 100d", "--budget 1e6",
                             "--price 2.5", "--queue-wait 1h"}) {
    INFO(option);
    CHECK_THAT(asked(option).output, StartsWith("Ask for "));
  }
  CHECK(asked("").output.find("Ask for") == std::string::npos);
}

TEST_CASE("goals differ, limits are kept, a price is the cost") {
  const json cheap = best_of("--goal cheapest"), fast = best_of("--goal fastest");
  CHECK(fast["total_s"] < cheap["total_s"]);
  CHECK(fast["gpu_hours"] > cheap["gpu_hours"]);
  const double budget = 0.5 * (fast["gpu_hours"].get<double>() + cheap["gpu_hours"].get<double>());
  CHECK(best_of("--goal fastest --budget " + std::to_string(budget))["gpu_hours"].get<double>() <= budget);
  const double deadline = 0.5 * cheap["total_interval"]["high_s"].get<double>();
  CHECK(best_of("--goal cheapest --deadline " + std::to_string(deadline) + "s")["total_interval"]["high_s"]
            .get<double>() <= deadline);
  const json priced = best_of("--price 2.5");
  CHECK(priced["cost"].get<double>() == Approx(2.5 * priced["gpu_hours"].get<double>()));
}

TEST_CASE("waits in the queue are for all numbers of GPUs, or for one") {
  const json fast = best_of("--goal fastest --queue-wait 30min,7777=4h"), total = fast["total_s"];
  CHECK(fast["time_to_result_s"].get<double>() == Approx(total.get<double>() + 1800));
  const std::string gpus = std::to_string(fast["gpus"].get<int>());
  CHECK(best_of("--goal fastest --queue-wait 30min," + gpus + "=4h")["time_to_result_s"].get<double>() ==
        Approx(total.get<double>() + 14'400));
  CHECK_THAT(asked("--queue-wait 1h --details").output, ContainsSubstring("with queue"));
  CHECK(asked("--recommend").output.find("with queue") == std::string::npos);
}

TEST_CASE("wrong durations and numbers of GPUs are reported all at once, with how to write them") {
  check_refused("--deadline tomorrow --queue-wait 0s,x=1h,8=soon,0=1h",
                {"--deadline: \"tomorrow\" does not start with a number", "as in 8h or 90min",
                 "--queue-wait: a duration is longer than zero", "--queue-wait: \"x\" is no number of GPUs",
                 "as in --queue-wait 30min,8=4h", "--queue-wait: \"soon\" does not start with a number",
                 "\"0\" is no number of GPUs", "5 errors"});
  check_refused("--deadline 0h", {"--deadline: \"0h\" leaves no time to train", "as in 24h or 3d"});
  check_refused("--deadline 2026-11-20", {"is a date; a deadline counts from the start of the run"});
  check_refused("--deadline 20.11.2026", {"is a date"});
  check_refused("--deadline 8GB", {"--deadline: \"8GB\" is a size, a time is needed"});
  check_refused("--deadline -1h", {"--deadline: \"-1h\" is negative: that deadline has passed"});
  check_refused("--budget nan --price nan", {"--budget: nan is no number", "--price: nan is no number"});
}

TEST_CASE("options that contradict each other are a mistake") {
  const auto listed = [](const std::string& options) {
    return TemporaryFolder().run("foretrain predict mahti-resnet50-ddp " + options);
  };
  const ProgramRun gpus = listed("--gpus 2,4 --max-gpus 1"),
                   nodes = listed("--gpus 8 --goal fastest --max-nodes 1");
  CHECK(gpus.exit_code == 1);
  CHECK_THAT(gpus.output,
             ContainsSubstring("--gpus lists only numbers above 1, which --max-gpus does not allow"));
  CHECK(nodes.exit_code == 1);
  CHECK_THAT(nodes.output, ContainsSubstring("--gpus lists only jobs on more than 1 node, which"));
  check_refused("--goal fastest --efficiency 80",
                {"--efficiency decides a balanced job, and --goal is fastest"});
  check_refused("--deadline 8h --efficiency 80", {"--efficiency decides nothing with --deadline"});
}

TEST_CASE("a deadline gets the smallest job that keeps it, with its probability") {
  const json best = best_of("--deadline 100d");
  CHECK(best["gpus"] == 1);
  CHECK(best["deadline_probability"].get<double>() > 0.95);
  CHECK(best_of("--recommend")["deadline_probability"].is_null());
  CHECK_THAT(asked("--deadline 100d").output,
             ContainsSubstring("inside your 100 days\nwith more than 99 % probability."));
}

TEST_CASE("unknown goals and impossible numbers are wrong usage") {
  for (const char* option : {"--goal soon", "--budget 0", "--budget -5", "--price free"}) {
    INFO(option);
    const ProgramRun run = asked(option);
    CHECK(run.exit_code == 2);
    CHECK_THAT(run.output, ContainsSubstring("--help"));
  }
}

TEST_CASE("a recommendation needs the number of samples") {
  const ProgramRun run =
      TemporaryFolder().run("foretrain predict --model mnist_net --cluster puhti --recommend");
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.output,
             ContainsSubstring("how long is an epoch?") && ContainsSubstring("--set data.samples="));
}

TEST_CASE("a recommendation is about one scenario, not about several nor a study") {
  const TemporaryFolder folder;
  const std::string small =
      "[model]\nname = \"mnist_net\"\n[cluster]\nname = \"puhti\"\n[data]\nsamples = 6000\n[run]\ngpus = "
      "[1]\n";
  folder.write("a.toml", small);
  folder.write("b.toml", small);
  folder.write("study.toml", small + "[study]\nbatch = [32, 64]\n");
  const ProgramRun several = folder.run("foretrain predict a.toml b.toml --recommend");
  CHECK(several.exit_code == 1);
  CHECK_THAT(several.output, ContainsSubstring("--recommend is about one scenario, not several"));
  const ProgramRun study = folder.run("foretrain predict study.toml --sbatch job.sh");
  CHECK(study.exit_code == 1);
  CHECK_THAT(study.output,
             ContainsSubstring("--sbatch is about one scenario, not the combinations of a study"));
  CHECK(folder.entries() == 3);
}

TEST_CASE("the JSON of predict has the recommendation, what the total depends on, and every interval") {
  const ProgramRun run = asked("--recommend --sensitivity --format json");
  REQUIRE(run.exit_code == 0);
  const json out = json::parse(run.output);
  const json& recommendation = out["recommendation"];
  for (const char* key : {"goal", "cost_unit", "best", "runners_up", "why_none", "notes"})
    CHECK(recommendation.contains(key));
  CHECK(recommendation["goal"] == "balanced");
  CHECK(recommendation["cost_unit"] == "BU");
  CHECK(recommendation["why_none"].is_null());
  CHECK(recommendation["runners_up"].size() == 2);
  for (const char* key : {"gpus", "nodes", "strategy", "partition", "time_limit_s", "jobs", "total_s",
                          "time_to_result_s", "gpu_hours", "cost"})
    CHECK(recommendation["best"].contains(key));
  for (const char* key : {"gpus", "total_s", "interval", "inputs", "measure"})
    CHECK(out["sensitivity"].contains(key));
  CHECK_FALSE(out["sensitivity"]["inputs"].empty());
  for (const char* key :
       {"interval", "epoch_interval", "total_interval", "speedup_interval", "chance_of_gain"})
    CHECK(out["points"][0].contains(key));
  CHECK(out.contains("crossover_interval"));
  CHECK_FALSE(json::parse(asked("--format json").output).contains("recommendation"));
}

TEST_CASE("a written sbatch script is read back as the job that was recommended, without a warning") {
  const ReadBack balanced = read_back(kQuestion, "--sbatch"),
                 one = read_back(kQuestion + "--budget 1e6 --goal cheapest", "--sbatch");
  check_same_job(balanced);
  check_same_job(one);
  CHECK(one.script["batch_system"] == "slurm");
  CHECK(one.script["fields"]["partition"]["value"] == "gpu");
  CHECK(one.script["fields"]["gpu_type"]["value"] == "v100");
}

TEST_CASE("a written submit file is read back as the job that was recommended") {
  const std::string pool =
      "foretrain predict --model mnist_net --cluster chtc-a100-40gb --gpus 1-4 --set data.samples=6000000 ";
  const ReadBack both = read_back(pool + "--goal fastest", "--condor");
  check_same_job(both);
  CHECK(both.script["batch_system"] == "htcondor");
  CHECK(both.script["fields"]["requirements"]["value"] == "Capability == 8.0 && GlobalMemoryMb < 45000");
  CHECK_THAT(TemporaryFolder().run(pool + "--goal fastest").output, ContainsSubstring("request_gpus = "));
}

TEST_CASE("a recommended script is predicted as it was recommended") {
  const TemporaryFolder folder;
  const ProgramRun first =
      folder.run(kQuestion + "--set data.workers_per_gpu=8 --goal fastest --sbatch job.sh --format json");
  REQUIRE(first.exit_code == 0);
  const json best = json::parse(first.output)["recommendation"]["best"];
  const ProgramRun again =
      folder.run("foretrain predict job.sh --model mnist_net --set data.samples=6000000 --format json");
  INFO(again.output);
  REQUIRE(again.exit_code == 0);
  const json points = json::parse(again.output)["points"];
  CHECK(points.back()["gpus"] == best["gpus"]);
  CHECK(points.back()["total_s"].get<double>() ==
        Approx(best["total_s"].get<double>()).epsilon(0.05));  // launchers import, too
}

TEST_CASE("a job script can be the question") {
  const TemporaryFolder folder;
  folder.write("job.sh",
               "#!/bin/bash\n#SBATCH --partition=gpu\n#SBATCH --nodes=1\n#SBATCH --gres=gpu:v100:2\n#SBATCH "
               "--time=10:00:00\n#SBATCH --cpus-per-task=20\n"
               "srun torchrun --standalone --nproc_per_node=2 train.py --epochs 50\n");
  const ProgramRun run = folder.run(
      "foretrain predict job.sh --model mnist_net --set data.samples=6000000 --goal fastest --format json");
  INFO(run.output);
  REQUIRE(run.exit_code == 0);
  CHECK(json::parse(run.output)["recommendation"]["best"]["gpus"] >
        2);  // more than the script's own two on a node
}

TEST_CASE("when no job keeps the limits the report says so, and no script is written") {
  const ProgramRun report = asked("--deadline 1s");
  CHECK(report.exit_code == 0);
  CHECK_THAT(report.output,
             StartsWith("No job keeps the limits: on ") && ContainsSubstring("and the deadline is 1 s."));
  const TemporaryFolder folder;
  const ProgramRun run = folder.run(kQuestion + "--deadline 1s --sbatch job.sh --condor job.sub -o out.txt");
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.output, ContainsSubstring("there is no job to write a script for: on ") &&
                             ContainsSubstring("the deadline is 1 s"));
  CHECK(folder.entries() == 0);
  const json none = json::parse(asked("--deadline 1s --format json").output)["recommendation"];
  CHECK(none["best"].is_null());
  CHECK_THAT(none["why_none"].get<std::string>(), ContainsSubstring("the deadline is 1 s"));
}

TEST_CASE("no script is written when the report itself is refused") {
  const TemporaryFolder folder;
  const ProgramRun run = folder.run(
      "foretrain predict mahti-resnet50-ddp --gpus 1 --scaling both --format html --sbatch job.sh");
  INFO(run.output);
  CHECK(run.exit_code == 1);
  CHECK(folder.entries() == 0);
}

}  // namespace recommend_command_test
