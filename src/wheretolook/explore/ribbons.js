// Ribbons: the numbers of the heatmap's table, drawn in its place; a button brings it back.
(globalThis.wtl ??= {}).ribbons = {
  __proto__: wtl.maps,

  refresh(view, explorer) {
    // a row without a sum is a word that is not written yet
    const rows = [...view.querySelectorAll('.wtl-map tbody tr')].filter(row => row.querySelector('.wtl-sum').textContent);
    const { cell } = view, last = rows.length - 1;
    if (last < 0) { super.refresh(view, explorer); return; } // a new table, not filled yet
    if ('step' in view.dataset && view.lines?.length !== rows.length) view.pinned = view.word = last;
    view.lines = rows;
    if (cell && !rows.includes(cell.parentNode)) this.choose(view, rows[last].cells[cell.cellIndex], explorer);
    super.refresh(view, explorer);
    this.draw(view);
  },

  choose(view, cell, explorer) {
    if (!('step' in view.dataset) || view.lines.includes(cell.parentNode)) super.choose(view, cell, explorer);
  },

  draw(view) {
    const { row, gold, small, hint } = view.dataset, area = view.querySelector('.wtl-ribbons'), [from, svg, to] = area.children;
    const names = [...from.children].map(name => name.textContent), words = [...to.children], unit = 80 / Math.max(names.length, words.length);
    const curve = (a, b) => `M${a} 0C${a} 50 ${b} 50 ${b} 100`;
    let bands = '', lines = '', said = hint;
    words.forEach((word, i) => {
      const line = view.lines[i], one = i === view.word, end = (i + .5) * 100 / words.length, looks = [], own = [];
      word.disabled = !line;
      word.ariaPressed = one;
      word.tabIndex = i === (view.word ?? 0) ? 0 : -1;
      let b = end - unit / 2; // side by side, the shares are the whole word
      if (line) names.forEach((name, j) => {
        const cell = line.cells[j + 1], text = cell.textContent, w = unit * text, start = (j + .5) * 100 / names.length, a = start - w / 2;
        const path = `<path data-i="${i}" class="${one ? 'wtl-on' : ''}`;
        if (+text >= small) {
          bands += `${path}" style="--w:${text}" d="${curve(a, b)}H${b + w}C${b + w} 50 ${a + w} 50 ${a + w} 0"/>`;
          looks.push([w, `${name} ${text}`]);
        }
        if (cell.matches('.wtl-mark')) {
          lines += `${path} wtl-gold" d="${curve(start, end)}"/>`;
          own.push(name);
        }
        b += w;
      });
      if (one) said = `${row} ${word.textContent}: ${looks.sort((x, y) => y[0] - x[0]).map(look => look[1]).join(', ')}` +
        (gold ? `. ${gold}: ${own.join(', ') || '–'}` : '');
    });
    svg.firstChild.innerHTML = bands + lines; // numbers only
    area.toggleAttribute('data-one', view.word >= 0);
    if (view.querySelector('.wtl-switch button').ariaPressed = !view.closest('[data-table]')) wtl.tools.tell(view.querySelector('.wtl-read'), said);
  },

  // one word's ribbons stand out, and are said
  show(view, word) {
    if (word === view.word) return; // else what is drawn anew is pointed at anew, without end
    view.word = word;
    this.draw(view);
  },
  at: e => { const i = e.target.closest('[data-i]')?.dataset.i; return i && +i; },

  point(e, view) {
    if (e.target.closest('.wtl-ribbons')) this.show(view, this.at(e) ?? view.pinned);
    else super.point(e, view);
  },

  click(e, view, explorer) {
    if (e.target.closest('.wtl-switch button')) {
      explorer.toggleAttribute('data-table'); // for all of its views
      explorer.holders.forEach(one => explorer.part(one).refresh?.(one, explorer));
    } else if (e.target.closest('.wtl-ribbons')) {
      const i = this.at(e);
      this.show(view, view.pinned = i === view.pinned ? undefined : i);
    } else super.click(e, view, explorer);
  },

  keydown(e, view, explorer) {
    const { move, clamp, taken } = wtl.tools, go = move(e), word = e.target.closest('.wtl-ribbons button');
    if (!word || !go) { super.keydown(e, view, explorer); return; }
    word.parentNode.children[clamp(this.at(e) + go[0] + go[1], 0, view.lines.length - 1)].focus();
    taken(e);
  },
};
