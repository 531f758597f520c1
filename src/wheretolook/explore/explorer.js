// An explorer: native controls choose a frame, the frame's values go into the slots ([data-v]).
// Python wrote the markup and computed every number. What a slot of some kind of view looks like,
// and what its pointer and keys do, stands in that view's own script (contract: CONTRIBUTING.md).
// The element upgrades itself wherever it appears: a page, a notebook, a frame.
(() => {
  const NAME = 'wtl-explorer', EVENTS = ['pointerover', 'focusin', 'pointerdown', 'pointermove', 'click', 'keydown'];
  const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -1e6], End: [0, 1e6] };
  const known = customElements.get(NAME);
  if (known) { known.wake(); return; } // a later output may have brought a new kind of view

  const tools = {
    // a number of Python's, in units of its last digit, as it is printed
    printed: (value, decimals) => value === null ? '−∞' : (value / 10 ** decimals).toFixed(decimals).replace('-', '−'),
    clamp: (value, low, high) => Math.min(Math.max(value, low), high),
    // the rows and columns that a key means to go; Alt ← is the browser's
    move: e => e.altKey || e.ctrlKey || e.metaKey ? undefined : MOVES[e.key],
    // a line that is read aloud when it changes is written only then
    tell(line, words) { if (line.textContent !== words) line.textContent = words; },
    taken(e) { e.preventDefault(); e.stopPropagation(); },
    // a number's share of the scale, which the style makes a colour or a length
    shareOf: (value, { dataset: { decimals, limit } }) => +limit === 0 ? 0 : value / 10 ** decimals / limit,
    share(slot, value, view) { slot.style.setProperty('--w', tools.shareOf(value, view)); },
    // a number in a slot: its text and its share
    fill(slot, value, view) {
      tools.share(slot, value, view);
      slot.textContent = tools.printed(value, +view.dataset.decimals);
    },
  };
  const kinds = Object.assign(globalThis.wtl ??= {}, { tools });

  class Explorer extends HTMLElement {
    static wake() { document.querySelectorAll(`${NAME}:not([data-alive])`).forEach(one => one.start()); }

    connectedCallback() {
      if (document.readyState === 'loading') { // our children are not parsed yet
        document.addEventListener('DOMContentLoaded', () => this.start(), { once: true });
      } else this.start();
    }

    start() {
      this.holders = [...this.querySelectorAll('.wtl-views > .wtl-view')];
      if (this.alive || this.holders.some(view => view.dataset.script && !kinds[view.dataset.kind])) return;
      this.alive = true;
      const source = this.querySelector('script[type="application/json"]');
      this.data = source && JSON.parse(source.textContent); // none in a live panel's result
      this.shown = this.holders.map(() => null);
      const labels = [...this.querySelectorAll('.wtl-controls > label')];
      this.fields = this.data?.names.map(name =>
        labels.find(label => label.dataset.name === name)?.querySelector('input, select'));
      for (const type of EVENTS) this.addEventListener(type, e => {
        const view = e.target.closest?.('.wtl-view');
        if (view) this.part(view)[type]?.(e, view, this);
      });
      this.addEventListener('click', e => {
        const button = e.target.closest('.wtl-foot button');
        if (button) this[button.dataset.do](button);
      });
      if (this.data) {
        this.restore();
        addEventListener('hashchange', () => { if (this.restore()) this.update(); });
        this.addEventListener('input', e => { if (e.isTrusted) this.pause(); this.update(); });
        this.querySelectorAll('[data-play]').forEach(button => {
          button.words = button.textContent;
          button.addEventListener('click', () => button.timer ? this.pause() : this.play(button));
        });
        this.update();
        // a page that comes back gets its controls' places from the browser, after us
        if (document.readyState !== 'complete') addEventListener('pageshow', () => this.update(), { once: true });
      } else this.holders.forEach(view => this.part(view).refresh?.(view, this));
      this.dataset.alive = '';
    }

    part(view) { return kinds[view.dataset.kind] ?? {}; }

    update() {
      const { names, counts, texts, views } = this.data, now = [];
      let frame = 0;
      names.forEach((name, i) => {
        const field = this.fields[i]; // a fixed control has none
        const at = field ? this.place(field) : 0;
        frame = frame * counts[i] + at;
        if (!field) return;
        const text = texts[i][at], output = field.parentNode.querySelector('output');
        if (output) tools.tell(output, text);
        if (field.type === 'range') field.setAttribute('aria-valuetext', text);
        now.push(`${field.parentNode.querySelector('span').textContent} ${text}`);
      });
      if (now.length) this.querySelector('.wtl-now').textContent = `Shown: ${now.join(', ')}`;
      views.forEach((view, v) => this.show(v, view, view.frames[frame]));
    }

    show(v, { skeletons }, [skeleton, ...values]) {
      let view = this.holders[v];
      if (skeletons.length && this.shown[v] !== skeleton) {
        const old = view, box = document.createElement('template');
        box.innerHTML = skeletons[skeleton]; // written and escaped by Python
        old.replaceWith(view = this.holders[v] = box.content.firstChild);
        this.shown[v] = skeleton;
        this.part(view).follow?.(view, old, this);
      }
      const part = this.part(view);
      view.values = values;
      view.querySelectorAll('[data-v]').forEach((slot, i) => {
        if (typeof values[i] === 'string') slot.textContent = values[i];
        else (part.fill ? part : tools).fill(slot, values[i], view, this);
      });
      part.refresh?.(view, this);
    }

    get label() { return this.getAttribute('aria-label'); }

    // a link says which explorer, and where each control stands, in words: it outlives new values
    link(button) {
      const { names, texts } = this.data, state = new URLSearchParams({ explorer: this.label });
      names.forEach((name, i) => { if (this.fields[i]) state.set(name, texts[i][this.place(this.fields[i])]); });
      history.replaceState(null, '', `#${state}`);
      const say = words => this.say(button, words);
      if (navigator.clipboard) navigator.clipboard.writeText(location.href).then(() => say('Copied'), () => say('It is in the address bar'));
      else say('It is in the address bar');
    }

    restore() {
      const state = new URLSearchParams(location.hash.slice(1));
      if (state.get('explorer') !== this.label) return false;
      this.data.names.forEach((name, i) => {
        const field = this.fields[i], at = this.data.texts[i].indexOf(state.get(name));
        if (!field || at < 0) return;
        if (field.type === 'checkbox') field.checked = at; else if (field.type === 'range') field.value = at; else field.selectedIndex = at;
      });
      this.scrollIntoView();
      return true;
    }

    save(button) { wtl.save(this).then(() => this.say(button, 'Saved'), () => this.say(button, 'This browser can’t')); }

    // a button tells what it has done, and then what it does
    say(button, words) {
      const before = button.words ??= button.textContent;
      button.textContent = words;
      setTimeout(() => { button.textContent = before; }, 2000);
    }

    place(field) { return field.type === 'checkbox' ? +field.checked : field.selectedIndex ?? +field.value; }

    // run a control by itself, from its start if it stood at its end
    play(button) {
      const field = button.previousElementSibling.querySelector('input');
      const step = () => {
        field.value = +field.value + 1;
        this.update();
        if (field.value === field.max) this.pause();
      };
      this.pause();
      if (field.value === field.max) { field.value = 0; this.update(); }
      button.timer = setInterval(step, +button.dataset.play);
      button.textContent = 'Pause';
    }

    pause() {
      this.querySelectorAll('[data-play]').forEach(button => {
        clearInterval(button.timer);
        button.timer = null;
        button.textContent = button.words;
      });
    }

    disconnectedCallback() { if (this.alive) this.pause(); }

    // put a control where `place` says, from where it is and where it ends; views may steer
    steer(name, place) {
      const field = this.fields[this.data.names.indexOf(name)];
      field.value = place(+field.value, +field.max);
    }
  }
  customElements.define(NAME, Explorer);
})();
