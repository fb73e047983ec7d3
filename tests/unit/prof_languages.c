/* Programs of other languages, and of another architecture: each writes a known volume, which is
 * found exactly, by the library or by the kernel's counters, or the balance names the rest. What
 * needs a compiler that is not installed is left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "prof_fixture.h"

enum { MIB = 1 << 20, SLICE = 50000000, SMALL = 65536 };

/* Who counts what is written. */
enum counts { LIBRARY, KERNEL };

#define RUST                                                                            \
    "cat > r.rs <<'E'\n"                                                                \
    "use std::{fs, io::Write, thread};\n"                                               \
    "fn main() {\n"                                                                     \
    "  let t: Vec<_> = (0..4).map(|i| thread::spawn(move || {\n"                        \
    "    let mut f = fs::File::create(format!(\"r{}\", i)).unwrap();\n"                 \
    "    for _ in 0..2 { f.write_all(&vec![7u8; 1 << 20]).unwrap(); } })).collect();\n" \
    "  for x in t { x.join().unwrap(); }\n"                                             \
    "  fs::copy(\"r0\", \"r4\").unwrap();\n"                                            \
    "}\n"                                                                               \
    "E\n"

/* `make` is run without the profiler, then `run` with it, both in an empty directory. More than
 * `mib` may be written by the language's own runtime: `more_b` bytes. */
static const struct language {
    const char *name, *make, *run;
    double mib, more_b;
    enum counts by;
} languages[] = {
    {"Rust, four threads and a copy", RUST "rustc -O -o r r.rs", "./r; true", 10, 0, LIBRARY},
    {"Rust, static", RUST "rustc -O -C target-feature=+crt-static -o r r.rs", "./r; true", 10, 0,
     KERNEL},
    {"Go, static, goroutines",
     "cat > g.go <<'E'\n"
     "package main\n"
     "import (\"fmt\"; \"os\"; \"sync\")\n"
     "func main() {\n"
     "  var w sync.WaitGroup\n"
     "  for i := 0; i < 64; i++ { w.Add(1); go func(i int) { defer w.Done()\n"
     "    if os.WriteFile(fmt.Sprint(\"g\", i), make([]byte, 1<<17), 0600) != nil { panic(i) }\n"
     "  }(i) }\n"
     "  w.Wait()\n"
     "}\n"
     "E\n"
     "export CGO_ENABLED=0 GO111MODULE=off GOCACHE=\"$PWD/cache\" HOME=\"$PWD\"\n"
     "go build -o g g.go && rm -rf cache go",
     "./g; true", 8, SMALL, KERNEL},
    {"Java NIO",
     "command -v javac > /dev/null && cat > T.java <<'E'\n"
     "import java.nio.*; import java.nio.channels.*; import java.nio.file.*;\n"
     "public class T { public static void main(String[] a) throws Exception {\n"
     "  var how = new OpenOption[]{StandardOpenOption.CREATE, StandardOpenOption.WRITE};\n"
     "  try (var c = FileChannel.open(Path.of(\"a\"), how)) {\n"
     "    for (int i = 0; i < 4; i++) c.write(ByteBuffer.allocateDirect(1 << 20), (long) i << 20);"
     " }\n"
     "  try (var c = FileChannel.open(Path.of(\"b\"), how); var d = FileChannel.open(Path.of"
     "(\"a\"))) {\n"
     "    if (d.transferTo(0, 4 << 20, c) != 4 << 20) System.exit(3); } } }\n"
     "E\n"
     "javac T.java",
     "java -Xshare:auto -XX:-UsePerfData T", 8, SMALL, LIBRARY},
    {"Python, multiprocessing by fork and spawn",
     "command -v python3 > /dev/null && cat > m.py <<'E'\n"
     "import multiprocessing, sys\n"
     "def w(i): open('p%d' % i, 'wb', 0).write(bytes(1 << 20)); return i\n"
     "if __name__ == '__main__':\n"
     "  for how in ('fork', 'spawn'):\n"
     "    with multiprocessing.get_context(how).Pool(2) as p:\n"
     "      if p.map(w, range(4), 1) != [0, 1, 2, 3]: sys.exit(3)\n"
     "      p.close(); p.join()\n"
     "E\n",
     /* sem_open() writes 32 bytes by itself; the balance names them. */
     "PYTHONDONTWRITEBYTECODE=1 python3 m.py", 8, 4096, LIBRARY},
    {"node, copies by system calls and by rings",
     "command -v node > /dev/null && head -c 4M /dev/zero > a",
     "for u in 0 1; do UV_USE_IO_URING=$u node -e 'const fs = require(\"fs\");"
     " fs.copyFileSync(\"a\", \"b\"); fs.writeFile(\"c\", fs.readFileSync(\"a\"), e => {"
     " if (e) process.exit(3); })' || exit 3; done",
     16, 0, LIBRARY},
    {"rsync", "command -v rsync > /dev/null && mkdir -p s && head -c 8M /dev/urandom > s/a",
     "rsync -a s/ t && cmp s/a t/a && rm -r s t", 8, 0, LIBRARY},
    {"shells in shells", "true",
     "sh -c 'bash -c \"sh -c \\\"head -c 3M /dev/zero > a; (head -c 2M /dev/zero > b)\\\";"
     " head -c 1M /dev/zero > c\"; head -c 2M /dev/zero | cat > d'",
     8, 0, LIBRARY},
    /* The library is of the other architecture; as qemu's user mode would be seen. */
    {"32-bit x86",
     "cat > m.c <<'E'\n"
     "static char buf[1 << 20];\n"
     "static long sys(long n, long a, long b, long c) { __asm__ volatile(\"int $0x80\" : \"+a\"(n)"
     " : \"b\"(a), \"c\"(b), \"d\"(c) : \"memory\"); return n; }\n"
     "void _start(void) { long fd = sys(5, (long)\"a\", 0101, 0600), bad = fd < 0;\n"
     "  for (int i = 0; i < 8; i++) bad |= sys(4, fd, (long)buf, sizeof buf) != sizeof buf;\n"
     "  sys(1, bad, 0, 0); }\n"
     "E\n"
     "gcc -m32 -nostdlib -static -fno-pie -no-pie -fno-stack-protector -O1 -o m m.c && ./m && "
     "rm a",
     "./m && ./m; true", 16, 0, KERNEL},
};

