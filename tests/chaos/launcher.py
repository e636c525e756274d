#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""launcher.py SHMEMRUN PE-PROGRAM: exit codes, signals, output, binding, mistakes; how jobs end that cannot begin."""
import os
import pathlib
import re
import resource
import signal
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'lib'))
from harness import Job, Skip, expect, limit, main, run  # noqa: E402

SHMEMRUN, PE = sys.argv[1:3]
SANITIZED = bool(os.environ.get('SHMEM_TEST_SANITIZED'))


def launch(n, *what, options=(), **how):
    return run([SHMEMRUN, '-n', n, *options, PE, *what], **how)


def by_hand(n, *what, ranks=None, size=None, env=None):
    """The same processes without the launcher: each with the variables set by somebody else."""
    job = f'test {os.getpid()} {time.monotonic()}'
    return [Job([PE, *what], env={'SHMEM_JOB': job, 'SHMEM_RANK': rank, 'SHMEM_SIZE': size or n, **(env or {})})
            for rank in (range(n) if ranks is None else ranks)]


def messages(*outcomes):
    """Lines that a person reads: those of the library and of the launcher."""
    return [line for o in outcomes for line in o.err.splitlines() if line.startswith(('shmem:', 'shmemrun:'))]


# --- exit codes ---------------------------------------------------------------------------------------------------


def all_is_well():
    o = expect(launch(4, 'hello'), 0)
    assert sorted(o.out.splitlines()) == [f'PE {k} of 4' for k in range(4)], o
    assert not messages(o), o
    expect(launch(1, 'hello'), 0)
    for option in ('-np', '--np'):
        assert expect(run([SHMEMRUN, option, '2', PE, 'hello']), 0).out.count('of 2') == 2
    assert expect(run([SHMEMRUN, PE, 'hello']), 0).out == 'PE 0 of 1\n'


def exit_codes():
    expect(launch(3, 'exit', 1, 42), 42, says=r'shmemrun: PE 1 \(pid \d+\) ended with exit status 42')
    o = expect(launch(3, 'exit-inside', 2, 17), 17, says=r'PE 2 \(pid \d+\) ended with exit status 17; ending the others', within=3)
    assert len(messages(o)) == 1, o
    expect(launch(4, 'global-exit', 23), 23, within=3)
    expect(launch(2, 'global-exit', 0), 0, within=3)


def signals_of_pes():
    for number in (signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM, signal.SIGABRT):
        o = launch(3, 'raise', int(number))
        if SANITIZED and number in (signal.SIGSEGV, signal.SIGABRT):
            continue
        expect(o, 128 + number, says=rf'shmemrun: PE 2 \(pid \d+\) was killed by signal {int(number)} ', within=3)
        assert len(messages(o)) == 1, o


# --- ending from outside ------------------------------------------------------------------------------------------


def interrupted():
    """Ctrl-C: the launcher alone, and the whole group as a terminal does it; each time everybody ends."""
    for whole_group in (False, True):
        job = Job([SHMEMRUN, '-n', '3', PE, 'sleep'])
        job.wait_for(r'(ready.*\n){3}')
        (os.killpg if whole_group else os.kill)(job.pid, signal.SIGINT)
        expect(job.finish(5), 128 + signal.SIGINT)


def interrupted_twice():
    """A program that does not end on Ctrl-C: the second time there is no more patience."""
    job = Job([SHMEMRUN, '-n', '2', PE, 'stubborn'])
    job.wait_for(r'(ready.*\n){2}')
    os.kill(job.pid, signal.SIGINT)
    time.sleep(0.1)
    start = time.monotonic()
    os.kill(job.pid, signal.SIGINT)
    expect(job.finish(5), 128 + signal.SIGINT)
    assert time.monotonic() - start < 0.8


def terminated():
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        job = Job([SHMEMRUN, '-n', '2', PE, 'sleep'])
        job.wait_for(r'(ready.*\n){2}')
        os.kill(job.pid, number)
        expect(job.finish(5), 128 + number)


