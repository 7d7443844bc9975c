// Reads and changes stores of evidence. A store is one CSV file. A writer locks a file beside it
// (STORE.lock), reads the store and replaces it as a whole, so that a reader sees either the old or the new
// file. Removed rows are kept in STORE.removed, which holds one whole store after the other, the latest
// removal last.
#include "sim/app/evidence/evidence_stores.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "sim/app/evidence/predicted_again.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/whole_file.hpp"
#include "sim/scenario/csv/evidence_rows.hpp"
#include "sim/scenario/evidence_files.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace fs = std::filesystem;

namespace {

/// Returns an environment variable; empty when it is not set.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Exclusive lock of a store, held until the object is destroyed. The constructor waits while another process
/// holds it, and throws EnvironmentError when the lock file cannot be opened.
class StoreLock {
 public:
  explicit StoreLock(const std::string& store)
      : file_(store + ".lock"), descriptor_(::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (descriptor_ < 0) fail();
    // A signal may interrupt the wait; then it is resumed.
    while (::flock(descriptor_, LOCK_EX) != 0)
      if (errno != EINTR) fail();
  }
  ~StoreLock() { ::close(descriptor_); }
  StoreLock(const StoreLock&) = delete;
  StoreLock& operator=(const StoreLock&) = delete;

