"""Finds bots and reads their manifests.

A bot is given as a folder with a `bot.toml`, as the name of a bundled bot, or as `cmd:COMMAND LINE`. A name that has a
slash or begins with a dot is a folder; a plain name means the bundled bot of that name first, then a folder here.
`NAME=` before it gives an entrant a name of its own, `@PARAMETER=VALUE,...` behind it other parameters. What is there
by the whole text is never taken apart (`read_ref`).
"""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from arena.core.errors import BotError, did_you_mean
from arena.core.files import read_text, text_of
from arena.core.link import runtimes
from arena.core.link.caps import USUAL, Limits, granted
from arena.core.link.contents import digest_of, files_in, files_of
from arena.core.link.programs import ABSENT, Unfit, unfit, unfit_script
from arena.core.link.runtimes import PYTHON, PYTHON_WITH_ARENA
from arena.core.link.spec import MOST_ARGUMENT, TEXT, ArgumentText
from arena.core.link.spec import VALUES as VALUES
from arena.core.link.spec import Argument as Argument
from arena.core.link.spec import BotSpec as BotSpec
from arena.core.link.spec import Parameter as Parameter
from arena.core.resources import bots_folder
from arena.core.text import display_fault
from arena.core.toml import table_of

MANIFEST: Final = "bot.toml"
MOST_MANIFEST: Final = 65_536  # bytes
TEMPLATE: Final = "template"  # The folder in `bots/LANGUAGE/` that new bots begin from. It is not a bot itself.
COMMAND: Final = "cmd:"  # prefix of a command line that stands for a bot
MOST_LABEL: Final = 24  # the most characters of values in a bot's name
_NAME: Final = r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z"
_PARAMETER: Final = r"\A[A-Za-z_][A-Za-z0-9_]{0,63}\Z"
_BETWEEN: Final = re.compile(r",(?=[A-Za-z_][A-Za-z0-9_]*=)")
_LONGEST: Final = 200  # the most characters that an error quotes of a manifest
_NAME_RULE: Final = "at most 64 letters, digits, '.', '_' and '-', the first a letter or digit"
_RULES: Final = {
    "name": f"expected {_NAME_RULE}",
    **dict.fromkeys(("uses", ""), "expected names of at most 64 letters, digits and '_', the first no digit"),
}
"""Meaning of a key's pattern in words; of the keys below `tune` and `arguments` no place is told."""

_Word: TypeAlias = Annotated[str, Meta(max_length=65_536, pattern=TEXT)]
_Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=1_024, pattern=TEXT)]
_Words: TypeAlias = Annotated[tuple[_Word, ...], Meta(max_length=1_000)]
_Names: TypeAlias = Annotated[tuple[_Name, ...], Meta(max_length=1_000)]


class Manifest(msgspec.Struct, frozen=True):
    """`bot.toml`."""

    name: Annotated[str, Meta(pattern=_NAME)]
    command: Annotated[_Words, Meta(min_length=1)]
    display_name: str = ""  # beside its name, in any script
    version: Annotated[str, Meta(max_length=64, pattern=TEXT)] = ""
    author: Annotated[str, Meta(max_length=256, pattern=TEXT)] = ""
    language: Annotated[str, Meta(max_length=64, pattern=TEXT)] = ""
    build: _Words = ()
    built: _Names = ()
    """Files and folders that this command makes, beside the program: without them the bot cannot run."""
    fetch: _Words = ()
    """The command that gets from the network what the build needs. It never runs where the bot was sent to."""
    fetched: _Names = ()
    """Files and folders that this command makes. They go along when the bot is sent to others."""
    needs: _Names = ()
    """Programs that must be on the path to run it, beside the command's own."""
    rules: _Names = ()
    include: _Names = ()
    """Files and folders of the bot that lie outside its folder, or would be left out."""
    entropy: bool = False
    """Whether its `hello` has `entropy`: 32 random bytes for the chance of a tournament."""
    endpoint: Literal["ipc", "tcp"] = "ipc"
    limits: Limits = Limits()
    """Limits that it asks for, up to the caps of whoever runs the games."""
    uses: Annotated[tuple[Annotated[str, Meta(pattern=_PARAMETER)], ...], Meta(max_length=16)] = ()
    """Scarce things that it uses, such as `gpu`: only so many bots that use one play at once."""
    cores: Annotated[int, Meta(ge=1, le=1024)] = 1
    """Cores that its threads keep busy: by default so many fewer games are played at a time."""
    tune: Annotated[dict[Annotated[str, Meta(pattern=_PARAMETER)], Parameter], Meta(max_length=64)] = {}
    """Its parameters, each with its value and the range in which `arena tune` looks for a better one."""
    arguments: Annotated[
        dict[Annotated[str, Meta(pattern=_PARAMETER)], ArgumentText | Argument], Meta(max_length=64)
    ] = {}
    """Its parameters that are texts, each with its value and perhaps the choices."""


