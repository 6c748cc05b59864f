# SPDX-License-Identifier: GPL-3.0-or-later
"""What a workflow's steps make, and what later ones, copies and rounds get of
it, with real processes."""

import collections
import json
import os
import signal
import sqlite3

import pytest

from programs import wait_until

pytestmark = pytest.mark.sanitized


def rows(smtune, query):
    with sqlite3.connect(f"file:{smtune.store}/smtune.db?mode=ro",
                         uri=True) as database:
        database.row_factory = sqlite3.Row
        return database.execute(query).fetchall()


def step_states(smtune):
    return {row["name"]: row["state"]
            for row in rows(smtune, "SELECT name, state FROM run_step")}


def lines(smtune, name):
    return (smtune.directory / name).read_text().splitlines()


MAKE = """\
  make:
    shell: |
      mkdir -p out/folder
      echo rows >out/data.csv
      echo '{"n": 3, "deep": {"word": "it'"'"'s  $(x)"}}' >out/made.json
      printf '# of it\\nlr = 0.5\\nflag=true\\nid="007"\\n' >out/made.txt
      echo "count=7" >>"$SMTUNE_OUTPUTS"
      echo loss=1.5
      echo loss=0.25
    metrics: [loss]
    outputs:
      data: out/data.csv
      folder: out/folder
      n: {value: out/made.json}
      word: {value: out/made.json, key: deep.word}
      lr: {value: out/made.txt}
      flag: {value: out/made.txt}
      id: {value: out/made.txt}
      count:
"""


def test_outputs_reach_templates(smtune, workflow):
    smtune.ok("run", workflow(MAKE + """\
  use:
    needs: make
    env: {WORD: "${{ make.word }}"}
    shell: |
      printf '%s\\n' ${{ make.data }} ${{ make.folder }} ${{ make.n }} \\
        ${{ make.word }} ${{ make.lr }} ${{ make.flag }} ${{ make.id }} \\
        ${{ make.count }} ${{ make.loss }} ${{ make.state }} \\
        ${{ make.copies }} ${{ make.failed }} "$WORD" >got
  words:
    needs: make
    command: [sh, -c, 'printf "%s\\n" "$@" >words', sh, "${{ make.word }}",
              "${{ make.count + 1 }}", "${{ step }}"]
"""))
    out = smtune.directory / "out"
    assert lines(smtune, "got") == [
        str(out / "data.csv"), str(out / "folder"), "3", "it's  $(x)", "0.5",
        "true", "007", "7", "0.25", "succeeded", "1", "0", "it's  $(x)"]
    assert lines(smtune, "words") == ["it's  $(x)", "8", "words"]
    made = json.loads(rows(smtune, "SELECT outputs FROM job WHERE step = 0")[0]
                      ["outputs"])
    assert made["count"] == 7 and made["flag"] is True and made["id"] == "007"
    assert made["loss"] == 0.25 and made["data"] == str(out / "data.csv")


def test_conditions_read_outputs(smtune, workflow):
    smtune.ok("run", workflow(MAKE + """\
  low:
    needs: make
    if: make.loss < 0.3 and make.word like 'it%'
    shell: touch low
  high:
    needs: make
    if: ${{ make.loss >= 0.3 or make.count > 7 }}
    shell: touch high
  after:
    needs: [low, high]
    when: always
    shell: printf '%s\\n' ${{ low.state }} ${{ high.state }} >after
"""))
    assert (smtune.directory / "low").exists()
    assert not (smtune.directory / "high").exists()
    assert step_states(smtune)["high"] == "skipped"
    assert lines(smtune, "after") == ["succeeded", "skipped"]


def test_json_objects_may_be_reported(smtune, workflow):
    smtune.ok("run", workflow("""\
  make:
    shell: echo '{"a":' '{"b":' '[1, "x"]}}' >"$SMTUNE_OUTPUTS"
    outputs: {list: {value: "${{ dir }}/../../attempts/1-1/output", key: a.b},
              a: null}
  use:
    needs: make
    shell: printf '%s\\n' ${{ make.list }} ${{ make.a }} >got
"""))
    assert lines(smtune, "got") == ['[1,"x"]', '{"b":[1,"x"]}']


