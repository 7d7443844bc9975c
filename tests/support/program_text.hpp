// Program files made up for tests: layers whose weights are sharded over all ranks, gathered one ahead on a
// stream of their own, and whose gradients are scattered.
#pragma once

#include <string>

#include <fmt/format.h>

namespace foretrain::test {

struct MadeProgram {
  int ranks = 8, layers = 2;
  int width = 1024, tokens = 512;  ///< bf16 weights of width x width, results of tokens x width
};

inline std::string program_text(const MadeProgram& made) {
  const int width = made.width, tokens = made.tokens, shard = (width + made.ranks - 1) / made.ranks;
  const long long bytes = 2LL * width * shard * made.ranks;
  std::string rows;
  int work = 0;
  const auto gather = [&] {
    rows += fmt::format(
        "  {{ collective = \"all_gather\", bytes = {}, group = 0, work = {}, async = true, stream = "
        "\"gathers\" }},\n",
        bytes, ++work);
  };
  gather();
  std::string storages;
  int row = 1;
  for (int layer = 0; layer < made.layers; ++layer) {
    if (layer + 1 < made.layers) gather(), ++row;
    rows += fmt::format("  {{ wait = {} }},\n", layer + 1);
    rows += fmt::format(
        "  {{ op = \"aten::mm\", of = \"layers.{}\", in = [\"bf16[{},{}]\", \"bf16[{},{}]\"], out = "
        "[\"bf16[{},{}]\"] }},\n",
        layer, tokens, width, width, width, tokens, width);
    storages +=
        fmt::format("  {{ size = \"bf16[{},{}]\", made = {}, freed = {}, class = \"activation\" }},\n",
                    tokens, width, row + 1, "LAST");
    row += 2;
  }
  for (int layer = made.layers; layer-- > 0;) {
    rows += fmt::format(
        "  {{ op = \"aten::mm\", pass = \"backward\", of = \"layers.{}\", in = [\"bf16[{},{}]\", "
        "\"bf16[{},{}]\"], out "
        "= [\"bf16[{},{}]\"] }},\n",
        layer, width, tokens, tokens, width, width, width);
    rows += fmt::format(
        "  {{ collective = \"reduce_scatter\", bytes = {}, group = 0, work = {}, async = true, pass = "
        "\"backward\" }},\n",
        bytes, ++work);
    row += 2;
  }
  rows += fmt::format(
      "  {{ collective = \"all_reduce\", bytes = 4, group = 0, work = {}, pass = \"backward\" }},\n", ++work);
  rows += "  { op = \"aten::_fused_adamw_\", pass = \"optimizer\", in = [";
  for (int tensor = 0; tensor < 4 * made.layers; ++tensor)
    rows += fmt::format("{}\"f32[{},{}]\"", tensor > 0 ? ", " : "", shard, width);
  rows += "] },\n";
  for (std::size_t at = storages.find("LAST"); at != std::string::npos; at = storages.find("LAST"))
    storages.replace(at, 4, std::to_string(row - 1));
  return fmt::format(
      "description = \"made up\"\n[program]\nformat = 1\nby = \"a test\"\nworld = {}\nbatch = 1\ngroups = "
      "[{{ size "
      "= {} }}]\n[[program.ranks]]\noperators = [\n{}]\nstorages = [\n{}]\n",
      made.ranks, made.ranks, rows, storages);
}

}  // namespace foretrain::test
