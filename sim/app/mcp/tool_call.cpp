// Carries out a call of a tool. The result has the command's JSON and its text for people: the answer within
// the JSON, or else what the command prints.
#include "sim/app/mcp/tool_call.hpp"

#include <utility>

#include "sim/app/evidence/evidence_stores.hpp"
#include "sim/app/library/run_program.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/toml/given_files.hpp"

namespace foretrain {

namespace {

/// Runs the call's command line with --format FORMAT behind the command's words; nullptr: as given.
HeldRun run_as(const McpCall& call, const char* format) {
  std::vector<std::string> words = call.words;
  if (format != nullptr)
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(call.tool->command.size()),
                 {"--format", format});
  return run_held(words);
}

/// Returns the answer to the call; an error is an answer too.
McpAnswer answered(const McpCall& call) {
  HeldRun run = run_as(call, call.tool->has_json ? "json" : nullptr);
  // A job that cannot start ends `job check` with exit code 1, but with a report, which is an answer.
  const bool is_report = run.output.starts_with('{');
  if (run.exit_code != 0 && !is_report) return {"", run.messages + run.output, "", true};
  if (!call.tool->has_json) return {"", std::move(run.output), std::move(run.messages)};
  McpAnswer answer{std::move(run.output), "", std::move(run.messages)};
  if (!has_answer_in_words(answer.json)) answer.text = run_as(call, nullptr).output;
  return answer;
}

}  // namespace

// GivenFiles limits every reader of this thread for the duration of the call.
std::string answer_mcp_call(const McpMessage& message, const std::vector<std::string>& folders) {
  std::vector<std::string> readable = catalog_folders();
  readable.insert(readable.end(), folders.begin(), folders.end());
  // Measurements of the user correct the answer here as they do on the command line, so their stores are
  // readable.
  for (const std::string& store : {personal_store(), site_store()})
    if (!store.empty()) readable.push_back(store);
  const GivenFiles files(message.call.files, readable);
  return write_mcp_answer(message, answered(message.call));
}

}  // namespace foretrain
