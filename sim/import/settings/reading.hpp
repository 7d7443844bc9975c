// A settings file being read: its keys by their paths, typed values with mistakes at their places, and what
// becomes of each key.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/settings/settings.hpp"

namespace foretrain {

/// How a key's value becomes that of a scenario's key.
enum class KeyReads : std::uint8_t {
  flag,
  inverse,    ///< true is false
  integer,    ///< of the range of the scenario's key
  mebibytes,  ///< a number of MiB
  bytes,
  milliseconds,
  nothing,     ///< no influence on time or memory
  usual,       ///< what the model does anyway
  unmodelled,  ///< matters unless it has the harmless value
};

/// One row of a format's table. A path that ends with ".*" is of everything below.
struct KeyRule {
  std::string_view path;
  KeyReads reads;
  std::string_view to = {};    ///< key of the scenario
  std::string_view note = {};  ///< what people should know of it
  /// Value of an unmodelled key that changes nothing, besides false, null, no.
  std::string_view harmless = {};
};

/// A key that one format calls `from` and a reader of another one `to`. A path that ends with ".*" takes all
/// below it along; an empty `to` lifts it to the top.
struct KeyName {
  std::string_view from, to;
};

/// Reads one settings file: typed access to its keys, and a record of which keys were used.
class SettingsReading {
 public:
  SettingsReading(const YamlNode& tree, Diagnostics& diagnostics, const SettingsContext& context,
                  TrainingSettings& out);

  /// Keys are found by the names of another format from here on, and told by their own; the first row counts.
  void rename(std::span<const KeyName> names);
  /// A key that stands there and is not null; the last of several. The names are tried in order.
  const YamlNode* find(std::initializer_list<std::string_view> paths);
  bool has(std::string_view path) { return find({path}) != nullptr; }
  /// Typed; a value of another type is a mistake. "auto" is nothing, and not reported here.
  std::optional<bool> flag(std::initializer_list<std::string_view> paths);
  std::optional<std::int64_t> integer(std::initializer_list<std::string_view> paths, std::int64_t least,
                                      std::int64_t most);
  std::optional<double> number(std::initializer_list<std::string_view> paths);
  /// In lower case.
  std::optional<std::string> word(std::initializer_list<std::string_view> paths);
  bool is_auto(std::string_view path);

  /// What becomes of the key that the last find() found (or of the one named).
  void effect(std::vector<SettingEffect> effects, std::string note = "");
  void fate(KeyFate fate, std::string note = "");
  void effect_of(std::string_view path, std::vector<SettingEffect> effects, std::string note = "");
  void fate_of(std::string_view path, KeyFate fate, std::string note = "");
  /// What holds because nothing is said: a default of the tool.
  void by_default(std::string what, std::vector<SettingEffect> effects);
  void mistake(std::string message, std::string hint = "");
  void mistake_at(std::string_view path, std::string message, std::string hint = "");

  /// What follows from the rest by the table's rows, then everything that no row knows. Options of strategies
  /// that the chosen one does not have are put down as without influence.
  void apply(std::span<const KeyRule> rules);
  void finish();

  const SettingsContext& context() const { return context_; }
  TrainingSettings& out() { return out_; }
  Diagnostics& diagnostics() { return diagnostics_; }
  /// What the program is told of `key`; empty: nothing.
  std::string argument(std::string_view key) const;
  /// Another file's keys, put behind those of this one.
  void include(const TrainingSettings& other);

 private:
  struct Leaf {
    std::string path;  ///< as it stands in the file
    const YamlNode* node;
    bool told = false;
    std::string name = path;  ///< as it is looked for
  };
  /// Whether the key found last is not known before the program runs; it is then put down as open.
  bool stays_open();
  void flatten(const YamlNode& node, const std::string& path);
  Leaf* leaf(std::string_view path);
  void tell(Leaf& leaf, KeyFate fate, std::vector<SettingEffect> effects, std::string note);
  void apply_rule(Leaf& leaf, const KeyRule& rule);

  Diagnostics& diagnostics_;
  const SettingsContext& context_;
  TrainingSettings& out_;
  std::deque<YamlNode> defaults_;  ///< of "${VARIABLE:default}"
  std::vector<Leaf> leaves_;
  Leaf* last_ = nullptr;
};

/// "text" with quotes, true or false.
std::string toml_text(std::string_view text);
std::string toml_bytes(std::int64_t count);
inline std::string toml_flag(bool value) { return value ? "true" : "false"; }

/// A value as it is shown: lists and tables in one line, shortened.
std::string shown_value(const YamlNode& node);

/// true, false, yes, no, on, off, 1, 0 in any case.
std::optional<bool> flag_in(std::string_view text);
std::optional<double> number_in(std::string_view text);

}  // namespace foretrain
