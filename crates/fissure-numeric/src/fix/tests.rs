use std::path::Path;

use super::*;
use crate::analysis::analyse;

fn analysed(source: &str) -> Analysis {
    analyse(source, Path::new("program.py"), &REGISTRY).expect("valid Python")
}

/// Every fix for the first site of `function`, as (rule, fixed source).
fn fixed(source: &str, function: &str) -> Vec<(String, String)> {
    let analysis = analysed(source);
    let site = analysis
        .sites
        .iter()
        .find(|site| site.function == function)
        .unwrap_or_else(|| panic!("no site of {function}"));
    propose(&analysis, site, source)
        .iter()
        .map(|fix| {
            let text = apply(source, fix);
            ruff_python_parser::parse_module(&text)
                .unwrap_or_else(|error| panic!("{}: {error}\n{text}", fix.rule));
            (fix.rule.clone(), text)
        })
        .collect()
}

/// The first fix by `rule` gives exactly this source.
#[track_caller]
fn check(rule: &str, function: &str, before: &str, after: &str) {
    let fixes = fixed(before, function);
    let found = fixes.iter().find(|(name, _)| name == rule);
    let (_, text) = found.unwrap_or_else(|| panic!("no fix by {rule} among {fixes:#?}"));
    assert_eq!(text, after);
}

#[test]
fn every_rewrite_that_the_registry_names_exists() {
    for function in REGISTRY.functions() {
        for rule in &function.rewrites {
            assert!(rules::exists(rule), "{}: no rule `{rule}`", function.name);
        }
    }
}

#[test]
fn log_of_softmax_becomes_log_softmax() {
    check(
        "log_softmax",
        "log",
        "import torch\ny = torch.log(torch.softmax(x, dim=1))\n",
        "import torch\ny = torch.log_softmax(x, dim=1)\n",
    );
    check(
        "log_softmax",
        "log",
        "import torch\ny = (x.softmax(-1) + 1e-9).log()\n",
        "import torch\ny = torch.log_softmax(x, dim=-1)\n",
    );
}

#[test]
fn log_of_softmax_over_two_statements_drops_the_intermediate_used_only_there() {
    check(
        "log_softmax",
        "log",
        "import torch\nimport torch.nn.functional as F\ndef loss(x):\n    p = F.softmax(x, dim=1)\n    return torch.log(p)\n",
        "import torch\nimport torch.nn.functional as F\ndef loss(x):\n    return torch.log_softmax(x, dim=1)\n",
    );
}

#[test]
fn log_of_softmax_over_two_statements_keeps_an_intermediate_used_elsewhere() {
    check(
        "log_softmax",
        "log",
        "import torch\ndef entropy(x):\n    p = torch.softmax(x, dim=1)\n    return -(p * torch.log(p)).sum()\n",
        "import torch\ndef entropy(x):\n    p = torch.softmax(x, dim=1)\n    return -(p * torch.log_softmax(x, dim=1)).sum()\n",
    );
}

#[test]
fn an_intermediate_is_not_followed_when_its_input_changes_in_between() {
    let source = "import torch\ndef f(x):\n    p = torch.softmax(x, dim=1)\n    x = x + 1\n    return torch.log(p)\n";
    assert!(
        fixed(source, "log")
            .iter()
            .all(|(rule, _)| rule != "log_softmax")
    );
}

#[test]
fn log_of_sigmoid_becomes_logsigmoid() {
    check(
        "log_sigmoid",
        "log",
        "import torch\ny = torch.log(torch.sigmoid(x))\n",
        "import torch\ny = torch.nn.functional.logsigmoid(x)\n",
    );
    check(
        "log_sigmoid",
        "log",
        "import torch\nfrom torch.nn import functional as F\ny = torch.log(1 - torch.sigmoid(a + b))\n",
        "import torch\nfrom torch.nn import functional as F\ny = F.logsigmoid(-(a + b))\n",
    );
}

#[test]
fn a_lost_epsilon_goes_with_the_logarithm() {
    check(
        "log_sigmoid",
        "log",
        "import torch\nEPSILON = 1e-10\ndef f(s):\n    p = torch.sigmoid(s)\n    return torch.log(EPSILON + 1 - p)\n",
        "import torch\nEPSILON = 1e-10\ndef f(s):\n    return torch.nn.functional.logsigmoid(-s)\n",
    );
}

