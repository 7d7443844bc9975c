// What the engine in a browser does without: YAML, whose library is not there, sweeps, and servers. It says so.
#include "sim/app/commands.hpp"
#include "sim/app/sweep/sweep_commands.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/import/jobs/yaml.hpp"

namespace foretrain {

std::vector<YamlNode> read_yaml(const SourceText& source, YamlLimits) {
  throw InputError(std::vector<Diagnostic>{{source.name,
                                            {},
                                            "",
                                            "is YAML, which is not read in a browser",
                                            "`foretrain serve` and `foretrain predict` read it"}});
}

std::string write_yaml(const YamlNode&) {
  throw InputError("Kubernetes manifests are not written in a browser",
                   "`foretrain predict --recommend` writes them");
}

namespace {

[[noreturn]] void refuse_sweeps() {
  throw InputError("sweeps are not run in a browser", "`foretrain sweep` runs them");
}

}  // namespace

void run_sweep_run(const SweepRunCommand&) { refuse_sweeps(); }
void run_sweep_merge(const SweepMergeCommand&) { refuse_sweeps(); }
void run_sweep_status(const SweepStatusCommand&) { refuse_sweeps(); }
void run_sweep_submit(const SweepSubmitCommand&) { refuse_sweeps(); }
void run_sweep_show(const SweepShowCommand&) { refuse_sweeps(); }

void run_serve(const ServeCommand&) { throw InputError("a browser serves nothing", "`foretrain serve` does"); }
void run_mcp(const McpCommand&) { throw InputError("a browser serves nothing", "`foretrain mcp` does"); }

}  // namespace foretrain
