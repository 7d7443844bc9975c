// `foretrain explain`, as typed.
#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace explain_command_test {

using namespace foretrain;
using test::ProgramRun;
using test::TemporaryFolder;

namespace {

constexpr const char* kSacct =
    "JobID|JobName|State|Elapsed|Timelimit|AllocTRES|TotalCPU\n"
    "7|vi\033[31mt|COMPLETED|03:20:00|1-00:00:00|cpu=40,gres/gpu:v100=4,mem=160G,node=1|02:00:00\n";
constexpr const char* kScript =
    "#!/bin/bash\n#SBATCH --partition=gpu\n#SBATCH --nodes=1\n#SBATCH --gres=gpu:v100:4\n"
    "#SBATCH --cpus-per-task=40\n#SBATCH --time=1-00:00:00\n"
    "srun torchrun --nproc_per_node=4 train.py --arch resnet50 --batch-size 32 --epochs 3\n";

}  // namespace

TEST_CASE("a job is explained from its accounting alone, also from standard input") {
  const TemporaryFolder folder;
  folder.write("sacct.txt", kSacct);
  const ProgramRun run = folder.run("foretrain explain - < sacct.txt");
  INFO(run.output);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("Job 7 \"vit\": completed"));
  CHECK_THAT(run.output, ContainsSubstring("03:20:00                 standard input:2 (elapsed)"));
  CHECK_THAT(run.output, ContainsSubstring("--time=03:45:00"));
  CHECK_THAT(run.output, ContainsSubstring("- how busy the GPUs were"));
}

TEST_CASE("a job script among the files puts the prediction beside it") {
  const TemporaryFolder folder;
  folder.write("sacct.txt", kSacct);
  folder.write("job.sbatch", kScript);
  const ProgramRun run = folder.run("foretrain explain job.sbatch sacct.txt --set data.samples=1281167");
  INFO(run.output);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("Where the predicted time goes (resnet50 with ddp on puhti)"));
  CHECK_THAT(run.output, ContainsSubstring("It took "));
  const ProgramRun json = folder.run("foretrain explain sacct.txt --scenario job.sbatch --format json");
  CHECK_THAT(json.output, ContainsSubstring("\"schema\": \"foretrain.explanation/1\""));
  CHECK_THAT(json.output, ContainsSubstring("\"exposed_communication_s\""));
}

TEST_CASE("explain --add keeps what the job measured once, however often, and the next prediction knows it") {
  const TemporaryFolder folder;
  std::string hour = kSacct;
  hour.replace(hour.find("03:20:00"), 8, "01:00:00");
  folder.write("sacct.txt", hour);
  folder.write("job.sbatch", kScript);
  const std::string add =
      "foretrain explain job.sbatch sacct.txt --set data.samples=1281167 --add --store own.csv";
  const ProgramRun run = folder.run(add);
  INFO(run.output);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("Kept in own.csv: resnet50 batch 32 on 4 GPUs of puhti, "));
  const std::string once = folder.read("own.csv");
  CHECK_THAT(once, ContainsSubstring("\njob,own,job 7,resnet50,"));
  CHECK(once.find("31m") == std::string::npos);  // of its name
  folder.run(add);
  CHECK(folder.read("own.csv") == once);
  CHECK_THAT(
      folder.run("foretrain predict --model resnet50 --cluster puhti --gpus 4 --evidence own.csv").output,
      ContainsSubstring("ms on 4 GPUs (1 run, your own)"));
  const ProgramRun nothing = folder.run("foretrain explain sacct.txt --add");
  CHECK(nothing.exit_code == 1);
  CHECK_THAT(nothing.output, ContainsSubstring("nothing to keep"));
}

TEST_CASE("a scenario of the catalog is predicted on as many GPUs as the job had") {
  const TemporaryFolder folder;
  folder.write("sacct.txt", kSacct);
  const ProgramRun run = folder.run("foretrain explain sacct.txt --scenario puhti-resnet50-ddp");
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("on puhti)"));
  const ProgramRun bare = folder.run("foretrain explain sacct.txt --model resnet50 --cluster mahti");
  INFO(bare.output);
  CHECK(bare.exit_code == 0);
  CHECK_THAT(bare.output, ContainsSubstring("warning: the job ran on v100, the prediction is for a100"));
}

TEST_CASE("several jobs are a list, of which one can be asked for") {
  const TemporaryFolder folder;
  std::string text = "JobID|State|Elapsed|AllocTRES\n";
  for (int i = 1; i <= 3000; ++i) text += std::to_string(i) + "|COMPLETED|1:00:00|cpu=4,gres/gpu=2\n";
  folder.write("many.txt", text);
  const ProgramRun list = folder.run("foretrain explain many.txt");
  CHECK(list.exit_code == 0);
  CHECK_THAT(list.output, ContainsSubstring("3000 jobs; --job ID explains one of them."));
  CHECK_THAT(folder.run("foretrain explain many.txt --job 17").output,
             ContainsSubstring("Job 17: completed"));
  const ProgramRun none = folder.run("foretrain explain many.txt --job 9999");
  CHECK(none.exit_code == 1);
  CHECK_THAT(none.output, ContainsSubstring("there is no job 9999"));
  CHECK_THAT(folder.run("foretrain explain many.txt --model resnet50 --cluster mahti").output,
             ContainsSubstring("a prediction is of one job, and there are 3000: 1, 2, 3, 4, 5, …"));
}

TEST_CASE("what is no accounting, contradicts or is missing is refused with its place") {
  const TemporaryFolder folder;
  folder.write("sacct.txt", kSacct);
  folder.write("other.txt", "JobId=7 JobState=COMPLETED\n AllocTRES=cpu=40,gres/gpu=8\n");
  folder.write("empty.csv", "hello\n");
  folder.write("job.sbatch", kScript);
  folder.write("seff.txt", "Job ID: 9\nState: COMPLETED (exit code 0)\nCPU Utilized: 1:00\n");
  const auto refused = [&](const std::string& arguments, const std::string& reason) {
    const ProgramRun run = folder.run("foretrain explain " + arguments);
    INFO(arguments << "\n" << run.output);
    CHECK(run.exit_code == 1);
    CHECK_THAT(run.output, ContainsSubstring(reason));
  };
  refused("sacct.txt other.txt", "other.txt:2:1: error: 8 GPUs here, but 4 GPUs in sacct.txt:2 (alloctres)");
  refused("empty.csv missing.txt", "empty.csv: error: this is no accounting of a job that is known");
  refused("job.sbatch", "no file is about a finished job");
  refused("job.sbatch sacct.txt --scenario puhti-resnet50-ddp", "two scenarios");
  refused("seff.txt --model resnet50 --cluster mahti",
          "how many GPUs the job had stands in none of the files");
  CHECK(folder.run("foretrain explain seff.txt --model resnet50 --cluster mahti --gpus 2").exit_code == 0);
}

TEST_CASE("a line for a mail says what a job showed and what the next one asks for") {
  const TemporaryFolder folder;
  const std::string seff = std::string(FORETRAIN_SOURCE_DIR) + "/docs/tutorials/accounting/seff.txt";
  const ProgramRun run = folder.run("foretrain explain - --format line < " + seff);
  CHECK(run.exit_code == 0);
  CHECK(run.output ==
        "foretrain: job 4217: Its GPUs worked 41 % of the time. The next job: --time=05:45:00, --mem=109G, "
        "num_workers=16.\n");
}

}  // namespace explain_command_test
