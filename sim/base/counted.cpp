// English has one plural for zero, two and many; only 1 takes the singular.
#include "sim/base/counted.hpp"

#include <fmt/format.h>

namespace foretrain {

std::string plural(std::int64_t count, std::string_view noun) {
  if (count == 1) return std::string(noun);
  // Adds "es" after a hiss: processes, switches and batches. Epochs takes "s", because its h is silent.
  const bool hisses = noun.ends_with("ss") || noun.ends_with("tch") || noun.ends_with("x");
  return fmt::format("{}{}", noun, hisses ? "es" : "s");
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}", count, plural(count, noun));
}

}  // namespace foretrain
