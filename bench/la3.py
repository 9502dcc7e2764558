#!/usr/bin/env python3
"""Parton beside a build of LA3, four ranks of one thread on one machine, in turns.

    bench/la3.py --la3 DIR --parton FILE --graphs NAME=GRAPH… [--turns 3] [--runs LIST] --output FILE.json

DIR is your own build of LA3: the folder with its programs `pr`, `bfs`, `sssp` and `cc`, anywhere below it. GRAPH is anything
that `parton` reads; it is made simple, and LA3 gets the same edges as pairs, or triples, of u32. LA3 reports the time of
its execution, Parton that of its rounds; both without reading and partitioning. LA3's bytes are those that it gives to
`MPI_Isend` for other ranks meanwhile, counted by a small profiling library that `mpicc` compiles. Needs Python, Open MPI and a
C compiler. Keep the result as bench/results/la3-DATE.json: `cargo xtask bench render` fills docs/spmv.md from it.
"""

import argparse
import array
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

RANKS = "4"
ROUNDS = "20"
# For each algorithm: LA3's program, and how Parton reads the graph and runs.
ALGORITHMS = {
    "pagerank": ("pr", ["--directed"], ["--max-rounds", ROUNDS, "--tolerance", "0"]),
    "bfs": ("bfs", ["--undirected"], []),
    "sssp": ("sssp", ["--directed", "--weights", "file"], []),
    "components": ("cc", ["--directed"], []),
}
# Engines and policies that are asked for: `auto` chooses both.
RUNS = "auto:auto,spmv:cvc,spmv:hvc,spmv:staggered"

# Bytes sent between barriers: LA3's execution is the last part in which anything is sent.
PROFILE = r"""
#include <mpi.h>
#include <stdio.h>
static long long now, last;
static int rank;
int MPI_Isend(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r) {
    int size, me;
    PMPI_Type_size(t, &size);
    PMPI_Comm_rank(c, &me);
    if (to != me) now += (long long)n * size;
    return PMPI_Isend(b, n, t, to, tag, c, r);
}
int MPI_Barrier(MPI_Comm c) {
    if (now) last = now;
    now = 0;
    return PMPI_Barrier(c);
}
int MPI_Finalize(void) {
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "rank %d sent %lld bytes\n", rank, now ? now : last);
    return PMPI_Finalize();
}
"""


