// Shards are copied table by table into a new file of a folder of its own, which takes its name when it is
// whole and on the disk. Nothing is deleted or replaced that this call did not write, but an older result of
// which every row is in the new one.
#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/counted.hpp"
#include "sim/base/interrupted.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/whole_file.hpp"
#include "sim/report/sweep/sweep_database.hpp"

namespace foretrain {

namespace fs = std::filesystem;

namespace {

/// What SQLite calls the files that it keeps beside a database.
constexpr std::array<std::string_view, 3> kLogs{"-wal", "-shm", "-journal"};

bool is_there(const std::string& path) {
  std::error_code none;
  return fs::exists(fs::symlink_status(path, none));
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code none;
  if (fs::equivalent(a, b, none)) return true;
  return fs::weakly_canonical(fs::absolute(a), none) == fs::weakly_canonical(fs::absolute(b), none);
}

/// SQLite would take `log` for a part of `database`, and delete it.
void refuse_source_as_log(const std::string& log, const std::string& database) {
  for (const std::string_view end : kLogs) {
    if (is_same_file(log, database + std::string(end)))
      throw InputError(fmt::format("{} is a source and has the name of a log of {}, which would overwrite it",
                                   shortened(log), shortened(database)),
                       "rename the source, or write to another file with -o");
  }
}

/// Before anything is opened for writing.
void refuse_overwriting(const std::vector<std::string>& sources, const std::string& path) {
  for (const std::string& source : sources) {
    if (is_same_file(source, path))
      throw InputError(fmt::format("{} is a source and would be overwritten", shortened(source)),
                       "write to another file with -o");
    refuse_source_as_log(source, path);
    for (const std::string& other : sources)
      if (other != source) refuse_source_as_log(source, other);
  }
  if (is_there(path)) return;
  for (const std::string_view end : kLogs) {
    if (is_there(path + std::string(end)))
      throw InputError(
          fmt::format("{0}{1} is there without {0}, and SQLite would take it for the new file's log",
                      shortened(path), end),
          "move it away, or write to another file with -o");
  }
}

/// A log beside what will be replaced would be read into the new file: it goes into the old one first.
void settle(const std::string& path) {
  std::error_code none;
  if (fs::file_size(path, none) == 0 || none) return;
  SqlFile file(path, SqlAccess::write);
  read_sweep_head(file);
  SqlStatement mode = file.prepare("PRAGMA journal_mode = DELETE");
  mode.step();
}

void to_disk(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool is_on_disk = file >= 0 && ::fsync(file) == 0;
  if (file >= 0) ::close(file);
  if (!is_on_disk)
    throw EnvironmentError(
        fmt::format("cannot write {}: {}", shortened(path), std::generic_category().message(errno)));
}

/// Of this machine, in letters that every file system takes.
std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name.front() == '\0') return "host";
  std::string out = name.data();
  for (char& c : out)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-') c = '-';
  return out;
}

/// Without `replaces` fails when there is a file at `to`, which may have come meanwhile. errno says why.
bool is_renamed(const std::string& from, const std::string& to, bool replaces) {
#ifdef RENAME_NOREPLACE
  const unsigned how = replaces ? 0 : RENAME_NOREPLACE;
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), how) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;  // network file systems know no flags
#endif
  errno = EEXIST;
  return (replaces || !is_there(to)) && ::rename(from.c_str(), to.c_str()) == 0;
}

/// A new file in the folder OUT.parts, named by host and process, until it is whole; gone when it never is.
class PartDatabase {
 public:
  explicit PartDatabase(const std::string& path) : path_(path), folder_(path + ".parts") { create(); }
  ~PartDatabase() {
    std::error_code none;
    if (!is_named_) fs::remove(part_, none);
    if (made_folder_) ::rmdir(folder_.c_str());  // refuses while another part is in it
  }
  PartDatabase(const PartDatabase&) = delete;
  PartDatabase& operator=(const PartDatabase&) = delete;

  const std::string& name() const { return part_; }
  /// Other files of the folder, which merges that did not end have left, or that are at work.
  std::int64_t others() const {
    std::error_code none;
    std::int64_t count = 0;
    for (fs::directory_iterator at(folder_, none), end; !none && at != end; at.increment(none))
      count += at->path().filename() == fs::path(part_).filename() ? 0 : 1;
    return count;
  }
  void take_name(bool replaces) {
    to_disk(part_);
    if (replaces) settle(path_);
    if (!is_renamed(part_, path_, replaces))
      throw EnvironmentError(
          fmt::format("cannot write {}: {}", shortened(path_), std::generic_category().message(errno)));
    is_named_ = true;
    const std::string folder = fs::path(path_).parent_path().string();
    to_disk(folder.empty() ? "." : folder);
  }

 private:
  /// Again where the folder went away in between, as another merge may have ended.
  void create() {
    constexpr int kMostTries = 100;
    int problem = EEXIST;
    for (int i = 0; i < kMostTries && (problem == EEXIST || problem == ENOENT); ++i) {
      made_folder_ = ::mkdir(folder_.c_str(), 0777) == 0 || made_folder_;
      part_ = fmt::format("{}/{}-{}-{}.sqlite", folder_, host_name(), ::getpid(), i);
      const bool has_log = std::ranges::any_of(
          kLogs, [&](std::string_view end) { return is_there(part_ + std::string(end)); });
      const int file = has_log ? -1 : ::open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      problem = has_log ? EEXIST : errno;
      if (file < 0) continue;
      ::close(file);
      return;
    }
    const std::string why = std::generic_category().message(problem);
    if (made_folder_) ::rmdir(folder_.c_str());
    throw EnvironmentError(
        fmt::format("cannot write into {}, the folder of unfinished merges: {}", shortened(folder_), why));
  }