enum { NLANGUAGES = sizeof languages / sizeof languages[0] };

static bool language_make(const struct fixture *l, const struct language *w)
{
    struct wr_str command = {0};

    wr_str_addf(&command, "cd '%s' || exit 1\n( %s\n) > /dev/null 2>&1", l->data, w->make);
    bool made = !system(command.s);

    wr_str_fini(&command);
    return made;
}

/* The number of faults, each printed. */
static int language_try(struct fixture *l, const struct language *w)
{
    struct wr_str command = {0};
    struct prof_job j;

    wr_str_addf(&command, "cd '%s' || exit 99\n%s", l->data, w->run);
    char *argv[] = {(char *)"/bin/bash", (char *)"-c", command.s, NULL};
    int status = fixture_run(l, &j, argv, "sampled", SLICE, 0);
    double written = fixture_total(&j, PROF_W_write_bytes);
    double kernel = fixture_total(&j, PROF_M_KERNEL_WRITE);
    double lost = fixture_total(&j, PROF_M_UNEXPLAINED_WRITE), all = written + lost;
    bool right = !status && all >= w->mib * MIB && all <= w->mib * MIB + w->more_b &&
                 lost <= w->more_b && (w->by == KERNEL ? kernel >= w->mib * MIB : kernel == 0);

    if (!right)
        print_error("%s: status %d, %.0f bytes written, of these %.0f by the kernel, %.0f "
                    "unexplained; %.0f are right\n",
                    w->name, status, written, kernel, lost, w->mib * MIB);
    prof_job_fini(&j);
    wr_str_fini(&command);
    return !right;
}

static void every_language_is_found_exactly(void **state)
{
    struct fixture l;
    int bad = 0;

    (void)state;
    fixture_needs_proc("the kernel's counters are read there");
    fixture_open(&l);
    for (int i = 0; i < NLANGUAGES; i++) {
        if (language_make(&l, &languages[i]))
            bad += language_try(&l, &languages[i]);
        else
            print_message("%s is left out: what it needs is not here\n", languages[i].name);
        fixture_clear(l.data);
    }
    fixture_close(&l);
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_language_is_found_exactly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
