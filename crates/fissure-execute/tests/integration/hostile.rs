//! A library that attacks whoever runs it (`testdata/hostile`): every behaviour is contained, and the
//! run goes on.
//!
//! A copy of this program plays the orchestrator, so that an attack that succeeds fails a test and
//! does not end it. Which behaviours must be refused and which only must harm nobody stands beside
//! them. Where the kernel lacks something that a behaviour needs to be refused, the report of the
//! sandbox says so, and the behaviour is listed as not contained here.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{api, batch, python};
use fissure_execute::{Batch, Event, Pool, PoolOptions};
use fissure_model::Outcome;

/// Set for the copy that plays the orchestrator: where it finds and leaves everything.
const STAGE: &str = "FISSURE_TEST_HOSTILE_STAGE";
/// Only the behaviours whose names contain this.
const ONLY: &str = "FISSURE_TEST_HOSTILE_ONLY";
/// Print every answer, with how long processes stayed.
const VERBOSE: &str = "FISSURE_TEST_HOSTILE_VERBOSE";

fn hostile_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/hostile")
}

fn behaviours() -> BTreeMap<String, String> {
    let program = "import json, sys; sys.path.insert(0, sys.argv[1]); import hostile; \
                   print(json.dumps(hostile.BEHAVIOURS))";
    let output = Command::new(python())
        .args(["-c", program])
        .arg(hostile_folder())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// Everything about the files below a folder that somebody could have changed.
fn picture(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        let metadata = fs::symlink_metadata(&path).unwrap();
        let mut text = format!(
            "{:o} {} {} {} {}",
            metadata.mode(),
            metadata.uid(),
            metadata.mtime(),
            metadata.mtime_nsec(),
            metadata.nlink()
        );
        let mut names = [0_u8; 256];
        let attributes = rustix::fs::listxattr(&path, &mut names[..]).unwrap_or(0);
        text.push_str(&format!(" {attributes}"));
        if metadata.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|it| it.unwrap().path()));
        } else if metadata.is_file() {
            text.push_str(&fs::read_to_string(&path).unwrap());
        }
        found.insert(path, text);
    }
    found
}

/// Processes below this one, however deep: number, parent, state, name and the end of the command.
fn descendants() -> Vec<String> {
    let mut parents = BTreeMap::new();
    let mut words = BTreeMap::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|it| it.parse::<u32>().ok())
        else {
            continue;
        };
        let Ok(status) = fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        let Some((name, rest)) = status.rsplit_once(')') else {
            continue;
        };
        let mut fields = rest.split_whitespace();
        let state = fields.next().unwrap_or_default();
        let parent: u32 = fields.next().and_then(|it| it.parse().ok()).unwrap_or(0);
        if state != "Z" {
            parents.insert(pid, parent);
            let place = fs::read_to_string(entry.path().join("wchan")).unwrap_or_default();
            words.insert(pid, format!("{name}) {state} below {parent} at {place}"));
        }
    }
    let own = std::process::id();
    let below = |mut pid: u32| {
        for _ in 0..64 {
            match parents.get(&pid) {
                Some(parent) if *parent == own => return true,
                Some(parent) => pid = *parent,
                None => return false,
            }
        }
        false
    };
    words.retain(|pid, _| below(*pid));
    words.into_values().collect()
}

/// What of the machine and of this process an attack could have changed.
fn surroundings(stage: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (path, text) in picture(&stage.join("outside")) {
        found.insert(path.display().to_string(), text);
    }
    let shared: Vec<String> = fs::read_dir("/dev/shm")
        .map(|entries| {
            let names = entries.flatten().map(|it| it.file_name());
            names
                .filter_map(|it| it.to_str().map(str::to_owned))
                .filter(|it| it.starts_with("hostile"))
                .collect()
        })
        .unwrap_or_default();
    found.insert("/dev/shm".into(), format!("{shared:?}"));
    for kind in ["shm", "msg", "sem"] {
        // The key that the behaviours use: others on this machine have their own.
        let text = fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap_or_default();
        let ours = text.lines().filter(|it| it.contains("1179210579")).count();
        found.insert(format!("System V {kind}"), ours.to_string());
    }
    let limits = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    found.insert("limits".into(), format!("{limits:?}"));
    let priority = rustix::process::getpriority_process(None).unwrap();
    found.insert("priority".into(), priority.to_string());
    let cores = rustix::thread::sched_getaffinity(None).unwrap().count();
    found.insert("cores".into(), cores.to_string());
    let score = fs::read_to_string("/proc/self/oom_score_adj").unwrap();
    found.insert("score".into(), score);
    found
}

/// All events of one batch; `None` when none come any more.
fn run(pool: &Pool, batch: Batch) -> Option<Vec<Outcome>> {
    pool.submit(batch);
    loop {
        match pool.events().recv_timeout(Duration::from_secs(60)) {
            Ok(Event::Abnormal { .. }) => {}
            Ok(Event::Done { executions, .. }) => {
                return Some(executions.into_iter().map(|it| it.outcome).collect());
            }
            Err(_) => return None,
        }
    }
}

