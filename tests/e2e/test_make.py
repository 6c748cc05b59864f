# SPDX-License-Identifier: GPL-3.0-or-later
"""The Makefile on machines that lack things."""

import os
import re
import shutil
import subprocess
import textwrap

import pytest

from programs import MAKE, ROOT, SHIPPED

# One after the other: some share a build folder.
pytestmark = pytest.mark.xdist_group("make")


# Of the make that runs the tests, as in `make CUDA=no check-e2e`.
OPTIONS = ("CUDA", "MPI", "NVCC", "MPICC", "CUDA_ARCHES")


def make(*words, path=None):
    """Into the folders of the suite, but with the optional parts."""
    env = {name: value for name, value in os.environ.items()
           if name not in OPTIONS}
    given = [word for word in MAKE[1:] if word.split("=")[0] not in OPTIONS]
    if path:
        env["PATH"] = str(path)
    return subprocess.run(
        ["/usr/bin/make", "--no-print-directory", "-C", ROOT, *given, *words],
        env=env, capture_output=True, text=True, timeout=120)


def script(folder, name, text):
    (folder / name).unlink(missing_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{textwrap.dedent(text)}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def bare_path(tmp_path):
    """A PATH with no compiler, no pkg-config, no dpkg; and a fake apt-get."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "awk", "sed", "grep", "find", "mkdir", "echo", "cmp",
                 "id", "env", "mv", "touch", "tr", "dirname", "ls"):
        (folder / name).symlink_to(f"/usr/bin/{name}")
    script(folder, "apt-get", 'echo "apt-get $*"')
    script(folder, "sudo", 'exec "$@"')
    return folder


def test_quickstart_builds_what_it_runs(tmp_path):
    plan = make("-n", "quickstart", f"BUILD={tmp_path}/b").stdout
    assert f" -o {tmp_path}/b/smtrain " in plan
    assert f"{tmp_path}/b/smtune run examples/quickstart.yaml" in plan
    for absent in ("NOTE", "smtrain-", "/man/", "/completions/", "/san/"):
        assert absent not in plan


def test_help_lists_targets_without_a_compiler(bare_path):
    result = make("help", path=bare_path)
    assert result.returncode == 0
    assert result.stderr == ""
    for target in ("quickstart", "check", "install", "bench", "check-e2e",
                   "deps", "web", "check-cuda"):
        assert f"  make {target} " in result.stdout


def test_missing_libraries_are_told(bare_path, tmp_path):
    result = make("all", f"BUILD={tmp_path}/b", f"SANITIZED={tmp_path}/s",
                  "CUDA=no", "MPI=no", path=bare_path)
    assert result.returncode != 0
    said = result.stdout
    assert "smtune cannot be built here without:" in said
    rows = dict(re.findall(r"^  (\S.*?)  +(\S.*)$", said, re.MULTILINE))
    assert rows["pkg-config"] == "pkg-config"
    assert rows["sqlite3 3.26 or later"] == "libsqlite3-dev"
    assert rows["<cblas.h>"] == "libopenblas-dev"
    assert len(rows) == 13
    assert "'make deps' installs them" in said


def test_old_libraries_are_told(bare_path, tmp_path):
    """With the version that is there; what is there is not in the list."""
    script(bare_path, "pkg-config", """
        case "$*" in
        *--modversion*sqlite3*) echo 3.7.17 ;;
        *--exists*sqlite3*) exit 1 ;;
        esac""")
    script(bare_path, "gcc", "exit 0")
    result = make("all", f"BUILD={tmp_path}/b", "CUDA=no", "MPI=no",
                  path=bare_path)
    assert result.returncode != 0
    rows = [line for line in result.stdout.splitlines() if line[:2] == "  "]
    assert rows == ["  sqlite3 3.26 or later (there is 3.7.17) libsqlite3-dev"]


def test_deps_says_what_it_installs_and_installs_it(bare_path):
    result = make("deps", path=bare_path)
    assert result.returncode == 0, result.stderr
    said, update, install = result.stdout.splitlines()
    assert said.startswith("These packages are missing and will be installed "
                           "through apt: ")
    assert "libuv1-dev" in said and "gcc" in said.split()
    assert update == "apt-get -q update"
    assert install.startswith("apt-get -q -y --no-install-recommends install ")
    assert said.split(": ")[1] == install.split(" install ")[1]


def test_deps_tells_what_it_would_do(bare_path):
    lines = make("deps", "DRY=1", path=bare_path).stdout.splitlines()
    assert len(lines) == 3
    assert lines[1].endswith("apt-get -q update")
    assert " apt-get -q -y --no-install-recommends install gcc " in lines[2]
    assert all(line.startswith("These packages") or "install" in line or
               "update" in line for line in lines)


# How each finds out that one package is there, and what it installs then.
MANAGERS = [
    ("dnf", "rpm", '[ "$3" = jansson-devel ]', "dnf -q -y install",
     "jansson-devel", "libuv-devel"),
    ("zypper", "rpm", '[ "$3" = libjansson-devel ]', "zypper -q -n install",
     "libjansson-devel", "libnettle-devel"),
    ("apk", "apk", '[ "$1 $3" = "info jansson-dev" ]', "apk add",
     "jansson-dev", "yaml-dev"),
    ("pacman", "pacman", '[ "$1 $2" = "-Qq jansson" ]',
     "pacman -S --needed --noconfirm", "jansson", "cblas"),
]


@pytest.mark.parametrize("manager,asked,has,install,there,missing", MANAGERS,
                         ids=[row[0] for row in MANAGERS])
def test_deps_elsewhere(bare_path, manager, asked, has, install, there,
                        missing):
    (bare_path / "apt-get").unlink()
    script(bare_path, manager, f'echo "{manager} $*"')
    script(bare_path, asked, f"""
        {has} && exit
        case "$1" in -Qq | info | -q) exit 1 ;; esac
        echo "{manager} $*"
        """)
    result = make("deps", path=bare_path)
    assert result.returncode == 0, result.stderr
    said, done = result.stdout.splitlines()
    assert done.startswith(install + " ")
    assert missing in done.split() and there not in done.split()
    assert said.endswith("through " + manager + ": " +
                         done.removeprefix(install + " "))


def test_deps_of_conda(bare_path, tmp_path, monkeypatch):
    """Without root, and asked for by name where apt is there as well."""
    meta = tmp_path / "env/conda-meta"
    meta.mkdir(parents=True)
    (meta / "jansson-2.14-h1.json").touch()
    monkeypatch.setenv("CONDA_PREFIX", str(meta.parent))
    script(bare_path, "mamba", 'echo "mamba $*"')
    said, done = make("deps", "WITH=conda",
                      path=bare_path).stdout.splitlines()
    assert said.startswith("These packages are missing and will be installed "
                           "through conda: c-compiler ")
    words = done.split()
    assert words[:5] == ["mamba", "install", "-y", "-c", "conda-forge"]
    assert "openblas" in words and "jansson" not in words
    result = make("deps", "WITH=brew", path=bare_path)
    assert result.returncode != 0
    assert "no package manager 'brew'" in result.stderr


def test_deps_is_quiet_where_all_is_there(bare_path):
    """With a dpkg that has everything: this machine may lack a package, which
    no test is to install."""
    script(bare_path, "dpkg-query", 'printf "installed %s\\n" "$@"')
    for _ in "with apt-get", "without":
        result = make("deps-test", path=bare_path)
        assert result.returncode == 0
        assert result.stdout == ""
        (bare_path / "apt-get").unlink(missing_ok=True)


def test_deps_of_the_tests(bare_path):
    """Beside those that building needs; an index that is not to be had is not
    in the way, and dpkg is asked once for all of a line."""
    script(bare_path, "apt-get", """
        echo "apt-get $*"
        [ "$2" != update ]
        """)
    script(bare_path, "dpkg-query", """
        echo asked >>"${0%/*}/asked"
        echo "installed gcc"
        echo "config-files libuv1-dev"
        """)
    result = make("deps-test", path=bare_path)
    assert result.returncode == 0, result.stderr
    said, _, install, cluster, _, _ = result.stdout.splitlines()
    words = install.removeprefix(
        "apt-get -q -y --no-install-recommends install ").split()
    assert {"libuv1-dev", "g++", "clang"} < set(words) and "gcc" not in words
    assert said == ("These packages are missing and will be installed through "
                    "apt: " + " ".join(words))
    assert "slurmctld" in cluster and "clang" not in cluster
    assert (bare_path / "asked").read_text() == "asked\n" * 2


def test_deps_of_the_tests_without_apt(bare_path):
    (bare_path / "apt-get").unlink()
    result = make("deps-test", path=bare_path)
    assert (result.returncode, result.stderr) == (0, "")
    both = result.stdout.splitlines()
    assert [line.partition(": ")[0] for line in both] == [
        "There is no apt-get here. Please install the like of"] * 2
    assert " libuv1-dev " in both[0] and " clang " in both[0]
    assert " slurmctld " in both[1]


class Compiler:
    """A stand-in for nvcc or mpicc: the host's compiler, with the headers of
    one folder. It counts its calls."""

    FORM = """#!/bin/sh