#[test]
fn a_logarithm_without_a_known_inside_gets_a_floor() {
    check(
        "log_clamp",
        "log",
        "import torch\ny = torch.log(x)\n",
        "import torch\ny = torch.log(x.clamp_min(torch.finfo(x.dtype).tiny))\n",
    );
    check(
        "log_clamp",
        "log",
        "import torch\ny = (a + b).log()\n",
        "import torch\ny = (a + b).clamp_min(torch.finfo(torch.float32).tiny).log()\n",
    );
    check(
        "log_clamp",
        "log",
        "import numpy as np\ny = np.log(a + b)\n",
        "import numpy as np\ny = np.log(np.maximum(a + b, np.finfo(float).tiny))\n",
    );
}

#[test]
fn softplus_by_hand_becomes_softplus_from_the_site_of_exp() {
    check(
        "softplus",
        "exp",
        "import torch\ny = torch.log(1 + torch.exp(x))\n",
        "import torch\ny = torch.nn.functional.softplus(x)\n",
    );
    check(
        "softplus",
        "exp",
        "import numpy as np\ny = np.log1p(np.exp(x))\n",
        "import numpy as np\ny = np.logaddexp(0.0, x)\n",
    );
}

#[test]
fn log_of_a_sum_of_exponentials_becomes_logsumexp() {
    check(
        "logsumexp",
        "exp",
        "import torch\ny = torch.log(torch.exp(x + b).sum(dim=1, keepdim=True))\n",
        "import torch\ny = torch.logsumexp(x + b, dim=1, keepdim=True)\n",
    );
    check(
        "logsumexp",
        "log",
        "import numpy as np\ny = np.log(np.sum(np.exp(x), axis=1))\n",
        "import numpy as np\ny = np.logaddexp.reduce(x, axis=1)\n",
    );
    check(
        "logsumexp",
        "log",
        "import torch\ny = torch.log(torch.sum(torch.exp(x)))\n",
        "import torch\ny = torch.logsumexp(x.flatten(), dim=0)\n",
    );
}

#[test]
fn a_naive_softmax_becomes_softmax() {
    check(
        "softmax",
        "exp",
        "import torch\ndef f(x):\n    e = torch.exp(x)\n    return e / e.sum(dim=-1, keepdim=True)\n",
        "import torch\ndef f(x):\n    return torch.softmax(x, dim=-1)\n",
    );
    check(
        "softmax",
        "div",
        "import torch\ny = torch.exp(x) / torch.exp(x).sum(1, keepdim=True)\n",
        "import torch\ny = torch.softmax(x, dim=1)\n",
    );
}

#[test]
fn a_naive_softmax_in_numpy_is_shifted() {
    check(
        "softmax_shift",
        "exp",
        "import numpy as np\ndef f(x):\n    e = np.exp(x)\n    return e / e.sum(axis=1, keepdims=True)\n",
        "import numpy as np\ndef f(x):\n    e = np.exp(x - x.max(axis=1, keepdims=True))\n    return e / e.sum(axis=1, keepdims=True)\n",
    );
}

#[test]
fn a_sigmoid_by_hand_becomes_sigmoid() {
    check(
        "sigmoid",
        "exp",
        "import torch\ny = 1 / (1 + torch.exp(-x))\n",
        "import torch\ny = torch.sigmoid(x)\n",
    );
}

#[test]
fn an_exponential_of_a_difference_gets_a_bounded_difference() {
    check(
        "exp_clamp",
        "exp",
        "import torch\nratio = torch.exp(new - old)\n",
        "import torch\nratio = torch.exp((new - old).clamp(-80.0, 80.0))\n",
    );
    check(
        "exp_clamp",
        "exp",
        "import numpy as np\nrate = np.exp(x)\n",
        "import numpy as np\nrate = np.exp(np.minimum(x, 80.0))\n",
    );
}

