// Reader of the report of Princeton's jobstats: a head of "Key: value", meters such as "[|||||   68%]", and
// lists by node and GPU such as
// "della-i14g2 (GPU 0): 68.1%" (PrincetonUniversity/jobstats, output_formatters.py).
// The head gives names, counts and times, the lists give measured use. Sums below the lists ("Total used")
// are skipped, and so is everything behind the first line of the notes ("* ").
#include <algorithm>
#include <array>

#include "sim/import/accounting/accounting_values.hpp"
#include "sim/import/accounting/job_sheet.hpp"
#include "sim/import/accounting/readers.hpp"
#include "sim/import/logs/log_lines.hpp"

namespace foretrain {

namespace {

/// Limit of GPUs in one job.
constexpr std::size_t kMostListed = 100'000;

/// The list that the current lines belong to; `none` in the head.
enum class Listing { none, cpu, memory, gpu, gpu_memory };

/// A line that begins a list.
struct ListHead {
  std::string_view mark;
  Listing listing;
};

constexpr std::array<ListHead, 4> kListHeads{{{"CPU utilization per node", Listing::cpu},
                                              {"CPU memory usage per node", Listing::memory},
                                              {"GPU utilization per node", Listing::gpu},
                                              {"GPU memory usage per node", Listing::gpu_memory}}};

/// Returns the text up to the first blank: "1-02:30:00" of "1-02:30:00 (in progress)".
std::string_view before_blank(std::string_view text) {
  return text.substr(0, std::min(text.find(' '), text.size()));
}

/// Reads a report line by line. A file may hold several reports, each of which begins with "Job ID".
/// Figures of lists are summed up here and given to the job when the report ends.
class JobstatsReader {
 public:
  JobstatsReader(JobSheet& sheet, std::vector<FinishedJob>& jobs) : sheet_(sheet), jobs_(jobs) {}

  /// Returns false when the limit of jobs is reached; the rest of the file is then not read.
  bool read(const LogLine& line) {
    for (const ListHead& head : kListHeads) {
      if (holds(line.text, head.mark)) return listing_ = head.listing, true;
    }
    if (holds(line.text, "====") || trimmed(line.text).empty()) {
      listing_ = holds(line.text, "====") ? Listing::none : listing_;
      return true;
    }
    // A line of "=" ends a list; an empty line does not.
    const std::string_view text = trimmed(line.text);
    // Notes are advice in prose with colons; from here on only a new "Job ID" is read.
    if (text.starts_with("* ")) return in_notes_ = true;
    // The last colon counts, because names in lists may hold others.
    const std::size_t colon = text.rfind(": ");
    if (text.starts_with("GPU utilization") && holds(text, "|")) return take_meter(line), true;
    if (colon == std::string_view::npos || text.starts_with("Total used")) return true;
    const std::string_view key = text.substr(0, colon), value = trimmed(text.substr(colon + 2));
    const int begin = static_cast<int>(value.data() - line.text.data()) + 1;
    const JobCell cell{
        value, {line.number, begin, static_cast<int>(std::max<std::size_t>(1, value.size()))}, key};
    if (key == "Job ID") return begin_job(value, line.number);
    if (!is_open_ || in_notes_) return true;
    listing_ == Listing::none ? take_head(text, line) : take_listed(key, cell);
    return true;
  }

  /// Gives the sums of the lists to the open job. Places name the list, as a sum has no line of its own.
  void finish() {
    if (!is_open_) return;
    // The vector of jobs may have moved since the job was opened, so it is found by its index.
    FinishedJob& job = jobs_[job_];
    if (used_) sheet_.put(job.memory_used, used_->value, {"", {used_->at.line, 1, 1}, "CPU memory usage"});
    if (given_)
      sheet_.put(job.memory_asked, given_->value, {"", {given_->at.line, 1, 1}, "CPU memory usage"});
    if (cpu_) sheet_.put(job.cpu_s, cpu_->value, {"", {cpu_->at.line, 1, 1}, "CPU utilization"});
    if (!gpus_.empty())
      sheet_.put(job.measured_gpus, std::move(gpus_), {"", {gpu_line_, 1, 1}, "GPU utilization"});
    gpus_.clear(), used_.reset(), given_.reset(), cpu_.reset();
  }

 private:
  /// Finishes the open report and opens the next one.
  bool begin_job(std::string_view id, int line) {
    finish();
    const FinishedJob* job = sheet_.job(id, line);
    is_open_ = job != nullptr, in_notes_ = false, listing_ = Listing::none;
    if (is_open_) job_ = static_cast<std::size_t>(job - jobs_.data());
    return is_open_;
  }

