# SPDX-License-Identifier: Apache-2.0
"""What the package costs on this machine, beside what people use otherwise: ``python -m shmem.bench``.

Each module here with a function ``tables(quick)`` is a part. It returns tables: dictionaries with title, columns, rows, note
and perhaps plot: {'x': a column, 'y': columns, 'log': whether both axes are logarithmic}.
"""
