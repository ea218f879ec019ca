//! Rules that guard the call of the site.

use super::{check, check_all};

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
fn divisors_that_cannot_be_negative_get_a_floor_in_every_form() {
    check(
        "denominator_clamp",
        "div",
        "import torch\ny = a / (b.abs() + 1)\n",
        "import torch\ny = a / (b.abs() + 1).clamp_min(1e-12)\n",
    );
    check(
        "denominator_clamp",
        "div",
        "import torch\nx /= x.abs().max()\n",
        "import torch\nx /= x.abs().max().clamp_min(1e-12)\n",
    );
    check(
        "denominator_clamp",
        "div",
        "import numpy as np\ny = a / (np.exp(b) + c ** 2)\n",
        "import numpy as np\ny = a / np.maximum(np.exp(b) + c ** 2, 1e-12)\n",
    );
    check(
        "denominator_clamp",
        "div",
        "import torch\ny = torch.div(a, b.std())\n",
        "import torch\ny = torch.div(a, b.std().clamp_min(1e-12))\n",
    );
}

#[test]
fn reciprocals_stay_large_at_zero() {
    check(
        "denominator_clamp",
        "div",
        "import torch\nw = 1.0 / distance(a, b)\n",
        "import torch\nw = 1.0 / distance(a, b).clamp_min(1e-12)\n",
    );
}

#[test]
fn a_floor_under_a_difference_does_not_promise_its_digits() {
    let source = "import torch\ny = torch.sqrt(a - b)\n";
    let analysis = super::analysed(source);
    let fixes = crate::fix::propose(&analysis, &analysis.sites[0], source);
    assert!(fixes[0].explanation.contains("stay lost"), "{fixes:#?}");
}

#[test]
fn divisors_of_either_sign_get_another_value_at_zero_first() {
    check(
        "denominator_clamp",
        "div",
        "import torch\ny = a / b\n",
        "import torch\ny = a / torch.where(b == 0, torch.ones_like(b), b)\n",
    );
    check(
        "denominator_clamp",
        "div",
        "import torch\ndef f(x):\n    x /= x.max()\n    return x\n",
        "import torch\ndef f(x):\n    divisor = x.max()\n    x /= torch.where(divisor == 0, torch.ones_like(divisor), divisor)\n    return x\n",
    );
    check(
        "denominator_clamp",
        "div",
        "import numpy as np\ny = [a / f(b) for b in c]\n",
        "import numpy as np\ny = [a / np.where(f(b) == 0, 1.0, f(b)) for b in c]\n",
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
    // The first keeps the estimate, and is no fix where there is only one element.
    check_all(
        "population_variance",
        "std",
        "import torch\ny = x.std(dim=0)\n",
        &[
            "import torch\ny = x.var(dim=0).clamp_min(1e-12).sqrt()\n",
            "import torch\ny = x.std(dim=0, unbiased=False)\n",
            "import torch\ny = x.var(dim=0, unbiased=False).clamp_min(1e-12).sqrt()\n",
        ],
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
