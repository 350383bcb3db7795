"""The ledger as one process sees it, and every way in which its folder can be in disorder."""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.devices.holders import LONGEST, Holder, read_holder
from allotment.devices.ledger import DevicesTakenError, Ledger, default_folder
from allotment.devices.lock_names import LockNames
from allotment.devices.shared_folder import user_name
from allotment.devices.slices import DeviceId
from allotment.errors import EXIT_WORLD, WorldError

A, B, C = (DeviceId("cpu.allotment", "node-1", f"cpu-{place}") for place in range(3))
NAMES = LockNames("node-1")
ME = user_name(os.geteuid())
WHO = Holder(pid=12, user=ME, campaign="letters", volume="R1", memory_bytes=100, since=1.5)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger", node="node-1")


def own_lock(ledger: Ledger, device: DeviceId) -> Path:
    return ledger.folder / NAMES.name_of(device, os.geteuid())


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_what_is_taken_is_seen_at_once_and_free_after_the_last_close(ledger: Ledger) -> None:
    with ledger.locked() as view:
        assert view.taken() == {}
        hold = view.take([A, B], WHO)
        assert dict(view.taken()) == {A: WHO, B: Holder(12, ME, "letters", "R1", 0, 1.5)}
        assert view.memory_held() == 100
    assert hold.ids == (A, B)
    assert dict(ledger.holders()) == {A: WHO, B: Holder(12, ME, "letters", "R1", 0, 1.5)}
    copy = os.dup(hold.fds[0])
    hold.close()
    hold.close()
    assert hold.fds == ()
    assert set(ledger.holders()) == {A}
    os.close(copy)
    assert ledger.holders() == {}


def test_a_hold_ends_with_its_block(ledger: Ledger) -> None:
    with ledger.locked() as view, view.take([A], WHO) as hold:
        assert len(hold.fds) == 1
        assert not os.get_inheritable(hold.fds[0])
    assert ledger.holders() == {}


def test_all_or_none(ledger: Ledger) -> None:
    with ledger.locked() as view:
        hold = view.take([B], WHO)
    before = open_files()
    with ledger.locked() as view:
        with pytest.raises(DevicesTakenError) as raised:
            view.take([A, B, C], WHO)
        with pytest.raises(ValueError, match="twice"):
            view.take([A, A], WHO)
    assert raised.value.ids == (B,)
    assert raised.value.exit_code == EXIT_WORLD
    assert set(ledger.holders()) == {B}
    assert open_files() == before
    hold.close()


def test_a_device_that_was_locked_without_asking_is_not_given(ledger: Ledger) -> None:
    with ledger.locked() as view:
        view.take([A], WHO).close()
    with ledger.locked() as view:
        assert view.taken() == {}
        rude = os.open(own_lock(ledger, A), os.O_RDWR)
        fcntl.flock(rude, fcntl.LOCK_EX)
        with pytest.raises(DevicesTakenError):
            view.take([B, A], WHO)
    assert set(ledger.holders()) == {A}
    os.close(rude)


def test_who_holds_it_can_be_said_anew(ledger: Ledger) -> None:
    with ledger.locked() as view:
        hold = view.take([A, B], Holder(volume="a long name that the next one is shorter than"))
    hold.describe(WHO)
    assert ledger.holders()[A] == WHO
    assert ledger.holders()[B].memory_bytes == 0
    hold.close()


@pytest.mark.parametrize("torn", [b"", b'{"pid": 1, "us', b"\xff\xfe", b"null", b"[" * 4000, b"x" * 10_000])
def test_a_torn_holder_still_holds(ledger: Ledger, torn: bytes) -> None:
    with ledger.locked() as view:
        hold = view.take([A], WHO)
    own_lock(ledger, A).write_bytes(torn)
    assert ledger.holders() == {A: Holder(user=ME)}
    hold.close()
    assert ledger.holders() == {}


def test_looking_makes_no_ledger(ledger: Ledger) -> None:
    assert ledger.holders() == {}
    assert not ledger.folder.exists()


