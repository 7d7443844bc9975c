// Reader of a CSV with a column steps_per_s, step_s, samples_per_s or images_per_s, and with columns that
// state the conditions, such as "gpus,nodes,model,batch_per_gpu,samples_per_s".
// Rows under the same conditions are repeats and become one sample, the median with its spread.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sim/import/logs/log_lines.hpp"
#include "sim/import/logs/readers.hpp"
#include "sim/import/logs/training_rate.hpp"
#include "sim/scenario/csv/csv_line.hpp"

namespace foretrain {

namespace {

using Fields = std::vector<CsvField>;
/// Columns that hold the figure, in the order of preference.
constexpr std::array<std::string_view, 4> kFigures{"steps_per_s", "step_s", "samples_per_s", "images_per_s"};
/// Columns that become settings, with the names of the settings.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kSettings{{{"model", "model"},
                                                                                  {"strategy", "strategy"},
                                                                                  {"precision", "precision"},
                                                                                  {"batch_per_gpu", "batch"},
                                                                                  {"batch", "batch"},
                                                                                  {"batch_size", "batch"},
                                                                                  {"cluster", "cluster"},
                                                                                  {"series", "series"}}};

/// The rows under the same conditions.
struct Series {
  Sample sample;
  std::vector<double> figures;
};

/// Returns the index of a column, or the number of columns when the header lacks it.
std::size_t column_of(const Fields& header, std::string_view name) {
  const auto at = std::find_if(header.begin(), header.end(),
                               [&](const CsvField& f) { return lower_case(trimmed(f.text)) == name; });
  return static_cast<std::size_t>(at - header.begin());
}

/// Returns the index of the column with the figure, or the number of columns when there is none.
std::size_t figure_column(const Fields& header) {
  for (const std::string_view name : kFigures) {
    if (column_of(header, name) < header.size()) return column_of(header, name);
  }
  return header.size();
}

/// Reads one file. Series are written in the order of their keys at the end.
class CsvReader {
 public:
  CsvReader(const SourceText& source, const LogHints& hints, SampleSheet& sheet)
      : source_(source), hints_(hints), sheet_(sheet) {}

  void read() {
    CsvLines lines(source_.text);
    const auto header = lines.next();
    if (!header || figure_column(*header) == header->size())
      return sheet_.skip(1, "no column of the header is a rate");
    header_ = *header;
    bool goes_on = true;
    for (auto fields = lines.next(); fields && goes_on; fields = lines.next()) {
      goes_on = sheet_.count_row();
      read_row(*fields, lines.line());
    }
    for (auto& [key, series] : series_) write(series);
  }

 private:
  /// Returns a field by the name of its column; empty when it is not there.
  std::string text(const Fields& fields, std::string_view name) const {
    const std::size_t at = column_of(header_, name);
    return at < fields.size() ? std::string(trimmed(fields[at].text)) : "";
  }

  /// Returns a count by the name of its column, or the hint when it is not there.
  int count(const Fields& fields, std::string_view name, int hint) const {
    return static_cast<int>(
        std::clamp<std::int64_t>(integer_of(text(fields, name)).value_or(hint), 0, 10'000'000));
  }

  /// Adds a row to its series, or skips it with the reason.
  void read_row(const Fields& fields, int line) {
    if (fields.size() != header_.size())
      return sheet_.skip(line, fmt::format("{} fields, the header has {}", fields.size(), header_.size()));
    const std::size_t at = figure_column(header_);
    const std::string word(trimmed(fields[at].text));
    const auto value = number_of(word);
    if (!value) return sheet_.skip(line, why_no_number(word));
    if (!(*value > 0) || !std::isfinite(*value)) return sheet_.skip(line, "its rate is no positive number");
    Sample sample = conditions(fields, line);
    if (sample.gpus == 0 || sample.nodes == 0)
      return sheet_.skip(line, "no column says on how many GPUs and nodes it ran; state them");
    const std::string name = lower_case(trimmed(header_[at].text));
    sample.what = name.starts_with("step") ? "step" : "samples_per_s";
    sample.unit = sample.what == "step" ? SampleUnit::us : SampleUnit::per_s;
    Series& series = series_[key_of(sample)];
    if (series.figures.empty()) series.sample = sample;
    // The figures of a series have the same unit: us of a step, or samples a second.
    series.figures.push_back(name == "steps_per_s" ? 1e6 / *value : name == "step_s" ? *value * 1e6 : *value);
  }

  /// Returns a sample with the conditions of a row and no value yet.
  Sample conditions(const Fields& fields, int line) const {
    Sample sample;
    sample.kind = SampleKind::training, sample.line = line, sample.source = source_.name;
    sample.gpus = count(fields, "gpus", hints_.gpus);
    sample.nodes = count(fields, "nodes", sample.gpus == 1 ? 1 : hints_.nodes);
    for (const auto& [column, key] : kSettings) {
      if (const std::string value = text(fields, column); !value.empty())
        sample.settings.emplace_back(key, value);
    }
    return sample;
  }

  /// Returns the conditions as a key. Counts are padded, so that series are sorted by GPUs and nodes.
  static std::string key_of(const Sample& sample) {
    std::string key = fmt::format("{:>8} {:>8} {}", sample.gpus, sample.nodes, sample.what);
    for (const auto& [name, value] : sample.settings) key += fmt::format("\n{}={}", name, value);
    return key;
  }

  /// Writes a series as one sample.
  void write(Series& series) {
    const RepeatedFigure figure = repeated(std::move(series.figures));
    series.sample.value = figure.median, series.sample.spread = figure.spread,
    series.sample.repeats = figure.repeats;
    sheet_.add(std::move(series.sample));
  }

  const SourceText& source_;
  const LogHints& hints_;
  SampleSheet& sheet_;
  Fields header_;
  std::map<std::string, Series> series_;
};

}  // namespace

bool is_training_csv(std::string_view text) {
  CsvLines lines(text);
  const auto header = lines.next();
  return header && header->size() > 1 && header->size() < 200 && figure_column(*header) < header->size();
}

void read_training_csv(const SourceText& source, const LogHints& hints, SampleSheet& sheet) {
  CsvReader(source, hints, sheet).read();
}

}  // namespace foretrain
