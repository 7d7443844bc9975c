// Names of GPUs. Words of makers do not distinguish GPUs, but "Quadro" does: RTX 6000 is a name of three
// generations.
#include "sim/scenario/gpu_names.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "sim/base/ascii.hpp"

namespace foretrain {

namespace {

/// A name that drivers print, and the product.
struct DriversName {
  std::string_view name, product;
};
/// Drivers' names of boards that omit the socket, or that have the memory of the CPU in their name.
constexpr DriversName kDriversNames[] = {{"NVIDIA H100 80GB HBM3", "NVIDIA H100 SXM5 80GB"},
                                         {"NVIDIA GH200 480GB", "NVIDIA GH200 96GB"}};

/// Returns a name in small letters, without anything but letters and digits.
std::string bare(std::string_view name) {
  std::string out;
  for (const char c : lower_case(name))
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) out += c;
  return out;
}

/// Returns the words in their order as one text.
std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += word;
  return out;
}

/// Returns whether an entry begins with this at a boundary of its parts: v100 and v100sxm2 of v100-sxm2-16gb.
bool begins_parts(std::string_view entry, std::string_view wanted) {
  for (std::size_t end = entry.find('-'); end != std::string_view::npos; end = entry.find('-', end + 1))
    if (bare(entry.substr(0, end)) == wanted) return true;
  return false;
}

std::set<std::string> set_of_words(std::string_view name) {
  const std::vector<std::string> words = product_words(name);
  return {words.begin(), words.end()};
}

/// Returns the entries that fulfil a condition.
template <class Is>
std::vector<std::string> those(const std::vector<std::string>& entries, Is is) {
  std::vector<std::string> out;
  std::ranges::copy_if(entries, std::back_inserter(out), is);
  return out;
}

}  // namespace

std::string_view product_alone(std::string_view product) {
  for (const auto& [name, whole] : kDriversNames)
    if (product == name) return whole;
  const std::size_t open = product.find('['), close = product.rfind(']');
  return open == std::string_view::npos || close == std::string_view::npos || close < open
             ? product
             : product.substr(open + 1, close - open - 1);
}

std::vector<std::string> product_words(std::string_view product) {
  std::vector<std::string> words(1);
  for (const char c : lower_case(product_alone(product)) + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  words.pop_back();
  std::erase_if(words, [](const std::string& word) {
    return word == "nvidia" || word == "tesla" || word == "geforce" || word == "quadro" || word == "amd" ||
           word == "instinct" || word == "gpu" || word == "generation" || word == "edition" ||
           word == "workstation" || word.starts_with("hbm");
  });
  for (std::string& word : words) {
    // A site may write the memory as in "v100-32g".
    const bool is_size =
        word.size() > 1 && word.ends_with('g') && word.find_first_not_of("0123456789") == word.size() - 1;
    if (is_size) word += 'b';
  }
  // AMD's products are one word: "Instinct MI250X/MI250", "MI300X OAM".
  const auto is_amd_product = [](const std::string& word) {
    return word.starts_with("mi") && word.size() > 2 &&
           std::isdigit(static_cast<unsigned char>(word[2])) != 0;
  };
  if (const auto amd = std::ranges::find_if(words, is_amd_product); amd != words.end()) return {*amd};
  return words;
}

bool is_product_named(std::string_view entry, std::string_view product) {
  const std::vector<std::string> own = product_words(entry), wanted = product_words(product);
  const auto has = [&own](const std::string& word) { return std::ranges::find(own, word) != own.end(); };
  return !wanted.empty() && (std::ranges::all_of(wanted, has) || bare(entry) == joined(wanted));
}

std::vector<std::string> gpus_named(std::string_view name, const std::vector<std::string>& entries) {
  const std::string whole = bare(name), wanted = joined(product_words(name));
  if (auto same = those(entries, [&](const auto& entry) { return bare(entry) == whole; }); !same.empty())
    return same;
  if (wanted.empty()) return {};
  const bool is_quadro = whole.find("quadro") != std::string::npos;
  const auto is_other_line = [&](const std::string& entry) {
    return entry.starts_with("quadro") && !is_quadro;
  };
  const std::set<std::string> words = set_of_words(name);
  const auto is_same = [&](const std::string& entry) {
    return joined(product_words(entry)) == wanted || set_of_words(entry) == words;
  };
  const auto may_be = [&](const std::string& entry) {
    return is_product_named(entry, name) || begins_parts(entry, wanted);
  };
  // The steps go from exact to loose; the first that finds entries decides.
  auto same = those(entries, is_same);
  // A name without "Quadro" may still mean such a board, so the next step lists both.
  if (std::ranges::any_of(same, is_other_line)) same.clear();
  return same.empty() ? those(entries, may_be) : same;
}

}  // namespace foretrain
