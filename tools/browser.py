"""Find the browser that the tests drive; run as a script, install one where none is found."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find() -> str | None:
    """Look for Chromium or Chrome: an installed one, else Playwright's own download."""
    installed = next(filter(None, map(shutil.which, NAMES)), None)
    if installed:
        return installed
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def command() -> list[str]:
    """Choose the command that installs a browser on this machine."""
    if sys.platform == "linux" and os.geteuid() == 0 and shutil.which("apt-get"):
        return ["sh", "-c", "apt-get update -q && apt-get install -y -q chromium"]
    return [sys.executable, "-m", "playwright", "install", "chromium"]


def main() -> int:
    """Make sure that there is a browser."""
    if find():
        return 0
    print("No Chrome or Chromium found; installing one.", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    if subprocess.call(command(), env=environment) == 0 and find():
        return 0
    mend = "apt-get install chromium" if shutil.which("apt-get") else "playwright install chromium"
    print(f"The browser tests need Chrome or Chromium. Install one with: {mend}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
