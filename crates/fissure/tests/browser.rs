//! The report and the dashboard in a real browser.

mod support;

#[path = "support/browser.rs"]
mod browser;
#[path = "../../fissure-report/tests/support/made_run.rs"]
mod made_run;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use browser::Browser;
use made_run::{MadeRun, hostile_finding, tell};
use serde_json::{Value, json};
use support::{TestContext, run};

const MADE: MadeRun = MadeRun {
    apis: 3,
    batches: 40,
    findings: 100,
};

/// A run with a hostile finding among ordinary ones.
fn made(context: &TestContext) -> PathBuf {
    let folder = context.path("run");
    MADE.write(&folder);
    let finding = hostile_finding();
    fissure_triage::write_finding(&folder.join("findings"), &finding).unwrap();
    tell(&folder, &finding);
    folder
}

/// Pictures for people, where they were asked for.
fn picture(browser: &Browser, name: &str) {
    if let Some(folder) = std::env::var_os("FISSURE_TEST_PICTURES") {
        browser.screenshot(&Path::new(&folder).join(name));
    }
}

fn assert_nothing_harmed(browser: &Browser) {
    assert_ne!(browser.run("return document.title"), json!("harmed"));
    assert_eq!(browser.run("return document.images.length"), json!(0));
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn the_report_is_searched_filtered_and_opened_and_hostile_text_stays_text() {
    let Some(browser) = Browser::start(1280, 1000, false) else {
        return;
    };
    let context = TestContext::new();
    let folder = made(&context);
    let ran = run(context.command().arg("report").arg(&folder));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    browser.open(&format!("file://{}/report.html", folder.display()));
    browser.wait_for("document.documentElement.dataset.ready");
    picture(&browser, "report.png");
    assert_eq!(
        browser.run("return document.querySelectorAll('.finding').length"),
        json!(60)
    );
    browser.click("#more");
    assert_eq!(
        browser.run("return document.querySelectorAll('.finding').length"),
        json!(91)
    );

    browser.type_into("#search", "hostile");
    browser.wait_for("document.querySelectorAll('.finding').length === 1");
    browser.click(".finding summary");
    browser.wait_for("document.querySelector('.finding .body pre')");
    let body = browser.text(".finding .body");
    assert!(
        body.contains("<script>document.title='harmed'</script>"),
        "{body}"
    );
    assert!(body.contains("Reproducer"), "{body}");
    browser.click(".finding .body .block .act");
    browser.wait_for("document.querySelector('.finding .act').textContent === 'Copied'");
    picture(&browser, "report-open.png");

    browser.run("document.getElementById('search').value = ''; document.getElementById('search').dispatchEvent(new Event('input'))");
    browser.wait_for("document.querySelectorAll('.finding').length > 1");
    browser.click("#kinds button[data-kind='timeout']");
    browser.wait_for("[...document.querySelectorAll('.finding .badge')].every((badge) => badge.textContent === 'timeout')");
    browser.click("#api-table tbody tr");
    browser.wait_for("document.querySelector('#api-detail table')");
    assert_nothing_harmed(&browser);
}

#[test]
fn a_finding_far_down_the_list_has_an_address_and_every_one_is_printed_with_its_details() {
    let Some(browser) = Browser::start(1280, 1000, false) else {
        return;
    };
    let context = TestContext::new();
    let folder = made(&context);
    run(context.command().arg("report").arg(&folder));
    let page = format!("file://{}/report.html", folder.display());
    browser.open(&page);
    // What is printed is unpacked when the page rests.
    browser.wait_for(
        "(window.dispatchEvent(new Event('beforeprint')), \
         document.querySelectorAll('.finding[open] .body').length === 91)",
    );
    let last = browser
        .run("return [...document.querySelectorAll('.finding')].at(-1).dataset.id")
        .as_str()
        .expect("an id")
        .to_owned();
    browser.open("about:blank");
    browser.open(&format!("{page}#finding-{last}"));
    browser.wait_for(&format!(
        "document.querySelector('[data-id=\"{last}\"][open] .body')"
    ));
    assert_nothing_harmed(&browser);
}

#[test]
fn the_report_fits_a_phone_and_follows_dark() {
    let Some(browser) = Browser::start(500, 900, true) else {
        return;
    };
    let context = TestContext::new();
    let folder = made(&context);
    run(context.command().arg("report").arg(&folder));
    browser.open(&format!("file://{}/report.html", folder.display()));
    browser.wait_for("document.documentElement.dataset.ready");
    picture(&browser, "phone-dark.png");
    let wider =
        "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(
        browser.run(wider),
        json!(0),
        "nothing is wider than the window"
    );
    let background = browser.run("return getComputedStyle(document.body).backgroundColor");
    assert_eq!(background, json!("rgb(16, 21, 27)"));
    assert_nothing_harmed(&browser);
}

