// Maps: a cell is read by pointer, touch and keyboard alike; chosen, it opens its arithmetic, and
// in linked maps (data-rows, data-across: what rows and columns are) lights its query and its key.
(globalThis.wtl ??= {}).maps = {
  CELL: '.wtl-map td[data-v]:not(.wtl-sum)',

  fill(slot, value, view) {
    const { printed, share, shareOf, tell } = wtl.tools, hidden = value === null;
    if (slot.matches('.wtl-why')) { slot.why = value; return; }
    if (Array.isArray(value)) { view.dataset.notes = JSON.stringify(value); return; }
    const said = hidden && !slot.closest('.wtl-signed') ? '0' : printed(value, +view.dataset.decimals);
    if (slot.classList.contains('wtl-sum')) { tell(slot, said); return; }
    slot.toggleAttribute('data-hidden', hidden);
    if (slot.closest('.wtl-dense')) {
      // nobody sees this number: as a name and not as text, a thousand of them need no layout
      slot.share = hidden ? 0 : shareOf(value, view);
      if (slot.ariaLabel !== said) slot.ariaLabel = said;
      tell(slot, '');
    } else {
      share(slot, value, view);
      tell(slot, said);
    }
  },

  // one cell of each map is in the page's tab order; arrow keys move on from there (Jupyter
  // takes them from any element that does not say otherwise itself)
  refresh(view, explorer) {
    if (!view.querySelector('.wtl-map td[tabindex="0"]')) view.querySelectorAll(this.CELL).forEach((cell, i) => {
      cell.tabIndex = i ? -1 : 0;
      cell.dataset.lmSuppressShortcuts = 'true';
    });
    this.paint(view.querySelector('.wtl-dense'));
    if (view.cell) this.read(view, view.cell);
    if (explorer.lit) this.light(view, explorer.lit);
    this.open(view);
  },

  // a style for each of a thousand cells takes too long: a row is one picture behind them
  paint(map) {
    const name = share => share < 0 ? 'negative' : 'hi';
    for (const { cells: [, ...cells] } of map?.tBodies[0].rows ?? []) {
      const shares = cells.map(cell => cell.share).filter(share => share !== undefined), width = 100 / shares.length;
      if (!shares.length) return; // a result without data keeps Python's colours
      const bands = shares.map((share, i) => `color-mix(in oklab, var(--wtl-${name(share)}) ${Math.min(Math.abs(share), 1) * 100}%, var(--wtl-lo)) ${i * width}% ${(i + 1) * width}%`);
      cells[0].style.setProperty('--row', `linear-gradient(90deg, ${bands})`);
      map.style.setProperty('--columns', shares.length);
      map.classList.add('wtl-painted');
    }
  },

  // what was being read in the old table is read on in the new one
  follow(view, old, explorer) {
    const same = cell => {
      const found = cell && view.querySelector('.wtl-map')?.rows[cell.parentNode.rowIndex]?.cells[cell.cellIndex];
      return found?.matches(this.CELL) ? found : undefined;
    };
    const chosen = same(old.querySelector('.wtl-map .wtl-chosen'));
    view.cell = same(old.cell);
    if (!chosen) return;
    this.refresh(view, explorer);
    this.mark(view, chosen);
  },

  pointerover(e, view) { this.point(e, view); },
  focusin(e, view) { this.point(e, view); },
  point(e, view) {
    const cell = e.target.closest(this.CELL);
    if (cell) this.read(view, cell);
  },

  click(e, view, explorer) {
    const cell = e.target.closest(this.CELL);
    if (cell) this.choose(view, cell, explorer);
    else if (e.target.closest('.wtl-close')) this.close(view);
  },

  choose(view, cell, explorer) {
    const { rows, across } = view.dataset;
    this.mark(view, cell);
    this.read(view, cell);
    if (rows) {
      const lit = explorer.lit = { ...explorer.lit, [rows]: cell.parentNode.rowIndex };
      if (across) lit[across] = cell.cellIndex;
      explorer.querySelectorAll('.wtl-view[data-rows]').forEach(other => {
        this.light(other, lit);
        if (other === view) return;
        const { rows, across } = other.dataset;
        this.mark(other, other.querySelector('.wtl-map').rows[lit[rows]]?.cells[lit[across]]);
        delete other.cell;
        other.querySelector('.wtl-read').textContent = '';
        this.open(other);
      });
    }
    this.open(view);
  },

  mark(view, cell) {
    view.querySelector('.wtl-chosen')?.classList.remove('wtl-chosen');
    if (!cell) return;
    view.querySelectorAll('.wtl-map td[tabindex="0"]').forEach(c => { c.tabIndex = -1; });
    cell.tabIndex = 0;
    cell.classList.add('wtl-chosen');
  },

  light(view, lit) {
    const { rows, across } = view.dataset, map = view.querySelector('.wtl-map');
    [...map.rows].forEach((row, i) => row.classList.toggle('wtl-lit', i === lit[rows]));
    [...map.rows[0].cells].forEach((head, j) => head.classList.toggle('wtl-lit', j === lit[across]));
  },

  open(view) {
    const panel = view.querySelector('.wtl-why'), cell = view.querySelector('.wtl-chosen');
    if (!panel || !cell) return;
    const [line, head] = this.heads(view, cell);
    wtl.arithmetic.open(panel, cell.parentNode.rowIndex - 1, cell.cellIndex - 1, line.textContent, head.textContent);
  },

  // the cell stays the one that is read, and the keyboard is there again
  close(view) {
    const cell = view.querySelector('.wtl-chosen');
    wtl.arithmetic.close(view.querySelector('.wtl-why'));
    cell.classList.remove('wtl-chosen');
    cell.focus();
    this.read(view, cell);
  },

  heads: (view, cell) => [cell.parentNode.cells[0], view.querySelector('.wtl-map').rows[0].cells[cell.cellIndex]],

  read(view, cell) {
    const { row, column, notes } = view.dataset, [line, head] = this.heads(view, cell);
    view.cell = cell; // read again when its number changes
    view.querySelectorAll('.wtl-on').forEach(head => head.classList.remove('wtl-on'));
    line.classList.add('wtl-on');
    head.classList.add('wtl-on');
    const hidden = cell.hasAttribute('data-hidden') ? ' (hidden by the mask)' : '';
    const columns = view.querySelectorAll('th[scope="col"]:not(.wtl-sum)').length;
    const note = notes ? `. ${JSON.parse(notes)[(cell.parentNode.rowIndex - 1) * columns + cell.cellIndex - 1]}` : '';
    const below = cell.matches('.wtl-chosen') && view.querySelector('.wtl-why') ? '. Worked out below' : '';
    wtl.tools.tell(view.querySelector('.wtl-read'),
      `${row} ${line.textContent}, ${column} ${head.textContent}: ${cell.ariaLabel ?? cell.textContent}${hidden}${note}${below}`);
  },

  keydown(e, view, explorer) {
    if (e.key === 'Escape' && view.querySelector('.wtl-close')) {
      this.close(view);
      wtl.tools.taken(e);
      return;
    }
    const cell = e.target.closest('.wtl-map td'), move = e.key === 'Enter' ? [0, 0] : wtl.tools.move(e);
    if (!cell || !move) return;
    const { clamp } = wtl.tools, rows = cell.closest('tbody').rows;
    const line = rows[clamp(cell.parentNode.sectionRowIndex + move[0], 0, rows.length - 1)];
    const cells = [...line.cells].filter(c => c.matches('td:not(.wtl-sum)'));
    const next = cells[clamp(cell.cellIndex - 1 + move[1], 0, cells.length - 1)];
    this.choose(view, next, explorer);
    next.focus();
    wtl.tools.taken(e);
  },
};
