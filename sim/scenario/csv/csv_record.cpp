// Records of a CSV table. Each field is reported at most once by a getter.
#include "sim/scenario/csv/csv_record.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/names.hpp"

namespace foretrain {

namespace {

bool holds(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns the place of a whole line.
SourceSpan whole_line(const std::vector<CsvField>& fields) {
  const SourceSpan first = fields.front().span, last = fields.back().span;
  return {first.line, first.column, last.column + last.length - first.column};
}

}  // namespace

bool is_full(const Diagnostics& diagnostics) {
  return diagnostics.found().size() >= Diagnostics::kMostDiagnostics;
}

void add_mistake(Diagnostics& diagnostics, SourceSpan span, std::string message, std::string hint) {
  if (!is_full(diagnostics)) diagnostics.report(span, std::move(message), std::move(hint));
}

CsvHeader::CsvHeader(const std::vector<CsvField>& fields) : span_(whole_line(fields)) {
  for (const CsvField& field : fields) names_.push_back(field.text);
}

bool CsvHeader::has(std::string_view name) const { return holds(names_, name); }

std::size_t CsvHeader::index(std::string_view name) const {
  return static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
}

void CsvHeader::check(const std::vector<CsvField>& fields, const std::vector<std::string>& wanted,
                      const std::vector<std::string>& optional, Diagnostics& diagnostics) const {
  std::vector<std::string> known = wanted;
  known.insert(known.end(), optional.begin(), optional.end());
  for (const CsvField& field : fields) {
    if (!field.fault.empty()) add_mistake(diagnostics, field.span, field.fault);
    if (!holds(known, field.text))
      add_mistake(diagnostics, field.span, fmt::format("unknown column \"{}\"", field.text.substr(0, 40)),
                  did_you_mean(field.text, known));
    // The first column of a name is the valid one.
    const bool first = &fields[index(field.text)] == &field;
    if (!first)
      add_mistake(diagnostics, field.span,
                  fmt::format("the column \"{}\" is there twice", field.text.substr(0, 40)));
    if (is_full(diagnostics)) return;
  }
  for (const std::string& name : wanted) {
    if (!has(name)) add_mistake(diagnostics, span_, fmt::format("the column \"{}\" is missing", name));
  }
}

bool CsvRecord::is_sound() const {
  bool sound = true;
  for (const CsvField& field : fields_) {
    if (field.fault.empty()) continue;
    add_mistake(diagnostics_, field.span, field.fault,
                "put the whole field in quotes and double the quotes inside");
    sound = false;
  }
  if (!sound || fields_.size() == header_.size()) return sound;
  // The place is the first field too many, or the last field.
  const SourceSpan place = fields_[std::min(header_.size(), fields_.size() - 1)].span;
  add_mistake(diagnostics_, place,
              fmt::format("{} fields, the header has {}", fields_.size(), header_.size()),
              "a field that holds a comma stands in quotes");
  return false;
}

std::string CsvRecord::text(std::string_view column) const {
  return header_.has(column) ? field(column).text : std::string();
}

std::string CsvRecord::name(std::string_view column) const {
  const CsvField& f = field(column);
  if (f.text.empty()) add_mistake(diagnostics_, f.span, fmt::format("{} is empty", column));
  return f.text;
}

std::optional<std::int64_t> CsvRecord::integer(std::string_view column, std::int64_t least,
                                               std::int64_t most) const {
  const CsvField& f = field(column);
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(f.text.data(), f.text.data() + f.text.size(), value);
  const bool whole = problem == std::errc{} && end == f.text.data() + f.text.size();
  if (whole && value >= least && value <= most) return value;
  add_mistake(diagnostics_, f.span, fmt::format("{} must be an integer from {} to {}", column, least, most));
  return std::nullopt;
}

double CsvRecord::positive(std::string_view column, double least, double most) const {
  const CsvField& f = field(column);
  double value = 0;
  const auto [end, problem] = std::from_chars(f.text.data(), f.text.data() + f.text.size(), value);
  const bool whole = problem == std::errc{} && end == f.text.data() + f.text.size();
  if (!whole || !(value > 0) || !std::isfinite(value))
    add_mistake(diagnostics_, f.span, fmt::format("{} must be a number more than zero", column));
  else if (value < least || value > most)
    add_mistake(diagnostics_, f.span,
                fmt::format("{} must be a number from {:g} to {:g}", column, least, most), "check the unit");
  return value;
}

std::string CsvRecord::one_of(std::string_view column, const std::vector<std::string>& names) const {
  const CsvField& f = field(column);
  if (!holds(names, f.text))
    add_mistake(diagnostics_, f.span, fmt::format("unknown {} \"{}\"", column, f.text.substr(0, 40)),
                did_you_mean(f.text, names));
  return f.text;
}

void CsvRecord::wrong(std::string_view column, std::string message, std::string hint) const {
  add_mistake(diagnostics_, field(column).span, std::move(message), std::move(hint));
}

}  // namespace foretrain
