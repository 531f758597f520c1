// A plane: the reader moves the query; weights and output follow. The same numbers as torch's in
// Plane.attention (plane.py): a browser test compares the two.
(globalThis.wtl ??= {}).plane = {
  attend(query, keys, values, scale, cosine) {
    const side = v => cosine ? v.map(at => at / (Math.hypot(...v) || 1)) : v, [x, y] = side(query);
    const scores = keys.map(side).map(key => scale * (x * key[0] + y * key[1]));
    const top = Math.max(...scores), exps = scores.map(score => Math.exp(score - top));
    const sum = exps.reduce((a, b) => a + b), weights = exps.map(e => e / sum), chain = [[0, 0]];
    weights.forEach((w, i) => chain.push(chain[i].map((at, axis) => at + w * values[i][axis])));
    return { scores, weights, chain, output: chain.at(-1) };
  },

  fill(slot, now, view) { view.dataset.now = JSON.stringify(now); },
  follow(view, old) { view.query = old.query; },

  // at the start, when a control moved, when the query did
  refresh(view) {
    const all = css => view.querySelectorAll(css), one = css => all(css)[0], { given, now, reach } = view.dataset;
    const [keys, values, home] = JSON.parse(given);
    const [x, y] = view.query = (view.query ?? home).map(at => wtl.tools.clamp(at, -reach, +reach));
    const { scores, weights, chain, output } = this.attend([x, y], keys, values, ...JSON.parse(now));
    const place = end => [100 * end[0] / reach, -100 * end[1] / reach];
    const draw = (css, end) => all(css + ' :not(circle)').forEach(part => wtl.arrows.fill(part, [...place(end), .3]));
    draw('.wtl-asks', [x, y]);
    draw('.wtl-gets', output);
    one('circle').style.transform = `translate(${place([x, y]).join('px,')}px)`;
    // a finger on the query moves it and not the page; touch-action does not reach into an SVG
    one('circle').ontouchmove = e => e.preventDefault();
    one('.wtl-chain').setAttribute('d', 'M' + chain.map(place).join('L'));
    all('[data-weights] > *').forEach((part, i) => part.style.setProperty('--w', weights[i % keys.length]));
    const numbers = [x, y, Math.hypot(x, y), Math.atan2(y, x) * 180 / Math.PI, ...output, ...scores.flatMap((score, i) => [score, weights[i]])];
    all('span, tbody td').forEach((slot, i) => {
      const digits = i - 3 ? 2 : 0;
      slot.textContent = wtl.tools.printed(Math.round(numbers[i] * 10 ** digits), digits);
    });
    // a screen reader hears where the query came to rest, not all of its way
    if ((view.numbers ?? numbers) + '' !== numbers + '') {
      clearTimeout(view.rest);
      view.rest = setTimeout(() => { one('.wtl-said').textContent = one('.wtl-words').innerText; }, 500);
    }
    view.numbers = numbers;
  },

  pointerdown(e) { e.target.closest('circle')?.setPointerCapture(e.pointerId); },
  pointermove(e, view) { if (e.target.closest('circle')?.hasPointerCapture(e.pointerId)) this.click(e, view); },
  click(e, view) {
    const plane = e.target.closest('.wtl-planes > svg');
    if (!plane) return;
    const { x, y, width } = plane.getBoundingClientRect(), unit = 2.3 * view.dataset.reach / width;
    view.query = [(e.clientX - x - width / 2) * unit, (y + width / 2 - e.clientY) * unit];
    this.refresh(view);
  },

  keydown(e, view) {
    const move = wtl.tools.move(e), [x, y] = view.query, step = view.dataset.reach / (e.shiftKey ? 200 : 20);
    if (!move) return;
    wtl.tools.taken(e);
    view.query = Math.abs(move[1]) > 1 ? undefined : [x + step * move[1], y - step * move[0]];
    this.refresh(view);
  },
};
