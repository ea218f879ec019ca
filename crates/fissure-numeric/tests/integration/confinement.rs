//! What a scanned program does beside computing harms nobody and leaves nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Processes on this machine that were started with this argument.
fn processes_with(argument: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines
        .filter(|line| {
            line.split(|byte| *byte == 0)
                .any(|it| it == argument.as_bytes())
        })
        .count()
}

#[test]
fn files_stay_as_they_are_the_network_is_off_and_no_process_is_left() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    listener.set_nonblocking(true).unwrap();
    // A number that no other process of this machine sleeps for.
    let seconds = format!("600.{}", std::process::id());
    for ending in ["", "os._exit(0)\n"] {
        let folder = tempfile::tempdir().unwrap();
        let precious = folder.path().join("precious.txt");
        fs::write(&precious, "kept").unwrap();
        fs::set_permissions(&precious, fs::Permissions::from_mode(0o640)).unwrap();
        let script = folder.path().join("program.py");
        let text = format!(
            "import os, socket, subprocess, torch\n\
             os.chdir(os.path.dirname(os.path.abspath(__file__)))\n\
             for attempt in (\n\
             \x20   lambda: os.truncate('precious.txt', 0),\n\
             \x20   lambda: os.open('new.txt', os.O_CREAT | os.O_WRONLY),\n\
             \x20   lambda: os.chmod('precious.txt', 0o777),\n\
             \x20   lambda: os.link('precious.txt', 'linked.txt'),\n\
             \x20   lambda: socket.create_connection(('127.0.0.1', {port}), 1),\n\
             ):\n\
             \x20   try:\n\
             \x20       attempt()\n\
             \x20   except OSError:\n\
             \x20       pass\n\
             subprocess.Popen(['sleep', '{seconds}'])\n\
             print(torch.rand(3) + 1)\n{ending}"
        );
        fs::write(&script, text).unwrap();
        let output = folder.path().join("out");
        let options = crate::support::options(&python, script.to_str().unwrap(), &output);
        crate::support::run(&options);
        assert_eq!(fs::read_to_string(&precious).unwrap(), "kept");
        let mode = fs::metadata(&precious).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        for name in ["new.txt", "linked.txt"] {
            assert!(!folder.path().join(name).exists(), "{name}");
        }
        assert!(listener.accept().is_err(), "it reached the network");
        assert_eq!(processes_with(&seconds), 0);
    }
}
