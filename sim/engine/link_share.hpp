// A link on a route, and how many shares of it the route takes.
#pragma once

#include <cstdint>

namespace foretrain {

/// A flow that stands for several equal ones takes a share of the link for each; so does a route that crosses
/// a link more than once.
struct LinkShare {
  std::uint32_t link = 0;
  std::uint32_t shares = 1;
};

}  // namespace foretrain
