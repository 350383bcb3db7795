"""Traces of each format: what is read of them, and how a broken one is refused, with its line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.errors import AllotmentError, UsageError, WorldError
from allotment.simulation.traces import dirlab, gavel, openb, own
from allotment.simulation.traces.jobs import Job, JobEnd, JobKind, TraceNode
from allotment.simulation.traces.named import Format, read_trace

NODES = """\
sn,cpu_milli,memory_mib,gpu,model
openb-node-0000,64000,262144,2,P100
openb-node-1213,64000,262144,0,
"""
TASKS = """\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
openb-pod-0000,12000,16384,1,1000,,LS,Running,0,12537496,0
openb-pod-0001,6000,12288,1,460,T4|P100,BE,Failed,427061,427161,427071
openb-pod-0002,4000,1024,0,0,,BE,Pending,500000,,
"""
SHORT_TASKS = """\
name,cpu_milli,memory_mib,num_gpu,gpu_milli
openb-pod-0000,12000,16384,8,1000
"""
DIRLAB = """\
u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status
0,7,1,0,1,0,84,0,Killed
1,7,0,4,1,10,5,0,Pass
2,9,16,0,2,20,3600,0,Failed
3,9,9,0,2,30.5,1,0,Pass
"""
GAVEL = (
    "A3C\tcd x && run\t-n\t1\t1000\t0.0\t1\n\nResNet (batch size 16)\tcd x\t--epochs\t1\t640\t6.500000\t16\n"
)
RATES = {"v100": {"('A3C', 1)": {"null": 10.0}, "('ResNet (batch size 16)', 8)": {"null": 64.0}}}


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_openb_has_nodes_and_tasks_with_parts_of_cards(tmp_path: Path) -> None:
    assert openb.read_nodes(written(tmp_path / "n.csv", NODES)) == (
        TraceNode("openb-node-0000", 64_000, 262_144, 2, "P100"),
        TraceNode("openb-node-1213", 64_000, 262_144, 0, ""),
    )
    whole, part, none = openb.read_tasks(written(tmp_path / "t.csv", TASKS))
    assert (whole.gpus, whole.share, whole.seconds) == (1, 1000, 12_537_496)
    assert (part.share, part.models, part.seconds, part.end) == (460, ("T4", "P100"), 90, JobEnd.FAILED)
    assert (none.gpus, none.share, none.seconds, none.cards) == (0, 0, None, 0)


def test_openb_without_times_and_models_is_read_too(tmp_path: Path) -> None:
    (task,) = openb.read_tasks(written(tmp_path / "t.csv", SHORT_TASKS))
    assert (task.gpus, task.arrival, task.seconds, task.models) == (8, 0, None, ())


def test_philly_and_helios_make_gangs_of_what_is_wider_than_a_node(tmp_path: Path) -> None:
    jobs = dirlab.read_jobs(written(tmp_path / "p.csv", DIRLAB))
    assert [(job.name, job.arrival, job.pods, job.gpus, job.end) for job in jobs] == [
        ("job-0", 0, 1, 1, JobEnd.KILLED),
        ("job-2", 30, 2, 8, JobEnd.FAILED),
        ("job-3", 60.5, 3, 3, JobEnd.PASSED),
    ]


@pytest.mark.parametrize(
    ("cards", "on_a_node", "pods"), [(1, 8, 1), (8, 8, 1), (12, 8, 2), (9, 8, 3), (11, 8, 11), (160, 8, 20)]
)
def test_a_gang_is_as_few_pods_as_can_be_alike(cards: int, on_a_node: int, pods: int) -> None:
    assert dirlab.pods_for(cards, on_a_node) == pods


def test_gavel_tells_steps_which_rates_turn_into_seconds(tmp_path: Path) -> None:
    rates = written(tmp_path / "rates.json", json.dumps(RATES))
    written(tmp_path / "vc" / "2869ce.trace", GAVEL)
    first, second = gavel.read_jobs(tmp_path / "vc", rates)
    assert (first.name, first.team, first.seconds, first.pods) == ("2869ce-1", "2869ce", 100, 1)
    assert (second.arrival, second.pods, second.gpus, second.seconds) == (6.5, 2, 8, 10)


OWN = """\
{"work": "a", "arrival": 3.5, "team": "x", "gpus": 0.25, "seconds": 90, "memory": "16Gi", "cpu": 1.5}

