//! The batch script.

use std::path::Path;

use minijinja::{Environment, UndefinedBehavior, context};

use super::SlurmError;
use crate::phase::Phase;

/// What `fissure campaign template` prints.
pub const DEFAULT_TEMPLATE: &str = include_str!("campaign.sh");

/// What one task may use.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    pub partition: Option<String>,
    pub time: Option<String>,
    pub memory: Option<String>,
    pub cpus: Option<u64>,
}

/// The script of one phase. `path` is where the template came from, for errors.
pub fn render(
    template: &str,
    path: &Path,
    phase: Phase,
    program: &Path,
    campaign: &Path,
    resources: &Resources,
) -> Result<String, SlurmError> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_keep_trailing_newline(true);
    let command = [
        quote(&program.to_string_lossy()),
        "campaign".to_owned(),
        "task".to_owned(),
        quote(&campaign.to_string_lossy()),
        phase.to_string(),
    ];
    let filled = environment.render_str(
        template,
        context! {
            phase => phase.name(),
            folder => campaign.to_string_lossy(),
            command => command.join(" "),
            partition => resources.partition,
            time => resources.time,
            mem => resources.memory,
            cpus => resources.cpus,
        },
    );
    filled.map_err(|error| SlurmError::Template {
        path: path.to_owned(),
        problem: error.to_string(),
    })
}

/// One word for the shell.
fn quote(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(template: &str, resources: &Resources) -> Result<String, SlurmError> {
        render(
            template,
            Path::new("mine.sh"),
            Phase::Fuzz,
            Path::new("/opt/my tools/fissure"),
            Path::new("/data/it's here"),
            resources,
        )
    }

    #[test]
    fn the_script_calls_the_task_of_its_phase_with_what_it_may_use() {
        let resources = Resources {
            partition: Some("cpu".into()),
            time: Some("02:00:00".into()),
            memory: None,
            cpus: Some(4),
        };
        let text = script(DEFAULT_TEMPLATE, &resources).unwrap();
        assert!(text.starts_with("#!"), "{text}");
        assert!(text.contains("#SBATCH --partition=cpu\n"), "{text}");
        assert!(text.contains("#SBATCH --time=02:00:00\n"), "{text}");
        assert!(text.contains("#SBATCH --cpus-per-task=4\n"), "{text}");
        assert!(!text.contains("--mem"), "{text}");
        let call = r"'/opt/my tools/fissure' campaign task '/data/it'\''s here' fuzz";
        assert!(text.contains(call), "{text}");
    }

    #[test]
    fn a_template_with_an_unknown_word_is_refused_by_its_name() {
        let error = script("{{ colour }}", &Resources::default()).unwrap_err();
        assert!(error.to_string().contains("mine.sh"), "{error}");
    }
}
