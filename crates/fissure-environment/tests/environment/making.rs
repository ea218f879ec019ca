//! Making with an installer that is a script: what happens when it fails, hangs, or is doubled.

use std::{fs, os::unix::process::CommandExt, path::Path, thread, time::Duration};

use fissure_environment::{EnvironmentError, Progress, make};

use crate::support::{World, child_test, parents_surroundings, real_python, wanted, wished};

const NAME_PREFIX: &str = "six-1.16.0-py";

/// A uv that makes real virtual environments and "installs" by writing a module. `install` is run
/// first and may fail or hang.
fn fake_uv(world: &World, install: &str) {
    let python = real_python();
    let calls = world.path("calls");
    world.script(
        "bin/uv",
        &format!(
            r#"PATH=/usr/bin:/bin
case "$1" in
  --version) echo "uv 0.0.1" ;;
  venv) for folder; do :; done; exec {python} -m venv --without-pip "$folder" ;;
  pip)
    echo call >> {calls}
    {install}
    site=$("$5" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    echo '__version__ = "1.16.0"' > "$site/six.py"
    mkdir "$site/six-1.16.0.dist-info" ;;
esac"#,
            python = python.display(),
            calls = calls.display(),
        ),
    );
}

fn calls(world: &World) -> usize {
    fs::read_to_string(world.path("calls")).map_or(0, |text| text.lines().count())
}