def stubborn_program():
    """Ignores SIGTERM: SIGKILL after a while."""
    job = Job([SHMEMRUN, '-n', '2', PE, 'stubborn'])
    job.wait_for(r'(ready.*\n){2}')
    os.kill(job.pid, signal.SIGTERM)
    expect(job.finish(6), 128 + signal.SIGTERM)


def launcher_killed():
    """kill -9 of the launcher: no PE outlives it. That nothing is left, main() looks."""
    job = Job([SHMEMRUN, '-n', '3', PE, 'sleep'])
    job.wait_for(r'(ready.*\n){3}')
    os.kill(job.pid, signal.SIGKILL)
    expect(job.finish(5), -signal.SIGKILL)


def timeout():
    o = launch(2, 'sleep', options=['--timeout', '0.4'], timeout=10)
    expect(o, 124, says=r'the job did not end within 0.4 seconds', within=3)
    assert o.seconds >= 0.4 and len(messages(o)) == 1, o
    expect(launch(2, 'hello', options=['--timeout', '20']), 0)


def grandchildren():
    """What PEs started and left ends with the job: when a PE fails, at Ctrl-C, and at a timeout."""
    expect(launch(2, 'grandchildren', 9, timeout=10), 9, within=4)
    job = Job([SHMEMRUN, '-n', '2', PE, 'grandchildren', '0'])
    job.wait_for(r'(ready.*\n){2}')
    os.kill(job.pid, signal.SIGINT)
    expect(job.finish(6), 128 + signal.SIGINT)
    expect(launch(2, 'grandchildren', 0, options=['--timeout', '0.3'], timeout=10), 124, within=4)


# --- input and output ---------------------------------------------------------------------------------------------


def standard_input():
    o = expect(launch(3, 'cat', stdin='for PE 0 alone'), 0)
    assert sorted(o.out.splitlines()) == ['0 read 14: for PE 0 alone', '1 read 0: ', '2 read 0: '], o


def descriptors():
    """PEs have the three standard ones, with and without tagging."""
    for options in ((), ('--tag-output',)):
        o = expect(launch(2, 'descriptors', options=options), 0)
        assert sorted(line[-8:] for line in o.out.splitlines()) == ['0: 0 1 2', '1: 0 1 2'], o


def tagged_lines():
    """Every line whole and with its PE's tag, in the PE's order, on the stream that it came from."""
    lines, n = 400, 4
    o = expect(launch(n, 'lines', lines, options=['--tag-output']), 0)
    for text, mine in ((o.out, lambda i: i % 10 != 9), (o.err, lambda i: i % 10 == 9)):
        next_line = {k: [i for i in range(lines) if mine(i)] for k in range(n)}
        for line in text.splitlines():
            match = re.fullmatch(r'\[(\d)\] line (\d+) of (\d)', line)
            assert match and match[1] == match[3], line
            assert next_line[int(match[1])].pop(0) == int(match[2]), line
        assert not any(next_line.values()), next_line


def long_lines():
    """Longer than the launcher holds: in pieces, none of it lost."""
    for length in (65535, 65536, 65537, 300000):
        o = expect(launch(2, 'long-line', length, options=['--tag-output']), 0)
        got = {0: '', 1: ''}
        for line in o.out.splitlines():
            match = re.fullmatch(r'\[(\d)\] (a*|b*)', line)
            assert match, line[:100]
            got[int(match[1])] += match[2]
        assert got == {0: 'a' * length, 1: 'b' * length}, {k: len(v) for k, v in got.items()}


def output_of_a_failing_job():
    """What was written before the end is passed on."""
    o = launch(2, 'raise', int(signal.SIGTERM), options=['--tag-output'])
    assert len(re.findall(r'^\[[01]\] ready', o.out, re.MULTILINE)) >= 1, o
    expect(o, 128 + signal.SIGTERM, within=3)


