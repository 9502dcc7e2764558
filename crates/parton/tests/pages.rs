//! Pages with charts, as a reader sees them: whole, needing nothing else, and laid out without collisions by a
//! real browser where one is installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{folder, parton, text};

/// Names under which systems install Chromium.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Looks at every chart of a page, in the browser: what sticks out of its drawing, and which words overlap.
const INSPECTION: &str = r#"<script>
const problems = [];
for (const svg of document.querySelectorAll('svg')) {
  const frame = svg.getBoundingClientRect(), label = svg.getAttribute('aria-label');
  const seen = [];
  for (const shape of svg.querySelectorAll('text, rect, line, polyline')) {
    const box = shape.getBoundingClientRect(), words = shape.tagName == 'text' ? shape.textContent : shape.tagName;
    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
      problems.push(`${label}: ${words} sticks out`);
    if (shape.tagName != 'text') continue;
    for (const [other, name] of seen)
      if (box.left < other.right - 1 && other.left < box.right - 1 && box.top < other.bottom - 3 && other.top < box.bottom - 3)
        problems.push(`${label}: ${words} lies over ${name}`);
    seen.push([box, words]);
  }
}
if (document.documentElement.scrollWidth > window.innerWidth) problems.push('wider than the window');
const background = getComputedStyle(document.body).backgroundColor;
const ink = getComputedStyle(document.body).color;
document.body.innerHTML = `<pre id=verdict>${document.querySelectorAll('svg').length} charts;${background};${ink};${problems.join('|')}</pre>`;
</script>"#;

/// The browser of this machine, if there is one; the whole tests ask for one.
fn browser() -> Option<&'static str> {
    let runs = |name: &&&str| Command::new(**name).arg("--version").output().is_ok();
    let found = BROWSERS.iter().find(runs).copied();
    assert!(
        found.is_some() || std::env::var_os("PARTON_LONG").is_none(),
        "PARTON_LONG is set, and there is no browser: install chromium"
    );
    found
}

/// A browser without a window, which keeps what it keeps in a folder.
fn headless(browser: &str, folder: &Path, is_dark: bool, (width, height): (u32, u32)) -> Command {
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]);
    command.arg(format!("--user-data-dir={}", folder.join("profile").display()));
    command.arg(format!("--window-size={width},{height}"));
    if is_dark {
        command.arg("--blink-settings=preferredColorScheme=0");
    }
    command
}

/// Leaves a picture of a page, light and dark, in `target/screenshots`: for people to look at.
fn picture(browser: &str, page: &Path, name: &str) {
    let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/screenshots");
    std::fs::create_dir_all(&pictures).expect("a folder");
    for (is_dark, colours) in [(false, "light"), (true, "dark")] {
        let folder = folder();
        let file = pictures.join(format!("{name}-{colours}.png"));
        let mut command = headless(browser, folder.path(), is_dark, (1100, 3400));
        command.arg(format!("--screenshot={}", file.display()));
        command.arg(format!("file://{}", page.display()));
        let output = command.output().expect("it runs");
        let bytes = std::fs::read(&file).unwrap_or_default();
        assert!(bytes.starts_with(b"\x89PNG"), "{}: {}", file.display(), text(&output.stderr));
    }
}

