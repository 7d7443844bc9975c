// Reader of seff JOBID: lines of "Key: value" (SchedMD's contribs/seff), such as "CPU Efficiency: 6.87% of
// 1-05:44:40 core-walltime".
// CSC adds a table with a row for each GPU; OSC's osc-seff and gpu-seff add lines about all GPUs together.
// State, counts, run time, CPU and memory use and efficiency are taken. Counts per node are multiplied by
// nodes when the report ends.
#include <array>

#include <fmt/format.h>

#include "sim/import/accounting/accounting_values.hpp"
#include "sim/import/accounting/gpu_use_table.hpp"
#include "sim/import/accounting/readers.hpp"

namespace foretrain {

namespace {

/// Splits "6.87% of 1-05:44:40 core-walltime" at " of ": the share, and the whole up to an opening
/// parenthesis.
/// The whole is empty when the text has no " of ".
std::pair<std::string_view, std::string_view> share_and_whole(std::string_view text) {
  const std::size_t of = text.find(" of ");
  if (of == std::string_view::npos) return {text, ""};
  std::string_view whole = trimmed(text.substr(of + 4));
  whole = trimmed(whole.substr(0, std::min(whole.find('('), whole.size())));
  return {text.substr(0, of), whole};
}

/// The report of one job while it is read.
struct SeffReader {
  JobSheet& sheet;
  FinishedJob* job = nullptr;
  /// Counts of one node; 0 when the report has none.
  int cores_per_node = 0, gpus_per_node = 0;

