// Reader of a launch line alone, as typed on a machine without a batch system: torchrun, accelerate launch,
// deepspeed, horovodrun, mpirun or python.
// An example is "CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node=2 train.py".
// There is no request, so the job is taken to have a GPU for every process that the line starts.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/jobs/catalog.hpp"
#include "sim/import/jobs/directives.hpp"
#include "sim/import/jobs/slurm_values.hpp"
#include "sim/import/launch_reader.hpp"

namespace foretrain {

namespace {

/// The variable that limits the GPUs of a process.
constexpr std::string_view kVisible = "CUDA_VISIBLE_DEVICES=";
/// Limit of hosts in a list.
constexpr std::size_t kMostHosts = 100'000;

/// Hosts with their places for processes.
struct Hosts {
  int count = 0;
  /// Places of the first host that states them; 0 when none does.
  int slots = 0;
};

/// Returns the first line that is neither empty nor a comment.
std::string_view first_line_of(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed(text.substr(at, end - at));
    if (!line.empty() && line[0] != '#') return line;
    at = end + 1;
  }
  return {};
}

/// Says whether a text is a launch line, after assignments in front of it.
bool is_launch_line(std::string_view text) {
  if (text.starts_with("#!")) return false;
  std::string_view line = first_line_of(text);
  std::string_view word = first_word(line);
  while (word.find('=') != std::string_view::npos && !word.starts_with('=')) {
    line.remove_prefix(static_cast<std::size_t>(word.data() - line.data()) + word.size());
    word = first_word(line);
  }
  // The first word that is no assignment is the command.
  const std::string_view name = base_name(word);
  // python is a launch only with a program, which is a file or a module.
  if (name.starts_with("python"))
    return line.find(".py") != std::string_view::npos || line.find(" -m ") != std::string_view::npos;
  return is_one_of(name, {"torchrun", "accelerate", "deepspeed", "horovodrun", "mpirun", "mpiexec", "jsrun"});
}

/// Reads a list such as "a:4,b:4" or "a,b"; hosts that come twice count once.
Hosts hosts_of_list(std::string_view list) {
  Hosts out;
  std::set<std::string_view> names;
  for (const std::string_view host : split_at(list, ',')) {
    if (host.empty() || names.size() >= kMostHosts) continue;
    const std::size_t colon = host.find(':');
    names.insert(host.substr(0, colon));
    const auto slots = colon == std::string_view::npos ? std::nullopt : whole_number(host.substr(colon + 1));
    const std::int64_t places = slots.value_or(0);
    if (out.slots == 0 && places > 0 && places <= 1024) out.slots = static_cast<int>(places);
  }
  out.count = static_cast<int>(names.size());
  return out;
}

/// Reads the lines of a file of hosts, "host slots=4" or "host:4". At most 1 MiB is read.
Hosts hosts_of_file(std::string_view text) {
  std::string list;
  int slots = 0;
  for (const std::string_view raw : split_at(text.substr(0, 1u << 20), '\n')) {
    const std::string_view line = trimmed(raw.substr(0, raw.find('#')));
    if (line.empty()) continue;
    list += std::string(line.substr(0, line.find_first_of(" \t"))) + ",";
    const std::size_t at = line.find("slots=");
    const auto number = at == std::string_view::npos
                            ? std::nullopt
                            : whole_number(trimmed(line.substr(at + 6, line.find(' ', at) - at - 6)));
    const std::int64_t places = number.value_or(0);
    if (slots == 0 && places > 0 && places <= 1024) slots = static_cast<int>(places);
  }
  Hosts out = hosts_of_list(list);
  if (slots > 0) out.slots = slots;
  return out;
}

/// Reads a number of nodes: "2", or "1:4" of an elastic job, which is taken at its largest.
Field<int> stated_nodes(const OptionValue& value, JobScript& script) {
  const std::size_t colon = value.text.find(':');
  if (colon != std::string_view::npos)
    script.remarks.push_back({value.word.span, std::string(value.text.substr(0, 40)),
                              "is a range of nodes; the largest is taken"});
  return count_field(script, value,
                     colon == std::string_view::npos ? value.text : value.text.substr(colon + 1));
}

/// Reads what options say of hosts and nodes, whichever launcher they belong to.
void read_hosts(const std::vector<ShellWord>& words, const ScriptFinder& find, JobScript& script,
                Hosts& hosts) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    // Options behind the program are the program's own.
    if (text.ends_with(".py")) break;
    const std::size_t equals = text.find('=');
    std::string name = text.substr(0, equals);
    std::ranges::replace(name, '_', '-');
    if (words[0].text.ends_with("torchrun")) name = whole_option_name(name, torchrun_syntax());
    const bool has_next = equals == std::string::npos && i + 1 < words.size();
    const std::string value = has_next                      ? words[i + 1].text
                              : equals == std::string::npos ? ""
                                                            : text.substr(equals + 1);
    const ShellWord& holder = has_next ? words[i + 1] : words[i];
    if (!holder.known) continue;
    if (is_one_of(name, {"--nnodes", "--num-machines", "--num-nodes"})) {
      script.request.nodes = stated_nodes({holder, value}, script);
    } else if (is_one_of(name, {"-H", "-host", "--host", "--hosts"})) {
      hosts = hosts_of_list(value);
    } else if (is_one_of(name, {"--hostfile", "-hostfile", "-machinefile", "--machinefile", "-f"})) {
      const auto file = find ? find(value) : std::nullopt;
      if (file) hosts = hosts_of_file(file->text);
      if (!file && !script.request.nodes)
        script.not_understood.push_back({holder.span, value, "is a file of hosts, which is not here"});
    }
  }
  // A number of nodes that an option states goes before the number of listed hosts.
  if (hosts.count > 0 && !script.request.nodes) script.request.nodes = {hosts.count, {1, 1, 1}};
}

