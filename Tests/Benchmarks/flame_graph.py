"""A flame graph of a `perf record` of this project's programs, as an SVG without script.

    perf record -F 499 -e cpu-clock --call-graph fp -p PID -o perf.data -- sleep 12      # Debian's linux-perf, as root
    python3 Tests/Benchmarks/flame_graph.py perf.data docs/pictures/flame.svg --title TEXT

Swift keeps frame pointers in release builds. Stacks that begin in a library without them, such as libsodium, stand beside
the others, under the library's name. Frames of the thread pool and of the event loop are left out.
"""

import argparse
import re
import subprocess
from html import escape

WIDTH, ROW, MARGIN = 1200, 17, 10
# Shares of all samples below which a frame is not drawn.
SMALLEST = 0.002
# The library of a frame without a symbol; its group is named after it.
LIBRARY = re.compile(r"lib([a-z0-9]+)")
SCAFFOLDING = re.compile(
    r"^(start_thread|__clone|_start|main$|_dispatch_|swift_job_run|swift::runJob|\(anonymous namespace\)::ProcessOutOfLine"
    r"|closure #1 in (closure #\d in )*(static )?(SelectableEventLoop|ThreadOpsPosix|MultiThreaded)|thunk|partial apply"
    r"|SelectableEventLoop\.(run|_blocking)|specialized (Selector|SelectableEventLoop)|protocol witness|dispatch thunk|\[unknown\]$)")


def samples(file):
    """Yields each sample's frames, the outermost first: names, or libraries in brackets."""
    text = subprocess.run(
        ["perf", "script", "-i", file, "-F", "comm,tid,ip,sym,dso"], check=True, capture_output=True, text=True,
        errors="replace").stdout
    stack = []
    for line in text.splitlines() + [""]:
        frame = re.match(r"\s+[0-9a-f]+ (.*) \((.*)\)$", line)
        if frame:
            name = re.sub(r"\+0x[0-9a-f]+$", "", frame[1])
            library = LIBRARY.search(frame[2].rsplit("/", 1)[-1])
            stack.append(f"[{library[1] if library else 'unknown'}]" if name == "[unknown]" else name)
        elif not line.strip() and stack:
            yield stack[::-1]
            stack = []


def readable(stacks):
    """Demangles names, and drops the frames that carry others only."""
    names = sorted({name for stack in stacks for name in stack if name.startswith("$s")})
    plain = subprocess.run(
        ["swift", "demangle", "--simplified"], input="\n".join(names), check=True, capture_output=True, text=True)
    table = dict(zip(names, plain.stdout.splitlines()))
    for stack in stacks:
        shown = [table.get(name, name) for name in stack]
        yield [name for name in shown if not SCAFFOLDING.match(name)] or shown[-1:]


def tree(stacks):
    """Merges stacks: name to [number of samples, frames above]."""
    root = [0, {}]
    for stack in stacks:
        root[0] += 1
        node = root
        for name in stack:
            node = node[1].setdefault(name, [0, {}])
            node[0] += 1
    return root


def colour(name):
    if name.startswith("[") or name.startswith(("secp256k1", "crypto_", "CCrypto", "CNIOBoring")):
        return "#c9a227"
    if name.startswith(("swift_", "swift::", "_swift", "__swift", "outlined", "initializeWith", "destroy")):
        return "#9a8fb8"
    if re.match(r"^(malloc|cfree|_int|free|calloc|unlink_chunk|__mem|sysmalloc)", name):
        return "#7fa6a0"
    return "#d98e73"


def depth(node, total):
    above = [child for child in node[1].values() if child[0] / total >= SMALLEST]
    return 1 + max((depth(child, total) for child in above), default=0)


def draw(node, total, left, level, height, lines):
    for name, child in sorted(node[1].items()):
        width = (WIDTH - 2 * MARGIN) * child[0] / total
        if child[0] / total >= SMALLEST:
            top = height - MARGIN - (level + 1) * ROW
            letters = int((width - 6) / 6.4)
            label = name if len(name) <= letters else name[: letters - 1] + "…" if letters > 3 else ""
            lines.append(
                f'<g><title>{escape(name)}, {100 * child[0] / total:.1f} %</title>'
                f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{ROW - 1}" fill="{colour(name)}"/>'
                f'<text x="{left + 3:.1f}" y="{top + 12}">{escape(label)}</text></g>')
            draw(child, total, left, level + 1, height, lines)
        left += width


def picture(root, title):
    height = depth(root, root[0]) * ROW + 2 * MARGIN + 24
    lines = []
    draw(root, root[0], MARGIN, 0, height, lines)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">',
        "<style>text{font:11px ui-monospace,monospace;fill:#1c1c1c}.title{font-size:14px}</style>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fbf8f3"/>',
        f'<text class="title" x="{MARGIN}" y="20">{escape(title)}</text>', *lines, "</svg>", ""])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", help="file of perf record")
    parser.add_argument("picture", help="SVG to write")
    parser.add_argument("--title", default="Flame graph")
    options = parser.parse_args()
    found = list(samples(options.data))
    with open(options.picture, "w") as file:
        file.write(picture(tree(readable(found)), options.title))
