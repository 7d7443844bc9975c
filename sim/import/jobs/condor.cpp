// HTCondor expands macros when a job is queued, so all lines are read before any value is looked at.
// A submit file looks like this: "executable = train.sh", "arguments = "-b 64"", "request_gpus = 4", "queue
// 1".
// Requests, requirements on GPUs, times, the number of jobs and the executable's launch line are taken;
// transfer of files, logs and environment are not.
#include "sim/import/jobs/condor.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/jobs/catalog.hpp"
#include "sim/import/jobs/job_writers.hpp"
#include "sim/import/jobs/slurm_values.hpp"
#include "sim/import/launch_reader.hpp"

namespace foretrain {

namespace {

/// Limit of macros inside of macros, which may name each other in a circle.
constexpr int kDeepestMacro = 8;
/// Limit of one line and of one expanded value, in bytes.
constexpr std::size_t kLongestCommand = 64u << 10;

/// Says whether a text can be the name of a command.
bool is_key(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '+';
  });
}

/// Says whether a line begins with the word "queue".
bool starts_queue(std::string_view line) {
  return lower_case(line.substr(0, 5)) == "queue" &&
         (line.size() == 5 || line[5] == ' ' || line[5] == '\t' || line[5] == '(');
}

/// Expands $(name) and $(name:default), and $(DOLLAR), which is predefined. Unknown macros stay as they are.
std::string put_macros_in(const SubmitCommands& commands, std::string_view text, int depth) {
  std::string out;
  for (std::size_t at = 0; at < text.size() && out.size() < kLongestCommand;) {
    const std::size_t open = std::min(text.find("$(", at), text.size());
    out += text.substr(at, open - at);
    const std::size_t close = text.find(')', open);
    if (open == text.size()) break;
    if (close == std::string_view::npos) return out + std::string(text.substr(open));
    const std::string_view inside = text.substr(open + 2, close - open - 2);
    const std::size_t colon = inside.find(':');
    const auto found = commands.find(lower_case(trimmed(inside.substr(0, colon))));
    if (found == commands.end() && lower_case(trimmed(inside)) == "dollar")
      out += '$';
    else if (found != commands.end() && depth < kDeepestMacro)
      out += put_macros_in(commands, found->second.written, depth + 1);
    else if (colon != std::string_view::npos)
      out += inside.substr(colon + 1);
    else
      out += text.substr(open, close + 1 - open);
    at = close + 1;
  }
  return out;
}

/// Returns arguments in HTCondor's new syntax, which stand between double quotes, as a shell would write
/// them.
/// Blanks separate words, single quotes join them, and a quote of either kind is written twice.
std::string as_shell_words(std::string_view text) {
  std::string out, word;
  bool is_quoted = false;
  const auto end_word = [&] {
    if (!word.empty()) out += (out.empty() ? "" : " ") + word;
    word.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_double = i + 1 < text.size() && text[i + 1] == text[i];
    if (text[i] == '"' && is_double) {
      word += is_quoted ? "\"" : "'\"'", ++i;
    } else if (text[i] == '\'' && is_quoted && is_double) {
      word += "'\\''", ++i;
    } else if (text[i] == '\'') {
      word += '\'', is_quoted = !is_quoted;
    } else if (!is_quoted && (text[i] == ' ' || text[i] == '\t')) {
      end_word();
    } else {
      word += text[i];
    }
  }
  end_word();
  return is_quoted ? out + "'" : out;
}

/// Reads the commands of one submit file into a script.
class SubmitReader {
 public:
  SubmitReader(SubmitCommands commands, JobScript& script)
      : commands_(std::move(commands)), script_(script) {}

  /// Reads the request first, because the launch line needs the number of GPUs.
  void read(const ScriptFinder& find) {
    JobRequest& request = script_.request;
    request.asks = true;
    request.gpus_per_node = count("request_gpus");
    request.cpus_per_task = count("request_cpus");
    request.nodes = count("machine_count");
    request.memory = memory("request_memory");
    read_requirements();
    read_time();
    read_queue();
    script_.resources = resolve(request);
    read_executable(find);
    start_on_all_machines();
  }

 private:
  /// Returns a command by its name, or nullptr.
  const SubmitCommand* find_command(const std::string& key) const {
    const auto found = commands_.find(key);
    return found == commands_.end() ? nullptr : &found->second;
  }

  /// Reports a command that cannot be read.
  void not_understood(const SubmitCommand& command, std::string why) {
    script_.not_understood.push_back({command.span, command.written, std::move(why)});
  }

