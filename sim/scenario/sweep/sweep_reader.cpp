// Reader of sweeps. [axes], [sample] and [together] become lists of values, and names of files become
// relative to the sweep's folder.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/scenario/sections/study_section.hpp"
#include "sim/scenario/sweep/axis_values.hpp"
#include "sim/scenario/sweep/sweep.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "sim/scenario/toml/toml_text.hpp"

namespace foretrain {

namespace {

/// Returns one name for both kinds of batch, because only one of them can be set.
std::string_view set_by(std::string_view key) {
  return key == "model.global_batch" ? "model.batch_per_gpu" : key;
}

/// Returns a file's name relative to the sweep's folder; a name with a slash or this ending is a file.
std::string from_folder_of(const std::string& sweep_file, const std::string& name) {
  const std::filesystem::path path(name);
  if (path.is_absolute() || (name.find('/') == std::string::npos && !name.ends_with(".toml"))) return name;
  const std::filesystem::path folder = std::filesystem::path(sweep_file).parent_path();
  if (folder.empty()) return name;
  return (folder / path).lexically_normal().string();
}

/// Reads one sweep.
class SweepReader {
 public:
  SweepReader(const SourceText& source, Diagnostics& diagnostics)
      : source_(source), table_(parse_toml(source, diagnostics)), document_(table_, "", diagnostics) {}

  // Reads the whole document; at least one axis must vary.
  Sweep read() {
    document_.string("note");
    if (const auto name = document_.string("scenario")) sweep_.scenario = from_folder_of(source_.name, *name);
    sweep_.seed = document_.integer("seed", 0, std::int64_t{1} << 53).value_or(1);
    read_axes();
    read_sample();
    read_together();
    // A sweep without any axis would be one scenario.
    read_conditions();
    document_.finish();
    if (sweep_.axes.empty() && sweep_.sampled.empty()) {
      document_.require("axes", "batch = [32, 64]");
      if (document_.has("axes") && document_.diagnostics().empty())
        document_.report(document_.span_of("axes"), "nothing varies", "as in batch = [32, 64]");
    }
    gpus_last();
    return std::move(sweep_);
  }

 private:
  // Reads [axes]; each axis has a random stream of its own.
  void read_axes() {
    const Table* axes = document_.table("axes");
    if (axes == nullptr) return;
    sweep_.axes_span = axes->span;
    for (const Entry& entry : axes->entries) {
      const std::string key = key_of(entry);
      if (key.empty()) continue;
      auto values = read_axis_values(entry, document_, sweep_.seed, sweep_.axes.size());
      add_axis(sweep_.axes, entry, key, std::move(values));
    }
  }

  // Reads [sample]: `count` points, drawn together for all of its axes.
  void read_sample() {
    const Table* found = document_.table("sample");
    if (found == nullptr) return;
    TableReader sample(*found, "sample", document_.diagnostics());
    sweep_.method = sample.one_of("method", sampling_methods()).value_or("latin_hypercube");
    sample.require("count", "100");
    const auto count = sample.integer("count", 1, std::int64_t{1} << 62);
    sample.require("axes", "batch = { from = 16, to = 256 }");
    const Table* axes = sample.table("axes");
    sample.finish();
    // The limit is checked before points are drawn.
    if (count && *count > static_cast<std::int64_t>(kMostAxisValues))
      return sample.report(sample.span_of("count"),
                           fmt::format("sample.count is {}, at most {} are drawn", *count, kMostAxisValues));
    if (axes == nullptr || !count || axes->entries.size() > kMostSweepAxes) return;
    const std::size_t drawn = static_cast<std::size_t>(*count) * axes->entries.size();
    if (drawn > kMostAxisValues)
      return sample.report(axes->span, fmt::format("{} points of {} axes are {} values, at most {} are drawn",
                                                   *count, axes->entries.size(), drawn, kMostAxisValues));
    const UnitPoints points =
        unit_points(sweep_.method, sweep_.seed, static_cast<std::size_t>(*count), axes->entries.size());
    for (std::size_t d = 0; d < axes->entries.size(); ++d) read_sampled(axes->entries[d], points, d);
  }

  // Reads one axis of [sample]. A range has the values of the points, a list is indexed by them.
  void read_sampled(const Entry& entry, const UnitPoints& points, std::size_t dimension) {
    const std::string key = key_of(entry);
    // A range is sampled continuously, a list by index.
    if (key.empty()) return;
    std::vector<Value> values;
    if (const auto* table = std::get_if<Table>(&entry.value.data)) {
      TableReader reader(*table, "sample.axes." + entry.key, document_.diagnostics());
      const auto range = read_range(reader);
      reader.finish();
      if (!range) return;
      for (const auto& point : points) values.push_back(value_at(*range, point[dimension]));
    } else {
      const std::vector<Value> list = read_axis_values(entry, document_, sweep_.seed, 0);
      if (list.empty()) return;
      for (const auto& point : points)
        values.push_back(list[static_cast<std::size_t>(point[dimension] * static_cast<double>(list.size()))]);
    }
    add_axis(sweep_.sampled, entry, key, std::move(values));
  }

  /// Reads [together]: the first values of all axes belong together, then the second values, and so on.
  void read_together() {
    const Table* found = document_.table("together");
    if (found == nullptr) return;
    if (document_.has("sample"))
      document_.report(found->span, "[sample] and [together] are two ways to say which values go together",
                       "leave one of them out");
    for (const Entry& entry : found->entries) {
      const std::string key = key_of(entry);
      if (key.empty()) continue;
      auto values = read_axis_values(entry, document_, sweep_.seed, 0);
      // Values that belong together must be equally many.
      if (!sweep_.sampled.empty() && !values.empty() && values.size() != sweep_.sampled[0].values.size())
        document_.report(entry.value.span, "values that go together are equally many",
                         fmt::format("\"{}\" has {}", shortened(sweep_.sampled[0].name, 60),
                                     sweep_.sampled[0].values.size()));
      add_axis(sweep_.sampled, entry, key, std::move(values));
    }
  }