/// Returns the number of devices in "CUDA_VISIBLE_DEVICES=0,1,2,3" before the line; 0 when it is not there.
int visible_devices(std::string_view text) {
  const std::size_t at = text.find(kVisible);
  if (at == std::string_view::npos) return 0;
  const std::string_view rest = text.substr(at + kVisible.size());
  const std::string_view list = rest.substr(0, rest.find_first_of(" \t\n;'\""));
  return list.empty() ? 0
                      : static_cast<int>(std::min<std::ptrdiff_t>(1024, 1 + std::ranges::count(list, ',')));
}

/// Reads the line. The resources follow from the launch, in the opposite direction to that of a batch system.
void read_launch_line(const SourceText&, std::string_view text, const ScriptFinder& find, JobScript& script) {
  ShellValues values;
  const std::size_t dollar = text.find_first_not_of(" \t\r\n");
  const bool has_prompt = dollar != std::string_view::npos && text.substr(dollar).starts_with("$ ");
  std::string shell(text);
  // A prompt becomes a blank, so that columns in messages stay right.
  if (has_prompt) shell[dollar] = ' ';
  const std::vector<ShellCommand> commands = read_commands(shell, values);
  Hosts hosts;
  if (!commands.empty()) read_hosts(commands[0].words, find, script, hosts);
  JobResources& have = script.resources;
  have.nodes = script.request.nodes ? script.request.nodes : Field<int>(Found<int>{1, {}});
  if (hosts.slots > 0) have.tasks_per_node = {hosts.slots, {}}, have.gpus_per_node = {hosts.slots, {}};
  const int visible = visible_devices(text);
  if (visible > 0) have.gpus_per_node = {visible, {}};
  if (have.gpus_per_node) values.gpus_on_node = have.gpus_per_node->value;
  read_launch(commands, values, find, script);
  JobLaunch& launch = script.launch;
  if (launch.started_by) launch.nodes = have.nodes;
  if (!have.gpus_per_node && launch.processes_per_node)
    have.gpus_per_node = {launch.processes_per_node->value, launch.processes_per_node->span};
  have.tasks_per_node = launch.processes_per_node;
  // Figures of the whole job follow from those of a node; the product is bounded.
  const auto all = [&](const Field<int>& each) -> Field<int> {
    if (!each || !have.nodes) return {};
    return Found<int>{
        static_cast<int>(std::min<std::int64_t>(std::int64_t{each->value} * have.nodes->value, 1 << 30)),
        each->span};
  };
  have.gpus = all(have.gpus_per_node), have.tasks = all(have.tasks_per_node);
}

}  // namespace

JobSystem launch_line_system() {
  return {.system = BatchSystem::none,
          .title = "no batch system",
          .kind = "a launch line",
          .asks_as = "torchrun --nproc_per_node=1",
          .starter = "ssh",
          .is = is_launch_line,
          .read = read_launch_line};
}

}  // namespace foretrain
