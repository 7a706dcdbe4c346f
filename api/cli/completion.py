"""Shell completion: `kingpair completion bash|zsh|fish` prints a script that completes commands,
options, their values and materials.

The script contains all words, so that a press of Tab starts no Python.  It is made from the
commands themselves; print it again after an upgrade.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any, NamedTuple

import typer

from kingpair.api.cli.commands import Commands, loaded
from kingpair.workers.game.chess.material import MEN_MAX
from kingpair.workers.game.chess.waves import up_to
from kingpair.workers.game.metric import Metric
from kingpair.workers.game.outcome import Outcome

DIRECTORIES, FILES = ("<directories>",), ("<files>",)
MATERIALS = "$materials"
SHELLS = ("bash", "zsh", "fish")
_BY_METAVAR = {
    "DIR": DIRECTORIES,
    "FILE": FILES,
    "MATERIAL": (MATERIALS,),
    "WHERE": ("local", "auto"),
    "LEVEL": ("v2", "v3", "v4"),
    "SHELL": SHELLS,
}
_BY_OPTION = {"--metric": tuple(map(str, Metric)), "--wdl": tuple(map(str, Outcome))}
"""Options whose type says which words they take, and which have no metavar of their own."""


class Option(NamedTuple):
    """An option's names; the words that may follow it, or None if it takes none."""

    names: tuple[str, ...]
    help: str
    values: tuple[str, ...] | None


class Command(NamedTuple):
    """A command by its path, such as `token create`; the words that its arguments may be."""

    path: str
    help: str
    options: tuple[Option, ...]
    words: tuple[str, ...]


