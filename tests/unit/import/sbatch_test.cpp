// Slurm's options: every form of counts, times, memory and GPUs; what Slurm ignores; what follows by rule.
#include "sim/import/jobs/sbatch.hpp"

#include "sim/import/jobs/slurm_values.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/import/scripts.hpp"

namespace sbatch_test {

using namespace foretrain;
using test::open_lines;
using test::shown;
using test::slurm;

TEST_CASE("times of Slurm are minutes, or days, hours, minutes and seconds") {
  CHECK(slurm_time("15") == 15 * 60);
  CHECK(slurm_time("15:30") == 15 * 60 + 30);
  CHECK(slurm_time("01:02:03") == 3723);
  CHECK(slurm_time("0-2") == 2 * 3600);
  CHECK(slurm_time("1-00:00") == 86400);
  CHECK(slurm_time("2-12:30:05") == 2 * 86400 + 12 * 3600 + 30 * 60 + 5);
  CHECK(slurm_time_text(3723) == "01:02:03");
  CHECK(slurm_time_text(2 * 86400 + 12 * 3600 + 30 * 60 + 5) == "2-12:30:05");
  CHECK(slurm_time("UNLIMITED") == 0);
  for (const char* wrong :
       {"", "x", "1:2:3:4", "-5", "1-", "1-x", "1.5", "99999999999999999999", "1-1:1:1:1"})
    CHECK_FALSE(slurm_time(wrong));
}

TEST_CASE("memory of Slurm is in MB without a unit, units are powers of two, 0 is all of the node") {
  CHECK(slurm_memory("17500")->bytes.count == 17500ll << 20);
  CHECK(slurm_memory("64G")->bytes.count == 64ll << 30);
  CHECK(slurm_memory("64GB")->bytes.count == 64ll << 30);
  CHECK(slurm_memory("2t")->bytes.count == 2ll << 40);
  CHECK(slurm_memory("1024K")->bytes.count == 1 << 20);
  CHECK(slurm_memory("0")->whole_node);
  for (const char* wrong : {"", "G", "12Q", "-4G", "1.5G", "99999999999999999999G", "9999999999T"})
    CHECK_FALSE(slurm_memory(wrong));
}

TEST_CASE("generic resources are taken apart into GPUs and others") {
  CHECK(slurm_gpus("gpu:a100:4,nvme:200", true).count == 4);
  CHECK(slurm_gpus("gpu:a100:4,nvme:200", true).type == "a100");
  CHECK(slurm_gpus("nvme:200,gpu:2", true).count == 2);
  CHECK(slurm_gpus("gpu", true).count == 1);
  CHECK(slurm_gpus("gpu:tesla", true).type == "tesla");
  CHECK(slurm_gpus("gres/gpu:3", true).count == 3);
  CHECK(slurm_gpus("nvme:200", true).none);
  CHECK(slurm_gpus("a100:4", false).count == 4);
  CHECK(slurm_gpus("4", false).count == 4);
  CHECK(is_slice(slurm_gpus("gpu:a100_1g.5gb:1", true).type));
  CHECK_FALSE(is_slice("a100"));
  CHECK_FALSE(slurm_gpus("a:b:c", false).problem.empty());
  CHECK_FALSE(slurm_gpus("gpu:a100:2,gpu:v100:2", true).problem.empty());
}

TEST_CASE("arrays are counted") {
  CHECK(slurm_array("1-10%2") == 10);
  CHECK(slurm_array("0-15:4") == 4);
  CHECK(slurm_array("1,3,5-7") == 5);
  CHECK(slurm_array("7") == 1);
  for (const char* wrong : {"", "a", "5-1", "1-5:0", "0-99999999999"}) CHECK_FALSE(slurm_array(wrong));
}

TEST_CASE("options are read with =, with a blank, as letters and stuck to them") {
  for (const char* text : {"--nodes=2\n--ntasks-per-node=4\n--cpus-per-task=8\n--partition=gpu\n--time=1:00:"
                           "00\n--gres=gpu:v100:4",
                           "--nodes 2\n--ntasks-per-node 4\n--cpus-per-task 8\n--partition gpu\n--time "
                           "1:00:00\n--gres gpu:v100:4",
                           "-N 2\n--tasks-per-node=4\n-c 8\n-p gpu\n-t 60\n--gpus-per-node=v100:4",
                           "-N2 --ntasks-per-node=4 -c8 -pgpu -t1:0:0 --gres=gpu:v100:4"}) {
    const JobScript script = slurm(text);
    INFO(text);
    CHECK(shown(script.resources.nodes) == "2");
    CHECK(shown(script.resources.tasks) == "8");
    CHECK(shown(script.resources.cpus_per_task) == "8");
    CHECK(shown(script.resources.cpus_per_node) == "32");
    CHECK(shown(script.resources.gpus_per_node) == "4");
    CHECK(shown(script.resources.gpus) == "8");
    CHECK(script.request.seconds->value == 3600);
    CHECK(shown(script.request.partition) == "gpu");
    CHECK(open_lines(script).empty());
  }
}

TEST_CASE("a field knows its line and column") {
  const JobScript script = slurm("--account=abc\n--gres=gpu:2  # two");
  CHECK(script.resources.gpus_per_node->span == SourceSpan{3, 9, 12});
  CHECK(script.request.account->span.line == 2);
}

TEST_CASE("trailing comments, disabled directives, tabs and Windows line ends are no part of a value") {
  const JobScript script = test::script_of(
      "#!/bin/bash\r\n#SBATCH --nodes=2\t# two nodes\r\n##SBATCH --nodes=8\r\n#SBATCH --gres=gpu:4\r\nsrun "
      "python train.py\r\n");
  CHECK(shown(script.resources.nodes) == "2");
  CHECK(shown(script.resources.gpus_per_node) == "4");
  CHECK(test::launch_of(script) == "srun 1 train.py");
  REQUIRE_FALSE(script.remarks.empty());
  CHECK_THAT(script.remarks[0].why, ContainsSubstring("Windows line ends"));
}

TEST_CASE(
    "a backslash stands for the character behind it, in either kind of quotes, as sbatch reads directives") {
  const auto partition = [](const std::string& value) {
    return shown(slurm("--nodes=1\n--partition=" + value).request.partition);
  };
  CHECK(partition("'a b'") == "a b");
  CHECK(partition("'a\\'b\\\\'") == "a'b\\");
  CHECK(partition("\"a\\\"b\"") == "a\"b");
  CHECK(partition("a\\ b") == "a b");
  CHECK(partition("a\\") == "a\\");
}

TEST_CASE("the last of several directives counts") {
  const JobScript script = slurm("--nodes=2\n--gres=gpu:2\n--nodes=4\n--gpus-per-node=4");
  CHECK(shown(script.resources.nodes) == "4");
  CHECK(shown(script.resources.gpus_per_node) == "4");
  REQUIRE(script.remarks.size() == 1);
  CHECK(script.remarks[0].span.line == 5);
}

TEST_CASE("directives behind the first command are ignored, with a remark") {
  const JobScript script = slurm("--nodes=2", "module load pytorch\n#SBATCH --nodes=8\n");
  CHECK(shown(script.resources.nodes) == "2");
  REQUIRE(script.remarks.size() == 1);
  CHECK(script.remarks[0].span.line == 4);
}

TEST_CASE("lines that were meant as directives get a remark") {
  const JobScript script =
      slurm("--nodes=2", "# SBATCH --gres=gpu:1\n#sbatch -n 4\n#SBTACH --mem=1G\n# nothing\n");
  CHECK(script.remarks.size() == 3);
}

TEST_CASE(
    "variables in directives, unknown options and values that are none are not understood, with their "
    "lines") {
  const JobScript script = slurm(
      "--nodes=$N\n--ntask=4\n--time=soon\n--mem=lots\n--gres=gpu:x:y:z\n--cpus-per-task=\n--argos="
      "no");
  CHECK(open_lines(script) ==
        "2: Slurm puts no variables into #SBATCH lines: it takes the text as it stands; 3: no option of "
        "Slurm: did you mean --ntasks?; "
        "4: \"soon\" is no time; as in 1-12:00:00 or 90 (minutes); 5: \"lots\" is no amount of memory; 6: "
        "\"gpu:x:y:z\" is no number of "
        "GPUs; "
        "7: \"\" is no count; 8: no option of Slurm that is known here");
}

TEST_CASE("what a request leaves open follows by Slurm's rules") {
  CHECK(shown(slurm("--ntasks=8 --ntasks-per-node=4").resources.nodes) == "2");
  CHECK(shown(slurm("-n 8 -c 4").resources.nodes) == "1");
  CHECK(shown(slurm("-N 3").resources.tasks) == "3");
  CHECK(shown(slurm("-N 3 --ntasks-per-node=2").resources.tasks) == "6");
  CHECK(shown(slurm("-G 4").resources.gpus) == "4");
  CHECK(shown(slurm("-N2 -G 8").resources.gpus_per_node) == "4");
  CHECK(shown(slurm("--ntasks=4 --gpus-per-task=1").resources.gpus) == "4");
  CHECK(shown(slurm("--gpus=8 --gpus-per-node=4").resources.nodes) == "2");
  CHECK(shown(slurm("--gpus=8 --gpus-per-task=1").resources.tasks) == "8");
  CHECK(shown(slurm("-N 2 --gpus-per-node=4 --ntasks-per-gpu=1").resources.tasks) == "8");
  CHECK(shown(slurm("--gres=gpu:4 --cpus-per-gpu=10").resources.cpus_per_node) == "40");
  CHECK(slurm("--gres=gpu:4 --mem-per-gpu=60G").resources.memory_per_node->value.bytes.count == 240ll << 30);
  CHECK(slurm("-n 4 -c 2 --mem-per-cpu=4G").resources.memory_per_node->value.bytes.count == 32ll << 30);
  CHECK(shown(slurm("--nodes=2-4").resources.nodes) == "-");
  CHECK(shown(slurm("--nodes=2-4 -n 12 --ntasks-per-node=4").resources.nodes) == "3");
  CHECK(shown(slurm("--time=10").resources.gpus) == "0");
}

TEST_CASE("a script without a request has no resources") {
  const JobScript script = test::script_of("#!/bin/bash\nsrun --ntasks=2 python train.py\n");
  CHECK(shown(script.resources.nodes) == "-");
  CHECK(shown(script.resources.gpus) == "-");
  CHECK(test::launch_of(script) == "srun - train.py");
}

TEST_CASE("jobs asked for on a command line") {
  const JobScript smux =
      test::script_of("smux new-session --ntasks=2 --gres=gpu:1 --partition=m3h --time=1:00:00\n");
  CHECK(shown(smux.resources.gpus) == "1");
  CHECK(shown(smux.request.partition) == "m3h");
  const JobScript srun =
      test::script_of("srun -p gpu --gres=gpu:2 --ntasks-per-node=2 -N 1 python train.py\n");
  CHECK(shown(srun.resources.gpus) == "2");
  CHECK(test::launch_of(srun) == "srun 2 train.py");
  const JobScript wrap =
      test::script_of("sbatch --gres=gpu:4 -t 60 --wrap=\"torchrun --nproc_per_node=4 train.py\"\n");
  CHECK(shown(wrap.resources.gpus) == "4");
  CHECK(test::launch_of(wrap) == "torchrun 4 train.py");
}

TEST_CASE("a script in a here-document of sbatch is the job, with its own lines") {
  const JobScript script = test::script_of(
      "#!/bin/bash\nG=4\nsbatch <<EOF\n#!/bin/bash\n#SBATCH --gres=gpu:$G\n#SBATCH --nodes=1\nsrun torchrun "
      "--nproc_per_node=$G "
      "train.py\nEOF\n");
  CHECK(shown(script.resources.gpus) == "4");
  CHECK(script.resources.gpus->span.line == 5);
  CHECK(test::launch_of(script) == "torchrun 4 train.py");
  CHECK(script.launch.started_by->span.line == 7);
}

TEST_CASE("scripts of other systems are named") {
  CHECK_THROWS_WITH(test::script_of("#!/bin/bash\n#COBALT -n 2\n"),
                    ContainsSubstring("job.sh:2:1: error: is a script for Cobalt, which is not read"));
  CHECK_THROWS_WITH(test::script_of("#OAR -l nodes=2\n"), ContainsSubstring("those of Slurm, PBS, LSF"));
  CHECK_THROWS_WITH(test::script_of(std::string("#!\0x", 4)), ContainsSubstring("is no text"));
}

TEST_CASE("job scripts are told from scenarios by their text") {
  CHECK(is_job_script("#!/bin/bash\n"));
  CHECK(is_job_script("\n#SBATCH -N 1\n"));
  CHECK(is_job_script("executable = a.sh\nrequest_gpus = 1\nqueue\n"));
  CHECK(is_job_script("smux new-session --gres=gpu:1\n"));
  CHECK(is_job_script("#PBS -l nodes=2\n"));
  CHECK_FALSE(is_job_script("[model]\nname = \"resnet50\"\n"));
  CHECK_FALSE(is_job_script("# queue\nnote = \"x\"\n[run]\ngpus = [1]\n"));
}

}  // namespace sbatch_test
