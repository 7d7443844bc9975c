// Names of GPUs as drivers, sites and people write them, and the entries of the catalog that they stand for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// Returns the product in a driver's name: the text in brackets ("GV100GL [Tesla V100 SXM2 16GB]"), else the
/// whole name. Boards whose driver omits the distinguishing part get their full name ("NVIDIA H100 80GB HBM3"
/// is the one on SXM5).
std::string_view product_alone(std::string_view product);

/// Returns the words that distinguish products, in small letters: a100, sxm4, 80gb for "NVIDIA
/// A100-SXM4-80GB".
std::vector<std::string> product_words(std::string_view product);

/// Returns whether the catalog's entry is such a product. "NVIDIA A100-SXM4-80GB" is a100-sxm4-80gb, "NVIDIA
/// H200" is any H200, "L40" is not L40S.
bool is_product_named(std::string_view entry, std::string_view product);

/// Returns the entries that a name may mean: the entry that is spelt alike ("RTX 3060 Ti", "GeForce RTX
/// 3060Ti"), else those with the same words ("NVIDIA A100 80GB PCIe"), else those that have all its words or
/// begin with them ("v100", "RTX 4060 Ti"). Empty if there is none.
std::vector<std::string> gpus_named(std::string_view name, const std::vector<std::string>& entries);

}  // namespace foretrain
