// Reader of Slurm's options in "#SBATCH --gres=gpu:4" and on command lines. They stand in a table; a name
// that is not in it is another option of Slurm without a bearing on training, or it is reported.
#include "sim/import/jobs/sbatch.hpp"

#include <algorithm>
#include <cctype>
#include <deque>
#include <utility>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/names.hpp"
#include "sim/import/jobs/directives.hpp"
#include "sim/import/jobs/slurm_values.hpp"

namespace foretrain {

namespace {

/// The mark of directives.
constexpr std::string_view kDirective = "#SBATCH";

/// Returns the row of an option, by its letter if that is not 0, else by its name; nullptr when there is
/// none.
template <class Row>
const Row* find_option(std::span<const Row> table, std::string_view name, char letter) {
  const auto found = std::ranges::find_if(
      table, [&](const Row& option) { return letter != 0 ? option.letter == letter : option.name == name; });
  return found == table.end() ? nullptr : &*found;
}

/// Says whether a line was probably meant as a directive: "# SBATCH", "#sbatch", "#SBTACH".
bool resembles_directive(std::string_view line) {
  std::string_view rest = trimmed(line);
  if (!rest.starts_with('#') || rest.starts_with("##")) return false;
  rest = trimmed(rest.substr(1));
  const std::size_t end = rest.find_first_of(" \t");
  const std::string word(rest.substr(0, end));
  const bool has_option = end != std::string_view::npos && trimmed(rest.substr(end)).starts_with('-');
  return has_option && word.size() <= 8 && edit_distance(word, "SBATCH") <= 2;
}

/// Says whether a line is a directive: the mark must be followed by a blank or the line's end.
bool starts_directive(std::string_view line) {
  return line.starts_with(kDirective) && (line.size() == kDirective.size() ||
                                          line[kDirective.size()] == ' ' || line[kDirective.size()] == '\t');
}

/// The components of a heterogeneous job, each with options of its own; a plain job has one. A deque keeps
/// references to components valid.
class JobComponents {
 public:
  JobComponents() { begin(); }
  /// Reads a directive. "hetjob" or its older name "packjob" begins the next component.
  void read(std::string_view line, int number) {
    const std::vector<ShellWord> words = directive_words(line, kDirective.size(), number);
    parts_.back().request.asks = true;
    if (!words.empty() && (words[0].text == "hetjob" || words[0].text == "packjob")) return begin();
    const std::size_t end = options_->read(words, 0, false);
    if (end < words.size())
      parts_.back().not_understood.push_back({words[end].span, words[end].text, "is no option"});
  }
  /// Joins the components that have GPUs into one request if their nodes are alike; others are left aside
  /// with a remark.
  void join(JobScript& script) {
    for (JobScript& part : parts_) {
      for (NotUnderstood& line : part.not_understood) script.not_understood.push_back(std::move(line));
      for (NotUnderstood& line : part.remarks) script.remarks.push_back(std::move(line));
    }
    // A plain job is its only component.
    if (parts_.size() == 1) return script.request = std::move(parts_[0].request), void();
    std::vector<JobRequest*> with;
    for (JobScript& part : parts_) {
      const JobResources have = resolve(part.request);
      if (!have.gpus || have.gpus->value > 0) with.push_back(&part.request);
    }
    if (with.empty()) with.push_back(&parts_[0].request);
    if (with.size() < parts_.size())
      script.remarks.push_back(
          {{},
           "",
           fmt::format("{} of {} components of the job have no GPUs and are left aside here",
                       parts_.size() - with.size(), parts_.size())});
    script.request = *with[0];
    for (std::size_t i = 1; i < with.size(); ++i) add(script, *with[i]);
  }

 private:
  // This limit is Slurm's own.
  static constexpr std::size_t kMostComponents = 128;

  /// Begins a component. Beyond the limit, options go to the last one.
  void begin() {
    if (parts_.size() < kMostComponents) parts_.emplace_back();
    options_.emplace(parts_.back());
  }

