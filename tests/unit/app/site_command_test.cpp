// A site with several kinds of nodes, as typed: imported from its sinfo, checked, and predicted by partition.
#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace site_command_test {

using namespace foretrain;
using test::ProgramRun;
using test::TemporaryFolder;

namespace {

std::string published(const std::string& name) {
  return std::string(FORETRAIN_SOURCE_DIR) + "/tests/unit/import/sites/" + name;
}

/// Two nodes with so many GPUs each, one process for each.
std::string script(const std::string& directives, int gpus) {
  const std::string count = std::to_string(gpus);
  return "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=" + count +
         "\n#SBATCH --cpus-per-task=4\n" + directives + "srun python train.py --batch-size 32\n";
}

}  // namespace

TEST_CASE("MASSIVE M3 is imported, checked and predicted by partition") {
  const TemporaryFolder folder;
  REQUIRE(folder.run("foretrain topology import " + published("m3.sinfo") + " -o m3.toml").exit_code == 0);
  const ProgramRun check = folder.run("foretrain topology check ./m3.toml");
  CHECK(check.exit_code == 0);
  CHECK_THAT(check.output, ContainsSubstring("5 kinds of node, of which a job gets one: no faults") &&
                               ContainsSubstring("m3/v100: 18 nodes with 3 x v100"));
  folder.write("v100.sh", script("#SBATCH -p m3g --gres=gpu:V100:3\n", 3));
  CHECK(folder.run("foretrain job check v100.sh --cluster ./m3.toml").exit_code == 0);
  const ProgramRun v100 = folder.run("foretrain predict v100.sh --cluster ./m3.toml --model resnet50");
  CHECK(v100.exit_code == 0);
  CHECK_THAT(v100.output, ContainsSubstring("resnet50 on m3/v100"));
  const ProgramRun p100 = folder.run("foretrain predict --cluster ./m3.toml/m3h --model resnet50 --gpus 2");
  CHECK_THAT(p100.output, ContainsSubstring("resnet50 on m3/p100"));
  folder.write("wrong.sh", script("#SBATCH -p m3h --gres=gpu:V100:3\n", 3));
  for (const char* command : {"foretrain job check wrong.sh --cluster ./m3.toml",
                              "foretrain predict wrong.sh --cluster ./m3.toml --model resnet50"}) {
    const ProgramRun wrong = folder.run(command);
    CHECK(wrong.exit_code == 1);
    CHECK_THAT(wrong.output, ContainsSubstring("wrong.sh:5:") &&
                                 ContainsSubstring("GPUs of type V100 are asked for, but partition m3h of "
                                                   "./m3.toml has p100: 16 nodes with 2x p100"));
  }
  const ProgramRun open = folder.run("foretrain predict --cluster ./m3.toml --model resnet50");
  CHECK(open.exit_code == 1);
  CHECK_THAT(open.output, ContainsSubstring("5 kinds of nodes, and a job gets one"));
}

TEST_CASE("Jean Zay is imported, checked and predicted by partition and feature") {
  const TemporaryFolder folder;
  REQUIRE(folder.run("foretrain topology import " + published("jean_zay.sinfo") + " -o jz.toml").exit_code ==
          0);
  folder.write("large.sh", script("#SBATCH -p gpu_p13 -C v100-32g --gres=gpu:4\n", 4));
  CHECK(folder.run("foretrain job check large.sh --cluster ./jz.toml").exit_code == 0);
  const ProgramRun large = folder.run("foretrain predict large.sh --cluster ./jz.toml --model resnet50");
  CHECK_THAT(large.output, ContainsSubstring("resnet50 on jz/v100-32g-4gpu"));
  folder.write("either.sh", script("#SBATCH -p gpu_p13 --gres=gpu:4\n", 4));
  const ProgramRun either = folder.run("foretrain job check either.sh --cluster ./jz.toml");
  CHECK(either.exit_code == 1);
  CHECK_THAT(either.output, ContainsSubstring("either.sh:5:") &&
                                ContainsSubstring("the job may get 2 kinds of nodes of partition gpu_p13"));
}

TEST_CASE("parts of a site in several files of the catalog have one name") {
  const TemporaryFolder folder;
  CHECK_THAT(folder.run("foretrain topology check m3/m3g").output, ContainsSubstring("m3-v100: "));
  CHECK_THAT(folder.run("foretrain topology check jean-zay/gpu_p5").output,
             ContainsSubstring("jean-zay-a100: "));
  const ProgramRun several = folder.run("foretrain topology check m3");
  CHECK(several.exit_code == 1);
  CHECK_THAT(several.output, ContainsSubstring("m3 has 6 kinds of nodes, and a job gets one"));
}

}  // namespace site_command_test