[ "$1" = --version ] && echo "tools, release 12.4, V12.4.131" && exit
echo >>{calls}
while [ $# -gt 0 ]; do
    case $1 in
    *.c | *.cu) source=$1 ;;
    -o) out=$2 ;;
    esac
    shift
done
exec g++ -x c++ -std=c++20 -fPIC -shared -I {headers} -I . -o $out $source
"""

    def __init__(self, folder, name):
        self.headers = folder / f"{name}-headers"
        self.headers.mkdir()
        self.path = folder / name
        self.log = folder / f"{name}-calls"
        self.path.write_text(
            self.FORM.format(calls=self.log, headers=self.headers))
        self.path.chmod(0o755)

    def calls(self):
        return len(self.log.read_text()) if self.log.exists() else 0


@pytest.fixture
def nvcc(tmp_path):
    """With CUDA's headers, as the tests of the kernels have them."""
    compiler = Compiler(tmp_path, "nvcc")
    for header in (ROOT / "tests/cuda").glob("*.h"):
        shutil.copy(header, compiler.headers)
    return compiler


@pytest.fixture
def notes(tmp_path):
    """notes(word...): what a build into a folder of its own notes about its
    optional parts."""
    def run(*words):
        result = make(f"{tmp_path}/b/probe/shown", f"BUILD={tmp_path}/b", *words)
        assert result.returncode == 0, result.stderr
        assert result.stderr == ""
        return [line.removeprefix("  NOTE ")
                for line in result.stdout.splitlines()
                if line.startswith("  NOTE ")]
    return run