  /// Adds a component to the first one with GPUs.
  static void add(JobScript& script, const JobRequest& other) {
    JobRequest& own = script.request;
    const JobResources a = resolve(own), b = resolve(other);
    const auto same = [](const Field<int>& x, const Field<int>& y) { return x && y && x->value == y->value; };
    const SourceSpan span = b.gpus ? b.gpus->span : SourceSpan{};
    // Components are one request only if each node has the same GPUs and tasks; nodes are then added up.
    if (!same(a.gpus_per_node, b.gpus_per_node) || !same(a.tasks_per_node, b.tasks_per_node) || !a.nodes ||
        !b.nodes)
      return script.not_understood.push_back(
          {span, "",
           "components with unlike nodes are not read as one job: only the first with GPUs counts"});
    own.nodes = Found<int>{a.nodes->value + b.nodes->value, a.nodes->span};
    own.most_nodes.reset(), own.tasks.reset();
    own.tasks_per_node = a.tasks_per_node, own.gpus_per_node = a.gpus_per_node;
    own.gpus.reset(), own.gpus_per_task.reset();
  }

  std::deque<JobScript> parts_;
  std::optional<SlurmOptions> options_;
};

}  // namespace

void SlurmOptions::not_understood(const ShellWord& word, std::string_view text, std::string why) {
  script_.not_understood.push_back({word.span, std::string(text), std::move(why)});
}

void SlurmOptions::take_count(Field<int>& field, const ShellWord& word, std::string_view text) {
  const auto count = slurm_count(text);
  if (!count) return field.reset(), not_understood(word, word.text, fmt::format("\"{}\" is no count", text));
  field = {*count, word.span};
}

template <auto Member>
void SlurmOptions::count(const Value& value) {
  take_count(script_.request.*Member, value.word, value.text);
}

// "--nodes=2-4" is a range.
void SlurmOptions::nodes(const Value& value) {
  const std::size_t dash = value.text.find('-');
  take_count(script_.request.nodes, value.word, value.text.substr(0, dash));
  script_.request.most_nodes.reset();
  if (dash != std::string_view::npos)
    take_count(script_.request.most_nodes, value.word, value.text.substr(dash + 1));
}

// The last of several options for GPUs counts, and a remark says so.
void SlurmOptions::take_gpus(Field<int>& field, const Value& value, bool with_kind) {
  const auto& [word, text] = value;
  asks_for_job_ = true;
  const GpuRequest gpus = slurm_gpus(text, with_kind);
  if (!gpus.problem.empty())
    return field.reset(), not_understood(word, word.text, fmt::format("\"{}\" {}", text, gpus.problem));
  if (gpus.none) return;
  if (field && field->value != gpus.count)
    script_.remarks.push_back(
        {word.span, word.text,
         fmt::format("{} GPUs were asked for before; the last line counts", field->value)});
  field = {gpus.count, word.span};
  if (!gpus.type.empty()) script_.request.gpu_type = {gpus.type, word.span};
}

template <auto Member>
void SlurmOptions::gpus(const Value& value) {
  take_gpus(script_.request.*Member, value, false);
}

template <auto Member>
void SlurmOptions::resource(const Value& value) {
  take_gpus(script_.request.*Member, value, true);
}

template <auto Member>
void SlurmOptions::memory(const Value& value) {
  Field<MemoryRequest>& field = script_.request.*Member;
  const auto amount = slurm_memory(value.text);
  if (!amount)
    return field.reset(), not_understood(value.word, value.word.text,
                                         fmt::format("\"{}\" is no amount of memory", value.text));
  field = {*amount, value.word.span};
}

template <auto Member>
void SlurmOptions::words(const Value& value) {
  asks_for_job_ = true;
  script_.request.*Member = {std::string(value.text), value.word.span};
}

void SlurmOptions::job_name(const Value& value) { script_.request.name = value.text; }
void SlurmOptions::hint(const Value& value) {
  script_.request.physical_cores = value.text == "nomultithread";
}
void SlurmOptions::wrap(const Value& value) { wrapped_ = {std::string(value.text), value.word.span}; }

void SlurmOptions::gpus_per_socket(const Value& value) {
  not_understood(value.word, value.word.text, "GPUs per socket are not read; say --gpus-per-node");
}

void SlurmOptions::array(const Value& value) {
  const auto jobs = slurm_array(value.text);
  if (!jobs)
    return not_understood(value.word, value.word.text, fmt::format("\"{}\" is no list of jobs", value.text));
  script_.request.array = {*jobs, value.word.span};
}

/// Takes features that all hold, joined by "&" or ",". They are cut at every character that cannot be part of
/// a name. Alternatives and counts are not read.
void SlurmOptions::constraint(const Value& value) {
  asks_for_job_ = true;
  auto& constraints = script_.request.constraints;
  constraints.clear();
  std::string feature;
  for (const char c : std::string(value.text) + "&") {
    const bool part = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                      std::string_view("_-.").find(c) != std::string_view::npos;
    if (part) feature += c;
    if (!part && !feature.empty()) constraints.push_back({std::exchange(feature, {}), value.word.span});
  }
  if (value.text.find_first_of("|[*!") == std::string_view::npos) return;
  constraints.clear();
  not_understood(value.word, value.word.text,
                 "only features that all hold, as in --constraint=a&b, are read");
}

void SlurmOptions::time(const Value& value) {
  asks_for_job_ = true;
  const auto seconds = slurm_time(value.text);
  if (!seconds)
    return script_.request.seconds.reset(),
           not_understood(value.word, value.word.text,
                          fmt::format("\"{}\" is no time; as in 1-12:00:00 or 90 (minutes)", value.text));
  script_.request.seconds = {*seconds, value.word.span};
}

// These are the options with a bearing on a training.
std::span<const SlurmOptions::Option> SlurmOptions::options() {
  using S = SlurmOptions;
  using R = JobRequest;
  static constexpr Option kRead[] = {{"nodes", 'N', &S::nodes},
                                     {"ntasks", 'n', &S::count<&R::tasks>},
                                     {"ntasks-per-node", 0, &S::count<&R::tasks_per_node>},
                                     {"tasks-per-node", 0, &S::count<&R::tasks_per_node>},
                                     {"ntasks-per-gpu", 0, &S::count<&R::tasks_per_gpu>},
                                     {"cpus-per-task", 'c', &S::count<&R::cpus_per_task>},
                                     {"cpus-per-gpu", 0, &S::count<&R::cpus_per_gpu>},
                                     {"gpus", 'G', &S::gpus<&R::gpus>},
                                     {"gpus-per-node", 0, &S::gpus<&R::gpus_per_node>},
                                     {"gpus-per-task", 0, &S::gpus<&R::gpus_per_task>},
                                     {"gres", 0, &S::resource<&R::gpus_per_node>},
                                     {"tres-per-node", 0, &S::resource<&R::gpus_per_node>},
                                     {"mem", 0, &S::memory<&R::memory>},
                                     {"mem-per-cpu", 0, &S::memory<&R::memory_per_cpu>},
                                     {"mem-per-gpu", 0, &S::memory<&R::memory_per_gpu>},
                                     {"time", 't', &S::time},
                                     {"partition", 'p', &S::words<&R::partition>},
                                     {"account", 'A', &S::words<&R::account>},
                                     {"constraint", 'C', &S::constraint},
                                     {"array", 'a', &S::array},
                                     {"job-name", 'J', &S::job_name},
                                     {"hint", 0, &S::hint},
                                     {"wrap", 0, &S::wrap},
                                     {"gpus-per-socket", 0, &S::gpus_per_socket}};
  return kRead;
}

std::string SlurmOptions::unknown_option_hint(std::string_view name) {
  std::vector<std::string> known;
  for (const Option& option : options()) known.emplace_back(option.name);
  for (const OptionName& option : slurm_other_options()) known.emplace_back(option.name);
  const std::vector<std::string> near = nearest_names(name, known, 1);
  return near.empty() ? "no option of Slurm that is known here"
                      : fmt::format("no option of Slurm: did you mean --{}?", near.front());
}

/// Slurm does not expand variables in #SBATCH lines, but a shell does on command lines. A value with "$"
/// therefore means nothing in a directive, except in a job's name.
void SlurmOptions::take(const Option& option, const Value& value, bool expands) {
  if (!expands && value.text.find('$') != std::string_view::npos && option.name != "job-name")
    return not_understood(value.word, value.word.text,
                          "Slurm puts no variables into #SBATCH lines: it takes the text as it stands");
  if (expands && !value.word.known)
    return not_understood(value.word, value.word.text, "its value is not known before the script runs");
  (this->*option.take)(value);
}

/// Slurm accepts the beginning of a long option that no other one begins with (getopt_long). An exact name
/// goes before longer ones.
std::string_view SlurmOptions::whole_name(std::string_view name) {
  // A short option has no long name to complete.
  if (name.empty()) return name;
  std::vector<std::string_view> found;
  const auto apply_options = [&](auto table) {
    for (const auto& option : table) {
      if (option.name == name) found.insert(found.begin(), {option.name, option.name});
      if (option.name.starts_with(name)) found.push_back(option.name);
    }
  };
  apply_options(options()), apply_options(slurm_other_options()), apply_options(slurm_flags());
  return found.size() == 1 ? found[0] : name;
}

std::size_t SlurmOptions::read(const std::vector<ShellWord>& words, std::size_t from, bool expands) {
  while (from < words.size() && words[from].text.size() > 1 && words[from].text[0] == '-')
    from = read_one(words, from, expands);
  return from;
}

// Long options hold their value behind "=", short ones may have it joined ("-N2"), and others take the next
// word.
std::size_t SlurmOptions::read_one(const std::vector<ShellWord>& words, std::size_t i, bool expands) {
  const ShellWord& word = words[i];
  const bool is_long = word.text.starts_with("--");
  const std::size_t equals = is_long ? word.text.find('=') : std::string::npos;
  std::string_view name =
      is_long ? std::string_view(word.text).substr(2, equals == std::string::npos ? equals : equals - 2)
              : std::string_view();
  const char letter = is_long ? '\0' : word.text[1];
  name = whole_name(name);
  if (const OptionName* flag = find_option(slurm_flags(), name, letter)) {
    // The values --exclusive=user and =mcs let other jobs share the node.
    if (flag->name == "exclusive" && equals == std::string::npos)
      script_.request.exclusive = {true, word.span};
    return i + 1;
  }
  // Known options without a bearing are skipped with their value; only unknown names are reported.
  const Option* read = find_option(options(), name, letter);
  if (read == nullptr && find_option(slurm_other_options(), name, letter) == nullptr) {
    not_understood(word, word.text,
                   unknown_option_hint(is_long ? name : std::string_view(word.text).substr(1)));
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
  // The place of a value in the next word covers the option, too.
  if (!holds_value)
    value.span = {word.span.line, word.span.column,
                  words[i + 1].span.column + words[i + 1].span.length - word.span.column};
  if (!holds_value) value.text = word.text + " " + value.text;
  if (value.span.length < 1) value.span.length = word.span.length;
  if (read != nullptr) take(*read, {value, text}, expands);
  return i + (holds_value ? 1 : 2);
}

void read_directives(std::string_view text, int first_line, JobScript& script) {
  JobComponents components;
  bool at_top = true;
  int number = first_line;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    const SourceSpan span{number, 1, std::max(1, static_cast<int>(trimmed(line).size()))};
    if (starts_directive(line) && at_top)
      components.read(line, number);
    else if (starts_directive(line) && script.remarks.size() < 100)
      script.remarks.push_back(
          {span, std::string(trimmed(line)),
           "stands behind the first command, where Slurm no longer looks for directives"});
    else if (at_top && resembles_directive(line) && script.remarks.size() < 100)
      script.remarks.push_back(
          {span, std::string(trimmed(line)), "is a comment to Slurm: a directive begins with #SBATCH"});
    const std::string_view content = trimmed(line);
    if (!content.empty() && content[0] != '#') at_top = false;
  }
  components.join(script);
}

}  // namespace foretrain
