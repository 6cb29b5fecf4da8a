"""Shell completion for a shell that the user names, whatever shell started the command."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import redirect_stdout

import typer

from supple.cli.failure import INPUT, failure

SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")
_INSTALL, _SHOW = "--install-completion", "--show-completion"


def complete_named_shell(arguments: Sequence[str]) -> None:
    """Perform ``--install-completion SHELL`` and ``--show-completion SHELL``, and end the command.

    typer's own options detect the shell among the parent processes and take no name. Without a name this function asks
    for one where nothing is detected (cron, an IDE, a container); other command lines are left alone.

    Parameters
    ----------
    arguments : sequence of str
        The command line without the name of the program.
    """
    if not arguments or arguments[0] not in (_INSTALL, _SHOW) or arguments[1:] not in ([], *([s] for s in SHELLS)):
        return
    from typer.completion import get_completion_script, install

    option, shell = arguments[0], (arguments[1] if len(arguments) == 2 else None)
    if option == _SHOW:
        if shell is not None:
            print(get_completion_script(prog_name="supple", complete_var="_SUPPLE_COMPLETE", shell=shell))
            raise SystemExit(0)
        return
    try:
        with redirect_stdout(io.StringIO()):
            shell, path = install(shell, prog_name="supple")
    except typer.Exit:
        hint = f"name it: supple {_INSTALL} {'|'.join(SHELLS)}"
        raise SystemExit(failure("the shell could not be detected", INPUT, hint=hint).tell(False)) from None
    print(f"{shell} completion installed in {path}; restart the terminal to use it")
    raise SystemExit(0)
