"""Chapter 5, Masking: masks from too strict to too loose."""

from .experiment import Experiment, Job

__all__ = ["EXPERIMENTS"]


def _leak_jobs() -> list[Job]:
    """Masks as they are meant and inverted, from too strict to too loose."""
    shifted = [
        Job(
            "True = may attend, as meant" if not inverted else "inverted",
            {"label": f"diagonal {d:+d}" if d else "diagonal 0", "diagonal": d}
            | ({"inverted": True} if inverted else {}),
        )
        for inverted in (False, True)
        for d in (-2, -1, 0, 1, 2)
    ]
    others = [
        Job("beside them", {"label": "no mask", "diagonal": None}),
        Job("beside them", {"label": "diagonal 0, untrained", "steps": 0}),
        Job("beside them", {"label": "no mask, untrained", "diagonal": None, "steps": 0}),
    ]
    return shifted + others


EXPERIMENTS = (
    Experiment(
        "leak",
        "The next of twelve independent digits: an honest loss is at least ln 10 = 2.303; "
        "with every answer but the last in sight it is 0.192",
        "leak",
        "masks",
        tuple(_leak_jobs()),
        (0, 1, 2),
    ),
)