  /// Reads a line of the head. The first colon ends the key here, because the name of a job may hold others.
  void take_head(std::string_view text, const LogLine& line) {
    const std::size_t colon = text.find(':');
    const std::string_view key = text.substr(0, colon), value = trimmed(text.substr(colon + 1));
    const int begin = static_cast<int>(value.data() - line.text.data()) + 1;
    const JobCell cell{
        value, {line.number, begin, static_cast<int>(std::max<std::size_t>(1, value.size()))}, key};
    const auto part = [&](std::string_view piece) { return JobCell{piece, cell.span, cell.said}; };
    FinishedJob& job = jobs_[job_];
    if (key == "Job Name") sheet_.text(job.name, cell);
    if (key == "State") sheet_.state(job, cell);
    if (key == "Nodes") sheet_.count(job.nodes, cell);
    if (key == "CPU Cores") sheet_.count(job.cpus, cell);
    if (key == "GPUs") sheet_.count(job.gpus, cell);
    if (key == "Cluster") sheet_.text(job.cluster, cell);
    if (key == "Start Time") sheet_.text(job.start, cell);
    // Remarks such as "(in progress)" may follow the duration.
    if (key == "Run Time") sheet_.seconds(job.elapsed_s, part(before_blank(value)));
    if (key == "Time Limit") sheet_.limit(job.limit_s, part(before_blank(value)));
    // "QOS/Partition" holds both; only the partition behind the slash is taken.
    const std::size_t slash = value.rfind('/');
    if (key == "QOS/Partition" && slash != std::string_view::npos)
      sheet_.text(job.partition, part(value.substr(slash + 1)));
  }

  /// Adds a value to a sum. The place of the first value stays.
  void add(Known<double>& sum, const Known<double>& value) {
    if (!value) return;
    sum ? void(sum->value += value->value) : void(sum = value);
  }

  /// Reads a row of a list. Used and given amounts stand before the first blank, with a slash between them:
  /// "7.9GB/128.0GB (335.5MB/5.3GB per core of 24)", "1-21:41:20/18-16:46:24 (efficiency=10.2%)".
  void take_listed(std::string_view key, const JobCell& cell) {
    const std::string_view both = before_blank(cell.text);
    const std::size_t slash = std::min(both.find('/'), both.size());
    const JobCell first{both.substr(0, slash), cell.span, cell.said};
    const JobCell second{both.substr(std::min(slash + 1, both.size())), cell.span, cell.said};
    Known<double> used, given;
    if (listing_ == Listing::cpu) {
      sheet_.seconds(used, first);
      return add(cpu_, used);
    }
    if (listing_ == Listing::memory) {
      sheet_.bytes(used, first), sheet_.bytes(given, second);
      return add(used_, used), add(given_, given);
    }
    MeasuredGpu* gpu = gpu_named(key, cell);
    if (gpu == nullptr) return;
    if (listing_ == Listing::gpu) {
      sheet_.share(used, first);
      if (used) gpu->utilization = used->value;
      return;
    }
    sheet_.bytes(used, first), sheet_.bytes(given, second);
    if (used) gpu->memory_used = used->value;
    if (given) gpu->memory_total = given->value;
  }

  /// Returns the GPU that a key such as "della-i14g2 (GPU 0)" names and adds it when it is new; nullptr when
  /// the key names none. A number that cannot be read is reported.
  MeasuredGpu* gpu_named(std::string_view key, const JobCell& cell) {
    const std::size_t mark = key.find("(GPU ");
    if (mark == std::string_view::npos || gpus_.size() >= kMostListed) return nullptr;
    const std::string node(trimmed(key.substr(0, mark)).substr(0, 200));
    std::string_view number = key.substr(mark + 5);
    number = number.substr(0, std::min(number.find(')'), number.size()));
    const auto index = whole_count(number);
    if (!index) {
      sheet_.mistake({number, cell.span, cell.said}, "number of a GPU", "(GPU 0)");
      return nullptr;
    }
    // The map outlives a report, so an old place may lie beyond the list of the current one.
    const auto [place, is_new] = gpu_places_.emplace(std::pair(job_, std::pair(node, *index)), gpus_.size());
    if (is_new || place->second >= gpus_.size()) {
      place->second = gpus_.size();
      gpus_.push_back({node, *index, {}, {}, {}});
      if (gpu_line_ == 0) gpu_line_ = cell.span.line;
    }
    return &gpus_[place->second];
  }

  /// Reads the mean of all GPUs from "GPU utilization  [|||||   68%]". It counts where the list below is
  /// missing.
  void take_meter(const LogLine& line) {
    if (!is_open_) return;
    const std::size_t end = line.text.rfind('%'), blank = line.text.find_last_of(" |", end);
    if (end == std::string::npos || blank == std::string::npos) return;
    const std::string_view number = std::string_view(line.text).substr(blank + 1, end - blank - 1);
    sheet_.share(jobs_[job_].gpu_utilization,
                 {number, {line.number, static_cast<int>(blank) + 2, 1}, "GPU utilization"});
  }

  JobSheet& sheet_;
  std::vector<FinishedJob>& jobs_;
  std::size_t job_ = 0;
  bool is_open_ = false, in_notes_ = false;
  Listing listing_ = Listing::none;
  Known<double> used_, given_, cpu_;
  std::vector<MeasuredGpu> gpus_;
  /// Places in gpus_ by job, node and index.
  std::map<std::pair<std::size_t, std::pair<std::string, int>>, std::size_t> gpu_places_;
  /// Line of the first listed GPU; 0 before it.
  int gpu_line_ = 0;
};

}  // namespace

// The second test accepts reports whose title line was left out when they were pasted.
bool is_jobstats(std::string_view text) {
  return holds(text, "Slurm Job Statistics") ||
         (holds(text, "Job ID:") && holds(text, "Overall Utilization"));
}

void read_jobstats(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs) {
  JobSheet sheet(source, diagnostics, jobs);
  JobstatsReader reader(sheet, jobs);
  LogLines lines(source.text);
  for (LogLine line; lines.next(line);) {
    if (!reader.read(line)) return;
  }
  reader.finish();
}

}  // namespace foretrain
