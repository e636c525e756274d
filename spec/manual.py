#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the reference from what there is already: openshmem.toml, the headers of the extension, what commands say to --help.

manual.py --functions FOLDER          FOLDER/*.3, a page a family of functions and a short one for each further name
manual.py --commands FOLDER NAME=PATH ...   FOLDER/NAME.1 from what PATH --help says (of a script: from its first comment)
manual.py --reference FILE            all functions in one Markdown file
"""

import argparse
import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys

import generate

EXTENSIONS = sorted(path.name for path in (generate.ROOT / "include").glob("shmemx*.h"))
VOID_RESULT = "Nothing."
EXTENSION_RESULT = "0, or a positive answer where the description says so; or a negative errno, and shmemx_last_error() then has the sentence for a person."


@dataclasses.dataclass
class Page:
    """What one page says. names[0] is the page's own."""

    names: list[str]
    header: str
    prototypes: list[str]
    summary: str
    text: str
    arguments: list[tuple[str, str]]
    result: str
    errors: str
    threads: str
    chapter: str
    functions: list[str]
    history: str = ""


# ------------------------------------------------------------------------------------------------------- the standard's


def first_sentence(text):
    return re.split(r"(?<=[a-z)])[.:;] ", text, maxsplit=1)[0].rstrip(".")


def standard_page(table, family, functions):
    section = table.sections[family["section"]]
    about = table.raw["arguments"] | family.get("about", {})
    named = [] if family["args"] == "void" else [generate.arg_name(a) for a in generate.split_args(family["args"]) if a != "..."]
    names = (["ctx"] if "ctx" in family else []) + named
    if "old_name_of" in family:
        text = f"Old name of {family['old_name_of']}, deprecated in {family['deprecated']}."
    else:
        text = family["doc"]
    macro = generate.generic_name(family)
    if macro:
        text += f" In C11 the macro {macro} picks the function by the type of its arguments."
    history = [f"since {family['since']}"] if family.get("since") else []
    history += [f"deprecated in {family['deprecated']}"] if "deprecated" in family else []
    own = [f.name for f in functions]
    main = family["name"] if macro and macro not in own else own[0]
    result = family.get("result") or (VOID_RESULT if family.get("returns", "void") == "void" else "see the description")
    return Page(
        names=list(dict.fromkeys([main, *own])),
        header="shmem.h",
        prototypes=[f.prototype() + ";" for f in functions],
        summary=first_sentence(text),
        text=text,
        arguments=[(name, about.get(name, "see the description")) for name in names],
        result=result.rstrip(".") + ".",
        errors=family.get("errors") or section.get("errors") or table.raw["defaults"]["errors"],
        threads=family.get("threads", section["threads"]),
        chapter=f'OpenSHMEM {".".join(map(str, table.raw["version"]))}, "{section["chapter"]}"',
        functions=own,
        history="; ".join(history),
    )


def standard_pages(table):
    for family in table.families:
        functions = [f for f in table.emitted(family["section"]) if f.family is family]
        if functions:
            yield standard_page(table, family, functions)


# ------------------------------------------------------------------------------------------------------ the extension's


def comment_text(comment):
    lines = [re.sub(r"^\s*(/\*|\*(?!/)|//)? ?", "", line) for line in comment.replace("*/", "").split("\n")]
    return " ".join(line.strip() for line in lines).strip()


def extension_items(text):
    """("section", title), ("comment", text), ("function", prototype), ("other", "") in the order of the header."""
    pattern = re.compile(
        r"/\* --- (?P<section>.*?) -{3,}.*?\*/|(?P<comment>/\*.*?\*/)|SHMEMX_API (?P<function>[^;{}#]*?\));|(?P<other>[^\n]*\S[^\n]*\n)", re.DOTALL)
    for match in pattern.finditer(text):
        kind = match.lastgroup
        yield kind, match[kind]


def extension_pages(name):
    text = (generate.ROOT / "include" / name).read_text()
    top = " ".join(comment_text(part) for part in re.findall(r"/\*.*?\*/", text.split("#ifndef")[0], re.DOTALL) if "SPDX" not in part)
    general = re.search(r"Errors that (any call|every operation) can give: .*?\.(?= [A-Z]|$)", top)
    general = general[0] if general else "-EINVAL: an argument, which the text names."
    section, said = "", ""
    for kind, found in extension_items(text):
        if kind == "section":
            section = found
        elif kind == "comment":
            said = comment_text(found)
        elif kind == "function":
            prototype = re.sub(r"\s+", " ", found)
            function = re.search(r"(\w+)\(", prototype)[1]
            arguments = prototype[prototype.index("(") + 1 : -1]
            named = [] if arguments == "void" else [re.search(r"(\w+)(\)\(.*\))?(\[\w*\])?$", a.strip())[1] for a in re.split(r",(?![^()]*\))", arguments)]
            result = "A text, never NULL." if prototype.startswith("const char *") else VOID_RESULT if prototype.startswith("void ") else EXTENSION_RESULT
            collective = "collective" in said.split(".")[0].lower()
            yield Page(
                names=[function],
                header=name,
                prototypes=[prototype + ";"],
                summary=first_sentence(said) or section,
                text=said or f"See {section}.",
                arguments=[(a, "see the description") for a in named],
                result=result,
                errors=f"Those that the description names; besides: {general}",
                threads="Collective: all PEs call it in the same order, by one thread at a time." if collective else "Safe.",
                chapter=f"An extension, not in the standard: {name}, {section or 'general'}",
                functions=[function],
            )


