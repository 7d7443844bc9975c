// Reads questions of the workshop page and writes answers. Unknown keys are refused, so that a page that asks
// for something newer is told so.
#include "sim/report/workshop/question.hpp"

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/report/json_value.hpp"

namespace foretrain {

namespace {

// Deepest nesting of a question; deeper parts are dropped while parsing.
constexpr int kDeepestQuestion = 3;

/// Throws InputError with an example of a right question.
[[noreturn]] void refuse(const std::string& message) {
  throw InputError("the question " + message,
                   R"(as in {"arguments": ["mahti-resnet50-ddp", "--gpus", "1,4"]})");
}

/// Returns a text; anything else is refused.
std::string text_of_question(const Json& value, std::string_view what) {
  if (!value.is_string()) refuse(fmt::format("has {} that is no text", what));
  return value.get<std::string>();
}

/// Returns the arguments of the command line.
std::vector<std::string> arguments_of(const Json& list) {
  if (!list.is_array() || list.size() > kMostQuestionArguments)
    refuse(fmt::format("needs \"arguments\" as a list of at most {}", kMostQuestionArguments));
  std::vector<std::string> out;
  for (const Json& argument : list) {
    out.push_back(text_of_question(argument, "an argument"));
    if (out.back().size() > kLongestQuestionArgument || out.back().find('\0') != std::string::npos)
      refuse(fmt::format("has an argument of more than {} characters", kLongestQuestionArgument));
  }
  return out;
}

/// Returns the files that come with the question. A name must not contain a slash, since it is no path of
/// this machine.
std::vector<SourceText> files_of(const Json& table) {
  if (!table.is_object() || table.size() > kMostQuestionFiles)
    refuse(fmt::format("needs \"files\" as names with texts, at most {}", kMostQuestionFiles));
  std::vector<SourceText> out;
  for (const auto& [name, text] : table.items()) {
    if (name.empty() || name.size() > 255 || name.find('/') != std::string::npos)
      refuse(fmt::format("has a file \"{}\" whose name is none", shortened(printable(name), 60)));
    out.push_back({name, text_of_question(text, "a file")});
  }
  return out;
}

/// Returns a boolean; anything else is refused.
bool flag_of(const Json& value, std::string_view key) {
  if (!value.is_boolean()) refuse(fmt::format("needs \"{}\" as true or false", key));
  return value.get<bool>();
}

/// Stores the value of one key.
void take_key(WorkshopQuestion& question, const std::string& key, const Json& value) {
  if (key == "arguments")
    question.arguments = arguments_of(value);
  else if (key == "files")
    question.files = files_of(value);
  else if (key == "list")
    question.lists = flag_of(value, key);
  else if (key == "job")
    question.wants_job = flag_of(value, key);
  else if (key == "curve")
    question.wants_curve = flag_of(value, key);
  else
    refuse(fmt::format("has a key \"{}\" that is unknown", shortened(printable(key), 60)));
}

}  // namespace

// Size and nesting are limited before anything is looked at.
WorkshopQuestion read_question(std::string_view json) {
  if (json.size() > kLargestQuestion) refuse(fmt::format("is larger than {} bytes", kLargestQuestion));
  const Json parsed = Json::parse(
      json, [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepestQuestion; }, false);
  if (!parsed.is_object()) refuse("is no JSON object");
  WorkshopQuestion question;
  for (const auto& [key, value] : parsed.items()) take_key(question, key, value);
  if (!question.lists && !parsed.contains("arguments")) refuse("asks for nothing");
  return question;
}

// Optional parts are left out when they are empty.
std::string write_answer(const WorkshopAnswer& answer) {
  Json out{{"ok", true},
           {"prediction", Json::parse(answer.prediction)},
           {"page", Json::parse(answer.details)},
           {"table", answer.table},
           {"why", answer.why},
           {"scenario_toml", answer.scenario_toml}};
  if (!answer.job_script.empty()) out["job_script"] = answer.job_script;
  if (!answer.why_no_job.empty()) out["why_no_job"] = answer.why_no_job;
  if (!answer.left_out.empty()) out["left_out"] = answer.left_out;
  return json_text(out);
}

// Keys that only clusters or strategies have are left out for other entries.
std::string write_catalogs(const std::vector<WorkshopCatalog>& catalogs) {
  Json out{{"ok", true}};
  for (const WorkshopCatalog& catalog : catalogs) {
    Json& items = out[catalog.kind] = Json::array();
    for (const WorkshopCatalog::Item& item : catalog.items) {
      Json& one = items.emplace_back(Json{{"name", item.name}, {"summary", item.summary}});
      if (item.most_gpus > 0) one["most_gpus"] = item.most_gpus, one["gpus_per_node"] = item.gpus_per_node;
      if (!item.gpu.empty()) one["gpu"] = item.gpu;
      if (!item.options.empty()) one["options"] = item.options;
    }
  }
  return json_text(out);
}

std::string write_refusal(std::string_view errors) {
  return json_text(Json{{"ok", false}, {"errors", errors}});
}

}  // namespace foretrain
