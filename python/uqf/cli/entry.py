"""What the command ``uqf`` starts: it listens to Ctrl-C first, and loads the program then."""

import os
import signal
import sys
import time
from _thread import start_new_thread
from contextlib import suppress
from types import FrameType

#: Exit code of a run ended by Ctrl-C, as shells have it.
INTERRUPTED = 130

#: Seconds that the program has to come to a clean end after Ctrl-C.
GRACE = 0.7


class Interruption:
    """Ctrl-C ends the program within a second, whatever it is doing, and without a traceback.

    Usually by a `KeyboardInterrupt`, so that everything is put away. While modules are loaded, where some turn it into
    other errors, and when it is pressed again, the process ends at once; a call that does not listen, such as a long
    one of a library, is not waited for. Unfinished files are removed in any case.
    """

    def __init__(self) -> None:
        self.pressed = False
        self._process = os.getpid()
        waiting, waking = os.pipe()
        os.set_blocking(waking, False)
        signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
        signal.signal(signal.SIGINT, self._hear)
        sys.unraisablehook = self._lost
        start_new_thread(self._wait, (waiting,))

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self.pressed or _loading(frame):
            self.leave()
        self.pressed = True
        raise KeyboardInterrupt

    def _lost(self, problem: "sys.UnraisableHookArgs") -> None:
        """An exception in a place that cannot raise one, such as a callback from a library."""
        if isinstance(problem.exc_value, KeyboardInterrupt):
            self.leave()
        sys.__unraisablehook__(problem)

    def _wait(self, waiting: int) -> None:
        """On a thread of its own: ends the process if the program does not."""
        while signal.SIGINT not in os.read(waiting, 1):
            pass
        time.sleep(GRACE)
        self.leave()

    def leave(self) -> None:
        """Ends the process at once."""
        if os.getpid() == self._process:
            # A module that is just being loaded is there already, but not what it will define.
            remove_unfinished = getattr(sys.modules.get("uqf.files"), "remove_unfinished", None)
            if remove_unfinished is not None:
                remove_unfinished()
            with suppress(OSError):
                if os.isatty(2):
                    os.write(2, b"\x1b[?25h\n")  # a progress bar may have hidden the cursor
        os._exit(INTERRUPTED)

    def finish(self) -> None:
        """The program is done; if Ctrl-C ended it, nothing that the interpreter still does is waited for."""
        if self.pressed:
            with suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(INTERRUPTED)
        # Too late for Ctrl-C. The interpreter takes our handler away while it ends, and then the signal would kill it;
        # an ignored signal stays ignored.
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _loading(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def main() -> None:
    """Entry point of the ``uqf`` script."""
    # A shell lets its background jobs ignore Ctrl-C, and it stays that way.
    listens = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    interruption = Interruption() if listens else None
    if interruption is None:
        _run()
        return
    try:
        try:
            _run()
        finally:
            interruption.finish()
    except KeyboardInterrupt:  # between the end of the program and that of listening
        interruption.leave()


def _run() -> None:
    from uqf.cli.commands import main as run

    run()
