// Near misses: which known names a mistyped one may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// Damerau-Levenshtein distance (swap of neighbours counts one), case-insensitive. Strings are cut at 64
/// characters.
int edit_distance(std::string_view a, std::string_view b);

/// The known name itself, or the one that has the same letters and digits, whatever their case: "Zero-3" is
/// zero3, "ResNet_50" resnet50; if none has, the one that differs by a speed's unit, as "roce_100g" from
/// roce_100. Empty when there is none, or several.
std::string spelt_alike(std::string_view name, const std::vector<std::string>& known);

/// Up to `most` known names close to `name` (distance at most a third of its length, at least 2; or one
/// contains the other), best first.
std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& known,
                                       std::size_t most = 3);

/// A hint: `did you mean "mahti" or "puhti"?`, or `known: a, b, c` when nothing is near; empty when `known`
/// is empty.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

}  // namespace foretrain
