//! `fissure report`, `diff`, `index` and `serve` on made runs.

mod support;

#[path = "../../fissure-report/tests/support/made_run.rs"]
mod made_run;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};

use made_run::MadeRun;
use support::{TestContext, names, run};

fn made(findings: usize) -> MadeRun {
    MadeRun {
        apis: 3,
        batches: 10,
        findings,
    }
}

#[test]
fn a_report_says_where_it_is_and_formats_go_to_standard_output() {
    let context = TestContext::new();
    made(5).write(&context.path("out"));
    let ran = run(context.command().args(["report", "out"]));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stdout.trim_end().ends_with("out/report.html"),
        "{}",
        ran.stdout
    );
    let json = run(context
        .command()
        .args(["report", "out", "--format", "json"]));
    let report: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(report["totals"]["findings"], 5);
    let files = [
        "--junit",
        "j.xml",
        "--sarif",
        "s.sarif",
        "--markdown",
        "c.md",
    ];
    let ran = run(context.command().args(["report", "out"]).args(files));
    assert_eq!(ran.stdout, "j.xml\ns.sarif\nc.md\n");
    assert_eq!(
        names(&context.path("")),
        ["c.md", "j.xml", "out", "s.sarif"]
    );
}

#[test]
fn a_wrong_folder_or_file_is_a_usage_error_that_says_what_is_wrong() {
    let context = TestContext::new();
    made(1).write(&context.path("runs/one"));
    for (arguments, told) in [
        (
            ["report", "nowhere"].as_slice(),
            "there is no folder nowhere",
        ),
        (&["report", "."], "runs/one"),
        (
            &["report", "runs/one", "--rules", "none"],
            "there is no folder none",
        ),
        (
            &["report", "runs/one", "--output", "runs"],
            "runs is a folder",
        ),
        (
            &["diff", "runs/one", "nowhere"],
            "there is no folder nowhere",
        ),
        (&["index", "nowhere"], "there is no folder nowhere"),
        (&["serve", "nowhere"], "there is no folder nowhere"),
        (&["serve", "runs/one", "--token", "short"], "at least 8"),
    ] {
        let ran = run(context.command().args(arguments));
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(told), "{arguments:?}: {}", ran.stderr);
    }
    let ran = run(context
        .command()
        .args(["report", "runs/one", "-o", "no/such/page.html"]));
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("no/such/page.html"), "{}", ran.stderr);
}

#[test]
fn a_diff_fails_only_when_something_is_new() {
    let context = TestContext::new();
    made(3).write(&context.path("before"));
    made(5).write(&context.path("after"));
    let ran = run(context.command().args(["diff", "before", "after"]));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(
        ran.stdout.contains("2 new, 0 gone, 0 changed, 3 the same"),
        "{}",
        ran.stdout
    );
    let ran = run(context
        .command()
        .args(["diff", "after", "before", "--json"]));
    assert_eq!(ran.code, Some(0));
    let diff: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(diff["gone"].as_array().unwrap().len(), 2);
    assert_eq!(diff["gone"][0]["not_tried"], false);
}

#[test]
fn an_index_takes_the_place_of_the_old_one() {
    let context = TestContext::new();
    made(3).write(&context.path("runs/one"));
    made(4).write(&context.path("runs/two"));
    for _ in 0..2 {
        let ran = run(context.command().args(["index", "runs"]));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
    assert_eq!(names(&context.path("runs")), ["index.sqlite", "one", "two"]);
    let bytes = std::fs::read(context.path("runs/index.sqlite")).unwrap();
    assert!(bytes.starts_with(b"SQLite format 3"));
}

/// `fissure serve`, ended with the test.
struct Served {
    process: Child,
    address: String,
}

impl Served {
    fn start(context: &TestContext, flags: &[&str]) -> Served {
        let mut process = context
            .command()
            .args(["serve", "out", "--port", "0"])
            .args(flags)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let address = output
            .lines()
            .map_while(Result::ok)
            .find_map(|line| {
                let address = line.strip_prefix("metrics:   http://")?;
                Some(address.strip_suffix("/metrics")?.to_owned())
            })
            .expect("it prints its address");
        Served { process, address }
    }

    /// The status line and everything after the head.
    fn ask(&self, method: &str, path: &str, headers: &str) -> (String, String) {
        let mut stream = TcpStream::connect(self.address.replace("0.0.0.0", "127.0.0.1")).unwrap();
        let host = if headers.contains("Host:") {
            ""
        } else {
            "Host: localhost\r\n"
        };
        let request =
            format!("{method} {path} HTTP/1.1\r\n{host}{headers}Connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.lines().next().unwrap().to_owned();
        (status, body.to_owned())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn on_loopback_everyone_reads_and_nobody_without_the_token_runs_anything() {
    let context = TestContext::new();
    made(2).write(&context.path("out"));
    let served = Served::start(&context, &["--token", "a-good-token"]);
    let (status, body) = served.ask("GET", "/metrics", "");
    assert!(status.contains("200"), "{status}");
    assert!(
        body.contains("fissure_findings{run=\"out\",library=\"torch\",kind=\"crash\"} 1"),
        "{body}"
    );
    let (status, _) = served.ask("GET", "/", "Host: evil.example\r\n");
    assert!(status.contains("403"), "{status}");
    let replay = "/api/findings/torch.function_0-crash-00000/replay";
    for (path, header) in [
        (replay.to_owned(), "X-Fissure: replay\r\n"),
        (
            format!("{replay}?token=a-wrong-token"),
            "X-Fissure: replay\r\n",
        ),
        (format!("{replay}?token=a-good-token"), ""),
    ] {
        let (status, _) = served.ask("POST", &path, header);
        assert!(status.contains("403"), "{path}: {status}");
    }
    let (status, _) = served.ask("GET", "/api/findings/..%2F..%2Fetc", "");
    assert!(status.contains("404"), "{status}");
}

#[test]
fn elsewhere_nothing_is_answered_without_the_token() {
    let context = TestContext::new();
    made(1).write(&context.path("out"));
    let served = Served::start(
        &context,
        &["--address", "0.0.0.0", "--token", "a-good-token"],
    );
    for path in [
        "/",
        "/metrics",
        "/api/findings",
        "/api/events",
        "/?token=a-bad-token",
    ] {
        let (status, _) = served.ask("GET", path, "");
        assert!(status.contains("403"), "{path}: {status}");
    }
    let (status, _) = served.ask("GET", "/api/findings?token=a-good-token", "");
    assert!(status.contains("200"), "{status}");
    let (status, _) = served.ask("GET", "/metrics", "Authorization: Bearer a-good-token\r\n");
    assert!(status.contains("200"), "{status}");
}

#[test]
fn a_port_in_use_is_an_error_that_says_so() {
    let context = TestContext::new();
    made(1).write(&context.path("out"));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ran = run(context.command().args(["serve", "out", "--port", &port]));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("--port"), "{}", ran.stderr);
}
