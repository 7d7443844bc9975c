// One pass with views into the text: a store of 100,000 rows opens with every command, so a row costs no more
// than its fields. Columns stand in one order, as only this program writes them.
#include "sim/scenario/csv/evidence_rows.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/scenario/csv/csv_record.hpp"
#include "sim/scenario/csv/text_scan.hpp"

namespace foretrain {

namespace {

constexpr std::string_view kMark = "# foretrain evidence ";
constexpr std::string_view kVersion = "1";
constexpr std::string_view kEvidenceColumns =
    "what,source,run,model,network,gpu,architecture,cluster,framework,execution,precision,strategy,op,path,"
    "size,gpus,nodes,measured,predicted,version";
constexpr std::size_t kTexts = 13;  // behind "what"
constexpr std::size_t kFields = 20;
constexpr std::size_t kUsualRow = 200;  // bytes; for room alone
constexpr double kLargestObservedSize = 1e16, kMostRanks = 1e7;

using Texts = std::array<std::string Observation::*, kTexts>;
constexpr Texts kTextColumns{&Observation::source,    &Observation::run,       &Observation::model,
                             &Observation::network,   &Observation::gpu,       &Observation::architecture,
                             &Observation::cluster,   &Observation::framework, &Observation::execution,
                             &Observation::precision, &Observation::strategy,  &Observation::op,
                             &Observation::path};

auto run_key_of(const Observation& r) {
  return std::tie(r.what, r.source, r.model, r.gpu, r.cluster, r.framework, r.execution, r.precision,
                  r.strategy, r.op, r.path, r.size, r.gpus, r.nodes);
}

std::string field_text(std::string_view text) {
  const std::string shown = printable(text);
  if (shown.find_first_of(",\"") == std::string::npos) return shown;
  std::string quoted = "\"";
  for (const char c : shown) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

/// A field as it stands, and where it begins in its line.
struct FieldView {
  std::string_view text;
  std::size_t begin = 0;
  bool quoted = false;
};

/// Reads the fields of one line.
class LineFields {
 public:
  explicit LineFields(std::string_view line) : line_(line) { split(); }
  std::size_t count() const { return count_; }
  const FieldView& at(std::size_t i) const { return fields_[i]; }

 private:
  void split() {
    for (std::size_t at = 0; at <= line_.size(); ++count_) {
      const std::size_t end = end_of(at);
      if (count_ < kFields) fields_[count_] = {line_.substr(at, end - at), at, end > at && line_[at] == '"'};
      at = end + 1;
    }
  }
  std::size_t end_of(std::size_t at) const {
    if (at >= line_.size() || line_[at] != '"') return std::min(line_.find(',', at), line_.size());
    for (std::size_t i = at + 1; i < line_.size(); ++i) {
      if (line_[i] != '"') continue;
      if (i + 1 >= line_.size() || line_[i + 1] != '"') return std::min(line_.find(',', i), line_.size());
      ++i;
    }
    return line_.size();
  }

  std::string_view line_;
  std::array<FieldView, kFields> fields_;
  std::size_t count_ = 0;
};

void assign(std::string& to, const FieldView& field) {
  if (!field.quoted) {
    to.assign(field.text);
    return;
  }
  to.clear();
  for (std::size_t i = 1; i + 1 < field.text.size(); ++i) {
    to += field.text[i];
    if (field.text[i] == '"') ++i;
  }
}

class RowReader {
 public:
  RowReader(const LineFields& fields, int line, Diagnostics& diagnostics)
      : fields_(fields), line_(line), diagnostics_(diagnostics) {}

  std::optional<Observation> row() {
    if (fields_.count() != kFields) {
      mistake(0, fmt::format("{} fields, a row of evidence has {}", fields_.count(), kFields));
      return std::nullopt;
    }
    Observation out;
    out.what = what();
    for (std::size_t i = 0; i < kTexts; ++i) assign(out.*kTextColumns[i], fields_.at(i + 1));
    out.size = number(14, "size", 0, kLargestObservedSize);
    out.gpus = static_cast<int>(number(15, "gpus", 1, kMostRanks));
    out.nodes = static_cast<int>(number(16, "nodes", 1, kMostRanks));
    out.measured = number(17, "measured", 1e-12, 1e9);
    out.predicted = number(18, "predicted", 1e-12, 1e9);
    assign(out.version, fields_.at(19));
    if (sound_) check_quotient(out);
    return sound_ ? std::optional(std::move(out)) : std::nullopt;
  }

 private:
  Observed what() {
    for (std::size_t i = 0; i < kObservedNames.size(); ++i)
      if (kObservedNames[i] == fields_.at(0).text) return static_cast<Observed>(i);
    mistake(0, "what must be step, ratio or collective");
    return Observed::step;
  }

  double number(std::size_t at, std::string_view name, double least, double most) {
    const std::string_view text = fields_.at(at).text;
    double value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem == std::errc{} && end == text.data() + text.size() && value >= least && value <= most)
      return value;
    mistake(at, fmt::format("{} must be a number from {:g} to {:g}", name, least, most));
    return least;
  }

  void check_quotient(const Observation& row) {
    const double quotient = row.measured / row.predicted;
    if (quotient < kLargestQuotient && quotient > 1 / kLargestQuotient) return;
    mistake(17, fmt::format("measured is {:.3g} times what was predicted, {:.4g} s", quotient, row.predicted),
            "the unit may be wrong: seconds");
  }

  void mistake(std::size_t at, std::string message, std::string hint = "") {
    sound_ = false;
    const FieldView& field = fields_.at(std::min(at, fields_.count() - 1));
    const int length = std::max(1, static_cast<int>(field.text.size()));
    add_mistake(diagnostics_, {line_, static_cast<int>(field.begin) + 1, length}, std::move(message),
                std::move(hint));
  }

  const LineFields& fields_;
  int line_;
  Diagnostics& diagnostics_;
  bool sound_ = true;
};

/// The line that begins at `at`, without its end.
std::string_view line_at(std::string_view text, std::size_t at) {
  std::string_view line = text.substr(at, std::min(text.find('\n', at), text.size()) - at);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Behind the two lines of the heading; 0 when they are not there.
std::size_t behind_heading(std::string_view text, Diagnostics& diagnostics) {
  const std::string_view mark = line_at(text, 0);
  if (!mark.starts_with(kMark)) {
    add_mistake(
        diagnostics, {1, 1, 1}, "is no evidence store",
        fmt::format("its first line is \"{}{}\"; `foretrain evidence add` makes one", kMark, kVersion));
    return 0;
  }
  if (mark.substr(kMark.size()) != kVersion) {
    add_mistake(diagnostics, {1, static_cast<int>(kMark.size()) + 1, 1},
                fmt::format("evidence of another version, {}", shortened(mark.substr(kMark.size()), 20)),
                fmt::format("this program reads and writes version {}", kVersion));
    return 0;
  }
  const std::size_t second = std::min(text.find('\n'), text.size() - 1) + 1;
  if (line_at(text, second) != kEvidenceColumns) {
    add_mistake(diagnostics, {2, 1, 1}, "the columns are not those of an evidence store",
                fmt::format("they are {}", kEvidenceColumns));
    return 0;
  }
  return std::min(text.find('\n', second), text.size() - 1) + 1;
}

}  // namespace

double residual_of(const Observation& row) { return std::log(row.measured / row.predicted); }

bool is_same_run(const Observation& a, const Observation& b) { return run_key_of(a) == run_key_of(b); }

bool comes_before(const Observation& a, const Observation& b) {
  const auto ka = run_key_of(a), kb = run_key_of(b);
  if (ka != kb) return ka < kb;
  return std::tie(a.measured, a.predicted, a.run) < std::tie(b.measured, b.predicted, b.run);
}

std::string evidence_heading() { return fmt::format("{}{}\n{}\n", kMark, kVersion, kEvidenceColumns); }

std::string evidence_line(const Observation& row) {
  std::string out(kObservedNames[static_cast<std::size_t>(row.what)]);
  for (const auto column : kTextColumns) out += "," + field_text(row.*column);
  return out + fmt::format(",{:.12g},{},{},{:.9g},{:.9g},{}\n", row.size, row.gpus, row.nodes, row.measured,
                           row.predicted, field_text(row.version));
}

std::vector<Observation> read_evidence(const SourceText& source, Diagnostics& diagnostics, bool* torn) {
  const std::string_view text = source.text;
  if (text.size() > kLargestEvidence) {
    add_mistake(diagnostics, {}, fmt::format("is larger than {} bytes", kLargestEvidence));
    return {};
  }
  if (text.empty() || !is_text(text)) {
    add_mistake(diagnostics, {}, text.empty() ? "is empty" : "is not a text file");
    return {};
  }
  std::vector<Observation> rows;
  rows.reserve(std::min(kMostObservations, text.size() / kUsualRow));
  std::size_t at = behind_heading(text, diagnostics);
  int number = 3;
  for (; at > 0 && at < text.size() && !is_full(diagnostics); ++number) {
    if (rows.size() >= kMostObservations) {
      add_mistake(diagnostics, {number, 1, 1}, fmt::format("more than {} rows", kMostObservations));
      break;
    }
    const std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) {
      if (torn != nullptr) *torn = true;
      break;
    }
    const std::string_view line = line_at(text, at);
    at = end + 1;
    if (line.empty() || line.starts_with('#')) continue;
    if (auto row = RowReader(LineFields(line), number, diagnostics).row()) rows.push_back(std::move(*row));
  }
  return rows;
}

}  // namespace foretrain
