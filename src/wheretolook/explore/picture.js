// Pictures: a frame is a source and its words.
(globalThis.wtl ??= {}).picture = {
  fill(slot, [source, words]) { slot.src = source; slot.alt = words; },
};
