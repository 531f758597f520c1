// Save what an explorer shows as a picture. A copy that carries its own style is drawn by the
// browser itself: as an image of markup (foreignObject), and that on a canvas, at twice the size.
(globalThis.wtl ??= {}).save = async explorer => {
  const KEPT = ('align-items aspect-ratio background background-clip border-bottom border-collapse border-left border-right border-top border-radius border-spacing bottom box-shadow box-sizing ' +
    'caption-side color column-gap display fill fill-opacity flex-wrap font-family font-size font-style font-variant-numeric font-weight gap grid-area grid-template-columns height image-rendering inset ' +
    'isolation justify-items left line-height list-style margin mask max-width min-height min-width opacity outline outline-offset overflow padding position right ' +
    'stroke stroke-dasharray stroke-linecap stroke-width table-layout text-align text-anchor text-decoration top transform vector-effect vertical-align visibility white-space width ' +
    'writing-mode z-index filter').split(' ');
  const dress = (copy, style) => KEPT.forEach(name => // a picture has no scroll bars
    copy.style.setProperty(name, style.getPropertyValue(name).replace(/^(auto|scroll)\b.*/, name !== 'overflow' ? '$&' : style.visibility === 'hidden' ? 'hidden' : 'visible')));

  // an image of markup loads no file: the page's own fonts go into it as data
  const fonts = async () => {
    const rules = [...document.styleSheets].flatMap(sheet => {
      try { return [...sheet.cssRules].map(rule => [rule, sheet.href ?? location.href]); } catch { return []; } // a sheet of another host, or of a file
    });
    const { fontFamily } = getComputedStyle(explorer);
    const used = rules.filter(([rule]) => rule instanceof CSSFontFaceRule && fontFamily.includes(rule.style.fontFamily));
    const written = used.map(async ([{ cssText }, base]) => {
      const name = cssText.match(/url\("?(.*?)"?\)/)[1], answer = await fetch(new URL(name, base));
      const bytes = new Uint8Array(await answer.arrayBuffer());
      return cssText.replace(name, `data:font/woff2;base64,${btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''))}`);
    });
    return (await Promise.allSettled(written)).map(one => one.value ?? '').join('');
  };

  const clone = node => {
    if (node.nodeType === Node.TEXT_NODE) return node.cloneNode();
    const copy = node.cloneNode(), style = getComputedStyle(node);
    if (style.display === 'none') return document.createTextNode('');
    dress(copy, style);
    if (node.matches('div:not(.wtl-stage), p, table, tr')) copy.style.height = 'auto'; // lines may break elsewhere
    copy.append(...[...node.childNodes].filter(child => child.nodeType < 8 && !child.matches?.('script, style, .wtl-close, .wtl-switch button')).map(clone));
    for (const [pseudo, put] of [['::before', 'prepend'], ['::after', 'append']]) {
      const drawn = getComputedStyle(node, pseudo);
      if (drawn.content === 'none' || drawn.content === 'normal') continue;
      const part = document.createElement('span');
      part.textContent = drawn.content.replace(/^"|"$/g, '');
      dress(part, drawn);
      copy[put](part);
    }
    return copy;
  };

  const copy = document.createElement('div');
  dress(copy, getComputedStyle(explorer));
  Object.assign(copy.style, { margin: 0, height: 'auto' });
  copy.append(...[...explorer.children].filter(child => child.matches('p:not(.wtl-foot, .wtl-now), .wtl-views')).map(clone));
  const said = explorer.querySelector('.wtl-now')?.textContent;
  if (said) { // the controls are not in the picture; where they stand is
    const line = document.createElement('p');
    line.textContent = said;
    dress(line, getComputedStyle(explorer.querySelector('.wtl-label')));
    line.style.fontWeight = 400;
    copy.children[0].after(line);
  }
  const { style } = copy;
  style.position = 'fixed'; // only to be measured
  explorer.after(copy);
  const { width: room, height } = copy.getBoundingClientRect();
  // what scrolls on the screen is all there in the picture
  const width = copy.scrollWidth > copy.clientWidth ? copy.scrollWidth + parseFloat(style.padding) : room;
  style.width = `${width}px`;
  copy.remove();
  style.position = 'static';
  const body = new XMLSerializer().serializeToString(copy);
  const source = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><style>${await fonts()}</style><foreignObject width="100%" height="100%">${body}</foreignObject></svg>`;
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(source)}`;
  await image.decode();
  const canvas = Object.assign(document.createElement('canvas'), { width: 2 * width, height: 2 * height });
  const context = canvas.getContext('2d');
  context.scale(2, 2);
  context.drawImage(image, 0, 0);
  Object.assign(document.createElement('a'), { href: canvas.toDataURL('image/png'), download: `${explorer.label}.png` }).click();
};