  /// Reads a line of "Key: value"; unknown keys are skipped.
  void take(std::string_view key, const JobCell& cell);
  void take_gpu(std::string_view key, const JobCell& cell);
  /// Multiplies counts per node and divides sums over GPUs. Both need numbers that may stand before or behind
  /// them.
  void finish();
};

/// A function that reads the value of a known key.
using TakeSeff = void (*)(SeffReader& r, const JobCell& c);
struct SeffKey {
  std::string_view name;
  TakeSeff take;
};

/// Returns a cell with a part of the text at the same place.
JobCell part_of(const JobCell& cell, std::string_view text) { return {text, cell.span, cell.said}; }

/// The known keys of seff. "(exit code 0)" behind the state gives the exit code, and "of …" behind Memory
/// Efficiency the requested memory.
constexpr std::array<SeffKey, 12> kSeffKeys{{
    {"Cluster", [](SeffReader& r, const JobCell& c) { r.sheet.text(r.job->cluster, c); }},
    {"State",
     [](SeffReader& r, const JobCell& c) {
       const std::size_t code = c.text.find("(exit code ");
       r.sheet.state(*r.job, part_of(c, c.text.substr(0, std::min(code, c.text.size()))));
       if (code == std::string_view::npos) return;
       const std::string_view number = c.text.substr(code + 11);
       r.sheet.exit_code(*r.job, part_of(c, number.substr(0, std::min(number.find(')'), number.size()))));
     }},
    {"Nodes", [](SeffReader& r, const JobCell& c) { r.sheet.count(r.job->nodes, c); }},
    {"Cores", [](SeffReader& r, const JobCell& c) { r.sheet.count(r.job->cpus, c); }},
    {"Cores per node",
     [](SeffReader& r, const JobCell& c) { r.cores_per_node = whole_count(c.text).value_or(0); }},
    {"CPU Utilized", [](SeffReader& r, const JobCell& c) { r.sheet.seconds(r.job->cpu_s, c); }},
    {"CPU Efficiency",
     [](SeffReader& r, const JobCell& c) {
       r.sheet.share(r.job->cpu_efficiency, part_of(c, share_and_whole(c.text).first), kMostCpuPercent);
     }},
    {"Job Wall-clock time", [](SeffReader& r, const JobCell& c) { r.sheet.seconds(r.job->elapsed_s, c); }},
    {"Memory Utilized",
     [](SeffReader& r, const JobCell& c) {
       r.sheet.bytes(r.job->memory_used,
                     part_of(c, c.text.substr(0, std::min(c.text.find('('), c.text.size()))));
     }},
    {"Memory Efficiency",
     [](SeffReader& r, const JobCell& c) {
       r.sheet.bytes(r.job->memory_asked, part_of(c, share_and_whole(c.text).second));
     }},
    {"GPU Efficiency",
     [](SeffReader& r, const JobCell& c) {
       r.sheet.share(r.job->gpu_utilization, part_of(c, share_and_whole(c.text).first));
     }},
    {"Total GPUs", [](SeffReader& r, const JobCell& c) { r.sheet.count(r.job->gpus, c); }},
}};

void SeffReader::take(std::string_view key, const JobCell& cell) {
  for (const SeffKey& row : kSeffKeys) {
    if (row.name == key) return row.take(*this, cell);
  }
  take_gpu(key, cell);
}

void SeffReader::take_gpu(std::string_view key, const JobCell& cell) {
  if (key == "GPUs per Node" || key == "GPUs per node") gpus_per_node = whole_count(cell.text).value_or(0);
  // This amount is the sum over all GPUs; finish() divides it by their number.
  if (key == "GPU Memory Utilized") sheet.bytes(job->gpu_memory_used, cell);
}

void SeffReader::finish() {
  if (job == nullptr) return;
  // A single node is assumed when their number is missing.
  const int nodes = job->nodes ? job->nodes->value : 1;
  const auto whole = [&](Known<int>& field, int per_node, const char* said) {
    const std::int64_t all = std::int64_t{per_node} * nodes;
    if (per_node > 0 && all <= 100'000'000) sheet.put(field, static_cast<int>(all), {"", {}, said});
  };
  whole(job->cpus, cores_per_node, "Cores per node");
  whole(job->gpus, gpus_per_node, "GPUs per Node");
  if (job->gpu_memory_used && job->gpus && job->gpus->value > 0)
    job->gpu_memory_used->value /= job->gpus->value;
  cores_per_node = gpus_per_node = 0;
}

}  // namespace

// jobstats also prints "Job ID:", so its title excludes seff.
bool is_seff(std::string_view text) {
  const bool names_job = holds(text, "Job ID:") || holds(text, "JobID:");
  return names_job && !holds(text, "Slurm Job Statistics") &&
         (holds(text, "CPU Utilized:") || holds(text, "GPU Efficiency:") || holds(text, "GPU load"));
}

void read_seff(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs) {
  JobSheet sheet(source, diagnostics, jobs);
  SeffReader reader{sheet};
  // Pointers to jobs may move when one is added, so the open job is kept by index and found again at its end.
  GpuUseTable table;
  std::size_t job = 0;
  const auto finish = [&] {
    if (reader.job == nullptr) return;
    reader.job = &jobs[job];
    table.give(*reader.job, sheet);
    reader.finish();
  };
  LogLines lines(source.text);
  for (LogLine line; lines.next(line);) {
    // The table is asked first, because its rows may hold colons.
    if (reader.job != nullptr && table.take(line, sheet)) continue;
    const std::size_t colon = line.text.find(':');
    if (colon == std::string::npos) continue;
    const std::string_view all = line.text, key = trimmed(all.substr(0, colon)),
                           value = trimmed(all.substr(colon + 1));
    if (key == "Job ID" || key == "JobID") {
      finish();
      reader.job = sheet.job(value, line.number);
      if (reader.job == nullptr) return;
      job = static_cast<std::size_t>(reader.job - jobs.data());
    } else if (key == "Array Job ID" && reader.job != nullptr && value.size() < 100) {
      // "Array Job ID: 123_4" follows "Job ID: 125" and is the name that users know.
      sheet.rename(*reader.job, value);
    } else if (reader.job != nullptr) {
      const int begin = static_cast<int>(value.data() - all.data()) + 1;
      reader.take(
          key, {value, {line.number, begin, static_cast<int>(std::max<std::size_t>(1, value.size()))}, key});
    }
  }
  finish();
}

}  // namespace foretrain
