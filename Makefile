# Where to Look. Every target sets up what it needs by itself.
#   make book      build the site into _build/html
#   make serve     open it on localhost
#   make test      everything that must hold: lint, units, notebooks, site, browser
#   make chapter N=04   the book again, where only that chapter is new, and where its page is
#   make student   notebooks for students, in _build/student (VARIANT=file.toml: graded forms)
#   make grade SUBMISSIONS=folder   marks and feedback, in _build/grades (CHAPTER=05, VARIANT=…)
#   make evidence  train all seeds and write the tables that chapters quote
#   make lint      check the style;  make clean   remove what was built

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
PORT ?= 8000
RUN := $(VENV)/bin
READY := $(VENV)/.ready
HTML := _build/html

export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: book serve test chapter student grade evidence lint clean browser
.DELETE_ON_ERROR:

# The stamp is older than its inputs exactly when the set-up must be repeated.
$(READY): requirements.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(RUN)/python -m pip install --quiet --requirement requirements.txt
	$(RUN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# Sphinx warns about a page only when it reads it. After a failure it must read
# all of them again (from the cache of executed notebooks), or the second run
# would pass in silence.
book: $(READY)
	@$(RUN)/jupyter-book build . -W -n --keep-going \
		|| { rm -f _build/.doctrees/environment.pickle; exit 1; }
	@echo "The book is ready: open $(CURDIR)/$(HTML)/index.html or run 'make serve'."

serve: book
	@echo "http://localhost:$(PORT)/ (stop with Ctrl-C)"
	@$(RUN)/python -m http.server --bind 127.0.0.1 --directory $(HTML) $(PORT)

# One thread for each of the two workers, so that they don't fight for cores; one
# hash seed, so that both list the same tests in the same order.
test: browser lint book
	OMP_NUM_THREADS=1 $(RUN)/python -m pytest -n 2 --dist loadfile

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
