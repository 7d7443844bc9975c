// Two commands with few options.
#include "sim/app/options/serve_options.hpp"

#include <CLI/CLI.hpp>

namespace foretrain {

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