/// The folder of a scan with findings at the given severities, the last of them not seen again.
fn made_scan(context: &TestContext, severities: &[&str]) -> PathBuf {
    let folder = context.path("scan");
    let findings: Vec<Value> = severities
        .iter()
        .enumerate()
        .map(|(at, severity)| {
            let own = folder.join(format!("finding{at}"));
            std::fs::create_dir_all(&own).unwrap();
            std::fs::write(own.join("reproduce.py"), "print(1)\n").unwrap();
            let site = json!({"file": "/home/me/train.py", "line": at + 3, "function": "log", "scope": "f", "hits": 1});
            json!({
                "id": format!("log_line{at}"), "site": site, "oracle": "nonfinite", "also": [],
                "details": ["log of finite operands gives NaN in 1 of 6 elements"],
                "sentence": "With x: column 1 is constant; log gives NaN.", "level": "L1", "severity": severity,
                "reason": null, "producer": "log", "hidden_by": null, "label": "lowest", "signal": "lowest",
                "training_steps": 0, "ratio": null, "library": "torch", "elapsed": 0.5, "folder": own,
                "reproduced": at + 1 < severities.len(), "same_cause": [],
                "advice": "line 3: `log` of what may be 0", "fix": null, "precondition": null, "refused_fixes": [],
                "input": {"x": {"key": "entering:0", "shape": [2, 3], "dtype": "float32", "elements_changed": 1,
                    "smallest": -0.25, "largest": 1.5, "values": [-0.25, 1.5, 0.123456789]}},
            })
        })
        .collect();
    let report = json!({
        "target": "train.py", "versions": {"torch": "2.9.1", "python": "3.11.7"}, "findings": findings,
        "notes": [], "problems": [], "targets": [], "search_seconds": 1.5, "runs": 28, "interrupted": false,
    });
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("report.json"), report.to_string()).unwrap();
    let ran = run(context.command().arg("report").arg(&folder));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    folder
}

#[test]
fn a_scan_shows_how_bad_what_and_where_to_look_in_its_list_at_every_size() {
    for (width, dark) in [(1300, false), (1300, true), (500, false), (500, true)] {
        let Some(browser) = Browser::start(width, 1000, dark) else {
            return;
        };
        let context = TestContext::new();
        let folder = made_scan(&context, &["critical", "medium"]);
        browser.open(&format!("file://{}/report.html", folder.display()));
        browser.wait_for("document.documentElement.dataset.ready");
        let row = browser.text(".finding summary");
        for part in [
            "critical",
            "With x: column 1 is constant",
            "Look at: line 3",
        ] {
            assert!(row.contains(part), "{part}: {row}");
        }
        assert!(browser.text(".group").contains("log 2 findings"));
        let marks =
            "return [...document.querySelectorAll('.mark')].map((mark) => mark.textContent)";
        assert_eq!(browser.run(marks), json!(["not confirmed"]));
        browser.click(".finding summary");
        browser.wait_for("document.querySelector('.finding .values')");
        let body = browser.text(".finding .body");
        assert!(
            body.contains("0.12346") && body.contains("1 element changed"),
            "{body}"
        );
        picture(&browser, &format!("scan-{width}-{dark}.png"));
        let shouted = "return [...document.querySelectorAll('*')].filter((node) => \
                       getComputedStyle(node).textTransform === 'uppercase').length";
        assert_eq!(browser.run(shouted), json!(0), "code is never upper-cased");
        let wider =
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(browser.run(wider), json!(0), "{width}");
        browser.click("#group");
        browser.wait_for("!document.querySelector('.group')");
        assert_nothing_harmed(&browser);
    }
}

