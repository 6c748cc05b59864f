# SPDX-License-Identifier: GPL-3.0-or-later
"""Studies that are runs of the record, and that share one search."""

import pytest

import smtune as package
from sessions import serve
from studies import FILE, square
from waiting import wait_until


@pytest.mark.quick
def test_a_study_is_a_run(here):
    with package.Study(FILE, record="r") as study:
        study.optimize(square, 5)
        study.tell({"x": 0.25}, 0.5)
        best = study.best
        left = study.ask()
    run = package.load("r")
    assert (run.best.id, run.best.value) == (best.id, best.value)
    assert len(run.trials) == 7
    with package.Study(FILE, record="r") as study:
        assert study.best.id == best.id
        assert study.ask().params == left.params
        study.tell(left, 0)
    with package.Study(record="r", trials=8) as study:
        assert study.best.id == 7
        assert study.ask().id == 8
        assert study.ask() is None
    with pytest.raises(package.Error, match="is not the file of run 'r'"):
        package.Study({**FILE, "objective": "other"}, record="r")
    with pytest.raises(package.Error, match="no run 'q'"):
        package.Study(record="q")
    with pytest.raises(TypeError, match="a study needs a file, or the name"):
        package.Study()


def test_studies_share_a_search(here, write):
    file = write("file.yaml", package._program.file_text(FILE))
    server = serve(here, file, "--record", "r", path="s")
    first = package.Study(socket="s")
    with package.Study(socket="s") as second:
        assert [first.ask().id, second.ask().id] == [1, 2]
        second.tell(2, 1.5)
        first.close()
        wait_until(lambda: here.states("r")[0] == "ready")
        second.optimize(square, 3)  # one is that of the first
        assert second.best.id != 2
        server.terminate()
        server.wait()
        with pytest.raises(package.Error, match="server of the search"):
            second.ask()
    assert len(package.load("r").trials) == 4
    with pytest.raises(package.Error, match="cannot connect to 's'"):
        package.Study(socket="s")
    with pytest.raises(TypeError, match="the server has the file"):
        package.Study(FILE, socket="s")
