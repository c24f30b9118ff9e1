"""Ctrl-C as a wish to stop between two steps, not as an exception in the middle of a kernel."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stop_wanted() -> Iterator[Callable[[], bool]]:
    """Gives a function that tells whether Ctrl-C was pressed since; pressed again, it interrupts at once.

    An interrupt raised inside compiled code would come out as some other error and lose what was flown. In a thread
    other than the main one, and inside another `stop_wanted`, signals are left as they are.
    """
    pressed = threading.Event()

    def note(number: int, frame: FrameType | None) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    ours = threading.current_thread() is threading.main_thread()
    ours = ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, note)
    try:
        yield pressed.is_set
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
