#!/usr/bin/env python3
"""How Parton scales over the threads of a host and over the hosts of a machine, beside the GAP benchmark suite.

    bench/scaling.py --parton FILE --gap DIR [--scale 23] [--graphs kron,urand,grid] [--limit SECONDS] [--turns 3]
                     [--parts threads,hosts,partitions,commands,loading] [--commit ID] --output FILE.json

Needs nothing but Python: a machine without a Rust toolchain gets the `parton` command and GAP's programs as files.
Parton and GAP take turns. A part that the time limit leaves no room for has no rows, nor have graphs and parts that
are not asked for. `cargo xtask bench render` fills docs/performance.md from the newest bench/results/scaling-DATE.json,
and with the threads of other graphs from bench/results/other-graphs-DATE.json.
"""

import argparse
import datetime
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

# The same work on both sides: ten rounds, nothing redistributed.
ROUNDS = "10"
PAGERANK = ["--max-rounds", ROUNDS, "--tolerance", "0", "--dangling", "drop"]
# Parton chooses the width of its buckets; GAP gets the best of these.
GAP_DELTAS = {"kron": ["2", "16"], "urand": ["2", "16"], "grid": ["64", "256", "1024"]}
PARTS = ["threads", "hosts", "partitions", "commands", "loading"]
GAP_PROGRAMS = {"bfs": "bfs", "components": "cc", "pagerank": "pr", "sssp": "sssp"}
ALGORITHMS = list(GAP_PROGRAMS)
# Edges of a generated graph per vertex of GAP's, so that memory fits.
GENERATED_SCALES_MORE = 4


