// The only use of SQLite: a file of tables, statements on it, and SQL of other people, which can only read.
// Without SQLite in the build every function throws InputError.
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

/// Modes of opening an SQLite file; memory: there is no file.
enum class SqlAccess : std::uint8_t { read, write, create, memory };

/// One prepared statement. Places and columns are counted from 0. It must not outlive its file. Not
/// thread-safe.
class SqlStatement {
 public:
  SqlStatement(sqlite3_stmt* statement, std::string file);
  ~SqlStatement();
  SqlStatement(SqlStatement&& other) noexcept;
  SqlStatement& operator=(SqlStatement&&) = delete;

  /// Bind a value to a parameter: nothing, flags as 0 and 1, numbers and text.
  void bind(int place, const Value& value);
  void bind(int place, std::int64_t number);
  void bind(int place, double number);
  void bind(int place, std::string_view text);
  void bind_null(int place);
  /// Runs the statement to its next row; returns whether there is one. Throws like SqlFile.
  bool step();
  /// Resets the statement for another run; bound values stay.
  void reset();

  /// Describe the current row: number and names of columns, and their values.
  int columns() const;
  std::string name(int column) const;
  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double number(int column) const;
  std::string text(int column) const;
  /// Returns nothing, a number or a text.
  Value value(int column) const;

 private:
  sqlite3_stmt* statement_;
  std::string file_;
};

/// A database. Functions throw InputError in one sentence for a file that is not SQLite's, is damaged, or has
/// other contents. They throw EnvironmentError if files or devices fail (no space, no permission, in use by
/// another process).
class SqlFile {
 public:
  /// Opens a database. `read` and `write` require that the file exists, `create` makes it; `memory` has no
  /// file.
  SqlFile(const std::string& path, SqlAccess access);
  ~SqlFile();
  SqlFile(const SqlFile&) = delete;
  SqlFile& operator=(const SqlFile&) = delete;

  const std::string& path() const { return path_; }
  /// Runs one or several statements of this program.
  void run(const std::string& statements);
  /// Prepares one statement of this program.
  SqlStatement prepare(const std::string& statement);
  /// Returns the first integer of a query; 0 when it has no row.
  std::int64_t integer_of(const std::string& query);

  /// Makes statements end with an InputError when `stops` returns true, which is asked many times a second.
  void stop_when(bool (*stops)());
  /// Restricts the database from here on. Nothing can be written or attached, only existing tables can be
  /// read, and only functions whose result depends on their arguments alone can be called. No statement may
  /// take more than `most_operations` of the virtual machine.
  void only_read(std::int64_t most_operations);
  /// Prepares a statement with text of other people; requires only_read(). Throws InputError with SQLite's
  /// message unless it is one statement that reads; `what` names it in the message.
  SqlStatement prepare_foreign(const std::string& statement, std::string_view what);

 private:
  void open(int flags);
  bool needs_recovery() const;

  sqlite3* file_ = nullptr;
  std::string path_;
  /// The operations that a foreign statement may still take.
  struct Limit;
  std::unique_ptr<Limit> limit_;
};

/// Returns a name in SQL's quotes, whatever it contains: "a ""name""".
std::string sql_name(std::string_view name);

}  // namespace foretrain
