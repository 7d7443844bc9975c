// Counted nouns for messages: 1 GPU, 2 GPUs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace foretrain {

/// Returns the noun in the form for `count`: "GPU" for 1, "GPUs" for every other number; also "processes",
/// "switches". Works for nouns whose plural ends in s.
std::string plural(std::int64_t count, std::string_view noun);
/// Returns the count with its noun: "1 GPU", "2 GPUs".
std::string counted(std::int64_t count, std::string_view noun);

}  // namespace foretrain
