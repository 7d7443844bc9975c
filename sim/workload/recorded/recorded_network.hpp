// A recorded network: the framework's operators of one training step in their order, with the sizes of their
// tensors. Parameters, buffers, and the storages that live during the step belong to it too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/base/units.hpp"
#include "sim/workload/recorded/tensor_size.hpp"

namespace foretrain {

// Limits of a recording; a file beyond them is refused.
inline constexpr std::size_t kMostRecordedOperators = 200'000;
inline constexpr std::size_t kMostRecordedParameters = 100'000;
/// Largest number of tensors of an operator: one call may update all parameters of a network, as flattened
/// lists.
inline constexpr std::size_t kMostTensorsOfOperator = 100'000;

/// Texts that many operators share, numbered in the order of their first use.
class NameTable {
 public:
  /// Returns the number of a text, and adds it when it is new.
  std::uint32_t id_of(std::string_view name) {
    const auto [found, is_new] =
        ids_.try_emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.emplace_back(name);
    return found->second;
  }
  const std::string& at(std::uint32_t id) const { return names_[id]; }
  std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> ids_;
};

/// Index into RecordedNetwork::sizes.
using SizeId = std::uint32_t;

/// A parameter of the recorded model: its first name, its size, and whether it is trained.
struct RecordedParameter {
  std::string name;
  SizeId size = 0;
  std::vector<std::string> also{};  ///< further names of the same tensor
  bool frozen = false;              ///< gets no gradient
};

/// A buffer of the recorded model, such as running statistics: it has no gradient.
struct RecordedBuffer {
  std::string name;
  SizeId size = 0;
};

/// An argument of an operator beside its tensors: numbers (true is 1), or a word.
struct RecordedArgument {
  std::string name;
  std::vector<double> numbers;
  std::string word;
};

/// A call of an operator in the recorded step, with the sizes of its tensors. Names are indices into the
/// tables of the network.
struct RecordedOperator {
  /// Index into RecordedNetwork::operator_names: "aten::addmm".
  std::uint32_t name = 0;
  /// Index into module_names; the empty name is outside of all modules.
  std::uint32_t module = 0;
  /// Index into node_names; the empty name means unknown.
  std::uint32_t node = 0;
  std::int64_t call = -1;  ///< operators of one number were issued by one call; below 0: a call of its own
  bool backward = false, recomputed = false, autocast = false, view = false;
  std::vector<SizeId> in, out;
  std::vector<RecordedArgument> with;
  std::vector<std::uint32_t> ready;  ///< parameters whose gradients are complete after it
  std::int32_t kernels = 0;          ///< 0: as the operator's rule says
  /// Measured times of its kernels and of its call.
  std::optional<Time> time, host;
};

/// The purpose of a storage.
enum class StorageUse : std::uint8_t {
  unknown,
  parameter,
  gradient,
  optimizer,
  activation,
  buffer,
  temporary,
  communication,
  input
};

/// Memory that is in use on the GPU between two operators, both included.
struct RecordedStorage {
  SizeId size = 0;
  StorageUse use = StorageUse::unknown;
  std::uint32_t made = 0;
  std::optional<std::uint32_t> freed;  ///< none: it outlives the step
  bool saved = false;                  ///< autograd keeps it for backward
};

/// A training step of a network on one GPU as its framework ran it, operator by operator
/// (docs/models/networks.md). Sizes are in a table and shared by their number.
struct RecordedNetwork {
  /// Name of the network.
  std::string name;
  /// Name of the program that recorded it.
  std::string by;
  std::int64_t batch = 1;    ///< samples of the recorded step
  bool grows = false;        ///< sizes say how they grow with the batch
  std::int64_t modules = 0;  ///< named ones, with the root
  /// GPU and precision of measured times.
  std::string gpu, precision;
  std::vector<std::int64_t> sample;  ///< one sample's shape where the file says it; empty: as `inputs`
  NameTable operator_names, module_names, node_names;
  std::vector<TensorSize> sizes;
  std::vector<SizeId> inputs;
  std::vector<RecordedParameter> parameters;
  std::vector<RecordedBuffer> buffers;
  std::vector<RecordedOperator> operators;
  std::vector<RecordedStorage> storages;
};

/// The meaning that the recorded types of floating-point elements have for a training.
enum class RecordedTypes : std::uint8_t {
  kept,       ///< every tensor has its type, whatever the precision
  half_kept,  ///< those of 16 bits have them, those of 32 follow the precision: a recording in fp32
  widened     ///< all count as 32 bits and follow the precision: a recording under autocast, in another one
};

/// True where most numbers of the parameters have 16 bits.
bool has_half_parameters(const RecordedNetwork& network);

/// Returns how a training in any precision understands the recorded types.
RecordedTypes types_of(const RecordedNetwork& network);

/// Decides the growth of sizes that were recorded at one batch alone. In every tensor that is no parameter,
/// buffer or scalar (nor a transpose of these), the first dimension that is a multiple of the batch grows
/// with it.
void assume_growth(RecordedNetwork& network);

}  // namespace foretrain
