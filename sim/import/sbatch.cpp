// A table of options; what a name is not found under is either another option of Slurm without a bearing on training, or reported.
#include "sim/import/sbatch.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/names.hpp"
#include "sim/import/slurm_values.hpp"

namespace foretrain {

namespace {

constexpr std::string_view kDirective = "#SBATCH";

struct OptionName {
  std::string_view name;
  char letter = 0;
};

/// Options that are read.
constexpr OptionName kRead[] = {{"nodes", 'N'},
                                {"ntasks", 'n'},
                                {"ntasks-per-node"},
                                {"tasks-per-node"},
                                {"ntasks-per-gpu"},
                                {"cpus-per-task", 'c'},
                                {"cpus-per-gpu"},
                                {"gpus", 'G'},
                                {"gpus-per-node"},
                                {"gpus-per-task"},
                                {"gres"},
                                {"tres-per-node"},
                                {"mem"},
                                {"mem-per-cpu"},
                                {"mem-per-gpu"},
                                {"time", 't'},
                                {"partition", 'p'},
                                {"account", 'A'},
                                {"constraint", 'C'},
                                {"array", 'a'},
                                {"job-name", 'J'},
                                {"hint"},
                                {"wrap"},
                                {"gpus-per-socket"}};

/// Options with a value that say nothing about the training.
constexpr OptionName kOther[] = {{"output", 'o'},
                                 {"error", 'e'},
                                 {"input", 'i'},
                                 {"mail-type"},
                                 {"mail-user"},
                                 {"reservation"},
                                 {"nodelist", 'w'},
                                 {"exclude", 'x'},
                                 {"dependency", 'd'},
                                 {"chdir", 'D'},
                                 {"workdir"},
                                 {"export"},
                                 {"signal"},
                                 {"qos", 'q'},
                                 {"licenses", 'L'},
                                 {"distribution", 'm'},
                                 {"threads-per-core"},
                                 {"sockets-per-node"},
                                 {"cores-per-socket"},
                                 {"ntasks-per-core"},
                                 {"ntasks-per-socket"},
                                 {"comment"},
                                 {"begin", 'b'},
                                 {"deadline"},
                                 {"open-mode"},
                                 {"priority"},
                                 {"profile"},
                                 {"switches"},
                                 {"time-min"},
                                 {"tmp"},
                                 {"mcs-label"},
                                 {"extra-node-info", 'B'},
                                 {"gpu-bind"},
                                 {"gpu-freq"},
                                 {"gres-flags"},
                                 {"mem-bind"},
                                 {"cpu-bind"},
                                 {"cpu-freq"},
                                 {"clusters", 'M'},
                                 {"cluster"},
                                 {"cluster-constraint"},
                                 {"container"},
                                 {"core-spec", 'S'},
                                 {"wckey"},
                                 {"uid"},
                                 {"gid"},
                                 {"power"},
                                 {"bb"},
                                 {"bbf"},
                                 {"network"},
                                 {"ntasks-per-tres"},
                                 {"tres-per-task"},
                                 {"export-file"},
                                 {"kill-on-invalid-dep"},
                                 {"delay-boot"},
                                 {"prefer"},
                                 {"thread-spec"},
                                 {"container-image"},
                                 {"container-mounts"},
                                 {"container-name"},
                                 {"container-workdir"},
                                 {"mpi"},
                                 {"mincpus"},
                                 {"acctg-freq"},
                                 {"task-prolog"},
                                 {"task-epilog"},
                                 {"environment"},
                                 {"relative", 'r'}};

/// Options without a value, or with one only after '='.
constexpr OptionName kFlags[] = {{"exclusive"},
                                 {"nice"},
                                 {"propagate"},
                                 {"x11"},
                                 {"kill-on-bad-exit", 'K'},
                                 {"get-user-env"},
                                 {"label", 'l'},
                                 {"unbuffered", 'u'},
                                 {"overlap"},
                                 {"exact"},
                                 {"multi-prog"},
                                 {"pty"},
                                 {"no-kill", 'k'},
                                 {"overcommit", 'O'},
                                 {"oversubscribe", 's'},
                                 {"share"},
                                 {"requeue"},
                                 {"no-requeue"},
                                 {"hold", 'H'},
                                 {"contiguous"},
                                 {"parsable"},
                                 {"wait", 'W'},
                                 {"test-only"},
                                 {"quiet", 'Q'},
                                 {"verbose", 'v'},
                                 {"spread-job"},
                                 {"use-min-nodes"},
                                 {"ignore-pbs"},
                                 {"reboot"},
                                 {"immediate", 'I'},
                                 {"disable-status"},
                                 {"no-allocate"},
                                 {"preserve-env"},
                                 {"join"},
                                 {"no-bell"},
                                 {"whole"},
                                 {"interactive"},
                                 {"resv-ports"},
                                 {"no-container-mount-home"},
                                 {"container-mount-home"},
                                 {"container-writable"},
                                 {"container-remap-root"}};

template <std::size_t N>
const OptionName* find_option(const OptionName (&table)[N], std::string_view name, char letter) {
  const auto found = std::find_if(std::begin(table), std::end(table),
                                  [&](const OptionName& option) { return letter != 0 ? option.letter == letter : option.name == name; });
  return found == std::end(table) ? nullptr : found;
}

std::string unknown_option_hint(std::string_view name) {
  std::vector<std::string> known;
  for (const OptionName& option : kRead) known.emplace_back(option.name);
  for (const OptionName& option : kOther) known.emplace_back(option.name);
  const std::vector<std::string> near = nearest_names(name, known, 1);
  return near.empty() ? "no option of Slurm that is known here" : fmt::format("no option of Slurm: did you mean --{}?", near.front());
}

/// Words of a directive: quotes hold words together, a backslash stands for the character behind it (in either kind of quotes, as sbatch
/// reads it), a '#' at the beginning of a word ends the line.
std::vector<ShellWord> directive_words(std::string_view line, int number) {
  std::vector<ShellWord> words;
  for (std::size_t at = kDirective.size(); at < line.size();) {
    if (line[at] == ' ' || line[at] == '\t' || line[at] == '\r') {
      ++at;
      continue;
    }
    if (line[at] == '#') break;
    ShellWord word;
    const std::size_t begin = at;
    char quote = 0;
    for (; at < line.size() && (quote != 0 || (line[at] != ' ' && line[at] != '\t' && line[at] != '\r')); ++at) {
      if (line[at] == '\\' && at + 1 < line.size())
        word.text += line[++at];
      else if (quote == 0 && (line[at] == '"' || line[at] == '\''))
        quote = line[at];
      else if (quote != 0 && line[at] == quote)
        quote = 0;
      else
        word.text += line[at];
    }
    word.span = {number, static_cast<int>(begin) + 1, static_cast<int>(at - begin)};
    words.push_back(std::move(word));
  }
  return words;
}

/// "# SBATCH", "#sbatch", "#SBTACH": lines that were meant as directives.
bool resembles_directive(std::string_view line) {
  std::string_view rest = trimmed(line);
  if (!rest.starts_with('#') || rest.starts_with("##")) return false;
  rest = trimmed(rest.substr(1));
  const std::size_t end = rest.find_first_of(" \t");
  const std::string word(rest.substr(0, end));
  const bool has_option = end != std::string_view::npos && trimmed(rest.substr(end)).starts_with('-');
  return has_option && word.size() <= 8 && edit_distance(word, "SBATCH") <= 2;
}

bool starts_directive(std::string_view line) {
  return line.starts_with(kDirective) &&
         (line.size() == kDirective.size() || line[kDirective.size()] == ' ' || line[kDirective.size()] == '\t');
}

void read_directive(std::string_view line, int number, SlurmOptions& options, JobScript& script) {
  const std::vector<ShellWord> words = directive_words(line, number);
  script.request.asks = true;
  if (!words.empty() && (words[0].text == "hetjob" || words[0].text == "packjob"))
    return script.not_understood.push_back(
        {words[0].span, words[0].text, "jobs of several parts are not read: only the first part counts here"});
  const std::size_t end = options.read(words, 0, false);
  if (end < words.size()) script.not_understood.push_back({words[end].span, words[end].text, "is no option"});
}

}  // namespace

void SlurmOptions::not_understood(const ShellWord& word, std::string_view text, std::string why) {
  script_.not_understood.push_back({word.span, std::string(text), std::move(why)});
}

void SlurmOptions::take_count(Field<int>& field, const ShellWord& word, std::string_view text) {
  const auto count = slurm_count(text);
  if (!count) return field.reset(), not_understood(word, word.text, fmt::format("\"{}\" is no count", text));
  field = {*count, word.span};
}

void SlurmOptions::take_nodes(const ShellWord& word, std::string_view text) {
  const std::size_t dash = text.find('-');
  take_count(script_.request.nodes, word, text.substr(0, dash));
  script_.request.most_nodes.reset();
  if (dash != std::string_view::npos) take_count(script_.request.most_nodes, word, text.substr(dash + 1));
}

void SlurmOptions::take_gpus(std::string_view name, Field<int>& field, const ShellWord& word, std::string_view text) {
  asks_for_job_ = true;
  const GpuRequest gpus = slurm_gpus(text, name == "gres" || name == "tres-per-node");
  if (!gpus.problem.empty()) return field.reset(), not_understood(word, word.text, fmt::format("\"{}\" {}", text, gpus.problem));
  if (gpus.none) return;
  const bool differs = field && field->value != gpus.count;
  if (differs)
    script_.remarks.push_back({word.span, word.text, fmt::format("{} GPUs were asked for before; the last line counts", field->value)});
  field = {gpus.count, word.span};
  if (!gpus.type.empty()) script_.request.gpu_type = {gpus.type, word.span};
}

void SlurmOptions::take(std::string_view name, const ShellWord& word, std::string_view text, bool expands) {
  JobRequest& request = script_.request;
  if (!expands && text.find('$') != std::string_view::npos && name != "job-name")
    return not_understood(word, word.text, "Slurm puts no variables into #SBATCH lines: it takes the text as it stands");
  if (expands && !word.known) return not_understood(word, word.text, "its value is not known before the script runs");
  const auto take_memory = [&](Field<MemoryRequest>& field) {
    const auto memory = slurm_memory(text);
    if (!memory) return field.reset(), not_understood(word, word.text, fmt::format("\"{}\" is no amount of memory", text));
    field = {*memory, word.span};
  };
  if (name == "nodes") return take_nodes(word, text);
  if (name == "ntasks") return take_count(request.tasks, word, text);
  if (name == "ntasks-per-node" || name == "tasks-per-node") return take_count(request.tasks_per_node, word, text);
  if (name == "ntasks-per-gpu") return take_count(request.tasks_per_gpu, word, text);
  if (name == "cpus-per-task") return take_count(request.cpus_per_task, word, text);
  if (name == "cpus-per-gpu") return take_count(request.cpus_per_gpu, word, text);
  if (name == "gpus") return take_gpus(name, request.gpus, word, text);
  if (name == "gpus-per-node" || name == "gres" || name == "tres-per-node") return take_gpus(name, request.gpus_per_node, word, text);
  if (name == "gpus-per-task") return take_gpus(name, request.gpus_per_task, word, text);
  if (name == "mem") return take_memory(request.memory);
  if (name == "mem-per-cpu") return take_memory(request.memory_per_cpu);
  if (name == "mem-per-gpu") return take_memory(request.memory_per_gpu);
  if (name == "job-name") return request.name = text, void();
  if (name == "hint") return request.physical_cores = text == "nomultithread", void();
  if (name == "wrap") return wrapped_ = {std::string(text), word.span}, void();
  if (name == "gpus-per-socket") return not_understood(word, word.text, "GPUs per socket are not read; say --gpus-per-node");
  if (name == "array") {
    const auto jobs = slurm_array(text);
    if (!jobs) return not_understood(word, word.text, fmt::format("\"{}\" is no list of jobs", text));
    return request.array = {*jobs, word.span}, void();
  }
  asks_for_job_ = true;
  if (name == "partition") request.partition = {std::string(text), word.span};
  if (name == "account") request.account = {std::string(text), word.span};
  if (name == "constraint") {
    request.constraints.clear();
    std::string feature;
    for (const char c : std::string(text) + "&") {
      const bool part = std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("_-.").find(c) != std::string_view::npos;
      if (part) feature += c;
      if (!part && !feature.empty()) request.constraints.push_back({std::exchange(feature, {}), word.span});
    }
    if (text.find_first_of("|[*!") != std::string_view::npos) {
      request.constraints.clear();
      not_understood(word, word.text, "only features that all hold, as in --constraint=a&b, are read");
    }
  }
  if (name == "time") {
    const auto seconds = slurm_time(text);
    if (!seconds)
      return request.seconds.reset(),
             not_understood(word, word.text, fmt::format("\"{}\" is no time; as in 1-12:00:00 or 90 (minutes)", text));
    request.seconds = {*seconds, word.span};
  }
}

std::size_t SlurmOptions::read(const std::vector<ShellWord>& words, std::size_t from, bool expands) {
  while (from < words.size() && words[from].text.size() > 1 && words[from].text[0] == '-') from = read_one(words, from, expands);
  return from;
}

std::size_t SlurmOptions::read_one(const std::vector<ShellWord>& words, std::size_t i, bool expands) {
  const ShellWord& word = words[i];
  const bool is_long = word.text.starts_with("--");
  const std::size_t equals = is_long ? word.text.find('=') : std::string::npos;
  const std::string_view name =
      is_long ? std::string_view(word.text).substr(2, equals == std::string::npos ? equals : equals - 2) : std::string_view();
  const char letter = is_long ? '\0' : word.text[1];
  if (const OptionName* flag = find_option(kFlags, name, letter)) {
    if (flag->name == "exclusive") script_.request.exclusive = {true, word.span};
    return i + 1;
  }
  const OptionName* read = find_option(kRead, name, letter);
  const OptionName* other = read != nullptr ? read : find_option(kOther, name, letter);
  if (other == nullptr) {
    not_understood(word, word.text, unknown_option_hint(is_long ? name : std::string_view(word.text).substr(1)));
    return i + 1;
  }
  const bool holds_value = equals != std::string::npos || (!is_long && word.text.size() > 2);
  if (!holds_value && i + 1 >= words.size()) {
    if (read != nullptr) not_understood(word, word.text, "has no value");
    return i + 1;
  }
  ShellWord value = holds_value ? word : words[i + 1];
  std::string text = value.text;
  if (holds_value) text = is_long ? text.substr(equals + 1) : text.substr(text[2] == '=' ? 3 : 2);
  if (!holds_value) value.span = {word.span.line, word.span.column, words[i + 1].span.column + words[i + 1].span.length - word.span.column};
  if (!holds_value) value.text = word.text + " " + value.text;
  if (value.span.length < 1) value.span.length = word.span.length;
  if (read != nullptr) take(read->name, value, text, expands);
  return i + (holds_value ? 1 : 2);
}

void read_directives(std::string_view text, int first_line, JobScript& script) {
  SlurmOptions options(script);
  bool at_top = true;
  int number = first_line;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    const SourceSpan span{number, 1, std::max(1, static_cast<int>(trimmed(line).size()))};
    if (starts_directive(line) && at_top)
      read_directive(line, number, options, script);
    else if (starts_directive(line) && script.remarks.size() < 100)
      script.remarks.push_back(
          {span, std::string(trimmed(line)), "stands behind the first command, where Slurm no longer looks for directives"});
    else if (at_top && resembles_directive(line) && script.remarks.size() < 100)
      script.remarks.push_back({span, std::string(trimmed(line)), "is a comment to Slurm: a directive begins with #SBATCH"});
    const std::string_view content = trimmed(line);
    if (!content.empty() && content[0] != '#') at_top = false;
  }
}

}  // namespace foretrain