class Missing(msgspec.Struct, frozen=True):
    """Something that a bot needs to run and that is not there, or cannot be used."""

    what: str
    why: Unfit
    buildable: bool = False
    """Whether the manifest's `build` makes it; otherwise somebody has to do what `why` says."""

    @property
    def program(self) -> bool:
        """Whether it is a program on the path; otherwise it is a file."""
        return self.why.of_path

    @property
    def told(self) -> str:
        """What it is and why, after "needs"."""
        absent = "not installed" if self.program else "not there"
        return f"{self.what!r}, which is {absent if self.why.is_absent else f'{self.why.got}; {self.why.remedy}'}"


def load_bot(ref: str, *, capped: bool = True) -> BotSpec:
    """Returns the bot that `ref` names, ready to be started.

    Args:
        ref: Its name, its folder, or its command line.
        capped: Whether its limits are held to the caps of this process. Otherwise it has the usual ones: whoever
            ordered its games elsewhere sends what it gets.

    Raises:
        BotError: There is none, its manifest cannot be used or asks for more than it may, or its program is not there.
            Show the message to the operator: it names the file and the key, or the command that builds the program.
    """
    name, bot, values = read_ref(ref)
    spec = _from_command(bot.removeprefix(COMMAND)) if bot.startswith(COMMAND) else _from_folder(bot, capped)
    spec = _with_values(spec, values) if values else spec
    return replace(spec, name=name, own=spec.own_name) if name else spec


def _from_folder(ref: str, capped: bool) -> BotSpec:
    folder = find_bot(ref)
    manifest = read_manifest(folder)
    if (lack := missing(manifest, folder)) is not None:
        remedy = f"build it: run `arena bot build {shlex.quote(ref)}`" if lack.buildable else lack.why.remedy
        raise BotError(
            f"{folder / MANIFEST}: expected {lack.what!r:.{_LONGEST}}, which {manifest.name} needs, "
            f"got: {lack.why.got}; {remedy}"
        )
    return _spec(manifest, folder, capped)


class Ref(NamedTuple):
    """Reference to an entrant: `bot` is bundled, a path or a command; `values` is `NAME=VALUE,...`, or empty."""

    name: str
    bot: str
    values: str

    @property
    def text(self) -> str:
        """The whole of it."""
        return f"{self.name and f'{self.name}='}{self.bot}{self.values and VALUES + self.values}"


def read_ref(ref: str, base: Path | None = None) -> Ref:
    """Returns what the text stands for that names an entrant. `base` is the folder of paths, if not this one.

    A text has one meaning at most: of those that its `=` and `@` allow, the one whose bot is there. BotError: none.
    """

    def there(text: str) -> bool:
        return text in bundled_folders() or os.path.lexists((base or Path()) / os.path.expanduser(text))

    name, equals, rest = ref.partition("=")
    if not equals or re.search(_NAME, name) is None or there(ref):
        if equals and there(rest) and not (there(ref) or re.search("[@:]", name)):  # of values, or a command line
            raise BotError(f"expected a name of {_NAME_RULE}, got: {name!r} - before the = of {ref!r}")
        name, rest = "", ref
    if not rest:
        raise BotError(f"expected NAME=BOT, or a bot, got: {ref!r}; write the bot, as `arena bot list` has them")
    if rest.startswith(COMMAND):
        return Ref(name, rest, "")
    ways = [(rest[: at.start()], rest[at.end() :]) for at in re.finditer(VALUES, rest) if "=" in rest[at.end() :]]
    bot, values = (rest, "") if not ways or there(rest) else next((way for way in ways if there(way[0])), ways[-1])
    return Ref(name, os.path.expanduser(bot), values)


