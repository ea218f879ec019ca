//! The real way: this machine's Python, uv or pip, and its package index.

use fissure_environment::{EnvironmentError, Managed, probe};

use crate::support::{World, real_python, wanted, wished};

/// The result, or `None` with a word about it when the index cannot be reached from here.
pub(crate) fn unless_offline(made: Result<Managed, EnvironmentError>) -> Option<Managed> {
    match made {
        Err(EnvironmentError::Network { output, .. }) => {
            eprintln!("skipped: the package index cannot be reached\n{output}");
            None
        }
        made => Some(made.unwrap()),
    }
}

#[test]
fn a_small_package_is_really_installed_found_and_removed() {
    let mut world = World::new();
    world.real_python();
    world.borrow_uv();
    world.inherit_network();
    let Some(made) = unless_offline(world.make("six==1.16.0")) else {
        return;
    };
    let found = probe(&world.surroundings(), &made.python(), "six").unwrap();
    assert_eq!(found.library_version.as_deref(), Some("1.16.0"));
    let choice = world.resolve(&wished("six==1.16.0")).unwrap();
    assert_eq!(choice.python, made.python());

    world.store().remove(&made.name).unwrap();
    // The machine's own Python may have it too.
    let choice = world.resolve(&wanted("six")).ok();
    assert_eq!(choice.and_then(|choice| choice.environment), None);
    assert!(!made.folder.exists());
}

#[test]
fn a_bare_name_gets_the_newest_version_and_is_named_after_it() {
    let mut world = World::new();
    world.real_python();
    world.borrow_uv();
    world.inherit_network();
    let Some(made) = unless_offline(world.make("six<1.17")) else {
        return;
    };
    assert!(made.name.starts_with("six-1.16.0-py3."), "{}", made.name);
}

#[test]
fn pip_serves_where_uv_does_not_run() {
    let mut world = World::new();
    world.real_python();
    world.inherit_network();
    // It is found and says its version, and then fails at everything.
    world.script(
        "bin/uv",
        "[ \"$1\" = --version ] && echo uv 0.0.1 && exit; exit 70",
    );
    let Some(made) = unless_offline(world.make("six<1.17")) else {
        return;
    };
    assert_eq!(made.record.as_ref().unwrap().installer, "pip");
}

#[test]
fn an_index_that_cannot_be_reached_is_said_so() {
    let mut world = World::new();
    world.real_python();
    world.borrow_uv();
    world.set("PIP_INDEX_URL", "http://127.0.0.1:9/simple");
    world.set("PIP_RETRIES", "1");
    let error = world.make("six==1.16.0").unwrap_err();
    assert!(matches!(error, EnvironmentError::Network { .. }), "{error}");
    assert!(error.to_string().contains("check the network"), "{error}");
    assert!(world.store().list().unwrap().is_empty());
}

#[test]
fn a_version_can_be_told_without_importing_the_library() {
    let world = World::new();
    // pip is nearly everywhere and never imported by the probe.
    let found = probe(&world.surroundings(), &real_python(), "pip").unwrap();
    if !found.has_pip {
        eprintln!("skipped: this machine's Python has no pip");
        return;
    }
    assert!(
        found.library_found && found.library_version.is_some(),
        "{found:?}"
    );
}
