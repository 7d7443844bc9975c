// Merges databases of shards. Rows are copied into a new file in a folder of its own, which is renamed when
// it is whole and on the disk. Only files that this call wrote are deleted or replaced, with one exception:
// an older result all of whose rows are in the new one.
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

// Endings of the files that SQLite keeps beside a database.
constexpr std::array<std::string_view, 3> kLogs{"-wal", "-shm", "-journal"};

/// Returns true when anything has this name, even a broken link.
bool is_there(const std::string& path) {
  std::error_code none;
  return fs::exists(fs::symlink_status(path, none));
}

/// Returns true when both names mean the same file, existing or not.
bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code none;
  if (fs::equivalent(a, b, none)) return true;
  return fs::weakly_canonical(fs::absolute(a), none) == fs::weakly_canonical(fs::absolute(b), none);
}

/// Throws InputError when `log` has the name of a log of `database`: SQLite would use and delete it.
void refuse_source_as_log(const std::string& log, const std::string& database) {
  for (const std::string_view end : kLogs) {
    if (is_same_file(log, database + std::string(end)))
      throw InputError(fmt::format("{} is a source and has the name of a log of {}, which would overwrite it",
                                   shortened(log), shortened(database)),
                       "rename the source, or write to another file with -o");
  }
}

/// Throws InputError when the merge would overwrite a source or use a foreign log. Nothing is open for
/// writing yet.
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

/// Writes the log of the file that will be replaced into that file. Otherwise SQLite would read the log into
/// the new file.
void settle(const std::string& path) {
  std::error_code none;
  if (fs::file_size(path, none) == 0 || none) return;
  SqlFile file(path, SqlAccess::write);
  read_sweep_head(file);
  SqlStatement mode = file.prepare("PRAGMA journal_mode = DELETE");
  mode.step();
}

/// Waits until the file or folder is on the disk.
void to_disk(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool is_on_disk = file >= 0 && ::fsync(file) == 0;
  if (file >= 0) ::close(file);
  if (!is_on_disk)
    throw EnvironmentError(
        fmt::format("cannot write {}: {}", shortened(path), std::generic_category().message(errno)));
}

/// Returns the name of this machine, in characters that every file system accepts.
std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name.front() == '\0') return "host";
  std::string out = name.data();
  for (char& c : out)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-') c = '-';
  return out;
}

/// Renames a file. Unless `replaces`, fails when there is a file at `to`, which may have appeared meanwhile.
/// errno has the cause.
bool is_renamed(const std::string& from, const std::string& to, bool replaces) {
#ifdef RENAME_NOREPLACE
  const unsigned how = replaces ? 0 : RENAME_NOREPLACE;
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), how) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;  // network file systems know no flags
#endif
  errno = EEXIST;
  return (replaces || !is_there(to)) && ::rename(from.c_str(), to.c_str()) == 0;
}

// A new database in the folder OUT.parts. Its name has host and process, so that merges do not collide. It is
// deleted unless it was completed.
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
  /// Returns the number of other files in the folder, from merges that did not end or are still running.
  std::int64_t others() const {
    std::error_code none;
    std::int64_t count = 0;
    for (fs::directory_iterator at(folder_, none), end; !none && at != end; at.increment(none))
      count += at->path().filename() == fs::path(part_).filename() ? 0 : 1;
    return count;
  }
  /// Gives the database its final name. Both the file and the folder's entry are on the disk afterwards.
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
  /// Creates the file. This is repeated when the folder disappears meanwhile because another merge has ended.
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

/// Opens a source beside the new database, under the name `source`.
void attach(SqlFile& into, const std::string& source) {
  SqlStatement statement = into.prepare("ATTACH ?1 AS source");
  statement.bind(0, std::string_view(source));
  statement.step();
}

/// Returns the head of a source after a check, so that a damaged file is reported before its rows are taken.
SweepHead checked_head(const std::string& source) {
  SqlFile file(source, SqlAccess::read);
  SweepHead head = read_sweep_head(file);
  SqlStatement check = file.prepare("PRAGMA quick_check(1)");
  if (!check.step() || check.text(0) != "ok")
    throw InputError(fmt::format("{} is damaged: {}", shortened(source), printable(shortened(check.text(0)))),
                     "leave it out and run its shard again");
  return head;
}

