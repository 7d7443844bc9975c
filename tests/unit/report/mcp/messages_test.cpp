// Messages of the Model Context Protocol: what is understood, and with which number each fault comes back.
#include "sim/report/mcp/messages.hpp"

#include <fmt/format.h>

#include "sim/report/json_value.hpp"
#include "tests/support/catch.hpp"

namespace messages_test {

using namespace foretrain;

namespace {

const std::vector<McpTool>& tools() {
  static const std::vector<McpTool> all{{"check",
                                         {"job", "check"},
                                         "What is wrong",
                                         {{"file", "", "The script", McpValueKind::text, {}, true},
                                          {"gpus", "--gpus", "Numbers", McpValueKind::list},
                                          {"every_gpu", "--every-gpu", "All", McpValueKind::flag},
                                          {"ignore", "--ignore", "Keys", McpValueKind::repeated},
                                          {"set", "--set", "Settings", McpValueKind::settings}}},
                                        {"topology",
                                         {"topology", "show"},
                                         "A machine",
                                         {{"cluster", "", "Which", McpValueKind::text, {}, true}},
                                         false,
                                         false}};
  return all;
}

McpMessage read(const std::string& line) { return read_mcp_message(line, tools()); }

McpMessage call(const std::string& name, const Json& arguments) {
  return read(Json{{"jsonrpc", "2.0"},
                   {"id", 7},
                   {"method", "tools/call"},
                   {"params", {{"name", name}, {"arguments", arguments}}}}
                  .dump());
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("a call becomes the command line that a person would type") {
  const McpMessage message = call("check", {{"gpus", {1, 4}},
                                            {"every_gpu", true},
                                            {"ignore", {"a", "b"}},
                                            {"set", {{"run.epochs", 3}, {"x", true}}},
                                            {"file", "job.sbatch"},
                                            {"files", {{"job.sbatch", "#!/bin/sh"}}}});
  REQUIRE(message.request == McpRequest::call_tool);
  CHECK(message.call.words == Words{"job", "check", "--gpus=1,4", "--every-gpu", "--ignore=a", "--ignore=b",
                                    "--set=run.epochs=3", "--set=x=true", "--", "job.sbatch"});
  REQUIRE(message.call.files.size() == 1);
  CHECK(message.call.files.front().text == "#!/bin/sh");
}

TEST_CASE("a value that looks like an option stays a value") {
  const Words words = call("check", {{"file", "--output"}, {"gpus", "--html=x"}}).call.words;
  CHECK(words == Words{"job", "check", "--gpus=--html=x", "--", "--output"});
}

TEST_CASE("what is wrong with a call is a fault with the reason, code -32602") {
  for (const auto& [message, why] : std::vector<std::pair<McpMessage, std::string>>{
           {call("chek", Json::object()), "there is no tool \"chek\"; did you mean \"check\"?"},
           {call("check", Json::object()), "check needs \"file\""},
           {call("check", {{"file", "a"}, {"gpu", 1}}),
            "check has no argument \"gpu\"; did you mean \"gpus\" or"},
           {call("check", {{"file", Json::object()}}), "neither text, number nor flag"},
           {call("check", {{"file", "a"}, {"every_gpu", "yes"}}), "true or false"},
           {call("check", {{"file", std::string("a\0b", 3)}}), "a NUL"},
           {call("check", {{"file", "a"}, {"files", {{"../a", "x"}}}}), "which is no name of a file"},
           {call("check", {{"file", "a"}, {"files", {{"a", 1}}}}), "a file that is no text"},
           {call("topology", {{"cluster", "mahti"}, {"files", Json::object()}}), "no argument \"files\""},
           {call("check", {{"file", std::string(5000, 'x')}}), "more than 4096 characters"}}) {
    INFO(why);
    CHECK(message.request == McpRequest::fault);
    CHECK(message.code == -32602);
    CHECK(message.id == "7");
    CHECK_THAT(message.why, ContainsSubstring(why));
  }
}

TEST_CASE("what is no message has the number that JSON-RPC gives it") {
  for (const auto& [line, code] : std::vector<std::pair<std::string, int>>{
           {"{", -32700},
           {"\xff", -32700},
           {"[]", -32600},
           {"1", -32600},
           {R"({"id": 1, "method": "ping"})", -32600},
           {R"({"jsonrpc": "2.0", "id": null, "method": "ping"})", -32600},
           {R"({"jsonrpc": "2.0", "id": {}, "method": "ping"})", -32600},
           {R"({"jsonrpc": "2.0", "id": 1, "method": 2})", -32600},
           {R"({"jsonrpc": "2.0", "id": 1, "method": "resources/list"})", -32601},
           {R"({"jsonrpc": "2.0", "id": 1, "method": "tools/call"})", -32602},
           {R"({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 1}})", -32602}}) {
    INFO(line);
    const McpMessage message = read(line);
    CHECK(message.request == McpRequest::fault);
    CHECK(message.code == code);
    CHECK(Json::parse(write_mcp_fault(message))["error"]["code"] == code);
  }
  CHECK(read(std::string(100'000, '[')).code == -32700);
}

TEST_CASE("nobody answers notifications and responses") {
  CHECK(read(R"({"jsonrpc": "2.0", "method": "notifications/initialized"})").request == McpRequest::none);
  CHECK(read(R"({"jsonrpc": "2.0", "id": 3, "result": {}})").request == McpRequest::none);
}

TEST_CASE("the client's version of the protocol is taken where it is known") {
  const auto version = [](const char* asked) {
    const McpMessage message = read(fmt::format(R"({{"jsonrpc": "2.0", "id": "a", "method": "initialize",
                             "params": {{"protocolVersion": "{}"}}}})",
                                                asked));
    const Json answer = Json::parse(write_mcp_initialized(message, "1.2.3"));
    CHECK(answer["id"] == "a");
    CHECK(answer["result"]["serverInfo"]["version"] == "1.2.3");
    return answer["result"]["protocolVersion"].get<std::string>();
  };
  CHECK(version("2024-11-05") == "2024-11-05");
  CHECK(version("1999-01-01") == "2025-11-25");  // the newest, as the protocol wants it
}

TEST_CASE("a tool's schema says every parameter, and which it needs") {
  const Json list =
      Json::parse(write_mcp_tools(read(R"({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})"), tools()));
  const Json schema = list["result"]["tools"][0]["inputSchema"];
  CHECK(schema["required"] == Json::array({"file"}));
  CHECK(schema["additionalProperties"] == false);
  CHECK(schema["properties"]["every_gpu"]["type"] == "boolean");
  CHECK(schema["properties"].contains("files"));
  CHECK_FALSE(list["result"]["tools"][1]["inputSchema"]["properties"].contains("files"));
}

TEST_CASE("an answer is its verdict, cause, action and assumptions, and the report beside them") {
  const std::string report = R"({"schema": "foretrain.prediction/1", "answer": {"verdict": "Take 4 GPUs.",
    "cause": "The host.", "action": "", "assumptions": [{"text": "10 workers", "option": "--workers"}]}})";
  CHECK(has_answer_in_words(report));
  const std::string line =
      write_mcp_answer(call("topology", {{"cluster", "mahti"}}), {report, "", "warning: x\n"});
  CHECK(line.find('\n') == line.size() - 1);
  const Json result = Json::parse(line)["result"];
  CHECK(result["content"][0]["text"] ==
        "Take 4 GPUs.\nCause: The host.\nAssumed: 10 workers (--workers)\n\nwarning: x\n");
  CHECK(result["structuredContent"]["schema"] == "foretrain.prediction/1");
  CHECK_FALSE(result.contains("isError"));
}

}  // namespace messages_test
