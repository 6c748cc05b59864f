# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration files of a user and of a site."""

import json

import pytest

pytestmark = pytest.mark.sanitized


@pytest.fixture
def site(smtune, tmp_path):
    """site(text) writes the site's file."""
    def put(text):
        (tmp_path / "site.yaml").write_text(text)
        smtune.env["SMTUNE_SITE_CONFIG"] = str(tmp_path / "site.yaml")
    return put


@pytest.fixture
def user(write):
    """user(text) writes the user's file, whose path it returns."""
    return lambda text: write(".config/smtune/config.yaml", text)


def defaults(smtune):
    return {row["check"]: row for row in smtune.json("doctor")}["defaults"]


def overrides(smtune, run="exp"):
    return json.loads(smtune.query(
        f"SELECT overrides FROM run WHERE name = '{run}'")[0][0])


def test_config__none(smtune):
    row = defaults(smtune)
    assert row["state"] == "ok"
    assert row["found"] == f"none ({smtune.directory}/.config/smtune/config.yaml)"


def test_config__executor_completes_a_file(smtune, experiment, site, user):
    site("executor: slurm\n")
    user("executor: fake\n")
    smtune.ok("run", experiment(trials=1))
    assert overrides(smtune) == ['executor="fake"']


def test_config__a_file_decides_itself(smtune, experiment, user):
    user("executor: fake\nnotify: https://example.org/hook\n")
    smtune.ok("run", experiment("echo loss=1", trials=1, executor="local",
                                notify="[]"))
    assert overrides(smtune) == []
    smtune.ok("run", experiment("echo loss=1", trials=1, notify="[]"),
              "--set", "executor=local")
    assert overrides(smtune, "exp-2") == ["executor=local"]


def test_config__a_run_keeps_its_defaults(smtune, experiment, user):
    """It resumes and is proved with those that it began with."""
    user("executor: fake\n")
    smtune.ok("run", experiment(trials=2))
    user("executor: slurm\n")
    smtune.ok("resume", "exp", "--trials", 3)
    assert len(smtune.states()) == 3
    smtune.ok("replay", "exp")
    smtune.ok("fsck", "exp")


def test_config__slurm_gets_account_partition_and_setup(
        smtune, experiment, site, user):
    """Where the file or Slurm's own variable does not decide."""
    site("account: lab\npartition: gpu\nsetup: [module load a]\n")
    user("account: mine\nexecutor: slurm\n")
    file = experiment(trials=1)

    names = iter("abc")

    def shown(file, **env):
        name = next(names)
        smtune("run", file, "--name", name, "--set",
               "executor.poll=1h", env={"PATH": "/nowhere", **env})
        return overrides(smtune, name)[1:]

    assert shown(file) == [
        'executor.name="slurm"', 'executor.account="mine"',
        'executor.partition="gpu"', 'executor.setup=["module load a"]']
    assert shown(file, SBATCH_ACCOUNT="other")[1:] == [
        'executor.partition="gpu"', 'executor.setup=["module load a"]']
    assert shown(experiment(trials=1, executor="""
        {name: slurm, partition: own, setup: []}""")) == [
            'executor.account="mine"']


def test_config__doctor_prints_where_each_comes_from(smtune, site, user):
    site("\naccount: lab\nnotify: https://example.org/hook\n")
    path = user("# mine\nexecutor: local\nstore: ~/central\n")
    smtune.env["SBATCH_PARTITION"] = "gpu"
    site_path = smtune.env["SMTUNE_SITE_CONFIG"]
    assert defaults(smtune)["found"] == "; ".join([
        f"store: ~/central ({path}:3)", f"executor: local ({path}:2)",
        f"account: lab ({site_path}:2)", "partition: gpu (SBATCH_PARTITION)",
        f"notify: https://*** ({site_path}:3)"])


def test_config__store(smtune, experiment, user, tmp_path):
    """Where no folder from here upwards has one."""
    user('store: "$BASE/${WHO}s"\n')
    smtune.env |= {"BASE": str(tmp_path / "central"), "WHO": "me"}
    file = experiment("echo loss=1", trials=1)
    inner = tmp_path / "a"
    inner.mkdir()
    smtune.ok("init", cwd=inner)
    smtune.ok("run", file, cwd=inner)
    assert (tmp_path / "central" / "mes" / "smtune.db").exists()
    smtune.ok("run", file, "--store", inner / ".smtune", "--name", "b")
    assert [run["name"] for run in smtune.json("ls", cwd=inner)] == ["b"]


@pytest.mark.parametrize("text, line, said", [
    ("acount: a\n", 1, "unknown key 'acount'"),
    ("store: here\n", 1, "'store' must be an absolute path, not 'here'"),
    ("\nexecutor: slum\n", 2, "'slum'"),
    ("notify: [{event: failed}]\n", 1, "missing key 'url'"),
    ("[1]\n", 1, ""),
])
def test_config__mistakes_have_line_and_column(smtune, experiment, user, text,
                                               line, said):
    path = user(text)
    result = smtune("ls")
    assert result.returncode == 3
    assert result.stderr.startswith(f"{path}:{line}:")
    assert said in result.stderr
    row = defaults_of_failure(smtune)
    assert row["state"] == "fail" and f"{path}:{line}: " in row["found"]


def defaults_of_failure(smtune):
    result = smtune("doctor", "-o", "json")
    assert result.returncode == 1
    return {row["check"]: row
            for row in json.loads(result.stdout)}["defaults"]


def test_config__a_trial_reports_whatever_the_file_has(
        smtune, experiment, user):
    """A file that is changed during a run stops no trial of it."""
    user("executor: local\n")
    file = experiment("echo 'wrong: 1' >~/.config/smtune/config.yaml;"
                      " smtune report loss=1", trials=1)
    result = smtune("run", file)
    assert result.returncode == 0, result.stderr


def test_config__schema_and_help_need_no_file(smtune, user):
    user("wrong: 1\n")
    assert "partition" in json.loads(smtune.ok("schema", "config"))["properties"]
    smtune.ok("help", "run")
    smtune.ok("version")
    smtune.ok("run", "--help")
