// The only door to SQLite: a file of tables, statements on it, and SQL that others wrote, which can read and
// nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/toml/value.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace foretrain {

/// How an SQLite file is opened. memory: no file at all.
enum class SqlAccess : std::uint8_t { read, write, create, memory };

/// One statement. Values are counted from 0. Must not outlive its file.
class SqlStatement {
 public:
  SqlStatement(sqlite3_stmt* statement, std::string file);
  ~SqlStatement();
  SqlStatement(SqlStatement&& other) noexcept;
  SqlStatement& operator=(SqlStatement&&) = delete;

  /// Nothing, flags as 0 and 1, numbers and text.
  void bind(int place, const Value& value);
  void bind(int place, std::int64_t number);
  void bind(int place, double number);
  void bind(int place, std::string_view text);
  void bind_null(int place);
  /// Whether there is a row.
  bool step();
  /// For the next round; what was bound stays.
  void reset();

  int columns() const;
  std::string name(int column) const;
  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double number(int column) const;
  std::string text(int column) const;
  Value value(int column) const;  ///< nothing, a number or text

 private:
  sqlite3_stmt* statement_;
  std::string file_;
};

/// Throws InputError in one sentence for a file that is no SQLite's, is damaged, or holds something else;
/// EnvironmentError where files or devices fail (no room, no right to write, in use by another process).
class SqlFile {
 public:
  /// `read` and `write` need the file to be there, `create` makes it; `memory` has no file.
  SqlFile(const std::string& path, SqlAccess access);
  ~SqlFile();
  SqlFile(const SqlFile&) = delete;
  SqlFile& operator=(const SqlFile&) = delete;

  const std::string& path() const { return path_; }
  /// One or several statements of our own.
  void run(const std::string& statements);
  SqlStatement prepare(const std::string& statement);
  std::int64_t integer_of(const std::string& query);

  /// A statement ends with an InputError when `stops` returns true, which is asked many times a second.
  void stop_when(bool (*stops)());
  /// From here on nothing can be written, attached or read but the tables that are there, only functions that
  /// give the same for the same are called, and no statement goes on for more than `most_operations` of the
  /// virtual machine.
  void only_read(std::int64_t most_operations);
  /// A statement that holds text of others, after only_read(). Throws InputError with what SQLite says when
  /// it is not one statement that reads; `what` names it in the message.
  SqlStatement prepare_foreign(const std::string& statement, std::string_view what);

 private:
  void open(int flags);
  bool needs_recovery() const;

  sqlite3* file_ = nullptr;
  std::string path_;
  struct Limit;
  std::unique_ptr<Limit> limit_;
};

/// A name as SQL takes it whatever is in it: "a ""name""".
std::string sql_name(std::string_view name);

}  // namespace foretrain
