// How a Python program makes its network and its data set, and what its own command line tells it.
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

/// Functions that a program imports by name from torchvision.models or keras.applications.
std::set<std::string> imported_networks(std::string_view text);

/// Whether a call makes a network by its name: models.resnet50(…), timm.create_model("resnet50"),
/// AutoModelForCausalLM.from_pretrained("gpt2"). `whole` is the dotted name that is called.
bool makes_network(std::string_view whole, const std::set<std::string>& imported);

/// The name that such a call asks its library for; nothing for a part that is not what is trained (a
/// tokenizer, a text encoder, a subfolder of a pipeline other than its denoiser).
std::optional<YamlNode> network_asked_for(std::string_view whole, const YamlNode& arguments);

/// Whether the call opens one of the data sets that the catalog has: torchvision.datasets.CIFAR10(…),
/// keras.datasets.mnist.load_data(). Its name there, else empty.
std::string data_set_of_call(std::string_view whole);

/// Whether the call cuts texts into tokens, by what people call tokenizers: tokenizer(…), tok(…).
bool cuts_texts(std::string_view name);

/// The arguments that a program declares with argparse: the value of its command line, else the default.
class DeclaredArguments {
 public:
  /// `words` stand behind the program's name.
  explicit DeclaredArguments(const std::vector<ShellWord>* words);
  /// One call of add_argument(). More than a thousand are left out.
  void declare(const YamlNode& call);
  /// Of "args.batch_size", where `args` is a usual name or in `namespaces`; nullptr: not declared.
  const YamlNode* find(const std::string& dotted_name, const std::set<std::string>& namespaces) const;

 private:
  std::map<std::string, std::string> given_;  ///< by option, with its dashes
  std::map<std::string, YamlNode> values_;    ///< by the argument's name
};

}  // namespace foretrain
