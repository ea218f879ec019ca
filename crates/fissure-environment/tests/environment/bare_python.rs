//! A Python without `venv` and `ensurepip`, as bare Debian and Ubuntu install it.

use fissure_environment::{EnvironmentError, probe};

use crate::{
    real_index,
    support::{World, real_python},
};

#[test]
fn the_probe_sees_what_is_missing() {
    let world = World::new();
    let python = world.bare_python(false);
    let found = probe(&world.surroundings(), &python, "json").unwrap();
    assert_eq!((found.has_venv, found.has_pip), (false, false));
    let found = probe(&world.surroundings(), &real_python(), "json").unwrap();
    assert!(
        found.has_venv,
        "this machine's own Python lacks venv: the test proves nothing"
    );
}

#[test]
fn without_uv_and_pip_the_command_to_run_is_named() {
    let world = World::new();
    world.bare_python(false);
    let error = world.make("six==1.16.0").unwrap_err();
    assert!(
        matches!(error, EnvironmentError::NoInstaller { .. }),
        "{error}"
    );
    let hint = fissure_environment::install_hint("python3-venv");
    assert!(error.to_string().ends_with(&hint), "{error}");
    assert!(world.store().list().unwrap().is_empty());
}

#[test]
fn with_pip_alone_it_is_served_by_a_uv_from_the_index() {
    let mut world = World::new();
    world.bare_python(true);
    world.inherit_network();
    let Some(made) = real_index::unless_offline(world.make("six==1.16.0")) else {
        return;
    };
    let record = made.record.as_ref().unwrap();
    assert!(record.installer.starts_with("uv "), "{record:?}");
    let found = probe(&world.surroundings(), &made.python(), "six").unwrap();
    assert_eq!(found.library_version.as_deref(), Some("1.16.0"));
}