fn wait_for(path: &Path) {
    for _ in 0..3000 {
        if path.exists() {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("{} did not appear", path.display());
}

#[test]
fn an_environment_is_made_once_and_found_again() {
    let world = World::new();
    world.real_python();
    fake_uv(&world, "");
    let (made, heard) = world.make_and_hear("six==1.16.0");
    let made = made.unwrap();
    assert!(made.name.starts_with(NAME_PREFIX), "{}", made.name);
    assert!(
        matches!(heard.first(), Some(Progress::Making { bytes: None, .. })),
        "{heard:?}"
    );
    assert!(
        matches!(heard.last(), Some(Progress::Made { bytes: 1.., .. })),
        "{heard:?}"
    );

    let choice = world.resolve(&wished("six==1.16.0")).unwrap();
    assert_eq!(choice.environment, Some(made.name.clone()));
    let again = world.make("six==1.16.0").unwrap();
    assert_eq!((again.folder, calls(&world)), (made.folder, 1));
}

#[test]
fn a_bad_line_is_tried_four_times_and_then_reported_with_what_was_said() {
    let world = World::new();
    // without venv, so that pip is not the next to be tried
    world.bare_python(false);
    fake_uv(&world, "echo 'cause: operation timed out' >&2; exit 2");
    let error = world.make("six==1.16.0").unwrap_err();
    assert_eq!(calls(&world), 4);
    assert!(matches!(error, EnvironmentError::Network { .. }), "{error}");
    assert!(error.to_string().contains("operation timed out"), "{error}");
    assert!(world.store().list().unwrap().is_empty());
}

#[test]
fn a_version_that_does_not_exist_is_not_tried_again() {
    let world = World::new();
    world.real_python();
    fake_uv(
        &world,
        "echo 'No solution found when resolving dependencies' >&2; exit 1",
    );
    let error = world.make("six==999").unwrap_err();
    assert_eq!(calls(&world), 1);
    assert!(
        matches!(error, EnvironmentError::NoSolution { .. }),
        "{error}"
    );
    assert!(world.store().list().unwrap().is_empty());
}

#[test]
fn an_interrupt_ends_the_making_at_once() {
    let world = World::new();
    world.real_python();
    // A shell cannot undo that an interrupt was ignored when it was started.
    fake_uv(
        &world,
        "exec python3 -c 'import os, signal; signal.signal(2, signal.SIG_DFL); os.kill(os.getpid(), 2)'",
    );
    let error = world.make("six==1.16.0").unwrap_err();
    assert_eq!(calls(&world), 1);
    assert!(
        matches!(error, EnvironmentError::Interrupted { .. }),
        "{error}"
    );
    assert!(world.store().list().unwrap().is_empty());
}

#[test]
fn a_library_that_cannot_be_imported_is_not_kept() {
    let world = World::new();
    world.real_python();
    fake_uv(&world, "");
    let uv = fs::read_to_string(world.path("bin/uv")).unwrap();
    let broken = uv.replace("__version__ = \"1.16.0\"", "import no_cuda_companion");
    fs::write(world.path("bin/uv"), broken).unwrap();
    let error = world.make("six==1.16.0").unwrap_err();
    assert!(matches!(error, EnvironmentError::Import { .. }), "{error}");
    assert!(error.to_string().contains("no_cuda_companion"), "{error}");
    assert!(world.store().list().unwrap().is_empty());
}

#[test]
fn a_library_that_lacks_what_oracles_need_is_not_kept() {
    let world = World::new();
    world.real_python();
    fake_uv(&world, "");
    let uv = fs::read_to_string(world.path("bin/uv")).unwrap();
    // It can be imported, and has no `jit`.
    let broken = uv.replace("six", "jax").replace("1.16.0", "0.7.1");
    fs::write(world.path("bin/uv"), &broken).unwrap();
    let error = world.make("jax==0.7.1").unwrap_err();
    assert!(matches!(error, EnvironmentError::Import { .. }), "{error}");
    assert!(error.to_string().contains("jit"), "{error}");
    assert!(world.store().list().unwrap().is_empty());
    let works = "__version__ = \"0.7.1\"; jit = lambda function: function";
    fs::write(
        world.path("bin/uv"),
        broken.replace("__version__ = \"0.7.1\"", works),
    )
    .unwrap();
    world.make("jax==0.7.1").unwrap();
}

#[test]
fn a_killed_build_is_not_taken_for_whole_and_its_installer_dies_too() {
    let world = World::new();
    world.real_python();
    let pid_file = world.path("installer-pid");
    fake_uv(
        &world,
        &format!(
            "echo $$ > {}.part; mv {0}.part {0}; exec sleep 1000",
            pid_file.display()
        ),
    );
    let mut child = child_test("making::make_six_in_the_world_of_the_parent", &world)
        .process_group(0)
        .spawn()
        .unwrap();
    wait_for(&pid_file);
    let installer = fs::read_to_string(&pid_file).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();

    let unfinished = world.store().list().unwrap();
    assert_eq!(unfinished.len(), 1);
    assert_eq!(unfinished[0].record, None);
    assert_eq!(
        world
            .resolve(&wanted("six"))
            .ok()
            .and_then(|choice| choice.environment),
        None
    );
    for _ in 0..500 {
        if !Path::new(&format!("/proc/{}/cmdline", installer.trim())).exists() {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    let state = fs::read_to_string(format!("/proc/{}/cmdline", installer.trim()));
    assert!(
        state.map_or(true, |text| text.is_empty()),
        "the installer outlived its parent"
    );

    fake_uv(&world, "");
    let made = world.make("six==1.16.0").unwrap();
    assert_eq!(made.folder, unfinished[0].folder);
    assert!(made.record.is_some());
}

#[test]
fn two_processes_at_once_build_one_environment() {
    let world = World::new();
    world.real_python();
    fake_uv(
        &world,
        &format!(
            "while [ ! -e {} ]; do sleep 0.05; done",
            world.path("go").display()
        ),
    );
    let name = "making::make_six_in_the_world_of_the_parent";
    let children = [(); 2].map(|()| child_test(name, &world).spawn().unwrap());
    wait_for(&world.path("calls"));
    fs::write(world.path("go"), "").unwrap();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(calls(&world), 1);
    assert_eq!(world.store().list().unwrap().len(), 1);
}

#[test]
#[ignore = "runs in a process started by the tests above"]
fn make_six_in_the_world_of_the_parent() {
    let surroundings = parents_surroundings();
    let made = make(
        &surroundings,
        &"six==1.16.0".parse().unwrap(),
        None,
        &mut |_| (),
    )
    .unwrap();
    assert!(made.record.is_some());
}

#[test]
fn without_enough_disk_nothing_is_begun() {
    let world = World::new();
    world.real_python();
    fake_uv(&world, "");
    // A file system that is always full, on every Linux.
    let mut surroundings = world.surroundings();
    surroundings.root = "/proc/fissure".into();
    let requirement = "six==1.16.0".parse().unwrap();
    let error = fissure_environment::can_make(&surroundings, &requirement).unwrap_err();
    assert!(
        matches!(error, EnvironmentError::DiskSpace { .. }),
        "{error}"
    );
    assert!(error.to_string().contains("0 bytes are free"), "{error}");
}
