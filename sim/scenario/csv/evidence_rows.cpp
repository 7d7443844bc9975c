// Reader and writer of stores. There is one pass with views into the text, because a store of 100,000 rows
// opens with every command. A row costs no more than its fields, and a text that equals that of the row above
// is not looked up again. Columns are in one order, since only this program writes them.
#include "sim/scenario/csv/evidence_rows.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/scenario/csv/csv_record.hpp"
#include "sim/scenario/csv/text_scan.hpp"

namespace foretrain {

namespace {

/// First line of a store, with the version of its format.
constexpr std::string_view kMark = "# foretrain evidence ";
constexpr std::string_view kVersion = "1";
constexpr std::string_view kEvidenceColumns =
    "what,source,run,model,network,gpu,architecture,cluster,framework,execution,precision,strategy,op,path,"
    "size,gpus,nodes,measured,predicted,version";
/// Indices of the first text, the first number, the measured value and the version.
constexpr std::size_t kFirstText = 1, kFirstFigure = 14, kMeasuredAt = 17, kVersionAt = 19;
constexpr std::size_t kFields = 20;
/// Usual bytes of a row, to reserve memory.
constexpr std::size_t kUsualRow = 200;
/// Upper limits of sizes and ranks.
constexpr double kLargestObservedSize = 1e16, kMostRanks = 1e7;

/// Returns a field of a line, in quotes if it needs them.
std::string field_text(std::string_view text) {
  const std::string shown = printable(text);
  if (shown.find_first_of(",\"") == std::string::npos) return shown;
  std::string quoted = "\"";
  for (const char c : shown) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

/// A field of a line, and the byte at which it begins.
struct FieldView {
  std::string_view text;
  std::size_t begin = 0;
  bool quoted = false;
};

/// The fields of one line. Fields beyond the last column are counted and not kept.
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
  // Returns the end of a field; commas inside quotes do not end it.
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

/// Returns a field without its quotes.
std::string unquoted(std::string_view text) {
  std::string out;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    out += text[i];
    if (text[i] == '"') ++i;
  }
  return out;
}

/// Numbers of texts, column by column. Each column remembers its last text, which is usually that of the next
/// row too.
class ColumnTexts {
 public:
  explicit ColumnTexts(TextTable& texts) : texts_(texts) {}

  TextId id_of(std::size_t column, const FieldView& field) {
    if (field.quoted) return texts_.id_of(unquoted(field.text));
    Last& last = last_[column];
    if (field.text != last.text) last = {field.text, texts_.id_of(field.text)};
    return last.id;
  }

 private:
  struct Last {
    std::string_view text;
    TextId id = 0;
  };
  TextTable& texts_;
  std::array<Last, kRowTexts> last_{};
};

/// Reads one row; each wrong field is reported.
class RowReader {
 public:
  RowReader(const LineFields& fields, int line, Diagnostics& diagnostics)
      : fields_(fields), line_(line), diagnostics_(diagnostics) {}

  std::optional<StoredRow> row(ColumnTexts& texts) {
    if (fields_.count() != kFields) {
      mistake(0, fmt::format("{} fields, a row of evidence has {}", fields_.count(), kFields));
      return std::nullopt;
    }
    StoredRow out;
    out.what = what();
    // Texts are columns in a row; the version is the last column.
    for (std::size_t i = 0; i + 1 < kRowTexts; ++i) out.texts[i] = texts.id_of(i, fields_.at(kFirstText + i));
    out.texts.back() = texts.id_of(kRowTexts - 1, fields_.at(kVersionAt));
    out.size = number(kFirstFigure, "size", 0, kLargestObservedSize);
    out.gpus = static_cast<int>(number(kFirstFigure + 1, "gpus", 1, kMostRanks));
    out.nodes = static_cast<int>(number(kFirstFigure + 2, "nodes", 1, kMostRanks));
    out.measured = number(kMeasuredAt, "measured", 1e-12, 1e9);
    out.predicted = number(kMeasuredAt + 1, "predicted", 1e-12, 1e9);
    if (sound_) check_quotient(out);
    return sound_ ? std::optional(out) : std::nullopt;
  }

 private:
  // Returns the kind of the row.
  Observed what() {
    for (std::size_t i = 0; i < kObservedNames.size(); ++i)
      if (kObservedNames[i] == fields_.at(0).text) return static_cast<Observed>(i);
    mistake(0, "what must be step, ratio, collective or job");
    return Observed::step;
  }

