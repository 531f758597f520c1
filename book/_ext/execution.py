"""Run a notebook again when anything it rests on has changed, and say which cell failed."""

import copy
import hashlib
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from jupyter_cache import get_cache
from jupyter_cache.cache.main import JupyterCacheBase
from jupyter_cache.executors.utils import ExecutionResult, single_nb_execution
from myst_nb.core.execute import cache as myst_cache
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.errors import SphinxError


class CellFailed(SphinxError):
    """A cell raised, ran out of time or lost its kernel."""

    category = "A notebook failed"


def digest(root: Path, folder: str = "src") -> str:
    """Name the state of everything that a notebook may import.

    Parameters
    ----------
    root : Path
        The book's root, which holds `src` and `requirements.txt`.
    folder : str
        Where to look for modules, scripts, styles and tables.

    Returns
    -------
    str
        Sixteen hex digits; they change with any module, script, style or table.
    """
    files = [
        path
        for path in (root / folder).rglob("*")
        if path.is_file() and not {"__pycache__"} & set(path.parts) and ".egg-info" not in str(path)
    ]
    state = hashlib.sha256()
    for path in sorted([*files, root / "requirements.txt"]):
        if path.exists():
            state.update(f"{path.relative_to(root)}\0".encode())
            state.update(hashlib.sha256(path.read_bytes()).digest())
    return state.hexdigest()[:16]


def choose_cache(app: Sphinx, config: Config) -> None:
    """Keep one cache of executed notebooks for this state of the package, and only this one.

    Sphinx and jupyter-cache look at a notebook's own text alone. The path is a
    configuration value, so a new one also makes Sphinx read every page again.
    """
    caches = Path(app.outdir).parent / ".jupyter_cache"
    current = caches / digest(Path(app.srcdir))
    for old in caches.glob("*"):
        if old != current:
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    config.nb_execution_cache_path = str(current)
    # These modules have a say in every page, but in no notebook's outputs.
    config.site_state = digest(Path(__file__).parent, "")
    # Styles and scripts are joined when a page is written; no page need be read for that.
    folders = [Path(app.confdir) / folder for folder in config.html_static_path]
    config.look_state = [digest(folder, "") for folder in folders]


def drop_stale_pages(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Remove each page that is about to be made, so that a failure can't leave the old one."""
    if app.builder.format == "html":
        for name in added | changed | removed:
            Path(app.builder.get_outfilename(name)).unlink(missing_ok=True)
    return []


def describe(notebook: NotebookNode) -> str:
    """Tell the index and the id of the cell that ran last.

    The kernel numbers a cell when it starts, so the last numbered one is the one
    that failed, whether it raised, ran out of time or took the kernel with it.
    """
    started = [
        (index, cell)
        for index, cell in enumerate(notebook.cells)
        if cell.cell_type == "code" and cell.get("execution_count")
    ]
    if not started:
        return "before its first cell"
    index, cell = started[-1]
    return f"cell {index}, id {cell.get('id', 'none')}"


def execute(notebook: NotebookNode, **options: Any) -> ExecutionResult:
    """Run a notebook as jupyter-cache does; a failure names the cell."""
    try:
        result = single_nb_execution(notebook, **options)
        error = result.err
    except Exception as raised:  # a kernel that died is no CellExecutionError
        error = raised
    if error is not None:
        raise CellFailed(f"{describe(notebook)}\n{error}") from error
    return result


def is_sound(cache: JupyterCacheBase, notebook: NotebookNode) -> bool:
    """Tell whether the cache can be read: a build that was killed may have written half of it."""
    try:
        record = cache.match_cache_notebook(notebook)
    except KeyError:
        return True  # nothing of this notebook is there
    except Exception:
        return False  # a data base without its tables
    try:
        cache.get_cache_bundle(record.pk)
    except (KeyError, ValueError):
        return False  # a record without its file, or with half of it
    return True


class Client(myst_cache.NotebookClientCache):
    """The caching client, whose failures also name the notebook."""

    def start_client(self) -> None:
        """Take the notebook from the cache or run it."""
        # What a Markdown page gives for download is the notebook that came here. It has no outputs,
        # like a chapter's, though it may have to be run; its cells are named by place, not by lot.
        if self.path.suffix != ".ipynb":
            for place, cell in enumerate(self.notebook.cells):
                cell.id = f"cell-{place}"
        self._notebook = copy.deepcopy(self.notebook)
        folder = self.nb_config.execution_cache_path
        if not is_sound(get_cache(folder), self.notebook):
            shutil.rmtree(folder)
        try:
            super().start_client()
        except CellFailed as failure:
            sys.tracebacklimit = 0  # our own and Sphinx's frames would bury the message
            raise CellFailed(f"{self.path}: {failure}") from None


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    import myst_nb.core.execute as chooser

    os.environ["WHERETOLOOK_PROGRESS"] = "0"  # kernels inherit it: a bar would be on the page
    # The models are so small that a second thread only waits for the first, on a busy machine for
    # long; and the tables were made with one.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # MyST-NB offers no hook here: both names are looked up when a page is read.
    myst_cache.single_nb_execution = execute
    chooser.NotebookClientCache = Client
    app.add_config_value("site_state", "", "env")
    app.add_config_value("look_state", [], "html")
    app.connect("config-inited", choose_cache)
    app.connect("env-get-outdated", drop_stale_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
