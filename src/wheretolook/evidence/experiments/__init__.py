"""All tables, chapter by chapter: what is run, how often, and how it is called."""

from . import ch01, ch02, ch03, ch04, ch05, ch06, ch07, ch08
from .experiment import Experiment, Job

__all__ = ["EXPERIMENTS", "Experiment", "Job"]

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for chapter in (ch01, ch02, ch03, ch04, ch05, ch06, ch07, ch08)
    for experiment in chapter.EXPERIMENTS
}
