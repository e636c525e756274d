# SPDX-License-Identifier: Apache-2.0
"""What the documents show runs, and says what they say; the README is the same in both languages."""

import importlib.util
import multiprocessing
import os
import re
import runpy
import sys
import tempfile
import traceback

import pytest
from jobs import HERE, PYTHON, environment, pes, run

TOP = os.path.join(HERE, '..', '..')
FENCE = re.compile(r'^```(\w*)\n(.*?)^```$', re.MULTILINE | re.DOTALL)
READMES = ['README.md', 'README.zh-CN.md']


def read(name):
    with open(os.path.join(TOP, name), encoding='utf-8') as file:
        return file.read()


def blocks(name):
    return FENCE.findall(read(name))


# --- programs of torch run in forked children, which have torch already ------------------------------------------------------


def run_here(path, seconds=60):
    """Runs a program in a forked child. Returns its exit status and what it printed."""
    with tempfile.TemporaryFile('w+b') as out:
        def body():
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
            sys.stdout, sys.stderr, sys.argv = os.fdopen(1, 'w'), os.fdopen(2, 'w'), [str(path)]
            code = 0
            need_torch().set_num_threads(1)  # threads of OpenMP, which pytest's process may have, do not survive a fork
            try:
                runpy.run_path(str(path), run_name='__main__')
            except SystemExit as error:
                code = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
                if isinstance(error.code, str):
                    print(error.code)
            except BaseException:
                traceback.print_exc()
                code = 1
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

        process = multiprocessing.get_context('fork').Process(target=body)
        process.start()
        process.join(seconds)
        late = process.exitcode is None
        if late:
            process.kill()
            process.join()
        out.seek(0)
        text = out.read().decode(errors='replace')
        assert not late, f'{path} did not end: {text}'
        return process.exitcode, text


def need_torch():
    return pytest.importorskip('torch')


# --- the README --------------------------------------------------------------------------------------------------------------


def test_the_readme_runs(tmp_path):
    programs = [text for language, text in blocks('README.md') if language == 'python' and 'torch' not in text]
    assert len(programs) >= 3
    (tmp_path / 'spread.py').write_text(programs[0])
    result = pes(2, tmp_path / 'spread.py').ok()
    assert sorted(result.out.split()) == ['0', '1', '42.0', '42.0'], result.text
    (tmp_path / 'pools.py').write_text('import numpy as np, shmem\n' + '\n'.join(programs[1:]) + "\nassert a.shape == (1024, 1024)\n")
    run([PYTHON, tmp_path / 'pools.py'], env=environment()).ok()


def test_the_readme_runs_with_torch(tmp_path):
    need_torch()
    (program,) = [text for language, text in blocks('README.md') if language == 'python' and 'torch' in text]
    before = 'import torch\ntorch.set_num_threads(1)\ndata = torch.utils.data.TensorDataset(torch.arange(256.0))\nmodel = torch.nn.Linear(4, 2)\n'
    after = ('print(sum(int(batch[0].sum()) for batch in loader), shmem.torch.attach(torch.nn.Linear(4, 2), shared.key).weight.equal(model.weight))\n'
             'ddp = torch.nn.parallel.DistributedDataParallel(model)\nddp(torch.ones(1, 4)).sum().backward()\ndist.destroy_process_group()\n')
    (tmp_path / 'readme.py').write_text(before + program + after)
    result = pes(2, tmp_path / 'readme.py').ok()
    assert result.out.split() == ['32640', 'True'] * 2, result.text


def shape_of(name):
    """What both languages must have in common: levels of headings, code, how many rows, points and links there are."""
    text = read(name)
    prose = FENCE.sub('', text)
    code = [(language, re.sub(r'(#|/\*).*$', '', body, flags=re.MULTILINE)) for language, body in blocks(name)]
    return {'headings': [len(found) for found in re.findall(r'^(#+) ', prose, re.MULTILINE)], 'code': code,
            'rows': [line.count('|') for line in prose.splitlines() if line.startswith('|')],
            'points': len(re.findall(r'^\* ', prose, re.MULTILINE)),
            'links': sorted(re.findall(r'\]\(([^)]*)\)', prose))}


def test_the_readme_is_the_same_in_both_languages():
    english, chinese = map(shape_of, READMES)
    for what in english:
        assert english[what] == chinese[what], what
    assert len(re.findall(r'[\u4e00-\u9fff]', read('README.zh-CN.md'))) > 800


@pytest.mark.parametrize('name', [*READMES, 'docs/tutorial.md'])
def test_links_lead_somewhere(name):
    folder = os.path.dirname(os.path.join(TOP, name))
    for link in re.findall(r'\]\(([^)#]+)', FENCE.sub('', read(name))):
        if '://' not in link:
            assert os.path.exists(os.path.join(folder, link)), link


# --- the tutorial ------------------------------------------------------------------------------------------------------------


def tutorial():
    """(name of the program, its text, the command that runs it, what it prints)."""
    found, fences = [], blocks('docs/tutorial.md')
    for (language, text), (_, command), (_, output) in zip(fences, fences[1:], fences[2:]):
        if language == 'python':
            found.append((re.match(r'# (\S+\.py)\n', text)[1], text, command.strip(), output))
    assert sum(language == 'python' for language, _ in fences) == len(found)
    return found


