# SPDX-License-Identifier: GPL-3.0-or-later
"""Each check of tests/lint accepts a clean tree and rejects a planted fault."""

import hashlib
import os
import pathlib
import shutil
import subprocess

import pytest

from programs import interpreter
from waiting import wait_until

HERE = pathlib.Path(__file__).resolve().parent
SPDX = "/* SPDX-License-Identifier: GPL-3.0-or-later */\n"
LONG = SPDX + "int f(void);\nint f(void)\n{\n" + "    ;\n" * 100 + "}\n"
HEADER = (SPDX + "#ifndef SMTUNE_BASE_A_H\n#define SMTUNE_BASE_A_H\n"
          "\n/* A number. */\nstruct a {\n    int b;\n};\n\nint a(void);\n\n#endif\n")
CLEAN = SPDX + '#include "base/a.h"\n\nint a(void)\n{\n    return 1;\n}\n'

# check, file, text, what the complaint says
FAULTS = [
    ("arrows", "store/x.c", '#include "executors/executor.h"\n',
     "store/ may not include executors/"),
    ("arrows", "base/x.c", '#include "cli/cmd.h"\n',
     "base/ may not include cli/"),
    ("arrows", "training/x.c", '#include "store/store.h"\n',
     "training/ may not include store/"),
    ("arrows", "store/x.c", '#include "tests/fake.h"\n',
     "store/ may not include tests/"),
    ("arrows", "extra/x.c", '#include "base/a.h"\n',
     "folder extra/ is not in the table"),
    ("arrows", "base/x.c", '#include "a.h"\n', "by its path from the root"),
    ("arrows", "cli/x.c", "#include <sqlite3.h>\n", "<sqlite3.h> is for"),
    ("arrows", "base/json.c", "# include <yaml.h>\n", "<yaml.h> is for"),
    ("arrows", "cli/x.c", "#include <gsl/gsl_rng.h>\n", "<gsl/gsl_rng.h>"),
    ("arrows", "base/x.h", "#include <uv.h>\n", "<uv.h> is for"),
    ("arrows", "store/deep/er/x.c", '#include "executors/executor.h"\n',
     "store/ may not include executors/"),
    ("arrows", "base/conf/x.c", '#include "base/expr/x.h"\n',
     "base/conf/ may not include base/expr/"),
    ("arrows", "cli/term/x.c", '#include "cli/cmd.h"\n',
     "cli/term/ may not include cli/"),
    ("paths", "docs/x.md", "See `base/b.h` and `base/NAME.h`.\n",
     "docs/x.md:1: there is no base/b.h"),
    ("paths", "base/x.c", "int x; /* as base/b.c has it */\n",
     "there is no base/b.c"),
    ("paths", "base/x.c", "/*\n * as in store/b/c.h.\n */\n",
     "base/x.c:2: there is no store/b/c.h"),
    ("paths", "tests/x.py", "x = 1  \x23 of base/b.c\n", "there is no base/b.c"),
    ("paths", "docs/x.md", "See `store/NAME.h` and `base/b*.[ch]`.\n",
     "there is no base/b*.[ch]"),
    ("openings", "base/x.c", SPDX + "int f(void);\n/* Late. */\n",
     "base/x.c:1: no opening comment, nor in its header"),
    ("rooms", "store/deep/x.c", "int x;\n",
     "store/ has sub-folders and no README.md"),
    ("rooms", "base/b.h", "struct a {\n    int x;\n};\n",
     "struct a is defined in more than one header"),
    ("rooms", "tests/unit/test_b.c", '#include "base/a.h"\n',
     "tests/unit/test_b.c: put it below tests/unit/ where"),
    ("rooms", "tests/unit/base/conf/test_b.c", '#include "base/a.h"\n',
     "there is no base/conf/"),
    ("rooms", "tests/unit/base/test_b.c", '#include "store/a.h"\n',
     "includes no header that is beside base/"),
    ("rooms", "tests/unit/base/test_b.c",
     '#include "base/a.h"\n#include "store/b.h"\n',
     "includes no header that is beside base/"),
    ("words", "base/x.c", SPDX + "void f(char *a) { strcpy(a, a); }\n",
     "do not use strcpy()"),
    ("words", "cli/x.c", SPDX + "int f(void)\n{\n    system(0);\n}\n",
     "do not use system()"),
    ("words", "store/x.c", SPDX + 'void f(void) { printf("x"); }\n',
     "only programs print and exit: printf"),
    ("words", "store/x.c", SPDX + "void f(void) { fprintf(stderr, 0); }\n",
     "only programs print and exit: fprintf"),
    ("words", "store/x.c", "int x;\n", "wants the SPDX line"),
    ("words", "store/x.h", SPDX + "int x(void);\n",
     "wants the header guard SMTUNE_STORE_X_H"),
    ("sleeps", "tests/unit/x.c", "void f(void)\n{\n    usleep(10);\n}\n",
     "tests/unit/x.c:3: wait for a condition"),
    ("sleeps", "tests/unit/x.c", "    while (nanosleep(&a, &a) != 0)\n",
     "tests/unit/x.c:1: wait for a condition"),
    ("sleeps", "tests/e2e/test_x.py", "import time\ntime.sleep(1)\n",
     "tests/e2e/test_x.py:2: wait for a condition"),
    ("sleeps", "tests/e2e/x.py", "\x23 A while.\nawait asyncio.sleep(1)\n",
     "tests/e2e/x.py:2: wait for a condition"),
    ("sizes", "base/x.c", LONG, "f() has 103 lines"),
    ("sizes", "base/x.c", "int x;\n" * 801, "801 lines, over 800"),
    ("sizes", "base/x.c", "void f(int a, int b, int c, int d, int e, int g,\n"
     "       int (*h)(int, int), int i) { (void)a; }\n",
     "f() has 8 parameters"),
    ("format", "base/x.c", SPDX + "int  x ;\n", "clang-format"),
    ("cppcheck", "base/x.c", "int f(void);\nint f(void)\n{\n"
     "    int a[2] = {0};\n    return a[2];\n}\n", "arrayIndexOutOfBounds"),
    ("tidy", "base/x.c", "int f(int *p);\nint f(int *p)\n{\n"
     "    if (p == 0)\n        return *p;\n    return 0;\n}\n",
     "clang-analyzer-core.NullDereference"),
    ("tidy", "base/x.c", "int f(int a);\nint f(int a)\n{\n"
     "    if ((a == 0))\n        return 1;\n    return 0;\n}\n",
     "clang-diagnostic-parentheses-equality"),
    ("shell", "x", "#!/bin/bash\nrm $1/x\n", "SC2086"),
    ("prose", "README.md", "One line.\n\nThe file tells\nthe rest.\n",
     "README.md:3: 'tells'"),
    ("prose", "docs/x.md", "- So it ends.\n", "'So': write: begin with"),
    ("prose", "docs/x.md", "The result hangs\non it.\n",
     "docs/x.md:1: 'hangs on'"),
    ("prose", "docs/x.md", "Stop it. What runs is left alone.\n",
     "'What runs is left alone.'"),
    ("prose", "docs/a/x.md", "Whoever asks, waits.\n", "'Whoever'"),
    ("prose", "man/x.1", ".TH X 1\n.SH NAME\nThe page says\n.B more\n",
     "man/x.1:3: 'says'"),
    ("prose", "python/x.py", "told = 'says'\n\"\"\"One line.\n\nIt tells\n"
     "the rest.\"\"\"\n", "python/x.py:4: 'tells'"),
    ("prose", "python/x.py", "\"\"\"What it has.\"\"\"\n", "python/x.py:1: 'What"),
]