def variables():
    o = expect(launch(2, 'variable', 'COLOUR', options=['-x', 'COLOUR=green=blue']), 0)
    assert sorted(o.out.splitlines()) == ['0: green=blue', '1: green=blue'], o
    o = expect(launch(1, 'variable', 'COLOUR', options=['-x', 'COLOUR'], env={'COLOUR': 'red'}), 0)
    assert o.out == '0: red\n', o
    assert expect(launch(1, 'variable', 'COLOUR', options=['-x', 'COLOUR=']), 0).out == '0: \n'
    o = expect(run([SHMEMRUN, '-x', 'SHMEM_TEST_NOT_SET', '/bin/echo', 'done']), 0)  # scripts pass on what may not be there
    assert (o.out, o.err) == ('done\n', 'shmemrun: -x SHMEM_TEST_NOT_SET: the variable is not set here, nor will it be there\n'), o


def binding():
    cores = sorted(os.sched_getaffinity(0))
    o = expect(launch(5, 'cores', options=['--bind-to', 'core']), 0)
    assert sorted(o.out.splitlines()) == [f'{k}: {cores[k % len(cores)]}' for k in range(5)], o
    o = expect(launch(1, 'cores', options=['--bind-to', 'none']), 0)
    assert o.out == '0: ' + ' '.join(map(str, cores)) + '\n', o
    expect(launch(2, 'hello', options=['--bind-to', 'core']), 0)


# --- options that people know from other launchers ----------------------------------------------------------------


def counts():
    for option in ('-n', '-np', '--np', '-c'):
        o = expect(run([SHMEMRUN, option, 3, '--', PE, 'hello']), 0)
        assert sorted(o.out.splitlines()) == [f'PE {k} of 3' for k in range(3)], o


def several_programs():
    o = expect(run([SHMEMRUN, '-n', 1, PE, 'variable', 'A', ':', '-n', 2, PE, 'variable', 'B', ':', PE, 'variable', 'A'],
                   env={'A': 'a', 'B': 'b'}), 0)
    assert sorted(o.out.splitlines()) == ['0: a', '1: b', '2: b', '3: a'], o
    expect(run([SHMEMRUN, '-n', 1, PE, 'hello', ':', '/no/such']), 127, says="cannot run '/no/such'")
    expect(run([SHMEMRUN, '-n', 1, PE, 'hello', ':']), 2, says='no program is given')
    expect(run([SHMEMRUN, '-n', 1000, PE, ':', '-n', 25, PE]), 2, says='1025 PEs together, but at most 1024')


def hosts():
    own = os.uname().nodename
    for option in (['-H', f'{own}:2'], ['--host', 'localhost,localhost'], ['--host=127.0.0.1:2']):
        assert len(expect(run([SHMEMRUN, *option, PE, 'hello']), 0).out.splitlines()) == 2
        expect(run([SHMEMRUN, *option, '-n', 3, PE, 'hello']), 2, says='3 PEs are asked for, but the hosts have 2 slots')
        expect(run([SHMEMRUN, *option, '-n', 3, '--oversubscribe', PE, 'hello']), 0)
    expect(run([SHMEMRUN, '-H', 'elsewhere', PE]), 2, says="-H names 'elsewhere', which is not this host")
    expect(run([SHMEMRUN, '--host', 'localhost:x', PE]), 2, says="--host is 'x'")
    expect(run([SHMEMRUN, '--host', ',', PE]), 2, says='must be names of hosts')
    with tempfile.NamedTemporaryFile('w') as file:
        file.write('# ours\n\nlocalhost slots=2 max_slots=4\nlocalhost\n')
        file.flush()
        for option in ('--hostfile', '--machinefile', '-f'):
            assert len(expect(run([SHMEMRUN, option, file.name, PE, 'hello']), 0).out.splitlines()) == 3
        file.write('elsewhere\n')
        file.flush()
        expect(run([SHMEMRUN, '--hostfile', file.name, PE]), 2, says="names 'elsewhere'")
    expect(run([SHMEMRUN, '--hostfile', '/no/such', PE]), 2, says="--hostfile '/no/such': No such file")
    expect(run([SHMEMRUN, '--hostfile', '/dev/null', PE]), 2, says='names no host')