#[test]
fn exp_minus_one_becomes_expm1() {
    check(
        "expm1",
        "div",
        "import torch\ny = (torch.exp(x) - 1) / x\n",
        "import torch\ny = (torch.expm1(x)) / x\n",
    );
    check(
        "expm1_ratio",
        "div",
        "import torch\ny = (torch.exp(x) - 1) / x\n",
        "import torch\ny = torch.where(x == 0, torch.ones_like(x), torch.expm1(x) / torch.where(x == 0, torch.ones_like(x), x))\n",
    );
}

#[test]
fn log_of_one_plus_x_becomes_log1p() {
    check(
        "log1p",
        "log",
        "import torch\ny = torch.log(1 + r).sum()\n",
        "import torch\ny = torch.log1p(r).sum()\n",
    );
    check(
        "log1p",
        "log",
        "import numpy as np\ny = np.log(1 - r)\n",
        "import numpy as np\ny = np.log1p(-r)\n",
    );
}

#[test]
fn the_log_of_a_density_becomes_its_closed_form() {
    check(
        "gaussian_log_density",
        "log",
        "import math, torch\ndef f(v, m):\n    density = torch.exp(-0.5 * (v - m) ** 2) / math.sqrt(2 * math.pi)\n    return torch.log(density)\n",
        "import math, torch\ndef f(v, m):\n    return (-0.5 * (v - m) ** 2 - math.log(math.sqrt(2 * math.pi)))\n",
    );
}

#[test]
fn p_log_p_becomes_xlogy() {
    check(
        "xlogy",
        "log",
        "import torch\nh = -(p * torch.log(p)).sum()\n",
        "import torch\nh = -(torch.xlogy(p, p)).sum()\n",
    );
}

#[test]
fn log_cosh_avoids_cosh_and_imports_math() {
    check(
        "log_cosh",
        "log",
        "import torch\ny = torch.log(torch.cosh(x))\n",
        "import math\nimport torch\ny = (x.abs() + torch.nn.functional.softplus(-2.0 * x.abs()) - math.log(2.0))\n",
    );
}

#[test]
fn a_length_by_squares_becomes_a_norm() {
    check(
        "vector_norm",
        "sqrt",
        "import torch\ny = x.pow(2).sum(dim=1).sqrt()\n",
        "import torch\ny = torch.linalg.vector_norm(x, dim=1)\n",
    );
    check(
        "vector_norm",
        "pow",
        "import torch\ndef f(v):\n    s = v.pow(2)\n    return s.sum(dim=1).sqrt()\n",
        "import torch\ndef f(v):\n    return torch.linalg.vector_norm(v, dim=1)\n",
    );
    check(
        "vector_norm",
        "sqrt",
        "import numpy as np\ny = np.sqrt(np.sum(x * x, axis=1, keepdims=True))\n",
        "import numpy as np\ny = np.linalg.norm(x, axis=1, keepdims=True)\n",
    );
}

#[test]
fn a_unit_vector_becomes_normalize() {
    check(
        "unit_vector",
        "div",
        "import torch\ny = x / x.norm(dim=1, keepdim=True)\n",
        "import torch\ny = torch.nn.functional.normalize(x, dim=1)\n",
    );
}

#[test]
fn a_variance_by_moments_becomes_var() {
    check(
        "two_pass_variance",
        "pow",
        "import torch\nv = (x ** 2).mean(dim=0) - x.mean(dim=0) ** 2\n",
        "import torch\nv = x.var(dim=0, unbiased=False)\n",
    );
    check(
        "two_pass_variance",
        "sqrt",
        "import numpy as np\nd = np.sqrt(np.mean(x * x) - np.mean(x) ** 2)\n",
        "import numpy as np\nd = np.sqrt(x.var())\n",
    );
}

#[test]
fn divisors_get_a_floor_in_every_form() {
    check(
        "denominator_clamp",
        "div",
        "import torch\ny = a / (b + c)\n",
        "import torch\ny = a / (b + c).clamp_min(1e-12)\n",
    );
    check(
        "denominator_clamp",
        "div",
        "import torch\nx /= x.max()\n",
        "import torch\nx /= x.max().clamp_min(1e-12)\n",
    );
    check(
        "denominator_clamp",
        "div",
        "import numpy as np\ny = a / (b + c)\n",
        "import numpy as np\ny = a / np.maximum(b + c, 1e-12)\n",
    );
    check(
        "denominator_clamp",
        "div",
        "import torch\ny = torch.div(a, b)\n",
        "import torch\ny = torch.div(a, b.clamp_min(1e-12))\n",
    );
}

