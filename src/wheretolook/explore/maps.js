// Maps: a cell is read by pointer, touch and keyboard alike.
(globalThis.wtl ??= {}).maps = {
  CELL: '.wtl-map td[data-v]:not(.wtl-sum)',

  fill(slot, value, view) {
    if (Array.isArray(value)) { view.dataset.notes = JSON.stringify(value); return; }
    if (slot.classList.contains('wtl-sum')) { slot.textContent = wtl.tools.printed(value, +view.dataset.decimals); return; }
    wtl.tools.fill(slot, value, view);
    slot.toggleAttribute('data-hidden', value === null);
    if (value === null && !slot.closest('.wtl-signed')) slot.textContent = '0';
  },

  // one cell of each map is in the page's tab order; arrow keys move on from there (Jupyter
  // takes them from any element that does not say otherwise itself)
  refresh(view) {
    if (!view.querySelector('.wtl-map td[tabindex="0"]')) view.querySelectorAll(this.CELL).forEach((cell, i) => {
      cell.tabIndex = i ? -1 : 0;
      cell.dataset.lmSuppressShortcuts = 'true';
    });
    if (view.cell) this.read(view, view.cell);
  },

  // what was being read in the old table is read on in the new one
  follow(view, old) {
    const { cell } = old, same = cell && view.querySelector('.wtl-map')?.rows[cell.parentNode.rowIndex]?.cells[cell.cellIndex];
    if (!same?.matches(this.CELL)) return;
    this.refresh(view);
    view.cell = same;
    if (cell.matches('.wtl-chosen')) this.choose(view, same);
  },

  pointerover(e, view) { this.point(e, view); },
  focusin(e, view) { this.point(e, view); },
  point(e, view) {
    const cell = e.target.closest(this.CELL);
    if (cell) this.read(view, cell);
  },

  click(e, view) {
    const cell = e.target.closest(this.CELL);
    if (cell) this.choose(view, cell);
  },

  choose(view, cell) {
    view.querySelectorAll('.wtl-map :is(td[tabindex="0"], .wtl-chosen)').forEach(c => { c.tabIndex = -1; c.classList.remove('wtl-chosen'); });
    cell.tabIndex = 0;
    cell.classList.add('wtl-chosen');
    this.read(view, cell);
  },

  read(view, cell) {
    const { row, column, notes } = view.dataset;
    view.cell = cell; // read again when its number changes
    const line = cell.parentNode, j = cell.cellIndex, i = line.rowIndex - 1;
    const across = view.querySelector('thead').rows[0].cells;
    view.querySelectorAll('.wtl-on').forEach(head => head.classList.remove('wtl-on'));
    line.cells[0].classList.add('wtl-on');
    across[j].classList.add('wtl-on');
    const hidden = cell.hasAttribute('data-hidden') ? ' (hidden by the mask)' : '';
    const columns = [...across].filter(head => head.scope === 'col' && !head.classList.contains('wtl-sum')).length;
    const note = notes ? `. ${JSON.parse(notes)[i * columns + j - 1]}` : '';
    view.querySelector('.wtl-read').textContent =
      `${row} ${line.cells[0].textContent}, ${column} ${across[j].textContent}: ${cell.textContent}${hidden}${note}`;
  },

  keydown(e, view) {
    const cell = e.target.closest('.wtl-map td'), move = wtl.tools.move(e);
    if (!cell || !move) return;
    const { clamp } = wtl.tools, rows = cell.closest('tbody').rows;
    const line = rows[clamp(cell.parentNode.sectionRowIndex + move[0], 0, rows.length - 1)];
    const cells = [...line.cells].filter(c => c.matches('td:not(.wtl-sum)'));
    const next = cells[clamp(cell.cellIndex - 1 + move[1], 0, cells.length - 1)];
    this.choose(view, next);
    next.focus();
    wtl.tools.taken(e);
  },
};
