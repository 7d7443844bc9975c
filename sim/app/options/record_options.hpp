// The options of `record`.
#pragma once

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

void add_record(CLI::App& app, RecordCommand& record);

}  // namespace foretrain
