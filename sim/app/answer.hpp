// A question of the workshop page, answered: in the server, and in the browser as WebAssembly.
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

/// JSON for JSON (sim/report/workshop/question.hpp). Wrong input is an answer, too; reads no file but the
/// catalogs. Throws only std::bad_alloc.
std::string answer_question(std::string_view question);

}  // namespace foretrain
