#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what follows from openshmem.toml: the public headers, and the typed C functions.

generate.py                      writes the committed files: include/shmem.h, shmem_cxx.h, pshmem.h, mpp/*.h
generate.py --check              compares them instead; exit status 1 when one differs
generate.py --typed rma FILE     writes the C functions of a section that have a body in the table
"""

import argparse
import dataclasses
import pathlib
import re
import string
import sys
import textwrap
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH = 110
NOTICE = "Written by spec/generate.py from spec/openshmem.toml; do not edit."
# long long and _Complex are no C89, and no C++98: -pedantic is the program's.
PEDANTIC_OFF = [
    "#pragma GCC diagnostic push",
    '#pragma GCC diagnostic ignored "-Wlong-long"',
    '#pragma GCC diagnostic ignored "-Wpedantic"',
]
UNFORMATTED = "/* clang-format off */"


@dataclasses.dataclass
class Type:
    """A TYPENAME of the standard."""

    name: str
    c: str  # as written in prototypes
    basic: str  # the name of the basic type that it is
    basic_c: str
    code: str  # enum shmemi_type
    cxx: str | None  # as written in C++, where that differs


@dataclasses.dataclass
class Function:
    """One C function."""

    name: str
    returns: str
    args: list[str]
    family: dict
    type: Type | None
    size: str  # bytes an element, a C expression; "" without elements
    ctx: bool
    since: str

    @property
    def now(self):
        return self.family.get("state") != "later"

    @property
    def section(self):
        return self.family["section"]

    @property
    def generic(self):
        """The C11 macro that reaches this function, or "". A macro named as the function itself does not count."""
        macro = generic_name(self.family)
        return "" if macro == self.name or ("{type}" in self.family["forms"][0] and not self.type) else macro

    def prototype(self, prefix="", name=None):
        return declare(self.returns, prefix + (name or self.name)) + f"({', '.join(self.args)})"


class Table:
    """The table, with every family written out."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.raw = tomllib.load(file)
        self.types = {name: self.type(name) for name in self.raw["types"]}
        self.sections = self.raw["section"]
        self.families = self.raw["family"]
        self.functions = [function for family in self.families for function in self.expand(family)]

    def type(self, name):
        given = self.raw["types"][name]
        basic = given.get("same", name)
        return Type(name, given["c"], basic, self.raw["types"][basic]["c"], self.raw["types"][basic]["code"], given.get("cxx"))

    def expand(self, family):
        for ctx in [False, True] if "ctx" in family else [False]:
            for form in family["forms"]:
                if "{type}" in form:
                    for name in self.raw["classes"][family["types"]].split():
                        kind = self.types[name]
                        yield self.function(family, form.replace("{type}", name), kind.c, f"sizeof({kind.c})", kind, ctx)
                elif "{bits}" in form:
                    for bits in family.get("sizes", [8, 16, 32, 64, 128]):
                        yield self.function(family, form.replace("{bits}", str(bits)), "void", str(bits // 8), None, ctx)
                else:
                    yield self.function(family, form, "void", "1", None, ctx)

    def function(self, family, name, element, size, kind, ctx):
        args = split_args(family["args"].replace("TYPE", element))
        since = family.get("since", "")
        if ctx:
            name = name.replace("shmem_", "shmem_ctx_", 1)
            args = ["shmem_ctx_t ctx"] + (args if args != ["void"] else [])
            since = family["ctx"]
        elif kind and kind.name in family.get("since_of", {}):
            since = family["since_of"][kind.name]
        returns = family.get("returns", "void").replace("TYPE", element)
        return Function(name, returns, args, family, kind, size, ctx, since)

    def emitted(self, section=None):
        return [f for f in self.functions if f.now and section in (None, f.section)]

    def constants(self):
        """(name, value, what it means, group), old spellings included."""
        for group in self.raw["constants"]:
            for name, value, meaning in group["names"]:
                yield name, value, meaning, group
            if group.get("old"):
                for name, _, _ in group["names"]:
                    yield "_" + name, name, "", {**group, "deprecated": "1.3", "kind": "constant"}


def generic_name(family):
    generic = family.get("generic", False)
    return family["name"] if generic is True else generic or ""


def split_args(args):
    return [arg.strip() for arg in args.split(",")]


def heading(*lines):
    """A header's first comment. All comments of public headers are of C89, which some programs are still compiled as."""
    return ["/* SPDX-License-Identifier: Apache-2.0 */", *comment(list(lines))]


