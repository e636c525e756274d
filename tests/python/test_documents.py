# SPDX-License-Identifier: Apache-2.0
"""What the documents show runs, and says what they say; the README is the same in both languages."""

import importlib.util
import multiprocessing
import os
import re
import runpy
import shutil
import sys
import tempfile
import traceback

import pytest
from jobs import HERE, PYTHON, environment, pes, run, torchrun

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


# Lines of shell that do not run from the documents, because they install, build, or take long: the file that runs the
# same, and what it has there.
ELSEWHERE = {
    'make demo': ('tests/python/test_demo.py', "pes(4, DEMO, 'train')"),
    'make check': ('scripts/check', 'run_pytest python'),  # runs this test
    'scripts/setup wheel': ('tests/package/run', 'pip install'),
    '/usr/bin/python3 -m venv --system-site-packages ~/shmem': ('tests/package/run', '-m venv --system-site-packages'),
    '. ~/shmem/bin/activate': ('tests/package/run', '/bin/python'),
    'pip install --no-build-isolation .': ('tests/package/run', 'pip install --no-build-isolation'),
    'pip install torch': ('scripts/setup', 'make_environment venv torch'),
    'python3 -m shmem.bench --quick': ('tests/python/test_documents.py', "'-m', 'shmem.bench', '--quick'"),
}
BLANK = re.compile(r'\s+#.*$')


def shell_lines(name):
    return [BLANK.sub('', line) for language, text in blocks(name) if language == 'sh' for line in text.splitlines()]


def test_every_line_of_shell_is_run_somewhere():
    seen = set()
    for name in [*READMES, 'docs/tutorial.md']:
        programs = {command for _, _, command, _ in tutorial()}
        for line in shell_lines(name):
            if line in ELSEWHERE:
                place, how = ELSEWHERE[line]
                assert how in read(place), f'{line}: {place} does not run it any more'
                seen.add(line)
            else:
                assert line in programs or line in README_LINES, f'{name}: nothing runs {line!r}: run it here, or say in ELSEWHERE where it is run'
    assert seen == set(ELSEWHERE), f'no document has {set(ELSEWHERE) - seen} any more'
    assert set(README_LINES) <= set(shell_lines('README.md'))


RING = [f'{me} of 4 was visited by {(me + 3) % 4}' for me in range(4)]
# Lines of the README that run in a folder with its programs, in this order; what they print, in any order.
README_LINES = {
    '. build/env': [],
    'oshcc program.c -o program': [],
    'shmemrun -n 4 ./program': RING,
    'oshcc ring.c -o ring && shmemrun -n 4 ./ring': RING,
    'shmemrun -n 4 python3 spread.py': ['0 42.0', '1 42.0', '2 42.0', '3 42.0'],
}


@pytest.mark.parametrize('name', READMES)
def test_the_shell_and_c_of_the_readme_run(name, tmp_path):
    (ring,) = [text for language, text in blocks(name) if language == 'c']
    (tmp_path / 'ring.c').write_text(ring)
    (tmp_path / 'program.c').write_text(ring)
    (tmp_path / 'spread.py').write_text(next(text for language, text in blocks(name) if language == 'python'))
    (tmp_path / 'python3').write_text(f'#!/bin/sh\nexec {PYTHON} "$@"\n')
    (tmp_path / 'python3').chmod(0o755)
    (tmp_path / 'build').symlink_to(os.path.join(TOP, 'build'))
    env = environment()
    env['PATH'] = f'{tmp_path}:{env["PATH"]}'
    lines = set(shell_lines(name))
    for line, output in README_LINES.items():
        assert line in lines, line
        result = run(['sh', '-ec', f'cd "$0"; . build/env; {line}', tmp_path], env=env).ok()
        assert sorted(result.out.splitlines()) == output, result.text


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
    result = torchrun(path)
    assert result.out == output, result.text


# --- examples and benchmarks of torch ----------------------------------------------------------------------------------------

EXAMPLES = os.path.join(TOP, 'examples', 'torch')


@pytest.mark.parametrize('name', sorted(os.listdir(EXAMPLES)))
def test_examples_with_torch(name):
    need_torch()
    if importlib.util.find_spec('sklearn') is None:
        pytest.skip('the digits come with scikit-learn, which is not installed')
    code, said = run_here(os.path.join(EXAMPLES, name))
    assert code == 0 and said.strip() and 'WRONG' not in said, said


def test_what_is_printed_of_queues(capsys):
    bench = runpy.run_path(shutil.which('shmem-bench'))
    ways = {'fill 2 threads': {'plain': 1 / 15e6, '4': 1 / 60e6}, 'stream 8 threads': {'ck': 1 / 180e3}}
    bench['print_queue']({'ways': ways, 'ratios': {'batch 4 / two compare-and-swaps, 2 side by side': 4.0},
                          'latency': {f'{how}.{part}': 1e-6 for how in ('asleep', 'polling') for part in ('50', '99', '99.9')}, 'why_not': {}})
    said = capsys.readouterr().out
    assert re.search(r'side by side +4\.00 +aim: at least 2\.5; from 15\.0 to 60\.0 million/s; published: 3\.06x, from 1\.7 to 5\.2 million/s$', said, re.M)
    assert re.search(r'^  8 threads, until .* +0\.18 +-$', said, re.M)


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
    folder = os.path.join(os.path.dirname(os.path.dirname(shutil.which('shmem-bench'))), 'share', 'shmem', 'bench')
    names = set(os.listdir(folder))
    for name in names:
        with open(os.path.join(folder, name), encoding='utf-8') as file:
            included = set(re.findall(r'^#include "([^"]+)"$', file.read(), re.MULTILINE))
        assert included <= names, f'{name} includes {included - names}, which is not installed'
    assert 'queues.h' in names
