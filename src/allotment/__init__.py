"""Allotment: a GPU campaign platform in which GPUs are described, not counted."""

__version__ = "0.1.0"


def install_command(extra: str = "", *, anew: bool = False) -> str:
    """How to install Allotment, with an extra: from its repository, since no package index has it yet."""
    wanted = f"allotment[{extra}]" if extra else "allotment"
    option = "--force-reinstall " if anew else ""
    return f"pip install {option}'{wanted} @ git+https://github.com/allotment/allotment'"
