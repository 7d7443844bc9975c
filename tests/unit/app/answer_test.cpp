// Answers to questions of the workshop page: what predict prints, and of the machine nothing but the
// catalogs.
#include "sim/app/answer.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "sim/report/json_value.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace answer_test {

using namespace foretrain;
using test::TemporaryFolder;

namespace {

Json ask(const Json& question) { return Json::parse(answer_question(question.dump())); }

Json ask_arguments(const std::vector<std::string>& arguments) { return ask({{"arguments", arguments}}); }

std::string errors_of(const std::vector<std::string>& arguments, const Json& files = Json::object()) {
  const Json answer = ask({{"arguments", arguments}, {"files", files}});
  CHECK(answer["ok"] == false);
  return answer.value("errors", "");
}

const std::string kScenario =
    "[model]\nname = \"mnist_convnet_csc\"\nbatch_per_gpu = 100\n[cluster]\nname = \"puhti\"\n"
    "[strategy]\nname = \"ddp\"\n[run]\ngpus = [1, 2]\n";

}  // namespace

TEST_CASE("an answer is what predict prints: its JSON, its table, its headline") {
  const TemporaryFolder folder;
  const std::vector<std::string> arguments{"mahti-resnet50-ddp", "--gpus", "1,4", "--batch", "48"};
  const Json answer = ask_arguments(arguments);
  REQUIRE(answer["ok"] == true);
  const std::string line = "foretrain predict mahti-resnet50-ddp --gpus 1,4 --batch 48";
  CHECK(answer["prediction"].dump(2) + "\n" == folder.run(line + " --format json").output);
  CHECK(answer["table"] == folder.run(line + " --details").output);
  CHECK(answer["why"].get<std::string>().starts_with(answer["prediction"]["headline"].get<std::string>()));
}

TEST_CASE("an answer has the timeline of the last number of GPUs, and a drawing of a node") {
  const Json page = ask_arguments({"mahti-resnet50-ddp", "--gpus", "1,4"})["page"];
  CHECK(page["timeline"]["gpus"] == 4);
  CHECK_FALSE(page["timeline"]["spans"].empty());
  CHECK(page["topology_svg"].get<std::string>().starts_with("<svg"));
}

TEST_CASE("the scenario of an answer asks the same once more") {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"csc-mnist-ddp", "--gpus", "1,4", "--set", "strategy.bucket_cap=1 MiB"},
        std::vector<std::string>{"--model", "resnet18", "--cluster", "mahti", "--batch", "16", "--gpus",
                                 "1,8"},
        std::vector<std::string>{"chtc-cifar-four"},
        std::vector<std::string>{"csc-mnist-ddp", "--scaling", "strong", "--precision", "amp_fp16"}}) {
    Json first = ask_arguments(arguments);
    INFO(arguments[0] << " " << first.value("errors", ""));
    REQUIRE(first["ok"] == true);
    Json again = ask({{"arguments", {"again.toml"}}, {"files", {{"again.toml", first["scenario_toml"]}}}});
    INFO(first["scenario_toml"].get<std::string>() << again.value("errors", ""));
    REQUIRE(again["ok"] == true);
    CHECK(again["prediction"]["points"] == first["prediction"]["points"]);
    CHECK(again["prediction"]["crossover"] == first["prediction"]["crossover"]);
  }
}

TEST_CASE("a curve has the numbers of GPUs that can be asked, and says why it lacks others") {
  const auto curve = [](const std::vector<std::string>& arguments) {
    return ask({{"arguments", arguments}, {"curve", true}});
  };
  const auto last = [](const Json& answer) {
    return answer["prediction"]["points"].back()["gpus"].get<int>();
  };
  const Json one_process = curve({"mahti-resnet50-ddp", "--strategy", "data_parallel"});
  REQUIRE(one_process["ok"] == true);
  CHECK(last(one_process) == 4);
  CHECK_THAT(one_process["left_out"].get<std::string>(),
             ContainsSubstring("Up to 4 GPUs") && ContainsSubstring("one process"));
  CHECK(last(curve({"mahti-resnet50-ddp", "--strategy", "single"})) == 1);
  CHECK(last(curve({"m3-resnet56-mirrored-v100", "--scaling", "strong", "--batch", "1"})) == 1);
  CHECK(last(curve({"--model", "resnet50", "--cluster", "mahti", "--gpus", "1,2,100000"})) == 2);
  const Json four = curve({"chtc-cifar-four"});
  CHECK(four["prediction"]["points"].size() > 2);
  CHECK(last(four) == 4);
  CHECK_FALSE(four.contains("left_out"));
  CHECK(ask_arguments({"chtc-cifar-four"})["prediction"]["points"].size() == 1);
  CHECK(curve({"mahti-resnet50-ddp", "--model", "nothing"})["ok"] == false);
}