def run(check, root):
    return subprocess.run([HERE / check, root], capture_output=True, text=True,
                          timeout=300)


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    (root / "base").mkdir(parents=True)
    (root / "base/a.c").write_text(CLEAN)
    (root / "base/a.h").write_text(HEADER)
    shutil.copy(HERE.parents[1] / ".clang-format", root)
    return root


@pytest.mark.parametrize("check", sorted({fault[0] for fault in FAULTS}))
def test_clean_tree_passes(check, tree):
    result = run(check, tree)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("check, name, text, complaint", FAULTS)
def test_fault_is_rejected(check, name, text, complaint, tree):
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).write_text(text)
    result = run(check, tree)
    assert result.returncode != 0
    assert complaint in result.stdout + result.stderr


@pytest.mark.parametrize("rows, complaint", [
    ("base:\na: b\nb: c\nc: a\n", "a circle: "),
    ("base: a\na:\n", "base: no arrow may go to a/"),
    ("base:\na: b\n", "a: no arrow may go to b/"),
    ("base:\nbase/conf:\na/b:\na: a/b\n", None),
])
def test_table_of_arrows(rows, complaint, tree, tmp_path):
    shutil.copy(HERE / "arrows", tmp_path)
    (tmp_path / "folders").write_text(rows)
    result = subprocess.run([tmp_path / "arrows", tree], capture_output=True,
                            text=True)
    assert (result.returncode != 0) == (complaint is not None), result.stdout
    assert (complaint or "") in result.stdout


