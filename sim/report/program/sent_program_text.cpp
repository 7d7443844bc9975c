// Writes a program file: the table [program], and for each sort of ranks a list of rows, one on a line.
//
// Ranks with equal rows are written once, as `rank`, and `like` lists all ranks that it stands for. Sizes are
// in bytes; groups are progressions first, first + stride, … of `size` ranks, and `like` has `count` instead.
#include <fmt/format.h>

#include "sim/report/program/sent_program.hpp"
#include "sim/scenario/cluster_text.hpp"

namespace foretrain {

namespace {

/// Returns ranks as an inline table; `size` is the key of their number.
std::string sequence_text(const RankSequence& ranks, std::string_view size) {
  return fmt::format("{{ first = {}, {} = {}, stride = {} }}", ranks.first, size, ranks.size, ranks.stride);
}

/// Returns a list of such tables.
std::string list_text(const std::vector<RankSequence>& all, std::string_view size) {
  std::string out;
  for (const RankSequence& ranks : all) out += (out.empty() ? "" : ", ") + sequence_text(ranks, size);
  return "[" + out + "]";
}

/// Returns what the row does: a send, a receive or a collective.
std::string what_text(const ProgramRow& row) {
  switch (row.kind) {
    case ProgramRow::Kind::send:
      return fmt::format("send = {}, peer = {}", row.bytes.count, row.peer);
    case ProgramRow::Kind::receive:
      return fmt::format("receive = {}, peer = {}", row.bytes.count, row.peer);
    default:
      return fmt::format("collective = \"{}\", bytes = {}, group = {}", name_of(row.operation),
                         row.bytes.count, row.group);
  }
}

/// Returns a whole row. Stream, type and purpose are left out when they are unknown.
std::string row_text(const SentRow& sent, const SentRank& rank) {
  constexpr std::string_view kPasses[] = {"forward", "backward", "optimizer"};
  std::string out = what_text(sent.row);
  out += fmt::format(", pass = \"{}\"", kPasses[static_cast<std::size_t>(sent.row.pass)]);
  if (sent.row.stream != 0)
    out += fmt::format(", stream = {}", quoted_text(rank.streams.at(sent.row.stream)));
  if (!sent.type.empty()) out += fmt::format(", type = {}", quoted_text(sent.type));
  if (!sent.of.empty()) out += fmt::format(", of = {}", quoted_text(sent.of));
  return "  { " + out + " },\n";
}

}  // namespace

std::string write_sent_program(const SentProgram& program) {
  const Program& head = program.head;
  std::string out = fmt::format("[program]\nformat = 1\nby = {}\n", quoted_text(head.by));
  out += fmt::format("framework = {}\nworld = {}\ndata_ranks = {}\n", quoted_text(head.framework), head.world,
                     head.data_ranks);
  out += fmt::format("batch = {}\nmicro_steps = {}\nparameters = {}\ntrained = {}\n", head.batch,
                     head.micro_steps, head.parameters, head.trained);
  std::string notes;
  for (const std::string& note : head.notes) notes += (notes.empty() ? "" : ", ") + quoted_text(note);
  if (!notes.empty()) out += fmt::format("notes = [{}]\n", notes);
  out += fmt::format("groups = {}\n", list_text(head.groups, "size"));
  for (const SentRank& rank : program.ranks) {
    out += fmt::format("\n[[program.ranks]]\nrank = {}\nlike = {}\noperators = [\n", rank.rank,
                       list_text(rank.like, "count"));
    for (const SentRow& row : rank.rows) out += row_text(row, rank);
    out += "]\n";
  }
  return out;
}

}  // namespace foretrain
