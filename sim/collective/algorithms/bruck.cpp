// Bruck et al., IEEE Trans. Parallel Distrib. Syst. 8 (1997): ceil(log2 n) rounds for any n. In round j,
// ranks 2^j places apart exchange messages.
//
// The all-gather passes on everything gathered so far. Played backwards with sums it is a reduce-scatter;
// NCCL's PAT has the same messages. The all-to-all moves each chunk along the binary digits of its distance.
//
// The number of rounds is the smallest possible for any n, not only for powers of two. The all-to-all pays
// for it with bytes: each block travels up to log2(n) times. It therefore wins for short messages alone.
#include <algorithm>

#include "sim/collective/algorithms/power_of_two.hpp"
#include "sim/collective/algorithms/rounds.hpp"
#include "sim/collective/algorithms/rows.hpp"

namespace foretrain {

namespace {

/// Returns the parts that move in the round over `distance`: as many as are gathered, but not more than are
/// missing.
int width_of(int distance, int n) { return std::min(distance, n - distance); }

/// Returns the costs when every rank sends one message per round, to another rank each time.
LaneCosts round_costs(int rounds, double bytes, double largest) {
  return {.hops = rounds,
          .steps = rounds,
          .sent = bytes,
          .received = bytes,
          .pair = largest,
          .message = largest,
          .chain = bytes,
          .messages = rounds};
}

/// Gathers: in the round over d, place p passes on its d parts, from p on, to place p - d.
void fill_bruck_all_gather(Lanes& lanes, const AlgorithmRequest&) {
  const int n = lanes.ranks;
  lanes.chunks = n;
  Rounds rounds(lanes);
  for (int distance = 1; distance < n; distance *= 2) {
    for (int p = 0; p < n; ++p)
      rounds.send(p, wrapped(p - distance, n), {p, width_of(distance, n)}, Transfer::copy);
    rounds.next();
  }
}

/// The all-gather backwards: in the round over d, place p sends sums of parts that begin at p + d to the
/// place p + d.
void fill_bruck_reduce_scatter(Lanes& lanes, const AlgorithmRequest&) {
  const int n = lanes.ranks;
  lanes.chunks = n;
  Rounds rounds(lanes);
  for (int distance = 1 << (rounds_of(n) - 1); distance >= 1; distance /= 2) {
    for (int p = 0; p < n; ++p)
      rounds.send(p, wrapped(p + distance, n), {wrapped(p + distance, n), width_of(distance, n)},
                  Transfer::reduce);
    rounds.next();
  }
}

/// Returns the closed form. The widest message is that of the last round, or of the round before if the last
/// is cut off.
LaneCosts bruck_gather_costs(const AlgorithmRequest& request) {
  const int n = request.ranks(), hops = rounds_of(n);
  const double bytes = static_cast<double>(n - 1) / n;
  const int last = 1 << (hops - 1);
  const double widest = static_cast<double>(std::max(last / 2, width_of(last, n))) / n;
  return round_costs(hops, bytes, widest);
}

LaneCosts bruck_reduce_scatter_costs(const AlgorithmRequest& request) {
  LaneCosts costs = bruck_gather_costs(request);
  costs.added = costs.received;
  return costs;
}

/// Returns how many distances below n have the bit `digit`.
int rows_with_digit(int digit, int n) {
  const int bit = 1 << digit;
  return n / (2 * bit) * bit + std::max(0, n % (2 * bit) - bit);
}

/// Place p sends in the round of digit j all chunks whose distance to their receiver has bit j set to the
/// place p + 2^j.
void fill_bruck_alltoall(Lanes& lanes, const AlgorithmRequest&) {
  const int n = lanes.ranks;
  lanes.chunks = n * n;
  Rounds rounds(lanes);
  for (int digit = 0; digit < rounds_of(n); ++digit) {
    for (int p = 0; p < n; ++p)
      rounds.send_digit(p, (p + (1 << digit)) % n, digit, rows_with_digit(digit, n));
    rounds.next();
  }
}

LaneCosts bruck_alltoall_costs(const AlgorithmRequest& request) {
  const int n = request.ranks(), hops = rounds_of(n);
  int rows = 0, most = 0;
  for (int digit = 0; digit < hops; ++digit) {
    rows += rows_with_digit(digit, n);
    most = std::max(most, rows_with_digit(digit, n));
  }
  const double bytes = static_cast<double>(rows) / n;
  return round_costs(hops, bytes, static_cast<double>(most) / n);
}

}  // namespace

Algorithm bruck_reduce_scatter() {
  return {"bruck_reduce_scatter",
          AlgorithmFamily::bruck,
          CollectiveOp::reduce_scatter,
          "sums of 2^j parts to the rank 2^j places off, any number of ranks",
          fill_bruck_reduce_scatter,
          bruck_reduce_scatter_costs,
          refuse_nothing};
}

Algorithm bruck_all_gather() {
  return {"bruck_all_gather",
          AlgorithmFamily::bruck,
          CollectiveOp::all_gather,
          "2^j parts to the rank 2^j places off, any number of ranks",
          fill_bruck_all_gather,
          bruck_gather_costs,
          refuse_nothing};
}

Algorithm bruck_alltoall() {
  return {"bruck_alltoall",
          AlgorithmFamily::bruck,
          CollectiveOp::alltoall,
          "chunks travel along the binary digits of their distance: few messages, more bytes",
          fill_bruck_alltoall,
          bruck_alltoall_costs,
          refuse_too_many_pairs};
}

}  // namespace foretrain