def test_the_folder_is_open_to_all_and_its_files_are_readable(ledger: Ledger) -> None:
    before = os.umask(0o077)
    try:
        with ledger.locked() as view:
            view.take([A], WHO).close()
    finally:
        os.umask(before)
    assert stat.S_IMODE(ledger.folder.stat().st_mode) == 0o1777
    assert stat.S_IMODE(own_lock(ledger, A).stat().st_mode) == 0o644


def file_instead(folder: Path) -> None:
    folder.write_text("not a folder")


def link_to_a_folder(folder: Path) -> None:
    elsewhere = folder.with_name("elsewhere")
    elsewhere.mkdir()
    folder.symlink_to(elsewhere)


def link_to_nowhere(folder: Path) -> None:
    folder.symlink_to(folder.with_name("nowhere"))


def link_to_itself(folder: Path) -> None:
    folder.symlink_to(folder)


def parent_is_a_file(folder: Path) -> None:
    folder.parent.rmdir()
    folder.parent.write_text("not a folder")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (file_instead, "is not a folder"),
        (link_to_a_folder, "is a link, not a folder of its own"),
        (link_to_nowhere, "is a link, not a folder of its own"),
        (link_to_itself, "is a link, not a folder of its own"),
        (parent_is_a_file, "is not a folder"),
    ],
)
def test_a_folder_that_is_none_is_one_clear_error(
    tmp_path: Path, spoil: Callable[[Path], None], words: str
) -> None:
    parent = tmp_path / "parent"
    parent.mkdir()
    spoil(parent / "ledger")
    with pytest.raises(WorldError) as raised, Ledger(parent / "ledger").locked():
        pytest.fail("the ledger was opened")
    assert f"the folder {words}" in raised.value.what
    assert raised.value.where == str(parent / "ledger")
    assert "ALLOT_LEDGER" in raised.value.remedy


def test_what_is_no_lock_file_is_passed_over(ledger: Ledger) -> None:
    with ledger.locked() as view:
        view.take([A], WHO).close()
    (ledger.folder / "notes.txt").write_text("mine")
    (ledger.folder / "a~b~c@me.lock").write_text("")
    (ledger.folder / NAMES.name_of(A, 7)).symlink_to("/etc/passwd")
    (ledger.folder / NAMES.name_of(B, 7)).mkdir()
    os.mkfifo(ledger.folder / NAMES.name_of(C, 7))
    assert ledger.holders() == {}


@pytest.mark.parametrize("spoil", ["link", "dangling link", "folder", "pipe", "second name"])
def test_nothing_is_written_where_our_lock_file_should_be(ledger: Ledger, spoil: str) -> None:
    with ledger.locked():
        pass
    precious = ledger.folder.with_name("precious")
    precious.write_text("precious")
    path = own_lock(ledger, A)
    match spoil:
        case "link":
            path.symlink_to(precious)
        case "dangling link":
            path.symlink_to(ledger.folder.with_name("nowhere"))
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case _:
            path.hardlink_to(precious)
    with ledger.locked() as view:
        with pytest.raises(WorldError, match="lock file cannot be used") as raised:
            view.take([A], WHO)
        view.take([B], WHO).close()
    assert raised.value.where == str(path)
    assert precious.read_text() == "precious"
    assert not ledger.folder.with_name("nowhere").exists()


def test_a_new_file_that_was_left_half_made_does_no_harm(ledger: Ledger) -> None:
    with ledger.locked() as view:
        (ledger.folder / f".{NAMES.name_of(A, os.geteuid())}.new").write_text("left")
        view.take([A], WHO).close()
    assert [path.name for path in ledger.folder.iterdir()] == [NAMES.name_of(A, os.geteuid())]


class Time:
    """A clock that moves only when somebody sleeps, and then does something."""

    def __init__(self, then: Callable[[], None] = lambda: None) -> None:
        self.now = 0.0
        self.then = then

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.then()


def test_a_ledger_that_stays_locked_is_one_clear_error(ledger: Ledger) -> None:
    time = Time()
    waiting = Ledger(ledger.folder, node="node-1", wait_seconds=10, clock=time, sleep=time.sleep)
    with ledger.locked():
        with pytest.raises(WorldError, match="kept the folder locked for 10 s") as raised, waiting.locked():
            pytest.fail("locked twice")
        assert "fuser" in raised.value.remedy
    assert 10 <= time.now < 11
    with waiting.locked():
        pass


