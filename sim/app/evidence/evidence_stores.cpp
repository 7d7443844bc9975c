// A store is one file. Writers lock a file beside it, read, and replace it; readers see the old or the new
// one.
#include "sim/app/evidence/evidence_stores.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/whole_file.hpp"
#include "sim/scenario/csv/evidence_rows.hpp"
#include "sim/scenario/evidence_files.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace fs = std::filesystem;

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Held until it goes.
class StoreLock {
 public:
  explicit StoreLock(const std::string& store)
      : file_(store + ".lock"), descriptor_(::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (descriptor_ < 0) fail();
    while (::flock(descriptor_, LOCK_EX) != 0)
      if (errno != EINTR) fail();
  }
  ~StoreLock() { ::close(descriptor_); }
  StoreLock(const StoreLock&) = delete;
  StoreLock& operator=(const StoreLock&) = delete;

 private:
  [[noreturn]] void fail() const {
    throw WorldError(fmt::format("{}: cannot be locked: {}", printable(file_), std::strerror(errno)));
  }
  std::string file_;
  int descriptor_;
};

/// Appends its rows; whether its last one is incomplete.
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

/// Appends the rows of a store that this version predicted.
void take_store(const std::string& file, EvidenceOf wanted, EvidenceTable& table,
                std::vector<std::string>& warnings) {
  const std::size_t before = table.size();
  bool torn = false;
  try {
    torn = read_into(table, file, wanted);
  } catch (...) {
    table.cut(before);
    throw;
  }
  const TextId current = table.find(FORETRAIN_VERSION);
  const std::size_t others = table.erase_if(
      before, [current](const StoredRow& row) { return row.text(RowText::version) != current; });
  if (others > 0)
    warnings.push_back(fmt::format("{}: {} that another version predicted, left out; add their files again",
                                   printable(file), counted(static_cast<int>(others), "row")));
  if (torn) warnings.push_back(fmt::format("{}: its last row is incomplete and left out", printable(file)));
}

bool is_before(const Observation& a, const Observation& b) {
  return a.run != b.run ? a.run < b.run : comes_before(a, b);
}

bool is_repeated(const Observation& a, const Observation& b) {
  constexpr double kDigits = 1e-6;  // the store keeps nine
  return a.run == b.run && is_same_run(a, b) && std::abs(a.measured / b.measured - 1) < kDigits;
}

/// What was read again takes the place of what is there: the model may have changed since.
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

}  // namespace

std::string personal_store() {
  const std::string data = variable("XDG_DATA_HOME"), home = variable("HOME");
  if (!data.empty() && fs::path(data).is_absolute()) return data + "/foretrain/evidence.csv";
  return home.empty() ? "" : home + "/.local/share/foretrain/evidence.csv";
}

std::string site_store() { return variable("FORETRAIN_EVIDENCE"); }

std::vector<Observation> read_store(const std::string& file) {
  EvidenceTable table;
  read_into(table, file, EvidenceOf::everything);
  return table.observations();
}

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
    } catch (const WorldError& error) {
      out.warnings.push_back(fmt::format("evidence left out: {}", error.what()));
    }
  }
  return out;
}

void change_store(const std::string& file,
                  const std::function<std::vector<Observation>(std::vector<Observation>)>& change) {
  if (file.empty())
    throw InputError("there is no place for a store of your own: neither HOME nor XDG_DATA_HOME is set",
                     "name a file with --store");
  std::error_code problem;
  const fs::path folder = fs::path(file).parent_path();
  if (!folder.empty()) fs::create_directories(folder, problem);
  if (problem) throw WorldError(fmt::format("{}: {}", printable(folder.string()), problem.message()));
  const StoreLock lock(file);
  const std::vector<Observation> rows = change(exists(file) ? read_store(file) : std::vector<Observation>{});
  std::string text = evidence_heading();
  for (const Observation& row : rows) text += evidence_line(row);
  if (rows.size() > kMostObservations || text.size() > kLargestEvidence)
    throw InputError(fmt::format("{} would have {}, more than can be read again", printable(file),
                                 counted(static_cast<int>(rows.size()), "row")),
                     fmt::format("at most {} rows and {} bytes; `foretrain evidence remove` takes some out",
                                 kMostObservations, kLargestEvidence));
  write_whole_file(file, text);
}

void add_to_store(const std::string& file, const std::vector<Observation>& rows) {
  change_store(file, [&](std::vector<Observation> known) { return overlaid(std::move(known), rows); });
}

void add_job_to_store(const std::string& file, const Observation& row) {
  change_store(file, [&](std::vector<Observation> known) {
    std::erase_if(known, [&](const Observation& old) {
      return old.run == row.run && old.cluster == row.cluster && old.source == row.source;
    });
    known.push_back(row);
    return known;
  });
}

}  // namespace foretrain
