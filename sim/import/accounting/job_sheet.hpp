// The jobs of one file while it is read: found by their id, filled cell by cell, with a mistake for each cell
// that is not what its column says.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/import/accounting/finished_job.hpp"
#include "sim/import/logs/json_value.hpp"

namespace foretrain {

/// A piece of text and where it stands; line 0: in JSON.
struct JobCell {
  std::string_view text;
  SourceSpan span{};
  std::string_view said;  ///< column or key
};

/// Collects finished jobs from an accounting file, field by field, and reports values that cannot be read.
class JobSheet {
 public:
  JobSheet(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs);

  /// The job of that id, which is added when it is new; nullptr when there are too many, which is reported
  /// once. An empty id is always a new job.
  FinishedJob* job(std::string_view id, int line);

  void seconds(Known<double>& field, const JobCell& cell);  ///< a duration
  void limit(Known<double>& field, const JobCell& cell);    ///< a duration, or UNLIMITED
  void bytes(Known<double>& field, const JobCell& cell, double bare = 1);
  void share(Known<double>& field, const JobCell& cell);
  void count(Known<int>& field, const JobCell& cell);
  void text(Known<std::string>& field, const JobCell& cell);
  void state(FinishedJob& job, const JobCell& cell);
  /// "0:9": exit code and signal.
  void exit_code(FinishedJob& job, const JobCell& cell);
  /// cpu=…,mem=…,gres/gpu=…: CPUs, nodes, memory and GPUs of the job.
  void resources(FinishedJob& job, const JobCell& cell);
  /// JS1:… of jobstats, and nothing of other comments.
  void admin_comment(FinishedJob& job, const JobCell& cell);

  /// The first that says it counts.
  template <class T>
  void put(Known<T>& field, T value, const JobCell& cell) {
    if (!field) field = Figure<T>{std::move(value), place_of(cell)};
  }
  FigurePlace place_of(const JobCell& cell) const;
  void mistake(const JobCell& cell, std::string_view what, std::string_view example);

 private:
  const SourceText& source_;
  Diagnostics& diagnostics_;
  std::vector<FinishedJob>& jobs_;
  std::map<std::string, std::size_t, std::less<>> places_;
  bool told_ = false;
};

/// Whether a cell says that there is nothing: empty, Unknown, None, N/A, (null), INVALID.
bool says_nothing(std::string_view text);

/// JSON of at most so many levels; null for what is no JSON, or nested deeper.
LogJson shallow_json(std::string_view text, int deepest);
/// A number that is finite and not negative, as such or as {"set": true, "number": 60}.
std::optional<double> amount_of(const LogJson& value);
std::string string_of(const LogJson& value);

/// What jobstats keeps of a job: CPUs, memory and GPUs of each node. `payload` is JSON.
void read_summary(JobSheet& sheet, FinishedJob& job, const LogJson& summary, const JobCell& cell);

/// Bytes of base64, with or without its padding; nothing where another sign is in it or it is cut.
std::optional<std::string> decoded_base64(std::string_view text);
}  // namespace foretrain
