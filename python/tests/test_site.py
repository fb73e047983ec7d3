"""The Markdown converter of tools/site, and the site of the project."""
import importlib.machinery
import importlib.util
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def load_site():
    loader = importlib.machinery.SourceFileLoader("site_tool", str(ROOT / "tools/site"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("site_tool", loader))
    loader.exec_module(module)
    return module


site = load_site()


def html_of(text):
    return site.convert(text, lambda address: address)[0]


class Markdown(unittest.TestCase):
    def test_code_is_kept_as_it_is(self):
        self.assertEqual(html_of("a `*b* <c>` d"), "<p>a <code>*b* &lt;c&gt;</code> d</p>")

    def test_what_looks_like_a_tag_is_text(self):
        self.assertEqual(html_of("a <script> b & c"), "<p>a &lt;script&gt; b &amp; c</p>")

    def test_emphasis_leaves_products_alone(self):
        self.assertEqual(html_of("*C* and **S**, 2 * 3 * 4"), "<p><em>C</em> and <strong>S</strong>, 2 * 3 * 4</p>")

    def test_links_and_pictures(self):
        self.assertEqual(html_of("![p](a.svg) [`x`](b.md)"), '<p><img src="a.svg" alt="p"> <a href="b.md"><code>x</code></a></p>')

    def test_tables_keep_bars_in_code(self):
        got = html_of("| a | b |\n|---|---|\n| `x | y` | 2 |")
        self.assertIn("<td><code>x | y</code></td><td>2</td>", got)

    def test_lists_nest_and_go_on(self):
        got = html_of("- one\n  more\n- two\n  - three")
        self.assertEqual(got.count("<li>"), 3)
        self.assertEqual(got.count("<ul>"), 2)
        self.assertIn("one\nmore", got)

    def test_headings_have_the_anchors_of_github(self):
        _, headings = site.convert("# A `b`: c, d\n## A `b`: c, d", str)
        self.assertEqual([h[2] for h in headings], ["a-b-c-d", "a-b-c-d-1"])

    def test_commands_are_told_from_their_output(self):
        got = html_of("```console run\n$ weir run\nout\n```")
        self.assertIn('<span class="command">$ weir run</span>\nout', got)


class Whole(unittest.TestCase):
    def test_all_pages_are_made_and_all_links_lead_somewhere(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, str(ROOT / "tools/site"), folder], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            made = {str(p.relative_to(folder)) for p in Path(folder).rglob("*.html")}
            self.assertLessEqual({site.place(s) for s in site.sources()}, made)
            self.assertNotIn("http", "".join(
                line for line in Path(folder, "index.html").read_text().split("\n") if "<script" in line or "stylesheet" in line))

    @unittest.skipUnless(shutil.which("chromium"), "chromium is not installed")
    def test_the_search_finds_a_section_in_a_browser(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, str(ROOT / "tools/site"), folder + "/site"], check=True, capture_output=True)
            page = "file://%s/site/docs/limits.html?q=virtual%%20channel" % folder
            dom = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + folder + "/user",
                                  "--dump-dom", page], capture_output=True, text=True, timeout=120).stdout
            results = dom.split('id="results"')[1].split("</ul>")[0]
            self.assertIn("../docs/models/network.html", results)

    def test_a_folder_with_other_files_is_left_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "mine").write_text("x")
            done = subprocess.run([sys.executable, str(ROOT / "tools/site"), folder], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertTrue(Path(folder, "mine").exists())


if __name__ == "__main__":
    unittest.main()
