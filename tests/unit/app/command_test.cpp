// The program as people run it: commands, exit codes, messages.
#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace command_test {

using namespace foretrain;
using test::ProgramRun;
using test::TemporaryFolder;

namespace {

const std::string kSmall = "foretrain predict --model mnist_net --cluster star-1gpu --gpus 1,2 ";

}  // namespace

TEST_CASE("every command explains itself") {
  const TemporaryFolder folder;
  for (const char* command : {"", "predict", "compare", "list", "topology", "topology show", "topology check",
                              "model", "model show", "validate", "reference"}) {
    const ProgramRun run = folder.run(std::string("foretrain ") + command + " --help");
    INFO(command);
    CHECK(run.exit_code == 0);
    CHECK_THAT(run.output, ContainsSubstring("Usage:"));
  }
  CHECK_THAT(folder.run("foretrain predict --help").output, ContainsSubstring("Examples:"));
}

TEST_CASE("the version is the project's") {
  CHECK(TemporaryFolder().run("foretrain --version").output == "foretrain " FORETRAIN_VERSION "\n");
}

TEST_CASE("wrong usage ends with code 2 and points to the help") {
  const TemporaryFolder folder;
  for (const char* arguments : {"frobnicate", "predict --no-such-option", "predict --format xml", "list",
                                "list planets", "predict --batch many", "topology", "validate"}) {
    const ProgramRun run = folder.run(std::string("foretrain ") + arguments);
    INFO(arguments << ": " << run.output);
    CHECK(run.exit_code == 2);
    CHECK_THAT(run.output, ContainsSubstring("--help"));
  }
}

TEST_CASE("a prediction of a model on a cluster needs no file") {
  const TemporaryFolder folder;
  const ProgramRun run = folder.run(kSmall);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("mnist_net on star-1gpu with ddp, fp32"));
  CHECK_THAT(run.output, StartsWith("On 2 GPUs, a step takes about ") && ContainsSubstring("\nCause  "));
  CHECK_THAT(folder.run(std::string(kSmall) + " --details").output, ContainsSubstring("Fastest:"));
  CHECK(folder.entries() == 0);
}

TEST_CASE("the JSON of predict parses and holds what was asked") {
  const TemporaryFolder folder;
  const ProgramRun run =
      folder.run("foretrain predict --model resnet50 --cluster puhti --gpus 1,2 --format json");
  REQUIRE(run.exit_code == 0);
  const auto json = nlohmann::json::parse(run.output);
  CHECK(json["schema"] == "foretrain.prediction/1");
  REQUIRE(json["points"].size() == 2);
  CHECK(json["points"][1]["gpus"] == 2);
  CHECK(json["points"][0]["buckets_bytes"].empty());
  // PyTorch 2.x on ResNet-50: 8,196,000 is fc (2,049,000 floats) alone, the limit of 1 MiB being tested after
  // it went in.
  CHECK(json["points"][1]["buckets_bytes"][0] == 8'196'000);
  std::int64_t sum = 0;
  for (const auto& bytes : json["points"][1]["buckets_bytes"]) sum += bytes.get<std::int64_t>();
  CHECK(sum == 4 * 25'557'032);
}

TEST_CASE("the option --set takes any key of a scenario") {
  const TemporaryFolder folder;
  const auto buckets = [&](const std::string& more) {
    const ProgramRun run =
        folder.run("foretrain predict --model resnet18 --cluster star-1gpu --gpus 2 --format json " + more);
    REQUIRE(run.exit_code == 0);
    return nlohmann::json::parse(run.output)["points"][0]["buckets_bytes"].size();
  };
  CHECK(buckets("--set strategy.bucket_cap=1MiB") > buckets(""));
  const ProgramRun wrong = folder.run(kSmall + "--set strategy.bucket_cup=1MiB");
  CHECK(wrong.exit_code == 1);
  CHECK_THAT(wrong.output, ContainsSubstring("bucket_cap"));
}

TEST_CASE("what stands behind record is handed to Python as it stands") {
  const TemporaryFolder folder;
  const auto handed = [&](const std::string& words) {
    return folder.run("export FORETRAIN_PYTHON=echo; foretrain record " + words).output;
  };
  CHECK(handed("-- torchrun --nnodes 2 train.py --lr 0.1") ==
        "-m foretrain record -- torchrun --nnodes 2 train.py --lr 0.1\n");
  CHECK(handed("--steps 3 -o a.toml -- python train.py --help") ==
        "-m foretrain record --steps 3 -o a.toml -- python train.py --help\n");
  CHECK_THAT(handed("--help"), ContainsSubstring("Usage:"));
  const ProgramRun none = folder.run("export FORETRAIN_PYTHON=/no/python; foretrain record -- torchrun a.py");
  CHECK(none.exit_code == 3);
  CHECK_THAT(none.output, ContainsSubstring("/no/python cannot be run"));
}

