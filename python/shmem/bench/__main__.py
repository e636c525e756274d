# SPDX-License-Identifier: Apache-2.0
"""python -m shmem.bench [--quick] [PART...] [--output bench.html]: prints tables, and writes them with plots."""

from __future__ import annotations

import argparse
import html
import importlib
import io
import os
import pkgutil
import platform
import sys
import time
from typing import Any

import shmem
import shmem.bench

_STYLE = '''body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222;background:#fff}
table{border-collapse:collapse;margin:.5em 0}td,th{padding:.2em .9em;border-bottom:1px solid #ddd;text-align:right}
td:first-child,th:first-child{text-align:left}th{border-bottom:2px solid #888}.note{color:#555;max-width:48em}
svg{max-width:100%;height:auto}h2{margin-top:2em;border-bottom:1px solid #ddd}'''


def parts() -> list[str]:
    """Modules here that measure something."""
    names = sorted(found.name for found in pkgutil.iter_modules(shmem.bench.__path__))
    return [name for name in names if not name.startswith('_') and name != 'digits']


def machine() -> list[tuple[str, str]]:
    """What the figures depend on."""
    import numpy as np
    cpu = platform.processor() or platform.machine()
    try:
        with open('/proc/cpuinfo') as file:
            cpu = next((line.partition(':')[2].strip() for line in file if line.startswith('model name')), cpu)
    except OSError:
        pass
    torch = sys.modules.get('torch')
    return [('processor', f'{cpu}, {len(os.sched_getaffinity(0))} cores for this process'),
            ('load average', ' '.join(f'{x:.2f}' for x in os.getloadavg())),
            ('versions', f'shmem {shmem.__version__}, Python {platform.python_version()}, NumPy {np.__version__}, '
                         f'torch {torch.__version__ if torch else "not installed"}, Linux {platform.release()}'),
            ('when', time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime()))]


def text_of(table: dict[str, Any]) -> str:
    """For a terminal."""
    if not table['rows']:
        return f"{table['title']}\n\n  {table['note']}\n"
    cells = [list(map(str, row)) for row in [table['columns'], *table['rows']]]
    widths = [max(map(len, column)) for column in zip(*cells)]
    lines = [table['title'], '']
    for number, row in enumerate(cells):
        lines.append('  ' + '  '.join(cell.ljust(width) if at == 0 else cell.rjust(width)
                                      for at, (cell, width) in enumerate(zip(row, widths))).rstrip())
        if number == 0:
            lines.append('  ' + '  '.join('-' * width for width in widths))
    if table.get('note'):
        lines += ['', '  ' + table['note']]
    return '\n'.join(lines) + '\n'


# --- plots ------------------------------------------------------------------------------------------------------------------------------------


def plot_of(table: dict[str, Any]) -> str:
    """An SVG picture: lines where the table says how to plot it, else bars of the first figures."""
    import matplotlib
    matplotlib.use('svg')
    matplotlib.rcParams.update({'svg.fonttype': 'path', 'svg.hashsalt': 'shmem', 'font.size': 10})
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(7, 3.6))
    try:
        (_lines if table.get('plot') else _bars)(axes, table)
        for side in ('top', 'right'):
            axes.spines[side].set_visible(False)
        figure.tight_layout()
        out = io.StringIO()
        figure.savefig(out, format='svg', metadata={'Date': None})
    finally:
        pyplot.close(figure)
    return out.getvalue().partition('<svg')[1] + out.getvalue().partition('<svg')[2]


def _number(x: Any) -> float | None:
    try:
        return float(x)
    except (TypeError, ValueError):
        return None


def _lines(axes: Any, table: dict[str, Any]) -> None:
    plan, columns = table['plot'], table['columns']
    x = columns.index(plan['x'])
    for name in plan['y']:
        y = columns.index(name)
        points = [(_number(row[x]), _number(row[y])) for row in table['rows']]
        if any(px is None for px, _ in points):  # names instead of numbers
            points = [(float(at), py) for at, (_, py) in enumerate(points)]
            axes.set_xticks(range(len(points)), [str(row[x]) for row in table['rows']])
        kept = [(px, py) for px, py in points if py is not None]
        axes.plot([px for px, _ in kept], [py for _, py in kept], marker='o', label=name)
    axes.set_xlabel(plan['x'])
    if plan.get('log'):
        axes.set_xscale('log')
        axes.set_yscale('log')
    else:
        axes.set_ylim(bottom=0)
        values = sorted({_number(row[x]) for row in table['rows']} - {None})  # type: ignore[type-var]
        if len(values) <= 8 and values:
            axes.set_xticks(values)
    _legend(axes, len(plan['y']))


