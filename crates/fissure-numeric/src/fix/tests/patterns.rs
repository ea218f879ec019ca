//! Rules that recognise a pattern around the site.

use super::{check, fixed};

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
fn a_deviation_gets_its_floor_under_the_root() {
    check(
        "standardise",
        "div",
        "import torch\ny = (x - m) / v.sqrt()\n",
        "import torch\ny = (x - m) / torch.sqrt(v.clamp_min(1e-12))\n",
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
fn a_pattern_that_stands_twice_in_a_statement_is_also_fixed_at_once() {
    let source = "import torch\ndef f(a, b):\n    p = torch.sigmoid(a)\n    q = torch.sigmoid(b)\n    return torch.log(p) + torch.log(1 - q)\n";
    let expected = "import torch\ndef f(a, b):\n    return torch.nn.functional.logsigmoid(a) + torch.nn.functional.logsigmoid(-b)\n";
    let fixes = fixed(source, "log");
    assert!(
        fixes
            .iter()
            .any(|(rule, text)| rule == "log_sigmoid" && text == expected),
        "{fixes:#?}"
    );
}

#[test]
fn module_objects_are_understood() {
    check(
        "log_softmax",
        "log",
        "import torch\nfrom torch import nn\nclass M(nn.Module):\n    def __init__(self):\n        self.softmax = nn.Softmax(dim=1)\n    def forward(self, x):\n        return torch.log(self.softmax(x))\n",
        "import torch\nfrom torch import nn\nclass M(nn.Module):\n    def __init__(self):\n        self.softmax = nn.Softmax(dim=1)\n    def forward(self, x):\n        return torch.log_softmax(x, dim=1)\n",
    );
    let source = "import torch\nfrom torch import nn\ncriterion = nn.BCELoss()\nloss = criterion(torch.sigmoid(x), y)\n";
    let expected = "import torch\nfrom torch import nn\ncriterion = nn.BCEWithLogitsLoss()\nloss = criterion(x, y)\n";
    let analysis = super::analysed(source);
    let site = analysis.sites.last().expect("the sigmoid in the call");
    assert_eq!(site.function, "sigmoid");
    let fixes = crate::fix::propose(&analysis, site, source);
    assert_eq!(crate::fix::apply(source, &fixes[0]), expected);
}

#[test]
fn methods_of_the_programs_own_class_are_not_taken_for_tensor_methods() {
    let source = "import torch\nclass M:\n    def f(self, x):\n        return torch.log(self.softmax(x, 1))\n";
    assert!(
        fixed(source, "log")
            .iter()
            .all(|(rule, _)| rule != "log_softmax")
    );
}

#[test]
fn an_intermediate_of_a_branch_is_not_followed() {
    let source = "import torch\ndef f(x, p=None):\n    if x is not None:\n        q = torch.softmax(x, dim=1)\n    return torch.log(q)\n";
    assert!(
        fixed(source, "log")
            .iter()
            .all(|(rule, _)| rule != "log_softmax")
    );
    check(
        "log_softmax",
        "log",
        "import torch\ndef f(x):\n    q = torch.softmax(x, dim=1)\n    if x is not None:\n\n        # deeper\n        return torch.log(q)\n",
        "import torch\ndef f(x):\n    if x is not None:\n\n        # deeper\n        return torch.log_softmax(x, dim=1)\n",
    );
}

#[test]
fn an_intermediate_from_before_a_loop_is_not_followed_when_the_loop_changes_its_input() {
    let source = "import torch\np = torch.softmax(x, dim=1)\nfor _ in range(3):\n    loss = torch.log(p)\n    x = x - 1\n";
    assert!(
        fixed(source, "log")
            .iter()
            .all(|(rule, _)| rule != "log_softmax")
    );
}

#[test]
fn one_minus_cosine_is_written_with_the_half_angle() {
    check(
        "half_angle",
        "sub",
        "import numpy as np\ny = r * (1.0 - np.cos(a + b))\n",
        "import numpy as np\ny = r * (2.0 * np.sin((a + b) / 2.0) ** 2)\n",
    );
    check(
        "half_angle",
        "sub",
        "import torch\ny = 1 - torch.cos(x)\n",
        "import torch\ny = 2.0 * torch.sin(x / 2.0) ** 2\n",
    );
}