def arg_name(arg):
    return re.search(r"(\w+)$", arg).group(1)


def declare(returns, name):
    return f"{returns}{'' if returns.endswith('*') else ' '}{name}"


# ---------------------------------------------------------------------------------------------------------- C functions


def body_lines(function):
    """Checks, then the call into the core."""
    family = function.family
    fn = f'"{function.name}"'
    lines = []
    if function.ctx:
        numbered = any(arg_name(arg) == "pe" for arg in function.args)
        lines = ["pe = shmemi_ctx_pe($fn, ctx, pe);" if numbered else "shmemi_check_ctx($fn, ctx);"]
    for name in family.get("local", []):
        lines.append(f'shmemi_check_pointer($fn, "{name}", {name}, {family.get("count", "1")});')
        if name == "fetch":  # the CPU stores there
            lines.append('shmemi_refuse_device($fn, "fetch", fetch);')
    if "aligned" in family:
        lines.append('shmemi_check_aligned($fn, "{0}", {0}, sizeof *{0});'.format(family["aligned"]))
    lines += family["body"].strip("\n").split("\n")
    kind = function.type
    values = {"fn": fn, "size": function.size}
    if kind:
        values |= {"T": kind.c, "code": kind.code, "compare": f"shmemi_compare_{kind.basic}"}
    if operation := re.search(r"_(and|or|xor|max|min|sum|prod)_(reduce|to_all)$", function.name):
        values["op"] = f"SHMEMI_REDUCE_{operation[1].upper()}"
    return [string.Template(line).substitute(values) for line in lines]


def typed_c(table, section):
    out = [
        "// SPDX-License-Identifier: Apache-2.0",
        f"// {table.sections[section]['title']}.",
        f"// {NOTICE}",
        '#include "api/typed.h"',
    ]
    for function in table.emitted(section):
        if "body" not in function.family:
            continue
        out += ["", function.prototype("p"), "{"]
        out += ["    " + line for line in body_lines(function)]
        out += ["}", f"SHMEMI_PUBLISH({function.name});"]
    return "\n".join(out) + "\n"


# -------------------------------------------------------------------------------------------------------------- headers


def wrap(text, first, rest):
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)


def comment(lines):
    """Lines of text as one C comment."""
    lines = ["/* " + lines[0]] + ["   " + line if line else "" for line in lines[1:]]
    lines[-1] += " */"
    return lines


def family_comment(table, family, functions):
    section = table.sections[family["section"]]
    names = " and ".join(f.replace("{type}", "TYPE").replace("{bits}", "SIZE") for f in family["forms"])
    if "old_name_of" in family:
        return comment(wrap(f"{names}. Old name of {family['old_name_of']}, deprecated in {family['deprecated']}.", "", ""))
    ctx = ", and with a context: shmem_ctx_..." if "ctx" in family else ""
    lines = wrap(f"{names}{ctx}. {family['doc']}", "", "")
    about = table.raw["arguments"] | family.get("about", {})
    args = [] if family["args"] == "void" else [arg for arg in split_args(family["args"]) if arg != "..."]
    names = (["ctx"] if "ctx" in family else []) + [arg_name(arg) for arg in args]
    for name in names:
        lines += wrap(about[name], f"  {name:<11} ", " " * 14)
    if "result" in family:
        lines += wrap(family["result"] + ".", "Returns: ", "  ")
    errors = family.get("errors") or section.get("errors")
    lines += wrap(errors or table.raw["defaults"]["errors"], "Errors: ", "  ")
    lines += wrap(family.get("threads", section["threads"]), "Threads: ", "  ")
    history = [f"since {family['since']}"] if family.get("since") else []
    history += [f"deprecated in {family['deprecated']}"] if "deprecated" in family else []
    lines += wrap("; ".join([f'"{section["chapter"]}"', *history]) + ".", "Standard: ", "  ")
    return comment(lines)


def deprecation(family):
    """What the compiler tells those who use it, as a C string."""
    instead = f"; use {family['old_name_of']}" if "old_name_of" in family else ""
    return f'"since OpenSHMEM {family["deprecated"]}{instead}"'


def shared_macro(function):
    """Is it among the choices of a C11 macro that is not deprecated itself? Compilers warn of choices not taken, too."""
    return generic_name(function.family) and function.type and not generic_name(function.family) == function.family["name"]


