// Words by which computing centres give out nodes whole or in fixed parts, so that a request holds no number
// of GPUs.
#pragma once

#include <span>
#include <string_view>

#include "sim/cluster/site.hpp"

namespace foretrain {

/// A resource type, a queue or a host property of a centre, with what one unit of it has.
struct SiteWord {
  BatchSystem system = BatchSystem::none;
  std::string_view word;
  /// GPUs of one node, or of the part that the word stands for.
  int gpus = 0;
  /// CPU cores that come with it.
  int cores = 0;
};

/// Returns the row of a word; nullptr for words of no centre in the table. Case matters.
const SiteWord* find_site_word(BatchSystem system, std::string_view word);

/// Returns all rows.
std::span<const SiteWord> site_words();

}  // namespace foretrain
