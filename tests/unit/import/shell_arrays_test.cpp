// Arrays of bash: assignment, elements, counts, and what is not known of them.
#include "sim/import/program_arguments.hpp"
#include "sim/import/shell_values.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/import/scripts.hpp"

namespace shell_arrays_test {

using namespace foretrain;
using test::launch_of;
using test::slurm;

namespace {

/// The words of the last command, with bars between them; unknown ones in brackets.
std::string words_of(const std::string& text) {
  ShellValues values;
  const std::vector<ShellCommand> commands = read_commands(text, values);
  std::string out;
  if (commands.empty()) return out;
  for (const ShellWord& word : commands.back().words)
    out += (out.empty() ? "" : "|") + (word.known ? word.text : "[" + word.text + "]");
  return out;
}

}  // namespace

TEST_CASE("all elements of an array are words of a command") {
  CHECK(words_of("A=(--x 1 --y 2)\nrun ${A[@]} end") == "run|--x|1|--y|2|end");
  CHECK(words_of("A=(\n  --x 1  # don't stop here\n  --y \"2 3\"\n)\nrun \"${A[@]}\"") ==
        "run|--x|1|--y|2 3");
  CHECK(words_of("A=(--y \"2 3\")\nrun ${A[@]}") == "run|--y|2|3");
  CHECK(words_of("A=(--y \"2 3\")\nrun \"${A[*]}\"") == "run|--y 2 3");
  CHECK(words_of("A=(a b)\nA+=(c)\nB=(\"${A[@]}\" d)\nrun \"${B[@]}\"") == "run|a|b|c|d");
  CHECK(words_of("A=()\nrun \"${A[@]}\" x") == "run|x");
  CHECK(words_of("N=4\ndeclare -a A=(--n $N)\nrun ${A[@]}") == "run|--n|4");
  CHECK(words_of("A=(x)\nrun pre\"${A[@]}\"post") == "run|prexpost");
}

TEST_CASE("one element, the first one and the number of elements") {
  CHECK(words_of("A=(a b c)\nrun ${A[0]} ${A[1]} $A ${#A[@]}") == "run|a|b|a|3");
  CHECK(words_of("A=(a b c)\nI=2\nrun ${A[I]} ${A[$((I - 1))]}") == "run|c|b");
  CHECK(words_of("A=(a)\nrun ${A[7]}") == "run|[${A[7]}]");
  CHECK(words_of("A=x\nrun ${A[@]} ${#A[@]}") == "run|x|1");
}

TEST_CASE("elements that a command prints are not known, and neither is their number") {
  const std::string nodes = "N=( $( scontrol show hostnames $SLURM_JOB_NODELIST ) )\n";
  CHECK(words_of(nodes + "run ${N[0]} ${#N[@]}") == "run|[${N[0]}]|[${#N[@]}]");
  CHECK(words_of("A=(a $(hostname) b)\nrun ${A[0]} ${A[2]}") == "run|a|[${A[2]}]");
  CHECK(words_of("run ${NEVER[@]}") == "run|[${NEVER[@]}]");
  CHECK(words_of("if [ -f x ]; then\nA=(a)\nfi\nrun ${A[@]}") == "run|[${A}]");
}

TEST_CASE("arrays that never close end with the script") {
  CHECK(words_of("run first\nA=(--x 1\ntorchrun --nproc_per_node=4 t.py\n") == "run|first");
  CHECK(test::open_lines(slurm("--gres=gpu:4", "A=(--x 1\ntorchrun --nproc_per_node=4 t.py\n")) ==
        "3: the parenthesis of this array never closes: all that follows is taken for its elements");
  CHECK_NOTHROW(words_of("A=("));
  CHECK_NOTHROW(words_of("A=(B=(C=(x)))\nrun ${A[@]}"));
  CHECK_NOTHROW(words_of("A=($A ${A[@]} ${#A[@]} ${A[)\nrun ${A[${A[0]}]}"));
}

TEST_CASE("arguments of Megatron-LM in arrays are those of the launch line") {
  const JobScript script = slurm("--nodes=2\n--gpus-per-node=8\n--ntasks-per-node=1",
                                 "D=(\n    --nproc_per_node 8\n    --nnodes 2\n)\nP=( --micro-batch-size 1 "
                                 "--global-batch-size 64 )\nsrun torchrun ${D[@]} pretrain_gpt.py ${P[@]}\n");
  CHECK(launch_of(script) == "torchrun 8 pretrain_gpt.py");
  CHECK(script.launch.awaited_nodes->value == 2);
  CHECK(find_argument(script.launch.arguments, "global_batch")->value == "64");
}

}  // namespace shell_arrays_test
