// The database of a sweep. It uses SQLite's write-ahead log with one writer and many rows in a transaction. A
// run that is killed loses what it did since the last commit, and nothing that was reported as done.
#include "sim/report/sweep/sweep_database.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

// "ftsw" as PRAGMA application_id, which distinguishes these files from other SQLite files.
constexpr std::int64_t kApplication = 0x66747377;
// Version of the tables below.
constexpr std::int64_t kFormat = 1;

// Table of keys and values that describe the sweep.
constexpr std::string_view kHeadTable = "CREATE TABLE sweep (key TEXT PRIMARY KEY, value)";

/// Stores a value of the head.
void put(SqlFile& file, std::string_view key, const Value& value) {
  SqlStatement statement = file.prepare("INSERT OR REPLACE INTO sweep (key, value) VALUES (?1, ?2)");
  statement.bind(0, key);
  statement.bind(1, value);
  statement.step();
}

/// Return a value of the head; empty or 0 when it is missing.
std::string text_in(SqlFile& file, std::string_view key) {
  SqlStatement statement = file.prepare("SELECT value FROM sweep WHERE key = ?1");
  statement.bind(0, key);
  return statement.step() ? statement.text(0) : "";
}

double number_in(SqlFile& file, std::string_view key) {
  SqlStatement statement = file.prepare("SELECT value FROM sweep WHERE key = ?1");
  statement.bind(0, key);
  return statement.step() ? statement.number(0) : 0;
}

/// Stores everything that identifies the sweep.
void put_head(SqlFile& file, const SweepHead& head) {
  put(file, "name", {head.name});
  put(file, "text", {head.text});
  put(file, "scenario", {head.scenario.name});
  put(file, "scenario_text", {head.scenario.text});
  put(file, "strategy", {head.strategy});
  put(file, "version", {head.version});
  put(file, "seed", {head.seed});
  put(file, "shard", {head.shard.part});
  put(file, "shards", {head.shard.of});
}

std::string shard_text(const Shard& shard) { return fmt::format("{}/{}", shard.part, shard.of); }

/// Throws InputError when a database of `there` cannot continue as one of `wanted`.
void refuse_other(const std::string& path, const SweepHead& there, const SweepHead& wanted) {
  const std::string file = shortened(path);
  if (there.version != wanted.version)
    throw InputError(
        fmt::format("{} is of foretrain {}, this is {}", file, printable(there.version), wanted.version),
        "another file with --db");
  if (there.identity() != wanted.identity())
    throw InputError(fmt::format("{} holds another sweep: axes, seed, conditions or scenario differ", file),
                     "another file with --db");
  if (there.shard != wanted.shard)
    throw InputError(fmt::format("{} holds shard {} of this sweep, not {}", file, shard_text(there.shard),
                                 shard_text(wanted.shard)),
                     "a file for each shard; `foretrain sweep merge` joins them");
}

/// Returns true for a file without any tables.
bool is_empty(SqlFile& file) {
  return file.integer_of("SELECT count(*) FROM sqlite_master") == 0 &&
         file.integer_of("PRAGMA application_id") == 0;
}

/// Checks an existing file before anything in it is changed, since it may belong to another program. Returns
/// the path.
const std::string& checked(const std::string& path, const SweepHead& wanted) {
  std::error_code none;
  if (std::filesystem::file_size(path, none) == 0 || none) return path;
  SqlFile file(path, SqlAccess::read);
  if (!is_empty(file)) refuse_other(path, read_sweep_head(file), wanted);
  return path;
}

}  // namespace

// Name, version and shard are not part of the identity: shards of a sweep have the same one.
std::uint64_t SweepHead::identity() const {
  return content_hash(text, content_hash(scenario.text, content_hash(strategy)));
}

// The order is that of the table, on which the INSERT of add() relies.
std::vector<std::string> case_columns(const SweepCases& cases) {
  std::vector<std::string> out{std::string(kNumberColumn), "hash"};
  for (const StudyAxis* axis : cases.columns()) out.push_back(sql_name(axis->name));
  for (const CaseFigure& figure : case_figures()) out.emplace_back(figure.name);
  for (const std::string_view last : {kMessageColumn, std::string_view("version"), std::string_view("seed")})
    out.emplace_back(last);
  return out;
}

// Columns of axes have no type, so that values keep theirs.
void create_sweep_tables(SqlFile& file, const SweepHead& head, const SweepCases& cases) {
  std::string columns = "number INTEGER PRIMARY KEY, hash INTEGER NOT NULL";
  for (const StudyAxis* axis : cases.columns()) columns += ", " + sql_name(axis->name);
  for (const CaseFigure& figure : case_figures()) columns += fmt::format(", {} {}", figure.name, figure.type);
  columns += ", message TEXT, version TEXT NOT NULL, seed INTEGER NOT NULL";
  file.run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}; {}; CREATE TABLE cases ({})",
                       kApplication, kFormat, kHeadTable, columns));
  put_head(file, head);
}

// The sweep is read from the copy in the database, so it does not matter when its file has changed since.
Sweep kept_sweep(const SweepHead& head) {
  const SourceText source{head.name, head.text};
  return read_or_throw(source, read_sweep);
}

