// SQLite. Its error codes become sentences. SQL of other people is restricted by an authorizer, by limits and
// by a count of operations.
#include "sim/scenario/sweep/sql.hpp"

#include <array>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#ifdef FORETRAIN_SQLITE
#include <sqlite3.h>
#endif

#include "sim/base/printable.hpp"

namespace foretrain {

std::string sql_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

#ifdef FORETRAIN_SQLITE

namespace {

/// Time in ms to wait for a busy file: a writer holds it for a moment, another run of the program for long.
constexpr int kPatienceMs = 5000;
/// Operations of the virtual machine between two calls of a progress handler.
constexpr int kOperationsAtOnce = 10'000;
/// Limits of SQL of other people: bytes of a value, bytes of a text, depth of an expression.
constexpr int kLongestValue = 1'000'000, kLongestForeign = 100'000, kDeepest = 200;

/// Functions whose result depends on their arguments alone, and that cannot take long.
constexpr std::array<std::string_view, 46> kFunctions{
    "abs",   "ceil",  "ceiling", "coalesce", "floor",  "ifnull", "iif",     "instr",   "length", "like",
    "lower", "ltrim", "max",     "min",      "nullif", "round",  "rtrim",   "sign",    "substr", "substring",
    "trim",  "upper", "typeof",  "avg",      "count",  "sum",    "total",   "exp",     "ln",     "log",
    "log10", "log2",  "mod",     "pi",       "pow",    "power",  "radians", "degrees", "sin",    "cos",
    "sqrt",  "tan",   "trunc",   "glob",     "hex",    "unicode"};

bool is_function(std::string_view name) {
  for (const std::string_view known : kFunctions)
    if (known == name) return true;
  return false;
}

/// SQLite's callback on whether a statement may do something: only reading and the functions above are
/// allowed.
int authorize(void*, int action, const char*, const char* second, const char*, const char*) {
  // Reading a column of an existing table, or a query itself.
  if (action == SQLITE_SELECT || action == SQLITE_READ) return SQLITE_OK;
  const bool is_known = action == SQLITE_FUNCTION && second != nullptr && is_function(second);
  return is_known ? SQLITE_OK : SQLITE_DENY;
}

/// Returns an error in one sentence.
std::string sentence(int code, const char* text) {
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return "is no SQLite file";
    case SQLITE_CORRUPT:
      return "is damaged: SQLite cannot read it";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "is in use by another process that writes to it";
    case SQLITE_FULL:
      return "cannot be written: no room is left";
    case SQLITE_READONLY:
      return "cannot be written: no right to";
    default:
      return fmt::format("SQLite: {}", printable(shortened(text, 300)));
  }
}

/// Throws InputError for mistakes in file or query, EnvironmentError for failures of the system.
[[noreturn]] void fail(int code, const char* text, const std::string& path) {
  const std::string why = fmt::format("{}: {}", shortened(path), sentence(code, text));
  const int kind = code & 0xff;
  if (kind == SQLITE_NOTADB || kind == SQLITE_CORRUPT || kind == SQLITE_ERROR) throw InputError(why);
  if (kind == SQLITE_INTERRUPT)
    throw InputError("the query takes too long", "a simpler condition, or fewer rows");
  throw EnvironmentError(why);
}

/// Throws unless the code is a success.
void check(int code, sqlite3* file, const std::string& path) {
  if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW)
    fail(code, ::sqlite3_errmsg(file), path);
}

/// Returns SQLite's flags for opening.
int flags_of(SqlAccess access) {
  switch (access) {
    case SqlAccess::read:
      return SQLITE_OPEN_READONLY;
    case SqlAccess::write:
      return SQLITE_OPEN_READWRITE;
    case SqlAccess::create:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case SqlAccess::memory:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY;
  }
  return SQLITE_OPEN_READONLY;
}

}  // namespace

/// The operations that one statement of other people may still take.
struct SqlFile::Limit {
  std::int64_t most = 0, left = 0;
  // Called by SQLite every kOperationsAtOnce operations; 1 ends the statement.
  static int look(void* limit) {
    auto& own = *static_cast<Limit*>(limit);
    return (own.left -= kOperationsAtOnce) <= 0 ? 1 : 0;
  }
};

SqlStatement::SqlStatement(sqlite3_stmt* statement, std::string file)
    : statement_(statement), file_(std::move(file)) {}
SqlStatement::~SqlStatement() { ::sqlite3_finalize(statement_); }
SqlStatement::SqlStatement(SqlStatement&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)), file_(std::move(other.file_)) {}

void SqlStatement::bind(int place, const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value.data)) return bind(place, std::string_view(*text));
  if (const auto* flag = std::get_if<bool>(&value.data)) return bind(place, std::int64_t{*flag ? 1 : 0});
  if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return bind(place, *integer);
  if (const auto* number = std::get_if<double>(&value.data)) return bind(place, *number);
  bind_null(place);
}