def options_that_are_always_so():
    """Said by nobody, because they get what they ask for."""
    for options in (['--oversubscribe'], ['--map-by', 'slot'], ['-map-by', 'core:OVERSUBSCRIBE'], ['--rank-by', 'core'],
                    ['--allow-run-as-root'], ['--use-hwthread-cpus'], ['-genvall'], ['--map-by', 'ppr:4:node'], ['--npernode', 2],
                    ['-N', 2], ['--bind-to', 'hwthread'], ['--bind-to', 'socket'], ['--bind-to', 'numa'], ['--bind-to', 'l3cache'],
                    ['--bind-to', 'core:overload-allowed'], ['--map-by', 'socket'], ['--map-by', 'numa:PE=1,oversubscribe'],
                    ['--map-by', 'socket', '--rank-by', 'socket'], ['--map-by', 'ppr:2:socket'], ['-cpus-per-proc', 1],
                    ['--bynode'], ['-byslot'], ['--bysocket'], ['--bind-to-core'], ['-bind-to-none'], ['--npersocket', 2],
                    ['-genvlist', 'PATH,HOME'], ['--map-by', 'ppr:2:core'], ['-perhost', 2]):
        assert expect(launch(2, 'hello', options=options), 0).err == '', options
    o = expect(launch(2, 'hello', options=['--mca', 'btl', 'self']), 0)
    assert o.err == 'shmemrun: --mca btl self has no meaning here\n', o
    o = expect(launch(2, 'hello', options=['--prefix', '/usr', '-launcher', 'ssh', '-v', '--display', 'allocation,map-devel', '--novm']), 0)
    said = [line for line in o.err.splitlines() if 'may run on' not in line]
    assert said == [f'shmemrun: {what} has no meaning here' for what in ('--prefix /usr', '-launcher ssh', '-v', '--display allocation', '--novm')], o
    assert o.err.count('may run on') == 2, o
    assert expect(launch(2, 'hello', options=['-q', '--mca', 'a', 'b', '--verbose', '--tmpdir', '/tmp']), 0).err == ''
    o = expect(run([SHMEMRUN, '-env', 'COLOUR', 'red', PE, 'variable', 'COLOUR']), 0)
    assert o.out == '0: red\n', o
    assert len(expect(run([SHMEMRUN, '-ppn', 3, PE, 'hello']), 0).out.splitlines()) == 3


def options_that_cannot_be_had():
    for options, says in [
        (['--map-by', 'board'], "--map-by is 'board', but must be 'slot', 'core', 'hwthread', 'l3cache', 'numa', 'socket' or 'node'"),
        (['--map-by', 'core:PE=0'], "PE of --map-by is '0'"),
        (['--map-by', 'core:SPAN'], "--map-by is 'core:SPAN', but behind the colon only PE=N"),
        (['--map-by', 'numa:PE=2', '--bind-to', 'socket'], 'bind to cores or hwthreads'),
        (['--rank-by', 'socket'], "--rank-by is 'socket', but PEs are numbered in the order"),
        (['--cpus-per-proc', 'x'], "cpus-per-proc is 'x'"),
        (['--map-by', 'ppr:1:node'], '2 PEs are asked for, but at most 1 on a host'),
        (['--map-by', 'ppr:1:slot'], 'only node, socket, numa, l3cache, core and hwthread are possible'),
        (['--pernode'], '2 PEs are asked for, but at most 1 on a host'),
        (['--npersocket', 'two'], "--npersocket is 'two'"),
        (['--map-by', 'ppr:2'], 'must be such as ppr:2:socket'),
        (['-N', 1], '2 PEs are asked for, but at most 1 on a host'),
        (['--stdin', 'all'], "--stdin is 'all'"),
        (['--wdir', '/no/such'], "--wdir '/no/such': No such file"),
        (['--wdir', '/etc/passwd'], 'is no folder'),
        (['--mca', 'one'], None),
        (['--preload-files', '/usr'], 'the command line is not understood'),
    ]:
        o = run([SHMEMRUN, '-n', 2, *options, *([] if says is None else [PE, 'hello'])])
        expect(o, 2, says=re.escape(says or 'needs two words'))
    expect(launch(1024, 'hello', options=['--nooversubscribe']), 2, says=r'1024 PEs are asked for, but there are \d+ CPUs')


