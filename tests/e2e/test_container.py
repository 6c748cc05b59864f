# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands in containers, by stand-ins for the runtimes
(container_runtimes.py). test_apptainer.py has the real Apptainer."""

import os
import shutil

import pytest

import container_runtimes as runtimes
from container_runtimes import attempt, log, signals
from waiting import wait_until


@pytest.fixture
def apptainer(smtune, tmp_path):
    runtimes.write_program(tmp_path, "apptainer")
    smtune.env["PATH"] = f"{tmp_path}/bin:{smtune.env['PATH']}"
    (tmp_path / "box.sif").touch()
    return tmp_path


@pytest.fixture
def docker(smtune, tmp_path):
    runtimes.write_program(tmp_path, "docker")
    runtimes.write_program(tmp_path, "podman")
    smtune.env["PATH"] = f"{tmp_path}/bin:{smtune.env['PATH']}"
    daemon = runtimes.start_daemon(tmp_path)
    yield tmp_path
    daemon.kill()
    daemon.wait()


def warned_and_ended(smtune, workflow, container):
    """The signals that a step gets before its end and at it."""
    smtune("run", workflow(f"""
        a:
          container: {container}
          resources: {{time: 3s, grace: 20s}}
          continue: {{signal: USR2@1s, max: 1}}
          checkpoints: true
          shell: |
            trap 'echo warned' USR2
            trap 'echo term; end=1' TERM
            while [ -z "$end" ]; do sleep 0.1; done
            for i in 1 2 3 4 5; do sleep 0.1; done
        """))
    return signals(smtune, "a")


def mounts(words):
    return [text.replace("type=bind,source=", "").split(",destination=")
            for text in runtimes.values_of(words, "--mount")]


def bare_path(smtune, tmp_path, *names):
    """A PATH that has no runtime of this machine."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in ("sh", "bash", "cat", "sleep", "python3", "env", "touch",
                 *names):
        (folder / name).symlink_to(shutil.which(name))
    smtune.env["PATH"] = f"{tmp_path}/bin:{folder}"


def test_container__mounts_the_folders_of_the_run(smtune, experiment, apptainer):
    smtune.ok("run", experiment(trials=1, trial=f"""
        shell: |
          pwd; test -w $SMTUNE_DIR -a -d ${{{{ file_dir }}}} && echo loss=1
        workdir: /usr
        env: {{MINE: "a b"}}
        channels: {{train: /var/lib}}
        container:
          image: box.sif
          mounts: [/etc, "bin:/the, bin:ro"]
          options: [--no-home]"""))
    words, = runtimes.calls(apptainer)
    assert words[0] == "exec"
    assert runtimes.values_of(words, "--pwd") == ["/usr"]
    assert mounts(words)[:-1] == [[path] * 2 for path in (
        f"{apptainer}/.smtune/runs/exp", str(apptainer), "/usr", "/var/lib",
        "/etc")]
    assert runtimes.values_of(words, "--mount")[-1] == \
        f'type=bind,source={apptainer}/bin,"destination=/the, bin",ro'
    assert words[words.index("--no-home") + 1] == f"{apptainer}/box.sif"
    assert "--nv" not in words
    assert log(smtune, "exp")[0] == "/usr"
    smtune.ok("replay", "exp")
    smtune.ok("fsck", "exp")


def test_container__gets_the_variables(smtune, workflow, apptainer):
    smtune.ok("run", workflow("""
        a:
          container: box.sif
          env: {MINE: "a b"}
          shell: "env | grep -c -E '^(APPTAINERENV_MINE=a b|MINE=a b|\
SMTUNE_RUN=flow|APPTAINERENV_SMTUNE_RUN=flow)$'"
        """))
    assert log(smtune, "flow", "a") == ["4"]


def test_container__status_and_signals_are_the_commands(smtune, workflow,
                                                        apptainer):
    smtune("run", workflow("""
        code: {container: box.sif, shell: exit 7}
        signal: {container: box.sif, shell: kill -SEGV $$}
        """))
    assert attempt(smtune, "flow", "code")["exit_code"] == 7
    assert attempt(smtune, "flow", "signal")["cause"] == "signal"


def test_container__each_signal_comes_once(smtune, workflow, apptainer):
    """Apptainer passes on what the command gets as well."""
    assert warned_and_ended(smtune, workflow, "box.sif") == ["warned", "term"]


