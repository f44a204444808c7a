//! Programs that others use to look at call graphs, on files that cgemu wrote.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::callgrind::program;
use crate::common::{output, stderr, stdout, tool, wanted_in_all};

/// Files for the programs, which are driven by them.
const DRIVERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/clients");

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
    let page = format!("file://{}/flame.svg", dir.path().display());
    let text = chromium(dir.path(), &page, &[]);
    let title = text.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    let title = title.map(|(title, _)| title).unwrap_or_default();
    let expected = "narrow true 0; zoomed 1180.00 true; true; Found: N%; reset true 0";
    assert_eq!(title, expected);
}

/// What Chromium makes of a page, in text.
fn chromium(dir: &Path, page: &str, words: &[&str]) -> String {
    let data = format!("--user-data-dir={}/data", dir.display());
    let all =
        [&["--headless", "--no-sandbox", "--disable-gpu", &data], words, &["--dump-dom", page]].concat();
    // Its reports of crashes lie under HOME, whatever `--user-data-dir` says.
    let home = format!("HOME={}", dir.display());
    stdout(&tool("coreutils", dir, "env", &[&[home.as_str(), "chromium"], &all[..]].concat()))
}

/// speedscope of npm: it imports without NaN, and shows a caller with the cost of its calls.
#[test]
fn speedscope_shows_callers() {
    if !wanted_in_all("speedscope") {
        return;
    }
    let release = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("target/tools/speedscope/node_modules/speedscope/dist/release");
    let page = fs::read_to_string(release.join("index.html")).unwrap_or_else(|error| {
        panic!(
            "{}: {error}; install it with: npm install --prefix target/tools/speedscope speedscope@1.25.0",
            release.display()
        )
    });
    let dir = graph(&[]);
    let hand = fs::read_to_string(Path::new(DRIVERS).join("speedscope.js")).expect("the driver");
    let base = format!("<head><base href=\"file://{}/\">", release.display());
    let page =
        page.replacen("<head>", &base, 1).replacen("</body>", &format!("<script>{hand}</script></body>"), 1);
    fs::write(dir.path().join("page.html"), page).expect("written");
    // As speedscope's own command gives a file to its page.
    let encoded = stdout(&tool("coreutils", dir.path(), "base64", &["-w0", "graph"]));
    let load = format!("speedscope.loadFileFromBase64(\"graph\", \"{encoded}\")");
    fs::write(dir.path().join("graph.js"), load).expect("written");
    let path = dir.path().display();
    let page = format!("file://{path}/page.html#localProfilePath={path}/graph.js&view=sandwich");
    let words = [
        "--window-size=1600,1200",
        "--virtual-time-budget=60000",
        "--enable-unsafe-swiftshader",
        "--allow-file-access-from-files",
    ];
    let text = chromium(dir.path(), &page, &words);
    assert!(!text.contains("NaN"), "{text}");
    let said = text.split_once("<pre id=\"said\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let said = said.unwrap_or_else(|| panic!("the driver did not end\n{text}")).0;
    let row = said.lines().next().unwrap_or_default();
    assert!(row.ends_with(" work") && row.starts_with(|first: char| first.is_ascii_digit()), "{row}");
    // As of a file of Callgrind, it follows the calls of one thread only.
    let words = ["annotate", "--tree=caller", "--threshold=0", "--show=Ir", "graph"];
    let tree = stdout(&output(dir.path(), &words));
    let call = tree.lines().filter(|line| line.contains("main (1x)"));
    let costs: Vec<&str> = call.filter_map(|line| line.split_whitespace().next()).collect();
    let is_call =
        |tip: &str| costs.iter().any(|cost| tip.starts_with(&format!("{cost} (")) && tip.contains(") main"));
    assert!(said.lines().skip(1).any(is_call), "{costs:?}: {said}");
}

/// KCachegrind of Debian, on a screen that is read: the callers of a function with the numbers of
/// calls that the source has. The picture is kept.
#[test]
fn kcachegrind_shows_callers() {
    if !wanted_in_all("KCachegrind") {
        return;
    }
    let dir = graph(&[]);
    let driver = format!("{DRIVERS}/kcachegrind.sh");
    for name in ["kcachegrind", "Xvfb", "xdotool", "tesseract", "pnmscale"] {
        let out = tool("kcachegrind xvfb xdotool tesseract-ocr netpbm", dir.path(), "which", &[name]);
        assert!(
            out.status.success(),
            "{name} is missing; install it with: apt-get install kcachegrind xvfb xdotool tesseract-ocr netpbm"
        );
    }
    let words = ["--", "sh", &driver, "graph", "work", "thread (calls"];
    let out = tool("dbus-daemon", dir.path(), "dbus-run-session", &words);
    let text = fs::read_to_string(dir.path().join("words.txt")).unwrap_or_default();
    let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/pictures");
    fs::create_dir_all(&pictures).expect("a folder");
    let kept = fs::copy(dir.path().join("picture.png"), pictures.join("kcachegrind.png"));
    for row in ["2 thread (calls", "1 main (calls"] {
        assert!(text.contains(row), "no {row} on the screen ({kept:?}):\n{text}\n{}", stderr(&out));
    }
}
