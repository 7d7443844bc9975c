// `foretrain model show`, as typed.
#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace model_command_test {

using namespace foretrain;
using test::ProgramRun;
using test::TemporaryFolder;

TEST_CASE("a model of the catalog is shown with its totals") {
  const TemporaryFolder folder;
  const ProgramRun run = folder.run("foretrain model show resnet50");
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("input [3, 224, 224], batch 32, fp32\n"));
  CHECK_THAT(run.output, ContainsSubstring("25,557,032 in 161 tensors"));
  CHECK_THAT(run.output, !ContainsSubstring("Slowest layers"));
}

TEST_CASE("batch, precision and GPU of a shown model can be chosen") {
  const TemporaryFolder folder;
  const ProgramRun run = folder.run(
      "foretrain model show resnet18 --batch 7 --precision amp_fp16 --gpu v100-sxm2-16gb --layers none "
      "--format json");
  REQUIRE(run.exit_code == 0);
  const auto json = nlohmann::json::parse(run.output);
  CHECK(json["batch"] == 7);
  CHECK(json["precision"] == "amp_fp16");
  CHECK(json["times"]["gpu"] == "v100-sxm2-16gb");
  CHECK(json["layers"].empty());
  const ProgramRun cluster = folder.run("foretrain model show resnet18 --cluster puhti --layers none");
  CHECK_THAT(cluster.output, ContainsSubstring("Kernels of a step on v100-sxm2-32gb"));
}

TEST_CASE("keys of a scenario change what is shown") {
  const TemporaryFolder folder;
  const auto kernels = [&](const std::string& more) {
    const ProgramRun run = folder.run("foretrain model show mnist_net --layers none --format json " + more);
    REQUIRE(run.exit_code == 0);
    return nlohmann::json::parse(run.output)["totals"]["kernels"]["optimizer"].get<int>();
  };
  CHECK(kernels("--set model.optimizer=adam") > kernels("--set model.optimizer=sgd"));
}

TEST_CASE("a shown model goes to a file whole") {
  const TemporaryFolder folder;
  const ProgramRun printed = folder.run("foretrain model show mnist_net --format csv");
  const ProgramRun written = folder.run("foretrain model show mnist_net --format csv -o layers.csv");
  CHECK(written.exit_code == 0);
  CHECK(written.output.empty());
  CHECK(folder.read("layers.csv") == printed.output);
}

TEST_CASE("a model that cannot be shown is refused with the reason and the place") {
  const TemporaryFolder folder;
  folder.write(
      "bad.toml",
      "input = [3, 8, 8]\nlayers = [\n  { type = \"linear\", out = 4 },\n  { type = \"loss\" },\n]\n");
  const auto refused = [&](const std::string& arguments, const std::string& reason) {
    const ProgramRun run = folder.run("foretrain model show " + arguments);
    INFO(arguments << "\n" << run.output);
    CHECK(run.exit_code == 1);
    CHECK_THAT(run.output, ContainsSubstring(reason));
  };
  refused("resnet51", "did you mean \"resnet50\"");
  refused("bad.toml", "bad.toml:3:");
  refused("nowhere.toml", "nowhere.toml");
  refused("resnet50 --gpu v1000", "unknown GPU \"v1000\"");
  refused("resnet50 --cluster puhtj", "did you mean \"puhti\"");
  refused("resnet50 --batch 0", "batch_per_gpu");
  refused("resnet50 --batch -4", "batch_per_gpu");
  refused("resnet50 --precision fp31", "precision");
  refused("resnet50 --set model.optimiser=adam", "optimizer");
  for (const char* usage : {"", "resnet50 --layers some", "resnet50 --format xml",
                            "resnet50 --gpu k80 --cluster puhti", "resnet50 --batch many"}) {
    CHECK(folder.run(std::string("foretrain model show ") + usage).exit_code == 2);
  }
  CHECK(folder.run("foretrain model show resnet50 -o /nowhere/out").exit_code == 3);
}

TEST_CASE("errors of measured rows are grouped by keys") {
  const TemporaryFolder folder;
  folder.write(
      "rows.csv",
      "series,model,cluster,strategy,precision,batch_per_gpu,gpus,nodes,metric,value,settings,source\n"
      "a,resnet50,puhti,ddp,fp32,32,1,1,samples_per_s,325.95,,x\n"
      "a,resnet50,puhti,ddp,fp32,32,4,1,samples_per_s,1217,,x\n"
      "b,resnet18,puhti,ddp,fp32,32,1,1,samples_per_s,1000,,x\n");
  const ProgramRun run =
      folder.run("foretrain validate rows.csv --no-anchor --gpus 1 --by gpu,model --format json");
  REQUIRE(run.exit_code == 0);
  const auto json = nlohmann::json::parse(run.output);
  CHECK(json["rows"] == 2);
  REQUIRE(json["groups"].size() == 2);
  CHECK(json["groups"][0]["by"]["gpu"] == "v100-sxm2-32gb");
  CHECK(json["groups"][0]["rows"] == 1);
  CHECK_THAT(folder.run("foretrain validate rows.csv --no-anchor --by model").output,
             ContainsSubstring("in 90 %    width   model\n"));
  CHECK_THAT(folder.run("foretrain validate rows.csv --by gpu --by mdel").output,
             ContainsSubstring("did you mean \"model\""));
  CHECK(folder.run("foretrain validate rows.csv --by colour").exit_code == 1);
  CHECK(folder.run("foretrain validate rows.csv --gpus 0").exit_code == 1);
  folder.write(
      "collectives.csv",
      "series,cluster,op,gpus,nodes,bytes,time_us,settings,source\na,puhti,all_reduce,4,1,1048576,100,,x\n");
  CHECK_THAT(folder.run("foretrain validate collectives.csv --by gpu").output,
             ContainsSubstring("holds collectives"));
}

}  // namespace model_command_test
