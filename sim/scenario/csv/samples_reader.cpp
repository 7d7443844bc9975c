// Reader of samples CSV. Columns are found by name, and a wrong field excludes its row. Facts are in the
// comments above the header.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/names.hpp"
#include "sim/scenario/csv/csv_line.hpp"
#include "sim/scenario/csv/sample_sheet.hpp"
#include "sim/scenario/csv/samples.hpp"
#include "sim/scenario/csv/text_scan.hpp"

namespace foretrain {

namespace {

const std::vector<std::string> kColumns{"kind", "what",   "gpus",    "nodes",    "bytes", "value",
                                        "unit", "spread", "repeats", "settings", "source"};
/// Longest part of a field that a message quotes.
constexpr std::size_t kKnownWidth = 40;

std::string in_quotes(std::string_view text) {
  return fmt::format("\"{}{}\"", text.substr(0, kKnownWidth), text.size() > kKnownWidth ? "…" : "");
}

/// Returns the index of a name, or nullopt.
template <std::size_t N>
std::optional<std::size_t> index_in(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) return std::nullopt;
  return static_cast<std::size_t>(at - names.begin());
}

/// Returns the place of each column in a row; SIZE_MAX: it is missing.
std::vector<std::size_t> find_columns(const std::vector<CsvField>& header) {
  std::vector<std::size_t> places;
  for (const std::string& name : kColumns) {
    const auto at = std::find_if(header.begin(), header.end(),
                                 [&](const CsvField& field) { return trimmed(field.text) == name; });
    places.push_back(at == header.end() ? SIZE_MAX : static_cast<std::size_t>(at - header.begin()));
  }
  return places;
}

/// Returns whether a header has the columns kind, what and unit, which tell it from other CSV files.
bool names_samples(const std::vector<CsvField>& header) {
  const std::vector<std::size_t> places = find_columns(header);
  return std::all_of(places.begin(), places.begin() + 2, [](std::size_t at) { return at != SIZE_MAX; }) &&
         places[6] != SIZE_MAX;
}

/// Reports unknown, repeated and missing columns.
void check_header(const std::vector<CsvField>& header, Diagnostics& diagnostics) {
  for (const CsvField& field : header) {
    const std::string name(trimmed(field.text));
    if (!field.fault.empty()) diagnostics.report(field.span, field.fault);
    if (std::find(kColumns.begin(), kColumns.end(), name) == kColumns.end())
      diagnostics.report(field.span, fmt::format("unknown column {}", in_quotes(name)),
                         did_you_mean(name, kColumns));
    // A repeated column is reported at its second place.
    const auto same = [&](const CsvField& other) { return trimmed(other.text) == name; };
    if (&*std::find_if(header.begin(), header.end(), same) != &field)
      diagnostics.report(field.span, fmt::format("the column {} is there twice", in_quotes(name)));
    if (diagnostics.found().size() >= Diagnostics::kMostDiagnostics) return;
  }
  const std::vector<std::size_t> places = find_columns(header);
  const SourceSpan first = header.front().span, last = header.back().span;
  const SourceSpan whole{first.line, first.column, last.column + last.length - first.column};
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] == SIZE_MAX)
      diagnostics.report(whole, fmt::format("the column \"{}\" is missing", kColumns[i]),
                         fmt::format("the header is {}", kSamplesHeader));
  }
}

/// One row seen through the header. The first wrong field is remembered with its place.
class Row {
 public:
  Row(const std::vector<CsvField>& fields, const std::vector<std::size_t>& places)
      : fields_(fields), places_(places) {}

  // Returns the first mistake; empty when there is none.
  const std::string& why() const { return why_; }

  std::string_view text(std::size_t column) const { return trimmed(fields_[places_[column]].text); }

  // Returns the index of a field among names.
  template <std::size_t N>
  std::size_t one_of(std::size_t column, const std::array<std::string_view, N>& names) {
    const auto at = index_in(names, text(column));
    if (!at) refuse(column, did_you_mean(text(column), std::vector<std::string>(names.begin(), names.end())));
    return at.value_or(0);
  }

  // Returns an integer in [least, most]; an empty field may have a default.
  std::int64_t integer(std::size_t column, std::int64_t least, std::int64_t most,
                       std::optional<std::int64_t> when_empty = {}) {
    const std::string_view field = text(column);
    if (field.empty() && when_empty) return *when_empty;
    std::int64_t value = least;
    const auto [end, problem] = std::from_chars(field.data(), field.data() + field.size(), value);
    const bool is_right =
        problem == std::errc{} && end == field.data() + field.size() && value >= least && value <= most;
    if (!is_right) refuse(column, fmt::format("must be an integer from {} to {}", least, most));
    return is_right ? value : least;
  }

  // Returns a finite number; an empty field may have a default.
  double number(std::size_t column, std::optional<double> when_empty = {}) {
    const std::string_view field = text(column);
    if (field.empty() && when_empty) return *when_empty;
    double value = 0;
    const auto [end, problem] = std::from_chars(field.data(), field.data() + field.size(), value);
    const bool is_right =
        problem == std::errc{} && end == field.data() + field.size() && std::isfinite(value);
    if (!is_right) refuse(column, "must be a finite number");
    return is_right ? value : 0;
  }