TEST_CASE("a refusal does not say where the machine keeps its catalogs") {
  const std::string errors = errors_of({"mahti-resnet50-ddp", "--strategy", "data_parallel"});
  CHECK_THAT(errors, ContainsSubstring("mahti-resnet50-ddp.toml:") && !ContainsSubstring("/"));
}

TEST_CASE("a question may be about a GPU by name, and has measured runs of the like beside it") {
  const Json answer = ask_arguments({"--model", "resnet50", "--gpu", "v100-sxm2-32gb", "--gpus", "1,2,4"});
  REQUIRE(answer["ok"] == true);
  REQUIRE_FALSE(answer["page"]["nearest"].empty());
  const Json near = answer["page"]["nearest"][0];
  CHECK(near["model"] == "resnet50");
  CHECK(near["gpu"] == "v100-sxm2-32gb");
  CHECK_FALSE(near["source"].get<std::string>().empty());
}

TEST_CASE("a job script is written when it is asked for") {
  CHECK_FALSE(ask_arguments({"mahti-resnet50-ddp", "--gpus", "1,4"}).contains("job_script"));
  const Json answer = ask({{"arguments", {"mahti-resnet50-ddp", "--gpus", "1,4"}}, {"job", true}});
  CHECK_THAT(answer["job_script"].get<std::string>(),
             ContainsSubstring("#SBATCH") && ContainsSubstring("a100:4"));
}

TEST_CASE("a job script of a network that a layout cuts keeps the degrees that were given") {
  const Json answer = ask({{"arguments",
                            {"--model", "llama3_2_1b", "--cluster", "hgx-h100-400g", "--gpus", "8", "--set",
                             "model.precision=bf16", "--set", "parallel.tensor=2", "--set",
                             "parallel.global_batch=64", "--set", "data.samples=20000"}},
                           {"job", true}});
  REQUIRE(answer["ok"] == true);
  CHECK_THAT(answer["job_script"].get<std::string>(), ContainsSubstring("--tensor-model-parallel-size 2"));
}

TEST_CASE("files that came with a question are scenarios, and what scenarios name") {
  const TemporaryFolder folder;
  const Json answer = ask({{"arguments", {"mine.toml"}}, {"files", {{"mine.toml", kScenario}}}});
  REQUIRE(answer["ok"] == true);
  CHECK(answer["prediction"]["scenario"] == "mine");
  std::stringstream cluster;
  cluster << std::ifstream(std::string(FORETRAIN_SOURCE_DIR) + "/topologies/puhti.toml").rdbuf();
  std::string named = kScenario;
  named.replace(named.find("\"puhti\""), 7, "\"other.toml\"");
  const Json other =
      ask({{"arguments", {"mine.toml"}}, {"files", {{"mine.toml", named}, {"other.toml", cluster.str()}}}});
  INFO(other.value("errors", ""));
  REQUIRE(other["ok"] == true);
  CHECK(other["prediction"]["points"][1]["step_s"] == answer["prediction"]["points"][1]["step_s"]);
}

TEST_CASE("a mistake in a file that came with a question has its place, the line, a caret and a hint") {
  const std::string told = errors_of(
      {"mine.toml"},
      {{"mine.toml", "[model]\nname = \"resnet5\"\nbatch_per_gpu = 8\n[cluster]\nname = \"puhti\"\n"}});
  CHECK_THAT(told, ContainsSubstring("mine.toml:2:8: error:") && ContainsSubstring("name = \"resnet5\"") &&
                       ContainsSubstring("^") && ContainsSubstring("did you mean"));
}

TEST_CASE("no file of the machine is read for a question, and nothing of it is told") {
  const TemporaryFolder folder;
  folder.write("secret.toml", "secret_word = oh dear\n");
  const std::string path = (folder.path() / "secret.toml").string();
  const std::string source = std::string(FORETRAIN_SOURCE_DIR) + "/models/../CMakeLists.txt";
  for (const std::string& file : {path, source, std::string("/etc/passwd"), std::string("/dev/zero")}) {
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{file},
          {"--model", file, "--cluster", "mahti"},
          {"--model", "resnet50", "--cluster", file},
          {"mahti-resnet50-ddp", "--dataset", file},
          {"mahti-resnet50-ddp", "--settings", file},
          {"mahti-resnet50-ddp", "--set", "cluster.name=\"" + file + "\""},
          {"mahti-resnet50-ddp", "--set", "cluster.calibration=\"" + file + "\""}}) {
      const std::string told = errors_of(arguments);
      INFO(told);
      CHECK_FALSE(told.empty());
      CHECK(told.find("secret_word") == std::string::npos);
      CHECK(told.find("cmake_minimum") == std::string::npos);
      CHECK(told.find("root:") == std::string::npos);
    }
  }
}

