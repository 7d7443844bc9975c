// Everything behind `record` belongs to the recorder, and behind `--` to the user's own command line.
#include "sim/app/options/record_options.hpp"

#include <CLI/CLI.hpp>

namespace foretrain {

void add_record(CLI::App& app, RecordCommand& record) {
  CLI::App* command = app.add_subcommand(
      "record", "What your own distributed program does in a step, without a GPU: for predict --program");
  command->prefix_command();
  command->footer(
      "Runs `python3 -m foretrain record` (FORETRAIN_PYTHON names another Python), which needs PyTorch 2.1 "
      "or "
      "newer. The program runs unchanged as one pretend rank; nothing is sent, and nothing is written but "
      "the "
      "program file.\n\nExamples:\n  foretrain record -o step.toml -- torchrun --nnodes 4 --nproc-per-node 8 "
      "train.py\n  foretrain predict --program step.toml --cluster puhti");
  command->callback([&record, command] {
    record.words = command->remaining();
    run_record(record);
  });
}

}  // namespace foretrain
