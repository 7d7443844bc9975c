// Writes completion scripts, with one group of functions for each shell. A script follows the typed words
// from command to command, and then looks up options and arguments of that command.
//
// `foretrain completion bash` prints a script to standard output. Names of catalogs are not part of it, so it
// stays valid when catalogs change.
#include <fmt/format.h>

#include "sim/app/pages/completion.hpp"
#include "sim/base/named_rows.hpp"

namespace foretrain {

namespace {

using Commands = std::vector<CompletedCommand>;

/// Returns the names separated by blanks.
std::string words(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, " ")); }

/// Returns the text with `before` in front of each of the characters in `special`.
std::string escaped(const std::string& text, std::string_view special, std::string_view before) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += before;
    out += c;
  }
  return out;
}

/// Returns the text in single quotes of a POSIX shell. A quote inside ends them, stands by itself, and opens
/// new ones.
std::string single_quoted(const std::string& text) { return "'" + escaped(text, "'", "'\\'") + "'"; }

/// Returns all command paths as a pattern, such as "predict"|"topology"|"topology show".
std::string paths(const Commands& commands, char quote, std::string_view glue) {
  std::vector<std::string> quoted;
  for (const CompletedCommand& command : commands) {
    if (!command.path.empty()) quoted.push_back(quote + command.path + quote);
  }
  return fmt::format("{}", fmt::join(quoted, glue));
}

// bash: a function that fills COMPREPLY.

// The script up to the loop over the words that are typed already.
constexpr std::string_view kBashBegin =
    R"sh(# bash completion of foretrain, printed by `foretrain completion bash`.
