// Pictures: a frame is a source and its words. The picture that stood there first is not sent again.
(globalThis.wtl ??= {}).picture = {
  fill(slot, [source, words]) {
    slot.first ??= slot.src;
    slot.src = source || slot.first;
    slot.alt = words;
  },
};
