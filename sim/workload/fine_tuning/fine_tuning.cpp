// Matching of names. Names of modules differ between libraries; a table of words that mean the same
// projection maps a target to the layers of any network.
#include "sim/workload/fine_tuning/fine_tuning.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace foretrain {

namespace {

using Words = std::span<const std::string_view>;

// Names of one projection in transformers, PEFT's own mapping (peft/utils/constants.py), litgpt, torchtune
// and diffusers. The first is that of the networks in models/.
constexpr std::string_view kQueryNames[] = {"query", "q_proj", "q",          "q_lin",
                                            "to_q",  "wq",     "query_proj", "self_attn.q"};
constexpr std::string_view kKeyNames[] = {"key", "k_proj", "k", "k_lin", "to_k", "wk", "key_proj"};
constexpr std::string_view kValueNames[] = {"value", "v_proj", "v", "v_lin", "to_v", "wv", "value_proj"};
constexpr std::string_view kPackedNames[] = {
    "query_key_value", "in_proj", "c_attn", "qkv_proj", "Wqkv", "wqkv", "qkv", "attn.c_attn"};
constexpr std::string_view kOutputNames[] = {"output",   "o_proj",  "out_proj",   "output_proj",
                                             "dense",    "out_lin", "wo",         "o",
                                             "to_out.0", "to_out",  "projection", "attn.proj"};
constexpr std::string_view kGateNames[] = {"gate_proj", "w1", "gate", "wi_0", "fc_1"};
constexpr std::string_view kUpNames[] = {"up_proj", "w3", "up", "wi_1", "fc_2"};
constexpr std::string_view kDownNames[] = {"down_proj", "w2", "down", "wo", "mlp.proj"};
constexpr std::string_view kFirstNames[] = {
    "linear", "fc1",     "c_fc",       "dense_h_to_4h",      "lin1",          "wi",
    "fc_in",  "ff.proj", "weights_in", "intermediate.dense", "ff.net.0.proj", "intermediate_dense"};
constexpr std::string_view kSecondNames[] = {"linear2",  "fc2",         "dense_4h_to_h", "lin2",
                                             "fc_out",   "ff.net",      "weights_out",   "output.dense",
                                             "ff.net.2", "output_dense"};
constexpr std::string_view kHeadNames[] = {"lm_head",    "head",  "embed_out",
                                           "classifier", "score", "output_layer"};
constexpr std::string_view kWordsNames[] = {"embed_tokens", "embedding", "wte", "word_embeddings",
                                            "tok_embeddings"};
constexpr Words kRolesNames[] = {kQueryNames,  kKeyNames,    kValueNames, kPackedNames,
                                 kOutputNames, kGateNames,   kUpNames,    kDownNames,
                                 kFirstNames,  kSecondNames, kHeadNames,  kWordsNames};
/// Roles inside a packed projection, which stands for all three; each of them also stands for the packed one.
constexpr Words kInPackedNames[] = {kQueryNames, kKeyNames, kValueNames};

/// A name that two roles share.
constexpr std::string_view kEitherName = "wo";

bool holds(Words words, std::string_view word) { return std::ranges::find(words, word) != words.end(); }

/// True where the last parts of a path are this name.
bool ends_with_name(std::string_view path, std::string_view name) {
  return path.ends_with(name) && (path.size() == name.size() || path[path.size() - name.size() - 1] == '.');
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('.') + 1); }

/// Mark before a target that is the name of a layer of the network: then no other name stands for it.
constexpr std::string_view kLiterally = "=";

/// True where a layer at `path` is what other libraries call `target`.
bool is_called(std::string_view path, std::string_view target) {
  if (ends_with_name(path, target)) return true;
  for (const Words role : kRolesNames) {
    if (!holds(role, target)) continue;
    for (const std::string_view name : role) {
      // Other networks call attention's last product "wo"; a layer of that name ends a feed-forward part
      // (T5).
      const bool is_other = name == kEitherName && role.data() == kOutputNames;
      if (!is_other && ends_with_name(path, name)) return true;
    }
  }
  const std::string_view own = last_part(path);
  constexpr Words kFeedForward[] = {kGateNames, kUpNames, kDownNames, kFirstNames, kSecondNames};
  if (target == "mlp" && block_number(path) >= 0)
    return std::ranges::any_of(kFeedForward, [&](Words role) { return holds(role, own); });
  const auto is_part = [](std::string_view word) {
    return std::ranges::any_of(kInPackedNames, [&](Words part) { return holds(part, word); });
  };
  return (holds(kPackedNames, own) && is_part(target)) || (is_part(own) && holds(kPackedNames, target));
}