def test_file_belongs_to_the_longest_row(tree, tmp_path):
    shutil.copy(HERE / "arrows", tmp_path)
    (tmp_path / "folders").write_text("base:\na:\na/b: a\n")
    for name in ("a/b/c", "a/d"):
        (tree / name).mkdir(parents=True)
    (tree / "a/x.c").write_text('#include "a/d/x.h"\n#include "base/a.h"\n')
    (tree / "a/b/c/x.c").write_text('#include "a/x.h"\n#include "a/b/x.h"\n')
    (tree / "a/d/x.c").write_text('#include "a/b/x.h"\n')
    result = subprocess.run([tmp_path / "arrows", tree], capture_output=True,
                            text=True)
    assert result.stdout == "a/d/x.c:1: a/ may not include a/b/\n"


def call(tree, folders, path, caller, callee):
    """What arrows prints where caller() in path uses what is in a/x.c."""
    shutil.copy(HERE / "arrows", tree)
    (tree / "folders").write_text(folders)
    for name, text in (("a/x.c", callee), (path, caller)):
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_text(text)
        made = tree / "build" / name.replace(".c", ".o")
        made.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-c", "-o", made, tree / name], check=True)
    return subprocess.run([tree / "arrows", tree], capture_output=True,
                          text=True).stdout


USE = "int f(void);\nint g(void);\nint g(void)\n{\n    return f();\n}\n"
FUNCTION = "int f(void);\nint f(void)\n{\n    return 1;\n}\n"
LIST = ("extern const int table;\nextern const int *list;\n"
        "const int *list = &table;\n")
TABLE = "extern const int table;\nconst int table = 1;\n"


@pytest.mark.parametrize("folders, path, caller, callee, complaint", [
    ("base:\na:\nb:\n", "b/y.c", USE, FUNCTION,
     "b/y.c: b/ may not use f of a/x.c\n"),
    ("base:\na:\nb: a\n", "b/y.c", USE, FUNCTION, ""),
    ("base:\na:\nb:\nregistry b/y.c: a\n", "b/y.c", LIST, TABLE, ""),
    ("base:\na:\nb:\nregistry b/y.c: a\n", "b/z.c", LIST, TABLE,
     "b/z.c: b/ may not use table of a/x.c\n"),
    ("base:\na:\nb:\nregistry b/y.c: a\n", "b/y.c", USE, FUNCTION,
     "b/y.c: b/ may not use f of a/x.c\n"),
])
def test_call_needs_an_arrow(folders, path, caller, callee, complaint, tree):
    assert call(tree, folders, path, caller, callee) == complaint


def test_room_is_not_overfull(tree):
    for i in range(48):
        (tree / f"base/x{i}.c").write_text("int x;\n")
    assert run("rooms", tree).returncode == 0
    (tree / "base/y.c").write_text("int x;\n")
    assert "base/ has 51 files, over 50" in run("rooms", tree).stdout


