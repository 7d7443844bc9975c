// The command topology questions: prints the commands that would settle what a cluster file, or the output of
// tools, leaves assumed. Each row has a command and what it settles.
//
// `foretrain topology questions FILE` changes nothing; its answers are given to `topology import`.
#include <algorithm>

#include <fmt/format.h>

#include "sim/app/commands.hpp"
#include "sim/app/imported_cluster.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/pasted/cluster_questions.hpp"
#include "sim/report/output_file.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Returns the text of a cluster file, or of the file that importing other text would make.
std::string cluster_text_of(const std::string& name) {
  const bool is_file = name == "-" || is_readable_file(name);
  if (is_file && !name.ends_with(".toml")) return cluster_of_read(read_machines({name}), {}).text;
  // Throws InputError with every mistake of the cluster.
  open_cluster(name);
  if (is_file) return read_text_file(name).text;
  const auto found = open_named(CatalogKind::clusters, name);
  return found ? found->text : "";
}

}  // namespace

void run_topology_questions(const std::string& file) {
  const std::vector<ClusterQuestion> questions = cluster_questions(cluster_text_of(file));
  const std::string name = shortened(printable(file), 60);
  if (questions.empty())
    return write_output("", fmt::format("Nothing in {} is assumed that a command could settle.\n", name));
  const bool is_one = questions.size() == 1;
  std::string out = fmt::format(
      "{} {} what {} leaves assumed{}:\n", counted(static_cast<std::int64_t>(questions.size()), "command"),
      is_one ? "settles" : "settle", name, is_one ? "" : ", the most influential first");
  std::size_t widest = 0;
  for (const ClusterQuestion& question : questions) widest = std::max(widest, question.command.size());
  for (const ClusterQuestion& question : questions)
    out += fmt::format("  {:<{}}  {}\n", question.command, widest, question.settles);
  write_output("",
               out + "Run them on a node, and give what they print to `foretrain topology import FILE`.\n");
}

}  // namespace foretrain
