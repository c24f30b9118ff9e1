"""Where LLVM lies, and whether it is new enough for Dr.Jit.

Dr.Jit looks for LLVM when it is first imported, so this must be settled before: `import fieldworthy` does it for the
library that comes with the package's own wheel, `load_engine` for any other.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from fieldworthy.core.errors import EngineError

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


def settle_llvm() -> None:
    """Name the wheel's LLVM to Dr.Jit if nothing else was named and Dr.Jit is not loaded yet; never fails.

    Without this, a program that imports drjit itself would get whatever old LLVM the system has, which aborts the
    process at the first minimum or maximum.
    """
    if "DRJIT_LIBLLVM_PATH" not in os.environ and "drjit" not in sys.modules:
        wheel = next(_candidates())
        if wheel.exists():
            os.environ["DRJIT_LIBLLVM_PATH"] = str(wheel)
