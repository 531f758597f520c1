// Arrows: the same path as arrow_path in arrows.py, and a name beyond its tip.
(globalThis.wtl ??= {}).arrows = {
  fill(slot, [x, y, strength]) {
    const length = Math.max(Math.hypot(x, y), 1e-9), f = v => v.toFixed(1);
    if (slot.tagName === 'text') {
      const beyond = 1 + 12 / length;
      slot.setAttribute('x', f(x * beyond));
      slot.setAttribute('y', f(y * beyond + 4));
      return;
    }
    const bx = x * (1 - 9 / length), by = y * (1 - 9 / length), sx = -y / length * 4, sy = x / length * 4;
    slot.setAttribute('d', `M0 0L${f(x)} ${f(y)}M${f(bx + sx)} ${f(by + sy)}L${f(x)} ${f(y)}L${f(bx - sx)} ${f(by - sy)}`);
    slot.style.setProperty('--w', strength);
  },
};
