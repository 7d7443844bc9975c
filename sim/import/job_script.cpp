// Finds out which batch system a text is for by asking the rows of the catalog in their order, and lets that
// row read it.
#include "sim/import/job_script.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/import/jobs/catalog.hpp"
#include "sim/import/jobs/directives.hpp"

namespace foretrain {

namespace {

/// A batch system by the mark of its directives.
struct ForeignSystem {
  std::string_view mark, name;
};

/// Systems whose scripts are not read, by how their directives begin.
constexpr std::array<ForeignSystem, 4> kForeignSystems{
    {{"#COBALT", "Cobalt"}, {"#OAR", "OAR"}, {"#PJM", "Fujitsu TCS"}, {"#@ ", "LoadLeveler"}}};

/// Calls `visit` for each line with its number, until it returns false.
template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  int number = 1;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (!visit(text.substr(at, end - at), number)) return;
    at = end + 1;
  }
}

/// A line of a foreign batch system; `system` is nullptr when there is none.
struct ForeignLine {
  const ForeignSystem* system = nullptr;
  int line = 0;
};

/// Returns the first directive of a system that is not read.
ForeignLine find_foreign(std::string_view text) {
  ForeignLine found;
  for_each_line(text, [&](std::string_view line, int number) {
    for (const ForeignSystem& system : kForeignSystems) {
      if (line.starts_with(system.mark) && found.system == nullptr) found = {&system, number};
    }
    return found.system == nullptr;
  });
  return found;
}

/// Returns the first line that identifies NEC's NQSV, which marks its directives as PBS does but has options
/// of its own.
ForeignLine find_nqsv(std::string_view text) {
  static constexpr ForeignSystem kNqsv{"#PBS", "NQSV"};
  ForeignLine found;
  for_each_line(text, [&](std::string_view line, int number) {
    if (!line.starts_with(kNqsv.mark)) return true;
    const auto says = [&](std::string_view what) { return line.find(what) != std::string_view::npos; };
    // Such options exist in no other system with this mark.
    const bool is_own = says(" -b ") || says("-T openmpi") || says("-T necmpi") || says("-T intmpi") ||
                        says("elapstim_req") || says("cpunum_") || says("gpunum_") || says("gpunum-lhost") ||
                        says("cpunum-lhost");
    if (is_own) found = {&kNqsv, number};
    return !is_own;
  });
  return found;
}

/// Returns the first row that recognises the text; nullptr when none does.
const JobSystem* find_system(std::string_view text) {
  const std::span<const JobSystem> rows = job_systems();
  const auto found = std::ranges::find_if(rows, [&](const JobSystem& row) { return row.is(text); });
  return found == rows.end() ? nullptr : &*found;
}

/// Returns the text without a byte-order mark.
std::string_view without_mark(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

/// Throws InputError with the name of the foreign system and with those that are read.
[[noreturn]] void refuse_foreign(const SourceText& source, const ForeignLine& foreign) {
  // The row without a batch system is a bare launch line, which is no script.
  std::vector<std::string_view> read;
  for (const JobSystem& row : job_systems()) {
    if (row.system != BatchSystem::none) read.push_back(row.title);
  }
  const std::string line(source.line(foreign.line));
  throw InputError(
      std::vector<Diagnostic>{{source.name,
                               {foreign.line, 1, static_cast<int>(foreign.system->mark.size())},
                               line,
                               fmt::format("is a script for {}, which is not read", foreign.system->name),
                               fmt::format("those of {} are", fmt::join(read, ", "))}});
}

/// Adds a remark about directives of another system, which are comments to the one that the script is read
/// for.
void remark_on_others(std::string_view text, JobScript& script) {
  static constexpr std::array<ForeignSystem, 4> kMarks{
      {{"#SBATCH", "slurm"}, {"#PBS", "pbs"}, {"#BSUB", "lsf"}, {"#$ -", "grid_engine"}}};
  for (const ForeignSystem& row : kMarks) {
    if (row.name == name_of(script.system) || !has_directive(text, row.mark)) continue;
    script.remarks.push_back({{},
                              "",
                              fmt::format("also has lines {}, which are comments to {}", row.mark,
                                          job_system(script.system).title)});
  }
}

}  // namespace

// Any script of a shell counts, even without directives.
bool is_job_script(std::string_view text) {
  text = without_mark(text);
  return text.starts_with("#!") || find_foreign(text).system != nullptr || find_system(text) != nullptr;
}

JobScript read_job_script(const SourceText& source, const ScriptFinder& find) {
  const std::string_view text = without_mark(source.text);
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(zero), '\n');
    throw InputError(std::vector<Diagnostic>{
        {source.name, {static_cast<int>(line), 1, 1}, "", "is no text: this line has a zero byte", ""}});
  }
  const JobSystem* system = find_system(text);
  // A submit file is recognised by words alone, so a foreign directive in it is the better evidence.
  const bool by_words = system == nullptr || system->system == BatchSystem::htcondor;
  const bool by_pbs = system != nullptr && system->system == BatchSystem::pbs;
  const ForeignLine foreign = by_words ? find_foreign(text) : by_pbs ? find_nqsv(text) : ForeignLine{};
  if (foreign.system != nullptr) refuse_foreign(source, foreign);
  // A shell script without directives is read as Slurm's, whose command lines may stand in it.
  if (by_words && (system == nullptr || text.starts_with("#!"))) system = &job_system(BatchSystem::slurm);
  JobScript script;
  script.file = source.name;
  // The reader finds file and system set, and fills in the rest.
  script.system = system->system;
  system->read(source, text, find, script);
  // The remark comes last, so that it stands behind those of the reader.
  remark_on_others(text, script);
  return script;
}

}  // namespace foretrain
