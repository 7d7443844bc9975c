// Turns the lines that the measuring programs wrote into rows that `validate`, `evidence add` and `calibrate
// fit` read. File names are relative to the run's folder, so that shared rows do not reveal where it lay.
#include "sim/app/machine/measured_rows.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/base/whole_file.hpp"
#include "sim/report/prediction/csv.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

namespace fs = std::filesystem;

// Largest size in bytes of a file of measured lines.
constexpr std::size_t kLargestLines = 64u << 20;
// Files to which the measuring programs append one JSON object per line.
constexpr std::array<const char*, 3> kLineFiles{"steps.jsonl", "kernels.jsonl", "loader.jsonl"};

// PyTorch's optimizers whose names differ from those in a scenario.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kOptimizers{
    {{"sgd_momentum", "momentum"}, {"sgd_nesterov", "nesterov"}}};

/// Returns the text of a file of lines; empty when the file is missing or empty.
SourceText text_of_lines(const char* name) {
  std::error_code failed;
  if (!fs::exists(name, failed) || fs::file_size(name, failed) == 0) return {name, ""};
  return read_text_file(name, kLargestLines);
}

bool has_setting(const Settings& settings, std::string_view key) {
  return std::ranges::any_of(settings, [key](const auto& setting) { return setting.first == key; });
}

/// Returns "2.4" for "2.4.1+cu121"; empty when the text does not begin with such a version.
std::string version_of(const std::string& torch) {
  const std::size_t end = torch.find_first_not_of("0123456789.");
  const std::string digits = torch.substr(0, end);
  const std::size_t minor = digits.find('.');
  if (minor == std::string::npos || minor == 0 || minor + 1 >= digits.size()) return "";
  return digits.substr(0, digits.find('.', minor + 1));
}

/// Returns the settings of a scenario that describe the measured configuration. Settings that the line states
/// itself are kept.
Settings settings_of(const MeasuredStep& step, const Settings& about) {
  Settings out = step.settings;
  const auto add = [&out](const char* key, std::string value) {
    if (!value.empty() && !has_setting(out, key)) out.emplace_back(key, std::move(value));
  };
  const auto* known =
      std::ranges::find(kOptimizers, step.optimizer, &std::pair<std::string_view, std::string_view>::first);
  add("model.optimizer", std::string(known == kOptimizers.end() ? step.optimizer : known->second));
  add("framework.version", version_of(fact_of(about, "torch")));
  if (step.compiled) add("framework.execution", "compiled");
  if (step.channels_last) add("framework.layout", "channels_last");
  return out;
}

// Endings of the file of a network that was captured in a precision of 16 bits.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kCapturedIn{
    {{"amp_fp16", "_amp_fp16"}, {"bf16", "_amp_bf16"}, {kPureBf16, "_bf16"}}};

/// Returns the captured network's file; empty when it is not there.
std::string captured_file(const std::string& network, std::string_view suffix) {
  const std::string file = fmt::format("networks/{}{}.toml", network, suffix);
  std::error_code failed;
  return fs::exists(file, failed) ? file : "";
}

/// Returns the captured file or the name in the catalog of the network; empty when neither exists. A file
/// that was captured in the step's own precision comes first.
std::string model_of(const MeasuredStep& step, const std::set<std::string>& catalog) {
  for (const auto& [precision, suffix] : kCapturedIn) {
    if (step.precision != precision) continue;
    if (std::string file = captured_file(step.network, suffix); !file.empty()) return file;
  }
  if (std::string file = captured_file(step.network, ""); !file.empty()) return file;
  return catalog.contains(step.network) ? step.network : "";
}

/// Returns a name that identifies the configuration; it becomes the series of the row.
std::string configuration_of(const MeasuredStep& step) {
  std::string out = fmt::format("{}-{}-b{}", step.network, step.precision, step.batch);
  if (step.compiled) out += "-compiled";
  if (step.channels_last) out += "-channels_last";
  if (!step.optimizer.empty()) out += "-" + step.optimizer;
  for (const auto& [key, value] : step.settings) out += fmt::format("-{}={}", key, value);
  return out;
}

/// Returns settings as "key=value;key=value", the form of the column `settings`.
std::string settings_text(const Settings& settings) {
  std::string out;
  for (const auto& [key, value] : settings) out += fmt::format("{}{}={}", out.empty() ? "" : ";", key, value);
  return out;
}

