"""The compiler behind the lanes: finds LLVM, picks the device and the precision, hands out array types.

This is the one place that imports Dr.Jit at start-up, because where LLVM lies must be settled before Dr.Jit loads.
Everything above works on scalars and does not know which engine runs it.

Environment variables: FIELDWORTHY_DEVICE (llvm or cuda; default: llvm), DRJIT_LIBLLVM_PATH (a particular LLVM library),
FIELDWORTHY_THREADS (worker threads of the LLVM device; default: all cores).
"""

from __future__ import annotations

import gc
import importlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fieldworthy.core.errors import EngineError
from fieldworthy.core.llvm import INSTALL_LLVM, OLDEST_LLVM, find_llvm, llvm_version
from fieldworthy.core.struct import children, rebuild

Device = Literal["llvm", "cuda"]
Precision = Literal["f32", "f64"]

DEVICES: tuple[Device, ...] = ("llvm", "cuda")


def chosen_device() -> Device:
    """The device named by FIELDWORTHY_DEVICE, llvm by default.

    Raises: EngineError for any other word.
    """
    word = os.environ.get("FIELDWORTHY_DEVICE", "llvm").lower()
    if word not in DEVICES:
        raise EngineError(f"FIELDWORTHY_DEVICE={word}: no such device; valid: {', '.join(DEVICES)}")
    return word


@dataclass(frozen=True)
class Engine:
    """Array types of one device and precision, and the few operations on whole arrays that laws never need.

    `Float` and `UInt32` are Dr.Jit array types; `llvm_path` is None on CUDA.
    """

    device: Device
    precision: Precision
    llvm_path: Path | None
    Float: Any
    UInt32: Any

    def floats(self, values: Any) -> Any:
        """A Float array of the given numbers [any shape, flattened], evaluated, so that it is data and not code."""
        return self.Float(aligned(values, self.dtype))

    def integers(self, values: Any) -> Any:
        """A UInt32 array of the given numbers, evaluated."""
        return self.UInt32(aligned(values, np.uint32))

    def scalar(self, value: float) -> Any:
        """One Float that may change from call to call without compiling again."""
        import drjit as dr

        return dr.opaque(self.Float, float(value))

    def counter(self, value: int) -> Any:
        """One UInt32 that may change from call to call without compiling again."""
        import drjit as dr

        return dr.opaque(self.UInt32, int(value))

    def indices(self, count: int) -> Any:
        """0, 1, … count-1, evaluated."""
        import drjit as dr

        found = dr.arange(self.UInt32, count)
        dr.make_opaque(found)
        return found

    @property
    def dtype(self) -> type[np.floating[Any]]:
        """The NumPy type of `Float`."""
        return np.float32 if self.precision == "f32" else np.float64


