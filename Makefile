# Where to Look. Every target sets up what it needs by itself.
#   make book      build the site into _build/html
#   make serve     open it on localhost
#   make test      everything that must hold: lint, units, notebooks, site, browser
#   make chapter N=04   the book again, where only that chapter is new, and where its page is
#   make student   notebooks for students, in _build/student (VARIANT=file.toml: graded forms)
#   make grade SUBMISSIONS=folder   marks and feedback, in _build/grades (CHAPTER=05, VARIANT=…)
#   make evidence  train all seeds and write the tables that chapters quote
#   make test-colab      all notebooks with the old ipywidgets and IPython that Colab has
#   make test-rounding   all notebooks, trained anew, on processors that round differently
#   make test-browser BROWSER="firefox --headless"   every page in another browser
#   make test-newest     everything, with the newest libraries that pyproject.toml admits
#   make links     ask every link to another site whether it still leads somewhere
#   make zip       the site, the notebooks and the package in one archive, for use offline
#   make bench     how fast and how large things are; make bench ONLY=attention for one
#   make soak      build it again and again, as if elsewhere, broken off, short of disk or network
#   make repository URL=https://github.com/owner/name   give the book another address
#   make lint      check the style;  make clean   remove what was built

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
PORT ?= 8000
RUN := $(VENV)/bin
READY := $(VENV)/.ready
HTML := _build/html

export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: book serve zip test test-colab test-rounding test-browser test-newest links chapter student \
	grade evidence bench soak lint clean browser repository
.DELETE_ON_ERROR:

# The stamp is older than its inputs exactly when the set-up must be repeated.
$(READY): requirements.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(RUN)/python -m pip install --quiet --requirement requirements.txt
	$(RUN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# What a failed or an interrupted one has left, the next one begins anew: book/_ext/whole.py.
book: $(READY)
	@$(RUN)/jupyter-book build . -W -n --keep-going
	@echo "The book is ready: open $(CURDIR)/$(HTML)/index.html or run 'make serve'."

zip: book
	@$(RUN)/python tools/archive.py

serve: book
	@echo "http://localhost:$(PORT)/ (stop with Ctrl-C)"
	@$(RUN)/python -m http.server --bind 127.0.0.1 --directory $(HTML) $(PORT)

# One thread for each of the two workers, so that they don't fight for cores; one
# hash seed, so that both list the same tests in the same order.
test: browser lint book
	OMP_NUM_THREADS=1 $(RUN)/python -m pytest -n 2 --dist loadfile

# Only what differs is installed; the rest is found in the book's own set-up.
COLAB := .venv-colab
$(COLAB)/.ready: tests/colab/requirements.txt $(READY)
	$(PYTHON) -m venv $(COLAB)
	$(COLAB)/bin/python -m pip install --quiet --requirement $<
	$(RUN)/python -c "import site; print(site.getsitepackages()[0])" \
		> $$($(COLAB)/bin/python -c "import site; print(site.getsitepackages()[0])")/book.pth
	@touch $@

test-colab: $(COLAB)/.ready
	$(RUN)/python tools/run_notebooks.py --python $(COLAB)/bin/python --with PYTHONPATH=$(CURDIR)/src

test-rounding: $(READY)
	$(RUN)/python tools/run_notebooks.py --cold --with ATEN_CPU_CAPABILITY=default
	$(RUN)/python tools/run_notebooks.py --cold --with MKL_CBWR=COMPATIBLE
	$(RUN)/python tools/run_notebooks.py --cold --with ONEDNN_MAX_CPU_ISA=AVX2

# Any that is started with an address; {folder} in BROWSER becomes an empty folder, for a profile.
test-browser: book
	@$(RUN)/python tools/any_browser.py $(BROWSER)

# Not the pins: what a reader gets who installs today. What the pins have built is no use to it.
NEWEST := .venv-newest
test-newest: clean
	$(PYTHON) -m venv --clear $(NEWEST)
	$(NEWEST)/bin/python -m pip install --quiet --editable ".[dev]"
	@touch $(NEWEST)/.ready
	@$(MAKE) --no-print-directory test VENV=$(NEWEST)

# Its own folder, since it writes into it; the executed notebooks are those of the book.
links: $(READY)
	@$(RUN)/jupyter-book build . --builder custom --custom-builder linkcheck --keep-going

browser: $(READY)
	@$(RUN)/python tools/browser.py

lint: $(READY)
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .

chapter: $(READY)
	@test -n "$(N)" || { echo "Say which one: make chapter N=04"; exit 2; }
	@test -n "$(wildcard notebooks/$(N)-*.ipynb)" || { echo "There is no notebooks/$(N)-*.ipynb"; exit 2; }
	@$(MAKE) --no-print-directory book
	@echo "The chapter: $(CURDIR)/$(HTML)/$(basename $(wildcard notebooks/$(N)-*.ipynb)).html"

evidence: $(READY)
	$(RUN)/python -m wheretolook.evidence

bench: $(READY)
	@$(RUN)/python -m tools.benches $(ONLY)

soak: $(READY)
	@$(RUN)/python -m tools.soak $(ONLY)

repository: $(READY)
	@$(RUN)/python tools/repository.py "$(URL)"

CLASSROOM := $(RUN)/python -m wheretolook.classroom
FORM = $(if $(VARIANT),--variant "$(VARIANT)")

student: $(READY)
	@$(CLASSROOM) student $(FORM)

# An interrupted run goes on where it was.
grade: $(READY)
	@test -n "$(SUBMISSIONS)" || { echo "Say which: make grade SUBMISSIONS=folder-or-zip"; exit 2; }
	@$(CLASSROOM) grade "$(SUBMISSIONS)" $(FORM) $(if $(CHAPTER),--chapter $(CHAPTER))

# The set-up stays; remove $(VENV) by hand to repeat that too.
clean:
	rm -rf _build
