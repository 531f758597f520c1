from pathlib import Path


def run(work: Path):
    return "", 0