class _Entrant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entrant that a file has as a table."""

    bot: str
    name: Annotated[str, Meta(pattern=_NAME)] = ""
    arguments: dict[Annotated[str, Meta(pattern=_PARAMETER)], str | int | float] = {}


def table_ref(table: Mapping[str, Any]) -> str:
    """Returns the text that names an entrant that a file has as a table: its `bot`, `name` and `arguments`.

    Raises:
        BotError: The table says something else, or what no text can say.
    """
    try:
        found = msgspec.convert(table, _Entrant)
    except msgspec.ValidationError as error:
        raise BotError(f"expected an entrant with bot, and perhaps name and arguments, got: {error}") from None
    values = [f"{name}={value}" for name, value in found.arguments.items()]
    if values and found.bot.startswith(COMMAND):
        raise BotError(
            f"expected arguments of a bot with a {MANIFEST}, got: those of {found.bot!r:.80}; write them in it"
        )
    if _BETWEEN.split(text := ",".join(values)) != values and values:
        raise BotError(f"expected arguments in which no comma stands before a name and =, got: {text!r:.80}")
    return Ref(found.name, found.bot, text).text


def placed_ref(ref: str, base: Path) -> str:
    """Returns a text that names an entrant in a folder as one that names it from anywhere."""
    read = read_ref(ref, base)
    if read.bot in bundled_folders():
        return read.text
    if not read.bot.startswith(COMMAND):
        return read._replace(bot=str(base / read.bot)).text
    try:
        words = shlex.split(read.bot.removeprefix(COMMAND))
    except ValueError:  # said of the bot
        return read.text
    files = {word: str(base / word) for word in words if os.path.isfile(base / word)}
    return read._replace(bot=COMMAND + shlex.join(files.get(word, word) for word in words)).text


def find_bot(ref: str) -> Path:
    """Returns the folder of the bot that `ref` names alone.

    Raises:
        BotError: There is none, or `ref` says more than where it is. Show the message to the operator.
    """
    bundled = bundled_folders()
    given, (name, ref, values) = ref, read_ref(ref)
    if what := "with a name" if name else "with values" if values else "a command line" * ref.startswith(COMMAND):
        raise BotError(f"expected a bot's folder, or a bundled bot, got: {given!r}, {what}; write it in its {MANIFEST}")
    is_path = "/" in ref or ref.startswith(".")
    folder = bundled[ref] if ref in bundled and not is_path else Path(ref)
    if not os.path.lexists(folder / MANIFEST):
        bots = {at.parent.name for at in folder.parent.glob(f"*/{MANIFEST}")} if os.path.isdir(folder.parent) else set()
        if os.path.isdir(folder):
            around = (*sorted(folder.glob(f"*/{MANIFEST}")), folder.parent / MANIFEST)
            has = next((f"; give {path.parent}, which has one" for path in around if os.path.lexists(path)), "")
            raise BotError(f"expected a folder with a {MANIFEST}, got: {ref}, which has none{has}")
        near, names = did_you_mean(folder.name, bots if is_path else [*bundled, *bots]), ", ".join(sorted(bundled))
        if is_path:
            has = f"; give {folder.parent}, which has one" if os.path.lexists(folder.parent / MANIFEST) else near
            raise BotError(f"expected a folder with a {MANIFEST}, got: {ref}, which is none{has}")
        raise BotError(
            f"expected a bot, got: {ref!r}{near}; give a folder with a {MANIFEST}, {COMMAND}COMMAND, or one of {names}"
        )
    return folder


def bundled_bots() -> list[BotSpec]:
    """Returns the bundled bots, by name. Unlike `load_bot`, does not check that their programs are built."""
    return [_spec(read_manifest(folder), folder) for _, folder in sorted(bundled_folders().items())]


def bundled_folders() -> Mapping[str, Path]:
    """Returns the folders of the bundled bots, by the bots' names. Of a manifest only its name is read, and once."""
    return _bots_in(bots_folder())