def test_container__nothing_is_left_of_one_that_ignores_the_end(
        smtune, workflow, apptainer):
    """The fixture looks for processes that stay."""
    smtune("run", workflow("""
        a:
          container: box.sif
          resources: {time: 1s, grace: 100ms}
          shell: "trap '' TERM; sleep 99 & setsid sleep 98 & sleep 97"
        """))
    assert attempt(smtune, "flow", "a")["cause"] == "timeout"


def test_container__an_image_of_a_registry_is_pulled_once(
        smtune, experiment, apptainer):
    smtune.ok("run", experiment("echo loss=1", trials=4, parallel=4,
                                container="python:3.12"))
    calls = runtimes.calls(apptainer)
    pulls = [words for words in calls if words[0] == "pull"]
    assert [words[2] for words in pulls] == ["docker://python:3.12"]
    kept, = (apptainer / ".smtune/runs/exp/images").glob("*.sif")
    assert {words[words.index("/bin/sh") - 1] for words in calls
            if words[0] == "exec"} == {str(kept)}


def test_container__of_an_image_that_is_not_there(smtune, experiment,
                                                  apptainer):
    smtune("run", experiment("echo loss=1", trials=1, failures=1,
                             container="docker://no-such"))
    ended = attempt(smtune, "exp")
    assert ended["cause"] == "setup_failed"
    assert ended["text"] == "container: cannot pull image " \
        "'docker://no-such' (FATAL:   no image docker://no-such)"
    smtune.ok("fsck", "exp")


def test_container__a_file_that_is_missing_is_found_before_the_first_trial(
        smtune, experiment, apptainer):
    path = experiment("echo loss=1", trials=2,
                      container="nope.sif")
    said = f"container: no such file: '{apptainer}/nope.sif'"
    assert said in smtune("validate", path).stderr
    result = smtune("run", path)
    assert result.returncode != 0 and said in result.stderr
    assert runtimes.calls(apptainer) == []


def test_container__a_step_may_make_the_image_of_another(smtune, workflow,
                                                         apptainer):
    smtune.ok("run", workflow("""
        make: {command: touch made.sif}
        use: {needs: [make], container: made.sif, command: "true"}
        """))


def test_container__of_a_runtime_that_is_missing(smtune, experiment, workflow,
                                                 tmp_path):
    bare_path(smtune, tmp_path)
    said = "container: PATH has none of apptainer, singularity, podman and " \
        "docker"
    path = experiment("echo loss=1", trials=2,
                      container="python:3.12")
    assert said in smtune("validate", path).stderr
    assert said in smtune("run", path).stderr
    result = smtune("run", workflow("a: {container: python, command: x}"))
    assert "step 'a': " + said in result.stderr
    assert "none: " + said.removeprefix("container: ") in smtune.ok("doctor")


def test_container__setup_may_load_the_runtime(smtune, workflow, tmp_path):
    bare_path(smtune, tmp_path)
    runtimes.write_program(tmp_path, "apptainer")
    (tmp_path / "bin").rename(tmp_path / "module")
    (tmp_path / "box.sif").touch()
    smtune.ok("run", workflow(f"""
        a:
          setup: ["export PATH={tmp_path}/module:$PATH", cd /usr]
          container: box.sif
          shell: pwd
        """))
    assert log(smtune, "flow", "a") == ["/usr"]
    assert ["/usr", "/usr"] in mounts(runtimes.calls(tmp_path)[0])


def test_container__of_ranks(smtune, workflow, apptainer):
    smtune.ok("run", workflow("""
        a:
          container: box.sif
          resources: {tasks: 2}
          shell: echo rank $RANK of $WORLD_SIZE
        """))
    assert log(smtune, "flow", "a") == ["rank 0 of 2"]
    assert len(runtimes.calls(apptainer)) == 2


def test_container__is_part_of_a_cached_step(smtune, workflow, apptainer):
    (apptainer / "other.sif").touch()
    for image, state in ("box", 0), ("box", 1), ("other", 0):
        smtune.ok("run", workflow(f"""
            a: {{shell: echo a, container: {image}.sif, cache: true}}
            """))
        assert len(runtimes.calls(apptainer)) == (1 if image == "box" else 2)


