//! A headless Chromium, driven by WebDriver.
//!
//! The protocol is JSON over HTTP, of which the tests need a dozen commands; a client library would
//! bring an asynchronous runtime and eighty crates into every test build.

#![allow(dead_code, reason = "each test program uses its own part")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long a page may take to show what is expected of it.
const PATIENCE: Duration = Duration::from_secs(60);

/// A driver that finds the port it chose taken ends, which happens where several start at once.
const STARTS: usize = 5;

/// A driver and its port; `None` where it ended without one.
fn started() -> std::io::Result<Option<(Child, u16)>> {
    let mut driver = Command::new("chromedriver")
        .arg("--port=0")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let output = BufReader::new(driver.stdout.take().expect("it is piped"));
    let port = output.lines().map_while(Result::ok).find_map(|line| {
        let (_, port) = line.split_once("started successfully on port ")?;
        port.trim_end_matches('.').parse().ok()
    });
    if port.is_none() {
        driver.kill()?;
        driver.wait()?;
    }
    Ok(port.map(|port| (driver, port)))
}

pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

impl Browser {
    /// A browser with a window of this size; `None`, with the reason printed, where there is none.
    pub(crate) fn start(width: u32, height: u32, dark: bool) -> Option<Browser> {
        let (driver, port) = match (0..STARTS).find_map(|_| started().transpose()) {
            Some(Ok(started)) => started,
            Some(Err(error)) => {
                fissure_testing::say(&format!(
                    "no chromedriver here ({error}), so the tests in a browser are not run \
                     (Debian: apt-get install chromium chromium-driver)"
                ));
                return None;
            }
            None => panic!("chromedriver does not say its port in {STARTS} starts"),
        };
        let mut browser = Browser {
            driver,
            port,
            session: String::new(),
        };
        let mut arguments = vec![
            "--headless".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            format!("--window-size={width},{height}"),
        ];
        if dark {
            arguments.push("--blink-settings=preferredColorScheme=0".to_owned());
        }
        let answer = browser.send(
            "POST",
            "/session",
            &json!({"capabilities": {"alwaysMatch": {
                "browserName": "chrome",
                "goog:chromeOptions": {"args": arguments},
                "goog:loggingPrefs": {"browser": "ALL"},
            }}}),
        );
        match answer["sessionId"].as_str() {
            Some(session) => browser.session = session.to_owned(),
            None => {
                fissure_testing::say(&format!(
                    "no Chromium that works here, so the tests in a browser are not run: {answer}"
                ));
                return None;
            }
        }
        Some(browser)
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the driver listens");
        let body = match method {
            "POST" => body.to_string(),
            _ => String::new(),
        };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        // The driver keeps the connection open: its length says where the answer ends.
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(text) = line.strip_prefix("content-length:") {
                length = text.trim().parse().expect("a length");
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let answer: Value = serde_json::from_slice(&body).expect("the driver answers with JSON");
        answer["value"].clone()
    }

    fn command(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.send(method, &format!("/session/{}{path}", self.session), body);
        assert!(answer.get("error").is_none(), "{path}: {answer}");
        answer
    }

    pub(crate) fn open(&self, address: &str) {
        self.command("POST", "/url", &json!({"url": address}));
    }

    /// Runs the body of a function in the page.
    pub(crate) fn run(&self, script: &str) -> Value {
        let body = json!({"script": script, "args": []});
        self.command("POST", "/execute/sync", &body)
    }

    /// Waits until an expression is true.
    pub(crate) fn wait_for(&self, expression: &str) {
        let since = Instant::now();
        while self.run(&format!("return Boolean({expression})")) != json!(true) {
            assert!(
                since.elapsed() < PATIENCE,
                "still not so: {expression}\n{}",
                self.run("return document.body.innerText.slice(0, 3000)")
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn element(&self, selector: &str) -> String {
        let body = json!({"using": "css selector", "value": selector});
        let found = self.command("POST", "/element", &body);
        let ids = found.as_object().expect("an element");
        let id = ids.values().next().and_then(Value::as_str);
        id.expect("an element has an id").to_owned()
    }

    /// A live page may draw an element anew between finding and clicking it: then the new one is meant.
    pub(crate) fn click(&self, selector: &str) {
        let since = Instant::now();
        loop {
            let element = self.element(selector);
            let path = format!("/session/{}/element/{element}/click", self.session);
            let answer = self.send("POST", &path, &json!({}));
            match answer.get("error").and_then(Value::as_str) {
                None => return,
                Some("stale element reference") if since.elapsed() < PATIENCE => {}
                Some(_) => panic!("{selector}: {answer}"),
            }
        }
    }

    pub(crate) fn type_into(&self, selector: &str, text: &str) {
        let element = self.element(selector);
        let body = json!({"text": text});
        self.command("POST", &format!("/element/{element}/value"), &body);
    }

    /// What is shown of an element.
    pub(crate) fn text(&self, selector: &str) -> String {
        let element = self.element(selector);
        let text = self.command("GET", &format!("/element/{element}/text"), &json!({}));
        text.as_str().expect("a text").to_owned()
    }

    /// Complaints of the page since the last time.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let log = self.command("POST", "/se/log", &json!({"type": "browser"}));
        let lines = log.as_array().expect("a list");
        lines
            .iter()
            .filter(|line| line["level"] != "INFO" && line["level"] != "DEBUG")
            .map(|line| line["message"].to_string())
            .collect()
    }

    /// Writes what is seen to a PNG file.
    pub(crate) fn screenshot(&self, path: &Path) {
        use base64::Engine;
        let picture = self.command("GET", "/screenshot", &json!({}));
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(picture.as_str().expect("base64"))
            .expect("base64");
        std::fs::write(path, bytes).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            self.send("DELETE", &format!("/session/{}", self.session), &json!({}));
        }
        // It may have ended already.
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
