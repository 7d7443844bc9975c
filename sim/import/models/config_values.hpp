// The keys of a config.json: typed, with every missing one told at once and wrong ones at their place.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/import/logs/json_value.hpp"

namespace foretrain {

/// Names of one value in configs of several years; the first that is there counts.
using ConfigNames = std::initializer_list<const char*>;

/// What a JSON file is, for messages.
struct ObjectKind {
  std::string_view name;
  std::size_t largest = 0;  ///< bytes
  std::string_view usual;   ///< who writes it
};

/// The object of a JSON text; reports one that is too large, nested too deep, or no object.
LogJson parsed_object(const SourceText& source, const ObjectKind& kind, Diagnostics& diagnostics);

/// Typed access to the values of a config.json; a missing or wrong value is reported once.
class ConfigValues {
 public:
  ConfigValues(const LogJson& object, Diagnostics& diagnostics)
      : object_(object), diagnostics_(diagnostics) {}

  /// A number that must be there; 1 where it is not.
  std::int64_t size(ConfigNames names);
  /// `otherwise` where it is missing or null.
  std::int64_t size_or(ConfigNames names, std::int64_t otherwise);
  /// At least `least` of them; that many ones where they are not.
  std::vector<std::int64_t> sizes(ConfigNames names, std::size_t least);
  double share_or(const char* name, double otherwise);
  bool flag_or(const char* name, bool otherwise);
  std::string word_or(const char* name, std::string_view otherwise);
  /// Of an object within; without keys where there is none. What it misses is not reported by finish().
  ConfigValues inside(const char* name) const { return {at(object_, name), diagnostics_}; }
  /// Entries of an object or list; 0 where there is none.
  std::size_t count(const char* name) const;
  /// A value that cannot be, said at its key.
  void refuse(const char* name, std::string message, std::string hint = "");

  /// Reports the missing keys, all at once. True when every key was right.
  bool finish(std::string_view model_type);

 private:
  const LogJson* find(ConfigNames names, const char*& used) const;
  std::int64_t checked(const LogJson& value, const char* name);

  const LogJson& object_;
  Diagnostics& diagnostics_;
  std::vector<std::string> missing_;
};

}  // namespace foretrain
