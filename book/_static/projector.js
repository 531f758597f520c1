// Projector mode, for a page in front of a class. It is an attribute of <html>: the style makes type
// large, side bars go, and an explorer can fill the screen. It lasts as long as the tab does, from
// page to page. The button in the header turns it on and off, and so does Alt+P; an address with
// ?projector begins in it: a line in the head sees to that before anything is laid out.
(() => {
  const MODE = 'projector', root = document.documentElement;
  const LARGEST = 2.5, STEP = 0.05, LINES = 45; // so many lines of the smallest type make a screen

  const on = () => root.hasAttribute(`data-${MODE}`);
  const set = state => {
    root.toggleAttribute(`data-${MODE}`, state);
    sessionStorage.setItem(MODE, state ? 'on' : '');
  };
  set(new URLSearchParams(location.search).has(MODE) || Boolean(sessionStorage.getItem(MODE)));

  const toggle = () => {
    leave();
    set(!on());
    const asked = new URLSearchParams(location.search);
    asked.delete(MODE); // the address is a beginning, and no longer says how things stand
    history.replaceState(history.state, '', `${location.pathname}${asked.size ? `?${asked}` : ''}${location.hash}`);
    dress();
  };

  // the header's button says how things stand; each explorer gets a button of its own
  const dress = () => {
    document.querySelector('.btn-projector')?.setAttribute('aria-pressed', on());
    if (on()) document.querySelectorAll('wtl-explorer:not(:has(> .wtl-fill))').forEach(one => {
      const button = document.createElement('button');
      Object.assign(button, { type: 'button', className: 'wtl-fill', textContent: 'Full screen' });
      button.addEventListener('click', () => filling() === one ? leave() : fill(one));
      one.prepend(button);
    });
  };

  const filling = () => document.querySelector('[data-fills]');

  // where a browser refuses its full screen, the explorer fills the window
  const fill = one => {
    one.dataset.fills = '';
    one.firstChild.textContent = 'Leave full screen';
    one.requestFullscreen?.().catch(() => {});
    fit(LARGEST);
  };

  const leave = () => {
    const one = filling();
    if (!one) return;
    delete one.dataset.fills;
    one.firstChild.textContent = 'Full screen';
    if (document.fullscreenElement) document.exitFullscreen();
    one.scrollIntoView({ block: 'center' });
    one.firstChild.focus({ preventScroll: true });
  };

  const fits = one => one.scrollHeight <= one.clientHeight
    && [one, ...one.querySelectorAll('.wtl-scroll')].every(part => part.scrollWidth <= part.clientWidth);

  // The largest scale at which nothing is cut off, with the controls above the views or beside them;
  // what could not be read from the last row then scrolls.
  const fit = from => {
    const one = filling();
    if (!one) return;
    const least = innerHeight / LINES / parseFloat(getComputedStyle(root).fontSize);
    const places = one.querySelector(':scope > .wtl-controls') ? ['', 'beside'] : [''];
    for (let scale = from; ; scale -= STEP) {
      one.style.setProperty('--scale', scale);
      if (fits(one) || places.some(place => { one.dataset.fills = place; return fits(one); })) return;
      if (scale - STEP < least) return;
    }
  };
  // what grows in use becomes smaller when it must, and never jumps back
  const keep = () => { if (filling()) fit(+filling().style.getPropertyValue('--scale')); };

  addEventListener('DOMContentLoaded', () => {
    document.querySelector('.btn-projector')?.addEventListener('click', toggle);
    dress();
  });
  addEventListener('resize', () => fit(LARGEST));
  addEventListener('fullscreenchange', () => document.fullscreenElement ? fit(LARGEST) : leave());
  for (const type of ['input', 'click', 'keyup']) addEventListener(type, keep);
  addEventListener('click', e => { // where the chosen weight comes from
    if (e.target.closest('[data-fills] .wtl-map')) filling().querySelector('.wtl-why')?.scrollIntoView({ block: 'nearest' });
  });
  // a page that comes back as it was left may have been overtaken on another
  addEventListener('pageshow', e => {
    if (!e.persisted) return;
    leave();
    set(Boolean(sessionStorage.getItem(MODE)));
    dress();
  });
  addEventListener('keydown', e => { // AltGr, which writes letters, is Ctrl and Alt
    if (e.altKey && !e.ctrlKey && e.code === 'KeyP') { e.preventDefault(); toggle(); }
    if (e.key === 'Escape') leave(); // one that closed something inside does not come here
  });
  // what lies behind a window that is filled is out of reach for the keyboard, too
  addEventListener('focusin', e => { const one = filling(); if (one && !one.contains(e.target)) one.firstChild.focus(); });
})();