TEST_CASE("two settings of one command line that contradict each other are refused with both") {
  const TemporaryFolder folder;
  const ProgramRun twice =
      folder.run(kSmall + "--set model.batch_per_gpu=32 --set=model.batch_per_gpu=64 --quiet");
  CHECK(twice.exit_code == 1);
  CHECK_THAT(
      twice.output,
      ContainsSubstring("--set model.batch_per_gpu=64:1:1: error: model.batch_per_gpu has another value "
                        "in --set model.batch_per_gpu=32"));
  CHECK(folder.run(kSmall + "--set model.batch_per_gpu=32 --set model.batch_per_gpu=32").exit_code == 0);
  const ProgramRun rivals = folder.run(
      "foretrain plan --model llama3_8b --cluster mahti --gpus 8 --set "
      "model.batch_per_gpu=1 --set model.global_batch=64");
  CHECK(rivals.exit_code == 1);
  CHECK_THAT(rivals.output, ContainsSubstring("model.global_batch excludes --set model.batch_per_gpu=1"));
}

TEST_CASE("the option -o writes the file that would have been printed, and prints nothing") {
  const TemporaryFolder folder;
  const ProgramRun written = folder.run(kSmall + "--format csv -o out.csv"),
                   printed = folder.run(kSmall + "--format csv");
  CHECK(written.exit_code == 0);
  CHECK(written.output.empty());
  CHECK(folder.read("out.csv") == printed.output);
  CHECK(folder.entries() == 1);
}

TEST_CASE("an output that cannot be written is the world's failure, code 3") {
  const TemporaryFolder folder;
  const ProgramRun run = folder.run(kSmall + "-o no/such/folder/out");
  CHECK(run.exit_code == 3);
  CHECK_THAT(run.output, ContainsSubstring("no/such/folder/out: cannot be written"));
  CHECK(folder.entries() == 0);
}

TEST_CASE("two runs print the same bytes") {
  const TemporaryFolder folder;
  CHECK(folder.run(kSmall + "--format json --explain").output ==
        folder.run(kSmall + "--format json --explain").output);
}

TEST_CASE("an unknown cluster, model or scenario brings a suggestion") {
  const TemporaryFolder folder;
  const ProgramRun cluster = folder.run("foretrain predict --model resnet50 --cluster puhtj");
  CHECK(cluster.exit_code == 1);
  CHECK_THAT(cluster.output, ContainsSubstring("did you mean \"puhti\"?"));
  CHECK_THAT(folder.run("foretrain predict --model resnet5 --cluster puhti").output,
             ContainsSubstring("resnet50"));
  CHECK_THAT(folder.run("foretrain predict puhti-resnet50-dpd").output,
             ContainsSubstring("puhti-resnet50-ddp"));
  CHECK_THAT(folder.run("foretrain topology show mahtj").output, ContainsSubstring("mahti"));
}

TEST_CASE("five mistakes on five lines are reported at once, in order, and nothing is predicted") {
  const TemporaryFolder folder;
  folder.write("five.toml",
               "[model]\nname = \"resnet51\"\nbatch_per_gpu = -3\n[data]\ndecode = \"4 GB\"\n[cluster]\nname "
               "= \"puhtj\"\n[run]\ngpus = "
               "[1]\nepoch = 3\n");
  const ProgramRun run = folder.run("foretrain predict five.toml -o out");
  CHECK(run.exit_code == 1);
  std::size_t at = 0;
  for (const char* place :
       {"five.toml:2:", "five.toml:3:", "five.toml:5:", "five.toml:7:", "five.toml:10:", "5 errors"}) {
    const std::size_t found = run.output.find(place, at);
    INFO(place << " in\n" << run.output);
    REQUIRE(found != std::string::npos);
    at = found;
  }
  CHECK(folder.entries() == 1);
}

TEST_CASE("every catalog lists its entries") {
  const TemporaryFolder folder;
  for (const char* what :
       {"models", "clusters", "gpus", "links", "strategies", "collectives", "scenarios", "fabrics"}) {
    const ProgramRun run = folder.run(std::string("foretrain list ") + what);
    INFO(what);
    CHECK(run.exit_code == 0);
    CHECK(run.output.size() > 20);
  }
  CHECK_THAT(folder.run("foretrain list clusters").output, ContainsSubstring("puhti"));
}

TEST_CASE("a cluster is shown and checked") {
  const TemporaryFolder folder;
  CHECK_THAT(folder.run("foretrain topology show puhti").output, ContainsSubstring("Ring all_reduce"));
  CHECK_THAT(folder.run("foretrain topology check puhti").output, ContainsSubstring("80 nodes, 320 GPUs"));
}

TEST_CASE("an anchor beyond the searched GPUs is simulated") {
  const TemporaryFolder folder;
  folder.write("strong.toml",
               "[model]\nname = \"mnist_net\"\nglobal_batch = 4\n[cluster]\nname = \"puhti\"\n[run]\ngpus = "
               "[1]\n[measured]\ngpus = "
               "8\nstep = \"10 ms\"\n");
  const ProgramRun run = folder.run("foretrain predict strong.toml");
  INFO(run.output);
  CHECK(run.exit_code == 0);
}

