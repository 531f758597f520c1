// Measure one explorer, in the page. An input is dispatched and the layout forced: that is its
// time, if it changed anything. Then come two frames: at the second one's start the first is
// painted. `view` null: the explorer's controls; else the view with this number, by itself.
async ({ explorer, view, inputs }) => {
  const host = document.querySelectorAll('wtl-explorer')[explorer], pick = list => list[Math.floor(Math.random() * list.length)];
  const frame = () => new Promise(requestAnimationFrame);
  const fields = [...host.querySelectorAll('.wtl-controls :is(input, select)')];

  const control = () => {
    const field = pick(fields), last = +(field.max || field.options?.length - 1);
    if (field.type === 'checkbox') field.checked = !field.checked;
    else field[field.options ? 'selectedIndex' : 'value'] = Math.floor(Math.random() * (last + 1));
    return [field, new Event('input', { bubbles: true })];
  };

  const own = () => {
    const now = host.querySelectorAll('.wtl-views > .wtl-view')[view], part = wtl[now.dataset.kind] ?? {};
    const types = ['pointerover', 'pointermove', 'click', 'keydown'].filter(type => part[type]);
    const places = [...now.querySelectorAll('td[data-v], svg, button, summary, [data-pad], [tabindex]')];
    if (!types.length || !places.length) return [];
    const type = pick(types), keys = places.filter(place => place.tabIndex === 0);
    if (type === 'keydown') return [pick(keys.length ? keys : places), new KeyboardEvent(type, { key: pick(['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown']), bubbles: true, cancelable: true })];
    const place = pick(places), { x, y, width, height } = place.getBoundingClientRect();
    const at = { clientX: x + width * Math.random(), clientY: y + height * Math.random() };
    return [place, new PointerEvent(type, { ...at, bubbles: true, cancelable: true })];
  };

  const watch = new MutationObserver(() => {}), times = [], frames = [];
  watch.observe(host, { subtree: true, childList: true, characterData: true, attributes: true });
  host.scrollIntoView();
  for (let tries = 0; times.length < inputs && tries < 5 * inputs; tries += 1) {
    const [target, event] = view === null ? control() : own();
    if (!target) break;
    await frame(); // an input comes between two frames, and finds the page at rest
    watch.takeRecords();
    const start = performance.now();
    target.dispatchEvent(event);
    host.getBoundingClientRect();
    document.body.offsetHeight;
    const done = performance.now();
    if (!watch.takeRecords().length) continue;
    await frame();
    await frame();
    times.push(done - start);
    frames.push(performance.now() - start);
  }
  return { times, frames };
}