#[test]
fn a_deviation_gets_its_floor_under_the_root() {
    check(
        "standardise",
        "div",
        "import torch\ny = (x - m) / v.sqrt()\n",
        "import torch\ny = (x - m) / torch.sqrt(v.clamp_min(1e-12))\n",
    );
}

#[test]
fn roots_and_powers_get_a_floor() {
    check(
        "sqrt_clamp",
        "sqrt",
        "import torch\ny = torch.sqrt(a - b)\n",
        "import torch\ny = torch.sqrt((a - b).clamp_min(1e-12))\n",
    );
    check(
        "pow_clamp",
        "pow",
        "import torch\ny = degree.pow(-0.5)\n",
        "import torch\ny = degree.clamp_min(1e-12).pow(-0.5)\n",
    );
}

#[test]
fn the_deviation_of_a_single_element_is_made_defined() {
    check(
        "population_variance",
        "std",
        "import torch\ny = x.std(dim=0)\n",
        "import torch\ny = x.std(dim=0, unbiased=False)\n",
    );
    check(
        "population_variance",
        "var",
        "import torch\ny = x.var()\n",
        "import torch\ny = x.var(unbiased=False)\n",
    );
}

#[test]
fn arguments_outside_a_domain_are_clamped() {
    check(
        "domain_clamp",
        "acos",
        "import torch\ny = torch.acos(c)\n",
        "import torch\ny = torch.acos(c.clamp(-1.0 + 1e-7, 1.0 - 1e-7))\n",
    );
    check(
        "domain_clamp",
        "acos",
        "import numpy as np\ny = np.arccos(a @ b)\n",
        "import numpy as np\ny = np.arccos(np.clip(a @ b, -1.0, 1.0))\n",
    );
    check(
        "atanh_clamp",
        "atanh",
        "import torch\ny = x.atanh()\n",
        "import torch\ny = x.clamp(-1.0 + 1e-6, 1.0 - 1e-6).atanh()\n",
    );
    check(
        "logit_eps",
        "logit",
        "import torch\ny = torch.logit(p)\n",
        "import torch\ny = torch.logit(p, eps=1e-6)\n",
    );
}

#[test]
fn casts_saturate() {
    check(
        "cast_clamp",
        "cast",
        "import numpy as np\ny = (image * 255).astype(np.uint8)\n",
        "import numpy as np\ny = np.clip(image * 255, 0, 255).astype(np.uint8)\n",
    );
    check(
        "cast_clamp",
        "cast",
        "import numpy as np\ny = np.uint8(image * 255)\n",
        "import numpy as np\ny = np.uint8(np.clip(image * 255, 0, 255))\n",
    );
    check(
        "cast_clamp",
        "cast",
        "import torch\ny = (image * 255).to(torch.uint8)\n",
        "import torch\ny = (image * 255).clamp(0, 255).to(torch.uint8)\n",
    );
    check(
        "half_clamp",
        "cast_half",
        "import torch\ny = (a * b).half()\n",
        "import torch\ny = (a * b).clamp(-65504.0, 65504.0).half()\n",
    );
}

#[test]
fn losses_of_probabilities_become_losses_of_logits() {
    check(
        "cross_entropy",
        "log",
        "import torch\nimport torch.nn.functional as F\nl = F.nll_loss(torch.log(F.softmax(x, dim=1)), y, reduction='sum')\n",
        "import torch\nimport torch.nn.functional as F\nl = F.cross_entropy(x, y, reduction='sum')\n",
    );
    check(
        "bce_with_logits",
        "binary_cross_entropy",
        "import torch\nimport torch.nn.functional as F\np = torch.sigmoid(x)\nl = F.binary_cross_entropy(p, y)\n",
        "import torch\nimport torch.nn.functional as F\nl = F.binary_cross_entropy_with_logits(x, y)\n",
    );
}