@pytest.mark.parametrize("outputs,script,why", [
    ("{rows: out/rows.json}", "true",
     "output 'rows': no such file: 'out/rows.json'"),
    ("{rows: {value: out/rows.json}}", "true",
     "output 'rows': no such file: 'out/rows.json'"),
    ("{rows: {value: rows.json, key: a.b}}", "echo '{\"a\": 1}' >rows.json",
     "output 'rows': missing key 'a.b' in 'rows.json'"),
    ("{rows: {value: rows.json}}", "echo nonsense >rows.json",
     "output 'rows': 'rows.json' is not JSON"),
    ("{rows: {value: pipe}}", "mkfifo pipe", "pipe' is not a file"),
    ("{rows: null}", "true",
     "output 'rows': nothing was written to $SMTUNE_OUTPUTS"),
    ("{rows: null}", "echo other=1 >>\"$SMTUNE_OUTPUTS\"",
     "output 'rows': missing key 'rows' in '$SMTUNE_OUTPUTS'"),
])
def test_a_missing_output_fails_the_step(smtune, workflow, outputs, script,
                                         why):
    result = smtune("run", workflow(f"""\
  make:
    shell: |
      {script}
    outputs: {outputs}
  use:
    needs: make
    shell: touch used
"""))
    assert result.returncode == 1
    attempt = rows(smtune, "SELECT cause, text FROM attempt")[0]
    assert attempt["cause"] == "no_output"
    assert why in attempt["text"]
    assert step_states(smtune) == {"make": "failed", "use": "skipped"}
    assert not (smtune.directory / "used").exists()


def test_a_missing_output_may_be_retried(smtune, workflow):
    smtune.ok("run", workflow("""\
  make:
    shell: |
      if [ $SMTUNE_ATTEMPT_NUMBER = 3 ]; then echo n=5 >>"$SMTUNE_OUTPUTS"; fi
    outputs: {n: null}
    retry: [{match: [no_output], max: 2, delay: 0s}]
  use:
    needs: make
    shell: echo ${{ make.n }} >got
"""))
    assert lines(smtune, "got") == ["5"]
    assert [row["cause"] for row in
            rows(smtune, "SELECT cause FROM attempt WHERE job_id = 1 "
                 "ORDER BY number")] == ["no_output", "no_output", "ok"]


def test_a_matrix_is_a_product(smtune, workflow):
    smtune.ok("run", workflow("""\
  make:
    matrix: {word: [a, "b c"], part: {range: [0, 2]}}
    shell: |
      echo ${{ copy }} ${{ copies }} ${{ word }} ${{ part }} >copy-$SMTUNE_JOB
      echo n=${{ part * 10 }} >>"$SMTUNE_OUTPUTS"
    outputs: {n: null}
  use:
    needs: make
    shell: |
      printf '%s\\n' ${{ make.n }} ${{ make.min_n }} ${{ make.max_n }} \\
        ${{ make.mean_n }} ${{ make.sum_n }} ${{ make.copies }} \\
        ${{ make.succeeded }} >got
"""))
    copies = [(smtune.directory / f"copy-{job}").read_text().split(maxsplit=2)
              for job in range(1, 7)]
    assert [(words[0], words[1], words[2].strip()) for words in copies] == [
        ("0", "6", "a 0"), ("1", "6", "a 1"), ("2", "6", "a 2"),
        ("3", "6", "b c 0"), ("4", "6", "b c 1"), ("5", "6", "b c 2")]
    assert lines(smtune, "got") == [
        "[0,10,20,0,10,20]", "0", "20", "10.0", "60", "6", "6"]


def test_a_matrix_comes_from_an_output(smtune, workflow):
    smtune.ok("run", workflow("""\
  find:
    shell: echo '{"parts":' '["b", "a c", 3]}' >"$SMTUNE_OUTPUTS"
    outputs: {parts: null}
  each:
    needs: find
    matrix: {part: "${{ find.parts }}"}
    shell: |
      echo ${{ part }} >each-${{ copy }}
      if [ ${{ copy }} = 1 ]; then exit 0; fi
      echo made=${{ part }} >>"$SMTUNE_OUTPUTS"
    outputs: {made: null}
    success_if: 2
  again:
    needs: each
    matrix: {made: "${{ each.made }}"}
    shell: echo ${{ made }} >again-${{ copy }}
"""))
    assert [lines(smtune, f"each-{i}") for i in range(3)] == [
        ["b"], ["a c"], ["3"]]
    # the copy without a value makes no copy
    assert [lines(smtune, f"again-{i}") for i in range(2)] == [["b"], ["3"]]
    assert not (smtune.directory / "again-2").exists()