  // Reads the conditions as texts; SweepCases compiles them.
  void read_conditions() {
    const Array* conditions = document_.array("where", kMostConditions);
    if (conditions == nullptr) return;
    for (const Value& condition : *conditions) {
      const auto* text = std::get_if<std::string>(&condition.data);
      if (text == nullptr || text->size() > kLongestCondition)
        document_.report(condition.span, "where must hold expressions as text",
                         "as in where = [\"gpus * batch <= 4096\"]");
      else
        sweep_.conditions.push_back({*text, condition.span});
    }
  }

  /// Returns the scenario's key of an axis; empty after a mistake.
  std::string key_of(const Entry& entry) {
    std::string key = varied_key(entry.key);
    if (key.empty()) {
      document_.report(entry.key_span, fmt::format("unknown key \"{}\"", shortened(entry.key, 60)),
                       entry.value.is_table() && !std::get<Table>(entry.value.data).find("from")
                           ? "keys with dots stand in quotes, as in \"data.prefetch\" = [2, 4]"
                           : hint_for_study_key(entry.key.substr(0, 60)));
      return "";
    }
    for (const auto* axes : {&sweep_.axes, &sweep_.sampled}) {
      for (const StudyAxis& axis : *axes) {
        // Two axes for one key would contradict each other.
        if (set_by(axis.key) != set_by(key)) continue;
        document_.report(entry.key_span, fmt::format("\"{}\" and \"{}\" set the same", axis.name, entry.key),
                         "leave one of them out");
        return "";
      }
    }
    return key;
  }

  // Adds an axis, within the limits of all axes together.
  void add_axis(std::vector<StudyAxis>& axes, const Entry& entry, const std::string& key,
                std::vector<Value> values) {
    if (values.empty()) return;
    if (sweep_.axes.size() + sweep_.sampled.size() == kMostSweepAxes)
      return document_.report(entry.key_span, fmt::format("more than {} axes", kMostSweepAxes));
    values_ += values.size();
    if (values_ > kMostAxisValues)
      return document_.report(entry.key_span,
                              fmt::format("all axes together have more than {} values", kMostAxisValues));
    // Names of files become relative to the sweep's folder.
    for (Value& value : values) {
      auto* text = std::get_if<std::string>(&value.data);
      if (text != nullptr && (key == "model.name" || key == "cluster.name" || key == "data.set"))
        *text = from_folder_of(source_.name, *text);
      value.span = entry.value.span;
    }
    if (key == "run.gpus" && !are_gpus(entry, values)) return;
    axes.push_back({entry.key, key, entry.key_span, std::move(values)});
  }

  // Returns whether all values are possible numbers of GPUs; reports others.
  bool are_gpus(const Entry& entry, const std::vector<Value>& values) {
    const bool right = std::ranges::all_of(values, [](const Value& value) {
      const auto* number = std::get_if<std::int64_t>(&value.data);
      return number != nullptr && *number >= 1 && *number <= 1'000'000;
    });
    if (!right)
      document_.report(entry.value.span, "numbers of GPUs are whole numbers from 1 to 1000000",
                       "as in gpus = [1, 2, 4]");
    return right;
  }

  /// Moves numbers of GPUs to the end: cases that differ only there are one scenario, and have neighbouring
  /// numbers.
  void gpus_last() {
    std::stable_partition(sweep_.axes.begin(), sweep_.axes.end(),
                          [](const StudyAxis& axis) { return axis.key != "run.gpus"; });
  }

  const SourceText& source_;
  Table table_;
  TableReader document_;
  Sweep sweep_;
  std::size_t values_ = 0;
};

Entry entry_of(std::string key, Value value) { return {std::move(key), {}, std::move(value)}; }

/// Returns axes as a table, named as in the file, with every value written out.
Table axes_table(const std::vector<StudyAxis>& axes) {
  Table out;
  for (const StudyAxis& axis : axes) out.entries.push_back(entry_of(axis.name, {Array(axis.values)}));
  return out;
}

}  // namespace

bool Sweep::varies(std::string_view key) const {
  const auto has = [key](const StudyAxis& axis) { return axis.key == key; };
  return std::ranges::any_of(axes, has) || std::ranges::any_of(sampled, has);
}

Sweep read_sweep(const SourceText& source, Diagnostics& diagnostics) {
  return SweepReader(source, diagnostics).read();
}

std::string sweep_text(const Sweep& sweep) {
  Table out;
  if (!sweep.scenario.empty()) out.entries.push_back(entry_of("scenario", {sweep.scenario}));
  out.entries.push_back(entry_of("seed", {sweep.seed}));
  Array conditions;
  for (const SweepCondition& condition : sweep.conditions) conditions.push_back({condition.text});
  out.entries.push_back(entry_of("where", {std::move(conditions)}));
  out.entries.push_back(entry_of("axes", {axes_table(sweep.axes)}));
  if (!sweep.sampled.empty()) out.entries.push_back(entry_of("together", {axes_table(sweep.sampled)}));
  return toml_text(out);
}

void add_gpus(Sweep& sweep, const std::vector<int>& gpus) {
  if (sweep.varies("run.gpus")) return;
  std::vector<Value> values;
  for (const int number : gpus) values.push_back({std::int64_t{number}});
  sweep.axes.push_back({"gpus", "run.gpus", {}, std::move(values)});
}

}  // namespace foretrain
