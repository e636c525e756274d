# SPDX-License-Identifier: Apache-2.0
"""Runs a measurement in several ranks of torch.distributed, and brings back what rank 0 has found."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from typing import Any


def _free_port() -> str:
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return str(s.getsockname()[1])


def run(module: str, ranks: int, **arguments: Any) -> Any:
    """Runs worker(**arguments) of the module in that many processes; returns what it returned in rank 0.

    Each process has one thread of torch's own, so that as many cores are used as there are ranks.
    """
    environment = dict(os.environ, WORLD_SIZE=str(ranks), MASTER_ADDR='127.0.0.1', MASTER_PORT=_free_port(), OMP_NUM_THREADS='1')
    environment.setdefault('USE_LIBUV', '0')
    command = [sys.executable, '-W', 'ignore', '-m', __name__, module, json.dumps(arguments)]
    processes = [subprocess.Popen(command, env=dict(environment, RANK=str(rank), LOCAL_RANK=str(rank)),
                                  stdout=subprocess.PIPE if rank == 0 else subprocess.DEVNULL) for rank in range(ranks)]
    try:
        out, _ = processes[0].communicate()
        codes = [process.wait() for process in processes]
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.wait()
    if any(codes):
        raise RuntimeError(f'{module}: a rank failed: exit status {codes}')
    return json.loads(out.decode().splitlines()[-1])


def cores() -> int:
    return len(os.sched_getaffinity(0))


def _main() -> None:
    import importlib
    found = importlib.import_module(sys.argv[1]).worker(**json.loads(sys.argv[2]))
    if os.environ['RANK'] == '0':
        print(json.dumps(found), flush=True)


if __name__ == '__main__':
    _main()
