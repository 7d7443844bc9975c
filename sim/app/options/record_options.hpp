// The options of `record`.
#pragma once

#include <CLI/CLI.hpp>

#include "sim/app/commands.hpp"

namespace foretrain {

void add_record(CLI::App& app, RecordCommand& record);

}  // namespace foretrain
