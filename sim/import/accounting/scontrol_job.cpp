// Reader of scontrol show job: records of KEY=VALUE that begin with JobId, over several lines or, with -o, in
// one:
// "JobId=123 JobName=train JobState=COMPLETED RunTime=01:00:00 TimeLimit=02:00:00 NumNodes=2
// AllocTRES=cpu=8,gres/gpu=4".
// The request, the state and the times are taken. The tool measures nothing, so there is no use of memory,
// CPUs or GPUs.
#include <array>

#include "sim/import/accounting/accounting_values.hpp"
#include "sim/import/accounting/job_sheet.hpp"
#include "sim/import/accounting/readers.hpp"
#include "sim/import/logs/log_lines.hpp"

namespace foretrain {

namespace {

/// A function that reads the value of a known key.
using TakeKey = void (*)(JobSheet& sheet, FinishedJob& job, const JobCell& cell);
struct ScontrolKey {
  std::string_view name;
  TakeKey take;
};

/// The known keys. Older versions of Slurm write TRES for AllocTRES.
constexpr std::array<ScontrolKey, 15> kScontrolKeys{{
    {"JobName", [](JobSheet& s, FinishedJob& j, const JobCell& c) { s.text(j.name, c); }},
    {"JobState", [](JobSheet& s, FinishedJob& j, const JobCell& c) { s.state(j, c); }},
    {"ExitCode", [](JobSheet& s, FinishedJob& j, const JobCell& c) { s.exit_code(j, c); }},
    {"RunTime", [](JobSheet& s, FinishedJob& j, const JobCell& c) { s.seconds(j.elapsed_s, c); }},
    {"TimeLimit", [](JobSheet& s, FinishedJob& j, const JobCell& c) { s.limit(j.limit_s, c); }},
    {"StartTime", [](JobSheet& s, FinishedJob& j, const JobCell& c) { s.text(j.start, c); }},
    {"EndTime", [](JobSheet& s, FinishedJob& j, const JobCell& c) { s.text(j.end, c); }},
    {"Partition", [](JobSheet& s, FinishedJob& j, const JobCell& c) { s.text(j.partition, c); }},
    {"NodeList", [](JobSheet& s, FinishedJob& j, const JobCell& c) { s.text(j.node_list, c); }},
    {"NumTasks", [](JobSheet& s, FinishedJob& j, const JobCell& c) { s.count(j.tasks, c); }},
    {"CPUs/Task", [](JobSheet& s, FinishedJob& j, const JobCell& c) { s.count(j.cpus_per_task, c); }},
    {"AllocTRES", [](JobSheet& s, FinishedJob& j, const JobCell& c) { s.resources(j, c); }},
    {"TRES", [](JobSheet& s, FinishedJob& j, const JobCell& c) { s.resources(j, c); }},
    {"NumNodes",
     [](JobSheet& s, FinishedJob& j, const JobCell& c) {
       // A waiting job may show a range such as "2-4", which is no count.
       if (whole_count(c.text)) s.count(j.nodes, c);
     }},
    {"NumCPUs",
     [](JobSheet& s, FinishedJob& j, const JobCell& c) {
       if (whole_count(c.text)) s.count(j.cpus, c);
     }},
}};

}  // namespace

bool is_scontrol_job(std::string_view text) { return holds(text, "JobId=") && holds(text, "JobState="); }

void read_scontrol_job(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs) {
  JobSheet sheet(source, diagnostics, jobs);
  FinishedJob* job = nullptr;
  LogLines lines(source.text);
  for (LogLine line; lines.next(line);) {
    // A task of an array has the id of the array and its own number; both stand on the line of JobId.
    const std::string array(text_behind(line.text, "ArrayJobId="));
    for (const std::string_view word : words_of(line.text, 300)) {
      const std::size_t equals = word.find('=');
      if (equals == std::string_view::npos) continue;
      const std::string_view key = word.substr(0, equals), value = word.substr(equals + 1);
      const int column = static_cast<int>(word.data() - line.text.data()) + 1;
      if (key == "JobId") {
        std::string id(value);
        const std::string_view task = text_behind(line.text, "ArrayTaskId=");
        if (!array.empty() && !task.empty()) {
          const Words first = words_of(array, 1), second = words_of(task, 1);
          id = std::string(first[0]) + "_" + std::string(second[0]);
        }
        job = sheet.job(id, line.number);
        if (job == nullptr) return;
      }
      // Lines before the first JobId belong to no job.
      if (job == nullptr) continue;
      for (const ScontrolKey& row : kScontrolKeys) {
        if (row.name == key)
          row.take(sheet, *job, {value, {line.number, column, static_cast<int>(word.size())}, row.name});
      }
    }
  }
}

}  // namespace foretrain