def public_prototype(function, prefix=""):
    text = function.prototype(prefix)
    if "deprecated" in function.family and not prefix and not shared_macro(function):
        text = f"SHMEMI_DEPRECATED({deprecation(function.family)}) {text}"
    if function.family.get("noreturn"):
        text = "__attribute__((__noreturn__)) " + text
    if function.type and function.type.cxx:
        element = re.match(r"(\w+) _Complex", function.type.c).group(1)
        text = text.replace(function.type.c, f"SHMEMI_COMPLEX({element})")
    return text + ";"


def selection(functions, pointer):
    """_Generic over the basic types; a type that several functions have goes to the first, its own if it has one."""
    chosen = {}
    for function in sorted(functions, key=lambda f: f.type.basic != f.type.name):
        chosen.setdefault(function.type.basic_c, function.name)
    order = sorted(chosen.items(), key=lambda item: [f.name for f in functions].index(item[1]))
    rows = [f"{c}: {name}" for c, name in order]
    return [f"_Generic(*({pointer}),"] + [f"    {row}{')' if row is rows[-1] else ','}" for row in rows]


def macro(head, lines, call):
    lines = [f"#define {head}"] + ["    " + line for line in lines]
    lines[-1] += call
    return [f"{line:<{WIDTH - 2}} \\" for line in lines[:-1]] + lines[-1:]


def by_count(functions, counts):
    """A macro's body that picks among names by the number of arguments. counts: {number of arguments: name}."""
    most = max(counts)
    names = [counts.get(n, counts[min(counts)]) for n in range(most, 0, -1)]
    return f"SHMEMI_ARG{most + 1}(__VA_ARGS__, {', '.join(names)}, 0)(__VA_ARGS__)"


def typed_macro(head, functions):
    args = [arg_name(arg) for arg in functions[0].args]
    pointer = next(arg_name(a) for a in functions[0].args if "*" in a and functions[0].type.c in a)
    return macro(f"{head}({', '.join(args)})", selection(functions, pointer), f"({', '.join(args)})")


def generic_macro(table, name):
    """The C11 macro of this name, over all families that share it."""
    functions = [f for f in table.emitted() if generic_name(f.family) == name and (f.type or "{type}" not in f.family["forms"][0])]
    plain = [f for f in functions if not f.ctx]
    with_ctx = [f for f in functions if f.ctx]
    if not plain[0].type:
        others = [f for f in table.emitted() if f.name == name and f not in functions]
        counts = {len(f.args): f.name for f in plain + with_ctx + others}
        if len(counts) == 1:
            args = ", ".join(arg_name(arg) for arg in plain[0].args)
            return [f"#define {name}({args}) {plain[0].name}({args})"]
        return [f"#define {name}(...) {by_count(functions, counts)}"]
    if not with_ctx:
        return typed_macro(name, plain)
    upper = "SHMEMI_" + name.removeprefix("shmem_").upper()
    counts = {len(plain[0].args): upper + "_PLAIN", len(with_ctx[0].args): upper + "_CTX"}
    return [
        f"#define {name}(...) {by_count(functions, counts)}",
        *typed_macro(upper + "_PLAIN", plain),
        *typed_macro(upper + "_CTX", with_ctx),
    ]


def group_lines(group, names):
    lines = comment(wrap(group["title"], "", "")) if group.get("title") else []
    for name, value, meaning in names:
        line = f"#define {name} {value}"
        lines.append(f"{line:<47} /* {meaning} */" if meaning else line)
    return lines


def constants_part(table):
    out = []
    groups = [g for g in table.raw["constants"] if g.get("state") != "later"]
    for group in groups:
        if group["title"]:
            out.append("")
        out += group_lines(group, group["names"])
    old = [(name, value, "") for name, value, _, g in table.constants() if name[0] == "_" and g.get("state") != "later"]
    return out + [""] + group_lines({"title": "Old spellings, deprecated in 1.3."}, old)


def types_part(table):
    out = []
    for handle in table.raw["handle"]:
        out += ["", *comment(wrap(handle["doc"], "", "")), f"typedef struct {handle['tag']} *{handle['name']};"]
    for record in table.raw["record"]:
        if record.get("state") == "later":
            continue
        members = [f"    {declare(t, name)}; /* {meaning} */" for t, name, meaning in record["members"]]
        out += ["", *comment(wrap(record["doc"], "", "")), "typedef struct {", *members, f"}} {record['name']};"]
    return out