def test_readme_names_each_sub_folder_and_is_short(tree):
    for name in ("store/a", "store/b"):
        (tree / name).mkdir(parents=True)
        (tree / name / "x.c").write_text("int x;\n")
    readme = tree / "store/README.md"
    readme.write_text("`a/` and `b/`\n" * 40)
    assert run("rooms", tree).returncode == 0
    readme.write_text("`a/` and `b/`\n" * 41)
    assert "store/README.md has over 40 lines" in run("rooms", tree).stdout
    readme.write_text("`a/`\n")
    assert "store/README.md does not name b/" in run("rooms", tree).stdout


def test_unit_tests_have_the_folders_of_the_product(tree):
    for name, headers in (
            ("test_a.c", ["store/b.h", "strategies/c.h"]),
            ("base/test_b.c", ["tests/unit/base/help.h"]),
            ("base/help.h", ["base/a.h"]),
            ("base/conf/test_c.c", ["base/a.h"]),
            ("training/cuda/test_d.c", ["training/ops/e.h"])):
        path = tree / "tests/unit" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f'#include "{x}"\n' for x in headers))
    for name in ("base/conf/c.h", "training/cuda/d.cu"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("int x;\n")
    for name in ("base", "training"):
        (tree / name / "README.md").write_text("`conf/` `cuda/`\n")
    result = run("rooms", tree)
    assert result.returncode == 0, result.stdout
    (tree / "tests/unit/base/conf/test_b.c").write_text('#include "base/a.h"\n')
    assert "test_b.c: the name is not the only one" in run("rooms", tree).stdout


def commit_all(root):
    """Makes a repository of a tree; the line with its commit."""
    for words in (["init", "-q"], ["add", "-A"], [
            "-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    return subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, text=True,
                          capture_output=True, check=True).stdout


@pytest.fixture
def passed_tree(tree):
    """A commit on which all passed but which has a fault, built once."""
    fault = next(text for check, _, text, _ in FAULTS if check == "tidy")
    (tree / "base/old.c").write_text(fault)
    (tree / "base/of_header.c").write_text(fault.replace("f(", "g("))
    (tree / "build/base").mkdir(parents=True)
    for name in ("a", "old", "new"):
        (tree / f"build/base/{name}.d").write_text(f"x.o: base/{name}.c\n")
    (tree / "build/base/of_header.d").write_text(
        "x.o: base/of_header.c \\\n base/a.h\n")
    (tree / ".gitignore").write_text("build\ntests\n")
    commit = commit_all(tree)
    settings = subprocess.run([HERE / "tidy", "--settings"], text=True,
                              capture_output=True, check=True).stdout
    (tree / "tests").mkdir()
    (tree / "tests/passed").write_text(f"commit {commit}tidy {settings}")
    return tree


def tidied(root):
    """Which of the faults a tidy since the commit that passed finds."""
    said = subprocess.run([HERE / "tidy", root], capture_output=True, text=True,
                          env={**os.environ, "LINT_SINCE": "passed"}).stdout
    return {name for name in ("old", "of_header", "new")
            if f"base/{name}.c:" in said}


def test_tidy_of_what_differs_from_the_commit_that_passed(passed_tree):
    assert tidied(passed_tree) == set()
    (passed_tree / "base/new.c").write_text(
        (passed_tree / "base/old.c").read_text())
    assert tidied(passed_tree) == {"new"}
    (passed_tree / "base/a.h").write_text(HEADER + "\n")
    assert tidied(passed_tree) == {"new", "of_header"}


@pytest.mark.parametrize("passed", ["commit 1234567\n", "tidy 1\n", None])
def test_tidy_of_everything_where_that_commit_is_not_known(passed_tree, passed):
    path = passed_tree / "tests/passed"
    known = path.read_text()
    path.unlink()
    if passed:
        word = passed.split()[0]
        path.write_text(passed + "".join(
            line for line in known.splitlines(True)
            if not line.startswith(word)))
    assert tidied(passed_tree) == {"old", "of_header"}


def plant(tree, calls, is_built=True):
    """Files that call others: {"base/x.c": ["base/y.c"]}; each defines one
    function, which is named after it."""
    names = {file: file[:-2].replace("/", "_") for file in calls}
    for file, callees in calls.items():
        (tree / file).parent.mkdir(parents=True, exist_ok=True)
        (tree / file).write_text(
            "".join(f'#include "{callee[:-2]}.h"\n' for callee in callees) +
            f"void {names[file]}(void)\n{{\n" +
            "".join(f"    {names[callee]}();\n" for callee in callees) + "}\n")
        (tree / file).with_suffix(".h").write_text(
            f"void {names[file]}(void);\n")
    for file in calls if is_built else []:
        made = tree / "build" / file.replace(".c", ".o")
        made.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-c", f"-I{tree}", "-o", made, tree / file],
                       check=True)


@pytest.mark.parametrize("is_built", [True, False])
@pytest.mark.parametrize("calls, complaint", [
    ({"base/x.c": ["base/y.c"], "base/y.c": ["base/z.c"], "base/z.c": []},
     None),
    ({"base/x.c": ["base/y.c"], "base/y.c": ["base/z.c"],
      "base/z.c": ["base/x.c"]},
     "a new ring of 3 files: base/x.c base/y.c base/z.c"),
    # a registry's kinds may call it
    ({"executors/executor.c": ["executors/x.c"],
      "executors/x.c": ["executors/executor.c"]}, None),
    # one that is listed: as it is there, larger, and gone
    ({"base/conf/conf.c": ["base/conf/parse.c"],
      "base/conf/parse.c": ["base/conf/conf.c"]}, None),
    ({"base/conf/conf.c": ["base/conf/parse.c"],
      "base/conf/parse.c": ["base/x.c"],
      "base/x.c": ["base/conf/conf.c"]},
     "the ring of base/conf/conf.c has grown from 2 to 3 files by base/x.c"),
    ({"base/conf/conf.c": ["base/conf/parse.c"],
      "base/conf/parse.c": []},
     "there is no ring of base/conf/conf.c any more"),
    ({"dashboard/archive/archive.c": ["dashboard/archive/jobs.c"],
      "dashboard/archive/jobs.c": ["dashboard/archive/archive.c"],
      "dashboard/archive/pages.c": []},
     "not in the ring of dashboard/archive/archive.c any more; take it from "
     "the list: dashboard/archive/pages.c"),
])
def test_rings_follow_their_list(calls, complaint, is_built, tree):
    plant(tree, calls, is_built)
    result = run("rings", tree)
    assert (result.returncode != 0) == (complaint is not None), result.stdout
    assert (complaint or "") in result.stdout


def test_rings_are_of_calls_where_there_is_a_build(tree):
    """Two files that include each other's types make no ring; before there is
    a build nobody knows that."""
    plant(tree, {"base/x.c": ["base/y.c"], "base/y.c": ["base/x.c"]},
          is_built=False)
    (tree / "base/y.c").write_text('#include "base/x.h"\nvoid base_y(void)\n'
                                   "{\n}\n")
    assert run("rings", tree).returncode != 0
    for name in ("x", "y"):
        made = tree / "build/base" / (name + ".o")
        made.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-c", f"-I{tree}", "-o", made,
                        tree / f"base/{name}.c"], check=True)
    assert run("rings", tree).returncode == 0