def completion(
    context: typer.Context,
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> None:
    """Print a script that completes commands and materials.

    \b
    Examples:
      kingpair completion bash > ~/.local/share/bash-completion/completions/kingpair
      kingpair completion zsh > ~/.zfunc/_kingpair    # a directory of your fpath
      kingpair completion fish > ~/.config/fish/completions/kingpair.fish
    """
    if shell not in SHELLS:
        raise typer.BadParameter(f"{shell!r} is none of {', '.join(SHELLS)}", param_hint="SHELL")
    scripts: dict[str, Callable[[list[Command]], Iterator[str]]]
    scripts = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    for line in scripts[shell](list(commands_of(context.find_root().command))):
        typer.echo(line)


# ---- the commands as values ----


def commands_of(command: Any, path: str = "") -> Iterator[Command]:
    """A command, and those below it."""
    below: dict[str, Any] = getattr(command, "commands", {})
    words = tuple(below)
    options = [Option(("--help",), "Show this message and exit.", None)]
    for parameter in command.params:
        if parameter.opts[0].startswith("-"):
            options.append(_option(parameter))
        else:
            words += _BY_METAVAR.get(parameter.metavar, ())
    yield Command(path, command.get_short_help_str(200), tuple(options), words)
    for name, listed in below.items():
        each = loaded(name) if isinstance(command, Commands) else listed
        yield from commands_of(each, f"{path} {name}".strip())


def _option(parameter: Any) -> Option:
    names = (*parameter.opts, *parameter.secondary_opts)
    if parameter.is_flag:
        return Option(names, parameter.help, None)
    metavar = parameter.metavar or ""
    values = metavar.split("|") if "|" in metavar else _BY_METAVAR.get(metavar, ())
    return Option(names, parameter.help, tuple(values) or _BY_OPTION.get(names[0], ()))


def materials() -> str:
    return " ".join(map(str, up_to(MEN_MAX)))


# ---- bash and zsh: a case for each command, a case for each option that takes a word ----


def _paths(commands: Iterable[Command]) -> Iterator[str]:
    """The cases that go one command further down the line."""
    for command in commands:
        if command.path:
            above, _, name = command.path.rpartition(" ")
            yield f'            "{above} {name}") path="{command.path}" ;;'


def _cases(commands: Iterable[Command], offered: Callable[[tuple[str, ...]], str]) -> Iterator[str]:
    for command in commands:
        for option in command.options:
            if option.values is not None:
                cases = "|".join(f'"{command.path} {name}"' for name in option.names)
                yield f"        {cases}) {offered(option.values)}; return ;;"
    yield "    esac"
    yield '    case "$path" in'
    for command in commands:
        names = tuple(name for option in command.options for name in option.names)
        yield f'        "{command.path}") {offered(command.words + names)} ;;'
    yield "    esac"


def _bash(commands: list[Command]) -> Iterator[str]:
    def offered(words: tuple[str, ...]) -> str:
        if not words:
            return "COMPREPLY=()"
        if words in (DIRECTORIES, FILES):
            return f'COMPREPLY=($(compgen -{"d" if words == DIRECTORIES else "f"} -- "$word"))'
        return f'COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$word"))'

    yield "_kingpair() {"
    yield "    local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD-1]} path= each"
    yield f'    local materials="{materials()}"'
    yield '    for each in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do'
    yield '        case "$path $each" in'
    yield from _paths(commands)
    yield "        esac"
    yield "    done"
    yield '    case "$path $last" in'
    yield from _cases(commands, offered)
    yield "}"
    yield "complete -F _kingpair kingpair"


def _zsh(commands: list[Command]) -> Iterator[str]:
    def offered(words: tuple[str, ...]) -> str:
        if not words:
            return ":"
        if words in (DIRECTORIES, FILES):
            return "_files -/" if words == DIRECTORIES else "_files"
        return f"compadd -- {' '.join(words).replace(MATERIALS, '${=materials}')}"

    yield "#compdef kingpair"
    yield "_kingpair() {"
    yield '    local last=${words[CURRENT-1]} path_= each materials="' + materials() + '"'
    yield '    for each in "${(@)words[2,CURRENT-1]}"; do'
    yield '        case "$path_ $each" in'
    yield from (line.replace(" path=", " path_=") for line in _paths(commands))
    yield "        esac"
    yield "    done"
    yield '    case "$path_ $last" in'
    yield from (line.replace('"$path"', '"$path_"') for line in _cases(commands, offered))
    yield "}"
    yield 'if [ "$funcstack[1]" = _kingpair ]'
    yield 'then _kingpair "$@"'
    yield "else compdef _kingpair kingpair"
    yield "fi"


# ---- fish ----


def _fish(commands: list[Command]) -> Iterator[str]:
    yield "complete -c kingpair -f"
    yield f"set -l materials {materials()}"
    for command in commands:
        known = _fish_condition(command.path, commands)
        helps = {each.path: each.help for each in commands}
        for word in command.words:
            below = f"{command.path} {word}".strip()
            told = f" -d {_quoted(helps[below])}" if below in helps else ""
            yield f"complete -c kingpair -n {known} -a {_quoted(word, word == MATERIALS)}{told}"
        for option in command.options:
            names = " ".join(f"-l {name.removeprefix('--')}" for name in option.names)
            yield f"complete -c kingpair -n {known} {names}{_fish_values(option)}" + (
                f" -d {_quoted(option.help)}"
            )


def _fish_condition(path: str, commands: Iterable[Command]) -> str:
    """The command line has this command, and none below it."""
    if not path:
        return "__fish_use_subcommand"
    below = [each.path.split()[-1] for each in commands if each.path.startswith(f"{path} ")]
    seen = [f"__fish_seen_subcommand_from {name}" for name in path.split()]
    unseen = [f"not __fish_seen_subcommand_from {' '.join(below)}"] if below else []
    return _quoted("; and ".join(seen + unseen))


def _fish_values(option: Option) -> str:
    match option.values:
        case None:
            return ""
        case ("<directories>",):
            return " -x -a '(__fish_complete_directories)'"
        case ("<files>",):
            return " -r -F"
        case values:
            return f" -x -a {_quoted(' '.join(values))}" if values else " -x"


def _quoted(text: str, has_variables: bool = False) -> str:
    if has_variables:
        return f'"{text}"'
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