LACKS = ("CUDA: {} does not find cublasLt.h. smtrain is built without CUDA. To "
         "get it: apt install libcublas-dev-12-4 (packages of NVIDIA), or "
         "nvidia-cuda-dev (of Debian). CUDA=no hides this note.")


def copy_build(build):
    """What is built, into a folder of the test's own: other goals may look for
    the parts of this one meanwhile."""
    def left_out(folder, names):
        return [name for name in names
                if folder == str(SHIPPED) and (SHIPPED / name).is_dir()
                and name not in ("man", "completions")
                and not (ROOT / name).is_dir()]
    shutil.copytree(SHIPPED, build, ignore=left_out)


def test_the_build_beside_an_nvcc_without_cublas(nvcc, tmp_path):
    (nvcc.headers / "cublasLt.h").unlink()
    copy_build(tmp_path / "b")
    words = ("all", f"BUILD={tmp_path}/b", f"NVCC={nvcc.path}", "MPI=no")
    first, second = make(*words), make(*words)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr
    assert "  NOTE " + LACKS.format(nvcc.path) in first.stdout.splitlines()
    assert "NOTE" not in second.stdout
    insisting = make(*words, "CUDA=yes")
    assert insisting.returncode != 0
    assert f"CUDA=yes: {nvcc.path} does not find cublasLt.h. " in insisting.stderr


