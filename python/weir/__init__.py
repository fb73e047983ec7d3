"""Reads run files of weir and runs the program.

A run file is an SQLite database whose views are documented in docs/formats/run-file.md. It is opened read-only; nothing
here changes one. The program is found by the environment variable WEIR, or in PATH.
"""
import builtins
import json
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import quote

__all__ = ["Error", "Run", "Study", "command", "command_json", "open", "open_study", "program", "report", "run", "study", "sweep"]


class Error(Exception):
    """What a verb, or a file that cannot be read, has to say. `status` is the exit status: 1 a check failed, 2 wrong input,
    3 a fault of weir, 4 the system."""

    def __init__(self, message, status=2):
        super().__init__(message)
        self.status = status


def program():
    """The path of the program."""
    named = os.environ.get("WEIR") or "weir"
    found = shutil.which(named)
    if not found:
        raise Error("no program %r; install weir, or set WEIR to its path" % named, 4)
    return found


def command(words, cwd=None):
    """Runs `weir WORDS...` and returns what it prints. Raises Error when it fails."""
    done = subprocess.run([program(), *map(str, words)], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "no message").split("\n")
        text = re.sub(r"^weir: ", "", "\n".join(said))
        raise Error("weir %s: %s" % (words[0] if words else "", text), done.returncode)
    return done.stdout


def command_json(words, cwd=None):
    """The same of a verb with --json, parsed."""
    return json.loads(command([*words, "--json"], cwd))


def _pandas():
    try:
        import pandas
    except ImportError:
        raise Error("data frames need pandas; install it, or take rows() for lists of dicts", 4) from None
    return pandas


class Run:
    """One run file. Use as a context manager, or close()."""

    def __init__(self, path):
        self.path = Path(path)
        if not self.path.is_file():
            raise Error("%s: there is no such file" % path)
        self._db = sqlite3.connect("file:%s?mode=ro" % quote(str(self.path.absolute())), uri=True)
        self._db.row_factory = sqlite3.Row
        try:
            self.meta = {r["key"]: r["value"] for r in self._db.execute("SELECT key, value FROM meta")}
            self._views = [r[0] for r in self._db.execute(
                "SELECT name FROM sqlite_master WHERE type = 'view' OR name IN ('meta', 'input') ORDER BY name")]
        except sqlite3.DatabaseError as e:
            self._db.close()
            raise Error("%s: not a run file (%s)" % (path, e)) from None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return "<weir.Run %s, %s>" % (self.path, self.status)

    def close(self):
        self._db.close()

    @property
    def status(self):
        """`complete`, or why it is not."""
        return self.meta.get("status", "incomplete")

    @property
    def complete(self):
        return self.status == "complete"

    @property
    def config(self):
        """The resolved configuration, as YAML; None where the maker has none."""
        return self.meta.get("config")

    @property
    def axes(self):
        """The choices of a study that this run is: {"placement": "random", ...}."""
        return {k[5:].split(".", 1)[-1]: v for k, v in self.meta.items() if k.startswith("axis.")}

    @property
    def summary(self):
        """The headline numbers by name."""
        return {r["key"]: r["value"] for r in self._db.execute("SELECT key, value FROM summary")}

    def views(self):
        """Names of the documented views and tables."""
        return list(self._views)

    def columns(self, view):
        return [r[1] for r in self._db.execute('PRAGMA table_info("%s")' % self._known(view))]

    def _known(self, view):
        if view not in self._views:
            raise Error("%s has no view %r; it has %s" % (self.path, view, ", ".join(self._views)))
        return view

    def query(self, sql, parameters=()):
        """The rows of one SELECT, as a list of dicts."""
        try:
            return [dict(r) for r in self._db.execute(sql, parameters)]
        except sqlite3.Error as e:
            raise Error("%s: %s" % (self.path, e)) from None

    def rows(self, view):
        """A view whole, as a list of dicts."""
        return self.query('SELECT * FROM "%s"' % self._known(view))

    def frame(self, view_or_sql, parameters=()):
        """A view, or the answer to a SELECT, as a data frame of pandas."""
        pandas = _pandas()
        sql = view_or_sql if " " in view_or_sql else 'SELECT * FROM "%s"' % self._known(view_or_sql)
        return pandas.DataFrame.from_records(self.query(sql, parameters))

    def series(self, metric, entity=None):
        """Slices of a metric over time: rows with entity, t_ns and value."""
        sql, parameters = "SELECT entity, t_ns, value FROM slice WHERE metric = ?", [metric]
        if entity is not None:
            sql, parameters = sql + " AND entity = ?", [metric, entity]
        return self.query(sql + " ORDER BY entity, t_ns", parameters)


class Study:
    """All runs of a directory, each with its choices."""

    def __init__(self, directory):
        self.directory = Path(directory)
        files = sorted(self.directory.glob("*.weir"))
        if not files:
            raise Error("%s holds no run files; make them with `weir study run`" % directory)
        self.runs = [Run(f) for f in files]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for each in self.runs:
            each.close()

    def rows(self, view):
        """The view of all runs, with a column for each choice and one, `file`, for the run file's name."""
        return [{**r, **each.axes, "file": each.path.name} for each in self.runs for r in each.rows(view)]

    def frame(self, view):
        return _pandas().DataFrame.from_records(self.rows(view))


def open(path):  # noqa: A001 - weir.open() is how it is read
    """Opens a run file."""
    return Run(path)


def open_study(directory):
    """Opens the runs of a study's directory."""
    return Study(directory)


def _settings(settings):
    return [w for key, value in (settings or {}).items() for w in ("--set", "%s=%s" % (key, _value(value)))]


def _value(value):
    """A setting's text: Python's booleans, lists and mappings as YAML's flow style."""
    return json.dumps(value) if isinstance(value, (bool, list, dict)) else str(value)


def run(configuration, settings=None, output=None, threads=None, force=False):
    """Simulates a configuration and opens its run file. `settings` are those of --set, by key."""
    output = Path(output or Path(configuration).stem + ".weir")
    words = ["run", "-q", configuration, "-o", output, *_settings(settings)]
    command(words + (["-j", threads] if threads else []) + (["-f"] if force else []))
    return Run(output)


def sweep(configuration, loads=(), routings=(), settings=None, output="sweep.weir", seeds=1, force=False):
    """Simulates loads and routings; the run file has a row of the view `sweep` for each point."""
    words = ["sweep", "-q", configuration, "-o", output, "--seeds", seeds, *_settings(settings)]
    words += [w for load in loads for w in ("--load", load)] + [w for r in routings for w in ("-r", r)]
    command(words + (["-f"] if force else []))
    return Run(output)


def study(file, directory=None, settings=None, jobs=None):
    """Runs what is not done of a study, and opens its runs."""
    directory = Path(directory or Path(file).stem)
    command(["study", "run", "-q", file, "-o", directory, *_settings(settings), *(["-j", jobs] if jobs else [])])
    return Study(directory)


def report(*runs):
    """Every section and figure of runs (paths, Run or Study) with its numbers, as docs/formats/report.md describes."""
    paths = [getattr(r, "path", None) or getattr(r, "directory", None) or r for r in runs]
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "report.json"
        command(["report", *paths, "-o", out])
        with builtins.open(out, encoding="utf-8") as f:
            return json.load(f)