def functions_part(table):
    out = []
    for key, section in table.sections.items():
        families = [f for f in table.families if f["section"] == key and f.get("state") != "later"]
        if not families:
            continue
        out += ["", "/* " + "-" * (WIDTH - 7 - len(section["title"])) + " " + section["title"] + " */"]
        for family in families:
            functions = [f for f in table.emitted(key) if f.family is family]
            out += ["", *family_comment(table, family, functions), *(public_prototype(f) for f in functions)]
    return out


def generics_part(table):
    names = list(dict.fromkeys(generic_name(f) for f in table.families if f.get("state") != "later" and generic_name(f)))
    bodies = [generic_macro(table, name) for name in names]
    used = sorted({int(n) for body in bodies for n in re.findall(r"SHMEMI_ARG(\d+)\(", "\n".join(body))})
    out = [
        "",
        "/* " + "-" * (WIDTH - 23) + " C11 generic macros */",
        "",
        *comment(
            wrap(
                "shmem_put(dest, source, nelems, pe) is shmem_int_put if dest points to int, and so on; const and volatile "
                "do not matter. Most also take a context as first argument. As with every macro, an argument that has a "
                "comma outside of parentheses, such as (int[]){1, 2}, needs parentheses around it.",
                "",
                "",
            )
        ),
        "#if !defined __cplusplus && defined __STDC_VERSION__ && __STDC_VERSION__ >= 201112L",
        "",
        "/* The n-th argument; with names behind __VA_ARGS__ it picks one by the number of arguments. */",
    ]
    for n in used:
        params = ", ".join(f"a{i}" for i in range(1, n))
        out.append(f"#define SHMEMI_ARG{n}({params}, pick, ...) pick")
    for body in bodies:
        out += ["", *body]
    return out + ["", "#endif"]


def others_part(table):
    """What programs that were written for another implementation look for: macros, since the standard has none of it."""
    out = [
        "",
        "/* " + "-" * (WIDTH - 34) + " Names of other implementations */",
        "",
        *comment(wrap("The version of the standard in Open MPI's spelling: its programs refuse to compile without.", "", "")),
        "#define OSHMEM_SPEC_VERSION (SHMEM_MAJOR_VERSION * 10000 + SHMEM_MINOR_VERSION * 100)",
        "",
        *comment(wrap("Old spellings that only some have.", "", "")),
        "#define _SHMEM_ALLTOALL_SYNC_SIZE SHMEM_ALLTOALL_SYNC_SIZE",
        "#define _SHMEM_ALLTOALLS_SYNC_SIZE SHMEM_ALLTOALLS_SYNC_SIZE",
        "",
        *comment(wrap("Bitwise operations on signed types, which Open MPI has under these names, too.", "", "")),
    ]
    for family in table.families:
        if family.get("types") != "amo_bitwise" or "deprecated" in family or family["name"].endswith("_nbi"):
            continue
        for form in (f for f in table.emitted() if f.family is family and f.type.name in ("int32", "int64")):
            short = "int" if form.type.name == "int32" else "long"
            out.append(f"#define {form.name.replace(form.type.name, short, 1)} {form.name}")
            if short == "long":
                args = [arg_name(arg) for arg in form.args]
                cast = [f"(int64_t *)({name})" if "*" in arg else name for name, arg in zip(args, form.args)]
                out.append(f"#define {form.name.replace('int64', 'longlong', 1)}({', '.join(args)}) {form.name}({', '.join(cast)})")
    return out


# ------------------------------------------------------------------------------------------------------------------ C++


def overload(name, functions):
    """One macro that defines the overload of this name for a type, and the list of types that it is expanded for."""
    chosen = {}
    for f in sorted(functions, key=lambda f: f.type.basic != f.type.name):
        chosen.setdefault(f.type.basic, f)
    first = next(iter(chosen.values()))
    args = ["shmem_ctx_t ctx"] * first.ctx + split_args(first.family["args"])
    pointer = next(arg_name(a) for a in args if "*" in a and "TYPE" in a)
    params, passed = [], []
    for arg in args:
        word = arg_name(arg)
        text = arg.replace("TYPE", "T")
        params.append(f"shmemi_at<{text.removesuffix('*' + word).strip()}> {word}" if word == pointer else text)
        passed.append(word + ".at" if word == pointer else word)
    returns = first.family.get("returns", "void").replace("TYPE", "T")
    before, after = first.name.split(f"_{first.type.name}_", 1)
    body = f"inline {returns} {name}({', '.join(params)}) {{ return {before}_##NAME##_{after}({', '.join(passed)}); }}"
    return body, tuple((f.type.name, f.type.cxx or f.type.basic_c) for f in chosen.values())