def test_the_build_beside_the_nvcc_of_this_machine(notes):
    assert [note.split(":")[0] for note in notes("MPI=no")] == ["CUDA"]


def test_no_part_is_probed_that_is_not_wanted(notes, nvcc, tmp_path):
    words = (f"NVCC={nvcc.path}", "CUDA=no", "MPI=no")
    assert notes(*words) == []
    plan = make("-n", "all", f"BUILD={tmp_path}/b", *words).stdout
    assert "smtrain-cuda.so" not in plan
    assert nvcc.calls() == 0


def test_a_part_that_is_found_is_built(notes, nvcc, tmp_path):
    assert notes(f"NVCC={nvcc.path}", "MPI=no") == [
        f"CUDA: found {nvcc.path}, release 12.4."]
    plan = make("-n", "all", f"BUILD={tmp_path}/b", f"NVCC={nvcc.path}",
                "MPI=no").stdout
    assert f"-shared -o {tmp_path}/b/smtrain-cuda.so" in plan


def test_without_any_compiler_for_a_part(notes):
    assert notes("NVCC=", "MPICC=") == [
        "CUDA: there is no nvcc in PATH or in /usr/local/cuda. smtrain is built "
        "without CUDA. To get it: apt install nvidia-cuda-toolkit, or give make "
        "NVCC=/path/to/nvcc. CUDA=no hides this note.",
        "MPI: there is no mpicc in PATH. smtrain is built without MPI. To get "
        "it: apt install libopenmpi-dev, or give make MPICC=/path/to/mpicc. "
        "MPI=no hides this note."]


def test_a_compiler_that_fails_is_shown_where_to_look(notes, nvcc, tmp_path):
    nvcc.path.write_text("#!/bin/sh\necho 'fatal: no such device' >&2; exit 1\n")
    [note] = notes(f"NVCC={nvcc.path}", "MPI=no")
    assert (f"CUDA: {nvcc.path} does not compile a few lines. smtrain is built "
            f"without CUDA. Its output is in {tmp_path}/b/probe/cuda.log.") in note
    assert "fatal" in (tmp_path / "b/probe/cuda.log").read_text()


def test_mpi_is_probed_as_well(notes, tmp_path):
    mpicc = Compiler(tmp_path, "mpicc")
    words = ("CUDA=no", f"MPICC={mpicc.path}")
    [note] = notes(*words)
    assert note.startswith(f"MPI: {mpicc.path} does not find mpi.h. smtrain is "
                           "built without MPI. To get it: apt install libopenmpi")
    (mpicc.headers / "mpi.h").write_text(
        'extern "C" int MPI_Init(int *argc, char ***argv);\n')
    assert notes(*words, "MPI=yes") == [f"MPI: found {mpicc.path}."]


def test_a_part_is_probed_once_for_the_same_flags(notes, nvcc):
    words = (f"NVCC={nvcc.path}", "MPI=no")
    assert len(notes(*words)) == 1
    assert notes(*words) == []
    assert nvcc.calls() == 1
    assert len(notes(*words, "CUDA_ARCHES=80")) == 1
    assert nvcc.calls() == 2


def test_kernels_in_bf16_are_not_for_devices_before_80(nvcc, tmp_path):
    plan = make("-n", f"{tmp_path}/b/smtrain-cuda.so", f"BUILD={tmp_path}/b",
                f"NVCC={nvcc.path}", "MPI=no", "CUDA_ARCHES=70 75 80 90").stdout
    compiled = [line for line in plan.splitlines() if " -c " in line]
    assert len(compiled) > 10
    for line in compiled:
        wanted = [a for a in ("70", "75", "80", "90") if f"code=sm_{a}" in line]
        if "err.c" in line:
            continue
        assert wanted[-2:] == ["80", "90"], line
        assert ("75" in wanted) == ("attention_bf16" not in line), line