def aligned(values: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """A flat copy on a 64-byte boundary.

    Dr.Jit maps NumPy's memory, and its kernels depend on whether each input is aligned: memory that lies anywhere
    would compile every kernel again for every new pattern.
    """
    with np.errstate(over="ignore"):  # beyond 32 bits is infinite, and what is not finite ends its lane
        flat = np.asarray(values, dtype=dtype).ravel()
    room = np.empty(flat.nbytes + 64, np.uint8)
    first = -room.ctypes.data % 64
    copy: np.ndarray[Any, Any] = room[first : first + flat.nbytes].view(dtype)
    copy[:] = flat
    return copy


_loaded: dict[tuple[Device, Precision], Engine] = {}


def load_engine(precision: Precision = "f32", device: Device | None = None) -> Engine:
    """The engine of this process for a precision: Dr.Jit on LLVM or CUDA.

    Raises: EngineError when the device cannot be used, with what to install.
    """
    device = device or chosen_device()
    key = (device, precision)
    if key not in _loaded:
        _loaded[key] = _load(device, precision)
    return _loaded[key]


def _load(device: Device, precision: Precision) -> Engine:
    path = None
    if device == "llvm":
        path = find_llvm()
        os.environ["DRJIT_LIBLLVM_PATH"] = str(path)
    import drjit as dr

    if device == "llvm" and dr.detail.llvm_version()[0] < OLDEST_LLVM:
        raise EngineError(
            f"drjit was imported before fieldworthy could choose LLVM, and took version {dr.detail.llvm_version()[0]}; "
            "valid: import fieldworthy before drjit and mitsuba, or set DRJIT_LIBLLVM_PATH"
        )
    backend = dr.JitBackend.LLVM if device == "llvm" else dr.JitBackend.CUDA
    if not dr.has_backend(backend):
        if device == "cuda":
            raise EngineError("FIELDWORTHY_DEVICE=cuda: no usable NVIDIA driver found; valid here: llvm")
        raise EngineError(f"Dr.Jit cannot use {path}; {INSTALL_LLVM}")
    if device == "llvm":
        _set_threads(dr)
    types: Any = importlib.import_module(f"drjit.{device}.ad")
    return Engine(
        device=device,
        precision=precision,
        llvm_path=path,
        Float=types.Float if precision == "f32" else types.Float64,
        UInt32=types.UInt32,
    )


def _set_threads(dr: Any) -> None:
    wanted = os.environ.get("FIELDWORTHY_THREADS")
    if wanted is None:
        return
    if not wanted.isdigit() or int(wanted) < 1:
        raise EngineError(f"FIELDWORTHY_THREADS={wanted}: not a number of threads; valid: 1, 2, …")
    dr.set_thread_count(int(wanted))


@contextmanager
def worker_threads(count: int) -> Iterator[None]:
    """Kernels run on so many threads in here: one vehicle is no work for many, and waiting ones take a core's time."""
    import drjit as dr

    before = dr.thread_count()
    dr.set_thread_count(count)
    try:
        yield
    finally:
        dr.set_thread_count(before)


class _Hidden:
    """A function whose closure Dr.Jit does not look into: it would do so at every call, and it never changes."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)


def frozen(function: Callable[..., Any]) -> Callable[..., Any]:
    """A per-tick function recorded at its first call and replayed after: the tracing cost is paid once.

    Everything that changes between calls must come in as an argument and be evaluated (see Engine.scalar).
    """
    import drjit as dr

    hidden = _Hidden(function)

    def plain(*arguments: Any) -> Any:
        return hidden(*arguments)

    # Lane counts shrink while trials end; each new pattern of equal widths is one more recording, which is no fault.
    recorded = dr.freeze(plain, warn_after=1000, auto_opaque=False)

    def call(*arguments: Any) -> Any:
        # Worlds are cyclic. If the garbage collector frees arrays of an old one in the middle of a recording, Dr.Jit
        # 1.5 ends the process ("enqueue_host_func(): this function cannot be recorded").
        collecting = gc.isenabled()
        gc.disable()
        try:
            return recorded(*arguments)
        finally:
            if collecting:
                gc.enable()

    return call


def own_copy(array: Any) -> np.ndarray[Any, Any]:
    """A NumPy array of its own memory, from a Dr.Jit array (half the time of `np.array`) or NumPy's."""
    return (array if isinstance(array, np.ndarray) else array.numpy()).copy()


def take(tree: Any, lane: Any) -> Any:
    """A tree of arrays as the lanes `lane` (UInt32) see it; numbers that all lanes share stay as they are.

    So does a dataclass that says `shared: ClassVar[bool] = True`: a table that every lane looks up for itself.
    """
    import drjit as dr

    if getattr(type(tree), "shared", False):
        return tree
    nodes = children(tree)
    if nodes is not None:
        return rebuild(tree, [take(child, lane) for _, child in nodes])
    return dr.gather(type(tree), tree, lane) if dr.is_array_v(tree) and dr.width(tree) != 1 else tree


class KernelCounter:
    """Counts the kernels compiled and launched while it is open (a context manager).

    `compiled` counts those that were in neither the memory nor the disk cache.
    """

    launched = 0
    compiled = 0

    def __enter__(self) -> KernelCounter:
        import drjit as dr

        self._had = dr.flag(dr.JitFlag.KernelHistory)
        dr.set_flag(dr.JitFlag.KernelHistory, True)
        dr.kernel_history_clear()
        return self

    def __exit__(self, *_: object) -> None:
        import drjit as dr

        rows = [row for row in dr.kernel_history() if row["type"] == dr.KernelType.JIT]
        self.launched = len(rows)
        self.compiled = sum(1 for row in rows if not row["cache_hit"])
        dr.set_flag(dr.JitFlag.KernelHistory, self._had)


def engine_facts(engine: Engine) -> dict[str, Any]:
    """What a run's provenance says of the engine: device, versions, precision, threads."""
    from importlib.metadata import PackageNotFoundError, version

    def version_of(package: str) -> str | None:
        try:
            return version(package)
        except PackageNotFoundError:
            return None

    import drjit as dr

    llvm = ".".join(map(str, llvm_version(engine.llvm_path))) if engine.llvm_path else None
    return {
        "device": engine.device,
        "precision": engine.precision,
        "llvm": llvm,
        "drjit": version_of("drjit"),
        "mitsuba": version_of("mitsuba"),
        "threads": dr.thread_count() if engine.device == "llvm" else None,
    }
