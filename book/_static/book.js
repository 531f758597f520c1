// What scrolls sideways is reached by keyboard, as long as it does scroll (the theme does the rest).
const reach = () => document.querySelectorAll('article :is(.math, .wtl-scroll, table)').forEach(one => {
  const within = one.querySelector('[tabindex]:not([tabindex="-1"])');
  if (one.scrollWidth > one.clientWidth && !within) one.tabIndex = 0; else one.removeAttribute('tabindex');
});
addEventListener('load', reach);
addEventListener('resize', reach);

// Paper has nothing to open: with ?print=solutions, hints and solutions stand there open.
if (new URLSearchParams(location.search).get('print') === 'solutions')
  document.querySelectorAll(':is(.exercise, .solution) details').forEach(one => { one.open = true; });