@cache
def _bots_in(bots: Path) -> Mapping[str, Path]:
    folders = (path.parent for path in sorted(bots.glob(f"*/*/{MANIFEST}")))
    return MappingProxyType({_name_of(folder): folder for folder in folders if folder.name != TEMPLATE})


def _name_of(folder: Path) -> str:
    found = re.match('name = "([a-z0-9-]+)"\n', read_text(folder / MANIFEST, "a manifest", MOST_MANIFEST, BotError))
    return found[1] if found else read_manifest(folder).name


def check_name(name: str, whose: str = "a bot") -> None:
    """Checks that a bot, or what `whose` calls it in the error, may have this name.

    Raises:
        BotError: It may not.
    """
    if re.search(_NAME, name) is None:
        raise BotError(f"expected {_NAME_RULE} as the name of {whose}, got: {name!r:.100}")


def read_manifest(folder: Path) -> Manifest:
    """Reads the manifest in a bot's folder.

    Raises:
        BotError: It cannot be read, or a key or value is not allowed. The message names the file and the key.
    """
    return _manifest(read_text(folder / MANIFEST, "a bot's manifest", MOST_MANIFEST, BotError), str(folder / MANIFEST))


def parse_manifest(data: bytes, path: str) -> Manifest:
    """Reads a manifest that was read from elsewhere than a bot's folder. `path` is what errors call it.

    Raises:
        BotError: As `read_manifest`.
    """
    return _manifest(text_of(data, "a manifest", path, BotError), path)


def _manifest(text: str, path: str) -> Manifest:
    try:
        table = table_of(text)
    except ValueError as error:
        raise BotError(f"{path}: expected a TOML file, got: {error}") from None
    _check_keys(path, "", table, Manifest)
    if isinstance(table.get("limits"), dict):
        _check_keys(path, "limits.", table["limits"], Limits)
    try:
        manifest = msgspec.convert(table, Manifest)
    except msgspec.ValidationError as error:
        reason, _, place = str(error).replace("`", "").partition(" - at $.")
        if "regex" in reason:
            reason = _RULES.get(place.partition("[")[0], "expected text without NUL characters")
            place = place or "tune or arguments"
        raise BotError(f"{path}: {place or 'manifest'}: {reason[:1].lower()}{reason[1:_LONGEST]}") from None
    if fault := display_fault(manifest.display_name):
        raise BotError(f"{path}: display_name: {fault}")
    for name, tuned in manifest.tune.items():
        if not (-math.inf < tuned.low <= tuned.value <= tuned.high < math.inf and tuned.low < tuned.high):
            raise BotError(
                f"{path}: tune.{name}: expected low < high and a value from low to high, "
                f"got: value {tuned.value}, low {tuned.low}, high {tuned.high}"
            )
    if twice := sorted(manifest.tune.keys() & manifest.arguments):
        raise BotError(f"{path}: arguments.{twice[0]}: expected another name than those below tune, got one of them")
    for name, argument in manifest.arguments.items():
        if isinstance(argument, Argument) and argument.choices and argument.value not in argument.choices:
            raise BotError(
                f"{path}: arguments.{name}: expected a value among its choices, got: {argument.value!r:.{_LONGEST}}"
            )
    return manifest


