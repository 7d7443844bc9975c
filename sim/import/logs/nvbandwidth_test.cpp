// The name of a test tells the copy, and the arrow in its description tells which of row and column is the
// source.
#include "sim/import/logs/nvbandwidth_test.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/import/logs/log_lines.hpp"

namespace foretrain {

namespace {

/// Returns the copy that a test measures: "h2d", "d2h", "d2d" or "p2p"; empty for a test that is none of
/// these.
std::string copy_of(std::string_view test) {
  if (test.starts_with("multinode")) return "";
  if (test.starts_with("host_to_") || test.starts_with("host_device_")) return "h2d";
  if (test.starts_with("device_to_host") || test.starts_with("all_to_host")) return "d2h";
  if (test.starts_with("device_local")) return "d2d";
  return test.starts_with("device_to_device") || test.starts_with("all_to_one") ||
                 test.starts_with("one_to_all")
             ? "p2p"
             : "";
}

/// Says whether a matrix is one direction of a bidirectional test, whose total is printed too.
bool is_part_of_total(std::string_view description) {
  return holds(description, "Read1") || holds(description, "Read2") || holds(description, "Write1") ||
         holds(description, "Write2");
}

/// Returns the number of copies that run at the same time; 1 where copies run one by one.
int copies_together(std::string_view test, int columns) {
  if (holds(test, "all_to_host") || holds(test, "host_to_all")) return columns;
  return holds(test, "all_to_one") || holds(test, "one_to_all") ? std::max(1, columns - 1) : 1;
}

/// Returns the settings of a cell: source, destination, kind of memory, engine and what runs beside it.
Settings matrix_settings_of(const NvbandwidthMatrix& matrix, const std::string& copy, int row, int column) {
  Settings settings;
  const int together = copies_together(matrix.test, matrix.columns);
  const bool points_back = holds(matrix.description, "<-") && !holds(matrix.description, "<->");
  // Tests of one GPU with all others print a single row, in which only the column names a device.
  const bool is_to_host = copy == "d2h", is_one_row = copy == "p2p" && together > 1;
  if (copy == "h2d" || copy == "d2h") settings.emplace_back("memory", "pinned");
  if (copy == "d2d") settings.emplace_back("src", std::to_string(column));
  if (copy != "d2d" && !is_one_row) {
    settings.emplace_back("src", std::to_string(points_back || is_to_host ? column : row));
    settings.emplace_back("dst", std::to_string(points_back || is_to_host ? row : column));
  }
  if (is_one_row)
    settings.emplace_back(holds(matrix.test, "all_to_one") ? "dst" : "src", std::to_string(column));
  if (holds(matrix.test, "bidirectional")) settings.emplace_back("both_ways", "1");
  if (together > 1) settings.emplace_back("together", std::to_string(together));
  if (matrix.test.ends_with("_ce") || matrix.test.ends_with("_sm"))
    settings.emplace_back("engine", matrix.test.substr(matrix.test.size() - 2));
  settings.emplace_back("test", matrix.test);
  return settings;
}

}  // namespace

void add_cell(const NvbandwidthMatrix& matrix, int row, int column, std::string_view word, int line,
              const std::string& source, SampleSheet& sheet) {
  if (word == "N/A" || word == "X") return;
  const auto value = number_of(word);
  const std::string copy = copy_of(matrix.test);
  if (!value) return sheet.skip(line, why_no_number(word));
  if (copy.empty())
    return sheet.skip(line, fmt::format("{} is no copy that is modelled", matrix.test.substr(0, 60)));
  // The total is a sample already, so its parts would count twice.
  if (is_part_of_total(matrix.description))
    return sheet.skip(line, "one direction of a total that is printed too");
  const bool is_time = holds(matrix.description, "(ns)") || holds(matrix.description, "(us)");
  Sample sample;
  sample.kind = SampleKind::copy, sample.what = copy, sample.line = line, sample.source = source;
  sample.value = holds(matrix.description, "(ns)") ? *value / 1000 : *value;
  sample.unit = is_time ? SampleUnit::us : SampleUnit::gigabytes_per_s;
  sample.settings = matrix_settings_of(matrix, copy, row, column);
  const int together = copies_together(matrix.test, matrix.columns);
  // A copy between GPUs takes the other GPU as well.
  sample.gpus = copy == "p2p" ? together + 1 : together;
  sheet.add(std::move(sample));
}

}  // namespace foretrain
