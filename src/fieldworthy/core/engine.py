"""The compiler behind the lanes: finds LLVM, picks the device and the precision, hands out array types.

This is the one place that imports Dr.Jit at start-up, because where LLVM lies must be settled before Dr.Jit loads.
Everything above works on scalars and does not know which engine runs it.

Environment variables: FIELDWORTHY_DEVICE (llvm or cuda; default: llvm), DRJIT_LIBLLVM_PATH (a particular LLVM library),
FIELDWORTHY_THREADS (worker threads of the LLVM device; default: all cores).
"""

from __future__ import annotations

import ctypes
import importlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fieldworthy.core.errors import EngineError
from fieldworthy.core.struct import map_leaves

Device = Literal["llvm", "cuda"]
Precision = Literal["f32", "f64"]

DEVICES: tuple[Device, ...] = ("llvm", "cuda")
OLDEST_LLVM = 19
"""Dr.Jit refuses LLVM 14; 15 and 16 abort the process on minimum/maximum. 19 and 23 were tried and work."""

INSTALL_LLVM = (
    "Linux x86-64: pip install 'karellen-llvm-core>=19'; other Linux: apt install libllvm19; macOS: brew install llvm; "
    "Windows: the LLVM installer; or set DRJIT_LIBLLVM_PATH to the library of LLVM 19 or newer"
)


def llvm_version(library: Path) -> tuple[int, int, int]:
    """Major, minor and patch of an LLVM library, asked of the library itself.

    Raises: EngineError if it cannot be loaded or is no LLVM.
    """
    try:
        handle = ctypes.CDLL(str(library))
        major, minor, patch = ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
        handle.LLVMGetVersion(ctypes.byref(major), ctypes.byref(minor), ctypes.byref(patch))
    except AttributeError:
        # LLVM 15 and older have no LLVMGetVersion; their file name tells enough to refuse them.
        named = re.search(r"LLVM[-.](?:so\.)?(\d+)", library.name)
        return (int(named.group(1)) if named else 0, 0, 0)
    except OSError as error:
        raise EngineError(f"{library}: cannot be loaded as LLVM ({error}); {INSTALL_LLVM}") from error
    return major.value, minor.value, patch.value


def _candidates() -> Iterator[Path]:
    """Places where an LLVM library may lie, best first."""
    suffix = {"win32": "LLVM-C.dll", "darwin": "libLLVM.dylib"}.get(sys.platform, "libLLVM.so")
    for folder in ("lib", "bin", "lib64"):
        yield Path(sys.prefix) / folder / suffix
    if sys.platform == "darwin":
        for root in ("/opt/homebrew/opt/llvm/lib", "/usr/local/opt/llvm/lib"):
            yield Path(root) / suffix
    elif sys.platform == "win32":
        yield Path(os.environ.get("ProgramFiles", r"C:\Program Files")) / "LLVM" / "bin" / suffix
    else:
        found: list[tuple[int, Path]] = []
        for root in ("/usr/lib", "/usr/lib64", "/usr/local/lib"):
            for path in Path(root).glob("**/libLLVM[-.]*"):
                number = re.search(r"(?:LLVM-|so\.)(\d+)", path.name)
                if number and ".so" in path.name:
                    found.append((int(number.group(1)), path))
        yield from (path for number, path in sorted(found, reverse=True) if number >= OLDEST_LLVM)


def find_llvm() -> Path:
    """The LLVM library to use: DRJIT_LIBLLVM_PATH if set, else the wheel's, else a system one of version >= 19.

    Raises: EngineError with how to get one, if there is none or the named one is too old.
    """
    named = os.environ.get("DRJIT_LIBLLVM_PATH")
    paths = [Path(named)] if named else list(_candidates())
    too_old = []
    for path in paths:
        if not path.exists() and not (named and os.sep not in named):
            continue
        version = llvm_version(path)
        if version[0] >= OLDEST_LLVM:
            return path
        too_old.append(f"{path} is version {version[0]}")
    if named:
        reason = too_old[0] if too_old else f"DRJIT_LIBLLVM_PATH={named}: no such file"
    else:
        reason = "; ".join(too_old) or "no LLVM library found"
    raise EngineError(f"{reason}; version {OLDEST_LLVM} or newer is needed. {INSTALL_LLVM}")


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

    `Float`, `UInt32` and `Int32` are Dr.Jit array types; `llvm_path` is None on CUDA.
    """

    device: Device
    precision: Precision
    llvm_path: Path | None
    Float: Any
    UInt32: Any
    Int32: Any
    Bool: Any

    def floats(self, values: Any) -> Any:
        """A Float array of the given numbers [any shape, flattened], evaluated, so that it is data and not code."""
        return self._opaque(self.Float(np.ascontiguousarray(values, dtype=self.dtype).ravel()))

    def integers(self, values: Any) -> Any:
        """A UInt32 array of the given numbers, evaluated."""
        return self._opaque(self.UInt32(np.ascontiguousarray(values, dtype=np.uint32).ravel()))

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

        return self._opaque(dr.arange(self.UInt32, count))

    def _opaque(self, array: Any) -> Any:
        import drjit as dr

        dr.make_opaque(array)
        return array

    @property
    def dtype(self) -> type[np.floating[Any]]:
        """The NumPy type of `Float`."""
        return np.float32 if self.precision == "f32" else np.float64


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
        Int32=types.Int32,
        Bool=types.Bool,
    )


def _set_threads(dr: Any) -> None:
    wanted = os.environ.get("FIELDWORTHY_THREADS")
    if wanted is None:
        return
    if not wanted.isdigit() or int(wanted) < 1:
        raise EngineError(f"FIELDWORTHY_THREADS={wanted}: not a number of threads; valid: 1, 2, …")
    dr.set_thread_count(int(wanted))


def frozen(function: Callable[..., Any]) -> Callable[..., Any]:
    """A per-tick function recorded at its first call and replayed after: the tracing cost is paid once.

    Everything that changes between calls must come in as an argument and be evaluated (see Engine.scalar).
    """
    import drjit as dr

    # Lane counts shrink while trials end; each new pattern of equal widths is one more recording, which is no fault.
    return dr.freeze(function, warn_after=1000)


def take(tree: Any, lane: Any) -> Any:
    """A tree of arrays as the lanes `lane` (UInt32) see it; numbers that all lanes share stay as they are."""
    import drjit as dr

    def of_lane(leaf: Any) -> Any:
        return dr.gather(type(leaf), leaf, lane) if dr.is_array_v(leaf) and dr.width(leaf) != 1 else leaf

    return map_leaves(of_lane, tree)


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
