// Declares the reading of a settings file: keys by their paths, typed values with mistakes at their places,
// and what becomes of each key.
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

/// Conversion of a key's value to the value of a scenario's key.
enum class KeyReads : std::uint8_t {
  flag,
  /// true becomes false.
  inverse,
  /// A whole number from 0 to 1e12; the scenario's key has its own range.
  integer,
  /// A number of MiB, whole or not.
  mebibytes,
  bytes,
  milliseconds,
  /// No influence on time or memory.
  nothing,
  /// Agrees with what the model assumes anyway.
  usual,
  /// Matters, unless the value is harmless or off.
  unmodelled,
};

/// One row of a format's table. A path that ends with ".*" covers everything below.
struct KeyRule {
  std::string_view path;
  KeyReads reads;
  /// Key of the scenario.
  std::string_view to = {};
  /// Explanation for users.
  std::string_view note = {};
  /// Value of an unmodelled key that changes nothing, besides false, null and no.
  std::string_view harmless = {};
};

/// A key that one format calls `from` and another format's reader `to`. A path that ends with ".*" takes
/// everything below along; an empty `to` lifts it to the top.
struct KeyName {
  std::string_view from, to;
};

/// Reads one settings file: typed access to its keys, and an account of what each key comes to. All
/// references of the constructor must outlive the object. Mistakes go to the diagnostics; nothing is thrown.
class SettingsReading {
 public:
  /// Lays out the tree. Reports a tree with more than kMostSettings keys and reads only the first ones.
  SettingsReading(const YamlNode& tree, Diagnostics& diagnostics, const SettingsContext& context,
                  TrainingSettings& out);

  /// Makes keys known by the names of another format from here on. Messages keep the file's own names. The
  /// first row that fits counts.
  void rename(std::span<const KeyName> names);
  /// Returns a key that is there and not null, the last of several with one name; nullptr where there is
  /// none. The names are tried in order. The key is then the last one found.
  const YamlNode* find(std::initializer_list<std::string_view> paths);
  /// Returns whether a key is there and not null; it is then the last one found.
  bool has(std::string_view path) { return find({path}) != nullptr; }
  /// Returns a typed value; another type is a mistake. "auto" and what only the run knows give nothing, and
  /// are no mistake.
  std::optional<bool> flag(std::initializer_list<std::string_view> paths);
  std::optional<std::int64_t> integer(std::initializer_list<std::string_view> paths, std::int64_t least,
                                      std::int64_t most);
  std::optional<double> number(std::initializer_list<std::string_view> paths);
  /// Returns a text in lower case.
  std::optional<std::string> word(std::initializer_list<std::string_view> paths);
  /// Returns whether the value is "auto".
  bool is_auto(std::string_view path);

  /// Tells what becomes of the key that the last find() found, or of the one named. Does nothing where there
  /// is no such key.
  void effect(std::vector<SettingEffect> effects, std::string note = "");
  void fate(KeyFate fate, std::string note = "");
  void effect_of(std::string_view path, std::vector<SettingEffect> effects, std::string note = "");
  void fate_of(std::string_view path, KeyFate fate, std::string note = "");
  /// Tells what holds although no key says it: a default of the tool. `what` explains it.
  void by_default(std::string what, std::vector<SettingEffect> effects);
  /// Reports a mistake at the key found last, or at the one named.
  void mistake(std::string message, std::string hint = "");
  void mistake_at(std::string_view path, std::string message, std::string hint = "");

  /// Reads, by the rows of a table, all keys of which nothing was told so far. A key that no row covers stays
  /// for finish().
  void apply(std::span<const KeyRule> rules);
  /// Puts down the rest as unknown, and options that the chosen strategy does not have as without influence.
  void finish();

  /// Return what the constructor was given.
  const SettingsContext& context() const { return context_; }
  TrainingSettings& out() { return out_; }
  Diagnostics& diagnostics() { return diagnostics_; }
  /// Returns the value of the program's argument `key`; empty: not given.
  std::string argument(std::string_view key) const;
  /// Adds the keys of another file behind those of this one.
  void include(const TrainingSettings& other);

 private:
  /// A key with its value; both names are paths with dots.
  struct Leaf {
    /// Path as it stands in the file.
    std::string path;
    const YamlNode* node;
    bool told = false;
    /// Path by which it is looked up.
    std::string name = path;
  };
  /// Returns whether only the run knows the key found last, and puts it down as open if so.
  bool stays_open();
  /// Lays out a node and everything in it.
  void flatten(const YamlNode& node, const std::string& path);
  /// Returns the last leaf of a name; nullptr: none.
  Leaf* leaf(std::string_view path);
  /// Puts down what becomes of a leaf.
  void tell(Leaf& leaf, KeyFate fate, std::vector<SettingEffect> effects, std::string note);
  /// Reads one leaf by a row of a table.
  void apply_rule(Leaf& leaf, const KeyRule& rule);

  Diagnostics& diagnostics_;
  const SettingsContext& context_;
  TrainingSettings& out_;
  /// Values of "${VARIABLE:default}"; a deque, because leaves point to them.
  std::deque<YamlNode> defaults_;
  std::vector<Leaf> leaves_;
  Leaf* last_ = nullptr;
};

/// Return values of TOML: a text in quotes, a size in MiB or bytes, true or false.
std::string toml_text(std::string_view text);
std::string toml_bytes(std::int64_t count);
inline std::string toml_flag(bool value) { return value ? "true" : "false"; }

/// Returns a value as it is shown: lists and tables in one line, shortened.
std::string shown_value(const YamlNode& node);

/// Returns the value of true, false, yes, no, on, off, 1 or 0 in any case; nothing for other texts.
std::optional<bool> flag_in(std::string_view text);
/// Returns a finite number, also with underlines; nothing for other texts.
std::optional<double> number_in(std::string_view text);

}  // namespace foretrain
