# SPDX-License-Identifier: GPL-3.0-or-later
"""A store that a group shares: two users of the group, and one outside of it."""

import contextlib
import grp
import json
import os
import pathlib
import pty
import pwd
import shutil
import stat
import tempfile

import pytest

import files
from programs import Smtune
from waiting import wait_until

pytestmark = pytest.mark.skipif(os.geteuid() != 0,
                                reason="only root can be two users")

PAGE = 4096
GROUP = "games"  # of nobody's in /etc/group: setpriv gives it
WRITES = """\
    umask >umask.txt
    mkdir -p "$SMTUNE_CHECKPOINT_DIR/epoch-1"
    echo x >"$SMTUNE_CHECKPOINT_DIR/epoch-1/model"
    echo hello from $SMTUNE_JOB
    while [ -e wait ]; do touch seen; sleep 0.02; done
    echo loss=${{ x }}
    """


class User(Smtune):
    """Runs the programs as an ordinary user, in a folder of its own."""

    def __init__(self, project, name, umask, *groups):
        self.user = pwd.getpwnam(name)
        home = project / name
        home.mkdir(mode=0o700)
        os.chown(home, self.user.pw_uid, self.user.pw_gid)
        super().__init__(home)
        self.store = project / "store"
        self.env["SMTUNE_STORE"] = str(self.store)
        ids = [str(grp.getgrnam(group).gr_gid) for group in groups]
        self.before = [
            "setpriv", f"--reuid={self.user.pw_uid}",
            f"--regid={self.user.pw_gid}",
            f"--groups={','.join(ids)}" if ids else "--clear-groups",
            "sh", "-c", f'umask {umask}; exec "$@"', "sh", *self.before]

    def file(self, shell=WRITES, name="exp", trials=2):
        path = self.directory / f"{name}.yaml"
        path.write_text(files.experiment(shell, name=name, trials=trials,
                                         parallel=1))
        path.chmod(0o644)
        return path

    def put(self, name):
        path = self.directory / name
        path.touch()
        os.chown(path, self.user.pw_uid, self.user.pw_gid)
        return path

    @contextlib.contextmanager
    def running(self, name="exp"):
        """A run with a trial that runs meanwhile."""
        wait = self.put("wait")
        engine = self.start("run", self.file(name=name))
        try:
            wait_until((self.directory / "seen").exists)
            yield engine
        finally:
            wait.unlink()
        assert engine.wait(30) == 0

    def answer(self, words, reply):
        """Runs on a terminal and replies to its question: (status, shown)."""
        ours, theirs = pty.openpty()
        os.fchown(theirs, self.user.pw_uid, -1)
        process = self.start(*words, stdin=theirs, stdout=theirs,
                             stderr=theirs)
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                asked = b"[y/N] " not in shown
                shown += piece
                if asked and b"[y/N] " in shown:
                    os.write(ours, reply)
        except OSError:  # the terminal is closed
            pass
        os.close(ours)
        return process.wait(), shown.decode()