def test_a_test_lists_what_it_replaces(tmp_path):
    plan = make("-n", "check-unit", "T=parsers_denied", f"BUILD={tmp_path}/b",
                f"SANITIZED={tmp_path}/s", "NVCC=", "MPICC=").stdout
    [link] = [line for line in plan.splitlines()
              if f" -o {tmp_path}/s/tests/unit/test_parsers_denied " in line]
    for name in ("yaml_parser_parse", "sqlite3_open_v2", "pcre2_jit_compile_8"):
        assert f" -Wl,--wrap={name}" in link


@pytest.mark.parametrize("listed, error", [
    ("read", None),
    ("", "test.c: defines __wrap_read, but no line lists it: "
         "/* wrap: read */"),
    ("raed", "test.c: wrap: 'raed': there is no __wrap_raed"),
    ("read write", "test.c: wrap: 'write': there is no __wrap_write"),
    ("read dup", "test.c: wrap: 'dup': nothing calls this function"),
])
def test_a_wrong_list_of_what_a_test_replaces(tmp_path, listed, error):
    wrappers = "int __wrap_read(void) { return 0; }\n"
    if "dup" in listed:
        wrappers += "int __wrap_dup(void) { return 0; }\n"
    (tmp_path / "test.c").write_text(wrappers)
    (tmp_path / "caller.c").write_text(
        "int read(void), write(void);\nint call(void);\n"
        "int call(void) { return read() + write(); }\n")
    subprocess.run(["cc", "-c", "test.c", "caller.c"], cwd=tmp_path, check=True)
    result = subprocess.run(
        [ROOT / "tests/wraps", listed, "test.o", "caller.o"], cwd=tmp_path,
        capture_output=True, text=True)
    assert result.stdout == ""
    assert (result.returncode == 0) == (error is None)
    assert (error or "") in result.stderr
    if error is None:
        assert result.stderr == ""


@pytest.fixture
def check_cuda(bare_path, tmp_path):
    """check_cuda(test, NAME=command...): tests/cuda/run where these programs
    are there besides, and make builds that test."""
    def run(test, **programs):
        built = tmp_path / "build/tests/unit/training/cuda/test_cuda_ops"
        built.parent.mkdir(parents=True)
        for name in ("bash", "cat"):
            (bare_path / name).symlink_to(f"/usr/bin/{name}")
        for name, command in {"built": test, **programs}.items():
            script(bare_path, name.replace("_", "-"), command)
        built.symlink_to(bare_path / "built")
        return subprocess.run(
            [ROOT / "tests/cuda/run", tmp_path / "build"],
            env={"PATH": str(bare_path), "NVCC": "nvcc", "MAKE": "make"},
            capture_output=True, text=True, timeout=60)
    return run


GPU = {"nvidia_smi": 'echo "GPU 0: of some kind"', "make": "exit 0"}


def test_the_gpu_tests_are_skipped_without_a_gpu(check_cuda):
    result = check_cuda("exit 1", nvidia_smi="exit 9")
    assert result.returncode == 0
    assert result.stdout == ("check-cuda: skipped: nvidia-smi -L shows no "
                             "GPU\n")


def test_the_gpu_tests_go_on_under_compute_sanitizer(check_cuda):
    result = check_cuda("echo passed", **GPU,
                        compute_sanitizer='echo "with $2"; "$5"')
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("check-cuda: natively\npassed\n")
    assert result.stdout.count("passed") == 5
    for tool in ("memcheck", "racecheck", "initcheck", "synccheck"):
        assert f"with {tool}\n" in result.stdout


def test_what_compute_sanitizer_finds_fails(check_cuda):
    result = check_cuda("echo passed", **GPU,
                        compute_sanitizer='[ "$2" != racecheck ]')
    assert result.returncode == 1


def test_the_gpu_tests_fail_where_they_find_no_device(check_cuda):
    result = check_cuda('echo "no device (odd): on the processor"', **GPU)
    assert result.returncode == 1
    assert "the tests found no device" in result.stderr


def test_the_gpu_tests_without_compute_sanitizer(check_cuda):
    result = check_cuda("echo passed", **GPU)
    assert result.returncode == 0
    assert result.stdout.endswith(
        "passed\ncheck-cuda: skipped: the same under compute-sanitizer, which "
        "is not installed\n")
