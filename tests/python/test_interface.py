# SPDX-License-Identifier: Apache-2.0
"""The package as people meet it: names, aliases, docstrings, type stubs, messages."""

import ast
import inspect
import os
import pickle

import shmem
from jobs import on_pes, raises
from shmem import _aliases, _ext, errors

FOLDER = os.path.dirname(shmem.__file__)


def stub(name):
    with open(os.path.join(FOLDER, name)) as file:
        return ast.parse(file.read())


def parameters(node):
    a = node.args
    names = [x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    return names + (['**'] if a.kwarg else [])


def test_every_public_name_has_a_stub_and_the_reverse():
    names = set()
    for node in stub('__init__.pyi').body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets)
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
        elif isinstance(node, ast.ImportFrom) and node.level:
            names.update(alias.asname for alias in node.names)
    public = {name for name in names if not name.startswith('_')}
    assert public == set(shmem.__all__)
    assert len(shmem.__all__) == len(set(shmem.__all__)) and all(hasattr(shmem, name) for name in public)
    assert os.path.exists(os.path.join(FOLDER, 'py.typed'))


def test_stubs_know_the_parameters():
    """Every keyword of a stub is accepted, and every parameter is in a stub."""
    overloads = {}
    for node in stub('__init__.pyi').body:
        if isinstance(node, ast.FunctionDef):
            overloads.setdefault(node.name, []).append(parameters(node))
    for name, variants in overloads.items():
        if name in ('barrier', 'quiet', 'fence', 'is_initialized'):  # in C
            assert variants == [[]]
            continue
        real = list(inspect.signature(getattr(shmem, name)).parameters)
        accepted = set(real) | set(_aliases.ARGUMENTS.get(name, ())) | {'dst_mr', 'dst_offset', 'src_mr', 'src_offset', '**'}
        for variant in variants:
            assert set(variant) <= accepted, (name, variant)
        assert set(real) - {'other'} <= {p for v in variants for p in v}, name


def test_the_extension_has_what_its_stub_says():
    named = {node.name for node in stub('_ext.pyi').body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    named |= {node.target.id for node in stub('_ext.pyi').body if isinstance(node, ast.AnnAssign)}
    assert named == {name for name in dir(_ext) if not name.startswith('__')}


def test_docstrings():
    for name in shmem.__all__:
        thing = getattr(shmem, name)
        if callable(thing) or inspect.ismodule(thing):
            assert thing.__doc__ and len(thing.__doc__) > 20, name
    for name in ('put', 'get', 'register', 'wait', 'all_reduce', 'empty', 'atomic_add'):
        text = getattr(shmem, name).__doc__
        assert 'Raises' in text and ('thread' in text or 'Collective' in text), name


def test_aliases():
    for other, core in _aliases.FUNCTIONS.items():
        assert getattr(shmem, other) is getattr(shmem, core) and other in shmem.__all__
    assert shmem.get_rank is shmem.my_pe and shmem.get_world_size is shmem.n_pes and shmem.PeerDied is shmem.OwnerDied
    for function, table in _aliases.ARGUMENTS.items():
        taken = inspect.signature(getattr(shmem, function)).parameters
        assert set(table.values()) <= set(taken) and not set(table) & set(taken), function


def test_errors():
    import errno
    for name in errors.__all__:
        kind = getattr(errors, name)
        assert issubclass(kind, shmem.Error) and issubclass(kind, RuntimeError)
        error = kind('shmem.put: text', errno.EINVAL)
        again = pickle.loads(pickle.dumps(error))
        assert str(again) == 'shmem.put: text' and again.errno == errno.EINVAL and type(again) is kind
        assert kind().errno is None
    for code, kind in ((errno.EOWNERDEAD, shmem.OwnerDied), (errno.ETIMEDOUT, TimeoutError), (errno.EINVAL, ValueError),
                       (errno.EACCES, PermissionError), (errno.ENOMEM, MemoryError), (errno.ENOENT, LookupError),
                       (errno.EPERM, shmem.NotInitialized), (errno.ENOTSUP, NotImplementedError), (9999, shmem.Error)):
        error = errors.make('get', code, 'text')
        assert isinstance(error, kind) and error.errno == code and str(error) == 'shmem.get: text'


@on_pes(1)
def test_regions_cannot_be_made_or_sent():
    for kind in (shmem.Region, _ext.RegionBase, _ext.View, _ext.Block):
        try:
            kind()
        except TypeError:
            pass
        else:
            raise AssertionError(f'{kind} could be made')
    with raises(TypeError, 'Region', 'shmem.region()'):
        pickle.dumps(shmem.register(bytearray(8)))
