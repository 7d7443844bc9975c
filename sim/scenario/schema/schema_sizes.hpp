// The sizes of a network's family: one file of layers, and for each size a name with the numbers of its
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
  std::string description;        ///< instead of the file's; may be empty
  std::vector<std::string> also;  ///< further names that libraries have for it
  std::int64_t published = 0;     ///< parameters, trained or not; 0: not known
  std::string source;             ///< of that number
  Arguments numbers;              ///< `with`, over the file's `defaults`
};

/// What `$name` stands for where a size does not say otherwise.
Arguments read_defaults(TableReader& document, std::string_view key);

/// The tables under [sizes], each with the numbers of `defaults`.
std::vector<ModelSize> read_sizes(TableReader& document, std::string_view key, const Arguments& defaults);

/// The table [config]: how a config.json describes a network of this family.
struct ConfigOfFamily {
  std::string model_type;  ///< as transformers has it; empty: none
  /// By name the key, as "vision_config.hidden_size".
  std::map<std::string, std::string, std::less<>> numbers{};
};
ConfigOfFamily read_config_of_family(TableReader& document, std::string_view key);

/// The size that the text's `part` names; the first one when it names none. Null without sizes.
const ModelSize* chosen_size(const std::vector<ModelSize>& sizes, const SourceText& source);

/// The keys of [sizes.NAME] and [config] on the reference page.
std::vector<KeyTable> family_key_tables();

}  // namespace foretrain
