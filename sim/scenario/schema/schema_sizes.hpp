// The sizes of a family of networks: one file of layers, and for each size a name with the numbers of its
// "$name".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/layers/block_expansion.hpp"
#include "sim/scenario/toml/declared_keys.hpp"

namespace foretrain {

/// One table [sizes.NAME].
struct ModelSize {
  std::string name;
  SourceSpan span{};
  /// Replaces the file's description; may be empty.
  std::string description;
  /// Further names that libraries have for it.
  std::vector<std::string> also;
  /// Published number of parameters, trained or not; 0: unknown.
  std::int64_t published = 0;
  /// Source of that number.
  std::string source;
  /// The numbers of `with`, over the file's `defaults`.
  Arguments numbers;
};

/// Reads the numbers that `$name` means if a size states no other.
Arguments read_defaults(TableReader& document, std::string_view key);

/// Reads the tables under [sizes], each with the numbers of `defaults` as a start.
std::vector<ModelSize> read_sizes(TableReader& document, std::string_view key, const Arguments& defaults);

/// The table [config]: how a config.json describes a network of this family.
struct ConfigOfFamily {
  /// The name in transformers; empty: none.
  std::string model_type;
  /// The key of the config by `$name`, as "vision_config.hidden_size".
  std::map<std::string, std::string, std::less<>> numbers{};
};
/// Reads the table; empty when there is none.
ConfigOfFamily read_config_of_family(TableReader& document, std::string_view key);

/// Returns the size that the text's `part` names, or the first one when it names none; nullptr without sizes.
const ModelSize* chosen_size(const std::vector<ModelSize>& sizes, const SourceText& source);

/// Returns the keys of [sizes.NAME] and [config] for the reference page.
std::vector<KeyTable> family_key_tables();

}  // namespace foretrain
