# SPDX-License-Identifier: GPL-3.0-or-later
"""Homes, containers and accounts that lack something: tests/story gives the same
results in each.

A place is a shell script that changes what the story's processes see, in
namespaces of mounts and processes of their own. Everywhere the working folder is
/mnt/story, and /tmp has 64 MB.
"""

import os
import subprocess

import pytest

from programs import BUILD, ROOT

# One after the other: they compare their results with those of the first.
pytestmark = pytest.mark.xdist_group("places")

UNSHARE = ["unshare", "--mount", "--pid", "--fork", "--kill-child",
           "--mount-proc", *([] if os.geteuid() == 0 else ["--map-root-user"]),
           "--"]
USER = 1234567  # of no account
# Its arguments: the programs, the folder of the story.
BEGIN = """\
set -e
mount -t tmpfs -o size=16m,mode=755 tmpfs /mnt
mkdir /mnt/story /mnt/programs /mnt/tests /mnt/home
mount --bind . /mnt/story
mount --bind "$1" /mnt/programs
mount --bind "$2" /mnt/tests
mount -t tmpfs -o size=64m,mode=1777 tmpfs /tmp
cd /mnt/story
as() { exec "$@" bash /mnt/tests/story /mnt/programs; }
"""
END = "\nas env\n"
LACKING = 77
PROXIES = ("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy")

PLACES = {
    "a_small_tmp": "",
    # A dashboard writes its tokens there.
    "a_full_tmp": """\
        mount -t tmpfs -o size=64k tmpfs /tmp
        cat /dev/zero >/tmp/full 2>/dev/null || true
        export DASHBOARDS=/mnt/home
        """,
    # The home and the root, as in a container.
    "everything_else_read_only": """\
        mkdir -m 700 run
        export XDG_RUNTIME_DIR=$PWD/run
        mount -t tmpfs -o ro tmpfs /tmp
        mount -o remount,bind,ro /
        mount -o remount,bind,ro /mnt
        """,
    "no_dev_shm": """\
        mkdir /mnt/dev
        mount -t tmpfs -o mode=755 tmpfs /mnt/dev
        for name in null zero random urandom tty; do
            : >/mnt/dev/$name
            mount --bind /dev/$name /mnt/dev/$name
        done
        mount --move /mnt/dev /dev
        test ! -e /dev/shm
        """,
    # Its user sees no other user's processes, and is in no database.
    "an_account_with_limits": f"""\
        mount -o remount,hidepid=2 /proc
        chown {USER} . /mnt/home
        umask 077
        ulimit -u 256
        as setpriv --reuid={USER} --regid={USER} --clear-groups
        """,
    "a_locale_with_commas": """\
        command -v localedef >/dev/null || exit 77
        mkdir /mnt/locales
        export LOCPATH=/mnt/locales LC_ALL=tr_TR
        localedef -i tr_TR -f ISO-8859-9 /mnt/locales/tr_TR 2>/dev/null || exit 77
        test "$(env printf %.1f 1,5)" = 1,5
        export TZ='<+1245>-12:45<+1345>,M9.5.0/2:45,M4.1.0/3:45'
        """,
    "an_odd_environment": f"""\
        as env -i "PATH=$PATH" SMTUNE_TEST=$SMTUNE_TEST TZ=:no/such/zone \\
            {" ".join(f"{name}=http://127.0.0.1:9" for name in PROXIES)}
        """,
    "overlayfs": """\
        mkdir /mnt/upper /mnt/changes /mnt/merged
        mount -t overlay -o lowerdir=.,upperdir=/mnt/upper,workdir=/mnt/changes \
            overlay /mnt/merged 2>/dev/null || exit 77
        cd /mnt/merged
        """,
    "an_odd_path": """\
        mkdir -p "/mnt/story/a  \\"b\\"/%20?ü'\n\\$HOME;*"
        cd /mnt/story/a*/*
        """,
    "no_sys_and_no_cgroups": """\
        mount -t tmpfs -o ro tmpfs /sys
        test ! -e /sys/fs/cgroup
        """,
    # As where qemu emulates the processor.
    "no_adoption_of_orphans": """\
        as /mnt/programs/tests/e2e/deny subreaper EINVAL
        """,
    # The limit is that of a namespace, and holds below it.
    "no_user_namespaces": """\
        as unshare --user --map-root-user sh -c '
            echo 0 >/proc/sys/user/max_user_namespaces || exit 77
            unshare --user true 2>/dev/null && exit 77
            exec "$@"' sh
        """,
}
NEEDS = {"an_account_with_limits": "only root can be another user"}
LACKS = {"a_locale_with_commas": "the sources of locales (package locales)",
         "overlayfs": "overlayfs on tmpfs",
         "no_adoption_of_orphans": "filters of system calls",
         "no_user_namespaces": "user namespaces to limit"}


@pytest.fixture(scope="module", autouse=True)
def possible():
    found = subprocess.run([*UNSHARE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"],
                           capture_output=True, text=True, check=False)
    if found.returncode != 0:
        pytest.skip(f"no namespaces here: {found.stderr.strip()}")


def run_in(smtune, script):
    """Of bash, after BEGIN."""
    environment = {**smtune.environment(), "HOME": "/mnt/home"}
    del environment["XDG_RUNTIME_DIR"]  # the folders in /tmp are used then
    return subprocess.run(
        [*UNSHARE, "bash", "-c", BEGIN + script, "bash", BUILD,
         ROOT / "tests"],
        cwd=smtune.directory, env=environment, capture_output=True, text=True,
        timeout=120, check=False)


@pytest.fixture(scope="module")
def results():
    """What the stories printed, in the places so far."""
    return []


@pytest.mark.sanitized
@pytest.mark.parametrize("place", PLACES)
def test_places(smtune, results, place):
    if place in NEEDS and os.geteuid() != 0:
        pytest.skip(NEEDS[place])
    result = run_in(smtune, PLACES[place] + END)
    if result.returncode == LACKING:
        pytest.skip(f"this machine lacks {LACKS[place]}")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Sanitizer" not in result.stderr
    assert result.stdout.count("succeeded") == 6
    results.append(result.stdout)
    assert result.stdout == results[0]


def test_no_place_for_locks_is_explained(smtune, experiment):
    experiment(trials=1)
    result = run_in(smtune, "mount -t tmpfs -o ro tmpfs /tmp\n"
                    "exec /mnt/programs/smtune run exp.yaml\n")
    assert result.returncode == 1
    assert ("XDG_RUNTIME_DIR is not set to a writable directory: "
            "cannot create '/tmp/smtune-") in result.stderr
