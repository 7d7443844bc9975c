// Recognises how a Python program makes its network and data set, by names alone. A program that builds its
// network from layers tells nothing here.
#include "sim/import/settings/python_network.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "sim/base/ascii.hpp"
#include "sim/import/settings/trees.hpp"

namespace foretrain {

namespace {

/// Arguments of argparse, and imports, that are looked at.
constexpr std::size_t kMostDeclared = 1000, kMostImports = 100;

/// Returns the part of a dotted name behind its last dot.
std::string_view last_part(std::string_view name) {
  return name.substr(name.rfind('.') == name.npos ? 0 : name.rfind('.') + 1);
}

/// Returns the part before the last one, "AutoModelForCausalLM" of
/// "transformers.AutoModelForCausalLM.from_pretrained".
std::string_view holder_of(std::string_view whole) {
  const std::size_t dot = whole.rfind('.');
  return dot == whole.npos ? std::string_view() : last_part(whole.substr(0, dot));
}

/// Returns whether a text contains a part.
bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// Returns whether a function stands in a library of networks, such as torchvision.models.resnet50 or
/// tf.keras.applications.ResNet50, by the folder that it is in.
bool is_in_library(std::string_view whole) {
  const std::string_view folder = holder_of(whole);
  constexpr std::array<std::string_view, 10> kFolders{
      "models",       "applications", "resnet",       "vgg",          "densenet",
      "efficientnet", "mobilenet",    "inception_v3", "segmentation", "detection"};
  const bool is_library = whole.starts_with("models.") || contains(whole, ".models.") ||
                          contains(whole, "applications.") || whole.starts_with("tvm.");
  return is_library && std::ranges::find(kFolders, folder) != kFolders.end();
}

/// Returns whether a class of Hugging Face is a network that is trained, and no tokenizer, scheduler or
/// encoder around it.
bool is_trained_class(std::string_view holder) {
  for (const std::string_view other :
       {"Tokenizer", "Processor", "Config", "Scheduler", "Pipeline", "TextModel", "TextEncoder",
        "Autoencoder", "Extractor", "VisionModelWithProjection", "Peft"})
    if (contains(holder, other)) return false;
  return contains(holder, "Model") || contains(holder, "For") || contains(holder, "Transformer");
}

/// Returns an argument by name, otherwise by its position; nullptr where it is not given.
const YamlNode* given(const YamlNode& arguments, std::string_view name, std::size_t place) {
  if (const YamlNode& by_name = arguments.at(std::string(name)); !by_name.is_null()) return &by_name;
  return place < arguments.items.size() ? &arguments.items[place] : nullptr;
}

/// Returns an argument as a text; one that is no text is kNotKnown.
std::optional<YamlNode> text_of(const YamlNode* node) {
  if (node == nullptr) return std::nullopt;
  const bool is_text = node->kind == YamlNode::Kind::scalar;
  return YamlNode{YamlNode::Kind::scalar, is_text ? node->text : std::string(kNotKnown), {}, {}, node->span};
}

/// Returns whether a part of a pipeline with several networks is the denoiser, which is trained.
bool is_denoiser(const YamlNode& arguments) {
  const YamlNode& folder = arguments.at("subfolder");
  return folder.is_null() || folder.text == "unet" || folder.text == "transformer";
}

}  // namespace

/// Names are taken up to the end of the line, or of the bracket around them.
std::set<std::string> imported_networks(std::string_view text) {
  std::set<std::string> out;
  std::size_t imports = 0;
  for (const std::string_view library :
       {"from torchvision.models", "from keras.applications", "from tensorflow.keras.applications"}) {
    for (std::size_t at = text.find(library); at != text.npos; at = text.find(library, at + 1)) {
      if (++imports > kMostImports) return out;  // each is looked for to the end of the text
      // Names follow on the line, or in a bracket over several lines.
      const std::size_t import = text.find(" import ", at), end = std::min(text.find('\n', at), text.size());
      if (import >= end) continue;
      const bool is_open = text.substr(import, end - import).find('(') != text.npos;
      const std::size_t last = is_open ? std::min(text.find(')', import), text.size()) : end;
      std::string word;
      for (const char c : std::string(text.substr(import + 7, last - import - 7)) + ' ') {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_')
          word += c;
        else if (!word.empty())
          out.insert(std::exchange(word, {}));
      }
    }
  }
  return out;
}

/// The name tells for library functions; for from_pretrained the class in front of it does.
bool makes_network(std::string_view whole, const std::set<std::string>& imported) {
  const std::string_view name = last_part(whole);
  if (name == "from_pretrained") return is_trained_class(holder_of(whole));
  if (name == "create_model") return true;
  if (whole == "torch.hub.load") return true;
  if (name == "get_model") return contains(whole, "models.");
  return is_in_library(whole) || imported.contains(std::string(whole));
}

/// A function of a library is itself the name of the network.
std::optional<YamlNode> network_asked_for(std::string_view whole, const YamlNode& arguments) {
  const std::string_view name = last_part(whole);
  if (name == "from_pretrained")
    return is_denoiser(arguments) ? text_of(given(arguments, "pretrained_model_name_or_path", 0))
                                  : std::nullopt;
  if (name == "create_model") return text_of(given(arguments, "model_name", 0));
  if (whole == "torch.hub.load") return text_of(given(arguments, "model", 1));
  if (name == "get_model") return text_of(given(arguments, "name", 0));
  return YamlNode{YamlNode::Kind::scalar, std::string(name), {}, {}, arguments.span};
}

/// The endings cover torchvision's classes and the modules of Keras.
std::string data_set_of_call(std::string_view whole) {
  struct Row {
    std::string_view ending, name;
  };
  constexpr Row kRows[] = {{"datasets.MNIST", "mnist"},       {"datasets.FashionMNIST", "mnist"},
                           {"datasets.CIFAR10", "cifar10"},   {"datasets.CIFAR100", "cifar100"},
                           {"datasets.ImageNet", "imagenet"}, {"mnist.load_data", "mnist"},
                           {"cifar10.load_data", "cifar10"},  {"cifar100.load_data", "cifar100"}};
  for (const Row& row : kRows)
    if (whole.ends_with(row.ending)) return std::string(row.name);
  return "";
}

/// Programs call their tokenizer by such names.
bool cuts_texts(std::string_view name) { return name.starts_with("tok") || contains(name, "tokeniz"); }

/// An option's value stands behind '=', or is the next word that is no option; otherwise it is a flag.
DeclaredArguments::DeclaredArguments(const std::vector<ShellWord>* words) {
  if (words == nullptr) return;
  for (std::size_t i = 0; i < words->size(); ++i) {
    const ShellWord& word = (*words)[i];
    if (!word.text.starts_with('-')) continue;
    const std::size_t equals = word.text.find('=');
    const bool has_next =
        equals == std::string::npos && i + 1 < words->size() && !(*words)[i + 1].text.starts_with("--");
    const ShellWord& holder = has_next ? (*words)[i + 1] : word;
    given_[word.text.substr(0, equals)] = !holder.known                 ? std::string(kNotKnown)
                                          : equals != std::string::npos ? word.text.substr(equals + 1)
                                          : has_next                    ? holder.text
                                                                        : "true";
  }
}

/// The name is `dest`, otherwise the first long option, otherwise the first one, as argparse decides.
void DeclaredArguments::declare(const YamlNode& call) {
  if (values_.size() >= kMostDeclared || call.items.empty()) return;
  std::string name = call.at("dest").text;
  std::optional<std::string> said;
  // An option has several names, such as "-b" and "--batch-size".
  for (const YamlNode& option : call.items) {
    if (const auto found = given_.find(option.text); found != given_.end()) said = found->second;
    if (!name.empty() && !name.starts_with('-')) continue;
    if (option.text.starts_with("--") || name.empty()) name = option.text;
  }
  name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
  std::ranges::replace(name, '-', '_');
  // A flag is false unless the command line has it.
  const std::string& action = call.at("action").text;
  YamlNode value = call.at("default");
  if (action == "store_true")
    value = {YamlNode::Kind::scalar, said ? "true" : "false", {}, {}, call.span};
  else if (said)
    value = {YamlNode::Kind::scalar, *said, {}, {}, call.span};
  else if (value.is_null())
    return;
  value.span = call.span;
  values_.try_emplace(std::move(name), std::move(value));
}

/// The name before the dot must be one that programs give the result of parse_args().
const YamlNode* DeclaredArguments::find(const std::string& dotted_name,
                                        const std::set<std::string>& namespaces) const {
  // Names that programs use for the result of parse_args().
  constexpr std::array<std::string_view, 8> kUsual{"args",  "opt",     "opts", "FLAGS",
                                                   "flags", "hparams", "cfg",  "config"};
  const std::size_t dot = dotted_name.find('.');
  if (dot == std::string::npos) return nullptr;
  const std::string holder = dotted_name.substr(0, dot);
  if (std::ranges::find(kUsual, holder) == kUsual.end() && !namespaces.contains(holder)) return nullptr;
  const auto found = values_.find(dotted_name.substr(dot + 1));
  return found == values_.end() ? nullptr : &found->second;
}

}  // namespace foretrain
