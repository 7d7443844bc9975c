// A step of a distributed program as it was recorded. For each kind of rank it lists what the host issues, in
// order: operators, collectives, sends and receives.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/workload/recorded/recorded_network.hpp"

namespace foretrain {

// Limits of what a program file may hold; beyond them the file is refused.
inline constexpr std::size_t kMostProgramRows = kMostRecordedOperators;
inline constexpr std::size_t kMostProgramGroups = 10'000;
inline constexpr std::size_t kMostProgramKinds = 256;
inline constexpr std::int64_t kMostProgramRanks = 1 << 20;

/// An operation that ranks of a group do together.
enum class WireOperation : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  all_to_all,
  gather,
  scatter,
  barrier
};
/// Returns the name as program files write it: "all_reduce", ….
std::string_view name_of(WireOperation operation);

/// The ranks first, first + stride, first + 2 stride, …, `size` of them. `stride` is at least 1.
struct RankSequence {
  std::int64_t first = 0, size = 1, stride = 1;
  bool contains(std::int64_t rank) const {
    const std::int64_t place = rank - first;
    return place >= 0 && place % stride == 0 && place / stride < size;
  }
  friend bool operator==(const RankSequence&, const RankSequence&) = default;
};

/// The pass of the step that a row of a program belongs to.
enum class ProgramPass : std::uint8_t { forward, backward, optimizer };

/// A thing that the host issues: an operator, a message, or an order between streams.
struct ProgramRow {
  enum class Kind : std::uint8_t {
    op,          ///< an operator: `index` into RecordedNetwork::operators
    collective,  ///< among `group`
    send,        ///< to rank `peer`
    receive,     ///< from rank `peer`
    wait,        ///< the stream waits for `work`
    read,        ///< the host waits for the stream
    record,      ///< event `work` is recorded on the stream
    until        ///< the stream waits for event `work`
  };
  Kind kind = Kind::op;
  ProgramPass pass = ProgramPass::forward;
  WireOperation operation = WireOperation::all_reduce;
  bool is_async = false;  ///< the stream goes on until a row `wait`, or the end of the pass
  /// Index of an operator.
  std::uint32_t index = 0;
  std::uint32_t group = 0;   ///< index into Program::groups
  std::uint32_t stream = 0;  ///< index into ProgramRank::streams; 0: the default one
  std::int64_t work = -1;    ///< number of a collective, send, receive or event; below 0: none
  std::int64_t peer = 0;     ///< rank of the job
  Bytes bytes{};             ///< the whole: output of all_gather, input of reduce_scatter
};

/// Ranks that do the same, with the record of one of them.
struct ProgramRank {
  std::int64_t rank = 0;             ///< the recorded one
  std::vector<RankSequence> like{};  ///< itself included
  NameTable streams{};               ///< the first is the default one, ""
  RecordedNetwork network{};         ///< operators of all passes, parameters and buffers that this rank holds
  std::vector<ProgramRow> rows{};

  /// Returns the number of ranks of this kind.
  std::int64_t count() const;
};

/// A recorded distributed program: the sequence of operators, collectives and waits that each kind of rank
/// issues in a step, on no machine yet (docs/models/networks.md).
struct Program {
  std::string name, by, command, framework;
  std::int64_t world = 1;
  /// Ranks that load different samples.
  std::int64_t data_ranks = 1;
  std::int64_t batch = 0;                    ///< samples of one rank in an optimizer step; 0: not known
  std::int64_t micro_steps = 1;              ///< backward passes in an optimizer step
  std::int64_t parameters = 0, trained = 0;  ///< numbers of the whole model
  std::vector<std::string> guesses{}, notes{};
  std::vector<RankSequence> groups{};
  std::vector<ProgramRank> ranks{};  ///< kinds; every rank of the world is in one
};

}  // namespace foretrain