#[test]
#[ignore = "plays the orchestrator in the test below"]
fn the_attacked() {
    let Some(stage) = std::env::var_os(STAGE).map(PathBuf::from) else {
        return;
    };
    // Whatever escapes becomes a child of this process, and is counted.
    rustix::process::set_child_subreaper(Some(rustix::process::Pid::INIT)).unwrap();
    let _user = UnixListener::bind(stage.join("socket")).unwrap();
    let abstract_name = format!("fissure-hostile-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
    let _abstract = UnixListener::bind_addr(&address).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let text = |path: &str| stage.join(path).to_str().unwrap().to_owned();
    let mut options = PoolOptions::new(python(), "hostile", stage.join("scratch"));
    options.extra_path = vec![hostile_folder()];
    options.timeout = Duration::from_secs(3);
    options.memory_limit = 256 << 20;
    options.environment = [
        ("HOSTILE_OUTSIDE", text("outside")),
        ("HOSTILE_HOME", text("home")),
        ("HOSTILE_SOCKET", text("socket")),
        ("HOSTILE_ABSTRACT", abstract_name),
        ("HOSTILE_ORCHESTRATOR", std::process::id().to_string()),
        (
            "HOSTILE_PORT",
            listener.local_addr().unwrap().port().to_string(),
        ),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec();
    let only = std::env::var(ONLY).unwrap_or_default();
    let pool = Pool::start(options).unwrap();
    let mut lines = vec![format!("sandbox\t{:?}", pool.info().sandbox)];
    for (name, kind) in behaviours() {
        if !name.contains(&only) {
            continue;
        }
        let before = surroundings(&stage);
        let calls = Batch {
            api: api("hostile", &name),
            ..batch(&name, &[1, 7, 2])
        };
        let outcomes = run(&pool, calls);
        let mut faults = Vec::new();
        match &outcomes {
            None => faults.push("the pool does not answer".to_owned()),
            Some(outcomes) => {
                let fine = Outcome::Accepted { nan: false };
                if outcomes.len() != 3 || outcomes[0] != fine || outcomes[2] != fine {
                    faults.push(format!("other inputs: {outcomes:?}"));
                }
                if kind == "refused" && outcomes.get(1) == Some(&fine) {
                    faults.push("it succeeded".to_owned());
                }
            }
        }
        // Longer than the pool itself takes to give up a zygote that does not answer.
        let began = Instant::now();
        let mut left = descendants();
        // The warden, the zygote, a worker and its spare.
        while left.len() > 4 && began.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(20));
            left = descendants();
        }
        if left.len() > 4 {
            faults.push(format!("{} processes: {left:?}", left.len()));
        }
        let gone_after = began.elapsed();
        for (what, now) in surroundings(&stage) {
            if before.get(&what) != Some(&now) {
                faults.push(format!("{what} changed: {now}"));
            }
        }
        if let Some(failure) = pool.failure() {
            faults.push(format!("the pool failed: {failure}"));
        }
        let seven = outcomes.and_then(|it| it.get(1).map(|it| format!("{it:?}")));
        let seven: String = seven.unwrap_or_default().chars().take(120).collect();
        lines.push(format!(
            "{name}\t{kind}\t{}\t{seven}\t{gone_after:.1?}",
            faults.join("; ")
        ));
        fs::write(stage.join("answers"), lines.join("\n")).unwrap();
    }
    pool.stop();
    let left = descendants();
    lines.push(format!(
        "after the end\tharmless\t{}\t\t",
        if left.is_empty() {
            String::new()
        } else {
            format!("{} processes: {left:?}", left.len())
        }
    ));
    fs::write(stage.join("answers"), lines.join("\n")).unwrap();
}

#[test]
fn everything_that_a_hostile_library_does_is_contained() {
    let stage = tempfile::tempdir().unwrap();
    let stage = fs::canonicalize(stage.path()).unwrap();
    for folder in ["outside/parent/slot-0", "home/.ssh", "scratch"] {
        fs::create_dir_all(stage.join(folder)).unwrap();
    }
    for file in [
        "outside/file",
        "outside/parent/slot-0/kept",
        "home/.ssh/id_test",
        "home/.netrc",
    ] {
        fs::write(stage.join(file), "precious").unwrap();
    }
    fs::set_permissions(
        stage.join("outside/file"),
        fs::Permissions::from_mode(0o640),
    )
    .unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "hostile::the_attacked",
            "--include-ignored",
            "--nocapture",
        ])
        .env(STAGE, &stage)
        .env("HOME", stage.join("home"))
        .env("HOSTILE_SECRET_TOKEN", "secret")
        .stdout(Stdio::null())
        .status()
        .unwrap();
    let answers = fs::read_to_string(stage.join("answers")).unwrap_or_default();
    let mut contained = 0;
    let mut broken = Vec::new();
    for line in answers.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        if fields[2].is_empty() {
            contained += 1;
        } else {
            broken.push(line);
        }
    }
    let tried = contained + broken.len();
    println!("{}", answers.lines().next().unwrap_or_default());
    println!("{contained} of {tried} behaviours contained");
    if std::env::var_os(VERBOSE).is_some() {
        println!("{answers}");
    }
    assert!(
        status.success(),
        "the orchestrator ended: {status}\n{answers}"
    );
    let wanted = match std::env::var(ONLY) {
        Ok(_) => 0,
        Err(_) => behaviours().len() + 1,
    };
    assert!(tried >= wanted, "only {tried} were tried:\n{answers}");
    assert!(broken.is_empty(), "not contained:\n{}", broken.join("\n"));
}