@pytest.mark.parametrize('name, text, command, output', tutorial(), ids=[name for name, *_ in tutorial()])
def test_the_tutorial_runs(name, text, command, output, tmp_path):
    torch = need_torch()
    path = tmp_path / name
    path.write_text(text)
    if command == f'python3 {name}':
        code, said = run_here(path)
        assert code == 0 and said == output, said
        return
    assert command.startswith('torchrun --nproc-per-node 2 ')
    import shmem.torch  # noqa: F401
    if not hasattr(torch.distributed.Backend, 'SHMEM'):
        pytest.skip('this build has no back end of torch.distributed')
    from test_job import free_port
    result = run([PYTHON, '-m', 'torch.distributed.run', '--nproc_per_node', '2', '--master_addr', '127.0.0.1', '--master_port', free_port(),
                  path], env=environment())
    if 'use_libuv was requested' in result.text:
        pytest.skip('this torchrun starts nothing: its own store asks for libuv, which this torch was built without')
    if "'NoneType' object has no attribute 'get'" in result.text:
        pytest.skip('this torchrun starts nothing: it is older than this Python')
    assert result.ok().out == output, result.text


# --- examples and benchmarks of torch ----------------------------------------------------------------------------------------

EXAMPLES = os.path.join(TOP, 'examples', 'torch')


@pytest.mark.parametrize('name', sorted(os.listdir(EXAMPLES)))
def test_examples_with_torch(name):
    need_torch()
    if importlib.util.find_spec('sklearn') is None:
        pytest.skip('the digits come with scikit-learn, which is not installed')
    code, said = run_here(os.path.join(EXAMPLES, name))
    assert code == 0 and said.strip() and 'WRONG' not in said, said


def test_the_page_of_the_benchmark(monkeypatch, tmp_path, capsys):
    import shmem.bench.__main__ as bench
    tables = [{'title': 'Both <kinds>', 'columns': ['', 'size', 'µs'], 'rows': [['a', 1, 2.5], ['b', 1, 90], ['a', 8, 4], ['b', 8, 800]],
               'note': 'A note.'},
              {'title': 'Lines', 'columns': ['bytes', 'ours', 'theirs'], 'rows': [[4, 1.0, 2.0], [4096, 3.0, None]], 'note': '',
               'plot': {'x': 'bytes', 'y': ['ours', 'theirs'], 'log': True}},
              {'title': 'Names', 'columns': ['', 'MiB'], 'rows': [['a', 1], ['b', 2]], 'note': 'n'}]
    text = bench.text_of(tables[0])
    assert text.splitlines()[0] == 'Both <kinds>' and 'A note.' in text
    page = bench.html_of([('part', tables)], False)
    assert 'matplotlib is not installed' in page and '<svg' not in page and 'Both &lt;kinds&gt;' in page
    if bench._have_matplotlib():
        def body():  # matplotlib keeps its fonts open
            page = bench.html_of([('part', tables)], True)
            os._exit(0 if page.count('<svg') == 3 and not re.search(r'(src|href)="http', page) else 1)

        process = multiprocessing.get_context('fork').Process(target=body)
        process.start()
        process.join(60)
        assert process.exitcode == 0
    assert {'inference', 'parameters', 'preprocessing'} <= set(bench.parts())
    monkeypatch.setattr(sys, 'argv', ['bench', 'nothing'])
    with pytest.raises(SystemExit):
        bench.main()
    assert "no part 'nothing'" in capsys.readouterr().err

    class Module:
        @staticmethod
        def tables(quick):
            return tables[:1]

    monkeypatch.setitem(sys.modules, 'shmem.bench.inference', Module)
    monkeypatch.setattr(sys, 'argv', ['bench', '--quick', 'inference', '--output', str(tmp_path / 'b.html')])
    monkeypatch.setattr(bench, '_have_matplotlib', lambda: False)
    assert bench.main() == 0 and 'Both' in (tmp_path / 'b.html').read_text()
    monkeypatch.setitem(sys.modules, 'torch', None)
    monkeypatch.delitem(sys.modules, 'shmem.bench.inference')
    assert bench.main() == 0 and 'left out' in (tmp_path / 'b.html').read_text() and 'pip install torch' in capsys.readouterr().out


@pytest.mark.skipif('not os.environ.get("SHMEM_TEST_FULL")', reason='takes half a minute: set SHMEM_TEST_FULL=1')
def test_the_benchmarks_run(tmp_path):
    need_torch()
    result = run([PYTHON, '-m', 'shmem.bench', '--quick', '--output', tmp_path / 'bench.html', 'inference', 'parameters', 'preprocessing'],
                 deadline=300, env=environment()).ok()
    assert result.out.count('\n  -') == 7 and (tmp_path / 'bench.html').stat().st_size > 5000


def test_sources_of_benchmarks_are_installed_whole():
    """shmem-bench compiles some of them where it is installed, beside what they include."""
    import shutil
    folder = os.path.join(os.path.dirname(os.path.dirname(shutil.which('shmem-bench'))), 'share', 'shmem', 'bench')
    names = set(os.listdir(folder))
    for name in names:
        with open(os.path.join(folder, name), encoding='utf-8') as file:
            included = set(re.findall(r'^#include "([^"]+)"$', file.read(), re.MULTILINE))
        assert included <= names, f'{name} includes {included - names}, which is not installed'
    assert 'queues.h' in names
