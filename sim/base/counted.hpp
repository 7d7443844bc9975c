// Counted nouns for people: 1 GPU, 2 GPUs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace foretrain {

/// "GPU" for one, "GPUs" for every other number; "processes", "switches". Of nouns whose plural ends in s.
std::string plural(std::int64_t count, std::string_view noun);
/// "1 GPU", "2 GPUs".
std::string counted(std::int64_t count, std::string_view noun);

}  // namespace foretrain