def missing(manifest: Manifest, folder: Path) -> Missing | None:
    """Returns the first thing that a bot needs and that is not there or cannot be used; None if it can be started.

    Raises:
        BotError: A program cannot be read.
    """
    for program in manifest.needs:
        if (why := unfit(program, folder)) is not None:
            return Missing(program, why)
    build = bool(manifest.build or manifest.fetch)
    program, *arguments = manifest.command
    if program not in (PYTHON, PYTHON_WITH_ARENA):
        if (why := unfit(program, folder)) is not None:
            return Missing(program, why, build and why.is_absent and not why.of_path)
        if arguments and (why := unfit_script(program, folder / arguments[0])) is not None:
            return Missing(arguments[0], why)
    elif arguments and not arguments[0].startswith("-") and not os.path.isfile(folder / arguments[0]):
        return Missing(arguments[0], ABSENT, build)
    absent = (path for path in manifest.built if not os.path.exists(folder / path))
    return next((Missing(path, ABSENT, build) for path in absent), None)


def missing_tool(manifest: Manifest, folder: Path) -> Missing | None:
    """Returns a program that builds a bot, or fetches what that needs, if it cannot be started, else None."""
    tools = runtimes.resolved((*manifest.fetch[:1], *manifest.build[:1]))
    return next((Missing(program, why) for program in tools if (why := unfit(program, folder)) is not None), None)


def work(manifest: Manifest) -> str:
    """Returns what `arena bot build` runs for a bot that has nothing yet, as one would type it; empty if nothing."""
    return " && ".join(shlex.join(command) for command in (manifest.fetch, manifest.build) if command)


def unfetched(manifest: Manifest, folder: Path) -> str | None:
    """Returns the first thing that `fetch` makes and that is not there, as the manifest names it; None if all is."""
    return next((name for name in manifest.fetched if not os.path.exists(folder / name)), None)


def _check_keys(path: str, prefix: str, table: dict[str, Any], kind: type[msgspec.Struct]) -> None:
    known = kind.__struct_fields__
    for key in table:
        if key not in known:
            raise BotError(
                f"{path}: expected keys among {', '.join(known)}, got: {prefix + key!r:.{_LONGEST}}"
                f"{did_you_mean(key, known)}"
            )


_AS_IT_IS: Final = ("name", "version", "display_name", "author", "language", "command", "rules", "entropy", "cores")
"""Keys of the manifest that a bot has unchanged."""


def _spec(manifest: Manifest, folder: Path, capped: bool = True) -> BotSpec:
    limits = granted(manifest.limits, str(folder / MANIFEST)) if capped else USUAL
    folder = folder.resolve()
    return BotSpec(
        **{name: getattr(manifest, name) for name in _AS_IT_IS},
        folder=str(folder),
        digest=digest_of(folder, files_of(folder, manifest.include, (*manifest.built, *manifest.fetched))),
        memory_mib=limits.memory_mib,
        file_mib=limits.file_mib,
        start_ms=limits.start_ms,
        tcp=manifest.endpoint == "tcp",
        reads=_outside(folder, (*manifest.include, *manifest.built, *manifest.fetched)),
        runtimes=_runtimes((manifest.command[0], *manifest.needs)),
        uses=tuple(sorted({*manifest.uses})),
        tune=tuple(manifest.tune.items()),
        arguments=tuple(
            (name, Argument(value=one) if isinstance(one, str) else one) for name, one in manifest.arguments.items()
        ),
        source=MANIFEST,
    )


