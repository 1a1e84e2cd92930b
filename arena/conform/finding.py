"""How a check ends early: by an exception that carries its verdict. None of them leaves this package."""

from __future__ import annotations

from arena.conform.report import Evidence, Verdict


class Finding(Exception):
    """The verdict of the check that runs, or of another that watches over all dialogues."""

    def __init__(
        self,
        detail: str,
        mend: str,
        *spec: str,
        verdict: Verdict = Verdict.FAILED,
        about: str | None = None,
        evidence: Evidence | None = None,
    ) -> None:
        """What was found.

        Args:
            detail: What was expected and what came.
            mend: One sentence that says what to do.
            spec: The numbers of the rules that are broken; none for those of the check.
            verdict: Anything but ok.
            about: The id of the check that this is the verdict of; None for the one that runs.
            evidence: What led to it; None for the last messages that passed.
        """
        super().__init__(detail)
        self.detail = detail
        self.mend = mend
        self.spec = spec
        self.verdict = verdict
        self.about = about
        self.evidence = evidence


class NotReached(Exception):
    """The check cannot say anything; the text says why."""
