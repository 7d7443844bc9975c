// Reads and writes messages of the Model Context Protocol. Messages are checked key by key; a mistake becomes
// a fault with the error code of JSON-RPC.
#include "sim/report/mcp/messages.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/base/names.hpp"
#include "sim/base/printable.hpp"
#include "sim/report/json_value.hpp"

namespace foretrain {

namespace {

// Error codes of JSON-RPC 2.0.
constexpr int kParseError = -32700, kInvalidRequest = -32600, kUnknownMethod = -32601,
              kInvalidParams = -32602;
// Deeper parts of a message are dropped while it is read, since no tool takes any.
constexpr int kDeepestMessage = 8;
// Longest id that is repeated in answers, and longest text that is quoted in messages.
constexpr std::size_t kLongestId = 256, kLongestQuoted = 60;
// Versions of the protocol that are understood, newest first.
constexpr std::array<std::string_view, 4> kProtocolVersions{"2025-11-25", "2025-06-18", "2025-03-26",
                                                            "2024-11-05"};

// Thrown for a message that cannot be carried out; read_mcp_message() catches it.
struct Fault {
  int code;
  std::string why;
};

/// Throws a Fault.
[[noreturn]] void refuse(int code, std::string why) { throw Fault{code, std::move(why)}; }

/// Returns the client's text, shortened and printable, for a message.
std::string cited(std::string_view text) { return shortened(printable(text), kLongestQuoted); }

/// Returns JSON as one line. Invalid UTF-8 is replaced, since the line must be valid JSON.
std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Returns a response with "result" or "error".
std::string response(std::string_view id, const char* key, Json value) {
  Json out{{"jsonrpc", "2.0"}, {"id", Json::parse(id)}};
  out[key] = std::move(value);
  return line_of(out);
}

/// Returns a value as a word of a command line; a number or boolean is spelled as in a scenario file. Refuses
/// other types, long texts, and NUL characters.
std::string word_of(const Json& value, const std::string& name) {
  if (!value.is_string() && !value.is_number() && !value.is_boolean())
    refuse(kInvalidParams,
           fmt::format("\"{}\" has a value that is neither text, number nor flag", cited(name)));
  std::string word = value.is_string() ? value.get<std::string>() : value.dump();
  if (word.size() > kLongestMcpWord || word.find('\0') != std::string::npos)
    refuse(kInvalidParams,
           fmt::format("\"{}\" has more than {} characters, or a NUL", cited(name), kLongestMcpWord));
  return word;
}

/// Returns the words of a list, or of a single value.
std::vector<std::string> words_of(const Json& value, const std::string& name) {
  if (!value.is_array()) return {word_of(value, name)};
  if (value.size() > kMostMcpWords)
    refuse(kInvalidParams, fmt::format("\"{}\" has more than {} values", cited(name), kMostMcpWords));
  std::vector<std::string> words;
  for (const Json& one : value) words.push_back(word_of(one, name));
  return words;
}

/// Returns KEY=VALUE for each entry of an object, or the words of a list.
std::vector<std::string> settings_of(const Json& value, const std::string& name) {
  if (!value.is_object()) return words_of(value, name);
  std::vector<std::string> words;
  for (const auto& [key, setting] : value.items()) words.push_back(key + "=" + word_of(setting, name));
  return words;
}

/// Adds the words of one argument. An option and its value are one word, so that a value is never taken as an
/// option.
void add_option(const McpParameter& parameter, const Json& value, std::vector<std::string>& words) {
  const auto add_each = [&](const std::vector<std::string>& given) {
    for (const std::string& one : given) {
      if (parameter.option.empty())
        words.push_back(one);
      else
        words.push_back(parameter.option + "=" + one);
    }
  };
  switch (parameter.kind) {
    case McpValueKind::flag:
      if (!value.is_boolean()) refuse(kInvalidParams, fmt::format("\"{}\" is true or false", parameter.name));
      if (value.get<bool>()) words.push_back(parameter.option);
      return;
    case McpValueKind::list:
      return add_each({fmt::format("{}", fmt::join(words_of(value, parameter.name), ","))});
    case McpValueKind::settings:
      return add_each(settings_of(value, parameter.name));
    case McpValueKind::repeated:
      return add_each(words_of(value, parameter.name));
    case McpValueKind::integer:
    case McpValueKind::text:
      return add_each({word_of(value, parameter.name)});
  }
}

/// Returns the files that came with a call. A name must not contain a slash, since it is no path of this
/// machine.
std::vector<SourceText> texts_of(const Json& table) {
  if (!table.is_object() || table.size() > kMostMcpFiles)
    refuse(kInvalidParams,
           fmt::format("\"files\" is an object of names with texts, at most {}", kMostMcpFiles));
  std::vector<SourceText> out;
  for (const auto& [name, text] : table.items()) {
    if (name.empty() || name.size() > 255 || name.find('/') != std::string::npos)
      refuse(kInvalidParams, fmt::format("\"files\" has \"{}\", which is no name of a file", cited(name)));
    if (!text.is_string()) refuse(kInvalidParams, "\"files\" has a file that is no text");
    out.push_back({name, text.get<std::string>()});
  }
  return out;
}

/// Turns arguments into a command line. Positional arguments stand behind "--", so that none is taken as an
/// option. Unknown keys and missing required arguments are refused.
void take_arguments(const Json& arguments, McpCall& call) {
  if (!arguments.is_object()) refuse(kInvalidParams, "\"arguments\" is an object");
  call.words = call.tool->command;
  std::vector<std::string> positional, names;
  for (const McpParameter& parameter : call.tool->parameters) {
    names.push_back(parameter.name);
    // A null counts as an argument that is absent.
    const auto found = arguments.find(parameter.name);
    if (found != arguments.end() && !found->is_null())
      add_option(parameter, *found, parameter.option.empty() ? positional : call.words);
    else if (parameter.is_required)
      refuse(kInvalidParams,
             fmt::format("{} needs \"{}\": {}", call.tool->name, parameter.name, parameter.meaning));
  }
  if (call.tool->takes_files) names.emplace_back("files");
  for (const auto& [key, value] : arguments.items()) {
    if (std::ranges::find(names, key) == names.end())
      refuse(kInvalidParams, fmt::format("{} has no argument \"{}\"; {}", call.tool->name, cited(key),
                                         did_you_mean(key, names)));
  }
  if (call.tool->takes_files && arguments.contains("files")) call.files = texts_of(arguments["files"]);
  if (!positional.empty()) call.words.emplace_back("--");
  call.words.insert(call.words.end(), positional.begin(), positional.end());
  if (call.words.size() > kMostMcpWords)
    refuse(kInvalidParams, fmt::format("the arguments come to more than {} words", kMostMcpWords));
}

/// Reads the parameters of tools/call: the tool's name and its arguments.
void take_call(const Json& params, const std::vector<McpTool>& tools, McpCall& call) {
  const auto name = params.is_object() ? params.find("name") : params.end();
  if (!params.is_object() || name == params.end() || !name->is_string())
    refuse(kInvalidParams, "tools/call needs \"name\"");
  std::vector<std::string> names;
  for (const McpTool& tool : tools) {
    names.push_back(tool.name);
    if (tool.name == name->get<std::string>()) call.tool = &tool;
  }
  if (call.tool == nullptr)
    refuse(kInvalidParams, fmt::format("there is no tool \"{}\"; {}", cited(name->get<std::string>()),
                                       did_you_mean(name->get<std::string>(), names)));
  take_arguments(params.contains("arguments") ? params["arguments"] : Json::object(), call);
}

/// Returns the id as JSON, so that the answer can repeat it. It must be a number or a short text.
std::string id_of(const Json& id) {
  const bool is_one = id.is_number() || id.is_string();
  const std::string text = is_one ? id.dump(-1, ' ', false, Json::error_handler_t::replace) : "";
  if (!is_one || text.size() > kLongestId)
    refuse(kInvalidRequest, "\"id\" is neither a number nor a short text");
  return text;
}

/// Reads a request by its method.
void take_method(const std::string& method, const Json& params, const std::vector<McpTool>& tools,
                 McpMessage& out) {
  if (method == "initialize") {
    out.request = McpRequest::initialize;
    if (params.is_object() && params.contains("protocolVersion") && params["protocolVersion"].is_string())
      out.protocol_version = params["protocolVersion"].get<std::string>();
  } else if (method == "ping") {
    out.request = McpRequest::ping;
  } else if (method == "tools/list") {
    out.request = McpRequest::list_tools;
  } else if (method == "tools/call") {
    take_call(params, tools, out.call);
    out.request = McpRequest::call_tool;
  } else {
    refuse(kUnknownMethod, fmt::format("there is no method \"{}\"", cited(method)));
  }
}

/// Reads a message. Responses and notifications need no answer and leave the request as `none`.
void take_message(const Json& json, const std::vector<McpTool>& tools, McpMessage& out) {
  if (json.is_discarded()) refuse(kParseError, "the line is no JSON");
  if (!json.is_object()) refuse(kInvalidRequest, "the line is no JSON object");
  const bool has_method = json.contains("method"), has_id = json.contains("id");
  // A response.
  if (!has_method && (json.contains("result") || json.contains("error"))) return;
  if (has_id) out.id = id_of(json["id"]);
  if (json.value("jsonrpc", Json()) != "2.0") refuse(kInvalidRequest, "\"jsonrpc\" is not \"2.0\"");
  if (!has_method || !json["method"].is_string()) refuse(kInvalidRequest, "\"method\" is no text");
  // A notification.
  if (!has_id) return;
  take_method(json["method"].get<std::string>(), json.contains("params") ? json["params"] : Json::object(),
              tools, out);
}

/// Returns the JSON Schema of a parameter. A list may also be given as a single value.
Json schema_of(const McpParameter& parameter) {
  Json any_value{{"type", {"string", "number", "boolean"}}};
  Json out;
  switch (parameter.kind) {
    case McpValueKind::flag:
      out = {{"type", "boolean"}};
      break;
    case McpValueKind::integer:
      out = {{"type", "integer"}};
      break;
    case McpValueKind::text:
      out = {{"type", "string"}};
      break;
    case McpValueKind::list:
    case McpValueKind::repeated:
      out = {{"type", {"array", "string", "integer"}}, {"items", {{"type", {"string", "integer"}}}}};
      break;
    case McpValueKind::settings:
      out = {{"type", "object"}, {"additionalProperties", any_value}};
      break;
  }
  // A list has no enum here; the command checks its words.
  if (!parameter.choices.empty() && parameter.kind == McpValueKind::text) out["enum"] = parameter.choices;
  out["description"] = parameter.meaning;
  return out;
}

/// Returns the JSON Schema of a tool's arguments. Other keys are not allowed.
Json schema_of(const McpTool& tool) {
  Json properties = Json::object(), required = Json::array();
  for (const McpParameter& parameter : tool.parameters) {
    properties[parameter.name] = schema_of(parameter);
    if (parameter.is_required) required.push_back(parameter.name);
  }
  if (tool.takes_files)
    properties["files"] = {{"type", "object"},
                           {"additionalProperties", {{"type", "string"}}},
                           {"description", "Texts of the files that other arguments name, by their names"}};
  return {{"type", "object"},
          {"properties", properties},
          {"required", required},
          {"additionalProperties", false}};
}

/// Appends the sentences of an answer: verdict, cause, next step, assumptions.
void add_answer_text(const Json& answer, std::string& out) {
  // Sentences that are missing or empty are left out.
  const auto add = [&](const char* title, const char* key) {
    const auto found = answer.find(key);
    if (found != answer.end() && found->is_string() && !found->get<std::string>().empty())
      out += fmt::format("{}{}\n", title, found->get<std::string>());
  };
  add("", "verdict");
  add("Cause: ", "cause");
  add("Next step: ", "action");
  for (const auto& assumed : answer.value("assumptions", Json::array()))
    if (assumed.is_object())
      out += fmt::format("Assumed: {} ({})\n", assumed.value("text", ""), assumed.value("option", ""));
}

/// Returns the answers of a report, or of its points, jobs or reports, in words.
std::string answers_in_words(const Json& report) {
  std::string out;
  const auto add_of = [&out](const Json& one) {
    if (one.is_object() && one.contains("answer") && one["answer"].is_object())
      add_answer_text(one["answer"], out);
  };
  if (!report.is_object()) return out;
  add_of(report);
  // Reports about several jobs keep an answer for each in a list.
  for (const char* list : {"points", "jobs", "reports"})
    for (const auto& one : report.value(list, Json::array())) add_of(one);
  return out;
}

}  // namespace

// Parsing never throws; the callback drops parts that are nested too deeply.
McpMessage read_mcp_message(std::string_view line, const std::vector<McpTool>& tools) {
  McpMessage out;
  try {
    const auto is_near = [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepestMessage; };
    take_message(Json::parse(line, is_near, false), tools, out);
  } catch (const Fault& fault) {
    out.request = McpRequest::fault;
    out.code = fault.code, out.why = fault.why;
  }
  return out;
}

// An unknown version is answered with the second newest one.
std::string write_mcp_initialized(const McpMessage& message, std::string_view program_version) {
  const auto known = std::ranges::find(kProtocolVersions, message.protocol_version);
  const std::string_view version = known == kProtocolVersions.end() ? kProtocolVersions[0] : *known;
  return response(message.id, "result",
                  {{"protocolVersion", version},
                   {"capabilities", {{"tools", {{"listChanged", false}}}}},
                   {"serverInfo", {{"name", "foretrain"}, {"version", program_version}}},
                   {"instructions",
                    "Predicts how long distributed training takes on GPU clusters. check: a job script "
                    "before it is submitted; "
                    "predict, compare, plan: a training on N GPUs; explain: a finished job; topology: a "
                    "machine. Files are "
                    "given as texts in \"files\"."}});
}

std::string write_mcp_pong(const McpMessage& message) {
  return response(message.id, "result", Json::object());
}

// The tools only read, which readOnlyHint tells clients.
std::string write_mcp_tools(const McpMessage& message, const std::vector<McpTool>& tools) {
  Json list = Json::array();
  for (const McpTool& tool : tools)
    list.push_back({{"name", tool.name},
                    {"description", tool.summary},
                    {"inputSchema", schema_of(tool)},
                    {"annotations", {{"readOnlyHint", true}, {"openWorldHint", false}}}});
  return response(message.id, "result", {{"tools", list}});
}

std::string write_mcp_fault(const McpMessage& message) {
  return write_mcp_fault(message.id, message.code, message.why);
}

// The text may cite parts of the client's message, so it is made printable.
std::string write_mcp_fault(std::string_view id, int code, std::string_view why) {
  return response(id, "error", {{"code", code}, {"message", printable(why)}});
}

// A report without such an answer is accompanied by the command's own text.
bool has_answer_in_words(std::string_view json) {
  return !answers_in_words(Json::parse(json, nullptr, false)).empty();
}

// "content" is the text for the model; "structuredContent" is the report itself.
std::string write_mcp_answer(const McpMessage& message, const McpAnswer& answer) {
  const Json report = answer.json.empty() ? Json() : Json::parse(answer.json, nullptr, false);
  std::string text = answer.text.empty() ? answers_in_words(report) : answer.text;
  if (!answer.messages.empty()) text += (text.empty() ? "" : "\n") + answer.messages;
  Json result{{"content", {{{"type", "text"}, {"text", text}}}}};
  if (report.is_object()) result["structuredContent"] = report;
  if (answer.is_error) result["isError"] = true;
  return response(message.id, "result", std::move(result));
}

}  // namespace foretrain