{"kind": "campaign", "pods": 4, "volumes": 10, "pages": 7, "seconds": 60, "end": "failed", "models": ["T4"]}
{"work": "f", "kind": "fleet", "pods": 2, "priority": -5, "preemptible": false, "user": "åsa"}
"""


def test_our_own_format_is_an_object_a_line(tmp_path: Path) -> None:
    a, b, f = own.read_jobs(written(tmp_path / "own.jsonl", OWN))
    assert (a.name, a.arrival, a.team, a.gpus, a.share, a.seconds) == ("a", 3.5, "x", 1, 250, 90)
    assert (a.memory, a.cpu) == (16 * 1024, 1500)
    assert (b.name, b.kind, b.pods, b.volumes, b.pages) == ("work-3", JobKind.CAMPAIGN, 4, 10, 7)
    assert (f.kind, f.priority, f.preemptible, f.seconds, f.user) == (JobKind.FLEET, -5, False, None, "åsa")


JOBS = st.builds(
    Job,
    name=st.text(min_size=1, max_size=5).filter(lambda text: text.isprintable()),
    arrival=st.floats(0, 1e9),
    user=st.text(max_size=5).filter(lambda text: "\ud800" > text or text > "\udfff"),
    team=st.sampled_from(["", "a"]),
    kind=st.sampled_from([JobKind.JOB, JobKind.CAMPAIGN]),
    pods=st.integers(1, 30),
    gpus=st.integers(0, 16),
    models=st.sampled_from([(), ("T4",), ("T4", "A10")]),
    cpu=st.integers(0, 10**6),
    memory=st.integers(0, 10**7),
    volumes=st.integers(1, 9),
    pages=st.integers(0, 9),
    seconds=st.floats(0, 1e9),
    priority=st.integers(-9, 9),
    preemptible=st.booleans(),
    end=st.sampled_from(JobEnd),
) | st.builds(Job, name=st.sampled_from("abc"), share=st.integers(1, 999), seconds=st.just(1.0))


@given(st.lists(JOBS, max_size=5, unique_by=lambda job: job.name))
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, jobs: list[Job]) -> None:
    path = tmp_path_factory.mktemp("own") / "t.jsonl"
    path.write_text("".join(f"{line}\n" for line in own.lines_of(jobs)), encoding="utf-8")
    assert own.read_jobs(path) == tuple(jobs)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "this line is no JSON"),
        ("[1]", "this line is no object"),
        ("[" * 100_000, "this line is no JSON"),
        ('{"seconds": 1, "gpu": 1}', "`gpu` is no key of a work\n  did you mean `gpus`?"),
        ('{"seconds": "1"}', '`seconds` is "1", and not a number'),
        ('{"work": "a"}', "`seconds` is missing"),
        ('{"kind": "fleet", "seconds": 60}', "`seconds` is 60, and not of a fleet, which does not end"),
        ('{"seconds": NaN}', "`seconds` is NaN, and not a number from 0 up"),
        ('{"seconds": true}', "`seconds` is true, and not a number"),
        ('{"seconds": -1}', "`seconds` is -1, and not a number from 0 up"),
        ('{"seconds": 1e300}', "`seconds` is 1e+300, and not a number up to 10,000,000,000"),
        ('{"seconds": 1, "pods": 100001}', "`pods` is 100001, and not a number up to 100,000"),
        (
            '{"seconds": 5, "kind": "campaign", "volumes": 100000000}',
            "`volumes` is 100000000, and not a number up to 100,000",
        ),
        ('{"seconds": 1, "seconds": 2}', "this line is no JSON: `seconds` stands twice in it"),
        ('{"seconds": 1, "gpus": 1.5}', "`gpus` is 1.5, and not a whole number"),
        ('{"seconds": 1, "pods": 0}', "`pods` is 0, and not a number from 1 up"),
        ('{"seconds": 1, "kind": "gang"}', '`kind` is "gang", and not one of job, campaign, fleet'),
        ('{"seconds": 1, "memory": "lots"}', '`memory` is "lots", and not a quantity such as `16Gi`'),
        ('{"seconds": 1, "models": "T4"}', '`models` is "T4", and not a list of texts'),
        ('{"seconds": 1, "preemptible": 1}', "`preemptible` is 1, and not true or false"),
        ('{"seconds": 1, "work": ""}', '`work` is "", and not a name'),
        ('{"seconds": 1, "work": 7}', "`work` is 7, and not a text"),
    ],
)
def test_a_broken_line_of_ours_is_refused_with_its_place(tmp_path: Path, line: str, said: str) -> None:
    path = written(tmp_path / "own.jsonl", f'{{"seconds": 1}}\n{line}\n')
    with pytest.raises(AllotmentError) as refused:
        own.read_jobs(path)
    assert str(refused.value).startswith(f"{path}:2: {said}")


def test_a_name_stands_once(tmp_path: Path) -> None:
    path = written(tmp_path / "own.jsonl", '{"work": "a", "seconds": 1}\n' * 2)
    with pytest.raises(AllotmentError, match=r":2: the work `a` stands there twice"):
        own.read_jobs(path)


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (dirlab.read_jobs, DIRLAB.replace("gpu_num", "gpus"), ":1: the table has no column `gpu_num`"),
        (dirlab.read_jobs, DIRLAB.replace("84", "soon"), ":2: `run_time` is 'soon', no number"),
        (dirlab.read_jobs, DIRLAB.replace("84", "-84"), ":2: `run_time` is '-84', not a finite number"),
        (dirlab.read_jobs, DIRLAB.replace(",16,", ",1.6,"), ":4: `gpu_num` is '1.6', no whole number"),
        (dirlab.read_jobs, DIRLAB.replace("Killed", "Gone"), ":2: `new_status` is 'Gone', not known here"),
        (dirlab.read_jobs, DIRLAB.replace(",5,0", ",5"), ":3: 8 cells stand under 9 columns"),
        (dirlab.read_jobs, DIRLAB.replace("0,7", '"0"0,7', 1), ": the table cannot be read"),
        (dirlab.read_jobs, "", ":1: the table has no column `u_id`"),
        (openb.read_tasks, NODES, ":1: the table has no column `name`"),
        (openb.read_nodes, NODES.replace("262144", "", 1), ":2: `memory_mib` is '', no number"),
    ],
)
def test_a_broken_table_is_refused_with_its_place(
    tmp_path: Path, read: Callable[[Path], object], text: str, said: str
) -> None:
    path = written(tmp_path / "t.csv", text)
    with pytest.raises(AllotmentError) as refused:
        read(path)
    assert str(refused.value).startswith(f"{path}{said}")


def test_what_is_no_text_and_what_is_not_there_is_said(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"u_id,user\xff\n")
    with pytest.raises(AllotmentError, match="no text in UTF-8"):
        dirlab.read_jobs(tmp_path / "t.csv")
    with pytest.raises(WorldError, match=r"cannot be read: No such file[^\n]*\n.*--data"):
        dirlab.read_jobs(tmp_path / "other.csv")


@pytest.mark.parametrize(
    ("rates", "line", "said"),
    [
        ("{", GAVEL, "this is no JSON"),
        ('{"k80": {}}', GAVEL, "no rates on a card `v100`"),
        (json.dumps(RATES), "A3C\t1\n", "a.trace:1: 2 cells stand between tabs instead of 7"),
        (json.dumps(RATES), GAVEL.replace("A3C", "B3D"), "a.trace:1: `model` is 'B3D', of which no rate"),
        (json.dumps(RATES), GAVEL.replace("16\n", "4\n"), "a.trace:3: `model` is 'ResNet"),
    ],
)
def test_a_broken_trace_of_gavel_is_refused(tmp_path: Path, rates: str, line: str, said: str) -> None:
    path = written(tmp_path / "a.trace", line)
    with pytest.raises(AllotmentError) as refused:
        gavel.read_jobs(path, written(tmp_path / "rates.json", rates))
    assert said in str(refused.value)


def test_a_trace_is_asked_for_by_its_name_in_a_folder(tmp_path: Path) -> None:
    written(tmp_path / "Philly/training_data/philly_data_training.csv", DIRLAB)
    written(tmp_path / "helios.csv", DIRLAB)
    written(tmp_path / "openb/openb_node_list_gpu_node.csv", NODES)
    written(tmp_path / "openb/openb_pod_list_default.csv", TASKS)
    written(tmp_path / "openb/openb_pod_list_multigpu50.csv", SHORT_TASKS)
    written(tmp_path / "gavel/a.trace", GAVEL)
    written(tmp_path / "gavel/b.trace", GAVEL)
    written(tmp_path / "gavel/simulation_throughputs.json", json.dumps(RATES))
    counts = {
        name: len(read_trace(name, tmp_path).jobs)
        for name in ("philly", "helios", "openb", "openb:multigpu50", "gavel", "gavel:a")
    }
    assert counts == {
        "philly": 3, "helios": 3, "openb": 3, "openb:multigpu50": 1, "gavel": 4, "gavel:a": 2,
    }  # fmt: skip
    assert len(read_trace("openb", tmp_path).nodes) == 2


def test_a_file_is_read_by_its_format(tmp_path: Path) -> None:
    path = written(tmp_path / "own.jsonl", OWN)
    assert len(read_trace(str(path), None).jobs) == 3
    table = written(tmp_path / "t.csv", DIRLAB)
    assert len(read_trace(str(table), None, Format.HELIOS).jobs) == 3
    with pytest.raises(UsageError, match="name its --format"):
        read_trace(str(table), None)


@pytest.mark.parametrize(
    ("asked", "data", "said"),
    [
        ("phily", Path("d"), "did you mean `philly`"),
        ("philly", None, "--data"),
        ("own", Path("d"), "known: "),
    ],
)
def test_a_trace_that_is_not_there_is_refused(asked: str, data: Path | None, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_trace(asked, data)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("3,9,1,0,2,30.5,1,0,Pass\n3,9,1,0,2,30.5,1,0,Pass", "stands twice"),
        ("3,9,1000000007,0,2,30.5,1,0,Pass", "more than 100,000"),
        ("3,9,1,0,2,30.5,1e300,0,Pass", "more than 10,000,000,000"),
        ("3,9,1,0,2,9e9,1,0,Pass\n4,9,1,0,2,9e9,1,0,Pass", "too late"),
        ("3,9,1_0,0,2,30.5,1,0,Pass", "no number"),
        ("3,9,1,0,2,nan,1,0,Pass", "not a finite number"),
    ],
)
def test_what_no_job_is_stands_in_no_table(line: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(AllotmentError) as caught:
        dirlab.read_jobs(written(tmp_path / "t.csv", f"{DIRLAB.splitlines()[0]}\n{line}\n"))
    assert words in str(caught.value)
    assert "t.csv:" in str(caught.value)


@pytest.mark.parametrize("count", ["²", "9" * 5000])
def test_rates_of_no_number_of_cards_are_left_out(count: str, tmp_path: Path) -> None:
    rates = {"v100": {**RATES["v100"], f"('A3C', {count})": {"null": 1.0}}}
    found = gavel.read_jobs(
        written(tmp_path / "a.trace", GAVEL), written(tmp_path / "r.json", json.dumps(rates))
    )
    assert [job.seconds for job in found] == [100, 10]


def test_names_of_tasks_and_nodes_stand_once(tmp_path: Path) -> None:
    for read, text in ((openb.read_tasks, TASKS), (openb.read_nodes, NODES)):
        with pytest.raises(AllotmentError, match="stands twice"):
            read(written(tmp_path / "t.csv", text + text.splitlines()[1] + "\n"))
