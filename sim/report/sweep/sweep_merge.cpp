// Shards are copied table by table into a new file, which takes its name when it is whole and on the disk.
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "sim/base/printable.hpp"
#include "sim/report/sweep/sweep_database.hpp"

namespace foretrain {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPart = ".part-";

/// What merges that were killed have left beside `path`: their number is no process now.
void remove_left_parts(const std::string& path) {
  std::error_code none;
  const fs::path target(path);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const std::string start = target.filename().string() + std::string(kPart);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(start)) continue;
    const pid_t process = static_cast<pid_t>(std::atoi(name.c_str() + start.size()));
    if (process > 0 && ::kill(process, 0) != 0 && errno == ESRCH) fs::remove(entry.path(), none);
  }
}

/// A log beside what will be replaced would be read into the new file: it goes into the old one first.
void settle(const std::string& path) {
  std::error_code none;
  if (!fs::exists(path, none)) {
    fs::remove(path + "-wal", none), fs::remove(path + "-shm", none);
    return;
  }
  if (fs::file_size(path, none) == 0) return;
  SqlFile file(path, SqlAccess::write);
  read_sweep_head(file);
  SqlStatement mode = file.prepare("PRAGMA journal_mode = DELETE");
  mode.step();
}

void to_disk(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool is_there = file >= 0 && ::fsync(file) == 0;
  if (file >= 0) ::close(file);
  if (!is_there)
    throw WorldError(
        fmt::format("cannot write {}: {}", shortened(path), std::generic_category().message(errno)));
}

/// Under another name until it is whole; gone when it never is.
class PartDatabase {
 public:
  explicit PartDatabase(const std::string& path)
      : path_(path), part_(fmt::format("{}{}{}", path, kPart, ::getpid())) {
    std::error_code none;
    fs::remove(part_, none);
  }
  ~PartDatabase() {
    std::error_code none;
    if (!is_named_) fs::remove(part_, none);
  }
  PartDatabase(const PartDatabase&) = delete;
  PartDatabase& operator=(const PartDatabase&) = delete;

  const std::string& name() const { return part_; }
  void take_name() {
    to_disk(part_);
    settle(path_);
    std::error_code problem;
    fs::rename(part_, path_, problem);
    if (problem) throw WorldError(fmt::format("cannot write {}: {}", shortened(path_), problem.message()));
    is_named_ = true;
    const std::string folder = fs::path(path_).parent_path().string();
    to_disk(folder.empty() ? "." : folder);
  }

 private:
  std::string path_, part_;
  bool is_named_ = false;
};

void attach(SqlFile& into, const std::string& source) {
  SqlStatement statement = into.prepare("ATTACH ?1 AS source");
  statement.bind(0, std::string_view(source));
  statement.step();
}

/// A damaged file is named before anything of it is taken.
SweepHead checked_head(const std::string& source) {
  SqlFile file(source, SqlAccess::read);
  SweepHead head = read_sweep_head(file);
  SqlStatement check = file.prepare("PRAGMA quick_check(1)");
  if (!check.step() || check.text(0) != "ok")
    throw InputError(fmt::format("{} is damaged: {}", shortened(source), printable(shortened(check.text(0)))),
                     "leave it out and run its shard again");
  return head;
}

void refuse_unlike(const std::string& source, const SweepHead& head, const std::string& first,
                   const SweepHead& wanted) {
  if (head.identity() != wanted.identity())
    throw InputError(fmt::format("{} is of another sweep than {}", shortened(source), shortened(first)));
  if (head.version != wanted.version)
    throw InputError(fmt::format("{} is of foretrain {}, {} of {}", shortened(source),
                                 printable(head.version), shortened(first), printable(wanted.version)),
                     "run one of them again");
}

/// Rows that are there already must say the same.
void copy_rows(SqlFile& into, const std::string& source, const std::string& columns, MergeCounts& counts) {
  const std::int64_t differs = into.integer_of(
      "SELECT count(*) FROM source.cases AS s JOIN main.cases AS m USING (number) WHERE s.hash <> m.hash OR "
      "s.step_s IS NOT m.step_s OR s.message IS NOT m.message");
  if (differs > 0)
    throw InputError(
        fmt::format("{} has {} cases that another file answers differently", shortened(source), differs),
        "they were not made by the same program");
  const std::int64_t before = into.integer_of("SELECT count(*) FROM main.cases");
  into.run(fmt::format("INSERT OR IGNORE INTO main.cases ({0}) SELECT {0} FROM source.cases ORDER BY number",
                       columns));
  const std::int64_t after = into.integer_of("SELECT count(*) FROM main.cases");
  counts.repeated += into.integer_of("SELECT count(*) FROM source.cases") - (after - before);
  counts.rows = after;
}

void fill(const std::string& part, const std::vector<std::string>& sources, SweepHead head,
          MergeCounts& counts) {
  const Sweep sweep = kept_sweep(head);
  const SweepCases cases(sweep, head.strategy, {head.name, head.text});
  head.shard = {};
  SqlFile into(part, SqlAccess::create);
  into.run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE");
  create_sweep_tables(into, head, cases);
  const std::string columns = fmt::format("{}", fmt::join(case_columns(cases), ", "));
  for (const std::string& source : sources) {
    attach(into, source);
    into.run("BEGIN");
    copy_rows(into, source, columns, counts);
    into.run("COMMIT; DETACH source");
  }
}

}  // namespace

MergeCounts merge_sweeps(const std::vector<std::string>& sources, const std::string& path) {
  std::error_code none;
  if (fs::exists(path, none) && fs::file_size(path, none) > 0) {
    SqlFile there(path, SqlAccess::read);
    read_sweep_head(there);
  }
  std::vector<SweepHead> heads;
  for (const std::string& source : sources) {
    heads.push_back(checked_head(source));
    refuse_unlike(source, heads.back(), sources.front(), heads.front());
  }
  remove_left_parts(path);
  PartDatabase part(path);
  MergeCounts counts;
  fill(part.name(), sources, heads.front(), counts);
  part.take_name();
  return counts;
}

}  // namespace foretrain