def call(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{done.stderr[-2000:]}")
    return done.stdout, done.stderr


def mpirun(command, preload=None):
    environment = dict(os.environ, OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    more = ["-x", f"LD_PRELOAD={preload}"] if preload else []
    how = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", RANKS, *more]
    return call([*how, *map(str, command)], env=environment)


class Graph:
    """A graph in the files of both systems."""

    def __init__(self, bench, name, file, folder):
        self.name, self.folder, self.parton = name, folder, bench.parton
        self.plain = folder / f"{name}.parton"
        call([self.parton, "convert", file, self.plain, "--simple", "--directed", "--weights", "unit", "--quiet"])
        self.weighted = folder / f"{name}.w.parton"
        weights = ["--weights", "random:1..255"]
        call([self.parton, "convert", file, self.weighted, "--simple", "--directed", *weights, "--quiet"])
        self.pairs, self.vertices = self.binary(self.plain, 2)
        self.triples, _ = self.binary(self.weighted, 3)
        report, _ = call([self.parton, "run", "bfs", self.plain, "--json", "--quiet"])
        self.root = str(json.loads(report)["result"]["root"])

    def binary(self, graph, width):
        """Edges as `width` numbers of 32 bits each; LA3 counts vertices from 1."""
        text, binary = graph.with_suffix(".el"), graph.with_suffix(".bin")
        call([self.parton, "convert", graph, text, "--to", "edges", "--quiet"])
        numbers, greatest = array.array("I"), 0
        with open(text) as lines, open(binary, "wb") as out:
            for line in lines:
                words = line.split()
                if not words or not words[0].isdigit():
                    continue
                source, destination = int(words[0]) + 1, int(words[1]) + 1
                greatest = max(greatest, source, destination)
                numbers.extend([source, destination, *map(int, words[2:width])])
                if len(numbers) > 1 << 20:
                    numbers.tofile(out)
                    del numbers[:]
            numbers.tofile(out)
        text.unlink()
        return binary, greatest


class Bench:
    def __init__(self, arguments, folder):
        self.parton = str(Path(arguments.parton).resolve())
        self.turns = arguments.turns
        self.programs = {}
        for algorithm, (program, _, _) in ALGORITHMS.items():
            found = [path for path in Path(arguments.la3).rglob(program) if os.access(path, os.X_OK) and path.is_file()]
            if not found:
                sys.exit(f"no program {program} below {arguments.la3}")
            self.programs[algorithm] = found[0].resolve()
        source = folder / "profile.c"
        source.write_text(PROFILE)
        self.profile = folder / "profile.so"
        call(["mpicc", "-shared", "-fPIC", "-O2", source, "-o", self.profile])

    def la3(self, graph, algorithm):
        """Seconds and bytes of one run of LA3."""
        file = graph.triples if algorithm == "sssp" else graph.pairs
        root = [str(int(graph.root) + 1)]
        more = {"pagerank": [ROUNDS], "components": []}.get(algorithm, root)
        out, err = mpirun([self.programs[algorithm], file, graph.vertices, *more], self.profile)
        times = re.findall(r"Timer <(\w+) Execution> stats:.*-> ([0-9.]+) \[on", out + err)
        seconds = [float(time) for name, time in times if name != "Degree"]
        sent = re.findall(r"rank \d+ sent (\d+) bytes", out + err)
        if len(seconds) != 1 or len(sent) != int(RANKS):
            sys.exit(f"LA3 said neither time nor bytes:\n{(out + err)[-2000:]}")
        return seconds[0], sum(map(int, sent))

    def run_parton(self, graph, algorithm, engine, policy):
        file = graph.weighted if algorithm == "sssp" else graph.plain
        _, reading, options = ALGORITHMS[algorithm]
        root = ["--root", graph.root] if algorithm in ("bfs", "sssp") else []
        how = ["--threads", "1", "--engine", engine, "--policy", policy, "--json", "--quiet"]
        out, _ = mpirun([self.parton, "run", algorithm, file, *reading, *options, *root, *how])
        return json.loads(out[out.index("{"):])

    def rows(self, graph, algorithm, runs):
        """LA3 and each run of Parton, in turns."""
        la3, ours = [], {run: [] for run in runs}
        for _ in range(self.turns):
            la3.append(self.la3(graph, algorithm))
            for run in runs:
                ours[run].append(self.run_parton(graph, algorithm, *run))
        samples = [seconds for seconds, _ in la3]
        peer = {"seconds": min(samples), "samples": samples, "bytes": la3[0][1]}
        for (asked, _), reports in ours.items():
            seconds = [report["seconds"]["run"] for report in reports]
            found = {"seconds": min(seconds), "samples": seconds, "bytes": reports[0]["bytes"]["total"]}
            used = {name: reports[0][name] for name in ("engine", "policy")}
            row = {"graph": graph.name, "algorithm": algorithm, "asked": asked, **used, "la3": peer, "parton": found}
            print(f"{graph.name} {algorithm} {used}: {peer['seconds'] / min(seconds):.2f}", flush=True)
            yield row


def machine():
    about = Path("/proc/cpuinfo").read_text()
    cpu = re.search(r"model name\s*: (.*)", about)
    memory = re.search(r"MemTotal:\s*(\d+) kB", Path("/proc/meminfo").read_text())
    return {
        "cores": len(os.sched_getaffinity(0)),
        "cpu": cpu.group(1) if cpu else "unknown",
        "memory_bytes": int(memory.group(1)) * 1024,
    }


def commit(folder):
    done = subprocess.run(["git", "-C", folder, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--la3", required=True, metavar="DIR")
    parser.add_argument("--parton", required=True, metavar="FILE")
    parser.add_argument("--graphs", required=True, nargs="+", metavar="NAME=GRAPH")
    parser.add_argument("--algorithms", default=",".join(ALGORITHMS))
    parser.add_argument("--runs", default=RUNS, metavar="ENGINE:POLICY,…")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--output", required=True, metavar="FILE.json")
    arguments = parser.parse_args()
    runs = [tuple(run.split(":")) for run in arguments.runs.split(",")]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments, Path(folder))
        for name, file in (graph.split("=", 1) for graph in arguments.graphs):
            graph = Graph(bench, name, file, Path(folder))
            for algorithm in arguments.algorithms.split(","):
                rows += bench.rows(graph, algorithm, runs)
    result = {
        "command": f"bench/la3.py --graphs {' '.join(arguments.graphs)} --turns {arguments.turns} --runs {arguments.runs}",
        "commit": commit(Path(__file__).parent),
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "la3": {
            "repository": "github.com/cmuq-ccl/LA3",
            "commit": commit(arguments.la3),
            "mpi": call(["mpirun", "--version"])[0].splitlines()[0],
            "threads_per_rank": 1,
            "bytes": "bytes given to MPI_Isend for other ranks during the execution",
        },
        "rows": rows,
    }
    Path(arguments.output).write_text(json.dumps(result, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
