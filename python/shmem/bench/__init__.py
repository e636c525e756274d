# SPDX-License-Identifier: Apache-2.0
"""Measurements: ``python -m shmem.bench``."""
