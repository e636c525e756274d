#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""launchers.py PROGRAM FAKE-PMIX LIBSHMEM INCLUDE: the same program under mpirun, and under a PMIx server that misbehaves."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / 'lib'))
from harness import Job, Skip, expect, main, run  # noqa: E402

PROGRAM, FAKE, LIBRARY, INCLUDE = sys.argv[1:5]
folder = pathlib.Path(tempfile.mkdtemp(prefix='shmem-launchers-'))
# More processes than cores: for Open MPI 4, and for 5.
QUIET = {'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1', 'OMPI_MCA_rmaps_base_oversubscribe': '1',
         'PRTE_MCA_rmaps_default_mapping_policy': ':oversubscribe', 'PRTE_ALLOW_RUN_AS_ROOT': '1',
         'PRTE_ALLOW_RUN_AS_ROOT_CONFIRM': '1',
         'OMPI_MCA_btl': 'self,vader', 'OMPI_MCA_orte_tmpdir_base': str(folder)}


def mpirun(n, *command, **env):
    program = shutil.which('mpirun.openmpi')
    if not program:
        raise Skip('mpirun.openmpi is not here (Debian: openmpi-bin)')
    return run([program, '-n', n, *command], env={**QUIET, **env})


def visited(n):
    return sorted(f'{pe} of {n} was visited by {(pe - 1) % n}' for pe in range(n))


def joins(outcome, n, times=1):
    expect(outcome, 0)
    assert sorted(outcome.out.splitlines()) == sorted(visited(n) * times), outcome


def mpirun_starts_one_job():
    joins(mpirun(4, PROGRAM), 4)
    joins(mpirun(1, PROGRAM), 1)


def init_again_under_mpirun():
    joins(mpirun(3, PROGRAM, 'again'), 3, times=2)


def global_exit_under_mpirun():
    expect(mpirun(3, PROGRAM, 'exit', 0), 0)
    expect(mpirun(3, PROGRAM, 'exit', 5), 5)


def a_death_ends_the_job_under_mpirun():
    outcome = mpirun(3, PROGRAM, 'die')
    assert outcome.status != 0 and not outcome.timed_out, outcome


def bad_library():
    """A folder with a library of that name that is none."""
    bad = folder / 'bad'
    bad.mkdir(exist_ok=True)
    (bad / 'libpmix.so.2').write_text('no library')
    return bad


def without_the_client_library():
    """mpirun's variables do."""
    joins(mpirun(3, 'env', f'LD_LIBRARY_PATH={bad_library()}', PROGRAM), 3)


def by_the_pmix_server_of_mpirun():
    """A launcher that has no such variables."""
    joins(mpirun(3, 'env', '-u', 'OMPI_COMM_WORLD_RANK', '-u', 'OMPI_COMM_WORLD_SIZE', PROGRAM), 3)


def pe_0_that_never_comes():
    expect(mpirun(2, PROGRAM, 'absent', SHMEM_TIMEOUT='0.5'), says='PE 0 of 2 did not come in time')


def mpi_and_shmem_in_one_program():
    if not shutil.which('mpicc.openmpi'):
        raise Skip('mpicc.openmpi is not here (Debian: libopenmpi-dev)')
    program, library = folder / 'mixed', pathlib.Path(LIBRARY).resolve()
    subprocess.run(['mpicc.openmpi', '-DWITH_MPI', here / 'launched.c', '-I', INCLUDE, library, f'-Wl,-rpath,{library.parent}', '-o',
                    program], check=True)
    joins(mpirun(3, program, 'mpi-first'), 3)
    joins(mpirun(3, program, 'shmem-first'), 3)


def fake(rank, size, local, **env):
    libraries = folder / 'fake'
    libraries.mkdir(exist_ok=True)
    if not (libraries / 'libpmix.so.2').exists():
        (libraries / 'libpmix.so.2').symlink_to(pathlib.Path(FAKE).resolve())
    return Job([PROGRAM], env={'PMIX_NAMESPACE': 'fake', 'PMIX_RANK': rank, 'FAKE_SIZE': size, 'FAKE_LOCAL': local,
                               'FAKE_FILE': folder / 'id', 'LD_LIBRARY_PATH': libraries, **env})


def any_pmix_server():
    jobs = [fake(rank, 3, 3) for rank in range(3)]
    outcomes = [job.finish() for job in jobs]
    assert sorted(''.join(expect(o, 0).out for o in outcomes).splitlines()) == visited(3)


def refusals():
    expect(fake(1, 4, 2).finish(), 1, says="the PMIx job's size is 4 but its part on this host is 2: the job spans several hosts")
    expect(fake(4, 4, 4, FAKE_FAIL='silence', SHMEM_TIMEOUT='0.2').finish(), 1, says='PE 0 did not come in time')
    expect(fake(0, 4, 4, FAKE_FAIL='init').finish(), 1, says=r'PMIx_Init of the PMIx client failed with -1 \(FAKE-ERROR\)')
    expect(fake(0, 4, 4, FAKE_FAIL='get').finish(), 1, says='asking it failed: pmix.job.size: PMIx_Get')
    expect(fake(0, 4, 4, FAKE_FAIL='type').finish(), 1, says='pmix.job.size is no number of processes')
    expect(fake(0, 4, 4, FAKE_FAIL='put').finish(), 1, says='PMIx_Put of the PMIx client failed')
    expect(fake(0, 2000, 2000).finish(), 1, says='size is 2000, but a job has 1 to 1024 PEs')
    no_library = {'LD_LIBRARY_PATH': str(bad_library()), 'PMIX_NAMESPACE': 'n', 'PMIX_RANK': '0'}
    expect(run([PROGRAM], env=no_library), 1, says='libpmix.so.2 cannot be opened')


try:
    sys.exit(main([any_pmix_server, refusals, mpirun_starts_one_job, init_again_under_mpirun, global_exit_under_mpirun,
                   a_death_ends_the_job_under_mpirun, without_the_client_library, by_the_pmix_server_of_mpirun,
                   pe_0_that_never_comes, mpi_and_shmem_in_one_program]))
finally:
    shutil.rmtree(folder, ignore_errors=True)