bool is_head(std::string_view path) { return holds(kHeadNames, last_part(path)); }

constexpr std::array<std::string_view, 7> kAdapterNames{"none",   "lora",     "dora",  "ia3",
                                                        "prompt", "p_tuning", "prefix"};
constexpr std::array<std::string_view, 3> kUpcastNames{"none", "norms", "all"};
constexpr std::array<std::string_view, 8> kFormatNames{"by_precision", "fp32", "bf16", "fp16",
                                                       "fp8",          "int8", "nf4",  "nf4_double"};
constexpr std::string_view kAllLinearNames = "all-linear", kLastNames = "last:", kFromNames = "from:";

std::uint32_t count_behind(std::string_view word, std::string_view beginning) {
  std::uint32_t count = 0;
  std::from_chars(word.data() + beginning.size(), word.data() + word.size(), count);
  return count;
}

/// Returns the number that a path begins with, or that of its block; -1 for none.
std::int64_t module_number(std::string_view path) {
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), number);
  return error == std::errc{} && end != path.data() + path.size() && *end == '.' ? number
                                                                                 : block_number(path);
}

bool is_norm(std::string_view name) { return name.find("norm") != std::string_view::npos; }

}  // namespace

std::string_view name_of(AdapterKind kind) { return kAdapterNames[static_cast<std::size_t>(kind)]; }
std::string_view name_of(Upcast upcast) { return kUpcastNames[static_cast<std::size_t>(upcast)]; }
std::string_view name_of(WeightFormat format) { return kFormatNames[static_cast<std::size_t>(format)]; }

bool is_quantised(WeightFormat format) { return format >= WeightFormat::fp8; }

double bytes_per_weight(WeightFormat format) {
  constexpr std::array<double, 8> bytes{4, 4, 2, 2, 1, 1, 0.5 + 4.0 / 64, 0.5 + 1.0 / 64 + 4.0 / (64 * 256)};
  return bytes[static_cast<std::size_t>(format)];
}

std::string named_with(const std::string& model, const FineTuning& tuning) {
  std::string how;
  const auto add = [&how](const std::string& words) { how += (how.empty() ? "" : ", ") + words; };
  if (tuning.adapter == AdapterKind::ia3) add("ia3");
  if (tuning.adapter == AdapterKind::lora || tuning.adapter == AdapterKind::dora)
    add(fmt::format("{} of rank {}", name_of(tuning.adapter), tuning.rank));
  if (has_virtual_tokens(tuning.adapter))
    add(fmt::format("{} of {} virtual tokens", name_of(tuning.adapter), tuning.virtual_tokens));
  if (!tuning.trainable.empty()) add(fmt::format("trains {}", fmt::join(tuning.trainable, ", ")));
  if (tuning.has_format()) add(fmt::format("weights in {}", name_of(tuning.weights)));
  if (tuning.upcast == Upcast::norms) add("norms in fp32");
  if (tuning.upcast == Upcast::all) add("other weights in fp32");
  if (!tuning.fused.empty()) add(fmt::format("fused {}", to_string(tuning.fused)));
  return how.empty() ? model : fmt::format("{} ({})", model, how);
}

std::int64_t block_number(std::string_view path) {
  const std::size_t first = path.find('.');
  if (first == std::string_view::npos) return -1;
  const std::string_view rest = path.substr(first + 1);
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  const bool is_whole = error == std::errc{} && end != rest.data() + rest.size() && *end == '.';
  return is_whole ? number : -1;
}

