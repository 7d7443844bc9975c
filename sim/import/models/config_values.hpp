// Declares typed access to the keys of a config.json. Missing keys are reported together, wrong ones at their
// place.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/import/logs/json_value.hpp"

namespace foretrain {

/// Names of one value in configs of different years; the first one that is there counts.
using ConfigNames = std::initializer_list<const char*>;

/// Describes a kind of JSON file, for messages.
struct ObjectKind {
  /// The word for the file, such as "config".
  std::string_view name;
  /// Largest size that is read, in bytes.
  std::size_t largest = 0;
  /// Hint: which program writes such a file.
  std::string_view usual;
};

/// Returns the object of a JSON text. Reports a text that is too large, nested more than 32 levels deep, or
/// no object; the result is not valid then.
LogJson parsed_object(const SourceText& source, const ObjectKind& kind, Diagnostics& diagnostics);

/// Gives typed access to the values of a config.json. A wrong value is reported where it is read, and
/// replaced by a valid one; missing values are reported by finish(). Both references must outlive this
/// object.
class ConfigValues {
 public:
  /// `path` names the objects around this one in the text, from the outermost on.
  ConfigValues(const LogJson& object, Diagnostics& diagnostics, std::vector<std::string> path = {})
      : object_(object), diagnostics_(diagnostics), path_(std::move(path)) {}

  /// Returns a whole number from 1 to 1e9 that must be there; notes it as missing and returns 1 where it is
  /// not.
  std::int64_t size(ConfigNames names);
  /// Returns a whole number from 1 to 1e9, or `otherwise` where the key is missing or null.
  std::int64_t size_or(ConfigNames names, std::int64_t otherwise);
  /// Returns a list of `least` to 64 whole numbers; `least` ones where the list is missing or wrong.
  std::vector<std::int64_t> sizes(ConfigNames names, std::size_t least);
  /// Returns a number from 0 to 1, or `otherwise` where the key is missing, null or wrong.
  double share_or(const char* name, double otherwise);
  /// Returns true or false as given, or `otherwise` where the key is missing, null or wrong.
  bool flag_or(const char* name, bool otherwise);
  /// Returns a text, cut to 60 bytes, or `otherwise` where the key is missing, null or wrong.
  std::string word_or(const char* name, std::string_view otherwise);
  /// Returns the values of an object within this one; it has no keys where there is no such object. The
  /// finish() of the outer values does not report what the inner ones miss.
  ConfigValues inside(const char* name) const;
  /// Returns the number of entries in an object or list; 0 where there is none.
  std::size_t count(const char* name) const;
  /// Reports a value that cannot be, at the place of its key.
  void refuse(const char* name, std::string message, std::string hint = "");

  /// Reports the missing keys, all at once. Returns true when nothing at all was reported so far.
  bool finish(std::string_view model_type);

 private:
  const LogJson* find(ConfigNames names, const char*& used) const;
  /// Returns the value where it is a valid size; reports it and returns 1 where it is not.
  std::int64_t checked(const LogJson& value, const char* name);

  const LogJson& object_;
  Diagnostics& diagnostics_;
  std::vector<std::string> path_, missing_;
};

}  // namespace foretrain