#[test]
fn a_run_without_a_finding_says_what_to_do() {
    let Some(browser) = Browser::start(1300, 900, false) else {
        return;
    };
    let context = TestContext::new();
    let folder = made_scan(&context, &[]);
    browser.open(&format!("file://{}/report.html", folder.display()));
    browser.wait_for("!document.getElementById('none').hidden");
    let text = browser.text("#none");
    assert!(text.contains("--total-time"), "{text}");
    assert_nothing_harmed(&browser);
}

/// `fissure serve`, ended with the test.
struct Served {
    process: Child,
    address: String,
}

impl Served {
    fn start(context: &TestContext, folder: &Path, flags: &[&str]) -> Served {
        let mut process = context
            .command()
            .arg("serve")
            .arg(folder)
            .args(["--port", "0"])
            .args(flags)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let address = output
            .lines()
            .map_while(Result::ok)
            .find_map(|line| Some(line.strip_prefix("dashboard: ")?.to_owned()))
            .expect("it prints its address");
        Served { process, address }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn the_dashboard_shows_findings_as_they_come() {
    let Some(browser) = Browser::start(1280, 1000, false) else {
        return;
    };
    let context = TestContext::new();
    let folder = context.path("run");
    std::fs::create_dir_all(&folder).unwrap();
    let served = Served::start(&context, &folder, &[]);
    browser.open(&served.address);
    assert!(browser.text("h1").contains("has not begun"));

    let made = MadeRun {
        findings: 4,
        ..MADE
    };
    made.begin(&folder);
    browser.wait_for("document.getElementById('connection')?.textContent === 'live'");
    made.go_on(&folder, 0);
    browser.wait_for("document.querySelectorAll('.finding').length === 4");
    assert_eq!(browser.text("#state"), "not finished");
    picture(&browser, "live.png");
    made.go_on(&folder, 4);
    browser.wait_for("document.querySelectorAll('.finding.new').length === 4");
    browser.wait_for("document.title.startsWith('8 findings')");

    browser.click("#api-table tbody tr");
    browser.wait_for("document.querySelector('#api-detail h2')");
    browser.click("#api-detail p button");
    browser.wait_for("!document.getElementById('api-filter').hidden");
    browser.click("#api-filter button");

    let finding = hostile_finding();
    fissure_triage::write_finding(&folder.join("findings"), &finding).unwrap();
    tell(&folder, &finding);
    browser.wait_for("document.getElementById('finding-hostile')");
    browser.click("#finding-hostile summary");
    browser.wait_for("document.querySelector('#finding-hostile .body')");
    made.end(&folder);
    browser.wait_for("document.getElementById('state').textContent === 'finished'");
    browser.wait_for("document.getElementById('connection').textContent === 'the run has ended'");
    assert!(browser.run("return document.querySelector('#finding-hostile').open") == json!(true));
    assert_nothing_harmed(&browser);
}

#[test]
fn a_finding_is_run_again_by_a_click() {
    let Some(browser) = Browser::start(1280, 1000, false) else {
        return;
    };
    if Command::new("python3").arg("--version").output().is_err() {
        fissure_testing::say("no python3 here, so no script is run again from the dashboard");
        return;
    }
    let context = TestContext::new();
    let folder = context.path("run");
    let made = MadeRun {
        apis: 1,
        batches: 1,
        findings: 0,
    };
    made.begin(&folder);
    // A package that is there, and whose failure is not.
    let mut finding = made_run::finding(0, 1, "once");
    finding.id = "replayed".to_owned();
    finding.api.package = "json".to_owned();
    finding.api.path = "json.loads".to_owned();
    fissure_triage::write_finding(&folder.join("findings"), &finding).unwrap();
    tell(&folder, &finding);
    let script = folder.join("findings/replayed/reproduce.py");
    std::fs::write(
        script,
        "print('===== the call =====')\nprint('RESULT: not reproduced')\n",
    )
    .unwrap();
    let served = Served::start(&context, &folder, &["--python", "python3"]);
    browser.open(&served.address);
    browser.wait_for("document.querySelector('#finding-replayed')");
    browser.click("#finding-replayed summary");
    browser.wait_for("document.querySelector('#finding-replayed .replay')");
    browser.click("#finding-replayed .replay");
    browser.wait_for(
        "document.querySelector('#finding-replayed .result').textContent.startsWith('Now: fixed')",
    );
    assert_eq!(browser.complaints(), [""; 0]);
}
