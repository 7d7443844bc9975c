// The report stage: writes report.md and report.html. It uses only what is on disk, so that another process
// can write the report again.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "sim/app/machine/machine_fit.hpp"
#include "sim/app/machine/privacy.hpp"
#include "sim/app/machine/stages.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/whole_file.hpp"
#include "sim/report/calibration/machine_report.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

namespace fs = std::filesystem;

// Largest size in bytes of a file that is searched for private words.
constexpr std::size_t kLargestShared = 64u << 20;

/// Returns the captured networks' files, sorted by name.
std::vector<std::string> network_files() {
  std::vector<std::string> out;
  std::error_code failed;
  for (fs::directory_iterator it("networks", failed), end; !failed && it != end; it.increment(failed))
    if (it->path().extension() == ".toml") out.push_back("networks/" + it->path().filename().string());
  std::ranges::sort(out);
  return out;
}

/// Returns true when the file may be shared. A missing or empty file may not. A file with private words is
/// listed in the report with a warning.
bool is_shareable(const std::string& file, const std::vector<std::string>& words, MachineReport& report) {
  std::error_code failed;
  if (!fs::exists(file, failed) || fs::file_size(file, failed) == 0) return false;
  if (private_word_in(read_text_file(file, kLargestShared).text, words).empty()) return true;
  report.not_shared.push_back(
      fmt::format("{} names a person, a host or a folder: do not share it as it stands.", file));
  return false;
}

/// Lists the files that may be shared, after a look at the content of each.
void sort_files(const std::vector<std::string>& words, MachineReport& report) {
  report.shared = {"report.md", "report.html"};
  for (const char* file : {"steps.csv", "samples.csv", "calibration.toml", "cluster.toml", "about.json",
                           "before.csv", "after.csv", "steps.jsonl", "kernels.jsonl", "loader.jsonl"})
    if (is_shareable(file, words, report)) report.shared.emplace_back(file);
  std::int64_t networks = 0;
  for (const std::string& file : network_files()) networks += is_shareable(file, words, report) ? 1 : 0;
  if (networks > 0) report.shared.push_back(fmt::format("networks/ ({})", counted(networks, "file")));
}

/// Returns the document without private words.
Document shareable_document(Document document, const std::vector<std::string>& words) {
  const auto clean = [&words](std::string& text) { text = shareable(text, words); };
  for (DocumentSection& section : document.sections) {
    std::ranges::for_each(section.sentences, clean);
    std::ranges::for_each(section.items, clean);
    for (auto& row : section.table.rows) std::ranges::for_each(row, clean);
  }
  return document;
}

/// Predicts and fits again when the fit stage ran in another process. What could not be computed stays empty.
StageEnd fit_again(MachineRun& run) {
  run.fitted = std::make_shared<MachineFit>();
  try {
    fit_machine(*run.fitted, stage_progress(run, "predicting and fitting"));
  } catch (const StageTimeOver&) {
    return {StageState::time_over, "The predictions were not finished in their time."};
  } catch (const StageInterrupted&) {
    return {StageState::interrupted, "The report was interrupted."};
  } catch (const InputError& error) {
    return {StageState::done, fmt::format("Nothing can be predicted: {}.", error.first_message())};
  }
  return {};
}

}  // namespace

// Private words are removed from the report itself; other files are only checked for them.
StageEnd run_report_stage(MachineRun& run) {
  StageEnd end;
  if (!run.fitted) end = fit_again(run);
  if (end.state == StageState::interrupted) return end;
  const std::vector<std::string> words = private_words({run.folder, run.start_folder});
  const MachineFit& fitted = *run.fitted;
  MachineReport report;
  report.about = fitted.about;
  report.steps = fitted.rows.steps, report.left_out = fitted.rows.left_out;
  report.before = fitted.before, report.after_bench = fitted.after_bench, report.after = fitted.after;
  report.fit = fitted.fit, report.loaders = fitted.files.loaders.rows;
  for (const FinishedStage& stage : run.finished)
    report.stages.push_back({stage.name,
                             std::string(kStageStateNames[static_cast<std::size_t>(stage.end.state)]),
                             stage.end.said, stage.seconds});
  sort_files(words, report);
  const Document document = shareable_document(machine_document(report), words);
  write_whole_file("report.html", write_html_page(document));
  write_whole_file("report.md", write_markdown(document));
  return end;
}

}  // namespace foretrain