#[test]
fn distributions_get_logits_and_positive_scales() {
    check(
        "distribution_logits",
        "categorical_log_prob",
        "import torch\nfrom torch.distributions import Categorical\nd = Categorical(probs=torch.softmax(x, dim=1))\n",
        "import torch\nfrom torch.distributions import Categorical\nd = Categorical(logits=x)\n",
    );
    check(
        "scale_clamp",
        "normal_log_prob",
        "import torch\nd = torch.distributions.Normal(m, s)\n",
        "import torch\nd = torch.distributions.Normal(m, s.clamp_min(1e-6))\n",
    );
}

#[test]
fn a_masked_softmax_gets_finite_masks() {
    check(
        "masked_softmax",
        "softmax",
        "import torch\nw = torch.softmax(scores, dim=-1)\n",
        "import torch\nw = torch.softmax(scores.clamp_min(torch.finfo(scores.dtype).min), dim=-1)\n",
    );
}

#[test]
fn solves_are_done_in_float64_or_with_a_ridge() {
    check(
        "ridge",
        "solve",
        "import torch\nc = torch.linalg.solve(a, b)\n",
        "import torch\nc = torch.linalg.solve(a.double(), b.double()).to(a.dtype)\n",
    );
    check(
        "ridge",
        "inverse",
        "import numpy as np\nc = np.linalg.inv(a)\n",
        "import numpy as np\nc = np.linalg.inv(a + 1e-6 * np.eye(a.shape[-1]))\n",
    );
    check(
        "slogdet",
        "log",
        "import torch\nd = torch.log(torch.det(a))\n",
        "import torch\nd = torch.linalg.slogdet(a)[1]\n",
    );
}

#[test]
fn half_precision_is_widened() {
    check(
        "widen",
        "pow",
        "import torch\nx = x.half()\ny = (x**2).mean()\n",
        "import torch\nx = x.half()\ny = (x.float()**2).mean()\n",
    );
}

#[test]
fn a_missing_import_is_added_before_the_first_one() {
    check(
        "log_clamp",
        "log",
        "\"\"\"Text.\"\"\"\nfrom __future__ import annotations\nfrom torch import log\ny = log(x + z)\n",
        "\"\"\"Text.\"\"\"\nfrom __future__ import annotations\nimport torch\nfrom torch import log\ny = log((x + z).clamp_min(torch.finfo(torch.float32).tiny))\n",
    );
}

#[test]
fn a_source_other_than_the_analysed_one_gets_no_fix() {
    let analysis = analysed("import torch\ny = torch.log(x)\n");
    assert_eq!(propose(&analysis, &analysis.sites[0], "y = 1\n"), []);
}

#[test]
fn the_diff_is_a_patch_with_context() {
    let text = diff(Path::new("train.py"), "a\nb\nc\n", "a\nB\nc\n");
    assert_eq!(
        text,
        "--- a/train.py\n+++ b/train.py\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"
    );
}

#[test]
fn every_faulty_example_has_a_fix_and_its_fixed_sources_parse() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/numeric");
    let text = std::fs::read_to_string(folder.join("manifest.toml")).expect("the manifest exists");
    let manifest: toml::Table = toml::from_str(&text).expect("the manifest is TOML");
    // No local rewrite repairs these: the data or the step size is at fault.
    let without = ["gram_cross_entropy", "learning_rate_too_high"];
    for program in manifest["program"].as_array().expect("a list of programs") {
        let field = |name: &str| program[name].as_str().expect("text").to_owned();
        let source = std::fs::read_to_string(folder.join(field("file"))).expect("it exists");
        let analysis = analysed(&source);
        let line = source
            .lines()
            .position(|line| line.contains("# unstable"))
            .expect("a marked line")
            + 1;
        let site = analysis
            .sites_at(line)
            .find(|site| site.function == field("function"))
            .expect("the site is found");
        let fixes = propose(&analysis, site, &source);
        assert_eq!(
            fixes.is_empty(),
            without.contains(&field("name").as_str()),
            "{}: {fixes:#?}",
            field("name")
        );
        for fix in fixes {
            let text = apply(&source, &fix);
            ruff_python_parser::parse_module(&text)
                .unwrap_or_else(|error| panic!("{}: {}: {error}\n{text}", field("name"), fix.rule));
        }
    }
}
