// seff JOBID: lines of "Key: value" (SchedMD's contribs/seff). CSC adds a table of each GPU, OSC's osc-seff
// and gpu-seff lines about all of them.
#include <array>

#include <fmt/format.h>

#include "sim/import/accounting/accounting_values.hpp"
#include "sim/import/accounting/gpu_use_table.hpp"
#include "sim/import/accounting/readers.hpp"

namespace foretrain {

namespace {

/// "6.87% of 1-05:44:40 core-walltime": what stands before and behind "of", the latter to the next blank but
/// one.
std::pair<std::string_view, std::string_view> share_and_whole(std::string_view text) {
  const std::size_t of = text.find(" of ");
  if (of == std::string_view::npos) return {text, ""};
  std::string_view whole = trimmed(text.substr(of + 4));
  whole = trimmed(whole.substr(0, std::min(whole.find('('), whole.size())));
  return {text.substr(0, of), whole};
}

struct SeffReader {
  JobSheet& sheet;
  FinishedJob* job = nullptr;
  int cores_per_node = 0, gpus_per_node = 0;

  void take(std::string_view key, const JobCell& cell);
  void take_gpu(std::string_view key, const JobCell& cell);
  /// What needs the number of nodes, which stands before or behind.
  void finish();
};

using TakeSeff = void (*)(SeffReader& r, const JobCell& c);
struct SeffKey {
  std::string_view name;
  TakeSeff take;
};

JobCell part_of(const JobCell& cell, std::string_view text) { return {text, cell.span, cell.said}; }

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
       r.sheet.share(r.job->cpu_efficiency, part_of(c, share_and_whole(c.text).first));
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
  // Of all GPUs together.
  if (key == "GPU Memory Utilized") sheet.bytes(job->gpu_memory_used, cell);
}

void SeffReader::finish() {
  if (job == nullptr) return;
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

bool is_seff(std::string_view text) {
  const bool names_job = holds(text, "Job ID:") || holds(text, "JobID:");
  return names_job && !holds(text, "Slurm Job Statistics") &&
         (holds(text, "CPU Utilized:") || holds(text, "GPU Efficiency:") || holds(text, "GPU load"));
}

void read_seff(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs) {
  JobSheet sheet(source, diagnostics, jobs);
  SeffReader reader{sheet};
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
      reader.job->id = std::string(value);
    } else if (reader.job != nullptr) {
      const int begin = static_cast<int>(value.data() - all.data()) + 1;
      reader.take(
          key, {value, {line.number, begin, static_cast<int>(std::max<std::size_t>(1, value.size()))}, key});
    }
  }
  finish();
}

}  // namespace foretrain
