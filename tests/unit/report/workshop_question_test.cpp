// Questions of the workshop page: what is taken, what is refused and why, and answers that no text breaks.
#include "sim/report/json_value.hpp"
#include "sim/report/workshop/question.hpp"
#include "tests/support/catch.hpp"

namespace workshop_question_test {

using namespace foretrain;

namespace {

std::string refusal(const std::string& json) {
  try {
    read_question(json);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string arguments(std::size_t count, const std::string& each) {
  return Json{{"arguments", std::vector<std::string>(count, each)}}.dump();
}

std::string files(std::size_t count) {
  Json all = Json::object();
  for (std::size_t i = 0; i < count; ++i) all[std::to_string(i) + ".toml"] = "a = 1";
  return Json{{"arguments", Json::array()}, {"files", all}}.dump();
}

}  // namespace

TEST_CASE("a question has arguments and files, as they were written") {
  const WorkshopQuestion question = read_question(
      R"({"arguments": ["mine.toml", "--gpus", "1,4"], "files": {"mine.toml": "[model]\n", "b.toml": ""}, "job": true})");
  CHECK(question.arguments == std::vector<std::string>{"mine.toml", "--gpus", "1,4"});
  REQUIRE(question.files.size() == 2);
  CHECK(question.files[0].name == "mine.toml");
  CHECK(question.files[0].text == "[model]\n");
  CHECK(question.wants_job);
  CHECK_FALSE(question.lists);
  CHECK_FALSE(question.wants_curve);
  CHECK(read_question(R"({"arguments": [], "curve": true})").wants_curve);
}

TEST_CASE("a question asks for a list, or without arguments for nothing") {
  CHECK(read_question(R"({"list": true})").lists);
  CHECK_FALSE(read_question(R"({"arguments": []})").wants_job);
  CHECK_THAT(refusal("{}"), ContainsSubstring("asks for nothing"));
  CHECK_THAT(refusal(R"({"list": false})"), ContainsSubstring("asks for nothing"));
  CHECK_THAT(refusal(R"({"files": {}})"), ContainsSubstring("asks for nothing"));
}

TEST_CASE("what is no question is refused with an example of one") {
  for (const std::string json :
       {"", "{", "[]", "1", "null", "\"\"", "{\"arguments\": [}", "\xff", "{\"arguments\": [\"\xff\"]}"}) {
    INFO(json);
    CHECK_THAT(refusal(json),
               ContainsSubstring("is no JSON object") && ContainsSubstring("mahti-resnet50-ddp"));
  }
  CHECK_THAT(refusal(std::string(200'000, '[')), ContainsSubstring("is no JSON object"));
  std::string deep = "{\"arguments\": ";
  for (int i = 0; i < 100'000; ++i) deep += "{\"a\": ";
  CHECK_THAT(refusal(deep), ContainsSubstring("is no JSON object"));
}

TEST_CASE("keys and kinds that are not known are named") {
  CHECK_THAT(refusal(R"({"list": true, "what": 1})"),
             ContainsSubstring("has a key \"what\" that is unknown"));
  CHECK_THAT(refusal(R"({"arguments": "a"})"),
             ContainsSubstring("needs \"arguments\" as a list of at most 64"));
  CHECK_THAT(refusal(R"({"arguments": [1]})"), ContainsSubstring("has an argument that is no text"));
  CHECK_THAT(refusal(R"({"arguments": [[["a"]]]})"), ContainsSubstring("has an argument that is no text"));
  CHECK_THAT(refusal(R"({"arguments": [], "files": []})"),
             ContainsSubstring("needs \"files\" as names with texts"));
  CHECK_THAT(refusal(R"({"arguments": [], "files": {"a": null}})"),
             ContainsSubstring("has a file that is no text"));
  CHECK_THAT(refusal(R"({"list": 1})"), ContainsSubstring("needs \"list\" as true or false"));
  CHECK_THAT(refusal(R"({"job": "yes"})"), ContainsSubstring("needs \"job\" as true or false"));
}

TEST_CASE("the limits of a question are 64 arguments of 4096 characters, 16 files and 1 MiB") {
  CHECK(refusal(arguments(64, std::string(4096, 'x'))).empty());
  CHECK_THAT(refusal(arguments(65, "x")), ContainsSubstring("at most 64"));
  CHECK_THAT(refusal(arguments(1, std::string(4097, 'x'))), ContainsSubstring("more than 4096 characters"));
  CHECK_FALSE(refusal(R"({"arguments": ["a\u0000b"]})").empty());
  CHECK(refusal(files(16)).empty());
  CHECK_THAT(refusal(files(17)), ContainsSubstring("at most 16"));
  const std::string list = R"({"list": true})";
  CHECK(refusal(list + std::string((1 << 20) - list.size(), ' ')).empty());
  CHECK_THAT(refusal(list + std::string((1 << 20) + 1 - list.size(), ' ')),
             ContainsSubstring("is larger than 1048576 bytes"));
}

TEST_CASE("a file has a name, and no path") {
  for (const std::string name : {"", "/etc/passwd", "../a.toml", "a/b"}) {
    INFO(name);
    CHECK_THAT(refusal(Json{{"arguments", Json::array()}, {"files", {{name, "x"}}}}.dump()),
               ContainsSubstring("whose name is none"));
  }
}

TEST_CASE("names of whatever kind are shown as text and shortened") {
  const std::string shown = refusal(Json{{std::string(10'000, 'x') + "\x1b[31m", 1}}.dump());
  CHECK(shown.size() < 300);
  CHECK(refusal("{\"\\u001b[31m\\u202e\": 1}").find_first_of("\x1b") == std::string::npos);
}

TEST_CASE("an answer holds its parts, and a job script only where there is one") {
  const WorkshopAnswer parts{R"({"points": [0.1]})", R"({"samples": 3})", "table\n", "why", "[model]\n", ""};
  const std::string text = write_answer(parts);
  const Json answer = Json::parse(text);
  CHECK(answer["ok"] == true);
  CHECK(answer["prediction"]["points"][0] == 0.1);
  CHECK(answer["page"]["samples"] == 3);
  CHECK(answer["table"] == "table\n");
  CHECK(answer["why"] == "why");
  CHECK(answer["scenario_toml"] == "[model]\n");
  CHECK_FALSE(answer.contains("job_script"));
  WorkshopAnswer with_job = parts;
  CHECK_FALSE(answer.contains("why_no_job"));
  with_job.job_script = "#!/bin/bash\n";
  CHECK(Json::parse(write_answer(with_job))["job_script"] == "#!/bin/bash\n");
}

TEST_CASE("a refusal is told from an answer, whatever it says") {
  for (const std::string errors : {"", "plain", "{\n  \"ok\": true", "\"}", "\xff\xfe"}) {
    const std::string text = write_refusal(errors);
    CHECK(Json::parse(text)["ok"] == false);
  }
  CHECK(Json::parse(write_catalogs({}))["ok"] == true);
}

TEST_CASE("catalogs list names and summaries, and of clusters how many GPUs they have") {
  const Json answer = Json::parse(write_catalogs({{"models", {{"net", "a network"}}},
                                                  {"clusters", {{"two", "two nodes", 8, 4, "a100"}}},
                                                  {"strategies", {{"ddp", "", 0, 0, "", {"bucket_cap"}}}}}));
  CHECK(answer["ok"] == true);
  CHECK(answer["models"][0] == Json{{"name", "net"}, {"summary", "a network"}});
  CHECK(answer["clusters"][0]["most_gpus"] == 8);
  CHECK(answer["clusters"][0]["gpus_per_node"] == 4);
  CHECK(answer["clusters"][0]["gpu"] == "a100");
  CHECK(answer["strategies"][0]["options"] == Json{"bucket_cap"});
}

}  // namespace workshop_question_test
