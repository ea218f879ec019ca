//! Where people keep what no library has to read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Below the home folder: keys, passwords and tokens of the usual tools.
const IN_HOME: [&str; 32] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker/config.json",
    ".netrc",
    "_netrc",
    ".pypirc",
    ".npmrc",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".config/rclone",
    ".config/op",
    ".config/pip/pip.conf",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".huggingface/token",
    ".cache/huggingface/token",
    ".cache/huggingface/stored_tokens",
    ".kaggle",
    ".wandb",
    ".password-store",
    ".local/share/keyrings",
    ".mozilla",
    ".bash_history",
    ".zsh_history",
    ".python_history",
];

/// Of the machine; readable to a process of root.
const OF_THE_MACHINE: [&str; 4] = ["/etc/shadow", "/etc/gshadow", "/etc/ssh", "/run/secrets"];

/// Rules for more files than this would make the start slow: then nothing is hidden.
const MOST_RULES: usize = 20_000;

/// The secrets that there are, by their real paths.
pub(super) fn present() -> Vec<PathBuf> {
    let home = std::env::home_dir();
    let below_home = home
        .iter()
        .flat_map(|home| IN_HOME.iter().map(move |name| home.join(name)));
    below_home
        .chain(OF_THE_MACHINE.iter().map(PathBuf::from))
        .filter_map(|path| std::fs::canonicalize(path).ok())
        .collect()
}

/// Sockets by which a program could act for the user.
pub(super) fn sockets() -> Vec<PathBuf> {
    let named = ["SSH_AUTH_SOCK", "GPG_AGENT_INFO", "DOCKER_HOST"]
        .into_iter()
        .filter_map(std::env::var_os)
        .map(|value| {
            let text = value.to_string_lossy();
            PathBuf::from(text.strip_prefix("unix://").unwrap_or(&text))
        });
    let usual = [
        "/run/docker.sock",
        "/run/containerd/containerd.sock",
        "/run/podman/podman.sock",
        "/run/dbus/system_bus_socket",
        "/run/systemd/private",
    ];
    named
        .chain(usual.iter().map(PathBuf::from))
        .filter_map(|path| std::fs::canonicalize(path).ok())
        .collect()
}

/// Everything but the secrets, as few files and folders as it takes. Rules of Landlock only ever
/// allow, so what is to be hidden has to be left out: beside each secret all its neighbours are
/// named, up to the root. Links are left out; where they lead is named itself.
pub(super) fn everything_else(secrets: &[PathBuf]) -> Option<Vec<PathBuf>> {
    let hidden: BTreeSet<&Path> = secrets.iter().map(PathBuf::as_path).collect();
    let above: BTreeSet<&Path> = secrets
        .iter()
        .flat_map(|path| path.ancestors().skip(1))
        .collect();
    let mut found = Vec::new();
    for folder in &above {
        for entry in std::fs::read_dir(folder).ok()?.flatten() {
            let path = entry.path();
            let link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if !link && !hidden.contains(path.as_path()) && !above.contains(path.as_path()) {
                found.push(path);
            }
        }
        if found.len() > MOST_RULES {
            return None;
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_a_secret_are_named_and_the_secret_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let home = std::fs::canonicalize(folder.path()).unwrap();
        for name in [".ssh", "work", ".config/gh", ".config/other"] {
            std::fs::create_dir_all(home.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(home.join(".ssh"), home.join("keys")).unwrap();
        let secrets = [home.join(".ssh"), home.join(".config/gh")];
        let found = everything_else(&secrets).unwrap();
        for name in ["work", ".config/other"] {
            assert!(found.contains(&home.join(name)), "{name}");
        }
        for name in [".ssh", "keys", ".config", ".config/gh"] {
            assert!(!found.contains(&home.join(name)), "{name}");
        }
        assert!(!found.contains(&home), "that would allow everything in it");
        assert!(found.contains(&PathBuf::from("/proc")));
    }
}