def _with_values(spec: BotSpec, text: str) -> BotSpec:
    """Returns a bot that is sent other values than its manifest's: `text` is NAME=VALUE,NAME=VALUE and so on.

    Raises:
        BotError: It has no such parameter, or a value is not in its range.
    """
    chosen: dict[str, str] = {}
    parameters: dict[str, Parameter | Argument] = {**dict(spec.tune), **dict(spec.arguments)}
    for part in _BETWEEN.split(text):
        name, _, value = part.partition("=")
        parameter = parameters.get(name)
        if parameter is None:
            known = ", ".join(parameters) or f"none: its {MANIFEST} has no [tune] or [arguments]"
            raise BotError(
                f"expected a parameter of {spec.name} ({known}), got: {name!r:.80}{did_you_mean(name, parameters)}"
            )
        chosen[name] = _number(spec.name, name, parameter, value) if isinstance(parameter, Parameter) else value
        if isinstance(parameter, Argument) and parameter.choices and value not in parameter.choices:
            expected = f"one of {', '.join(parameter.choices)}"
        elif isinstance(parameter, Argument) and (len(value) > MOST_ARGUMENT or "\0" in value):
            expected = f"a text of at most {MOST_ARGUMENT} characters, none of them NUL,"
        else:
            continue
        raise BotError(
            f"expected {expected} as {name} of {spec.name}, got: {value!r:.80}{did_you_mean(value, parameter.choices)}"
        )
    return with_values(spec, chosen)


def _number(bot: str, name: str, parameter: Parameter, value: str) -> str:
    try:
        number = int(value) if parameter.is_whole else float(value)
    except ValueError:
        number = math.nan
    if parameter.low <= number <= parameter.high:
        return parameter.text(number)
    kind = "a whole number" if parameter.is_whole else "a number"
    raise BotError(f"expected {kind} from {parameter.low} to {parameter.high} as {name} of {bot}, got: {value!r:.80}")


def with_values(spec: BotSpec, values: Mapping[str, str]) -> BotSpec:
    """Returns a bot that is sent other values of its parameters. Those of its manifest make no other bot.

    Its name has the values, or digits of a hash if they are many.
    """
    given = {**dict(spec.values), **values}
    usual = spec.usual
    differing = ((name, given[name]) for name in sorted(usual) if given.get(name, usual[name]) != usual[name])
    chosen = replace(spec, values=tuple(differing))
    is_short = len(chosen.suffix) <= MOST_LABEL and re.search(r"[^A-Za-z0-9._=,@+-]", chosen.suffix) is None
    return replace(chosen, name=spec.own_name + (chosen.suffix if is_short else VALUES + chosen.identity[:6]), own="")


def _from_command(line: str) -> BotSpec:
    limits = granted(Limits(), COMMAND)
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise BotError(f"expected a command line after cmd:, got: {line!r} ({error})") from None
    if not words:
        raise BotError("expected a command line after cmd:, got: nothing")
    folder = Path.cwd()
    if (why := unfit(runtimes.resolved(words)[0], folder)) is not None:
        raise BotError(f"expected a program to run, got: {words[0]!r}, {why.got}; {why.remedy}")
    script = next((word for word in words[1:] if not word.startswith("-")), "") if "/" not in words[0] else ""
    called = Path(script).stem if script and os.path.isfile(folder / script) else Path(runtimes.resolved(words)[0]).name
    name = re.sub(r"[^A-Za-z0-9._-]", "-", called).lstrip("._-")[:64] or "bot"
    files = files_in(words, folder)
    return BotSpec(
        name=name, version="", command=tuple(words), folder=str(folder),
        digest=digest_of(folder, files, os.fsencode(line)), memory_mib=limits.memory_mib, file_mib=limits.file_mib,
        start_ms=limits.start_ms, reads=_outside(folder, [name for name, _ in files_in(words[1:], folder).files]),
        runtimes=_runtimes(words[:1]), source=COMMAND + line,
    )  # fmt: skip


def _outside(folder: Path, names: Iterable[str]) -> tuple[str, ...]:
    """Returns the absolute paths of those files and folders that do not lie in the bot's folder."""
    paths = [Path(os.path.normpath(folder / name)) for name in names]
    return tuple(str(path) for path in paths if not path.is_relative_to(folder))


def _runtimes(programs: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Returns the programs that are not a bot's own, with their paths if they are granted."""
    names = dict.fromkeys(name for name in programs if name not in (PYTHON, PYTHON_WITH_ARENA))
    return tuple((name, runtimes.find(name) or "") for name in names if "/" not in name or os.path.isabs(name))