def test_container__of_the_defaults_is_replaced(smtune, workflow, apptainer):
    """By a step's own image or environment; the same holds the other way."""
    path = workflow("""
        a: {command: "true"}
        b: {command: "true", container: other.sif}
        c: {command: "true", conda: ./env}
        """, defaults="{container: {image: box.sif, options: [--no-home]}}")
    (apptainer / "other.sif").touch()
    plan = smtune.ok("plan", path)
    assert "box.sif" in plan and "other.sif" in plan and "conda" in plan
    steps = {step["name"]: step for step in smtune.json("plan", path)["steps"]}
    assert steps["c"]["container"] is None and steps["c"]["conda"] == "./env"
    path = workflow('a: {command: "true", container: box.sif}',
                    defaults="{conda: ./env}")
    assert "box.sif" in smtune.ok("plan", path)


def test_container__is_shown_before_the_run(smtune, experiment, workflow,
                                            apptainer):
    path = experiment("echo loss=1", trials=1,
                      container="box.sif")
    program = f"{apptainer}/bin/apptainer"
    line = f"box.sif, run by apptainer ({program})"
    assert f"container {line}\n" in smtune.ok("plan", path)
    plan = smtune.json("plan", path)
    assert plan["container"] == {"image": "box.sif", "runtime": "apptainer",
                                 "program": program}
    assert plan["conda"] is None
    path = workflow("a: {container: box.sif, command: x}")
    assert f"in container {line}\n" in smtune.ok("plan", path)
    assert "apptainer version 1.2.3" in smtune.ok("doctor")


def test_container__the_best_trials_command_runs_in_it(smtune, experiment,
                                                       apptainer):
    path = experiment(trials=1, trial="""
        shell: |
          pwd; echo "$MINE $APPTAINERENV_MINE"; ls -d $SMTUNE_DIR
          echo loss=1
        workdir: /usr
        env: {MINE: "it's"}
        container: {image: box.sif, mounts: [/etc], options: [--no-home]}""")
    smtune.ok("run", path)
    command, again = smtune.best_again()
    first, second = runtimes.calls(apptainer)
    assert f"\napptainer exec --pwd /usr --mount type=bind,source={apptainer}" \
        in command
    assert second == first
    assert again == ["/usr", "it's it's", f"{apptainer}/exp-1", "loss=1"]


@pytest.mark.parametrize("keys, printed", [
    ({"command": "echo loss=1", "container": "box.sif"},
     " && apptainer exec "),
    ({"trial": "{shell: bash, command: echo loss=1, container: box.sif}"},
     "box.sif bash -eo pipefail -c 'echo loss=1'"),
    ({"shell": "#!/usr/bin/env python3\nprint('loss=1')",
      "container": "box.sif"},
     "exp-1/command <<'END_OF_SCRIPT'"),
])
def test_container__the_best_trials_command_in_all_forms(
        smtune, experiment, apptainer, keys, printed):
    smtune.ok("run", experiment(trials=1, **keys))
    command, again = smtune.best_again()
    assert printed in command
    assert again == ["loss=1"]
    assert len(runtimes.calls(apptainer)) == 2


def test_container__the_best_trials_command_as_ranks(smtune, experiment,
                                                     apptainer):
    smtune.ok("run", experiment(trials=1, trial="""
        shell: echo rank $RANK of $WORLD_SIZE; echo loss=1
        resources: {tasks: 2}
        container: box.sif"""))
    command, again = smtune.best_again()
    assert "smtune launch --tasks=2 --nodes=1 -- apptainer exec " in command
    assert set(again) >= {"rank 0 of 2", "loss=1"}
    assert len(runtimes.calls(apptainer)) == 4


def test_container__the_best_trials_command_has_the_image_of_the_run(
        smtune, experiment, apptainer):
    smtune.ok("run", experiment("echo loss=1", trials=1,
                                container="python:3.12"))
    command, _ = smtune.best_again()
    kept, = (apptainer / ".smtune/runs/exp/images").glob("*.sif")
    assert f" {kept} /bin/sh -c " in command


def test_docker__the_best_trials_command_runs_in_it(smtune, experiment,
                                                    docker):
    smtune.ok("run", experiment(trials=1, trial="""
        shell: "echo $MINE $NOT_MINE; echo loss=1"
        env: {MINE: "it's"}
        container: {image: "python:3.12", runtime: docker}"""))
    smtune.env["NOT_MINE"] = "x"
    command, again = smtune.best_again()
    first, second = runtimes.calls(docker)
    assert runtimes.values_of(second, "--env")[-1:] == ["MINE"]
    assert {"--rm", "--init"} < set(second) and "--name" not in second
    assert runtimes.values_of(second, "--mount")[0] == \
        runtimes.values_of(first, "--mount")[0]
    assert "docker run " in command
    assert again == ["it's", "loss=1"]