def test_a_lock_is_not_waited_for_once_that_is_enough(ledger: Ledger) -> None:
    asked = 0

    def enough() -> bool:
        nonlocal asked
        asked += 1
        return asked > 2

    hasty = ledger.unless(enough)
    with ledger.locked() as view, pytest.raises(WorldError, match="not waited for"), hasty.locked():
        view.taken()
    assert asked == 3
    with hasty.locked() as view:
        assert view.taken() == {}


def test_a_folder_that_was_removed_while_we_waited_is_opened_anew(ledger: Ledger, tmp_path: Path) -> None:
    with ledger.locked():
        pass
    old = os.open(ledger.folder, os.O_RDONLY)
    fcntl.flock(old, fcntl.LOCK_EX)

    def replaced() -> None:
        ledger.folder.rename(tmp_path / "removed")
        os.close(old)

    time = Time(replaced)
    with Ledger(ledger.folder, node="node-1", clock=time, sleep=time.sleep).locked() as view:
        hold = view.take([A], WHO)
    assert own_lock(ledger, A).exists()
    assert set(ledger.holders()) == {A}
    hold.close()


@pytest.mark.parametrize(
    ("environ", "shared_memory", "expected"),
    [
        ({"ALLOT_LEDGER": "/srv/ledger"}, True, "/srv/ledger"),
        ({"ALLOT_LEDGER": ""}, True, "shm/allotment"),
        ({}, True, "shm/allotment"),
        ({}, False, "allotment"),
    ],
)
def test_where_the_ledger_is(
    tmp_path: Path, environ: dict[str, str], *, shared_memory: bool, expected: str
) -> None:
    if shared_memory:
        (tmp_path / "shm").mkdir()
    folder = default_folder(environ, tmp_path / "shm")
    assert str(folder).endswith(expected)
    assert (tmp_path in folder.parents) == expected.startswith("shm")


names = st.from_regex(r"[a-z0-9]([a-z0-9.-]{0,20}[a-z0-9])?", fullmatch=True)


@given(names, st.lists(names, min_size=1, max_size=3), names, st.integers(0, 2**32))
def test_a_lock_file_is_named_for_its_device_and_user(
    driver: str, pool: list[str], device: str, uid: int
) -> None:
    given_id = DeviceId(driver, "/".join(pool), device)
    name = NAMES.name_of(given_id, uid)
    assert "/" not in name
    assert NAMES.read(name) == (given_id, uid)


def test_a_machine_under_another_host_name_is_still_the_same(ledger: Ledger) -> None:
    renamed = Ledger(ledger.folder, node="somewhere.else")
    elsewhere = DeviceId("cpu.allotment", "node-2", "cpu-0")
    with ledger.locked() as view:
        hold = view.take([A, elsewhere], WHO)
    assert set(renamed.holders()) == {A._replace(pool="somewhere.else"), elsewhere}
    with renamed.locked() as view, pytest.raises(DevicesTakenError):
        view.take([A._replace(pool="somewhere.else")], WHO)
    hold.close()


@pytest.mark.parametrize("part", ["", "..~", "a~b", "a@b", "a+b", "a b", "å", "a\n"])
def test_what_cannot_be_a_device_has_no_lock_file(part: str) -> None:
    with pytest.raises(ValueError, match="is no device"):
        NAMES.name_of(DeviceId("d", part, "c"), 0)


@given(st.binary(max_size=300) | st.text(max_size=100).map(lambda text: json.dumps(text).encode()))
def test_no_bytes_in_a_lock_file_are_an_error(line: bytes) -> None:
    assert read_holder(line, user="ada") == Holder(user="ada")


@given(
    st.dictionaries(
        st.sampled_from(["pid", "user", "campaign", "volume", "memory_bytes", "since"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers()),
    )
)
def test_what_makes_no_sense_is_left_out_and_text_is_clean(said: dict[str, object]) -> None:
    holder = read_holder(json.dumps(said).encode()[:LONGEST], user="ada")
    assert holder.user == "ada"
    assert holder.memory_bytes >= 0
    assert holder.pid is None or holder.pid >= 0
    assert holder.since >= 0
    for text in (holder.campaign, holder.volume):
        assert text is None or (text.isprintable() and len(text) <= 200)
