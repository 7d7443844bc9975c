// Writes the crossover in words: the numbers first, and then the reasons, which are the losses at the first
// number that disappoints and at the first one that is slower than fewer GPUs.
//
// A loss is the time that a step takes longer than if every GPU were as fast as one alone. Its parts sum to
// it. "Worth requesting" are numbers of GPUs that reach an efficiency.
#include "sim/report/prediction/crossover_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/quantity.hpp"

namespace foretrain {

namespace {

/// Returns ranges in words, such as "at 5 to 7, 9" or "from 5 on". `searched` is the largest number that was
/// searched.
std::string where(const std::vector<GpuRange>& ranges, int searched) {
  std::string out;
  for (const GpuRange& r : ranges) {
    const std::string_view lead = out.empty()          ? r.last == searched ? "from " : "at "
                                  : r.last == searched ? ", from "
                                                       : ", ";
    out += r.last == searched  ? fmt::format("{}{} on", lead, r.first)
           : r.first == r.last ? fmt::format("{}{}", lead, r.first)
                               : fmt::format("{}{} to {}", lead, r.first, r.last);
  }
  return out.empty() ? "never" : out;
}

/// Returns the numbers that reach an efficiency.
std::string range_of(const WorthRequesting& w, int searched) {
  if (w.every_up_to >= searched) return fmt::format("all {}", searched);
  if (w.most <= w.every_up_to) return fmt::format("up to {}", w.every_up_to);
  return fmt::format("up to {}, some up to {}", w.every_up_to, w.most);
}

/// Returns the line with the numbers worth requesting for each efficiency.
std::string worth_line(const Crossover& c) {
  std::string out;
  for (const WorthRequesting& w : c.worth_requesting)
    out +=
        fmt::format("{} {} %: {}", out.empty() ? "" : ";", percent(w.efficiency, 0), range_of(w, c.searched));
  return out.empty() ? out : fmt::format("GPUs worth requesting at efficiency of at least{}.\n", out);
}

/// Returns the uncertainty of the answers in sentences; empty when nearly all random draws agree.
std::string spread_lines(const CrossoverSpread& spread) {
  std::string out;
  if (spread.fastest_low < spread.fastest_high)
    out += fmt::format("The fastest number is between {} and {} with a chance of 90 %.\n", spread.fastest_low,
                       spread.fastest_high);
  const double p = spread.chance_slower_than_one;
  if (p > 0.01 && p < 0.99)
    out += fmt::format("There is a chance of {} % that some number of GPUs is slower than one.\n",
                       percent(p, 0));
  return out;
}

/// Returns the parts of a loss, without those below 10 %.
std::string parts_of(const CrossoverCause& cause) {
  std::string out;
  for (const LossPart& part : cause.parts) {
    if (part.share >= 0.1 || out.empty())
      out += fmt::format("{}{} % {}", out.empty() ? "" : ", ", percent(part.share, 0), part.what);
  }
  return out;
}

/// Returns the line about the loss on `gpus`; empty when hardly anything is lost there.
std::string cause_line(const Crossover& c, const std::optional<int>& gpus) {
  const auto found = std::find_if(c.causes.begin(), c.causes.end(),
                                  [&](const CrossoverCause& cause) { return cause.gpus == gpus; });
  // Causes are only known for the answers of the crossover.
  if (!gpus || found == c.causes.end() || found->parts.empty()) return {};
  return fmt::format("Lost at {}, {} of each step: {}.\n", counted(*gpus, "GPU"),
                     to_string(seconds(found->loss_s)), parts_of(*found));
}

/// Returns the number of GPUs whose loss tells most: the first one slower than one GPU or below 90 %
/// efficiency, else the fastest.
int telling(const Crossover& c) { return informative_number(c).value_or(c.fastest_gpus); }

/// Returns the speedup of the fastest number.
std::string point_text(const Prediction& p) {
  const auto found = std::find_if(p.points.begin(), p.points.end(), [&](const PredictionPoint& point) {
    return point.gpus == p.crossover.fastest_gpus;
  });
  return found == p.points.end() ? std::string() : fmt::format(" ({:.2f} times one GPU)", found->speedup);
}

// Texts of the two kinds of value in the functions below.
std::string count_text(double value) { return fmt::format("{:.0f}", value); }
std::string factor_text(double value) { return fmt::format("x{:.3g}", value); }

/// Returns the line of one value, such as "batch per GPU: from 12 on (now 32)".
template <class Text>
std::string smallest(std::string_view what, const BreakEvenValue& v, Text text) {
  if (!v.why_not.empty()) return fmt::format("  {}: {}\n", what, v.why_not);
  const std::string now = v.now > 0 ? "now " + text(v.now) : "how many there are now is not said";
  if (!v.at) return fmt::format("  {}: never, up to {} ({})\n", what, text(v.limit), now);
  return fmt::format("  {}: {} ({}{}){}\n", what,
                     v.is_upper ? "up to " + text(*v.at) : fmt::format("from {} on", text(*v.at)), now,
                     v.beats_now ? ", beats one" : "", v.fits ? "" : ", which does not fit into memory");
}

/// Returns a factor of the bandwidth with the bandwidth itself.
std::string speed_text(const BreakEven& b, double factor) {
  return fmt::format("{} = {} each", factor_text(factor), to_string(ByteRate{b.link_bytes_per_s * factor}));
}

/// Returns from which bandwidth of the link the GPUs beat one.
std::string bandwidth_line(const BreakEven& b) {
  const BreakEvenValue& v = b.bandwidth;
  if (!v.why_not.empty()) return fmt::format("  link: {}\n", v.why_not);
  const std::string now = fmt::format("now {}", to_string(ByteRate{b.link_bytes_per_s}));
  if (!v.at && v.beats_now) return fmt::format("  {}: still at {} ({})\n", b.link, factor_text(v.limit), now);
  if (!v.at) return fmt::format("  {}: never, up to {} ({})\n", b.link, factor_text(v.limit), now);
  return fmt::format("  {}: {} {} ({})\n", b.link, v.beats_now ? "no longer at" : "from",
                     speed_text(b, *v.at), now);
}

/// Returns at which bandwidth another number of GPUs becomes the fastest; empty when it was not searched.
std::string fastest_line(const BreakEven& b) {
  if (!b.fastest.why_not.empty()) return {};
  if (!b.fastest.at)
    return fmt::format("Fastest stays {} from x1 to {} of {}.\n", counted(b.fastest_now, "GPU"),
                       factor_text(b.fastest.limit), b.link);
  return fmt::format("Fastest is {} now, {} at {} of {}.\n", counted(b.fastest_now, "GPU"), b.fastest_then,
                     speed_text(b, *b.fastest.at), b.link);
}

}  // namespace

// The order is that of the questions a user asks: how many, is it sure, what else, and why.
std::string crossover_paragraph(const Prediction& p) {
  const Crossover& c = p.crossover;
  std::string out = fmt::format("\nFastest: {} of {}.", counted(c.fastest_gpus, "GPU"), p.cluster_gpus);
  out += c.no_gain_from ? fmt::format(" No gain from {} GPUs.\n", *c.no_gain_from)
         : !c.slower_than_fewer.empty()
             ? " All of them together are fastest, though not every further one helps.\n"
             : " Every further GPU still helps.\n";
  out += spread_lines(p.crossover_spread);
  out += worth_line(c);
  out += fmt::format("Slower than one GPU: {}. Slower than fewer GPUs: {}.\n",
                     where(c.slower_than_one_gpu, c.searched), where(c.slower_than_fewer, c.searched));
  out += cause_line(c, telling(c));
  // The second loss is left out when it is at the same number.
  const std::optional<int> drop = first_of_ranges(c.slower_than_fewer);
  if (drop != telling(c)) out += cause_line(c, drop);
  return out + "Why: " + c.cause + ".\n";
}

std::string break_even_paragraph(const Prediction& p) {
  if (!p.break_even) return {};
  const BreakEven& b = *p.break_even;
  std::string out = fmt::format("\n{} train {:.2f} times as fast as one. They beat one with\n",
                                counted(b.gpus, "GPU"), b.speedup);
  out += smallest(b.strong_scaling ? "global batch" : "batch per GPU", b.batch, count_text);
  out += smallest("width of the network", b.width, factor_text);
  out += smallest("samples per epoch, whole run", b.epoch_samples, count_text);
  return out + bandwidth_line(b) + fastest_line(b);
}

std::string cause_lines(const Crossover& c) {
  std::string out;
  for (const CrossoverCause& cause : c.causes) {
    if (cause.parts.empty()) continue;
    out += fmt::format("  lost at {}: {} of each step (", counted(cause.gpus, "GPU"),
                       to_string(seconds(cause.loss_s)));
    for (std::size_t i = 0; i < cause.parts.size(); ++i)
      out +=
          fmt::format("{}{} % {}", i == 0 ? "" : ", ", percent(cause.parts[i].share, 1), cause.parts[i].what);
    out += ")\n";
  }
  return out;
}

// Nothing can be compared when one of the two does not run.
std::string scaling_verdict(const Prediction& weak, const Prediction& strong) {
  const auto batch = [](const Prediction& p) {
    if (p.points.empty()) return std::int64_t{0};
    return p.strong_scaling ? p.global_batch : p.points.front().batch_per_gpu;
  };
  if (weak.cannot_run || strong.cannot_run) return {};
  return fmt::format("Both: {} samples on every GPU are fastest on {}{}, {} shared by all on {}{}.\n",
                     batch(weak), counted(weak.crossover.fastest_gpus, "GPU"), point_text(weak),
                     batch(strong), counted(strong.crossover.fastest_gpus, "GPU"), point_text(strong));
}

}  // namespace foretrain
