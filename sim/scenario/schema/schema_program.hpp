// The program file: a step of a distributed program as `foretrain record` writes it.
#pragma once

#include <memory>

#include "sim/scenario/toml/declared_keys.hpp"
#include "sim/workload/program/program.hpp"

namespace foretrain {

/// Reports every mistake into `diagnostics`, bound to that text; what is returned holds only where there was
/// none. Every rank of the world is then of one kind, indices are within their lists, and every kind has
/// forward, backward and optimizer rows.
Program read_program(const SourceText& source, Diagnostics& diagnostics);

/// For the reference page.
std::vector<KeyTable> program_key_tables();

}  // namespace foretrain