 private:
  [[noreturn]] void fail() const {
    throw EnvironmentError(fmt::format("{}: cannot be locked: {}", printable(file_), std::strerror(errno)));
  }
  std::string file_;
  int descriptor_;
};

/// Appends the rows of `file` to `table`. Returns true when the last row is incomplete, as after a crash.
bool read_into(EvidenceTable& table, const std::string& file, EvidenceOf wanted) {
  return read_or_throw(read_text_file(file, kLargestEvidence),
                       [&](const SourceText& source, Diagnostics& diagnostics) {
                         return read_evidence(source, diagnostics, table, wanted);
                       });
}

bool exists(const std::string& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

/// Removes from `table` those rows from index `first` on that another version of foretrain predicted, and
/// returns them.
std::vector<Observation> taken_stale(EvidenceTable& table, std::size_t first) {
  const TextId current = table.find(FORETRAIN_VERSION);
  std::vector<Observation> stale;
  table.erase_if(first, [&](const StoredRow& row) {
    const bool is_stale = row.text(RowText::version) != current;
    if (is_stale) stale.push_back(table.observation(row));
    return is_stale;
  });
  return stale;
}

/// Predicts rows of another version again, as far as their store keeps the inputs for them. The others are
/// counted in a warning.
void add_again(const std::string& file, const std::vector<Observation>& stale, EvidenceTable& table,
               std::vector<std::string>& warnings) {
  const SourceText text = read_text_file(file, kLargestEvidence);
  const PredictedAgain again = predict_again(stale, read_inputs(text.text));
  for (const Observation& row : again.rows) table.add(row);
  for (const std::string& problem : again.problems)
    warnings.push_back(fmt::format("{}: left out: {}", printable(file), problem));
  const auto left = static_cast<int>(stale.size()) - static_cast<int>(again.rows.size());
  if (left > 0)
    warnings.push_back(fmt::format("{}: {} that another version predicted, left out; add their files again",
                                   printable(file), counted(left, "row")));
}

/// Appends the rows of a store as this version predicts them. When the store cannot be read, `table` is left
/// as it was.
void take_store(const std::string& file, EvidenceOf wanted, EvidenceTable& table,
                std::vector<std::string>& warnings) {
  const std::size_t before = table.size();
  try {
    const bool torn = read_into(table, file, wanted);
    if (const std::vector<Observation> stale = taken_stale(table, before); !stale.empty())
      add_again(file, stale, table, warnings);
    if (torn) warnings.push_back(fmt::format("{}: its last row is incomplete and left out", printable(file)));
  } catch (...) {
    table.cut(before);
    throw;
  }
}

/// Orders rows by run, then by the fields that identify a measurement.
bool is_before(const Observation& a, const Observation& b) {
  return a.run != b.run ? a.run < b.run : comes_before(a, b);
}

/// Returns true when two rows are the same measurement of the same run, predicted at different times.
bool is_repeated(const Observation& a, const Observation& b) {
  // Numbers in a store have nine significant digits, so equal values may differ by their rounding.
  constexpr double kDigits = 1e-6;
  return a.run == b.run && is_same_run(a, b) && std::abs(a.measured / b.measured - 1) < kDigits;
}

/// Returns `rows` with `more` added. A row of `more` replaces the same measurement in `rows`, as the model
/// may have changed since. Complexity: O((n + m) log m).
std::vector<Observation> overlaid(std::vector<Observation> rows, std::vector<Observation> more) {
  std::ranges::stable_sort(more, is_before);
  more.erase(std::unique(more.begin(), more.end(), is_repeated), more.end());
  const auto is_replaced = [&](const Observation& row) {
    const auto first = std::ranges::lower_bound(more, row.run, {}, &Observation::run);
    const auto last = std::ranges::upper_bound(more, row.run, {}, &Observation::run);
    return std::any_of(first, last, [&](const Observation& o) { return is_repeated(o, row); });
  };
  std::erase_if(rows, is_replaced);
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

/// Returns `inputs` with `more` added. The newer input of a measurement replaces the older one and comes
/// last.
std::vector<EvidenceInput> overlaid(std::vector<EvidenceInput> inputs,
                                    const std::vector<EvidenceInput>& more) {
  std::set<std::string> known;
  for (const EvidenceInput& input : more) known.insert(input.identity());
  std::erase_if(inputs, [&known](const EvidenceInput& input) { return known.contains(input.identity()); });
  std::set<std::string> added;
  for (const EvidenceInput& input : more)
    if (added.insert(input.identity()).second) inputs.push_back(input);
  return inputs;
}

/// Returns the text of a store. Inputs of runs that have no row left are dropped.
std::string text_of(const EvidenceStore& store) {
  std::set<std::string> runs;
  for (const Observation& row : store.rows) runs.insert(printable(row.run));
  std::string text = evidence_heading();
  for (const EvidenceInput& input : store.inputs)
    if (runs.contains(printable(input.run()))) text += input_line(input);
  for (const Observation& row : store.rows) text += evidence_line(row);
  return text;
}

/// Returns the file that keeps removed rows.
std::string file_of_removed(const std::string& store) { return store + ".removed"; }

/// Throws InputError when the file is there and is no store, before a lock file appears beside it. Only a
/// file that does not begin like a store is read whole, so that the message can name the line.
void refuse_what_is_no_store(const std::string& file) {
  std::error_code problem;
  if (fs::is_regular_file(file, problem)) {
    const std::string heading = evidence_heading();
    std::string begin(heading.size(), '\0');
    std::ifstream stream(file, std::ios::binary);
    if (stream.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == heading) return;
  }
  if (exists(file)) read_store(file);
}

/// Creates the folder of the store when needed, and returns the lock. Throws InputError when there is no file
/// to lock or it is no store, EnvironmentError when the folder cannot be made.
StoreLock locked(const std::string& file) {
  if (file.empty())
    throw InputError("there is no place for a store of your own: neither HOME nor XDG_DATA_HOME is set",
                     "name a file with --store");
  std::error_code problem;
  const fs::path folder = fs::path(file).parent_path();
  if (!folder.empty()) fs::create_directories(folder, problem);
  if (problem) throw EnvironmentError(fmt::format("{}: {}", printable(folder.string()), problem.message()));
  refuse_what_is_no_store(file);
  remove_left_parts(file);
  return StoreLock(file);
}

/// Returns the byte at which the last of several stores in one text begins.
std::size_t last_store(const std::string& text) {
  const std::string mark = "\n" + evidence_heading();
  const std::size_t at = text.rfind(mark);
  return at == std::string::npos ? 0 : at + 1;
}

/// Returns the rows and inputs of the text. Throws InputError with every mistake.
EvidenceStore read_store(const SourceText& text) {
  EvidenceTable table;
  read_or_throw(text, [&table](const SourceText& source, Diagnostics& diagnostics) {
    return read_evidence(source, diagnostics, table);
  });
  return {table.observations(), read_inputs(text.text)};
}

/// Replaces a locked store by what `change` makes of it. Throws InputError when the result would exceed the
/// limits of reading.
void rewrite(const std::string& file, const std::function<void(EvidenceStore& store)>& change) {
  EvidenceStore store = exists(file) ? read_store(read_text_file(file, kLargestEvidence)) : EvidenceStore{};
  change(store);
  const std::string text = text_of(store);
  if (store.rows.size() > kMostObservations || text.size() > kLargestEvidence)
    throw InputError(fmt::format("{} would have {}, more than can be read again", printable(file),
                                 counted(static_cast<int>(store.rows.size()), "row")),
                     fmt::format("at most {} rows and {} bytes; `foretrain evidence remove` takes some out",
                                 kMostObservations, kLargestEvidence));
  write_whole_file(file, text);
}

}  // namespace

// A relative XDG_DATA_HOME is ignored, as the XDG base directory specification demands.
std::string personal_store() {
  const std::string data = variable("XDG_DATA_HOME"), home = variable("HOME");
  if (!data.empty() && fs::path(data).is_absolute()) return data + "/foretrain/evidence.csv";
  return home.empty() ? "" : home + "/.local/share/foretrain/evidence.csv";
}

std::string named_store(const std::string& file) { return file.empty() ? personal_store() : file; }

std::string site_store() { return variable("FORETRAIN_EVIDENCE"); }

EvidenceStore read_store(const std::string& file) {
  return read_store(read_text_file(file, kLargestEvidence));
}

// Without a name, shipped, site and personal stores are read in this order, and a broken one is only a
// warning: it must not prevent a prediction that it would merely have corrected.
OpenedEvidence open_evidence(const std::string& asked, EvidenceOf wanted) {
  OpenedEvidence out;
  if (asked == "off") return out;
  if (!asked.empty()) {
    take_store(asked, wanted, out.field.table(), out.warnings);
    return out;
  }
  std::vector<std::string> files = shipped_evidence();
  if (!site_store().empty()) files.push_back(site_store());
  if (const std::string own = personal_store(); !own.empty() && exists(own)) files.push_back(own);
  for (const std::string& file : files) {
    try {
      take_store(file, wanted, out.field.table(), out.warnings);
    } catch (const InputError& error) {
      out.warnings.push_back(fmt::format("evidence left out: {}", error.first_message()));
    } catch (const EnvironmentError& error) {
      out.warnings.push_back(fmt::format("evidence left out: {}", error.what()));
    }
  }
  return out;
}

// Reading, changing and writing happen under one lock, so that no change of another process is lost.
void change_store(const std::string& file, const std::function<void(EvidenceStore& store)>& change) {
  const StoreLock lock = locked(file);
  rewrite(file, change);
}

void add_to_store(const std::string& file, const EvidenceStore& more) {
  change_store(file, [&](EvidenceStore& store) {
    store.rows = overlaid(std::move(store.rows), more.rows);
    store.inputs = overlaid(std::move(store.inputs), more.inputs);
  });
}

// A job stands in a store once, so a row with its id, cluster and source is replaced.
void add_job_to_store(const std::string& file, const Observation& row, const EvidenceInput& input) {
  change_store(file, [&](EvidenceStore& store) {
    std::erase_if(store.rows, [&](const Observation& old) {
      return old.run == row.run && old.cluster == row.cluster && old.source == row.source;
    });
    store.rows.push_back(row);
    store.inputs = overlaid(std::move(store.inputs), {input});
  });
}

// Removed rows are written to STORE.removed before the store without them. A program that is killed in
// between leaves them in both files and loses none.
std::vector<Observation> remove_from_store(const std::string& file,
                                           const std::function<void(const std::vector<Observation>&)>& choose,
                                           const std::function<bool(const Observation&)>& is_gone) {
  EvidenceStore removed;
  if (!file.empty() && !exists(file)) {
    // A missing store has no rows, and no lock file is created for it.
    choose({});
    return {};
  }
  change_store(file, [&](EvidenceStore& store) {
    choose(store.rows);
    std::copy_if(store.rows.begin(), store.rows.end(), std::back_inserter(removed.rows), is_gone);
    if (removed.rows.empty()) return;
    removed.inputs = store.inputs;
    std::erase_if(store.rows, is_gone);
    const std::string kept = file_of_removed(file);
    const std::string before = exists(kept) ? read_text_file(kept, kLargestEvidence).text : "";
    const std::string text = before + text_of(removed);
    if (text.size() > kLargestEvidence)
      throw InputError(fmt::format("{} would have more than {} bytes", printable(kept), kLargestEvidence),
                       "it holds what was removed before: move it away");
    write_whole_file(kept, text);
  });
  return removed.rows;
}

// Only the last store of STORE.removed is restored; the file is cut at its start afterwards. A process that
// is killed between the two restores the same rows once more, which changes nothing.
std::vector<Observation> restore_removed(const std::string& file) {
  const std::string kept = file_of_removed(file);
  if (file.empty() || !exists(kept))
    throw InputError(fmt::format("nothing was removed from {}", printable(file)));
  const StoreLock lock = locked(file);
  const SourceText text = read_text_file(kept, kLargestEvidence);
  const std::size_t begin = last_store(text.text);
  const EvidenceStore last = read_store(SourceText{text.name, text.text.substr(begin)});
  rewrite(file, [&last](EvidenceStore& store) {
    store.rows = overlaid(std::move(store.rows), last.rows);
    store.inputs = overlaid(std::move(store.inputs), last.inputs);
  });
  std::error_code none;
  if (begin == 0)
    fs::remove(kept, none);
  else
    write_whole_file(kept, text.text.substr(0, begin));
  return last.rows;
}

}  // namespace foretrain
