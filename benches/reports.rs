//! How long a report of 10,000 findings takes: to read the run, to write the page, and to open it in
//! a browser.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "../crates/fissure/tests/support/browser.rs"]
mod browser;
#[path = "../crates/fissure-report/tests/support/made_run.rs"]
mod made_run;

use std::time::Instant;

use browser::Browser;
use fissure_report::html;
use fissure_report::index::write_index;
use fissure_report::run::RunReader;
use made_run::MadeRun;

const RUN: MadeRun = MadeRun {
    apis: 500,
    batches: 100_000,
    findings: 10_000,
};
const REPEATS: usize = 5;

fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    RUN.write(folder.path());
    let since = Instant::now();
    let run = RunReader::open(folder.path())?.into_run();
    println!(
        "read {} events and {} findings: {:.2} s",
        run.totals.events,
        run.findings.len(),
        since.elapsed().as_secs_f64()
    );
    let since = Instant::now();
    let page = html::page(&run);
    let path = folder.path().join("report.html");
    std::fs::write(&path, &page)?;
    println!(
        "page: {:.2} s, {:.1} MB",
        since.elapsed().as_secs_f64(),
        page.len() as f64 / 1e6
    );
    let since = Instant::now();
    write_index(&folder.path().join("index.sqlite"), [&run].into_iter())?;
    println!("index: {:.2} s", since.elapsed().as_secs_f64());

    let Some(browser) = Browser::start(1280, 900, false) else {
        return Ok(());
    };
    for _ in 0..REPEATS {
        browser.open("about:blank");
        browser.open(&format!("file://{}", path.display()));
        browser.wait_for("document.documentElement.dataset.ready");
        let times = browser.run(
            "const times = performance.getEntriesByType('navigation')[0]; \
             const at = (name) => performance.getEntriesByName(name)[0]?.startTime ?? null; \
             return [at('first-contentful-paint'), times.domInteractive, times.loadEventEnd, at('ready')] \
             .map((time) => time && Math.round(time))",
        );
        let opened = browser.run(
            "return (async () => { const since = performance.now(); \
             const node = document.querySelectorAll('.finding')[40]; node.open = true; \
             while (!node.querySelector('.body')) await new Promise((wait) => setTimeout(wait)); \
             return Math.round(performance.now() - since); })()",
        );
        let search = browser.run(
            "const since = performance.now(); const box = document.getElementById('search'); \
             box.value = 'function_499 00499'; document.getElementById('stable').click(); \
             document.getElementById('stable').click(); return Math.round((performance.now() - since) / 2)",
        );
        println!(
            "browser, ms [first paint, page read, loaded, findings shown]: {times}; a finding opened: \
             {opened} ms; search over all findings: {search} ms"
        );
    }
    Ok(())
}
