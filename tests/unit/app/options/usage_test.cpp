// Words that the command line does not know, names as people spell them, and help without an option.
#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace usage_test {

using foretrain::test::ProgramRun;
using foretrain::test::TemporaryFolder;

TEST_CASE("an unknown command or option names the nearest one, in one line, with code 2") {
  const TemporaryFolder folder;
  const auto first_line = [&](const std::string& arguments) {
    const ProgramRun run = folder.run("foretrain " + arguments);
    CHECK(run.exit_code == 2);
    return run.output.substr(0, run.output.find('\n'));
  };
  CHECK(first_line("predct") == "foretrain has no command \"predct\"; did you mean \"predict\"?");
  CHECK(first_line("topology shwo puhti") ==
        "foretrain topology has no command \"shwo\"; did you mean \"show\"?");
  CHECK(first_line("predict --gpuss 4") ==
        "foretrain predict has no option --gpuss; did you mean \"--gpus\" or \"--gpu\"?");
  CHECK(first_line("predict --gpuss=4") ==
        "foretrain predict has no option --gpuss; did you mean \"--gpus\" or \"--gpu\"?");
  CHECK(first_line("predict --formt csv") ==
        "foretrain predict has no option --formt; did you mean \"--format\"?");
  CHECK(first_line("predict --quantum-mechanics") == "foretrain predict has no option --quantum-mechanics");
  CHECK(first_line("list planet") ==
        "WHAT: unknown \"planet\"; known: models, clusters, gpus, cpus, links, networks, nodes, strategies, "
        "collectives, "
        "transports, scenarios, fabrics, datasets, calibrations");
  CHECK(first_line("list clustres") == "WHAT: unknown \"clustres\"; did you mean \"clusters\"?");
  CHECK(first_line("predict --format tabel") == "--format: unknown \"tabel\"; did you mean \"table\"?");
  CHECK(first_line("topology") ==
        "foretrain topology: which of show, new, import, questions, detect, check, diff, draw?");
  CHECK(first_line("job show a b") == "foretrain job show does not take \"b\"");
}

TEST_CASE(
    "what is missing because of an unknown option is said with it, and its value is not another mistake") {
  const ProgramRun run = TemporaryFolder().run("foretrain collective --clster puhti --op all_reduce");
  CHECK(run.output ==
        "--cluster is required\nforetrain collective has no option --clster; did you mean \"--cluster\"?\n"
        "Run foretrain collective --help for more information.\n");
}

TEST_CASE("a hundred unknown words are not listed") {
  std::string line = "foretrain predict";
  for (int i = 0; i < 100; ++i) line += " --x" + std::to_string(i) + std::string(200, 'y');
  const ProgramRun run = TemporaryFolder().run(line);
  CHECK(run.exit_code == 2);
  CHECK(run.output.size() < 1000);
}

TEST_CASE("without a command the program shows its help, and help shows that of a command") {
  const TemporaryFolder folder;
  CHECK(folder.run("foretrain").exit_code == 0);
  CHECK(folder.run("foretrain").output == folder.run("foretrain --help").output);
  CHECK(folder.run("foretrain help").output == folder.run("foretrain --help").output);
  CHECK(folder.run("foretrain help topology show").output ==
        folder.run("foretrain topology show --help").output);
  const ProgramRun wrong = folder.run("foretrain help topology shwo");
  CHECK(wrong.exit_code == 2);
  CHECK_THAT(wrong.output, ContainsSubstring("foretrain topology has no command \"shwo\""));
}

TEST_CASE("names are taken without regard to case and hyphens") {
  const TemporaryFolder folder;
  const std::string usual =
      folder
          .run(
              "foretrain predict --model resnet18 --cluster puhti --strategy zero3 --gpus 1,2 "
              "--precision amp_fp16 --format csv")
          .output;
  CHECK(folder
            .run("foretrain predict --model ResNet-18 --cluster PUHTI --strategy Zero-3 --gpus 1,2 "
                 "--precision AMP --format CSV")
            .output == usual);
  CHECK(folder.run("foretrain list GPUs").output == folder.run("foretrain list gpus").output);
  CHECK(folder.run("foretrain model show resnet18 --gpu L40S --precision FP16").output ==
        folder.run("foretrain model show resnet18 --gpu l40s --precision amp_fp16").output);
  CHECK(folder
            .run("foretrain collective --cluster puhti --op All-Reduce --gpus 2 --sizes 1M --transport NCCL "
                 "--algorithm RING --protocol ll-128")
            .output ==
        folder
            .run("foretrain collective --cluster puhti --op all_reduce --gpus 2 --sizes 1M --algorithm Ring "
                 "--protocol LL128")
            .output);
  CHECK(
      folder.run("foretrain compare --model resnet18 --cluster puhti --gpus 2 --strategies DDP,D-P").output ==
      folder.run("foretrain compare --model resnet18 --cluster puhti --gpus 2 --strategies ddp,dp").output);
}

TEST_CASE("the same in files: what stands for a catalog's name or a choice") {
  const TemporaryFolder folder;
  const auto predicted = [&](const std::string& text) {
    folder.write("x.toml", text);
    const ProgramRun run = folder.run("foretrain predict x.toml --format csv");
    INFO(run.output);
    CHECK(run.exit_code == 0);
    return run.output;
  };
  const std::string rest = "[run]\ngpus = [1, 2]\n";
  CHECK(predicted("[model]\nname = \"ResNet-18\"\nprecision = \"BF16\"\n[cluster]\nname = \"Mahti\"\n"
                  "[strategy]\nname = \"FSDP-2\"\n" +
                  rest) ==
        predicted("[model]\nname = \"resnet18\"\nprecision = \"bf16\"\n[cluster]\nname = \"mahti\"\n"
                  "[strategy]\nname = \"fsdp2\"\n" +
                  rest));
}

}  // namespace usage_test
