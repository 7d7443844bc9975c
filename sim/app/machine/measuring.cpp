// The stages bench, steps and capture, which start other programs. Whatever a program wrote counts, however
// it ended.
#include "sim/app/machine/measuring.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/app/machine/measured_rows.hpp"
#include "sim/app/machine/programs.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/whole_file.hpp"
#include "sim/scenario/csv/samples.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

namespace fs = std::filesystem;

// A program is given this fraction of the stage's remaining time, and at least this many seconds (chosen), so
// that it ends by itself before it is ended.
constexpr double kGivenShare = 0.95, kLeastGiven = 1;

/// Returns the seconds until the stage must end, at least 0.
double seconds_left(const MachineRun& run) {
  return std::max(0.0, std::chrono::duration<double>(run.stage_end() - MachineRun::Clock::now()).count());
}

/// Returns a sentence on how the program ended, with its last line when it failed; empty for a good end. For
/// instance "The program of steps ended with exit code 1. It said: ModuleNotFoundError: …".
std::string sentence_of(const ChildEnd& end, const std::string& name) {
  const bool is_sentence = end.last.ends_with('.') || end.last.ends_with('!');
  const std::string last =
      end.last.empty() ? "" : fmt::format(" It said: {}{}", end.last, is_sentence ? "" : ".");
  switch (end.kind) {
    case ChildEnd::Kind::well:
      return "";
    case ChildEnd::Kind::badly:
      return fmt::format("The program of {} ended with {}.{}", name, end.how, last);
    case ChildEnd::Kind::time_over:
      return fmt::format("The program of {} was ended when its time was over.", name);
    case ChildEnd::Kind::not_there:
      return fmt::format("The program of {} cannot be started: {}.", name, end.how);
    case ChildEnd::Kind::interrupted:
      return fmt::format("The program of {} was interrupted.", name);
  }
  return "";
}

/// Returns the state of a stage whose program ended so.
StageState state_of(ChildEnd::Kind kind) {
  switch (kind) {
    case ChildEnd::Kind::well:
      return StageState::done;
    case ChildEnd::Kind::time_over:
      return StageState::time_over;
    case ChildEnd::Kind::not_there:
      return StageState::skipped;
    case ChildEnd::Kind::interrupted:
      return StageState::interrupted;
    case ChildEnd::Kind::badly:
      break;
  }
  return StageState::failed;
}

/// Returns the text without the line of the host's name, which must not be shared.
std::string without_host(const std::string& text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    if (!line.starts_with("# host")) out += line;
    begin = end;
  }
  return out;
}

/// Returns `done` when PyTorch can measure on the requested device according to about.json, else the state
/// and reason that the stage ends with.
StageEnd refuse_torch(const MachineRun& run) {
  const Settings about = read_about();
  if (about.empty()) return {StageState::skipped, "Python did not say whether it has PyTorch."};
  if (fact_of(about, "torch").empty()) return {StageState::skipped, "Python has no PyTorch."};
  const std::string device = fact_of(about, "device");
  const std::string sees_gpus = fact_of(about, "gpus");
  if (run.device == "cuda" && (device == "cpu" || sees_gpus == "0"))
    return {StageState::failed, "PyTorch sees no GPU: no step is measured, since --device is cuda."};
  return {};
}

/// Returns the number of .toml files in the folder.
std::size_t files_in(const char* folder) {
  std::error_code failed;
  std::size_t count = 0;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed))
    count += it->path().extension() == ".toml" ? 1 : 0;
  return count;
}

/// Appends a sentence for the user.
void say(StageEnd& end, const std::string& sentence) {
  if (!sentence.empty()) end.said += (end.said.empty() ? "" : " ") + sentence;
}

}  // namespace

// The number is a whole one, as the programs' --budget takes it.
std::string given_seconds(const MachineRun& run) {
  return fmt::format("{}", std::max(kLeastGiven, std::floor(kGivenShare * seconds_left(run))));
}