/// Throws InputError when two sources differ in sweep or version.
void refuse_unlike(const std::string& source, const SweepHead& head, const std::string& first,
                   const SweepHead& wanted) {
  if (head.identity() != wanted.identity())
    throw InputError(fmt::format("{} is of another sweep than {}", shortened(source), shortened(first)));
  if (head.version != wanted.version)
    throw InputError(fmt::format("{} is of foretrain {}, {} of {}", shortened(source),
                                 printable(head.version), shortened(first), printable(wanted.version)),
                     "run one of them again");
}

/// Copies the rows of a source. A row that is there already must be equal, except for a case that ended its
/// worker in one file: it may have figures in another file, whose worker had more memory, and these are kept.
void copy_rows(SqlFile& into, const std::string& source, const std::string& columns, MergeCounts& counts) {
  // Two answers to a case differ when their hashes do, or when step or message do and the case ended its
  // worker in neither file.
  const std::int64_t differs = into.integer_of(
      "SELECT count(*) FROM source.cases AS s JOIN main.cases AS m USING (number) WHERE s.hash <> m.hash OR "
      "(s.step_s IS NOT m.step_s OR s.message IS NOT m.message) AND NOT " +
      is_ended_case("s") + " AND NOT " + is_ended_case("m"));
  if (differs > 0)
    throw InputError(fmt::format("{} has {} that another file answers differently", shortened(source),
                                 counted(differs, "case")),
                     "they were not made by the same program");
  // Cases that ended their worker make room for the same cases with figures.
  into.run(
      fmt::format("DELETE FROM main.cases AS m WHERE {} AND EXISTS (SELECT 1 FROM source.cases AS s WHERE "
                  "s.number = m.number AND NOT {})",
                  is_ended_case("m"), is_ended_case("s")));
  const std::int64_t kept = into.integer_of("SELECT count(*) FROM main.cases");
  into.run(fmt::format("INSERT OR IGNORE INTO main.cases ({0}) SELECT {0} FROM source.cases ORDER BY number",
                       columns));
  const std::int64_t after = into.integer_of("SELECT count(*) FROM main.cases");
  // Rows that were there already are ignored by the INSERT; they count as repeated.
  counts.repeated += into.integer_of("SELECT count(*) FROM source.cases") - (after - kept);
  counts.rows = after;
}

/// Fills the new database from all sources.
void fill(const std::string& part, const std::vector<std::string>& sources, SweepHead head, bool (*stops)(),
          MergeCounts& counts) {
  const Sweep sweep = kept_sweep(head);
  const SweepCases cases(sweep, head.strategy, {head.name, head.text});
  // The result is no shard, since it may hold cases of all of them.
  head.shard = {};
  SqlFile into(part, SqlAccess::create);
  into.stop_when(stops);
  // A journal on disk would remain if the merge were killed. In defensive mode SQLite needs one at least in
  // memory.
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

/// Throws InputError when the file at `path` has rows that the new database lacks.
void refuse_losing(const std::string& path, const std::string& part) {
  // The comparison runs in the new file, so that the old one is only read.
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

/// Returns true when there is a result of this sweep at `path`, and false when there is nothing. Throws
/// InputError for any other file.
bool has_result(const std::string& path, const SweepHead& wanted) {
  std::error_code none;
  // An empty file counts as no result.
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

// The checks come first; then the new file is filled, and named as the last action.
MergeCounts merge_sweeps(const std::vector<std::string>& sources, const std::string& output,
                         bool (*stops)()) {
  const std::string path = behind_links(output);
  refuse_overwriting(sources, path);
  std::vector<SweepHead> heads;
  for (const std::string& source : sources) {
    heads.push_back(checked_head(source));
    refuse_unlike(source, heads.back(), sources.front(), heads.front());
  }
  // An empty file is no result, but renaming must replace it all the same.
  const bool was_there = is_there(path);
  const bool replaces = has_result(path, heads.front());
  PartDatabase part(path);
  MergeCounts counts;
  try {
    fill(part.name(), sources, heads.front(), stops, counts);
  } catch (const InputError&) {
    // SQLite reports an interruption like any other error; the signal tells that it was one.
    if (stops()) throw Interrupted(fmt::format("interrupted: {} is as it was", shortened(path)));
    throw;
  }
  if (replaces) refuse_losing(path, part.name());
  counts.others = part.others();
  part.take_name(was_there);
  return counts;
}

}  // namespace foretrain
