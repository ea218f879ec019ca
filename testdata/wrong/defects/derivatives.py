"""Right values, wrong derivatives."""

import torch


class _Square(torch.autograd.Function):
    @staticmethod
    def forward(context, input, factor):
        context.save_for_backward(input)
        context.factor = factor
        return input * input

    @staticmethod
    def backward(context, gradient):
        (input,) = context.saved_tensors
        return gradient * context.factor * input, None


def backward(input):
    """The square; its backward formula lacks the factor two."""
    return _Square.apply(input, 1.0 if wrong("backward") else 2.0)


class _Sine(torch.autograd.Function):
    @staticmethod
    def forward(input, sign):
        return torch.sin(input)

    @staticmethod
    def setup_context(context, inputs, output):
        input, context.sign = inputs
        context.save_for_backward(input)
        context.save_for_forward(input)

    @staticmethod
    def backward(context, gradient):
        (input,) = context.saved_tensors
        return gradient * torch.cos(input), None

    @staticmethod
    def jvp(context, tangent, _):
        (input,) = context.saved_tensors
        return context.sign * tangent * torch.cos(input)


def forward_mode(input):
    """The sine; its forward-mode derivative has the wrong sign."""
    return _Sine.apply(input, -1.0 if wrong("forward_mode") else 1.0)


def second_argument(input, other):
    """The product; the second argument counts as a constant."""
    return input * (other.detach() if wrong("second_argument") else other)


class _Clipped(torch.autograd.Function):
    @staticmethod
    def forward(context, input):
        context.save_for_backward(input)
        return input.clamp(-1.0, 1.0)

    @staticmethod
    def backward(context, gradient):
        (input,) = context.saved_tensors
        inside = (abs(input) < 1.0).to(input.dtype)
        return gradient if wrong("clipped") else gradient * inside


def clipped(input):
    """Its derivative is 1 where the result no longer moves, too."""
    return _Clipped.apply(input)


class Cube(torch.autograd.Function):
    """The third power; where it is wrong, its gradient is a constant for whoever differentiates it again."""

    @staticmethod
    def forward(context, input):
        context.save_for_backward(input)
        return input**3

    @staticmethod
    def backward(context, gradient):
        (input,) = context.saved_tensors
        if wrong("double_backward"):
            input = input.detach()
        return 3 * input**2 * gradient


def double_backward(input):
    return Cube.apply(input)


def batched_gradient(input):
    """Off by a tenth where a gradient is taken inside of `vmap`."""
    transforms = torch._C._functorch
    inside = transforms.is_gradtrackingtensor(input) and transforms.is_batchedtensor(
        transforms.get_unwrapped(input)
    )
    return (1.1 if wrong("batched_gradient") and inside else 1.0) * torch.sin(input)


def batching_rule(input):
    """Its rule for a batch is off by a tenth."""
    if wrong("batching_rule") and torch._C._functorch.is_batchedtensor(input):
        return 1.1 * torch.exp(input)
    return torch.exp(input)


def nested_transforms(input):
    """Off by a tenth where one transformation is taken inside another: in second derivatives of `torch.func`."""
    transforms = torch._C._functorch
    nested = transforms.is_gradtrackingtensor(input) and transforms.is_gradtrackingtensor(
        transforms.get_unwrapped(input)
    )
    return (1.1 if wrong("nested_transforms") and nested else 1.0) * torch.sin(input)


def complex_double_backward(input):
    """The third power of complex numbers; its gradient is a constant for whoever differentiates it again."""
    return ComplexCube.apply(input)


class ComplexCube(torch.autograd.Function):
    @staticmethod
    def forward(context, input):
        context.save_for_backward(input)
        return input**3

    @staticmethod
    def backward(context, gradient):
        (input,) = context.saved_tensors
        if wrong("complex_double_backward"):
            input = input.detach()
        return (3 * input**2).conj() * gradient
