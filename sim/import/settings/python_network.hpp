// Declares how a Python program makes its network and its data set, and what its own command line gives it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/jobs/yaml.hpp"
#include "sim/import/shell_values.hpp"

namespace foretrain {

/// Returns the functions that a program imports by name from torchvision.models or keras.applications. Looks
/// at the first 100 imports.
std::set<std::string> imported_networks(std::string_view text);

/// Returns whether a call makes a network by its name: models.resnet50(…), timm.create_model("resnet50"),
/// AutoModelForCausalLM.from_pretrained("gpt2"). `whole` is the dotted name that is called; `imported` is the
/// result of imported_networks().
bool makes_network(std::string_view whole, const std::set<std::string>& imported);

/// Returns the name that such a call asks its library for. Nothing for a part that is not trained: a
/// tokenizer, a text encoder, a subfolder of a pipeline other than its denoiser.
std::optional<YamlNode> network_asked_for(std::string_view whole, const YamlNode& arguments);

/// Returns the catalog's name of the data set that a call opens, such as torchvision.datasets.CIFAR10(…) or
/// keras.datasets.mnist.load_data(); empty for other calls.
std::string data_set_of_call(std::string_view whole);

/// Returns whether a call cuts texts into tokens, by the names of tokenizers: tokenizer(…), tok(…).
bool cuts_texts(std::string_view name);

/// The arguments that a program declares with argparse, each with the value of the command line, otherwise
/// its default.
class DeclaredArguments {
 public:
  /// `words` stand behind the program's name; nullptr: not known.
  explicit DeclaredArguments(const std::vector<ShellWord>* words);
  /// Takes one call of add_argument(). Does nothing beyond a thousand arguments.
  void declare(const YamlNode& call);
  /// Returns the value of "args.batch_size", where `args` is a usual name or in `namespaces`; nullptr: not
  /// declared. It belongs to this object.
  const YamlNode* find(const std::string& dotted_name, const std::set<std::string>& namespaces) const;

 private:
  /// Values by option, with its dashes.
  std::map<std::string, std::string> given_;
  /// Values by the argument's name.
  std::map<std::string, YamlNode> values_;
};

}  // namespace foretrain
