// Writes GOAL. A collective is expanded once for its group into a schedule of transfers, and each rank writes
// its own transfers.
//
// GOAL knows computations, sends, receives and dependencies between them, so a collective has to be written
// out.
#include "sim/report/simulators/goal.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/collective/algorithms/catalog.hpp"

namespace foretrain {

namespace {

// Number of pieces of a message that move down a tree one behind the other.
constexpr int kTreePieces = 8;
// Bytes of a piece below which a message is not cut further.
constexpr std::int64_t kLeastPiece = 64 << 10;

/// Returns the number of pieces of a message.
int pieces_of(const ExportedMessage& message) {
  if (!message.tree) return 1;
  return static_cast<int>(std::clamp<std::int64_t>(message.size.count / kLeastPiece, 1, kTreePieces));
}

/// Returns the transfers of a collective: a ring or two binary trees, or any algorithm that fits when these
/// refuse.
Schedule schedule_of(CollectiveOp op, bool tree, int pieces, int ranks) {
  std::vector<int> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  const AlgorithmRequest request{order, 0, pieces};
  const Algorithm* row =
      find_algorithm(op, tree ? AlgorithmFamily::double_binary_tree : AlgorithmFamily::ring);
  if (row == nullptr || !row->refuse(request).empty()) {
    const auto fits = [&](const Algorithm& other) { return other.op == op && other.refuse(request).empty(); };
    const auto found = std::ranges::find_if(algorithms(), fits);
    row = found == algorithms().end() ? nullptr : &*found;
  }
  return row == nullptr || ranks < 2 ? Schedule{op, ranks} : expand(lanes_of(*row, request));
}

// Writes the file of all ranks.
class GoalWriter {
 public:
  // Each node is at least one operation of each rank, so a hopeless file is refused at once.
  explicit GoalWriter(const ExportedSteps& steps) : steps_(steps) {
    const std::size_t rows = steps.nodes.size() * static_cast<std::size_t>(steps.ranks());
    if (rows > kMostGoalOperations) refuse(rows);
  }

  std::string write() {
    out_ = fmt::format("// {}, {} steps; times in ns\nnum_ranks {}\n", printable(steps_.name), steps_.steps,
                       steps_.ranks());
    for (int rank = 0; rank < steps_.ranks(); ++rank) write_rank(rank);
    return std::move(out_);
  }

 private:
  /// Throws InputError: the file would be too large.
  [[noreturn]] static void refuse(std::size_t operations) {
    throw InputError(
        fmt::format("more than {} operations, of which {} are written", operations, kMostGoalOperations),
        "fewer GPUs, or foretrain export chakra, which keeps collectives whole");
  }

  /// Returns the schedule of a collective, which is expanded at its first use.
  const Schedule& schedule(const ExportedMessage& message, int ranks) {
    const auto key = std::tuple(message.op, message.tree, pieces_of(message), ranks);
    const auto [known, is_new] = schedules_.try_emplace(key);
    if (is_new) known->second = schedule_of(message.op, message.tree, pieces_of(message), ranks);
    return known->second;
  }

  /// Returns the duration in whole nanoseconds. The rest is carried over, so that the sum over a queue is
  /// right to one nanosecond.
  std::int64_t nanoseconds(const ExportedNode& node) {
    std::int64_t& rest = rest_[node.queue];
    rest += node.duration.count();
    const std::int64_t whole = rest / 1000;
    rest -= whole * 1000;
    return whole;
  }

  /// Writes the operations of one rank. Labels and tags start anew, so that both ends of a transfer number it
  /// alike.
  void write_rank(int rank) {
    rest_.assign(steps_.queues.size(), 0);
    last_of_node_.assign(steps_.nodes.size(), 0);
    next_label_ = 1, next_tag_ = 0;
    out_ += fmt::format("\nrank {} {{\n", rank);
    for (std::size_t id = 0; id < steps_.nodes.size(); ++id) write_node(id, rank);
    out_ += "}\n";
  }

  /// Returns the label of a new operation. Throws InputError beyond the limit.
  std::uint64_t begin_operation() {
    if (++operations_ > kMostGoalOperations) refuse(operations_);
    return next_label_++;
  }

  /// Writes a dependency; label 0 means none.
  void require(std::uint64_t label, std::uint64_t before) {
    if (before != 0) out_ += fmt::format("l{} requires l{}\n", label, before);
  }

  /// Returns a processor number for a queue, and another one for its waits. GOAL stores the number in one
  /// byte.
  std::size_t processor(QueueId queue, bool waits = false) {
    const auto number = processors_.try_emplace({queue, waits}, processors_.size()).first->second;
    if (number > 255)
      throw InputError("more than 256 threads and streams of a rank, which GOAL cannot number",
                       "foretrain export chakra does not number them");
    return number;
  }

