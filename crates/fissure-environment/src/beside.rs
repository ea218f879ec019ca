//! Packages that the user wants beside a library: as named, or as a project's files list them.

use std::{fs, path::Path};

use crate::EnvironmentError;

/// The requirements of what was typed after `--with`: a package, a `requirements.txt`, or a
/// `pyproject.toml`. Sorted, each once.
pub fn packages_beside(typed: &[String]) -> Result<Vec<String>, EnvironmentError> {
    let mut packages = Vec::new();
    for text in typed {
        let path = Path::new(text);
        let is_file = path
            .extension()
            .is_some_and(|end| end == "txt" || end == "toml");
        if is_file {
            let content =
                fs::read_to_string(path).map_err(|error| EnvironmentError::Requirement {
                    text: text.clone(),
                    reason: format!("the file cannot be read: {error}"),
                })?;
            let listed = match path.extension().is_some_and(|end| end == "toml") {
                true => of_project(&content),
                false => Ok(of_requirements(&content)),
            };
            packages.extend(listed.map_err(|reason| EnvironmentError::Requirement {
                text: text.clone(),
                reason,
            })?);
        } else {
            let first = text.trim().chars().next();
            if !first.is_some_and(|first| first.is_ascii_alphanumeric()) {
                return Err(EnvironmentError::Requirement {
                    text: text.clone(),
                    reason: "it does not start with the name of a package".to_owned(),
                });
            }
            packages.push(text.trim().to_owned());
        }
    }
    packages.sort_unstable();
    packages.dedup();
    Ok(packages)
}

/// The lines that name packages; options of pip (`-r`, `--index-url`) and addresses are not ours to follow.
fn of_requirements(text: &str) -> Vec<String> {
    text.lines()
        .map(|line| line.split(" #").next().unwrap_or_default().trim())
        .filter(|line| line.starts_with(|first: char| first.is_ascii_alphanumeric()))
        .filter(|line| !line.contains("://"))
        .map(str::to_owned)
        .collect()
}

/// `dependencies` of `[project]`.
fn of_project(text: &str) -> Result<Vec<String>, String> {
    let file: toml::Table = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    let listed = file
        .get("project")
        .and_then(|project| project.get("dependencies"))
        .and_then(toml::Value::as_array)
        .ok_or("it has no list `dependencies` in `[project]`")?;
    let names = listed.iter().filter_map(toml::Value::as_str);
    Ok(names.map(str::to_owned).collect())
}

/// The end of an environment's name that says what is in it besides: short, and the same for the same packages.
pub(crate) fn name_part(packages: &[String]) -> String {
    if packages.is_empty() {
        return String::new();
    }
    let plain = |text: &String| -> String {
        let kept = text.chars().map(|letter| match letter {
            'a'..='z' | '0'..='9' | '.' => letter,
            'A'..='Z' => letter.to_ascii_lowercase(),
            _ => '-',
        });
        kept.collect()
    };
    let joined = packages.iter().map(plain).collect::<Vec<_>>().join("-");
    const MOST: usize = 40;
    if joined.len() <= MOST {
        return format!("-with-{joined}");
    }
    // FNV-1a: only to tell lists apart.
    let hash = packages
        .join("\n")
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("-with-{}-packages-{:08x}", packages.len(), hash as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_projects_files_list_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let requirements = folder.path().join("requirements.txt");
        fs::write(
            &requirements,
            "# all\nscipy>=1.9  # for erf\n-r other.txt\n--index-url https://a.example\n\neinops\nx @ https://a.example/x.whl\n",
        )
        .unwrap();
        let project = folder.path().join("pyproject.toml");
        fs::write(
            &project,
            "[project]\nname = 'x'\ndependencies = ['tqdm', 'scipy>=1.9']\n",
        )
        .unwrap();
        let typed = [&requirements, &project].map(|path| path.display().to_string());
        assert_eq!(
            packages_beside(&typed).unwrap(),
            ["einops", "scipy>=1.9", "tqdm"]
        );
        assert!(packages_beside(&["-e .".to_owned()]).is_err());
        assert!(packages_beside(&["gone.txt".to_owned()]).is_err());
    }

    #[test]
    fn names_of_environments_say_what_is_beside_and_stay_short() {
        assert_eq!(name_part(&[]), "");
        assert_eq!(name_part(&["scipy>=1.9".to_owned()]), "-with-scipy--1.9");
        let many: Vec<String> = (0..20).map(|n| format!("package{n}")).collect();
        assert!(name_part(&many).starts_with("-with-20-packages-"));
        assert!(!name_part(&["a/../b".to_owned()]).contains('/'));
    }
}
