//! Programs that others use to look at call graphs, on files that cgemu wrote.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::callgrind::program;
use crate::common::{output, stderr, stdout, tool, wanted_in_all};

/// A program with threads, and its call graph as `graph`.
fn graph(options: &[&str]) -> tempfile::TempDir {
    let dir = program();
    let words = ["run", "-q", "--callgraph=yes", "--cachegrind-out-file=out", "--callgrind-out-file=graph"];
    let out = output(dir.path(), &[&words, options, &["--", "./calls"]].concat());
    assert!(out.status.success(), "{}", stderr(&out));
    dir
}

/// gprof2dot of PyPI: no complaint, and the callers of a function with the numbers of calls that
/// the source has.
#[test]
fn gprof2dot_draws_edges() {
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tools/clients/bin/gprof2dot");
    for options in [&[][..], &["--compress-strings=yes", "--compress-pos=yes"], &["--dump-instr=yes"]] {
        let dir = graph(options);
        let words = ["--format=callgrind", "--node-thres=0", "--edge-thres=0", "graph"];
        let out = Command::new(&reader).args(words).current_dir(dir.path()).output();
        let out = out.unwrap_or_else(|error| {
            panic!(
                "{}: {error}; install it with: python3 -m venv target/tools/clients && \
                 target/tools/clients/bin/pip install gprof2dot==2025.4.14",
                reader.display()
            )
        });
        assert!(out.status.success() && out.stderr.is_empty(), "{options:?}: {}", stderr(&out));
        let text = stdout(&out);
        for (edge, calls) in [("main -> work", 1), ("thread -> work", 2), ("work -> calloc", 3)] {
            let line = text.lines().find(|line| line.trim_start().starts_with(&format!("{edge} [")));
            let line = line.unwrap_or_else(|| panic!("{options:?}: no {edge} in\n{text}"));
            assert!(line.contains(&format!("\\n{calls}×\"")), "{options:?}: {line}");
        }
    }
}

/// Script that clicks and searches in a flame graph; its results are the title then.
const HAND: &str = r##"<script><![CDATA[
(function () {
  const click = (what) => what.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  const frames = Array.from(document.querySelectorAll("g.frame"));
  const rect = (frame) => frame.querySelector("rect");
  const hidden = () => frames.filter((frame) => frame.style.display === "none").length;
  const work = frames.find((frame) => frame.dataset.n === "work");
  const before = Number(rect(work).getAttribute("width"));
  const said = ["narrow " + (before < 1000) + " " + hidden()];
  click(work);
  said.push("zoomed " + rect(work).getAttribute("width") + " " + (hidden() > 0));
  window.prompt = () => "^work$";
  click(document.getElementById("search"));
  const marked = frames.filter((frame) => rect(frame).getAttribute("fill") === "#d050e0");
  said.push(marked.length > 1 && marked.every((frame) => frame.dataset.n === "work"));
  said.push(document.getElementById("found").textContent.replace(/[0-9.]+/, "N"));
  click(document.getElementById("reset"));
  said.push("reset " + (Number(rect(work).getAttribute("width")) === before) + " " + hidden());
  document.querySelector("title").textContent = said.join("; ");
})();
]]></script></svg>
"##;

/// A flame graph in Chromium: a click zooms, a search marks, and a click leads back.
/// `./test --all` installs the browser.
#[test]
fn chromium_zooms_and_searches_a_flame_graph() {
    if !wanted_in_all("Chromium") {
        return;
    }
    let dir = graph(&[]);
    let out = output(dir.path(), &["flame", "graph"]);
    assert!(out.status.success(), "{}", stderr(&out));
    let picture = stdout(&out).replace("</svg>\n", HAND);
    fs::write(dir.path().join("flame.svg"), picture).expect("written");
    let path = dir.path().to_str().expect("text");
    let (data, page) = (format!("--user-data-dir={path}/data"), format!("file://{path}/flame.svg"));
    let words = ["--headless", "--no-sandbox", "--disable-gpu", &data, "--dump-dom", &page];
    let out = tool("chromium", dir.path(), "chromium", &words);
    let text = stdout(&out);
    let title = text.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    let title = title.map(|(title, _)| title).unwrap_or_default();
    let expected = "narrow true 0; zoomed 1180.00 true; true; Found: N%; reset true 0";
    assert_eq!(title, expected, "{}", stderr(&out));
}
