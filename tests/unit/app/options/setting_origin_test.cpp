// A message about a setting names what gave it, and no option that nobody typed.
#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace setting_origin_test {

using namespace foretrain;
using test::ProgramRun;
using test::TemporaryFolder;

namespace {

/// Runs a command that is refused with this message, which has no --set in it.
void refuse(const TemporaryFolder& folder, const std::string& line, const std::string& message) {
  const ProgramRun run = folder.run("foretrain " + line);
  INFO(line << "\n" << run.output);
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.output, ContainsSubstring(message));
  CHECK(run.output.find("--set") == std::string::npos);
}

}  // namespace

TEST_CASE("an option that is short for a setting is named as it was typed") {
  const TemporaryFolder folder;
  const std::string job = " --model gpt2 --cluster mahti --gpus 4 ";
  refuse(folder, "predict" + job + "--precision foo", "--precision foo:1:17: error: unknown model.precision");
  refuse(folder, "compare" + job + "--strategies ddp --precision foo", "--precision foo:1:17: error: ");
  refuse(folder, "predict" + job + "--epochs many", "--epochs many:1:12: error: run.epochs must be");
  refuse(folder, "plan" + job + "--sequence 0", "--sequence 0:1:19: error: parallel.sequence must be");
  refuse(folder, "model show gpt2 --precision foo", "--precision foo:1:17: error: ");
}

TEST_CASE("a key of a settings file is named by its place") {
  const TemporaryFolder folder;
  folder.write("args.json", "{\n  \"per_device_train_batch_size\": 5000000\n}\n");
  refuse(folder, "predict --model gpt2 --cluster mahti --gpus 4 --settings args.json",
         "args.json:2:34: error: model.batch_per_gpu must be an integer from 1 to 1000000 (it comes to "
         "model.batch_per_gpu=5000000)");
}

TEST_CASE("what a command adds by itself is the command's") {
  const TemporaryFolder folder;
  refuse(folder, "plan --model resnet50 --cluster mahti --gpus 8",
         "foretrain plan: error: resnet50 has no degrees: it begins with no embedding");
  folder.write("job.txt",
               "JobID|JobName|State|Elapsed|Timelimit|AllocTRES|TotalCPU\n"
               "7|train|COMPLETED|00:10:00|01:00:00|cpu=40,gres/gpu=100000,node=25000|00:05:00\n");
  const std::string asked = "explain job.txt --model resnet50 --cluster mahti";
  refuse(folder, asked, "the job's own number of GPUs: error: cluster mahti has 96 GPUs");
  refuse(folder, asked + " --gpus 100000", "--gpus 100000:1:1: error: cluster mahti has 96 GPUs");
}

TEST_CASE("an option that only stands for another is not named in its place") {
  const TemporaryFolder folder;
  refuse(folder, "predict csc-mnist-ddp mahti-resnet50-ddp --sbatch job",
         "error: --sbatch is about one scenario");
  refuse(folder, "predict csc-mnist-ddp mahti-resnet50-ddp --job-script job",
         "error: --job-script is about one");
  refuse(folder, "predict csc-mnist-ddp mahti-resnet50-ddp --recommend", "error: --recommend is about one");
}

}  // namespace setting_origin_test