TEST_CASE("measurements are validated as a table and as JSON") {
  const TemporaryFolder folder;
  folder.write(
      "m.csv",
      "series,model,cluster,strategy,precision,batch_per_gpu,gpus,nodes,metric,value,settings,source\n"
      "s,mnist_net,puhti,ddp,fp32,64,1,1,samples_per_s,20000,,made "
      "up\ns,mnist_net,puhti,ddp,fp32,64,4,1,samples_per_s,40000,,made up\n");
  CHECK_THAT(folder.run("foretrain validate m.csv").output, ContainsSubstring("2 rows, 1 scored, 0 skipped"));
  const ProgramRun run = folder.run("foretrain validate m.csv --no-anchor --format json");
  REQUIRE(run.exit_code == 0);
  CHECK(nlohmann::json::parse(run.output)["scored"] == 2);
}

TEST_CASE("rules about sources are taken from the file that is named, and from none otherwise") {
  const TemporaryFolder folder;
  folder.write(
      "m.csv",
      "series,model,cluster,strategy,precision,batch_per_gpu,gpus,nodes,metric,value,settings,source\n"
      "s,mnist_net,puhti,ddp,fp32,64,1,1,samples_per_s,20000,,a noisy log\n");
  folder.write("p.toml",
               "[[rule]]\nwords = [\"noisy\"]\nsettings = { loop.hooks = \"gradient_noise\" }\nsaid_in = "
               "\"the log\"\n");
  const auto predicted = [&](const std::string& options) {
    const ProgramRun run = folder.run("foretrain validate m.csv --no-anchor --format json" + options);
    REQUIRE(run.exit_code == 0);
    return nlohmann::json::parse(run.output)["series"][0]["points"][0]["predicted"].get<double>();
  };
  CHECK(predicted(" --provenance p.toml") < predicted(""));
  const ProgramRun table = folder.run("foretrain validate m.csv --no-anchor --provenance p.toml");
  CHECK_THAT(table.output, ContainsSubstring("Run with what p.toml tells") &&
                               ContainsSubstring("     1 row: loop.hooks = \"gradient_noise\"\n"));
  folder.write("wrong.toml", "[[rule]]\nword = [\"noisy\"]\n");
  const ProgramRun wrong = folder.run("foretrain validate m.csv --provenance wrong.toml");
  CHECK(wrong.exit_code == 1);
  CHECK_THAT(wrong.output, ContainsSubstring("wrong.toml:2:1: error: unknown key \"word\" in [rule]"));
  folder.write(
      "c.csv",
      "series,cluster,op,gpus,nodes,bytes,time_us,settings,source\ns,puhti,all_reduce,4,1,8,10,,made up\n");
  CHECK_THAT(folder.run("foretrain validate c.csv --provenance p.toml").output,
             ContainsSubstring("holds collectives"));
}

TEST_CASE("validate leaves clusters out and says what goes with that") {
  const TemporaryFolder folder;
  std::string rows = "series,cluster,op,gpus,nodes,bytes,time_us,settings,source\n";
  for (const char* cluster : {"puhti", "dgx1-v100"})
    for (const char* size_and_time : {"1024,25", "65536,40", "16777216,400"})
      rows += std::string(cluster) + "," + cluster + ",all_reduce,4,1," + size_and_time + ",,made up\n";
  folder.write("c.csv", rows);
  const ProgramRun run = folder.run("foretrain validate c.csv --leave-out cluster");
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("over-fitting: ") && ContainsSubstring("6 rows in 2 clusters") &&
                             ContainsSubstring("dgx1-v100\n"));
  CHECK_THAT(folder.run("foretrain validate c.csv --format cases").output,
             ContainsSubstring("kind,source,series,") &&
                 ContainsSubstring("collective,made,puhti,puhti,,all_reduce,Ring,"));
  for (const auto& [options, why] :
       {std::pair("--with c.csv", "--with needs --leave-out"),
        std::pair("--leave-out cluster --format cases", "--leave-out has no cases"),
        std::pair("--leave-out cluster --by gpu", "where --by has no effect"),
        std::pair("--gpus 1 --worst 2", "holds collectives, where --gpus and --worst have no effect"),
        std::pair("--leave-out cluster --gpus 1", "where --gpus has no effect"),
        std::pair("--leave-out moon", "moon")}) {
    const ProgramRun wrong = folder.run(std::string("foretrain validate c.csv ") + options);
    INFO(options);
    CHECK(wrong.exit_code != 0);
    CHECK_THAT(wrong.output, ContainsSubstring(why));
  }
}

TEST_CASE("the reference of commands shows each command's own help") {
  const TemporaryFolder folder;
  const std::string page = folder.run("foretrain reference commands").output;
  for (const std::string usage :
       {"Usage: foretrain [OPTIONS] SUBCOMMAND", "Usage: foretrain predict [OPTIONS] [SCENARIO...]",
        "Usage: foretrain topology show [OPTIONS] CLUSTER"}) {
    CHECK_THAT(page, ContainsSubstring(usage));
  }
}

}  // namespace command_test
