"""What is found wrong with a program file, and what of it is told: problems and notes with their line and field."""

from __future__ import annotations

from fieldworthy.core.errors import FieldworthyError, Problem, ScenarioError

MAX_PROBLEMS = 50
"""Problems told of one file; more are counted."""


class StatementError(Exception):
    """One statement cannot be read. The reader adds it to its findings and goes on with the next statement."""

    def __init__(self, what: str, valid: str = "", field: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.valid = valid
        self.field = field
        """The value within the statement, where it has a name of its own."""


class Findings:
    """Problems and notes of one file, gathered while it is read."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self._told: set[str] = set()

    def where(self, line: int, field: str = "") -> str:
        """`file:line [field]`. Line 0 is the file as a whole."""
        name = self.source or "program"
        place = f"{name}:{line}" if line else name
        return f"{place} [{field}]" if field else place

    def problem(self, line: int, field: str, what: str, valid: str = "") -> None:
        """One thing that is wrong. The same one is kept once, however often a loop meets it."""
        found = Problem(self.where(line, field), what, valid)
        if str(found) not in self._told:
            self._told.add(str(found))
            self.problems.append(found)

    def failure(self, line: int, field: str, error: StatementError | FieldworthyError) -> None:
        """What a statement raised, as a problem of its line."""
        if isinstance(error, StatementError):
            self.problem(line, error.field or field, error.what, error.valid)
        else:
            self.problem(line, field, str(error))

    def note(self, line: int, text: str, once: str = "") -> None:
        """One sentence on something that was met and is not motion, or is doubtful.

        `once` names a kind of note of which only the first is kept.
        """
        sentence = f"{self.where(line)}: {text}"
        key = once or sentence
        if key not in self._told:
            self._told.add(key)
            self.notes.append(sentence)

    def stop(self) -> None:
        """Raises: ScenarioError with everything that was found wrong, if anything was."""
        if self.problems:
            rest = len(self.problems) - MAX_PROBLEMS
            more = [Problem(self.where(0), f"and {rest} more problems")] if rest > 0 else []
            raise ScenarioError([*self.problems[:MAX_PROBLEMS], *more])
