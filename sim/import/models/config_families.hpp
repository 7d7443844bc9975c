// The networks of transformers that a config.json can describe: a row each, its writer in a file of its kind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/import/models/config_values.hpp"
#include "sim/import/models/filled_text.hpp"
#include "sim/import/models/model_file.hpp"

namespace foretrain {

/// What a writer reads and fills.
struct ConfigSource {
  ConfigValues& values;
  std::string model_type;
  std::string architecture;  ///< "BertForMaskedLM"; empty: not said
  const ModelImportOptions& options;
  std::vector<std::string>& remarks;

  bool is_for(std::string_view head) const { return architecture.find(head) != std::string::npos; }
  /// Tokens of a sample: as asked for, otherwise the most that the network takes, up to `usual`, with a
  /// remark.
  std::int64_t tokens(std::int64_t most, std::int64_t usual) const;
  /// Classes of a head: `num_labels`, or as many as id2label has.
  std::int64_t labels() const;
};

/// A model family of transformers: its name in config.json and the writer of its network.
struct ConfigFamily {
  std::string_view model_type;
  /// The network as a model file without its first lines; not to be used when something was reported.
  std::string (*write)(const ConfigSource& source) = nullptr;
};

const std::vector<ConfigFamily>& config_families();

// config_encoders.cpp
std::string write_bert(const ConfigSource& source);
std::string write_roberta(const ConfigSource& source);
// config_decoders.cpp
std::string write_gpt2(const ConfigSource& source);
std::string write_llama(const ConfigSource& source);
std::string write_gpt_neox(const ConfigSource& source);
// config_mixtures.cpp
std::string write_qwen_moe(const ConfigSource& source);
std::string write_deepseek(const ConfigSource& source);
std::string write_llama4(const ConfigSource& source);
// config_norms.cpp
std::string write_gemma_windows(const ConfigSource& source);
std::string write_olmo(const ConfigSource& source);
std::string write_nemotron(const ConfigSource& source);
// config_packed.cpp
std::string write_falcon(const ConfigSource& source);
std::string write_phi(const ConfigSource& source);
std::string write_bloom(const ConfigSource& source);
std::string write_mpt(const ConfigSource& source);
// config_translators.cpp
std::string write_t5(const ConfigSource& source);
std::string write_whisper(const ConfigSource& source);
// config_vision.cpp
std::string write_vit(const ConfigSource& source);
std::string write_swin(const ConfigSource& source);
std::string write_convnext(const ConfigSource& source);

/// A squared error in place of the loss that a network without a head does not have, with a remark.
std::string loss_without_head(const ConfigSource& source);

/// The layer of an activation function as transformers names it, with a remark for one that is not known.
std::string activation_layer(const ConfigSource& source, std::string_view function);

}  // namespace foretrain
