// Cuts texts into pieces by the marks of their language alone, so that a broken text has pieces, too.
#include <algorithm>
#include <array>
#include <cctype>

#include "tests/fuzz/mutators/piece.hpp"

namespace foretrain::test {

namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' || c == '+';
}

/// Each line with its newline.
Level lines_of(std::string_view text) {
  Level lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t newline = text.find('\n', begin);
    const std::size_t end = newline == std::string_view::npos ? text.size() : newline + 1;
    lines.push_back({begin, end});
    begin = end;
  }
  return lines;
}

/// Numbers and names.
Level words_of(std::string_view text) {
  Level words;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_word(text[at])) continue;
    const std::size_t begin = at;
    while (at < text.size() && is_word(text[at])) ++at;
    words.push_back({begin, at});
  }
  return words;
}

/// Lines that begin with `mark` and all that follow until the next of them: TOML's tables.
Level sections_of(std::string_view text, char mark) {
  Level sections;
  for (const Piece& line : lines_of(text)) {
    if (sections.empty() || text[line.begin] == mark)
      sections.push_back(line);
    else
      sections.back().end = line.end;
  }
  return sections;
}

/// What stands between separators on one line.
Level fields_of(std::string_view text, std::string_view separators) {
  Level fields;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const bool ends =
        at == text.size() || text[at] == '\n' || separators.find(text[at]) != std::string_view::npos;
    if (!ends) continue;
    if (at > begin) fields.push_back({begin, at});
    begin = at + 1;
  }
  return fields;
}

/// What follows a mark to the end of its line: values of keys.
Level values_after(std::string_view text, char mark) {
  Level values;
  for (const Piece& line : lines_of(text)) {
    const std::size_t at = text.substr(0, line.end).find(mark, line.begin);
    if (at != std::string_view::npos && at + 1 < line.end) values.push_back({at + 1, line.end});
  }
  return values;
}

/// Groups in brackets, by their depth: one level for each.
std::vector<Level> groups_of(std::string_view text, std::string_view opening, std::string_view closing) {
  constexpr std::size_t kDeepest = 8;
  std::vector<Level> levels(kDeepest);
  std::vector<std::size_t> open;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (opening.find(text[at]) != std::string_view::npos) open.push_back(at);
    if (closing.find(text[at]) == std::string_view::npos || open.empty()) continue;
    if (open.size() <= kDeepest) levels[open.size() - 1].push_back({open.back(), at + 1});
    open.pop_back();
  }
  return levels;
}

/// The name of the tag that begins at `at` (its "<"); empty for a closing tag or none.
std::string_view tag_at(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(at + 1, end - at - 1);
}

/// Elements from their opening to their closing tag, by depth.
std::vector<Level> elements_of(std::string_view text) {
  constexpr std::size_t kDeepest = 6;
  std::vector<Level> levels(kDeepest);
  std::vector<Piece> open;  // of each the place, and where its name ends
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    const std::size_t close = text.find('>', at);
    if (close == std::string_view::npos) break;
    const bool closes = at + 1 < text.size() && text[at + 1] == '/', is_empty = text[close - 1] == '/';
    if (!closes && !tag_at(text, at).empty()) open.push_back({at, close + 1});
    if ((!closes && !is_empty) || open.empty()) continue;
    if (open.size() <= kDeepest) levels[open.size() - 1].push_back({open.back().begin, close + 1});
    open.pop_back();
  }
  return levels;
}

void add_all(std::vector<Level>& to, std::vector<Level> more) {
  for (Level& level : more) to.push_back(std::move(level));
}

}  // namespace