// Programs run in the folder of the command, so that relative paths of the user's environment stay valid.
StageEnd run_for_stage(const MachineRun& run, std::vector<std::string> words, const std::string& name) {
  const ChildEnd end = run_bounded({std::move(words), run.start_folder, fmt::format("log/{}.txt", name),
                                    std::chrono::duration<double>(seconds_left(run))});
  return {state_of(end.kind), sentence_of(end, name)};
}

StageEnd run_measure(const MachineRun& run, std::vector<std::string> words, const std::string& name) {
  std::vector<std::string> all{python_program(), "-m", "foretrain", "measure"};
  all.insert(all.end(), std::make_move_iterator(words.begin()), std::make_move_iterator(words.end()));
  return run_for_stage(run, std::move(all), name);
}

// The samples that the benchmark wrote are used, however it ended.
StageEnd run_bench_stage(MachineRun& run) {
  std::vector<std::string> words{bench_program(), "--budget", given_seconds(run) + "s", "-o",
                                 run.folder + "/samples.csv"};
  // On the CPU only benchmarks that need no GPU are run.
  if (run.device == "cpu") words.emplace_back("--host-only");
  StageEnd end = run_for_stage(run, std::move(words), "bench");
  // A program that was ended early may have written samples; these are used.
  std::error_code failed;
  if (!fs::exists("samples.csv", failed)) {
    if (end.state == StageState::done) end = {StageState::failed, "foretrain-bench wrote no samples."};
    return end;
  }
  const SourceText text = read_text_file("samples.csv", kLargestSamples);
  const SampleFile file = read_or_throw(text, read_samples_csv);
  write_whole_file("samples.csv", without_host(text.text));
  say(end, fmt::format("{} were measured.", counted(std::ssize(file.samples), "sample")));
  if (const std::string warning = fact_of(file.provenance, "warning"); !warning.empty())
    say(end, fmt::format("foretrain-bench warns: {}.", warning));
  return end;
}

// Half lines are cut before, as an earlier run may have been killed, and after, as this one may have been.
StageEnd run_steps_stage(MachineRun& run) {
  cut_half_lines();
  if (StageEnd refused = refuse_torch(run); refused.state != StageState::done) return refused;
  std::vector<std::string> words{"steps",    "--traces",         "--folder", run.folder,
                                 "--budget", given_seconds(run), "--device", run.device};
  if (!run.networks.empty()) {
    words.emplace_back("--networks");
    words.push_back(fmt::format("{}", fmt::join(run.networks, ",")));
  }
  StageEnd end = run_measure(run, std::move(words), "steps");
  cut_half_lines();
  const MeasuredLines<MeasuredStep> steps = read_measured_files().steps;
  const auto measured =
      std::ranges::count_if(steps.rows, [](const MeasuredStep& step) { return step.step_s.has_value(); });
  const auto failed = std::ssize(steps.rows) - measured;
  say(end, fmt::format("{} were measured.", counted(measured, "step")));
  if (failed > 0) say(end, fmt::format("{} could not be measured.", counted(failed, "step")));
  if (!steps.skipped.empty())
    say(end, fmt::format("{} of steps.jsonl cannot be read: {}.", counted(std::ssize(steps.skipped), "line"),
                         steps.skipped.front().why));
  // A program that ends well and measures nothing has failed.
  if (steps.rows.empty() && end.state == StageState::done) end.state = StageState::failed;
  return end;
}

StageEnd run_capture_stage(MachineRun& run) {
  if (read_measured_files().steps.rows.empty())
    return {StageState::skipped, "No step was measured, so no network is captured."};
  std::error_code ignored;
  fs::create_directories("networks", ignored);
  // First the kernels' times of the recorded traces, then the networks themselves.
  const StageEnd traces = run_measure(run, {"kernels", "--folder", run.folder}, "kernels");
  if (traces.state == StageState::interrupted) return traces;
  StageEnd end =
      run_measure(run, {"capture", "--folder", run.folder, "--budget", given_seconds(run)}, "capture");
  say(end,
      fmt::format("{} written.", counted(static_cast<std::int64_t>(files_in("networks")), "network file")));
  if (traces.state != StageState::done) end.state = StageState::failed, say(end, traces.said);
  return end;
}

}  // namespace foretrain
