// Ways that are said to fit do fit when they are asked, and limits are where they are said to be.
#include <fmt/format.h>

#include "sim/report/json_value.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace what_fits_test {

using namespace foretrain;
using test::TemporaryFolder;

namespace {

Json predicted(const TemporaryFolder& folder, const std::string& words) {
  const std::string printed = folder.run("foretrain predict " + words + " --format json").output;
  return Json::parse(printed.substr(0, printed.rfind("\n}\n") + 3));  // without the warnings behind it
}

double chance(const Json& prediction) {
  return prediction["points"].front()["memory"]["chance_of_fitting"].get<double>();
}

const std::string kTooLarge = "--model llama3_8b --gpu rtx-4090 --sequence 2048 --batch 4";

}  // namespace

TEST_CASE("a way that is said to fit does, with the memory and the step that were said") {
  const TemporaryFolder folder;
  const Json asked = predicted(folder, kTooLarge + " --gpus 1");
  CHECK(asked["answer"]["kind"] == "does_not_fit");
  const Json& ways = asked["answer"]["what_fits"];
  REQUIRE(ways.size() >= 1);
  for (const Json& way : ways) {
    const std::string option = way["option"];
    INFO(option);
    CHECK(way["chance_of_fitting"] >= 0.95);
    // The batch stands in the option again where it is smaller.
    const std::string question = option.find("--batch") == std::string::npos
                                     ? kTooLarge
                                     : kTooLarge.substr(0, kTooLarge.find(" --batch"));
    const std::string gpus = option.find("--gpus") == std::string::npos ? " --gpus 1 " : " ";
    const Json again = predicted(folder, question + gpus + option);
    CHECK(chance(again) >= 0.95);
    CHECK(again["points"].front()["step_s"] == Approx(way["step_s"].get<double>()));
  }
}

TEST_CASE("on a GPU without bf16 a way is predicted in the precision that its option asks for") {
  const TemporaryFolder folder;
  const std::string question = "--model llama3_8b --cluster puhti --gpus 1 --sequence 1024";
  bool is_packed = false;
  const Json asked = predicted(folder, question + " --batch 4");
  for (const Json& way : asked["answer"]["what_fits"]) {
    const std::string option = way["option"];
    if (option.find("--gpus") != std::string::npos) continue;
    INFO(option);
    const std::string batch = option.find("--batch") == std::string::npos ? " --batch 4 " : " ";
    const Json again = predicted(folder, question + batch + option);
    CHECK(again["points"].front()["step_s"] == Approx(way["step_s"].get<double>()));
    is_packed = is_packed || option.find("nf4_double --precision amp_fp16") != std::string::npos;
  }
  CHECK(is_packed);
}

TEST_CASE("the action of a training that does not fit is the first way that does") {
  const TemporaryFolder folder;
  const Json answer = predicted(folder, kTooLarge + " --gpus 1")["answer"];
  CHECK(answer["action"].get<std::string>().ends_with(
      answer["what_fits"].front()["option"].get<std::string>()));
  const std::string text = folder.run("foretrain predict " + kTooLarge + " --gpus 1").output;
  CHECK(text.find("Also fits") != std::string::npos);
}

TEST_CASE("what fits has no ways, and limits are there only when they are asked for") {
  const TemporaryFolder folder;
  const std::string small = "--model llama3_2_1b --gpu a40 --gpus 1 --adapters lora:16";
  const Json answer = predicted(folder, small)["answer"];
  CHECK(answer["what_fits"].empty());
  CHECK(answer["limits"].is_null());
}

TEST_CASE("limits hold, and what is beyond them does not fit") {
  const TemporaryFolder folder;
  const std::string question =
      "--model llama3_8b --gpu rtx-a6000 --gpus 1 --adapters lora:16 --set model.recompute=true ";
  const Json limits = predicted(folder, question + "--limits")["answer"]["limits"];
  const auto fits = [&](const std::string& more) {
    return predicted(folder, question + more)["points"].front()["memory"]["fits"].get<bool>();
  };
  const auto largest = limits["largest_batch_per_gpu"].get<std::int64_t>();
  REQUIRE(largest > 0);
  CHECK(fits(fmt::format("--batch {}", largest)));
  CHECK(!fits(fmt::format("--batch {}", largest + 1)));
  const auto longest = limits["longest_tokens"].get<std::int64_t>();
  CHECK(longest > limits["tokens"].get<std::int64_t>());
  CHECK(chance(predicted(folder, question + fmt::format("--sequence {}", longest))) >= 0.5);
  CHECK(chance(predicted(folder, question + fmt::format("--sequence {}", longest + 1))) < 0.5);
  const std::string card = limits["smallest_cards"].front();
  std::string other = question;
  other.replace(other.find("rtx-a6000"), std::string("rtx-a6000").size(), card);
  CHECK(chance(predicted(folder, other)) >= 0.94);
}

TEST_CASE("adapters without a word about types and batch are trained beside bf16, one sample at a time") {
  const TemporaryFolder folder;
  const Json answer =
      predicted(folder, "--model llama3_2_1b --gpu a40 --gpus 1 --adapters lora:16")["answer"];
  CHECK(answer["question"].get<std::string>().find("weights in bf16") != std::string::npos);
  CHECK(answer["question"].get<std::string>().find("batch 1 per GPU") != std::string::npos);
  std::string assumed;
  for (const Json& assumption : answer["assumptions"])
    assumed += assumption["text"].get<std::string>() + "; ";
  CHECK(assumed.find("frozen weights in bf16") != std::string::npos);
  CHECK(assumed.find("tokens a sample") != std::string::npos);
}

}  // namespace what_fits_test
