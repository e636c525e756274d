# SPDX-License-Identifier: Apache-2.0
"""torch.compile follows calls into whatever is written in Python; a group's operations it is to call as they are."""

from __future__ import annotations

import contextlib
import types
from typing import Any, Iterator

import torch


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _functions(of: Any, module: str) -> Iterator[types.FunctionType]:
    for value in vars(of).values():
        if getattr(value, '__module__', None) != module:
            continue
        if isinstance(value, types.FunctionType):
            yield value
        elif isinstance(value, type):
            yield from _functions(value, module)


def _mark() -> Any:
    """Marks a piece of code; None: this version of torch compiles nothing. torch._dynamo, which does the same for a function,
    would take a second to import."""
    frames = getattr(getattr(torch._C, '_dynamo', None), 'eval_frame', None)
    if hasattr(frames, 'set_code_exec_strategy') and hasattr(frames, '_FrameExecStrategy'):
        skip = frames._FrameAction.SKIP
        how = frames._FrameExecStrategy(skip, skip)  # and what it calls
        return lambda code: frames.set_code_exec_strategy(code, how)
    return getattr(frames, 'skip_code', None)


def leave_alone(*modules: types.ModuleType) -> None:
    """No function of these modules is compiled, nor looked into."""
    mark = _mark()
    if mark is None:
        return
    with contextlib.suppress(AttributeError, TypeError):  # it is torch's own affair, and may look otherwise in another version
        for module in modules:
            for function in _functions(module, module.__name__):
                for code in _codes(function.__code__):
                    mark(code)