/// Returns what measured the row, with GPU, version of PyTorch and date, as far as they are known.
std::string source_of(const MeasuredStep& step, const Settings& about) {
  std::string out = "foretrain calibrate machine";
  if (const std::string gpu = fact_of(about, "gpu"); !gpu.empty()) out += ", " + gpu;
  if (const std::string torch = fact_of(about, "torch"); !torch.empty()) out += ", PyTorch " + torch;
  if (step.when.size() >= 10) out += ", " + step.when.substr(0, 10);
  return out;
}

/// Returns the row of a measured step, without a series.
MachineStep row_of(const MeasuredStep& step, const std::set<std::string>& catalog, const Settings& about) {
  MachineStep out{step, {}};
  Measurement& m = out.row;
  m.model = model_of(step, catalog), m.cluster = "cluster.toml";
  m.strategy = "single", m.batch_per_gpu = step.batch;
  m.metric = Measurement::Metric::step_s, m.value = step.step_s.value_or(0);
  m.settings = settings_of(step, about), m.source = source_of(step, about);
  // A network that was recorded with 16-bit weights states this itself, so model.half_weights is left out.
  const bool is_pure = step.precision == kPureBf16;
  m.precision = is_pure ? "bf16" : step.precision;
  if (is_pure && !m.model.ends_with("_bf16.toml")) m.settings.emplace_back("model.half_weights", "true");
  return out;
}

}  // namespace

MeasuredFiles read_measured_files() {
  return {read_measured_steps(text_of_lines(kLineFiles[0])),
          read_measured_kernels(text_of_lines(kLineFiles[1])),
          read_measured_loaders(text_of_lines(kLineFiles[2]))};
}

// resize_file leaves whole lines only, so that the next process can append to them.
void cut_half_lines() {
  for (const char* name : kLineFiles) {
    const std::string text = text_of_lines(name).text;
    const std::size_t whole = whole_lines(text);
    if (whole < text.size()) fs::resize_file(name, whole);
  }
}

Settings read_about() {
  std::error_code failed;
  if (!fs::exists("about.json", failed)) return {};
  return read_flat_object(text_of_lines("about.json").text).value_or(Settings());
}

std::string fact_of(const Settings& facts, std::string_view key) {
  const auto found = std::ranges::find(facts, key, &std::pair<std::string, std::string>::first);
  return found == facts.end() ? "" : found->second;
}

MachineRows rows_of(const std::vector<MeasuredStep>& steps, const Settings& about) {
  const std::vector<std::string> names = names_in(CatalogKind::models);
  const std::set<std::string> catalog(names.begin(), names.end());
  // The last line of a configuration wins, and configurations keep the order in which they were first
  // measured.
  std::map<std::string, const MeasuredStep*> last;
  std::vector<std::string> order;
  for (const MeasuredStep& step : steps) {
    const auto [known, is_new] = last.insert_or_assign(configuration_of(step), &step);
    if (is_new) order.push_back(known->first);
  }
  MachineRows out;
  for (const std::string& configuration : order) {
    MachineStep row = row_of(*last[configuration], catalog, about);
    row.row.series = configuration;
    if (!row.measured.step_s) {
      out.left_out.push_back(fmt::format("{} was not measured: {}.", configuration, row.measured.error));
      out.failed.push_back(std::move(row));
    } else if (row.row.model.empty()) {
      out.left_out.push_back(fmt::format("{} has no network file, and the catalog has none.", configuration));
    } else {
      out.steps.push_back(std::move(row));
    }
  }
  return out;
}

std::string steps_csv(std::vector<MachineStep>& steps) {
  std::string out =
      "# Training steps on one GPU, measured by foretrain calibrate machine; names are relative to this "
      "file.\n"
      "series,model,cluster,strategy,precision,batch_per_gpu,gpus,nodes,metric,value,settings,source\n";
  // Comment and heading are lines 1 and 2, so the first row is line 3.
  int line = 2;
  for (MachineStep& step : steps) {
    Measurement& m = step.row;
    m.line = ++line;
    out += fmt::format("{},{},{},{},{},{},1,1,step_s,{},{},{}\n", csv_field(m.series), csv_field(m.model),
                       m.cluster, m.strategy, m.precision, m.batch_per_gpu, m.value,
                       csv_field(settings_text(m.settings)), csv_field(m.source));
  }
  return out;
}

}  // namespace foretrain