  std::string path_, folder_, part_;
  bool made_folder_ = false, is_named_ = false;
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

/// Rows that are there already must say the same. A case that ended its worker in one file may have figures
/// in another one, where a worker had more memory; then it has these.
void copy_rows(SqlFile& into, const std::string& source, const std::string& columns, MergeCounts& counts) {
  const std::int64_t differs = into.integer_of(
      "SELECT count(*) FROM source.cases AS s JOIN main.cases AS m USING (number) WHERE s.hash <> m.hash OR "
      "(s.step_s IS NOT m.step_s OR s.message IS NOT m.message) AND NOT " +
      is_ended_case("s") + " AND NOT " + is_ended_case("m"));
  if (differs > 0)
    throw InputError(fmt::format("{} has {} that another file answers differently", shortened(source),
                                 counted(differs, "case")),
                     "they were not made by the same program");
  into.run(
      fmt::format("DELETE FROM main.cases AS m WHERE {} AND EXISTS (SELECT 1 FROM source.cases AS s WHERE "
                  "s.number = m.number AND NOT {})",
                  is_ended_case("m"), is_ended_case("s")));
  const std::int64_t kept = into.integer_of("SELECT count(*) FROM main.cases");
  into.run(fmt::format("INSERT OR IGNORE INTO main.cases ({0}) SELECT {0} FROM source.cases ORDER BY number",
                       columns));
  const std::int64_t after = into.integer_of("SELECT count(*) FROM main.cases");
  counts.repeated += into.integer_of("SELECT count(*) FROM source.cases") - (after - kept);
  counts.rows = after;
}

void fill(const std::string& part, const std::vector<std::string>& sources, SweepHead head, bool (*stops)(),
          MergeCounts& counts) {
  const Sweep sweep = kept_sweep(head);
  const SweepCases cases(sweep, head.strategy, {head.name, head.text});
  head.shard = {};
  SqlFile into(part, SqlAccess::create);
  into.stop_when(stops);
  // A journal on the disk would stay beside the part when the merge is killed; files that are open in
  // defensive mode have one at least in memory.
  into.run("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE");
  create_sweep_tables(into, head, cases);
  const std::string columns = fmt::format("{}", fmt::join(case_columns(cases), ", "));
  for (const std::string& source : sources) {
    attach(into, source);
    into.run("BEGIN");
    copy_rows(into, source, columns, counts);
    into.run("COMMIT; DETACH source");
  }
}

/// What is at `path` is replaced only when nothing of it is lost.
void refuse_losing(const std::string& path, const std::string& part) {
  SqlFile into(part, SqlAccess::write);
  attach(into, path);
  const std::int64_t lost = into.integer_of(
      "SELECT count(*) FROM source.cases AS s LEFT JOIN main.cases AS m USING (number) WHERE m.number IS "
      "NULL OR "
      "s.hash <> m.hash OR (s.step_s IS NOT m.step_s OR s.message IS NOT m.message) AND NOT " +
      is_ended_case("s"));
  into.run("DETACH source");
  if (lost > 0)
    throw InputError(fmt::format("{} holds {} that no source has, and they would be lost", shortened(path),
                                 counted(lost, "case")),
                     "name it as a source too, and write to another file with -o");
}

/// Whether there is a result of this sweep at `path`; any other file is refused.
bool has_result(const std::string& path, const SweepHead& wanted) {
  std::error_code none;
  if (!is_there(path) || (fs::is_regular_file(path, none) && fs::file_size(path, none) == 0)) return false;
  SqlFile there(path, SqlAccess::read);
  const SweepHead head = read_sweep_head(there);
  if (head.identity() != wanted.identity() || head.version != wanted.version)
    throw InputError(
        fmt::format("{} holds another sweep, or one of another foretrain, and would be overwritten",
                    shortened(path)),
        "write to another file with -o");
  return true;
}

}  // namespace

MergeCounts merge_sweeps(const std::vector<std::string>& sources, const std::string& output,
                         bool (*stops)()) {
  const std::string path = behind_links(output);
  refuse_overwriting(sources, path);
  std::vector<SweepHead> heads;
  for (const std::string& source : sources) {
    heads.push_back(checked_head(source));
    refuse_unlike(source, heads.back(), sources.front(), heads.front());
  }
  const bool was_there = is_there(path);
  const bool replaces = has_result(path, heads.front());
  PartDatabase part(path);
  MergeCounts counts;
  try {
    fill(part.name(), sources, heads.front(), stops, counts);
  } catch (const InputError&) {
    if (stops()) throw Interrupted(fmt::format("interrupted: {} is as it was", shortened(path)));
    throw;
  }
  if (replaces) refuse_losing(path, part.name());
  counts.others = part.others();
  part.take_name(was_there);
  return counts;
}

}  // namespace foretrain
