// Reads a catalog entry, or a file of that name, with the reader of its kind.
#pragma once

#include <string>

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"
#include "sim/base/printable.hpp"
#include "sim/scenario/catalog.hpp"

namespace foretrain {

/// Throws InputError with near names if there is no such entry, or with every mistake in it.
template <class Value>
Value open_value(CatalogKind kind, const std::string& name, Value (*read)(const SourceText&, Diagnostics&)) {
  const auto source = open_named(kind, name);
  if (!source)
    throw InputError(fmt::format("unknown {} \"{}\"", noun_of(kind), shortened(name, 60)),
                     unknown_name_hint(kind, name));
  return read_or_throw(*source, read);
}

}  // namespace foretrain