def test_a_matrix_of_something_else_fails_its_step(smtune, workflow):
    result = smtune("run", workflow("""\
  find:
    shell: echo parts=many >"$SMTUNE_OUTPUTS"
    outputs: {parts: null}
  each:
    needs: find
    matrix: {part: "${{ find.parts }}"}
    shell: touch each
"""))
    assert result.returncode == 1
    row = rows(smtune, "SELECT state, reason FROM run_step WHERE idx = 1")[0]
    assert row["state"] == "failed"
    assert "part" in row["reason"] and "JSON" in row["reason"]


def test_an_empty_matrix_is_done_at_once(smtune, workflow):
    smtune.ok("run", workflow("""\
  each:
    matrix: {file: {glob: "nowhere/*.csv"}}
    allow_empty: true
    shell: exit 1
  use:
    needs: each
    shell: echo ${{ each.copies }} ${{ each.state }} >got
"""))
    assert lines(smtune, "got") == ["0 succeeded"]


def test_a_matrix_of_files_is_in_the_order_of_bytes(smtune, workflow):
    names = ["b.csv", "B.csv", "a b.csv", "a-1.csv", "\u00e4.csv", "x.txt"]
    (smtune.directory / "data").mkdir()
    for name in names:
        (smtune.directory / "data" / name).write_text(name)
    smtune.ok("run", workflow("""\
  each:
    matrix: {file: {glob: "data/*.csv"}}
    shell: cat ${{ file }} >file-${{ copy }}; rm ${{ file }}
"""))
    found = [(smtune.directory / f"file-{i}").read_text() for i in range(5)]
    assert found == [
        "B.csv", "a b.csv", "a-1.csv", "b.csv", "\u00e4.csv"]
    assert not (smtune.directory / "file-5").exists()


def test_a_matrix_of_the_lines_of_a_file(smtune, workflow, write):
    write("in.txt", "b.txt\r\n\n  \n${{ x }}\n1.10\nd/\u00e4 '\"$(x)\".csv")
    smtune.ok("run", workflow("""\
  each:
    matrix: {line: {lines: in.txt}}
    command: [sh, -c, 'printf "%s|%s\\n" "$1" "$2" >"line-$0"', "${{ copy }}",
              "${{ line }}", "${{ strip_extension(basename(line)) }}"]
"""))
    assert [(smtune.directory / f"line-{i}").read_text() for i in range(4)] == [
        "b.txt|b\n", "${{ x }}|${{ x }}\n", "1.10|1\n",
        "d/\u00e4 '\"$(x)\".csv|\u00e4 '\"$(x)\"\n"]
    assert not (smtune.directory / "line-4").exists()
    assert smtune.json("show", "flow", "each[1]")["matrix"] == {
        "line": "${{ x }}"}
    (smtune.directory / "in.txt").unlink()
    smtune.ok("replay", "flow")
    smtune.ok("fsck")


def test_a_matrix_of_objects(smtune, workflow, write):
    write("rows.jsonl", """\
        {"name": "a b", "n": 2}
        {"n": 3, "name": "c"}
        """)
    smtune.ok("run", workflow("""\
  each:
    matrix: {row: {lines: rows.jsonl}}
    if: field(row, 'n') > 2
    shell: echo ${{ field(row, 'name') }} ${{ field(row, 'n') * 2 }} >got
"""))
    assert lines(smtune, "got") == ["c 6"]


@pytest.mark.parametrize("name, text, message", [
    ("in.txt", "\n\n", "in.txt' has no lines (allow_empty: true accepts that)"),
    ("in.txt", None, "No such file or directory"),
    ("in.jsonl", "1\n[2]", "in.jsonl': line 2: type mismatch: expected a text, "
     "a number, a boolean or an object"),
])
def test_a_matrix_without_lines_fails_its_step(smtune, workflow, write, name,
                                               text, message):
    if text is not None:
        write(name, text)
    result = smtune("run", workflow(f"""\
  each:
    matrix: {{line: {{lines: {name}}}}}
    command: echo
"""))
    assert result.returncode == 1
    assert message in " ".join((result.stdout + result.stderr).split())


