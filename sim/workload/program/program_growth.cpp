// Growth of programs, row by row of both recordings. Sizes repeat, so each pair of sizes is grown once.
#include "sim/workload/program/program_growth.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace foretrain {
namespace {

std::int64_t share(std::int64_t whole, std::int64_t ranks) { return (whole + ranks - 1) / ranks; }

/// Returns the roundest number (most factors of two) from `least` to `most`.
std::int64_t roundest(std::int64_t least, std::int64_t most) {
  std::int64_t step = 1;
  while (most / (2 * step) * (2 * step) >= least && 2 * step <= most) step *= 2;
  return most / step * step;
}

/// Returns the whole of which both numbers are shares, rounded up. Several may fit; the roundest is taken.
std::optional<std::int64_t> whole_of(std::int64_t few, std::int64_t few_ranks, std::int64_t many,
                                     std::int64_t many_ranks) {
  const std::int64_t least = std::max((few - 1) * few_ranks, (many - 1) * many_ranks) + 1;
  const std::int64_t most = std::min(few * few_ranks, many * many_ranks);
  if (least > most || few < many) return std::nullopt;
  return roundest(least, most);
}

// Larger numbers, such as hashes and sentinels, are no sizes and would overflow products with ranks.
constexpr std::int64_t kMostGrown = std::int64_t{1} << 42;

/// Returns the number as shares of rows of `width` values each, for the smallest width that explains both.
std::optional<std::int64_t> share_of_rows(std::int64_t few, std::int64_t few_ranks, std::int64_t many,
                                          std::int64_t many_ranks, std::int64_t ranks) {
  constexpr std::int64_t kMostTried = 1 << 16;
  const std::int64_t both = std::gcd(few, many);
  const auto with = [&](std::int64_t width) -> std::optional<std::int64_t> {
    const auto rows = whole_of(few / width, few_ranks, many / width, many_ranks);
    return rows ? std::optional(share(*rows, ranks) * width) : std::nullopt;
  };
  // Widths are common divisors of both numbers. The last resort is the greatest of them.
  for (std::int64_t width = 1; width <= std::min(both, kMostTried); ++width) {
    if (both % width != 0) continue;
    if (const auto found = with(width)) return found;
  }
  return both > kMostTried ? with(both) : std::nullopt;
}

/// Largest relative difference between the recordings for which padding explains it. The padding of several
/// tensors in a sum is no function of its own, so such a sum is put on a line between both.
constexpr double kMostPadding = 0.05;

/// Returns the value on the line between both recordings, where padding explains their difference.
std::optional<std::int64_t> padded_sum(double few, std::int64_t few_ranks, double many,
                                       std::int64_t many_ranks, std::int64_t ranks) {
  if (few <= 0 || std::abs(many - few) > kMostPadding * few) return std::nullopt;
  const double place = static_cast<double>(ranks - few_ranks) / static_cast<double>(many_ranks - few_ranks);
  const double found = few + (many - few) * place;
  return found > 0 ? std::optional(std::llround(found)) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> grown(std::int64_t few, std::int64_t few_ranks, std::int64_t many,
                                  std::int64_t many_ranks, std::int64_t ranks) {
  if (few == many) return few;
  if (few > kMostGrown || many > kMostGrown || few < 0 || many < 0) return std::nullopt;
  // The rules in the order of program_growth.hpp; the first that fits both recordings wins.
  if (few % few_ranks == 0 && few / few_ranks * many_ranks == many) return few / few_ranks * ranks;
  if (few * many_ranks == many * few_ranks)
    return few * ranks % few_ranks == 0 ? std::optional(few * ranks / few_ranks) : std::nullopt;
  if (const auto found = share_of_rows(few, few_ranks, many, many_ranks, ranks)) return found;
  if (few % few_ranks == 0 && many % many_ranks == 0) {
    if (const auto found = share_of_rows(few / few_ranks, few_ranks, many / many_ranks, many_ranks, ranks))
      return *found * ranks;
  }
  const auto of_few = static_cast<double>(few), of_many = static_cast<double>(many);
  if (const auto found = padded_sum(of_few, few_ranks, of_many, many_ranks, ranks)) return found;
  // The same for the whole of which the numbers are shares.
  const auto whole = padded_sum(of_few * static_cast<double>(few_ranks), few_ranks,
                                of_many * static_cast<double>(many_ranks), many_ranks, ranks);
  if (whole) return share(*whole, ranks);
  // The last rule is a straight line through both recordings, with a whole slope.
  const std::int64_t slope = (many - few) / (many_ranks - few_ranks);
  if (slope * (many_ranks - few_ranks) != many - few) return std::nullopt;
  const std::int64_t found = few + slope * (ranks - few_ranks);
  return found >= 0 ? std::optional(found) : std::nullopt;
}

namespace {

/// Grows one program. The first reason against it is kept in `why_`; growth ends there.
class ProgramGrowth {
 public:
  ProgramGrowth(const Program& few, const Program& many, std::int64_t ranks)
      : few_(few), many_(many), ranks_(ranks) {}

  /// Grows the numbers of the program, then every kind of rank, and stops at the first reason against it.
  GrownProgram run() && {
    Program out = few_;
    out.world = ranks_;
    out.data_ranks = number(few_.data_ranks, many_.data_ranks, "the number of ranks that load data");
    out.batch = number(few_.batch, many_.batch, "the batch of a rank");
    // Kinds and groups are matched by their place, so there must be as many.
    if (few_.ranks.size() != many_.ranks.size() || few_.groups.size() != many_.groups.size())
      stop(fmt::format("{} kinds of ranks and {} groups became {} and {}", few_.ranks.size(),
                       few_.groups.size(), many_.ranks.size(), many_.groups.size()));
    if (few_.micro_steps != many_.micro_steps) stop("the number of micro-steps changes");
    if (why_.empty()) {
      sequences(out.groups, few_.groups, many_.groups);
      for (std::size_t kind = 0; kind < out.ranks.size() && why_.empty(); ++kind)
        grow_rank(few_.ranks[kind], many_.ranks[kind], out.ranks[kind]);
    }
    return {std::move(out), std::move(why_)};
  }

 private:
  void stop(std::string why) {
    if (!why_.empty()) return;
    why_ = fmt::format("between {} and {} ranks {}", few_.world, many_.world, why);
  }

  /// Returns a grown number, and stops with a reason where no rule holds for it.
  std::int64_t number(std::int64_t few, std::int64_t many, std::string_view what) {
    const auto found = grown(few, few_.world, many, many_.world, ranks_);
    if (!found)
      stop(fmt::format("{} goes from {} to {}, which is no known function of the ranks", what, few, many));
    return found.value_or(few);
  }

  /// Grows lists of ranks element by element; each must fit into the new number of ranks.
  void sequences(std::vector<RankSequence>& out, const std::vector<RankSequence>& few,
                 const std::vector<RankSequence>& many) {
    if (few.size() != many.size()) return stop("the lists of ranks have different lengths");
    for (std::size_t i = 0; i < few.size(); ++i) {
      out[i] = {number(few[i].first, many[i].first, "a first rank"),
                number(few[i].size, many[i].size, "the size of a group"),
                number(few[i].stride, many[i].stride, "the stride of a group")};
      if (out[i].size < 1 || out[i].stride < 1 || out[i].first + (out[i].size - 1) * out[i].stride >= ranks_)
        stop(fmt::format("a group does not fit into {} ranks", ranks_));
    }
  }

  /// Grows everything that one kind of rank issues and holds.
  void grow_rank(const ProgramRank& few, const ProgramRank& many, ProgramRank& out) {
    if (few.rows.size() != many.rows.size())
      return stop(fmt::format("{} rows became {}", few.rows.size(), many.rows.size()));
    if (few.network.parameters.size() != many.network.parameters.size())
      return stop("the list of parameters changes");
    sequences(out.like, few.like, many.like);
    out.rank = number(few.rank, many.rank, "the recorded rank");
    sizes_.clear();
    out.network.sizes.clear();
    for (std::size_t i = 0; i < few.rows.size() && why_.empty(); ++i) grow_row(few, many, i, out);
    for (std::size_t i = 0; i < few.network.parameters.size() && why_.empty(); ++i)
      out.network.parameters[i].size =
          size(few, few.network.parameters[i].size, many, many.network.parameters[i].size, out);
    grow_storages(few, many, out);
  }

  /// Matches storages and buffers in order. Where their numbers differ, the program cannot be grown.
  void grow_storages(const ProgramRank& few, const ProgramRank& many, ProgramRank& out) {
    const bool alike = few.network.storages.size() == many.network.storages.size() &&
                       few.network.buffers.size() == many.network.buffers.size();
    if (!alike) return stop("the list of storages changes");
    for (std::size_t i = 0; i < few.network.storages.size() && why_.empty(); ++i)
      out.network.storages[i].size =
          size(few, few.network.storages[i].size, many, many.network.storages[i].size, out);
    for (std::size_t i = 0; i < few.network.buffers.size() && why_.empty(); ++i)
      out.network.buffers[i].size =
          size(few, few.network.buffers[i].size, many, many.network.buffers[i].size, out);
  }

  /// Grows one row. A row of both recordings must do the same.
  void grow_row(const ProgramRank& few, const ProgramRank& many, std::size_t i, ProgramRank& out) {
    const ProgramRow &a = few.rows[i], &b = many.rows[i];
    if (a.kind != b.kind || a.pass != b.pass || a.operation != b.operation)
      return stop(fmt::format("row {} does something else", i));
    if (a.kind == ProgramRow::Kind::op) return grow_operator(few, a.index, many, b.index, out);
    ProgramRow& row = out.rows[i];
    row.bytes = {number(a.bytes.count, b.bytes.count, "the size of a message")};
    row.peer = number(a.peer, b.peer, "the rank of a message");
    if (row.peer < 0 || row.peer >= ranks_)
      stop(fmt::format("a message goes to rank {} of {}", row.peer, ranks_));
    if (a.group != b.group) stop(fmt::format("row {} is of another group", i));
  }

  /// Grows the sizes of one operator, which must have the same name and operands.
  void grow_operator(const ProgramRank& few, std::uint32_t at_few, const ProgramRank& many,
                     std::uint32_t at_many, ProgramRank& out) {
    const RecordedOperator &a = few.network.operators[at_few], &b = many.network.operators[at_many];
    const std::string& name = few.network.operator_names.at(a.name);
    if (name != many.network.operator_names.at(b.name) || a.in.size() != b.in.size() ||
        a.out.size() != b.out.size())
      return stop(fmt::format("{} becomes {}", name, many.network.operator_names.at(b.name)));
    RecordedOperator& op = out.network.operators[at_few];
    for (std::size_t i = 0; i < a.in.size(); ++i) op.in[i] = size(few, a.in[i], many, b.in[i], out);
    for (std::size_t i = 0; i < a.out.size(); ++i) op.out[i] = size(few, a.out[i], many, b.out[i], out);
  }

  /// Returns the grown size of a pair of recorded sizes, made on first use.
  SizeId size(const ProgramRank& few, SizeId at_few, const ProgramRank& many, SizeId at_many,
              ProgramRank& out) {
    const auto [known, is_new] =
        sizes_.try_emplace({at_few, at_many}, static_cast<SizeId>(out.network.sizes.size()));
    if (!is_new) return known->second;
    const TensorSize &a = few.network.sizes[at_few], &b = many.network.sizes[at_many];
    TensorSize made = a;
    if (a.type != b.type || a.dimensions.size() != b.dimensions.size())
      stop(fmt::format("{} becomes {}", to_string(a), to_string(b)));
    for (std::size_t i = 0; i < made.dimensions.size() && i < b.dimensions.size(); ++i)
      made.dimensions[i].fixed =
          number(a.dimensions[i].fixed, b.dimensions[i].fixed,
                 fmt::format("{} becomes {}: a dimension", to_string(a), to_string(b)));
    out.network.sizes.push_back(std::move(made));
    return known->second;
  }

  const Program &few_, &many_;
  std::int64_t ranks_;
  std::string why_;
  /// Grown sizes of the present kind, by the pair of recorded ones.
  std::map<std::pair<SizeId, SizeId>, SizeId> sizes_;
};

}  // namespace

GrownProgram program_on(const Program& few, const Program& many, std::int64_t ranks) {
  return ProgramGrowth(few, many, ranks).run();
}

}  // namespace foretrain