Trainability::Trainability(FineTuning tuning)
    : tuning_(std::move(tuning)),
      everything_(tuning_.adapter == AdapterKind::none &&
                  (tuning_.trainable.empty() ||
                   std::ranges::find(tuning_.trainable, "all") != tuning_.trainable.end())),
      used_targets_(tuning_.targets.size(), 0),
      used_trainable_(tuning_.trainable.size(), 0) {
  for (const std::string& word : tuning_.trainable) {
    if (word.starts_with(kLastNames)) last_blocks_ = std::max(last_blocks_, count_behind(word, kLastNames));
  }
}

bool Trainability::matches_trainable(std::size_t word, std::string_view name) {
  const std::string_view asked = tuning_.trainable[word];
  const std::string_view path = name.substr(0, name.rfind('.'));
  if (asked == "all") return true;
  if (asked == "head") return in_head_ || is_head(path);
  if (asked == "norms") return is_norm(name);
  if (asked == "biases") return name.ends_with("bias");
  if (asked.starts_with(kLastNames)) {
    const std::int64_t block = block_number(path);
    return block >= 0 && block + last_blocks_ >= blocks_;
  }
  if (asked.starts_with(kFromNames)) {
    const std::int64_t module = module_number(name);
    return module < 0 || module >= count_behind(asked, kFromNames);
  }
  return is_called(path, asked) || name.find(asked) != std::string_view::npos;
}

bool Trainability::trains(std::string_view name) {
  if (everything_) return true;
  for (std::size_t word = 0; word < tuning_.trainable.size(); ++word) {
    if (!matches_trainable(word, name)) continue;
    used_trainable_[word] = 1;
    return true;
  }
  return false;
}

/// True for the output embedding, or for a head by its name in a network that reads words. The latter is
/// trained for classes with task_type SEQ_CLS. Heads of other networks have adapters like all their linear
/// layers.
bool Trainability::is_scoring_words(std::string_view path, std::int64_t out) const {
  return words_ > 0 && (out == words_ || is_head(path));
}

bool Trainability::has_adapter(std::string_view path, std::int64_t out) {
  if (tuning_.adapter == AdapterKind::none || has_virtual_tokens(tuning_.adapter)) return false;
  if (path.ends_with('.')) path.remove_suffix(1);
  // The defaults of PEFT apply where no targets are given.
  if (tuning_.targets.empty()) {
    const std::string_view own = last_part(path);
    if (tuning_.adapter == AdapterKind::ia3)
      return own == "key" || own == "value" || holds(kPackedNames, own) ||
             (block_number(path) >= 0 && ends_feed_forward(path));
    return own == "query" || own == "value" || holds(kPackedNames, own);
  }
  // Every target is tried, so that each one that matches is marked as used.
  bool found = false;
  for (std::size_t i = 0; i < tuning_.targets.size(); ++i) {
    const std::string& target = tuning_.targets[i];
    const bool is_it = target.starts_with(kLiterally) ? ends_with_name(path, target.substr(kLiterally.size()))
                       : target == kAllLinearNames    ? !is_scoring_words(path, out)
                                                      : is_called(path, target);
    if (!is_it) continue;
    used_targets_[i] = 1, found = true;
  }
  return found;
}

bool Trainability::ends_feed_forward(std::string_view path) {
  const auto is_called_so = [path](std::string_view name) { return ends_with_name(path, name); };
  return std::ranges::any_of(kDownNames, is_called_so) || std::ranges::any_of(kSecondNames, is_called_so);
}

bool Trainability::is_quantised(std::string_view path) const {
  return foretrain::is_quantised(tuning_.weights) && block_number(path) >= 0;
}

std::vector<std::string> Trainability::unmatched() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < used_targets_.size(); ++i) {
    if (used_targets_[i] != 0) continue;
    const std::string& target = tuning_.targets[i];
    names.push_back(target.substr(target.starts_with(kLiterally) ? kLiterally.size() : 0));
  }
  for (std::size_t i = 0; i < used_trainable_.size(); ++i) {
    if (used_trainable_[i] == 0 && !everything_) names.push_back(tuning_.trainable[i]);
  }
  return names;
}

}  // namespace foretrain
