// What a text of a machine becomes in a test: facts, a cluster, or a mistake.
#pragma once

#include <string>

#include "sim/cluster/hardware.hpp"
#include "sim/import/machines/machine_cluster.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/scenario/schema/schemas.hpp"

namespace foretrain::test {

inline Machine machine(const std::string& text, const std::string& name = "m.txt") {
  return read_machine({name, text});
}

inline ClusterSpec cluster(const Machine& seen, const ImportAnswers& answers = {}) {
  return read_or_throw(SourceText{"c", cluster_of(seen, answers).text}, read_cluster);
}

/// Of reading the text or describing what it says; empty when there is none.
inline std::string mistake_in(const std::string& text) {
  try {
    cluster_of(machine(text), {});
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

inline std::size_t count(const Machine& seen, PartKind kind) { return seen.of_kind(kind).size(); }

inline const MachinePart& first(const Machine& seen, PartKind kind) {
  return seen.parts[static_cast<std::size_t>(seen.of_kind(kind).front())];
}

}  // namespace foretrain::test