std::vector<Level> levels_of(Language language, std::string_view text) {
  std::vector<Level> levels;
  switch (language) {
    case Language::toml:
      levels = {sections_of(text, '['), lines_of(text), values_after(text, '=')};
      add_all(levels, groups_of(text, "[{", "]}"));
      break;
    case Language::csv:
      levels = {lines_of(text), fields_of(text, ",;|\t")};
      break;
    case Language::xml:
      levels = elements_of(text);
      levels.push_back(fields_of(text, " <>"));
      break;
    case Language::json:
      levels = groups_of(text, "{[", "}]");
      levels.push_back(fields_of(text, ",{}[]"));
      levels.push_back(fields_of(text, ",:{}[]\""));
      break;
    case Language::shell:
      levels = {lines_of(text), values_after(text, '='), fields_of(text, " \t;&|")};
      break;
    case Language::lines:
      levels = {sections_of(text, '\n'), lines_of(text), fields_of(text, " \t:=,")};
      break;
  }
  levels.push_back(words_of(text));
  std::erase_if(levels, [](const Level& level) { return level.empty(); });
  return levels;
}

const std::vector<Wrapper>& wrappers_of(Language language) {
  static const std::array<std::vector<Wrapper>, 6> wrappers{{
      {{"[", "]"},
       {"{ a = ", " }"},
       {"\"", "\""},
       {"\"\"\"", "\"\"\""},
       {"'", "'"},
       {"[[", "]]\n"},
       {"# ", "\n"}},
      {{"\"", "\""}, {"\"", ""}, {",", ","}, {"# ", "\n"}, {"\xef\xbb\xbf", ""}},
      {{"<a>", "</a>"}, {"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"&", ";"}, {"\"", "\""}},
      {{"[", "]"}, {"{\"a\":", "}"}, {"\"", "\""}, {"\"\\u", "\""}, {"-", ""}},
      {{"\"", "\""},
       {"'", "'"},
       {"$(", ")"},
       {"${", "}"},
       {"`", "`"},
       {"( ", " )"},
       {"", " \\\n"},
       {"<<A\n", "\nA\n"}},
      {{"\"", "\""}, {"(", ")"}, {"  ", ""}, {"", "\r\n"}, {"-", ""}},
  }};
  return wrappers[static_cast<std::size_t>(language)];
}

Language language_of(std::string_view target) {
  static constexpr std::array<std::pair<std::string_view, Language>, 34> kLanguages{{
      {"fuzz_calibration", Language::toml},
      {"fuzz_cluster", Language::toml},
      {"fuzz_data_set", Language::toml},
      {"fuzz_model", Language::toml},
      {"fuzz_parallel", Language::toml},
      {"fuzz_provenance", Language::toml},
      {"fuzz_recorded", Language::toml},
      {"fuzz_scenario", Language::toml},
      {"fuzz_transport", Language::toml},
      {"fuzz_gpu_use_table", Language::csv},
      {"fuzz_measurement_csv", Language::csv},
      {"fuzz_measurements", Language::csv},
      {"fuzz_sacct_table", Language::csv},
      {"fuzz_samples", Language::csv},
      {"fuzz_slurm_table", Language::csv},
      {"fuzz_training_csv", Language::csv},
      {"fuzz_nccl_graph", Language::xml},
      {"fuzz_nvidia_smi_xml", Language::xml},
      {"fuzz_simgrid_platform", Language::xml},
      {"fuzz_chakra", Language::json},
      {"fuzz_exported_program", Language::json},
      {"fuzz_mcp_message", Language::json},
      {"fuzz_network_config", Language::json},
      {"fuzz_nccl_tests_json", Language::json},
      {"fuzz_nvbandwidth_json", Language::json},
      {"fuzz_param_comms", Language::json},
      {"fuzz_question", Language::json},
      {"fuzz_sacct_json", Language::json},
      {"fuzz_trace", Language::json},
      {"fuzz_job_script", Language::shell},
      {"fuzz_launch_line", Language::shell},
      {"fuzz_pbs", Language::shell},
      {"fuzz_lsf", Language::shell},
      {"fuzz_grid_engine", Language::shell},
  }};
  const auto* row = std::ranges::find(kLanguages, target, [](const auto& one) { return one.first; });
  return row == kLanguages.end() ? Language::lines : row->second;
}

}  // namespace foretrain::test