_foretrain_words() { COMPREPLY=($(compgen -W "$1" -- "$cur")); }
_foretrain_names() { foretrain list "$1" --names 2>/dev/null; }
_foretrain_files() { COMPREPLY+=($(compgen -f -- "$cur")); compopt -o filenames 2>/dev/null; }
_foretrain_catalog() {
  _foretrain_words "$(_foretrain_names "$1")"
  if [[ $cur == */* || $cur == .* ]]; then _foretrain_files; fi
}
# The last of several names with commas.
_foretrain_list() {
  local before=""
  if [[ $cur == *,* ]]; then before="${cur%,*},"; fi
  COMPREPLY=($(compgen -P "$before" -W "$1" -- "${cur##*,}"))
}
_foretrain() {
  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" path="" i
  COMPREPLY=()
  if [[ $cur == "=" ]]; then cur=""; elif [[ $prev == "=" ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
)sh";

/// Returns the names of a value: known ones, or a call that asks the program for those of a catalog.
std::string bash_names(const CompletedValue& value) {
  return value.catalog.empty() ? words(value.choices) : fmt::format("$(_foretrain_names {})", value.catalog);
}

/// Returns the shell command that completes a value.
std::string bash_action(const CompletedValue& value) {
  if (!value.catalog.empty() && !value.is_list) {
    const std::string more = value.is_file ? "; _foretrain_files" : "";
    return fmt::format("_foretrain_catalog {}{}", value.catalog, more);
  }
  if (!value.catalog.empty() || !value.choices.empty())
    return fmt::format("_foretrain_{} \"{}\"", value.is_list ? "list" : "words", bash_names(value));
  return value.is_file ? "_foretrain_files" : ":";
}

/// Returns one case for each option with a value, keyed by command path and option.
std::string bash_values(const Commands& commands) {
  std::string out;
  for (const CompletedCommand& command : commands) {
    for (const CompletedOption& option : command.options) {
      if (option.value.noun.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names)
        patterns.push_back(fmt::format("\"{} {}\"", command.path, name));
      out += fmt::format("    {}) {}; return;;\n", fmt::join(patterns, "|"), bash_action(option.value));
    }
  }
  return out;
}

/// Returns the case that completes options or the argument of one command.
std::string bash_words(const CompletedCommand& command) {
  std::vector<std::string> names;
  for (const CompletedOption& option : command.options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  const std::string argument = command.commands.empty()
                                   ? bash_action(command.argument)
                                   : "_foretrain_words \"" + words(command.commands) + "\"";
  return fmt::format("    \"{}\") if [[ $cur == -* ]]; then _foretrain_words \"{}\"; else {}; fi;;\n",
                     command.path, words(names), argument);
}

/// Returns the whole script.
std::string bash(const Commands& commands) {
  std::string out(kBashBegin);
  out += fmt::format(
      "    case \"${{path:+$path }}${{COMP_WORDS[i]}}\" in {}) path=\"${{path:+$path "
      "}}${{COMP_WORDS[i]}}\";; esac\n"
      "  done\n  case \"$path $prev\" in\n",
      paths(commands, '"', "|"));
  out += bash_values(commands) + "  esac\n  case \"$path\" in\n";
  for (const CompletedCommand& command : commands) out += bash_words(command);
  return out + "  esac\n}\ncomplete -F _foretrain foretrain\n";
}

// zsh: a call of _arguments for each command.

// The script up to the loop over the words that are typed already.
constexpr std::string_view kZshBegin = R"sh(#compdef foretrain
# zsh completion of foretrain, printed by `foretrain completion zsh`.
_foretrain_catalog() {
  local -a names
  names=(${(f)"$(foretrain list ${@[-1]} --names 2>/dev/null)"})
  compadd "${@[1,-2]}" -a names
}
_foretrain_catalog_list() { compset -P '*,'; _foretrain_catalog "$@" }
_foretrain_catalog_or_file() { _foretrain_catalog "$@"; _files "${@[1,-2]}" }
_foretrain() {
  local line="" word skip=1
  integer at=1 i
  for ((i = 2; i < CURRENT; ++i)); do
)sh";

/// Escapes the characters that have a meaning in a specification of _arguments.
std::string zsh_text(const std::string& text) { return escaped(text, ":[]\\", "\\"); }

/// Returns the action of _arguments that completes a value.
std::string zsh_action(const CompletedValue& value) {
  if (!value.catalog.empty())
    return fmt::format("_foretrain_catalog{} {}",
                       value.is_list   ? "_list"
                       : value.is_file ? "_or_file"
                                       : "",
                       value.catalog);
  if (!value.choices.empty()) return "(" + words(value.choices) + ")";
  return value.is_file ? "_files" : " ";
}

// Begins a specification of _arguments on a line of its own.
constexpr std::string_view kZshArgument = " \\\n        ";

/// Returns one specification for each name of the option.
std::string zsh_option(const CompletedOption& option) {
  std::string out;
  for (const std::string& name : option.names) {
    const bool takes = !option.value.noun.empty();
    const std::string value =
        takes ? fmt::format(":{}:{}", zsh_text(option.value.noun), zsh_action(option.value)) : "";
    const std::string_view glue = !takes ? "" : name.starts_with("--") ? "=" : "+";
    out += kZshArgument;
    out += single_quoted(fmt::format("*{}{}[{}]{}", name, glue, zsh_text(option.summary), value));
  }
  return out;
}

/// Returns the case of one command.
std::string zsh_command(const CompletedCommand& command) {
  std::string out = fmt::format("    \"{}\")\n      _arguments -s", command.path);
  for (const CompletedOption& option : command.options) out += zsh_option(option);
  if (!command.commands.empty())
    out += fmt::format("{}'1:command:({})'", kZshArgument, words(command.commands));
  else if (!command.argument.noun.empty())
    out += fmt::format("{}'*:{}:{}'", kZshArgument, zsh_text(command.argument.noun),
                       zsh_action(command.argument));
  return out + ";;\n";
}

/// Returns the whole script.
std::string zsh(const Commands& commands) {
  std::string out(kZshBegin);
  out += fmt::format(
      "    word=\"${{line:+$line }}${{words[i]}}\"\n    case \"$word\" in {}) line=\"$word\"; at=$i;; esac\n "
      " done\n"
      "  words=(\"${{(@)words[at,-1]}}\")\n  (( CURRENT -= at - 1 ))\n  case \"$line\" in\n",
      paths(commands, '"', "|"));
  for (const CompletedCommand& command : commands) out += zsh_command(command);
  return out +
         "  esac\n}\nif [[ $zsh_eval_context[-1] == loadautofunc ]]; then _foretrain \"$@\"; else compdef "
         "_foretrain "
         "foretrain; fi\n";
}

// fish: one `complete` line for each option, with a condition on the command path.

// The script up to the patterns of __foretrain_at.
constexpr std::string_view kFishBegin =
    R"sh(# fish completion of foretrain, printed by `foretrain completion fish`.
# Of a list with commas, each with what stands before it.
function __foretrain_names
  set -l before ""
  if set -q argv[2]
    set before (string match -r '.*,' -- (commandline -ct))
  end
  for name in (foretrain list $argv[1] --names 2>/dev/null); echo "$before$name"; end
end
function __foretrain_at
  set -l path
  for word in (commandline -opc)[2..-1]
    set -l longer (string trim -- "$path $word")
    switch "$longer"
)sh";

/// Returns the text in single quotes of fish, where a backslash keeps a quote from ending them.
std::string fish_quoted(const std::string& text) { return "'" + escaped(text, "'", "\\") + "'"; }

/// Returns the part of the line that completes a value. In a list with commas the last name is completed.
std::string fish_action(const CompletedValue& value) {
  if (!value.catalog.empty())
    return fmt::format(" -a '(__foretrain_names {})'", value.is_list ? value.catalog + " ," : value.catalog);
  if (!value.choices.empty()) return " -a " + fish_quoted(words(value.choices));
  return "";
}

/// Returns the line of one option.
std::string fish_option(const std::string& at, const CompletedOption& option) {
  std::string out = at;
  for (const std::string& name : option.names)
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.value.noun.empty()) out += option.value.is_file ? " -r -F" : " -x";
  return out + fish_action(option.value) + " -d " + fish_quoted(option.summary) + "\n";
}

/// Returns the command with this path; every path that arrives here exists.
const CompletedCommand& command_at(const Commands& commands, const std::string& path) {
  for (const CompletedCommand& command : commands) {
    if (command.path == path) return command;
  }
  return commands.front();
}

/// Returns all lines of one command: commands below it, its argument, and its options.
std::string fish_command(const Commands& commands, const CompletedCommand& command) {
  const std::string at = fmt::format("complete -c foretrain -n \"__foretrain_at '{}'\"", command.path);
  std::string out;
  for (const std::string& child : command.commands) {
    const std::string path = command.path.empty() ? child : command.path + " " + child;
    out += fmt::format("{} -a {} -d {}\n", at, child, fish_quoted(command_at(commands, path).summary));
  }
  if (!command.argument.noun.empty())
    out += at + (command.argument.is_file ? " -F" : "") + fish_action(command.argument) + "\n";
  for (const CompletedOption& option : command.options) out += fish_option(at, option);
  return out;
}

/// Returns the whole script.
std::string fish(const Commands& commands) {
  std::string out(kFishBegin);
  out += "      case " + paths(commands, '\'', " ");
  out +=
      "\n        set path $longer\n    end\n  end\n  test \"$path\" = \"$argv[1]\"\nend\ncomplete -c "
      "foretrain -f\n";
  for (const CompletedCommand& command : commands) out += fish_command(commands, command);
  return out;
}

// A shell and the function that writes its script.
struct Shell {
  std::string_view name;
  std::string (*script)(const Commands& commands);
};
constexpr Shell kShells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

}  // namespace

std::vector<std::string> completed_shells() { return names_of_rows(kShells); }

std::string completion_for(std::string_view shell, const std::vector<CompletedCommand>& commands) {
  return find_row(kShells, shell)->script(commands);
}

}  // namespace foretrain
