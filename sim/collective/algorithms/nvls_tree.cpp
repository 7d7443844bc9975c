// NVLink SHARP on several nodes. In each node the NVSwitch adds. The heads of one shard exchange sums over
// the nodes in a double binary tree, half of the pieces on each tree. Then every head pushes the sum into its
// node's multicast.
//
// Node a's switches are places n + 2a (adds) and n + 2a + 1 (multicasts), because they keep no data. Between
// nodes each of the p heads of a node moves S / p bytes up and down its tree, so all NICs of a node work at
// once.
#include "sim/collective/algorithms/double_tree.hpp"
#include "sim/collective/algorithms/groups.hpp"
#include "sim/collective/algorithms/rows.hpp"

namespace foretrain {

namespace {

/// Return the places of a node's switch: n + 2a and n + 2a + 1.
int adder(const Lanes& lanes, int group) { return lanes.ranks + 2 * group; }
int multicaster(const Lanes& lanes, int group) { return adder(lanes, group) + 1; }

/// Returns a lane with all messages of a place. Each has one chunk of every shard, or only of shard `first`
/// when width is 1.
Lane group_shard_lane(const Lanes& lanes, const Groups& groups, int from, int to, int first, int width) {
  return {.from = from,
          .to = to,
          .messages = lanes.chunks / groups.size,
          .first = first,
          .stride = groups.size,
          .width = width,
          .wrap = lanes.chunks};
}

/// Adds the sums of every node and their way to the heads. Returns by place the lane that brings the head its
/// shard.
std::vector<std::uint32_t> add_pulls(Lanes& lanes, const Groups& groups) {
  std::vector<std::uint32_t> pulls;
  for (int group = 0; group < groups.count; ++group) {
    std::vector<LaneNeed> summed;
    for (int member = 0; member < groups.size; ++member) {
      Lane up =
          group_shard_lane(lanes, groups, groups.place(group, member), adder(lanes, group), 0, groups.size);
      up.first_copy = up.messages;
      summed.push_back({add_lane(lanes, up, {}), 0});
    }
    for (int head = 0; head < groups.size; ++head)
      pulls.push_back(add_lane(
          lanes, group_shard_lane(lanes, groups, adder(lanes, group), groups.place(group, head), head, 1),
          summed));
  }
  return pulls;
}

/// Returns what a message up the tree waits for: the sender's pull, and the parent's pull, which must not
/// overwrite what comes up.
NeedsByPlace pulled(const Tree& tree, const std::vector<std::uint32_t>& pulls, int first_piece) {
  NeedsByPlace starts(tree.size());
  for (std::size_t p = 0; p < tree.size(); ++p) {
    starts[p].push_back({pulls[p], -first_piece});
    if (tree[p] >= 0) starts[p].push_back({pulls[static_cast<std::size_t>(tree[p])], -first_piece});
  }
  return starts;
}

/// Adds the all-reduce of every shard between the nodes. Returns by place what message q of the head waits
/// for.
NeedsByPlace add_trees(Lanes& lanes, const Groups& groups, int pieces,
                       const std::vector<std::uint32_t>& pulls) {
  NeedsByPlace ready(pulls.size());
  const DoubleTree trees = double_tree(groups.count);
  int first_piece = 0;
  for (const Tree* over_groups : {&trees.first, &trees.second}) {
    NeedsByPlace done(pulls.size());
    for (int head = 0; head < groups.size; ++head) {
      const Tree tree = tree_of_member(*over_groups, groups, head);
      const TreePieces shard{first_piece * groups.size + head, pieces, groups.size};
      add_all_reduce(lanes, tree, shard, pulled(tree, pulls, first_piece), &done);
    }
    for (std::size_t p = 0; p < done.size(); ++p) {
      for (const LaneNeed& need : done[p]) ready[p].push_back({need.lane, first_piece});
    }
    first_piece += pieces;
  }
  return ready;
}

/// The steps are: sums to the heads, trees between the nodes, pushes into the multicast, and the way down to
/// all members.
void fill_nvls_tree(Lanes& lanes, const AlgorithmRequest& request) {
  const Groups groups = groups_of(request);
  lanes.chunks = groups.size * 2 * request.pieces;
  lanes.switches = 2 * groups.count;
  const std::vector<std::uint32_t> pulls = add_pulls(lanes, groups);
  NeedsByPlace ready = add_trees(lanes, groups, request.pieces, pulls);
  for (int group = 0; group < groups.count; ++group) {
    std::vector<LaneNeed> pushed;
    for (int head = 0; head < groups.size; ++head) {
      const int place = groups.place(group, head);
      std::vector<LaneNeed>& needs = ready[static_cast<std::size_t>(place)];
      needs.push_back({pulls[static_cast<std::size_t>(place)], 0});
      pushed.push_back(
          {add_lane(lanes, group_shard_lane(lanes, groups, place, multicaster(lanes, group), head, 1), needs),
           0});
    }
    for (int member = 0; member < groups.size; ++member)
      add_lane(lanes,
               group_shard_lane(lanes, groups, multicaster(lanes, group), groups.place(group, member), 0,
                                groups.size),
               pushed);
  }
}

LaneCosts nvls_tree_costs(const AlgorithmRequest& request) {
  const Groups groups = groups_of(request);
  const DoubleTree trees = double_tree(groups.count);
  const DoubleTreeLoad load = most_of(trees);
  const int between = 2 * depth_of(trees), pieces = request.pieces;
  const double half_shard = 0.5 / groups.size, piece = 0.5 / pieces;
  const double bytes = 1 + 1.0 / groups.size + half_shard * load.neighbours;
  return {.hops = 4 + between,
          .steps = 4 + between + 2 * pieces - 1,
          .sent = bytes,
          .received = bytes,
          .pair = 1,
          .message = piece,
          .chain = 1 + (2 + between) * piece / groups.size + piece,
          .messages = (4 + load.neighbours) * pieces,
          .added = half_shard * load.children};
}

}  // namespace

Algorithm nvls_tree_all_reduce() {
  return {"nvls_tree_all_reduce",
          AlgorithmFamily::nvls_tree,
          CollectiveOp::all_reduce,
          "NVSwitches add and multicast in each group, two trees for each shard between groups",
          fill_nvls_tree,
          nvls_tree_costs,
          refuse_unequal_groups};
}

}  // namespace foretrain
