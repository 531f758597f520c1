// Arithmetic: where a weight comes from, below its map. All numbers are torch's, in units of their
// last digit (working in arithmetic.py); only the product of two printed factors is made here.
(globalThis.wtl ??= {}).arithmetic = {
  open(panel, i, j, query, key) {
    const [words, [width, leftPlaces, rightPlaces, places, valuePlaces, li, lj, ri, rj, scale], left, right,
      raw, scores, top, exps, sums, weights, value, output] = panel.why ?? JSON.parse(panel.dataset.why);
    const { printed } = wtl.tools, S = scores.length / top.length, at = i * S + j, wide = value.length / S;
    const two = n => printed(n, 2), three = n => printed(n, 3), weight = printed(weights[at], places);
    const safe = text => text.replace(/[&<>"]/g, c => `&#${c.charCodeAt()};`);
    const named = text => text.replace(/\{(.)\}/g, (_, name) => safe(name === 'q' ? query : key));

    // a term for each n: both factors with their places, and what else stands below their product
    const terms = (label, count, term) => {
      const all = [...Array(count).keys()].map(term);
      const products = all.map(([a, as, b, bs]) => Math.round(a * b * 10 ** (2 - as - bs)));
      const most = Math.max(1, ...products.map(Math.abs));
      return `<div class="wtl-terms wtl-focus" role="group" aria-label="${label}"${count > 12 ? ' tabindex="0" data-lm-suppress-shortcuts="true"' : ''}>${all.map(([a, as, b, bs, of = ''], n) =>
        `<span class="wtl-term"><span>${printed(a, as)}</span> <span>× ${printed(b, bs)}</span> <b style="--w:${products[n] / most}">= ${two(products[n])}</b>${of}</span> `).join('')}</div>`;
    };
    const step = (name, text) => `<p><b>${name}</b> ${text}</p>`;

    const [one, other, factor] = words.map(named), pair = `${one} × ${other}`, score = two(scores[at]);
    let text = `<p class="wtl-from">${safe(query)} → ${safe(key)}: <b>${weight}</b></p>`;
    text += width ? step('compare', `${pair}, term by term:`)
      + terms(pair, width, t => [left[i * li + j * lj + t], leftPlaces, right[i * ri + j * rj + t], rightPlaces])
      + `<p>The score, their sum${factor && ` × ${factor}`}: ${two(raw[at])}${factor && ` × ${three(scale)} = ${score}`}.</p>`
      : step('compare', `The score is ${score}.`);

    if (exps[at] === null) {
      text += step('mask', top[i] === null ? 'Every key of this row is hidden. Softmax would be 0/0; its weights are set to 0, and so its output.'
        : 'This key is hidden: its score becomes −∞, exp(−∞) = 0, and so the weight is 0.')
        + step('sum', named('Value {k} adds nothing to the output of {q}.'));
    } else {
      const most = two(top[i]), row = exps.slice(i * S, i * S + S).map(n => n === null ? 0 : three(n)).join(' + ');
      const adds = named('value {k} × weight, added to the output of {q}');
      text += step('normalise', `exp(${score} − ${top[i] < 0 ? `(${most})` : most}) = ${three(exps[at])}. <span class="wtl-of">The row’s largest score, ${most}, is subtracted from each: the shares stay the same, and no exp is too large.</span>`)
        + `<p>Over the row’s sum${S > 8 ? '' : `, ${row}`}: ${three(exps[at])} / ${three(sums[i])} = ${weight}.</p>`
        + step('sum', `${adds}:`)
        + terms(adds, wide, n => [value[j * wide + n], valuePlaces, weights[at], places, ` <span class="wtl-of">of ${two(output[i * wide + n])}</span>`]);
    }
    panel.hint ??= panel.innerHTML;
    panel.innerHTML = '<button type="button" class="wtl-close" aria-label="Close" title="Close (Esc)">×</button>' + text;
    const { style } = panel; // once grown it stays, so that what stands below stays where it is
    style.minHeight = `${Math.max(parseFloat(style.minHeight) || 0, panel.offsetHeight)}px`;
  },

  close(panel) {
    panel.innerHTML = panel.hint;
    panel.style.minHeight = '';
  },
};
