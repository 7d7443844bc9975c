// English has one plural for none, two and many.
#include "sim/base/counted.hpp"

#include <fmt/format.h>

namespace foretrain {

std::string plural(std::int64_t count, std::string_view noun) {
  return fmt::format("{}{}", noun, count == 1 ? "" : "s");
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}", count, plural(count, noun));
}

}  // namespace foretrain
