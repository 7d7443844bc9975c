// Location of the evidence that comes with the program.
#pragma once

#include <string>
#include <vector>

namespace foretrain {

/// Returns the stores in the folder `evidence` of the first catalog root that has one, sorted.
std::vector<std::string> shipped_evidence();

}  // namespace foretrain
