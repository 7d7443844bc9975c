// Near misses: the known names that a mistyped name may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// Returns the Damerau-Levenshtein distance, where a swap of neighbours counts 1. Case is ignored. Strings
/// are cut at 64 characters.
int edit_distance(std::string_view a, std::string_view b);

/// Returns the known name that is spelt like `name`. This is the name itself, or else the only one with the
/// same letters and digits in any case: "Zero-3" gives zero3, "ResNet_50" gives resnet50. Failing that, it is
/// the only one that differs by the unit of a speed: "roce_100g" gives roce_100. Empty when there is none, or
/// several.
std::string spelt_alike(std::string_view name, const std::vector<std::string>& known);

/// Returns up to `most` known names close to `name`, the closest first. Close means that the distance is at
/// most a third of the length (at least 2), or that one name contains the other.
std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& known,
                                       std::size_t most = 3);

/// Returns a hint: `did you mean "mahti" or "puhti"?`, or `known: a, b, c` when nothing is near. Empty when
/// `known` is empty.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

}  // namespace foretrain
