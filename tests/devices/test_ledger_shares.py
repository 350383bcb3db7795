"""Shares of a device in the ledger: never more than it has, and never beside somebody who holds it whole."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.devices.holders import Holder
from allotment.devices.ledger import DevicesTakenError, Hold, Ledger, Part
from allotment.devices.lock_names import LockNames
from allotment.devices.shared_folder import user_name
from allotment.devices.slices import DeviceId

CARD, OTHER = (DeviceId("gpu.nvidia.com", "node-1", f"gpu-{place}") for place in range(2))
NAMES = LockNames("node-1")
ME = user_name(os.geteuid())
WHO = Holder(pid=12, user=ME, campaign="letters", volume="R1", memory_bytes=100, since=1.5)
TOTAL = 80


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger", node="node-1")


def share(ledger: Ledger, amount: int, *more: DeviceId) -> Hold:
    with ledger.locked() as view:
        return view.take([CARD, *more], WHO, {CARD: Part(amount, TOTAL)})


def test_shares_go_on_one_device_until_its_memory_is_given_out(ledger: Ledger) -> None:
    first, second = share(ledger, 40), share(ledger, 30)
    whole, shares = ledger.state()
    assert whole == {}
    assert shares == {CARD: (replace(WHO, device_bytes=40), replace(WHO, device_bytes=30))}
    with pytest.raises(DevicesTakenError):
        share(ledger, 11)
    first.close()
    with ledger.locked() as view:
        third = view.take([CARD], WHO, {CARD: Part(50, TOTAL)})
        assert sorted(holder.device_bytes or 0 for holder in view.shares()[CARD]) == [30, 50]
        assert view.memory_held() == 200
    second.close()
    third.close()
    assert ledger.state() == ({}, {})


def test_a_whole_hold_and_shares_exclude_each_other(ledger: Ledger) -> None:
    part = share(ledger, 10)
    with ledger.locked() as view, pytest.raises(DevicesTakenError):
        view.take([CARD], WHO)
    part.close()
    with ledger.locked() as view:
        whole = view.take([CARD], WHO)
        with pytest.raises(DevicesTakenError):
            view.take([CARD], WHO, {CARD: Part(10, TOTAL)})
    whole.close()


def test_a_share_and_whole_devices_are_taken_together_or_not_at_all(ledger: Ledger) -> None:
    held = share(ledger, 60, OTHER)
    with pytest.raises(DevicesTakenError) as raised:
        share(ledger, 30)
    assert raised.value.ids == (CARD,)
    assert (set(ledger.holders()), set(ledger.state()[1])) == ({OTHER}, {CARD})
    held.close()


def test_an_heir_holds_the_share(ledger: Ledger) -> None:
    hold = share(ledger, 60)
    copy = os.dup(hold.fds[0])
    hold.close()
    with pytest.raises(DevicesTakenError):
        share(ledger, 30)
    os.close(copy)
    share(ledger, 30).close()


def test_the_holder_is_described_anew_with_its_share(ledger: Ledger) -> None:
    hold = share(ledger, 60)
    hold.describe(replace(WHO, pid=77))
    assert ledger.state()[1] == {CARD: (replace(WHO, pid=77, device_bytes=60),)}
    hold.close()


def test_a_share_that_does_not_say_how_much_it_is_counts_as_all_of_the_device(ledger: Ledger) -> None:
    hold = share(ledger, 10)
    lock = ledger.folder / NAMES.name_of(CARD, os.geteuid(), 0)
    lock.write_text('{"pid": 12, "device_bytes": "few"}\n')
    with pytest.raises(DevicesTakenError):
        share(ledger, 10)
    hold.close()


def test_nothing_and_more_than_there_is_are_no_shares(ledger: Ledger) -> None:
    for amount in (0, TOTAL + 1):
        with pytest.raises(DevicesTakenError):
            share(ledger, amount)


@given(st.lists(st.one_of(st.none(), st.integers(1, 90), st.integers(-6, -1)), max_size=12))
def test_whatever_is_taken_and_given_back_a_device_is_never_given_out_twice(steps: list[int | None]) -> None:
    """None takes the device whole, a number a share; a negative one gives back what was taken then."""
    held: list[tuple[int | None, Hold]] = []
    with TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger", node="node-1")
        for step in steps:
            if step is not None and step < 0:
                if held:
                    held.pop(step % len(held))[1].close()
                continue
            amounts = [amount for amount, _ in held]
            fits = (
                not amounts
                if step is None
                else None not in amounts and sum(filter(None, amounts)) + step <= TOTAL
            )
            with ledger.locked() as view:
                parts = {} if step is None else {CARD: Part(step, TOTAL)}
                try:
                    held.append((step, view.take([CARD], WHO, parts)))
                except DevicesTakenError:
                    assert not fits
                else:
                    assert fits
        for _, hold in held:
            hold.close()


@pytest.mark.parametrize("name", ["a~b~c@1.lock", "a~b~c~x@1.lock", "a~b~c~1~2@1.lock", "a~b~~1@1.lock", "x"])
def test_other_files_are_no_shares(name: str) -> None:
    assert NAMES.read_share(name) is None