  /// Writes a wait. It occupies no processor that computes: it has a number of its own, besides the queue
  /// that it delays.
  std::uint64_t wait(const ExportedDependency& before, QueueId queue) {
    const std::uint64_t label = begin_operation();
    out_ += fmt::format("l{}: calc {} cpu {}\n", label, before.lag.count() / 1000, processor(queue, true));
    require(label, last_of_node_[before.node]);
    return label;
  }

  /// Writes a computation with its dependencies.
  void write_calc(std::size_t id, std::int64_t duration) {
    const ExportedNode& node = steps_.nodes[id];
    const std::uint64_t label = begin_operation();
    out_ += fmt::format("l{}: calc {} cpu {}\n", label, duration, processor(node.queue));
    for (const ExportedDependency& before : node.after)
      require(label, before.lag > Time{} ? wait(before, node.queue) : last_of_node_[before.node]);
    last_of_node_[id] = label;
  }

  /// Writes a node. A collective becomes an empty computation that joins its inputs, followed by its
  /// transfers.
  void write_node(std::size_t id, int rank) {
    const ExportedNode& node = steps_.nodes[id];
    if (!node.message) return write_calc(id, nanoseconds(node));
    const std::vector<int> group = group_of(node.message->among, rank);
    // Its inputs are there; the transfers follow.
    write_calc(id, 0);
    const Schedule& plan = schedule(*node.message, static_cast<int>(group.size()));
    write_transfers(id, plan, group, rank);
    // Tags are unique among all collectives, since every rank walks the same nodes.
    next_tag_ += static_cast<std::uint64_t>(plan.steps()) * static_cast<std::uint64_t>(plan.chunks);
    if (next_tag_ > std::numeric_limits<std::uint32_t>::max()) refuse(operations_);
  }

  /// Returns the ranks of a group, which is computed once.
  std::vector<int> group_of(Group group, int rank) {
    const auto [known, is_new] = groups_.try_emplace({group, rank});
    if (is_new) known->second = foretrain::group_of(steps_, group, rank);
    return known->second;
  }

  /// Writes this rank's transfers of a collective, in order of steps, and an empty computation that joins
  /// them.
  void write_transfers(std::size_t id, const Schedule& plan, const std::vector<int>& group, int rank) {
    const ExportedNode& node = steps_.nodes[id];
    const int place = static_cast<int>(std::ranges::find(group, rank) - group.begin());
    const std::uint64_t begin = last_of_node_[id];
    std::vector<Transfer> own;
    for (const Transfer& transfer : plan.transfers) {
      if (transfer.from == place || transfer.to == place) own.push_back(transfer);
    }
    std::ranges::stable_sort(own, {}, &Transfer::step);
    const auto chunks = static_cast<std::size_t>(plan.chunks);
    // A chunk is complete when its last message has arrived, and may be overwritten when its last message has
    // left.
    std::vector<std::uint64_t> received(chunks, begin), sent(chunks, 0);
    std::vector<std::uint64_t> all;
    for (const Transfer& transfer : own) {
      const auto chunk = static_cast<std::size_t>(transfer.chunk);
      const bool sends = transfer.from == place;
      const int peer = group[static_cast<std::size_t>(sends ? transfer.to : transfer.from)];
      const std::uint64_t tag = next_tag_ + static_cast<std::uint64_t>(transfer.step) * chunks + chunk;
      const std::uint64_t label = begin_operation();
      out_ += fmt::format("l{}: {} {}b {} {} tag {} cpu {}\n", label, sends ? "send" : "recv",
                          bytes_of(node.message->size, chunk, chunks), sends ? "to" : "from", peer, tag,
                          processor(node.queue));
      require(label, received[chunk]);
      if (!sends) require(label, sent[chunk]);
      (sends ? sent : received)[chunk] = label;
      all.push_back(label);
    }
    if (all.empty()) return;
    const std::uint64_t end = begin_operation();
    out_ += fmt::format("l{}: calc 0 cpu {}\n", end, processor(node.queue));
    for (const std::uint64_t label : all) require(end, label);
    last_of_node_[id] = end;
  }

  /// Returns the bytes of a chunk. Chunks differ by at most one byte, and together they are the message.
  static std::int64_t bytes_of(Bytes size, std::size_t chunk, std::size_t chunks) {
    const auto count = static_cast<std::int64_t>(chunks);
    return size.count / count + (static_cast<std::int64_t>(chunk) < size.count % count ? 1 : 0);
  }

  const ExportedSteps& steps_;
  std::string out_;
  std::map<std::tuple<CollectiveOp, bool, int, int>, Schedule> schedules_;
  std::map<std::pair<Group, int>, std::vector<int>> groups_;
  std::map<std::pair<QueueId, bool>, std::size_t> processors_;
  std::vector<std::int64_t> rest_;
  std::vector<std::uint64_t> last_of_node_;
  std::uint64_t next_label_ = 1, next_tag_ = 0;
  std::size_t operations_ = 0;
};

}  // namespace

std::string write_goal(const ExportedSteps& steps) { return GoalWriter(steps).write(); }

}  // namespace foretrain