TEST_CASE("a job script that came with a question reads no file of the machine beside it") {
  const TemporaryFolder folder;
  folder.write("secret.sh", "secret_word\n");
  const std::string script = "#!/bin/bash\n#SBATCH --partition=gpumedium --gres=gpu:a100:4 --nodes=1\nbash " +
                             (folder.path() / "secret.sh").string() + "\nsrun python train.py\n";
  const Json answer = ask({{"arguments", {"job.sh", "--model", "resnet50", "--cluster", "mahti"}},
                           {"files", {{"job.sh", script}}}});
  CHECK(answer.dump().find("secret_word") == std::string::npos);
}

TEST_CASE("arguments that write files, print otherwise or ask for more than one prediction are refused") {
  for (const std::vector<std::string>& more : {std::vector<std::string>{"-o", "out"},
                                               {"--html", "a.html"},
                                               {"--trace", "a.json"},
                                               {"--format", "csv"},
                                               {"--help"},
                                               {"--sbatch", "a.sh"},
                                               {"--scaling", "both"},
                                               {"csc-mnist-ddp"},
                                               {"--no-such-option"},
                                               {"--gpus"},
                                               {"--batch", "x"}}) {
    std::vector<std::string> arguments{"mahti-resnet50-ddp"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    INFO(more.front());
    CHECK_FALSE(errors_of(arguments).empty());
  }
  CHECK_THAT(errors_of({"workshop-mnist-study"}), ContainsSubstring("[study]"));
  CHECK_FALSE(errors_of({}).empty());
  CHECK_FALSE(errors_of({""}).empty());
  CHECK_FALSE(errors_of({"--"}).empty());
}

TEST_CASE("hostile names come back as text without control characters") {
  for (const std::string& name : {std::string("<script>alert(1)</script>"), std::string("\x1b[31m"),
                                  std::string("\xe2\x80\xae"), std::string(4000, 'x')}) {
    const std::string told = errors_of({"--model", name, "--cluster", "mahti"});
    CHECK(told.size() < 2000);
    CHECK(told.find('\x1b') == std::string::npos);
    CHECK(told.find("\xe2\x80\xae") == std::string::npos);
  }
  CHECK(Json::parse(answer_question("{"))["ok"] == false);
  CHECK(Json::parse(answer_question("\xff"))["ok"] == false);
}

TEST_CASE("the list has every catalog, and clusters with their GPUs") {
  const Json list = ask({{"list", true}});
  for (const std::string kind : {"scenarios", "models", "clusters", "strategies"}) {
    INFO(kind);
    CHECK(list[kind].size() > 5);
    CHECK(std::ranges::all_of(list[kind],
                              [](const Json& item) { return !item["name"].get<std::string>().empty(); }));
  }
  const auto mahti =
      std::ranges::find_if(list["clusters"], [](const Json& item) { return item["name"] == "mahti"; });
  REQUIRE(mahti != list["clusters"].end());
  CHECK((*mahti)["most_gpus"] == 96);
  CHECK((*mahti)["gpus_per_node"] == 4);
}

TEST_CASE("two answers to a question are the same bytes") {
  const std::string question = R"({"arguments": ["csc-mnist-ddp", "--gpus", "1,2"]})";
  CHECK(answer_question(question) == answer_question(question));
}

TEST_CASE("a recorded program that came with the question is predicted, and no other file is read") {
  std::ifstream file(FORETRAIN_SOURCE_DIR "/docs/tutorials/programs/fsdp2_4.toml");
  const std::string program{std::istreambuf_iterator<char>(file), {}};
  REQUIRE(program.size() > 100'000);
  const std::vector<std::string> arguments{"--program", "step.toml", "--cluster", "mahti"};
  const Json answer = ask({{"arguments", arguments}, {"files", {{"step.toml", program}}}});
  REQUIRE(answer["ok"] == true);
  CHECK(answer["prediction"]["points"][0]["gpus"] == 4);
  CHECK(answer["prediction"]["strategy"] == "torch");
  CHECK_FALSE(answer["page"]["timeline"]["spans"].empty());
  CHECK(errors_of(arguments, {{"step.toml", program.substr(0, 5000)}}).find("step.toml:94:") == 0);
  CHECK(errors_of({"--program", "/etc/passwd", "--cluster", "mahti"}).find("not among the files") !=
        std::string::npos);
}

}  // namespace answer_test
