"use strict";
(function () {
  const left = 10, span = 1180, letter = 7.3;
  const byId = (id) => document.getElementById(id);
  const frames = Array.from(document.querySelectorAll("g.frame"), (g) => ({
    g, rect: g.querySelector("rect"), text: g.querySelector("text"), name: g.dataset.n,
    x: Number(g.dataset.x), w: Number(g.dataset.w), level: Number(g.dataset.l),
    fill: g.querySelector("rect").getAttribute("fill"),
  }));

  function fitting(name, width) {
    const room = Math.floor((width - 6) / letter), letters = Array.from(name);
    if (letters.length <= room) return name;
    return room < 3 ? "" : letters.slice(0, room - 2).join("") + "..";
  }

  // Frames below the chosen one keep the whole width, those beside it go.
  function zoom(to) {
    const slack = 1e-8;
    for (const f of frames) {
      const over = f.level < to.level && f.x <= to.x + slack && f.x + f.w >= to.x + to.w - slack;
      const inside = f.level >= to.level && f.x >= to.x - slack && f.x + f.w <= to.x + to.w + slack;
      f.g.style.display = over || inside ? "" : "none";
      f.g.style.opacity = over ? "0.5" : "1";
      if (!over && !inside) continue;
      const x = over ? left : left + (f.x - to.x) / (to.w || 1) * span;
      const width = over ? span : f.w / (to.w || 1) * span;
      f.rect.setAttribute("x", x.toFixed(2));
      f.rect.setAttribute("width", width.toFixed(2));
      f.text.setAttribute("x", (x + 3).toFixed(2));
      f.text.textContent = fitting(f.name, width);
    }
  }

  // The share is that of frames that are not on another one that was found.
  function search(words) {
    let wanted = null;
    try { wanted = words ? new RegExp(words) : null; } catch (error) { wanted = { test: (s) => s.includes(words) }; }
    const found = frames.filter((f) => wanted !== null && wanted.test(f.name));
    for (const f of frames) f.rect.setAttribute("fill", f.fill);
    for (const f of found) f.rect.setAttribute("fill", "#d050e0");
    let share = 0, end = -1;
    for (const f of found.slice().sort((a, b) => a.x - b.x || b.w - a.w)) {
      if (f.x + f.w <= end + 1e-9) continue;
      share += f.w;
      end = f.x + f.w;
    }
    byId("found").textContent = wanted === null ? "" : "Found: " + (100 * share).toFixed(2) + "%";
  }

  function ask() { search(window.prompt("Regular expression:", "") || ""); }
  for (const f of frames) f.g.addEventListener("click", () => zoom(f));
  byId("reset").addEventListener("click", () => zoom(frames[0]));
  byId("search").addEventListener("click", ask);
  window.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { zoom(frames[0]); search(""); }
    if (event.key === "/") { event.preventDefault(); ask(); }
  });
})();
