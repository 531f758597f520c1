// A block (B, L, D): the chosen number, the group that shares its mean, and what each norm makes of it.
(globalThis.wtl ??= {}).block = {
  CELL: '.wtl-block td[data-v]',

  fill(slot, value, view) {
    if (Array.isArray(value)) view.dataset.norms = JSON.stringify(value);
    else wtl.tools.fill(slot, value, view);
  },

  refresh(view) {
    const [, length, width] = JSON.parse(view.dataset.shape), [b, l, d] = JSON.parse(view.dataset.cell);
    view.at ??= (b * length + l) * width + d; // which number is chosen, in document order
    this.choose(view, view.at);
  },

  // where a number stands: sentence, token, feature
  place(view, n) {
    const [, length, width] = JSON.parse(view.dataset.shape);
    return [Math.floor(n / width / length), Math.floor(n / width) % length, n % width];
  },

  choose(view, at) {
    const cells = [...view.querySelectorAll(this.CELL)], here = this.place(view, at);
    const [chosen, norms] = JSON.parse(view.dataset.norms), shape = JSON.parse(view.dataset.shape);
    const { printed } = wtl.tools;
    view.at = at;
    cells.forEach((cell, n) => {
      const there = this.place(view, n);
      cell.tabIndex = n === at ? 0 : -1;
      cell.dataset.lmSuppressShortcuts = 'true';
      cell.classList.toggle('wtl-chosen', n === at);
      cell.classList.toggle('wtl-mark', there.every((i, a) => norms[chosen][1].includes(a) || i === here[a]));
    });
    [...view.querySelector('.wtl-norms tbody').rows].forEach((row, k) => {
      const [, axes, size, mean, deviation, becomes] = norms[k];
      const group = here.reduce((sum, i, a) => axes.includes(a) ? sum : sum * shape[a] + i, 0);
      const texts = [size, printed(mean[group], 2), printed(deviation[group], 2), printed(becomes[at], 2)];
      texts.forEach((text, j) => { row.cells[j + 1].textContent = text; });
      row.toggleAttribute('data-on', k === chosen);
    });
    const [name, , size] = norms[chosen];
    const words = JSON.parse(view.dataset.axes).map((axis, a) => `${axis} ${here[a] + 1}`).join(', ');
    wtl.tools.tell(view.querySelector('.wtl-read'), `${words}: ${cells[at].textContent}. ` +
      `Under ${name} it shares μ and σ with ${size - 1} other numbers and becomes ${printed(norms[chosen][5][at], 2)}`);
  },

  click(e, view) {
    const cell = e.target.closest(this.CELL);
    if (cell) this.choose(view, [...view.querySelectorAll(this.CELL)].indexOf(cell));
  },

  // up and down go on into the next sentence
  keydown(e, view) {
    const move = wtl.tools.move(e), cells = [...view.querySelectorAll(this.CELL)];
    if (!move || !e.target.closest(this.CELL)) return;
    const width = JSON.parse(view.dataset.shape)[2], row = Math.floor(view.at / width) + move[0];
    if (row >= 0 && row < cells.length / width) {
      this.choose(view, row * width + wtl.tools.clamp(view.at % width + move[1], 0, width - 1));
      cells[view.at].focus();
    }
    wtl.tools.taken(e);
  },
};