// Checks go from the general to the special: another program's file, another format, an incomplete head.
SweepHead read_sweep_head(SqlFile& file) {
  const std::string path = shortened(file.path());
  if (file.integer_of("PRAGMA application_id") != kApplication ||
      file.integer_of("SELECT count(*) FROM sqlite_master WHERE name IN ('sweep', 'cases')") != 2)
    throw InputError(fmt::format("{} is another program's SQLite file, and no sweep", path),
                     "what `foretrain sweep run` writes");
  const std::int64_t format = file.integer_of("PRAGMA user_version");
  if (format != kFormat)
    throw InputError(
        fmt::format("{} is a sweep of another format ({}) than this foretrain's ({})", path, format, kFormat),
        "run the sweep again, or show it with the foretrain that wrote it");
  SweepHead head{text_in(file, "name"),
                 text_in(file, "text"),
                 {text_in(file, "scenario"), text_in(file, "scenario_text")},
                 text_in(file, "strategy"),
                 text_in(file, "version")};
  head.seed = static_cast<std::int64_t>(number_in(file, "seed"));
  head.shard = {static_cast<std::int64_t>(number_in(file, "shard")),
                static_cast<std::int64_t>(number_in(file, "shards"))};
  head.rate = number_in(file, "rate"), head.threads = static_cast<int>(number_in(file, "threads"));
  if (head.text.empty() || head.shard.of < 1 || head.shard.part < 1 || head.shard.part > head.shard.of)
    throw InputError(fmt::format("{} does not say what it is a sweep of", path));
  return head;
}

// The insert statement is prepared once, since a sweep may have millions of rows.
SweepDatabase::SweepDatabase(const std::string& path, const SweepHead& head, const SweepCases& cases)
    : file_(checked(path, head), SqlAccess::create), head_(head) {
  // Readers see the last commit meanwhile. With synchronous = NORMAL a commit does not wait for the disk, and
  // the file is consistent after a crash.
  file_.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  begin();
  if (is_empty(file_)) create_sweep_tables(file_, head, cases), commit();
  std::string marks;
  for (std::size_t c = 0; c < case_columns(cases).size(); ++c) marks += c == 0 ? "?" : ", ?";
  insert_.push_back(file_.prepare(fmt::format("INSERT OR IGNORE INTO cases VALUES ({})", marks)));
}

// The message of most cases is NULL, for which LIKE is NULL; ifnull makes that false.
std::string is_ended_case(std::string_view cases) {
  return fmt::format("ifnull({}.message LIKE '{}%', 0)", cases, kEndedCase);
}

// The run then predicts these cases again (--retry-crashed).
void SweepDatabase::forget_ended_cases() {
  file_.run("DELETE FROM cases WHERE " + is_ended_case("cases"));
  commit();
}

// A second writer fails here with "in use by another process".
void SweepDatabase::begin() { file_.run("BEGIN IMMEDIATE"); }

// The hash of a row must match its number: otherwise the file was changed by others.
std::vector<std::int64_t> SweepDatabase::done(const SweepCases& cases) {
  std::vector<std::int64_t> out;
  const std::uint64_t scenario = content_hash(head_.scenario.text);
  SqlStatement rows = file_.prepare("SELECT number, hash FROM cases ORDER BY number");
  while (rows.step()) {
    const std::int64_t number = rows.integer(0);
    const bool is_ours =
        number >= 0 && number < cases.numbers() &&
        static_cast<std::uint64_t>(rows.integer(1)) == cases.hash(cases.values(number), scenario);
    if (!is_ours)
      throw InputError(
          fmt::format("{} has a case {} that is not the sweep's", shortened(file_.path()), number),
          "the file was changed; another one with --db");
    out.push_back(number);
  }
  return out;
}

// A case that cannot run has a message and no figures.
CaseRow row_of(const CaseResult& result) {
  CaseRow out{result.why_not, {}};
  if (!out.message.empty()) return out;
  for (const CaseFigure& figure : case_figures()) out.figures.push_back(figure.of(result));
  return out;
}

// A case without figures has NULL in their columns.
void SweepDatabase::add(std::int64_t number, std::uint64_t hash, const std::vector<Value>& values,
                        const CaseRow& row) {
  SqlStatement& insert = insert_.front();
  insert.reset();
  int place = 0;
  insert.bind(place++, number);
  insert.bind(place++, static_cast<std::int64_t>(hash));
  for (const Value& value : values) insert.bind(place++, value);
  for (std::size_t i = 0; i < case_figures().size(); ++i)
    i < row.figures.size() ? insert.bind(place++, row.figures[i]) : insert.bind_null(place++);
  row.message.empty() ? insert.bind_null(place++) : insert.bind(place++, std::string_view(row.message));
  insert.bind(place++, std::string_view(head_.version));
  insert.bind(place++, head_.seed);
  insert.step();
}

// The next transaction begins at once, so that no other process can become the writer.
void SweepDatabase::commit() {
  for (SqlStatement& insert : insert_) insert.reset();
  file_.run("COMMIT");
  begin();
}

// The rate is that of a run that came to its end, for `sweep status`.
void SweepDatabase::finish(double rate, int threads) {
  if (rate > 0) put(file_, "rate", {rate}), put(file_, "threads", {std::int64_t{threads}});
  for (SqlStatement& insert : insert_) insert.reset();
  file_.run("COMMIT");
  // SQLite refuses this while somebody reads. Then the log stays beside the file, which is as good.
  SqlStatement mode = file_.prepare("PRAGMA journal_mode = DELETE");
  try {
    mode.step();
  } catch (const EnvironmentError&) {
  }
}

}  // namespace foretrain