  /// Reads a count from 0 to 10^6.
  Field<int> count(const std::string& key) {
    const SubmitCommand* command = find_command(key);
    if (command == nullptr) return {};
    const auto number = whole_number(command->value);
    if (number && *number >= 0 && *number <= 1'000'000)
      return Found<int>{static_cast<int>(*number), command->span};
    not_understood(*command, key + " is no number");
    return {};
  }

  /// Reads an amount of memory as Slurm does, in MiB without a unit. Blanks before the unit are allowed.
  Field<MemoryRequest> memory(const std::string& key) {
    const SubmitCommand* command = find_command(key);
    if (command == nullptr) return {};
    std::string text = command->value;
    std::erase(text, ' ');
    const auto amount = slurm_memory(text);
    if (amount && !amount->whole_node) return Found<MemoryRequest>{*amount, command->span};
    not_understood(*command, key + " is no amount of memory");
    return {};
  }

  /// Collects the expressions that select GPUs. Limits that have commands of their own are written as such
  /// expressions.
  void read_requirements() {
    for (const char* key : {"require_gpus", "requirements"}) {
      if (const SubmitCommand* command = find_command(key))
        script_.request.requirements.push_back({command->value, command->span});
    }
    const auto add_limit = [&](const char* key, const char* expression) {
      if (const SubmitCommand* command = find_command(key))
        script_.request.requirements.push_back(
            {fmt::format("{} {}", expression, command->value), command->span});
    };
    add_limit("gpus_minimum_capability", "Capability >=");
    add_limit("gpus_maximum_capability", "Capability <=");
    if (const Field<MemoryRequest> least = memory("gpus_minimum_memory"))
      script_.request.requirements.push_back(
          {fmt::format("GlobalMemoryMb >= {}", least->value.bytes.count >> 20), least->span});
  }

  /// Reads the time limit. The lengths short, medium and long are those by which CHTC's GPU Lab classes jobs
  /// (docs/models/imports.md); elsewhere the attribute means nothing.
  void read_time() {
    if (const SubmitCommand* command = find_command("allowed_job_duration")) {
      const auto seconds = whole_number(command->value);
      if (seconds && *seconds > 0) return script_.request.seconds = {*seconds, command->span}, void();
      return not_understood(*command, "is no number of seconds");
    }
    const SubmitCommand* length = find_command("+gpujoblength");
    if (length == nullptr) return;
    const std::string word = lower_case(length->value);
    const std::int64_t hours = word.find("short") != word.npos    ? 12
                               : word.find("medium") != word.npos ? 24
                               : word.find("long") != word.npos   ? 168
                                                                  : 0;
    if (hours == 0) return not_understood(*length, "lengths are short, medium and long");
    script_.request.seconds = {hours * 3600, length->span};
  }

  /// Reads the number of jobs of "queue" or "queue 4". In "queue 4 name in (…)" it depends on a list, which
  /// may be in another file, so it stays unknown.
  void read_queue() {
    const SubmitCommand* queue = find_command("queue");
    if (queue == nullptr)
      return script_.remarks.push_back({{}, "", "without a queue line nothing is submitted"});
    const std::string_view rest = trimmed(std::string_view(queue->value));
    if (rest.empty()) return script_.request.array = {1, queue->span}, void();
    const auto number = whole_number(rest);
    if (number && *number >= 0 && *number <= 1'000'000)
      return script_.request.array = {static_cast<int>(*number), queue->span}, void();
    not_understood(*queue, "how many jobs a list makes is not counted");
  }

  /// Reads what the executable starts: its script if it can be found, else the command itself.
  void read_executable(const ScriptFinder& find) {
    const SubmitCommand* executable = find_command("executable");
    if (executable == nullptr) return;
    const SubmitCommand* arguments = find_command("arguments");
    std::string text = arguments == nullptr ? "" : arguments->value;
    if (text.size() > 1 && text.front() == '"' && text.back() == '"')
      text = as_shell_words(std::string_view(text).substr(1, text.size() - 2));
    ShellValues values;
    // The arguments may be quoted, so they are cut into words as a shell would, and become $1 to $9 of the
    // script.
    if (script_.resources.gpus_per_node) values.gpus_on_node = script_.resources.gpus_per_node->value;
    const auto source = find ? find(executable->value) : std::nullopt;
    if (!source)
      return read_launch(read_commands(executable->value + " " + text, values, executable->span.line), values,
                         nullptr, script_);
    // The word 0 is the placeholder "arguments" in front.
    int number = 0;
    for (const ShellCommand& command : read_commands("arguments " + text, values)) {
      for (const ShellWord& word : command.words) {
        if (word.known && number > 0 && number < 10) values.set(std::to_string(number), word.text);
        ++number;
      }
    }
    const std::vector<ShellCommand> commands = read_commands(source->text, values);
    read_launch(commands, values, find, script_);
    if (script_.launch.file.empty()) script_.launch.file = executable->value;
  }