  // Returns a number in [least, most].
  double number(std::size_t at, std::string_view name, double least, double most) {
    const std::string_view text = fields_.at(at).text;
    double value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem == std::errc{} && end == text.data() + text.size() && value >= least && value <= most)
      return value;
    mistake(at, fmt::format("{} must be a number from {:g} to {:g}", name, least, most));
    return least;
  }

  // A quotient that only a wrong unit explains is a mistake.
  void check_quotient(const StoredRow& row) {
    const double quotient = row.measured / row.predicted;
    if (quotient < kLargestQuotient && quotient > 1 / kLargestQuotient) return;
    mistake(kMeasuredAt,
            fmt::format("measured is {:.3g} times what was predicted, {:.4g} s", quotient, row.predicted),
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

/// Returns the line from `at` to `end`, without a carriage return.
std::string_view line_at(std::string_view text, std::size_t at, std::size_t end) {
  std::string_view line = text.substr(at, std::min(end, text.size()) - at);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Returns the start of the rows behind the two lines of the heading; 0 when these are not valid, which is
/// reported.
std::size_t behind_heading(std::string_view text, Diagnostics& diagnostics) {
  const std::string_view mark = line_at(text, 0, text.find('\n'));
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
  if (line_at(text, second, text.find('\n', second)) != kEvidenceColumns) {
    add_mistake(diagnostics, {2, 1, 1}, "the columns are not those of an evidence store",
                fmt::format("they are {}", kEvidenceColumns));
    return 0;
  }
  return std::min(text.find('\n', second), text.size() - 1) + 1;
}

/// The kind of a row is its first field, so the line need not be split.
bool is_wanted(std::string_view line, EvidenceOf wanted) {
  if (wanted == EvidenceOf::everything) return true;
  return line.starts_with("collective,") == (wanted == EvidenceOf::collectives);
}

/// Returns whether the text can be a store; reports the reason otherwise.
bool is_readable(std::string_view text, Diagnostics& diagnostics) {
  if (text.size() > kLargestEvidence)
    add_mistake(diagnostics, {}, fmt::format("is larger than {} bytes", kLargestEvidence));
  else if (text.empty() || !is_text(text))
    add_mistake(diagnostics, {}, text.empty() ? "is empty" : "is not a text file");
  else
    return true;
  return false;
}

}  // namespace

std::string evidence_heading() { return fmt::format("{}{}\n{}\n", kMark, kVersion, kEvidenceColumns); }

std::string evidence_line(const Observation& row) {
  std::string out(kObservedNames[static_cast<std::size_t>(row.what)]);
  for (std::size_t i = 0; i + 1 < kRowTexts; ++i) out += "," + field_text(row.*kRowTextMembers[i]);
  return out + fmt::format(",{:.12g},{},{},{:.9g},{:.9g},{}\n", row.size, row.gpus, row.nodes, row.measured,
                           row.predicted, field_text(row.version));
}

bool read_evidence(const SourceText& source, Diagnostics& diagnostics, EvidenceTable& into,
                   EvidenceOf wanted) {
  const std::string_view text = source.text;
  if (!is_readable(text, diagnostics)) return false;
  const std::size_t most = into.size() + kMostObservations;
  into.reserve(into.size() + std::min(kMostObservations, text.size() / kUsualRow));
  ColumnTexts texts(into.texts());
  std::size_t at = behind_heading(text, diagnostics);
  for (int number = 3; at > 0 && at < text.size() && !is_full(diagnostics); ++number) {
    const std::size_t end = text.find('\n', at);
    // A line without its end was cut off while it was written.
    if (end == std::string_view::npos) return true;
    const std::string_view line = line_at(text, at, end);
    at = end + 1;
    // Comments are inputs (evidence_inputs.hpp).
    if (line.empty() || line.starts_with('#') || !is_wanted(line, wanted)) continue;
    if (into.size() >= most) {
      add_mistake(diagnostics, {number, 1, 1}, fmt::format("more than {} rows", kMostObservations));
      break;
    }
    if (const auto row = RowReader(LineFields(line), number, diagnostics).row(texts)) into.add(*row);
  }
  return false;
}

}  // namespace foretrain
