// Lines are recognised by how they begin. Words are cut as the batch systems do it, without a shell's
// expansions.
// A directive looks like "#PBS -l select=2:ngpus=4 -q gpu", "#BSUB -W 12:00" or "#$ -l h_rt=1:00:00".
#include "sim/import/jobs/directives.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/names.hpp"
#include "sim/import/jobs/slurm_values.hpp"

namespace foretrain {

namespace {

/// Limit of remarks and of reports about values.
constexpr std::size_t kMostRemarks = 100;

/// Says whether a character separates words; a carriage return does, too.
bool is_directive_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Returns the row of an option, or nullptr.
const BatchOption* find_batch_option(std::span<const BatchOption> options, std::string_view name) {
  const auto found = std::ranges::find_if(options, [&](const BatchOption& row) { return row.name == name; });
  return found == options.end() ? nullptr : &*found;
}

/// Returns the row of an option whose value is joined to it, as in "-N2"; nullptr for other words.
const BatchOption* find_joined(std::span<const BatchOption> options, std::string_view text) {
  if (text.size() < 3 || text[1] == '-') return nullptr;
  const BatchOption* row = find_batch_option(options, text.substr(0, 2));
  return row != nullptr && row->has_value ? row : nullptr;
}

/// Returns the hint for an unknown option. Short names are too similar to each other for a proposal.
std::string unknown_hint(std::span<const BatchOption> options, std::string_view name,
                         std::string_view system) {
  std::vector<std::string> known;
  for (const BatchOption& row : options) known.emplace_back(row.name);
  const std::vector<std::string> near = nearest_names(name, known, 1);
  return near.empty() || name.size() < 4
             ? fmt::format("no option of {} that is known here", system)
             : fmt::format("no option of {}: did you mean {}?", system, near.front());
}

}  // namespace

std::vector<ShellWord> directive_words(std::string_view line, std::size_t from, int number) {
  std::vector<ShellWord> words;
  for (std::size_t at = from; at < line.size();) {
    if (is_directive_blank(line[at])) {
      ++at;
      continue;
    }
    if (line[at] == '#') break;
    ShellWord word;
    const std::size_t begin = at;
    char quote = 0;
    // Quotes and backslashes hold characters together; they are not part of the word.
    for (; at < line.size() && (quote != 0 || !is_directive_blank(line[at])); ++at) {
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

std::vector<Directive> cut_directives(std::string_view text, std::string_view mark, bool only_top,
                                      std::string_view name, JobScript& script) {
  std::vector<Directive> out;
  bool at_top = true;
  int number = 1;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at), content = trimmed(line);
    at = end + 1;
    const SourceSpan span{number, 1,
                          std::max(1, static_cast<int>(std::min<std::size_t>(content.size(), 200)))};
    if (line.starts_with(mark) && (at_top || !only_top))
      out.push_back({directive_words(line, mark.size(), number), span});
    else if (line.starts_with(mark) && script.remarks.size() < kMostRemarks)
      script.remarks.push_back(
          {span, std::string(content),
           fmt::format("stands behind the first command, where {} no longer looks for directives", name)});
    // A line that is neither empty nor a comment is the first command.
    if (!content.empty() && content[0] != '#') at_top = false;
  }
  return out;
}

bool has_directive(std::string_view text, std::string_view mark) {
  for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
    if (at == 0 || text[at - 1] == '\n') return true;
  }
  return false;
}

std::string_view first_word(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n$");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, std::min(text.find_first_of(" \t\r\n", begin), text.size()) - begin);
}

std::size_t read_batch_options(const std::vector<ShellWord>& words, std::size_t from,
                               std::span<const BatchOption> options, std::string_view system,
                               JobScript& script) {
  std::size_t i = from;
  while (i < words.size() && words[i].text.size() > 1 && words[i].text[0] == '-') {
    const ShellWord& word = words[i];
    const std::size_t equals = word.text.starts_with("--") ? word.text.find('=') : std::string::npos;
    // Long options alone hold their value behind an equals sign.
    const std::string name = word.text.substr(0, equals);
    const BatchOption* row = find_batch_option(options, name);
    const BatchOption* joined = row == nullptr ? find_joined(options, word.text) : nullptr;
    // A name as a whole goes before a joined value, so "-nnodes" is not read as "-n" with a value.
    if (row == nullptr) row = joined;
    if (row == nullptr)
      script.not_understood.push_back({word.span, word.text, unknown_hint(options, name, system)});
    ++i;
    if (row == nullptr || (!row->has_value && equals == std::string::npos && row->take == nullptr)) continue;
    const bool holds = equals != std::string::npos || joined != nullptr;
    if (row->has_value && !holds && i >= words.size()) {
      if (row->take != nullptr) script.not_understood.push_back({word.span, word.text, "has no value"});
      break;
    }
    // The value is the rest of this word, or the next word.
    ShellWord value = holds || !row->has_value ? word : words[i++];
    const std::string text = equals != std::string::npos ? value.text.substr(equals + 1)
                             : joined != nullptr         ? value.text.substr(2)
                                                         : value.text;
    // An option without a bearing on a training has only been skipped, together with its value.
    if (row->take == nullptr) continue;
    // The word depends on variables of a shell that are not known.
    if (!value.known) {
      script.not_understood.push_back(
          {value.span, value.text, "its value is not known before the script runs"});
      continue;
    }
    row->take(script, {value, text});
  }
  return i;
}

void not_understood(JobScript& script, const OptionValue& value, std::string why) {
  if (script.not_understood.size() < kMostRemarks)
    script.not_understood.push_back({value.word.span, value.word.text, std::move(why)});
}

Field<int> count_field(JobScript& script, const OptionValue& value, std::string_view text) {
  const auto count = whole_number(text);
  if (count && *count >= 0 && *count <= 1'000'000)
    return Found<int>{static_cast<int>(*count), value.word.span};
  not_understood(script, value, fmt::format("\"{}\" is no count", text.substr(0, 60)));
  return {};
}

void clear_unset_cpus(JobScript& script) {
  if (script.request.cpus_per_task) return;
  script.resources.cpus_per_task.reset();
  script.resources.cpus_per_node.reset();
}

// Parts are read from the last one, which counts seconds, to the first.
std::optional<std::int64_t> clock_seconds(std::string_view text) {
  static constexpr std::int64_t kUnits[] = {1, 60, 3600, 86400};
  const std::vector<std::string_view> parts = split_at(text, ':');
  if (parts.size() > std::size(kUnits)) return std::nullopt;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = whole_number(parts[parts.size() - 1 - i]);
    if (!number || *number < 0 || *number > 100'000'000) return std::nullopt;
    // The bounds of the parts keep the sum far below the limit of the type.
    total += *number * kUnits[i];
  }
  return total;
}

std::optional<MemoryRequest> bytes_memory(std::string_view text) {
  if (!text.empty() && (text.back() == 'b' || text.back() == 'B')) text.remove_suffix(1);
  const auto bytes = whole_number(text);
  // A number that is followed by a unit is read as Slurm does, which has the same units.
  if (!bytes) return slurm_memory(text);
  if (*bytes < 0 || *bytes > std::int64_t{1} << 60) return std::nullopt;
  return MemoryRequest{{*bytes}, false};
}

std::vector<Pair> pairs_of(std::string_view text, char separator) {
  std::vector<Pair> out;
  for (const std::string_view part : split_at(text, separator)) {
    const std::string_view clean = trimmed(part);
    const std::size_t equals = clean.find('=');
    if (clean.empty()) continue;
    out.push_back({trimmed(clean.substr(0, equals)), equals == std::string_view::npos
                                                         ? std::string_view()
                                                         : trimmed(clean.substr(equals + 1))});
  }
  return out;
}

}  // namespace foretrain
