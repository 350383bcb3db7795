"""What talks to a cluster is loaded when one is asked: help, checks and rendering do without it."""

from __future__ import annotations

import subprocess
import sys

import pytest

LOADED = """
import sys
{code}
print(*sorted({{"lightkube", "httpx2", "msgspec"}} & set(sys.modules)), ".")
"""


@pytest.mark.parametrize(
    "code",
    [
        "import allotment.cli.cluster",
        "import allotment.kubernetes.client, allotment.kubernetes.render",
        "import allotment.kubernetes.client.connecting as c; c.connect",
        "from allotment.cli import invoke; invoke(['--help'])",
        "from allotment.cli import invoke; invoke(['render', '--help'])",
    ],
)
def test_nothing_of_a_cluster_is_loaded_before_it_is_asked(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", LOADED.format(code=code)], capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[-1].strip()) == (0, ".")


def test_without_the_library_a_cluster_is_told_to_need_it() -> None:
    code = (
        "import sys; sys.modules['lightkube'] = None\n"
        "from allotment.kubernetes.client.connecting import over_http\n"
        "from allotment.kubernetes.client.kubeconfig import Access\n"
        "from allotment.errors import WorldError\n"
        "try:\n    over_http(Access('blue', {'server': 'https://x'}), {})\n"
        "except WorldError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "lightkube is not installed" in done.stdout
    assert 'pip install "allotment[kubernetes]"' in done.stdout