@pytest.fixture
def project():
    """A folder that all users may enter, which pytest's own are not."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="smtune-test-"))
    folder.chmod(0o755)
    os.chown(folder, pwd.getpwnam("daemon").pw_uid, -1)
    yield folder
    shutil.rmtree(folder)


def user_fixture(*words):
    @pytest.fixture
    def user(project):
        runner = User(project, *words)
        if runner("version").returncode != 0:
            pytest.skip("the programs are where only root may go")
        yield runner
        runner.end()
    return user


# The two have different umasks, which are to make no difference.
ada = user_fixture("daemon", "077", GROUP)
bob = user_fixture("bin", "022", GROUP)
eve = user_fixture("nobody", "022")
root = user_fixture("root", "022")


@pytest.fixture
def shared(ada, bob):
    """A store of the group, made by ada."""
    ada.ok("init", "--shared", GROUP, "--store", ada.store)


def mode(path):
    return stat.S_IMODE(path.lstat().st_mode)


def check_modes(folder):
    """All below it is the group's, and nobody else's: the folder lets nobody
    else in, so what a trial gives to others does not count."""
    gid = grp.getgrnam(GROUP).gr_gid
    wrong = {}
    for path in [folder, *folder.rglob("*")]:
        wanted = {stat.S_IFDIR: {0o2770}, stat.S_IFSOCK: {0o600},
                  stat.S_IFLNK: {0o777}}.get(
                      stat.S_IFMT(path.lstat().st_mode), {0o660, 0o770})
        if path.name == "smtune.shared":
            wanted = {0o640}
        of_trial = 0o007 if "epoch-1" in path.parts else 0
        if mode(path) & ~of_trial not in wanted or path.lstat().st_gid != gid:
            wrong[str(path.relative_to(folder))] = (
                f"{mode(path):04o}", path.lstat().st_gid)
    assert wrong == {}


def refused(result, *words):
    """A line that names the user whose run it is."""
    assert result.returncode == 5, (words, result.stderr)
    assert "user 'daemon'" in result.stderr.splitlines()[-1], words


# ---- both ----

@pytest.mark.sanitized
def test_both_read_and_write(ada, bob, shared):
    check_modes(ada.store)
    with ada.running():
        assert mode(ada.store / "smtune.db-wal") == 0o660
        assert mode(ada.store / "smtune.db-shm") == 0o660
        assert mode(ada.store / "runs/exp/control.sock") == 0o600
        status = bob.json("status", "exp")
        assert status["state"] == "running"
        assert "hello from 1" in bob.ok("logs", "exp", 1)
        bob.ok("run", bob.file(name="other"))
        check_modes(ada.store)
    for user in (ada, bob):
        assert [(run["name"], run["state"]) for run in user.json("ls")] == [
            ("exp", "succeeded"), ("other", "succeeded")]
        assert len(user.json("trials", "exp")) == 2
        assert "hello from 2" in user.ok("logs", "other", 2)
        assert user.json("fsck") == []
    check_modes(ada.store)
    assert (ada.directory / "umask.txt").read_text().split()[-1] == "0007"
    assert (bob.directory / "umask.txt").read_text().split()[-1] == "0002"


def test_two_engines_write_in_turn(ada, bob, shared):
    """Each commit takes the lock of the store."""
    engines = [user.start("run", user.file("echo loss=${{ x }}", name=name,
                                           trials=30))
               for user, name in ((ada, "one"), (bob, "two"))]
    for engine in engines:
        _, errors = engine.communicate(timeout=120)
        assert engine.returncode == 0, errors
    assert bob.json("fsck") == []
    assert {run["name"]: run["state"] for run in ada.json("ls")} == {
        "one": "succeeded", "two": "succeeded"}


def test_both_note_and_tag(ada, bob, shared):
    ada.ok("run", ada.file())
    bob.ok("tag", "exp", "--add", "good")
    bob.ok("note", "exp", "-m", "seen")
    ada.ok("tag", "exp", "--add", "mine")
    assert "good" in ada.ok("tag", "exp") and "mine" in bob.ok("tag", "exp")
    assert "seen" in ada.ok("note", "exp")


def test_a_backup_is_its_users(ada, bob, shared):
    ada.ok("run", ada.file())
    bob.ok("backup", bob.directory / "copy.db")
    assert mode(bob.directory / "copy.db") == 0o600


# ---- whose run it is ----

CONTROLS = [("stop",), ("pause",), ("resume",), ("attach",),
            ("retry", "--failed"), ("enqueue", "x=0.5"), ("edit", "exp.yaml"),
            ("stop", "--job", "1")]


def control(user, words):
    return user(words[0], "exp", *words[1:])


def test_only_its_user_controls_a_run(ada, bob, shared):
    with ada.running() as engine:
        bob.file("echo loss=1")
        for words in CONTROLS:
            result = control(bob, words)
            refused(result, *words)
            assert "an engine of user 'daemon' (pid" in result.stderr
        assert engine.poll() is None
    assert ada.states() == ["succeeded"] * 2


def test_only_its_user_continues_a_run(ada, bob, shared):
    ada.put("wait")
    engine = ada.start("run", ada.file())
    wait_until((ada.directory / "seen").exists)
    ada.ok("stop", "exp")
    engine.wait(30)
    (ada.directory / "wait").unlink()
    for words in [("resume",), ("prune",), ("enqueue", "x=0.5"),
                  ("stop", "--job", "1")]:
        refused(control(bob, words), *words)
    ada.ok("resume", "exp")
    assert ada.states() == ["succeeded"] * 2


def test_root_acts_as_the_user(ada, bob, root, shared):
    """What a run executes is not to have the rights of root."""
    ada.ok("run", ada.file())
    result = root("prune", "exp")
    refused(result)
    assert "(as root, use: sudo -u daemon)" in result.stderr
    ada.put("wait")
    engine = ada.start("run", ada.file(name="next"))
    wait_until((ada.directory / "seen").exists)
    root.ok("stop", "next")
    assert engine.wait(30) != 0
    result = root("rm", "exp")
    assert "run 'exp' of user 'daemon': confirm with --yes" in result.stderr


def test_root_hands_a_run_over(ada, bob, shared):
    ada.ok("run", ada.file())
    folder = ada.store / "runs/exp"
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, bob.user.pw_uid, -1, follow_symlinks=False)
    bob.ok("prune", "exp")
    result = ada("prune", "exp")
    assert result.returncode == 5
    assert "it belongs to user 'bin', and only bin" in result.stderr


def test_a_file_of_two_users_has_a_run_for_each(ada, bob, shared, project):
    """Nobody is offered to resume the run of another user."""
    go = project / "go"
    file = project / "exp.yaml"
    file.write_text(files.experiment(
        f"while [ ! -e {go} ]; do sleep 0.1; done; echo loss=1", name="exp",
        trials=1))
    file.chmod(0o644)
    engine = ada.start("run", file)
    wait_until(lambda: ada("status", "exp").returncode == 0)
    ada.ok("stop", "exp")
    engine.wait(30)
    go.touch()
    result = bob("run", file)
    assert result.returncode == 0, result.stderr
    assert "resume it" not in result.stderr
    result = bob("run", file, "--resume")
    assert "run 'exp-2' has ended" in result.stderr


# ---- rm ----

def test_rm_asks_before_it_removes_the_run_of_another_user(ada, bob, shared):
    ada.ok("run", ada.file())
    result = bob("rm", "exp")
    assert result.returncode == 5
    assert "run 'exp' of user 'daemon': confirm with --yes" in result.stderr
    for reply in (b"n\n", b"\n", b"\x04"):
        status, shown = bob.answer(["rm", "exp"], reply)
        assert status == 1
        assert "remove run 'exp' of user 'daemon'? [y/N]" in shown
        assert "nothing was removed" in shown
    assert len(list((ada.store / "runs/exp").glob("trials/*/ml/model"))) == 2
    status, shown = bob.answer(["rm", "exp"], b"y\n")
    assert status == 0, shown
    assert not (ada.store / "runs/exp").exists()
    assert ada.json("ls") == []


def test_rm_does_not_ask_for_an_own_run(ada, bob, shared):
    for user in (ada, bob):
        user.ok("run", user.file(name=user.user.pw_name))
    bob.ok("rm", "bin")
    result = bob("rm", "daemon", "--yes")
    assert result.returncode == 0, result.stderr
    assert bob.json("ls") == []


def test_rm_leaves_a_run_whose_files_cannot_be_removed(ada, bob, shared):
    ada.ok("run", ada.file())
    closed = next((ada.store / "runs/exp").rglob("epoch-1"))
    closed.chmod(0o2750)
    result = bob("rm", "exp", "--yes")
    assert result.returncode == 1
    assert f"cannot remove what is in '{closed}'" in result.stderr
    assert len(ada.json("trials", "exp")) == 2
    assert (closed / "model").exists()
    ada.ok("rm", "exp")


def test_rm_leaves_a_run_with_an_engine(ada, bob, shared):
    with ada.running():
        refused(bob("rm", "exp", "--yes"))


# ---- who is outside ----

@pytest.mark.parametrize("words", [("ls",), ("run", "exp.yaml"), ("fsck",),
                                   ("status", "exp"), ("rm", "exp")])
def test_outside_of_the_group_nothing_opens(ada, eve, shared, words):
    eve.file()
    result = eve(*words)
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        f"smtune: store '{ada.store}' is for the group '{GROUP}', and you are "
        "not a member (if you became one, log in again)"]


def test_doctor_outside_of_the_group(ada, eve, shared):
    rows = json.loads(eve("doctor", "-o", "json").stdout)
    row = next(row for row in rows if row["check"] == "store")
    assert row["state"] == "fail"
    assert f"is for the group '{GROUP}'" in row["found"]


# ---- the choice ----

def test_without_the_choice_a_store_is_its_users(ada, bob):
    """Also in a folder with the modes of a shared one."""
    ada.store.mkdir()
    os.chown(ada.store, ada.user.pw_uid, grp.getgrnam(GROUP).gr_gid)
    ada.store.chmod(0o2770)
    ada.ok("run", ada.file())
    for path in ada.store.iterdir():
        assert mode(path) & 0o077 == 0, path
    assert bob("ls").returncode == 1
    choice = bob.store / "smtune.shared"
    choice.write_text(f"{GROUP}\n")
    choice.chmod(0o644)
    os.chown(choice, bob.user.pw_uid, -1)
    ada.ok("run", ada.file(name="next"))
    for path in ada.store.iterdir():
        assert path == choice or mode(path) & 0o077 == 0, path
    texts = {finding["what"]: finding["text"] for finding in ada.json("fsck")}
    assert texts[str(choice)] == (
        f"mode 0644: smtune ignores it (fix: chown daemon {choice} to share "
        f"the store, or rm {choice})")


def test_init_refuses_what_cannot_be_shared(ada, eve):
    for group, words in ((GROUP, "not a member of the group 'games'"),
                         ("nobodys", "there is no group 'nobodys'")):
        result = eve("init", "--shared", group, "--store",
                     eve.directory / "store")
        assert result.returncode == 2
        assert words in result.stderr
        assert "your groups: nogroup" in result.stderr
    assert not (eve.directory / "store").exists()
    ada.ok("run", ada.file())
    result = ada("init", "--shared", GROUP)
    assert result.returncode == 5
    assert f"there is a store at '{ada.store}'" in result.stderr
    assert mode(ada.store / "smtune.db") == 0o600
    result = ada("init", "--shared", GROUP, "--store", ada.directory)
    assert result.returncode == 5
    assert f"'{ada.directory}' has other files" in result.stderr
    assert mode(ada.directory) == 0o700
    assert ada("init", "--shared", GROUP, "-t", "grid").returncode == 2
    assert ada("init", "--shared", GROUP, "x", "--store", "y").returncode == 2


def test_init_refuses_the_folder_of_another_user(ada, bob):
    folder = ada.directory.parent / "folder"
    folder.mkdir()
    os.chown(folder, ada.user.pw_uid, grp.getgrnam(GROUP).gr_gid)
    folder.chmod(0o2770)
    result = bob("init", "--shared", GROUP, "--store", folder)
    assert result.returncode == 1
    assert f"'{folder}' belongs to user 'daemon'" in result.stderr


def test_init_names_the_place(ada, bob):
    result = ada("init", "--shared", GROUP, ".", env={"SMTUNE_STORE": ""})
    assert result.returncode == 0, result.stderr
    store = ada.directory / ".smtune"
    assert mode(store) == 0o2770
    assert f"SMTUNE_STORE={store}" in result.stderr
    assert f"the group '{GROUP}' cannot enter {ada.directory}" in result.stderr
    row = next(row for row in ada.json("doctor", "--store", store)
               if row["check"] == "store")
    assert row["state"] == "warn"
    assert f"the group cannot enter {ada.directory}" in row["found"]


def test_wrong_modes_are_named(ada, bob, shared):
    ada.ok("run", ada.file())

    def store(user):
        return next(row for row in user.json("doctor")
                    if row["check"] == "store")

    row = store(bob)
    assert row["state"] == "ok", row
    assert f"shared with the group '{GROUP}'" in row["found"]
    database = ada.store / "smtune.db"
    database.chmod(0o664)
    ada.store.chmod(0o770)
    row = store(ada)
    assert row["state"] == "warn"
    assert f"others may use {database} (mode 0664)" in row["found"]
    assert f"the group cannot use {ada.store} (mode 0770)" in row["found"]
    assert row["fix"].startswith(
        f"chmod 2770 {ada.store}; chmod 660 {database}")
    database.chmod(0o660)
    os.chown(database, -1, ada.user.pw_gid)
    texts = {finding["what"]: finding["text"] for finding in ada.json("fsck")}
    assert texts[str(database)] == (
        f"mode 0660: another group has it (fix: chgrp {GROUP} {database})")
    assert f"chmod 2770 {ada.store}" in texts[str(ada.store)]


def test_a_repaired_store_stays_shared(ada, bob, shared):
    ada.ok("run", ada.file("echo loss=${{ x }}", trials=100))
    ada.ok("ls")
    database = ada.store / "smtune.db"
    bad = bytearray(database.read_bytes())
    for page in range(5, len(bad) // PAGE, 7):
        bad[page * PAGE:(page + 1) * PAGE] = b"\xa5" * PAGE
    for ending in ("-wal", "-shm"):
        database.with_name(database.name + ending).unlink(missing_ok=True)
    database.write_bytes(bad)
    result = bob("fsck", "--repair")
    assert "rows saved" in result.stderr, result.stderr
    assert mode(database) == 0o660
    assert database.stat().st_gid == grp.getgrnam(GROUP).gr_gid
    assert ada("ls").returncode == 0