def all_pages(table):
    """No two of one name: a function's page goes before that of a macro of its name, and an older family's macro after a
    newer one's."""
    pages = [*standard_pages(table), *(page for name in EXTENSIONS for page in extension_pages(name))]
    functions = {f.name for f in table.emitted()}
    taken = set()
    for page in pages:
        macro_only = page.names[0] not in page.functions
        names = page.names[1:] if macro_only and (page.names[0] in functions or page.names[0] in taken) else page.names
        taken |= set(names)
        yield dataclasses.replace(page, names=names)


# -------------------------------------------------------------------------------------------------------------- writing


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def man3(page):
    shown = page.names if len(page.names) <= 6 else page.names[:1]
    out = [f'.TH {page.names[0]} 3 "" "shmem"', ".SH NAME", f"{roff(', '.join(shown))} \\- {roff(page.summary)}", ".SH SYNOPSIS", ".nf"]
    out += [f"#include <{page.header}>", ""] + [roff(p) for p in page.prototypes] + [".fi", ".SH DESCRIPTION", roff(page.text)]
    if page.arguments:
        out.append(".SH ARGUMENTS")
        for name, meaning in page.arguments:
            out += [".TP", f".I {roff(name)}", roff(meaning)]
    for head, text in (("RETURN VALUE", page.result), ("ERRORS", page.errors), ("THREADS", page.threads)):
        out += [f".SH {head}", roff(text)]
    out += [".SH STANDARD", roff(page.chapter + (f"; {page.history}." if page.history else "."))]
    return "\n".join(out) + "\n"


def markdown(page):
    out = [f"### {', '.join(page.names[:1])}", "", page.text, "", "```c", *page.prototypes, "```", ""]
    out += [f"* `{name}`: {meaning}" for name, meaning in page.arguments]
    out += [f"* Returns: {page.result}", f"* Errors: {page.errors}", f"* Threads: {page.threads}"]
    return out + [f"* Standard: {page.chapter}{'; ' + page.history if page.history else ''}.", ""]


def empty(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def write_functions(table, folder):
    empty(folder)
    for page in all_pages(table):
        (folder / f"{page.names[0]}.3").write_text(man3(page))
        for name in page.names[1:]:
            (folder / f"{name}.3").write_text(f".so man3/{page.names[0]}.3\n")


def command_help(path):
    """What a command says of itself. The compiler wrappers hand --help on to the compiler, so theirs is their comment."""
    text = pathlib.Path(path).read_bytes()[:4096]
    if text.startswith(b"#!/bin/sh"):
        lines = text.decode().split("\n")[1:]
        return "\n".join(line[2:] for line in lines[: next(i for i, line in enumerate(lines) if not line.startswith("#"))])
    run = [sys.executable, path] if text.startswith(b"#!/usr/bin/python3") else [path]  # not executable until it is installed
    return subprocess.run([*run, "--help"], check=True, text=True, capture_output=True).stdout


def write_commands(folder, commands):
    empty(folder)
    for name, path in (command.split("=", 1) for command in commands):
        said = command_help(path).strip("\n").split("\n")
        first = next((i for i, line in enumerate(said) if line and not line.startswith(("usage:", " "))), 0)
        summary = first_sentence(" ".join(said[first:]).removeprefix(name + ": "))
        page = [f'.TH {name} 1 "" "shmem"', ".SH NAME", f"{name} \\- {roff(summary)}", ".SH DESCRIPTION", ".nf", *map(roff, said), ".fi"]
        page += [".SH SEE ALSO", "shmem\\-info(1) for the environment variables"]
        (folder / f"{name}.1").write_text("\n".join(page) + "\n")


def write_reference(table, file):
    out = ["# Every function of shmem", "", "Written by spec/manual.py from spec/openshmem.toml and the headers.", ""]
    for page in all_pages(table):
        out += markdown(page)
    generate.write(pathlib.Path(file), "\n".join(out))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--commands", nargs="+", metavar=("FOLDER", "NAME=PATH"))
    parser.add_argument("--reference", metavar="FILE")
    options = parser.parse_args()
    table = generate.Table(generate.ROOT / "spec/openshmem.toml")
    if options.functions:
        write_functions(table, options.functions)
    if options.commands:
        write_commands(pathlib.Path(options.commands[0]), options.commands[1:])
    if options.reference:
        write_reference(table, options.reference)
    return 0


if __name__ == "__main__":
    sys.exit(main())