def test_a_matrix_of_many_lines_is_shown(smtune, workflow, write):
    """More JSON than a message may have."""
    write("in.txt", "".join(f"{i} {'x' * 2000}\n" for i in range(600)))
    smtune.ok("run", workflow("""\
  each:
    matrix: {line: {lines: in.txt}}
    if: copy = 599
    command: echo
"""), timeout=120)
    shown = smtune.json("show", "flow", "each[599]")
    assert shown["matrix"]["line"] == f"599 {'x' * 2000}"


FILES = ["a", "a b", "sub/1", "sub/2", "sub/deep/3", "z'\"$(x)", "\u00e4", "B"]


@pytest.fixture
def data(smtune):
    for name in FILES:
        path = smtune.directory / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return smtune.directory / "data"


def shares(smtune, count):
    """What each copy saw: its files, by their content."""
    return [sorted(text.split("\0")[:-1]) for text in
            ((smtune.directory / f"saw-{i}").read_text()
             for i in range(count))]


SEE = """\
    shell: |
      (cd "$SM_CHANNEL_TRAIN" && find -L . -type f -printf '%P\\0') \\
        >saw-${{ copy }}
"""


@pytest.mark.parametrize("copies", ["copies: 3", "matrix: {i: [x, y, z]}"])
def test_copies_share_a_channels_files(smtune, workflow, data, copies):
    smtune.ok("run", workflow(f"""\
  train:
    {copies}
    channels:
      train: {{path: data, distribution: sharded}}
      all: {{path: data, distribution: replicated}}
{SEE}      test "$SM_CHANNEL_ALL" = "{data}"
"""))
    keys = sorted(FILES, key=str.encode)
    assert shares(smtune, 3) == [sorted(keys[i::3]) for i in range(3)]
    config = json.loads(
        (smtune.store / "runs/flow/trials/1/ml/input/config/"
         "inputdataconfig.json").read_text())
    assert config["train"]["S3DistributionType"] == "ShardedByS3Key"
    assert config["all"]["S3DistributionType"] == "FullyReplicated"


def test_files_that_come_and_go_change_no_share(smtune, workflow, data):
    """Copy 0 adds and removes files before the others start, and is tried
    again."""
    smtune.ok("run", workflow(f"""\
  train:
    copies: 3
    parallel: 1
    channels: {{train: {{path: data, distribution: sharded}}}}
    retry: [{{match: [exit], max: 1, delay: 0s}}]
{SEE}      touch data/AAA-$SMTUNE_ATTEMPT_NUMBER
      rm -f "$SM_CHANNEL_TRAIN"/*
      [ ${{{{ copy }}}} != 0 ] || [ $SMTUNE_ATTEMPT_NUMBER = 2 ]
"""))
    keys = sorted(FILES, key=str.encode)
    assert shares(smtune, 3) == [sorted(keys[i::3]) for i in range(3)]
    seen = collections.Counter(name for share in shares(smtune, 3)
                               for name in share)
    assert set(seen.values()) == {1} and len(seen) == len(FILES)


@pytest.fixture
def slow_sharing(smtune, workflow, data):
    """A run whose second copy waits for its share: the list of files is a pipe
    by then, and says nothing for long. The run, the pipe, and what it is to
    say."""
    run = smtune.start("run", workflow(f"""\
  train:
    copies: 2
    parallel: 1
    channels: {{train: {{path: data, distribution: sharded}}}}
{SEE}      until test -e go; do sleep 0.1; done
"""))
    saw = smtune.directory / "saw-0"
    wait_until(lambda: saw.exists() and saw.read_bytes(), what="a copy")
    path = smtune.store / "runs/flow/shards/train/train"
    files = path.read_bytes()
    path.unlink()
    os.mkfifo(path)
    (smtune.directory / "go").touch()
    return run, wait_until(lambda: open_to_write(path), what="the copy"), files


def check_halves(smtune):
    keys = sorted(FILES, key=str.encode)
    assert shares(smtune, 2) == [sorted(keys[i::2]) for i in range(2)]


def test_sharing_out_takes_its_time_and_the_engine_goes_on(smtune,
                                                           slow_sharing):
    run, pipe, files = slow_sharing
    smtune.ok("pause", "flow")
    smtune.ok("resume", "flow")
    os.write(pipe, files)
    os.close(pipe)
    assert run.wait(60) == 0
    check_halves(smtune)


def test_a_run_is_stopped_while_it_shares_out(smtune, slow_sharing):
    run, pipe, files = slow_sharing
    smtune.ok("stop", "flow", "--no-wait")
    (smtune.store / "runs/flow/shards/train/train").unlink()
    (smtune.store / "runs/flow/shards/train/train").write_bytes(files)
    os.close(pipe)
    assert run.wait(60) != 0
    smtune.ok("resume", "flow")
    check_halves(smtune)


