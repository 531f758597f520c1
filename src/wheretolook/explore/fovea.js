// A picture with a gaze on it; the reader may move it on the picture itself: it steers two sliders.
(globalThis.wtl ??= {}).fovea = {
  // across, down, what lies over the picture, its words
  fill(slot, values) {
    [...'xym'].forEach((name, i) => slot.style.setProperty('--' + name, values[i]));
    slot.ariaLabel = values[3];
  },

  steer(pad, explorer, place) {
    pad.dataset.pad.split(' ').forEach((name, i) => explorer.steer(name, (at, end) => place(at, end, i)));
    explorer.update();
  },

  pointerdown(e, view, explorer) { this.pointermove(e, view, explorer); },
  pointermove(e, view, explorer) {
    const pad = e.target.closest('[data-pad]');
    if (!pad) return;
    const { x, y, width, height } = pad.getBoundingClientRect();
    this.steer(pad, explorer, (_, end, i) => end * (i ? (e.clientY - y) / height : (e.clientX - x) / width));
  },

  keydown(e, view, explorer) {
    const move = wtl.tools.move(e), pad = e.target.closest('[data-pad]');
    if (!move || !pad) return;
    this.steer(pad, explorer, (at, _, i) => at + move[1 - i]);
    wtl.tools.taken(e);
  },
};
