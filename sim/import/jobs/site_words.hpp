// Words by which centres hand out nodes whole, or in fixed parts, without a number of GPUs in the request.
#pragma once

#include <span>
#include <string_view>

#include "sim/cluster/site.hpp"

namespace foretrain {

/// A resource type, a queue or a host property, and what one of it has.
struct SiteWord {
  BatchSystem system = BatchSystem::none;
  std::string_view word;
  int gpus = 0;   ///< of one node, or of the part that this hands out
  int cores = 0;  ///< CPUs that come with it
};

/// Nothing for a word that no centre we know has.
const SiteWord* find_site_word(BatchSystem system, std::string_view word);

std::span<const SiteWord> site_words();

}  // namespace foretrain