def test_words_in_comments_and_strings_are_no_fault(tree):
    (tree / "base/x.c").write_text(
        SPDX + "/* never strcpy(a, b)\n * nor printf(x) */\n"
        'const char *x = "gets(1)"; // exit(1)\n')
    result = run("words", tree)
    assert result.returncode == 0, result.stdout


def test_sleeps_with_a_reason_and_of_other_programs_are_no_fault(tree):
    (tree / "tests").mkdir()
    (tree / "tests/x.py").write_text(
        'time.sleep(1)  \x23 nothing can be seen of it\n'
        'run("sh", "-c", "sleep 1; usleep (1)")\nx = """\ntime.sleep(9)\n"""\n')
    (tree / "tests/x.c").write_text(
        'usleep(1); /* the rate */\nrun("sleep(1)"); /* usleep(1) */\n'
        "sleep_long();\n")
    result = run("sleeps", tree)
    assert result.returncode == 0, result.stdout


def test_prose_leaves_code_and_plain_sentences_alone(tree):
    (tree / "docs").mkdir()
    (tree / "docs/x.md").write_text(
        "# What a trial takes\n\nAsk and tell; `tell` is a request.\n\n"
        "```console\nit says so\n```\n\n    So does this.\n\n"
        "[The page](what-it-says.md) has one pass over the data, and a\n"
        "standard. What is a slot? No one understands.\n")
    (tree / "man").mkdir()
    (tree / "man/x.5.in").write_text(
        ".TH X 5\n.EX\ntell: {command: ./tell}\n.EE\nA page.\n")
    result = run("prose", tree)
    assert result.returncode == 0, result.stdout


