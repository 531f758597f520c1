"""A JupyterLab (and with it a Notebook 7) that is really started, in a folder of its own."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import nbformat

__all__ = ["notebook_server"]

SETTINGS = {
    # nothing pops up over the notebook, and no cell leaves the page when it scrolls out of sight
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "notebook-extension/tracker": {"windowingMode": "none"},
}
PLACES = (
    *("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"),
    *("JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR"),
)


@contextmanager
def notebook_server(
    home: Path, name: str, cells: Sequence[str], seconds: float = 40
) -> Iterator[str]:
    """Start a server with one notebook and settings of its own; yield its address.

    Parameters
    ----------
    home : Path
        An empty folder for all that it writes.
    name : str
        Of the notebook, such as "map.ipynb".
    cells : sequence of str
        The notebook's code.
    seconds : float
        How long it may take to answer.

    Raises
    ------
    RuntimeError
        If it does not answer in time; with the end of its log.
    """
    (home / "book").mkdir()
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(code.strip()) for code in cells]
    )
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, home / "book" / name)
    for setting, values in SETTINGS.items():
        file = home / "jupyterlab_settings_dir/@jupyterlab" / f"{setting}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))
    environment = os.environ | {place: str(home / place.lower()) for place in PLACES}
    environment |= {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        *(sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={home / 'book'}"),
        *(f"--ServerApp.port={port}", "--ServerApp.ip=127.0.0.1", "--ServerApp.port_retries=0"),
        *("--no-browser", "--allow-root", "--IdentityProvider.token=", "--ServerApp.password="),
        "--ServerApp.disable_check_xsrf=True",
    ]
    log, address = home / "log.txt", f"http://127.0.0.1:{port}"
    with log.open("w") as out:
        server = subprocess.Popen(
            command, env=environment, stdout=out, stderr=out, start_new_session=True
        )
    try:
        _wait_for(f"{address}/api/status", server, log, seconds)
        yield address
    finally:
        server.terminate()  # it stops its kernels first
        try:
            server.wait(15)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait_for(address: str, server: subprocess.Popen, log: Path, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and server.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=2).read()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError(f"Jupyter did not start:\n{log.read_text()[-3000:]}")
