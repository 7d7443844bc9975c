// Reader of nvbandwidth -j: {"nvbandwidth": {"testcases": [{"name", "status", "bandwidth_description",
// "bandwidth_matrix": [["24.25", "N/A"]]}]}}.
// Cells become samples as in the text.
#include <algorithm>

#include "sim/import/logs/json_value.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/logs/nvbandwidth_test.hpp"
#include "sim/import/logs/readers.hpp"

namespace foretrain {

namespace {

/// Limit of nesting; deeper values are dropped.
constexpr int kDeepestNvbandwidthJson = 10;

/// Returns a text, or a number as text; empty for other values.
std::string text_or_number(const LogJson& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number() ? value.dump() : "";
}

/// Reads the matrix of one test. All known versions print one matrix for a test.
void read_test(const LogJson& test, const std::string& source, SampleSheet& sheet, bool& goes_on) {
  NvbandwidthMatrix matrix{text_or_number(at(test, "name")),
                           text_or_number(at(test, "bandwidth_description")), 0};
  const LogJson& rows = at(test, "bandwidth_matrix");
  if (!rows.is_array()) return;
  for (std::size_t r = 0; r < rows.size() && goes_on; ++r) {
    goes_on = sheet.count_row();
    matrix.columns = static_cast<int>(rows[r].size());
    for (std::size_t c = 0; rows[r].is_array() && c < rows[r].size(); ++c)
      add_cell(matrix, static_cast<int>(r), static_cast<int>(c), text_or_number(rows[r][c]), 1, source,
               sheet);
  }
}

}  // namespace

bool is_nvbandwidth_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first != std::string_view::npos && text[first] == '{' && holds(text, "\"testcases\"");
}

void read_nvbandwidth_json(const SourceText& source, const LogHints&, SampleSheet& sheet) {
  const LogJson root = LogJson::parse(
      source.text,
      [](int depth, LogJson::parse_event_t, LogJson&) { return depth <= kDeepestNvbandwidthJson; }, false);
  if (!root.is_object()) return sheet.skip(1, "the JSON is not complete, so nothing of it is read");
  const LogJson& run = at(root, "nvbandwidth").is_object() ? at(root, "nvbandwidth") : root;
  sheet.state("driver", text_or_number(at(run, "Driver Version")));
  sheet.state("cuda", text_or_number(at(run, "CUDA Runtime Version")));
  sheet.state("nvbandwidth", text_or_number(at(run, "version")));
  bool goes_on = true;
  for (const LogJson& test : at(run, "testcases")) read_test(test, source.name, sheet, goes_on);
}

}  // namespace foretrain