def test_prose_reads_strings_of_sources_where_asked(tree):
    (tree / "cli").mkdir()
    (tree / "cli/x.c").write_text(
        SPDX + "/* it says */\nconst char *a = \"the run tells\"\n"
        "                \" of it\", *b = \"says\", *c = \"it hangs \"\n"
        "                \"on it\", *d = \"an op \\\"tell\\\" of a line\",\n"
        "                *e = \"node=%s displaced=%d\";\n"
        "const char *g = \"SELECT told FROM job\", *f = \" told = ?1\";\n")
    result = subprocess.run([HERE / "prose", tree, "cli"], text=True,
                            capture_output=True, timeout=60)
    assert result.stdout.splitlines() == [
        "cli/x.c:3: 'tells': write: report, print, record; "
        "'ask and tell' is the interface",
        "cli/x.c:4: 'hangs on': write: depends on"]


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_prose_reads_f_strings_without_their_fields(tree, version):
    """From Python 3.12 on they are other tokens than before."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version}")
    (tree / "python").mkdir()
    (tree / "python/x.py").write_text(
        "a = f\"{told} of {said!r:>{told}} tells {{it}}\"\n"
        "ä = f\"ä {a} says\"; b = f\"{', '.join(said for said in told)}\"\n"
        "c = f\"{'it dies here' if told else {'it': told}}\"\n"
        "d = rf\"\"\"One.\n\nIt {told +\n said} is {a}\n{f'and {c} knows'}, "
        "then it\nstands.\"\"\"; e = \"it hangs on it\"\n")
    result = subprocess.run([python, HERE / "prose", tree, "python"], text=True,
                            capture_output=True, timeout=60)
    assert [line.split(" write")[0] for line in result.stdout.splitlines()] == [
        f"python/x.py:{line}: '{word}':" for line, word in (
            (1, "tells"), (2, "says"), (3, "dies"), (8, "knows"),
            (9, "hangs on"), (9, "stands"))], result.stderr


def test_prose_reads_what_a_page_shows(tree):
    (tree / "dashboard/node_modules").mkdir(parents=True)
    (tree / "dashboard/node_modules/x.ts").write_text('"it says so"\n')
    (tree / "dashboard/x.tsx").write_text(
        SPDX + "// it says\nconst told = `${said} and knows`; // or says\n"
        "const row = (said: string) => {\n  if (said > \"\") return said;\n"
        "  return <p class=\"log said\">It {said} tells\n    <b>all</b>."
        "</p>;\n};\n")
    result = subprocess.run([HERE / "prose", tree, "dashboard"], text=True,
                            capture_output=True, timeout=60)
    assert result.stdout.splitlines() == [
        "dashboard/x.tsx:3: 'knows': write: has, reads, records, supports",
        "dashboard/x.tsx:6: 'tells': write: report, print, record; "
        "'ask and tell' is the interface"]


@pytest.fixture
def page(tmp_path):
    """The page's sources and what is built of them, in a tree of its own."""
    web = HERE.parents[1] / "dashboard/web"
    if not (web / "node_modules/.package-lock.json").exists():
        pytest.skip("the page's packages are not installed")
    copy = tmp_path / "dashboard/web"
    shutil.copytree(web, copy, symlinks=True,
                    ignore=shutil.ignore_patterns("node_modules"))
    (copy / "node_modules").symlink_to(web / "node_modules")
    return tmp_path


@pytest.mark.timeout(600)  # it builds the page
def test_page_that_was_built_passes(page):
    result = run("web", page)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.timeout(600)