@pytest.mark.parametrize("step, said", [
    ("{command: x, container: a, conda: b}",
     "step 'a' has both 'container' and 'conda': use one"),
    ("{command: x, container: {image: a.sif, runtime: docker}}",
     "'a.sif' is a file or a folder, and docker does not run those"),
    ("{command: x, container: {image: a, runtime: podmn}}", "podman"),
    ("{command: x, container: {runtime: podman}}", "missing key"),
    ("{command: x, container: {image: a, volumes: [/x]}}", "mounts"),
    ("{command: x, singularity: a}", "container"),
    ("{command: x, conda: env.yml}", "'env.yml' is a file"),
    ("{fail: x, container: a}", "not allowed in a step with 'fail'"),
])
def test_container__mistakes_in_a_file(smtune, workflow, step, said):
    result = smtune("validate", workflow(f"a: {step}"))
    assert result.returncode == 3
    assert said in result.stderr


# ---- Docker and Podman ----

def test_docker__runs_the_command_as_if_there_were_no_container(
        smtune, experiment, docker):
    smtune.ok("run", experiment(trials=1, trial="""
        shell: "echo $MINE $HOME $SMTUNE_RUN $LC_ALL; echo loss=1"
        env: {MINE: of the file}
        resources: {memory: 512M}
        container:
          {image: "docker://python:3.12", runtime: docker,
           options: [--pull=never]}"""))
    words, = runtimes.calls(docker)
    assert words[0] == "run" and {"--rm", "--init"} < set(words)
    assert runtimes.values_of(words, "--network") == ["host"]
    assert runtimes.values_of(words, "--ipc") == ["host"]
    assert runtimes.values_of(words, "--entrypoint") == [""]
    assert runtimes.values_of(words, "--memory") == [str(512 << 20)]
    assert runtimes.values_of(words, "--workdir") == [str(docker)]
    assert words[words.index("--pull=never") + 1] == "python:3.12"
    name, = runtimes.values_of(words, "--name")
    assert name.startswith("smtune-exp-attempts-1-1-")
    home = [] if os.geteuid() == 0 else ["/tmp"]
    assert log(smtune, "exp")[0].split() == ["of", "the", "file", *home, "exp"]
    assert not list((docker / ".smtune/runs/exp/attempts/1-1").glob(
        "containers/*"))


def test_docker__status_and_signals_are_the_commands(smtune, workflow, docker):
    smtune("run", workflow("""
        code: {container: {image: x, runtime: docker}, shell: exit 7}
        signal: {container: {image: x, runtime: podman}, shell: kill -9 $$}
        image: {container: {image: no-such, runtime: docker}, command: x}
        """))
    assert attempt(smtune, "flow", "code")["exit_code"] == 7
    ended = attempt(smtune, "flow", "signal")
    assert (ended["cause"], ended["signal"]) == ("signal", 9)
    ended = attempt(smtune, "flow", "image")
    assert ended["cause"] == "setup_failed"
    assert ended["text"] == "container: docker could not start the command " \
        "(docker: no such image no-such)"


def test_docker__each_signal_comes_once(smtune, workflow, docker):
    container = "{image: x, runtime: docker}"
    assert warned_and_ended(smtune, workflow, container) == ["warned", "term"]


def test_docker__a_container_that_ignores_the_end_is_removed(
        smtune, workflow, docker):
    """It is no process of ours: the attempt ends when it is gone."""
    smtune("run", workflow("""
        a:
          container: {image: x, runtime: docker}
          resources: {time: 1s, grace: 100ms}
          shell: "trap '' TERM; echo $$; while :; do sleep 0.1; done"
        """))
    assert attempt(smtune, "flow", "a")["cause"] == "timeout"
    assert runtimes.calls(docker)[-1][:2] == ["rm", "-f"]
    pid = log(smtune, "flow", "a")[0]
    wait_until(lambda: not os.path.exists(f"/proc/{pid}/exe"))


def test_docker__stop_reaches_the_command(smtune, workflow, docker):
    path = workflow("""
        a:
          container: {image: x, runtime: podman}
          shell: "trap 'echo bye; exit' TERM; echo up; while :; do sleep 0.1; done"
        """)
    smtune.ok("run", path, "--detach")
    wait_until(lambda: "up" in smtune("logs", "flow", "a").stdout)
    smtune.ok("stop", "flow")
    wait_until(lambda: "bye" in smtune.ok("logs", "flow", "a"))
