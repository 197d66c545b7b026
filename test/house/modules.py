#!/usr/bin/env python3
"""The modules of src/ against the table in doc/architecture.md.

A row of the table is a module: its folder, the headers that others may include, and the modules that
it may use. Checked are every #include and every symbol that one object file uses of another:

- a module uses only those that its row names;
- a header that is not in the row of its module is included only by its own module;
- the rows have no cycle, and every folder with sources has one;
- no two files of src/ and cmd/ have the same name, so that a name means one file. (A CPU's folder of
  arch has the names of arch: each holds that CPU's part of one of its files.)
- cmd includes only its own headers and include/dtrace.h, and uses only the functions of that;
- a function that only its own file uses is static, unless a test calls it;
- in a header, functions below a line "---- file.c ----" are defined in that file.

    modules.py SRC BUILD        (SRC: the repository, BUILD: build folder with object files)
"""
import collections
import glob
import os
import re
import subprocess
import sys

SRC, BUILD = sys.argv[1], sys.argv[2]
problems = []


def problem(text):
    problems.append(text)


def words(cell):
    return re.findall(r"`([^`]+)`", cell)


def read_table():
    """{module: (public headers, modules it may use)}"""
    rows, inside = {}, False
    for line in open(os.path.join(SRC, "doc/architecture.md")):
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if cells[:3] == ["module", "public headers", "may use"]:
            inside = True
        elif inside and not line.startswith("|"):
            inside = False
        elif inside and not line.startswith("|--"):
            rows[words(cells[0])[0]] = (set(words(cells[1])), set(words(cells[2])))
    return rows


table = read_table()


def module_of(path):
    """The longest row that is a folder of this path: src/bpf/code/emit.c is bpf/code or else bpf."""
    folder = os.path.dirname(os.path.relpath(path, os.path.join(SRC, "src")))
    while folder and folder not in table:
        folder = os.path.dirname(folder)
    return folder


def check_rows():
    for module, (headers, uses) in table.items():
        for other in uses - set(table):
            problem(f"{module} may use {other}, which is not a row of the table")
        for header in headers:
            if not os.path.exists(os.path.join(SRC, "src", header)):
                problem(f"{module}: there is no header {header}")
    state = {}

    def visit(module, path):
        if state.get(module) == "done":
            return
        if state.get(module) == "open":
            problem("cycle: " + " -> ".join(path[path.index(module):] + [module]))
            return
        state[module] = "open"
        for other in sorted(table[module][1] & set(table)):
            visit(other, path + [module])
        state[module] = "done"

    for module in table:
        visit(module, [])


def sources():
    for suffix in ("c", "h", "def", "S"):
        yield from sorted(glob.glob(os.path.join(SRC, "src/**/*." + suffix), recursive=True))


def commands():
    for suffix in ("c", "h"):
        yield from sorted(glob.glob(os.path.join(SRC, "cmd/**/*." + suffix), recursive=True))


def check_names():
    names = collections.defaultdict(list)
    for path in [*sources(), *commands()]:
        if not path.endswith(".def") and not re.search(r"/src/arch/\w+/", path):
            names[os.path.basename(path)].append(os.path.relpath(path, SRC))
    for path in sources():
        if not module_of(path):
            problem(f"{os.path.relpath(path, SRC)} is in no module of the table")
    for name, paths in names.items():
        if len(paths) > 1:
            problem("the same name: " + ", ".join(paths))


def check_includes():
    for path in sources():
        mine, where = module_of(path), os.path.relpath(path, SRC)
        for line in open(path, errors="replace"):
            found = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not found or found[1] == "dtrace.h":
                continue
            header = os.path.join(SRC, "src", found[1])
            if not os.path.exists(header):
                problem(f"{where} includes {found[1]}: write the path from src/")
                continue
            other = module_of(header)
            if other == mine:
                continue
            if other not in table[mine][1]:
                problem(f"{where} includes {found[1]}: {mine} may not use {other}")
            elif found[1] not in table[other][0]:
                problem(f"{where} includes {found[1]}, which is private to {other}")
    own = {os.path.basename(path) for path in commands()} | {"dtrace.h"}
    for path in commands():
        for line in open(path):
            found = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if found and os.path.basename(found[1]) not in own:
                problem(f"{os.path.relpath(path, SRC)} includes {found[1]}: cmd sees include/dtrace.h only")


def symbols(paths):
    """{name: the file that defines it}, [(file, name that it uses)]"""
    defined, used, sources = {}, [], {}
    for path in paths:
        object_file = os.path.join(BUILD, os.path.relpath(path, SRC)[:-2] + ".o")
        if path.endswith(".c") and os.path.exists(object_file):
            sources[object_file] = path
    if not sources:
        return defined, used
    for line in subprocess.check_output(["nm", "-A", *sources], text=True).splitlines():
        object_file, rest = line.split(":", 1)
        kind, name = rest.split()[-2:]
        if kind == "U":
            used.append((sources[object_file], name))
        elif kind.isupper():
            defined[name] = sources[object_file]
    return defined, used


def check_sections():
    defined = collections.defaultdict(set)
    for path in [*sources(), *commands()]:
        if path.endswith(".c"):
            for found in re.finditer(r"^(?!static\b)\w[\w *]*?\b(\w+)\([^;{}]*?\)\s*\{", open(path).read(), re.M):
                defined[found[1]].add(os.path.basename(path))
    for path in [*sources(), *commands()]:
        section = set()
        for number, line in enumerate(open(path), 1) if path.endswith(".h") else ():
            if line.startswith("/* ---- "):
                section = set(re.findall(r"\b\w+\.c\b", line))
                continue
            found = re.match(r"(?!static|typedef)\w[\w *]*?\b(\w+)\(", line)
            if found and section and defined.get(found[1], section).isdisjoint(section):
                problem(f"{os.path.relpath(path, SRC)}:{number}: {found[1]}() is in {', '.join(defined[found[1]])}, "
                        f"not in {', '.join(sorted(section))}")


def check_static(defined, used):
    elsewhere = {name for path, name in used if path != defined.get(name)}
    for path in glob.glob(os.path.join(SRC, "test/**/*.[ch]"), recursive=True) + glob.glob(os.path.join(SRC, "bench/*.c")):
        elsewhere.update(re.findall(r"\bdt_\w+", open(path, errors="replace").read()))
    for name, path in sorted(defined.items()):
        # dt_vm_subr_*: each row of builtins.def declares one, whatever file defines it; dt_site_*: labels
        if name not in elsewhere and re.match("dt_(?!vm_subr_|site_)", name):
            problem(f"{os.path.relpath(path, SRC)}: {name} is used nowhere else: make it static")


def check_symbols():
    defined, used = symbols(sources())
    cmd_used = symbols(commands())[1]
    check_static(defined, used + cmd_used)
    for path, name in cmd_used:
        if name in defined and not name.startswith("dtrace_"):
            problem(f"{os.path.relpath(path, SRC)} uses {name} of {os.path.relpath(defined[name], SRC)}: "
                    "cmd sees include/dtrace.h only")
    for path, name in used:
        mine, other = module_of(path), module_of(defined.get(name, path))
        if other != mine and other not in table[mine][1]:
            problem(f"{os.path.relpath(path, SRC)} uses {name} of {os.path.relpath(defined[name], SRC)}: "
                    f"{mine} may not use {other}")


check_rows()
check_names()
check_includes()
check_sections()
check_symbols()
for text in problems:
    print(text)
sys.exit(1 if problems or not table else 0)
