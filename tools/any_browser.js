// Open one page after another in a frame, try what a reader would, and report what did not work.
const wait = ms => new Promise(done => setTimeout(done, ms));
const until = async (test, what) => {
  for (let tries = 0; !test(); tries += 1) {
    if (tries > 300) throw new Error(`${what}: not within 15 s`);
    await wait(50);
  }
};

// every control goes to all of its places (at most a dozen); one of them must change a view
const tryControls = (explorer, fault) => {
  const fields = [...explorer.querySelectorAll('.wtl-controls :is(input, select)')];
  const views = explorer.querySelector('.wtl-views');
  for (const field of fields) {
    const last = field.type === 'checkbox' ? 1 : +(field.max || field.options?.length - 1), seen = new Set([views.innerHTML]);
    for (let at = 0; at <= last; at += Math.ceil(last / 12) || 1) {
      if (field.type === 'checkbox') field.checked = at; else if (field.options) field.selectedIndex = at; else field.value = at;
      field.dispatchEvent(new Event('input', { bubbles: true }));
      seen.add(views.innerHTML);
    }
    if (last && seen.size === 1) fault(`${explorer.label}: ${field.parentNode.dataset.name} changes nothing`);
  }
  return fields.length;
};

// a map: its colours are there, the keyboard reads it
const tryMap = (map, window, fault) => {
  const cells = [...map.querySelectorAll('td[data-v]:not(.wtl-sum, [data-hidden])')].filter(cell => cell.checkVisibility());
  const read = map.closest('.wtl-view').querySelector('.wtl-read');
  if (!cells.length || map.closest('[hidden]')) return;
  const share = cell => Math.abs(cell.share ?? +cell.style.getPropertyValue('--w'));
  const ranked = cells.toSorted((a, b) => share(a) - share(b)), [low, high] = [ranked[0], ranked.at(-1)];
  const fill = cell => window.getComputedStyle(cell).backgroundColor;
  if (!map.matches('.wtl-painted') && share(high) > share(low) && fill(high) === fill(low)) fault('a map has one colour');
  if (map.matches('.wtl-painted') && window.getComputedStyle(map.rows[1].cells[1], '::before').backgroundImage === 'none') fault('a large map is not painted');
  const ink = cell => window.getComputedStyle(cell).color;
  if (!map.matches('.wtl-dense, .wtl-signed') && share(high) > .9 && share(low) < .1 && ink(high) === ink(low)) fault('numbers on dark cells are dark');
  const from = cells[0];
  from.focus();
  from.dispatchEvent(new window.FocusEvent('focusin', { bubbles: true })); // a frame that has no focus sends none
  from.dispatchEvent(new window.KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true, cancelable: true }));
  if (!read.textContent) fault('a cell is not read');
};

// the picture is made; it is not kept
const trySave = async (explorer, window, fault) => {
  let saved;
  window.HTMLAnchorElement.prototype.click = function () { saved = this.href; };
  try {
    await window.wtl.save(explorer);
    if (!saved?.startsWith('data:image/png') || saved.length < 2000) fault(`${explorer.label}: the saved picture is empty`);
  } catch (error) { fault(`${explorer.label}: no picture is saved: ${error}`); }
};

const visit = async (frame, path) => {
  const report = { path, explorers: 0, controls: 0, faults: [] }, fault = words => report.faults.push(words);
  try {
    frame.style.width = '1280px';
    const loaded = new Promise(done => frame.addEventListener('load', done, { once: true }));
    frame.src = path === 'search.html' ? '/search.html?q=掩码' : `/${path}`;
    await loaded;
    const { contentWindow: window, contentDocument: page } = frame;
    await until(() => !page.querySelector('wtl-explorer:not([data-alive])'), 'explorers alive');
    await page.fonts.ready;
    const explorers = [...page.querySelectorAll('wtl-explorer')];
    report.explorers = explorers.length;
    for (const explorer of explorers) report.controls += tryControls(explorer, fault);
    for (const map of page.querySelectorAll('.wtl-map')) tryMap(map, window, fault);
    if (explorers.length) await trySave(explorers[0], window, fault);
    if (path === 'search.html') await until(() => page.querySelectorAll('#search-results li').length > 2, 'search finds 掩码');
    for (const width of [1280, 390]) {
      frame.style.width = `${width}px`;
      await wait(200);
      if (page.documentElement.scrollWidth > width) fault(`${page.documentElement.scrollWidth} pixels wide where there are ${width}`);
    }
    window.faults.forEach(fault);
  } catch (error) { fault(`${error}`); }
  return report;
};

(async () => {
  const frame = document.body.appendChild(document.createElement('iframe'));
  Object.assign(frame.style, { height: '900px', border: 0 });
  for (const path of PAGES) await fetch('/report', { method: 'POST', body: JSON.stringify(await visit(frame, path)) });
  document.title = 'All pages were tried';
})();