def where_and_how():
    o = expect(run([SHMEMRUN, '-n', 2, '--wdir', '/', '/bin/sh', '-c', 'pwd']), 0)
    assert o.out == '/\n/\n', o
    assert expect(run([SHMEMRUN, '--stdin', 'none', '/bin/cat'], stdin='text'), 0).out == ''
    assert expect(run([SHMEMRUN, '-q', '-n', 2, '/bin/false']), 1).err == ''
    o = expect(launch(2, 'hello', options=['--report-bindings', '--bind-to', 'core']), 0)
    assert len(re.findall(r'^shmemrun: PE [01] \(pid \d+\) may run on CPUs \d+$', o.err, re.MULTILINE)) == 2, o
    assert expect(run([SHMEMRUN, '-l', '/bin/echo', 'x']), 0).out == '[0] x\n'
    assert expect(run([SHMEMRUN, '-prepend-rank', '/bin/echo', 'x']), 0).out == '[0] x\n'
    for option in ('--display-map', '-display-devel-map'):
        assert 'shmemrun: PE 0 ' in expect(run([SHMEMRUN, option, '/bin/true']), 0).err
    o = expect(run([SHMEMRUN, '--merge-stderr-to-stdout', '/bin/sh', '-c', 'echo this; echo that >&2']), 0)
    assert (o.out, o.err) == ('this\nthat\n', ''), o
    assert expect(run([SHMEMRUN, '-V']), 0).out.startswith('shmemrun of ')


def counts_that_follow():
    """Without -n: what the hosts, -N or ppr ask for."""
    cores = len(os.sched_getaffinity(0))
    for options, n in ((['-N', 2], 2), (['-H', 'localhost:4', '-N', 2], 2), (['--pernode'], 1), (['-map-by', 'ppr:2:hwthread'], 2 * cores)):
        assert len(expect(run([SHMEMRUN, *options, PE, 'hello']), 0).out.splitlines()) == n, options
    assert len(expect(run([SHMEMRUN, '-H', 'localhost', '-N', 2, PE, 'hello']), 0).out.splitlines()) == 2
    expect(run([SHMEMRUN, '-H', 'localhost:1', '-N', 2, PE, 'hello']), 2, says='2 PEs are asked for, but the hosts have 1 slots')
    expect(run([SHMEMRUN, '-H', 'localhost', '-n', 2, PE, 'hello']), 2, says='2 PEs are asked for, but the hosts have 1 slots')
    expect(run([SHMEMRUN, '-n', 2 * cores + 1, '--map-by', 'ppr:2:hwthread', PE, 'hello']), 2, says='has places for fewer')


# --- mistakes -----------------------------------------------------------------------------------------------------


def bad_options():
    for command, says in [
        (['-n', '0', PE], '-n is \'0\', but must be an integer from 1 to 1024'),
        (['-n', '1025', PE], '-n is \'1025\''),
        (['-n', '-3', PE], '-n is \'-3\''),
        (['-n', 'two', PE], '-n is \'two\''),
        (['-n', '2x', PE], '-n is \'2x\''),
        (['-n', '2'], 'no program is given'),
        ([], 'no program is given'),
        (['--frobnicate', PE], 'the command line is not understood'),
        (['-n'], 'the command line is not understood'),
        (['--bind-to', 'slot', PE], '--bind-to is \'slot\''),
        (['--bind-to', 'core:tight', PE], '--bind-to is \'core:tight\''),
        (['--timeout', '0', PE], '--timeout is \'0\''),
        (['--timeout', '-1', PE], '--timeout is \'-1\''),
        (['--timeout', 'nan', PE], '--timeout is \'nan\''),
        (['--timeout', '5s', PE], '--timeout is \'5s\''),
        (['-x', '=3', PE], 'names no variable'),
    ]:
        expect(run([SHMEMRUN, *command]), 2, says=['shmemrun: .*' + re.escape(says), "try 'shmemrun --help'"], within=1)
    assert 'usage: shmemrun' in expect(run([SHMEMRUN, '--help']), 0).out
    assert 'shmem' in expect(run([SHMEMRUN, '--version']), 0).out