  /// Sets the nodes of a job in the parallel universe, which starts the executable on every machine.
  void start_on_all_machines() {
    const SubmitCommand* universe = find_command("universe");
    const bool is_parallel = universe != nullptr && lower_case(universe->value) == "parallel";
    if (is_parallel && script_.launch.started_by && script_.launch.nodes)
      script_.launch.nodes = script_.resources.nodes;
  }

  SubmitCommands commands_;
  JobScript& script_;
};

}  // namespace

SubmitCommands read_submit_commands(std::string_view text) {
  SubmitCommands commands;
  int number = 0;
  // A line that ends in a backslash goes on in the next one, but a comment does not.
  for (std::size_t at = 0; at < text.size();) {
    const int first = number + 1;
    std::string line;
    bool goes_on = true;
    std::size_t indent = 0;
    while (goes_on && at < text.size()) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      std::string_view piece = trimmed(text.substr(at, end - at));
      if (line.empty()) indent = std::min(text.substr(at, end - at).find_first_not_of(" \t"), end - at);
      goes_on = piece.ends_with('\\') && !piece.starts_with('#');
      if (goes_on) piece.remove_suffix(1);
      if (line.size() < kLongestCommand) line += piece;
      at = end + 1, ++number;
    }
    // Here the logical line is whole: pieces of several lines are joined without their backslashes.
    if (line.empty() || line[0] == '#') continue;
    const SourceSpan span{first, static_cast<int>(indent) + 1,
                          static_cast<int>(std::min<std::size_t>(line.size(), 200))};
    // The queue line has no equals sign, so it is stored under a name that no other command has.
    if (starts_queue(line)) {
      commands["queue"] = {{}, std::string(trimmed(std::string_view(line).substr(5))), span};
      continue;
    }
    const std::size_t equals = line.find('=');
    std::string key = lower_case(trimmed(std::string_view(line).substr(0, equals)));
    // Attributes of the job may be written as "+NAME" or as "MY.NAME".
    if (key.starts_with("my.")) key.replace(0, 3, "+");
    if (equals == std::string::npos || !is_key(key)) continue;
    commands[key] = {{}, std::string(trimmed(std::string_view(line).substr(equals + 1))), span};
  }
  // The macros of a file share a budget, so that a few short lines cannot expand to gigabytes.
  std::size_t budget = kMostExpanded;
  for (auto& [key, command] : commands) {
    command.value = command.written.find("$(") == std::string::npos || budget == 0
                        ? command.written
                        : put_macros_in(commands, command.written, 0);
    budget -= std::min(budget, command.value.size());
  }
  return commands;
}

// A table of TOML begins with "[", which no line of a submit file does.
bool is_submit_file(std::string_view text) {
  bool queues = false, requests = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed(text.substr(at, end - at));
    at = end + 1;
    if (line.starts_with('[')) return false;
    queues = queues || starts_queue(line);
    const std::string key = lower_case(trimmed(line.substr(0, line.find('='))));
    const bool is_request = key == "request_gpus" || key == "request_cpus" || key == "request_memory" ||
                            key == "executable" || key == "universe";
    requests = requests || (line.find('=') != std::string_view::npos && is_request);
  }
  // A queue line alone is too common a word in other texts, so an assignment must stand beside it.
  return requests || (queues && text.find('=') != std::string_view::npos);
}

void read_submit_file(std::string_view text, const ScriptFinder& find, JobScript& script) {
  script.system = BatchSystem::htcondor;
  SubmitReader(read_submit_commands(text), script).read(find);
}

JobSystem condor_system() {
  return {.system = BatchSystem::htcondor,
          .title = "HTCondor",
          .kind = "a submit file of HTCondor",
          .asks_as = "request_gpus = 1",
          .starter = "",
          .is = is_submit_file,
          .read = [](const SourceText&, std::string_view text, const ScriptFinder& find,
                     JobScript& script) { read_submit_file(text, find, script); },
          .write = write_condor};
}

}  // namespace foretrain
