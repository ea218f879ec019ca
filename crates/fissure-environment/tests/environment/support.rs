//! A folder with everything a test needs: programs, home, and the store of environments.

use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use fissure_environment::{
    Choice, EnvironmentError, Managed, Progress, Store, Surroundings, Wanted, make, probe, resolve,
};

pub(crate) struct World {
    root: tempfile::TempDir,
    variables: Vec<(String, String)>,
    folder: Option<PathBuf>,
}

impl World {
    /// Nothing but the shell's own programs on PATH, after those of the test.
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let mut world = Self {
            root,
            variables: Vec::new(),
            folder: None,
        };
        fs::create_dir(world.path("bin")).unwrap();
        world.set("PATH", world.path("bin"));
        world.set("HOME", world.path("home"));
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn set(&mut self, name: &str, value: impl AsRef<Path>) {
        let value = value.as_ref().to_str().unwrap().to_owned();
        self.variables.push((name.to_owned(), value));
    }

    /// From here on this is the current folder.
    pub(crate) fn stand_in(&mut self, name: &str) {
        self.folder = Some(self.path(name));
    }

    /// The variables with which this machine reaches its package index.
    pub(crate) fn inherit_network(&mut self) {
        for (name, value) in env::vars() {
            let upper = name.to_uppercase();
            let prefixes = ["PIP_", "UV_", "SSL_", "HTTP", "ALL_PROXY", "NO_PROXY"];
            if prefixes.iter().any(|prefix| upper.starts_with(prefix)) {
                self.variables.push((name, value));
            }
        }
        // The user's configuration, without the user's own programs in ~/.local/bin.
        for file in [".config/pip/pip.conf", ".config/uv/uv.toml"] {
            let mine = env::home_dir().unwrap().join(file);
            if mine.is_file() {
                let copy = self.path("home").join(file);
                fs::create_dir_all(copy.parent().unwrap()).unwrap();
                fs::copy(mine, copy).unwrap();
            }
        }
    }

    /// A uv that this machine already has saves installing one; without it nothing else changes.
    pub(crate) fn borrow_uv(&self) {
        let machine = Surroundings::from_process().unwrap();
        let ours = machine.root.join("tools/uv/bin/uv");
        if let Some(uv) = machine
            .find_program("uv")
            .or_else(|| machine.find_program(ours))
        {
            std::os::unix::fs::symlink(uv, self.path("bin/uv")).unwrap();
        }
    }

    pub(crate) fn surroundings(&self) -> Surroundings {
        let mut found = Surroundings::new(self.path("fissure-home"), self.variables.clone());
        found.folder.clone_from(&self.folder);
        found
    }

    pub(crate) fn store(&self) -> Store {
        Store::new(&self.surroundings())
    }

    pub(crate) fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A program that answers the probe like an interpreter; with no version it lacks the library.
    pub(crate) fn fake_python(&self, name: &str, python: &str, library: Option<&str>) -> PathBuf {
        let path = self.path(name);
        let answer = serde_json::json!({
            "executable": path,
            "python_version": python,
            "library_found": library.is_some(),
            "library_version": library,
            "import_error": null,
            "has_venv": true,
            "has_pip": true,
        });
        self.script(name, &format!("echo 'fissure-probe {answer}'"))
    }

    /// A whole managed environment with a fake interpreter.
    pub(crate) fn fake_environment(
        &self,
        name: &str,
        distribution: &str,
        version: &str,
    ) -> PathBuf {
        let folder = format!("fissure-home/environments/{name}");
        let python = self.fake_python(&format!("{folder}/bin/python"), "3.11.7", Some(version));
        let record = serde_json::json!({
            "name": name,
            "requirement": distribution,
            "distribution": distribution,
            "version": version,
            "python_version": "3.11.7",
            "installer": "pip",
            "bytes": 1,
            "made": 1,
            "seconds_to_make": 1,
        });
        let marker = self.path(&folder).join("fissure-environment.json");
        fs::write(marker, record.to_string()).unwrap();
        python
    }

    /// A link to this machine's Python as `python3` on the test's PATH.
    pub(crate) fn real_python(&self) {
        let python = real_python();
        self.script("bin/python3", &format!("exec {} \"$@\"", python.display()));
    }

    /// A real interpreter in which the modules cannot be found, reached as `python3` on PATH.
    pub(crate) fn bare_python(&self, with_pip: bool) -> PathBuf {
        let folder = self.path("bare");
        let mut command = Command::new(real_python());
        command.args(["-m", "venv"]).arg(&folder);
        if !with_pip {
            command.arg("--without-pip");
        }
        assert!(command.status().unwrap().success());
        let python = folder.join("bin/python");
        let script = "import sysconfig; print(sysconfig.get_path('purelib'))";
        let output = Command::new(&python).args(["-c", script]).output().unwrap();
        let site = PathBuf::from(String::from_utf8(output.stdout).unwrap().trim());
        let hide =
            "import sys; sys.modules.update({name: None for name in ('venv', 'ensurepip')})\n";
        fs::write(site.join("hide.pth"), hide).unwrap();
        self.script("bin/python3", &format!("exec {} \"$@\"", python.display()));
        python
    }

    pub(crate) fn make(&self, requirement: &str) -> Result<Managed, EnvironmentError> {
        self.make_and_hear(requirement).0
    }

    pub(crate) fn make_and_hear(
        &self,
        requirement: &str,
    ) -> (Result<Managed, EnvironmentError>, Vec<Progress>) {
        let mut heard = Vec::new();
        let requirement = requirement.parse().unwrap();
        let made = make(&self.surroundings(), &requirement, None, &mut |news| {
            heard.push(news);
        });
        (made, heard)
    }

    pub(crate) fn resolve(&self, wanted: &Wanted) -> Result<Choice, EnvironmentError> {
        resolve(&self.surroundings(), wanted, &mut |_| ())
    }
}

pub(crate) fn wanted(package: &str) -> Wanted {
    Wanted {
        package: package.to_owned(),
        offline: true,
        ..Wanted::default()
    }
}

/// The same for a requirement: `six==1.16.0`.
pub(crate) fn wished(requirement: &str) -> Wanted {
    let (package, _) = requirement.split_once("==").unwrap();
    Wanted {
        requirement: Some(requirement.parse().unwrap()),
        ..wanted(package)
    }
}

/// The interpreter behind this machine's `python3`.
pub(crate) fn real_python() -> PathBuf {
    let surroundings = Surroundings::from_process().unwrap();
    let python = surroundings
        .find_program("python3")
        .expect("the tests need python3 on PATH");
    probe(&surroundings, &python, "json").unwrap().executable
}

/// Runs one test of this binary in a process of its own, with the world's folder handed over.
pub(crate) fn child_test(name: &str, world: &World) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([
        "--exact",
        name,
        "--ignored",
        "--nocapture",
        "--test-threads=1",
    ]);
    command.env("FISSURE_TEST_WORLD", world.root.path());
    command
}

/// The world of the test that started this process.
pub(crate) fn parents_surroundings() -> Surroundings {
    let root = PathBuf::from(env::var_os("FISSURE_TEST_WORLD").expect("started by a test"));
    let variables = [("PATH", root.join("bin")), ("HOME", root.join("home"))];
    Surroundings::new(root.join("fissure-home"), variables)
}