@pytest.mark.parametrize("file, text, complaint", [
    ("dist/app.js", "x", "is not what its sources make"),
    ("src/url.ts", "const x: number = 'a';\n", "not assignable"),
    ("src/app.css", "p { color: red; }\n", "is not what its sources make"),
    ("package-lock.json", '"resolved": "https://a.example/b.tgz"\n',
     "names hosts"),
])
def test_fault_of_page_is_found(page, file, text, complaint):
    path = page / "dashboard/web" / file
    path.write_text(path.read_text() + text)
    result = run("web", page)
    assert result.returncode != 0
    assert complaint in result.stdout + result.stderr


def test_page_that_passed_is_not_built_again(tree):
    """Without its packages it could not be."""
    web = tree / "dashboard/web"
    web.mkdir(parents=True)
    (web / "package-lock.json").write_text("{}\n")
    shutil.copy(HERE.parents[1] / "dashboard/web/install", web)
    shutil.copytree(HERE, tree / "tests/lint")
    shutil.copy(HERE.parent / "differing", tree / "tests")
    commit = commit_all(tree)

    def is_built(**variables):
        """Whether it looks for node, which is not on its PATH."""
        said = subprocess.run(
            [shutil.which("bash"), tree / "tests/lint/web", tree], text=True,
            capture_output=True, env={"PATH": str(programs), **variables})
        return "NOT BUILT ANEW: there is no node" in said.stdout

    programs = tree / "programs"
    programs.mkdir()
    for name in ("awk", "dirname", "git", "grep", "realpath"):
        (programs / name).symlink_to(shutil.which(name))
    since = {"LINT_SINCE": "passed"}
    assert is_built(**since)
    (tree / "tests/passed").write_text(f"commit {commit}")
    assert not is_built(**since)
    assert is_built()
    (web / "new.ts").write_text("")
    assert is_built(**since)
    (web / "new.ts").unlink()
    (web / "package-lock.json").write_text("{ }\n")
    assert is_built(**since)
    (web / "package-lock.json").write_text("{}\n")
    (tree / "tests/lint/web").write_text(
        (tree / "tests/lint/web").read_text() + "\n")
    assert is_built(**since)
    (tree / "tests/passed").write_text("commit 1234567\n")
    assert is_built(**since)


def test_packages_are_installed_by_one_at_a_time(tmp_path):
    """The stages browser and lint begin together, in a fresh clone."""
    shutil.copy(HERE.parents[1] / "dashboard/web/install", tmp_path)
    (tmp_path / "package-lock.json").write_text("{}\n")
    os.mkfifo(tmp_path / "go")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, text in (
            ("node", ""), ("flock", f'exec {shutil.which("flock")} "$@"\n'),
            ("npm", "[ $1 = ci ] || exit 0\nread -r _ <go\nmkdir node_modules\n"
                    "touch node_modules/.package-lock.json\n")):
        (programs / name).write_text(
            f'#!/bin/bash\necho "{name} $1" >>log\n{text}')
        (programs / name).chmod(0o755)
    log = tmp_path / "log"
    log.write_text("")

    def start(steps):
        process = subprocess.Popen(
            [tmp_path / "install"], text=True, stdout=subprocess.PIPE,
            env=os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"})
        wait_until(lambda: log.read_text().splitlines() == steps, 30,
                   f"{steps}")
        return process

    steps = ["flock 9", "npm ping", "npm ci"]
    first = start(steps)
    second = start([*steps, "flock 9"])
    (tmp_path / "go").write_text("\n")
    for process in first, second:
        assert process.communicate(timeout=60) == ("", None)
        assert process.returncode == 0
    assert log.read_text().splitlines() == [*steps, "flock 9"]


@pytest.mark.timeout(600)
def test_page_over_its_limit_is_found(page):
    source = page / "dashboard/web/src/main.tsx"
    noise = "".join(hashlib.sha512(str(i).encode()).hexdigest()
                    for i in range(2000))
    source.write_text(source.read_text() + f'console.log("{noise}");\n')
    result = run("web", page)
    assert result.returncode != 0
    assert "over its limit" in result.stdout + result.stderr
