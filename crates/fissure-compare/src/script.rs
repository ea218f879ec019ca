//! The program that shows one behaviour in both versions, with plain Python.

use std::path::PathBuf;

use fissure_model::{Api, ConcreteInput};

use crate::behaviour::Kind;

/// One version as a script starts it.
#[derive(Clone, Debug)]
pub struct ScriptSide {
    pub name: String,
    pub python: PathBuf,
    pub pythonpath: Vec<PathBuf>,
}

const STARTER: &str = r#"if len(sys.argv) == 1:
    for number, (name, python, path) in enumerate(SIDES):
        print("=====", name)
        sys.stdout.flush()
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(path))
        done = subprocess.run([python, __file__, str(number)], env=environment)
        if done.returncode:
            print("the process ended with", done.returncode)
    sys.exit()

# From here on: the call, in one of the two.
"#;

const SHOW: &str = r#"

def show(value, depth=4):
    if depth and isinstance(value, (list, tuple)):
        print(type(value).__name__, len(value))
        for item in value:
            show(item, depth - 1)
    elif hasattr(value, "shape"):
        print(getattr(value, "dtype", ""), tuple(value.shape), value)
    else:
        print(type(value).__name__, repr(value)[:300])


if "torch" in sys.modules:
    sys.modules["torch"].manual_seed(0)
    sys.modules["torch"].set_printoptions(precision=12)
parts = build()
try:
    result = call(*parts)
except Exception as error:
    print("raises", type(error).__name__ + ":", str(error)[:500])
else:
    show(result)
    print("arguments after the call:", str(parts)[:500])
"#;

const MEASURE: &str = r#"

def longer(parts, aim=1 << 19):
    """The same with the first dimension of the largest tensor, and of all as long, repeated."""
    tensors = [it for part in parts for it in (part.values() if isinstance(part, dict) else part)]
    tensors = [it for it in tensors if hasattr(it, "repeat") and getattr(it, "shape", ()) and size(it)]
    if not tensors:
        return parts
    length = max(tensors, key=size).shape[0]
    factor = max(1, aim // sum(size(it) for it in tensors))

    def change(it):
        if not any(it is tensor for tensor in tensors) or it.shape[0] != length:
            return it
        if hasattr(it, "data_ptr"):
            return it.repeat(factor, *[1] * (it.dim() - 1))
        import numpy

        return numpy.concatenate([it] * factor)

    return [
        {key: change(it) for key, it in part.items()}
        if isinstance(part, dict)
        else [change(it) for it in part]
        for part in parts
    ]


def size(tensor):
    return tensor.numel() if hasattr(tensor, "numel") else tensor.size


def least(make):
    taken = []
    for _ in range(20):
        parts = make()
        begin = time.process_time()
        call(*parts)
        taken.append(time.process_time() - begin)
    return min(taken)


if "torch" in sys.modules:
    sys.modules["torch"].set_num_threads(1)
print("%.1f us as it is" % (1e6 * least(build)))
try:
    print("%.1f us with longer tensors" % (1e6 * least(lambda: longer(build()))))
    print("peak of this process: %d MiB" % (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10))
except Exception as error:
    print("longer tensors:", type(error).__name__, str(error)[:200])
"#;

/// A program that makes the call in both versions and prints what each does. `after`: the API in the second
/// version, where its name is another.
pub fn both_script(
    title: &str,
    kind: Kind,
    sides: &[ScriptSide; 2],
    before: &Api,
    after: &Api,
    input: &ConcreteInput,
) -> String {
    let mut text = format!(
        "#!/usr/bin/env python3\n\"\"\"{}\n\nAny Python 3 runs it; it starts both.\"\"\"\n\n",
        plain(title)
    );
    text.push_str(
        "import os\nimport resource\nimport subprocess\nimport sys\nimport time\n\nSIDES = [\n",
    );
    for side in sides {
        let folders: Vec<String> = (side.pythonpath.iter())
            .map(|folder| literal(&folder.display().to_string()))
            .collect();
        text.push_str(&format!(
            "    ({}, {}, [{}]),\n",
            literal(&side.name),
            literal(&side.python.display().to_string()),
            folders.join(", ")
        ));
    }
    text.push_str("]\n\n");
    text.push_str(STARTER);
    let programs = [
        fissure_triage::script_parts(before, input),
        fissure_triage::script_parts(after, input),
    ];
    if programs[0] == programs[1] {
        text.push_str(&programs[0]);
    } else {
        text.push_str("if sys.argv[1] == \"0\":\n");
        text.push_str(&indented(&programs[0]));
        text.push_str("else:\n");
        text.push_str(&indented(&programs[1]));
    }
    text.push_str(match kind {
        Kind::Speed | Kind::Memory => MEASURE,
        _ => SHOW,
    });
    text
}

fn indented(program: &str) -> String {
    let lines = program.lines().map(|line| match line {
        "" => "\n".to_owned(),
        line => format!("    {line}\n"),
    });
    lines.collect()
}

fn literal(text: &str) -> String {
    // JSON's strings are Python's.
    serde_json::Value::from(text).to_string()
}

/// Text that is safe inside a documentation string.
fn plain(text: &str) -> String {
    let safe = |c: char| !c.is_control() && !matches!(c, '"' | '\\');
    text.chars().filter(|c| safe(*c)).collect()
}