def overloads(table):
    names = list(dict.fromkeys(generic_name(f) for f in table.families if f.get("state") != "later" and generic_name(f)))
    for name in names:
        functions = [f for f in table.emitted() if generic_name(f.family) == name and (f.type or "{type}" not in f.family["forms"][0])]
        for ctx in (False, True):
            of_kind = [f for f in functions if f.ctx == ctx]
            if of_kind and of_kind[0].type:
                yield overload(name, of_kind)
            for f in of_kind:
                if not f.type and f.name != name:
                    yield f"inline {f.returns} {name}({', '.join(f.args)}) {{ return {f.name}({', '.join(map(arg_name, f.args))}); }}", ()


def complex_overloads(table):
    """float _Complex is std::complex<float> in memory, and some programs in C++ hold it."""
    for f in table.emitted():
        if f.type and f.type.cxx:
            own = f"shmemi_{f.type.name}"
            args = [arg.replace(f.type.c, own) for arg in f.args]
            cast = f"reinterpret_cast<{{}}std::complex<{f.type.c.split()[0]}> *>({{}})"
            passed = [cast.format("const " * a.startswith("const "), arg_name(a)) if own in a else arg_name(a) for a in args]
            note = f"SHMEMI_DEPRECATED({deprecation(f.family)}) " if "deprecated" in f.family and not shared_macro(f) else ""
            yield f"{note}inline {f.returns} {f.name}({', '.join(args)}) {{ return {f.name}({', '.join(passed)}); }}"


def volatile_overloads(table):
    """What waits or locks took a pointer to volatile up to 1.4, and Open MPI's still does: C++ does not drop that by itself."""
    for f in table.emitted():
        if re.search(r"_(wait|wait_until|test|set_lock|clear_lock|test_lock)$", f.name):
            element = f.args[0].split(" *")[0]
            word = arg_name(f.args[0])
            args = ", ".join([f"volatile {f.args[0]}", *f.args[1:]])
            passed = ", ".join([f"const_cast<{element} *>({word})", *map(arg_name, f.args[1:])])
            note = f"SHMEMI_DEPRECATED({deprecation(f.family)}) " if "deprecated" in f.family and not shared_macro(f) else ""
            yield f"{note}inline {f.returns} {f.name}({args}) {{ return {f.name}({passed}); }}"


def shmem_cxx_h(table):
    found = list(overloads(table))
    lists = {types: f"SHMEMI_EACH{n}" for n, types in enumerate(dict.fromkeys(types for _, types in found if types))}
    out = [
        *heading(
            "What the C11 generic macros of shmem.h are in C, in C++ by overloading. Part of <shmem.h>.",
            NOTICE,
        ),
        UNFORMATTED,
        "#ifndef SHMEM_CXX_H",
        "#define SHMEM_CXX_H",
        "",
        '#include "shmem.h"',
        "",
        "#ifdef __cplusplus",
        'extern "C++" {',
        *PEDANTIC_OFF,
        '#pragma GCC diagnostic ignored "-Wdeprecated-declarations"',
        "",
        *comment(
            wrap(
                "The address that an overload is chosen by. It is not a plain pointer, so that a function of that name "
                "which the program has itself is the better match and not a second definition.",
                "",
                "",
            )
        ),
        "template <typename T> struct shmemi_at {",
        "    T *at;",
        "    shmemi_at(T *given) : at(given) {}",
        "    shmemi_at(volatile T *given) : at(const_cast<T *>(given)) {}",
        "};",
        "",
    ]
    for types, each in lists.items():
        out.append(f"#define {each}(F) " + " ".join(f"F({name}, {c})" for name, c in types))
    for body, types in found:
        out += [f"#define SHMEMI_F(NAME, T) {body}", f"{lists[types]}(SHMEMI_F)", "#undef SHMEMI_F"] if types else [body]
    out += [f"#undef {each}" for each in lists.values()]
    out += ["", "/* float _Complex and double _Complex, which are no C++, but known to compilers; std::complex has their layout. */"]
    out += [f"__extension__ typedef {t.c} shmemi_{t.name};" for t in table.types.values() if t.cxx]
    out += complex_overloads(table)
    out += ["", "/* Pointers to volatile, which is what these functions once took. */", *volatile_overloads(table)]
    return "\n".join(out + ["", "#pragma GCC diagnostic pop", "}", "#endif", "", "#endif", ""])