def missing_program():
    expect(run([SHMEMRUN, '-n', '3', '/no/such/program']), 127, says=r"cannot run '/no/such/program': No such file or directory", within=2)
    expect(run([SHMEMRUN, '-n', '3', '/etc/passwd']), 127, says=r"cannot run '/etc/passwd': Permission denied", within=2)


def options_of_the_program_stay_its_own():
    o = expect(run([SHMEMRUN, '-n', '1', 'echo', '-n', '5', '--timeout']), 0)
    assert o.out == '5 --timeout', o


# --- jobs that cannot begin ---------------------------------------------------------------------------------------


def one_never_comes():
    """Named at the deadline, with the launcher and without."""
    o = launch(4, 'never-init', 2, env={'SHMEM_TIMEOUT': 1}, timeout=10)
    expect(o, 1, says=r'PE 2 of 4 did not come in time \(SHMEM_TIMEOUT', within=6)
    assert not [m for m in messages(o) if 'did not come' in m and 'PE 2' not in m], o
    outcomes = [job.finish(8) for job in by_hand(4, 'hello', ranks=[0, 1, 3], env={'SHMEM_TIMEOUT': 1})]
    for outcome in outcomes:
        expect(outcome, 1, says='PE 2 of 4 did not come in time', within=6)
    outcomes = [job.finish(8) for job in by_hand(3, 'hello', ranks=[1, 2], env={'SHMEM_TIMEOUT': 1})]
    for outcome in outcomes:
        expect(outcome, 1, says='PE 0 of 3 did not come in time', within=6)


def same_rank_twice():
    for ranks in ([0, 1, 1], [0, 0, 1], [1, 1, 0]):
        jobs = by_hand(3, 'hello', ranks=ranks, env={'SHMEM_TIMEOUT': 20})
        outcomes = [job.finish(10) for job in jobs]
        for outcome in outcomes:
            expect(outcome, 1, within=5)
        text = ''.join(o.err for o in outcomes)
        twice = 1 if ranks.count(1) == 2 else 0
        assert re.search(rf'two processes \(pid \d+ and pid \d+\) both say that they are PE {twice}: check SHMEM_RANK'
                         rf'|another process already is PE {twice}', text), text


def too_late():
    """A process with a number that is taken comes when the job runs: it is refused, the job goes on."""
    jobs = by_hand(2, 'sleep')
    for job in jobs:
        job.wait_for('ready')
    pid = jobs[0].pid
    environment = pathlib.Path(f'/proc/{pid}/environ').read_bytes().decode().split('\0')
    name = dict(pair.split('=', 1) for pair in environment if '=' in pair)['SHMEM_JOB']
    for rank in (0, 1):
        late = run([PE, 'hello'], env={'SHMEM_JOB': name, 'SHMEM_RANK': rank, 'SHMEM_SIZE': 2, 'SHMEM_TIMEOUT': 5})
        expect(late, 1, says=rf'(already is PE {rank}|the job has started already, with another process \(pid \d+\) as PE {rank})', within=4)
    assert all(job.process.poll() is None for job in jobs)
    for job in jobs:
        job.process.kill()
    for job in jobs:
        job.finish(5)


def different_sizes():
    jobs = by_hand(2, 'hello', ranks=[0], env={'SHMEM_TIMEOUT': 20})
    name = jobs[0]
    environment = pathlib.Path(f'/proc/{name.pid}/environ').read_bytes().decode().split('\0')
    job = dict(pair.split('=', 1) for pair in environment if '=' in pair)['SHMEM_JOB']
    jobs.append(Job([PE, 'hello'], env={'SHMEM_JOB': job, 'SHMEM_RANK': 1, 'SHMEM_SIZE': 3, 'SHMEM_TIMEOUT': 20}))
    for outcome in [j.finish(10) for j in jobs]:
        expect(outcome, 1, says=r'PE 1 \(pid \d+\) was told that the job has 3 PEs, but PE 0 \(pid \d+\) that it has 2: check SHMEM_SIZE', within=5)


