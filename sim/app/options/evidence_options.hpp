// Options of `foretrain evidence`, and --evidence of other commands.
#pragma once

#include <string>

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

void add_evidence(CLI::App& app, EvidenceCommand& evidence);
/// --evidence off|FILE.
void add_evidence_option(CLI::App& command, std::string& evidence);

}  // namespace foretrain
