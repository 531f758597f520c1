// An explorer: native controls choose a frame, the frame's values go into the slots ([data-v]).
// Python wrote the markup and computed every number; nothing is computed here but what a number
// looks like. The element upgrades itself wherever it appears: a page, a notebook, a frame.
(() => {
  const NAME = 'wtl-explorer', CELL = 'td[data-v]:not(.wtl-sum)';
  if (customElements.get(NAME)) return;

  const printed = (value, decimals) => value === null ? '−∞'
    : (value / 10 ** decimals).toFixed(decimals).replace('-', '−');

  // how a value enters a slot, by the kind of view
  const fill = {
    cell(slot, value, view) {
      const { decimals, limit } = view.dataset;
      if (Array.isArray(value)) { view.dataset.notes = JSON.stringify(value); return; }
      if (slot.classList.contains('wtl-sum')) { slot.textContent = printed(value, +decimals); return; }
      const signed = slot.closest('.wtl-signed');
      slot.toggleAttribute('data-hidden', value === null);
      slot.style.setProperty('--w', value === null || +limit === 0 ? 0 : value / 10 ** decimals / limit);
      slot.textContent = value === null && !signed ? '0' : printed(value, +decimals);
    },
    curve(slot, values, view) {
      const { decimals, limit, low, x } = view.dataset, where = JSON.parse(x);
      const base = 166, tall = 158; // as in curves.py: height - bottom, and less the top margin
      slot.setAttribute('d', 'M' + values.map((v, i) =>
        `${where[i]} ${(base - tall * (v / 10 ** decimals - low) / ((limit - low) || 1)).toFixed(1)}`).join('L'));
    },
    arrow(slot, [x, y, strength]) {
      if (slot.tagName === 'text') {
        const beyond = 1 + 12 / Math.max(Math.hypot(x, y), 1e-9);
        slot.setAttribute('x', (x * beyond).toFixed(1));
        slot.setAttribute('y', (y * beyond + 4).toFixed(1));
        return;
      }
      const length = Math.max(Math.hypot(x, y), 1e-9), f = v => v.toFixed(1);
      const bx = x * (1 - 9 / length), by = y * (1 - 9 / length), sx = -y / length * 4, sy = x / length * 4;
      slot.setAttribute('d', `M0 0L${f(x)} ${f(y)}M${f(bx + sx)} ${f(by + sy)}L${f(x)} ${f(y)}L${f(bx - sx)} ${f(by - sy)}`);
      slot.style.setProperty('--w', strength);
    },
    picture(slot, [source, words]) { slot.src = source; slot.alt = words; },
    // across, down, what lies over the picture, its words
    gaze(slot, values) {
      [...'xym'].forEach((name, i) => slot.style.setProperty('--' + name, values[i]));
      slot.ariaLabel = values[3];
    },
  };
  const kinds = { matrix: fill.cell, tokens: fill.cell, bars: fill.cell, curves: fill.curve, arrows: fill.arrow, picture: fill.picture, gaze: fill.gaze };

  class Explorer extends HTMLElement {
    connectedCallback() {
      if (this.alive) return;
      if (document.readyState === 'loading') { // our children are not parsed yet
        document.addEventListener('DOMContentLoaded', () => this.start(), { once: true });
      } else this.start();
    }

    start() {
      const source = this.querySelector('script[type="application/json"]');
      if (this.alive) return;
      this.alive = true;
      this.data = source && JSON.parse(source.textContent); // none in a live panel's result
      this.holders = [...this.querySelectorAll('.wtl-views > .wtl-view')];
      this.shown = this.holders.map(() => null);
      const labels = [...this.querySelectorAll('.wtl-controls > label')];
      this.fields = this.data?.names.map(name =>
        labels.find(label => label.dataset.name === name)?.querySelector('input, select'));
      const on = (kinds, act) => kinds.split(' ').forEach(kind => this.addEventListener(kind, act));
      on('pointerover focusin', e => this.point(e.target));
      on('pointerdown pointermove', e => this.trace(e));
      on('click', e => this.choose(e.target.closest(CELL)));
      on('keydown', e => this.key(e));
      if (this.data) {
        on('input', () => this.update());
        this.update();
        // a page that comes back gets its controls' places from the browser, after us
        if (document.readyState !== 'complete') addEventListener('pageshow', () => this.update(), { once: true });
      } else this.holders.forEach(holder => this.tabs(holder));
      this.dataset.alive = '';
    }

    // one cell of each map is in the page's tab order; arrow keys move on from there (Jupyter
    // takes them from any element that does not say otherwise itself)
    tabs(holder) {
      if (holder.querySelector('.wtl-map td[tabindex="0"]')) return;
      holder.querySelectorAll(`.wtl-map ${CELL}`).forEach((c, i) => {
        c.tabIndex = i ? -1 : 0;
        c.dataset.lmSuppressShortcuts = 'true';
      });
    }

    update() {
      const { names, counts, texts, views } = this.data, now = [];
      let frame = 0;
      names.forEach((name, i) => {
        const field = this.fields[i]; // a fixed control has none
        const at = !field ? 0 : field.type === 'checkbox' ? +field.checked : field.selectedIndex ?? +field.value;
        frame = frame * counts[i] + at;
        if (!field) return;
        const text = texts[i][at], output = field.parentNode.querySelector('output');
        if (output) output.textContent = text;
        if (field.type === 'range') field.setAttribute('aria-valuetext', text);
        now.push(`${field.parentNode.querySelector('span').textContent} ${text}`);
      });
      if (now.length) this.querySelector('.wtl-now').textContent = `Shown: ${now.join(', ')}`;
      views.forEach((view, v) => this.show(v, view, view.frames[frame]));
    }

    show(v, { skeletons }, [skeleton, ...values]) {
      let holder = this.holders[v], { cell, at } = holder;
      if (skeletons.length && this.shown[v] !== skeleton) {
        const box = document.createElement('template');
        box.innerHTML = skeletons[skeleton]; // written and escaped by Python
        holder.replaceWith(holder = this.holders[v] = box.content.firstChild);
        this.shown[v] = skeleton;
        this.tabs(holder);
        // what was being read in the old table is read on in the new one
        const same = cell && holder.querySelector('.wtl-map')?.rows[cell.parentNode.rowIndex]?.cells[cell.cellIndex];
        if (same?.matches(CELL)) holder.cell = same;
        if (holder.cell && cell.matches('.wtl-chosen')) this.choose(same);
        if (holder.dataset.kind === 'curves' && at !== undefined) holder.at = Math.min(at, JSON.parse(holder.dataset.x).length - 1);
      }
      holder.values = values;
      holder.querySelectorAll('[data-v]').forEach((slot, i) => {
        if (typeof values[i] === 'string') slot.textContent = values[i];
        else kinds[holder.dataset.kind](slot, values[i], holder);
      });
      this.tabs(holder);
      if (holder.cell) this.read(holder.cell);
      if (holder.at !== undefined) this.readCurve(holder, holder.at);
    }

    // --- reading a value: pointer, touch and keyboard alike ---

    point(target) {
      const cell = target.closest?.(CELL);
      if (cell && cell.closest('.wtl-map')) this.read(cell);
    }

    choose(cell) {
      if (!cell || !cell.closest('.wtl-map')) return;
      const table = cell.closest('table');
      table.querySelectorAll('td[tabindex="0"], .wtl-chosen').forEach(c => { c.tabIndex = -1; c.classList.remove('wtl-chosen'); });
      cell.tabIndex = 0;
      cell.classList.add('wtl-chosen');
      this.read(cell);
    }

    read(cell) {
      const view = cell.closest('.wtl-view'), { row, column, notes } = view.dataset;
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
    }

    // a picture on which the reader moves the gaze: it sets two sliders, across and down
    steer(pad, place) {
      pad.dataset.pad.split(' ').forEach((name, i) => {
        const field = this.fields[this.data.names.indexOf(name)];
        field.value = place(+field.value, +field.max, i);
      });
      this.update();
    }

    trace(e) {
      const pad = e.target.closest('[data-pad]');
      if (pad) {
        const { x, y, width, height } = pad.getBoundingClientRect();
        this.steer(pad, (_, max, i) => max * (i ? (e.clientY - y) / height : (e.clientX - x) / width));
      }
      const svg = e.target.closest('.wtl-curves');
      if (!svg) return;
      const box = svg.getBoundingClientRect(), x = (e.clientX - box.left) / box.width * 360;
      const view = svg.closest('.wtl-view'), where = JSON.parse(view.dataset.x);
      this.readCurve(view, where.reduce((best, w, i) => Math.abs(w - x) < Math.abs(where[best] - x) ? i : best, 0));
    }

    readCurve(view, at) {
      const { x, ticks, column, decimals } = view.dataset;
      if (!view.values) return;
      view.at = at;
      view.querySelector('.wtl-cursor').setAttribute('d', `M${JSON.parse(x)[at]} 8V166`);
      const names = [...view.querySelectorAll('.wtl-key > span')].map(s => s.textContent);
      view.querySelector('.wtl-read').textContent = `${column} ${JSON.parse(ticks)[at]}: ` +
        names.map((name, i) => `${name} ${printed(view.values[1 + i][at], +decimals)}`).join(', ');
    }

    key(e) {
      const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -1e6], End: [0, 1e6] }[e.key];
      if (!move || e.altKey || e.ctrlKey || e.metaKey) return; // Alt ← is the browser's
      const cell = e.target.closest('.wtl-map td'), svg = e.target.closest('.wtl-curves'), pad = e.target.closest('[data-pad]');
      if (pad) this.steer(pad, (at, _, i) => at + move[1 - i]);
      else if (cell) {
        const rows = cell.closest('tbody').rows, line = rows[Math.min(Math.max(cell.parentNode.sectionRowIndex + move[0], 0), rows.length - 1)];
        const cells = [...line.cells].filter(c => c.matches('td:not(.wtl-sum)'));
        const next = cells[Math.min(Math.max(cell.cellIndex - 1 + move[1], 0), cells.length - 1)];
        this.choose(next);
        next.focus();
      } else if (svg) {
        const view = svg.closest('.wtl-view'), last = JSON.parse(view.dataset.x).length - 1;
        this.readCurve(view, Math.min(Math.max((view.at ?? (move[1] < 0 ? last + 1 : -1)) + (move[1] || -move[0]), 0), last));
      } else return;
      e.preventDefault();
      e.stopPropagation();
    }
  }
  customElements.define(NAME, Explorer);
})();
