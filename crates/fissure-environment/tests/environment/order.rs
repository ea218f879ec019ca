//! The order in which interpreters are considered.

use fissure_environment::{EnvironmentError, Wanted};

use crate::support::{World, real_python, wanted};

/// Every source has torch; each assertion takes the best one away.
#[test]
fn each_source_is_taken_before_the_next() {
    let mut world = World::new();
    let managed = world.fake_environment("torch-2.2.0-py3.11", "torch", "2.2.0");
    let choice = world.resolve(&wanted("torch")).unwrap();
    assert_eq!(choice.python, managed);
    assert_eq!(choice.environment.as_deref(), Some("torch-2.2.0-py3.11"));

    let path = world.fake_python("bin/python", "3.11.7", Some("2.0.0"));
    assert_eq!(world.resolve(&wanted("torch")).unwrap().python, path);

    let path = world.fake_python("bin/python3", "3.11.7", Some("2.1.0"));
    assert_eq!(world.resolve(&wanted("torch")).unwrap().python, path);

    let beside = world.fake_python("here/.venv/bin/python", "3.11.7", Some("2.1.5"));
    world.stand_in("here");
    let choice = world.resolve(&wanted("torch")).unwrap();
    assert_eq!(choice.python, beside);
    assert!(choice.reason.ends_with(": ./.venv"), "{}", choice.reason);

    let conda = world.fake_python("conda/bin/python", "3.11.7", Some("2.3.0"));
    world.set("CONDA_PREFIX", world.path("conda"));
    assert_eq!(world.resolve(&wanted("torch")).unwrap().python, conda);

    let active = world.fake_python("venv/bin/python", "3.11.7", Some("2.4.0"));
    world.set("VIRTUAL_ENV", world.path("venv"));
    let choice = world.resolve(&wanted("torch")).unwrap();
    assert_eq!(choice.python, active);
    assert_eq!(
        choice.reason,
        "torch 2.4.0, Python 3.11.7: active virtual environment (VIRTUAL_ENV)"
    );

    let variable = world.fake_python("elsewhere/python", "3.11.7", Some("2.5.0"));
    world.set("FISSURE_PYTHON", &variable);
    assert_eq!(world.resolve(&wanted("torch")).unwrap().python, variable);

    let flag = world.fake_python("named/bin/python", "3.11.7", Some("2.6.0"));
    for named in [flag.clone(), world.path("named")] {
        let wanted = Wanted {
            python: Some(named),
            ..wanted("torch")
        };
        assert_eq!(world.resolve(&wanted).unwrap().python, flag);
    }
}

#[test]
fn sources_without_the_library_are_passed_over() {
    let mut world = World::new();
    world.fake_python("venv/bin/python", "3.11.7", None);
    world.set("VIRTUAL_ENV", world.path("venv"));
    let path = world.fake_python("bin/python3", "3.11.7", Some("2.1.0"));
    assert_eq!(world.resolve(&wanted("torch")).unwrap().python, path);
}

#[test]
fn a_wished_version_passes_over_others_even_of_the_variable() {
    let mut world = World::new();
    let variable = world.fake_python("elsewhere/python", "3.11.7", Some("2.5.0"));
    world.set("FISSURE_PYTHON", &variable);
    world.fake_python("bin/python3", "3.11.7", Some("2.4.0"));
    world.fake_environment("torch-2.2.0-py3.11", "torch", "2.2.0");
    let managed = world.fake_environment("torch-2.9.1-py3.11", "torch", "2.9.1");
    for (requirement, expected) in [
        ("torch==2.9.1", Some(&managed)),
        ("torch>=2.6", Some(&managed)),
        ("torch", Some(&variable)),
        ("torch==1.5.0", None),
    ] {
        let wanted = Wanted {
            requirement: Some(requirement.parse().unwrap()),
            ..wanted("torch")
        };
        let python = world.resolve(&wanted).ok().map(|choice| choice.python);
        assert_eq!(python.as_ref(), expected, "{requirement}");
    }
}

#[test]
fn among_managed_environments_the_tested_version_comes_first_then_the_newest() {
    let world = World::new();
    world.fake_environment("torch-2.2.0-py3.11", "torch", "2.2.0");
    let newer = world.fake_environment("torch-2.10.0-py3.11", "torch", "2.10.0");
    assert_eq!(world.resolve(&wanted("torch")).unwrap().python, newer);
    let tested = world.fake_environment("torch-2.9.1-py3.11", "torch", "2.9.1");
    assert_eq!(world.resolve(&wanted("torch")).unwrap().python, tested);
}