void SqlStatement::bind(int place, std::int64_t number) {
  ::sqlite3_bind_int64(statement_, place + 1, number);
}
void SqlStatement::bind(int place, double number) { ::sqlite3_bind_double(statement_, place + 1, number); }
void SqlStatement::bind(int place, std::string_view text) {
  ::sqlite3_bind_text64(statement_, place + 1, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}
void SqlStatement::bind_null(int place) { ::sqlite3_bind_null(statement_, place + 1); }

bool SqlStatement::step() {
  const int code = ::sqlite3_step(statement_);
  if (code == SQLITE_ROW || code == SQLITE_DONE) return code == SQLITE_ROW;
  fail(code, ::sqlite3_errmsg(::sqlite3_db_handle(statement_)), file_);
}

void SqlStatement::reset() { ::sqlite3_reset(statement_); }
int SqlStatement::columns() const { return ::sqlite3_column_count(statement_); }
std::string SqlStatement::name(int column) const { return ::sqlite3_column_name(statement_, column); }
bool SqlStatement::is_null(int column) const {
  return ::sqlite3_column_type(statement_, column) == SQLITE_NULL;
}
std::int64_t SqlStatement::integer(int column) const { return ::sqlite3_column_int64(statement_, column); }
double SqlStatement::number(int column) const { return ::sqlite3_column_double(statement_, column); }

std::string SqlStatement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(::sqlite3_column_text(statement_, column));
  if (bytes == nullptr) return "";
  return {bytes, static_cast<std::size_t>(::sqlite3_column_bytes(statement_, column))};
}

Value SqlStatement::value(int column) const {
  switch (::sqlite3_column_type(statement_, column)) {
    case SQLITE_NULL:
      return {};
    case SQLITE_INTEGER:
      return {integer(column)};
    case SQLITE_FLOAT:
      return {number(column)};
    default:
      return {text(column)};
  }
}

SqlFile::SqlFile(const std::string& path, SqlAccess access) : path_(path) {
  std::error_code none;
  const bool must_be_there = access == SqlAccess::read || access == SqlAccess::write;
  // SQLite would make a missing file.
  if (must_be_there && !std::filesystem::is_regular_file(path, none))
    throw InputError(fmt::format("{} {}", shortened(path),
                                 std::filesystem::exists(path, none) ? "is no file" : "does not exist"));
  open(flags_of(access));
  // A reader may not replay a log, so the file is opened for writing and then restricted.
  if (access != SqlAccess::read || !needs_recovery()) return;
  ::sqlite3_close_v2(file_);
  open(flags_of(SqlAccess::write));
  run("PRAGMA query_only = 1");
}

