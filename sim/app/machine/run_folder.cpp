// The folder of a run and its progress.toml, which lists the finished stages. The file is replaced as a whole
// after each stage, so that it is true at every moment.
#include "sim/app/machine/run_folder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include "sim/base/diagnostics.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/whole_file.hpp"
#include "sim/scenario/calibration/calibration_text.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "sim/scenario/toml/table_reader.hpp"

namespace foretrain {

namespace {

namespace fs = std::filesystem;

// Limits of the reader: seconds of a run, and entries of a list.
constexpr double kLongestRun = 1e6;
constexpr std::size_t kMostListed = 1000;

/// Returns true for a file that exists before the first stage is recorded; it does not make the folder
/// foreign.
bool is_of_beginning(const fs::path& file) { return file.filename() == "log"; }

/// Makes the folders in FORETRAIN_PATH absolute, because the working folder is about to change.
void make_catalog_paths_absolute() {
  const char* given = std::getenv("FORETRAIN_PATH");
  if (given == nullptr) return;
  std::string_view rest = given;
  std::string out;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) out += (out.empty() ? "" : ":") + fs::absolute(rest.substr(0, end)).string();
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  ::setenv("FORETRAIN_PATH", out.c_str(), 1);
}

/// Returns the state of that name; the reader has checked that it exists.
StageState state_named(const std::string& name) {
  const auto* found = std::ranges::find(kStageStateNames, name);
  return static_cast<StageState>(found - std::begin(kStageStateNames));
}

/// Reads one row of progress.toml.
FinishedStage read_finished(const Value& value, Diagnostics& diagnostics) {
  FinishedStage out;
  const auto* table = std::get_if<Table>(&value.data);
  if (table == nullptr) {
    diagnostics.report(value.span, "a stage is a table");
    return out;
  }
  TableReader reader(*table, "stages", diagnostics);
  out.name = reader.string("name").value_or("");
  const std::vector<std::string> states(std::begin(kStageStateNames), std::end(kStageStateNames));
  out.end.state = state_named(reader.one_of("state", states).value_or("failed"));
  out.seconds = reader.number("seconds", 0, kLongestRun).value_or(0);
  out.end.said = reader.string("said").value_or("");
  reader.finish();
  return out;
}

/// Reads progress.toml.
MachineRun read_run(const SourceText& source, Diagnostics& diagnostics) {
  const Table document = parse_toml(source, diagnostics);
  TableReader reader(document, "", diagnostics);
  MachineRun run;
  run.version = reader.string("version").value_or("");
  run.budget_s = reader.number("budget_s", 0, kLongestRun).value_or(0);
  run.device = reader.one_of("device", {"cuda", "cpu"}).value_or("cuda");
  run.networks = reader.strings("networks", kMostListed).value_or(std::vector<std::string>());
  if (const Array* stages = reader.array("stages", kMostListed)) {
    for (const Value& stage : *stages) run.finished.push_back(read_finished(stage, diagnostics));
  }
  reader.finish();
  return run;
}

/// Reads progress.toml of a folder. Throws InputError when it is damaged.
MachineRun progress_in(const std::string& folder) {
  return read_or_throw(read_text_file((fs::path(folder) / kProgressFile).string()), read_run);
}

/// Describes the run in the folder: "a finished run", or "an unfinished run, of which detect, bench are
/// done".
std::string run_in_words(const std::string& folder) {
  const MachineRun run = progress_in(folder);
  std::vector<std::string_view> done;
  for (const StageRow& row : machine_stages())
    if (run.has_finished(row.name)) done.push_back(row.name);
  if (done.size() == machine_stages().size()) return "a finished run";
  if (done.empty()) return "an unfinished run, of which no stage is done";
  return fmt::format("an unfinished run, of which {} {} done", fmt::join(done, ", "),
                     done.size() == 1 ? "is" : "are");
}

}  // namespace

// This function creates nothing, so that a dry run can ask as well.
FolderState state_of_folder(const std::string& folder, bool resume) {
  std::error_code failed;
  const fs::file_status status = fs::status(folder, failed);
  const bool is_there = fs::exists(status);
  if (is_there && !fs::is_directory(status)) return {false, folder + " is no folder", "name another: -o"};
  const bool holds_run = is_there && fs::exists(fs::path(folder) / kProgressFile, failed);
  if (resume && !holds_run) return {false, folder + " holds no run to go on with", "leave out --resume"};
  if (holds_run && resume) {
    // Stages hand files to each other whose content belongs to a version.
    const std::string version = progress_in(folder).version;
    if (version != FORETRAIN_VERSION)
      return {true,
              fmt::format("{} holds a run of foretrain {}, which foretrain {} does not go on with", folder,
                          version.empty() ? "without a version" : version, FORETRAIN_VERSION),
              "finish it with that version; -o with another folder begins anew"};
  }
  // A run is never overwritten; the user must say what should happen to it.
  if (holds_run && !resume)
    return {true, fmt::format("{} holds {}", folder, run_in_words(folder)),
            "--resume goes on with what is not done; -o with another folder begins anew"};
  // A folder with other files is refused, as the run would mix its results with them.
  if (is_there && !holds_run) {
    for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
      if (!is_of_beginning(it->path()))
        return {false, fmt::format("{} is not empty, and it holds no run of `calibrate machine`", folder),
                "name a new folder: -o FOLDER"};
    }
  }
  return {holds_run, "", ""};
}

RunFolder::RunFolder(const std::string& folder, bool resume) : start_(fs::current_path().string()) {
  const FolderState state = state_of_folder(folder, resume);
  if (!state.mistake.empty()) throw InputError(printable(state.mistake), state.hint);
  holds_run_ = state.holds_run;
  std::error_code failed;
  fs::create_directories(fs::path(folder) / "log", failed);
  if (failed)
    throw EnvironmentError(fmt::format("{}: cannot be made: {}", printable(folder), failed.message()));
  path_ = fs::canonical(folder).string();
  // The lock is on the folder itself and ends with this process, however it ends.
  // flock does not wait here: a second run in the folder is a mistake.
  lock_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0 || (::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK))
    throw InputError("another run works in " + printable(folder), "wait for its end, or name another: -o");
  make_catalog_paths_absolute();
  fs::current_path(path_);
}

// The lock is released when its file descriptor is closed.
RunFolder::~RunFolder() {
  std::error_code ignored;
  fs::current_path(start_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

MachineRun read_progress() { return read_or_throw(read_text_file(kProgressFile), read_run); }

// Strings are quoted for TOML, since messages of stages may hold anything.
void write_progress(const MachineRun& run) {
  std::vector<std::string> networks;
  for (const std::string& network : run.networks) networks.push_back(foretrain::quoted(network));
  std::string out = fmt::format(
      "# What `foretrain calibrate machine` has done in this folder.\nversion = \"{}\"\nbudget_s = {}\n"
      "device = \"{}\"\nnetworks = [{}]\n",
      FORETRAIN_VERSION, run.budget_s, run.device, fmt::join(networks, ", "));
  for (const FinishedStage& stage : run.finished)
    out += fmt::format("\n[[stages]]\nname = {}\nstate = \"{}\"\nseconds = {:.3f}\nsaid = {}\n",
                       foretrain::quoted(stage.name),
                       kStageStateNames[static_cast<std::size_t>(stage.end.state)], stage.seconds,
                       foretrain::quoted(stage.end.said));
  write_whole_file(kProgressFile, out);
}

}  // namespace foretrain