def open_to_write(path):
    """A pipe that somebody reads; else None."""
    try:
        return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None


def test_a_step_that_begins_again_shares_out_anew(smtune, workflow):
    """A copy that alone is put back finds what it found before."""
    (smtune.directory / "data").mkdir()
    smtune.ok("run", workflow(f"""\
  make:
    shell: touch data/$SMTUNE_ATTEMPT_NUMBER
  train:
    needs: make
    copies: 2
    channels: {{train: {{path: data, distribution: sharded}}}}
{SEE}"""))
    assert shares(smtune, 2) == [["1"], []]
    (smtune.directory / "data" / "0").touch()
    smtune.ok("retry", "flow", "train[0]", "--force")
    assert shares(smtune, 2) == [["1"], []]
    smtune.ok("retry", "flow", "make", "--force")
    assert shares(smtune, 2) == [["0", "2"], ["1"]]


def test_a_channels_path_is_a_template(smtune, workflow, data):
    """Of a parameter, another step's output and, unless it is shared out, of
    the matrix."""
    smtune.ok("run", workflow(f"""\
  make:
    shell: |
      mkdir -p made/x made/y
      touch made/x/1 made/y/2
    outputs: {{made: made}}
  see:
    needs: make
    matrix: {{part: [x, y]}}
    channels: {{part: "${{{{ make.made }}}}/${{{{ part }}}}", up: ./made/..}}
    shell: |
      ls "$SM_CHANNEL_PART" >saw-${{{{ part }}}}
      test -d "$SM_CHANNEL_UP/data"
  train:
    needs: make
    copies: 3
    channels: {{train: {{path: "${{{{ 'da' || 'ta' }}}}", distribution: sharded}}}}
{SEE}"""))
    assert (smtune.directory / "saw-x").read_text() == "1\n"
    assert (smtune.directory / "saw-y").read_text() == "2\n"
    keys = sorted(FILES, key=str.encode)
    assert shares(smtune, 3) == [sorted(keys[i::3]) for i in range(3)]


def test_a_channel_without_a_path_fails_the_job(smtune, workflow):
    result = smtune("run", workflow("""\
  train:
    channels: {train: "${{ null }}"}
    command: "true"
"""))
    assert result.returncode == 1
    attempt = rows(smtune, "SELECT cause, text FROM attempt")[0]
    assert attempt["cause"] == "launch_error"
    assert attempt["text"] == "channel 'train': the path is empty"


def test_a_channel_that_is_not_there_fails_the_job(smtune, workflow):
    result = smtune("run", workflow(f"""\
  train:
    channels: {{train: {{path: nowhere, distribution: sharded}}}}
{SEE}
"""))
    assert result.returncode == 1
    attempt = rows(smtune, "SELECT cause, text FROM attempt")[0]
    assert attempt["cause"] == "launch_error"
    assert attempt["text"].startswith("channel 'train': cannot read '")
    assert "/nowhere': No such file or directory" in attempt["text"]


def test_copies_are_hosts(smtune, workflow):
    smtune.ok("run", workflow("""\
  train:
    copies: 3
    shell: |
      printf '%s\\n' "$SM_HOSTS" "$SM_CURRENT_HOST" >host-${{ copy }}
      cat "$SM_INPUT_CONFIG_DIR/resourceconfig.json" >>host-${{ copy }}
  one:
    needs: train
    matrix: {i: [1, 2]}
    shell: printf '%s\\n' "$SM_HOSTS" "$SM_CURRENT_HOST" >one-${{ copy }}
"""))
    hosts = ["algo-1", "algo-2", "algo-3"]
    for i in range(3):
        got = lines(smtune, f"host-{i}")
        assert json.loads(got[0]) == hosts and got[1] == hosts[i]
        assert json.loads(got[2]) == {"current_host": hosts[i], "hosts": hosts,
                                      "network_interface_name": "lo"}
    for i in range(2):
        got = lines(smtune, f"one-{i}")
        assert json.loads(got[0]) == ["algo-1"] and got[1] == "algo-1"