def torch_variables():
    """The same program under torchrun's variables; wrong ones are named."""
    port = 20000 + os.getpid() % 10000

    def torch(rank, size, **more):
        return {'RANK': rank, 'WORLD_SIZE': size, 'MASTER_ADDR': '127.0.0.1', 'MASTER_PORT': port, 'SHMEM_TIMEOUT': 10, **more}
    jobs = [Job([PE, 'hello'], env=torch(k, 3)) for k in range(3)]
    assert sorted(expect(job.finish(10), 0).out for job in jobs) == [f'PE {k} of 3\n' for k in range(3)]
    jobs = [Job([PE, 'hello'], env=torch(0, 2)), Job([PE, 'hello'], env=torch(0, 2))]
    for outcome in [job.finish(10) for job in jobs]:
        expect(outcome, 1, says='PE 0', within=5)
    expect(run([PE, 'hello'], env=torch(5, 3)), 1, says='RANK is 5, but the job has 3 PEs')
    expect(run([PE, 'hello'], env=torch(0, 'many')), 1, says="WORLD_SIZE is 'many'")
    expect(run([PE, 'hello'], env=torch(0, 4, LOCAL_WORLD_SIZE=2)), 1, says='the job spans several hosts')
    expect(run([PE, 'hello'], env=torch(0, 2, MASTER_PORT=None)), 1, says='MASTER_PORT')
    # Two jobs with different ports at the same time do not meet.
    jobs = [Job([PE, 'hello'], env={**torch(k % 2, 2), 'MASTER_PORT': port + k // 2}) for k in range(4)]
    for job in jobs:
        expect(job.finish(10), 0)


def address_space():
    """A limit on addresses: either it fits, or a sentence tells; never a crash."""
    if SANITIZED:
        raise Skip('the address sanitizer needs more addresses than the limit leaves')
    gib = 1 << 30
    o = launch(2, 'hello', env={'SHMEM_SYMMETRIC_SIZE': '2G'}, before=limit(resource.RLIMIT_AS, gib))
    expect(o, 1, says=r'bytes of address space, but only \d+ are left \(RLIMIT_AS, ulimit -v\)', within=3)
    expect(launch(2, 'heap', 10 << 20, before=limit(resource.RLIMIT_AS, gib)), 0)  # the default takes what there is
    expect(launch(2, 'heap', 10 << 20, env={'SHMEM_SYMMETRIC_SIZE': '64M'}, before=limit(resource.RLIMIT_AS, gib)), 0)
    o = launch(2, 'heap', 1 << 30, before=limit(resource.RLIMIT_AS, gib))
    expect(o, 4, says='the symmetric heap has no room for 1073741824 bytes', within=3)


def descriptors_limit():
    o = launch(8, 'hello', before=limit(resource.RLIMIT_NOFILE, 12))
    expect(o, 1, says=r'EMFILE|ulimit -n', within=5)


def heap_larger_than_memory():
    o = launch(2, 'hello', env={'SHMEM_SYMMETRIC_SIZE': '900t'})
    expect(o, 1, says='SHMEM_SYMMETRIC_SIZE asks for 989560464998400 bytes, but the machine', within=3)
    assert len(messages(o)) <= 3, o
    o = launch(2, 'hello', env={'SHMEM_SYMMETRIC_SIZE': '12q'})
    expect(o, 1, says="SHMEM_SYMMETRIC_SIZE is '12q'", within=3)
    o = launch(2, 'hello', env={'SHMEM_SYMMETRIC_HEAP_SIZE': '12q'})  # what others call it
    expect(o, 1, says="SHMEM_SYMMETRIC_HEAP_SIZE is '12q'", within=3)
    expect(launch(2, 'hello', env={'SHMEM_SYMMETRIC_HEAP_SIZE': '12q', 'SHMEM_SYMMETRIC_SIZE': '64m'}), 0)


def memory_cgroup():
    """64 MiB for the whole job: the allocation fails with a sentence, and nobody is killed."""
    group = make_cgroup(64 << 20)

    def enter():
        pathlib.Path(group, 'cgroup.procs').write_text(str(os.getpid()))
    try:
        o = launch(2, 'heap', 100 << 20, before=enter)
        if SANITIZED:
            raise Skip('the sanitizer itself needs more memory than the cgroup has')
        expect(o, 4, says=r'(no room for 104857600 bytes|bytes of memory are needed, but (the limit|memory.max) of the memory cgroup)', within=5)
        assert 'SIGKILL' not in o.err and 'signal 9' not in o.err, o
        o = launch(2, 'heap', 40 << 20, env={'SHMEM_SYMMETRIC_SIZE': '60M'}, before=enter)
        expect(o, 4, says=r'bytes of memory are needed, but', within=5)
        expect(launch(2, 'heap', 8 << 20, env={'SHMEM_SYMMETRIC_SIZE': '20M'}, before=enter), 0)
    finally:
        for _ in range(200):
            try:
                os.rmdir(group)
                break
            except OSError:
                time.sleep(0.01)


def make_cgroup(limit_bytes):
    own = {line.split(':')[1]: line.split(':', 2)[2] for line in pathlib.Path('/proc/self/cgroup').read_text().splitlines()}
    for line in pathlib.Path('/proc/self/mountinfo').read_text().splitlines():
        fields, rest = line.split(' - ')
        root, mount, kind, options = fields.split()[3], fields.split()[4], rest.split()[0], rest.split()[-1]
        v2 = kind == 'cgroup2'
        if not v2 and (kind != 'cgroup' or 'memory' not in options.split(',')):
            continue
        below = own.get('' if v2 else 'memory')
        if below is None or not below.startswith(root if root != '/' else ''):
            continue
        here = mount + (below[len(root):] if root != '/' else below).rstrip('/')
        group = f'{here}/shmem-test-{os.getpid()}'
        try:
            if v2:
                pathlib.Path(here, 'cgroup.subtree_control').write_text('+memory')
            os.mkdir(group)
        except OSError:
            continue
        try:
            pathlib.Path(group, 'memory.max' if v2 else 'memory.limit_in_bytes').write_text(str(limit_bytes))
            return group
        except OSError:
            os.rmdir(group)
    raise Skip('no memory cgroup can be made here (it takes root and a writable cgroup file system)')


def many_pes():
    expect(launch(64, 'hello', timeout=30), 0)


def oldest_interface():
    assert expect(launch(3, 'atexit'), 0).out == '3\n'


def ends_without_finalize():
    """A program that ends well has finalized then, and can be waited for and read; one that does not is not waited for."""
    for how in ('new', 'old'):
        assert expect(launch(4, 'no-finalize', how), 0, within=5).out == '6\n'
        o = expect(launch(4, 'no-finalize', how, 5), 5, says=r'PE 3 \(pid \d+\) ended with exit status 5; ending the others', within=3)
        assert len(messages(o)) == 1, o


def plain_start():
    """Without any launcher: a job of one."""
    assert expect(run([PE, 'hello']), 0).out == 'PE 0 of 1\n'
    expect(run([PE, 'hello'], env={'SHMEM_JOB': 'x'}), 1, says='neither SHMEM_RANK nor SHMEM_SIZE is set')


if __name__ == '__main__':
    sys.exit(main([
        all_is_well, exit_codes, signals_of_pes, interrupted, interrupted_twice, terminated, stubborn_program, launcher_killed,
        timeout, grandchildren, standard_input, descriptors, tagged_lines, long_lines, output_of_a_failing_job, variables, binding,
        counts, counts_that_follow, several_programs, hosts, options_that_are_always_so, options_that_cannot_be_had, where_and_how,
        bad_options, missing_program, options_of_the_program_stay_its_own, one_never_comes, same_rank_twice, too_late,
        different_sizes, torch_variables, address_space, descriptors_limit, heap_larger_than_memory, memory_cgroup, many_pes,
        oldest_interface, ends_without_finalize, plain_start]))