def _bars(axes: Any, table: dict[str, Any]) -> None:
    """A group of bars for each value of the second column, or one, where rows differ only in the first."""
    columns, rows = table['columns'], table['rows']
    grouped = len(columns) > 2 and len({row[0] for row in rows}) < len(rows)
    value = 2 if grouped else 1
    names = list(dict.fromkeys(str(row[0]) for row in rows))
    groups = list(dict.fromkeys(row[1] for row in rows)) if grouped else [None]
    width = (0.8 if grouped else 0.6) / len(names)
    for at, name in enumerate(names):
        found = {row[1] if grouped else None: _number(row[value]) or 0.0 for row in rows if str(row[0]) == name}
        axes.bar([place + (at - (len(names) - 1) / 2) * width for place in range(len(groups))],
                 [found.get(group, 0.0) for group in groups], width if grouped else 0.8 * width, label=name)
    if grouped:
        axes.set_xticks(range(len(groups)), [str(group) for group in groups])
        axes.set_xlabel(columns[1])
        _legend(axes, len(names))
    else:
        axes.set_xticks([(at - (len(names) - 1) / 2) * width for at in range(len(names))], names)
    axes.set_ylabel(columns[value])
    heights = [_number(row[value]) or 0.0 for row in rows]
    positive = [height for height in heights if height > 0]
    if positive and max(positive) > 30 * min(positive):
        axes.set_yscale('log')


def _legend(axes: Any, entries: int) -> None:
    """Above the plot, where it hides nothing."""
    axes.legend(frameon=False, fontsize=9, ncol=min(entries, 3), loc='lower left', bbox_to_anchor=(0, 1.0))


# --- the page ---------------------------------------------------------------------------------------------------------------------------------


def html_of(results: list[tuple[str, list[dict[str, Any]]]], pictures: bool) -> str:
    out = ['<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
           f'<title>shmem on this machine</title><style>{_STYLE}</style>', '<h1>shmem on this machine</h1><table>']
    out += [f'<tr><td>{html.escape(what)}</td><td style="text-align:left">{html.escape(value)}</td></tr>' for what, value in machine()]
    out.append('</table>')
    if not pictures:
        out.append(f'<p class="note">{html.escape(_NO_PLOTS)}</p>')
    for part, tables in results:
        out.append(f'<h2 id="{part}">{part}</h2>')
        for table in tables:
            out.append(f'<h3>{html.escape(table["title"])}</h3>')
            if table['rows']:
                out.append('<table><tr>' + ''.join(f'<th>{html.escape(str(name))}</th>' for name in table['columns']) + '</tr>')
                out += ['<tr>' + ''.join(f'<td>{html.escape(str(cell))}</td>' for cell in row) + '</tr>' for row in table['rows']]
                out.append('</table>')
                if pictures:
                    out.append(plot_of(table))
            if table.get('note'):
                out.append(f'<p class="note">{html.escape(table["note"])}</p>')
    return '\n'.join(out) + '\n'


_NO_PLOTS = 'There are no plots, because matplotlib is not installed: apt-get install python3-matplotlib, or pip install matplotlib.'


def _have_matplotlib() -> bool:
    try:
        import matplotlib  # noqa: F401
        return True
    except ImportError:
        return False


def measure(names: list[str], quick: bool) -> list[tuple[str, list[dict[str, Any]]]]:
    results = []
    for name in names:
        print(f'== {name}\n', flush=True)
        try:
            tables = importlib.import_module(f'shmem.bench.{name}').tables(quick)
        except ImportError as error:
            cure = ': pip install torch, or apt-get install python3-torch' if error.name == 'torch' else ''
            tables = [{'title': f'{name}: left out', 'columns': [''], 'rows': [], 'note': f'{error}{cure}'}]
        for table in tables:
            print(text_of(table), flush=True)
        results.append((name, tables))
    return results


def main() -> int:
    known = parts()
    parser = argparse.ArgumentParser(prog='python -m shmem.bench', description='Measures shmem on this machine, beside what is used '
                                     'otherwise; prints tables, and writes them with plots into a page that needs no network.')
    parser.add_argument('part', nargs='*', help=f'what to measure: {", ".join(known)} (default: all)')
    parser.add_argument('--quick', action='store_true', help='less often, in about a minute; the figures vary more')
    parser.add_argument('--output', default='bench.html', metavar='FILE', help='the page (default: bench.html)')
    arguments = parser.parse_args()
    for part in arguments.part:
        if part not in known:
            parser.error(f"there is no part '{part}': there are {', '.join(known)}")
    pictures = _have_matplotlib()
    results = measure(arguments.part or known, arguments.quick)
    with open(arguments.output, 'w', encoding='utf-8') as file:
        file.write(html_of(results, pictures))
    print(f'written: {arguments.output}' + ('' if pictures else f'\n{_NO_PLOTS}'))
    return 0


if __name__ == '__main__':
    sys.exit(main())
