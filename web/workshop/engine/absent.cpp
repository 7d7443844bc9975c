// What the engine in a browser does without: YAML, whose library is not there. It says so.
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

}  // namespace foretrain