GROW = """\
  train:
    metrics: [loss]
    checkpoints: true
    repeat:
      max: 5
      until: train.loss < 0.3
      values:
        batch: {first: 32, next: "case when train.loss > 0.6 then batch
                                  else batch * 4 end"}
        lr: {first: 0.1, scales_with: batch}
        root: {first: 1, scales_with: batch, by: sqrt}
    shell: |
      echo ${{ round }} ${{ batch }} ${{ lr }} ${{ root }} >>rounds
      echo x >>"$SMTUNE_CHECKPOINT_DIR/rounds"
      cp "$SMTUNE_CHECKPOINT_DIR/rounds" checkpoint
      case ${{ round }} in
        1) echo loss=0.9;; 2) echo loss=0.5;; 3) echo loss=0.4;;
        *) echo loss=0.2;;
      esac
  use:
    needs: train
    shell: echo ${{ train.loss }} >got
"""


def test_rounds_go_on_until_it_is_enough(smtune, workflow):
    smtune.ok("run", workflow(GROW))
    assert lines(smtune, "rounds") == [
        "1 32 0.1 1", "2 32 0.1 1", "3 128 0.4 2", "4 512 1.6 4"]
    assert lines(smtune, "checkpoint") == ["x"] * 4
    assert lines(smtune, "got") == ["0.2"]
    jobs = rows(smtune, "SELECT state, round, rounds FROM job WHERE step = 0 "
                "ORDER BY number")
    assert [(job["state"], job["round"]) for job in jobs] == [
        ("succeeded", i) for i in range(1, 5)]
    assert json.loads(jobs[2]["rounds"]) == {"batch": 128, "lr": 0.4,
                                             "root": 2}


def test_rounds_end_at_the_most(smtune, workflow):
    smtune.ok("run", workflow(GROW.replace("max: 5", "max: 2")))
    assert lines(smtune, "rounds") == ["1 32 0.1 1", "2 32 0.1 1"]
    assert lines(smtune, "got") == ["0.5"]


def test_a_round_that_fails_is_the_last(smtune, workflow):
    result = smtune("run", workflow(GROW.replace("2) echo loss=0.5",
                                                 "2) exit 3")))
    assert result.returncode == 1
    assert len(lines(smtune, "rounds")) == 2
    assert step_states(smtune) == {"train": "failed", "use": "skipped"}


def test_rounds_go_on_after_a_crash(smtune, workflow):
    """The engine is killed in round 3; the next one knows what the step before
    gave, and the values of that round."""
    directory = smtune.directory
    path = workflow(MAKE + GROW.replace(
        "    metrics: [loss]\n    checkpoints",
        "    needs: make\n    metrics: [loss]\n    checkpoints").replace(
        "      case", """\
      if [ ${{ round }} = 3 ]; then
        touch there; while [ ! -e go ]; do sleep 0.1; done
      fi
      echo ${{ make.count }} ${{ make.word }} >word
      case"""))
    engine = smtune.start("run", path)
    wait_until((directory / "there").exists)
    engine.send_signal(signal.SIGKILL)
    engine.wait()
    (directory / "go").touch()
    smtune.ok("resume", "flow")
    assert lines(smtune, "rounds") == [
        "1 32 0.1 1", "2 32 0.1 1", "3 128 0.4 2", "4 512 1.6 4"]
    assert lines(smtune, "word") == ["7 it's  $(x)"]
    assert lines(smtune, "checkpoint") == ["x"] * 4
    assert "verified" in smtune.ok("replay", "flow")


def test_rounds_of_copies_are_their_own(smtune, workflow):
    smtune.ok("run", workflow("""\
  train:
    matrix: {goal: [1, 3]}
    repeat: {max: 9, until: train.n >= goal}
    shell: |
      echo x >>rounds-${{ copy }}
      echo n=${{ round }} >>"$SMTUNE_OUTPUTS"
    outputs: {n: null}
  use:
    needs: train
    shell: echo ${{ train.n }} >got
"""))
    assert len(lines(smtune, "rounds-0")) == 1
    assert len(lines(smtune, "rounds-1")) == 3
    assert lines(smtune, "got") == ["[1,3]"]


def test_a_step_that_is_to_fail_says_so_in_the_end(smtune, workflow):
    path = workflow("""\
  train: {shell: "echo loss=0.25", metrics: [loss]}
  stop: {needs: train, fail: "a loss of ${{ train.loss }}"}""")
    result = smtune("run", path)
    assert result.returncode == 1
    assert "\nstop failed: a loss of 0.25\n" in result.stderr