void SqlFile::open(int flags) {
  if (path_ == "-")
    throw InputError("- stands for standard output or input, and a database is a file",
                     "./- is a file of that name");
  // SQLITE_OPEN_URI is not among the flags, so that a name with a colon is not taken for an address.
  const int code = ::sqlite3_open_v2(path_.c_str(), &file_, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code != SQLITE_OK) {
    const std::string text = file_ == nullptr ? "out of memory" : ::sqlite3_errmsg(file_);
    ::sqlite3_close(file_);
    fail(code, text.c_str(), path_);
  }
  ::sqlite3_extended_result_codes(file_, 1);
  ::sqlite3_busy_timeout(file_, kPatienceMs);
  // "name" in quotes is a column or a mistake, and never a text.
  ::sqlite3_db_config(file_, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  ::sqlite3_db_config(file_, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  // Views, triggers and functions in the schema of a foreign file are not trusted.
  ::sqlite3_db_config(file_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  ::sqlite3_db_config(file_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
}

/// Returns whether the log of a writer that was killed must be replayed, which only an opening for writing
/// can do.
bool SqlFile::needs_recovery() const {
  const int code =
      ::sqlite3_exec(file_, "SELECT 1 FROM sqlite_master LIMIT 1", nullptr, nullptr, nullptr) & 0xff;
  return code == SQLITE_READONLY || code == SQLITE_CANTOPEN;
}

SqlFile::~SqlFile() { ::sqlite3_close_v2(file_); }

void SqlFile::run(const std::string& statements) {
  check(::sqlite3_exec(file_, statements.c_str(), nullptr, nullptr, nullptr), file_, path_);
}

SqlStatement SqlFile::prepare(const std::string& statement) {
  sqlite3_stmt* made = nullptr;
  check(::sqlite3_prepare_v2(file_, statement.data(), static_cast<int>(statement.size()), &made, nullptr),
        file_, path_);
  return {made, path_};
}

std::int64_t SqlFile::integer_of(const std::string& query) {
  SqlStatement statement = prepare(query);
  return statement.step() ? statement.integer(0) : 0;
}

void SqlFile::stop_when(bool (*stops)()) {
  const auto look = [](void* function) { return reinterpret_cast<bool (*)()>(function)() ? 1 : 0; };
  ::sqlite3_progress_handler(file_, kOperationsAtOnce, look, reinterpret_cast<void*>(stops));
}

void SqlFile::only_read(std::int64_t most_operations) {
  limit_ = std::make_unique<Limit>(Limit{most_operations, most_operations});
  ::sqlite3_limit(file_, SQLITE_LIMIT_LENGTH, kLongestValue);
  ::sqlite3_limit(file_, SQLITE_LIMIT_SQL_LENGTH, kLongestForeign);
  ::sqlite3_limit(file_, SQLITE_LIMIT_EXPR_DEPTH, kDeepest);
  ::sqlite3_limit(file_, SQLITE_LIMIT_ATTACHED, 0);
  ::sqlite3_limit(file_, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100);
  ::sqlite3_set_authorizer(file_, authorize, nullptr);
  ::sqlite3_progress_handler(file_, kOperationsAtOnce, &Limit::look, limit_.get());
}

SqlStatement SqlFile::prepare_foreign(const std::string& statement, std::string_view what) {
  // Each statement has the whole limit.
  limit_->left = limit_->most;
  if (statement.find('\0') != std::string::npos)
    throw InputError(fmt::format("{} holds a character that is none", what));
  sqlite3_stmt* made = nullptr;
  const char* rest = nullptr;
  const int code =
      ::sqlite3_prepare_v2(file_, statement.data(), static_cast<int>(statement.size()), &made, &rest);
  if (code != SQLITE_OK) {
    const bool is_denied = (code & 0xff) == SQLITE_AUTH;
    throw InputError(fmt::format("{}: {}", what,
                                 is_denied ? "may compare and compute, and nothing else"
                                           : printable(shortened(::sqlite3_errmsg(file_), 300))),
                     "an expression of SQL, as in \"gpus <= 8 AND strategy = 'ddp'\"");
  }
  SqlStatement out(made, path_);
  // Text behind the statement, or a statement that writes, is refused.
  const std::string_view left(rest, statement.size() - static_cast<std::size_t>(rest - statement.data()));
  if (made == nullptr || left.find_first_not_of(" \t\r\n") != std::string_view::npos ||
      ::sqlite3_stmt_readonly(made) == 0)
    throw InputError(fmt::format("{} must be one expression", what), "without a semicolon");
  return out;
}

#else

namespace {

/// Reports that this build cannot use databases.
[[noreturn]] void refuse_sql() {
  throw InputError("this build has no SQLite, which sweeps are kept in", "libsqlite3-dev, then build again");
}

}  // namespace

struct SqlFile::Limit {};
SqlStatement::SqlStatement(sqlite3_stmt* statement, std::string file)
    : statement_(statement), file_(std::move(file)) {}
SqlStatement::~SqlStatement() = default;
SqlStatement::SqlStatement(SqlStatement&& other) noexcept
    : statement_(other.statement_), file_(std::move(other.file_)) {}
void SqlStatement::bind(int, const Value&) {}
void SqlStatement::bind(int, std::int64_t) {}
void SqlStatement::bind(int, double) {}
void SqlStatement::bind(int, std::string_view) {}
void SqlStatement::bind_null(int) {}
bool SqlStatement::step() { return statement_ != nullptr; }
void SqlStatement::reset() {}
int SqlStatement::columns() const { return 0; }
std::string SqlStatement::name(int) const { return ""; }
bool SqlStatement::is_null(int) const { return true; }
std::int64_t SqlStatement::integer(int) const { return 0; }
double SqlStatement::number(int) const { return 0; }
std::string SqlStatement::text(int) const { return ""; }
Value SqlStatement::value(int) const { return {}; }
SqlFile::SqlFile(const std::string&, SqlAccess) { refuse_sql(); }
void SqlFile::open(int) {}
bool SqlFile::needs_recovery() const { return file_ == nullptr; }
SqlFile::~SqlFile() = default;
void SqlFile::run(const std::string&) { refuse_sql(); }
SqlStatement SqlFile::prepare(const std::string&) { refuse_sql(); }
std::int64_t SqlFile::integer_of(const std::string&) { refuse_sql(); }
void SqlFile::stop_when(bool (*)()) { refuse_sql(); }
void SqlFile::only_read(std::int64_t) { refuse_sql(); }
SqlStatement SqlFile::prepare_foreign(const std::string&, std::string_view) { refuse_sql(); }

#endif

}  // namespace foretrain
