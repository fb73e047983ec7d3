"""The build backend (PEP 517): a wheel of pure Python is a zip file with three files of metadata.

The version is the program's, from the one place that says it: project() of ../CMakeLists.txt.
"""
import base64
import hashlib
import re
import tarfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

METADATA = """Metadata-Version: 2.1
Name: weir
Version: %s
Summary: Read run files of weir, and run configurations, studies and reports
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: pandas
Requires-Dist: pandas; extra == 'pandas'
Description-Content-Type: text/markdown

"""
WHEEL = "Wheel-Version: 1.0\nGenerator: build_weir\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def version():
    cmake = HERE.parent / "CMakeLists.txt"
    if cmake.exists():
        return re.search(r"^project\(weir VERSION ([\d.]+) ", cmake.read_text(encoding="utf-8"), re.M).group(1)
    return re.search(r"^Version: (.+)$", (HERE / "PKG-INFO").read_text(encoding="utf-8"), re.M).group(1)


def metadata():
    return METADATA % version() + (HERE / "README.md").read_text(encoding="utf-8")


def write_wheel(folder, files):
    """A wheel of {name: bytes}, with the list of their hashes."""
    info = "weir-%s.dist-info" % version()
    files = dict(files)
    files[info + "/METADATA"] = metadata().encode()
    files[info + "/WHEEL"] = WHEEL.encode()
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += "%s,sha256=%s,%d\n" % (name, digest, len(data))
    files[info + "/RECORD"] = (record + info + "/RECORD,,\n").encode()
    wheel = "weir-%s-py3-none-any.whl" % version()
    with zipfile.ZipFile(Path(folder) / wheel, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in files.items():
            out.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
    return wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, {"weir/" + p.name: p.read_bytes() for p in sorted((HERE / "weir").glob("*.py"))})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, {"weir.pth": (str(HERE) + "\n").encode()})


def build_sdist(sdist_directory, config_settings=None):
    name = "weir-%s" % version()
    info = Path(sdist_directory) / "PKG-INFO"
    info.write_text(metadata(), encoding="utf-8")
    with tarfile.open(Path(sdist_directory) / (name + ".tar.gz"), "w:gz") as out:
        out.add(info, name + "/PKG-INFO")
        for path in ("pyproject.toml", "build_weir.py", "README.md", "weir/__init__.py", "tests/test_weir.py"):
            out.add(HERE / path, name + "/" + path)
    info.unlink()
    return name + ".tar.gz"
