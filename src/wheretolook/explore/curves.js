// Curves: drawn with the same sums as in curves.py, read out by pointer and keyboard.
(globalThis.wtl ??= {}).curves = {
  BASE: 166, TALL: 158, WIDTH: 360, // height - bottom, less the top margin, and the canvas' width

  fill(slot, values, view) {
    const { decimals, limit, low, x } = view.dataset, where = JSON.parse(x);
    slot.setAttribute('d', 'M' + values.map((v, i) =>
      `${where[i]} ${(this.BASE - this.TALL * (v / 10 ** decimals - low) / ((limit - low) || 1)).toFixed(1)}`).join('L'));
  },

  refresh(view) { if (view.at !== undefined) this.read(view, view.at); },
  follow(view, old) { if (old.at !== undefined) view.at = Math.min(old.at, JSON.parse(view.dataset.x).length - 1); },

  read(view, at) {
    const { x, ticks, column, decimals } = view.dataset;
    if (!view.values) return;
    view.at = at;
    view.querySelector('.wtl-cursor').setAttribute('d', `M${JSON.parse(x)[at]} 8V${this.BASE}`);
    const names = [...view.querySelectorAll('.wtl-key > span')].map(s => s.textContent);
    wtl.tools.tell(view.querySelector('.wtl-read'), `${column} ${JSON.parse(ticks)[at]}: ` +
      names.map((name, i) => `${name} ${wtl.tools.printed(view.values[1 + i][at], +decimals)}`).join(', '));
  },

  pointerdown(e, view) { this.pointermove(e, view); },
  pointermove(e, view) {
    const svg = e.target.closest('.wtl-curves');
    if (!svg) return;
    const box = svg.getBoundingClientRect(), x = (e.clientX - box.left) / box.width * this.WIDTH;
    this.read(view, JSON.parse(view.dataset.x).reduce((best, w, i, all) => Math.abs(w - x) < Math.abs(all[best] - x) ? i : best, 0));
  },

  keydown(e, view) {
    const move = wtl.tools.move(e);
    if (!move || !e.target.closest('.wtl-curves')) return;
    const last = JSON.parse(view.dataset.x).length - 1;
    this.read(view, wtl.tools.clamp((view.at ?? (move[1] < 0 ? last + 1 : -1)) + (move[1] || -move[0]), 0, last));
    wtl.tools.taken(e);
  },
};
