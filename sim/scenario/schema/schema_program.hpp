// The program file: one step of a distributed program as `foretrain record` writes it.
#pragma once

#include <memory>

#include "sim/scenario/toml/declared_keys.hpp"
#include "sim/workload/program/program.hpp"

namespace foretrain {

/// Reads a program file. Reports every mistake into `diagnostics`, which must belong to that text; the result
/// is valid only if there was none. Then every rank of the world belongs to one kind, indices are within
/// their lists, and every kind has forward, backward and optimizer rows.
Program read_program(const SourceText& source, Diagnostics& diagnostics);

/// Returns the keys for the reference page.
std::vector<KeyTable> program_key_tables();

}  // namespace foretrain
