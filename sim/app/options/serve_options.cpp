// Options of commands that have few: serve, mcp, update-catalogs and paste.
#include "sim/app/options/serve_options.hpp"

#include <CLI/CLI.hpp>

namespace foretrain {

// serve prints its address and answers until it is interrupted.
void add_serve(CLI::App& app, ServeCommand& serve) {
  CLI::App* command = app.add_subcommand(
      "serve", "The workshop page in a browser: turn the knobs and see what a training does");
  command
      ->add_option(
          "--port", serve.port,
          "Of 127.0.0.1 and ::1, where it listens and nowhere else; 0: any that is free [8080, or any "
          "that is free where it is taken]")
      ->check(CLI::Range(0, 65535))
      ->type_name("N");
  command->add_flag("--no-token", serve.no_token,
                    "Answer everybody on this machine, as for a kiosk: no secret in the address");
  command->footer("Examples:\n  foretrain serve\n  foretrain serve --port 8042");
  command->callback([&serve] { run_serve(serve); });
}

// mcp answers on standard output until standard input ends.
void add_mcp(CLI::App& app, McpCommand& mcp) {
  CLI::App* command = app.add_subcommand(
      "mcp",
      "Tools for coding assistants: check, predict, compare, plan, explain and topology over standard input");
  command
      ->add_option("--folder", mcp.folders,
                   "Also read files below this folder, as that of the work; otherwise only texts that come "
                   "with a call")
      ->check(CLI::ExistingDirectory)
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  command->footer(
      "The Model Context Protocol: an assistant starts this command itself. It opens no connection and "
      "writes no file.\n"
      "Example, for Claude Code:\n  claude mcp add foretrain -- foretrain mcp --folder .");
  command->callback([&mcp] { run_mcp(mcp); });
}

// update-catalogs prints how many files it has put where.
void add_update_catalogs(CLI::App& app, std::string& file) {
  CLI::App* command = app.add_subcommand(
      "update-catalogs",
      "Newer models, clusters and evidence from an archive, in place of those of the program");
  command->add_option("FILE", file, "As foretrain-catalogs-2026-11-28.tar.gz")->required();
  command->footer(
      "They go to XDG_DATA_HOME/foretrain/catalogs; remove that folder to go back.\n"
      "Example:\n  foretrain update-catalogs foretrain-catalogs-2026-11-28.tar.gz");
  command->callback([&file] { run_update_catalogs(file); });
}

// paste prints what each block of the text is and which command to run next.
void add_paste(CLI::App& app, std::string& pasted) {
  CLI::App* command = app.add_subcommand(
      "paste", "A text of many tools, as people paste it: what each block says and what to do with it");
  command->add_option("FILE", pasted, "The text; - for standard input")->required();
  command->footer(
      "Prompts, headings and lines that one tool alone prints begin a block. `foretrain FILE` does the "
      "same.\n"
      "Example:\n  foretrain paste session.txt");
  command->callback([&pasted] { run_paste(pasted); });
}

}  // namespace foretrain
