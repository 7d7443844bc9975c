// The command sweep show: asks a database a question and prints the rows of the answer as a table, CSV or
// JSON.
//
// `foretrain sweep show FILE --best total_s` prints rows (report/sweep/sweep_reports.cpp). A wrong expression
// ends it with exit code 1 and SQLite's message.
#include "sim/app/named_outputs.hpp"
#include "sim/app/sweep/sweep_commands.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/sweep/sweep_reports.hpp"

namespace foretrain {

// Warnings go to standard error when the format has no place for them.
void run_sweep_show(const SweepShowCommand& command) {
  check_outputs({{"-o", command.output}});
  if (!command.output.empty() && is_same_output(command.output, command.database))
    throw InputError("-o is the database itself, which would be overwritten", "another file");
  const SweepAnswer answer = query_sweep(command.database, command.question);
  write_report(command.output, command.format, find_row(kAnswerReports, command.format)->write(answer));
  warn_beside(command.format, answer.warnings);
}

}  // namespace foretrain
