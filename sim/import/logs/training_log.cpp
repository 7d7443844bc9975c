// Reader of logs of training programs, such as "Iter #3: 325.9 img/sec per GPU". Every line with a rate is
// one measurement; all lines of a kind become one sample, the median with its spread.
// A line with the total of all GPUs is preferred; lines of single GPUs are then its repeats. Rates in tokens
// are skipped, since the log does not say how many tokens make a sample.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/import/logs/log_hints.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/logs/readers.hpp"
#include "sim/import/logs/training_rate.hpp"

namespace foretrain {

namespace {

/// Lines of one meaning: steps or samples, of one GPU, of all GPUs, or their total.
struct Group {
  std::vector<double> rates;
  /// Line of the first one.
  int line = 0;
  /// Half width of the interval in the last line; 0 when there is none.
  double half_width = 0;
};

/// Reads one log.
class TrainingReader {
 public:
  TrainingReader(const SourceText& source, const LogHints& hints, SampleSheet& sheet)
      : source_(source), hints_(hints), sheet_(sheet), job_(stated_job_size(source.text, hints)) {}

  void read() {
    LogLine line;
    for (LogLines lines(source_.text); goes_on_ && lines.next(line);) {
      read_facts(line.text);
      bool stands = false;
      const auto rate = training_rate_in(line.text, stands);
      if (!rate && !stands) continue;
      goes_on_ = sheet_.count_row();
      if (!rate) sheet_.skip(line.number, "its rate is no number");
      if (rate) take(*rate, line.number);
    }
    write();
  }

 private:
  /// Adds a rate to its group, or skips it with the reason.
  void take(const TrainingRate& rate, int line) {
    if (!(rate.per_s > 0) || !std::isfinite(rate.per_s))
      return sheet_.skip(line, "its rate is no positive number");
    if (rate.of_tokens)
      return sheet_.skip(line, "tokens for each second: how many make a sample the log does not say");
    Group& group = rate.of_steps ? steps_ : rate.is_total ? totals_ : rate.per_gpu ? per_gpu_ : samples_;
    if (group.rates.empty()) group.line = line;
    group.rates.push_back(rate.per_s);
    group.half_width = rate.half_width;
  }

  /// Reads facts of benchmark programs: "Model: resnet50", "Batch size: 32", "32 per device". The first one
  /// counts.
  void read_facts(std::string_view line) {
    const auto keep = [&](std::string& fact, std::string_view mark) {
      const std::string_view text = trimmed(line);
      if (fact.empty() && text.starts_with(mark)) fact = trimmed(text.substr(mark.size(), 60));
    };
    keep(model_, "Model:"), keep(batch_, "Batch size:");
    const std::vector<std::string_view> words = words_of(line, 4);
    if (words.size() == 3 && integer_of(words[0]) && words[1] == "per" && words[2] == "device")
      batch_ = words[0];
  }

  /// Writes the samples, or skips each group when GPUs or nodes are unknown.
  /// One figure of samples is written: the total, else that of all GPUs, else that of one GPU times their
  /// number.
  void write() {
    const std::string why = why_unknown();
    for (const Group* group : {&steps_, &samples_, &per_gpu_, &totals_}) {
      if (!group->rates.empty() && !why.empty()) sheet_.skip(group->line, why);
    }
    if (!why.empty()) return;
    if (!steps_.rates.empty()) add(steps_, "step", 1);
    if (!totals_.rates.empty()) return add(totals_, "samples_per_s", 1);
    if (!samples_.rates.empty()) return add(samples_, "samples_per_s", 1);
    if (!per_gpu_.rates.empty()) add(per_gpu_, "samples_per_s", job_.gpus);
  }

  /// Returns the reason why the log cannot be used; empty when it can.
  std::string why_unknown() const {
    if (job_.gpus == 0) return "the log does not say on how many GPUs it ran; state them";
    return job_.nodes == 0 ? "the log does not say on how many nodes it ran; state them" : "";
  }

  /// Adds the median of a group as a sample; `times` scales a rate of one GPU to all.
  void add(const Group& group, const char* what, int times) {
    const RepeatedFigure figure = repeated(group.rates);
    Sample sample;
    sample.kind = SampleKind::training, sample.what = what, sample.gpus = job_.gpus,
    sample.nodes = job_.nodes, sample.line = group.line;
    const bool is_step = sample.what == "step";
    sample.value = is_step ? 1e6 / figure.median : figure.median * times;
    sample.unit = is_step ? SampleUnit::us : SampleUnit::per_s;
    sample.spread = figure.spread, sample.repeats = figure.repeats;
    // A single total has no spread of its own, so it gets that of the lines of single GPUs.
    const RepeatedFigure single = per_gpu_.rates.empty() ? figure : repeated(per_gpu_.rates);
    if (figure.repeats == 1 && single.repeats > 1)
      sample.spread = single.spread, sample.repeats = single.repeats;
    // Programs print the half width of a 95 % interval, which is 1.96 standard deviations.
    if (sample.spread == 0 && group.half_width > 0) sample.spread = group.half_width / 1.96 / figure.median;
    sample.settings = settings();
    sample.source = source_.name;
    sheet_.add(std::move(sample));
  }

  /// Returns the settings; what the log says goes before the hints.
  Settings settings() const {
    Settings settings;
    const auto set = [&](const char* key, const std::string& value) {
      if (!value.empty()) settings.emplace_back(key, value);
    };
    set("model", model_.empty() ? hints_.model : model_);
    set("strategy", hints_.strategy);
    set("precision", hints_.precision);
    set("batch", !integer_of(batch_) && hints_.batch_per_gpu > 0 ? std::to_string(hints_.batch_per_gpu)
                 : integer_of(batch_)                            ? batch_
                                                                 : "");
    return settings;
  }

  const SourceText& source_;
  const LogHints& hints_;
  SampleSheet& sheet_;
  JobSize job_;
  Group steps_, samples_, per_gpu_, totals_;
  std::string model_, batch_;
  bool goes_on_ = true;
};

}  // namespace

bool is_training_log(std::string_view text) {
  LogLine line;
  for (LogLines lines(text); lines.next(line);) {
    bool stands = false;
    if (training_rate_in(line.text, stands) || stands) return true;
  }
  return false;
}

void read_training_log(const SourceText& source, const LogHints& hints, SampleSheet& sheet) {
  TrainingReader(source, hints, sheet).read();
}

}  // namespace foretrain
