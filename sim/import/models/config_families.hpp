// Declares the families of transformers that a config.json can describe, and the writer of each network.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/import/models/config_values.hpp"
#include "sim/import/models/filled_text.hpp"
#include "sim/import/models/model_file.hpp"

namespace foretrain {

/// Input of a writer: the values of the config, and where to put its remarks. All references belong to the
/// caller of the writer and outlive it.
struct ConfigSource {
  ConfigValues& values;
  std::string model_type;
  /// Name of the PyTorch class, such as "BertForMaskedLM"; empty: the config names none.
  std::string architecture;
  const ModelImportOptions& options;
  std::vector<std::string>& remarks;

  /// Returns whether the architecture's name contains a head, such as "ForCausalLM".
  bool is_for(std::string_view head) const { return architecture.find(head) != std::string::npos; }
  /// Returns the tokens of a sample: those of --sequence, otherwise the smaller of `most` (what the network
  /// takes) and `usual`. Adds a remark where --sequence exceeds `most`, or `usual` cuts it.
  std::int64_t tokens(std::int64_t most, std::int64_t usual) const;
  /// Returns the classes of a head: num_labels, otherwise the entries of id2label, otherwise 2.
  std::int64_t labels() const;
};

/// A model family of transformers: its name in config.json and the writer of its network.
struct ConfigFamily {
  std::string_view model_type;
  /// Returns the network as a model file without its first line. The text is not valid when
  /// ConfigValues::finish() returns false.
  std::string (*write)(const ConfigSource& source) = nullptr;
};

/// Returns all families with a writer of their own. Families of models/families come on top of these.
const std::vector<ConfigFamily>& config_families();

// The writers follow, by the file that defines them. Each returns the text of the network as
// ConfigFamily::write describes it.
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

/// Returns a squared error in place of the loss that a network without a head does not have; adds a remark.
std::string loss_without_head(const ConfigSource& source);

/// Returns the layer of an activation function by transformers' name. An unknown name becomes gelu, with a
/// remark.
std::string activation_layer(const ConfigSource& source, std::string_view function);

}  // namespace foretrain