#[test]
fn a_managed_environment_whose_python_is_gone_is_passed_over() {
    let world = World::new();
    let python = world.fake_environment("torch-2.9.1-py3.11", "torch", "2.9.1");
    std::fs::remove_file(python).unwrap();
    let other = world.fake_environment("torch-2.2.0-py3.11", "torch", "2.2.0");
    assert_eq!(world.resolve(&wanted("torch")).unwrap().python, other);
}

#[test]
fn an_interpreter_the_user_named_must_have_the_library() {
    let mut world = World::new();
    world.fake_python("bin/python3", "3.11.7", Some("2.1.0"));
    let named = world.fake_python("named/python", "3.11.7", None);
    let by_flag = Wanted {
        python: Some(named.clone()),
        ..wanted("torch")
    };
    let error = world.resolve(&by_flag).unwrap_err().to_string();
    assert!(
        error.contains("given by --python does not have torch (no torch)"),
        "{error}"
    );
    assert!(error.contains("-m pip install 'torch==2.9.1'"), "{error}");
    world.set("FISSURE_PYTHON", &named);
    let error = world.resolve(&wanted("torch")).unwrap_err().to_string();
    assert!(
        error.contains("given by FISSURE_PYTHON does not have"),
        "{error}"
    );
}

#[test]
fn what_is_no_python_or_too_old_is_said_so() {
    let world = World::new();
    let named = |python| Wanted {
        python: Some(python),
        ..wanted("torch")
    };
    let error = world.resolve(&named(world.path("nowhere"))).unwrap_err();
    assert!(
        matches!(error, EnvironmentError::NoSuchInterpreter { .. }),
        "{error}"
    );
    let liar = world.script("liar", "echo I am a snake; exit 4");
    let error = world.resolve(&named(liar)).unwrap_err().to_string();
    assert!(error.contains("I am a snake"), "{error}");
    let old = world.fake_python("old", "3.6.15", Some("1.5.0"));
    let error = world.resolve(&named(old)).unwrap_err().to_string();
    assert!(error.contains("is Python 3.6.15"), "{error}");
}

#[test]
fn offline_names_the_command_to_run() {
    let world = World::new();
    world.fake_python("bin/python3", "3.11.7", None);
    let error = world.resolve(&wanted("torch")).unwrap_err().to_string();
    assert!(error.contains("fissure env make 'torch==2.9.1'"), "{error}");
}

#[test]
fn nothing_is_installed_for_a_name_that_is_not_known() {
    let world = World::new();
    world.fake_python("bin/python3", "3.11.7", None);
    let error = world
        .resolve(&Wanted {
            offline: false,
            ..wanted("planted")
        })
        .unwrap_err();
    assert!(
        matches!(error, EnvironmentError::UnknownLibrary { .. }),
        "{error}"
    );
    assert!(
        error.to_string().contains("python3 on PATH: no planted"),
        "{error}"
    );
}

#[test]
fn a_package_in_a_folder_of_the_users_own_is_found() {
    let world = World::new();
    world.real_python();
    let folder = world.path("mine");
    std::fs::create_dir_all(folder.join("planted")).unwrap();
    std::fs::write(folder.join("planted/__init__.py"), "__version__ = '0.7'\n").unwrap();
    assert!(world.resolve(&wanted("planted")).is_err());
    let surroundings = world.surroundings().with_python_path(&[folder]).unwrap();
    let choice =
        fissure_environment::resolve(&surroundings, &wanted("planted"), &mut |_| ()).unwrap();
    assert_eq!(choice.library_version.as_deref(), Some("0.7"));
    assert_eq!(choice.python, real_python());
}

/// The folder a user stands in often has the name of the library: a checkout of torch, say.
#[test]
fn a_folder_named_like_the_library_is_not_the_library() {
    let world = World::new();
    let folder = world.path("here/surely_not_installed");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("__init__.py"), "").unwrap();
    let python = world.script(
        "bin/python3",
        &format!(
            "cd {}; exec {} \"$@\"",
            world.path("here").display(),
            real_python().display()
        ),
    );
    let surroundings = world.surroundings();
    let probe = fissure_environment::probe(&surroundings, &python, "surely_not_installed").unwrap();
    assert!(!probe.library_found);
}

#[test]
fn an_old_library_names_the_pythons_that_would_do() {
    let world = World::new();
    world.fake_python("bin/python3", "3.13.0", None);
    let error = world.make("torch==1.5.0").unwrap_err().to_string();
    assert!(error.contains("needs Python 3.7 to 3.8"), "{error}");
    assert!(error.contains("found: 3.13.0"), "{error}");
}