def shmem_h(table):
    major, minor = table.raw["version"]
    return "\n".join(
        [
            *heading(
                f"OpenSHMEM {major}.{minor}: processes that read and write each other's memory.",
                NOTICE,
                "",
                *wrap(
                "A PE is a process of the job. A symmetric address is one on the symmetric heap (shmem_malloc) or of a "
                "global or static variable of a program linked by oshcc; it names this PE's copy, and to a function that "
                "also takes a pe, that PE's copy. TYPE stands for the names in the functions below it, SIZE for 8, 16, "
                "32, 64, 128 bits. Extensions are in shmemx.h, the pshmem_ names for profilers in pshmem.h.",
                "",
                "",
                ),
            ),
            UNFORMATTED,
            "#ifndef SHMEM_H",
            "#define SHMEM_H",
            "",
            "#include <stddef.h>",
            "#include <stdint.h>",
            "",
            "#ifdef __cplusplus",
            'extern "C++" { /* some programs include C headers in extern "C" */',
            "#include <complex>",
            "}",
            "#define SHMEMI_COMPLEX(T) std::complex<T>",
            'extern "C" {',
            "#else",
            "#define SHMEMI_COMPLEX(T) T _Complex",
            "#endif",
            "#pragma GCC visibility push(default)",
            *PEDANTIC_OFF,
            "",
            *comment(wrap("The compiler tells whoever uses a deprecated name; -Wno-deprecated-declarations keeps it quiet.", "", "")),
            "#define SHMEMI_DEPRECATED(text) __attribute__((__deprecated__(text)))",
            *types_part(table),
            *constants_part(table),
            *functions_part(table),
            "",
            "#pragma GCC diagnostic pop",
            "#pragma GCC visibility pop",
            "#ifdef __cplusplus",
            "}",
            "#endif",
            *generics_part(table),
            *others_part(table),
            "",
            "#ifdef __cplusplus",
            '#include "shmem_cxx.h"',
            "#endif",
            "",
            "#endif",
            "",
        ]
    )


def pshmem_h(table):
    out = [
        *heading(
            "The functions of shmem.h under their second names.",
            NOTICE,
            "",
            "A profiler defines shmem_put64 itself, notes the call, and calls pshmem_put64, which does the work.",
        ),
        UNFORMATTED,
        "#ifndef PSHMEM_H",
        "#define PSHMEM_H",
        "",
        '#include "shmem.h"',
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "#pragma GCC visibility push(default)",
        *PEDANTIC_OFF,
    ]
    for key, section in table.sections.items():
        functions = table.emitted(key)
        if functions:
            out += ["", f"/* {section['title']} */", *(public_prototype(f, "p") for f in functions)]
    return "\n".join(out + ["", "#pragma GCC diagnostic pop", "#pragma GCC visibility pop", "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""])


def mpp_h(name):
    return "\n".join([*heading(f"The old place of {name}. {NOTICE}"), f'#include "../{name}"', ""])


def committed(table):
    return {
        "include/shmem.h": shmem_h(table),
        "include/shmem_cxx.h": shmem_cxx_h(table),
        "include/pshmem.h": pshmem_h(table),
        "include/mpp/shmem.h": mpp_h("shmem.h"),
        "include/mpp/shmemx.h": mpp_h("shmemx.h"),
    }


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def check(files):
    differ = [name for name, text in files.items() if not (ROOT / name).is_file() or (ROOT / name).read_text() != text]
    for name in differ:
        print(f"{name} is not what spec/generate.py writes; run spec/generate.py", file=sys.stderr)
    return 1 if differ else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--typed", nargs=2, metavar=("SECTION", "FILE"))
    options = parser.parse_args()
    table = Table(ROOT / "spec/openshmem.toml")
    if options.typed:
        section, path = options.typed
        write(pathlib.Path(path), typed_c(table, section))
        return 0
    files = committed(table)
    if options.check:
        return check(files)
    for name, text in files.items():
        write(ROOT / name, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