  // Returns the settings "key=value;key=value".
  Settings settings(std::size_t column) {
    Settings settings;
    const std::string_view field = text(column);
    for (std::size_t begin = 0; begin < field.size();) {
      const std::size_t end = std::min(field.find(';', begin), field.size());
      const std::string_view item = trimmed(field.substr(begin, end - begin));
      const std::size_t equals = item.find('=');
      if (equals == std::string_view::npos || equals == 0)
        refuse(column, fmt::format("has {}, which is not key=value", in_quotes(item)));
      if (equals != std::string_view::npos)
        settings.emplace_back(trimmed(item.substr(0, equals)), trimmed(item.substr(equals + 1)));
      begin = end + 1;
    }
    return settings;
  }

  // Remembers the first mistake.
  void refuse(std::size_t column, const std::string& what) {
    const CsvField& field = fields_[places_[column]];
    if (why_.empty())
      why_ = fmt::format("column {}: {} {}: {}", field.span.column, kColumns[column], in_quotes(text(column)),
                         what);
  }

 private:
  const std::vector<CsvField>& fields_;
  const std::vector<std::size_t>& places_;
  std::string why_;
};

/// Returns why a row cannot be read field by field; empty when it can.
std::string shape_fault(const std::vector<CsvField>& fields, std::size_t columns) {
  for (const CsvField& field : fields) {
    if (!field.fault.empty()) return fmt::format("column {}: {}", field.span.column, field.fault);
  }
  if (fields.size() == columns) return "";
  return fmt::format("{} fields, the header has {}; a field that holds a comma stands in quotes",
                     fields.size(), columns);
}

/// Column indices are those of kColumns.
void read_sample_row(const std::vector<CsvField>& fields, const std::vector<std::size_t>& places,
                     SampleSheet& sheet) {
  Row row(fields, places);
  Sample sample;
  sample.line = fields.front().span.line;
  sample.kind = static_cast<SampleKind>(row.one_of(0, kSampleKindNames));
  sample.what = row.text(1);
  if (sample.what.empty()) row.refuse(1, "is empty");
  sample.gpus = static_cast<int>(row.integer(2, 0, kMostSampleGpus, 1));
  sample.nodes = static_cast<int>(row.integer(3, 1, kMostSampleGpus, 1));
  sample.bytes = row.integer(4, 0, kLargestSampleBytes, 0);
  sample.unit = static_cast<SampleUnit>(row.one_of(6, kSampleUnitNames));
  sample.value = row.number(5);
  sample.spread = row.number(7, 0);
  sample.repeats = static_cast<int>(row.integer(8, 1, 1'000'000'000, 1));
  sample.settings = row.settings(9);
  sample.source = row.text(10);
  if (!row.why().empty()) return sheet.skip(sample.line, row.why());
  sheet.add(std::move(sample));
}

/// Reads the facts "# key: value" above the header; a key is one word.
void read_provenance(std::string_view text, SampleSheet& sheet) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = trimmed(text.substr(0, end));
    if (!line.empty() && line[0] != '#') return;
    // The key is the text before the first colon.
    line = trimmed(line.substr(std::min(line.find_first_not_of('#'), line.size())));
    const std::size_t colon = std::min(line.find(':'), line.size());
    const std::string_view key = trimmed(line.substr(0, colon));
    const bool is_key = !key.empty() && key.find_first_of(" \t,=") == std::string_view::npos;
    if (is_key && colon < line.size())
      sheet.state(std::string(key), std::string(trimmed(line.substr(colon + 1))));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

bool is_samples_csv(std::string_view text) {
  CsvLines lines(text);
  const auto header = lines.next();
  return header && names_samples(*header);
}

SampleFile read_samples_csv(const SourceText& source, Diagnostics& diagnostics) {
  SampleSheet sheet(source.name, "samples CSV");
  const bool is_too_large = source.text.size() > kLargestSamples,
             is_binary = !is_too_large && !is_text(source.text);
  if (is_too_large) diagnostics.report({}, fmt::format("is larger than {} bytes", kLargestSamples));
  if (is_binary) diagnostics.report({}, "is not a text file");
  if (is_too_large || is_binary) return sheet.take();
  CsvLines lines(source.text);
  const auto header = lines.next();
  if (!header) diagnostics.report({}, "has no header line", fmt::format("the header is {}", kSamplesHeader));
  if (header) check_header(*header, diagnostics);
  if (!diagnostics.empty()) return sheet.take();
  read_provenance(source.text, sheet);
  const std::vector<std::size_t> places = find_columns(*header);
  bool goes_on = true;
  for (auto fields = lines.next(); fields && goes_on; fields = lines.next()) {
    goes_on = sheet.count_row();
    // A row is read only if it has the header's shape.
    const std::string why = shape_fault(*fields, header->size());
    if (why.empty()) read_sample_row(*fields, places, sheet);
    if (!why.empty()) sheet.skip(lines.line(), why);
    if (!goes_on)
      sheet.skip(lines.line(),
                 fmt::format("nothing below is read: a file holds at most {} rows", kMostSamples));
  }
  return sheet.take();
}

}  // namespace foretrain