/// What a browser makes of a page: number of charts, colours of page and text, problems.
fn inspected(browser: &str, page: &Path, is_dark: bool, width: u32) -> [String; 4] {
    let folder = folder();
    let copy = folder.path().join("copy.html");
    let html = std::fs::read_to_string(page).expect("a page");
    std::fs::write(&copy, html.replace("</body>", &format!("{INSPECTION}</body>")))
        .expect("a copy");
    let mut command = headless(browser, folder.path(), is_dark, (width, 1000));
    command.arg("--dump-dom");
    let output = command.arg(format!("file://{}", copy.display())).output().expect("it runs");
    let dom = text(&output.stdout);
    let verdict =
        dom.split("<pre id=\"verdict\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    let verdict = verdict.unwrap_or_else(|| panic!("no verdict: {dom} {}", text(&output.stderr)));
    let parts: Vec<String> = verdict.splitn(4, ';').map(str::to_owned).collect();
    parts.try_into().expect("four parts")
}

/// Checks a page as a text: nothing is fetched, all numbers are numbers, elements are balanced.
fn check_text(page: &str, name: &str) {
    for outside in ["src=", "href=", "<script", "@import", "url("] {
        assert!(!page.contains(outside), "{name}: {outside}");
    }
    for mistake in ["NaN", "inf\"", "height=\"-", "width=\"-"] {
        assert!(!page.contains(mistake), "{name}: {mistake}");
    }
    assert!(page.contains("prefers-color-scheme: dark"), "{name}: no colours for dark browsers");
    for element in ["svg", "text", "table", "tr", "td", "th", "figure", "div", "h2", "p", "details"]
    {
        let opened = page.matches(&format!("<{element} ")).count()
            + page.matches(&format!("<{element}>")).count();
        let closed = page.matches(&format!("</{element}>")).count();
        assert_eq!(opened, closed, "{name}: {element}");
    }
}

#[test]
fn a_report_says_all_there_is_to_know() {
    let folder = folder();
    let path = folder.path();
    std::fs::write(path.join("trains.csv"), "from,to,km\nRome,Paris,1105\nParis,Oslo,1340\n")
        .unwrap();
    let mut pages = Vec::new();
    for (number, arguments) in [
        &["pagerank", "rmat:9", "--hosts", "4", "--verify"][..],
        &["bfs", "grid:40x30", "--hosts", "3", "--policy", "cvc"],
        &["components", "uniform:900,700", "--hosts", "2"],
        &["sssp", "trains.csv", "--hosts", "2"],
        &["betweenness", "grid:9x9"],
        &["matrix-completion", "ratings.txt", "--bipartite", "--max-rounds", "5", "--hosts", "2"],
        &["kcore", "rmat:8", "--hosts", "13", "--threads", "1"],
        &["bfs", "path:700", "--hosts", "2", "--pace", "basp"],
    ]
    .into_iter()
    .enumerate()
    {
        let ratings: String = (0..60).map(|i| format!("{} {} {}\n", i % 9, i % 7, i % 5)).collect();
        std::fs::write(path.join("ratings.txt"), ratings).unwrap();
        let page = format!("{number}.html");
        let report = [&["run"], arguments, &["--report", &page, "--quiet"]].concat();
        let output = parton(path, &report);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        let html = std::fs::read_to_string(path.join(&page)).expect("a page");
        check_text(&html, arguments[0]);
        let mut expected = vec![
            "The answer",
            "Where the time went",
            "Hosts and rounds",
            "Convergence",
            "What ran",
            "read as",
            env!("CARGO_PKG_VERSION"),
            "threads",
            "time since the first round began",
        ];
        if arguments.contains(&"--hosts") {
            expected.extend(["Bytes between hosts", "from host", "Bytes per round"]);
        }
        for words in expected {
            assert!(html.contains(words), "{arguments:?}: no {words:?}");
        }
        assert!(
            html.contains(&format!("parton {}", report.join(" "))),
            "{arguments:?}: the command"
        );
        pages.push(path.join(page));
    }
    let html = std::fs::read_to_string(&pages[0]).unwrap();
    assert!(html.contains("ends at 1e-6") && html.contains("✓ verified"), "PageRank's goal");
    assert!(html.contains("all ranks added up"), "words are explained");
    let Some(browser) = browser() else {
        eprintln!("no browser is installed: pages are checked as text only");
        return;
    };
    check_in_browser(browser, pages);
}

/// Pages as a browser lays them out, light and dark, wide and narrow.
fn check_in_browser(browser: &str, mut pages: Vec<PathBuf>) {
    let mut backgrounds = Vec::new();
    // A browser takes seconds to start.
    let is_long = std::env::var_os("PARTON_LONG").is_some();
    if is_long {
        picture(browser, &pages[0], "report");
    }
    pages.truncate(if is_long { pages.len() } else { 3 });
    for (page, is_dark, width) in
        pages.iter().flat_map(|page| [(page, false, 1100), (page, true, 700)])
    {
        let [charts, background, ink, problems] = inspected(browser, page, is_dark, width);
        assert!(problems.is_empty(), "{}: {problems}", page.display());
        assert!(charts != "0 charts" && background != ink, "{charts} {background} {ink}");
        backgrounds.push(background);
    }
    backgrounds.sort();
    backgrounds.dedup();
    assert_eq!(backgrounds.len(), 2, "one for light browsers, one for dark: {backgrounds:?}");
}

#[test]
fn a_measurement_has_one_scale_or_says_that_it_has_several() {
    let folder = folder();
    let path = folder.path();
    let bench = ["bench", "rmat:8", "grid:30x30", "--algorithms", "bfs,components", "--engines"];
    let more = ["auto,push", "--hosts", "1,2,3", "--repetitions", "2", "--quiet", "--plot"];
    for plot in ["p.html", "p.svg"] {
        let output = parton(path, &[&bench[..], &more, &[plot]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let drawn = std::fs::read_to_string(path.join(plot)).expect("a plot");
        let says = ["all on one scale", "each group on a scale of its own"];
        assert_eq!(says.iter().filter(|words| drawn.contains(**words)).count(), 1, "{drawn}");
        for words in
            [">1 host<", ">2 hosts<", ">3 hosts<", "bfs on rmat:8", "components on grid:30x30"]
        {
            assert!(drawn.contains(words), "no {words}");
        }
        assert!(drawn.contains("prefers-color-scheme: dark"));
    }
    let html = std::fs::read_to_string(path.join("p.html")).unwrap();
    check_text(&html, "bench");
    let Some(browser) = browser() else { return };
    for is_dark in [false, true] {
        let [charts, _, _, problems] = inspected(browser, &path.join("p.html"), is_dark, 1100);
        assert_eq!((&charts[..], &problems[..]), ("1 charts", ""));
    }
    if std::env::var_os("PARTON_LONG").is_some() {
        picture(browser, &path.join("p.html"), "measurement");
    }
}
