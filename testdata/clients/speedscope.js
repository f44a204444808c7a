// Selects the function `work` in speedscope's sandwich view, moves over the graph of its callers, and leaves
// what is said there in the element "said": the row of the function, then one line for each frame.
(async function () {
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const rows = () => Array.from(document.querySelectorAll("tr")).filter((row) => row.querySelector("td[title]"));
  const work = () => rows().find((row) => row.lastElementChild.textContent === "work");
  for (let tries = 0; tries < 200 && !work(); tries++) await wait(50);
  const said = [Array.from(work().children).map((cell) => cell.textContent).join(" ")];
  work().dispatchEvent(new MouseEvent("click", { bubbles: true }));
  await wait(500);
  // The first canvas is the page's, the others are the callers' and the callees'.
  const canvas = document.querySelectorAll("canvas")[1];
  const box = canvas.getBoundingClientRect();
  const isTip = (div) => getComputedStyle(div).position === "absolute" && /%\) /.test(div.textContent);
  for (let y = 5; y < box.height; y += 10)
    for (const x of [0.1, 0.5, 0.9]) {
      const at = { bubbles: true, clientX: box.x + x * box.width, clientY: box.y + y };
      canvas.dispatchEvent(new MouseEvent("mousemove", at));
      await wait(20);
      const tips = Array.from(document.querySelectorAll("div")).filter(isTip).map((div) => div.textContent);
      said.push(...tips.filter((tip) => !said.includes(tip)));
    }
  const result = document.createElement("pre");
  result.id = "said";
  result.textContent = said.join("\n");
  document.body.append(result);
})();