class Bench:
    def __init__(self, arguments):
        self.parton = str(Path(arguments.parton).resolve())
        self.gap = Path(arguments.gap).resolve()
        self.turns = arguments.turns
        self.end = time.monotonic() + arguments.limit
        self.cores = len(os.sched_getaffinity(0))
        self.rows = []
        self.graphs = arguments.graphs.split(",")
        self.roots = {}
        # The width of GAP's buckets that was fastest on a graph.
        self.deltas = {}

    def call(self, command, threads=None):
        """Output and seconds of a command; none if it fails or the time is over."""
        left = self.end - time.monotonic()
        if left <= 0:
            return None, 0.0
        environment = dict(os.environ)
        if threads:
            environment["OMP_NUM_THREADS"] = str(threads)
        began = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=left, env=environment)
        except subprocess.TimeoutExpired:
            return None, 0.0
        seconds = time.monotonic() - began
        if done.returncode != 0:
            print("failed:", " ".join(command), done.stderr[-400:], flush=True)
            return None, seconds
        return done.stdout, seconds

    def report(self, arguments):
        """What `parton` prints as JSON, with the seconds of the whole command."""
        output, seconds = self.call([self.parton, *arguments, "--json", "--quiet"])
        return (json.loads(output), seconds) if output else (None, seconds)

    def row(self, what, **values):
        self.rows.append({"what": what, **values})
        print(f"{self.end - time.monotonic():5.0f} s left", what, values, flush=True)

    # Graphs

    def make(self, scale):
        """GAP's two graphs, and a grid for roads, in both systems' own files."""
        side = 1 << ((scale - 1) // 2)
        converter = str(self.gap / "converter")
        sources = {"kron": ["-g", str(scale)], "urand": ["-u", str(scale)], "grid": ["-s", "-f", "grid.wel"]}
        if "grid" in self.graphs:
            grid = ["generate", f"grid:{side}x{side}", "grid.wel", "--weights", "random:1..255", "--to", "edges"]
            self.call([self.parton, *grid, "--quiet"])
        for name in self.graphs:
            self.call([converter, *sources[name], "-b", f"{name}.sg"])
            self.call([converter, *sources[name], "-wb", f"{name}.wsg"])
            self.call([self.parton, "convert", f"{name}.sg", f"{name}.parton", "--undirected", "--quiet"])
            self.call([self.parton, "convert", f"{name}.wsg", f"{name}w.parton", "--undirected", "--quiet"])
            report, _ = self.report(["run", "bfs", f"{name}.parton"])
            if report:
                self.roots[name] = str(report["result"]["root"])
                self.row("graph", graph=name, **report["graph"])

    def file(self, graph, algorithm):
        return f"{graph}{'w' if algorithm == 'sssp' else ''}.parton"

    # Runs

    def bench(self, graph, algorithm, hosts, threads, turns):
        rounds = PAGERANK if algorithm == "pagerank" else []
        root = ["--root", self.roots[graph]] if algorithm in ("bfs", "sssp") else []
        how = ["--algorithms", algorithm, "--hosts", str(hosts), "--threads", str(threads)]
        report, _ = self.report(
            ["bench", self.file(graph, algorithm), *how, "--repetitions", str(turns), *rounds, *root])
        rows = report["rows"] if report else []
        return next((row for row in rows if row["hosts"] == hosts), None)

    def gap_command(self, graph, algorithm, trials, delta=None):
        kind = "wsg" if algorithm == "sssp" else "sg"
        more = {"pagerank": ["-i", ROUNDS, "-t", "0"], "components": []}
        more = more.get(algorithm, ["-r", self.roots[graph]]) + (["-d", delta] if delta else [])
        return [str(self.gap / GAP_PROGRAMS[algorithm]), "-f", f"{graph}.{kind}", "-n", str(trials), *more]

    def gap_trials(self, graph, algorithm, threads, turns):
        deltas = GAP_DELTAS[graph] if algorithm == "sssp" else [None]
        best = []
        for delta in deltas:
            output, _ = self.call(self.gap_command(graph, algorithm, turns, delta), threads)
            lines = [line.split() for line in (output or "").splitlines()]
            times = [float(words[2]) for words in lines if words[:2] == ["Trial", "Time:"]]
            if times and (not best or min(times) < min(best)):
                best = times
                if delta:
                    self.deltas[graph] = delta
        return best

    def over_threads(self, graph, all_threads):
        """The same run with more and more threads of one host, beside GAP."""
        for threads in all_threads:
            for algorithm in ALGORITHMS:
                # One thread takes long and varies little.
                turns = self.turns if threads > 2 else min(self.turns, 2)
                gap = self.gap_trials(graph, algorithm, threads, turns)
                row = self.bench(graph, algorithm, 1, threads, turns)
                if row and gap:
                    self.row("threads", graph=graph, algorithm=algorithm, threads=threads,
                             run=row["seconds"]["run"], setup=row["seconds"]["setup"], gap=gap)

    def over_hosts(self, graph):
        """All cores by more and more hosts."""
        for hosts in (1, 2, 4, self.cores):
            threads = self.cores // hosts
            for algorithm in ALGORITHMS:
                row = self.bench(graph, algorithm, hosts, threads, self.turns)
                if row:
                    seconds = row["seconds"]
                    self.row("hosts", graph=graph, algorithm=algorithm, hosts=hosts, threads=threads,
                             run=seconds["run"], setup=seconds["setup"], partition=seconds["partition"],
                             policy=row["policy_used"], bytes=row["bytes"]["total"])

    def whole_commands(self, graph, all_threads):
        """From the file to the answer, a process for each."""
        for threads in all_threads:
            for algorithm in ALGORITHMS:
                rounds = PAGERANK if algorithm == "pagerank" else []
                root = ["--root", self.roots[graph]] if algorithm in ("bfs", "sssp") else []
                run = ["run", algorithm, self.file(graph, algorithm), *rounds, *root]
                times = {"gap": [], "parton": [], "parton_4": []}
                delta = self.deltas.get(graph) if algorithm == "sssp" else None
                for _ in range(self.turns):
                    output, seconds = self.call(self.gap_command(graph, algorithm, 1, delta), threads)
                    times["gap"] += [seconds] if output else []
                    for name, hosts in (("parton", 1), ("parton_4", 4)):
                        how = ["--hosts", str(hosts), "--threads", str(max(threads // hosts, 1))]
                        report, seconds = self.report([*run, *how])
                        times[name] += [seconds] if report else []
                if all(times.values()):
                    self.row("command", graph=graph, algorithm=algorithm, threads=threads, **times)

    def partitions(self, graph):
        for policy in ("oec", "cvc"):
            for hosts in (1, 2, 4, 8, self.cores):
                # The hosts of this command share its threads.
                how = ["--hosts", str(hosts), "--threads", str(self.cores), "--policy", policy]
                reports = [self.report(["partition", f"{graph}.parton", *how])[0] for _ in range(self.turns)]
                seconds = [report["seconds"] for report in reports if report]
                if seconds:
                    self.row("partition", graph=graph, policy=policy, hosts=hosts, seconds=seconds)

    def loading(self, scale, all_threads):
        """Text and .gr, and a generated graph that is far larger."""
        small = f"rmat:{scale - 3}"
        for name in ("text.el", "graph.gr"):
            self.call([self.parton, "generate", small, name, "--quiet"])
        for name in ("text.el", "graph.gr"):
            for threads in all_threads:
                runs = [self.report(["run", "bfs", name, "--threads", str(threads)])[0] for _ in range(self.turns)]
                seconds = [run["seconds"]["load"] + run["seconds"]["partition"] for run in runs if run]
                if seconds:
                    self.row("load", input=name, threads=threads, seconds=seconds,
                             bytes=os.path.getsize(name), edges=runs[0]["graph"]["edges"])
        spec = f"rmat:{scale + GENERATED_SCALES_MORE}"
        # The first run also pays for memory that the machine has not touched before.
        for _ in range(2):
            report, _ = self.report(["partition", spec, "--hosts", "1", "--policy", "oec"])
            if report:
                self.row("generate", input=spec, threads=self.cores, seconds=[report["seconds"]],
                         edges=sum(host["edges"] for host in report["per_host"]))


def machine():
    def line(file, name):
        lines = Path(file).read_text().splitlines()
        return next((text.split(":", 1)[1].strip() for text in lines if text.startswith(name)), "")
    memory = line("/proc/meminfo", "MemTotal").split()
    return {"cpu": line("/proc/cpuinfo", "model name"), "cores": len(os.sched_getaffinity(0)),
            "memory_bytes": int(memory[0]) * 1024 if memory else None}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parton", required=True)
    parser.add_argument("--gap", required=True)
    parser.add_argument("--scale", type=int, default=23)
    parser.add_argument("--graphs", default=",".join(GAP_DELTAS))
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--limit", type=float, default=540)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--commit", default="")
    parser.add_argument("--output", required=True)
    arguments = parser.parse_args()
    output = Path(arguments.output).resolve()
    bench = Bench(arguments)
    result = {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "machine": machine(),
        "commit": arguments.commit,
        "command": f"bench/scaling.py --parton FILE --gap DIR --scale {arguments.scale} "
                   f"--graphs {arguments.graphs} --parts {arguments.parts} --turns {arguments.turns} --output FILE",
        "rows": bench.rows,
    }
    doubling = [1 << k for k in range(bench.cores.bit_length()) if 1 << k <= bench.cores]
    ends = sorted({min(2, bench.cores), bench.cores})
    few = [threads for threads in doubling if threads > 4]
    save = lambda: output.write_text(json.dumps(result, indent=1) + "\n")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        bench.make(arguments.scale)
        # What matters most comes first.
        first, *others = bench.graphs
        parts = [
            ("threads", lambda: bench.over_threads(first, few[::-1] or doubling[-1:])),
            ("hosts", lambda: bench.over_hosts(first)),
            ("partitions", lambda: bench.partitions(first)),
            ("commands", lambda: bench.whole_commands(first, ends[::-1])),
            *[("threads", lambda graph=graph: bench.over_threads(graph, [bench.cores])) for graph in others],
            ("loading", lambda: bench.loading(arguments.scale, ends)),
            ("threads", lambda: bench.over_threads(first, [threads for threads in doubling[::-1] if threads not in few])),
            *[("threads", lambda graph=graph: bench.over_threads(graph, [1])) for graph in others],
        ]
        for name, part in parts:
            if bench.roots and name in arguments.parts.split(","):
                part()
                save()
        os.chdir("/")
    save()


if __name__ == "__main__":
    main()
